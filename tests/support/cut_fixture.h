/* Block scenes (harness/check/block.c) that are cut: the cuts of the next scene that is created are
 * those of `script`. */
#ifndef EB_TESTS_CUT_FIXTURE_H
#define EB_TESTS_CUT_FIXTURE_H

#include "harness/check/block.h"
#include "problems/mesh/cut.h"
#include "tests/tap.h"

static struct {
  int32_t count;
  eb_cut cuts[EB_MAX_CUTS];
} script;

static int32_t write_script(const eb_scene *scene, eb_cut cuts[EB_MAX_CUTS]) {
  (void)scene;
  for (int32_t c = 0; c < script.count && c < EB_MAX_CUTS; c++) cuts[c] = script.cuts[c];
  return script.count;
}

/* The script's cuts made before the scene begins. */
__attribute__((unused)) static eb_error precut(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  for (int32_t c = 0; c < script.count; c++) {
    int32_t *origin;
    EB_TRY(eb_mesh_cut(*mesh, &script.cuts[c], &origin));
    free(origin);
  }
  return EB_OK;
}

/* The block scene with the script's cuts, to be changed by the test. */
static eb_scene_ops cut_block(void) {
  eb_scene_ops ops = eb_block_scene;
  ops.name = "test/cut";
  ops.cuts = write_script;
  return ops;
}

static eb_scene *make_scene(const eb_scene_ops *ops, const char *parameters) {
  eb_scene *scene;
  tap_require(eb_scene_create(ops, parameters, NULL, "", &scene), parameters);
  return scene;
}

__attribute__((unused)) static eb_error try_scene(const eb_scene_ops *ops, const char *parameters) {
  eb_scene *scene;
  eb_error error = eb_scene_create(ops, parameters, NULL, "", &scene);
  if (!error) eb_scene_destroy(scene);
  return error;
}

static void set_cut(int32_t at, double time, int axis, double where, double radius) {
  eb_cut *cut = &script.cuts[at];
  *cut = (eb_cut){.time = time, .radius = radius};
  cut->origin[axis] = where;
  cut->normal[axis] = 1;
  script.count = at + 1;
}

#endif
