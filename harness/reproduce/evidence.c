#include "harness/reproduce/evidence.h"

#include "harness/audit/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/results/sample.h"
#include "harness/results/sweeps.h"
#include "problems/base/memory.h"

/* ---- cases as a plan ------------------------------------------------------------------------- */

/* Plans a case by itself, wherever it starts. What this build lacks is a result; everything else is
 * an error. */
static eb_error try_case(const eb_paper_case *work, const eb_plugins *plugins,
                         struct eb_planned *planned) {
  eb_request request = {.plugins = plugins};
  eb_plan alone = {0};
  eb_error error = eb_strings_add(&request.names, work->scene);
  if (!error) error = eb_strings_add(&request.solvers, work->solver);
  if (!error) error = eb_plan_create(&request, &alone);
  eb_plan_clear(&alone);
  eb_strings_clear(&request.names);
  eb_strings_clear(&request.solvers);
  if (!error || eb_error_kind(error) != EB_ERR_USAGE) return error;
  eb_error failed = eb_copy(eb_error_message(error), &planned->trouble);
  eb_error_free(error);
  return failed;
}

/* Whom a case starts from that cannot be run is its own trouble. */
static eb_error follow_source_runs(const eb_paper *paper, int c, eb_paper_plan *out) {
  eb_text text = {0};
  int source_run = paper->cases[c].source_run;
  while (source_run >= 0 && !out->cases[source_run].trouble)
    source_run = paper->cases[source_run].source_run;
  if (source_run < 0 || out->cases[c].trouble) return EB_OK;
  EB_TRY(eb_text_printf(&text, "it starts from %s: %s", paper->cases[source_run].name,
                        out->cases[source_run].trouble));
  out->cases[c].trouble = text.data;
  return EB_OK;
}

/* A section a case, by its name; the cases of a section of the paper compete. */
static eb_error fill_section(const eb_paper_case *work, const eb_plugins *plugins,
                             eb_suite_section *out) {
  char group[20], *assignments;
  bool known;
  const eb_scene_ops *scene;
  EB_TRY(eb_open_scene_spec(work->scene, plugins, &scene, &assignments));
  int64_t a_frame = scene->steps_per_frame > 0 ? scene->steps_per_frame : 1;
  eb_scene_close(scene);
  free(assignments);
  out->settings = (eb_settings){.repeat = work->repeat,
                                .timeout = work->timeout,
                                .memory = work->memory,
                                .steps = work->frames * a_frame,
                                .examine = work->examine ? EB_SETTING_YES : EB_SETTING_NO,
                                .embed = work->embed,
                                .thread_count = 1,
                                .threads = {(int)work->threads}};
  EB_TRY(eb_copy(work->name, &out->label));
  EB_TRY(eb_strings_add(&out->scenes, work->scene));
  EB_TRY(eb_strings_add(&out->solvers, work->solver));
  EB_TRY(eb_paper_dependencies_read(work->dependencies, &out->dependencies));
  snprintf(group, sizeof group, "%d", work->group);
  return eb_dependencies_set(&out->dependencies, "group", group, &known);
}

static eb_error keep_wanted(const eb_paper *paper, const bool *wanted, eb_plan *plan) {
  bool *cases, *sweeps;
  EB_TRY(EB_NEW(cases, plan->count));
  eb_error error = EB_NEW(sweeps, plan->sweep_count);
  if (!error) {
    for (int l = 0; l < plan->label_count; l++)
      cases[plan->labels[l].at] |= wanted[eb_paper_case_find(paper, plan->labels[l].label)];
    for (int s = 0; s < plan->sweep_count; s++)
      sweeps[s] = wanted[eb_paper_case_find(paper, plan->sweeps[s].name)];
    error = eb_plan_keep(plan, cases, sweeps);
    free(sweeps);
  }
  free(cases);
  return error;
}

/* All is planned whatever is wanted: what a source run keeps, and so whether its run is there
 * already, does not depend on who is asked for. */
eb_error eb_paper_plan_create(const eb_paper *paper, const bool *wanted, const eb_plugins *plugins,
                              eb_paper_plan *out) {
  eb_suite suite = {.foreign = paper->foreign};
  *out = (eb_paper_plan){.case_count = paper->case_count};
  EB_TRY(EB_NEW(out->cases, paper->case_count));
  for (int c = 0; c < paper->case_count; c++)
    EB_TRY(try_case(&paper->cases[c], plugins, &out->cases[c]));
  for (int c = 0; c < paper->case_count; c++) EB_TRY(follow_source_runs(paper, c, out));
  const eb_request request = {.suite = &suite, .plugins = plugins};
  eb_error error = eb_copy(paper->name, &suite.name);
  if (!error) error = EB_NEW(suite.sections, paper->case_count);
  for (int c = 0; c < paper->case_count && !error; c++)
    if (!out->cases[c].trouble)
      error = fill_section(&paper->cases[c], plugins, &suite.sections[suite.count++]);
  if (!error) error = eb_plan_create(&request, &out->plan);
  eb_suite_clear(&suite);
  EB_TRY(error);
  const eb_plan *plan = &out->plan;
  for (int l = 0; l < plan->label_count; l++)
    EB_TRY(eb_strings_add(&out->cases[eb_paper_case_find(paper, plan->labels[l].label)].identities,
                          plan->cases[plan->labels[l].at].identity));
  for (int s = 0; s < plan->sweep_count; s++)
    EB_TRY(eb_sweep_identity(&plan->sweeps[s],
                             &out->cases[eb_paper_case_find(paper, plan->sweeps[s].name)].sweep));
  return wanted ? keep_wanted(paper, wanted, &out->plan) : EB_OK;
}

void eb_paper_plan_clear(eb_paper_plan *plan) {
  for (int c = 0; plan->cases && c < plan->case_count; c++) {
    eb_strings_clear(&plan->cases[c].identities);
    free(plan->cases[c].sweep);
    free(plan->cases[c].trouble);
  }
  free(plan->cases);
  eb_plan_clear(&plan->plan);
  *plan = (eb_paper_plan){0};
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool is_sampled(const eb_run *run) {
  return strstr(run->from_steps, "..") != NULL;
}

int64_t eb_steps_per_frame(const eb_run *run) {
  if (!is_sampled(run) && run->steps_per_frame > 0) return run->steps_per_frame;
  const eb_scene_ops *scene = is_sampled(run) ? NULL : eb_scene_find(run->scene);
  return scene && scene->steps_per_frame > 0 ? scene->steps_per_frame : 1;
}

int64_t eb_warmup_steps(const eb_run *run) {
  return is_sampled(run) ? 0 : eb_steps_per_frame(run);
}

const eb_run *eb_evidence_run(const eb_evidence *evidence, int case_) {
  int run = evidence->cases[case_].run;
  return run < 0 ? NULL : eb_results_run(evidence->results, run);
}

/* ---- which run stands for a case ------------------------------------------------------------- */

bool eb_evidence_waives(const eb_paper_case *work, const eb_run *run) {
  const char *broken = run->audit_rules;
  bool all = *broken != '\0';
  while (*broken && all) {
    size_t length = strcspn(broken, ",");
    all = false;
    for (int r = 0; r < EB_RULES && !all; r++) {
      const char *name = eb_rule_name((eb_rule)r);
      all = (work->may_break >> r & 1) && strlen(name) == length && !memcmp(name, broken, length);
    }
    broken += length + (broken[length] == ',');
  }
  return all;
}

static eb_run_status status_of(const eb_paper_case *work, const eb_run *run, int64_t frames) {
  int64_t least = eb_warmup_steps(run) ? 2 : 1; /* the first is left out */
  bool refuted = strcmp(run->audit, "failed") == 0 && !eb_evidence_waives(work, run);
  switch (eb_outcome_find(run->outcome)) {
  case EB_OUTCOME_COMPLETED:
    return refuted ? EB_RUN_REFUTED : EB_RUN_WHOLE;
  case EB_OUTCOME_TIMED_OUT:
    if (refuted) return EB_RUN_REFUTED;
    return frames >= least ? EB_RUN_CUT : EB_RUN_MISSING;
  case EB_OUTCOME_UNFINISHED:
  case EB_OUTCOME_SKIPPED:
  case EB_OUTCOME_OUT_OF_MEMORY:
    return EB_RUN_MISSING;
  default:
    return EB_RUN_FAILED;
  }
}

/* A whole run before one that was cut, before one that the audit contradicts, before one that
 * failed; among equals the fastest. */
static eb_error consider(const eb_paper_case *work, const eb_results *results, int run,
                         double *fastest, eb_case_evidence *out) {
  const eb_run *candidate = eb_results_run(results, run);
  double *walls, wall = 0;
  size_t count;
  int64_t frames = candidate->steps_done / eb_steps_per_frame(candidate);
  eb_run_status status = status_of(work, candidate, frames);
  EB_TRY(eb_results_steps(results, run, EB_COL_WALL, &walls, &count));
  for (size_t i = 0; i < count; i++) wall += walls[i];
  free(walls);
  if (status >= EB_RUN_CUT) out->runs[out->run_count++] = run;
  if (out->run >= 0 && (status < out->status ||
                        (status == out->status &&
                         (frames < out->frames || (frames == out->frames && !(wall < *fastest))))))
    return EB_OK;
  out->status = status;
  out->run = run;
  out->frames = frames;
  *out->why = '\0';
  *fastest = wall;
  if (status == EB_RUN_REFUTED)
    snprintf(out->why, sizeof out->why, "%s: audit failed, %s", work->name,
             candidate->audit_detail);
  else if (status != EB_RUN_WHOLE)
    snprintf(out->why, sizeof out->why, "%s: %s%s%s", work->name, candidate->outcome,
             *candidate->detail ? ", " : "", candidate->detail);
  return EB_OK;
}

/* A search that ended in a way that tells nothing, and one that found no stable value, leave no
 * number. */
static eb_error find_sweep(const eb_paper_case *work, const char *identity,
                           const eb_results *results, eb_case_evidence *out) {
  eb_sweep_record record = {0};
  bool there;
  EB_TRY(eb_sweeps_find(results, identity, &there, &record));
  if (there) {
    bool found = isfinite(record.least_stable), refuted = strcmp(record.audit, "failed") == 0;
    out->status = refuted ? EB_RUN_REFUTED : found ? EB_RUN_WHOLE : EB_RUN_MISSING;
    out->least_stable = record.least_stable;
    out->greatest_unstable = record.greatest_unstable;
    out->below = strcmp(record.found, "all") == 0;
    *out->why = '\0';
    if (refuted || !found)
      snprintf(out->why, sizeof out->why, "%s: %s%s", work->name,
               refuted ? "the audit of a stable trial failed: " : "", record.detail);
  }
  eb_sweep_record_clear(&record);
  return EB_OK;
}

static eb_error find_case(const eb_paper_case *work, const struct eb_planned *planned,
                          const eb_results *results, eb_case_evidence *out) {
  double fastest = INFINITY;
  *out = (eb_case_evidence){
      .status = EB_RUN_MISSING, .run = -1, .least_stable = NAN, .greatest_unstable = NAN};
  snprintf(out->why, sizeof out->why, "%s: %s", work->name,
           planned->trouble ? planned->trouble : "not run");
  if (results && planned->sweep) return find_sweep(work, planned->sweep, results, out);
  EB_TRY(EB_NEW(out->runs, planned->identities.count));
  for (int i = 0; results && i < planned->identities.count; i++) {
    int run = eb_results_find(results, planned->identities.items[i]);
    if (run >= 0) EB_TRY(consider(work, results, run, &fastest, out));
  }
  /* A run that the time limit has cut off in its first step has no figures, but that step's time
   * is known from below. */
  out->cut_first = out->run_count == 0 && out->run >= 0 && out->status == EB_RUN_MISSING &&
                   eb_results_run(results, out->run)->cut_step_seconds > 0;
  if (out->cut_first) out->runs[out->run_count++] = out->run;
  return EB_OK;
}

/* ---- how much times vary --------------------------------------------------------------------- */

/* Of each repetition the logarithm of the mean over steps [warm, steps) of a table. */
static eb_error read_logs(const eb_results *results, const eb_case_evidence *found, int table,
                          size_t warm, size_t steps, double *logs) {
  for (int r = 0; r < found->run_count; r++) {
    double *seconds;
    size_t count;
    EB_TRY(eb_results_steps(results, found->runs[r], table, &seconds, &count));
    if (steps < count) count = steps;
    logs[r] = count > warm ? log(eb_sample_mean(seconds + warm, count - warm)) : NAN;
    free(seconds);
  }
  return EB_OK;
}

static double squares_about_mean(const double *y, int count) {
  double mean = eb_sample_mean(y, (size_t)count), sum = 0;
  for (int i = 0; i < count; i++) sum += (y[i] - mean) * (y[i] - mean);
  return sum;
}

/* Squares of logarithms about their means. */
typedef struct squares {
  double pace, stage;
  double expected; /* stage, if stages vary by 1 */
  int freedom;
} squares;

/* Adds those of the stages' shares, over steps [warm, steps). If stages vary by tau, each by
 * itself, the logarithm of the share q_p of one varies by tau^2 ((1 - q_p)^2 + sum_k q_k^2), k over
 * the others, for it is in the whole as they are. A share is weighted by itself: what takes little
 * time is timed badly, and matters little. `walls`: logarithms of a step, a repetition each;
 * `shares`: room for as many. */
static eb_error add_stages(const eb_results *results, const eb_case_evidence *found, size_t warm,
                           size_t steps, const double *walls, double *shares, squares *out) {
  double q[EB_PHASE_COUNT] = {0}, all = 0;
  for (int p = 0; p < EB_PHASE_COUNT; p++) {
    EB_TRY(read_logs(results, found, EB_STEP_PHASES + p, warm, steps, shares));
    for (int r = 0; r < found->run_count; r++) shares[r] -= walls[r];
    double square = squares_about_mean(shares, found->run_count);
    if (!isfinite(square)) continue; /* a stage that takes no time */
    q[p] = exp(eb_sample_mean(shares, (size_t)found->run_count));
    out->stage += q[p] * square;
    all += q[p] * q[p];
  }
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    out->expected += (found->run_count - 1) * q[p] * ((1 - q[p]) * (1 - q[p]) + all - q[p] * q[p]);
  return EB_OK;
}

/* Adds those of a case's repetitions, over the steps that all of them did without the first frame.
 * `logs` has room for two of each. */
static eb_error add_squares(const eb_results *results, const eb_case_evidence *found, double *logs,
                            squares *out) {
  size_t steps = SIZE_MAX, warm = (size_t)eb_warmup_steps(eb_results_run(results, found->runs[0]));
  for (int r = 0; r < found->run_count; r++) {
    size_t done = (size_t)eb_results_run(results, found->runs[r])->steps_done;
    if (done < steps) steps = done;
  }
  warm = eb_sample_warmup(steps, warm);
  EB_TRY(read_logs(results, found, EB_COL_WALL, warm, steps, logs));
  double pace = squares_about_mean(logs, found->run_count);
  if (!isfinite(pace)) return EB_OK;
  out->pace += pace;
  out->freedom += found->run_count - 1;
  return add_stages(results, found, warm, steps, logs, logs + found->run_count, out);
}

static eb_error measure_noise(const eb_evidence *evidence, eb_noise *out) {
  squares sums = {0};
  for (int c = 0; c < evidence->paper->case_count; c++) {
    double *logs;
    const eb_case_evidence *found = &evidence->cases[c];
    if (found->run_count < 2) continue;
    EB_TRY(EB_NEW(logs, 2 * found->run_count));
    eb_error error = add_squares(evidence->results, found, logs, &sums);
    free(logs);
    EB_TRY(error);
  }
  *out = (eb_noise){.pace = sqrt(sums.pace / sums.freedom),
                    .stage = sums.expected > 0 ? sqrt(sums.stage / sums.expected) : 0,
                    .freedom = sums.freedom};
  return EB_OK;
}

eb_error eb_evidence_create(const eb_paper *paper, const eb_paper_plan *plan,
                            const eb_results *results, eb_evidence *out) {
  *out = (eb_evidence){.paper = paper, .results = results};
  EB_TRY(EB_NEW(out->cases, paper->case_count));
  for (int c = 0; c < paper->case_count; c++)
    EB_TRY(find_case(&paper->cases[c], &plan->cases[c], results, &out->cases[c]));
  return measure_noise(out, &out->noise);
}

void eb_evidence_clear(eb_evidence *evidence) {
  for (int c = 0; evidence->cases && c < evidence->paper->case_count; c++)
    free(evidence->cases[c].runs);
  free(evidence->cases);
  *evidence = (eb_evidence){0};
}
