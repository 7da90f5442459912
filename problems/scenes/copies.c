#include "problems/scenes/copies.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/random.h"
#include "problems/base/vector3.h"
#include "problems/scenes/common.h"

static const eb_placement unturned = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static eb_error make_places(double count, eb_placement **out) {
  if (!(count >= 1 && count <= EB_MOST_COPIES))
    return EB_ERROR(EB_ERR_LIMIT, "%g copies of a body; 1 to %d can be made", count,
                    EB_MOST_COPIES);
  EB_TRY(EB_NEW(*out, count));
  for (int32_t c = 0; c < (int32_t)count; c++) (*out)[c] = unturned;
  return EB_OK;
}

/* ---- heaps ----------------------------------------------------------------------------------- */

/* Of a unit quaternion that is uniform on the sphere: a point of the ball of radius 1, projected.
 * Without functions that differ from one machine to the next. */
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

eb_error eb_copies_heap(int32_t count, const eb_cells *cells, uint64_t seed, eb_mesh **mesh) {
  EB_FREED eb_placement *place = NULL;
  int32_t across = cells->across;
  uint64_t state = seed;
  double lo[3], hi[3], centre[3], turned[3], radius = 0, cell = cells->cell;
  EB_TRY(make_places(count, &place));
  /* The ball about the middle of the body's box. */
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  for (int d = 0; d < 3; d++) centre[d] = 0.5 * (lo[d] + hi[d]);
  for (size_t i = 0; i < (size_t)(*mesh)->node_count; i++)
    radius = fmax(radius, sqrt(eb_squared_distance3((*mesh)->X + 3 * i, centre)));
  double slack = 0.5 * cell - radius - cells->clearance;
  if (!(slack >= 0))
    return EB_ERROR(EB_ERR_INVALID,
                    "the body reaches %g m from its middle and does not fit into a cell of %g m; "
                    "use a smaller or rounder one",
                    radius, cell);
  for (int32_t b = 0; b < count; b++) {
    random_rotation(&state, place[b].rotation);
    eb_turn3(place[b].rotation, centre, turned);
    /* Cells fill layer by layer, row by row. */
    const int32_t at[3] = {b % across, b / across % across, b / across / across};
    for (int d = 0; d < 3; d++) {
      double middle = cell * (at[d] + 0.5 - (d < 2 ? 0.5 * across : 0));
      place[b].shift[d] = middle + (eb_random_uniform(&state, -slack, slack) - turned[d]);
    }
  }
  return eb_scene_copies(place, count, mesh);
}

/* ---- order ----------------------------------------------------------------------------------- */

eb_error eb_copies_stack(int32_t count, double gap, eb_mesh **mesh) {
  EB_FREED eb_placement *place = NULL;
  double lo[3], hi[3];
  EB_TRY(make_places(count, &place));
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  for (int32_t b = 0; b < count; b++) place[b].shift[2] = gap - lo[2] + b * (hi[2] - lo[2] + gap);
  return eb_scene_copies(place, count, mesh);
}

eb_error eb_copies_lattice(const int32_t count[3], double gap, eb_mesh **mesh) {
  EB_FREED eb_placement *place = NULL;
  double lo[3], hi[3];
  EB_TRY(make_places((double)count[0] * count[1] * count[2], &place));
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  int32_t all = count[0] * count[1] * count[2];
  for (int32_t b = 0; b < all; b++) {
    const int32_t at[3] = {b % count[0], b / count[0] % count[1], b / count[0] / count[1]};
    for (int d = 0; d < 3; d++) place[b].shift[d] = at[d] * (hi[d] - lo[d] + gap);
  }
  return eb_scene_copies(place, all, mesh);
}

eb_error eb_copies_pyramid(int32_t layers, double gap, eb_mesh **mesh) {
  EB_FREED eb_placement *place = NULL;
  int32_t count = 0;
  double lo[3], hi[3], pitch[3], n = layers;
  EB_TRY(make_places(n * (n + 1) * (2 * n + 1) / 6, &place));
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  for (int d = 0; d < 3; d++) pitch[d] = hi[d] - lo[d] + gap;
  for (int32_t layer = 0; layer < layers; layer++)
    for (int32_t b = 0, row = layers - layer; b < row * row; b++) {
      const double at[3] = {b % row - 0.5 * (row - 1), b / row - 0.5 * (row - 1), layer + 0.5};
      for (int d = 0; d < 3; d++)
        place[count].shift[d] = pitch[d] * at[d] - 0.5 * (lo[d] + hi[d]) + (d == 2 ? gap / 2 : 0);
      count++;
    }
  return eb_scene_copies(place, count, mesh);
}

eb_error eb_copies_circle(int32_t count, double radius, eb_mesh **mesh) {
  static const double pi = 3.14159265358979323846;
  EB_FREED eb_placement *place = NULL;
  EB_TRY(make_places(count, &place));
  for (int32_t b = 0; b < count; b++) {
    double angle = 2 * pi * b / count;
    eb_axis_rotation(2, angle, place[b].rotation);
    place[b].shift[0] = radius * cos(angle);
    place[b].shift[1] = radius * sin(angle);
    place[b].shift[2] = 0;
  }
  return eb_scene_copies(place, count, mesh);
}
