#include "harness/report/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/frames.h"
#include "harness/report/tessellate.h"
#include "harness/results/obstacles.h"

static const eb_view nothing = {
    {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, false};

void eb_view_direction(const eb_view *view, double direction[3]) {
  static const double aslant[3] = {-0.35, 1, -0.38}, down[3] = {0, 0, -1};
  memcpy(direction, view->planar ? down : aslant, sizeof aslant);
}

bool eb_is_floor(const eb_collider *collider) {
  return collider->kind == EB_PLANE && collider->axis[2] > 1 - 1e-12;
}

double eb_view_ground(const eb_view *view, const eb_result_colliders *colliders) {
  double height = -INFINITY;
  for (int32_t c = 0; c < colliders->count; c++)
    if (eb_is_floor(&colliders->list[c])) height = fmax(height, colliders->list[c].origin[2]);
  if (isfinite(height)) return height;
  return view->planar
             ? view->lo[2] - 0.06 * hypot(view->hi[0] - view->lo[0], view->hi[1] - view->lo[1])
             : view->lo[2];
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void widen(eb_view *view, int axis, double at) {
  if (!isfinite(at)) return;
  view->lo[axis] = fmin(view->lo[axis], at);
  view->hi[axis] = fmax(view->hi[axis], at);
}

static eb_error add_bodies(const eb_report_run *run, size_t frame, eb_view *view) {
  float *x;
  int32_t links;
  EB_TRY(eb_results_frame(run->file, run->index, frame, &x));
  for (size_t i = 0; i < 3 * (size_t)run->run->nodes; i++) widen(view, (int)(i % 3), x[i]);
  free(x);
  EB_TRY(eb_results_bones(run->file, run->index, frame, &links, &x));
  for (int32_t i = 0; i < 6 * links; i++) widen(view, i % 3, x[i]);
  free(x);
  view->planar = view->lo[2] == view->hi[2];
  return EB_OK;
}

/* ---- colliders and obstacles ----------------------------------------------------------------- */

/* Puts what of a box is near into the view. */
static void add_within(const eb_view *box, const eb_view *around, eb_view *view) {
  double lo[3], hi[3];
  for (int d = 0; d < 3; d++) {
    lo[d] = fmax(box->lo[d], around->lo[d]);
    hi[d] = fmin(box->hi[d], around->hi[d]);
    if (!(lo[d] <= hi[d])) return;
  }
  for (int d = 0; d < 3; d++) widen(view, d, lo[d]), widen(view, d, hi[d]);
}

static eb_error add_rigid(const eb_report_run *run, size_t frame, const eb_view *bodies,
                          eb_view *view) {
  eb_result_colliders colliders;
  eb_result_obstacles obstacles;
  eb_view box[EB_MAX_OBSTACLES], around = *bodies;
  /* The bodies' box and as much again on every side: what is farther is not worth a smaller
   * picture. */
  double extent = 0;
  for (int d = 0; d < 3; d++) extent = fmax(extent, bodies->hi[d] - bodies->lo[d]);
  for (int d = 0; d < 3; d++) around.lo[d] -= extent, around.hi[d] += extent;
  EB_TRY(eb_results_colliders(run->file, run->index, frame, &colliders));
  for (int32_t c = 0; c < colliders.count; c++) {
    eb_tessellation surface;
    double height = colliders.list[c].origin[2];
    if (eb_is_floor(&colliders.list[c])) { /* its height alone */
      if (height >= around.lo[2] && height <= around.hi[2]) widen(view, 2, height);
      continue;
    }
    EB_TRY(eb_tessellate(&colliders.list[c], bodies->lo, bodies->hi, &surface));
    box[0] = nothing;
    for (int32_t i = 0; i < 3 * surface.vertex_count; i++) widen(&box[0], i % 3, surface.X[i]);
    eb_tessellation_clear(&surface);
    add_within(&box[0], &around, view);
  }
  EB_TRY(eb_results_obstacles(run->file, run->index, frame, &obstacles));
  for (int32_t o = 0; o < obstacles.count; o++) box[o] = nothing;
  for (int32_t k = 0; k < 3 * obstacles.vertex_count; k++)
    widen(&box[obstacles.obstacle[k / 3]], k % 3, obstacles.X[k]);
  for (int32_t o = 0; o < obstacles.count; o++) add_within(&box[o], &around, view);
  eb_result_obstacles_clear(&obstacles);
  return EB_OK;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* Bodies when `bodies` is NULL, else the colliders and obstacles near those. */
static eb_error add_scene(const eb_report *report, const eb_report_scene *scene,
                          const eb_view *bodies, eb_view *view) {
  for (int r = scene->first; r < scene->last; r++) {
    const eb_report_run *run = &report->runs[r];
    eb_pictured_frame frame[EB_PICTURES];
    int count;
    EB_TRY(eb_pictured_frames(run, frame, &count));
    for (int i = 0; i < count && (i == 0 || eb_report_sound(run)); i++)
      EB_TRY(bodies ? add_rigid(run, frame[i].frame, bodies, view)
                    : add_bodies(run, frame[i].frame, view));
  }
  return EB_OK;
}

eb_error eb_view_fit(const eb_report *report, const eb_report_scene *scene, eb_view *out) {
  eb_view bodies = nothing;
  EB_TRY(add_scene(report, scene, NULL, &bodies));
  *out = bodies;
  return add_scene(report, scene, &bodies, out);
}

eb_error eb_view_with_frame(const eb_view *view, const eb_report_run *run, size_t frame,
                            eb_view *out) {
  *out = *view;
  return add_bodies(run, frame, out);
}

eb_error eb_view_follow(const eb_report_run *run, const size_t *frames, int count, eb_view *out) {
  double size[3] = {0};
  for (int i = 0; i < count; i++) {
    out[i] = nothing;
    EB_TRY(add_bodies(run, frames[i], &out[i]));
    for (int d = 0; d < 3; d++) size[d] = fmax(size[d], out[i].hi[d] - out[i].lo[d]);
  }
  for (int i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      double middle = 0.5 * (out[i].lo[d] + out[i].hi[d]);
      out[i].lo[d] = middle - 0.5 * size[d];
      out[i].hi[d] = middle + 0.5 * size[d];
    }
  return EB_OK;
}
