#include "harness/report/pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/report/render.h"
#include "problems/base/memory.h"

enum { WIDTH = 640, HEIGHT = 480 };

/* What the pictures of one scene share: the camera's box holds the drawn frames of all runs. */
typedef struct view {
  double lo[3], hi[3];
} view;

static bool has_pictures(const eb_report_run *run, size_t frames) {
  return frames > 0 && run->run->repetition == 0;
}

static void widen(view *v, const float *x, size_t nodes) {
  for (size_t i = 0; i < 3 * nodes; i++)
    if (isfinite(x[i])) {
      v->lo[i % 3] = fmin(v->lo[i % 3], x[i]);
      v->hi[i % 3] = fmax(v->hi[i % 3], x[i]);
    }
}

static eb_error widen_by_frame(const eb_report_run *run, size_t frame, view *v) {
  float *x;
  EB_TRY(eb_results_frame(run->file, run->index, frame, &x));
  widen(v, x, (size_t)run->run->nodes);
  free(x);
  return EB_OK;
}

typedef struct choice {
  const char *name;
  size_t frame;
} choice;

/* The frame with the most elastic energy: a scene that returns to its start shows there what
 * happened. Frame 0 is the start; the others name their step. */
static eb_error most_strained(const eb_report_run *run, size_t frames, size_t *out) {
  double *step, most = 0;
  size_t count;
  const double *elastic = run->column[EB_COL_ELASTIC];
  *out = 0;
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &step, &count));
  for (size_t f = 1; elastic && f < frames && f < count; f++) {
    if (!(step[f] >= 1 && step[f] <= (double)run->steps)) continue;
    double energy = elastic[(size_t)step[f] - 1];
    if (energy > most) {
      most = energy;
      *out = f;
    }
  }
  free(step);
  return EB_OK;
}

/* Numbers of the frames to draw, in order of time; *count is how many. */
static eb_error choose_frames(const eb_report_run *run, size_t frames, choice chosen[EB_PICTURES],
                              int *count) {
  size_t strained;
  EB_TRY(most_strained(run, frames, &strained));
  *count = 0;
  chosen[(*count)++] = (choice){"first", 0};
  if (strained > 0 && strained + 1 < frames) chosen[(*count)++] = (choice){"strained", strained};
  chosen[(*count)++] = (choice){"last", frames - 1};
  return EB_OK;
}

/* A run that blew up must not shrink the others to a dot: only its first frame moves the camera. */
static eb_error fit_view(const eb_report *report, const eb_report_scene *scene, view *v) {
  *v = (view){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (int r = scene->first; r < scene->last; r++) {
    const eb_report_run *run = &report->runs[r];
    size_t frames;
    EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
    if (!has_pictures(run, frames)) continue;
    choice chosen[EB_PICTURES];
    int count;
    EB_TRY(choose_frames(run, frames, chosen, &count));
    for (int p = 0; p < (eb_report_completed(run) ? count : 1); p++)
      EB_TRY(widen_by_frame(run, chosen[p].frame, v));
  }
  return EB_OK;
}

static eb_error paint(eb_render *render, const eb_render_mesh *mesh, const view *v,
                      const char *path) {
  const double direction[3] = {-0.35, 1, -0.38};
  EB_TRY(eb_render_camera(render, v->lo, v->hi, direction));
  EB_TRY(eb_render_surface(render, mesh));
  EB_TRY(eb_render_ground(render, v->lo[2]));
  return eb_render_write_png(render, path);
}

static eb_error draw_colored(const double *X, int32_t nodes, const eb_result_surface *surface,
                             const view *v, const char *path, eb_rgb *color) {
  for (int32_t t = 0; t < surface->triangle_count; t++)
    color[t] = eb_color_of_region(surface->region[t]);
  const eb_render_mesh mesh = {.vertex_count = nodes,
                               .triangle_count = surface->triangle_count,
                               .X = X,
                               .triangles = surface->triangles,
                               .triangle_color = color,
                               .edges = surface->triangle_count < 20000};
  eb_render *render;
  EB_TRY(eb_render_create(WIDTH, HEIGHT, &render));
  eb_error error = paint(render, &mesh, v, path);
  eb_render_destroy(render);
  return error;
}

static eb_error draw_positions(const float *x, const eb_report_run *run,
                               const eb_result_surface *surface, const view *v, const char *path) {
  size_t entries = 3 * (size_t)run->run->nodes;
  double *X = eb_calloc(entries, sizeof *X);
  eb_rgb *color = eb_calloc((size_t)surface->triangle_count, sizeof *color);
  eb_error error = X && color
                       ? EB_OK
                       : EB_ERROR(EB_ERR_MEMORY, "cannot draw a frame of %zu coordinates", entries);
  for (size_t i = 0; !error && i < entries; i++) X[i] = x[i];
  if (!error) error = draw_colored(X, (int32_t)run->run->nodes, surface, v, path, color);
  free(X);
  free(color);
  return error;
}

static eb_error draw_frame(const eb_report_run *run, size_t frame, const eb_result_surface *surface,
                           const view *v, const char *path) {
  float *x;
  EB_TRY(eb_results_frame(run->file, run->index, frame, &x));
  eb_error error = draw_positions(x, run, surface, v, path);
  free(x);
  return error;
}

static eb_error draw_chosen(const eb_report_run *run, size_t frames, const double *times,
                            const eb_result_surface *surface, const view *v, const char *stem,
                            eb_report_picture *out) {
  choice chosen[EB_PICTURES];
  int count;
  EB_TRY(choose_frames(run, frames, chosen, &count));
  for (int p = 0; p < count; p++) {
    char path[4096];
    snprintf(path, sizeof path, "%s-%s.png", stem, chosen[p].name);
    EB_TRY(draw_frame(run, chosen[p].frame, surface, v, path));
    out->drawn[p].name = chosen[p].name;
    out->drawn[p].time = times[chosen[p].frame];
    out->count = p + 1;
  }
  return EB_OK;
}

static eb_error draw_run(const eb_report_run *run, const view *v, const char *stem,
                         eb_report_picture *out) {
  size_t frames;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (!has_pictures(run, frames)) return EB_OK;
  eb_result_surface surface = {0};
  double *times;
  EB_TRY(eb_results_column(run->file, run->index, "frames/time", &times, &frames));
  eb_error error = eb_results_surface(run->file, run->index, &surface);
  if (!error) error = draw_chosen(run, frames, times, &surface, v, stem, out);
  eb_result_surface_clear(&surface);
  free(times);
  return error;
}

eb_error eb_pictures_scene(const eb_report *report, const eb_report_scene *scene, const char *dir,
                           eb_report_picture *pictured) {
  view v;
  EB_TRY(fit_view(report, scene, &v));
  for (int r = scene->first; r < scene->last; r++) {
    char stem[4000];
    snprintf(stem, sizeof stem, "%s/%s-r%d", dir, scene->prefix, r - scene->first);
    EB_TRY(draw_run(&report->runs[r], &v, stem, &pictured[r]));
  }
  return EB_OK;
}
