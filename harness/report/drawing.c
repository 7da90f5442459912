#include "harness/report/drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/pictures.h"
#include "harness/report/tessellate.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- a run ----------------------------------------------------------------------------------- */

eb_error eb_drawing_open(const eb_report_run *run, eb_drawing *out) {
  size_t steps;
  *out = (eb_drawing){.run = run};
  EB_TRY(eb_results_read(run->file, run->index, "frames/time", &out->time, &out->frames));
  if (out->frames == 0) return EB_OK;
  EB_TRY(eb_results_read(run->file, run->index, "frames/step", &out->step, &steps));
  if (steps != out->frames)
    return EB_ERROR(EB_ERR_FORMAT, "'%s': run %s has %zu frames and %zu entries in frames/step",
                    eb_results_path(run->file), run->run->id, out->frames, steps);
  EB_TRY(eb_results_mesh(run->file, run->index, &out->mesh));
  return eb_results_surface(run->file, run->index, &out->surface);
}

void eb_drawing_close(eb_drawing *drawing) {
  free(drawing->time);
  free(drawing->step);
  eb_mesh_destroy(drawing->mesh);
  eb_result_surface_clear(&drawing->surface);
}

eb_rgb eb_color_of_region(int32_t region) {
  static const eb_rgb palette[EB_REGION_COLORS] = {
      {0.55f, 0.66f, 0.80f}, {0.90f, 0.56f, 0.29f}, {0.47f, 0.69f, 0.44f}, {0.84f, 0.42f, 0.42f},
      {0.66f, 0.55f, 0.77f}, {0.62f, 0.48f, 0.38f}, {0.91f, 0.63f, 0.75f}, {0.58f, 0.58f, 0.58f},
      {0.80f, 0.77f, 0.35f}, {0.38f, 0.72f, 0.74f}};
  return palette[((region % EB_REGION_COLORS) + EB_REGION_COLORS) % EB_REGION_COLORS];
}

/* ---- around the bodies ----------------------------------------------------------------------- */

const char *const eb_drawn_names[EB_DRAWN_KINDS] = {"link", "obstacle", "collider"};

void eb_drawn_clear(eb_drawn *drawn) {
  free(drawn->X);
  free(drawn->triangles);
  free(drawn->end);
}

/* Of triangles that name vertices from `first` on. */
static eb_error add_piece(eb_drawn *to, int32_t vertices, const double *X, int32_t triangles,
                          const int32_t *triangle, int32_t first) {
  size_t v = 3 * (size_t)to->vertex_count, t = 3 * (size_t)to->triangle_count;
  size_t piece = (size_t)to->piece_count;
  double *all = eb_recalloc(to->X, v, v + 3 * (size_t)vertices, sizeof *all);
  if (all) to->X = all;
  int32_t *index = eb_recalloc(to->triangles, t, t + 3 * (size_t)triangles, sizeof *index);
  if (index) to->triangles = index;
  int32_t *end = eb_recalloc(to->end, piece, piece + 1, sizeof *end);
  if (end) to->end = end;
  if (!all || !index || !end)
    return EB_ERROR(EB_ERR_MEMORY, "no memory for %d triangles", triangles);
  if (vertices > 0) memcpy(all + v, X, 3 * (size_t)vertices * sizeof *X);
  for (size_t i = 0; i < 3 * (size_t)triangles; i++)
    index[t + i] = triangle[i] - first + to->vertex_count;
  to->vertex_count += vertices;
  to->triangle_count += triangles;
  end[to->piece_count++] = to->triangle_count;
  return EB_OK;
}

static eb_error add_collider(const eb_collider *collider, const eb_view *view, eb_drawn *to) {
  EB_OWNED(eb_tessellation_clear) eb_tessellation s = {0};
  EB_TRY(eb_tessellate(collider, view->lo, view->hi, &s));
  return add_piece(to, s.vertex_count, s.X, s.triangle_count, s.triangles, 0);
}

static void link_shapes(const float ends[6], const eb_view *view, eb_collider shape[2]) {
  double diagonal = 0, length = 0;
  eb_collider *knob = &shape[0], *rod = &shape[1];
  *knob = (eb_collider){.kind = EB_SPHERE, .axis = {0, 0, 1}};
  *rod = (eb_collider){.kind = EB_CAPPED_CYLINDER, .axis = {0, 0, 1}};
  for (int d = 0; d < 3; d++) {
    diagonal += pow(view->hi[d] - view->lo[d], 2);
    length += pow((double)ends[3 + d] - ends[d], 2);
  }
  length = sqrt(length);
  rod->radius = 0.011 * sqrt(diagonal);
  rod->half_length = 0.5 * length;
  knob->radius = 0.018 * sqrt(diagonal);
  for (int d = 0; d < 3; d++) {
    double behind = view->planar && d == 2 ? 1.1 * knob->radius : 0;
    rod->origin[d] = 0.5 * ((double)ends[d] + ends[3 + d]) - behind;
    if (length > 0) rod->axis[d] = ((double)ends[3 + d] - ends[d]) / length;
    knob->origin[d] = ends[d] - behind;
  }
}

static eb_error read_links(const eb_report_run *run, size_t frame, const eb_view *view,
                           eb_drawn *out) {
  int32_t count;
  EB_FREED float *links = NULL;
  EB_TRY(eb_results_bones(run->file, run->index, frame, &count, &links));
  for (int32_t l = 0; l < count; l++) {
    eb_collider shape[2];
    link_shapes(links + 6 * (size_t)l, view, shape);
    for (int k = 0; k < 2; k++) EB_TRY(add_collider(&shape[k], view, out));
  }
  return EB_OK;
}

/* Vertices and triangles of an obstacle follow each other. */
static eb_error read_obstacles(const eb_report_run *run, size_t frame, const eb_view *view,
                               eb_drawn *out) {
  (void)view;
  EB_OWNED(eb_result_obstacles_clear) eb_result_obstacles all = {0};
  EB_TRY(eb_results_obstacles(run->file, run->index, frame, &all));
  for (int32_t o = 0, v = 0, t = 0; o < all.count; o++) {
    int32_t vertex = v, triangle = t;
    while (v < all.vertex_count && all.obstacle[v] == o) v++;
    while (t < all.triangle_count && all.obstacle[all.triangles[3 * (size_t)t]] == o) t++;
    EB_TRY(add_piece(out, v - vertex, all.X + 3 * (size_t)vertex, t - triangle,
                     all.triangles + 3 * (size_t)triangle, vertex));
  }
  return EB_OK;
}

static eb_error read_colliders(const eb_report_run *run, size_t frame, const eb_view *view,
                               eb_drawn *out) {
  EB_OWNED(eb_result_colliders_clear) eb_result_colliders all = {0};
  EB_TRY(eb_results_colliders(run->file, run->index, frame, &all));
  for (int32_t c = 0; c < all.count; c++)
    if (!eb_is_floor(&all.list[c])) EB_TRY(add_collider(&all.list[c], view, out));
  return EB_OK;
}

eb_error eb_drawn_read(const eb_report_run *run, size_t frame, const eb_view *view,
                       eb_drawn_kind kind, eb_drawn *out) {
  static eb_error (*const read[EB_DRAWN_KINDS])(const eb_report_run *run, size_t frame,
                                                const eb_view *view, eb_drawn *out) = {
      read_links, read_obstacles, read_colliders};
  *out = (eb_drawn){.kind = kind};
  return read[kind](run, frame, view, out);
}

/* Of a collider, what faces away is left out, so that one sees through the near side of a bowl. Of
 * an obstacle it is faint, so that the near walls of a container, which face its inside, do not
 * hide what it holds, while its far walls and its floor have shading; their greys stay apart beside
 * each other, from one obstacle to the next. */
eb_render_mesh eb_drawn_piece(const eb_drawn *drawn, int32_t piece) {
  static const float tones[] = {0.80f, 0.62f, 0.72f, 0.52f, 0.86f, 0.57f, 0.76f, 0.67f};
  static const eb_rgb brown = {0.62f, 0.55f, 0.42f}, ivory = {0.93f, 0.88f, 0.74f};
  static const eb_render_mesh styles[EB_DRAWN_KINDS] = {
      [EB_DRAWN_LINK] = {.smooth = true},
      [EB_DRAWN_OBSTACLE] = {.translucent = true, .front = 5 / 9.0f, .back = 0.16f},
      [EB_DRAWN_COLLIDER] = {
          .color = {0.80f, 0.80f, 0.79f}, .smooth = true, .translucent = true, .front = 5 / 9.0f}};
  int32_t first = piece > 0 ? drawn->end[piece - 1] : 0;
  float tone = tones[piece % (int32_t)(sizeof tones / sizeof *tones)];
  eb_render_mesh mesh = styles[drawn->kind];
  if (drawn->kind == EB_DRAWN_LINK) mesh.color = piece % 2 ? ivory : brown;
  if (drawn->kind == EB_DRAWN_OBSTACLE) mesh.color = (eb_rgb){tone, tone, tone * 0.985f};
  mesh.vertex_count = drawn->vertex_count;
  mesh.triangle_count = drawn->end[piece] - first;
  mesh.X = drawn->X;
  mesh.triangles = drawn->triangles + 3 * (size_t)first;
  return mesh;
}

/* ---- the camera ------------------------------------------------------------------------------ */

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

static void widen(eb_view *view, int axis, double at) {
  if (!isfinite(at)) return;
  view->lo[axis] = fmin(view->lo[axis], at);
  view->hi[axis] = fmax(view->hi[axis], at);
}

static eb_error add_bodies(const eb_report_run *run, size_t frame, eb_view *view) {
  EB_FREED float *x = NULL, *end = NULL;
  int32_t links;
  EB_TRY(eb_results_frame(run->file, run->index, frame, &x));
  EB_TRY(eb_results_bones(run->file, run->index, frame, &links, &end));
  for (size_t i = 0; i < 3 * (size_t)run->run->nodes; i++) widen(view, (int)(i % 3), x[i]);
  for (int32_t i = 0; i < 6 * links; i++) widen(view, i % 3, end[i]);
  view->planar = view->lo[2] == view->hi[2];
  return EB_OK;
}

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

/* What of a frame's floors, colliders and obstacles is near the bodies: in their box and as much
 * again on every side. What is farther is not worth a smaller picture. */
static eb_error add_rigid(const eb_report_run *run, size_t frame, const eb_view *bodies,
                          eb_view *view) {
  EB_OWNED(eb_result_colliders_clear) eb_result_colliders colliders = {0};
  eb_view around = *bodies;
  double extent = 0;
  for (int d = 0; d < 3; d++) extent = fmax(extent, bodies->hi[d] - bodies->lo[d]);
  for (int d = 0; d < 3; d++) around.lo[d] -= extent, around.hi[d] += extent;
  EB_TRY(eb_results_colliders(run->file, run->index, frame, &colliders));
  for (int32_t c = 0; c < colliders.count; c++) {
    double height = colliders.list[c].origin[2];
    if (eb_is_floor(&colliders.list[c]) && height >= around.lo[2] && height <= around.hi[2])
      widen(view, 2, height);
  }
  for (int kind = EB_DRAWN_OBSTACLE; kind <= EB_DRAWN_COLLIDER; kind++) {
    EB_OWNED(eb_drawn_clear) eb_drawn drawn = {0};
    EB_TRY(eb_drawn_read(run, frame, bodies, (eb_drawn_kind)kind, &drawn));
    for (int32_t p = 0; p < drawn.piece_count; p++) {
      eb_render_mesh piece = eb_drawn_piece(&drawn, p);
      eb_view box = nothing;
      for (int32_t i = 0; i < 9 * piece.triangle_count; i++)
        widen(&box, i % 3, piece.X[3 * (size_t)piece.triangles[i / 3] + (size_t)(i % 3)]);
      add_within(&box, &around, view);
    }
  }
  return EB_OK;
}

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
