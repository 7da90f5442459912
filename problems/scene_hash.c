/* The hash of a problem: equal problems have equal hashes. What a scene does not have adds nothing. */
#include <stdlib.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/scene_parts.h"

static uint64_t hash_reals(uint64_t hash, const double *values, size_t count) {
  return eb_hash(hash, values, count * sizeof *values);
}

static uint64_t hash_material(uint64_t hash, const eb_material *material) {
  int32_t kinds[2] = {(int32_t)material->kind, (int32_t)material->fibre};
  double values[6] = {material->young,           material->poisson,        material->density,
                      material->fibre_stiffness, material->fibre_exponent, material->activation};
  if (material->thickness > 0) hash = hash_reals(hash, &material->thickness, 1);
  return hash_reals(eb_hash(hash, kinds, sizeof kinds), values, 6);
}

static uint64_t hash_collider(uint64_t hash, const eb_collider *collider) {
  int32_t kind = (int32_t)collider->kind;
  double values[5] = {collider->radius, collider->half_length, collider->stiffness,
                      collider->damping, collider->friction};
  hash = hash_reals(eb_hash(hash, &kind, sizeof kind), values, 5);
  if (collider->grip > 0) hash = hash_reals(hash, &collider->grip, 1);
  if (collider->margin > 0) hash = hash_reals(hash, &collider->margin, 1);
  if (collider->implicit) hash = hash_reals(hash, &collider->isotropy, 1);
  hash = hash_reals(hash, collider->origin, 3);
  hash = hash_reals(hash, collider->axis, 3);
  for (int s = 0; collider->motion && s < EB_SCRIPT_SAMPLES; s++) {
    double offset[3], velocity[3];
    collider->motion(eb_script_time(s), collider->motion_parameters, offset, velocity);
    hash = hash_reals(hash_reals(hash, offset, 3), velocity, 3);
  }
  return hash;
}

static uint64_t hash_boundary(uint64_t hash, const eb_scene *scene, uint8_t *fixed,
                              double *target) {
  for (int s = 0; s < EB_SCRIPT_SAMPLES; s++) {
    eb_scene_boundary(scene, eb_script_time(s), fixed, target);
    hash = eb_hash(hash, fixed, (size_t)scene->mesh->node_count);
    for (int32_t i = 0; i < scene->mesh->node_count; i++)
      if (fixed[i]) hash = hash_reals(hash, target + 3 * i, 3);
  }
  return hash;
}

static uint64_t hash_scripted_force(uint64_t hash, const eb_scene *scene, double *f) {
  size_t size = 3 * (size_t)scene->mesh->node_count;
  for (int s = 0; scene->ops->force && s < EB_SCRIPT_SAMPLES; s++) {
    memset(f, 0, size * sizeof *f);
    scene->ops->force(scene, eb_script_time(s), scene->x0, scene->v0, f);
    hash = hash_reals(hash, f, size);
  }
  return hash;
}

/* A number a time: many times of the default run can be looked at. */
static uint64_t hash_activation(uint64_t hash, const eb_scene *scene) {
  enum { TIMES = 500 };
  double end = (double)scene->ops->steps * scene->dt;
  for (int s = 0; scene->ops->activation && s <= TIMES; s++) {
    double activation = scene->ops->activation(scene, end * s / TIMES);
    hash = hash_reals(hash, &activation, 1);
  }
  return hash;
}

static uint64_t hash_constraints(uint64_t hash, const eb_scene *scene) {
  if (scene->contact_friction > 0) hash = hash_reals(hash, &scene->contact_friction, 1);
  for (int32_t o = 0; o < scene->obstacle_count; o++)
    hash = eb_obstacle_hash(&scene->obstacles[o], hash);
  if (scene->free_bodies) hash = eb_hash(hash, scene->rigid, (size_t)scene->material_count);
  return hash;
}

static uint64_t hash_cut(uint64_t hash, const eb_cut *cut) {
  hash = hash_reals(hash_reals(hash, cut->origin, 3), cut->normal, 3);
  return hash_reals(hash_reals(hash, &cut->time, 1), &cut->radius, 1);
}

eb_error eb_scene_make_hash(eb_scene *scene) {
  size_t nodes = (size_t)scene->mesh->node_count;
  uint64_t hash = eb_mesh_hash(scene->mesh);
  for (int32_t r = 0; r < scene->material_count; r++)
    hash = hash_material(hash, &scene->materials[r]);
  for (int32_t c = 0; c < scene->collider_count; c++)
    hash = hash_collider(hash, &scene->colliders[c]);
  if (scene->contact) hash = eb_contact_hash(scene->contact, hash);
  hash = hash_reals(hash_reals(hash, scene->gravity, 3), &scene->dt, 1);
  hash = hash_reals(hash_reals(hash, scene->x0, 3 * nodes), scene->v0, 3 * nodes);
  if (scene->articulation) hash = eb_articulation_hash(scene->articulation, hash);
  hash = hash_constraints(hash, scene);
  hash = hash_activation(hash, scene);
  for (int32_t c = 0; c < scene->cut_count; c++) hash = hash_cut(hash, &scene->cuts[c]);
  uint8_t *fixed;
  double *vectors;
  EB_TRY(EB_NEW(fixed, nodes));
  eb_error error = EB_NEW(vectors, 3 * nodes);
  if (!error) {
    hash = hash_boundary(hash, scene, fixed, vectors);
    scene->hash = hash_scripted_force(hash, scene, vectors);
  }
  free(vectors);
  free(fixed);
  return error;
}

/* ---- differences ------------------------------------------------------------------------------ */

static bool same_reals(const double *a, const double *b, size_t count) {
  return memcmp(a, b, count * sizeof *a) == 0;
}

static uint64_t hash_materials(const eb_scene *scene) {
  uint64_t hash = EB_HASH_SEED;
  for (int32_t r = 0; r < scene->material_count && r < EB_MAX_REGIONS; r++)
    hash = hash_material(hash, &scene->materials[r]);
  return hash;
}

static uint64_t hash_colliders(const eb_scene *scene) {
  uint64_t hash = EB_HASH_SEED;
  for (int32_t c = 0; c < scene->collider_count && c < EB_MAX_COLLIDERS; c++)
    hash = hash_collider(hash, &scene->colliders[c]);
  return hash;
}

/* What can be told apart by name; the hash knows the rest. */
static const char *named_difference(const eb_scene *a, const eb_scene *b) {
  size_t nodes = (size_t)a->mesh->node_count;
  if (a->ops != b->ops || a->mesh->node_count != b->mesh->node_count ||
      a->mesh->element_count != b->mesh->element_count ||
      eb_mesh_hash(a->mesh) != eb_mesh_hash(b->mesh))
    return "mesh";
  if (!same_reals(&a->dt, &b->dt, 1)) return "dt";
  if (!same_reals(a->gravity, b->gravity, 3)) return "gravity";
  if (a->material_count != b->material_count || hash_materials(a) != hash_materials(b))
    return "materials";
  if (a->collider_count != b->collider_count || hash_colliders(a) != hash_colliders(b))
    return "colliders";
  if (!same_reals(eb_elasticity_mass(a->elasticity), eb_elasticity_mass(b->elasticity), nodes))
    return "masses";
  if (!same_reals(a->node_area, b->node_area, nodes)) return "areas of nodes";
  if (!same_reals(&a->penetration_bound, &b->penetration_bound, 1) ||
      memcmp(&a->contact_bounds, &b->contact_bounds, sizeof a->contact_bounds) != 0)
    return "bounds of the audit";
  if (!same_reals(a->x0, b->x0, 3 * nodes) || !same_reals(a->v0, b->v0, 3 * nodes))
    return "initial state";
  return NULL;
}

eb_error eb_scene_difference(const eb_scene *a, const eb_scene *b, const char **what) {
  eb_scene left = *a, right = *b; /* the hash is a member */
  *what = named_difference(a, b);
  if (*what) return EB_OK;
  EB_TRY(eb_scene_make_hash(&left));
  EB_TRY(eb_scene_make_hash(&right));
  if (left.hash != right.hash) *what = "script, contact or bodies";
  return EB_OK;
}

uint64_t eb_state_hash(const eb_state *state) {
  size_t size = 3 * (size_t)state->node_count;
  uint64_t hash = hash_reals(hash_reals(EB_HASH_SEED, state->x, size), state->v, size);
  size_t joints = (size_t)state->joint_count, bodies = (size_t)state->body_count;
  if (joints > 0) hash = hash_reals(hash_reals(hash, state->q, joints), state->u, joints);
  if (bodies > 0)
    hash = hash_reals(hash_reals(hash, state->pose, 7 * bodies), state->twist, 6 * bodies);
  return hash;
}
