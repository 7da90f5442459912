/* Looking up what a paper holds. */
#include <string.h>

#include "harness/reproduce/paper_file.h"

int eb_paper_case_find(const eb_paper *paper, const char *name, size_t length) {
  for (int c = 0; c < paper->case_count; c++)
    if (strlen(paper->cases[c].name) == length && strncmp(paper->cases[c].name, name, length) == 0)
      return c;
  return -1;
}

int eb_paper_table_find(const eb_paper *paper, const char *id) {
  for (int t = 0; t < paper->table_count; t++)
    if (strcmp(paper->tables[t].id, id) == 0) return t;
  return -1;
}

double eb_paper_value(const eb_paper_table *table, int row, const eb_paper_column *column) {
  return table->values[row * table->names.count + column->at];
}

int eb_paper_figure_find(const eb_paper *paper, const char *id) {
  for (int f = 0; f < paper->figure_count; f++)
    if (strcmp(paper->figures[f].id, id) == 0) return f;
  return -1;
}

int eb_paper_row_find(const eb_paper_table *table, const char *key) {
  for (int r = 0; r < table->keys.count; r++)
    if (strcmp(table->keys.items[r], key) == 0) return r;
  return -1;
}

void eb_paper_point_scope(const eb_paper *paper, const eb_paper_point *point, eb_scope scopes[2]) {
  const char *against = point->against < 0 ? NULL : paper->cases[point->against].name;
  scopes[1] = (eb_scope){"against", against, NULL};
  scopes[0] = (eb_scope){"case", paper->cases[point->case_].name, against ? &scopes[1] : NULL};
}

eb_error eb_paper_split(const char *value, size_t *name, const char **rest) {
  const char *colon = strstr(value, ": ");
  *name = 0;
  *rest = value;
  if (!colon || colon == value) return EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'NAME: ...'", value);
  *name = (size_t)(colon - value);
  *rest = colon + 2 + strspn(colon + 2, " ");
  return EB_OK;
}

eb_error eb_paper_unit(const char *unit, double *scale) {
  static const struct {
    const char *name;
    double scale;
  } units[] = {{"1", 1}, {"s", 1}, {"ms", 1e3}, {"MB", 1e-6}};
  *scale = 1;
  if (!unit) return EB_OK;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(units[i].name, unit) == 0) {
      *scale = units[i].scale;
      return EB_OK;
    }
  return EB_ERROR(EB_ERR_FORMAT, "unit is 1, s, ms or MB, not '%s'", unit);
}
