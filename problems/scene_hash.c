/* The hash of a scene, which is that of the whole however many processes hold it, and what two
 * scenes differ in. */
#include "problems/scene_hash.h"

#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/clusters.h"
#include "problems/elasticity/plugged.h"
#include "problems/ranks/stream.h"
#include "problems/springs.h"

/* ---- the hash -------------------------------------------------------------------------------- */

/* Equal problems have equal hashes. What a scene does not have adds nothing. */

static uint64_t hash_reals(uint64_t hash, const double *values, size_t count) {
  return eb_hash(hash, values, count * sizeof *values);
}

/* A plug-in's material by its name, the build of its file and the parameters that it has. */
static uint64_t hash_plugged(uint64_t hash, const eb_material *m) {
  const eb_material_ops *ops = m->plugged->ops;
  hash = eb_hash(hash, ops->name, strlen(ops->name) + 1);
  hash = eb_hash(hash, &m->plugged->digest, sizeof m->plugged->digest);
  return hash_reals(hash, m->own, (size_t)eb_plugged_parameter_count(ops));
}

static uint64_t hash_materials(uint64_t hash, const eb_scene *scene) {
  for (int32_t r = 0; r < scene->material_count && r < EB_MAX_REGIONS; r++) {
    const eb_material *m = &scene->materials[r];
    int32_t kinds[2] = {(int32_t)m->kind, (int32_t)m->fibre};
    double values[6] = {m->young,           m->poisson,        m->density,
                        m->fibre_stiffness, m->fibre_exponent, m->activation};
    int32_t integration = (int32_t)m->integration;
    if (m->thickness > 0) hash = hash_reals(hash, &m->thickness, 1);
    if (integration != EB_INTEGRATION_GAUSS) hash = eb_hash(hash, &integration, sizeof integration);
    if (integration == EB_INTEGRATION_ONE_POINT) hash = hash_reals(hash, &m->hourglass, 1);
    hash = hash_reals(eb_hash(hash, kinds, sizeof kinds), values, 6);
    if (m->kind == EB_PLUGGED) hash = hash_plugged(hash, m);
  }
  return hash;
}

static uint64_t hash_surface(uint64_t hash, const eb_surface *surface) {
  size_t triangles = (size_t)surface->triangle_count;
  hash = hash_reals(hash, surface->X, 3 * (size_t)surface->vertex_count);
  return eb_hash(hash, surface->triangles, 3 * triangles * sizeof *surface->triangles);
}

static uint64_t hash_colliders(uint64_t hash, const eb_scene *scene) {
  for (int32_t c = 0; c < scene->contacts.collider_count && c < EB_MAX_COLLIDERS; c++) {
    const eb_collider *collider = &scene->contacts.colliders[c];
    int32_t kind = (int32_t)collider->kind;
    double values[5] = {collider->radius, collider->half_length, collider->stiffness,
                        collider->damping, collider->friction};
    hash = hash_reals(eb_hash(hash, &kind, sizeof kind), values, 5);
    if (collider->grip > 0) hash = hash_reals(hash, &collider->grip, 1);
    if (collider->margin > 0) hash = hash_reals(hash, &collider->margin, 1);
    if (collider->implicit) hash = hash_reals(hash, &collider->isotropy, 1);
    hash = hash_reals(hash, collider->origin, 3);
    hash = hash_reals(hash, collider->axis, 3);
    if (collider->surface) hash = hash_surface(hash, collider->surface);
    eb_pose pose;
    for (int s = 0; s < EB_SCRIPT_SAMPLES && eb_collider_pose(collider, eb_script_time(s), &pose);
         s++) {
      if (collider->motion) hash = hash_reals(hash_reals(hash, pose.shift, 3), pose.velocity, 3);
      if (collider->turn) hash = hash_reals(hash_reals(hash, pose.rotation, 9), pose.spin, 3);
    }
  }
  return hash;
}

static uint64_t hash_obstacles(uint64_t hash, const eb_scene *scene) {
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    const eb_obstacle *obstacle = &scene->contacts.obstacles[o];
    hash = hash_surface(hash, obstacle->surface);
    if (!obstacle->motion) continue;
    for (int s = 0; s < EB_SCRIPT_SAMPLES; s++) {
      double pose[12];
      eb_obstacle_pose(obstacle, eb_script_time(s), pose, pose + 9);
      hash = hash_reals(hash, pose, 12);
    }
  }
  return hash;
}

/* ---- of nodes and elements, in their original order ------------------------------------------ */

typedef struct hashed {
  uint64_t hash;
  size_t bytes; /* of an entry */
} hashed;

static void hash_run(void *context, int64_t first, int32_t count, const void *values) {
  hashed *so_far = context;
  (void)first;
  so_far->hash = eb_hash(so_far->hash, values, so_far->bytes * (size_t)count);
}

static eb_error hash_entries(const eb_scene *scene, eb_entries what, size_t bytes,
                             const void *values, uint64_t *hash) {
  hashed so_far = {*hash, bytes};
  EB_TRY(eb_scene_stream(scene, what, bytes, values, hash_run, &so_far));
  *hash = so_far.hash;
  return EB_OK;
}

static eb_error hash_vectors(const eb_scene *scene, const double *values, uint64_t *hash) {
  return hash_entries(scene, EB_NODES, 3 * sizeof *values, values, hash);
}

/* A node's part in a script or a set. */
typedef struct marked {
  double place[3];
  int64_t marked;
} marked;

static void hash_places(void *context, int64_t first, int32_t count, const void *values) {
  const marked *node = values;
  (void)first;
  for (int32_t i = 0; i < count; i++)
    if (node[i].marked) hash_run(context, 0, 1, node[i].place);
}

static void hash_members(void *context, int64_t first, int32_t count, const void *values) {
  const uint8_t *in = values;
  for (int32_t i = 0; i < count; i++) {
    int32_t node = (int32_t)(first + i);
    if (in[i]) hash_run(context, 0, 1, &node);
  }
}

/* As eb_mesh_hash of the whole mesh. `corner` (local elements x type) and `in` (local nodes) are
 * workspace. */
static eb_error hash_parts_of_mesh(const eb_scene *scene, int32_t *corner, uint8_t *in,
                                   uint64_t *hash) {
  const eb_mesh *mesh = scene->mesh;
  size_t type = mesh->type, corners = (size_t)mesh->element_count * type;
  const int32_t counts[5] = {(int32_t)mesh->type, (int32_t)scene->part->all_nodes,
                             (int32_t)scene->part->all_elements, mesh->region_count,
                             mesh->set_count};
  *hash = eb_hash(EB_HASH_SEED, counts, sizeof counts);
  for (size_t i = 0; i < corners; i++) corner[i] = scene->part->original_node[mesh->elements[i]];
  EB_TRY(hash_vectors(scene, mesh->X, hash));
  EB_TRY(hash_entries(scene, EB_ELEMENTS, type * sizeof *corner, corner, hash));
  EB_TRY(hash_entries(scene, EB_ELEMENTS, sizeof *mesh->region, mesh->region, hash));
  if (mesh->fibre)
    EB_TRY(hash_entries(scene, EB_ELEMENTS, 3 * sizeof *mesh->fibre, mesh->fibre, hash));
  for (int32_t r = 0; r < mesh->region_count; r++)
    *hash = eb_hash(*hash, mesh->region_name[r], strlen(mesh->region_name[r]) + 1);
  for (int32_t s = 0; s < mesh->set_count; s++) {
    const eb_node_set *set = &mesh->sets[s];
    hashed so_far = {eb_hash(*hash, set->name, strlen(set->name) + 1), sizeof *set->nodes};
    memset(in, 0, (size_t)mesh->node_count);
    for (int32_t k = 0; k < set->count; k++) in[set->nodes[k]] = 1;
    EB_TRY(eb_scene_stream(scene, EB_NODES, sizeof *in, in, hash_members, &so_far));
    *hash = so_far.hash;
  }
  return EB_OK;
}

static eb_error hash_mesh(const eb_scene *scene, uint64_t *hash) {
  const eb_mesh *mesh = scene->mesh;
  if (!scene->part) {
    *hash = eb_mesh_hash(mesh);
    return EB_OK;
  }
  int32_t *corner = NULL;
  uint8_t *in = NULL;
  eb_error error = EB_NEW(corner, (size_t)mesh->element_count * mesh->type);
  if (!error) error = EB_NEW(in, mesh->node_count);
  error = eb_ranks_agree(scene->part->ranks, error);
  if (!error) error = hash_parts_of_mesh(scene, corner, in, hash);
  free(corner);
  free(in);
  return error;
}

/* ---- scripts --------------------------------------------------------------------------------- */

typedef struct script {
  uint8_t *fixed, *before; /* node_count; `before`: at the time before */
  double *target;          /* node_count x 3 */
  marked *held;            /* node_count */
} script;

static eb_error open_script(const eb_scene *scene, script *s) {
  size_t nodes = (size_t)scene->mesh->node_count;
  EB_TRY(EB_NEW(s->fixed, nodes));
  EB_TRY(EB_NEW(s->before, nodes));
  EB_TRY(EB_NEW(s->target, 3 * nodes));
  return EB_NEW(s->held, nodes);
}

static void close_script(script *s) {
  free(s->fixed);
  free(s->before);
  free(s->target);
  free(s->held);
}

/* What the script of nodes says at some times, and whether they all stand still. */
static eb_error hash_script(eb_scene *scene, script *s, uint64_t *hash) {
  size_t nodes = (size_t)scene->mesh->node_count;
  bool still = true;
  for (int t = 0; t < EB_SCRIPT_SAMPLES; t++) {
    uint8_t *before = s->fixed;
    s->fixed = s->before;
    s->before = before;
    eb_scene_boundary(scene, eb_script_time(t), s->fixed, s->target);
    still = still && (t == 0 || memcmp(s->fixed, before, nodes) == 0);
    for (size_t i = 0; i < nodes; i++) {
      s->held[i].marked = s->fixed[i];
      memcpy(s->held[i].place, s->target + 3 * i, sizeof s->held[i].place);
      still = still && (!s->fixed[i] || memcmp(s->held[i].place, scene->mesh->X + 3 * i,
                                               sizeof s->held[i].place) == 0);
    }
    EB_TRY(hash_entries(scene, EB_NODES, sizeof *s->fixed, s->fixed, hash));
    hashed so_far = {*hash, sizeof s->held->place};
    EB_TRY(eb_scene_stream(scene, EB_NODES, sizeof *s->held, s->held, hash_places, &so_far));
    *hash = so_far.hash;
  }
  scene->script.stands_still = eb_ranks_all(eb_scene_ranks(scene), still);
  return EB_OK;
}

static eb_error hash_scripts(eb_scene *scene, uint64_t *hash) {
  script s = {0};
  eb_error error = eb_ranks_agree(eb_scene_ranks(scene), open_script(scene, &s));
  if (!error) error = hash_script(scene, &s, hash);
  close_script(&s);
  if (error) return error;
  for (int32_t k = 0; k < scene->script.load_count; k++)
    EB_TRY(hash_vectors(scene, scene->script.load[k], hash));
  for (int t = 0; scene->script.load_count > 0 && t < EB_SCRIPT_SAMPLES; t++) {
    double magnitude[EB_MAX_LOADS];
    eb_scene_load_magnitudes(scene, eb_script_time(t), magnitude);
    *hash = hash_reals(*hash, magnitude, (size_t)scene->script.load_count);
  }
  return EB_OK;
}

/* ---- friction by pairs ----------------------------------------------------------------------- */

static eb_error hash_friction(const eb_scene *scene, uint64_t *hash) {
  const eb_friction_law *law = &scene->contacts.friction;
  if (law->pair_count == 0) return EB_OK;
  for (int32_t k = 0; k < law->pair_count; k++) {
    int32_t of[2] = {law->pairs[k].a, law->pairs[k].b};
    *hash = hash_reals(eb_hash(*hash, of, sizeof of), &law->pairs[k].mu, 1);
  }
  EB_TRY(hash_entries(scene, EB_NODES, sizeof *law->names, law->names, hash));
  const uint32_t *names = law->names + scene->mesh->node_count;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    size_t count = (size_t)scene->contacts.obstacles[o].surface->vertex_count;
    *hash = eb_hash(*hash, names, count * sizeof *names);
    names += count;
  }
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    *hash = eb_hash(*hash, &scene->contacts.colliders[c].names, sizeof *names);
  return EB_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static eb_error hash_all(eb_scene *scene, uint64_t *out) {
  enum { ACTIVATION_TIMES = 500 };
  const eb_scene_ops *ops = scene->ops;
  uint64_t hash;
  EB_TRY(hash_mesh(scene, &hash));
  hash = hash_colliders(hash_materials(hash, scene), scene);
  if (scene->contacts.penalty) hash = eb_contact_hash(scene->contacts.penalty, hash);
  hash = hash_reals(hash_reals(hash, scene->gravity, 3), &scene->dt, 1);
  EB_TRY(hash_vectors(scene, scene->x0, &hash));
  EB_TRY(hash_vectors(scene, scene->v0, &hash));
  if (scene->rigid.articulation) hash = eb_articulation_hash(scene->rigid.articulation, hash);
  /* Contact as constraints. */
  if (scene->contacts.friction.common > 0)
    hash = hash_reals(hash, &scene->contacts.friction.common, 1);
  hash = hash_obstacles(hash, scene);
  EB_TRY(hash_friction(scene, &hash));
  if (scene->rigid.free_bodies)
    hash = eb_hash(hash, scene->rigid.regions, (size_t)scene->material_count);
  /* Activation is a number a time: many times of the default run can be looked at. */
  for (int s = 0; ops->activation && s <= ACTIVATION_TIMES; s++) {
    double end = (double)ops->steps * scene->dt;
    double activation = ops->activation(scene, end * s / ACTIVATION_TIMES);
    hash = hash_reals(hash, &activation, 1);
  }
  for (const eb_cut *cut = scene->script.cuts; cut < scene->script.cuts + scene->script.cut_count;
       cut++) {
    hash = hash_reals(hash_reals(hash, cut->origin, 3), cut->normal, 3);
    hash = hash_reals(hash_reals(hash, &cut->time, 1), &cut->radius, 1);
  }
  EB_TRY(eb_springs_hash(scene, &hash));
  *out = eb_clusters_hash(&scene->clusters, hash);
  return hash_scripts(scene, out);
}

eb_error eb_scene_make_hash(eb_scene *scene) {
  const eb_ranks *ranks = eb_scene_ranks(scene);
  uint64_t hash;
  EB_TRY(hash_all(scene, &hash));
  int64_t of_first = eb_ranks_self(ranks) == 0 ? (int64_t)hash : 0; /* it alone has seen all */
  eb_ranks_sum_whole(ranks, 1, &of_first);
  scene->hash = (uint64_t)of_first;
  return EB_OK;
}

/* ---- differences ----------------------------------------------------------------------------- */

static bool same_reals(const double *a, const double *b, size_t count) {
  return memcmp(a, b, count * sizeof *a) == 0;
}

/* What can be told apart by name; the hash knows the rest. */
typedef enum difference {
  SAME,
  MESH,
  STEP,
  GRAVITY,
  MATERIALS,
  COLLIDERS,
  MASSES,
  AREAS,
  BOUNDS,
  START,
  REST
} difference;

static const char *const differences[] = {NULL,
                                          "mesh",
                                          "dt",
                                          "gravity",
                                          "materials",
                                          "colliders",
                                          "masses",
                                          "areas of nodes",
                                          "bounds of the audit",
                                          "initial state",
                                          "script, springs, clusters, contact or bodies"};

/* Of the local nodes and elements. */
static difference local_difference(const eb_scene *a, const eb_scene *b) {
  size_t nodes = (size_t)a->mesh->node_count;
  if (a->ops != b->ops || a->mesh->node_count != b->mesh->node_count ||
      a->mesh->element_count != b->mesh->element_count ||
      eb_mesh_hash(a->mesh) != eb_mesh_hash(b->mesh))
    return MESH;
  if (!same_reals(&a->dt, &b->dt, 1)) return STEP;
  if (!same_reals(a->gravity, b->gravity, 3)) return GRAVITY;
  if (a->material_count != b->material_count ||
      hash_materials(EB_HASH_SEED, a) != hash_materials(EB_HASH_SEED, b))
    return MATERIALS;
  if (a->contacts.collider_count != b->contacts.collider_count ||
      hash_colliders(EB_HASH_SEED, a) != hash_colliders(EB_HASH_SEED, b))
    return COLLIDERS;
  if (!same_reals(eb_elasticity_mass(a->elasticity), eb_elasticity_mass(b->elasticity), nodes))
    return MASSES;
  if (!same_reals(a->node_area, b->node_area, nodes)) return AREAS;
  if (!same_reals(&a->contacts.penetration_bound, &b->contacts.penetration_bound, 1) ||
      memcmp(&a->contacts.bounds, &b->contacts.bounds, sizeof a->contacts.bounds) != 0)
    return BOUNDS;
  if (!same_reals(a->x0, b->x0, 3 * nodes) || !same_reals(a->v0, b->v0, 3 * nodes)) return START;
  return SAME;
}

eb_error eb_scene_difference(const eb_scene *a, const eb_scene *b, const char **what) {
  eb_scene left = *a, right = *b; /* the hash is a member */
  double found = local_difference(a, b);
  eb_ranks_max(eb_scene_ranks(a), 1, &found); /* what one rank sees, all say */
  if (found == SAME) {
    EB_TRY(eb_scene_make_hash(&left));
    EB_TRY(eb_scene_make_hash(&right));
    if (left.hash != right.hash) found = REST;
  }
  *what = differences[(int)found];
  return EB_OK;
}
