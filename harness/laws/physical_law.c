#include "harness/laws/physical_law.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "harness/embedded.h"
#include "harness/names.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/notation/untrusted.h"

/* A law that is being read, and of what. */
typedef struct reading {
  const eb_law_book *book;
  const eb_definitions *definitions;
  eb_physical_law *law;
} reading;

/* ---- keys ------------------------------------------------------------------------------------ */

/* What holds of "A | B": B in quick runs. */
static eb_error choose(const reading *r, const char *value, char **out) {
  const char *rest = value;
  EB_TRY(eb_part_next(&rest, out));
  if (!rest || !r->book->quick) return EB_OK;
  EB_FREED char *quick = NULL;
  EB_TRY(eb_part_next(&rest, &quick));
  return eb_string_set(out, quick);
}

static eb_error read_once(const reading *r, const eb_entry *entry, char **to) {
  if (*to) return EB_ERROR(EB_ERR_FORMAT, "it is there twice");
  return choose(r, entry->value, to);
}

static eb_error read_text(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  return read_once(r, entry, (char **)(void *)((char *)r->law + key->offset));
}

static eb_error read_expression(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  eb_expression **to = (eb_expression **)(void *)((char *)r->law + key->offset);
  EB_FREED char *text = NULL;
  if (*to) return EB_ERROR(EB_ERR_FORMAT, "it is there twice");
  EB_TRY(choose(r, entry->value, &text));
  return eb_definitions_parse(r->definitions, text, to);
}

static eb_error read_scene(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  EB_FREED char *text = NULL;
  (void)key;
  EB_TRY(choose(r, entry->value, &text));
  return eb_strings_add(&r->law->scenes, text);
}

static eb_error check_variables(const eb_physical_law *law, const eb_strings *names) {
  int count = 0;
  if (names->count == 0) return EB_ERROR(EB_ERR_FORMAT, "an axis is 'VARIABLE in WORDS'");
  for (int a = 0; a < law->axis_count; a++) count += law->axes[a].variables.count;
  if (count > EB_MOST_LAW_VARIABLES)
    return EB_ERROR(EB_ERR_FORMAT, "a grid has at most %d variables", EB_MOST_LAW_VARIABLES);
  for (int v = 0; v < names->count; v++) EB_TRY(eb_check_word("variable", names->items[v]));
  return EB_OK;
}

/* "VARIABLES in WORDS | WORDS": the variables are not said again for quick runs. */
static eb_error read_axis(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  eb_physical_law *law = r->law;
  EB_FREED char *text = NULL, *names = NULL;
  const char *in = strstr(entry->value, " in ");
  (void)key;
  if (!in) return EB_ERROR(EB_ERR_FORMAT, "an axis is 'VARIABLE in WORDS'");
  if (law->axis_count == EB_MOST_LAW_AXES)
    return EB_ERROR(EB_ERR_FORMAT, "a grid has at most %d axes", EB_MOST_LAW_AXES);
  eb_law_axis *axis = &law->axes[law->axis_count++];
  EB_TRY(eb_copy_part(entry->value, (size_t)(in - entry->value), &names));
  EB_TRY(eb_words(names, " ", &axis->variables));
  EB_TRY(check_variables(law, &axis->variables));
  EB_TRY(choose(r, in + strlen(" in "), &text));
  EB_TRY(eb_words(text, " ", &axis->words));
  axis->places = axis->words.count / axis->variables.count;
  if (axis->places == 0 || axis->words.count % axis->variables.count)
    return EB_ERROR(EB_ERR_FORMAT, "%d words for %d variables", axis->words.count,
                    axis->variables.count);
  law->points *= axis->places;
  return eb_ask(r->definitions->asked, law->points, "points of grids");
}

static eb_error read_threads(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  return eb_parse_whole(key->name, entry->value, 1, 1024, &r->law->other_threads);
}

static eb_error read_solvers(void *context, const eb_key *key, const eb_entry *entry) {
  (void)key;
  return eb_words(entry->value, " ", &((const reading *)context)->law->of);
}

/* "AT, ALL" */
static eb_error read_continued(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  EB_OWNED(eb_strings_clear) eb_strings words = {0};
  EB_TRY(eb_words(entry->value, ", ", &words));
  if (words.count != 2) return EB_ERROR(EB_ERR_FORMAT, "it is two steps: AT, ALL");
  EB_TRY(eb_parse_whole(key->name, words.items[0], 1, 1000000, &r->law->from_step));
  return eb_parse_whole(key->name, words.items[1], r->law->from_step + 1, 1000000,
                        &r->law->to_step);
}

static eb_error read_timeout(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  EB_FREED char *text = NULL;
  EB_TRY(choose(r, entry->value, &text));
  return eb_parse_real(key->name, text, 1, 1e5, &r->law->timeout);
}

/* ---- a law ----------------------------------------------------------------------------------- */

static eb_error check_law(const eb_physical_law *law) {
  const struct {
    const char *key;
    bool there;
  } wanted[] = {{"group", *law->group != '\0'},
                {"about", *law->about != '\0'},
                {"source", *law->source != '\0'},
                {"scene", law->scenes.count > 0},
                {"measure", law->measure},
                {"exact", law->exact},
                {"bound", law->bound}};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    if (!wanted[k].there) return EB_ERROR(EB_ERR_FORMAT, "'%s' is missing", wanted[k].key);
  if (!law->told && (law->other_threads || law->to_step))
    return EB_ERROR(EB_ERR_FORMAT, "'told' is missing: other-threads and continued are of it");
  return !law->x || eb_law_axis_of(law, law->x) >= 0
             ? EB_OK
             : EB_ERROR(EB_ERR_FORMAT, "x = %s, which is no axis of the grid", law->x);
}

static eb_error read_law(eb_law_book *book, const eb_law_file *file, const eb_section *section) {
  static const eb_key keys[] = {
      {"group", .type = EB_KEY_JOINED, .offset = offsetof(eb_physical_law, group)},
      {"about", .type = EB_KEY_JOINED, .offset = offsetof(eb_physical_law, about)},
      {"source", .type = EB_KEY_JOINED, .offset = offsetof(eb_physical_law, source)},
      {"limit", .type = EB_KEY_JOINED, .offset = offsetof(eb_physical_law, limit)},
      {"unit", .type = EB_KEY_JOINED, .offset = offsetof(eb_physical_law, unit)},
      {"scene", .read = read_scene},
      {"for", .read = read_axis},
      {"told", .offset = offsetof(eb_physical_law, told), .read = read_text},
      {"other-threads", .read = read_threads},
      {"continued", .read = read_continued},
      {"of", .read = read_solvers},
      {"reference", .offset = offsetof(eb_physical_law, reference), .read = read_text},
      {"measure", .offset = offsetof(eb_physical_law, measure), .read = read_expression},
      {"exact", .offset = offsetof(eb_physical_law, exact), .read = read_expression},
      {"scale", .offset = offsetof(eb_physical_law, scale), .read = read_expression},
      {"bound", .offset = offsetof(eb_physical_law, bound), .read = read_expression},
      {"x", .offset = offsetof(eb_physical_law, x), .read = read_text},
      {"timeout", .read = read_timeout},
      {0}};
  EB_TRY(eb_check_word("law", section->label));
  for (int l = 0; l < book->law_count; l++)
    if (strcmp(book->laws[l].id, section->label) == 0)
      return EB_ERROR(EB_ERR_FORMAT, "there are two laws '%s'", section->label);
  EB_TRY(EB_APPEND(book->laws, book->law_count));
  eb_physical_law *law = &book->laws[book->law_count - 1];
  *law =
      (eb_physical_law){.id = section->label, .title = section->text, .points = 1, .timeout = 60};
  EB_TRY(eb_section_read(section, keys, law));
  EB_TRY(eb_section_each(section, keys, &(reading){book, &file->definitions, law}));
  return check_law(law);
}

int eb_law_point(const eb_physical_law *law, int point, const eb_scope *outer,
                 eb_scope scopes[EB_MOST_LAW_VARIABLES]) {
  int count = 0, points = law->points;
  for (int a = 0; a < law->axis_count; a++) {
    const eb_law_axis *axis = &law->axes[a];
    points /= axis->places;
    int first = point / points % axis->places * axis->variables.count;
    for (int v = 0; v < axis->variables.count; v++) {
      scopes[count] = (eb_scope){axis->variables.items[v], axis->words.items[first + v], outer};
      outer = &scopes[count++];
    }
  }
  return count;
}

int eb_law_axis_of(const eb_physical_law *law, const char *variable) {
  for (int a = 0; a < law->axis_count; a++)
    if (eb_word_find(&law->axes[a].variables, variable, strlen(variable)) >= 0) return a;
  return -1;
}

bool eb_law_opens_group(const eb_law_book *book, int law) {
  for (int l = 0; l < law; l++)
    if (strcmp(book->laws[l].group, book->laws[law].group) == 0) return false;
  return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static eb_error read_file(eb_law_book *book, const char *path, const char *text) {
  EB_TRY(EB_APPEND(book->files, book->file_count));
  eb_law_file *file = &book->files[book->file_count - 1];
  *file = (eb_law_file){0};
  EB_TRY(eb_copy(path, &file->path));
  EB_TRY(eb_sections_parse(path, text, EB_SECTIONS_OF_PAPER, &file->sections));
  EB_TRY(eb_definitions_read(eb_sections_find(&file->sections, "names", ""), file->sections.asked,
                             &file->definitions));
  for (int s = 0; s < file->sections.count; s++) {
    const eb_section *section = &file->sections.items[s];
    if (strcmp(section->kind, "names") == 0) continue;
    eb_error error =
        strcmp(section->kind, "law") == 0
            ? read_law(book, file, section)
            : EB_ERROR(EB_ERR_FORMAT, "there is no kind of section '%s'; there are: names, law",
                       section->kind);
    EB_TRY(eb_section_locate(section, NULL, error));
  }
  return EB_OK;
}

static eb_error read_own(eb_law_book *book, const char *from) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  const char *slash = strrchr(from, '/');
  size_t length = slash ? (size_t)(slash - from) : 1;
  EB_TRY(eb_copy_part(slash ? from : ".", length, &book->folder));
  EB_TRY(eb_text_read(from, "a file of laws", &text));
  EB_TRY(read_file(book, from, text.data ? text.data : ""));
  return book->law_count ? EB_OK
                         : EB_ERROR(EB_ERR_FORMAT, "'%s' has no section [law ID | TITLE]", from);
}

eb_error eb_law_book_read(const char *from, bool quick, eb_law_book *out) {
  static const char room[] = "laws/";
  *out = (eb_law_book){.quick = quick};
  if (from) return read_own(out, from);
  for (const eb_embedded *file = eb_embedded_files; file->name; file++) {
    EB_OWNED(eb_text_clear) eb_text text = {0};
    if (strncmp(file->name, room, strlen(room)) != 0) continue;
    EB_TRY(eb_text_append(&text, file->data, file->size));
    EB_TRY(read_file(out, file->name, text.data));
  }
  return EB_OK;
}

static void clear_law(eb_physical_law *law) {
  free(law->group);
  free(law->about);
  free(law->source);
  free(law->limit);
  free(law->unit);
  eb_strings_clear(&law->scenes);
  eb_strings_clear(&law->of);
  free(law->told);
  free(law->reference);
  for (int a = 0; a < law->axis_count; a++) {
    eb_strings_clear(&law->axes[a].variables);
    eb_strings_clear(&law->axes[a].words);
  }
  free(law->x);
  eb_expression_destroy(law->measure);
  eb_expression_destroy(law->exact);
  eb_expression_destroy(law->scale);
  eb_expression_destroy(law->bound);
}

void eb_law_book_clear(eb_law_book *book) {
  for (int l = 0; l < book->law_count; l++) clear_law(&book->laws[l]);
  for (int f = 0; f < book->file_count; f++) {
    free(book->files[f].path);
    eb_definitions_clear(&book->files[f].definitions);
    eb_sections_clear(&book->files[f].sections);
  }
  free(book->laws);
  free(book->files);
  free(book->folder);
  *book = (eb_law_book){0};
}

eb_error eb_law_book_keep(eb_law_book *book, const eb_strings *ids) {
  int kept = 0;
  for (int i = 0; i < ids->count; i++)
    if (eb_find(book->laws, book->law_count, sizeof *book->laws, ids->items[i],
                strlen(ids->items[i])) < 0)
      return eb_unknown_entry("law", ids->items[i], book->laws, book->law_count,
                              sizeof *book->laws);
  for (int l = 0; l < book->law_count && ids->count; l++) {
    if (eb_word_find(ids, book->laws[l].id, strlen(book->laws[l].id)) >= 0)
      book->laws[kept++] = book->laws[l];
    else
      clear_law(&book->laws[l]);
  }
  if (ids->count) book->law_count = kept;
  return EB_OK;
}
