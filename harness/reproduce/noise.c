/* How much log(a / b) varies, when times do as they do in all cases with repetitions: the pace of a
 * run, and how a stage fares beside it. A stage moves the steps that hold it, too, so that of a
 * share of nearly all of a run little remains. The cheapest and the dearest frame, which a least or
 * a largest time is, may each be off by itself as a run may. For small changes, each independent of
 * the others: the sum of the squares of (d log(a / b) / d log t) sigma_t over the changes. */
#include "harness/reproduce/noise.h"

#include <math.h>
#include <stdlib.h>

#include "harness/results/sample.h"

typedef struct propagation {
  const eb_evaluation *e;
  eb_noise_ratio ratio;
  void *context;
  double undisturbed, variance;
} propagation;

static eb_error add_change(propagation *p, eb_disturbance change, double deviation) {
  eb_evaluation disturbed = *p->e;
  double ratio;
  change.by = 1e-6; /* below what frames differ by, so that the dearest one remains so */
  disturbed.disturbed = &change;
  disturbed.why = NULL;
  EB_TRY(p->ratio(p->context, &disturbed, &ratio));
  double moved = (ratio - p->undisturbed) / change.by * deviation;
  p->variance += moved * moved;
  return EB_OK;
}

/* The first steps of a case's cheapest and dearest frame. */
static eb_error find_extremes(const eb_evaluation *e, int case_, int run, size_t *first) {
  const eb_run *of = eb_results_run(e->evidence->results, run);
  size_t a_frame = (size_t)eb_steps_per_frame(of), count;
  double *wall, least = INFINITY, largest = 0;
  EB_TRY(eb_evaluation_seconds(e, case_, run, "steps/wall", &wall, &count));
  first[0] = first[1] = 0;
  for (size_t s = eb_sample_warmup(count, (size_t)eb_warmup_steps(of)); s + a_frame <= count;
       s += a_frame) {
    double frame = eb_sample_sum(wall + s, a_frame);
    if (frame < least) first[0] = s;
    if (frame > largest) first[1] = s;
    least = fmin(least, frame);
    largest = fmax(largest, frame);
  }
  free(wall);
  return EB_OK;
}

static eb_error add_changes_of_case(propagation *p, int case_) {
  const eb_noise *noise = &p->e->evidence->noise;
  eb_evaluation quiet = *p->e;
  eb_disturbance all = {case_, 0, EB_PHASE_COUNT, 0, SIZE_MAX}, part = all;
  size_t first[2];
  int run;
  eb_knowledge knowledge;
  quiet.why = NULL;
  EB_TRY(add_change(p, all, noise->pace));
  EB_TRY(eb_evaluation_run(&quiet, case_, &run, &knowledge));
  if (run < 0) return EB_OK;
  for (int s = 0; s < EB_PHASE_COUNT; s++) {
    part.stage = (eb_phase)s;
    EB_TRY(add_change(p, part, noise->stage));
  }
  EB_TRY(find_extremes(&quiet, case_, run, first));
  part = all;
  for (int k = 0; k < 2; k++) {
    part.from = first[k];
    part.to = first[k] + (size_t)eb_steps_per_frame(eb_results_run(p->e->evidence->results, run));
    EB_TRY(add_change(p, part, noise->pace));
  }
  return EB_OK;
}

eb_error eb_noise_variance(const eb_evaluation *e, const bool *named, eb_noise_ratio ratio,
                           void *context, double *variance) {
  eb_evaluation quiet = *e;
  propagation p = {e, ratio, context, NAN, 0};
  quiet.why = NULL;
  *variance = NAN;
  EB_TRY(ratio(context, &quiet, &p.undisturbed));
  for (int c = 0; c < e->paper->case_count; c++)
    if (named[c]) EB_TRY(add_changes_of_case(&p, c));
  *variance = p.variance;
  return EB_OK;
}
