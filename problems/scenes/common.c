#include "problems/scenes/common.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/places.h"
#include "problems/ranks/subdomain.h"

/* ---- geometry -------------------------------------------------------------------------------- */

void eb_element_centroid(const eb_mesh *mesh, int32_t e, double centroid[3]) {
  const int32_t *corner = mesh->elements + (size_t)e * mesh->type;
  for (int d = 0; d < 3; d++) {
    centroid[d] = 0;
    for (int k = 0; k < (int)mesh->type; k++)
      centroid[d] += mesh->X[3 * corner[k] + d] / (double)mesh->type;
  }
}

eb_error eb_scene_copies(const eb_placement *place, int32_t count, eb_mesh **mesh) {
  eb_mesh *body = *mesh, *turned, *all = NULL;
  EB_TRY(eb_mesh_copy(body, &turned));
  eb_error error = eb_mesh_create(body->type, 0, 0, &all);
  for (int32_t c = 0; !error && c < count; c++) {
    for (size_t i = 0; i < (size_t)body->node_count; i++)
      eb_turn3(place[c].rotation, body->X + 3 * i, turned->X + 3 * i);
    error = eb_mesh_append(all, turned, place[c].shift);
  }
  *mesh = error ? body : all;
  eb_mesh_destroy(error ? all : body);
  eb_mesh_destroy(turned);
  return error;
}

/* ---- groups of nodes ------------------------------------------------------------------------- */

/* "the upper jaw of the beast": upper-jaw. */
static void name_grip(const char *what, char name[EB_NAME_BYTES]) {
  static const char article[] = "the ";
  if (strncmp(what, article, sizeof article - 1) == 0) what += sizeof article - 1;
  const char *of = strstr(what, " of ");
  snprintf(name, EB_NAME_BYTES, "%.*s", of ? (int)(of - what) : EB_NAME_BYTES - 1, what);
  for (char *at = name; *at; at++)
    if (!isalnum((unsigned char)*at)) *at = '-';
}

eb_error eb_grips_add(eb_scene *scene, eb_node_test *test, const void *context, const char *what) {
  const eb_mesh *mesh = scene->mesh;
  const eb_ranks *ranks = eb_scene_ranks(scene);
  if (scene->script.grip_count == EB_MAX_GRIPS)
    return EB_ERROR(EB_ERR_LIMIT, "more than %d groups of scripted nodes", EB_MAX_GRIPS);
  eb_grip *grip = &scene->script.grips[scene->script.grip_count];
  EB_TRY(eb_ranks_agree(ranks, EB_NEW(grip->nodes, mesh->node_count)));
  name_grip(what, grip->name);
  scene->script.grip_count++;
  double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *X = mesh->X + 3 * (size_t)i;
    if (!test(X, context)) continue;
    grip->nodes[grip->count++] = i;
    for (int d = 0; d < 3; d++) {
      lo[d] = fmin(lo[d], X[d]);
      hi[d] = fmax(hi[d], X[d]);
    }
  }
  eb_ranks_min(ranks, 3, lo);
  eb_ranks_max(ranks, 3, hi);
  if (eb_ranks_all(ranks, grip->count == 0))
    return EB_ERROR(EB_ERR_INVALID,
                    "no node of the mesh lies at %s, which the scene grips; use a finer mesh",
                    what);
  for (int d = 0; d < 3; d++) {
    grip->centre[d] = 0.5 * (lo[d] + hi[d]);
    grip->lo[d] = lo[d];
    grip->hi[d] = hi[d];
  }
  return EB_OK;
}

typedef struct band {
  int axis;
  double lo, hi;
} band;

static bool in_band(const double X[3], const void *context) {
  const band *within = context;
  return X[within->axis] >= within->lo && X[within->axis] <= within->hi;
}

eb_error eb_grips_add_end(eb_scene *scene, int axis, int side) {
  return eb_grips_add_end_named(scene, axis, side, side < 0 ? "the lower end" : "the upper end");
}

eb_error eb_grips_add_end_named(eb_scene *scene, int axis, int side, const char *what) {
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], nodes = (double)eb_scene_all_nodes(scene);
  eb_scene_bounds(scene, mesh->X, lo, hi);
  double extent = hi[axis] - lo[axis];
  /* A cube's face holds n^(2/3) of its n nodes, that of a slender bar less: a quarter of it is a
   * face on every bar here. */
  double wanted = fmax(3, 0.2 * cbrt(nodes * nodes));
  band within = {axis, lo[axis], hi[axis]};
  for (double width = 0.01; width < 0.5; width *= 1.25) {
    if (side < 0)
      within.hi = lo[axis] + width * extent;
    else
      within.lo = hi[axis] - width * extent;
    int64_t count = 0;
    for (int32_t i = 0; i < eb_scene_own_nodes(scene); i++)
      count += in_band(mesh->X + 3 * (size_t)i, &within);
    eb_ranks_sum_whole(eb_scene_ranks(scene), 1, &count);
    if ((double)count >= wanted) break;
  }
  return eb_grips_add(scene, in_band, &within, what);
}

typedef struct box {
  double lo[3], hi[3]; /* m */
} box;

static bool in_box(const double X[3], const void *context) {
  const box *within = context;
  bool inside = true;
  for (int d = 0; d < 3; d++) inside = inside && X[d] >= within->lo[d] && X[d] <= within->hi[d];
  return inside;
}

eb_error eb_grips_add_box(eb_scene *scene, const double lo[3], const double hi[3],
                          const char *what) {
  const double rounding = 1e-9;
  double least[3], most[3];
  box within;
  eb_scene_bounds(scene, scene->mesh->X, least, most);
  for (int d = 0; d < 3; d++) {
    within.lo[d] = least[d] + (lo[d] - rounding) * (most[d] - least[d]);
    within.hi[d] = least[d] + (hi[d] + rounding) * (most[d] - least[d]);
  }
  return eb_grips_add(scene, in_box, &within, what);
}

eb_error eb_grips_add_band(eb_scene *scene, int axis, int side, double width, const char *what) {
  double lo[3], hi[3];
  eb_scene_bounds(scene, scene->mesh->X, lo, hi);
  const double rounding = 1e-9 * (hi[axis] - lo[axis]);
  band within = {axis, lo[axis], lo[axis] + width + rounding};
  if (side > 0) within = (band){axis, hi[axis] - width - rounding, hi[axis]};
  return eb_grips_add(scene, in_band, &within, what);
}

int64_t eb_grip_size(const eb_scene *scene, const eb_grip *grip) {
  int64_t size = 0;
  for (int32_t k = 0; k < grip->count; k++) size += grip->nodes[k] < eb_scene_own_nodes(scene);
  eb_ranks_sum_whole(eb_scene_ranks(scene), 1, &size);
  return size;
}

void eb_grip_place(const eb_scene *scene, const eb_grip *grip, const double *rotation,
                   const double *about, const double shift[3], uint8_t *fixed, double *target) {
  static const double none[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
  if (!rotation) rotation = none;
  if (!about) about = origin;
  for (int32_t k = 0; k < grip->count; k++) {
    int32_t i = grip->nodes[k];
    double r[3];
    for (int d = 0; d < 3; d++) r[d] = scene->x0[3 * i + d] - about[d];
    for (int d = 0; d < 3; d++)
      target[3 * i + d] = about[d] + shift[d] + rotation[3 * d] * r[0] +
                          rotation[3 * d + 1] * r[1] + rotation[3 * d + 2] * r[2];
    fixed[i] = 1;
  }
}

void eb_grips_hold_first(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double still[3] = {0, 0, 0};
  (void)t;
  eb_grip_place(scene, &scene->script.grips[0], NULL, NULL, still, fixed, target);
}

void eb_grips_hold(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  (void)t;
  for (const eb_grip *grip = scene->script.grips;
       grip < scene->script.grips + scene->script.grip_count; grip++)
    for (int32_t k = 0; k < grip->count; k++) {
      int32_t i = grip->nodes[k];
      fixed[i] = 1;
      for (int d = 0; d < 3; d++) target[3 * i + d] = scene->x0[3 * i + d];
    }
}

/* ---- dynamic nodes --------------------------------------------------------------------------- */

static bool among(int32_t node, const int32_t *nodes, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (nodes[k] == node) return true;
  return false;
}

/* Of two that are as near, the first by place. */
static bool is_nearer(const double a[3], const double b[3], const double point[3]) {
  double first = eb_squared_distance3(a, point), second = eb_squared_distance3(b, point);
  return first < second || (first == second && eb_place_compare(a, b) < 0);
}

bool eb_scene_add_nearest(const eb_scene *scene, const double point[3], int32_t *nodes,
                          int32_t *count) {
  const double *X = scene->mesh->X;
  int32_t best = -1;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    if (best >= 0 && !is_nearer(X + 3 * (int64_t)i, X + 3 * (int64_t)best, point)) continue;
    bool taken = among(i, nodes, *count);
    for (int g = 0; g < scene->script.grip_count; g++)
      taken = taken || among(i, scene->script.grips[g].nodes, scene->script.grips[g].count);
    if (!taken) best = i;
  }
  if (best >= 0) nodes[(*count)++] = best;
  return best >= 0;
}

/* ---- scripts --------------------------------------------------------------------------------- */

double eb_ramp(double t, double begin, double end) {
  double s = fmin(1, fmax(0, (t - begin) / (end - begin)));
  return s * s * (3 - 2 * s);
}

double eb_ramp_integral(double t, double begin, double end) {
  double s = fmin(1, fmax(0, (t - begin) / (end - begin)));
  return (end - begin) * s * s * s * (1 - 0.5 * s) + fmax(0, t - end);
}

void eb_axis_rotation(int d, double angle, double rotation[9]) {
  int a = (d + 1) % 3, b = (d + 2) % 3;
  double c = cos(angle), s = sin(angle);
  for (int k = 0; k < 9; k++) rotation[k] = 0;
  rotation[4 * d] = 1;
  rotation[4 * a] = rotation[4 * b] = c;
  rotation[3 * a + b] = -s;
  rotation[3 * b + a] = s;
}

void eb_scene_place(eb_scene *scene, const double rotation[9], double floor) {
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3];
  for (size_t i = 0; i < (size_t)mesh->node_count; i++)
    eb_turn3(rotation, mesh->X + 3 * i, scene->x0 + 3 * i);
  eb_scene_bounds(scene, scene->x0, lo, hi);
  const double shift[3] = {-0.5 * (lo[0] + hi[0]), -0.5 * (lo[1] + hi[1]), floor - lo[2]};
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; d < 3; d++) scene->x0[3 * i + d] += shift[d];
}

/* ---- materials and contact ------------------------------------------------------------------- */

void eb_scene_uniform_material(eb_scene *scene) {
  const eb_values *parameters = scene->parameters;
  eb_material material = {.young = eb_values_real(parameters, "E"),
                          .poisson = eb_values_real(parameters, "nu"),
                          .density = eb_values_real(parameters, "rho")};
  eb_error unknown =
      eb_material_choose(&scene->ops->materials, eb_values_text(parameters, "material"), &material);
  EB_ASSERT(!unknown); /* the option's choices are what there is */
  eb_error_free(unknown);
  if (scene->mesh->type == EB_HEXAHEDRON && eb_values_declares(parameters, "integration")) {
    const char *chosen = eb_values_text(parameters, "integration");
    while (strcmp(eb_integration_name((int)material.integration), chosen)) material.integration++;
    material.hourglass = eb_values_real(parameters, "hourglass");
  }
  for (int32_t r = 0; r < scene->material_count; r++) scene->materials[r] = material;
}

void eb_scene_set_mechanics(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  scene->gravity[2] = -eb_values_real(scene->parameters, "gravity");
}

eb_collider *eb_scene_add_collider(eb_scene *scene, eb_collider_kind kind, const double origin[3],
                                   const double axis[3], double radius) {
  eb_collider *collider = &scene->contacts.colliders[scene->contacts.collider_count++];
  *collider = (eb_collider){.kind = kind, .radius = radius};
  for (int d = 0; d < 3; d++) {
    collider->origin[d] = origin[d];
    collider->axis[d] = axis[d];
  }
  return collider;
}

eb_collider *eb_scene_add_floor(eb_scene *scene, double height) {
  return eb_scene_add_collider(scene, EB_PLANE, (const double[3]){0, 0, height},
                               (const double[3]){0, 0, 1}, 0);
}
