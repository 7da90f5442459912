#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "harness/reproduce/paper_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

/* ---- data ------------------------------------------------------------------------------------ */

/* The next field of a line, up to a tab or the line's end; false at its end. */
static bool next_field(const char **at, const char **field, size_t *length) {
  if (!*at) return false;
  *field = *at;
  *length = strcspn(*at, "\t\n");
  *at = (*at)[*length] == '\t' ? *at + *length + 1 : NULL;
  return true;
}

static eb_error read_header(const char *line, eb_paper_table *table, bool *labelled) {
  const char *field;
  size_t length;
  next_field(&line, &field, &length);
  for (int i = 0; next_field(&line, &field, &length); i++) {
    if (i == 0 && length == 5 && strncmp(field, "label", 5) == 0)
      *labelled = true;
    else
      EB_TRY(eb_strings_add_part(&table->names, field, length));
  }
  return table->names.count ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "there are no columns of numbers");
}

static eb_error read_value(const char *field, size_t length, double *out) {
  char text[64], *end;
  *out = NAN;
  if (length == 0) return EB_OK;
  snprintf(text, sizeof text, "%.*s", (int)length, field);
  *out = strtod(text, &end);
  return *end || !isfinite(*out) ? EB_ERROR(EB_ERR_FORMAT, "'%s' is not a number", text) : EB_OK;
}

static eb_error read_row(const char *line, bool labelled, eb_paper_table *table) {
  const char *field, *key;
  size_t length, key_length;
  int row = table->keys.count, columns = table->names.count;
  next_field(&line, &key, &key_length);
  EB_TRY(eb_strings_add_part(&table->keys, key, key_length));
  EB_TRY(eb_strings_add_part(&table->fills, key, key_length));
  field = key;
  length = key_length;
  if (labelled && !next_field(&line, &field, &length))
    return EB_ERROR(EB_ERR_FORMAT, "the label is missing");
  EB_TRY(eb_strings_add_part(&table->labels, field, length));
  double *grown = eb_recalloc(table->values, (size_t)(row * columns), (size_t)((row + 1) * columns),
                              sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %d rows", row + 1);
  table->values = grown;
  for (int c = 0; c < columns; c++) {
    if (!next_field(&line, &field, &length)) length = 0;
    EB_TRY(read_value(field, length, &grown[row * columns + c]));
  }
  return line ? EB_ERROR(EB_ERR_FORMAT, "there are more than %d numbers", columns) : EB_OK;
}

static eb_error read_data(const char *path, const char *text, eb_paper_table *table) {
  bool labelled = false;
  int number = 1;
  EB_TRY(eb_error_prefix(read_header(text, table, &labelled), "%s:1", path));
  for (const char *end = strchr(text, '\n'); end && end[1]; end = strchr(end + 1, '\n')) {
    number++;
    if (end[1] != '\n')
      EB_TRY(eb_error_prefix(read_row(end + 1, labelled, table), "%s:%d", path, number));
  }
  return table->keys.count ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "%s: there are no rows", path);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static int find_text(const eb_strings *list, const char *text, size_t length) {
  for (int i = 0; i < list->count; i++)
    if (strlen(list->items[i]) == length && strncmp(list->items[i], text, length) == 0) return i;
  return -1;
}

/* The column of that name, made when there is none yet. */
static eb_error column_of(eb_paper_table *table, const char *name, size_t length,
                          eb_paper_column **out) {
  int at = find_text(&table->names, name, length);
  if (at < 0) return EB_ERROR(EB_ERR_FORMAT, "the data have no column '%.*s'", (int)length, name);
  for (int c = 0; c < table->column_count; c++)
    if (table->columns[c].at == at) {
      *out = &table->columns[c];
      return EB_OK;
    }
  size_t count = (size_t)table->column_count;
  eb_paper_column *grown = eb_recalloc(table->columns, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a column");
  table->columns = grown;
  *out = &grown[table->column_count++];
  (*out)->at = at;
  (*out)->name = strndup(name, length);
  (*out)->heading = strndup(name, length);
  return (*out)->name && (*out)->heading ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a column");
}

static eb_error replace(char **text, const char *with, size_t length) {
  char *copy = strndup(with, length);
  if (!copy) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a text of %zu bytes", length);
  free(*text);
  *text = copy;
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
  if (!error) error = column_of(context, parts[0], strlen(parts[0]), &column);
  if (!error && *parts[1]) error = replace(&column->heading, parts[1], strlen(parts[1]));
  if (!error && count == 3) error = replace(&column->text, parts[2], strlen(parts[2]));
  for (int i = 0; i < 3; i++) free(parts[i]);
  return error;
}

static eb_error read_fill(void *context, const eb_entry *entry) {
  eb_paper_table *table = context;
  const char *rest, *value = entry->value;
  size_t name;
  EB_TRY(eb_paper_split(value, &name, &rest));
  int row = find_text(&table->keys, value, name);
  if (row < 0) return EB_ERROR(EB_ERR_FORMAT, "the data have no row '%.*s'", (int)name, value);
  return replace(&table->fills.items[row], rest, strlen(rest));
}

static eb_error read_layout(const eb_section *section, eb_paper_table *table) {
  const char *unit = eb_section_value(section, "unit");
  table->unit = unit ? unit : "1";
  EB_TRY(eb_section_locate(section, NULL, eb_paper_unit(unit, &table->scale)));
  for (int e = 0; e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    eb_error error = strcmp(entry->key, "column") == 0 ? eb_entry_unroll(entry, read_column, table)
                     : strcmp(entry->key, "row") == 0  ? eb_entry_unroll(entry, read_fill, table)
                                                       : EB_OK;
    EB_TRY(eb_section_locate(section, entry, error));
  }
  return eb_section_locate(
      section, NULL, table->column_count ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "there is no 'column'"));
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Appends a text with every `what` replaced. */
static eb_error put_replaced(const char *text, const char *what, const char *with, eb_text *out) {
  for (const char *at; (at = strstr(text, what)); text = at + strlen(what)) {
    EB_TRY(eb_text_append(out, text, (size_t)(at - text)));
    EB_TRY(eb_text_append(out, with, strlen(with)));
  }
  return eb_text_append(out, text, strlen(text));
}

static eb_error parse_cell(const eb_paper *paper, const char *column, const char *row,
                           eb_expression **out) {
  eb_text text = {0};
  bool by_row = strstr(row, "{column}") != NULL;
  eb_error error = by_row ? put_replaced(row, "{column}", column, &text)
                          : put_replaced(column, "{row}", row, &text);
  if (!error) error = eb_definitions_parse(&paper->definitions, text.data, out);
  if (!error) error = eb_expression_check(paper, *out, NULL, EB_VALUE_NUMBER);
  eb_text_clear(&text);
  return error;
}

/* There is ours where the paper has a number and the row is not "-". */
static eb_error read_cells(const eb_paper *paper, const eb_section *section,
                           eb_paper_table *table) {
  EB_TRY(EB_NEW(table->cells, table->keys.count * table->column_count));
  for (int r = 0; r < table->keys.count; r++)
    for (int c = 0; c < table->column_count; c++) {
      const eb_paper_column *column = &table->columns[c];
      const char *row = table->fills.items[r];
      if (!column->text || strcmp(row, "-") == 0 || isnan(eb_paper_value(table, r, column)))
        continue;
      eb_error error =
          parse_cell(paper, column->text, row, &table->cells[r * table->column_count + c]);
      error = eb_error_prefix(error, "row '%s', column '%s'", table->keys.items[r], column->name);
      EB_TRY(eb_section_locate(section, NULL, error));
    }
  return EB_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static eb_error read_table(eb_paper *paper, const char *from, const eb_section *section) {
  static const char *const keys[] = {"title", "data", "unit", "note", "row", "column", NULL};
  eb_paper_table *table = &paper->tables[paper->table_count++];
  eb_paper_file file;
  const char *data = eb_section_value(section, "data");
  table->id = section->label;
  table->title = eb_section_value(section, "title");
  table->where = section->text;
  if (!table->title) table->title = table->id;
  EB_TRY(eb_section_locate(section, NULL, eb_section_expect(section, keys)));
  EB_TRY(eb_section_joined(section, "note", &table->note));
  if (!data) return eb_section_locate(section, NULL, EB_ERROR(EB_ERR_FORMAT, "'data' is missing"));
  EB_TRY(eb_paper_file_read(paper->name, from, data, &file));
  eb_error error = read_data(file.path, file.text.data, table);
  eb_paper_file_clear(&file);
  EB_TRY(error);
  EB_TRY(read_layout(section, table));
  return read_cells(paper, section, table);
}

eb_error eb_paper_read_tables(eb_paper *paper, const char *from) {
  EB_TRY(EB_NEW(paper->tables, paper->sections.count));
  for (int i = 0; i < paper->sections.count; i++) {
    const eb_section *section = &paper->sections.items[i];
    if (strcmp(section->kind, "table") == 0) EB_TRY(read_table(paper, from, section));
  }
  return EB_OK;
}

void eb_paper_clear_tables(eb_paper *paper) {
  for (int t = 0; t < paper->table_count; t++) {
    eb_paper_table *table = &paper->tables[t];
    for (int c = 0; c < table->column_count; c++) {
      free(table->columns[c].name);
      free(table->columns[c].heading);
      free(table->columns[c].text);
    }
    for (int c = 0; table->cells && c < table->keys.count * table->column_count; c++)
      eb_expression_destroy(table->cells[c]);
    free(table->cells);
    free(table->columns);
    free(table->values);
    free(table->note);
    eb_strings_clear(&table->keys);
    eb_strings_clear(&table->labels);
    eb_strings_clear(&table->fills);
    eb_strings_clear(&table->names);
  }
  free(paper->tables);
}
