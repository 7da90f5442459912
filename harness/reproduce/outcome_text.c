/* The outcome as a terminal shows it, and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "harness/reproduce/outcome.h"
#include "harness/results/json.h"

enum { WIDTH = 110 };

/* Three significant digits, without exponents where a reader does not want them. */
static void print_number(FILE *out, int width, double value) {
  char text[32] = "-";
  if (isfinite(value))
    snprintf(text, sizeof text, fabs(value) >= 100 && fabs(value) < 1e7 ? "%.0f" : "%.3g", value);
  eb_print(out, "%*s", width, text);
}

/* Words, broken at WIDTH, each line after `indent` blanks; the first one continues at that
 * column. */
static void print_wrapped(FILE *out, const char *text, size_t bytes, int indent) {
  int at = indent;
  for (const char *end = text + bytes; text < end;) {
    text += strspn(text, " ");
    int length = (int)strcspn(text, " \n");
    if (text + length > end) length = (int)(end - text);
    if (length <= 0) break;
    bool breaks = at > indent && at + 1 + length > WIDTH;
    if (breaks) eb_print(out, "\n%*s", indent, "");
    if (breaks) at = indent;
    at += eb_print(out, "%s%.*s", at > indent ? " " : "", length, text);
    text += length;
  }
  fputc('\n', out);
}

/* Every line of a text, indented and wrapped. */
static void print_lines(FILE *out, const char *text, int indent) {
  size_t length;
  for (const char *at; (at = eb_line_next(&text, &length));) {
    eb_print(out, "%*s", indent, "");
    print_wrapped(out, at, length, indent);
  }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int column_width(const eb_paper_table *table, int column) {
  const char *heads[3];
  int least = 9 * eb_shown_heads(table, column, heads);
  int heading = (int)strlen(table->columns[column].heading) + 2;
  return heading > least ? heading : least;
}

static void print_table(const eb_shown_table *shown, FILE *out) {
  const eb_paper_table *table = shown->table;
  int labels = 4;
  for (int r = 0; r < table->labels.count; r++)
    labels = (int)fmax(labels, (double)strlen(table->labels.items[r]));
  eb_print(out, "%s%s%s\n  %-*s", table->where, *table->where ? ": " : "", table->title, labels,
           "");
  for (int c = 0; c < table->column_count; c++)
    eb_print(out, "%*s", column_width(table, c), table->columns[c].heading);
  eb_print(out, "\n  %-*s", labels, table->unit[0] == '1' ? "" : table->unit);
  for (int c = 0; c < table->column_count; c++) {
    const char *heads[3];
    int count = eb_shown_heads(table, c, heads);
    for (int k = 0; k < count; k++)
      eb_print(out, "%*s", k ? 9 : column_width(table, c) - 9 * (count - 1), heads[k]);
  }
  fputc('\n', out);
  for (int r = 0; r < table->keys.count; r++) {
    eb_print(out, "  %-*s", labels, table->labels.items[r]);
    for (int c = 0; c < table->column_count; c++) {
      double values[3];
      int count = eb_shown_cell(shown, r, c, values);
      for (int k = 0; k < count; k++)
        print_number(out, k ? 9 : column_width(table, c) - 9 * (count - 1), values[k]);
    }
    fputc('\n', out);
  }
  print_lines(out, table->note, 2);
  print_lines(out, shown->notes.data, 2);
  fputc('\n', out);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Of bars a line each: their parts and the whole; of courses a line a run: the first, the largest
 * and the last value; else a line a point. Pictures have nothing to print. */
static void print_figure(const eb_shown_figure *shown, FILE *out) {
  const eb_paper_figure *figure = shown->figure;
  int labels = 4, layers = figure->parts.count + 1;
  if (figure->point_count == 0) return;
  for (int c = 0; c < figure->curve_count; c++)
    labels = (int)fmax(labels, (double)strlen(figure->curves[c].label));
  eb_print(out, "%s\n", figure->title);
  if (shown->layers) {
    eb_print(out, "  %s\n  %-*s", figure->y, labels, "");
    for (int l = 0; l < layers - 1; l++) eb_print(out, "%10s", figure->parts.items[l]);
    eb_print(out, "%10s%10s\n", "other", "in all");
  } else {
    bool map = eb_paper_is_map(figure);
    eb_print(out, "  x: %s, y: %s%s%s\n", figure->x, figure->y, map ? ", z: " : "",
             map ? figure->z : "");
  }
  if (shown->series) eb_print(out, "  %-*s%12s%12s%12s\n", labels, "", "first", "largest", "last");
  for (int c = 0; c < figure->curve_count; c++) {
    const eb_paper_curve *curve = &figure->curves[c];
    bool points = !shown->layers && !shown->series;
    if (points) eb_print(out, "  %s\n", curve->label);
    for (int p = curve->first; p < curve->first + curve->count; p++) {
      const eb_time_series *course = shown->series ? &shown->series[p] : NULL;
      eb_print(out, "  %-*s", points ? 0 : labels, points ? "" : curve->label);
      if (points) print_number(out, figure->across ? 12 : 10, shown->x[p]);
      if (eb_paper_is_map(figure)) print_number(out, 10, figure->points[p].row);
      for (int l = 0; shown->layers && l < layers; l++)
        print_number(out, 10, shown->layers[p * layers + l]);
      if (course) print_number(out, 12, course->count ? course->y[0] : NAN);
      print_number(out, shown->layers ? 10 : 12, shown->y[p]);
      if (course) print_number(out, 12, course->count ? course->y[course->count - 1] : NAN);
      fputc('\n', out);
    }
  }
  print_lines(out, shown->notes.data, 2);
  fputc('\n', out);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void print_claim(const eb_shown_claim *shown, FILE *out) {
  const eb_claim_result *result = &shown->result;
  const char *text = shown->claim->text;
  eb_print(out, "%-20s %s", shown->claim->id, result->ruling.data);
  if (isfinite(result->ours)) {
    eb_print(out, "   ours ");
    print_number(out, 0, result->ours);
  }
  if (isfinite(result->paper)) {
    eb_print(out, "   paper ");
    print_number(out, 0, result->paper);
  }
  fputc('\n', out);
  if (*text) {
    eb_print(out, "  claim:  ");
    print_wrapped(out, text, strlen(text), 10);
  }
  eb_print(out, "  reason: ");
  print_wrapped(out, result->reason.data, result->reason.length, 10);
  print_lines(out, shown->notes.data, 10);
}

eb_error eb_reproduction_print(const eb_reproduction *r, FILE *out) {
  const eb_paper *paper = r->evidence->paper;
  eb_print(out, "%s: %s%s\n", paper->name, paper->title,
           paper->quick ? " (quick: the first frames only)" : "");
  print_lines(out, r->machine.data, 0);
  print_lines(out, paper->note, 0);
  fputc('\n', out);
  for (int t = 0; t < r->table_count; t++) print_table(&r->tables[t], out);
  for (int f = 0; f < r->figure_count; f++) print_figure(&r->figures[f], out);
  for (int c = 0; c < r->claim_count; c++) print_claim(&r->claims[c], out);
  if (r->claim_count)
    eb_print(out, "%d claims: %d reproduced, %d not reproduced, %d not comparable\n",
             r->claim_count, r->tally[EB_REPRODUCED], r->tally[EB_NOT_REPRODUCED],
             r->tally[EB_NOT_COMPARABLE]);
  return EB_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

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
