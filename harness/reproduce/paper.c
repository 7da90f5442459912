#include "harness/reproduce/paper.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/embedded.h"
#include "harness/names.h"
#include "harness/reproduce/paper_impl.h"
#include "problems/base/memory.h"

/* ---- files ----------------------------------------------------------------------------------- */

static const char room[] = "papers/", ini[] = "/paper.ini";

eb_error eb_paper_names(eb_strings *out) {
  size_t skip = strlen(room), cut = strlen(ini);
  for (const eb_embedded *file = eb_embedded_files; file->name; file++) {
    size_t length = strlen(file->name);
    if (strncmp(file->name, room, skip) == 0 && length > skip + cut &&
        strcmp(file->name + length - cut, ini) == 0)
      EB_TRY(eb_strings_add_part(out, file->name + skip, length - skip - cut));
  }
  return EB_OK;
}

eb_error eb_paper_file(const char *paper, const char *from, const char *name,
                       char path[EB_PAPER_PATH], eb_text *text) {
  eb_embedded built_in;
  eb_strings names = {0};
  *text = (eb_text){0};
  if (from) {
    int used = snprintf(path, EB_PAPER_PATH, "%s/%s/%s", from, paper, name);
    if (used < 0 || used >= EB_PAPER_PATH)
      return EB_ERROR(EB_ERR_IO, "the path '%s/%s/%s' is too long", from, paper, name);
    return eb_text_read(path, "part of a paper", text);
  }
  eb_error error = eb_paper_names(&names);
  if (!error && eb_find(names.items, names.count, sizeof *names.items, paper, strlen(paper)) < 0)
    error = eb_unknown_name("paper", paper, &names);
  eb_strings_clear(&names);
  snprintf(path, EB_PAPER_PATH, "%s%s/%s", room, paper, name);
  if (!error) error = eb_embedded_find(path, &built_in);
  return error ? error : eb_text_append(text, built_in.data, built_in.size);
}

/* ---- finding --------------------------------------------------------------------------------- */

int eb_paper_case_find(const eb_paper *paper, const char *name, size_t length) {
  return eb_find(paper->cases, paper->case_count, sizeof *paper->cases, name, length);
}

int eb_paper_table_find(const eb_paper *paper, const char *id) {
  return eb_find(paper->tables, paper->table_count, sizeof *paper->tables, id, strlen(id));
}

int eb_paper_figure_find(const eb_paper *paper, const char *id) {
  return eb_find(paper->figures, paper->figure_count, sizeof *paper->figures, id, strlen(id));
}

eb_error eb_unknown_entry(const char *kind, const char *name, const void *items, int count,
                          size_t size) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < count && !error; i++) {
    const char *own;
    memcpy(&own, (const char *)items + (size_t)i * size, sizeof own);
    error = eb_strings_add(&names, own);
  }
  if (!error) error = eb_unknown_name(kind, name, &names);
  eb_strings_clear(&names);
  return error;
}

double eb_paper_value(const eb_paper_table *table, int row, const eb_paper_column *column) {
  return table->values[row * table->names.count + column->at];
}

void eb_paper_point_scope(const eb_paper *paper, const eb_paper_point *point, eb_scope scopes[2]) {
  const char *against = point->against < 0 ? NULL : paper->cases[point->against].name;
  scopes[1] = (eb_scope){"against", against, NULL};
  scopes[0] = (eb_scope){"case", paper->cases[point->case_].name, against ? &scopes[1] : NULL};
}

/* ---- claims ---------------------------------------------------------------------------------- */

eb_error eb_paper_expression(const eb_paper *paper, const char *text, const eb_scope *scope,
                             eb_value_kind wanted, eb_expression **out) {
  if (*out) return EB_ERROR(EB_ERR_FORMAT, "it is there twice");
  EB_TRY(eb_definitions_parse(&paper->definitions, text, out));
  return eb_expression_check(paper, *out, scope, wanted);
}

static eb_error read_claim_entry(const eb_paper *paper, const eb_entry *entry,
                                 eb_paper_claim *claim) {
  const struct {
    const char *key;
    eb_value_kind kind;
    eb_expression **out;
  } expressions[] = {{"holds", EB_VALUE_TRUTH, &claim->holds[claim->hold_count]},
                     {"given", EB_VALUE_TRUTH, &claim->given},
                     {"paper", EB_VALUE_NUMBER, &claim->paper},
                     {"ours", EB_VALUE_NUMBER, &claim->ours}};
  const char *key = entry->key, *value = entry->value;
  int which = eb_find(expressions, sizeof expressions / sizeof *expressions, sizeof *expressions,
                      key, strlen(key));
  if (which == 0) claim->hold_count++;
  if (which >= 0)
    return eb_paper_expression(paper, value, NULL, expressions[which].kind, expressions[which].out);
  return (strcmp(key, "table") == 0 && eb_paper_table_find(paper, value) < 0) ||
                 (strcmp(key, "figure") == 0 && eb_paper_figure_find(paper, value) < 0)
             ? EB_ERROR(EB_ERR_FORMAT, "there is no %s '%s'", key, value)
             : EB_OK;
}

static eb_error read_claim(eb_paper *paper, const eb_section *section) {
  static const eb_key keys[] = {{"claim", EB_KEY_JOINED, offsetof(eb_paper_claim, text), NULL},
                                {.name = "holds"},
                                {"source", EB_KEY_JOINED, offsetof(eb_paper_claim, source), NULL},
                                {.name = "given"},
                                {.name = "paper"},
                                {.name = "ours"},
                                {.name = "table"},
                                {.name = "figure"},
                                {"note", EB_KEY_JOINED, offsetof(eb_paper_claim, note), NULL},
                                {0}};
  EB_TRY(eb_append(&paper->claims, &paper->claim_count, sizeof *paper->claims));
  eb_paper_claim *claim = &paper->claims[paper->claim_count - 1];
  claim->id = section->label;
  claim->section = section;
  claim->where = section->text;
  EB_TRY(eb_section_locate(section, NULL, eb_section_read(section, keys, claim)));
  EB_TRY(EB_NEW(claim->holds, section->count));
  for (int i = 0; i < section->count; i++)
    EB_TRY(eb_section_locate(section, &section->entries[i],
                             read_claim_entry(paper, &section->entries[i], claim)));
  return claim->hold_count
             ? EB_OK
             : eb_section_locate(
                   section, NULL,
                   EB_ERROR(EB_ERR_FORMAT, "'holds = EXPRESSION' is missing: nothing is claimed"));
}

static void clear_claim(eb_paper_claim *claim) {
  for (int h = 0; h < claim->hold_count; h++) eb_expression_destroy(claim->holds[h]);
  eb_expression_destroy(claim->given);
  eb_expression_destroy(claim->paper);
  eb_expression_destroy(claim->ours);
  free(claim->holds);
  free(claim->text);
  free(claim->note);
  free(claim->source);
}

/* ---- the paper ------------------------------------------------------------------------------- */

/* A name that stands for an expression stands for nothing else: not for a case, a table, or a row
 * or column of one. */
static eb_error check_definition(const eb_paper *paper, const eb_definition *one) {
  size_t length = strlen(one->name);
  bool word = eb_paper_case_find(paper, one->name, length) >= 0;
  for (int t = 0; t < paper->table_count && !word; t++) {
    const eb_paper_table *table = &paper->tables[t];
    const eb_strings *const lists[] = {&table->keys, &table->names};
    word = strcmp(table->id, one->name) == 0;
    for (int l = 0; l < 2; l++)
      word =
          word || eb_find(lists[l]->items, lists[l]->count, sizeof(char *), one->name, length) >= 0;
  }
  word = word && one->parameters.count == 0;
  if (!word && !eb_is_function(one->name)) return EB_OK;
  return eb_section_locate(
      eb_sections_find(&paper->sections, "names", ""), one->entry,
      EB_ERROR(EB_ERR_FORMAT, "'%s' is %s already", one->name,
               word ? "a case, a table, or a row or column of one" : "a function of the language"));
}

static eb_error read_paper(eb_paper *paper, const char *from) {
  static const eb_key keys[] = {{"title", EB_KEY_JOINED, offsetof(eb_paper, title), NULL},
                                {"citation", EB_KEY_JOINED, offsetof(eb_paper, citation), NULL},
                                {"machine", EB_KEY_JOINED, offsetof(eb_paper, machine), NULL},
                                {"note", EB_KEY_JOINED, offsetof(eb_paper, note), NULL},
                                {0}};
  static const char *const kinds[] = {"paper", "solvers", "cases", "names",
                                      "table", "claim",   "figure"};
  const eb_sections *all = &paper->sections;
  const eb_section *head = eb_sections_find(all, "paper", ""),
                   *names = eb_sections_find(all, "names", "");
  for (int i = 0; i < all->count; i++) {
    const char *kind = all->items[i].kind;
    if (eb_find(kinds, sizeof kinds / sizeof *kinds, sizeof *kinds, kind, strlen(kind)) < 0)
      return eb_section_locate(
          &all->items[i], NULL,
          EB_ERROR(EB_ERR_FORMAT,
                   "there is no kind of section '%s'; there are: paper, solvers, cases, names, "
                   "table, claim, figure",
                   kind));
  }
  eb_error error = eb_section_read(head, keys, paper);
  EB_TRY(head ? eb_section_locate(head, NULL, error) : error);
  EB_TRY(eb_definitions_read(names, &paper->definitions));
  EB_TRY(eb_paper_read_cases(paper));
  EB_TRY(eb_paper_read_tables(paper, from));
  for (int i = 0; i < paper->definitions.count; i++)
    EB_TRY(check_definition(paper, &paper->definitions.items[i]));
  EB_TRY(eb_paper_read_figures(paper));
  for (int i = 0; i < all->count; i++)
    if (strcmp(all->items[i].kind, "claim") == 0) EB_TRY(read_claim(paper, &all->items[i]));
  return EB_OK;
}

eb_error eb_paper_load(const char *name, const char *from, bool quick, eb_paper **out) {
  eb_paper *paper;
  char path[EB_PAPER_PATH];
  eb_text text = {0};
  *out = NULL;
  EB_TRY(EB_NEW(paper, 1));
  paper->quick = quick;
  eb_error error = eb_copy(name, &paper->name);
  if (!error) error = eb_paper_file(name, from, "paper.ini", path, &text);
  if (!error) error = eb_sections_parse(path, text.data, &paper->sections);
  if (!error) error = read_paper(paper, from);
  eb_text_clear(&text);
  if (error)
    eb_paper_destroy(paper);
  else
    *out = paper;
  return error;
}

void eb_paper_destroy(eb_paper *paper) {
  if (!paper) return;
  for (int c = 0; c < paper->claim_count; c++) clear_claim(&paper->claims[c]);
  free(paper->claims);
  eb_paper_clear_tables(paper);
  eb_paper_clear_figures(paper);
  eb_paper_clear_cases(paper);
  eb_definitions_clear(&paper->definitions);
  eb_strings_clear(&paper->texts);
  eb_sections_clear(&paper->sections);
  free(paper->name);
  free(paper->title);
  free(paper->citation);
  free(paper->machine);
  free(paper->note);
  free(paper);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Marks what an expression names. */
static eb_error mark(const eb_paper *paper, const eb_expression *expression, const eb_scope *scope,
                     bool *cases) {
  eb_evaluation e = {.paper = paper, .named = cases, .repetition = -1};
  eb_value value = {0};
  eb_error error = expression ? eb_evaluate(&e, expression, scope, &value) : EB_OK;
  eb_value_clear(&value);
  return error;
}

eb_error eb_paper_table_cases(const eb_paper *paper, const eb_paper_table *table, bool *cases) {
  for (int c = 0; c < table->keys.count * table->column_count; c++)
    EB_TRY(mark(paper, table->cells[c], NULL, cases));
  return EB_OK;
}

eb_error eb_paper_claim_cases(const eb_paper *paper, const eb_paper_claim *claim, bool *cases) {
  for (int h = 0; h < claim->hold_count; h++) EB_TRY(mark(paper, claim->holds[h], NULL, cases));
  EB_TRY(mark(paper, claim->given, NULL, cases));
  return mark(paper, claim->ours, NULL, cases);
}

eb_error eb_paper_figure_cases(const eb_paper *paper, const eb_paper_figure *figure, bool *cases) {
  eb_scope scopes[2];
  if (figure->show >= 0) cases[figure->show] = true;
  for (int p = 0; p < figure->point_count; p++) {
    if (figure->residuals) cases[figure->points[p].case_] = true;
    if (figure->residuals) continue;
    eb_paper_point_scope(paper, &figure->points[p], scopes);
    EB_TRY(mark(paper, figure->value, scopes, cases));
    for (int s = 0; s < figure->parts.count; s++)
      EB_TRY(mark(paper, figure->shares[s], scopes, cases));
  }
  return EB_OK;
}

static eb_error unknown_item(const eb_paper *paper, const char *item) {
  const struct {
    const void *items;
    int count;
    size_t size;
  } all[] = {{paper->tables, paper->table_count, sizeof *paper->tables},
             {paper->claims, paper->claim_count, sizeof *paper->claims},
             {paper->figures, paper->figure_count, sizeof *paper->figures}};
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < all[k].count && !error; i++) {
      const char *id;
      memcpy(&id, (const char *)all[k].items + (size_t)i * all[k].size, sizeof id);
      if (eb_find(names.items, names.count, sizeof *names.items, id, strlen(id)) < 0)
        error = eb_strings_add(&names, id);
    }
  if (!error) error = eb_unknown_name("table, claim or figure", item, &names);
  eb_strings_clear(&names);
  return error;
}

/* With a claim come the tables and figures that it is shown with or judged by. */
static eb_error choose_claim(const eb_paper *paper, const eb_paper_claim *claim,
                             eb_paper_choice *out) {
  for (int e = 0; e < claim->section->count; e++) {
    const eb_entry *entry = &claim->section->entries[e];
    if (strcmp(entry->key, "table") == 0)
      out->tables[eb_paper_table_find(paper, entry->value)] = true;
    if (strcmp(entry->key, "figure") == 0)
      out->figures[eb_paper_figure_find(paper, entry->value)] = true;
  }
  return eb_paper_claim_cases(paper, claim, out->cases);
}

eb_error eb_paper_choose(const eb_paper *paper, const char *item, eb_paper_choice *out) {
  bool any = !item;
  *out = (eb_paper_choice){0};
  EB_TRY(EB_NEW(out->cases, paper->case_count));
  EB_TRY(EB_NEW(out->tables, paper->table_count));
  EB_TRY(EB_NEW(out->claims, paper->claim_count));
  EB_TRY(EB_NEW(out->figures, paper->figure_count));
  for (int c = 0; c < paper->claim_count; c++) {
    if (!item || strcmp(item, paper->claims[c].id) == 0) out->claims[c] = any = true;
    if (out->claims[c]) EB_TRY(choose_claim(paper, &paper->claims[c], out));
  }
  for (int t = 0; t < paper->table_count; t++) {
    if (!item || strcmp(item, paper->tables[t].id) == 0) out->tables[t] = any = true;
    if (out->tables[t]) EB_TRY(eb_paper_table_cases(paper, &paper->tables[t], out->cases));
  }
  for (int f = 0; f < paper->figure_count; f++) {
    if (!item || strcmp(item, paper->figures[f].id) == 0) out->figures[f] = any = true;
    if (out->figures[f]) EB_TRY(eb_paper_figure_cases(paper, &paper->figures[f], out->cases));
  }
  return any ? EB_OK : unknown_item(paper, item);
}

void eb_paper_choice_clear(eb_paper_choice *choice) {
  free(choice->cases);
  free(choice->tables);
  free(choice->claims);
  free(choice->figures);
  *choice = (eb_paper_choice){0};
}
