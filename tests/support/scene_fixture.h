/* A folder of its own for each test program's files, and scenes made with a cache in it. */
#ifndef EB_TESTS_SCENE_FIXTURE_H
#define EB_TESTS_SCENE_FIXTURE_H

#include <unistd.h>

#include "problems/scene_impl.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static char cache[64];

static void fixture_open(void) {
  scratch_open();
  snprintf(cache, sizeof cache, "%s/cache", folder);
}

/* Removes the folder; returns what main returns. */
static int fixture_close(void) {
  return scratch_close();
}

__attribute__((unused)) static const char *label(const char *scene, const char *what) {
  static char text[256];
  snprintf(text, sizeof text, "%s: %s", scene, what);
  return text;
}

__attribute__((unused)) static eb_scene *make(const char *name, const char *parameters) {
  eb_scene *scene;
  tap_require(eb_scene_create(eb_scene_find(name), parameters, NULL, cache, &scene), name);
  return scene;
}

__attribute__((unused)) static eb_error attempt(const char *name, const char *parameters,
                                                const char *mesh) {
  eb_scene *scene;
  eb_error error = eb_scene_create(eb_scene_find(name), parameters, mesh, cache, &scene);
  if (!error) eb_scene_destroy(scene);
  return error;
}

__attribute__((unused)) static int32_t root(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

__attribute__((unused)) static int32_t pieces(const eb_mesh *mesh) {
  int32_t *parent = malloc(4 * (size_t)mesh->node_count), count = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) parent[i] = i;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = 1; k < (int)mesh->type; k++)
      parent[root(parent, mesh->elements[e * (int)mesh->type + k])] =
          root(parent, mesh->elements[e * (int)mesh->type]);
  for (int32_t i = 0; i < mesh->node_count; i++) count += root(parent, i) == i;
  free(parent);
  return count;
}

#endif
