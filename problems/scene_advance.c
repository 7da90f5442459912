/* What changes in a scene while it runs: the activation of its fibres, and its mesh. */
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/scene_parts.h"

/* ---- following a cut ------------------------------------------------------------------------- */

/* Appends to `array` (nodes x 3) what it has at the parents of the new nodes. */
static eb_error follow_vectors(double **array, const int32_t *parent, int32_t before,
                               int32_t nodes) {
  double *grown = eb_recalloc(*array, 3 * (size_t)before, 3 * (size_t)nodes, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %d nodes after a cut", nodes);
  *array = grown;
  for (int32_t i = before; i < nodes; i++)
    memcpy(grown + 3 * (size_t)i, grown + 3 * (size_t)parent[i], 3 * sizeof *grown);
  return EB_OK;
}

/* Appends to `list` its entries at the parents of the new nodes. */
static eb_error follow_numbers(int32_t **list, const int32_t *parent, int32_t before,
                               int32_t nodes) {
  int32_t *grown = eb_recalloc(*list, (size_t)before, (size_t)nodes, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %d nodes after a cut", nodes);
  *list = grown;
  for (int32_t i = before; i < nodes; i++) grown[i] = grown[parent[i]];
  return EB_OK;
}

static eb_error follow_nodes(eb_scene *scene, eb_state *state, const int32_t *parent,
                             int32_t before) {
  int32_t nodes = scene->mesh->node_count;
  EB_TRY(follow_numbers(&scene->node_origin, parent, before, nodes));
  EB_TRY(follow_vectors(&scene->x0, parent, before, nodes));
  EB_TRY(follow_vectors(&scene->v0, parent, before, nodes));
  EB_TRY(follow_vectors(&state->x, parent, before, nodes));
  EB_TRY(follow_vectors(&state->v, parent, before, nodes));
  state->node_count = nodes;
  return EB_OK;
}

/* Surface, areas, elasticity and contact of the mesh as it is now. */
static eb_error follow_mesh(eb_scene *scene) {
  eb_contact_destroy(scene->contact);
  eb_elasticity_destroy(scene->elasticity);
  free(scene->node_area);
  eb_surface_destroy(scene->surface);
  scene->contact = NULL;
  scene->elasticity = NULL;
  scene->node_area = NULL;
  scene->surface = NULL;
  EB_TRY(eb_scene_make_surface(scene));
  return eb_scene_make_mechanics(scene);
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* Times are sums of steps: a cut a hair beyond the start of a step belongs to it. */
static bool is_due(const eb_scene *scene, double time) {
  return scene->cuts_made < scene->cut_count &&
         scene->cuts[scene->cuts_made].time <= time + 1e-6 * scene->dt;
}

/* Cuts `mesh`, which is the scene's or is to become it. */
static eb_error cut_mesh(const eb_scene *scene, const eb_cut *cut, eb_mesh *mesh,
                         int32_t **parent) {
  int32_t before = mesh->node_count;
  int32_t carried = scene->articulation ? eb_articulation_attached(scene->articulation) : 0;
  EB_TRY(eb_mesh_cut(mesh, cut, parent));
  for (int32_t k = 0; k < carried; k++) {
    int32_t node = eb_articulation_node(scene->articulation, k);
    for (int32_t i = before; i < mesh->node_count; i++) {
      if ((*parent)[i] != node) continue;
      free(*parent);
      return EB_ERROR(EB_ERR_UNSUPPORTED,
                      "the cut at %g s parts node %d, which a rigid body carries", cut->time, node);
    }
  }
  return EB_OK;
}

static eb_error make_cut(eb_scene *scene, eb_state *state) {
  const eb_cut *cut = &scene->cuts[scene->cuts_made];
  int32_t before = scene->mesh->node_count, *parent;
  if (state->node_count != before)
    return EB_ERROR(EB_ERR_INVALID, "a state of %d nodes does not fit a mesh of %d nodes",
                    state->node_count, before);
  if (!scene->uncut_mesh) EB_TRY(eb_mesh_copy(scene->mesh, &scene->uncut_mesh));
  EB_TRY(cut_mesh(scene, cut, scene->mesh, &parent));
  eb_error error = follow_nodes(scene, state, parent, before);
  free(parent);
  scene->cuts_made++;
  return eb_error_prefix(error, "the cut at %g s", cut->time);
}

/* ---- activation ------------------------------------------------------------------------------ */

static eb_error activate(eb_scene *scene, double time) {
  if (!scene->ops->activation) return EB_OK;
  double activation = scene->ops->activation(scene, time);
  if (!(activation >= 0 && activation <= 1))
    return EB_ERROR(EB_ERR_INVALID, "%s: an activation of %g at %g s; it is to be 0 to 1",
                    scene->ops->name, activation, time);
  for (int32_t r = 0; r < scene->material_count; r++)
    if (scene->materials[r].fibre != EB_FIBRE_NONE) scene->materials[r].activation = activation;
  eb_elasticity_activate(scene->elasticity, activation);
  return EB_OK;
}

/* ---- the step -------------------------------------------------------------------------------- */

eb_error eb_scene_advance(eb_scene *scene, eb_state *state, bool *changed) {
  int32_t nodes = scene->mesh->node_count;
  *changed = false;
  while (is_due(scene, state->time)) EB_TRY(make_cut(scene, state));
  if (scene->mesh->node_count != nodes) {
    EB_TRY(follow_mesh(scene));
    *changed = true;
  }
  return activate(scene, state->time + scene->dt);
}

/* ---- the mesh in the end --------------------------------------------------------------------- */

static eb_error make_all_cuts(const eb_scene *scene, eb_mesh *mesh, int32_t **parent) {
  EB_TRY(EB_NEW(*parent, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++) (*parent)[i] = i;
  for (int32_t c = scene->cuts_made; c < scene->cut_count; c++) {
    int32_t before = mesh->node_count, *from;
    EB_TRY(cut_mesh(scene, &scene->cuts[c], mesh, &from));
    memcpy(from, *parent, (size_t)before * sizeof *from);
    free(*parent);
    *parent = from;
  }
  return EB_OK;
}

eb_error eb_scene_final_mesh(const eb_scene *scene, eb_mesh **out, int32_t **parent) {
  *parent = NULL;
  EB_TRY(eb_mesh_copy(scene->mesh, out));
  eb_error error = make_all_cuts(scene, *out, parent);
  if (!error) return EB_OK;
  free(*parent);
  eb_mesh_destroy(*out);
  *parent = NULL;
  *out = NULL;
  return error;
}
