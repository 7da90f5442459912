/* The numbers behind the figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/outcome.h"
#include "problems/base/memory.h"

/* ---- points and bars -------------------------------------------------------------------------- */

/* The parts of one bar; what is left of the whole is the last. A stage that is never timed takes none of it. */
static eb_error fill_layers(eb_evaluation *e, const eb_paper_figure *figure, const eb_scope *scope,
                            double whole, double *layers) {
  double rest = whole;
  for (int l = 0; l < figure->parts.count; l++) {
    EB_TRY(eb_evaluate_number(e, figure->shares[l], scope, &layers[l]));
    if (isnan(layers[l]) && isfinite(whole)) layers[l] = 0;
    layers[l] *= figure->scale;
    rest -= layers[l];
  }
  layers[figure->parts.count] = isfinite(rest) ? fmax(0, rest) : rest;
  return EB_OK;
}

static eb_error fill_course(eb_evaluation *e, const eb_paper_figure *figure, const eb_scope *scope,
                            eb_course *course, double *largest) {
  eb_value series = {0};
  *largest = NAN;
  eb_error error = eb_evaluate(e, figure->value, scope, &series);
  if (!error && !series.knowledge && series.time) {
    *course = (eb_course){.count = series.count, .x = series.time, .y = series.y};
    series.time = series.y = NULL;
  }
  for (size_t s = 0; s < course->count; s++) {
    course->y[s] *= figure->scale;
    *largest = fmax(*largest, course->y[s]);
  }
  eb_value_clear(&series);
  return error;
}

/* ---- residuals within a step ------------------------------------------------------------------ */

static eb_error read_residuals(eb_evaluation *e, int case_, eb_residuals *out) {
  int run;
  eb_knowledge knowledge;
  *out = (eb_residuals){0};
  EB_TRY(eb_evaluation_run(e, case_, &run, &knowledge));
  return run < 0 ? EB_OK : eb_results_residuals(e->evidence->results, run, out);
}

/* The step with the most rounds; the first of several. */
static size_t busiest_step(const eb_residuals *all) {
  size_t best = 0;
  int64_t most = -1;
  for (size_t s = 0; s < all->steps && all->rounds; s++) {
    int64_t rounds = all->round_offsets[s + 1] - all->round_offsets[s];
    if (rounds > most) best = s;
    if (rounds > most) most = rounds;
  }
  return best;
}

static void put_residual(const eb_residuals *all, int64_t from, int64_t number, eb_course *course) {
  course->x[course->count] = (double)(number + 1);
  course->y[course->count++] = all->values[from + number];
}

/* The residuals of a step, or the last one of every round. */
static eb_error lay_residuals(const eb_residuals *all, size_t step, bool ends, eb_course *course) {
  if (step >= all->steps) return EB_OK;
  int64_t from = all->offsets[step], count = all->offsets[step + 1] - from;
  EB_TRY(EB_NEW(course->x, count + 1));
  EB_TRY(EB_NEW(course->y, count + 1));
  for (int64_t i = 0; i < count && !ends; i++) put_residual(all, from, i, course);
  if (!ends || !all->rounds) return EB_OK;
  for (int64_t r = all->round_offsets[step]; r < all->round_offsets[step + 1]; r++)
    if (all->rounds[r] > 0 && all->rounds[r] < count)
      put_residual(all, from, all->rounds[r] - 1, course);
  if (count > 0) put_residual(all, from, count - 1, course);
  return EB_OK;
}

static eb_error fill_residuals(eb_evaluation *e, const eb_paper_figure *figure, int p,
                               eb_course *course, double *largest) {
  eb_residuals first, own = {0};
  *largest = NAN;
  EB_TRY(read_residuals(e, figure->points[0].case_, &first));
  eb_error error = read_residuals(e, figure->points[p].case_, &own);
  if (!error) error = lay_residuals(&own, busiest_step(&first), figure->curves[p].ends, course);
  for (size_t s = 0; s < course->count; s++) *largest = fmax(*largest, course->y[s]);
  eb_residuals_clear(&own);
  eb_residuals_clear(&first);
  return error;
}

/* ---- figures ---------------------------------------------------------------------------------- */

static eb_error fill_point(eb_evaluation *e, eb_shown_figure *shown, int p) {
  const eb_paper_figure *figure = shown->figure;
  const eb_paper_point *point = &figure->points[p];
  eb_scope scopes[2];
  if (figure->residuals) return fill_residuals(e, figure, p, &shown->courses[p], &shown->y[p]);
  eb_paper_point_scope(e->paper, point, scopes);
  if (shown->courses) return fill_course(e, figure, scopes, &shown->courses[p], &shown->y[p]);
  EB_TRY(eb_evaluate_number(e, figure->value, scopes, &shown->y[p]));
  shown->y[p] *= figure->scale;
  if (!shown->layers) return EB_OK;
  return fill_layers(e, figure, scopes, shown->y[p], shown->layers + p * (figure->parts.count + 1));
}

static eb_error fill_figure(eb_evaluation *e, eb_shown_figure *shown, bool *marked, int *measured) {
  const eb_paper_figure *figure = shown->figure;
  for (int p = 0; p < figure->point_count; p++) {
    EB_TRY(fill_point(e, shown, p));
    *measured += isfinite(shown->y[p]);
  }
  EB_TRY(eb_paper_figure_cases(e->paper, figure, marked));
  EB_TRY(eb_outcome_note(e->evidence, marked, &shown->notes));
  return eb_outcome_troubles(e->evidence, marked, &shown->notes);
}

eb_error eb_outcome_figure(eb_evaluation *e, const eb_paper_figure *figure, eb_shown_figure *shown,
                           int *measured) {
  bool *marked;
  shown->figure = figure;
  EB_TRY(EB_NEW(shown->y, figure->point_count));
  if (figure->parts.count)
    EB_TRY(EB_NEW(shown->layers, figure->point_count * (figure->parts.count + 1)));
  if (strncmp(figure->template, "course", 6) == 0 || figure->residuals)
    EB_TRY(EB_NEW(shown->courses, figure->point_count));
  EB_TRY(EB_NEW(marked, e->paper->case_count));
  eb_error error = fill_figure(e, shown, marked, measured);
  free(marked);
  return error;
}

void eb_outcome_clear_figure(eb_shown_figure *shown) {
  for (int p = 0; shown->courses && p < shown->figure->point_count; p++)
    eb_course_clear(&shown->courses[p]);
  free(shown->courses);
  free(shown->layers);
  free(shown->y);
  eb_text_clear(&shown->notes);
}
