#include "harness/case/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/rules.h"

/* Of the most energy of the trial with the highest value. */
static const double energy_factor = 2;

/* ---- the search ------------------------------------------------------------------------------ */

eb_error eb_search_begin(const eb_sweep *sweep, eb_search *out) {
  const eb_case *trial = &sweep->trial;
  *out = (eb_search){.sweep = sweep, .low = -1, .high = sweep->count};
  eb_sweep_record *r = &out->record;
  r->low = sweep->low;
  r->step = sweep->step;
  r->high = eb_sweep_value(sweep, sweep->count - 1);
  r->energy_limit = r->least_stable = r->greatest_unstable = NAN;
  EB_TRY(eb_run_set(&r->name, sweep->name));
  EB_TRY(eb_sweep_identity(sweep, &r->identity));
  EB_TRY(eb_run_set(&r->scene, trial->scene->name));
  EB_TRY(eb_run_set(&r->parameters, trial->all_parameters));
  EB_TRY(eb_run_set(&r->solver, trial->solver->name));
  EB_TRY(eb_run_set(&r->options, trial->all_options));
  EB_TRY(eb_run_set(&r->option, sweep->option));
  EB_TRY(eb_run_set(&r->found, ""));
  EB_TRY(eb_run_set(&r->audit, "passed"));
  EB_TRY(eb_run_set(&r->runs, ""));
  return eb_run_set(&r->detail, "");
}

void eb_search_clear(eb_search *search) {
  eb_sweep_record_clear(&search->record);
}

int64_t eb_search_next(const eb_search *s) {
  bool over = *s->record.found || s->record.count == EB_SWEEP_TRIALS;
  if (over) return -1;
  return s->record.count == 0 ? s->sweep->count - 1 : (s->low + s->high) / 2;
}

/* ---- a trial --------------------------------------------------------------------------------- */

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

static bool breaks_energy(const eb_run *run) {
  return strstr(run->audit_rules, eb_rule_name(EB_RULE_ENERGY)) != NULL;
}

/* 1, 0, or -1 where the end of the run does not tell. */
static int is_stable(const eb_run *run, double energy, bool finite, double limit) {
  switch (eb_outcome_find(run->outcome)) {
  case EB_OUTCOME_COMPLETED:
    return finite && !breaks_energy(run) && !(energy > limit);
  case EB_OUTCOME_DIVERGED:
  case EB_OUTCOME_NOT_FINITE:
    return 0;
  default:
    return -1;
  }
}

static eb_error add_run(eb_sweep_record *record, const char *id) {
  eb_text text = {0};
  eb_error error = eb_text_printf(&text, "%s%s%s", record->runs, *record->runs ? " " : "", id);
  if (!error) error = eb_run_set(&record->runs, text.data);
  eb_text_clear(&text);
  return error;
}

static eb_error conclude(eb_search *s, const char *found, const char *detail) {
  EB_TRY(eb_run_set(&s->record.found, found));
  return eb_run_set(&s->record.detail, detail);
}

static eb_error cannot_tell(eb_search *s, double value, const eb_run *run) {
  char words[400];
  snprintf(words, sizeof words, "the trial with %s = %g says nothing of stability: %s%s%.250s",
           s->record.option, value, run->outcome, *run->detail ? ", " : "", run->detail);
  return conclude(s, "unknown", words);
}

static eb_error narrow(eb_search *s, int64_t place, const eb_sweep_trial *t, const eb_run *run) {
  eb_sweep_record *r = &s->record;
  if (t->stable < 0) return cannot_tell(s, t->value, run);
  if (t->stable) {
    s->high = place;
    r->least_stable = t->value;
    if (r->count == 1) r->energy_limit = energy_factor * t->energy;
    if (strcmp(run->audit, "failed") == 0) EB_TRY(eb_run_set(&r->audit, "failed"));
  } else {
    s->low = place;
    r->greatest_unstable = t->value;
  }
  if (s->low == s->sweep->count - 1) return conclude(s, "none", "not even the highest is stable");
  if (s->high == 0) return conclude(s, "all", "every value of the grid is stable");
  return s->high - s->low == 1 ? conclude(s, "threshold", "") : EB_OK;
}

eb_error eb_search_note(eb_search *s, int64_t place, const eb_results *results, int run) {
  bool finite;
  const eb_run *about = eb_results_run(results, run);
  eb_sweep_trial *t = &s->record.trials[s->record.count];
  *t = (eb_sweep_trial){.value = eb_sweep_value(s->sweep, place), .steps = about->steps_done};
  EB_TRY(find_energy(results, run, &t->energy, &finite));
  double limit = s->record.count ? s->record.energy_limit : INFINITY;
  t->stable = is_stable(about, t->energy, finite, limit);
  s->record.count++;
  EB_TRY(add_run(&s->record, about->id));
  return narrow(s, place, t, about);
}
