/* Ranks: the processes that share one case, as MPI numbers them.
 *
 * Every function that takes `ranks` is collective: all ranks call it, in the same order. NULL
 * stands for a case that one process has for itself: then sums are what they were, and nothing is
 * exchanged. Results have the same bits on every rank, so that all take the same branches. */
#ifndef EB_RANKS_H
#define EB_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"

typedef struct eb_ranks eb_ranks;

/* All processes that mpiexec has started; starts MPI where nobody has. The caller destroys *out. */
EB_MUST eb_error eb_ranks_create(eb_ranks **out);
/* Ends MPI when eb_ranks_create has started it. NULL is fine. */
void eb_ranks_destroy(eb_ranks *ranks);

/* Not collective. */
int eb_ranks_count(const eb_ranks *ranks); /* NULL: 1 */
int eb_ranks_self(const eb_ranks *ranks);  /* from 0 on; NULL: 0 */

/* Over all ranks, in place, entry by entry. */
void eb_ranks_sum(const eb_ranks *ranks, int count, double *values);
void eb_ranks_max(const eb_ranks *ranks, int count, double *values);
void eb_ranks_min(const eb_ranks *ranks, int count, double *values);
void eb_ranks_sum_whole(const eb_ranks *ranks, int count, int64_t *values);
/* Whether it is so on any rank, on all. */
bool eb_ranks_any(const eb_ranks *ranks, bool mine);
bool eb_ranks_all(const eb_ranks *ranks, bool mine);
/* The error of the lowest rank that has one, on every rank ("rank 2: ..."); takes `mine`. After it
 * either all go on or all return. */
EB_MUST eb_error eb_ranks_agree(const eb_ranks *ranks, eb_error mine);

#endif
