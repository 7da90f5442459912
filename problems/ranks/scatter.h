/* A mesh that rank 0 holds, cut into pieces. Internal to problems/ranks/. */
#ifndef EB_RANKS_SCATTER_H
#define EB_RANKS_SCATTER_H

#include "problems/mesh/generate.h"
#include "problems/ranks/ranks.h"

/* A rank's piece: all elements with a node of its own, owner[i] of node i of the piece, and the
 * counts of the whole. */
typedef struct eb_share {
  eb_piece piece;
  int32_t *owner;
  int64_t all_nodes, all_elements;
} eb_share;

/* `mesh` is the whole one at rank 0, and not looked at elsewhere. EB_ERR_USAGE: fewer nodes than
 * ranks. The caller clears *out, also on failure. Collective. */
EB_MUST eb_error eb_share_scatter(const eb_ranks *ranks, const eb_mesh *mesh, eb_share *out);
void eb_share_clear(eb_share *share);

#endif
