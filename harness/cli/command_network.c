/* elastobench network, of several processes that mpiexec has started: what messages between them
 * take. Not in the help. */
#include <stdio.h>

#include "harness/cli/command.h"
#include "harness/network.h"

static eb_error run(const eb_arguments *arguments, int *code) {
  (void)arguments;
  (void)code;
  eb_ranks *ranks;
  eb_network found;
  EB_TRY(eb_ranks_create(&ranks));
  eb_error error = eb_network_measure(ranks, &found);
  if (!error && eb_ranks_self(ranks) == 0)
    printf("network %d ranks: latency %.3g s, bandwidth %.3g byte/s, reduction %.3g s a doubling\n",
           eb_ranks_count(ranks), found.latency, found.bandwidth, found.reduction);
  eb_ranks_destroy(ranks);
  return error;
}

const eb_command eb_command_network = {
    .name = "network", .synopsis = "", .least = 0, .most = 0, .run = run};
