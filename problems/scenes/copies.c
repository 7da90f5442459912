#include "problems/base/vector3.h"
#include "problems/mesh/generate.h"
#include "problems/scenes/common.h"

/* `turned` is a copy of `body` to write to. */
static eb_error append_all(const eb_placement *place, int32_t count, const eb_mesh *body,
                           eb_mesh *turned, eb_mesh *all) {
  for (int32_t c = 0; c < count; c++) {
    for (size_t i = 0; i < (size_t)body->node_count; i++)
      eb_turn3(place[c].rotation, body->X + 3 * i, turned->X + 3 * i);
    EB_TRY(eb_mesh_append(all, turned, place[c].shift));
  }
  return EB_OK;
}

eb_error eb_scene_copies(const eb_placement *place, int32_t count, eb_mesh **mesh) {
  eb_mesh *turned, *all = NULL;
  EB_TRY(eb_mesh_copy(*mesh, &turned));
  eb_error error = eb_mesh_create(turned->type, 0, 0, &all);
  if (!error) error = append_all(place, count, *mesh, turned, all);
  if (!error) {
    eb_mesh *single = *mesh;
    *mesh = all;
    all = single;
  }
  eb_mesh_destroy(all);
  eb_mesh_destroy(turned);
  return error;
}
