/* Pieces of the mesh of a scene, where they are made. */
#include "problems/ranks/pieces.h"

#include "problems/base/memory.h"
#include "problems/scenes/scene_mesh.h"

/* ---- grids ----------------------------------------------------------------------------------- */

static eb_error make_piece(const eb_scene_ops *ops, const eb_values *parameters,
                           const eb_grid *grid, const eb_ranks *ranks, eb_piece *piece,
                           int32_t **owner) {
  int count = eb_ranks_count(ranks);
  eb_box box = eb_grid_box(grid, count, eb_ranks_self(ranks));
  EB_TRY(eb_scene_make_piece(ops, parameters, grid, box.lo, box.hi, piece));
  EB_TRY(EB_NEW(*owner, piece->mesh->node_count));
  int32_t row = grid->cubes[0] + 1, rows = grid->cubes[1] + 1;
  for (int32_t i = 0; i < piece->mesh->node_count; i++) {
    int32_t node = piece->node[i], above = node / row;
    (*owner)[i] =
        eb_grid_owner(grid, count, (const int32_t[3]){node % row, above % rows, above / rows});
  }
  return EB_OK;
}

static eb_error make_grid(const eb_scene_ops *ops, const eb_values *parameters, const eb_grid *grid,
                          const eb_ranks *ranks, eb_mesh **mesh, eb_part **part) {
  enum { PER_CUBE = 6 };
  int64_t nodes = 1, elements = PER_CUBE;
  for (int d = 0; d < 3; d++) {
    nodes *= grid->cubes[d] + 1;
    elements *= grid->cubes[d];
  }
  if (nodes < eb_ranks_count(ranks))
    return EB_ERROR(EB_ERR_USAGE, "%d ranks for %lld nodes; use fewer ranks or a finer mesh",
                    eb_ranks_count(ranks), (long long)nodes);
  eb_piece piece = {0};
  int32_t *owner = NULL;
  eb_error error = eb_ranks_agree(ranks, make_piece(ops, parameters, grid, ranks, &piece, &owner));
  if (!error) error = eb_part_create(ranks, nodes, elements, &piece, owner, mesh, part);
  free(owner);
  eb_piece_clear(&piece);
  return error;
}

eb_error eb_parts_make(const eb_scene_ops *ops, const eb_values *parameters, const char *mesh_file,
                       const char *cache_dir, const eb_ranks *ranks, eb_mesh **mesh,
                       eb_part **part) {
  eb_grid grid;
  (void)cache_dir;
  if (eb_scene_grid(ops, parameters, mesh_file, &grid))
    return make_grid(ops, parameters, &grid, ranks, mesh, part);
  return EB_ERROR(EB_ERR_UNSUPPORTED, "only grids are made in parts yet");
}
