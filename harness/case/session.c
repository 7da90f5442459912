#include "harness/case/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/case/child.h"
#include "harness/case/progress.h"
#include "harness/case/rates.h"
#include "harness/case/crash_record.h"
#include "harness/case/search.h"
#include "harness/case/vouch.h"
#include "harness/environment.h"
#include "harness/results/write.h"

/* What the steps of a session share. */
typedef struct state {
  const eb_session *session;
  eb_session_end *end;
  eb_parts parts;
  eb_signals signals;
  eb_results *existing; /* the target before, or NULL */
  char program[4096];   /* this very program */
} state;

static eb_error find_program(state *s) {
  ssize_t length = readlink("/proc/self/exe", s->program, sizeof s->program - 1);
  if (length < 0) return EB_ERROR(EB_ERR_IO, "cannot find my own program at /proc/self/exe");
  s->program[length] = '\0';
  return EB_OK;
}

/* ---- one case -------------------------------------------------------------------------------- */

/* The file that has a finished run, or NULL. An old target that is to be replaced has none. */
static eb_error file_with(const state *s, const char *id, char **out) {
  EB_TRY(eb_parts_absolute_path(&s->parts, id, ".h5", out));
  if (access(*out, F_OK) == 0) return EB_OK;
  free(*out);
  *out = NULL;
  bool there = !s->parts.replace && access(s->parts.target, F_OK) == 0;
  return there ? eb_run_set(out, s->parts.target) : EB_OK;
}

static eb_error donor_file(const state *s, const eb_origin *from, char **out) {
  if (!from->run) return EB_OK;
  return from->file ? eb_run_set(out, from->file) : file_with(s, from->run, out);
}

static eb_error case_arguments(const state *s, const eb_case *work, eb_strings *out) {
  char *output = NULL, *environment = NULL, *donor = NULL;
  eb_error error = eb_parts_absolute_path(&s->parts, work->id, ".tmp", &output);
  if (!error) error = eb_parts_absolute_path(&s->parts, "environment", ".h5", &environment);
  if (!error) error = donor_file(s, &work->from, &donor);
  if (!error) error = eb_case_arguments(work, s->program, environment, donor, output, out);
  free(output);
  free(environment);
  free(donor);
  return error;
}

static eb_error start_case(state *s, const eb_case *work, const char *name, eb_child_end *end) {
  eb_strings argv = {0}, settings = {0};
  eb_limits limits = {.timeout = work->timeout, .memory = work->memory};
  eb_progress_line line;
  eb_error error = case_arguments(s, work, &argv);
  if (!error) error = eb_environment_settings(work->threads, &settings);
  eb_progress_begin(&line, name);
  if (!error)
    error = eb_child_run(&argv, &settings, limits, &s->signals, eb_progress_show, &line, end);
  eb_progress_end(&line);
  eb_strings_clear(&argv);
  eb_strings_clear(&settings);
  return error;
}

static eb_error finish_case(state *s, const eb_case *work, const eb_child_end *end,
                            const char *name, const char *raw, const char *part) {
  eb_run run = {0};
  EB_TRY(eb_crash_record(work, end, s->parts.environment, raw, part, &run));
  eb_progress_result(name, &run);
  eb_run_clear(&run);
  s->end->run++;
  return eb_parts_add(&s->parts, part);
}

static eb_error run_case(state *s, const eb_case *work, int number, int count) {
  char name[300], *raw = NULL, *part = NULL;
  eb_child_end end;
  eb_progress_name(work, number, count, name, sizeof name);
  eb_error error = eb_parts_path(&s->parts, work->id, ".tmp", &raw);
  if (!error) error = eb_parts_path(&s->parts, work->id, ".h5", &part);
  if (!error) error = start_case(s, work, name, &end);
  if (!error && end.cause != EB_CHILD_INTERRUPTED)
    error = finish_case(s, work, &end, name, raw, part);
  if (raw) unlink(raw);
  free(raw);
  free(part);
  return error;
}

/* ---- all cases ------------------------------------------------------------------------------- */

static bool is_missing(const state *s, const eb_case *work) {
  return !s->existing || eb_results_find(s->existing, work->identity) < 0;
}

static eb_error run_missing(state *s) {
  const eb_plan *plan = s->session->plan;
  int missing = plan->count - s->end->kept, number = 0;
  for (int i = 0; i < plan->count; i++) {
    if (!is_missing(s, &plan->cases[i])) continue;
    if (eb_signals_pending(&s->signals)) break;
    EB_TRY(run_case(s, &plan->cases[i], ++number, missing));
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
static eb_error try_value(state *s, eb_search *search, const eb_case *work, int64_t place,
                          bool *on) {
  eb_results *results;
  int run;
  EB_TRY(open_run(s, work, &results, &run));
  if (run < 0) {
    eb_results_close(results);
    int before = s->end->run;
    EB_TRY(run_case(s, work, search->record.count + 1, 0));
    s->end->tried += s->end->run - before;
    s->end->run = before;
    EB_TRY(open_run(s, work, &results, &run));
  }
  *on = run >= 0;
  eb_error error = *on ? eb_search_note(search, place, results, run) : EB_OK;
  eb_results_close(results);
  return error;
}

static eb_error keep_found(state *s, const eb_sweep_record *record) {
  char *path = NULL;
  eb_text id = {0};
  eb_error error = eb_text_printf(&id, "sweep-%s", record->name);
  if (!error) error = eb_parts_path(&s->parts, id.data, ".h5", &path);
  if (!error) error = eb_sweep_write(path, s->parts.environment, record);
  if (!error) error = eb_parts_add(&s->parts, path);
  s->end->found += !error;
  eb_text_clear(&id);
  free(path);
  return error;
}

static eb_error search_all(state *s, eb_search *search) {
  bool on = true;
  for (int64_t place; on && (place = eb_search_next(search)) >= 0;) {
    eb_case work;
    if (eb_signals_pending(&s->signals)) return EB_OK;
    EB_TRY(eb_sweep_case(search->sweep, place, &work));
    eb_error error = try_value(s, search, &work, place, &on);
    eb_case_clear(&work);
    EB_TRY(error);
  }
  return on ? keep_found(s, &search->record) : EB_OK;
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

static eb_error run_sweeps(state *s) {
  const eb_plan *plan = s->session->plan;
  for (int i = 0; i < plan->sweep_count; i++) {
    eb_search search = {0};
    bool found;
    if (eb_signals_pending(&s->signals)) break;
    EB_TRY(is_found(s, &plan->sweeps[i], &found));
    if (found) {
      s->end->found++;
      continue;
    }
    eb_error error = eb_search_begin(&plan->sweeps[i], &search);
    if (!error) error = search_all(s, &search);
    eb_search_clear(&search);
    EB_TRY(error);
  }
  return EB_OK;
}

static eb_error has_all(const state *s, bool *out) {
  const eb_plan *plan = s->session->plan;
  *out = s->end->kept == plan->count;
  for (int i = 0; i < plan->sweep_count && *out; i++) EB_TRY(is_found(s, &plan->sweeps[i], out));
  if (*out) s->end->found = plan->sweep_count;
  return EB_OK;
}

/* ---- the session ----------------------------------------------------------------------------- */

static eb_error open_existing(state *s) {
  bool or_overwrite = s->session->existing == EB_EXISTING_RESUME_OR_OVERWRITE;
  if (s->session->existing != EB_EXISTING_RESUME && !or_overwrite) return EB_OK;
  if (access(s->parts.target, F_OK) == 0)
    EB_TRY(eb_error_prefix(eb_vouch_results(s->parts.target, &s->signals),
                           "cannot resume; --overwrite replaces the file"));
  EB_TRY(eb_parts_resume(&s->parts, or_overwrite));
  if (s->parts.replace || access(s->parts.target, F_OK)) return EB_OK;
  EB_TRY(eb_results_open(s->parts.target, &s->existing));
  for (int i = 0; i < s->session->plan->count; i++)
    s->end->kept += !is_missing(s, &s->session->plan->cases[i]);
  return EB_OK;
}

/* The rates are measured only when something is to run, and after the old results were found
 * comparable. */
static eb_error write_environment(state *s, bool measured) {
  eb_rates rates = {0};
  if (measured) EB_TRY(eb_rates_measure(s->program, &s->signals, &rates));
  return eb_environment_write(s->parts.environment, s->session->command_line, &rates);
}

static eb_error run_all(state *s) {
  EB_TRY(find_program(s));
  EB_TRY(write_environment(s, false));
  EB_TRY(open_existing(s));
  bool complete;
  EB_TRY(has_all(s, &complete));
  if (complete) return EB_OK;
  EB_TRY(write_environment(s, true));
  eb_error error = run_missing(s);
  if (!error) error = run_sweeps(s);
  /* What is finished is kept whatever went wrong later. */
  eb_error merging = eb_parts_merge(&s->parts);
  s->end->interrupted = eb_signals_pending(&s->signals);
  if (!error) return merging;
  eb_error_free(merging);
  return error;
}

eb_error eb_session_run(const eb_session *session, eb_session_end *end) {
  state s = {.session = session, .end = end, .signals = {.fd = -1}, .parts = {.lock = -1}};
  *end = (eb_session_end){.wanted = session->plan->count};
  eb_error error = eb_signals_open(&s.signals);
  if (!error) error = eb_parts_open(session->target, session->existing, &s.parts);
  if (!error) error = run_all(&s);
  eb_results_close(s.existing);
  eb_parts_close(&s.parts);
  eb_signals_close(&s.signals);
  return error;
}
