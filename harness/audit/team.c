#include "harness/audit/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"

struct eb_team {
  pthread_t *threads;
  int32_t size;
  pthread_mutex_t lock;
  pthread_cond_t called;
  atomic_uint_least64_t calls; /* so far; rises under the lock */
  bool ending;                 /* under the lock */
  /* The last call: how many of its parts nobody has taken, below its number times 2^32, so that a
   * thread which comes late takes nothing of another call for its own. Whoever has taken a part may
   * read the rest
   * until it has counted that as done. */
  atomic_uint_least64_t open;
  atomic_int done;
  eb_team_work work;
  void *context;
  int32_t count;
};

static void take_parts(eb_team *team) {
  uint_least64_t open = atomic_load(&team->open);
  while ((uint32_t)open > 0) {
    if (!atomic_compare_exchange_weak(&team->open, &open, open - 1)) continue;
    team->work(team->context, team->count - (int32_t)(uint32_t)open);
    atomic_fetch_add(&team->done, 1);
    open = atomic_load(&team->open);
  }
}

static bool is_called(eb_team *team, uint64_t answered) {
  return atomic_load(&team->calls) != answered;
}

/* The audit of a step makes some calls at short intervals: to be woken for each would take longer
 * than many a part. */
static void look_out(eb_team *team, uint64_t answered) {
  static const double moment = 20e-6;
  double until = eb_wall_seconds() + moment;
  while (!is_called(team, answered) && eb_wall_seconds() < until) sched_yield();
}

static void *serve(void *argument) {
  eb_team *team = argument;
  for (uint64_t answered = 0;;) {
    look_out(team, answered);
    pthread_mutex_lock(&team->lock);
    while (!is_called(team, answered) && !team->ending)
      pthread_cond_wait(&team->called, &team->lock);
    bool ending = team->ending;
    answered = atomic_load(&team->calls);
    pthread_mutex_unlock(&team->lock);
    if (ending) return NULL;
    take_parts(team);
  }
}

static int32_t idle_cores(int32_t most) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 0;
  int32_t others = CPU_COUNT(&set) - 1;
  return others < most ? others : most;
}

/* Signals are for the thread that steps. */
static void start_threads(eb_team *team, int32_t wanted) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (team->size < wanted && pthread_create(&team->threads[team->size], NULL, serve, team) == 0)
    team->size++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

eb_error eb_team_create(int32_t most, eb_team **out) {
  eb_team *team;
  int32_t wanted = idle_cores(most);
  *out = NULL;
  EB_TRY(EB_NEW(team, 1));
  if (wanted > 0) {
    eb_error error = EB_NEW(team->threads, wanted);
    if (error) {
      free(team);
      return error;
    }
  }
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->called, NULL);
  start_threads(team, wanted);
  *out = team;
  return EB_OK;
}

void eb_team_destroy(eb_team *team) {
  if (!team) return;
  pthread_mutex_lock(&team->lock);
  team->ending = true;
  pthread_cond_broadcast(&team->called);
  pthread_mutex_unlock(&team->lock);
  for (int32_t i = 0; i < team->size; i++) pthread_join(team->threads[i], NULL);
  pthread_cond_destroy(&team->called);
  pthread_mutex_destroy(&team->lock);
  free(team->threads);
  free(team);
}

void eb_team_run(eb_team *team, int32_t count, eb_team_work work, void *context) {
  if (!team || team->size == 0 || count < 2) {
    for (int32_t part = 0; part < count; part++) work(context, part);
    return;
  }
  team->work = work;
  team->context = context;
  team->count = count;
  atomic_store(&team->done, 0);
  pthread_mutex_lock(&team->lock);
  uint64_t call = atomic_fetch_add(&team->calls, 1) + 1;
  atomic_store(&team->open, call << 32 | (uint32_t)count);
  pthread_cond_broadcast(&team->called);
  pthread_mutex_unlock(&team->lock);
  take_parts(team);
  /* For parts, not for threads: one that the machine has put aside keeps nobody waiting. */
  while (atomic_load(&team->done) < count) sched_yield();
}

int32_t eb_team_size(const eb_team *team) {
  return team ? team->size : 0;
}

double eb_team_cpu_seconds(const eb_team *team) {
  double sum = 0;
  for (int32_t i = 0; i < eb_team_size(team); i++) {
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(team->threads[i], &clock) || clock_gettime(clock, &time)) continue;
    sum += (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
  }
  return sum;
}
