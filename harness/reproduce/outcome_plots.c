#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/report/curves.h"
#include "harness/report/gnuplot.h"
#include "harness/report/tree.h"
#include "harness/report/pictures.h"
#include "harness/reproduce/outcome.h"
#include "problems/base/memory.h"

/* ---- curves ---------------------------------------------------------------------------------- */

typedef eb_error (*curve_plot)(const char *dir, const char *base, const char *title,
                               const eb_curve *curves, int count, bool *drawn);

/* The curves of a figure; of series each is a run. The caller frees *x. */
static eb_error lay_out(const eb_shown_figure *shown, eb_curve curves[EB_MOST_CURVES], double **x) {
  const eb_paper_figure *figure = shown->figure;
  EB_TRY(EB_NEW(*x, figure->point_count));
  for (int p = 0; p < figure->point_count; p++) (*x)[p] = figure->points[p].x;
  for (int c = 0; c < figure->curve_count; c++) {
    const eb_paper_curve *curve = &figure->curves[c];
    const eb_time_series *course = shown->series ? &shown->series[curve->first] : NULL;
    curves[c] = (eb_curve){.label = curve->label,
                           .count = course ? (int)course->count : curve->count,
                           .x = course ? course->x : *x + curve->first,
                           .y = course ? course->y : shown->y + curve->first};
  }
  return EB_OK;
}

static eb_error draw_curves(eb_shown_figure *shown, const char *dir, curve_plot plot) {
  eb_curve curves[EB_MOST_CURVES];
  double *x;
  const eb_paper_figure *figure = shown->figure;
  EB_TRY(lay_out(shown, curves, &x));
  eb_error error = plot(dir, figure->id, figure->title, curves, figure->curve_count, &shown->drawn);
  free(x);
  return error;
}

static eb_error draw_error_tau(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  (void)e;
  return draw_curves(shown, dir, eb_plots_error_tau);
}

static eb_error draw_time_budget(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  (void)e;
  return draw_curves(shown, dir, eb_plots_time_budget);
}

static eb_error draw_any(eb_shown_figure *shown, const char *stem, const char *dir,
                         unsigned logarithmic) {
  eb_curve curves[EB_MOST_CURVES];
  double *x;
  const eb_paper_figure *figure = shown->figure;
  EB_TRY(lay_out(shown, curves, &x));
  eb_error error = eb_plots_curves(dir, figure->id, stem, figure->title, figure->x, figure->y,
                                   logarithmic, curves, figure->curve_count, &shown->drawn);
  free(x);
  return error;
}

static eb_error draw_linear(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  (void)e;
  return draw_any(shown, "curves", dir, 0);
}

static eb_error draw_logarithmic(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  (void)e;
  return draw_any(shown, "curves", dir, EB_LOG_X | EB_LOG_Y);
}

static eb_error draw_course(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  (void)e;
  bool logarithmic = strcmp(shown->figure->template, "course-log") == 0;
  return draw_any(shown, "curves", dir, logarithmic ? EB_LOG_Y : 0);
}

/* Lines and marks in turns. */
static eb_error draw_samples(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  (void)e;
  return draw_any(shown, "samples", dir, EB_LOG_Y);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static eb_error draw_bars(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  (void)e;
  const eb_paper_figure *figure = shown->figure;
  const char *labels[EB_MOST_CURVES], *names[EB_MOST_PARTS + 1];
  int layers = figure->parts.count + 1;
  for (int c = 0; c < figure->curve_count; c++) labels[c] = figure->curves[c].label;
  for (int l = 0; l < layers - 1; l++) names[l] = figure->parts.items[l];
  names[layers - 1] = "other";
  return eb_plots_bars(dir, figure->id, figure->title, figure->y, labels, figure->point_count,
                       names, layers, shown->layers, &shown->drawn);
}

/* ---- pictures of one run --------------------------------------------------------------------- */

typedef eb_error (*picturing)(const eb_report_run *run, const eb_view *view, const char *stem,
                              eb_report_picture *out);

static eb_error draw_run(const eb_report *report, const char *id, picturing draw, const char *stem,
                         eb_report_picture *out) {
  eb_view view;
  int r = 0;
  while (r < report->run_count && strcmp(report->runs[r].run->id, id) != 0) r++;
  if (r == report->run_count) return EB_OK;
  const eb_report_scene scene = {.first = r, .last = r + 1};
  EB_TRY(eb_view_fit(report, &scene, &view));
  return draw(&report->runs[r], &view, stem, out);
}

static eb_error draw_pictures(const eb_evidence *e, eb_shown_figure *shown, picturing draw,
                              const char *dir) {
  char stem[4096];
  eb_report report;
  const char *file = eb_results_path(e->results);
  snprintf(stem, sizeof stem, "%s/%s", dir, shown->figure->id);
  eb_error error = eb_report_load(&file, 1, &report);
  if (!error)
    error = draw_run(&report, eb_evidence_run(e, shown->figure->show)->id, draw, stem,
                     &shown->pictures);
  eb_report_clear(&report);
  shown->drawn = shown->pictures.updates > 0 || shown->pictures.count > 0;
  return error;
}

static eb_error draw_updates(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  return draw_pictures(e, shown, eb_pictures_updates, dir);
}

static eb_error draw_frames(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  return draw_pictures(e, shown, eb_pictures_run, dir);
}

static eb_error draw_tree(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  eb_tree_log tree;
  const eb_paper_figure *figure = shown->figure;
  EB_TRY(eb_results_tree(e->results, e->cases[figure->show].run, &tree));
  eb_error error = tree.count > 0 ? eb_plots_tree(&tree, figure->title, dir, figure->id) : EB_OK;
  shown->drawn = !error && tree.count > 0;
  eb_results_tree_clear(&tree);
  return error;
}

/* ---- figures --------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  bool of_run; /* shows one run */
  eb_error (*draw)(const eb_evidence *e, eb_shown_figure *shown, const char *dir);
} templates[] = {{"error-tau", false, draw_error_tau},
                 {"time-budget", false, draw_time_budget},
                 {"curves", false, draw_linear},
                 {"curves-log", false, draw_logarithmic},
                 {"course", false, draw_course},
                 {"course-log", false, draw_course},
                 {"bars", false, draw_bars},
                 {"samples-log", false, draw_samples},
                 {"updates", true, draw_updates},
                 {"frames", true, draw_frames},
                 {"tree", true, draw_tree}};
enum { TEMPLATES = sizeof templates / sizeof *templates };

static eb_error unknown_template(const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < TEMPLATES && !error; i++) error = eb_strings_add(&names, templates[i].name);
  if (!error) error = eb_unknown_name("template", name, &names);
  eb_strings_clear(&names);
  return error;
}

static eb_error draw(const eb_evidence *e, eb_shown_figure *shown, const char *dir) {
  const eb_paper_figure *figure = shown->figure;
  int t = 0;
  while (t < TEMPLATES && strcmp(templates[t].name, figure->template) != 0) t++;
  if (t == TEMPLATES) return unknown_template(figure->template);
  if (templates[t].of_run && figure->show < 0)
    return EB_ERROR(EB_ERR_FORMAT, "template '%s' wants 'show'", figure->template);
  if (templates[t].of_run && !eb_evidence_run(e, figure->show)) return EB_OK;
  return templates[t].draw(e, shown, dir);
}

eb_error eb_reproduction_draw(eb_reproduction *r, const char *dir) {
  for (int f = 0; f < r->figure_count; f++)
    EB_TRY(eb_error_prefix(draw(r->evidence, &r->figures[f], dir), "figure '%s'",
                           r->figures[f].figure->id));
  return EB_OK;
}
