#include "harness/case/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/case/crash_record.h"
#include "harness/case/launch.h"
#include "harness/case/progress_line.h"
#include "harness/case/rates.h"
#include "harness/case/sandbox.h"
#include "harness/environment.h"
#include "harness/hash_set.h"
#include "harness/print.h"
#include "harness/results/write.h"
#include "problems/base/strings.h"
#include "problems/base/hash.h"

/* What the steps of a session share. */
typedef struct state {
  const eb_session *session;
  eb_session_end *end;
  eb_staging staging;
  eb_signals signals;
  eb_results *existing; /* the target before, or NULL */
  /* Identities that the target had before, and of cases that have been run since. */
  eb_hash_set before, now;
  eb_hash_set unusual; /* names of scenes whose unusual figures have been told */
  eb_shardings plans;  /* what the target says of its plans */
  bool noted;          /* they have changed since it was written */
  eb_rates rates;      /* of the machine */
  char program[4096];  /* this very program */
  double seconds;      /* that its cases have taken */
} state;

/* ---- the plan in the target ------------------------------------------------------------------ */

/* How much of this shard is done, as the target is to have it. */
static eb_error note_progress(state *s) {
  const eb_plan *plan = s->session->plan;
  const eb_session_end *end = s->end;
  int64_t done = end->kept + end->run + end->found;
  int64_t wanted = eb_plan_size(plan);
  eb_sharding *own;
  EB_TRY(eb_shardings_of(&s->plans, plan->hash, plan->shards, plan->wanted, &own));
  s->noted = true;
  return eb_sharding_enter(own, plan->shard, wanted, done, s->session->command_line, true);
}

/* The last results, and a plan that is complete now; what was interrupted before there was any
 * result leaves nothing. */
static eb_error conclude(state *s) {
  const eb_session_end *end = s->end;
  bool any = end->kept + end->run + end->tried + end->found > 0;
  if (eb_plan_size(s->session->plan) > 0 && !any) return EB_OK;
  EB_TRY(eb_shardings_settle(&s->plans));
  return s->noted ? eb_staging_conclude(&s->staging) : eb_staging_merge(&s->staging);
}

/* ---- one case -------------------------------------------------------------------------------- */

/* The file that has a finished run, or NULL. An old target that is to be replaced has none. */
static eb_error file_with(const state *s, const char *id, char **out) {
  *out = NULL;
  EB_TRY(eb_string_format(out, "%s/%s.h5", s->staging.home, id));
  if (access(*out, F_OK) == 0) return EB_OK;
  free(*out);
  *out = NULL;
  bool there = !s->staging.replace && access(s->staging.target, F_OK) == 0;
  return there ? eb_string_set(out, s->staging.target) : EB_OK;
}

/* A machine without mpiexec runs the cases that need none: what is missing is the case's end. */
static bool take_for_end(eb_error error, eb_child_end *end) {
  if (!error || eb_error_kind(error) != EB_ERR_IO) return false;
  *end = (eb_child_end){.cause = EB_CHILD_NOT_STARTED};
  snprintf(end->words, sizeof end->words, "%s", eb_error_message(error));
  eb_error_free(error);
  return true;
}

/* Runs the process of a case to its end. Files are named from the root. */
static eb_error run_process(state *s, const eb_case *work, eb_progress_line *line,
                            eb_child_end *end) {
  const eb_origin *from = &work->from;
  char *output = NULL, *environment = NULL, *source_run = NULL;
  eb_strings argv = {0}, settings = {0};
  eb_limits limits = {
      .timeout = work->timeout, .memory = work->memory, .ranks = work->ranks > 1 ? work->ranks : 0};
  eb_error error = eb_string_format(&output, "%s/%s.tmp", s->staging.home, work->id);
  if (!error) error = eb_string_format(&environment, "%s/environment.h5", s->staging.home);
  if (!error && from->run)
    error =
        from->file ? eb_string_set(&source_run, from->file) : file_with(s, from->run, &source_run);
  if (!error) error = eb_environment_settings(work->threads, &settings);
  if (!error && work->ranks > 1) error = eb_launch_settings(&settings);
  if (!error) error = eb_case_arguments(work, s->program, environment, source_run, output, &argv);
  bool missing = take_for_end(error, end);
  if (missing) error = EB_OK;
  if (!error && !missing)
    error = eb_child_run(&argv, &settings, limits, &s->signals, eb_progress_line_show, line, end);
  eb_status_line_wipe(&line->status);
  eb_strings_clear(&argv);
  eb_strings_clear(&settings);
  free(output);
  free(environment);
  free(source_run);
  return error;
}

static uint64_t hash_of(const char *identity) {
  return eb_hash(EB_HASH_SEED, identity, strlen(identity));
}

/* What is unusual about the figures of a scene is told once, of the first of its cases. */
static eb_error tell_unusual(state *s, const eb_case *work, const char *words) {
  uint64_t scene = hash_of(work->scene->name);
  if (!*words || eb_hash_set_has(&s->unusual, scene)) return EB_OK;
  eb_print(stderr, "elastobench: %s: %s\n", work->scene->name, words);
  return eb_hash_set_add(&s->unusual, scene);
}

static eb_error write_environment(state *s) {
  return eb_environment_write(s->staging.environment, s->session->command_line, &s->rates);
}

/* What the process has removed of the folder that cases share is made anew for the next one. */
static eb_error mend_folder(state *s, eb_child_end *end) {
  EB_TRY(eb_staging_repair(&s->staging, &end->removed, &end->lost));
  return end->removed ? write_environment(s) : EB_OK;
}

/* Makes a result of what the process has left, tells how the case ended, and stages it. */
static eb_error finish_case(state *s, const eb_case *work, const eb_child_end *end,
                            const char *name, const char *raw, const char *finished) {
  eb_run run = {0};
  EB_TRY(tell_unusual(s, work, end->unusual));
  EB_TRY(eb_crash_record(work, end, s->staging.environment, raw, finished, &run));
  bool failed = strcmp(run.audit, "failed") == 0;
  eb_print(stderr, "%s: %s, %lld of %lld steps, %.2f s%s%s%s%s\n", name, run.outcome,
           (long long)run.steps_done, (long long)run.steps_wanted, run.total_seconds,
           *run.detail ? ": " : "", run.detail, failed ? "; audit failed: " : "",
           failed ? run.audit_detail : "");
  eb_run_clear(&run);
  s->seconds += end->seconds;
  s->end->run++;
  EB_TRY(note_progress(s));
  return eb_staging_add(&s->staging, finished);
}

/* How many cases there are behind this one, and how long they will take. */
static void foretell(const state *s, int number, int count, eb_progress_line *line) {
  line->cases_left = count - number;
  line->usual_seconds = s->end->run > 0 ? s->seconds / s->end->run : 0;
}

/* "[3/12] conjac2020/twist newton" with what tells the case from its neighbours; trials of sweeps
 * have no count. */
static eb_error run_case(state *s, const eb_case *work, int number, int count) {
  char of[16] = "", name[300], *raw = NULL, *finished = NULL;
  eb_child_end end;
  if (count > 0) snprintf(of, sizeof of, "/%d", count);
  snprintf(name, sizeof name, "[%s%d%s] %s%s%s %s%s%s r%d", count > 0 ? "" : "trial ", number, of,
           work->scene->name, work->parameters ? ":" : "", work->parameters ? work->parameters : "",
           work->solver->name, work->options ? ":" : "", work->options ? work->options : "",
           work->repetition);
  eb_error error = eb_string_format(&raw, "%s/%s.tmp", s->staging.folder, work->id);
  if (!error) error = eb_string_format(&finished, "%s/%s.h5", s->staging.folder, work->id);
  eb_progress_line line = eb_progress_line_of(name);
  if (count > 0) foretell(s, number, count, &line);
  if (!error) error = run_process(s, work, &line, &end);
  if (!error) error = mend_folder(s, &end);
  if (!error && end.cause != EB_CHILD_INTERRUPTED)
    error = finish_case(s, work, &end, name, raw, finished);
  if (raw) unlink(raw);
  free(raw);
  free(finished);
  return error;
}

static bool is_missing(const state *s, const eb_case *work) {
  return !eb_hash_set_has(&s->before, hash_of(work->identity));
}

/* Runs a case that is missing, unless another of the same work was run already. */
static eb_error run_missing_case(state *s, const eb_case *work, int *number, int missing) {
  uint64_t hash = hash_of(work->identity);
  int before = s->end->run;
  if (eb_hash_set_has(&s->before, hash)) return EB_OK;
  ++*number;
  if (eb_hash_set_has(&s->now, hash)) {
    s->end->kept++;
    return EB_OK;
  }
  EB_TRY(run_case(s, work, *number, missing));
  return s->end->run > before ? eb_hash_set_add(&s->now, hash) : EB_OK;
}

/* Of a grid: each case is made when it is its turn. */
static eb_error run_missing_points(state *s, const eb_product *grid, int *number, int missing) {
  int64_t count = eb_product_count(grid);
  for (int64_t i = 0; i < count && !eb_signals_pending(&s->signals); i++) {
    eb_case work;
    EB_TRY(eb_product_case(grid, i, &work));
    eb_error error = run_missing_case(s, &work, number, missing);
    eb_case_clear(&work);
    EB_TRY(error);
  }
  return EB_OK;
}

/* How many cases of a grid the target had before. */
static eb_error count_kept(const state *s, const eb_product *grid, int *kept) {
  int64_t count = s->before.count > 0 ? eb_product_count(grid) : 0;
  for (int64_t i = 0; i < count; i++) {
    eb_case work;
    EB_TRY(eb_product_case(grid, i, &work));
    *kept += !is_missing(s, &work);
    eb_case_clear(&work);
  }
  return EB_OK;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* The run of a finished case, in the file that now has it; *run is -1 when none has. The caller
 * closes *out. */
static eb_error open_run(const state *s, const eb_case *work, eb_results **out, int *run) {
  char *path = NULL;
  *out = NULL;
  *run = -1;
  eb_error error = file_with(s, work->id, &path);
  if (!error && path) error = eb_results_open(path, out);
  free(path);
  if (!error && *out) *run = eb_results_find(*out, work->identity);
  return error;
}

/* Takes a trial from what was run before, or runs it; *on is false when the user interrupted. */
static eb_error try_value(state *s, eb_search *bisection, const eb_case *work, int64_t place,
                          bool *on) {
  eb_results *results;
  int run;
  EB_TRY(open_run(s, work, &results, &run));
  if (run < 0) {
    eb_results_close(results);
    int before = s->end->run;
    EB_TRY(run_case(s, work, bisection->record.count + 1, 0));
    s->end->tried += s->end->run - before;
    s->end->run = before;
    EB_TRY(open_run(s, work, &results, &run));
  }
  *on = run >= 0;
  eb_error error = *on ? eb_search_note(bisection, place, results, run) : EB_OK;
  eb_results_close(results);
  return error;
}

/* Bisects until the threshold is found or the user interrupts; what is found is staged. */
static eb_error bisect(state *s, eb_search *bisection) {
  const eb_sweep_record *record = &bisection->record;
  bool on = true;
  for (int64_t place; on && (place = eb_search_next(bisection)) >= 0;) {
    eb_case work;
    if (eb_signals_pending(&s->signals)) return EB_OK;
    EB_TRY(eb_sweep_case(bisection->sweep, place, &work));
    eb_error error = try_value(s, bisection, &work, place, &on);
    eb_case_clear(&work);
    EB_TRY(error);
  }
  if (!on) return EB_OK;
  char *path = NULL;
  EB_TRY(eb_string_format(&path, "%s/sweep-%s.h5", s->staging.folder, record->name));
  eb_error error = eb_sweep_write(path, s->staging.environment, record);
  s->end->found += !error;
  if (!error) error = note_progress(s);
  if (!error) error = eb_staging_add(&s->staging, path);
  free(path);
  return error;
}

static eb_error is_found(const state *s, const eb_sweep *sweep, bool *out) {
  char *identity = NULL;
  eb_sweep_record record = {0};
  *out = false;
  if (!s->existing) return EB_OK;
  eb_error error = eb_sweep_identity(sweep, &identity);
  if (!error) error = eb_sweeps_find(s->existing, identity, out, &record);
  eb_sweep_record_clear(&record);
  free(identity);
  return error;
}

/* ---- the session ----------------------------------------------------------------------------- */

static eb_error open_existing(state *s) {
  bool or_overwrite = s->session->existing == EB_EXISTING_RESUME_OR_OVERWRITE;
  if (s->session->existing != EB_EXISTING_RESUME && !or_overwrite) return EB_OK;
  if (access(s->staging.target, F_OK) == 0)
    EB_TRY(eb_error_prefix(eb_sandbox_verify("results", s->staging.target, &s->signals),
                           "cannot resume; --overwrite replaces the file"));
  EB_TRY(eb_staging_resume(&s->staging, or_overwrite));
  if (s->staging.replace || access(s->staging.target, F_OK)) return EB_OK;
  EB_TRY(eb_results_open(s->staging.target, &s->existing));
  EB_TRY(eb_shardings_read(eb_results_file(s->existing), &s->plans));
  eb_shardings_forget(&s->plans, s->session->plan->hash);
  for (int i = 0; i < eb_results_count(s->existing); i++)
    EB_TRY(eb_hash_set_add(&s->before, hash_of(eb_results_run(s->existing, i)->identity)));
  for (int i = 0; i < s->session->plan->count; i++)
    s->end->kept += !is_missing(s, &s->session->plan->cases[i]);
  for (int i = 0; i < s->session->plan->grid_count; i++)
    EB_TRY(count_kept(s, &s->session->plan->grids[i], &s->end->kept));
  return EB_OK;
}

/* What the target lacks: first the cases, then the sweeps. */
static eb_error run_missing(state *s) {
  const eb_plan *plan = s->session->plan;
  int missing = s->end->wanted - s->end->kept, number = 0;
  for (int i = 0; i < plan->count && !eb_signals_pending(&s->signals); i++)
    EB_TRY(run_missing_case(s, &plan->cases[i], &number, missing));
  for (int i = 0; i < plan->grid_count && !eb_signals_pending(&s->signals); i++)
    EB_TRY(run_missing_points(s, &plan->grids[i], &number, missing));
  for (int i = 0; i < plan->sweep_count && !eb_signals_pending(&s->signals); i++) {
    eb_search bisection = {0};
    bool found;
    EB_TRY(is_found(s, &plan->sweeps[i], &found));
    s->end->found += found;
    if (found) continue;
    eb_error error = eb_search_begin(&plan->sweeps[i], &bisection);
    if (!error) error = bisect(s, &bisection);
    eb_sweep_record_clear(&bisection.record);
    EB_TRY(error);
  }
  return EB_OK;
}

/* A target that has all, but does not say so: it was ended between its last result and the end, or
 * is of another request. */
static eb_error note_complete(state *s) {
  const eb_plan *plan = s->session->plan;
  for (int i = 0; i < s->plans.count; i++)
    if (s->plans.items[i].plan == plan->hash && eb_sharding_complete(&s->plans.items[i]))
      return EB_OK;
  EB_TRY(note_progress(s));
  return conclude(s);
}

static eb_error run_all(state *s) {
  const eb_plan *plan = s->session->plan;
  ssize_t length = readlink("/proc/self/exe", s->program, sizeof s->program - 1);
  if (length < 0) return EB_ERROR(EB_ERR_IO, "cannot find my own program at /proc/self/exe");
  s->program[length] = '\0';
  EB_TRY(write_environment(s));
  EB_TRY(open_existing(s));
  s->staging.plans = &s->plans;
  bool complete = s->end->kept == s->end->wanted;
  for (int i = 0; i < plan->sweep_count && complete; i++)
    EB_TRY(is_found(s, &plan->sweeps[i], &complete));
  if (complete && s->existing) {
    s->end->found = plan->sweep_count;
    return note_complete(s);
  }
  /* The rates are measured only when something is to run, and after the old results were found
   * comparable. */
  EB_TRY(eb_rates_measure(s->program, &s->signals, &s->rates));
  EB_TRY(write_environment(s));
  eb_error error = note_progress(s);
  if (!error) error = run_missing(s);
  /* What is finished is kept whatever went wrong later. */
  eb_error merging = conclude(s);
  s->end->interrupted = eb_signals_pending(&s->signals);
  if (!error) return merging;
  eb_error_free(merging);
  return error;
}

eb_error eb_session_run(const eb_session *session, eb_session_end *end) {
  state s = {.session = session, .end = end, .signals = {.fd = -1}, .staging = {0}};
  *end = (eb_session_end){.wanted = (int)eb_plan_size(session->plan) - session->plan->sweep_count};
  eb_error error = eb_signals_open(&s.signals);
  if (!error) error = eb_staging_open(session->target, session->existing, &s.staging);
  if (!error) error = run_all(&s);
  eb_results_close(s.existing);
  eb_shardings_clear(&s.plans);
  eb_hash_set_clear(&s.before);
  eb_hash_set_clear(&s.now);
  eb_hash_set_clear(&s.unusual);
  eb_staging_close(&s.staging);
  eb_signals_close(&s.signals);
  return error;
}
