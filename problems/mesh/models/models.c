#include <string.h>

#include "problems/mesh/models/shape.h"

#define SOLID(shape, names, x0, y0, z0, x1, y1, z1)                                                \
  {                                                                                                \
    .distance = eb_shape_distance, .region = eb_shape_region, .region_names = (names),             \
    .context = &(shape), .lo = {x0, y0, z0}, .hi = {                                               \
      x1,                                                                                          \
      y1,                                                                                          \
      z1                                                                                           \
    }                                                                                              \
  }

const eb_model *eb_models(void) {
  static const eb_model models[] = {
      {.name = "armadillo",
       .summary = "an upright armadillo with raised hands, 0.3 m tall",
       .solid = SOLID(eb_shape_armadillo, NULL, -0.115, -0.12, -0.01, 0.08, 0.12, 0.32)},
      {.name = "bear",
       .summary = "a sitting teddy bear, 0.2 m tall",
       .solid = SOLID(eb_shape_bear, NULL, -0.08, -0.1, -0.01, 0.12, 0.1, 0.22)},
      {.name = "bunny",
       .summary = "a crouching rabbit with long ears, 0.12 m tall",
       .solid = SOLID(eb_shape_bunny, NULL, -0.065, -0.04, -0.01, 0.07, 0.04, 0.13)},
      {.name = "dragon",
       .summary = "a Chinese dragon with open jaws, 0.15 m long",
       .solid = SOLID(eb_shape_dragon, eb_dragon_regions, -0.08, -0.04, -0.01, 0.08, 0.04, 0.1)},
      {.name = "sculpture",
       .summary = "an openwork sphere of three twisted strands, radius 0.8 m",
       .solid = SOLID(eb_shape_sculpture, NULL, -0.85, -0.85, -0.85, 0.85, 0.85, 0.85)},
      {.name = "spider",
       .summary = "a toy spider with jointed legs hanging on a thread, 0.25 m tall",
       .solid = SOLID(eb_shape_spider, eb_spider_regions, -0.13, -0.16, -0.095, 0.145, 0.16, 0.2)},
      {.name = "three-torus",
       .summary = "three rings grown together, genus 3, 0.45 m across",
       .solid = SOLID(eb_shape_three_torus, NULL, -0.3, -0.3, -0.07, 0.3, 0.3, 0.07)},
      {.name = NULL},
  };
  return models;
}

const eb_model *eb_model_find(const char *name) {
  for (const eb_model *model = eb_models(); model->name; model++)
    if (strcmp(model->name, name) == 0) return model;
  return NULL;
}
