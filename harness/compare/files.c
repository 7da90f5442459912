/* Two result files. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/compare.h"
#include "harness/names.h"
#include "harness/results/accuracy.h"
#include "harness/results/merge.h"
#include "harness/results/repetitions.h"
#include "harness/results/sample.h"
#include "problems/base/strings.h"
#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- which runs go together ------------------------------------------------------------------ */

/* Canonical assignments "a=1,b=2" say the same where both speak: an option that one build is too
 * old to know does not part them. */
static bool agree(const char *left, const char *right) {
  for (const char *name = left; *name;) {
    size_t length = strcspn(name, "="), all = strcspn(name, ",");
    const char *a, *b;
    size_t here = eb_assigned_value(left, name, length, &a);
    size_t there = eb_assigned_value(right, name, length, &b);
    if (there > 0 && (here != there || strncmp(a, b, here) != 0)) return false;
    name += all + (name[all] == ',');
  }
  return true;
}

/* But for the repetition. */
static bool is_same_case(const eb_run *a, const eb_run *b) {
  return strcmp(a->scene, b->scene) == 0 && eb_run_same_file(a, b) &&
         agree(a->parameters, b->parameters) && strcmp(a->mesh_source, b->mesh_source) == 0 &&
         strcmp(a->solver, b->solver) == 0 && agree(a->options, b->options) &&
         a->threads == b->threads && a->seed == b->seed && a->steps_wanted == b->steps_wanted &&
         strcmp(a->from_steps, b->from_steps) == 0;
}

static bool has_outcome(const eb_run *run, eb_outcome outcome) {
  return strcmp(run->outcome, eb_outcome_name(outcome)) == 0;
}

static int partner_of(const eb_run *run, const eb_results *other) {
  for (int k = 0; k < eb_results_count(other); k++) {
    const eb_run *candidate = eb_results_run(other, k);
    if (candidate->repetition == run->repetition && is_same_case(run, candidate)) return k;
  }
  return -1;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* s of a run that has times. */
static eb_error total_of(const eb_results *file, int run, int column, double *out) {
  EB_TRY(eb_run_total(file, run, column, out));
  return *out > 0 ? EB_OK
                  : EB_ERROR(EB_ERR_INVALID, "%s: run '%s' has no times", eb_results_path(file),
                             eb_results_run(file, run)->id);
}

static eb_error add_sum(const eb_results *file, int run, int table, const char *name,
                        eb_text *out) {
  double *values;
  size_t count;
  EB_TRY(eb_results_steps(file, run, table, &values, &count));
  double sum = count ? eb_sample_sum(values, count) : 0;
  free(values);
  return eb_text_printf(out, "%s%s=%.17g", out->length ? "," : "", name, sum);
}

static eb_error add_digests(const eb_results *file, int run, eb_text *out) {
  eb_residuals r;
  EB_TRY(eb_results_residuals(file, run, &r));
  uint64_t hash = eb_hash(EB_HASH_SEED, r.offsets, (r.steps + 1) * sizeof *r.offsets);
  hash = eb_hash(hash, r.values, (size_t)r.offsets[r.steps] * sizeof *r.values);
  eb_residuals_clear(&r);
  return eb_text_printf(out, ",residuals=%016" PRIx64 ",state=%s", hash,
                        eb_results_run(file, run)->state_hash);
}

static eb_error counts_of(const eb_results *file, int run, char **out) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  EB_TRY(add_sum(file, run, EB_COL_ITERATIONS, "iterations", &text));
  for (int k = 0; k < EB_COUNTERS; k++)
    EB_TRY(add_sum(file, run, EB_STEP_COUNTERS + k, eb_counter_name((eb_counter)k), &text));
  EB_TRY(add_digests(file, run, &text));
  return eb_string_set(out, text.data);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* A pair of runs of one repetition is a round. */
static eb_error add_round(eb_results *const files[EB_SIDES], const int runs[EB_SIDES],
                          eb_compared *c) {
  static const int columns[] = {EB_COL_CPU, EB_COL_WALL};
  eb_series *const series[] = {&c->cpu[EB_COMPARED_HEAD], &c->wall};
  for (int k = 0; k < 2; k++) {
    double base, head;
    EB_TRY(total_of(files[EB_BASE], runs[EB_BASE], columns[k], &base));
    EB_TRY(total_of(files[EB_HEAD], runs[EB_HEAD], columns[k], &head));
    EB_TRY(eb_series_add(series[k], log(head / base)));
  }
  return EB_OK;
}

/* The first repetition counts, and the first one after it that counts otherwise. */
static eb_error add_counts(eb_results *const files[EB_SIDES], const int runs[EB_SIDES],
                           eb_compared *c) {
  for (int side = 0; side < EB_SIDES; side++) {
    char *counts = NULL;
    EB_TRY(counts_of(files[side], runs[side], &counts));
    char **place = !c->counts[side] ? &c->counts[side]
                   : strcmp(c->counts[side], counts) == 0 || c->counts_again[side]
                       ? NULL
                       : &c->counts_again[side];
    if (place)
      *place = counts;
    else
      free(counts);
  }
  return EB_OK;
}

/* What became of a run whose times are none to compare; a wrong one may be as fast as it likes. */
static eb_error tell_trouble(const eb_results *file, const eb_run *run, char **out) {
  const char *path = eb_results_path(file);
  if (!has_outcome(run, EB_OUTCOME_COMPLETED))
    return eb_string_format(out, "run '%s' of '%s' %s: %s", run->id, path, run->outcome,
                            run->detail);
  return eb_string_format(out, "run '%s' of '%s' has failed its audit: %s", run->id, path,
                          run->audit_rules);
}

static eb_error add_pair(eb_results *const files[EB_SIDES], const int runs[EB_SIDES],
                         eb_compared *c) {
  for (int side = 0; side < EB_SIDES; side++) {
    const eb_run *run = eb_results_run(files[side], runs[side]);
    bool failed = strcmp(run->audit, "failed") == 0;
    if (has_outcome(run, EB_OUTCOME_COMPLETED) && !failed) continue;
    return c->trouble ? EB_OK : tell_trouble(files[side], run, &c->trouble);
  }
  EB_TRY(add_counts(files, runs, c));
  return eb_compared_trouble(add_round(files, runs, c), c);
}

/* The case that a run belongs to, made when it is the first: `first` has the first run of each. */
static eb_error find_case(const eb_results *file, int run, int *first, eb_comparison *out,
                          eb_compared **found) {
  const eb_run *wanted = eb_results_run(file, run);
  int k = 0;
  while (k < out->count && !is_same_case(eb_results_run(file, first[k]), wanted)) k++;
  *found = &out->cases[k];
  if (k < out->count) return EB_OK;
  first[out->count++] = run;
  (*found)->counted_steps = wanted->steps_wanted;
  return eb_string_format(&(*found)->name, "%s %s", wanted->scene, wanted->solver);
}

/* Cases of one scene and solver have their parameters and options in their names. */
static eb_error tell_apart(const eb_results *file, const int *first, eb_comparison *out) {
  for (int k = 0; k < out->count; k++) {
    const eb_run *run = eb_results_run(file, first[k]);
    int alike = 0;
    for (int i = 0; i < out->count; i++) {
      const eb_run *other = eb_results_run(file, first[i]);
      alike += strcmp(run->scene, other->scene) == 0 && strcmp(run->solver, other->solver) == 0;
    }
    if (alike > 1)
      EB_TRY(eb_string_format(&out->cases[k].name, "%s:%s %s:%s, %lld threads, seed %lld",
                              run->scene, run->parameters, run->solver, run->options,
                              (long long)run->threads, (long long)run->seed));
  }
  return EB_OK;
}

/* Those that the solver serves, and that the other file does not have. */
static int count_unpaired(const eb_results *file, const eb_results *other) {
  int count = 0;
  for (int k = 0; k < eb_results_count(file); k++) {
    const eb_run *run = eb_results_run(file, k);
    count += !has_outcome(run, EB_OUTCOME_SKIPPED) && partner_of(run, other) < 0;
  }
  return count;
}

static eb_error pair_runs(eb_results *const files[EB_SIDES], int *first, eb_comparison *out) {
  for (int side = 0; side < EB_SIDES; side++)
    out->unpaired[side] = count_unpaired(files[side], files[EB_SIDES - 1 - side]);
  for (int k = 0; k < eb_results_count(files[EB_BASE]); k++) {
    const eb_run *run = eb_results_run(files[EB_BASE], k);
    const int runs[EB_SIDES] = {k, partner_of(run, files[EB_HEAD])};
    eb_compared *c;
    if (runs[EB_HEAD] < 0 || has_outcome(run, EB_OUTCOME_SKIPPED)) continue;
    EB_TRY(find_case(files[EB_BASE], k, first, out, &c));
    EB_TRY(add_pair(files, runs, c));
  }
  if (out->count > 0) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID,
                  "'%s' and '%s' have no run in common: scene, parameters, mesh, solver, options, "
                  "threads, seed, steps and repetition must be the same",
                  eb_results_path(files[EB_BASE]), eb_results_path(files[EB_HEAD]));
}

/* There is one look at all repetitions, whatever their number. */
static eb_error judge_all(double margin, eb_comparison *out) {
  eb_decision_rule rule = eb_decision_plan(margin, 1);
  eb_series **series;
  out->least = eb_decision_least(&rule, out->count);
  EB_TRY(EB_NEW(series, out->count));
  for (int k = 0; k < out->count; k++) series[k] = &out->cases[k].cpu[EB_COMPARED_HEAD];
  eb_error error = eb_series_judge(&rule, 0, series, out->count);
  for (int k = 0; k < out->count; k++) series[k] = &out->cases[k].wall;
  if (!error) error = eb_series_judge(&rule, 0, series, out->count);
  free(series);
  return error ? error : eb_comparison_judge(margin, out);
}

static eb_error compare_machines(eb_results *const files[EB_SIDES], eb_comparison *out) {
  eb_error differ = eb_results_same_machine(files[EB_BASE], files[EB_HEAD]);
  eb_error error =
      differ ? eb_string_format(&out->machines, "%s", eb_error_message(differ)) : EB_OK;
  eb_error_free(differ);
  return error;
}

static eb_error compare_files(eb_results *const files[EB_SIDES], double margin,
                              eb_comparison *out) {
  int *first = NULL, count = eb_results_count(files[EB_BASE]);
  eb_error error = compare_machines(files, out);
  if (!error) error = EB_NEW(out->cases, count);
  if (!error) error = EB_NEW(first, count);
  if (!error) error = pair_runs(files, first, out);
  if (!error) error = tell_apart(files[EB_BASE], first, out);
  free(first);
  if (!error) error = eb_string_format(&out->uninstructed, "result files do not tell them");
  return error ? error : judge_all(margin, out);
}

eb_error eb_compare_results(const char *base, const char *head, double margin, eb_comparison *out) {
  eb_results *files[EB_SIDES] = {NULL};
  *out = (eb_comparison){0};
  eb_error error = eb_results_open(base, &files[EB_BASE]);
  if (!error) error = eb_results_open(head, &files[EB_HEAD]);
  if (!error) error = compare_files(files, margin, out);
  for (int side = 0; side < EB_SIDES; side++) eb_results_close(files[side]);
  return error;
}
