/* The outcome as JSON. */
#include "harness/reproduce/outcome.h"
#include "harness/results/json.h"

/* The lines of a text. */
static json_t *lines_json(const char *text) {
  size_t length;
  json_t *lines = json_array();
  for (const char *at; (at = eb_line_next(&text, &length));)
    json_array_append_new(lines, eb_json_part(at, length));
  return lines;
}

static json_t *table_json(const eb_shown_table *shown) {
  const eb_paper_table *table = shown->table;
  json_t *rows = json_array();
  for (int r = 0; r < table->keys.count; r++) {
    json_t *cells = json_array();
    for (int c = 0; c < table->column_count; c++) {
      json_t *cell = eb_json_pack("{s:s}", "column", table->columns[c].name);
      const char *heads[3];
      double values[3];
      int count = eb_shown_cell(shown, r, c, values);
      eb_shown_heads(table, c, heads);
      for (int k = 0; k < count; k++) json_object_set_new(cell, heads[k], eb_json_real(values[k]));
      json_array_append_new(cells, cell);
    }
    json_array_append_new(rows, eb_json_pack("{s:s, s:s, s:o}", "row", table->keys.items[r],
                                             "label", table->labels.items[r], "cells", cells));
  }
  return eb_json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "id", table->id, "where", table->where,
                      "title", table->title, "unit", table->unit, "note", table->note, "notes",
                      lines_json(shown->notes.data), "rows", rows);
}

static json_t *claim_json(const eb_shown_claim *shown) {
  const eb_paper_claim *claim = shown->claim;
  const eb_claim_result *result = &shown->result;
  json_t *conditions = json_array();
  for (int c = 0; c < result->count; c++) {
    const eb_condition *one = &result->conditions[c];
    json_t *holds = one->truth == EB_UNDECIDED ? json_null() : json_boolean(one->truth == EB_TRUE);
    json_array_append_new(conditions,
                          eb_json_pack("{s:s, s:s, s:s, s:s, s:o}", "expression", one->text,
                                       "values", one->values, "value", one->value, "bound",
                                       one->bound, "holds", holds));
  }
  return eb_json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:o, s:o}", "id", claim->id, "where",
      claim->where, "claim", claim->text, "verdict", eb_claim_verdict_name(result->verdict),
      "ruling", result->ruling.data, "paper_value", eb_json_real(result->paper), "our_value",
      eb_json_real(result->ours), "reason", result->reason.data, "source", claim->source,
      "conditions", conditions, "notes", lines_json(shown->notes.data));
}

/* Every value of a run, thinned out when there are very many; the last one is kept. */
static json_t *course_json(const eb_time_series *course) {
  enum { MOST = 400 };
  json_t *x = json_array(), *y = json_array();
  size_t stride = (course->count + MOST - 1) / MOST;
  for (size_t s = 0; s < course->count; s++) {
    if (s % stride != 0 && s + 1 < course->count) continue;
    json_array_append_new(x, eb_json_real(course->x[s]));
    json_array_append_new(y, eb_json_real(course->y[s]));
  }
  return eb_json_pack("{s:o, s:o}", "x", x, "y", y);
}

static json_t *point_json(const eb_evidence *e, const eb_shown_figure *shown, int point,
                          const char *curve) {
  const eb_paper_figure *figure = shown->figure;
  const eb_paper_point *of = &figure->points[point];
  json_t *out =
      eb_json_pack("{s:s, s:o, s:s, s:o}", "curve", curve, "x", eb_json_real(shown->x[point]),
                   "case", e->paper->cases[of->case_].name, "y", eb_json_real(shown->y[point]));
  if (eb_paper_is_map(figure)) { /* the value is z there */
    json_object_set_new(out, "z", eb_json_real(shown->y[point]));
    json_object_set_new(out, "y", json_real(of->row));
  }
  if (shown->layers) {
    const double *layers = shown->layers + point * (figure->parts.count + 1);
    json_t *parts = json_object();
    for (int l = 0; l < figure->parts.count; l++)
      eb_json_set(parts, figure->parts.items[l], eb_json_real(layers[l]));
    json_object_set_new(parts, "other", eb_json_real(layers[figure->parts.count]));
    json_object_set_new(out, "parts", parts);
  }
  if (shown->series) json_object_set_new(out, "course", course_json(&shown->series[point]));
  return out;
}

static json_t *figure_json(const eb_evidence *e, const eb_shown_figure *shown) {
  const eb_paper_figure *figure = shown->figure;
  json_t *points = json_array();
  for (int c = 0; c < figure->curve_count; c++) {
    const eb_paper_curve *curve = &figure->curves[c];
    for (int p = curve->first; p < curve->first + curve->count; p++)
      json_array_append_new(points, point_json(e, shown, p, curve->label));
  }
  json_t *out = eb_json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "id", figure->id, "title",
                             figure->title, "x", figure->x, "y", figure->y, "notes",
                             lines_json(shown->notes.data), "points", points);
  if (eb_paper_is_map(figure)) json_object_set_new(out, "z", eb_json_text(figure->z));
  return out;
}

eb_error eb_reproduction_json(const eb_reproduction *r, json_t **out) {
  const eb_paper *paper = r->evidence->paper;
  json_t *tables = json_array(), *claims = json_array(), *figures = json_array();
  for (int t = 0; t < r->table_count; t++) json_array_append_new(tables, table_json(&r->tables[t]));
  for (int c = 0; c < r->claim_count; c++) json_array_append_new(claims, claim_json(&r->claims[c]));
  for (int f = 0; f < r->figure_count; f++)
    json_array_append_new(figures, figure_json(r->evidence, &r->figures[f]));
  *out = eb_json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o}", "paper", paper->name, "title",
                      paper->title, "quick", paper->quick, "machine", lines_json(r->machine.data),
                      "claims", claims, "tables", tables, "figures", figures);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
}
