/* The costs of a case beside its timed steps: whose processor time is whose, threads, memory. */
#include "harness/case/cost.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "tests/tap.h"

/* Keeps one processor busy for as long as the thread itself has had it. */
static void burn(double seconds) {
  double until = eb_seconds_of(CLOCK_THREAD_CPUTIME_ID) + seconds;
  while (eb_seconds_of(CLOCK_THREAD_CPUTIME_ID) < until) {
  }
}

static void burn_in_team(int threads, double seconds) {
#pragma omp parallel num_threads(threads)
  burn(seconds);
}

static void *burn_apart(void *seconds) {
  burn(*(double *)seconds);
  return NULL;
}

/* A timed step of `seconds`. */
static void step(eb_cost *cost, double seconds) {
  eb_cost_start(cost);
  burn(seconds);
  eb_cost_stop(cost);
}

static eb_run filled(eb_cost *cost) {
  eb_run run = {0};
  eb_cost_fill(cost, &run);
  return run;
}

/* The kernel accounts running threads by ticks of up to 10 ms. */
static const double tick = 0.01;

static void time_goes_where_it_belongs(void) {
  eb_cost cost;
  double apart = 0.1;
  pthread_t thread;
  if (!tap_succeeds(eb_cost_open(NULL, &cost), "costs open")) return;
  step(&cost, 0.05);
  burn(0.1);
  step(&cost, 0.05);
  eb_run run = filled(&cost);
  tap_near(run.timed_cpu_seconds, 0.1, tick, "the steps' own time is theirs");
  tap_below(run.untimed_cpu_seconds, 1e-3, "what the calling thread does between them is ours");
  tap_ok(run.process_cpu_seconds >= 0.2, "the process has all of it");
  pthread_create(&thread, NULL, burn_apart, &apart);
  pthread_join(thread, NULL);
  step(&cost, 0.01);
  run = filled(&cost);
  tap_near(run.untimed_cpu_seconds, 0.1, tick,
           "what a thread apart does between steps is hidden work");
  tap_near(run.timed_cpu_seconds, 0.11, 2 * tick, "and no time of the steps");
  eb_cost_close(&cost);
}

static void the_team_is_ours(void) {
  eb_cost cost;
  omp_set_num_threads(2);
  if (!tap_succeeds(eb_cost_open(NULL, &cost), "costs open with a team of two")) return;
  for (int i = 0; i < 20; i++) {
    step(&cost, 0.001);
    burn_in_team(2, 0.005);
  }
  step(&cost, 0.001);
  tap_below(filled(&cost).untimed_cpu_seconds, 2e-3, "what the team does between steps is ours");
  for (int i = 0; i < 20; i++) {
    eb_cost_start(&cost);
    burn_in_team(i % 2 ? 4 : 2, 0.001); /* the runtime ends threads and starts others */
    eb_cost_stop(&cost);
    burn_in_team(2, 0.005);
  }
  step(&cost, 0.001);
  /* A thread that is started while the clock stands is not known as the team's until the next stop:
   * at most one round in two. */
  tap_below(filled(&cost).untimed_cpu_seconds, 0.06, "also when its threads were changed");
  eb_cost_close(&cost);
  omp_set_num_threads(1);
}

static atomic_int stay;

static void *sleep_on(void *nothing) {
  while (stay) usleep(1000);
  return nothing;
}

static void threads_are_counted(void) {
  enum { THREADS = 5 };
  eb_cost cost;
  pthread_t threads[THREADS];
  if (!tap_succeeds(eb_cost_open(NULL, &cost), "costs open again")) return;
  step(&cost, 0);
  int64_t before = filled(&cost).threads_alive;
  stay = 1;
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, sleep_on, NULL);
  step(&cost, 0);
  stay = 0;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  step(&cost, 0);
  tap_ok(before >= 1, "there is one thread at least");
  tap_ok(filled(&cost).threads_alive == before + THREADS,
         "the most threads between steps are kept");
  eb_cost_close(&cost);
}

/* Writes to every page. Without the checks of sanitizers, whose shadow of the memory would be
 * resident as well: an eighth of it. */
__attribute__((no_sanitize("address"))) static void touch(volatile char *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 512) memory[i] = 1;
}

static void memory_is_measured(void) {
  enum { BYTES = 64 << 20 };
  eb_cost cost;
  if (!tap_succeeds(eb_cost_open(NULL, &cost), "costs open once more")) return;
  step(&cost, 0);
  char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) touch(memory, BYTES);
  step(&cost, 0);
  /* A hundred pages of what the kernel is behind, a core. */
  tap_near(filled(&cost).memory_growth, BYTES, 8e6, "memory that was touched since the first step");
  tap_near(cost.resident - cost.first_resident, BYTES, 8e6, "is resident after the last");
  if (memory != MAP_FAILED) munmap(memory, BYTES);
  eb_cost_close(&cost);
}

static void the_start_is_known(void) {
  eb_cost cost;
  eb_progress_page board = {.started = eb_wall_seconds() - 5};
  if (!tap_succeeds(eb_cost_open(&board, &cost), "costs open with a board")) return;
  tap_ok(filled(&cost).first_step_at == 0, "no first step yet");
  step(&cost, 0.02);
  step(&cost, 0);
  tap_near(filled(&cost).first_step_at, 5, 0.01, "the first step began after what the board says");
  eb_cost_close(&cost);
  if (!tap_succeeds(eb_cost_open(NULL, &cost), "and without")) return;
  step(&cost, 0);
  double at = filled(&cost).first_step_at;
  /* The process has burned most of a second above and is younger than any patience. */
  tap_ok(at > 0.5 && at < 100, "the kernel knows when the process was started");
  eb_cost_close(&cost);
}

static void lost_descriptors_do_no_harm(void) {
  eb_cost cost;
  if (!tap_succeeds(eb_cost_open(NULL, &cost), "costs open for the last time")) return;
  step(&cost, 0);
  double resident = cost.resident;
  close(cost.statm);
  close(cost.tasks);
  step(&cost, 0);
  tap_ok(cost.resident == resident && cost.resident > 0, "the last reading holds");
  eb_cost_close(&cost);
}

int main(void) {
  time_goes_where_it_belongs();
  the_team_is_ours();
  threads_are_counted();
  memory_is_measured();
  the_start_is_known();
  lost_descriptors_do_no_harm();
  return tap_done();
}
