/* The network between ranks, measured by messages: constants of scaling.h. */
#ifndef EB_PREDICT_NETWORK_H
#define EB_PREDICT_NETWORK_H

#include "harness/predict/scaling.h"
#include "problems/ranks/ranks.h"

/* Between ranks 0 and 1 there and back, the others waiting as they do in a case: latency by 8
 * bytes, bandwidth by 1 MiB; reduction by allreduces of one double over all ranks, a doubling of
 * ranks. Each is the median of short series, some 0.2 s together. Collective, at least two ranks;
 * *out on all of them. EB_ERR_USAGE for fewer. */
EB_MUST eb_error eb_network_measure(const eb_ranks *ranks, eb_network *out);

#endif
