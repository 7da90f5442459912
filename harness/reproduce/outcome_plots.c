/* The figures of a paper, drawn. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/gnuplot.h"
#include "harness/report/page.h"
#include "harness/report/pictures.h"
#include "harness/report/plots.h"
#include "harness/names.h"
#include "harness/reproduce/outcome.h"
#include "problems/base/memory.h"

/* What a template draws: one of these. */
typedef struct drawing {
  const char *name;
  const char *stem; /* curves, or points of samples */
  bool own_axes;    /* of the template, in the place of the figure's */
  unsigned logarithmic;
  /* pictures of one run */
  eb_error (*picture)(const eb_report_run *run, const eb_view *view, const char *stem,
                      eb_report_picture *out);
  bool tree, bars, map;
} drawing;

static const drawing templates[] = {
    {.name = "error-tau",
     .stem = "error-tau",
     .own_axes = true,
     .logarithmic = EB_LOG_X | EB_LOG_Y},
    {.name = "time-budget", .stem = "time-budget", .own_axes = true},
    {.name = "curves", .stem = "curves"},
    {.name = "curves-log", .stem = "curves", .logarithmic = EB_LOG_X | EB_LOG_Y},
    {.name = "course", .stem = "curves"},
    {.name = "course-log", .stem = "curves", .logarithmic = EB_LOG_Y},
    {.name = "bars", .bars = true},
    {.name = "map", .map = true},
    {.name = "map-log", .map = true, .logarithmic = EB_LOG_Y},
    {.name = "samples-log", .stem = "samples", .logarithmic = EB_LOG_Y},
    {.name = "updates", .picture = eb_pictures_updates},
    {.name = "frames", .picture = eb_pictures_run},
    {.name = "tree", .tree = true}};
enum { TEMPLATES = sizeof templates / sizeof *templates };

/* Of series each curve is a run. */
static eb_error draw_curves(const drawing *how, eb_shown_figure *shown, eb_plotter *plotter) {
  const eb_paper_figure *figure = shown->figure;
  eb_curve curves[EB_MOST_CURVES];
  for (int c = 0; c < figure->curve_count; c++) {
    const eb_paper_curve *curve = &figure->curves[c];
    const eb_time_series *course = shown->series ? &shown->series[curve->first] : NULL;
    curves[c] = (eb_curve){.label = curve->label,
                           .count = course ? (int)course->count : curve->count,
                           .x = course ? course->x : shown->x + curve->first,
                           .y = course ? course->y : shown->y + curve->first};
  }
  return eb_plots_curves(plotter, figure->id, how->stem, figure->title,
                         how->own_axes ? NULL : figure->x, how->own_axes ? NULL : figure->y,
                         how->logarithmic, curves, figure->curve_count, &shown->drawn);
}

static eb_error draw_bars(eb_shown_figure *shown, eb_plotter *plotter) {
  const eb_paper_figure *figure = shown->figure;
  const char *labels[EB_MOST_CURVES], *names[EB_MOST_PARTS + 1];
  int layers = figure->parts.count + 1;
  for (int c = 0; c < figure->curve_count; c++) labels[c] = figure->curves[c].label;
  for (int l = 0; l < layers - 1; l++) names[l] = figure->parts.items[l];
  names[layers - 1] = "other";
  return eb_plots_bars(plotter, figure->id, figure->title, figure->y, labels, figure->point_count,
                       names, layers, shown->layers, &shown->drawn);
}

static eb_error draw_map(const drawing *how, eb_shown_figure *shown, eb_plotter *plotter) {
  const eb_paper_figure *figure = shown->figure;
  eb_map_cell *cells;
  EB_TRY(EB_NEW(cells, figure->point_count));
  for (int p = 0; p < figure->point_count; p++)
    cells[p] = (eb_map_cell){figure->points[p].x, figure->points[p].row, shown->y[p]};
  eb_error error = eb_plots_map(plotter, figure->id, figure->title, figure->x, figure->y, figure->z,
                                how->logarithmic != 0, cells, figure->point_count, &shown->drawn);
  free(cells);
  return error;
}

static eb_error draw_pictures(const drawing *how, const eb_evidence *e, eb_shown_figure *shown,
                              const char *dir) {
  char stem[4096];
  eb_report report;
  eb_view view;
  const char *file = eb_results_path(e->results), *id = eb_evidence_run(e, shown->figure->show)->id;
  snprintf(stem, sizeof stem, "%s/%s", dir, shown->figure->id);
  eb_error error = eb_report_load(&file, 1, &report);
  for (int r = 0; !error && r < report.run_count; r++) {
    if (strcmp(report.runs[r].run->id, id) != 0) continue;
    const eb_report_scene scene = {.first = r, .last = r + 1};
    error = eb_view_fit(&report, &scene, &view);
    if (!error) error = how->picture(&report.runs[r], &view, stem, &shown->pictures);
    break;
  }
  eb_report_clear(&report);
  shown->drawn = shown->pictures.updates > 0 || shown->pictures.count > 0;
  return error;
}

static eb_error draw(const eb_evidence *e, eb_shown_figure *shown, eb_plotter *plotter) {
  const eb_paper_figure *figure = shown->figure;
  int t =
      eb_find(templates, TEMPLATES, sizeof *templates, figure->template, strlen(figure->template));
  if (t < 0)
    return eb_unknown_entry("template", figure->template, templates, TEMPLATES, sizeof *templates);
  const drawing *how = &templates[t];
  if (how->stem) return draw_curves(how, shown, plotter);
  if (how->bars) return draw_bars(shown, plotter);
  if (how->map) return draw_map(how, shown, plotter);
  if (figure->show < 0)
    return EB_ERROR(EB_ERR_FORMAT, "template '%s' wants 'show'", figure->template);
  if (!eb_evidence_run(e, figure->show)) return EB_OK;
  if (!how->tree) return draw_pictures(how, e, shown, plotter->dir);
  eb_tree_log tree;
  EB_TRY(eb_results_tree(e->results, e->cases[figure->show].run, &tree));
  eb_error error =
      tree.count > 0 ? eb_plots_tree(&tree, figure->title, plotter, figure->id) : EB_OK;
  shown->drawn = !error && tree.count > 0;
  eb_results_tree_clear(&tree);
  return error;
}

/* ---- what is played -------------------------------------------------------------------------- */

static eb_error write_playbacks(eb_reproduction *r, const char *dir) {
  const eb_evidence *e = r->evidence;
  char data[4096];
  int played = 0;
  for (int c = 0; c < e->paper->case_count; c++) played += eb_evidence_run(e, c) != NULL;
  EB_TRY(EB_NEW(r->playbacks, e->paper->case_count));
  if (played == 0) return EB_OK;
  EB_TRY(eb_page_data(dir, data, sizeof data));
  for (int c = 0; c < e->paper->case_count; c++) {
    const eb_report_run run = {
        .file = e->results, .index = e->cases[c].run, .run = eb_evidence_run(e, c)};
    char name[160];
    snprintf(name, sizeof name, "%d-%.100s", c + 1, e->paper->cases[c].name);
    for (char *letter = name; *letter; letter++)
      if (!isalnum((unsigned char)*letter) && *letter != '-') *letter = '-';
    if (run.run)
      EB_TRY(eb_playback_write(&run, eb_playback_room(played), data, name, &r->playbacks[c]));
  }
  return EB_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static eb_error draw_figures(eb_reproduction *r, eb_plotter *plotter) {
  for (int f = 0; f < r->figure_count; f++)
    EB_TRY(eb_error_prefix(draw(r->evidence, &r->figures[f], plotter), "figure '%s'",
                           r->figures[f].figure->id));
  return eb_plotter_start(plotter);
}

eb_error eb_reproduction_draw(eb_reproduction *r, const char *dir) {
  eb_plotter plotter = {.dir = dir};
  eb_error error = draw_figures(r, &plotter);
  if (!error) error = write_playbacks(r, dir);
  return eb_plotter_finish(&plotter, error);
}
