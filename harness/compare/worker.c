/* The side that starts workers and asks them. */
#include "harness/compare/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/environment.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"

/* ---- lines ----------------------------------------------------------------------------------- */

static eb_error died(eb_worker *w) {
  int status = 0;
  char how[80];
  /* One that is ending anyhow keeps its status; one that has just closed its output would stay. */
  if (w->pid > 0) kill(w->pid, SIGKILL);
  if (w->pid > 0 && waitpid(w->pid, &status, 0) == w->pid) w->pid = 0;
  if (WIFSIGNALED(status))
    snprintf(how, sizeof how, "was ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else
    snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
  return EB_ERROR(EB_ERR_INVALID, "a worker of '%s' %s; what it printed stands above", w->name,
                  how);
}

/* The next line into w->line, without its end. Answers are a line each and come one at a time: what
 * is behind a line's end is not there yet. */
static eb_error read_line(eb_worker *w, double patience) {
  double until = eb_wall_seconds() + patience;
  for (w->length = 0;;) {
    double left = until - eb_wall_seconds();
    struct pollfd wait = {.fd = w->link, .events = POLLIN};
    int ready = poll(&wait, 1, left > 0 ? (int)(1e3 * fmin(left, 1e5)) + 1 : 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 && left <= 0)
      return EB_ERROR(EB_ERR_INVALID,
                      "a worker of '%s' has not answered for %g s; --timeout "
                      "gives it longer",
                      w->name, patience);
    if (ready <= 0) continue;
    ssize_t got = read(w->link, w->line + w->length, sizeof w->line - 1 - w->length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return died(w);
    w->length += (size_t)got;
    w->line[w->length] = 0;
    if (w->line[w->length - 1] == '\n') break;
    if (w->length == sizeof w->line - 1)
      return EB_ERROR(EB_ERR_INVALID, "a worker of '%s' answers without an end: '%.40s..'", w->name,
                      w->line);
  }
  w->line[w->length - 1] = 0;
  eb_text_clean(w->line);
  return EB_OK;
}

static eb_error nonsense(const eb_worker *w) {
  return EB_ERROR(EB_ERR_INVALID, "a worker of '%s' answers '%.80s'", w->name, w->line);
}

/* Asks, and reads an answer that shall begin with `word`. */
static eb_error ask(eb_worker *w, const char *what, int64_t steps) {
  char line[64];
  int length = snprintf(line, sizeof line, "%s %" PRId64 "\n", what, steps);
  return send(w->link, line, (size_t)length, MSG_NOSIGNAL) == length ? EB_OK : died(w);
}

/* An answer that says why there is none. */
static eb_error read_excuse(eb_worker *w) {
  static const char failed[] = "failed ", cannot[] = "cannot ";
  w->unserved = strncmp(w->line, cannot, strlen(cannot)) == 0;
  if (w->unserved) return EB_ERROR(EB_ERR_INVALID, "%s", w->line + strlen(cannot));
  if (strncmp(w->line, failed, strlen(failed))) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID, "a worker of '%s' failed: %s", w->name, w->line + strlen(failed));
}

static eb_error read_answer(eb_worker *w, const char *word, double patience) {
  EB_TRY(read_line(w, patience));
  EB_TRY(read_excuse(w));
  size_t length = strlen(word);
  if (strncmp(w->line, word, length) || w->line[length] != ' ') return nonsense(w);
  memmove(w->line, w->line + length + 1, w->length - length - 1);
  return EB_OK;
}

/* ---- its process ----------------------------------------------------------------------------- */

static eb_error command_of(const eb_build *build, const eb_case *work,
                           const eb_worker_setting *setting, eb_strings *out) {
  const eb_strings *before = setting->before;
  char delay[32];
  for (int k = 0; before && k < before->count; k++) EB_TRY(eb_strings_add(out, before->items[k]));
  EB_TRY(eb_case_command(work, build->program, "work", out));
  if (setting->delay == 0) return EB_OK;
  snprintf(delay, sizeof delay, "%.17g", setting->delay);
  EB_TRY(eb_strings_add(out, "--delay"));
  return eb_strings_add(out, delay);
}

extern char **environ;

/* This process's environment under `over` ("NAME=value"), ended by NULL; the entries are shared. */
static eb_error environment_with(const eb_strings *over, char ***out) {
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  EB_TRY(EB_NEW(*out, count + (size_t)over->count + 1));
  for (size_t k = 0; k < count; k++) {
    size_t name = strcspn(environ[k], "=") + 1;
    bool replaced = false;
    for (int i = 0; i < over->count; i++)
      replaced = replaced || strncmp(over->items[i], environ[k], name) == 0;
    if (!replaced) (*out)[kept++] = environ[k];
  }
  for (int i = 0; i < over->count; i++) (*out)[kept++] = over->items[i];
  return EB_OK;
}

/* In the child: only calls that are safe between fork and exec. */
static void become(char *const *command, char *const *settings, int processor, int link) {
  sigset_t none;
  cpu_set_t one;
  CPU_ZERO(&one);
  if (processor >= 0) CPU_SET(processor, &one);
  if (processor >= 0) sched_setaffinity(0, sizeof one, &one);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(link, STDIN_FILENO);
  dup2(link, STDOUT_FILENO);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execvpe(command[0], command, settings);
  _exit(127);
}

static eb_error start(char *const *command, char *const *settings, int processor, eb_worker *out) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return EB_ERROR(EB_ERR_IO, "cannot talk to a worker: %s", strerror(errno));
  pid_t pid = fork();
  if (pid == 0) become(command, settings, processor, pair[1]);
  int why = errno;
  close(pair[1]);
  out->link = pair[0];
  if (pid < 0) return EB_ERROR(EB_ERR_IO, "cannot start a worker: %s", strerror(why));
  out->pid = pid;
  return EB_OK;
}

static eb_error start_with(const eb_strings *command, const eb_strings *settings, int processor,
                           eb_worker *out) {
  char **environment = NULL, **words = NULL;
  eb_error error = environment_with(settings, &environment);
  if (!error) error = EB_NEW(words, command->count + 1); /* ended by NULL */
  if (!error) {
    memcpy(words, command->items, (size_t)command->count * sizeof *words);
    error = start(words, environment, processor, out);
  }
  free(words);
  free(environment);
  return error;
}

eb_error eb_worker_handshake(eb_worker *w, double patience) {
  int version, instrumented;
  eb_error error = read_line(w, patience);
  if (error && eb_error_kind(error) == EB_ERR_INVALID && w->pid == 0 && w->length == 0) {
    eb_error_free(error);
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "'%s' ends where a worker should begin: it is no elastobench that 'compare' "
                    "knows (older than it, perhaps), or lacks this scene, solver or option; what "
                    "it printed stands above",
                    w->name);
  }
  EB_TRY(error);
  EB_TRY(read_excuse(w));
  if (sscanf(w->line, EB_WORKER_GREETING " %d ready %d", &version, &instrumented) != 2)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "'%s' is no elastobench: asked to work, it says '%.80s'",
                    w->name, w->line);
  w->instrumented = instrumented != 0;
  if (version == EB_WORKER_VERSION) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "'%s' speaks version %d of the workers' protocol, this program %d: compare them "
                  "with an elastobench of their own age",
                  w->name, version, EB_WORKER_VERSION);
}

eb_error eb_worker_start(const eb_build *build, const eb_case *work,
                         const eb_worker_setting *setting, eb_worker *out) {
  eb_strings command = {0}, settings = {0};
  *out = EB_NO_WORKER;
  out->name = build->given;
  eb_error error = command_of(build, work, setting, &command);
  if (!error) error = eb_environment_settings(work->threads, &settings);
  if (!error) error = start_with(&command, &settings, setting->processor, out);
  eb_strings_clear(&settings);
  eb_strings_clear(&command);
  return error;
}

eb_error eb_worker_step(eb_worker *w, int64_t steps, double patience, eb_elapsed *out) {
  EB_TRY(ask(w, "step", steps));
  EB_TRY(read_answer(w, "did", patience));
  return sscanf(w->line, "%lf %lf", &out->cpu, &out->wall) == 2 && out->cpu > 0 && out->wall > 0 &&
                 isfinite(out->cpu) && isfinite(out->wall)
             ? EB_OK
             : nonsense(w);
}

eb_error eb_worker_ask_count(eb_worker *w, int64_t steps) {
  return ask(w, "count", steps);
}

eb_error eb_worker_counted(eb_worker *w, double patience) {
  return read_answer(w, "counted", patience);
}

void eb_worker_end(eb_worker *w, double patience) {
  static const struct timespec pause = {.tv_nsec = 5000000};
  double until = eb_wall_seconds() + patience;
  if (w->link >= 0) close(w->link);
  while (w->pid > 0 && eb_wall_seconds() < until) {
    if (waitpid(w->pid, NULL, WNOHANG) != 0) w->pid = 0;
    if (w->pid > 0) nanosleep(&pause, NULL);
  }
  if (w->pid > 0) {
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, 0);
  }
  *w = EB_NO_WORKER;
}
