/* Starting the ranks of a case (solver option `ranks`), and what is said of their end.
 *
 * The command that starts N processes is `mpiexec -n N`, with what Open MPI must be told on a
 * machine whose cores others share: that root may, that there may be more ranks than cores, that
 * nothing is bound and who waits yields. The environment variable ELASTOBENCH_MPIEXEC takes its
 * place, a command whose words are split at spaces and which the number follows: "srun -n". Then
 * nothing is added to it. */
#ifndef EB_CASE_LAUNCH_H
#define EB_CASE_LAUNCH_H

#include <stdbool.h>

#include "problems/base/strings.h"

#define EB_LAUNCH_VARIABLE "ELASTOBENCH_MPIEXEC"
/* Where a rank finds the page of its parent (child.h): path and token; on this host alone. */
#define EB_PAGE_VARIABLE "ELASTOBENCH_PAGE"

/* Appends the command up to and with the number of ranks. EB_ERR_IO: there is no such program. */
EB_MUST eb_error eb_launch_command(int ranks, eb_strings *out);
/* Appends the settings that it wants ("NAME=value"), but for those that the user has made. */
EB_MUST eb_error eb_launch_settings(eb_strings *out);

/* The rank that ended the others, and how. */
typedef struct eb_rank_end {
  int rank;
  int signal; /* 0: it ended with `status` */
  int status;
} eb_rank_end;
/* By the last words of Open MPI's mpiexec; false where there are none. */
bool eb_launch_find_end(const char *output, eb_rank_end *out);
/* How many bytes of the output stand before what mpiexec itself says in the end. */
int eb_launch_words_before(const char *output);

#endif
