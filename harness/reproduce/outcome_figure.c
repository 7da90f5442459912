/* The numbers behind the figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/motion.h"
#include "harness/reproduce/outcome.h"
#include "harness/reproduce/probe.h"
#include "problems/base/memory.h"

static bool is_timed(const eb_evidence *e, int case_) {
  return e->cases[case_].standing >= EB_STANDING_CUT;
}

/* ---- points ----------------------------------------------------------------------------------- */

/* A statistic, over that of `against` when there is one. */
static eb_error ratio_value(const eb_evidence *e, const eb_paper_figure *figure, int case_,
                            int against, double *out) {
  double unit = 1;
  const int both[2] = {case_, against};
  int64_t frames = eb_evidence_common(e, both, against < 0 ? 1 : 2);
  EB_TRY(eb_evidence_statistic(e, case_, figure->value, frames, out));
  if (against >= 0) EB_TRY(eb_evidence_statistic(e, against, figure->value, frames, &unit));
  *out /= unit;
  return EB_OK;
}

static eb_error point_value(const eb_evidence *e, const eb_paper_figure *figure,
                            const eb_paper_point *point, double *out) {
  int against = point->against >= 0 ? point->against : figure->against;
  bool distance = strcmp(figure->value, "distance") == 0,
       error = strcmp(figure->value, "error") == 0;
  *out = NAN;
  if (!is_timed(e, point->case_) || (against >= 0 && !is_timed(e, against))) return EB_OK;
  if (distance) {
    eb_parting parting;
    EB_TRY(eb_motion_parting(e, point->case_, against, true, &parting));
    *out = parting.largest.rms;
  } else if (error) {
    if (against >= 0) EB_TRY(eb_motion_error(e, point->case_, against, out));
  } else {
    EB_TRY(ratio_value(e, figure, point->case_, against, out));
  }
  *out *= figure->scale;
  return EB_OK;
}

/* ---- bars and courses ------------------------------------------------------------------------- */

/* The parts of one bar; what is left of the whole is the last. */
static eb_error fill_layers(const eb_evidence *e, const eb_paper_figure *figure, int case_,
                            double whole, double *layers) {
  double rest = whole;
  for (int l = 0; l < figure->statistics.count; l++) {
    layers[l] = NAN;
    if (is_timed(e, case_))
      EB_TRY(eb_evidence_statistic(e, case_, figure->statistics.items[l], 0, &layers[l]));
    /* A stage that is never timed takes none of a bar that is there. */
    if (isnan(layers[l]) && isfinite(whole)) layers[l] = 0;
    layers[l] *= figure->scale;
    rest -= layers[l];
  }
  layers[figure->statistics.count] = isfinite(rest) ? fmax(0, rest) : rest;
  return EB_OK;
}

static eb_error fill_course(const eb_evidence *e, const eb_paper_figure *figure, int case_,
                            eb_course *course, double *largest) {
  *largest = NAN;
  EB_TRY(eb_course_read(e, case_, figure->value, course));
  for (size_t s = 0; s < course->count; s++) *largest = fmax(*largest, course->y[s]);
  return EB_OK;
}

/* Of the figure's probe. */
static eb_error fill_series(const eb_evidence *e, const eb_paper_figure *figure, int p,
                            eb_course *course, double *largest) {
  int c = 0;
  while (figure->curves[c].first != p) c++;
  *largest = NAN;
  if (!e->folder) return EB_OK;
  EB_TRY(eb_probe_series(e->paper, e->folder, figure->probe, figure->curves[c].series, course));
  for (size_t s = 0; s < course->count; s++) *largest = fmax(*largest, course->y[s]);
  return EB_OK;
}

/* ---- figures ---------------------------------------------------------------------------------- */

static eb_error fill_point(const eb_evidence *e, eb_shown_figure *shown, int p, bool *marked) {
  const eb_paper_figure *figure = shown->figure;
  const eb_paper_point *point = &figure->points[p];
  if (point->case_ < 0) return fill_series(e, figure, p, &shown->courses[p], &shown->y[p]);
  marked[point->case_] = true;
  if (point->against >= 0) marked[point->against] = true;
  if (shown->courses) return fill_course(e, figure, point->case_, &shown->courses[p], &shown->y[p]);
  EB_TRY(point_value(e, figure, point, &shown->y[p]));
  if (!shown->layers) return EB_OK;
  return fill_layers(e, figure, point->case_, shown->y[p],
                     shown->layers + p * (figure->parts.count + 1));
}

static eb_error fill_figure(const eb_evidence *e, eb_shown_figure *shown, bool *marked,
                            int *measured) {
  const eb_paper_figure *figure = shown->figure;
  for (int p = 0; p < figure->point_count; p++) {
    EB_TRY(fill_point(e, shown, p, marked));
    *measured += isfinite(shown->y[p]);
  }
  if (figure->against >= 0) marked[figure->against] = true;
  if (figure->show >= 0) marked[figure->show] = true;
  EB_TRY(eb_outcome_note(e, marked, &shown->notes));
  return eb_outcome_troubles(e, marked, &shown->notes);
}

eb_error eb_outcome_figure(const eb_evidence *e, const eb_paper_figure *figure,
                           eb_shown_figure *shown, int *measured) {
  bool *marked;
  shown->figure = figure;
  EB_TRY(EB_NEW(shown->y, figure->point_count));
  if (figure->parts.count)
    EB_TRY(EB_NEW(shown->layers, figure->point_count * (figure->parts.count + 1)));
  if (strncmp(figure->template, "course", 6) == 0 || figure->probe)
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
