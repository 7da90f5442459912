#include "harness/suite/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "problems/base/strings.h"

/* ---- the grid -------------------------------------------------------------------------------- */

eb_error eb_sweep_case(const eb_sweep *sweep, int64_t i, eb_case *out) {
  EB_TRY(eb_case_copy(&sweep->trial, out));
  eb_error error = eb_axis_assign(&sweep->axis, i, out);
  if (!error) error = eb_case_resolve(out, sweep->plugin);
  if (error) eb_case_clear(out);
  return error;
}

eb_error eb_sweep_identity(const eb_sweep *sweep, char **out) {
  const eb_axis *axis = &sweep->axis;
  *out = NULL;
  return eb_string_format(out, "%s sweep=%s:%.12g+%.12g*%" PRId64 "%s", sweep->trial.task,
                          axis->option, axis->low, axis->step, axis->count - 1,
                          sweep->scan ? " scan" : "");
}

void eb_sweep_clear(eb_sweep *sweep) {
  free(sweep->name);
  eb_axis_clear(&sweep->axis);
  eb_case_clear(&sweep->trial);
  *sweep = (eb_sweep){0};
}

/* ---- the search ------------------------------------------------------------------------------ */

eb_error eb_search_begin(const eb_sweep *sweep, eb_search *out) {
  const eb_case *trial = &sweep->trial;
  *out = (eb_search){.sweep = sweep, .low = -1, .high = sweep->axis.count};
  eb_sweep_record *r = &out->record;
  r->low = sweep->axis.low;
  r->step = sweep->axis.step;
  r->high = eb_axis_value(&sweep->axis, sweep->axis.count - 1);
  r->energy_limit = r->least_stable = r->greatest_unstable = NAN;
  EB_TRY(eb_string_set(&r->name, sweep->name));
  EB_TRY(eb_sweep_identity(sweep, &r->identity));
  EB_TRY(eb_string_set(&r->scene, trial->scene->name));
  EB_TRY(eb_string_set(&r->parameters, trial->all_parameters));
  EB_TRY(eb_string_set(&r->solver, trial->solver->name));
  EB_TRY(eb_string_set(&r->options, trial->all_options));
  EB_TRY(eb_string_set(&r->option, sweep->axis.option));
  EB_TRY(eb_string_set(&r->found, ""));
  EB_TRY(eb_string_set(&r->audit, "passed"));
  EB_TRY(eb_string_set(&r->runs, ""));
  return eb_string_set(&r->detail, "");
}

int64_t eb_search_next(const eb_search *b) {
  bool over = *b->record.found || b->record.count == EB_SWEEP_TRIALS;
  if (over) return -1;
  if (b->record.count == 0) return b->sweep->axis.count - 1;
  return b->sweep->scan ? b->record.count - 1 : (b->low + b->high) / 2;
}

/* The most of kinetic and elastic energy, and whether all steps left finite states. */
static eb_error find_energy(const eb_results *results, int run, double *most, bool *finite) {
  static const eb_column wanted[3] = {EB_COL_KINETIC, EB_COL_ELASTIC, EB_COL_FINITE};
  double *values[3] = {NULL};
  size_t count = 0;
  eb_error error = EB_OK;
  for (int i = 0; i < 3 && !error; i++)
    error = eb_results_steps(results, run, wanted[i], &values[i], &count);
  *most = 0;
  *finite = true;
  for (size_t i = 0; i < count && !error; i++) {
    double energy = values[0][i] + values[1][i];
    if (!(energy <= *most)) *most = energy;
    *finite = *finite && values[2][i] != 0;
  }
  for (int i = 0; i < 3; i++) free(values[i]);
  return error;
}

static eb_error conclude(eb_search *b, const char *found, const char *detail) {
  EB_TRY(eb_string_set(&b->record.found, found));
  return eb_string_set(&b->record.detail, detail);
}

static eb_error conclude_bisection(eb_search *b) {
  if (b->high == 0) return conclude(b, "all", "every value of the grid is stable");
  return b->high - b->low == 1 ? conclude(b, "threshold", "") : EB_OK;
}

static eb_error conclude_scan(eb_search *b) {
  const eb_sweep_record *r = &b->record;
  if (r->count < b->sweep->axis.count) return EB_OK;
  if (isnan(r->greatest_unstable)) return conclude(b, "all", "every value of the grid is stable");
  if (r->least_stable > r->greatest_unstable) return conclude(b, "threshold", "");
  return conclude(b, "gaps", "values above the least stable one are unstable");
}

eb_error eb_search_note(eb_search *b, int64_t place, const eb_results *results, int run) {
  static const double energy_factor =
      2; /* of the most energy of the trial with the highest value */
  bool finite;
  eb_sweep_record *r = &b->record;
  const eb_run *about = eb_results_run(results, run);
  eb_sweep_trial *t = &r->trials[r->count];
  *t = (eb_sweep_trial){.value = eb_axis_value(&b->sweep->axis, place), .steps = about->steps_done};
  EB_TRY(find_energy(results, run, &t->energy, &finite));
  double limit = r->count ? r->energy_limit : INFINITY;
  eb_outcome outcome = eb_outcome_find(about->outcome);
  bool gains = strstr(about->audit_rules, eb_rule_name(EB_RULE_ENERGY)) != NULL;
  /* 1, 0, or -1 where the end of the run does not tell. */
  t->stable = outcome == EB_OUTCOME_COMPLETED ? finite && !gains && !(t->energy > limit)
              : outcome == EB_OUTCOME_DIVERGED || outcome == EB_OUTCOME_NOT_FINITE ? 0
                                                                                   : -1;
  r->count++;
  EB_TRY(eb_string_format(&r->runs, "%s%s%s", r->runs, *r->runs ? " " : "", about->id));
  if (t->stable < 0) {
    char words[400];
    snprintf(words, sizeof words, "the trial with %s = %g says nothing of stability: %s%s%.250s",
             r->option, t->value, about->outcome, *about->detail ? ", " : "", about->detail);
    return conclude(b, "unknown", words);
  }
  if (t->stable) {
    b->high = place;
    r->least_stable = fmin(r->least_stable, t->value); /* fmin passes NaN over */
    if (r->count == 1) r->energy_limit = energy_factor * t->energy;
    if (strcmp(about->audit, "failed") == 0) EB_TRY(eb_string_set(&r->audit, "failed"));
  } else {
    b->low = place;
    r->greatest_unstable = fmax(r->greatest_unstable, t->value);
  }
  if (r->count == 1 && !t->stable) return conclude(b, "none", "not even the highest is stable");
  return b->sweep->scan ? conclude_scan(b) : conclude_bisection(b);
}
