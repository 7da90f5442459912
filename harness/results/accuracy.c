#include "harness/results/accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where each band ends, and what it is called. */
static const struct band {
  double end;
  const char *words;
} bands[EB_BANDS] = {
    [EB_BAND_BELOW_1E8] = {1e-8, "below 1e-8"}, [EB_BAND_1E8] = {1e-6, "1e-8 to 1e-6"},
    [EB_BAND_1E6] = {1e-4, "1e-6 to 1e-4"},     [EB_BAND_1E4] = {1e-2, "1e-4 to 1e-2"},
    [EB_BAND_1E2] = {1e-1, "1e-2 to 1e-1"},     [EB_BAND_ORDER_ONE] = {INFINITY, "of order one"}};

eb_band eb_band_of(double error) {
  if (!(error >= 0)) return EB_BAND_UNKNOWN;
  int band = EB_BAND_BELOW_1E8;
  while (band < EB_BAND_ORDER_ONE && error >= bands[band].end) band++;
  return (eb_band)band;
}

/* An error of 0 is one of an equation that is solved exactly, and of runs that name no equation. */
eb_class eb_class_of(const eb_run *run) {
  eb_class unknown = {"", EB_BAND_UNKNOWN};
  if (!run->equation || !*run->equation || run->steps_done == 0) return unknown;
  eb_class known = {run->equation, eb_band_of(run->error)};
  return known.band == EB_BAND_UNKNOWN ? unknown : known;
}

int eb_class_compare(eb_class a, eb_class b) {
  int unknown = (a.band == EB_BAND_UNKNOWN) - (b.band == EB_BAND_UNKNOWN);
  int equation = strcmp(a.equation, b.equation);
  if (unknown) return unknown;
  return equation ? equation : (int)a.band - (int)b.band;
}

static bool is_ranked(eb_class c) {
  return c.band < EB_BAND_ORDER_ONE;
}

eb_class_name eb_class_describe(eb_class c) {
  eb_class_name name = {"class unknown"};
  if (c.band != EB_BAND_UNKNOWN)
    snprintf(name.text, sizeof name.text, "%.100s, %s", c.equation, bands[c.band].words);
  return name;
}

static bool same_text(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "") == 0;
}

bool eb_run_same_file(const eb_run *a, const eb_run *b) {
  bool files = (a->scene_file && *a->scene_file) || (b->scene_file && *b->scene_file);
  bool known = a->scene_hash && *a->scene_hash && b->scene_hash && *b->scene_hash;
  return !files || !known || strcmp(a->scene_hash, b->scene_hash) == 0;
}

bool eb_run_same_scene(const eb_run *a, const eb_run *b) {
  return strcmp(a->scene, b->scene) == 0 && eb_run_same_file(a, b) &&
         strcmp(a->parameters, b->parameters) == 0 && strcmp(a->mesh_source, b->mesh_source) == 0 &&
         same_text(a->from, b->from) && same_text(a->from_steps, b->from_steps);
}

static bool same_solver(const eb_run *a, const eb_run *b) {
  return strcmp(a->solver, b->solver) == 0 && same_text(a->options, b->options) &&
         same_text(a->plugin, b->plugin) && same_text(a->client, b->client) &&
         a->threads == b->threads && a->ranks == b->ranks;
}

bool eb_run_ranked(const eb_run *run) {
  return strcmp(run->outcome, eb_outcome_name(EB_OUTCOME_COMPLETED)) == 0 &&
         strcmp(run->audit, "passed") == 0 && is_ranked(eb_class_of(run));
}

bool eb_run_comparable(const eb_run *a, const eb_run *b) {
  return eb_run_ranked(a) && eb_run_ranked(b) && eb_run_same_scene(a, b) &&
         a->steps_done == b->steps_done && eb_class_compare(eb_class_of(a), eb_class_of(b)) == 0;
}

static bool is_cost(double value) {
  return value > 0 && isfinite(value);
}

static bool competes(const eb_run *const *runs, const double *costs, int a, int b) {
  return is_cost(costs[a]) && eb_run_comparable(runs[a], runs[b]);
}

/* Of its repetitions; the first of several that are equally cheap. */
static int cheapest(const eb_run *const *runs, const double *costs, int count, int which) {
  int best = which;
  for (int r = 0; r < count; r++)
    if (competes(runs, costs, r, which) && same_solver(runs[r], runs[which]) &&
        (costs[r] < costs[best] || (costs[r] == costs[best] && r < best)))
      best = r;
  return best;
}

static double told_error(const eb_run *run) {
  static const double rounding = 1e-12;
  char digits[32];
  snprintf(digits, sizeof digits, "%.1e", run->error);
  return fmax(rounding, strtod(digits, NULL));
}

static bool is_ahead(const eb_run *const *runs, const double *costs, int a, int b) {
  double first = told_error(runs[a]), second = told_error(runs[b]);
  return first <= second && costs[a] <= costs[b] && (first < second || costs[a] < costs[b]);
}

eb_rank eb_run_rank(const eb_run *const *runs, const double *costs, int count, int which) {
  eb_rank rank = {0, 0, NAN};
  double least = INFINITY;
  if (!is_cost(costs[which]) || !eb_run_ranked(runs[which])) return rank;
  int own = cheapest(runs, costs, count, which);
  rank.place = 1;
  for (int r = 0; r < count; r++) {
    if (!competes(runs, costs, r, which) || cheapest(runs, costs, count, r) != r) continue;
    rank.of++;
    rank.place += is_ahead(runs, costs, r, own);
    least = fmin(least, costs[r]);
  }
  rank.over = costs[which] / least;
  return rank;
}
