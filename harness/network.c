/* Ping-pong and allreduce (as of the OSU and Intel MPI benchmarks). */
#include "harness/network.h"

#include <math.h>
#include <stdlib.h>

#include "harness/results/sample.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/ranks/communicator.h"

enum { SERIES = 11, SHORT = 1, LONG = 1 << 17 /* doubles: 1 MiB */ };

/* Seconds one way of `count` doubles, by the clock of rank 0. */
static double one_way(const eb_ranks *ranks, double *values, int count, int times) {
  const int self = eb_ranks_self(ranks);
  MPI_Comm world = eb_ranks_communicator(ranks);
  MPI_Barrier(world);
  double began = eb_wall_seconds();
  for (int k = 0; k < times && self < 2; k++)
    for (int from = 0; from < 2; from++)
      if (self == from)
        MPI_Send(values, count, MPI_DOUBLE, 1 - self, 0, world);
      else
        MPI_Recv(values, count, MPI_DOUBLE, from, 0, world, MPI_STATUS_IGNORE);
  return (eb_wall_seconds() - began) / (2 * times);
}

static double reduce(const eb_ranks *ranks, int times) {
  double one = 1;
  MPI_Barrier(eb_ranks_communicator(ranks));
  double began = eb_wall_seconds();
  for (int k = 0; k < times; k++) eb_ranks_max(ranks, 1, &one);
  return (eb_wall_seconds() - began) / times;
}

eb_error eb_network_measure(const eb_ranks *ranks, eb_network *out) {
  double *values, seconds[3][SERIES];
  const int count = eb_ranks_count(ranks);
  if (count < 2) return EB_ERROR(EB_ERR_USAGE, "a network is between two ranks at least");
  EB_TRY(eb_ranks_agree(ranks, EB_NEW(values, LONG)));
  for (int k = 0; k < SERIES; k++) {
    seconds[0][k] = one_way(ranks, values, SHORT, 500);
    seconds[1][k] = one_way(ranks, values, LONG, 10);
    seconds[2][k] = reduce(ranks, 500);
  }
  free(values);
  double found[3];
  for (int k = 0; k < 3; k++)
    found[k] = eb_ranks_self(ranks) == 0 ? eb_median(seconds[k], SERIES, 0) : 0;
  eb_ranks_max(ranks, 3, found);
  *out = (eb_network){.latency = found[0],
                      .bandwidth = 8. * LONG / fmax(1e-12, found[1] - found[0]),
                      .reduction = found[2] / log2(count)};
  return EB_OK;
}
