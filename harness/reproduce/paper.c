#include "harness/reproduce/paper.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/embedded.h"
#include "harness/names.h"
#include "problems/notation/untrusted.h"
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

/* What a path leads to, through links, must be a file below the paper's folder: a paper is data of
 * anyone's, and names none of its reader's files. */
static eb_error check_inside(const char *folder, const char *path) {
  char real_folder[PATH_MAX], real[PATH_MAX];
  struct stat info;
  if (!realpath(folder, real_folder) || !realpath(path, real)) return EB_OK; /* cannot be read */
  size_t length = strlen(real_folder);
  if (strncmp(real, real_folder, length) != 0 || (real[length] != '/' && length > 1))
    return EB_ERROR(EB_ERR_FORMAT, "'%s' leads out of the paper's folder '%s'", path, folder);
  return stat(real, &info) == 0 && !S_ISREG(info.st_mode)
             ? EB_ERROR(EB_ERR_FORMAT, "'%s' is not a regular file", path)
             : EB_OK;
}

/* Appends a file of a paper to *text, and its path to `path` for messages; `from` as for
 * the paper. The caller clears *text, also after a failure. */
enum { LONGEST_PATH = 600 };
static eb_error read_file(const char *paper, const char *from, const char *name,
                          char path[LONGEST_PATH], eb_text *text) {
  eb_embedded built_in;
  eb_strings names = {0};
  *text = (eb_text){0};
  if (from) {
    char folder[LONGEST_PATH];
    snprintf(folder, sizeof folder, "%s/%s", from, paper);
    int used = snprintf(path, LONGEST_PATH, "%s/%s/%s", from, paper, name);
    if (used < 0 || used >= LONGEST_PATH)
      return EB_ERROR(EB_ERR_IO, "the path '%s/%s/%s' is too long", from, paper, name);
    EB_TRY(check_inside(folder, path));
    return eb_text_read(path, "part of a paper", text);
  }
  eb_error error = eb_paper_names(&names);
  if (!error && eb_word_find(&names, paper, strlen(paper)) < 0)
    error = eb_unknown_name("paper", paper, &names);
  eb_strings_clear(&names);
  snprintf(path, LONGEST_PATH, "%s%s/%s", room, paper, name);
  if (!error) error = eb_embedded_find(path, &built_in);
  return error ? error : eb_text_append(text, built_in.data, built_in.size);
}

eb_error eb_paper_place(const eb_paper *paper, const char *name, char **path) {
  *path = NULL;
  if (!paper->folder)
    return EB_ERROR(EB_ERR_FORMAT, "paper '%s' is compiled in, and has no file '%s'", paper->name,
                    name);
  EB_TRY(eb_string_format(path, "%s/%s", paper->folder, name));
  eb_error error = check_inside(paper->folder, *path);
  if (!error) return EB_OK;
  free(*path);
  *path = NULL;
  return error;
}

/* ---- finding --------------------------------------------------------------------------------- */

int eb_paper_table_find(const eb_paper *paper, const char *id) {
  return eb_find(paper->tables, paper->table_count, sizeof *paper->tables, id, strlen(id));
}

int eb_paper_figure_find(const eb_paper *paper, const char *id) {
  return eb_find(paper->figures, paper->figure_count, sizeof *paper->figures, id, strlen(id));
}

double eb_paper_value(const eb_paper_table *table, int row, const eb_paper_column *column) {
  return table->values[row * table->names.count + column->at];
}

bool eb_paper_is_map(const eb_paper_figure *figure) {
  return strcmp(figure->template, "map") == 0 || strcmp(figure->template, "map-log") == 0;
}

bool eb_paper_is_course(const eb_paper_figure *figure) {
  return strncmp(figure->template, "course", 6) == 0;
}

void eb_paper_point_scope(const eb_paper *paper, const eb_paper_point *point, eb_scope scopes[2]) {
  const char *against = point->against < 0 ? NULL : paper->cases[point->against].name;
  scopes[1] = (eb_scope){"against", against, NULL};
  scopes[0] = (eb_scope){"case", paper->cases[point->case_].name, against ? &scopes[1] : NULL};
}

/* ---- what both have -------------------------------------------------------------------------- */

/* What a figure in SI is multiplied by to be in that unit (NULL: 1). */
static eb_error read_unit(const char *unit, double *scale) {
  static const struct {
    const char *name;
    double scale;
  } units[] = {{"1", 1}, {"s", 1}, {"ms", 1e3}, {"MB", 1e-6}};
  int u =
      unit ? eb_find(units, sizeof units / sizeof *units, sizeof *units, unit, strlen(unit)) : 0;
  *scale = u < 0 ? 1 : units[u].scale;
  return u < 0 ? EB_ERROR(EB_ERR_FORMAT, "unit is 1, s, ms or MB, not '%s'", unit) : EB_OK;
}

/* Takes "NAME: REST" apart: the length of NAME, and where REST begins. */
static eb_error split(const char *value, size_t *name, const char **rest) {
  const char *colon = strstr(value, ": ");
  *name = 0;
  *rest = value;
  if (!colon || colon == value) return EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'NAME: ...'", value);
  *name = (size_t)(colon - value);
  *rest = colon + 2 + strspn(colon + 2, " ");
  return EB_OK;
}

/* What the entries of a section are read into. */
typedef struct reading {
  const eb_paper *paper;
  void *item;  /* the table, figure or claim */
  int against; /* of a figure's points without */
} reading;

/* An expression that stands where the key says. */
static eb_error read_expression(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  eb_expression **to = (eb_expression **)(void *)((char *)r->item + key->offset);
  return *to ? EB_ERROR(EB_ERR_FORMAT, "it is there twice")
             : eb_definitions_parse(&r->paper->definitions, entry->value, to);
}

/* ---- the paper's data ------------------------------------------------------------------------ */

/* The next field of a line, up to a tab or the line's end; false at its end. */
static bool next_field(const char **at, const char **field, size_t *length) {
  if (!*at) return false;
  *field = *at;
  *length = strcspn(*at, "\t\n");
  *at = (*at)[*length] == '\t' ? *at + *length + 1 : NULL;
  return true;
}

static eb_error read_row(const char *line, bool labelled, eb_paper_table *table) {
  const char *field;
  size_t length;
  int rows = table->keys.count, columns = table->names.count;
  next_field(&line, &field, &length);
  EB_TRY(eb_strings_add_part(&table->keys, field, length));
  EB_TRY(eb_strings_add_part(&table->fills, field, length));
  if (labelled && !next_field(&line, &field, &length))
    return EB_ERROR(EB_ERR_FORMAT, "the label is missing");
  EB_TRY(eb_strings_add_part(&table->labels, field, length));
  EB_TRY(eb_append(&table->values, &rows, sizeof rows, (size_t)columns * sizeof *table->values,
                   "values"));
  for (int c = 0; c < columns; c++) {
    char text[64], *end;
    double *value = &table->values[(rows - 1) * columns + c];
    *value = NAN;
    if (!next_field(&line, &field, &length) || length == 0) continue;
    snprintf(text, sizeof text, "%.*s", (int)length, field);
    *value = strtod(text, &end);
    if (*end || !isfinite(*value)) return EB_ERROR(EB_ERR_FORMAT, "'%s' is not a number", text);
  }
  return line ? EB_ERROR(EB_ERR_FORMAT, "there are more than %d numbers", columns) : EB_OK;
}

/* The first line names the columns: keys, perhaps labels, numbers. */
static eb_error read_data(const char *path, const char *text, double *asked,
                          eb_paper_table *table) {
  bool labelled = false;
  int number = 1;
  const char *line = text, *field;
  size_t length;
  next_field(&line, &field, &length);
  for (int i = 0; next_field(&line, &field, &length); i++) {
    if (i == 0 && length == 5 && strncmp(field, "label", 5) == 0)
      labelled = true;
    else
      EB_TRY(eb_strings_add_part(&table->names, field, length));
  }
  if (!table->names.count)
    return EB_ERROR(EB_ERR_FORMAT, "%s:1: there are no columns of numbers", path);
  for (const char *end = strchr(text, '\n'); end && end[1]; end = strchr(end + 1, '\n')) {
    number++;
    if (end[1] == '\n') continue;
    eb_error error = eb_ask(asked, table->names.count, "cells");
    if (!error) error = read_row(end + 1, labelled, table);
    EB_TRY(eb_error_prefix(error, "%s:%d", path, number));
  }
  return table->keys.count ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "%s: there are no rows", path);
}

/* ---- ours beside it -------------------------------------------------------------------------- */

/* The column of that name, made when there is none yet. */
static eb_error find_column(eb_paper_table *table, const char *name, eb_paper_column **out) {
  size_t length = strlen(name);
  int at = eb_word_find(&table->names, name, length),
      c = eb_find(table->columns, table->column_count, sizeof *table->columns, name, length);
  if (at < 0) return EB_ERROR(EB_ERR_FORMAT, "the data have no column '%s'", name);
  if (c < 0) {
    EB_TRY(EB_APPEND(table->columns, table->column_count));
    c = table->column_count - 1;
    table->columns[c].at = at;
    table->columns[c].name = table->names.items[at];
    EB_TRY(eb_copy(name, &table->columns[c].heading));
  }
  *out = &table->columns[c];
  return EB_OK;
}

/* "NAME | HEADING | EXPRESSION"; without an expression it is the paper's alone. */
static eb_error read_column(void *context, const eb_key *key, const eb_entry *entry) {
  char *parts[3] = {NULL};
  const char *rest = entry->value;
  eb_paper_column *column = NULL;
  int count = 0;
  eb_error error = EB_OK;
  (void)key;
  for (; rest && count < 3 && !error; count++) error = eb_part_next(&rest, &parts[count]);
  if (!error && (rest || count < 2))
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'NAME | HEADING | EXPRESSION'", entry->value);
  if (!error) error = find_column(((const reading *)context)->item, parts[0], &column);
  if (!error && *parts[1]) error = eb_string_set(&column->heading, parts[1]);
  if (!error && count == 3) error = eb_string_set(&column->text, parts[2]);
  for (int i = 0; i < 3; i++) free(parts[i]);
  return error;
}

/* "KEY: TEXT" */
static eb_error read_fill(void *context, const eb_key *key, const eb_entry *entry) {
  eb_paper_table *table = ((const reading *)context)->item;
  const char *rest, *value = entry->value;
  size_t name;
  (void)key;
  EB_TRY(split(value, &name, &rest));
  int row = eb_word_find(&table->keys, value, name);
  if (row < 0) return EB_ERROR(EB_ERR_FORMAT, "the data have no row '%.*s'", (int)name, value);
  return eb_string_set(&table->fills.items[row], rest);
}

/* There is ours where the paper has a number, or everywhere, and the row is not "-". A row's text
 * with {column} is the expression, else the column's, in which {row} is replaced. */
static eb_error read_cell(const eb_paper *paper, eb_paper_table *table, int r, int c) {
  const eb_paper_column *column = &table->columns[c];
  const char *row = table->fills.items[r];
  eb_text text = {0};
  bool wanted = strcmp(table->ours, "everywhere") == 0 || !isnan(eb_paper_value(table, r, column));
  if (!column->text || strcmp(row, "-") == 0 || !wanted) return EB_OK;
  bool by_row = strstr(row, "{column}") != NULL;
  const char *base = by_row ? row : column->text;
  const eb_scope scope = {by_row ? "column" : "row", by_row ? column->text : row, NULL};
  eb_error error = eb_scope_put(&scope, base, strlen(base), false, &text);
  if (!error)
    error = eb_definitions_parse(&paper->definitions, text.data,
                                 &table->cells[r * table->column_count + c]);
  eb_text_clear(&text);
  return eb_error_prefix(error, "row '%s', column '%s'", table->keys.items[r], column->name);
}

static eb_error read_table(eb_paper *paper, const char *from, const eb_section *section) {
  static const eb_key keys[] = {
      {"title", .type = EB_KEY_LAST, .offset = offsetof(eb_paper_table, title)},
      {.name = "data"},
      {"unit", .type = EB_KEY_LAST, .offset = offsetof(eb_paper_table, unit), .fallback = "1"},
      {"note", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper_table, note)},
      {"ours", .type = EB_KEY_LAST, .offset = offsetof(eb_paper_table, ours), .fallback = ""},
      {.name = "row", .read = read_fill, .loops = true},
      {.name = "column", .read = read_column, .loops = true},
      {0}};
  char path[LONGEST_PATH];
  eb_text text;
  const char *data = eb_section_value(section, "data");
  EB_TRY(EB_APPEND(paper->tables, paper->table_count));
  eb_paper_table *table = &paper->tables[paper->table_count - 1];
  table->id = section->label;
  table->where = section->text;
  EB_TRY(eb_section_read(section, keys, table));
  if (!table->title) table->title = table->id;
  if (*table->ours && strcmp(table->ours, "everywhere") != 0)
    return EB_ERROR(EB_ERR_FORMAT, "'ours' can only be 'everywhere'");
  if (!data) return EB_ERROR(EB_ERR_FORMAT, "'data' is missing");
  eb_error error = read_file(paper->name, from, data, path, &text);
  if (!error) error = read_data(path, text.data, section->asked, table);
  eb_text_clear(&text);
  EB_TRY(error);
  EB_TRY(read_unit(table->unit, &table->scale));
  EB_TRY(eb_section_each(section, keys, &(reading){.item = table}));
  if (table->column_count == 0) return EB_ERROR(EB_ERR_FORMAT, "there is no 'column'");
  EB_TRY(EB_NEW(table->cells, table->keys.count * table->column_count));
  for (int r = 0; r < table->keys.count; r++)
    for (int c = 0; c < table->column_count; c++) EB_TRY(read_cell(paper, table, r, c));
  return EB_OK;
}

/* ---- figures --------------------------------------------------------------------------------- */

static eb_error find_case(const eb_paper *paper, const char *name, int *out) {
  *out = eb_paper_case_find(paper, name);
  return *out < 0 ? EB_ERROR(EB_ERR_FORMAT, "there is no case '%s'", name) : EB_OK;
}

static eb_error open_curve(const char *label, size_t length, eb_paper_figure *figure) {
  if (figure->curve_count == EB_MOST_CURVES)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d curves", EB_MOST_CURVES);
  eb_paper_curve *curve = &figure->curves[figure->curve_count++];
  *curve = (eb_paper_curve){.first = figure->point_count};
  return eb_copy_part(label, length, &curve->label);
}

static eb_error add_point(const reading *r, eb_paper_point **out) {
  eb_paper_figure *figure = r->item;
  EB_TRY(EB_APPEND(figure->points, figure->point_count));
  *out = &figure->points[figure->point_count - 1];
  **out = (eb_paper_point){.case_ = -1, .against = r->against};
  figure->curves[figure->curve_count - 1].count++;
  return EB_OK;
}

/* "X CASE" or "X CASE AGAINST", of maps "X Y CASE", with `across` "CASE": one more point of the
 * last curve. The points of a curve follow its name; without one they are one. */
static eb_error read_words(const reading *r, const eb_strings *words, eb_paper_point *point) {
  const eb_paper_figure *figure = r->item;
  bool map = eb_paper_is_map(figure), plain = !map && !figure->across;
  double *const to[] = {&point->x, &point->row};
  int numbers = map ? 2 : plain ? 1 : 0;
  bool good = words->count == numbers + 1 || (plain && words->count == 3);
  for (int i = 0; i < numbers && good; i++) {
    char *end;
    *to[i] = strtod(words->items[i], &end);
    good = end != words->items[i] && !*end;
  }
  if (!good)
    return EB_ERROR(EB_ERR_FORMAT, "this is not %s",
                    map     ? "'X Y CASE'"
                    : plain ? "'X CASE' or 'X CASE AGAINST'"
                            : "'CASE', as 'across' wants it");
  if (words->count == numbers + 2) EB_TRY(find_case(r->paper, words->items[2], &point->against));
  return find_case(r->paper, words->items[numbers], &point->case_);
}

static eb_error read_point(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  eb_paper_figure *figure = r->item;
  eb_paper_point *point;
  eb_strings words = {0};
  (void)key;
  if (figure->curve_count == 0) EB_TRY(open_curve(figure->title, strlen(figure->title), figure));
  EB_TRY(add_point(r, &point));
  eb_error error = eb_words(entry->value, " ", &words);
  if (!error) error = eb_error_prefix(read_words(r, &words, point), "'%s'", entry->value);
  eb_strings_clear(&words);
  return error;
}

/* "NAME: CASE": a curve with that case as its one point; of residuals perhaps at the ends of rounds
 * alone. */
static eb_error read_run(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  eb_paper_figure *figure = r->item;
  eb_paper_point *point;
  const char *rest;
  size_t name;
  EB_TRY(split(entry->value, &name, &rest));
  EB_TRY(open_curve(entry->value, name, figure));
  EB_TRY(add_point(r, &point));
  point->x = figure->point_count - 1;
  point->against = -1;
  figure->curves[figure->curve_count - 1].ends = strcmp(key->name, "ends") == 0;
  figure->residuals |= strcmp(key->name, "run") != 0;
  return find_case(r->paper, rest, &point->case_);
}

/* "NAME: EXPRESSION" */
static eb_error read_part(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  eb_paper_figure *figure = r->item;
  const char *rest;
  size_t name;
  (void)key;
  EB_TRY(split(entry->value, &name, &rest));
  if (figure->parts.count == EB_MOST_PARTS)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d parts", EB_MOST_PARTS);
  EB_TRY(eb_strings_add_part(&figure->parts, entry->value, name));
  return eb_definitions_parse(&r->paper->definitions, rest,
                              &figure->shares[figure->parts.count - 1]);
}

static eb_error read_curve(void *context, const eb_key *key, const eb_entry *entry) {
  (void)key;
  return open_curve(entry->value, strlen(entry->value), ((const reading *)context)->item);
}

/* Whether what stands in it goes with the template. */
static eb_error check_template(const eb_paper_figure *figure) {
  bool samples = strcmp(figure->template, "samples-log") == 0,
       bars = strcmp(figure->template, "bars") == 0;
  if (samples != figure->residuals || (figure->residuals && figure->value))
    return EB_ERROR(EB_ERR_FORMAT, "template 'samples-log', and no other, wants lines 'residuals' "
                                   "and 'ends', and no 'value'");
  if (figure->point_count && !figure->residuals && !figure->value)
    return EB_ERROR(EB_ERR_FORMAT, "'value' is missing");
  if (figure->across && strncmp(figure->template, "curves", 6) != 0)
    return EB_ERROR(EB_ERR_FORMAT, "only templates 'curves' and 'curves-log' have 'across'");
  return bars == (figure->parts.count > 0)
             ? EB_OK
             : EB_ERROR(EB_ERR_FORMAT, "template 'bars', and no other, wants 1 to %d lines 'part'",
                        EB_MOST_PARTS);
}

static eb_error read_figure(eb_paper *paper, const eb_section *section) {
  static const eb_key keys[] = {
      {"template", .type = EB_KEY_LAST, .offset = offsetof(eb_paper_figure, template),
       .fallback = ""},
      {"x", .type = EB_KEY_LAST, .offset = offsetof(eb_paper_figure, x)},
      {"y", .type = EB_KEY_LAST, .offset = offsetof(eb_paper_figure, y), .fallback = ""},
      {"z", .type = EB_KEY_LAST, .offset = offsetof(eb_paper_figure, z), .fallback = ""},
      {"value", .offset = offsetof(eb_paper_figure, value), .read = read_expression},
      {"across", .offset = offsetof(eb_paper_figure, across), .read = read_expression},
      {.name = "unit"},
      {.name = "against"},
      {.name = "show"},
      {"curve", .read = read_curve},
      {"point", .read = read_point, .loops = true},
      {"run", .read = read_run, .loops = true},
      {"part", .read = read_part, .loops = true},
      {"residuals", .read = read_run, .loops = true},
      {"ends", .read = read_run, .loops = true},
      {0}};
  const char *against = eb_section_value(section, "against"),
             *show = eb_section_value(section, "show");
  EB_TRY(EB_APPEND(paper->figures, paper->figure_count));
  eb_paper_figure *figure = &paper->figures[paper->figure_count - 1];
  reading r = {paper, figure, -1};
  figure->id = section->label;
  figure->title = *section->text ? section->text : section->label;
  figure->show = -1;
  EB_TRY(eb_section_read(section, keys, figure));
  if (show) EB_TRY(find_case(paper, show, &figure->show));
  if (against) EB_TRY(find_case(paper, against, &r.against));
  EB_TRY(read_unit(eb_section_value(section, "unit"), &figure->scale));
  if (!figure->x) figure->x = eb_paper_is_course(figure) ? "simulated time (s)" : "";
  EB_TRY(eb_section_each(section, keys, &r));
  return check_template(figure);
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* "EXPRESSION", or "LABEL: EXPRESSION" of the claim's range. */
static eb_error read_condition(void *context, const eb_key *key, const eb_entry *entry) {
  const reading *r = context;
  eb_paper_claim *claim = r->item;
  bool range = strcmp(key->name, "range") == 0;
  eb_paper_condition **list = range ? &claim->range : &claim->holds, *condition;
  int *count = range ? &claim->range_count : &claim->hold_count;
  const char *rest = entry->value;
  size_t label = 0;
  if (range) EB_TRY(split(entry->value, &label, &rest));
  EB_TRY(EB_APPEND(*list, *count));
  condition = &(*list)[*count - 1];
  condition->entry = entry->of ? entry->of : entry;
  if (range) EB_TRY(eb_copy_part(entry->value, label, &condition->label));
  return eb_definitions_parse(&r->paper->definitions, rest, &condition->of);
}

static eb_error check_shown(void *context, const eb_key *key, const eb_entry *entry) {
  const eb_paper *paper = ((const reading *)context)->paper;
  int at = strcmp(key->name, "table") == 0 ? eb_paper_table_find(paper, entry->value)
                                           : eb_paper_figure_find(paper, entry->value);
  return at >= 0 ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "there is no %s '%s'", key->name, entry->value);
}

static eb_error read_claim(eb_paper *paper, const eb_section *section) {
  static const eb_key keys[] = {
      {"claim", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper_claim, text)},
      {"holds", .read = read_condition, .loops = true},
      {"source", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper_claim, source)},
      {"given", .offset = offsetof(eb_paper_claim, given), .read = read_expression},
      {"range", .read = read_condition, .loops = true},
      {"paper", .offset = offsetof(eb_paper_claim, paper), .read = read_expression},
      {"ours", .offset = offsetof(eb_paper_claim, ours), .read = read_expression},
      {"table", .read = check_shown},
      {"figure", .read = check_shown},
      {"note", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper_claim, note)},
      {0}};
  EB_TRY(EB_APPEND(paper->claims, paper->claim_count));
  eb_paper_claim *claim = &paper->claims[paper->claim_count - 1];
  claim->id = section->label;
  claim->section = section;
  claim->where = section->text;
  EB_TRY(eb_section_read(section, keys, claim));
  EB_TRY(eb_section_each(section, keys, &(reading){.paper = paper, .item = claim}));
  return claim->hold_count
             ? EB_OK
             : EB_ERROR(EB_ERR_FORMAT, "'holds = EXPRESSION' is missing: nothing is claimed");
}

/* ---- the paper ------------------------------------------------------------------------------- */

static eb_error read_paper(eb_paper *paper, const char *from) {
  static const eb_key keys[] = {
      {"title", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper, title)},
      {"citation", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper, citation)},
      {"machine", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper, machine)},
      {"note", .type = EB_KEY_JOINED, .offset = offsetof(eb_paper, note)},
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
    if (*all->items[i].label)
      EB_TRY(eb_section_locate(&all->items[i], NULL, eb_check_word(kind, all->items[i].label)));
  }
  EB_TRY(eb_section_read(head, keys, paper));
  EB_TRY(eb_definitions_read(names, all->asked, &paper->definitions));
  EB_TRY(eb_paper_read_cases(paper));
  static const char *const in_turn[] = {"table", "figure", "claim"};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < all->count; i++) {
      const eb_section *section = &all->items[i];
      if (strcmp(section->kind, in_turn[k]) != 0) continue;
      eb_error error = k == 0   ? read_table(paper, from, section)
                       : k == 1 ? read_figure(paper, section)
                                : read_claim(paper, section);
      EB_TRY(eb_section_locate(section, NULL, error));
    }
  return EB_OK;
}

eb_error eb_paper_read(const char *name, const char *from, bool quick, eb_paper **out) {
  eb_paper *paper;
  char path[LONGEST_PATH];
  eb_text text = {0};
  *out = NULL;
  EB_TRY(EB_NEW(paper, 1));
  paper->quick = quick;
  paper->foreign = from != NULL;
  eb_error error = eb_copy(name, &paper->name);
  if (!error && from) error = eb_string_format(&paper->folder, "%s/%s", from, name);
  if (!error) error = read_file(name, from, "paper.ini", path, &text);
  if (!error) error = eb_sections_parse(path, text.data, EB_SECTIONS_OF_PAPER, &paper->sections);
  if (!error) error = read_paper(paper, from);
  eb_text_clear(&text);
  if (error)
    eb_paper_destroy(paper);
  else
    *out = paper;
  return error;
}

static void clear_conditions(eb_paper_condition *conditions, int count) {
  for (int i = 0; i < count; i++) {
    free(conditions[i].label);
    eb_expression_destroy(conditions[i].of);
  }
  free(conditions);
}

void eb_paper_destroy(eb_paper *paper) {
  if (!paper) return;
  for (int t = 0; t < paper->table_count; t++) {
    eb_paper_table *table = &paper->tables[t];
    for (int c = 0; table->cells && c < table->keys.count * table->column_count; c++)
      eb_expression_destroy(table->cells[c]);
    for (int c = 0; c < table->column_count; c++) {
      free(table->columns[c].heading);
      free(table->columns[c].text);
    }
    free(table->cells);
    free(table->columns);
    free(table->values);
    free(table->note);
    eb_strings_clear(&table->keys);
    eb_strings_clear(&table->labels);
    eb_strings_clear(&table->fills);
    eb_strings_clear(&table->names);
  }
  for (int f = 0; f < paper->figure_count; f++) {
    eb_paper_figure *figure = &paper->figures[f];
    free(figure->points);
    eb_expression_destroy(figure->value);
    eb_expression_destroy(figure->across);
    for (int p = 0; p < EB_MOST_PARTS; p++) eb_expression_destroy(figure->shares[p]);
    for (int c = 0; c < figure->curve_count; c++) free(figure->curves[c].label);
    eb_strings_clear(&figure->parts);
  }
  for (int c = 0; c < paper->claim_count; c++) {
    eb_paper_claim *claim = &paper->claims[c];
    clear_conditions(claim->holds, claim->hold_count);
    clear_conditions(claim->range, claim->range_count);
    eb_expression_destroy(claim->given);
    eb_expression_destroy(claim->paper);
    eb_expression_destroy(claim->ours);
    free(claim->text);
    free(claim->note);
    free(claim->source);
  }
  free(paper->folder);
  free(paper->tables);
  free(paper->figures);
  free(paper->claims);
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
