/* Teams whose members spin before they sleep. */
#include <omp.h>
#include <time.h>

#include "solvers/linalg/spin_team.h"
#include "tests/tap.h"

enum { MOST = 5, TURNS = 300 };

static void rest(long milliseconds) {
  struct timespec pause = {0, 1000000 * milliseconds};
  nanosleep(&pause, NULL);
}

/* Every member adds to its own entry, then all read all: who passed too early would read an old
 * one. `late`: a member keeps the others waiting now and then, longer than they spin. */
static void turns_are_kept(int threads, bool late) {
  eb_spin_team *team = NULL;
  int counts[MOST] = {0}, wrong = 0, size = 0;
  tap_require(eb_spin_team_create(threads, &team), "create");
  eb_spin_team_begin(team);
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  {
    eb_spin_member member = eb_spin_team_join(team);
    if (member.thread == 0) size = member.size;
    for (int turn = 1; turn <= TURNS; turn++) {
      if (late && turn % 100 == 0 && member.thread == member.size - 1) rest(2);
      counts[member.thread]++;
      eb_spin_team_wait(&member);
      for (int t = 0; t < member.size; t++) wrong += counts[t] != turn;
      eb_spin_team_wait(&member);
    }
  }
  tap_ok(wrong == 0, "%d members%s: nobody passes before all have come", size,
         late ? ", one often late" : "");
  eb_spin_team_destroy(team);
}

/* What one says of the crowd all say, or they would part. */
static void crowds_are_agreed_on(void) {
  eb_spin_team *team = NULL;
  int said[MOST] = {0}, wrong = 0, crowded = 0;
  tap_require(eb_spin_team_create(2, &team), "create");
  eb_spin_team_begin(team);
#pragma omp parallel num_threads(2) reduction(+ : wrong, crowded)
  {
    eb_spin_member member = eb_spin_team_join(team);
    for (int turn = 0; turn < 60; turn++) {
      if (turn < 10 && member.thread == 1) rest(2);
      said[member.thread] = eb_spin_team_crowded(&member);
      crowded += said[member.thread];
      eb_spin_team_wait(&member);
      for (int t = 0; t < member.size; t++) wrong += said[t] != said[0];
      eb_spin_team_wait(&member);
    }
  }
  tap_ok(wrong == 0, "all members are told the same");
  tap_ok(crowded > 0 || omp_get_thread_limit() < 2, "a partner that is late ten times is a crowd");
  eb_spin_team_destroy(team);
}

/* The shares of all members cover a range once, in order. */
static void shares_cover(void) {
  for (int size = 1; size <= MOST; size++) {
    int64_t from, to, end = 7, wrong = 0;
    for (int thread = 0; thread < size; thread++) {
      eb_spin_member member = {.thread = thread, .size = size};
      eb_spin_team_share(&member, 7, 20, &from, &to);
      wrong += from != end || to < from;
      end = to;
    }
    tap_ok(wrong == 0 && end == 20, "%d shares follow each other", size);
  }
}

static void one_is_free(void) {
  eb_spin_member alone = {.size = 1};
  eb_spin_team_wait(&alone);
  tap_ok(!eb_spin_team_crowded(&alone), "a member alone neither waits nor is crowded");
  eb_spin_team_destroy(NULL);
}

int main(void) {
  for (int threads = 1; threads <= MOST; threads++) turns_are_kept(threads, false);
  turns_are_kept(2, true);
  turns_are_kept(3, true);
  crowds_are_agreed_on();
  shares_cover();
  one_is_free();
  return tap_done();
}
