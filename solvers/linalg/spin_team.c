/* A barrier that spins for a while, then sleeps.
 *
 * Each member counts its arrivals in a cache line of its own, and waits until every other's count
 * has come up to its own. Nobody writes what somebody else writes, so that with two members one
 * line travels each way: some 0.1 us, where a counter that both raise takes twice as long (Mellor-
 * Crummey and Scott 1991, "Algorithms for scalable synchronization on shared-memory
 * multiprocessors", ACM Trans. Comput. Syst. 9(1), on why). For teams of more than some tens a tree
 * would be needed.
 *
 * A member whose partner has lost its core spins for about as long as going to sleep and waking up
 * take, some 50 us, so that it loses at most twice that (Karlin, Li,
 * Manasse and Owicki 1991, "Empirical studies of competitive spinning for a shared-memory
 * multiprocessor", SOSP); then it sleeps on a condition. The next waits
 * spin for half as long each, until one finds its partner in time: two members that the scheduler
 * has put on one core, as it does when others hold the rest, would spin in vain each time. With
 * more members than cores all sleep at once. */
#include "solvers/linalg/spin_team.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"

enum {
  STRIDE = 32,       /* counts are 128 bytes apart: lines are fetched in pairs */
  SPINS = 2000,      /* looks at another's count, a pause of 10 to 40 ns between them */
  LEAST_SPINS = 100, /* as many as waits of members that do run take */
  SLEEPS = 4,        /* of all members, to call it crowded */
  ALONE = 20         /* times to call it so before trying again */
};

struct eb_spin_team {
  int most, spins;
  _Atomic uint32_t *arrived; /* most x STRIDE */
  int *slept;                /* most x STRIDE */
  _Atomic int sleepers;
  pthread_mutex_t lock;
  pthread_cond_t moved; /* a count has risen while somebody slept */
};

eb_error eb_spin_team_create(int threads, eb_spin_team **out) {
  EB_ASSERT(threads >= 1);
  eb_spin_team *team;
  *out = NULL;
  EB_TRY(EB_NEW(team, 1));
  eb_error error = EB_NEW(team->arrived, (size_t)threads * STRIDE);
  if (!error) error = EB_NEW(team->slept, (size_t)threads * STRIDE);
  if (error) {
    free(team->arrived);
    free(team);
    return error;
  }
  team->most = threads;
  team->spins = threads > omp_get_num_procs() ? 0 : SPINS;
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->moved, NULL);
  *out = team;
  return EB_OK;
}

void eb_spin_team_destroy(eb_spin_team *team) {
  if (!team) return;
  pthread_cond_destroy(&team->moved);
  pthread_mutex_destroy(&team->lock);
  free(team->slept);
  free(team->arrived);
  free(team);
}

void eb_spin_team_begin(eb_spin_team *team) {
  for (int t = 0; t < team->most; t++) atomic_store(&team->arrived[t * STRIDE], 0);
}

eb_spin_member eb_spin_team_join(eb_spin_team *team) {
  return (eb_spin_member){.team = team,
                          .thread = omp_get_thread_num(),
                          .size = omp_get_num_threads(),
                          .spins = team->spins};
}

static bool has_arrived(eb_spin_team *team, int thread, uint32_t turn) {
  uint32_t at = atomic_load(&team->arrived[thread * STRIDE]);
  return (int32_t)(at - turn) >= 0; /* also after the counts have passed 2^32 */
}

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* Between raising `sleepers` and looking at the count here, and raising the count and looking at
 * `sleepers` there, at least one sees the other's: all four are sequentially consistent. Who sees a
 * sleeper takes the lock, and so comes either before the look or after the sleeper has lain down.
 */
static void sleep_until(eb_spin_team *team, int thread, uint32_t turn) {
  pthread_mutex_lock(&team->lock);
  atomic_fetch_add(&team->sleepers, 1);
  while (!has_arrived(team, thread, turn)) pthread_cond_wait(&team->moved, &team->lock);
  atomic_fetch_sub(&team->sleepers, 1);
  pthread_mutex_unlock(&team->lock);
}

static void wait_for(eb_spin_member *member, int thread, uint32_t turn) {
  eb_spin_team *team = member->team;
  if (has_arrived(team, thread, turn)) return;
  for (int k = 0; k < member->spins; k++) {
    pause_briefly();
    if (!has_arrived(team, thread, turn)) continue;
    member->spins = team->spins;
    return;
  }
  member->slept++;
  if (member->spins > LEAST_SPINS) member->spins /= 2;
  sleep_until(team, thread, turn);
}

void eb_spin_team_wait(eb_spin_member *member) {
  EB_ASSERT(0 <= member->thread && member->thread < member->size);
  EB_ASSERT(member->size == 1 || member->size <= member->team->most);
  if (member->size == 1) return;
  eb_spin_team *team = member->team;
  uint32_t turn = atomic_fetch_add(&team->arrived[member->thread * STRIDE], 1) + 1;
  if (atomic_load(&team->sleepers) > 0) {
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->moved);
    pthread_mutex_unlock(&team->lock);
  }
  for (int t = 0; t < member->size; t++) wait_for(member, t, turn);
}

/* The numbers are read after the wait, and written again after another, at the earliest: all read
 * the same. */
bool eb_spin_team_crowded(eb_spin_member *member) {
  if (member->size == 1) return false;
  int *slept = member->team->slept, sum = 0;
  slept[member->thread * STRIDE] = member->slept;
  eb_spin_team_wait(member);
  for (int t = 0; t < member->size; t++) sum += slept[t * STRIDE];
  if (member->alone == 0 && sum < SLEEPS) return false;
  member->alone = member->alone == 0 ? ALONE : member->alone - 1;
  if (member->alone == 0) member->slept = 0;
  return member->alone > 0;
}
