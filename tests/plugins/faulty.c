/* A solver that goes wrong in the way its option says, at the step its option says: what the
 * harness must survive. */
#include <elastobench/solver.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/case/child.h"
#include "tests/plugins/eat_memory.h"

static const eb_option options[] = {
    {"fault", EB_OPTION_CHOICE, "none", 0, 0,
     "none|crash|abort|hang|slow|memory|nan|honest-nan|lie|diverge|exit|error|create-error|create-"
     "hang|rebuild-error|close|folder|count|array|starve|small-files|escape|orphan|child|pool|late-"
     "crash|late-hang|terminate|flood|colour|wild-log|burn|leak|garble|garble-crash|diverge-odd|"
     "spin|pipe|target|parts|overwrite|hurry|leap|signal-1|signal-2|signal-10|signal-11|signal-15|"
     "signal-20",
     "", "what goes wrong"},
    {"at", EB_OPTION_INT, "2", 1, 1e9, NULL, "", "number of the step in which it does"},
    {"base", EB_OPTION_CHOICE, "sound", 0, 0, "sound|nothing", "", "what its steps are otherwise"},
    {0}};

static void hang(void) {
  for (;;) pause();
}

/* The sound solver whose steps are spoilt; nothing when the option says so. */
static eb_error create(eb_solver *solver, const eb_scene *scene) {
  if (strcmp(eb_values_text(solver->options, "fault"), "create-hang") == 0) hang();
  if (strcmp(eb_values_text(solver->options, "fault"), "create-error") == 0)
    return EB_ERROR(EB_ERR_INVALID, "the set-up went wrong, as asked");
  if (strcmp(eb_values_text(solver->options, "base"), "nothing") == 0) return EB_OK;
  return eb_solver_create(eb_solver_find("semi-implicit"), NULL, scene, solver->threads,
                          solver->seed, (eb_solver **)&solver->data);
}

static eb_error rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log) {
  if (strcmp(eb_values_text(solver->options, "fault"), "rebuild-error") == 0)
    return EB_ERROR(EB_ERR_INVALID, "the second set-up went wrong, as asked");
  return solver->data ? eb_solver_rebuild(solver->data, state, log) : EB_OK;
}

static bool crash_late;

/* Runs when the process ends, or the plug-in is unloaded. */
__attribute__((destructor)) static void leave(void) {
  if (crash_late) raise(SIGSEGV);
}

static void destroy(eb_solver *solver) {
  eb_solver_destroy(solver->data);
  if (strcmp(eb_values_text(solver->options, "fault"), "late-hang") == 0) hang();
}

static void crash(void) {
  fprintf(stderr, "faulty: about to crash\n");
  fflush(stderr);
  raise(SIGSEGV);
}

/* Claims a residual in the norm that the harness audits. */
static void lie(eb_step_log *log, eb_reason *reason) {
  log->equation = EB_EQUATION_IMPLICIT_EULER;
  log->residual_norm = EB_NORM_GRADIENT;
  eb_log_residual(log, 1e-12);
  *reason = EB_CONVERGED_RTOL;
}

/* ---- against the process ---- */

static void close_all(void) {
  for (int file = 0; file < 1024; file++) close(file);
}

/* Takes what memory there is and sees that there will be no more: whoever allocates next finds
 * none. A volatile pointer, as clang takes it for granted that memory is given which nobody uses.
 */
static void starve(void) {
  struct rlimit none = {1, 1};
  setrlimit(RLIMIT_AS, &none);
  setrlimit(RLIMIT_DATA, &none);
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
    for (void *volatile more = malloc(bytes); more; more = malloc(bytes)) continue;
}

static void small_files(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_FSIZE, &none);
}

/* Out of the process group and of the session, then without end. A leader of a group needs to be
 * another process for that. */
static void escape(void) {
  setpgid(0, getpgid(getppid()));
  setsid();
  signal(SIGTERM, SIG_IGN);
  hang();
}

/* A process whose parents have ended, in a session of its own. */
static void leave_orphan(void) {
  pid_t child = fork();
  if (child > 0) waitpid(child, NULL, 0);
  if (child != 0) return;
  setsid();
  if (fork() == 0) hang();
  _exit(0);
}

static void leave_child(void) {
  if (fork() == 0) hang();
}

static void flood(void) {
  for (;;) puts("and another line that nobody wants to read");
}

static void *work_on(void *nothing) {
  for (volatile double sum = 0;; sum = sum + sin(sum)) continue;
  return nothing;
}

/* Threads that use the plug-in's code until the process is gone. */
static void start_pool(void) {
  static bool started;
  pthread_t thread;
  if (started) return;
  started = true;
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread, NULL, work_on, NULL) == 0) pthread_detach(thread);
}

static void *burn_once(void *nothing) {
  struct timespec now;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec == 0 && now.tv_nsec < 20000000);
  return nothing;
}

/* 20 ms of work in a thread that the step does not wait for. */
static void burn(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, burn_once, NULL) == 0) pthread_detach(thread);
}

static void leak(void) {
  enum { BYTES = 1 << 20 };
  char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) memset(memory, 1, BYTES);
}

/* Writes noise over every file that is open for it but the first three; from the superblock's end
 * on, so that it still looks like HDF5. */
static void garble(void) {
  enum { BYTES = 1 << 16, HEAD = 100 };
  static unsigned char noise[BYTES];
  for (int i = 0; i < BYTES; i++) noise[i] = (unsigned char)(i * 2654435761u >> 7);
  for (int file = 4; file < 64; file++) (void)!pwrite(file, noise, BYTES, HEAD);
}

/* What follows a flag of the case's command line. */
static bool argument(const char *flag, char *out, size_t bytes) {
  char text[1 << 14];
  FILE *file = fopen("/proc/self/cmdline", "r");
  size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[got] = '\0';
  for (char *word = text; word < text + got; word += strlen(word) + 1)
    if (strcmp(word, flag) == 0) {
      snprintf(out, bytes, "%s", word + strlen(word) + 1);
      return true;
    }
  return false;
}

/* The page that the case shares with its parent, as the process has it mapped. */
static eb_progress_page *shared_page(void) {
  char line[512];
  void *page = NULL;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && !page && fgets(line, sizeof line, maps))
    if (strstr(line, "elastobench-page")) sscanf(line, "%p", &page);
  if (maps) fclose(maps);
  if (!page) abort();
  return page;
}

/* A pipe that nobody reads in the place of the case's file, or of the run's. */
static void put_pipe(bool of_run) {
  char path[4096];
  if (!argument("--output", path, sizeof path)) abort();
  char *parts = of_run ? strstr(path, ".parts/") : NULL;
  if (parts) *parts = '\0';
  unlink(path);
  if (mkfifo(path, 0600)) abort();
}

/* The folder of the run's results and all that is in it. */
static void remove_parts(void) {
  char path[4096], command[4200];
  if (!argument("--output", path, sizeof path)) abort();
  *strrchr(path, '/') = '\0';
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  if (system(command)) abort();
}

static void harm_harness(const char *fault) {
  if (strcmp(fault, "pipe") == 0) put_pipe(false);
  if (strcmp(fault, "target") == 0) put_pipe(true);
  if (strcmp(fault, "parts") == 0) remove_parts();
  if (strcmp(fault, "overwrite") == 0) memset(shared_page(), 0xff, sizeof(eb_progress_page));
  if (strcmp(fault, "hurry") == 0) shared_page()->asked_to_end = 1;
  if (strcmp(fault, "leap") == 0) shared_page()->step = INT64_C(1) << 40;
  if (strncmp(fault, "signal-", 7) == 0) kill(getppid(), atoi(fault + 7));
}

static void harm_process(const char *fault) {
  if (strcmp(fault, "close") == 0) close_all();
  if (strcmp(fault, "folder") == 0 && chdir("/")) abort();
  if (strcmp(fault, "starve") == 0) starve();
  if (strcmp(fault, "small-files") == 0) small_files();
  if (strcmp(fault, "escape") == 0) escape();
  if (strcmp(fault, "orphan") == 0) leave_orphan();
  if (strcmp(fault, "child") == 0) leave_child();
  if (strcmp(fault, "pool") == 0) start_pool();
  if (strcmp(fault, "late-crash") == 0) crash_late = true;
  if (strcmp(fault, "terminate") == 0) kill(getpid(), SIGTERM);
  if (strcmp(fault, "flood") == 0) flood();
  if (strcmp(fault, "burn") == 0) burn();
  if (strcmp(fault, "leak") == 0) leak();
  if (strncmp(fault, "garble", 6) == 0) garble();
  if (strcmp(fault, "garble-crash") == 0) crash();
}

/* ---- against the state and the log ---- */

static void harm_state(const char *fault, eb_state *state, eb_step_log *log) {
  if (strcmp(fault, "count") == 0) state->node_count = 1 << 30;
  if (strcmp(fault, "array") == 0) {
    free(state->x);
    state->x = NULL;
  }
  if (strcmp(fault, "wild-log") == 0) {
    eb_log_begin(log, (eb_phase)100000);
    eb_log_count(log, (eb_counter)-5, 1);
  }
}

static eb_error go_wrong(const char *fault, eb_state *state, eb_step_log *log, eb_reason *reason) {
  if (strcmp(fault, "crash") == 0) crash();
  if (strcmp(fault, "abort") == 0) abort();
  if (strcmp(fault, "hang") == 0) hang();
  if (strcmp(fault, "spin") == 0) work_on(NULL);
  if (strcmp(fault, "slow") == 0) usleep(200000);
  if (strcmp(fault, "memory") == 0) eat_memory();
  if (strcmp(fault, "exit") == 0) exit(0);
  if (strcmp(fault, "error") == 0) return EB_ERROR(EB_ERR_INVALID, "the step went wrong, as asked");
  if (strcmp(fault, "colour") == 0)
    return EB_ERROR(EB_ERR_INVALID, "\033[31mred\033[0m and \033]0;a title\007");
  if (strcmp(fault, "lie") == 0) lie(log, reason);
  if (strcmp(fault, "diverge") == 0) *reason = EB_DIVERGED_MAX_IT;
  if (strcmp(fault, "nan") == 0 || strcmp(fault, "honest-nan") == 0) state->x[0] = NAN;
  if (strcmp(fault, "honest-nan") == 0) *reason = EB_DIVERGED_NAN;
  harm_process(fault);
  harm_harness(fault);
  harm_state(fault, state, log);
  return EB_OK;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  eb_solver *base = solver->data;
  *reason = EB_CONVERGED_ITS;
  log->iterations = 1;
  if (base) EB_TRY(base->ops->step(base, state, dt, log, reason));
  if (!base) {
    state->step++;
    state->time += dt;
  }
  const char *fault = eb_values_text(solver->options, "fault");
  int64_t at = eb_values_int(solver->options, "at");
  bool now = state->step >= at;
  if (strcmp(fault, "diverge-odd") == 0 && at % 2) *reason = EB_DIVERGED_MAX_IT; /* whatever step */
  return now ? go_wrong(fault, state, log, reason) : EB_OK;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {.name = "faulty",
                                          .summary = "goes wrong as asked",
                                          .citation = "",
                                          .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC |
                                                          EB_CAP_SCRIPTED | EB_CAP_CUTTING,
                                          .options = options,
                                          .create = create,
                                          .step = step,
                                          .destroy = destroy,
                                          .rebuild = rebuild};
