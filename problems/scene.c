/* Building a scene from its table: parameters, mesh (generated, cached or replaced), surface,
 * setup, elasticity, cuts. Setup is collective where several processes hold parts: after every
 * stage all go on or all return. */
#include "problems/scene_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/clusters.h"
#include "problems/elasticity/masses.h"
#include "problems/elasticity/plugged_rules.h"
#include "problems/mesh/faces.h"
#include "problems/scene_bodies.h"
#include "problems/ranks/pieces.h"
#include "problems/reference_scene.h"
#include "problems/scene_hash.h"
#include "problems/scenes/scene_mesh.h"
#include "problems/springs.h"

/* ---- what follows from mesh and materials ---------------------------------------------------- */

/* What follows from the mesh alone: surface and node_area. Of a part, the triangles that have a
 * node of its own: where the others' nodes alone meet, its mesh may end inside the body. */
static eb_error make_surface(eb_scene *scene) {
  EB_TRY(eb_mesh_surface(scene->mesh, &scene->surface));
  if (scene->part) EB_TRY(eb_surface_keep(scene->surface, scene->part->nodes));
  EB_TRY(EB_NEW(scene->node_area, scene->mesh->node_count));
  const eb_surface *surface = scene->surface;
  /* A third of every surface triangle's area goes to each of its corners. */
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * t;
    double u[3], v[3], normal[3];
    for (int d = 0; d < 3; d++) {
      u[d] = surface->X[3 * corner[1] + d] - surface->X[3 * corner[0] + d];
      v[d] = surface->X[3 * corner[2] + d] - surface->X[3 * corner[0] + d];
    }
    eb_cross3(u, v, normal);
    double third = sqrt(eb_dot3(normal, normal)) / 6;
    for (int k = 0; k < 3; k++)
      scene->node_area[surface->node ? surface->node[corner[k]] : corner[k]] += third;
  }
  return EB_OK;
}

/* What follows from mesh, surface, materials and colliders: elasticity, of a `reference` its masses
 * alone, and contact. */
static eb_error make_mechanics(eb_scene *scene, bool reference) {
  int32_t counted = eb_scene_own_elements(scene);
  EB_TRY((reference ? eb_elasticity_create_masses : eb_elasticity_create_shared)(
      scene->mesh, scene->materials, counted, &scene->elasticity));
  eb_contact_settings settings = {.step = scene->dt,
                                  .friction = scene->contacts.friction,
                                  .colliders = scene->contacts.collider_count,
                                  .between_bodies = scene->contacts.bodies_collide};
  settings.friction.common = scene->contacts.bodies_friction;
  double young[EB_MAX_REGIONS];
  bool wanted = scene->contacts.bodies_collide;
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    wanted = wanted || (scene->contacts.colliders[c].stiffness <= 0 &&
                        !scene->contacts.colliders[c].implicit);
  for (int32_t r = 0; r < scene->material_count; r++) young[r] = scene->materials[r].young;
  if (!wanted) return EB_OK;
  return eb_contact_create(scene->mesh, scene->surface, eb_elasticity_mass(scene->elasticity),
                           scene->node_area, young, &settings, &scene->contacts.penalty);
}

/* ---- what setup may say ---------------------------------------------------------------------- */

/* The scripted cuts: in order, and no node that rides on a body is parted, for its copy would be
 * free. Articulated nodes are nodes of the mesh. */
static eb_error ask_for_cuts(eb_scene *scene) {
  int32_t count = scene->ops->cuts ? scene->ops->cuts(scene, scene->script.cuts) : 0;
  if (count < 0 || count > EB_MAX_CUTS)
    return EB_ERROR(EB_ERR_LIMIT, "%d cuts are scripted; a scene makes at most %d", count,
                    EB_MAX_CUTS);
  if (count > 0 && scene->script.load_count > 0)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "a scene with cuts cannot have loads: their patterns are "
                                        "of the uncut nodes");
  scene->script.cut_count = count;
  for (int32_t c = 0; c < count; c++) {
    EB_TRY(eb_cut_validate(&scene->script.cuts[c]));
    if (c > 0 && scene->script.cuts[c].time < scene->script.cuts[c - 1].time)
      return EB_ERROR(EB_ERR_INVALID, "the cut at %g s is scripted behind the one at %g s",
                      scene->script.cuts[c].time, scene->script.cuts[c - 1].time);
  }
  int32_t carried =
      scene->rigid.articulation ? eb_articulation_attached(scene->rigid.articulation) : 0;
  for (int32_t k = 0; k < carried; k++) {
    int32_t node = eb_articulation_node(scene->rigid.articulation, k);
    if (node < 0 || node >= scene->mesh->node_count)
      return EB_ERROR(EB_ERR_INVALID, "node %d rides on a rigid body, but nodes are 0 to %d", node,
                      scene->mesh->node_count - 1);
  }
  if (carried == 0 || count == 0) return EB_OK;
  eb_mesh *mesh;
  int32_t *parent;
  EB_TRY(eb_scene_final_mesh(scene, &mesh, &parent));
  eb_mesh_destroy(mesh);
  free(parent);
  return EB_OK;
}

/* Nothing else moves the nodes of free bodies, and cuts would leave copies behind. */
static eb_error check_riders(const eb_scene *scene) {
  uint8_t *fixed;
  double *target;
  if (scene->script.cut_count > 0 || scene->rigid.articulation)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "a scene with rigid regions can have neither cuts nor an articulation");
  EB_TRY(EB_NEW(fixed, scene->mesh->node_count));
  eb_error error = EB_NEW(target, 3 * (size_t)scene->mesh->node_count);
  if (!error) eb_scene_boundary(scene, 0, fixed, target);
  for (int32_t i = 0; !error && i < scene->mesh->node_count; i++)
    if (fixed[i] && scene->rigid.free_bodies->of_node[i] >= 0)
      error = EB_ERROR(EB_ERR_INVALID,
                       "node %d is scripted and of a rigid region; make what is scripted an "
                       "obstacle, or an elastic region",
                       i);
  free(target);
  free(fixed);
  return error;
}

/* Checks what the setup says of contact as constraints, and makes free_bodies of the regions it
 * declares rigid. Asks the scene's boundary and for its cuts: both must be there. */
static eb_error make_constraints(eb_scene *scene) {
  double density[EB_MAX_REGIONS];
  bool constrained = scene->contacts.obstacle_count != 0 || scene->contacts.friction.common != 0;
  for (int32_t r = 0; r < EB_MAX_REGIONS; r++) constrained = constrained || scene->rigid.regions[r];
  if (constrained && !(scene->ops->needs & EB_CAP_CONTACT))
    return EB_ERROR(EB_ERR_INVALID,
                    "obstacles, contact friction and rigid regions belong to contact as "
                    "constraints; add EB_CAP_CONTACT to the scene's needs");
  EB_TRY(eb_friction_validate(&scene->contacts.friction));
  if (scene->contacts.friction.pair_count > 0 && scene->script.cut_count > 0)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "a scene with cuts has friction by pairs; nodes that cuts add have no names");
  if (scene->contacts.obstacle_count < 0 || scene->contacts.obstacle_count > EB_MAX_OBSTACLES)
    return EB_ERROR(EB_ERR_LIMIT, "%d obstacles are set up; a scene has at most %d",
                    scene->contacts.obstacle_count, EB_MAX_OBSTACLES);
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    EB_TRY(eb_error_prefix(eb_obstacle_validate(&scene->contacts.obstacles[o]), "obstacle %d", o));
  for (int32_t r = 0; r < scene->material_count; r++) density[r] = scene->materials[r].density;
  EB_TRY(
      eb_free_bodies_create(scene->mesh, scene->rigid.regions, density, &scene->rigid.free_bodies));
  return scene->rigid.free_bodies ? check_riders(scene) : EB_OK;
}

/* ---- bounds of the audit --------------------------------------------------------------------- */

/* Ten times the tolerances of Verschoor and Jalba 2019 (Section 6: 5e-6 m, 5e-5 kg m/s, 1.2
 * degrees), which solvers meet in norms of their own; angles twice. Forces may act across one gap
 * beyond the distance that is kept. */
static const eb_contact_bounds contact_bounds = {.gap = 1e-4,
                                                 .near = 1e-5,
                                                 .distance = 5e-5,
                                                 .reach = 1e-4,
                                                 .momentum = 5e-4,
                                                 .cone = 1e-2,
                                                 .angle = 2.4,
                                                 .normal = 10};

/* A twentieth of a body, and what a step takes it beyond the surface before any force has met it:
 * one and a half times the way of a step at the speed of its first impact. */
static eb_error bound_penetration(eb_scene *scene) {
  enum { TIMES = 500 };
  double speed2 = 0, fall = INFINITY, collider_speed = 0, diagonal, normal[3], velocity[3];
  double end = (double)scene->ops->steps * scene->dt;
  EB_TRY(eb_scene_body_diagonal(scene, &diagonal));
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    speed2 = fmax(speed2, eb_dot3(scene->v0 + 3 * (size_t)i, scene->v0 + 3 * (size_t)i));
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    const eb_collider *collider = &scene->contacts.colliders[c];
    /* The least distance of a node at the start; the most that a script moves at in the default
     * run. */
    for (int32_t i = 0; i < scene->mesh->node_count; i++)
      fall = fmin(fall,
                  eb_collider_distance(collider, 0, scene->x0 + 3 * (size_t)i, normal, velocity));
    eb_pose pose;
    for (int s = 0; s <= TIMES && eb_collider_pose(collider, end * s / TIMES, &pose); s++) {
      collider_speed = fmax(collider_speed, sqrt(eb_dot3(pose.velocity, pose.velocity)));
      for (int32_t i = 0; collider->turn && i < scene->mesh->node_count; i++) {
        eb_pose_velocity(&pose, scene->x0 + 3 * (size_t)i, velocity);
        collider_speed = fmax(collider_speed, sqrt(eb_dot3(velocity, velocity)));
      }
    }
  }
  eb_ranks_max(eb_scene_ranks(scene), 1, &speed2);
  if (fall > 0 && isfinite(fall))
    speed2 += 2 * sqrt(eb_dot3(scene->gravity, scene->gravity)) * fall;
  scene->contacts.penetration_bound =
      diagonal / 20 + 1.5 * scene->dt * (sqrt(speed2) + collider_speed);
  return EB_OK;
}

/* They count on nodes that stay the same ones, and move by forces or by script. */
static eb_error check_springs_and_clusters(const eb_scene *scene) {
  bool plain = scene->script.cut_count == 0 && !scene->rigid.articulation &&
               !scene->rigid.free_bodies && !(scene->ops->needs & EB_CAP_CONTACT);
  if (!plain && (scene->script.spring_count > 0 || scene->clusters.count > 0))
    return EB_ERROR(EB_ERR_UNSUPPORTED, "a scene with springs or clusters can have neither cuts, "
                                        "nor rigid bodies, nor contact as constraints");
  EB_TRY(eb_springs_check(scene));
  return eb_clusters_check(scene);
}

/* ---- creation -------------------------------------------------------------------------------- */

/* What several processes cannot share: it looks at pairs of nodes, wherever they are. */
static eb_error check_parts(const eb_scene *scene) {
  bool plain = scene->contacts.collider_count == 0 && !scene->contacts.bodies_collide &&
               !scene->ops->cuts && !scene->rigid.articulation && scene->script.spring_count == 0 &&
               scene->clusters.count == 0 && !(scene->ops->needs & EB_CAP_CONTACT);
  if (scene->part && !plain)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "a scene with colliders, contact, cuts, rigid bodies, springs or clusters "
                    "cannot be cut into parts; use ranks=1");
  return EB_OK;
}

static eb_error make_mesh(eb_scene *scene, const char *mesh_file, const char *cache_dir,
                          const eb_ranks *ranks) {
  const eb_scene_ops *ops = scene->ops;
  if (ranks)
    EB_TRY(eb_parts_make(ops, scene->parameters, mesh_file, cache_dir, ranks, &scene->mesh,
                         &scene->part));
  else
    EB_TRY(eb_scene_make_mesh(ops, scene->parameters, mesh_file, cache_dir, &scene->mesh));
  snprintf(scene->mesh_source, sizeof scene->mesh_source, "%s",
           mesh_file ? mesh_file : "generated");
  if (scene->mesh->region_count > EB_MAX_REGIONS)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "%s has %d regions; a scene takes at most %d",
                    scene->mesh_source, scene->mesh->region_count, EB_MAX_REGIONS);
  return EB_OK;
}

/* What follows from the mesh, before setup: at rest, and every node its own origin. */
static eb_error make_rest(eb_scene *scene) {
  EB_TRY(make_surface(scene));
  size_t nodes = (size_t)scene->mesh->node_count;
  EB_TRY(EB_NEW(scene->x0, 3 * nodes));
  memcpy(scene->x0, scene->mesh->X, 3 * nodes * sizeof *scene->x0);
  EB_TRY(EB_NEW(scene->v0, 3 * nodes));
  EB_TRY(EB_NEW(scene->script.node_origin, nodes));
  for (size_t i = 0; i < nodes; i++) scene->script.node_origin[i] = (int32_t)i;
  scene->script.uncut_nodes = scene->mesh->node_count;
  scene->dt = eb_values_real(scene->parameters, "dt");
  scene->material_count = scene->mesh->region_count;
  scene->contacts.bounds = contact_bounds;
  return EB_OK;
}

/* A plug-in's material also keeps its rules at the parameters that it has here. */
static eb_error check_material(const eb_material *material) {
  EB_TRY(eb_material_validate(material));
  return material->kind == EB_PLUGGED ? eb_plugged_check(material) : EB_OK;
}

/* What follows from setup. */
static eb_error finish(eb_scene *scene, bool reference) {
  EB_TRY(check_parts(scene));
  for (int32_t r = 0; r < scene->material_count; r++)
    EB_TRY(eb_error_prefix(check_material(&scene->materials[r]), "region '%s'",
                           scene->mesh->region_name[r]));
  EB_TRY(make_mechanics(scene, reference));
  EB_TRY(ask_for_cuts(scene));
  EB_TRY(make_constraints(scene));
  return check_springs_and_clusters(scene);
}

/* Collective. */
static eb_error build(eb_scene *scene, const char *assignments, const char *mesh_file,
                      const char *cache_dir, const eb_ranks *ranks, bool reference) {
  const eb_scene_ops *ops = scene->ops;
  EB_TRY(eb_ranks_agree(
      ranks, eb_values_create(ops->name, ops->parameters, assignments, &scene->parameters)));
  EB_TRY(make_mesh(scene, mesh_file, cache_dir, ranks));
  EB_TRY(eb_ranks_agree(ranks, make_rest(scene)));
  EB_TRY(eb_ranks_agree(ranks, ops->setup(scene)));
  if (scene->contacts.penetration_bound <= 0) EB_TRY(bound_penetration(scene));
  EB_TRY(eb_ranks_agree(ranks, finish(scene, reference)));
  return eb_scene_make_hash(scene);
}

static eb_error create(const eb_scene_ops *ops, const char *assignments, const char *mesh_file,
                       const char *cache_dir, const eb_ranks *ranks, bool reference,
                       eb_scene **out) {
  *out = NULL;
  if (ranks && !ops->by_parts)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "%s cannot be cut into parts for several processes; use ranks=1", ops->name);
  eb_scene *scene;
  eb_error error = eb_ranks_agree(ranks, EB_NEW(scene, 1));
  if (!error) {
    scene->ops = eb_scene_keep(ops);
    error = build(scene, assignments, mesh_file, cache_dir, ranks, reference);
  }
  if (error) {
    eb_scene_destroy(scene);
    return eb_error_kind(error) == EB_ERR_USAGE ? error : eb_error_prefix(error, "%s", ops->name);
  }
  *out = scene;
  return EB_OK;
}

eb_error eb_scene_create_part(const eb_scene_ops *ops, const char *assignments,
                              const char *mesh_file, const char *cache_dir, const eb_ranks *ranks,
                              eb_scene **out) {
  return create(ops, assignments, mesh_file, cache_dir, ranks, false, out);
}

eb_error eb_scene_create_reference(const eb_scene_ops *ops, const char *assignments,
                                   const char *mesh_file, const char *cache_dir,
                                   const eb_ranks *ranks, eb_scene **out) {
  return create(ops, assignments, mesh_file, cache_dir, ranks, true, out);
}

eb_error eb_scene_create(const eb_scene_ops *ops, const char *assignments, const char *mesh_file,
                         const char *cache_dir, eb_scene **out) {
  return eb_scene_create_part(ops, assignments, mesh_file, cache_dir, NULL, out);
}

void eb_scene_destroy(eb_scene *scene) {
  if (!scene) return;
  if (scene->ops && scene->ops->clear) scene->ops->clear(scene);
  eb_articulation_destroy(scene->rigid.articulation);
  eb_free_bodies_destroy(scene->rigid.free_bodies);
  for (int o = 0; o < EB_MAX_OBSTACLES; o++) eb_obstacle_clear(&scene->contacts.obstacles[o]);
  for (int c = 0; c < EB_MAX_COLLIDERS; c++) eb_collider_clear(&scene->contacts.colliders[c]);
  eb_contact_destroy(scene->contacts.penalty);
  eb_friction_clear(&scene->contacts.friction);
  eb_elasticity_destroy(scene->elasticity);
  for (int g = 0; g < EB_MAX_GRIPS; g++) free(scene->script.grips[g].nodes);
  for (int32_t k = 0; k < scene->script.load_count; k++) free(scene->script.load[k]);
  free(scene->script.spring_node);
  eb_cluster_set_clear(&scene->clusters);
  free(scene->script.node_origin);
  free(scene->v0);
  free(scene->x0);
  free(scene->node_area);
  eb_surface_destroy(scene->surface);
  eb_mesh_destroy(scene->script.uncut_mesh);
  eb_subdomain_destroy(scene->part);
  eb_mesh_destroy(scene->mesh);
  eb_values_destroy(scene->parameters);
  eb_scene_close(scene->ops);
  free(scene);
}

eb_error eb_scene_add_load(eb_scene *scene, double **pattern) {
  if (scene->script.load_count == EB_MAX_LOADS)
    return EB_ERROR(EB_ERR_LIMIT, "a scene takes at most %d loads", EB_MAX_LOADS);
  EB_TRY(EB_NEW(*pattern, 3 * (size_t)scene->mesh->node_count));
  scene->script.load[scene->script.load_count++] = *pattern;
  return EB_OK;
}

/* ---- cuts while it runs ---------------------------------------------------------------------- */

/* Appends to an array of entries of `size` bytes, one a node, those at the parents of the nodes
 * from `before` on. */
static eb_error follow(void **array, size_t size, const int32_t *parent, int32_t before,
                       int32_t nodes) {
  char *grown = eb_recalloc(*array, (size_t)before, (size_t)nodes, size);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %d nodes after a cut", nodes);
  *array = grown;
  for (int32_t i = before; i < nodes; i++)
    memcpy(grown + size * (size_t)i, grown + size * (size_t)parent[i], size);
  return EB_OK;
}

static eb_error follow_nodes(eb_scene *scene, eb_state *state, const int32_t *parent,
                             int32_t before) {
  int32_t nodes = scene->mesh->node_count;
  double **vectors[] = {&scene->x0, &scene->v0, &state->x, &state->v};
  EB_TRY(follow((void **)&scene->script.node_origin, sizeof(int32_t), parent, before, nodes));
  for (int k = 0; k < 4; k++)
    EB_TRY(follow((void **)vectors[k], 3 * sizeof(double), parent, before, nodes));
  state->node_count = nodes;
  return EB_OK;
}

/* Cuts `mesh`, which is the scene's or is to become it. */
static eb_error cut_mesh(const eb_scene *scene, const eb_cut *cut, eb_mesh *mesh,
                         int32_t **parent) {
  int32_t before = mesh->node_count;
  int32_t carried =
      scene->rigid.articulation ? eb_articulation_attached(scene->rigid.articulation) : 0;
  EB_TRY(eb_mesh_cut(mesh, cut, parent));
  for (int32_t k = 0; k < carried; k++) {
    int32_t node = eb_articulation_node(scene->rigid.articulation, k);
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
  const eb_cut *cut = &scene->script.cuts[scene->script.cuts_made];
  int32_t before = scene->mesh->node_count, *parent;
  if (state->node_count != before)
    return EB_ERROR(EB_ERR_INVALID, "a state of %d nodes does not fit a mesh of %d nodes",
                    state->node_count, before);
  if (!scene->script.uncut_mesh) EB_TRY(eb_mesh_copy(scene->mesh, &scene->script.uncut_mesh));
  EB_TRY(cut_mesh(scene, cut, scene->mesh, &parent));
  eb_error error = follow_nodes(scene, state, parent, before);
  free(parent);
  scene->script.cuts_made++;
  return eb_error_prefix(error, "the cut at %g s", cut->time);
}

eb_error eb_scene_advance(eb_scene *scene, eb_state *state, bool *changed) {
  int32_t nodes = scene->mesh->node_count;
  *changed = false;
  /* Times are sums of steps: a cut a hair beyond the start of a step belongs to it. */
  while (scene->script.cuts_made < scene->script.cut_count &&
         scene->script.cuts[scene->script.cuts_made].time <= state->time + 1e-6 * scene->dt)
    EB_TRY(make_cut(scene, state));
  if (scene->mesh->node_count != nodes) {
    /* Surface, areas, elasticity and contact of the mesh as it is now. */
    bool reference = !eb_elasticity_sweeps(scene->elasticity);
    eb_contact_destroy(scene->contacts.penalty);
    eb_friction_clear(&scene->contacts.friction);
    eb_elasticity_destroy(scene->elasticity);
    free(scene->node_area);
    eb_surface_destroy(scene->surface);
    scene->contacts.penalty = NULL;
    scene->elasticity = NULL;
    scene->node_area = NULL;
    scene->surface = NULL;
    EB_TRY(make_surface(scene));
    EB_TRY(make_mechanics(scene, reference));
    *changed = true;
  }
  if (!scene->ops->activation) return EB_OK;
  double time = state->time + scene->dt, activation = scene->ops->activation(scene, time);
  if (!(activation >= 0 && activation <= 1))
    return EB_ERROR(EB_ERR_INVALID, "%s: an activation of %g at %g s; it is to be 0 to 1",
                    scene->ops->name, activation, time);
  for (int32_t r = 0; r < scene->material_count; r++)
    if (scene->materials[r].fibre != EB_FIBRE_NONE) scene->materials[r].activation = activation;
  eb_elasticity_activate(scene->elasticity, activation);
  return EB_OK;
}

static eb_error make_all_cuts(const eb_scene *scene, eb_mesh *mesh, int32_t **parent) {
  EB_TRY(EB_NEW(*parent, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++) (*parent)[i] = i;
  for (int32_t c = scene->script.cuts_made; c < scene->script.cut_count; c++) {
    int32_t before = mesh->node_count, *from;
    EB_TRY(cut_mesh(scene, &scene->script.cuts[c], mesh, &from));
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
