#include "problems/scenes/verschoor2019.h"

#include <math.h>

#include "problems/base/random.h"
#include "problems/base/vector3.h"
#include "problems/mesh/surface_shapes.h"

void eb_verschoor2019_mechanics(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  scene->contact_friction = eb_values_real(scene->parameters, "mu");
}

/* ---- obstacles ------------------------------------------------------------------------------- */

eb_error eb_scene_add_obstacle(eb_scene *scene, eb_surface *surface, eb_obstacle **out) {
  if (scene->obstacle_count == EB_MAX_OBSTACLES) {
    eb_surface_destroy(surface);
    return EB_ERROR(EB_ERR_LIMIT, "a scene takes at most %d obstacles", EB_MAX_OBSTACLES);
  }
  eb_obstacle *obstacle = &scene->obstacles[scene->obstacle_count++];
  *obstacle = (eb_obstacle){.surface = surface};
  if (out) *out = obstacle;
  return EB_OK;
}

eb_error eb_verschoor2019_floor(eb_scene *scene, double half, double height) {
  const double thickness = 0.05;
  eb_surface *surface;
  EB_TRY(eb_surface_box((const double[3]){half, half, thickness / 2}, &surface));
  eb_surface_move(surface, NULL, (const double[3]){0, 0, height - thickness / 2});
  return eb_scene_add_obstacle(scene, surface, NULL);
}

/* ---- bodies at random ------------------------------------------------------------------------ */

/* Of a unit quaternion that is uniform on the sphere: a point of the ball of radius 1, projected. Without functions that differ from one machine to
 * the next. */
static void random_rotation(uint64_t *state, double R[9]) {
  double q[4], square;
  do {
    square = 0;
    for (int k = 0; k < 4; k++) {
      q[k] = eb_random_uniform(state, -1, 1);
      square += q[k] * q[k];
    }
  } while (square > 1 || square < 0.01);
  double s = 2 / square, w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[9] = {
      1 - s * (y * y + z * z), s * (x * y - z * w),     s * (x * z + y * w),
      s * (x * y + z * w),     1 - s * (x * x + z * z), s * (y * z - x * w),
      s * (x * z - y * w),     s * (y * z + x * w),     1 - s * (x * x + y * y)};
  for (int k = 0; k < 9; k++) R[k] = rows[k];
}

/* The ball about the middle of the body's box. */
static double ball_around(const eb_mesh *mesh, double centre[3]) {
  double lo[3], hi[3], radius = 0;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) centre[d] = 0.5 * (lo[d] + hi[d]);
  for (size_t i = 0; i < (size_t)mesh->node_count; i++) {
    const double *X = mesh->X + 3 * i;
    const double r[3] = {X[0] - centre[0], X[1] - centre[1], X[2] - centre[2]};
    radius = fmax(radius, sqrt(eb_dot3(r, r)));
  }
  return radius;
}

/* Cells fill layer by layer, row by row. */
static void cell_middle(const eb_scatter *scatter, int32_t index, double middle[3]) {
  int32_t across = scatter->across, rest = index / across;
  const int32_t at[3] = {index % across, rest % across, rest / across};
  for (int d = 0; d < 3; d++)
    middle[d] = scatter->cell * (at[d] + 0.5 - (d < 2 ? 0.5 * across : 0));
}

eb_error eb_verschoor2019_scatter(const eb_values *parameters, const eb_scatter *scatter,
                                  eb_mesh **mesh) {
  eb_placement place[EB_VERSCHOOR2019_BODIES];
  int32_t bodies = (int32_t)eb_values_int(parameters, "bodies");
  uint64_t state = (uint64_t)eb_values_int(parameters, "seed");
  double centre[3], turned[3], radius = ball_around(*mesh, centre);
  double slack = 0.5 * scatter->cell - radius - EB_VERSCHOOR2019_CLEARANCE;
  if (!(slack >= 0))
    return EB_ERROR(EB_ERR_INVALID,
                    "the body reaches %g m from its middle and does not fit into a cell of %g m; "
                    "use a smaller or rounder one",
                    radius, scatter->cell);
  for (int32_t b = 0; b < bodies; b++) {
    random_rotation(&state, place[b].rotation);
    cell_middle(scatter, b, place[b].shift);
    eb_turn3(place[b].rotation, centre, turned);
    for (int d = 0; d < 3; d++)
      place[b].shift[d] += eb_random_uniform(&state, -slack, slack) - turned[d];
  }
  return eb_scene_copies(place, bodies, mesh);
}
