/* Where the parts of a mesh come from: pieces of it, and who owns their nodes. Internal to
 * problems/. */
#ifndef EB_RANKS_PIECES_H
#define EB_RANKS_PIECES_H

#include "problems/mesh/generate.h"
#include "problems/ranks/subdomain.h"

/* A rank's part of a mesh from the piece of it that has all elements with a node of the rank:
 * owner[i] owns node i of the piece. *mesh has nodes and elements in the part's order; the caller
 * destroys both. Collective. */
EB_MUST eb_error eb_subdomain_create(const eb_ranks *ranks, int64_t all_nodes, int64_t all_elements,
                                     const eb_piece *piece, const int32_t *owner, eb_mesh **mesh,
                                     eb_subdomain **out);

/* EB_ERR_USAGE when there are fewer nodes than ranks. Not collective. */
EB_MUST eb_error eb_parts_check(const eb_ranks *ranks, int64_t nodes);

/* The mesh of a scene in parts (as eb_scene_make_mesh): a grid is made in pieces, every rank its
 * own; any other mesh is read or made by rank 0, cut by METIS and sent. Collective. */
EB_MUST eb_error eb_parts_make(const eb_scene_ops *ops, const eb_values *parameters,
                               const char *mesh_file, const char *cache_dir, const eb_ranks *ranks,
                               eb_mesh **mesh, eb_subdomain **part);

/* The box of nodes lo <= (i, j, k) < hi of a grid that a rank owns, of `ranks`, at most as many as
 * nodes. */
typedef struct eb_box {
  int32_t lo[3], hi[3];
} eb_box;
eb_box eb_grid_box(const eb_grid *grid, int ranks, int rank);
/* Whose it is. */
int eb_grid_owner(const eb_grid *grid, int ranks, const int32_t node[3]);

#endif
