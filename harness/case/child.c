#include "harness/case/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/case/launch.h"
#include "harness/case/processes.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/base/sanitizer.h"
#include "problems/base/text.h"

extern char **environ;

/* ---- signals --------------------------------------------------------------------------------- */

/* All that end or stop a process. */
static void watched_signals(sigset_t *set) {
  static const int harmless[] = {SIGCONT, SIGURG, SIGWINCH};
  sigfillset(set);
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) sigdelset(set, harmless[i]);
}

eb_error eb_signals_open(eb_signals *out) {
  sigset_t set;
  watched_signals(&set);
  *out = (eb_signals){.fd = -1};
  if (sigprocmask(SIG_BLOCK, &set, NULL))
    return EB_ERROR(EB_ERR_IO, "cannot hold back signals: %s", strerror(errno));
  out->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return out->fd < 0 ? EB_ERROR(EB_ERR_IO, "cannot watch signals: %s", strerror(errno)) : EB_OK;
}

void eb_signals_close(eb_signals *signals) {
  sigset_t set;
  watched_signals(&set);
  if (signals->fd >= 0) close(signals->fd);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  signals->fd = -1;
}

typedef struct child {
  pid_t pid;
  int print; /* our end of the pipe that it prints into */
  int shared;
  eb_progress_page *page;
  uint64_t token; /* that the page has, if nobody else has written there */
  eb_limits limits;
  double started, told_to_end, written, last_call; /* when; 0: not yet */
  bool killed;
  double killed_at;
  eb_processes others; /* what descended from it when last looked at, beside itself; of ranks */
  double looked;       /* when */
  pid_t *bystanders;   /* children of ours that were there before: none of our business */
  int bystander_count, adopted_before; /* whether orphans were ours already */
  size_t output_length;
  eb_progress progress;
  void *context;
  eb_child_end *end;
} child;

/* ---- descendants ----------------------------------------------------------------------------- */

/* The processes that descend from this one: what the child has started, wherever it has hidden it.
 * While a child runs, this process adopts orphans (PR_SET_CHILD_SUBREAPER), so that a process whose
 * parents have ended, of another group or session, is still found below. */

static bool is_childless(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD;
}

/* All of the machine, those marked that the child has started. */
static void find_descendants(const child *c, eb_processes *all) {
  eb_processes_read(all);
  eb_processes_mark(all, c->bystanders, c->bystander_count);
}

/* ---- signals that have come ------------------------------------------------------------------ */

/* Whether a process has sent it that the child is or has started: while such a process is not
 * buried. The kernel sends on behalf of the terminal. */
static bool is_from_below(const child *c, const struct signalfd_siginfo *info) {
  eb_processes all = {0};
  bool below = false;
  if (info->ssi_code > 0 || (pid_t)info->ssi_pid == getpid()) return false;
  find_descendants(c, &all);
  for (int i = 0; i < all.count; i++)
    below = below || (all.rows[i].ours && all.rows[i].pid == (pid_t)info->ssi_pid);
  eb_processes_clear(&all);
  return below;
}

/* Reads what is pending; `c` is NULL where no child runs. */
static bool read_signals(eb_signals *signals, const child *c) {
  struct signalfd_siginfo info;
  while (read(signals->fd, &info, sizeof info) == (ssize_t)sizeof info) {
    int signal = (int)info.ssi_signo;
    if (signal == SIGCHLD) continue;
    if (c && is_from_below(c, &info))
      c->end->sent = signal;
    else if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
      raise(SIGSTOP); /* as the user of a shell wants it */
    else
      signals->interrupted = true;
  }
  return signals->interrupted;
}

bool eb_signals_pending(eb_signals *signals) {
  return read_signals(signals, NULL);
}

/* ---- what the child leaves ------------------------------------------------------------------- */

/* Kills and buries all but the bystanders; returns how many there were that still ran. Those that
 * go on starting others are chased for some seconds. */
static int end_descendants(const child *c, eb_signals *signals) {
  static const double patience = 5; /* s */
  double began = eb_wall_seconds();
  eb_processes all = {0};
  int ran = 0;
  bool found = true;
  for (int round = 0; found && !is_childless() && eb_wall_seconds() - began < patience; round++) {
    found = false;
    find_descendants(c, &all);
    (void)read_signals(signals, c); /* of those that have ended: before they are buried */
    for (int i = 0; i < all.count; i++) {
      const eb_process *row = &all.rows[i];
      if (!row->ours) continue;
      found = true;
      if (round == 0) ran += !row->ended;
      if (!row->ended)
        kill(row->pid, SIGKILL);
      else if (row->parent == getpid())
        waitpid(row->pid, NULL, WNOHANG);
    }
    if (found) usleep(1000);
  }
  eb_processes_clear(&all);
  return ran;
}

static eb_error adopt_orphans(child *c) {
  eb_processes all = {0};
  prctl(PR_GET_CHILD_SUBREAPER, &c->adopted_before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (is_childless()) return EB_OK;
  eb_processes_read(&all);
  eb_error error = EB_NEW(c->bystanders, all.count);
  for (int i = 0; i < all.count && !error; i++)
    if (all.rows[i].parent == getpid()) c->bystanders[c->bystander_count++] = all.rows[i].pid;
  eb_processes_clear(&all);
  return error;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Between fork and exec: only calls that are safe there. `memory` is what each process may have. */
static _Noreturn void become(pid_t parent, char *const *argv, char *const *environment,
                             double memory, int shared, int print) {
  struct rlimit no_core = {0, 0};
  sigset_t none;
  sigemptyset(&none);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127); /* it died before the line above */
  setrlimit(RLIMIT_CORE, &no_core);
  if (memory > 0) {
    /* A note to the process itself (eb_available_memory): the kernel does not enforce it. */
    struct rlimit resident = {(rlim_t)memory, (rlim_t)memory};
    setrlimit(RLIMIT_RSS, &resident);
#if !EB_SANITIZER
    /* On data that the process may allocate: a backstop at twice the limit on what it touches,
     * which is watched from outside, since address space that is reserved and never used shall not
     * count. The slack is what libraries take when they are loaded, OpenBLAS alone 256 MB.
     * Sanitizers reserve terabytes, so they go without. */
    enum { SLACK = 384 << 20 };
    rlim_t bytes = (rlim_t)(2 * memory) + SLACK;
    struct rlimit data = {bytes, bytes};
    setrlimit(RLIMIT_DATA, &data);
#endif
  }
  int input = open("/dev/null", O_RDONLY);
  /* Away from the numbers they are to get, so that no dup2 overwrites another's source. */
  int shared_high = fcntl(shared, F_DUPFD_CLOEXEC, 10);
  int print_high = fcntl(print, F_DUPFD_CLOEXEC, 10);
  if (input < 0 || dup2(input, 0) < 0 || dup2(print_high, 1) < 0 || dup2(print_high, 2) < 0 ||
      dup2(shared_high, EB_CHILD_BOARD) < 0)
    _exit(127);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(argv[0], argv, environment);
  _exit(127);
}

/* The variables of this process, those of the settings in the place of its own. */
static eb_error build_environment(const eb_strings *settings, char ***out) {
  size_t count = 0, used = 0;
  while (environ[count]) count++;
  EB_TRY(EB_NEW(*out, count + (size_t)settings->count + 1));
  for (size_t i = 0; i < count; i++) {
    size_t name = strcspn(environ[i], "=") + 1;
    bool replaced = false;
    for (int s = 0; s < settings->count; s++)
      replaced = replaced || strncmp(environ[i], settings->items[s], name) == 0;
    if (!replaced) (*out)[used++] = environ[i];
  }
  for (int s = 0; s < settings->count; s++) (*out)[used++] = settings->items[s];
  return EB_OK;
}

/* Where ranks find the page. */
static eb_error add_page(const child *c, eb_strings *settings) {
  char text[120];
  snprintf(text, sizeof text, EB_PAGE_VARIABLE "=/proc/%d/fd/%d %016" PRIx64, (int)getpid(),
           c->shared, c->token);
  return eb_strings_add(settings, text);
}

static eb_error add_settings(const child *c, const eb_strings *settings, eb_strings *out) {
  for (int i = 0; i < settings->count; i++) EB_TRY(eb_strings_add(out, settings->items[i]));
  return c->limits.ranks > 0 ? add_page(c, out) : EB_OK;
}

static eb_error start(child *c, const eb_strings *argv, const eb_strings *settings) {
  int print[2];
  char **arguments, **environment = NULL;
  eb_strings all = {0};
  double share = c->limits.memory / (c->limits.ranks > 0 ? c->limits.ranks : 1);
  EB_TRY(adopt_orphans(c));
  c->shared = memfd_create("elastobench-page", MFD_CLOEXEC);
  if (c->shared < 0 || ftruncate(c->shared, sizeof *c->page))
    return EB_ERROR(EB_ERR_IO, "cannot share memory: %s", strerror(errno));
  void *page = mmap(NULL, sizeof *c->page, PROT_READ | PROT_WRITE, MAP_SHARED, c->shared, 0);
  if (page == MAP_FAILED) return EB_ERROR(EB_ERR_IO, "cannot share memory: %s", strerror(errno));
  c->page = page;
  if (getrandom(&c->token, sizeof c->token, 0) != sizeof c->token)
    return EB_ERROR(EB_ERR_IO, "cannot read random numbers: %s", strerror(errno));
  c->page->token = c->page->token_again = c->token;
  if (pipe2(print, O_CLOEXEC))
    return EB_ERROR(EB_ERR_IO, "cannot make a pipe: %s", strerror(errno));
  c->print = print[0];
  fcntl(c->print, F_SETFL, O_NONBLOCK);
  eb_error error = EB_NEW(arguments, (size_t)argv->count + 1);
  if (!error) {
    for (int i = 0; i < argv->count; i++) arguments[i] = argv->items[i];
    error = add_settings(c, settings, &all);
    if (!error) error = build_environment(&all, &environment);
  }
  if (!error) {
    pid_t parent = getpid();
    c->page->started = eb_wall_seconds();
    c->pid = fork();
    if (c->pid == 0) become(parent, arguments, environment, share, c->shared, print[1]);
    if (c->pid < 0)
      error = EB_ERROR(EB_ERR_IO, "cannot start a process: %s", strerror(errno));
    else
      setpgid(c->pid, c->pid); /* the child does so too: whoever comes first */
  }
  free(arguments);
  free(environment);
  eb_strings_clear(&all);
  close(print[1]);
  return error;
}

/* ---- listening ------------------------------------------------------------------------------- */

/* Takes over what the page says of progress, as long as it can be: a solver that writes where it
 * should not may have written there. Then what it said before is what there is. */
static void read_page(child *c) {
  eb_child_end *end = c->end;
  int stage = c->page->stage;
  int64_t step = c->page->step, steps = c->page->steps;
  bool forward = stage >= (int)end->stage && step >= end->step && step <= steps &&
                 (end->steps == 0 || steps == end->steps);
  bool known = stage >= EB_STAGE_START && stage <= EB_STAGE_WRITTEN;
  end->overwritten = end->overwritten || !eb_page_sound(c->page, c->token) || !forward || !known;
  if (end->overwritten) return;
  end->step = step;
  end->steps = steps;
  end->stage = (eb_stage)stage;
}

/* Tells of progress when there is some, or when nothing was told for a while. */
static void look(child *c) {
  static const double patience = 1; /* s */
  eb_child_end *end = c->end;
  const int64_t before = end->step;
  const eb_stage stage = end->stage;
  double now = eb_wall_seconds();
  read_page(c);
  bool news = end->step != before || end->stage != stage;
  if (!c->progress || (!news && now - c->last_call < patience)) return;
  c->progress(c->context, end, now - c->started);
  c->last_call = now;
}

/* Keeps the last bytes of what the child prints; reads no more at once than a pipe may hold, since
 * a child may print without end. */
static void catch_output(child *c) {
  enum { KEPT = EB_CHILD_OUTPUT - 1, MOST_READS = 2048 };
  char bytes[512], *output = c->end->output;
  ssize_t got;
  for (int i = 0; i < MOST_READS && (got = read(c->print, bytes, sizeof bytes)) > 0; i++) {
    size_t size = (size_t)got, overflow = 0;
    if (c->output_length + size > KEPT) overflow = c->output_length + size - KEPT;
    memmove(output, output + overflow, c->output_length - overflow);
    c->output_length -= overflow;
    memcpy(output + c->output_length, bytes, size);
    c->output_length += size;
    output[c->output_length] = '\0';
  }
}

static double resident_memory(pid_t pid) {
  char path[64], text[128] = "";
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  long total = 0, resident = 0;
  if (got <= 0 || sscanf(text, "%ld %ld", &total, &resident) != 2) return 0;
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* Of the child and those that work with it. Whom ranks are is looked up now and then: that takes
 * some milliseconds, and they stay the same. */
static double used_memory(child *c, double now) {
  static const double interval = 0.5; /* s */
  double sum = resident_memory(c->pid);
  pid_t helper = c->end->overwritten ? 0 : c->page->helper;
  if (c->limits.ranks == 0) return helper > 1 ? sum + resident_memory(helper) : sum;
  if (now - c->looked > interval) {
    c->looked = now;
    find_descendants(c, &c->others);
  }
  for (int i = 0; i < c->others.count; i++)
    if (c->others.rows[i].ours && c->others.rows[i].pid != c->pid)
      sum += resident_memory(c->others.rows[i].pid);
  return sum;
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* The first cause is the one that counts. */
static void decide(child *c, eb_child_cause cause) {
  if (c->told_to_end > 0) return;
  c->end->cause = cause;
  c->told_to_end = eb_wall_seconds();
}

static void kill_child(const child *c) {
  kill(c->pid, SIGKILL);
  kill(-c->pid, SIGKILL);
}

/* The process itself too: it may have left its group. What descends from it goes when it has ended,
 * but ranks before what has started them, which is asked to end: it ends those on other hosts, and
 * what it has in folders. */
static void end_child(child *c, eb_child_cause cause) {
  decide(c, cause);
  c->killed = true;
  c->killed_at = eb_wall_seconds();
  if (c->limits.ranks == 0) {
    kill_child(c);
    return;
  }
  find_descendants(c, &c->others);
  kill(c->pid, SIGTERM);
  for (int i = 0; i < c->others.count; i++)
    if (c->others.rows[i].ours && c->others.rows[i].pid != c->pid)
      kill(c->others.rows[i].pid, SIGKILL);
}

/* Over time, the child is asked to end, which it does between steps; a step that never ends is
 * killed after a grace, unless the child is at work on its file. With its file written no limit
 * holds but on how long it may take to leave. */
static void enforce(child *c, eb_signals *signals) {
  enum { GRACE = 2, GRACE_TO_CLOSE = 120, GRACE_TO_LEAVE = 15, GRACE_OF_RANKS = 3 };
  double now = eb_wall_seconds(), memory = used_memory(c, now);
  eb_stage stage = c->end->stage;
  if (memory > c->end->peak_memory) c->end->peak_memory = memory;
  if (stage == EB_STAGE_WRITTEN && c->written == 0) c->written = now;
  if (c->killed && now - c->killed_at > GRACE_OF_RANKS) kill_child(c);
  if (c->killed) return;
  if (read_signals(signals, c)) {
    end_child(c, EB_CHILD_INTERRUPTED);
  } else if (c->written > 0) {
    if (now - c->written > GRACE_TO_LEAVE) end_child(c, EB_CHILD_LINGERED);
  } else if (c->limits.memory > 0 && memory > c->limits.memory) {
    end_child(c, EB_CHILD_OVER_MEMORY);
  } else if (c->told_to_end > 0) {
    if (now - c->told_to_end > (stage == EB_STAGE_CLOSING ? GRACE_TO_CLOSE : GRACE)) {
      double began = c->page->step_began; /* or what a solver has written there */
      c->end->step_seconds = began >= c->started && began <= now ? now - began : 0;
      end_child(c, EB_CHILD_TIMED_OUT);
    }
  } else if (c->limits.timeout > 0 && now - c->started > c->limits.timeout) {
    decide(c, EB_CHILD_TIMED_OUT);
    c->page->asked_to_end = 1;
  }
}

/* Its last signals are read before it is buried. */
static bool collect(child *c, eb_signals *signals) {
  siginfo_t info = {0};
  int status;
  if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
    return false;
  (void)read_signals(signals, c);
  struct rusage used;
  if (wait4(c->pid, &status, WNOHANG, &used) == c->pid) {
    c->end->cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                  1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    c->end->exited_zero = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    c->end->status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (c->told_to_end == 0)
      c->end->cause = WIFEXITED(status) ? EB_CHILD_EXITED : EB_CHILD_SIGNALED;
  }
  return true;
}

/* Words of the page; a solver may have written anything there. */
static void take_words(const char page[EB_PROGRESS_WORDS], char out[EB_PROGRESS_WORDS]) {
  memcpy(out, page, EB_PROGRESS_WORDS);
  out[EB_PROGRESS_WORDS - 1] = '\0';
  eb_text_clean(out);
}

static void watch(child *c, eb_signals *signals) {
  enum { LOOK_MS = 20 };
  while (!collect(c, signals)) {
    struct pollfd files[] = {{c->print, POLLIN, 0}, {signals->fd, POLLIN, 0}};
    poll(files, 2, LOOK_MS);
    catch_output(c);
    /* A closed pipe is always readable: it would keep the loop spinning. */
    if (files[0].revents & POLLHUP) poll(NULL, 0, 1);
    look(c);
    enforce(c, signals);
  }
  c->end->seconds = eb_wall_seconds() - c->started;
  c->end->left = end_descendants(c, signals);
  if (c->killed && c->limits.ranks > 0) c->end->left = 0; /* ranks that were ended with it */
  look(c);
  catch_output(c);
  eb_text_clean(c->end->output);
  if (c->end->overwritten) return;
  /* What the page says in the end. */
  c->end->trouble = c->page->trouble;
  c->end->harmed = c->page->harmed;
  take_words(c->page->words, c->end->words);
  take_words(c->page->unusual, c->end->unusual);
}

eb_error eb_child_run(const eb_strings *argv, const eb_strings *settings, eb_limits limits,
                      eb_signals *signals, eb_progress progress, void *context, eb_child_end *end) {
  *end = (eb_child_end){.cause = EB_CHILD_EXITED};
  child c = {.limits = limits,
             .started = eb_wall_seconds(),
             .last_call = eb_wall_seconds(),
             .shared = -1,
             .print = -1,
             .progress = progress,
             .context = context,
             .end = end};
  eb_error error = start(&c, argv, settings);
  if (!error) watch(&c, signals);
  prctl(PR_SET_CHILD_SUBREAPER, c.adopted_before);
  free(c.bystanders);
  eb_processes_clear(&c.others);
  if (c.page) munmap(c.page, sizeof *c.page);
  if (c.shared >= 0) close(c.shared);
  if (c.print >= 0) close(c.print);
  return error;
}
