#include "problems/collision/obstacle.h"

#include <math.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/vector3.h"

void eb_obstacle_pose(const eb_obstacle *obstacle, double t, double rotation[9], double shift[3]) {
  static const double still[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  memcpy(rotation, still, sizeof still);
  memset(shift, 0, 3 * sizeof *shift);
  const void *script = obstacle->script ? obstacle->script : obstacle->parameters;
  if (obstacle->motion) obstacle->motion(t, script, rotation, shift);
}

void eb_obstacle_place(const eb_obstacle *obstacle, double t, double *x) {
  const eb_surface *surface = obstacle->surface;
  double rotation[9], shift[3];
  if (!obstacle->motion) {
    memcpy(x, surface->X, 3 * (size_t)surface->vertex_count * sizeof *x);
    return;
  }
  eb_obstacle_pose(obstacle, t, rotation, shift);
  for (size_t i = 0; i < (size_t)surface->vertex_count; i++) {
    eb_turn3(rotation, surface->X + 3 * i, x + 3 * i);
    eb_add3(1, shift, x + 3 * i);
  }
}

/* |R R^T - 1| and the handedness of R to the accuracy of a product of a few rotations; false for
 * NaN. */
static bool is_rotation(const double R[9]) {
  double last[3], worst = 0;
  eb_cross3(R, R + 3, last);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double off = fabs(eb_dot3(R + 3 * i, R + 3 * j) - (i == j));
      worst = off <= worst ? worst : off;
    }
  return worst < 1e-9 && eb_dot3(last, R + 6) > 0;
}

eb_error eb_obstacle_validate(const eb_obstacle *obstacle) {
  if (!obstacle->surface)
    return EB_ERROR(EB_ERR_INVALID, "it has no surface; the setup is to give it one");
  EB_TRY(eb_surface_validate(obstacle->surface, false));
  for (int s = 0; obstacle->motion && s < EB_SCRIPT_SAMPLES; s++) {
    double t = eb_script_time(s), rotation[9], shift[3];
    eb_obstacle_pose(obstacle, t, rotation, shift);
    if (!is_rotation(rotation) || !isfinite(shift[0] + shift[1] + shift[2]))
      return EB_ERROR(EB_ERR_INVALID,
                      "its motion at %g s is not rigid: a rotation matrix and a finite shift are "
                      "wanted",
                      t);
  }
  return EB_OK;
}

void eb_obstacle_clear(eb_obstacle *obstacle) {
  eb_surface_destroy(obstacle->surface);
  obstacle->surface = NULL;
}
