#include "harness/report/updates.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/report/frames.h"
#include "harness/report/surroundings.h"
#include "problems/base/memory.h"
#include "problems/mesh/faces.h"

enum { WIDTH = 640, HEIGHT = 480, MOST_LINED = 20000 /* triangles with their edges drawn */ };

/* The mesh of a run and room for what is drawn of it. */
typedef struct workshop {
  const eb_report_run *run;
  eb_mesh *mesh;
  eb_result_surface surface;
  int32_t *mate; /* eb_mesh_face_mates; NULL for planar elements */
  bool crowded;
  double *X;          /* nodes x 3 */
  int32_t *triangles; /* around updated elements */
  int32_t triangle_count;
} workshop;

/* ---- the boundary of what was updated --------------------------------------------------------- */

static void add_triangle(workshop *w, const int32_t *element, int32_t a, int32_t b, int32_t c) {
  int32_t *t = w->triangles + 3 * (size_t)w->triangle_count++;
  t[0] = element[a], t[1] = element[b], t[2] = element[c];
}

/* Faces of an updated element but those that it shares with another updated one. */
static void add_faces(workshop *w, const uint8_t *updates, const eb_face_table *table, int32_t e) {
  const int32_t *element = w->mesh->elements + (size_t)e * w->mesh->type;
  for (int32_t f = 0; f < table->count; f++) {
    int32_t mate = w->crowded ? -1 : w->mate[table->count * e + f];
    if (mate >= 0 && updates[mate / table->count]) continue;
    const int32_t *local = table->local[f];
    for (int32_t k = 2; k < table->nodes; k++)
      add_triangle(w, element, local[0], local[k - 1], local[k]);
  }
}

static int64_t collect_triangles(workshop *w, const uint8_t *updates) {
  const eb_face_table *table = eb_face_table_of(w->mesh->type);
  int64_t updated = 0;
  w->triangle_count = 0;
  for (int32_t e = 0; e < w->mesh->element_count; e++) {
    if (!updates[e]) continue;
    updated++;
    if (w->mesh->type == EB_TRIANGLE)
      add_triangle(w, w->mesh->elements + 3 * (size_t)e, 0, 1, 2);
    else
      add_faces(w, updates, table, e);
  }
  return updated;
}

/* ---- a frame ---------------------------------------------------------------------------------- */

static eb_error paint(eb_render *render, const workshop *w, const eb_view *near,
                      const eb_view *view, const eb_result_colliders *colliders) {
  double direction[3];
  static const float opacity = 0.36f;
  const eb_render_mesh updated = {.vertex_count = w->mesh->node_count,
                                  .triangle_count = w->triangle_count,
                                  .X = w->X,
                                  .triangles = w->triangles,
                                  .color = {1.0f, 0.52f, 0.10f},
                                  .edges = w->triangle_count < MOST_LINED};
  const eb_render_mesh body = {.vertex_count = w->mesh->node_count,
                               .triangle_count = w->surface.triangle_count,
                               .X = w->X,
                               .triangles = w->surface.triangles,
                               .color = {0.43f, 0.52f, 0.66f},
                               .edges = w->surface.triangle_count < MOST_LINED};
  eb_view_direction(near, direction);
  EB_TRY(eb_render_camera(render, near->lo, near->hi, direction));
  EB_TRY(eb_render_surface(render, &updated));
  EB_TRY(eb_render_veil(render, &body, opacity));
  return eb_draw_surroundings(render, colliders, view);
}

static eb_error write_picture(const workshop *w, const eb_view *near, const eb_view *view,
                              size_t frame, const char *path) {
  eb_render *render;
  eb_result_colliders colliders;
  EB_TRY(eb_results_colliders(w->run->file, w->run->index, frame, &colliders));
  EB_TRY(eb_render_create(WIDTH, HEIGHT, &render));
  eb_error error = paint(render, w, near, view, &colliders);
  if (!error) error = eb_render_write_png(render, path);
  eb_render_destroy(render);
  return error;
}

/* Takes over the positions and the triangles of a frame. */
static eb_error load_frame(workshop *w, size_t frame, int64_t *updated) {
  float *x;
  uint8_t *updates;
  EB_TRY(eb_results_frame(w->run->file, w->run->index, frame, &x));
  for (size_t i = 0; i < 3 * (size_t)w->mesh->node_count; i++) w->X[i] = x[i];
  free(x);
  EB_TRY(eb_results_updates(w->run->file, w->run->index, frame, &updates));
  *updated = collect_triangles(w, updates);
  free(updates);
  return EB_OK;
}

/* ---- a run ------------------------------------------------------------------------------------ */

static void clear(workshop *w) {
  eb_mesh_destroy(w->mesh);
  eb_result_surface_clear(&w->surface);
  free(w->mate);
  free(w->X);
  free(w->triangles);
}

static eb_error prepare(const eb_report_run *run, workshop *w) {
  int32_t crowded = -1;
  EB_TRY(eb_results_mesh(run->file, run->index, &w->mesh));
  EB_TRY(eb_results_surface(run->file, run->index, &w->surface));
  EB_TRY(eb_mesh_face_mates(w->mesh, &w->mate, &crowded));
  w->crowded = crowded >= 0;
  const eb_face_table *table = eb_face_table_of(w->mesh->type);
  size_t triangles = (size_t)table->count * (size_t)(table->nodes > 3 ? table->nodes - 2 : 1);
  EB_TRY(EB_NEW(w->X, 3 * (size_t)w->mesh->node_count));
  return EB_NEW(w->triangles, 3 * triangles * (size_t)w->mesh->element_count);
}

static eb_error draw_frames(workshop *w, const size_t *frames, int count, const double *times,
                            const eb_view *view, const char *stem, eb_report_picture *out) {
  eb_view near[EB_UPDATE_PICTURES];
  EB_TRY(eb_view_follow(w->run, frames, count, near));
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s-updates-%d.png", stem, i + 1);
    EB_TRY(load_frame(w, frames[i], &out->update[i].updated));
    EB_TRY(write_picture(w, &near[i], view, frames[i], path));
    out->update[i].time = times[frames[i]];
    out->updates = i + 1;
  }
  return EB_OK;
}

eb_error eb_pictures_updates(const eb_report_run *run, const eb_view *view, const char *stem,
                             eb_report_picture *out) {
  size_t frames[EB_UPDATE_PICTURES], stored;
  int count;
  double *times;
  EB_TRY(eb_updated_frames(run, frames, &count));
  if (count == 0) return EB_OK;
  EB_TRY(eb_results_column(run->file, run->index, "frames/time", &times, &stored));
  workshop w = {.run = run};
  eb_error error = prepare(run, &w);
  if (!error) error = draw_frames(&w, frames, count, times, view, stem, out);
  clear(&w);
  free(times);
  return error;
}
