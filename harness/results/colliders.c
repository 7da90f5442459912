#include "harness/results/colliders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/quantity.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* By eb_collider_kind. */
static const char *const kind_names[] = {"plane", "sphere", "cylinder", "capped-cylinder", "bowl"};
enum { KINDS = sizeof kind_names / sizeof *kind_names };

static const eb_quantity quantities[] = {
    {"origin", "m", offsetof(eb_collider, origin), 3},
    {"axis", "1", offsetof(eb_collider, axis), 3},
    {"radius", "m", offsetof(eb_collider, radius), 1},
    {"half_length", "m", offsetof(eb_collider, half_length), 1},
    {"stiffness", "Pa/m", offsetof(eb_collider, stiffness), 1},
    {"damping", "Pa s/m", offsetof(eb_collider, damping), 1},
    {"friction", "1", offsetof(eb_collider, friction), 1},
    {"margin", "m", offsetof(eb_collider, margin),
     1}, /* from here on: younger than the first files */
    {"grip", "Pa s/m", offsetof(eb_collider, grip), 1},
    {"isotropy", "1", offsetof(eb_collider, isotropy), 1},
    {0}};
enum { FIRST_QUANTITIES = 7 };

/* ---- writing --------------------------------------------------------------------------------- */

static eb_error put_kinds(hid_t group, const eb_scene *scene) {
  int32_t kinds[EB_MAX_COLLIDERS];
  for (int32_t c = 0; c < scene->collider_count; c++) kinds[c] = (int32_t)scene->colliders[c].kind;
  return eb_names_put(group, "kind", kind_names, KINDS, kinds, (size_t)scene->collider_count);
}

static eb_error put_implicit(hid_t group, const eb_scene *scene) {
  uint8_t implicit[EB_MAX_COLLIDERS];
  for (int32_t c = 0; c < scene->collider_count; c++) implicit[c] = scene->colliders[c].implicit;
  eb_h5_shape shape = {1, {(hsize_t)scene->collider_count}};
  return eb_h5_put(group, "implicit", H5T_STD_U8LE, H5T_NATIVE_UINT8, shape, "1", implicit);
}

static eb_error put_laws(hid_t group) {
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

static eb_error put_all(hid_t group, const eb_scene *scene) {
  EB_TRY(put_kinds(group, scene));
  EB_TRY(eb_quantities_put(group, quantities, scene->colliders, sizeof *scene->colliders,
                           (size_t)scene->collider_count));
  EB_TRY(put_implicit(group, scene));
  return put_laws(group);
}

eb_error eb_colliders_write(hid_t scene_group, const eb_scene *scene) {
  hid_t group;
  if (scene->collider_count == 0) return EB_OK;
  EB_TRY(eb_h5_group(scene_group, "colliders", &group));
  eb_error error = put_all(group, scene);
  H5Gclose(group);
  return error;
}

void eb_colliders_motion(const eb_collider *colliders, int32_t count, double t, double *offsets,
                         double *velocities) {
  memset(offsets, 0, 3 * (size_t)count * sizeof *offsets);
  memset(velocities, 0, 3 * (size_t)count * sizeof *velocities);
  for (int32_t c = 0; c < count; c++)
    if (colliders[c].motion)
      colliders[c].motion(t, colliders[c].motion_parameters, offsets + 3 * c, velocities + 3 * c);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_shape(eb_h5_shape shape, int rank, hsize_t rows, hsize_t columns) {
  return shape.rank == rank && shape.size[0] == rows && (rank < 2 || shape.size[1] == columns);
}

static eb_error read_kinds(hid_t group, eb_result_colliders *out) {
  eb_h5_shape shape;
  void *data;
  hid_t type = eb_name_type(kind_names, KINDS);
  eb_error error = eb_h5_get(group, "kind", type, sizeof(int32_t), &data, &shape);
  H5Tclose(type);
  EB_TRY(error);
  const int32_t *kinds = data;
  if (shape.rank != 1 || shape.size[0] > EB_MAX_COLLIDERS)
    error = EB_ERROR(EB_ERR_FORMAT, "kind is not a list of at most %d", EB_MAX_COLLIDERS);
  for (hsize_t c = 0; !error && c < shape.size[0]; c++)
    if (kinds[c] < 0 || kinds[c] >= KINDS)
      error = EB_ERROR(EB_ERR_FORMAT, "kind %d is unknown", kinds[c]);
  if (!error) {
    out->count = (int32_t)shape.size[0];
    for (int32_t c = 0; c < out->count; c++) out->list[c].kind = (eb_collider_kind)kinds[c];
  }
  free(data);
  return error;
}

static eb_error read_quantity(hid_t group, const eb_quantity *q, eb_result_colliders *out) {
  eb_h5_shape shape;
  void *data;
  EB_TRY(eb_h5_get(group, q->name, H5T_NATIVE_DOUBLE, sizeof(double), &data, &shape));
  bool fits = has_shape(shape, q->columns > 1 ? 2 : 1, (hsize_t)out->count, q->columns);
  for (int32_t c = 0; fits && c < out->count; c++)
    memcpy((char *)&out->list[c] + q->offset, (const double *)data + (size_t)c * q->columns,
           q->columns * sizeof(double));
  free(data);
  return fits ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "%s has an unexpected shape", q->name);
}

static eb_error read_implicit(hid_t group, eb_result_colliders *out) {
  eb_h5_shape shape;
  void *data;
  EB_TRY(eb_h5_get(group, "implicit", H5T_NATIVE_UINT8, 1, &data, &shape));
  bool fits = has_shape(shape, 1, (hsize_t)out->count, 1);
  for (int32_t c = 0; fits && c < out->count; c++)
    out->list[c].implicit = ((const uint8_t *)data)[c] != 0;
  free(data);
  return fits ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "implicit has an unexpected shape");
}

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
                         c, kind_names[collider->kind]);
}

static eb_error read_at_rest(hid_t group, eb_result_colliders *out) {
  EB_TRY(read_kinds(group, out));
  for (int i = 0; quantities[i].name; i++)
    if (i < FIRST_QUANTITIES || eb_h5_exists(group, quantities[i].name))
      EB_TRY(read_quantity(group, &quantities[i], out));
  for (int32_t c = 0; c < out->count; c++) EB_TRY(check(&out->list[c], c));
  return eb_h5_exists(group, "implicit") ? read_implicit(group, out) : EB_OK;
}

static eb_error move(eb_h5_shape shape, const double *offsets, size_t frame,
                     eb_result_colliders *out) {
  if (shape.rank != 3 || shape.size[1] != (hsize_t)out->count || shape.size[2] != 3)
    return EB_ERROR(EB_ERR_FORMAT, "%s has an unexpected shape", EB_COLLIDER_OFFSET);
  if (frame >= shape.size[0])
    return EB_ERROR(EB_ERR_USAGE, "there is no frame %zu; the run has %zu", frame,
                    (size_t)shape.size[0]);
  const double *offset = offsets + 3 * frame * (size_t)out->count;
  for (int32_t c = 0; c < out->count; c++) {
    for (int d = 0; d < 3; d++) out->list[c].origin[d] += *offset++;
    EB_TRY(check(&out->list[c], c));
  }
  return EB_OK;
}

static eb_error read_offsets(hid_t run, size_t frame, eb_result_colliders *out) {
  eb_h5_shape shape;
  void *data;
  EB_TRY(eb_h5_get(run, EB_COLLIDER_OFFSET, H5T_NATIVE_DOUBLE, sizeof(double), &data, &shape));
  eb_error error = move(shape, data, frame, out);
  free(data);
  return error;
}

static eb_error open_group(const eb_results *results, const char *path, hid_t *out) {
  *out = H5Gopen2(eb_results_file(results), path, H5P_DEFAULT);
  return *out < 0 ? eb_h5_error("cannot open", path) : EB_OK;
}

static eb_error read_all(const eb_results *results, int run, size_t frame,
                         eb_result_colliders *out) {
  char path[300];
  hid_t group;
  snprintf(path, sizeof path, "/scenes/%s/colliders", eb_results_run(results, run)->scene_hash);
  if (!*eb_results_run(results, run)->scene_hash || !eb_h5_exists(eb_results_file(results), path))
    return EB_OK;
  EB_TRY(open_group(results, path, &group));
  eb_error error = read_at_rest(group, out);
  H5Gclose(group);
  EB_TRY(error);
  snprintf(path, sizeof path, "/runs/%s", eb_results_run(results, run)->id);
  EB_TRY(open_group(results, path, &group));
  error = read_offsets(group, frame, out);
  H5Gclose(group);
  return error;
}

eb_error eb_results_colliders(const eb_results *results, int run, size_t frame,
                              eb_result_colliders *out) {
  *out = (eb_result_colliders){0};
  eb_error error = read_all(results, run, frame, out);
  if (error) *out = (eb_result_colliders){0};
  return eb_error_prefix(error, "%s: run %s: colliders", eb_results_path(results),
                         eb_results_run(results, run)->id);
}
