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
#include "harness/untrusted.h"
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

static eb_error replace(char **text, const char *with) {
  char *copy;
  EB_TRY(eb_copy(with, &copy));
  free(*text);
  *text = copy;
  return EB_OK;
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
  EB_TRY(eb_append(&table->values, &rows, (size_t)columns * sizeof *table->values));
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
    EB_TRY(eb_append(&table->columns, &table->column_count, sizeof *table->columns));
    c = table->column_count - 1;
    table->columns[c].at = at;
    table->columns[c].name = table->names.items[at];
    EB_TRY(eb_copy(name, &table->columns[c].heading));
  }
  *out = &table->columns[c];
  return EB_OK;
}

/* "NAME | HEADING | EXPRESSION"; without an expression it is the paper's alone. */
static eb_error read_column(void *context, const eb_entry *entry) {
  char *parts[3] = {NULL};
  const char *rest = entry->value;
  eb_paper_column *column = NULL;
  int count = 0;
  eb_error error = EB_OK;
  for (; rest && count < 3 && !error; count++) error = eb_part_next(&rest, &parts[count]);
  if (!error && (rest || count < 2))
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'NAME | HEADING | EXPRESSION'", entry->value);
  if (!error) error = find_column(context, parts[0], &column);
  if (!error && *parts[1]) error = replace(&column->heading, parts[1]);
  if (!error && count == 3) error = replace(&column->text, parts[2]);
  for (int i = 0; i < 3; i++) free(parts[i]);
  return error;
}

/* "KEY: TEXT" */
static eb_error read_fill(void *context, const eb_entry *entry) {
  eb_paper_table *table = context;
  const char *rest, *value = entry->value;
  size_t name;
  EB_TRY(split(value, &name, &rest));
  int row = eb_word_find(&table->keys, value, name);
  if (row < 0) return EB_ERROR(EB_ERR_FORMAT, "the data have no row '%.*s'", (int)name, value);
  return replace(&table->fills.items[row], rest);
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
  static const eb_key keys[] = {{"title", EB_KEY_LAST, offsetof(eb_paper_table, title), NULL},
                                {.name = "data"},
                                {"unit", EB_KEY_LAST, offsetof(eb_paper_table, unit), "1"},
                                {"note", EB_KEY_JOINED, offsetof(eb_paper_table, note), NULL},
                                {"ours", EB_KEY_LAST, offsetof(eb_paper_table, ours), ""},
                                {.name = "row"},
                                {.name = "column"},
                                {0}};
  char path[LONGEST_PATH];
  eb_text text;
  const char *data = eb_section_value(section, "data");
  EB_TRY(eb_append(&paper->tables, &paper->table_count, sizeof *paper->tables));
  eb_paper_table *table = &paper->tables[paper->table_count - 1];
  table->id = section->label;
  table->where = section->text;
  EB_TRY(eb_section_locate(section, NULL, eb_section_read(section, keys, table)));
  if (!table->title) table->title = table->id;
  if (*table->ours && strcmp(table->ours, "everywhere") != 0)
    return eb_section_locate(section, NULL,
                             EB_ERROR(EB_ERR_FORMAT, "'ours' can only be 'everywhere'"));
  if (!data) return eb_section_locate(section, NULL, EB_ERROR(EB_ERR_FORMAT, "'data' is missing"));
  eb_error error = read_file(paper->name, from, data, path, &text);
  if (!error) error = read_data(path, text.data, section->asked, table);
  eb_text_clear(&text);
  EB_TRY(error);
  EB_TRY(eb_section_locate(section, NULL, read_unit(table->unit, &table->scale)));
  for (int e = 0; e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    error = strcmp(entry->key, "column") == 0 ? eb_entry_unroll(section, entry, read_column, table)
            : strcmp(entry->key, "row") == 0  ? eb_entry_unroll(section, entry, read_fill, table)
                                              : EB_OK;
    EB_TRY(eb_section_locate(section, entry, error));
  }
  if (table->column_count == 0)
    return eb_section_locate(section, NULL, EB_ERROR(EB_ERR_FORMAT, "there is no 'column'"));
  EB_TRY(EB_NEW(table->cells, table->keys.count * table->column_count));
  for (int r = 0; r < table->keys.count; r++)
    for (int c = 0; c < table->column_count; c++)
      EB_TRY(eb_section_locate(section, NULL, read_cell(paper, table, r, c)));
  return EB_OK;
}

/* ---- figures --------------------------------------------------------------------------------- */

static eb_error find_case(const eb_paper *paper, const char *name, int *out) {
  *out = eb_paper_case_find(paper, name);
  return *out < 0 ? EB_ERROR(EB_ERR_FORMAT, "there is no case '%s'", name) : EB_OK;
}

/* What an entry of a figure is read into. */
typedef struct reading {
  const eb_paper *paper;
  eb_paper_figure *figure;
  int against; /* of points without */
} reading;

static eb_error open_curve(const char *label, size_t length, eb_paper_figure *figure) {
  if (figure->curve_count == EB_MOST_CURVES)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d curves", EB_MOST_CURVES);
  eb_paper_curve *curve = &figure->curves[figure->curve_count++];
  *curve = (eb_paper_curve){.first = figure->point_count};
  return eb_copy_part(label, length, &curve->label);
}

/* "X CASE" or "X CASE AGAINST", of maps "X Y CASE", with `across` "CASE": one more point of the
 * last curve. The points of a curve follow its name; without one they are one. */
static eb_error read_point(const reading *r, const char *value) {
  eb_paper_figure *figure = r->figure;
  eb_strings words = {0};
  char *end = NULL, *row_end = NULL;
  bool map = eb_paper_is_map(figure);
  if (figure->curve_count == 0) EB_TRY(open_curve(figure->title, strlen(figure->title), figure));
  EB_TRY(eb_append(&figure->points, &figure->point_count, sizeof *figure->points));
  eb_paper_point *point = &figure->points[figure->point_count - 1];
  *point = (eb_paper_point){.case_ = -1, .against = r->against};
  figure->curves[figure->curve_count - 1].count++;
  eb_error error = eb_words(value, " ", &words);
  if (!error && words.count > 0) point->x = strtod(words.items[0], &end);
  if (!error && map) {
    if (words.count == 3) point->row = strtod(words.items[1], &row_end);
    if (words.count != 3 || end == words.items[0] || *end || row_end == words.items[1] || *row_end)
      error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'X Y CASE'", value);
    if (!error) error = find_case(r->paper, words.items[2], &point->case_);
    eb_strings_clear(&words);
    return error;
  }
  if (!error && figure->across) {
    error = words.count == 1 ? find_case(r->paper, words.items[0], &point->case_)
                             : EB_ERROR(EB_ERR_FORMAT, "with 'across', '%s' is not 'CASE'", value);
    eb_strings_clear(&words);
    return error;
  }
  if (!error && (words.count < 2 || words.count > 3 || end == words.items[0] || *end))
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'X CASE' or 'X CASE AGAINST'", value);
  if (!error) error = find_case(r->paper, words.items[1], &point->case_);
  if (!error && words.count == 3) error = find_case(r->paper, words.items[2], &point->against);
  eb_strings_clear(&words);
  return error;
}

static eb_error read_entry(void *context, const eb_entry *entry) {
  const reading *r = context;
  eb_paper_figure *figure = r->figure;
  const eb_definitions *names = &r->paper->definitions;
  const char *key = entry->key, *value = entry->value, *rest;
  size_t name;
  bool ends = strcmp(key, "ends") == 0, residuals = ends || strcmp(key, "residuals") == 0;
  if (residuals || strcmp(key, "run") == 0) {
    /* "NAME: CASE": a curve with that case as its one point; of residuals perhaps at the ends of
     * rounds alone. */
    EB_TRY(split(value, &name, &rest));
    EB_TRY(open_curve(value, name, figure));
    EB_TRY(eb_append(&figure->points, &figure->point_count, sizeof *figure->points));
    eb_paper_point *point = &figure->points[figure->point_count - 1];
    eb_paper_curve *curve = &figure->curves[figure->curve_count - 1];
    *point = (eb_paper_point){.x = figure->point_count - 1, .against = -1};
    curve->count = 1;
    curve->ends = ends;
    figure->residuals |= residuals;
    return find_case(r->paper, rest, &point->case_);
  }
  if (strcmp(key, "part") == 0) { /* "NAME: EXPRESSION" */
    EB_TRY(split(value, &name, &rest));
    if (figure->parts.count == EB_MOST_PARTS)
      return EB_ERROR(EB_ERR_FORMAT, "there are more than %d parts", EB_MOST_PARTS);
    EB_TRY(eb_strings_add_part(&figure->parts, value, name));
    return eb_definitions_parse(names, rest, &figure->shares[figure->parts.count - 1]);
  }
  if (strcmp(key, "curve") == 0) return open_curve(value, strlen(value), figure);
  if (strcmp(key, "point") == 0) return read_point(r, value);
  bool across = strcmp(key, "across") == 0;
  if (!across && strcmp(key, "value") != 0) return EB_OK;
  eb_expression **to = across ? &figure->across : &figure->value;
  return *to ? EB_ERROR(EB_ERR_FORMAT, "it is there twice")
             : eb_definitions_parse(names, value, to);
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
  static const eb_key keys[] = {{"template", EB_KEY_LAST, offsetof(eb_paper_figure, template), ""},
                                {"x", EB_KEY_LAST, offsetof(eb_paper_figure, x), NULL},
                                {"y", EB_KEY_LAST, offsetof(eb_paper_figure, y), ""},
                                {"z", EB_KEY_LAST, offsetof(eb_paper_figure, z), ""},
                                {.name = "value"},
                                {.name = "across"},
                                {.name = "unit"},
                                {.name = "against"},
                                {.name = "show"},
                                {.name = "curve"},
                                {.name = "point"},
                                {.name = "run"},
                                {.name = "part"},
                                {.name = "residuals"},
                                {.name = "ends"},
                                {0}};
  /* Entries that are no prose, and no expressions with loops of their own. */
  static const char *const looped[] = {"run", "point", "part", "residuals", "ends"};
  const char *against = eb_section_value(section, "against"),
             *show = eb_section_value(section, "show");
  EB_TRY(eb_append(&paper->figures, &paper->figure_count, sizeof *paper->figures));
  eb_paper_figure *figure = &paper->figures[paper->figure_count - 1];
  reading r = {paper, figure, -1};
  figure->id = section->label;
  figure->title = *section->text ? section->text : section->label;
  figure->show = -1;
  eb_error error = eb_section_read(section, keys, figure);
  if (!error && show) error = find_case(paper, show, &figure->show);
  if (!error && against) error = find_case(paper, against, &r.against);
  if (!error) error = read_unit(eb_section_value(section, "unit"), &figure->scale);
  EB_TRY(eb_section_locate(section, NULL, error));
  if (!figure->x) figure->x = eb_paper_is_course(figure) ? "simulated time (s)" : "";
  for (int e = 0; e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    bool loops = eb_find(looped, 5, sizeof *looped, entry->key, strlen(entry->key)) >= 0;
    EB_TRY(eb_section_locate(section, entry,
                             loops ? eb_entry_unroll(section, entry, read_entry, &r)
                                   : read_entry(&r, entry)));
  }
  return eb_section_locate(section, NULL, check_template(figure));
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* Where an entry `holds` or `range` of a claim is read into. */
typedef struct condition_reading {
  const eb_paper *paper;
  const eb_entry *entry;
  eb_paper_condition **to;
  int *count;
  bool labelled;
} condition_reading;

/* "EXPRESSION", or "LABEL: EXPRESSION". */
static eb_error read_condition(void *context, const eb_entry *unrolled) {
  const condition_reading *r = context;
  const char *rest = unrolled->value;
  size_t label = 0;
  if (r->labelled) EB_TRY(split(unrolled->value, &label, &rest));
  EB_TRY(eb_append(r->to, r->count, sizeof **r->to));
  eb_paper_condition *condition = &(*r->to)[*r->count - 1];
  *condition = (eb_paper_condition){.entry = r->entry};
  if (r->labelled) EB_TRY(eb_copy_part(unrolled->value, label, &condition->label));
  return eb_definitions_parse(&r->paper->definitions, rest, &condition->of);
}

static eb_error read_claim(eb_paper *paper, const eb_section *section) {
  static const eb_key keys[] = {{"claim", EB_KEY_JOINED, offsetof(eb_paper_claim, text), NULL},
                                {.name = "holds"},
                                {"source", EB_KEY_JOINED, offsetof(eb_paper_claim, source), NULL},
                                {.name = "given"},
                                {.name = "range"},
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
  for (int i = 0; i < section->count; i++) {
    const eb_entry *entry = &section->entries[i];
    const char *key = entry->key, *value = entry->value;
    bool holds = strcmp(key, "holds") == 0, range = strcmp(key, "range") == 0;
    condition_reading r = {paper, entry, &claim->holds, &claim->hold_count, range};
    if (range) r.to = &claim->range, r.count = &claim->range_count;
    eb_expression **out = strcmp(key, "given") == 0   ? &claim->given
                          : strcmp(key, "paper") == 0 ? &claim->paper
                          : strcmp(key, "ours") == 0  ? &claim->ours
                                                      : NULL;
    eb_error error = EB_OK;
    if (out && *out)
      error = EB_ERROR(EB_ERR_FORMAT, "it is there twice");
    else if (out)
      error = eb_definitions_parse(&paper->definitions, value, out);
    else if (holds || range)
      error = eb_entry_unroll(section, entry, read_condition, &r);
    else if ((strcmp(key, "table") == 0 && eb_paper_table_find(paper, value) < 0) ||
             (strcmp(key, "figure") == 0 && eb_paper_figure_find(paper, value) < 0))
      error = EB_ERROR(EB_ERR_FORMAT, "there is no %s '%s'", key, value);
    EB_TRY(eb_section_locate(section, entry, error));
  }
  return claim->hold_count
             ? EB_OK
             : eb_section_locate(
                   section, NULL,
                   EB_ERROR(EB_ERR_FORMAT, "'holds = EXPRESSION' is missing: nothing is claimed"));
}

/* ---- the paper ------------------------------------------------------------------------------- */

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
    if (*all->items[i].label)
      EB_TRY(eb_section_locate(&all->items[i], NULL, eb_check_word(kind, all->items[i].label)));
  }
  eb_error error = eb_section_read(head, keys, paper);
  EB_TRY(head ? eb_section_locate(head, NULL, error) : error);
  EB_TRY(eb_definitions_read(names, all->asked, &paper->definitions));
  EB_TRY(eb_paper_read_cases(paper));
  static const char *const in_turn[] = {"table", "figure", "claim"};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < all->count; i++) {
      const eb_section *section = &all->items[i];
      if (strcmp(section->kind, in_turn[k]) != 0) continue;
      EB_TRY(k == 0   ? read_table(paper, from, section)
             : k == 1 ? read_figure(paper, section)
                      : read_claim(paper, section));
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
  if (!error) error = read_file(name, from, "paper.ini", path, &text);
  if (!error) error = eb_sections_parse(path, text.data, &paper->sections);
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
