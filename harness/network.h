/* The network between ranks, measured by messages. */
#ifndef EB_NETWORK_H
#define EB_NETWORK_H

#include "problems/ranks/ranks.h"

typedef struct eb_network {
  double latency;   /* s of a short message, one way */
  double bandwidth; /* byte/s of a long one */
  double reduction; /* s a doubling of ranks of an allreduce of one double */
} eb_network;

/* Between ranks 0 and 1 there and back, the others waiting as they do in a case: latency by 8
 * bytes, bandwidth by 1 MiB; reduction by allreduces of one double over all ranks, a doubling of
 * ranks. Each is the median of short series, some 0.2 s together. Collective, at least two ranks;
 * *out on all of them. EB_ERR_USAGE for fewer. */
EB_MUST eb_error eb_network_measure(const eb_ranks *ranks, eb_network *out);

#endif
