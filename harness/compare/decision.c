#include "harness/compare/decision.h"

#include <math.h>
#include <stdlib.h>

#include "harness/compare/signed_rank.h"
#include "problems/base/memory.h"

const char *eb_change_name(eb_change change) {
  static const char *const names[] = {"inconclusive", "regressed", "improved", "equivalent"};
  return names[change];
}

eb_decision_rule eb_decision_plan(double margin, int most) {
  eb_decision_rule rule = {.margin = log1p(margin), .alpha = 0.01, .beta = 0.05};
  static const int plan[] = {40, 80};
  for (int k = 0; k < 2 && plan[k] < most; k++) rule.rounds[rule.looks++] = plan[k];
  rule.rounds[rule.looks++] = most;
  return rule;
}

eb_error eb_series_add(eb_series *series, double y) {
  EB_TRY(EB_APPEND(series->y, series->count));
  series->y[series->count - 1] = y;
  return EB_OK;
}

void eb_series_clear(eb_series *series) {
  free(series->y);
  *series = (eb_series){0};
}

/* What look `look` may spend of an error. */
static double spent_at(const eb_decision_rule *rule, int look, double error) {
  double all = rule->rounds[rule->looks - 1];
  double before = look > 0 ? eb_alpha_spent(error, rule->rounds[look - 1] / all) : 0;
  return eb_alpha_spent(error, rule->rounds[look] / all) - before;
}

int eb_decision_least(const eb_decision_rule *rule, int cases) {
  double level = spent_at(rule, rule->looks - 1, rule->alpha) / fmax(1, cases);
  return (int)ceil(1 - log2(level));
}

/* The probabilities of the data, as far out as they are, at the edge of each hypothesis. */
typedef struct tails {
  double up, down;     /* c <= m, c >= -m */
  double above, below; /* c <= -m, c >= m */
} tails;

static eb_error find_tails(const eb_series *s, double margin, tails *out) {
  size_t count = (size_t)s->count;
  EB_TRY(eb_signed_rank_test(s->y, count, margin, true, &out->up));
  EB_TRY(eb_signed_rank_test(s->y, count, -margin, false, &out->down));
  EB_TRY(eb_signed_rank_test(s->y, count, -margin, true, &out->above));
  return eb_signed_rank_test(s->y, count, margin, false, &out->below);
}

static bool is_open(const eb_series *s) {
  return s->count > 0 && s->change == EB_CHANGE_INCONCLUSIVE;
}

static bool is_rejected(const eb_series *s) {
  return s->change == EB_CHANGE_REGRESSED || s->change == EB_CHANGE_IMPROVED;
}

/* Holm's procedure over what is not rejected yet; what is not tested again has probability 1. */
static eb_error test_all(const eb_decision_rule *rule, int look, eb_series *const *series,
                         int count, const tails *tail, double *probability, bool *rejected) {
  int counted = 0;
  for (int k = 0; k < count; k++) {
    if (is_rejected(series[k])) continue;
    probability[counted++] = is_open(series[k]) ? fmin(1, 2 * fmin(tail[k].up, tail[k].down)) : 1;
  }
  return eb_holm(probability, counted, spent_at(rule, look, rule->alpha), rejected);
}

static void settle(const eb_decision_rule *rule, int look, const tails *tail, bool rejected,
                   eb_series *s) {
  if (rejected)
    s->change = tail->up < tail->down ? EB_CHANGE_REGRESSED : EB_CHANGE_IMPROVED;
  else if (fmax(tail->above, tail->below) <= spent_at(rule, look, rule->beta))
    s->change = EB_CHANGE_EQUIVALENT;
}

static eb_error judge(const eb_decision_rule *rule, int look, eb_series *const *series, int count,
                      tails *tail, double *probability, bool *rejected) {
  for (int k = 0; k < count; k++) {
    eb_series *s = series[k];
    if (!is_open(s)) continue;
    EB_TRY(find_tails(s, rule->margin, &tail[k]));
    EB_TRY(eb_signed_rank_interval(s->y, (size_t)s->count, 2 * spent_at(rule, look, rule->beta),
                                   &s->centre, &s->low, &s->high));
  }
  EB_TRY(test_all(rule, look, series, count, tail, probability, rejected));
  for (int k = 0, counted = 0; k < count; k++) {
    if (is_rejected(series[k])) continue;
    if (is_open(series[k])) {
      series[k]->probability = probability[counted];
      settle(rule, look, &tail[k], rejected[counted], series[k]);
    }
    counted++;
  }
  return EB_OK;
}

eb_error eb_series_judge(const eb_decision_rule *rule, int look, eb_series *const *series,
                         int count) {
  tails *tail = NULL;
  double *probability = NULL;
  bool *rejected = NULL;
  eb_error error = EB_NEW(tail, count);
  if (!error) error = EB_NEW(probability, count);
  if (!error) error = EB_NEW(rejected, count);
  if (!error) error = judge(rule, look, series, count, tail, probability, rejected);
  free(tail);
  free(probability);
  free(rejected);
  return error;
}
