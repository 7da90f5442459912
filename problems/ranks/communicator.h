/* The communicator of ranks, for libraries and for exchanges of more than sums. */
#ifndef EB_RANKS_COMMUNICATOR_H
#define EB_RANKS_COMMUNICATOR_H

#include <mpi.h>

#include "problems/ranks/ranks.h"

/* Not collective. NULL: MPI_COMM_SELF. Owned by the ranks. */
MPI_Comm eb_ranks_communicator(const eb_ranks *ranks);

#endif
