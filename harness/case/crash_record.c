#include "harness/case/crash_record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/audit/rules.h"
#include "harness/case/trial.h"
#include "harness/results/read.h"
#include "harness/results/write.h"
#include "problems/base/text.h"

/* ---- the cause ------------------------------------------------------------------------------- */

static bool near_limit(const eb_case *work, const eb_child_end *end) {
  static const double share = 0.9;
  return work->memory > 0 && end->peak_memory > share * work->memory;
}

/* Where it was: "in step 3". */
static void place(const eb_child_end *end, char *out, size_t bytes) {
  static const char *const names[] = {[EB_STAGE_START] = "before it began",
                                      [EB_STAGE_SCENE] = "while building the scene",
                                      [EB_STAGE_SETUP] = "in the set-up of the solver",
                                      [EB_STAGE_STEPS] = "in step",
                                      [EB_STAGE_CLOSING] = "while writing its result",
                                      [EB_STAGE_WRITTEN] = "after its result was written"};
  if (end->stage == EB_STAGE_STEPS)
    snprintf(out, bytes, "%s %lld", names[end->stage], (long long)end->step + 1);
  else
    snprintf(out, bytes, "%s", names[end->stage]);
}

/* It was at work and says that it could not write its own result. */
static bool gave_up(const eb_child_end *end) {
  return end->cause == EB_CHILD_EXITED && end->status == EB_EXIT_HARNESS;
}

/* What people and batch systems send to end a process; the harness sends SIGKILL only. */
static bool from_outside(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

static eb_outcome cause(const eb_case *work, const eb_child_end *end, char *out, size_t bytes) {
  static const double megabytes = 1e-6;
  char where[48];
  place(end, where, sizeof where);
  switch (end->cause) {
  case EB_CHILD_TIMED_OUT:
    snprintf(out, bytes, "time limit of %g s reached %s, which did not end", work->timeout, where);
    return EB_OUTCOME_TIMED_OUT;
  case EB_CHILD_OVER_MEMORY:
    snprintf(out, bytes, "memory limit of %.0f MB passed (%.0f MB) %s", megabytes * work->memory,
             megabytes * end->peak_memory, where);
    return EB_OUTCOME_OUT_OF_MEMORY;
  case EB_CHILD_SIGNALED:
    snprintf(out, bytes, "ended by signal %d (%s)%s %s, with %.0f MB%s", end->status,
             strsignal(end->status), from_outside(end->status) ? " from outside" : "", where,
             megabytes * end->peak_memory,
             end->status == SIGKILL ? "; perhaps by the kernel, for lack of memory" : "");
    return near_limit(work, end) ? EB_OUTCOME_OUT_OF_MEMORY : EB_OUTCOME_CRASHED;
  case EB_CHILD_LINGERED:
    snprintf(out, bytes, "the process did not end by itself %s", where);
    return EB_OUTCOME_CRASHED;
  case EB_CHILD_EXITED:
  case EB_CHILD_INTERRUPTED:
    break;
  }
  if (gave_up(end)) {
    snprintf(out, bytes, "the result could not be recorded %s: %s", where, end->words);
    return end->trouble == EB_ERR_MEMORY || near_limit(work, end) ? EB_OUTCOME_OUT_OF_MEMORY
                                                                  : EB_OUTCOME_CRASHED;
  }
  snprintf(out, bytes, "the process ended itself with status %d %s", end->status, where);
  return EB_OUTCOME_CRASHED;
}

/* The last line that is not empty. */
static void last_line(const char *text, char *out, size_t bytes) {
  const char *end = text + strlen(text);
  while (end > text && end[-1] == '\n') end--;
  const char *start = end;
  while (start > text && start[-1] != '\n') start--;
  snprintf(out, bytes, "%.*s", (int)(end - start), start);
}

static eb_error append(char **field, const char *separator, const char *words) {
  eb_text text = {0};
  const char *before = *field ? *field : "";
  eb_error error = eb_text_printf(&text, "%s%s%s", before, *before ? separator : "", words);
  if (!error) error = eb_run_set(field, text.data);
  eb_text_clear(&text);
  return error;
}

static eb_error break_process_rule(const char *words, eb_run *run) {
  const char *rule = eb_rule_name(EB_RULE_PROCESS);
  run->audit_failures++;
  EB_TRY(append(&run->audit_detail, "; ", words));
  if (!strstr(run->audit_rules, rule)) EB_TRY(append(&run->audit_rules, ",", rule));
  return eb_run_set(&run->audit, "failed");
}

/* Processes that outlive their case break the rule of the process. */
static eb_error mention_left(const eb_child_end *end, eb_run *run) {
  char words[80];
  if (end->left == 0) return EB_OK;
  snprintf(words, sizeof words, "left %d process%s running: ended", end->left,
           end->left == 1 ? "" : "es");
  EB_TRY(append(&run->detail, "; ", words));
  return break_process_rule(words, run);
}

/* A step that closed the descriptors has kept its verdict from the file. */
static eb_error mention_harm(const eb_child_end *end, eb_run *run) {
  if (!end->harmed || strstr(run->audit_rules, eb_rule_name(EB_RULE_PROCESS))) return EB_OK;
  return break_process_rule(end->words, run);
}

static eb_error fill_cause(const eb_case *work, const eb_child_end *end, eb_run *run) {
  char detail[600], line[200];
  eb_outcome outcome = cause(work, end, detail, sizeof detail);
  last_line(end->output, line, sizeof line);
  if (*line && !gave_up(end)) { /* its words are in the cause */
    size_t used = strlen(detail);
    snprintf(detail + used, sizeof detail - used, "; its last words: %s", line);
  }
  run->peak_rss = end->peak_memory;
  run->total_seconds = end->seconds;
  if (end->cause == EB_CHILD_TIMED_OUT && end->stage == EB_STAGE_STEPS)
    run->cut_step_seconds = end->step_seconds;
  EB_TRY(eb_run_set(&run->outcome, eb_outcome_name(outcome)));
  EB_TRY(eb_run_set(&run->detail, detail));
  return eb_run_set(&run->output, end->output);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The attributes of the one run in a file that opens as a result; false when it does not. */
static bool read_raw(const char *raw, eb_run *run) {
  eb_results *results;
  if (access(raw, R_OK)) return false;
  eb_error error = eb_results_open(raw, &results);
  if (error) {
    eb_error_free(error);
    return false;
  }
  bool good = eb_results_count(results) == 1;
  double *steps;
  size_t count = 0;
  if (good) error = eb_results_steps(results, 0, EB_COL_STEP, &steps, &count);
  if (good && !error) {
    free(steps);
    error = eb_run_copy(eb_results_run(results, 0), run);
  }
  if (good && !error) run->steps_done = (int64_t)count;
  good = good && !error;
  eb_error_free(error);
  eb_results_close(results);
  return good;
}

static eb_error rewrite(const char *raw, const eb_run *run) {
  hid_t file;
  char path[300];
  EB_TRY(eb_h5_open_file(raw, true, &file));
  snprintf(path, sizeof path, "runs/%s", run->id);
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  eb_error error = group < 0 ? eb_h5_error("cannot open", path) : eb_run_write(group, run);
  if (group >= 0) H5Gclose(group);
  eb_error closing = eb_h5_close_file(file, raw);
  if (!error) return closing;
  eb_error_free(closing);
  return error;
}

static eb_error write_record(const char *environment, const char *raw, const eb_run *run) {
  hid_t file;
  eb_recorder *recorder = NULL;
  EB_TRY(eb_h5_open_file(environment, false, &file));
  hid_t group = H5Gopen2(file, "environment", H5P_DEFAULT);
  eb_error error = eb_recorder_create(raw, group, run, NULL, &recorder);
  if (!error) error = eb_recorder_finish(recorder, run);
  eb_recorder_destroy(recorder);
  if (group >= 0) H5Gclose(group);
  H5Fclose(file);
  return error;
}

static eb_error record_cause(const eb_case *work, const eb_child_end *end, bool spoiled,
                             const char *environment, const char *raw, eb_run *run) {
  bool readable = read_raw(raw, run);
  if (!readable) EB_TRY(eb_case_describe(work, run));
  EB_TRY(fill_cause(work, end, run));
  if (spoiled) EB_TRY(append(&run->detail, "; ", "its result file cannot be read"));
  EB_TRY(mention_harm(end, run));
  EB_TRY(mention_left(end, run));
  return readable ? rewrite(raw, run) : write_record(environment, raw, run);
}

static bool is_finished(const char *raw, eb_run *run) {
  if (!read_raw(raw, run)) return false;
  if (eb_outcome_find(run->outcome) != EB_OUTCOME_UNFINISHED) return true;
  eb_run_clear(run);
  return false;
}

/* Whether the folder of the file takes as much as the file holds, and a megabyte at least. If it
 * does not, that is no fault of the solver's and would befall every case after this one. */
static eb_error check_folder(const char *raw, const char *words) {
  static const off_t least = 1 << 20;
  struct stat info;
  eb_text path = {0};
  off_t bytes = stat(raw, &info) == 0 && info.st_size > least ? info.st_size : least;
  EB_TRY(eb_text_printf(&path, "%s.new", raw));
  int file = open(path.data, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  int failure = file < 0 ? errno : posix_fallocate(file, 0, bytes);
  if (file >= 0) close(file);
  unlink(path.data);
  eb_text_clear(&path);
  if (!failure) return EB_OK;
  return EB_ERROR(EB_ERR_IO, "%s (%s)", words, strerror(failure));
}

/* Sanitizers tell of what they found by the status, also at the very end. */
static bool is_strict(void) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  return true;
#else
  return false;
#endif
}

/* Once its result was written, how a process ends says nothing of the result. */
static bool may_be_finished(const eb_child_end *end) {
  return end->exited_zero || (end->stage == EB_STAGE_WRITTEN && !is_strict());
}

/* What became of the process after a good result: nothing to spoil it, but to be told. */
static eb_error mention_end(const eb_case *work, const eb_child_end *end, eb_run *run) {
  char words[600];
  if (end->exited_zero) return EB_OK;
  (void)cause(work, end, words, sizeof words);
  return append(&run->detail, "; ", words);
}

static eb_error finish_record(const eb_case *work, const eb_child_end *end, const char *raw,
                              eb_run *run) {
  if (end->exited_zero && end->left == 0 && !*end->output) return EB_OK;
  EB_TRY(mention_end(work, end, run));
  EB_TRY(mention_left(end, run));
  EB_TRY(eb_run_set(&run->output, end->output));
  return rewrite(raw, run);
}

static eb_error make_part(const eb_case *work, const eb_child_end *end, const char *environment,
                          const char *raw, const char *part, eb_run *run) {
  if (gave_up(end)) EB_TRY(check_folder(raw, *end->words ? end->words : end->output));
  bool spoiled = access(raw, F_OK) == 0 && !eb_trial_read(raw);
  if (spoiled) unlink(raw);
  if (may_be_finished(end) && is_finished(raw, run))
    EB_TRY(finish_record(work, end, raw, run));
  else
    EB_TRY(record_cause(work, end, spoiled, environment, raw, run));
  if (rename(raw, part))
    return EB_ERROR(EB_ERR_IO, "cannot rename '%s' to '%s': %s", raw, part, strerror(errno));
  return EB_OK;
}

eb_error eb_crash_record(const eb_case *work, const eb_child_end *end, const char *environment,
                         const char *raw, const char *part, eb_run *run) {
  *run = (eb_run){0};
  eb_error error = make_part(work, end, environment, raw, part, run);
  if (error) eb_run_clear(run);
  return error;
}
