#include "harness/report/pictures.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/report/bones.h"
#include "harness/report/frames.h"
#include "harness/report/obstacles.h"
#include "harness/report/surroundings.h"
#include "harness/report/tint.h"
#include "harness/report/updates.h"
#include "problems/base/memory.h"

enum { WIDTH = 640, HEIGHT = 480 };

/* ---- a frame ---------------------------------------------------------------------------------- */

/* A picture to make. */
typedef struct drawing {
  const eb_report_run *run;
  const eb_result_surface *surface;
  const eb_view *view;
  const eb_tint *tint;
  size_t frame;
  eb_result_colliders colliders;
  const char *path;
} drawing;

static eb_error paint(eb_render *render, const eb_render_mesh *mesh, const drawing *picture) {
  double direction[3];
  eb_view_direction(picture->view, direction);
  EB_TRY(eb_render_camera(render, picture->view->lo, picture->view->hi, direction));
  EB_TRY(eb_render_surface(render, mesh));
  EB_TRY(eb_draw_bones(render, picture->run, picture->frame, picture->view));
  EB_TRY(eb_draw_obstacles(render, picture->run, picture->frame, picture->view));
  EB_TRY(eb_draw_surroundings(render, &picture->colliders, picture->view));
  return eb_render_write_png(render, picture->path);
}

static eb_error draw_colored(const drawing *picture, const double *X, eb_rgb *color) {
  const eb_result_surface *surface = picture->surface;
  for (int32_t t = 0; t < surface->triangle_count; t++)
    color[t] = eb_tint_color(picture->tint, picture->frame, surface->region[t]);
  const eb_render_mesh mesh = {.vertex_count = (int32_t)picture->run->run->nodes,
                               .triangle_count = surface->triangle_count,
                               .X = X,
                               .triangles = surface->triangles,
                               .triangle_color = color,
                               .edges = surface->triangle_count < 20000};
  eb_render *render;
  EB_TRY(eb_render_create(WIDTH, HEIGHT, &render));
  eb_error error = paint(render, &mesh, picture);
  eb_render_destroy(render);
  return error;
}

static eb_error draw_positions(const drawing *picture, const float *x) {
  size_t entries = 3 * (size_t)picture->run->run->nodes;
  double *X = eb_calloc(entries, sizeof *X);
  eb_rgb *color = eb_calloc((size_t)picture->surface->triangle_count, sizeof *color);
  eb_error error = X && color
                       ? EB_OK
                       : EB_ERROR(EB_ERR_MEMORY, "cannot draw a frame of %zu coordinates", entries);
  for (size_t i = 0; !error && i < entries; i++) X[i] = x[i];
  if (!error) error = draw_colored(picture, X, color);
  free(X);
  free(color);
  return error;
}

static eb_error draw_frame(drawing *picture) {
  const eb_report_run *run = picture->run;
  float *x;
  EB_TRY(eb_results_colliders(run->file, run->index, picture->frame, &picture->colliders));
  EB_TRY(eb_results_frame(run->file, run->index, picture->frame, &x));
  eb_error error = draw_positions(picture, x);
  free(x);
  return error;
}

/* ---- a run ------------------------------------------------------------------------------------ */

/* The end of a run that blew up is shown whole, from farther away. */
static eb_error draw_frames(const eb_report_run *run, const double *times, const eb_view *view,
                            const eb_result_surface *surface, const eb_tint *tint, const char *stem,
                            eb_report_picture *out) {
  eb_pictured_frame chosen[EB_PICTURES];
  int count;
  EB_TRY(eb_pictured_frames(run, chosen, &count));
  for (out->count = 0; out->count < count; out->count++) {
    const eb_pictured_frame *frame = &chosen[out->count];
    char path[4096];
    eb_view whole;
    drawing picture = {.run = run,
                       .surface = surface,
                       .view = &whole,
                       .tint = tint,
                       .frame = frame->frame,
                       .path = path};
    EB_TRY(eb_view_with_frame(view, run, frame->frame, &whole));
    snprintf(path, sizeof path, "%s-%s.png", stem, frame->name);
    EB_TRY(draw_frame(&picture));
    out->drawn[out->count].name = frame->name;
    out->drawn[out->count].words = frame->words;
    out->drawn[out->count].time = times[frame->frame];
  }
  return EB_OK;
}

static eb_error frame_times(const eb_report_run *run, size_t frames, double **times) {
  size_t count;
  EB_TRY(eb_results_column(run->file, run->index, "frames/time", times, &count));
  if (count == frames) return EB_OK;
  free(*times);
  return EB_ERROR(EB_ERR_FORMAT, "'%s': run %s has %zu frames and %zu frame times",
                  eb_results_path(run->file), run->run->id, frames, count);
}

eb_error eb_pictures_run(const eb_report_run *run, const eb_view *view, const char *stem,
                         eb_report_picture *out) {
  size_t frames;
  double *times;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (!eb_view_shows(run, frames)) return EB_OK;
  EB_TRY(frame_times(run, frames, &times));
  eb_result_surface surface = {0};
  eb_tint tint = {0};
  eb_error error = eb_results_surface(run->file, run->index, &surface);
  if (!error) error = eb_tint_load(run, &tint);
  if (!error) error = draw_frames(run, times, view, &surface, &tint, stem, out);
  eb_tint_clear(&tint);
  eb_result_surface_clear(&surface);
  free(times);
  return error;
}

eb_error eb_pictures_scene(const eb_report *report, const eb_report_scene *scene, const char *dir,
                           eb_report_picture *pictured) {
  eb_view view;
  EB_TRY(eb_view_fit(report, scene, &view));
  for (int r = scene->first; r < scene->last; r++) {
    char stem[4000];
    snprintf(stem, sizeof stem, "%s/%s-r%d", dir, scene->prefix, r - scene->first);
    EB_TRY(eb_pictures_run(&report->runs[r], &view, stem, &pictured[r]));
    EB_TRY(eb_pictures_updates(&report->runs[r], &view, stem, &pictured[r]));
  }
  return EB_OK;
}
