#include "harness/results/colliders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/table.h"

/* By eb_collider_kind. */
static const char *kind_name(int kind) {
  static const char *const names[] = {"plane", "sphere", "cylinder", "capped-cylinder", "bowl"};
  return kind < (int)(sizeof names / sizeof *names) ? names[kind] : NULL;
}

static const eb_quantity quantities[] = {
    {"kind", "1", EB_NAMED, offsetof(eb_collider, kind), 1, kind_name, false},
    EB_REALS(eb_collider, origin, "m", 3),
    EB_REALS(eb_collider, axis, "1", 3),
    EB_REALS(eb_collider, radius, "m", 1),
    EB_REALS(eb_collider, half_length, "m", 1),
    EB_REALS(eb_collider, stiffness, "Pa/m", 1),
    EB_REALS(eb_collider, damping, "Pa s/m", 1),
    EB_REALS(eb_collider, friction, "1", 1),
    {"margin", "m", EB_REAL, offsetof(eb_collider, margin), 1, NULL, true},
    {"grip", "Pa s/m", EB_REAL, offsetof(eb_collider, grip), 1, NULL, true},
    {"isotropy", "1", EB_REAL, offsetof(eb_collider, isotropy), 1, NULL, true},
    {"implicit", "1", EB_FLAG, offsetof(eb_collider, implicit), 1, NULL, true},
    {0}};

eb_error eb_colliders_write(hid_t group, const eb_scene *scene) {
  EB_TRY(eb_quantities_put(group, quantities, scene->colliders, sizeof *scene->colliders,
                           (size_t)scene->collider_count));
  EB_TRY(eb_h5_put_text(
      group, "penalty",
      "with signed distance s(x), unit normal n, depth d = margin - s > 0, a node's share a of the "
      "rest surface and its velocity v relative to the collider: explicit colliders push with "
      "f_n = max(0, stiffness a d - damping a v.n) along n and drag with min(friction f_n, "
      "(grip, or damping where grip is 0) a |v_t|) against v_t, at the start of the step; implicit "
      "ones push with stiffness a d along n at its end, and isotropy changes the tangent alone"));
  return eb_h5_put_text(
      group, "penalty_rule",
      "explicit colliders of stiffness 0 push with stiffness 1.5 / (h^2 q), damping = grip = "
      "0.3 / (h q), where q (m^2/kg) is how the touched body yields to all its contacts of the "
      "moment; the forces that follow are in frames/force");
}

/* ---- reading --------------------------------------------------------------------------------- */

static eb_error check(const eb_collider *collider, int32_t c) {
  double length = 0, sum = 0;
  for (int d = 0; d < 3; d++) {
    length += collider->axis[d] * collider->axis[d];
    sum += fabs(collider->origin[d]);
  }
  bool good = isfinite(sum) && isfinite(collider->radius) && collider->radius >= 0 &&
              isfinite(collider->half_length) && collider->half_length >= 0 &&
              fabs(length - 1) < 1e-9;
  return good ? EB_OK
              : EB_ERROR(EB_ERR_FORMAT,
                         "collider %d (%s) has a place or size that is not finite or negative, or "
                         "an axis that is no unit vector",
                         c, kind_name((int)collider->kind));
}

/* Moves the colliders to where they are in a frame. */
static eb_error move(const eb_results *results, int run, size_t frame, eb_result_colliders *out) {
  eb_h5_shape row = {2, {(hsize_t)out->count, 3}};
  void *data;
  EB_TRY(
      eb_results_frame_row(results, run, EB_COLLIDER_OFFSET, frame, H5T_NATIVE_DOUBLE, row, &data));
  eb_error error = EB_OK;
  for (int32_t c = 0; c < out->count && !error; c++) {
    for (int d = 0; d < 3; d++) out->list[c].origin[d] += ((const double *)data)[3 * c + d];
    error = check(&out->list[c], c);
  }
  free(data);
  return error;
}

eb_error eb_results_colliders(const eb_results *results, int run, size_t frame,
                              eb_result_colliders *out) {
  hid_t group;
  *out = (eb_result_colliders){0};
  eb_error error = eb_results_scene_group(results, run, "colliders", &group);
  if (!error && group >= 0) {
    error = eb_quantities_get(group, quantities, out->list, sizeof *out->list, EB_MAX_COLLIDERS,
                              &out->count);
    H5Gclose(group);
    for (int32_t c = 0; c < out->count && !error; c++) error = check(&out->list[c], c);
    if (!error) error = move(results, run, frame, out);
  }
  if (error) *out = (eb_result_colliders){0};
  return eb_results_locate(results, run, eb_error_prefix(error, "colliders"));
}
