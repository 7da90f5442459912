/* Pieces of the mesh of a scene, where they are made. */
#include "problems/ranks/pieces.h"

#include "problems/base/memory.h"
#include "problems/ranks/scatter.h"
#include "problems/scenes/scene_mesh.h"

/* ---- grids ----------------------------------------------------------------------------------- */

static eb_error make_piece(const eb_grid *grid, const eb_ranks *ranks, eb_piece *piece,
                           int32_t **owner) {
  int count = eb_ranks_count(ranks);
  eb_box box = eb_grid_box(grid, count, eb_ranks_self(ranks));
  EB_TRY(eb_generate_tets6_piece(grid, box.lo, box.hi, piece));
  EB_TRY(EB_NEW(*owner, piece->mesh->node_count));
  int32_t row = grid->cubes[0] + 1, rows = grid->cubes[1] + 1;
  for (int32_t i = 0; i < piece->mesh->node_count; i++) {
    int32_t node = piece->node[i], above = node / row;
    (*owner)[i] =
        eb_grid_owner(grid, count, (const int32_t[3]){node % row, above % rows, above / rows});
  }
  return EB_OK;
}

static eb_error make_grid(const eb_grid *grid, const eb_ranks *ranks, eb_mesh **mesh,
                          eb_subdomain **part) {
  enum { PER_CUBE = 6 };
  int64_t nodes = 1, elements = PER_CUBE;
  for (int d = 0; d < 3; d++) {
    nodes *= grid->cubes[d] + 1;
    elements *= grid->cubes[d];
  }
  EB_TRY(eb_parts_check(ranks, nodes));
  eb_piece piece = {0};
  int32_t *owner = NULL;
  eb_error error = eb_ranks_agree(ranks, make_piece(grid, ranks, &piece, &owner));
  if (!error) error = eb_subdomain_create(ranks, nodes, elements, &piece, owner, mesh, part);
  free(owner);
  eb_piece_clear(&piece);
  return error;
}

/* ---- other meshes ---------------------------------------------------------------------------- */

/* Rank 0 gives the whole mesh back as soon as it is sent. */
static eb_error share_mesh(const eb_ranks *ranks, eb_mesh **whole, eb_mesh **mesh,
                           eb_subdomain **part) {
  eb_share share;
  eb_error error = eb_share_scatter(ranks, *whole, &share);
  eb_mesh_destroy(*whole);
  *whole = NULL;
  if (!error)
    error = eb_subdomain_create(ranks, share.all_nodes, share.all_elements, &share.piece,
                                share.owner, mesh, part);
  eb_share_clear(&share);
  return error;
}

eb_error eb_parts_make(const eb_scene_ops *ops, const eb_values *parameters, const char *mesh_file,
                       const char *cache_dir, const eb_ranks *ranks, eb_mesh **mesh,
                       eb_subdomain **part) {
  eb_grid grid;
  eb_mesh *whole = NULL;
  if (eb_scene_grid(ops, parameters, mesh_file, &grid)) return make_grid(&grid, ranks, mesh, part);
  eb_error error = EB_OK;
  if (eb_ranks_self(ranks) == 0)
    error = eb_scene_make_mesh(ops, parameters, mesh_file, cache_dir, &whole);
  error = eb_ranks_agree(ranks, error);
  if (!error) error = share_mesh(ranks, &whole, mesh, part);
  eb_mesh_destroy(whole);
  return error;
}
