#include "problems/scenes/common.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/generate.h"
#include "problems/mesh/refine.h"
#include "problems/mesh/stuffing.h"

/* ---- geometry -------------------------------------------------------------------------------- */

eb_error eb_scene_bar(const eb_values *parameters, const int32_t cubes[3], const double origin[3],
                      const double size[3], eb_mesh **out) {
  double resolution = eb_values_real(parameters, "resolution");
  eb_grid grid;
  for (int d = 0; d < 3; d++) {
    grid.cubes[d] = (int32_t)fmax(1, round(cubes[d] * resolution));
    grid.origin[d] = origin[d];
    grid.size[d] = size[d];
  }
  return eb_generate_tets6(&grid, out);
}

/* Scales by size over the longest edge of the box, centres over the origin, stands on z = 0. */
static void normalize(eb_mesh *mesh, double size) {
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double scale = size / fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
  const double from[3] = {0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), lo[2]};
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; d < 3; d++) mesh->X[3 * i + d] = scale * (mesh->X[3 * i + d] - from[d]);
}

eb_error eb_scene_model(const eb_values *parameters, const char *model, int32_t elements,
                        int32_t nodes, double size, eb_mesh **out) {
  const eb_model *found = eb_model_find(model);
  if (!found) return EB_ERROR(EB_ERR_UNSUPPORTED, "there is no model '%s' in this build", model);
  double resolution = eb_values_real(parameters, "resolution");
  double count = fmax(50, round(elements * resolution));
  /* The lattice offers few sizes to choose from when elements are few. */
  double tolerance = count >= 5000 ? 0.03 : 0.5;
  if (nodes > 0 && resolution == 1)
    EB_TRY(eb_stuff_to_counts(&found->solid, elements, nodes, tolerance, out));
  else
    EB_TRY(eb_stuff_to_count(&found->solid, (int32_t)count, tolerance, out));
  normalize(*out, size);
  return EB_OK;
}

void eb_element_centroid(const eb_mesh *mesh, int32_t e, double centroid[3]) {
  const int32_t *corner = mesh->elements + (size_t)e * mesh->type;
  for (int d = 0; d < 3; d++) {
    centroid[d] = 0;
    for (int k = 0; k < (int)mesh->type; k++)
      centroid[d] += mesh->X[3 * corner[k] + d] / (double)mesh->type;
  }
}

/* ---- groups of nodes ------------------------------------------------------------------------- */

static void measure_grip(const eb_mesh *mesh, eb_grip *grip) {
  double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  for (int32_t i = 0; i < grip->count; i++)
    for (int d = 0; d < 3; d++) {
      lo[d] = fmin(lo[d], mesh->X[3 * grip->nodes[i] + d]);
      hi[d] = fmax(hi[d], mesh->X[3 * grip->nodes[i] + d]);
    }
  for (int d = 0; d < 3; d++) grip->centre[d] = 0.5 * (lo[d] + hi[d]);
}

eb_error eb_grips_add(eb_scene *scene, eb_node_test *test, const void *context, const char *what) {
  const eb_mesh *mesh = scene->mesh;
  if (!scene->data) {
    eb_grips *fresh;
    EB_TRY(EB_NEW(fresh, 1));
    scene->data = fresh;
  }
  eb_grips *grips = scene->data;
  if (grips->count == EB_MAX_GRIPS)
    return EB_ERROR(EB_ERR_LIMIT, "more than %d groups of scripted nodes", EB_MAX_GRIPS);
  eb_grip *grip = &grips->grip[grips->count];
  EB_TRY(EB_NEW(grip->nodes, mesh->node_count));
  grips->count++;
  for (int32_t i = 0; i < mesh->node_count; i++)
    if (test(mesh->X + 3 * i, context)) grip->nodes[grip->count++] = i;
  if (grip->count == 0)
    return EB_ERROR(EB_ERR_INVALID,
                    "no node of the mesh lies at %s, which the scene grips; use a finer mesh",
                    what);
  measure_grip(mesh, grip);
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

static int32_t count_in(const eb_mesh *mesh, eb_node_test *test, const void *context) {
  int32_t count = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) count += test(mesh->X + 3 * i, context);
  return count;
}

eb_error eb_grips_add_end(eb_scene *scene, int axis, int side) {
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double extent = hi[axis] - lo[axis];
  /* A cube's face holds n^(2/3) of its n nodes, that of a slender bar less: a quarter of it is a
   * face on every bar here. */
  double wanted = fmax(3, 0.2 * cbrt((double)mesh->node_count * (double)mesh->node_count));
  band within = {axis, lo[axis], hi[axis]};
  for (double width = 0.01; width < 0.5; width *= 1.25) {
    if (side < 0)
      within.hi = lo[axis] + width * extent;
    else
      within.lo = hi[axis] - width * extent;
    if (count_in(mesh, in_band, &within) >= wanted) break;
  }
  return eb_grips_add(scene, in_band, &within, side < 0 ? "the lower end" : "the upper end");
}

eb_error eb_grips_add_band(eb_scene *scene, int axis, double width) {
  double lo[3], hi[3];
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  const double rounding = 1e-9 * (hi[axis] - lo[axis]);
  band within = {axis, lo[axis], lo[axis] + width + rounding};
  return eb_grips_add(scene, in_band, &within, "the lower end");
}

void eb_grips_clear(eb_scene *scene) {
  eb_grips *grips = scene->data;
  for (int g = 0; grips && g < grips->count; g++) free(grips->grip[g].nodes);
  free(grips);
  scene->data = NULL;
}

void eb_grip_place(const eb_scene *scene, const eb_grip *grip, const double rotation[9],
                   const double about[3], const double shift[3], uint8_t *fixed, double *target) {
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

static double squared_distance(const double *a, const double *b) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

int32_t eb_grip_middle(const eb_scene *scene, const eb_grip *grip) {
  const double *X = scene->mesh->X;
  int32_t best = grip->nodes[0];
  for (int32_t k = 1; k < grip->count; k++)
    if (squared_distance(X + 3 * grip->nodes[k], grip->centre) <
        squared_distance(X + 3 * best, grip->centre))
      best = grip->nodes[k];
  return best;
}

static bool among(int32_t node, const int32_t *nodes, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (nodes[k] == node) return true;
  return false;
}

static bool is_gripped(const eb_grips *grips, int32_t node) {
  for (int g = 0; grips && g < grips->count; g++)
    if (among(node, grips->grip[g].nodes, grips->grip[g].count)) return true;
  return false;
}

int32_t eb_scene_nearest_free(const eb_scene *scene, const double point[3], const int32_t *taken,
                              int32_t count) {
  const double *X = scene->mesh->X;
  int32_t best = -1;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    if (best >= 0 && squared_distance(X + 3 * i, point) >= squared_distance(X + 3 * best, point))
      continue;
    if (!among(i, taken, count) && !is_gripped(scene->data, i)) best = i;
  }
  return best;
}

void eb_grips_hold(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  (void)t;
  const eb_grips *grips = scene->data;
  for (int g = 0; g < grips->count; g++)
    for (int32_t k = 0; k < grips->grip[g].count; k++) {
      int32_t i = grips->grip[g].nodes[k];
      fixed[i] = 1;
      for (int d = 0; d < 3; d++) target[3 * i + d] = scene->x0[3 * i + d];
    }
}

/* ---- scripts --------------------------------------------------------------------------------- */

double eb_ramp(double t, double begin, double end) {
  double s = fmin(1, fmax(0, (t - begin) / (end - begin)));
  return s * s * (3 - 2 * s);
}

double eb_ramp_rate(double t, double begin, double end) {
  double s = fmin(1, fmax(0, (t - begin) / (end - begin)));
  return 6 * s * (1 - s) / (end - begin);
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
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *X = mesh->X + 3 * i;
    for (int d = 0; d < 3; d++)
      scene->x0[3 * i + d] =
          rotation[3 * d] * X[0] + rotation[3 * d + 1] * X[1] + rotation[3 * d + 2] * X[2];
  }
  eb_mesh_bounds(scene->x0, mesh->node_count, lo, hi);
  double shift[3] = {-0.5 * (lo[0] + hi[0]), -0.5 * (lo[1] + hi[1]), floor - lo[2]};
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; d < 3; d++) scene->x0[3 * i + d] += shift[d];
}

/* ---- materials and contact ------------------------------------------------------------------- */

void eb_scene_uniform_material(eb_scene *scene) {
  const eb_values *parameters = scene->parameters;
  eb_material material = {
      .kind = (eb_material_kind)eb_material_find(eb_values_text(parameters, "material")),
      .young = eb_values_real(parameters, "E"),
      .poisson = eb_values_real(parameters, "nu"),
      .density = eb_values_real(parameters, "rho")};
  for (int32_t r = 0; r < scene->material_count; r++) scene->materials[r] = material;
}

void eb_scene_set_gravity(eb_scene *scene) {
  scene->gravity[2] = -eb_values_real(scene->parameters, "gravity");
}

/* Penalty forces are taken at the start of a step (f_ext), elasticity at its end. What may the
 * stiffness be?
 *
 * Take a node of mass m per unit of surface that meets the wall with x'' = -(s/m) x - (c/m) x'.
 * One step of the scheme is v1 = v0 - h (s x0 + c v0) / m, x1 = x0 + h v1; its amplification
 * matrix has the determinant 1 - h c/m and the trace 2 - h c/m - h^2 s/m, so it is stable when h^2
 * s/m + 2 h c/m < 4 (Jury's criterion). m is not the lumped mass of the node. The elastic solve is
 * implicit, so a node does not move alone: in a step a pressure wave of speed sqrt(E/rho) reaches
 * the depth
 *   reach = h sqrt(E / rho), at least a surface node's own layer, at most the whole thickness,
 * and all that mass, m = rho reach, moves along. Corners and small patches of contact carry less,
 * so we stay well below the bound:
 *   s = m / h^2 and c = m / (4 h):  h^2 s/m + 2 h c/m = 1.5 of 4.
 * A body that arrives with speed v brings the pressure rho sqrt(E/rho) v of its impact, which s
 * meets at a depth of v h: a step's travel, whatever the stiffness. Hence dt bounds the
 * penetration. */
void eb_penalty_constants(const eb_scene *scene, double thickness, eb_collider *collider) {
  double volume = 0, mass = 0, stiffest = 0, h = scene->dt;
  const double *X = scene->mesh->X;
  for (int32_t e = 0; e < scene->mesh->element_count; e++) {
    double part = eb_mesh_element_volume(scene->mesh, X, e);
    const eb_material *material = &scene->materials[scene->mesh->region[e]];
    volume += part;
    mass += part * material->density;
    stiffest = fmax(stiffest, material->young);
  }
  double lo[3], hi[3], rho = mass / volume;
  eb_mesh_bounds(X, scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) thickness = fmin(thickness, hi[d] - lo[d]);
  double spacing = cbrt(volume / scene->mesh->node_count);
  double reach = fmin(thickness, fmax(0.5 * spacing, h * sqrt(stiffest / rho)));
  collider->stiffness = rho * reach / (h * h);
  collider->damping = rho * reach / (4 * h);
}

eb_collider *eb_scene_add_collider(eb_scene *scene, eb_collider_kind kind, const double origin[3],
                                   const double axis[3], double radius) {
  eb_collider *collider = &scene->colliders[scene->collider_count++];
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

/* ---- copies ---------------------------------------------------------------------------------- */

/* `turned` is a copy of `body` to write to. */
static eb_error append_all(const eb_placement *place, int32_t count, const eb_mesh *body,
                           eb_mesh *turned, eb_mesh *all) {
  for (int32_t c = 0; c < count; c++) {
    for (size_t i = 0; i < (size_t)body->node_count; i++)
      eb_turn3(place[c].rotation, body->X + 3 * i, turned->X + 3 * i);
    EB_TRY(eb_mesh_append(all, turned, place[c].shift));
  }
  return EB_OK;
}

eb_error eb_scene_copies(const eb_placement *place, int32_t count, eb_mesh **mesh) {
  eb_mesh *turned, *all = NULL;
  EB_TRY(eb_mesh_copy(*mesh, &turned));
  eb_error error = eb_mesh_create(turned->type, 0, 0, &all);
  if (!error) error = append_all(place, count, *mesh, turned, all);
  if (!error) {
    eb_mesh *single = *mesh;
    *mesh = all;
    all = single;
  }
  eb_mesh_destroy(all);
  eb_mesh_destroy(turned);
  return error;
}
