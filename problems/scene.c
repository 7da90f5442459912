/* Building a scene from its table: parameters, mesh (generated, cached or replaced), surface,
 * setup, elasticity, cuts; and what a solver asks it. */
#include "problems/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/mesh/sdf.h"
#include "problems/scene_parts.h"
#include "problems/scenes/mesh_cache.h"
#include "problems/scenes/mesh_override.h"

static const double pi = 3.14159265358979323846;

/* ---- the generated mesh and its cache key ---------------------------------------------------- */

static const eb_option *declared(const eb_option *options, const char *name, size_t length) {
  for (; options && options->name; options++)
    if (strlen(options->name) == length && memcmp(options->name, name, length) == 0) return options;
  return NULL;
}

/* Numbers enter by value, so that "1" and "1.0" are the same mesh. */
static uint64_t hash_parameter(uint64_t hash, const eb_values *values, const eb_option *option) {
  hash = eb_hash(hash, option->name, strlen(option->name) + 1);
  double real;
  switch (option->type) {
  case EB_OPTION_REAL:
    real = eb_values_real(values, option->name);
    break;
  case EB_OPTION_INT:
    real = (double)eb_values_int(values, option->name);
    break;
  case EB_OPTION_BOOL:
    real = eb_values_bool(values, option->name);
    break;
  default: {
    const char *text = eb_values_text(values, option->name);
    return eb_hash(hash, text, strlen(text) + 1);
  }
  }
  return eb_hash(hash, &real, sizeof real);
}

/* A stand-in's signed distance at some points of its box: a model that was redrawn gets another
 * key. */
static uint64_t hash_model(uint64_t hash, const char *name) {
  const eb_model *model = name ? eb_model_find(name) : NULL;
  if (!model) return hash;
  enum { POINTS = 7 };
  const eb_solid *solid = &model->solid;
  for (int i = 0; i < POINTS * POINTS * POINTS; i++) {
    int index[3] = {i % POINTS, i / POINTS % POINTS, i / (POINTS * POINTS)};
    double p[3];
    for (int d = 0; d < 3; d++)
      p[d] = solid->lo[d] + (solid->hi[d] - solid->lo[d]) * (index[d] + 0.5) / POINTS;
    double distance = solid->distance(solid->context, p);
    hash = eb_hash(hash, &distance, sizeof distance);
  }
  return hash;
}

/* What the generator makes follows from the scene's own figures, which its geometry states in
 * words, and from the parameters it names; a changed generator raises EB_MESH_CACHE_VERSION. */
static uint64_t mesh_key(const eb_scene_ops *ops, const eb_values *values) {
  uint64_t hash = eb_hash(EB_HASH_SEED, ops->name, strlen(ops->name) + 1);
  hash = eb_hash(hash, ops->geometry, strlen(ops->geometry) + 1);
  hash = eb_hash(hash, &ops->target_elements, sizeof ops->target_elements);
  hash = hash_model(hash, ops->stand_in);
  for (const char *at = ops->mesh_parameters; at && *at;) {
    size_t length = strcspn(at, ",");
    const eb_option *option = declared(ops->parameters, at, length);
    if (option) hash = hash_parameter(hash, values, option);
    at += length + (at[length] == ',');
  }
  return hash;
}

/* `directory` is NULL when caching is off. */
static eb_error own_mesh(const eb_scene *scene, const char *directory, eb_mesh **out) {
  const eb_scene_ops *ops = scene->ops;
  *out = NULL;
  uint64_t key = mesh_key(ops, scene->parameters);
  if (directory) EB_TRY(eb_mesh_cache_load(directory, ops->name, key, out));
  if (*out) return EB_OK;
  EB_TRY(ops->mesh(scene->parameters, out));
  if (directory) (void)eb_mesh_cache_store(directory, ops->name, key, *out);
  return EB_OK;
}

/* The rotation that mesh_up and mesh_turn ask for; false when none. */
static bool file_rotation(const eb_values *values, double rotation[9]) {
  bool y_up = eb_values_declares(values, "mesh_up") && eb_values_text(values, "mesh_up")[0] == 'y';
  bool turns = eb_values_declares(values, "mesh_turn");
  double angle = turns ? eb_values_real(values, "mesh_turn") * pi / 180 : 0;
  double c = cos(angle), s = sin(angle);
  /* About z, after the quarter turn about x that takes y to z. */
  const double turned[9] = {c, -s, 0, s, c, 0, 0, 0, 1}, raised[9] = {c, 0, s, s, 0, -c, 0, 1, 0};
  memcpy(rotation, y_up ? raised : turned, sizeof turned);
  return y_up || angle != 0;
}

static eb_error make_mesh(eb_scene *scene, const char *mesh_file, const char *cache_dir) {
  char path[EB_CACHE_PATH_BYTES];
  const char *directory = eb_mesh_cache_directory(cache_dir, path) ? path : NULL;
  EB_TRY(own_mesh(scene, directory, &scene->mesh));
  snprintf(scene->mesh_source, sizeof scene->mesh_source, "%s",
           mesh_file ? mesh_file : "generated");
  if (mesh_file) {
    eb_mesh *other;
    double rotation[9];
    bool turned = file_rotation(scene->parameters, rotation);
    EB_TRY(eb_mesh_override(mesh_file, turned ? rotation : NULL, scene->mesh, directory, &other));
    eb_mesh_destroy(scene->mesh);
    scene->mesh = other;
  }
  if (scene->ops->prepare) EB_TRY(scene->ops->prepare(scene->parameters, &scene->mesh));
  if (scene->mesh->region_count > EB_MAX_REGIONS)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "%s has %d regions; a scene takes at most %d",
                    scene->mesh_source, scene->mesh->region_count, EB_MAX_REGIONS);
  return EB_OK;
}

/* ---- what follows from the mesh -------------------------------------------------------------- */

/* A third of every surface triangle's area goes to each of its corners. */
static void share_areas(const eb_surface *surface, double *area) {
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * t;
    double u[3], v[3];
    for (int d = 0; d < 3; d++) {
      u[d] = surface->X[3 * corner[1] + d] - surface->X[3 * corner[0] + d];
      v[d] = surface->X[3 * corner[2] + d] - surface->X[3 * corner[0] + d];
    }
    double c[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double third = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) / 6;
    for (int k = 0; k < 3; k++) area[surface->node ? surface->node[corner[k]] : corner[k]] += third;
  }
}

eb_error eb_scene_make_surface(eb_scene *scene) {
  EB_TRY(eb_mesh_surface(scene->mesh, &scene->surface));
  EB_TRY(EB_NEW(scene->node_area, scene->mesh->node_count));
  share_areas(scene->surface, scene->node_area);
  return EB_OK;
}

/* At rest, and every node its own origin. */
static eb_error make_nodes(eb_scene *scene) {
  size_t nodes = (size_t)scene->mesh->node_count;
  EB_TRY(EB_NEW(scene->x0, 3 * nodes));
  memcpy(scene->x0, scene->mesh->X, 3 * nodes * sizeof *scene->x0);
  EB_TRY(EB_NEW(scene->v0, 3 * nodes));
  EB_TRY(EB_NEW(scene->node_origin, nodes));
  for (size_t i = 0; i < nodes; i++) scene->node_origin[i] = (int32_t)i;
  scene->uncut_nodes = scene->mesh->node_count;
  return EB_OK;
}

/* ---- what follows from mesh and materials ---------------------------------------------------- */

static eb_error make_contact(eb_scene *scene) {
  eb_contact_settings settings = {.step = scene->dt,
                                  .friction = scene->bodies_friction,
                                  .colliders = scene->collider_count,
                                  .between_bodies = scene->bodies_collide};
  double young[EB_MAX_REGIONS];
  bool wanted = scene->bodies_collide;
  for (int32_t c = 0; c < scene->collider_count; c++)
    wanted = wanted || (scene->colliders[c].stiffness <= 0 && !scene->colliders[c].implicit);
  for (int32_t r = 0; r < scene->material_count; r++) young[r] = scene->materials[r].young;
  if (!wanted) return EB_OK;
  return eb_contact_create(scene->mesh, scene->surface, eb_elasticity_mass(scene->elasticity),
                           scene->node_area, young, &settings, &scene->contact);
}

eb_error eb_scene_make_mechanics(eb_scene *scene) {
  EB_TRY(eb_elasticity_create(scene->mesh, scene->materials, &scene->elasticity));
  return make_contact(scene);
}

static eb_error ask_for_cuts(eb_scene *scene) {
  int32_t count = scene->ops->cuts ? scene->ops->cuts(scene, scene->cuts) : 0;
  if (count < 0 || count > EB_MAX_CUTS)
    return EB_ERROR(EB_ERR_LIMIT, "%d cuts are scripted; a scene makes at most %d", count,
                    EB_MAX_CUTS);
  scene->cut_count = count;
  for (int32_t c = 0; c < count; c++) {
    EB_TRY(eb_cut_validate(&scene->cuts[c]));
    if (c > 0 && scene->cuts[c].time < scene->cuts[c - 1].time)
      return EB_ERROR(EB_ERR_INVALID, "the cut at %g s is scripted behind the one at %g s",
                      scene->cuts[c].time, scene->cuts[c - 1].time);
  }
  return EB_OK;
}

/* Nodes that ride on a body are nodes of the mesh, and no cut parts them: their copies would be free. */
static eb_error check_articulation(const eb_scene *scene) {
  int32_t carried = scene->articulation ? eb_articulation_attached(scene->articulation) : 0;
  for (int32_t k = 0; k < carried; k++) {
    int32_t node = eb_articulation_node(scene->articulation, k);
    if (node < 0 || node >= scene->mesh->node_count)
      return EB_ERROR(EB_ERR_INVALID, "node %d rides on a rigid body, but nodes are 0 to %d", node,
                      scene->mesh->node_count - 1);
  }
  if (carried == 0 || scene->cut_count == 0) return EB_OK;
  eb_mesh *mesh;
  int32_t *parent;
  EB_TRY(eb_scene_final_mesh(scene, &mesh, &parent));
  eb_mesh_destroy(mesh);
  free(parent);
  return EB_OK;
}

/* ---- bounds of the audit ----------------------------------------------------------------------- */

/* Ten times the tolerances of Verschoor and Jalba 2019 (Section 6: 5e-6 m, 5e-5 kg m/s, 1.2 degrees), which solvers meet in norms of their own; angles twice.
 * Forces may act across one gap beyond the distance that is kept. */
static const eb_contact_bounds contact_bounds = {.gap = 1e-4,
                                                 .near = 1e-5,
                                                 .distance = 5e-5,
                                                 .reach = 1e-4,
                                                 .momentum = 5e-4,
                                                 .cone = 1e-2,
                                                 .angle = 2.4,
                                                 .normal = 10};

typedef struct rest_box {
  double lo[3], hi[3];
} rest_box;

/* The largest diagonal of the boxes around the connected bodies at rest, m. */
static eb_error body_diagonal(const eb_mesh *mesh, double *out) {
  int32_t *part;
  rest_box *box;
  *out = 0;
  EB_TRY(EB_NEW(part, mesh->node_count));
  int32_t parts = eb_mesh_components(mesh, part);
  eb_error error = EB_NEW(box, parts);
  for (int32_t p = 0; !error && p < parts; p++)
    box[p] = (rest_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (size_t k = 0; !error && k < 3 * (size_t)mesh->node_count; k++) {
    rest_box *b = &box[part[k / 3]];
    b->lo[k % 3] = fmin(b->lo[k % 3], mesh->X[k]);
    b->hi[k % 3] = fmax(b->hi[k % 3], mesh->X[k]);
  }
  for (int32_t p = 0; !error && p < parts; p++) {
    double diagonal2 = 0;
    for (int d = 0; d < 3; d++)
      diagonal2 += (box[p].hi[d] - box[p].lo[d]) * (box[p].hi[d] - box[p].lo[d]);
    *out = fmax(*out, sqrt(diagonal2));
  }
  free(part);
  if (!error) free(box);
  return error;
}

/* The least distance of a node from a collider at the start, m; 0 without colliders. */
static double first_fall(const eb_scene *scene) {
  double least = INFINITY;
  for (int32_t c = 0; c < scene->collider_count; c++)
    for (int32_t i = 0; i < scene->mesh->node_count; i++) {
      double normal[3], velocity[3];
      least = fmin(least, eb_collider_distance(&scene->colliders[c], 0, scene->x0 + 3 * (size_t)i,
                                               normal, velocity));
    }
  return isfinite(least) && least > 0 ? least : 0;
}

static double length2(const double a[3]) {
  return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/* The most that a scripted collider moves at, over the default run, m/s. */
static double collider_speed(const eb_scene *scene) {
  enum { TIMES = 500 };
  double end = (double)scene->ops->steps * scene->dt, most = 0;
  for (int32_t c = 0; c < scene->collider_count; c++)
    for (int s = 0; scene->colliders[c].motion && s <= TIMES; s++) {
      double offset[3], velocity[3];
      scene->colliders[c].motion(end * s / TIMES, scene->colliders[c].motion_parameters, offset,
                                 velocity);
      most = fmax(most, sqrt(length2(velocity)));
    }
  return most;
}

/* A twentieth of a body, and what a step takes it beyond the surface before any force has met it: one and a half times the way of a step at the speed of its first impact. */
static eb_error bound_penetration(eb_scene *scene) {
  double speed2 = 0, diagonal;
  EB_TRY(body_diagonal(scene->mesh, &diagonal));
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    speed2 = fmax(speed2, length2(scene->v0 + 3 * (size_t)i));
  speed2 += 2 * sqrt(length2(scene->gravity)) * first_fall(scene);
  double speed = sqrt(speed2) + collider_speed(scene);
  scene->penetration_bound = diagonal / 20 + 1.5 * scene->dt * speed;
  return EB_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */

static eb_error build(eb_scene *scene, const char *assignments, const char *mesh_file,
                      const char *cache_dir) {
  const eb_scene_ops *ops = scene->ops;
  EB_TRY(eb_values_create(ops->name, ops->parameters, assignments, &scene->parameters));
  EB_TRY(make_mesh(scene, mesh_file, cache_dir));
  EB_TRY(eb_scene_make_surface(scene));
  EB_TRY(make_nodes(scene));
  scene->dt = eb_values_real(scene->parameters, "dt");
  scene->material_count = scene->mesh->region_count;
  scene->contact_bounds = contact_bounds;
  EB_TRY(ops->setup(scene));
  if (scene->penetration_bound <= 0) EB_TRY(bound_penetration(scene));
  for (int32_t r = 0; r < scene->material_count; r++)
    EB_TRY(eb_error_prefix(eb_material_validate(&scene->materials[r]), "region '%s'",
                           scene->mesh->region_name[r]));
  EB_TRY(eb_scene_make_mechanics(scene));
  EB_TRY(ask_for_cuts(scene));
  EB_TRY(eb_scene_make_constraints(scene));
  EB_TRY(check_articulation(scene));
  return eb_scene_make_hash(scene);
}

eb_error eb_scene_create(const eb_scene_ops *ops, const char *assignments, const char *mesh_file,
                         const char *cache_dir, eb_scene **out) {
  *out = NULL;
  eb_scene *scene;
  EB_TRY(EB_NEW(scene, 1));
  scene->ops = ops;
  eb_error error = build(scene, assignments, mesh_file, cache_dir);
  if (error) {
    eb_scene_destroy(scene);
    return eb_error_kind(error) == EB_ERR_USAGE ? error : eb_error_prefix(error, "%s", ops->name);
  }
  *out = scene;
  return EB_OK;
}

void eb_scene_destroy(eb_scene *scene) {
  if (!scene) return;
  if (scene->ops->clear) scene->ops->clear(scene);
  eb_articulation_destroy(scene->articulation);
  eb_free_bodies_destroy(scene->free_bodies);
  for (int o = 0; o < EB_MAX_OBSTACLES; o++) eb_obstacle_clear(&scene->obstacles[o]);
  eb_contact_destroy(scene->contact);
  eb_elasticity_destroy(scene->elasticity);
  free(scene->node_origin);
  free(scene->v0);
  free(scene->x0);
  free(scene->node_area);
  eb_surface_destroy(scene->surface);
  eb_mesh_destroy(scene->uncut_mesh);
  eb_mesh_destroy(scene->mesh);
  eb_values_destroy(scene->parameters);
  free(scene);
}

/* ---- what a solver asks a scene -------------------------------------------------------------- */

void eb_scene_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  size_t nodes = (size_t)scene->mesh->node_count;
  memset(fixed, 0, nodes);
  memcpy(target, scene->mesh->X, 3 * nodes * sizeof *target);
  if (!scene->ops->boundary) return;
  if (scene->uncut_mesh) {
    eb_scene uncut = *scene;
    uncut.mesh = scene->uncut_mesh;
    scene->ops->boundary(&uncut, t, fixed, target);
  } else {
    scene->ops->boundary(scene, t, fixed, target);
  }
  for (size_t i = (size_t)scene->uncut_nodes; i < nodes; i++) {
    size_t origin = (size_t)scene->node_origin[i];
    fixed[i] = fixed[origin];
    memcpy(target + 3 * i, target + 3 * origin, 3 * sizeof *target);
  }
}

/* Whether a collider pushes with a stiffness of its own at the start of the step. */
static bool is_explicit(const eb_collider *collider) {
  return collider->stiffness > 0 && !collider->implicit;
}

void eb_scene_force(const eb_scene *scene, double t, const double *x, const double *v, double *f) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    for (int d = 0; d < 3; d++) f[3 * i + d] = mass[i] * scene->gravity[d];
  for (int32_t c = 0; c < scene->collider_count; c++)
    for (int32_t i = 0; is_explicit(&scene->colliders[c]) && i < scene->mesh->node_count; i++)
      if (scene->node_area[i] > 0)
        eb_collider_force(&scene->colliders[c], t, scene->node_area[i], x + 3 * i, v + 3 * i,
                          f + 3 * i);
  if (scene->contact)
    eb_contact_force(scene->contact, scene->colliders, scene->collider_count, t, x, v, f);
  if (scene->ops->force) scene->ops->force(scene, t, x, v, f);
}

uint32_t eb_scene_needs(const eb_scene *scene) {
  uint32_t needs = scene->ops->needs & (EB_CAP_SCRIPTED | EB_CAP_CONTACT | EB_CAP_STATICS);
  if (scene->mesh->type == EB_TETRAHEDRON) needs |= EB_CAP_TETRAHEDRA;
  if (scene->mesh->type == EB_HEXAHEDRON) needs |= EB_CAP_HEXAHEDRA;
  if (scene->mesh->type == EB_TRIANGLE) needs |= EB_CAP_TRIANGLES;
  for (int32_t r = 0; r < scene->material_count; r++) {
    const eb_material *material = &scene->materials[r];
    needs |= material->kind == EB_COROTATIONAL ? EB_CAP_COROTATIONAL : EB_CAP_HYPERELASTIC;
    if (material->fibre != EB_FIBRE_NONE) needs |= EB_CAP_FIBRES;
  }
  for (int32_t c = 0; c < scene->collider_count; c++)
    needs |= scene->colliders[c].implicit ? EB_CAP_IMPLICIT_PENALTY : EB_CAP_COLLIDERS;
  if (scene->cut_count > 0) needs |= EB_CAP_CUTTING;
  if (scene->articulation) needs |= EB_CAP_ARTICULATION;
  if (scene->free_bodies) needs |= EB_CAP_FREE_BODIES;
  return needs;
}
