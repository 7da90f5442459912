/* Collective sums, extremes and errors on MPI.
 * Reference: MPI: A Message-Passing Interface Standard 3.1, Chapter 5.
 *
 * MPI_Allreduce may give ranks results that differ in the last bit; a line search would then go two
 * ways at once. So everything is reduced to rank 0, whose result is sent to all. Errors of MPI
 * itself end the program: its default error handler, MPI_ERRORS_ARE_FATAL, stays. */
#include <stdio.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/ranks/communicator.h"

struct eb_ranks {
  MPI_Comm comm;
  int count, self;
  bool started; /* MPI, by us */
};

eb_error eb_ranks_create(eb_ranks **out) {
  int running;
  EB_TRY(EB_NEW(*out, 1));
  eb_ranks *ranks = *out;
  MPI_Initialized(&running);
  ranks->started = !running;
  if (!running) MPI_Init(NULL, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &ranks->comm);
  MPI_Comm_size(ranks->comm, &ranks->count);
  MPI_Comm_rank(ranks->comm, &ranks->self);
  return EB_OK;
}

void eb_ranks_destroy(eb_ranks *ranks) {
  if (!ranks) return;
  bool started = ranks->started;
  MPI_Comm_free(&ranks->comm);
  free(ranks);
  if (started) MPI_Finalize();
}

int eb_ranks_count(const eb_ranks *ranks) {
  return ranks ? ranks->count : 1;
}

int eb_ranks_self(const eb_ranks *ranks) {
  return ranks ? ranks->self : 0;
}

MPI_Comm eb_ranks_communicator(const eb_ranks *ranks) {
  return ranks ? ranks->comm : MPI_COMM_SELF;
}

static void reduce(const eb_ranks *ranks, int count, void *values, MPI_Datatype type, MPI_Op op) {
  if (!ranks || ranks->count == 1) return;
  bool first = ranks->self == 0;
  MPI_Reduce(first ? MPI_IN_PLACE : values, first ? values : NULL, count, type, op, 0, ranks->comm);
  MPI_Bcast(values, count, type, 0, ranks->comm);
}

void eb_ranks_sum(const eb_ranks *ranks, int count, double *values) {
  reduce(ranks, count, values, MPI_DOUBLE, MPI_SUM);
}

void eb_ranks_max(const eb_ranks *ranks, int count, double *values) {
  reduce(ranks, count, values, MPI_DOUBLE, MPI_MAX);
}

void eb_ranks_min(const eb_ranks *ranks, int count, double *values) {
  reduce(ranks, count, values, MPI_DOUBLE, MPI_MIN);
}

void eb_ranks_sum_whole(const eb_ranks *ranks, int count, int64_t *values) {
  reduce(ranks, count, values, MPI_INT64_T, MPI_SUM);
}

bool eb_ranks_any(const eb_ranks *ranks, bool mine) {
  int any = mine;
  reduce(ranks, 1, &any, MPI_INT, MPI_LOR);
  return any != 0;
}

bool eb_ranks_all(const eb_ranks *ranks, bool mine) {
  return !eb_ranks_any(ranks, !mine);
}

eb_error eb_ranks_agree(const eb_ranks *ranks, eb_error mine) {
  if (!ranks || ranks->count == 1) return mine;
  enum { MESSAGE_BYTES = 1000 };
  int failed = mine ? ranks->self : ranks->count, code = mine ? (int)eb_error_kind(mine) : 0;
  char message[MESSAGE_BYTES] = "";
  reduce(ranks, 1, &failed, MPI_INT, MPI_MIN);
  if (failed == ranks->count) return EB_OK;
  if (mine) strncpy(message, eb_error_message(mine), sizeof message - 1);
  MPI_Bcast(&code, 1, MPI_INT, failed, ranks->comm);
  MPI_Bcast(message, sizeof message, MPI_CHAR, failed, ranks->comm);
  eb_error_free(mine);
  /* What was agreed upon before names its rank, maybe behind words that were put in front. */
  char named[32];
  snprintf(named, sizeof named, "rank %d: ", failed);
  bool before = strstr(message, named) != NULL;
  return EB_ERROR((eb_error_code)code, "%s%s", before ? "" : named, message);
}
