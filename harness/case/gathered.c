#include "harness/case/gathered.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

enum { HELD = 4, FORCE = 3 }; /* numbers of a node */

static bool is_first(const eb_gathered *whole) {
  return eb_ranks_self(whole->part->ranks) == 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Rank 0: what eb_scene_write and eb_state_create look at. */
static eb_error make_scene(const eb_scene *scene, eb_mesh *mesh, eb_scene *out) {
  size_t size = 3 * (size_t)mesh->node_count;
  *out = *scene;
  out->part = NULL;
  out->mesh = mesh;
  out->surface = NULL;
  out->x0 = out->v0 = NULL;
  out->node_area = NULL;
  out->script.uncut_nodes = mesh->node_count;
  EB_TRY(EB_NEW(out->x0, size));
  EB_TRY(EB_NEW(out->v0, size));
  return eb_mesh_surface(mesh, &out->surface);
}

static eb_error make_room(eb_gathered *whole) {
  size_t nodes = (size_t)whole->scene.mesh->node_count;
  if (whole->scene.ops->boundary) EB_TRY(EB_NEW(whole->held, HELD * nodes));
  if (whole->scene.script.load_count > 0) EB_TRY(EB_NEW(whole->force, FORCE * nodes));
  return eb_state_create(&whole->scene, &whole->state);
}

eb_error eb_gathered_create(const eb_scene *scene, eb_gathered *out) {
  const eb_ranks *ranks = eb_scene_ranks(scene);
  eb_mesh *mesh = NULL;
  *out = (eb_gathered){.part = scene->part};
  EB_TRY(eb_subdomain_gather_mesh(scene, &mesh));
  eb_error error = is_first(out) ? make_scene(scene, mesh, &out->scene) : EB_OK;
  if (!error) error = EB_NEW(out->values, HELD * (size_t)scene->mesh->node_count);
  if (!error) error = EB_NEW(out->fixed, scene->mesh->node_count);
  error = eb_ranks_agree(ranks, error);
  if (!error) error = eb_subdomain_gather(scene->part, 3, scene->x0, out->scene.x0);
  if (!error) error = eb_subdomain_gather(scene->part, 3, scene->v0, out->scene.v0);
  if (!error) error = eb_ranks_agree(ranks, is_first(out) ? make_room(out) : EB_OK);
  return error;
}

void eb_gathered_clear(eb_gathered *whole) {
  eb_surface_destroy(whole->scene.surface);
  eb_mesh_destroy(whole->scene.mesh);
  free(whole->scene.x0);
  free(whole->scene.v0);
  eb_state_destroy(whole->state);
  free(whole->held);
  free(whole->force);
  free(whole->values);
  free(whole->fixed);
  *whole = (eb_gathered){0};
}

void eb_gathered_release_mesh(eb_gathered *whole) {
  eb_mesh *mesh = whole->scene.mesh;
  if (!mesh) return;
  eb_surface_destroy(whole->scene.surface);
  void *const owned[] = {mesh->X,     mesh->elements,  mesh->region,
                         mesh->fibre, whole->scene.x0, whole->scene.v0};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  mesh->X = mesh->fibre = whole->scene.x0 = whole->scene.v0 = NULL;
  mesh->elements = mesh->region = NULL;
  whole->scene.surface = NULL;
}

/* ---- states ---------------------------------------------------------------------------------- */

eb_error eb_gathered_collect(eb_gathered *whole, const eb_state *state) {
  eb_state *all = whole->state;
  EB_TRY(eb_subdomain_gather(whole->part, 3, state->x, all ? all->x : NULL));
  EB_TRY(eb_subdomain_gather(whole->part, 3, state->v, all ? all->v : NULL));
  if (!all) return EB_OK;
  all->step = state->step;
  all->time = state->time;
  return EB_OK;
}

/* Which nodes are scripted, and where those belong. */
static eb_error gather_held(eb_gathered *whole, const eb_scene *scene, const eb_state *state) {
  size_t nodes = (size_t)state->node_count;
  double *target = whole->values + nodes;
  memset(whole->fixed, 0, nodes);
  eb_scene_boundary(scene, state->time, whole->fixed, target);
  /* A row of four ends before the targets that are still to be read: 4 i + 3 < nodes + 3 (i + 1).
   */
  for (size_t i = 0; i < nodes; i++) {
    double place[3];
    memcpy(place, target + 3 * i, sizeof place);
    whole->values[HELD * i] = whole->fixed[i] != 0;
    for (size_t d = 0; d < 3; d++) whole->values[HELD * i + 1 + d] = whole->fixed[i] ? place[d] : 0;
  }
  return eb_subdomain_gather(whole->part, HELD, whole->values, whole->held);
}

static eb_error gather_force(eb_gathered *whole, const eb_scene *scene, const eb_state *before) {
  eb_force_beyond_weight(scene, before, whole->values);
  return eb_subdomain_gather(whole->part, FORCE, whole->values, whole->force);
}

eb_error eb_gathered_frame(eb_gathered *whole, const eb_scene *scene, const eb_state *state,
                           const eb_state *before, eb_frame *out) {
  *out =
      (eb_frame){.state = whole->state, .held = whole->held, .force = before ? whole->force : NULL};
  EB_TRY(eb_gathered_collect(whole, state));
  if (scene->ops->boundary) EB_TRY(gather_held(whole, scene, state));
  return before && scene->script.load_count > 0 ? gather_force(whole, scene, before) : EB_OK;
}
