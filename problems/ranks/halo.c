/* Exchange of the values of ghosts between neighbours.
 *
 * An element with nodes of two ranks makes each hold the other's as ghosts: whoever receives from a
 * rank also sends to it, so that every rank knows its neighbours from its own ghosts, and nothing
 * here grows with the number of ranks. */
#include "problems/ranks/halo.h"

#include <string.h>

#include "problems/base/memory.h"
#include "problems/ranks/communicator.h"

enum { COUNTS, NODES, VALUES }; /* tags */

struct eb_halo {
  int neighbours;
  int *rank;              /* neighbours, ascending */
  int32_t *receive_start; /* neighbours + 1, into ghosts */
  int32_t *send_start;    /* neighbours + 1, into send_node */
  int32_t *send_node;     /* owned nodes that a neighbour has as ghosts, as it orders them */
  char *outgoing;         /* EB_HALO_BYTES a node sent */
  MPI_Request *request;   /* 2 a neighbour */
};

static int32_t sent(const eb_halo *halo) {
  return halo->send_start[halo->neighbours];
}

/* ---- who is a neighbour ---------------------------------------------------------------------- */

static eb_error list_owners(const eb_subdomain *part, int32_t local, const int32_t *owner,
                            eb_halo *halo) {
  for (int32_t i = part->nodes; i < local; i++)
    halo->neighbours += i == part->nodes || owner[i] != owner[i - 1];
  EB_TRY(EB_NEW(halo->rank, halo->neighbours));
  EB_TRY(EB_NEW(halo->receive_start, halo->neighbours + 1));
  EB_TRY(EB_NEW(halo->send_start, halo->neighbours + 1));
  EB_TRY(EB_NEW(halo->request, 2 * (size_t)halo->neighbours));
  int at = 0;
  for (int32_t i = part->nodes; i < local; i++) {
    if (i == part->nodes || owner[i] != owner[i - 1]) halo->rank[at++] = owner[i];
    halo->receive_start[at] = i + 1 - part->nodes;
  }
  return EB_OK;
}

static void wait_all(const eb_halo *halo) {
  MPI_Waitall(2 * halo->neighbours, halo->request, MPI_STATUSES_IGNORE);
}

static void exchange_counts(const eb_subdomain *part, eb_halo *halo) {
  MPI_Comm comm = eb_ranks_communicator(part->ranks);
  for (int k = 0; k < halo->neighbours; k++)
    MPI_Irecv(&halo->send_start[k + 1], 1, MPI_INT32_T, halo->rank[k], COUNTS, comm,
              &halo->request[2 * k]);
  for (int k = 0; k < halo->neighbours; k++) {
    int32_t wanted = halo->receive_start[k + 1] - halo->receive_start[k];
    MPI_Send(&wanted, 1, MPI_INT32_T, halo->rank[k], COUNTS, comm);
    halo->request[2 * k + 1] = MPI_REQUEST_NULL;
  }
  wait_all(halo);
  for (int k = 0; k < halo->neighbours; k++) halo->send_start[k + 1] += halo->send_start[k];
}

static int compare_numbers(const void *a, const void *b) {
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

/* Neighbours ask for nodes by their original numbers. */
static eb_error exchange_nodes(const eb_subdomain *part, eb_halo *halo) {
  MPI_Comm comm = eb_ranks_communicator(part->ranks);
  const int32_t *wanted = part->original_node + part->nodes;
  for (int k = 0; k < halo->neighbours; k++) {
    int32_t send = halo->send_start[k], receive = halo->receive_start[k];
    MPI_Irecv(halo->send_node + send, halo->send_start[k + 1] - send, MPI_INT32_T, halo->rank[k],
              NODES, comm, &halo->request[2 * k]);
    MPI_Isend(wanted + receive, halo->receive_start[k + 1] - receive, MPI_INT32_T, halo->rank[k],
              NODES, comm, &halo->request[2 * k + 1]);
  }
  wait_all(halo);
  for (int32_t i = 0; i < sent(halo); i++) {
    const int32_t *found = bsearch(&halo->send_node[i], part->original_node, (size_t)part->nodes,
                                   sizeof *found, compare_numbers);
    if (!found)
      return EB_ERROR(EB_ERR_INVALID, "node %d is asked for by another rank, but not owned",
                      halo->send_node[i]);
    halo->send_node[i] = (int32_t)(found - part->original_node);
  }
  return EB_OK;
}

static eb_error fill_halo(const eb_subdomain *part, int32_t local, const int32_t *owner,
                          eb_halo *halo) {
  EB_TRY(eb_ranks_agree(part->ranks, list_owners(part, local, owner, halo)));
  exchange_counts(part, halo);
  eb_error error = EB_NEW(halo->send_node, sent(halo));
  if (!error) error = EB_NEW(halo->outgoing, EB_HALO_BYTES * (size_t)sent(halo));
  EB_TRY(eb_ranks_agree(part->ranks, error));
  return eb_ranks_agree(part->ranks, exchange_nodes(part, halo));
}

eb_error eb_halo_create(const eb_subdomain *part, int32_t local, const int32_t *owner,
                        eb_halo **out) {
  *out = NULL;
  eb_halo *halo;
  eb_error error = eb_ranks_agree(part->ranks, EB_NEW(halo, 1));
  if (!error) error = fill_halo(part, local, owner, halo);
  if (error)
    eb_halo_destroy(halo);
  else
    *out = halo;
  return error;
}

void eb_halo_destroy(eb_halo *halo) {
  if (!halo) return;
  free(halo->request);
  free(halo->outgoing);
  free(halo->send_node);
  free(halo->send_start);
  free(halo->receive_start);
  free(halo->rank);
  free(halo);
}

/* ---- values ---------------------------------------------------------------------------------- */

void eb_halo_update(const eb_subdomain *part, size_t bytes, void *values) {
  const eb_halo *halo = part->halo;
  MPI_Comm comm = eb_ranks_communicator(part->ranks);
  char *own = values, *ghosts = own + bytes * (size_t)part->nodes;
  for (int k = 0; k < halo->neighbours; k++) {
    int32_t first = halo->receive_start[k], count = halo->receive_start[k + 1] - first;
    MPI_Irecv(ghosts + bytes * (size_t)first, (int)bytes * count, MPI_BYTE, halo->rank[k], VALUES,
              comm, &halo->request[2 * k]);
  }
  for (int k = 0; k < halo->neighbours; k++) {
    int32_t first = halo->send_start[k], end = halo->send_start[k + 1];
    char *outgoing = halo->outgoing + bytes * (size_t)first;
    for (int32_t i = first; i < end; i++)
      memcpy(halo->outgoing + bytes * (size_t)i, own + bytes * (size_t)halo->send_node[i], bytes);
    MPI_Isend(outgoing, (int)bytes * (end - first), MPI_BYTE, halo->rank[k], VALUES, comm,
              &halo->request[2 * k + 1]);
  }
  wait_all(halo);
}

void eb_subdomain_update(const eb_subdomain *part, int width, double *values) {
  if (part) eb_halo_update(part, (size_t)width * sizeof *values, values);
}
