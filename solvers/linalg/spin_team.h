/* Threads that work through one computation together, in step. Inside solvers only.
 *
 * A loop over some tens of microseconds cannot pay for a parallel region of its own: where waiting
 * threads sleep (OMP_WAIT_POLICY=passive, as this program sets it), each region wakes them anew,
 * which takes as long as the loop. So one region spans a whole solve; inside, each member does its
 * share of every loop and waits for the others where it needs what they did. All members run the
 * same code on scalars of their own that come out alike, bit by bit, so that they branch alike. */
#ifndef EB_LINALG_SPIN_TEAM_H
#define EB_LINALG_SPIN_TEAM_H

#include "problems/base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct eb_spin_team eb_spin_team;

/* One thread's place in a team. A member of size 1 never waits, and its team may be NULL. */
typedef struct eb_spin_member {
  eb_spin_team *team;
  int thread, size;
  int spins; /* that its next wait may take before it sleeps */
  int slept; /* waits that went to sleep */
  int alone; /* times that eb_spin_team_crowded will still say so */
} eb_spin_member;

/* For at most `threads` members at a time. */
EB_MUST eb_error eb_spin_team_create(int threads, eb_spin_team **out);
void eb_spin_team_destroy(eb_spin_team *team);

/* Before the parallel region: nobody has arrived anywhere yet. */
void eb_spin_team_begin(eb_spin_team *team);
/* Inside the region, by each thread. */
eb_spin_member eb_spin_team_join(eb_spin_team *team);
/* Returns when all members have called it as often as this one; what they wrote before is seen. */
void eb_spin_team_wait(eb_spin_member *member);
/* Also a wait. Whether a computation that waits hundreds of times should be left to one thread:
 * where members have lately had to sleep, as others want their cores, each of those waits would be
 * a turn of the scheduler's. Tells all members the same. It depends on how they ran: for choices
 * that leave the result as it is. Between two calls there is another wait. */
bool eb_spin_team_crowded(eb_spin_member *member);

/* The member's share of first .. last-1, contiguous, in the order of the threads. */
static inline void eb_spin_team_share(const eb_spin_member *member, int64_t first, int64_t last,
                                      int64_t *from, int64_t *to) {
  int64_t count = last - first;
  *from = first + count * member->thread / member->size;
  *to = first + count * (member->thread + 1) / member->size;
}

#endif
