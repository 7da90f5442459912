#include "harness/case/crash_record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/audit/rules.h"
#include "harness/case/launch.h"
#include "harness/case/sandbox.h"
#include "harness/results/read.h"
#include "harness/results/write.h"
#include "problems/base/strings.h"
#include "problems/base/sanitizer.h"

/* ---- the cause ------------------------------------------------------------------------------- */

/* It was at work and says that it could not write its own result. */
static bool gave_up(const eb_child_end *end) {
  return end->cause == EB_CHILD_EXITED && end->status == EB_EXIT_HARNESS;
}

/* What people and batch systems send to end a process; the harness sends SIGKILL only. */
static const char *origin_of(int signal) {
  bool from_outside =
      signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
  return from_outside ? " from outside" : "";
}

static void tell_signal(const eb_child_end *end, const char *who, int signal, const char *where,
                        char *out, size_t bytes) {
  static const double megabytes = 1e-6;
  snprintf(out, bytes, "%sended by signal %d (%s)%s %s, with %.0f MB%s", who, signal,
           strsignal(signal), origin_of(signal), where, megabytes * end->peak_memory,
           signal == SIGKILL ? "; perhaps by the kernel, for lack of memory" : "");
}

/* The kernel sends SIGXCPU at the soft limit of processor time and SIGKILL at the hard one, which
 * `ulimit -t` sets both. A case has the limits of this process. */
static bool is_out_of_cpu(const eb_child_end *end, double *limit) {
  static const double early =
      0.8; /* the kernel samples: where others are busy it is early by 5 % */
  struct rlimit cpu;
  if ((end->status != SIGXCPU && end->status != SIGKILL) || getrlimit(RLIMIT_CPU, &cpu) ||
      cpu.rlim_cur == RLIM_INFINITY)
    return false;
  *limit = (double)cpu.rlim_cur;
  return end->status == SIGXCPU || end->cpu >= early * *limit;
}

/* Of ranks, by what has started them; false when it says nothing of a rank. */
static bool blame_rank(const eb_case *work, const eb_child_end *end, const char *where, char *out,
                       size_t bytes) {
  eb_rank_end blame;
  char who[64];
  if (work->ranks < 2 || !eb_launch_find_end(end->output, &blame) ||
      (!blame.signal && blame.status == EB_EXIT_HARNESS))
    return false;
  snprintf(who, sizeof who, "rank %d of %d ", blame.rank, work->ranks);
  if (blame.signal) {
    strcat(who, "was ");
    tell_signal(end, who, blame.signal, where, out, bytes);
  } else {
    snprintf(out, bytes, "%sended itself with status %d %s", who, blame.status, where);
  }
  return true;
}

static eb_outcome cause(const eb_case *work, const eb_child_end *end, char *out, size_t bytes) {
  static const double megabytes = 1e-6, near = 0.9;
  static const char *const places[] = {[EB_STAGE_START] = "before it began",
                                       [EB_STAGE_SCENE] = "while building the scene",
                                       [EB_STAGE_SETUP] = "in the set-up of the solver",
                                       [EB_STAGE_STEPS] = "in step",
                                       [EB_STAGE_CLOSING] = "while writing its result",
                                       [EB_STAGE_WRITTEN] = "after its result was written"};
  double limit;
  bool near_limit = work->memory > 0 && end->peak_memory > near * work->memory;
  char where[48];
  int used = snprintf(where, sizeof where, "%s", places[end->stage]);
  if (end->stage == EB_STAGE_STEPS)
    snprintf(where + used, sizeof where - (size_t)used, " %lld", (long long)end->step + 1);
  switch (end->cause) {
  case EB_CHILD_TIMED_OUT:
    snprintf(out, bytes, "time limit of %g s reached %s, which did not end", work->timeout, where);
    return EB_OUTCOME_TIMED_OUT;
  case EB_CHILD_OVER_MEMORY:
    snprintf(out, bytes, "memory limit of %.0f MB passed (%.0f MB) %s", megabytes * work->memory,
             megabytes * end->peak_memory, where);
    return EB_OUTCOME_OUT_OF_MEMORY;
  case EB_CHILD_SIGNALED:
    if (is_out_of_cpu(end, &limit)) {
      snprintf(out, bytes, "limit of %g s of processor time (ulimit -t) reached %s", limit, where);
      return EB_OUTCOME_TIMED_OUT;
    }
    tell_signal(end, "", end->status, where, out, bytes);
    return near_limit ? EB_OUTCOME_OUT_OF_MEMORY : EB_OUTCOME_CRASHED;
  case EB_CHILD_LINGERED:
    snprintf(out, bytes, "the process did not end by itself %s", where);
    return EB_OUTCOME_CRASHED;
  case EB_CHILD_NOT_STARTED:
    snprintf(out, bytes, "%s", end->words);
    return EB_OUTCOME_FAILED;
  case EB_CHILD_EXITED:
  case EB_CHILD_INTERRUPTED:
    break;
  }
  if (blame_rank(work, end, where, out, bytes))
    return near_limit ? EB_OUTCOME_OUT_OF_MEMORY : EB_OUTCOME_CRASHED;
  if (gave_up(end)) {
    snprintf(out, bytes, "the result could not be recorded %s: %s", where, end->words);
    return end->trouble == EB_ERR_MEMORY || near_limit ? EB_OUTCOME_OUT_OF_MEMORY
                                                       : EB_OUTCOME_CRASHED;
  }
  snprintf(out, bytes, "the process ended itself with status %d %s", end->status, where);
  return EB_OUTCOME_CRASHED;
}

static eb_error append(char **field, const char *separator, const char *words) {
  const char *before = *field ? *field : "";
  return eb_string_format(field, "%s%s%s", before, *before ? separator : "", words);
}

static eb_error break_process_rule(const char *words, eb_run *run) {
  const char *rule = eb_rule_name(EB_RULE_PROCESS);
  run->audit_failures++;
  EB_TRY(append(&run->audit_detail, "; ", words));
  if (!strstr(run->audit_rules, rule)) EB_TRY(append(&run->audit_rules, ",", rule));
  return eb_string_set(&run->audit, "failed");
}

static eb_error mention(const char *words, eb_run *run) {
  if (run->detail && strstr(run->detail, words)) return EB_OK;
  EB_TRY(append(&run->detail, "; ", words));
  return break_process_rule(words, run);
}

/* What the parent alone has seen of a process that breaks the rule of the process. */
static eb_error mention_harm(const eb_child_end *end, eb_run *run) {
  char words[120];
  if (end->overwritten) EB_TRY(mention(EB_PAGE_OVERWRITTEN, run));
  if (end->sent > 0) {
    snprintf(words, sizeof words, "has sent signal %d (%s) to the harness", end->sent,
             strsignal(end->sent));
    EB_TRY(mention(words, run));
  }
  if (end->removed) {
    int used = snprintf(words, sizeof words, "has removed files of the run");
    if (end->lost > 0)
      snprintf(words + used, sizeof words - (size_t)used,
               ", %d finished result%s among them, which --resume makes again", end->lost,
               end->lost == 1 ? "" : "s");
    EB_TRY(mention(words, run));
  }
  if (end->left == 0) return EB_OK;
  snprintf(words, sizeof words, "left %d process%s running: ended", end->left,
           end->left == 1 ? "" : "es");
  return mention(words, run);
}

static bool is_harm(const eb_child_end *end) {
  return end->overwritten || end->removed || end->sent > 0 || end->left > 0;
}

/* It has taken its time for over, which is the parent's to say. */
static bool is_hurried(const eb_child_end *end, const eb_run *run) {
  return eb_outcome_find(run->outcome) == EB_OUTCOME_TIMED_OUT && end->cause != EB_CHILD_TIMED_OUT;
}

static eb_error fill_cause(const eb_case *work, const eb_child_end *end, bool spoiled,
                           eb_run *run) {
  char detail[600];
  eb_outcome outcome = cause(work, end, detail, sizeof detail);
  /* The last line that is not empty; of a process that gave up its words are in the cause. */
  const char *behind = end->output + strlen(end->output);
  if (work->ranks > 1) behind = end->output + eb_launch_words_before(end->output);
  while (behind > end->output && behind[-1] == '\n') behind--;
  const char *line = behind;
  while (line > end->output && line[-1] != '\n') line--;
  if (behind > line && !gave_up(end)) {
    enum { LONGEST = 199 };
    int length = behind - line < LONGEST ? (int)(behind - line) : LONGEST;
    size_t used = strlen(detail);
    snprintf(detail + used, sizeof detail - used, "; its last words: %.*s", length, line);
  }
  run->peak_rss = end->peak_memory;
  run->total_seconds = end->seconds;
  if (end->cause == EB_CHILD_TIMED_OUT && end->stage == EB_STAGE_STEPS)
    run->cut_step_seconds = end->step_seconds;
  EB_TRY(eb_string_set(&run->outcome, eb_outcome_name(outcome)));
  EB_TRY(eb_string_set(&run->detail, detail));
  EB_TRY(eb_string_set(&run->output, end->output));
  if (spoiled) EB_TRY(append(&run->detail, "; ", "its result file cannot be read"));
  /* A step that closed the descriptors has kept its verdict from the file. */
  if (end->harmed && !strstr(run->audit_rules, eb_rule_name(EB_RULE_PROCESS)))
    EB_TRY(break_process_rule(end->words, run));
  return mention_harm(end, run);
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
  double *steps = NULL;
  size_t count = 0;
  bool good = eb_results_count(results) == 1;
  if (good) error = eb_results_steps(results, 0, EB_COL_STEP, &steps, &count);
  if (good && !error) {
    free(steps);
    error = eb_run_copy(eb_results_run(results, 0), run);
  }
  good = good && !error;
  if (good) run->steps_done = (int64_t)count;
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

/* A file of the run's attributes alone. */
static eb_error write_record(const eb_case *work, const char *environment, const char *raw,
                             const eb_run *run) {
  hid_t file;
  eb_recorder *recorder = NULL;
  EB_TRY(eb_h5_open_file(environment, false, &file));
  hid_t group = H5Gopen2(file, "environment", H5P_DEFAULT);
  eb_error error = eb_recorder_create(raw, group, run, NULL, &recorder);
  if (!error) error = eb_recorder_scene_text(recorder, work->scene);
  if (!error) error = eb_recorder_finish(recorder, run);
  eb_recorder_destroy(recorder);
  if (group >= 0) H5Gclose(group);
  H5Fclose(file);
  return error;
}

/* Whether the folder of the file takes as much as the file holds, and a megabyte at least. If it
 * does not, that is no fault of the solver's and would befall every case after this one. */
static eb_error check_folder(const char *raw, const char *words) {
  static const off_t least = 1 << 20;
  struct stat info;
  char *path;
  int file;
  off_t bytes = stat(raw, &info) == 0 && info.st_size > least ? info.st_size : least;
  eb_error refused = eb_file_beside(raw, &path, &file);
  if (refused) return eb_error_prefix(refused, "%s", words);
  int failure = posix_fallocate(file, 0, bytes);
  close(file);
  unlink(path);
  free(path);
  if (!failure) return EB_OK;
  if (strstr(words, strerror(failure))) return EB_ERROR(EB_ERR_IO, "%s", words);
  return EB_ERROR(EB_ERR_IO, "%s (%s)", words, strerror(failure));
}

/* Sanitizers tell of what they found by the status, also at the very end. */
#if EB_SANITIZER
static const bool status_counts = true;
#else
static const bool status_counts = false;
#endif

static eb_error make_result(const eb_case *work, const eb_child_end *end, const char *environment,
                            const char *raw, const char *finished, eb_run *run) {
  if (gave_up(end)) EB_TRY(check_folder(raw, *end->words ? end->words : end->output));
  /* A pipe or a link in its place is not even opened. */
  struct stat info;
  bool spoiled = lstat(raw, &info) == 0 && !(S_ISREG(info.st_mode) && eb_sandbox_reads(raw));
  if (spoiled && remove(raw))
    return EB_ERROR(EB_ERR_IO, "cannot remove '%s': %s", raw, strerror(errno));
  bool readable = read_raw(raw, run);
  /* Once its result was written, how a process ends says nothing of the result. */
  bool complete = readable &&
                  (end->exited_zero || (end->stage == EB_STAGE_WRITTEN && !status_counts)) &&
                  eb_outcome_find(run->outcome) != EB_OUTCOME_UNFINISHED;
  if (!complete) {
    if (!readable) EB_TRY(eb_case_describe(work, run));
    EB_TRY(fill_cause(work, end, spoiled, run));
    EB_TRY(readable ? rewrite(raw, run) : write_record(work, environment, raw, run));
  } else if (is_hurried(end, run)) {
    EB_TRY(eb_string_set(&run->outcome, eb_outcome_name(EB_OUTCOME_FAILED)));
    EB_TRY(eb_string_set(&run->detail, ""));
    EB_TRY(mention(EB_PAGE_OVERWRITTEN ": it said that the time is over", run));
    EB_TRY(rewrite(raw, run));
  } else if (!end->exited_zero || is_harm(end) || *end->output) {
    if (!end->exited_zero) {
      char words[600];
      (void)cause(work, end, words, sizeof words);
      EB_TRY(append(&run->detail, "; ", words));
    }
    EB_TRY(mention_harm(end, run));
    EB_TRY(eb_string_set(&run->output, end->output));
    EB_TRY(rewrite(raw, run));
  }
  if (rename(raw, finished))
    return EB_ERROR(EB_ERR_IO, "cannot rename '%s' to '%s': %s", raw, finished, strerror(errno));
  return EB_OK;
}

eb_error eb_crash_record(const eb_case *work, const eb_child_end *end, const char *environment,
                         const char *raw, const char *finished, eb_run *run) {
  *run = (eb_run){0};
  eb_error error = make_result(work, end, environment, raw, finished, run);
  if (error) eb_run_clear(run);
  return error;
}
