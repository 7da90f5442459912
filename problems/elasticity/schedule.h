/* Chunks in a fixed order around every node, without barriers.
 *
 * Chunks are taken in ascending order by whichever thread is free. Before it starts, a chunk waits
 * for the last earlier chunk at each of its nodes, so that every node and every block receives its
 * contributions in the same order from any number of threads. Since chunks are sorted by colour,
 * the chunks waited for have nearly always finished long before; a thread that the system has put
 * aside delays its neighbours only. What comes before and after all contributions to a node is done
 * by the first and the last chunk that hold it, while its data are at hand. Internal to
 * problems/elasticity/ and to solvers that sweep over elements. */
#ifndef EB_SCHEDULE_H
#define EB_SCHEDULE_H

#include <stdatomic.h>
#include <stdint.h>

#include "problems/base/error.h"

typedef struct eb_schedule {
  int32_t chunks;
  int32_t *before_start; /* chunks + 1 */
  int32_t *before;       /* the chunks each one waits for */
  int32_t *open_start;   /* chunks + 1 */
  int32_t *open; /* the nodes each one is the first to hold; chunk 0 also those of no chunk */
  int32_t *close_start;  /* chunks + 1 */
  int32_t *close;        /* the nodes each one is the last to hold, likewise */
  atomic_uint *finished; /* chunks: the round in which each was last done */
  unsigned round;
  atomic_int next;
} eb_schedule;

/* Nodes of chunk c are node[node_start[c]] .. node[node_start[c + 1] - 1], repetitions allowed. */
EB_MUST eb_error eb_schedule_create(int32_t chunks, const int64_t *node_start, const int32_t *node,
                                    int32_t node_count, eb_schedule **out);
void eb_schedule_destroy(eb_schedule *schedule);
int64_t eb_schedule_bytes(const eb_schedule *schedule);

/* Starts a round; outside of parallel regions. */
void eb_schedule_begin(eb_schedule *schedule);
/* The next chunk, ready to be worked on, or -1 when all have been taken. */
int32_t eb_schedule_take(eb_schedule *schedule);
void eb_schedule_finish(eb_schedule *schedule, int32_t chunk);

#endif
