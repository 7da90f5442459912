/* Laws drawn: curves over an axis of the grid, and the matrix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/laws/law_report.h"
#include "harness/report/markup.h"
#include "harness/report/plots.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- curves ---------------------------------------------------------------------------------- */

/* Curves share their numbers along the axis. */
typedef struct drawing {
  const eb_physical_law *law;
  int axis, count; /* of the law's axes, and its words */
  double *x, *y;   /* count; curves x count */
  eb_curve *curves;
  int curve_count;
} drawing;

/* The point of the grid at that place of the axis, and the first of every other one. */
static int point_at(const eb_physical_law *law, int axis, int place) {
  int point = 0;
  for (int a = 0; a < law->axis_count; a++)
    point = point * law->axes[a].places + (a == axis ? place : 0);
  return point;
}

static void add_curve(drawing *d, const char *label, const eb_law_cell *cell, bool exact) {
  double *y = d->y + d->curve_count * d->count;
  for (int i = 0; i < d->count; i++) {
    const eb_law_reading *at = &cell->points[point_at(d->law, d->axis, i)];
    y[i] = exact ? at->exact : at->measured;
  }
  d->curves[d->curve_count++] = (eb_curve){.label = label, .count = d->count, .x = d->x, .y = y};
}

static void add_curves(drawing *d, const eb_law_survey *survey, int l) {
  bool exact = false;
  for (int s = 0; s < survey->solvers->count; s++) {
    const eb_law_cell *cell = eb_law_survey_cell(survey, l, s);
    if (cell->scene < 0) continue;
    if (!exact) add_curve(d, "exact", cell, true);
    exact = true;
    add_curve(d, cell->solver, cell, false);
  }
}

/* Where the words of the axis are no numbers there is nothing to draw. */
static eb_error read_axis(drawing *d) {
  const eb_law_axis *axis = &d->law->axes[d->axis];
  int variables = axis->variables.count,
      x = eb_word_find(&axis->variables, d->law->x, strlen(d->law->x));
  d->count = axis->places;
  EB_TRY(EB_NEW(d->x, d->count));
  for (int i = 0; i < axis->places; i++) {
    char *end;
    d->x[i] = strtod(axis->words.items[i * variables + x], &end);
    if (*end) d->count = 0;
  }
  return EB_OK;
}

static eb_error put_title(const eb_physical_law *law, int axis, eb_text *out) {
  eb_scope scopes[EB_MOST_LAW_VARIABLES];
  int variables = eb_law_point(law, 0, NULL, scopes);
  EB_TRY(eb_text_printf(out, "%s", law->title));
  for (int v = 0; v < variables; v++)
    if (eb_law_axis_of(law, scopes[v].variable) != axis)
      EB_TRY(eb_text_printf(out, ", %s = %s", scopes[v].variable, scopes[v].word));
  return EB_OK;
}

static eb_error draw_law(const eb_law_survey *survey, int l, eb_plotter *plotter, bool *drawn) {
  const eb_physical_law *law = &survey->book->laws[l];
  drawing d = {.law = law, .axis = law->x ? eb_law_axis_of(law, law->x) : -1};
  EB_OWNED(eb_text_clear) eb_text title = {0};
  *drawn = false;
  if (!law->x) return EB_OK;
  int most = survey->solvers->count + 1;
  eb_error error = read_axis(&d);
  if (!error && d.count > 1) error = EB_NEW(d.y, most * d.count);
  if (!error && d.count > 1) error = EB_NEW(d.curves, most);
  if (!error && d.count > 1) {
    add_curves(&d, survey, l);
    error = put_title(law, d.axis, &title);
    if (!error)
      error =
          eb_plots_curves(plotter, law->id, "curves", title.data, law->x,
                          *law->unit ? law->unit : "measured", 0, d.curves, d.curve_count, drawn);
  }
  free(d.x);
  free(d.y);
  free(d.curves);
  return error;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* A row a law, by groups; a column a solver. */
enum { CELL_WIDE = 46, CELL_HIGH = 18, LEFT = 150, TOP = 110, FOOT = 40 };

/* Colours by the deviation beside the bound. */
static const struct shade {
  double most; /* of the bound */
  const char *fill, *ink, *label;
} shades[] = {{1e-2, "#1a7f4b", "#ffffff", "within 1 % of the bound"},
              {1e-1, "#58b27c", "#10331f", "within 10 %"},
              {1, "#bfe5cc", "#10331f", "within the bound"},
              {10, "#fbd38d", "#4a2b00", "over it"},
              {INFINITY, "#e06a5b", "#ffffff", "over it tenfold, or failed"}};
enum { SHADES = sizeof shades / sizeof *shades };

static const struct shade *shade_of(const eb_law_cell *cell) {
  const eb_law_reading *worst = cell->worst < 0 ? NULL : &cell->points[cell->worst];
  if (cell->state == EB_LAW_FAILED) return &shades[SHADES - 1];
  if (!worst || cell->state == EB_LAW_OPEN || cell->state == EB_LAW_UNSERVED) return NULL;
  double share = worst->deviation > 0 ? worst->deviation / worst->bound : 0;
  int k = 0;
  while (k < SHADES - 1 && !(share <= shades[k].most)) k++;
  return &shades[k];
}

static eb_error put_box(int x, int y, const struct shade *shade, const char *text, eb_text *out) {
  return eb_text_printf(out,
                        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>"
                        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%s</text>\n",
                        x, y, CELL_WIDE - 2, CELL_HIGH - 2, shade ? shade->fill : "#eceff3",
                        x + CELL_WIDE / 2 - 1, y + 13, shade ? shade->ink : "#6b7280", text);
}

static eb_error put_cell(const eb_law_cell *cell, int column, int y, eb_text *out) {
  char text[32] = "";
  const eb_law_reading *worst = cell->worst < 0 ? NULL : &cell->points[cell->worst];
  if (cell->state == EB_LAW_FAILED)
    snprintf(text, sizeof text, "failed");
  else if (cell->state == EB_LAW_OPEN)
    snprintf(text, sizeof text, "?");
  else if (worst && cell->state != EB_LAW_UNSERVED)
    snprintf(text, sizeof text, worst->deviation > 0 ? "%.0e" : "%g", worst->deviation);
  return put_box(LEFT + column * CELL_WIDE, y, shade_of(cell), text, out);
}

/* Text at a place, with attributes of its own. */
static eb_error put_text(int x, int y, const char *attributes, const char *text, eb_text *out) {
  EB_TRY(eb_text_printf(out, "<text transform=\"translate(%d %d)%s\">", x, y, attributes));
  EB_TRY(eb_markup_text(out, text));
  return eb_text_printf(out, "</text>\n");
}

static eb_error put_row(const eb_law_survey *survey, int l, int y, eb_text *out) {
  EB_TRY(put_text(LEFT - 6, y + 12, "\" text-anchor=\"end", survey->book->laws[l].id, out));
  for (int s = 0; s < survey->solvers->count; s++)
    EB_TRY(put_cell(eb_law_survey_cell(survey, l, s), s, y, out));
  return EB_OK;
}

/* Moves *y below the rows of the group that this law opens. */
static eb_error put_rows(const eb_law_survey *survey, int law, int *y, eb_text *out) {
  const eb_law_book *book = survey->book;
  *y += CELL_HIGH / 2;
  EB_TRY(put_text(8, *y + 12, "\" font-weight=\"bold", book->laws[law].group, out));
  *y += CELL_HIGH;
  for (int l = law; l < book->law_count; l++) {
    if (strcmp(book->laws[l].group, book->laws[law].group) != 0) continue;
    EB_TRY(put_row(survey, l, *y, out));
    *y += CELL_HIGH;
  }
  return EB_OK;
}

static eb_error put_legend(int y, eb_text *out) {
  int x = LEFT;
  for (int k = 0; k < SHADES; k++) {
    EB_TRY(eb_text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" fill=\"%s\"/>",
                          x, y, shades[k].fill));
    EB_TRY(put_text(x + 19, y + 11, "", shades[k].label, out));
    x += 34 + 7 * (int)strlen(shades[k].label);
  }
  return EB_OK;
}

eb_error eb_law_matrix_svg(const eb_law_survey *survey, eb_text *out) {
  const eb_law_book *book = survey->book;
  int y = TOP, groups = 0, wide = LEFT + survey->solvers->count * CELL_WIDE + 70;
  if (wide < LEFT + 800) wide = LEFT + 800;
  for (int l = 0; l < book->law_count; l++) groups += eb_law_opens_group(book, l);
  int high = TOP + book->law_count * CELL_HIGH + groups * (CELL_HIGH + CELL_HIGH / 2) + FOOT;
  EB_TRY(eb_text_printf(out,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                        "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" "
                        "font-size=\"11\" fill=\"#1f2937\">\n"
                        "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                        wide, high, wide, high, wide, high));
  for (int s = 0; s < survey->solvers->count; s++)
    EB_TRY(put_text(LEFT + s * CELL_WIDE + CELL_WIDE / 2, TOP - 4, " rotate(-50)",
                    survey->solvers->items[s], out));
  for (int l = 0; l < book->law_count; l++)
    if (eb_law_opens_group(book, l)) EB_TRY(put_rows(survey, l, &y, out));
  EB_TRY(put_legend(y + 14, out));
  return eb_text_printf(out, "</svg>\n");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static eb_error draw(eb_law_report *report, eb_plotter *plotter) {
  const eb_law_survey *survey = report->survey;
  EB_OWNED(eb_text_clear) eb_text svg = {0};
  EB_FREED char *path = NULL;
  EB_TRY(EB_NEW(report->plotted, survey->book->law_count));
  for (int l = 0; l < survey->book->law_count; l++)
    EB_TRY(draw_law(survey, l, plotter, &report->plotted[l]));
  EB_TRY(eb_plotter_start(plotter));
  EB_TRY(eb_law_matrix_svg(survey, &svg));
  EB_TRY(eb_string_format(&path, "%s/laws.svg", plotter->dir));
  report->pictured = true;
  return eb_text_write(path, &svg);
}

eb_error eb_law_report_draw(eb_law_report *report, const char *dir) {
  eb_plotter plotter = {.dir = dir};
  return eb_plotter_finish(&plotter, draw(report, &plotter));
}
