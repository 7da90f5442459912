/* An elastic block (harness/check/block.c) below a rigid one, in a tray that rocks and next to a
 * step that rests: every part that a scene with contact as constraints has. */
#ifndef EB_TESTS_BODIES_FIXTURE_H
#define EB_TESTS_BODIES_FIXTURE_H

#include "harness/check/block.h"
#include "problems/mesh/generate.h"
#include "problems/scene_impl.h"
#include "tests/tap.h"

/* Turns about y by parameters[0] rad/s, and rises by parameters[1] m/s. */
static void rock(double t, const void *script, double rotation[9], double shift[3]) {
  const double *parameters = script;
  double c = cos(parameters[0] * t), s = sin(parameters[0] * t);
  const double turn[9] = {c, 0, s, 0, 1, 0, -s, 0, c};
  memcpy(rotation, turn, sizeof turn);
  shift[0] = shift[1] = 0;
  shift[2] = parameters[1] * t;
}

/* The block's mesh and 0.5 m above it a copy that is another region. */
static eb_error add_rigid_block(const eb_values *parameters, eb_mesh **mesh) {
  static const char *const name[] = {"rigid"};
  const double shift[3] = {0, 0, eb_values_real(parameters, "lz") + 0.5};
  eb_mesh *copy;
  EB_TRY(eb_mesh_copy(*mesh, &copy));
  eb_error error = eb_mesh_name_regions(copy, 1, name);
  if (!error) error = eb_mesh_append(*mesh, copy, shift);
  eb_mesh_destroy(copy);
  return error;
}

/* The floor and the walls of a box without a lid, wound so that the inside is outside of the
 * solid. */
static eb_error make_tray(eb_surface **out) {
  static const double corner[8][3] = {{-1, -1, -0.5},  {2, -1, -0.5}, {2, 1.4, -0.5},
                                      {-1, 1.4, -0.5}, {-1, -1, 1},   {2, -1, 1},
                                      {2, 1.4, 1},     {-1, 1.4, 1}};
  static const int32_t triangles[10][3] = {{0, 1, 2}, {0, 2, 3}, {0, 4, 5}, {0, 5, 1}, {1, 5, 6},
                                           {1, 6, 2}, {2, 6, 7}, {2, 7, 3}, {3, 7, 4}, {3, 4, 0}};
  EB_TRY(eb_surface_create(8, 10, out));
  memcpy((*out)->X, corner, sizeof corner);
  memcpy((*out)->triangles, triangles, sizeof triangles);
  return EB_OK;
}

/* A tetrahedron, closed. */
static eb_error make_step(eb_surface **out) {
  static const double corner[4][3] = {
      {1.2, 0, -0.5}, {1.8, 0, -0.5}, {1.2, 0.6, -0.5}, {1.2, 0, 0.1}};
  static const int32_t triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  EB_TRY(eb_surface_create(4, 4, out));
  memcpy((*out)->X, corner, sizeof corner);
  memcpy((*out)->triangles, triangles, sizeof triangles);
  return EB_OK;
}

/* A block alone keeps its material, which the other region shares. */
static eb_error set_up_bodies(eb_scene *scene) {
  EB_TRY(eb_block_scene.setup(scene));
  scene->material_count = scene->mesh->region_count;
  for (int32_t r = 1; r < scene->material_count; r++) scene->materials[r] = scene->materials[0];
  for (int32_t r = 1; r < scene->material_count; r++) scene->rigid.regions[r] = 1;
  scene->contacts.friction.common = 0.3;
  EB_TRY(make_tray(&scene->contacts.obstacles[0].surface));
  scene->contacts.obstacles[0].motion = rock;
  scene->contacts.obstacles[0].parameters[0] = 0.4;
  scene->contacts.obstacles[0].parameters[1] = -0.1;
  scene->contacts.obstacle_count = 1;
  EB_TRY(make_step(&scene->contacts.obstacles[1].surface));
  scene->contacts.obstacle_count = 2;
  return EB_OK;
}

/* To be changed by the test. */
__attribute__((unused)) static eb_scene_ops bodies_scene(void) {
  eb_scene_ops ops = eb_block_scene;
  ops.name = "test/bodies";
  ops.needs |= EB_CAP_CONTACT;
  ops.prepare = add_rigid_block;
  ops.setup = set_up_bodies;
  return ops;
}

#endif
