#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/report/curves.h"
#include "harness/reproduce/outcome.h"
#include "problems/base/memory.h"

static const struct {
  const char *template;
  eb_error (*draw)(const char *dir, const char *base, const char *title, const eb_curve *curves,
                   int count, bool *drawn);
} templates[] = {{"error-tau", eb_plots_error_tau}, {"time-budget", eb_plots_time_budget}};
enum { TEMPLATES = sizeof templates / sizeof *templates };

static eb_error unknown_template(const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < TEMPLATES && !error; i++)
    error = eb_strings_add(&names, templates[i].template);
  if (!error) error = eb_unknown_name("template", name, &names);
  eb_strings_clear(&names);
  return error;
}

static eb_error draw_curves(const eb_paper_figure *figure, const eb_curve *curves, const char *dir,
                            bool *drawn) {
  for (int i = 0; i < TEMPLATES; i++)
    if (strcmp(templates[i].template, figure->template) == 0)
      return templates[i].draw(dir, figure->id, figure->title, curves, figure->curve_count, drawn);
  return unknown_template(figure->template);
}

static eb_error draw(eb_shown_figure *shown, const char *dir) {
  eb_curve curves[EB_MOST_CURVES];
  double *x;
  const eb_paper_figure *figure = shown->figure;
  EB_TRY(EB_NEW(x, figure->point_count));
  for (int p = 0; p < figure->point_count; p++) x[p] = figure->points[p].x;
  for (int c = 0; c < figure->curve_count; c++) {
    const eb_paper_curve *curve = &figure->curves[c];
    curves[c] = (eb_curve){.label = curve->label,
                           .count = curve->count,
                           .x = x + curve->first,
                           .y = shown->y + curve->first};
  }
  eb_error error = draw_curves(figure, curves, dir, &shown->drawn);
  free(x);
  return eb_error_prefix(error, "figure '%s'", figure->id);
}

eb_error eb_reproduction_draw(eb_reproduction *r, const char *dir) {
  for (int f = 0; f < r->figure_count; f++) EB_TRY(draw(&r->figures[f], dir));
  return EB_OK;
}
