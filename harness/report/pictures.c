#include "harness/report/pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/report/frames.h"
#include "harness/report/tessellate.h"
#include "harness/results/obstacles.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/mesh/faces.h"

enum { WIDTH = 640, HEIGHT = 480, MOST_LINED = 20000 /* triangles with their edges drawn */ };

/* ---- what is rigid --------------------------------------------------------------------------- */

/* Draws a collider with the colour and the opacity of `style`. */
static eb_error draw_collider(eb_render *render, const eb_collider *collider, const eb_view *view,
                              eb_render_mesh style) {
  eb_tessellation surface;
  EB_TRY(eb_tessellate(collider, view->lo, view->hi, &surface));
  style.vertex_count = surface.vertex_count;
  style.triangle_count = surface.triangle_count;
  style.X = surface.X;
  style.triangles = surface.triangles;
  style.smooth = true;
  eb_error error = eb_render_surface(render, &style);
  eb_tessellation_clear(&surface);
  return error;
}

/* Faces that are turned away are faint, so that the near walls of a container, which face its
 * inside, do not hide what it holds, while its far walls and its floor have shading. The greys stay
 * apart beside each other, from one obstacle to the next. */
eb_error eb_draw_obstacles(eb_render *render, const eb_report_run *run, size_t frame) {
  static const float tones[] = {0.80f, 0.62f, 0.72f, 0.52f, 0.86f, 0.57f, 0.76f, 0.67f};
  eb_result_obstacles all;
  EB_TRY(eb_results_obstacles(run->file, run->index, frame, &all));
  eb_error error = EB_OK;
  for (int32_t first = 0, last = 0; first < all.triangle_count && !error; first = last) {
    int32_t obstacle = all.obstacle[all.triangles[3 * (size_t)first]];
    while (last < all.triangle_count && all.obstacle[all.triangles[3 * (size_t)last]] == obstacle)
      last++;
    float tone = tones[obstacle % (int32_t)(sizeof tones / sizeof *tones)];
    const eb_render_mesh mesh = {.vertex_count = all.vertex_count,
                                 .triangle_count = last - first,
                                 .X = all.X,
                                 .triangles = all.triangles + 3 * (size_t)first,
                                 .color = {tone, tone, tone * 0.985f},
                                 .translucent = true,
                                 .front = 5 / 9.0f,
                                 .back = 0.16f};
    error = eb_render_surface(render, &mesh);
  }
  eb_result_obstacles_clear(&all);
  return error;
}

/* A rod from joint to tip with a knob at the joint; in a planar scene just behind the bodies. */
static eb_error draw_rigid_link(eb_render *render, const float ends[6], const eb_view *view) {
  static const eb_render_mesh ivory = {.color = {0.93f, 0.88f, 0.74f}},
                              brown = {.color = {0.62f, 0.55f, 0.42f}};
  double diagonal = 0, length = 0;
  eb_collider rod = {.kind = EB_CAPPED_CYLINDER}, knob = {.kind = EB_SPHERE, .axis = {0, 0, 1}};
  for (int d = 0; d < 3; d++) {
    diagonal += pow(view->hi[d] - view->lo[d], 2);
    rod.axis[d] = (double)ends[3 + d] - ends[d];
    length += rod.axis[d] * rod.axis[d];
  }
  length = sqrt(length);
  if (!isfinite(length)) return EB_OK;
  rod.radius = 0.011 * sqrt(diagonal);
  rod.half_length = 0.5 * length;
  knob.radius = 0.018 * sqrt(diagonal);
  for (int d = 0; d < 3; d++) {
    double behind = view->planar && d == 2 ? 1.1 * knob.radius : 0;
    rod.origin[d] = 0.5 * ((double)ends[d] + ends[3 + d]) - behind;
    rod.axis[d] /= length;
    knob.origin[d] = ends[d] - behind;
  }
  EB_TRY(draw_collider(render, &knob, view, brown));
  return length > 0 ? draw_collider(render, &rod, view, ivory) : EB_OK;
}

static eb_error draw_rigid_links(eb_render *render, const eb_report_run *run, size_t frame,
                                 const eb_view *view) {
  int32_t count;
  float *links;
  EB_TRY(eb_results_bones(run->file, run->index, frame, &count, &links));
  eb_error error = EB_OK;
  for (int32_t l = 0; l < count && !error; l++)
    error = draw_rigid_link(render, links + 6 * (size_t)l, view);
  free(links);
  return error;
}

/* ---- a picture ------------------------------------------------------------------------------- */

/* A run that is being drawn. */
typedef struct drawing {
  const eb_report_run *run;
  const eb_view *view; /* of the scene */
  eb_mesh *mesh;
  eb_result_surface surface;
  double *X;       /* nodes x 3: of the frame at hand */
  eb_rgb *color;   /* of the surface's triangles */
  uint8_t *fibred; /* regions: whether an element has a fibre; NULL: none is ever active */
  int32_t *mate;   /* eb_mesh_face_mates; NULL for planar elements, or unreliable when `crowded` */
  bool crowded;
  int32_t *triangles; /* around updated elements */
  int32_t triangle_count;
} drawing;

static void close_drawing(drawing *d) {
  eb_mesh_destroy(d->mesh);
  eb_result_surface_clear(&d->surface);
  free(d->X);
  free(d->color);
  free(d->fibred);
  free(d->mate);
  free(d->triangles);
}

static eb_error open_drawing(const eb_report_run *run, const eb_view *view, drawing *d) {
  d->run = run;
  d->view = view;
  EB_TRY(eb_results_surface(run->file, run->index, &d->surface));
  return EB_NEW(d->X, 3 * (size_t)run->run->nodes);
}

static eb_error load_positions(drawing *d, size_t frame) {
  float *x;
  EB_TRY(eb_results_frame(d->run->file, d->run->index, frame, &x));
  for (size_t i = 0; i < 3 * (size_t)d->run->run->nodes; i++) d->X[i] = x[i];
  free(x);
  return EB_OK;
}

static eb_render_mesh body_of(const drawing *d) {
  return (eb_render_mesh){.vertex_count = (int32_t)d->run->run->nodes,
                          .triangle_count = d->surface.triangle_count,
                          .X = d->X,
                          .triangles = d->surface.triangles,
                          .edges = d->surface.triangle_count < MOST_LINED};
}

static eb_error draw_all(eb_render *render, const drawing *d, size_t frame, const eb_view *camera,
                         const eb_view *view, const eb_render_mesh *bodies, int count) {
  /* Of a collider, what faces away is left out, so that one sees through the near side of a bowl.
   */
  static const eb_render_mesh collider_style = {
      .color = {0.80f, 0.80f, 0.79f}, .translucent = true, .front = 5 / 9.0f};
  double direction[3];
  eb_result_colliders colliders;
  eb_view_direction(camera, direction);
  EB_TRY(eb_results_colliders(d->run->file, d->run->index, frame, &colliders));
  EB_TRY(eb_render_camera(render, camera->lo, camera->hi, direction));
  for (int b = 0; b < count; b++) EB_TRY(eb_render_surface(render, &bodies[b]));
  EB_TRY(draw_rigid_links(render, d->run, frame, view));
  EB_TRY(eb_draw_obstacles(render, d->run, frame));
  for (int32_t c = 0; c < colliders.count; c++)
    if (!eb_is_floor(&colliders.list[c])) /* those are the ground */
      EB_TRY(draw_collider(render, &colliders.list[c], view, collider_style));
  return eb_render_ground(render, eb_view_ground(view, &colliders));
}

/* Bodies and what is around them in a frame, seen by a camera that `camera` fills; `view` says how
 * far endless colliders reach and where the ground is. */
static eb_error write_picture(const drawing *d, size_t frame, const eb_view *camera,
                              const eb_view *view, const eb_render_mesh *bodies, int count,
                              const char *path) {
  eb_render *render;
  EB_TRY(eb_render_create(WIDTH, HEIGHT, &render));
  eb_error error = draw_all(render, d, frame, camera, view, bodies, count);
  if (!error) error = eb_render_write_png(render, path);
  eb_render_destroy(render);
  return error;
}

/* ---- frames ---------------------------------------------------------------------------------- */

eb_rgb eb_color_of_region(int32_t region) {
  static const eb_rgb palette[] = {
      {0.55f, 0.66f, 0.80f}, {0.90f, 0.56f, 0.29f}, {0.47f, 0.69f, 0.44f}, {0.84f, 0.42f, 0.42f},
      {0.66f, 0.55f, 0.77f}, {0.62f, 0.48f, 0.38f}, {0.91f, 0.63f, 0.75f}, {0.58f, 0.58f, 0.58f},
      {0.80f, 0.77f, 0.35f}, {0.38f, 0.72f, 0.74f}};
  enum { COUNT = sizeof palette / sizeof palette[0] };
  return palette[((region % COUNT) + COUNT) % COUNT];
}

/* Finds the regions whose fibres a scene activates. */
static eb_error find_fibres(drawing *d) {
  const double *activation = d->run->column[EB_COL_ACTIVATION];
  if (!activation || !(eb_largest(activation, d->run->steps, 0) > 0)) return EB_OK;
  EB_TRY(eb_results_mesh(d->run->file, d->run->index, &d->mesh));
  EB_TRY(EB_NEW(d->fibred, d->mesh->region_count));
  for (int32_t i = 0; d->mesh->fibre && i < 3 * d->mesh->element_count; i++)
    d->fibred[d->mesh->region[i / 3]] |= d->mesh->fibre[i] != 0;
  return EB_OK;
}

/* The activation colour: the region's, and red in the place of so much of it as the fibres are
 * active at the end of the step that led to the frame; no step led to the first one. */
static void color_surface(drawing *d, double step) {
  static const eb_rgb red = {0.80f, 0.12f, 0.10f};
  bool led = step >= 1 && step <= (double)d->run->steps;
  float active = d->fibred && led ? (float)d->run->column[EB_COL_ACTIVATION][(size_t)step - 1] : 0;
  for (int32_t t = 0; t < d->surface.triangle_count; t++) {
    int32_t region = d->surface.region[t];
    eb_rgb *c = &d->color[t];
    *c = eb_color_of_region(region);
    if (!d->fibred || region < 0 || region >= d->mesh->region_count || !d->fibred[region]) continue;
    c->r += active * (red.r - c->r);
    c->g += active * (red.g - c->g);
    c->b += active * (red.b - c->b);
  }
}

/* The end of a run that blew up is shown whole, from farther away. */
static eb_error draw_frames(drawing *d, const double *times, const double *steps, const char *stem,
                            eb_report_picture *out) {
  eb_pictured_frame chosen[EB_PICTURES];
  int count;
  EB_TRY(eb_pictured_frames(d->run, chosen, &count));
  for (out->count = 0; out->count < count; out->count++) {
    const eb_pictured_frame *frame = &chosen[out->count];
    char path[4096];
    eb_view whole;
    eb_render_mesh body = body_of(d);
    EB_TRY(eb_view_with_frame(d->view, d->run, frame->frame, &whole));
    EB_TRY(load_positions(d, frame->frame));
    color_surface(d, steps[frame->frame]);
    body.triangle_color = d->color;
    snprintf(path, sizeof path, "%s-%s.png", stem, frame->name);
    EB_TRY(write_picture(d, frame->frame, &whole, &whole, &body, 1, path));
    out->drawn[out->count].name = frame->name;
    out->drawn[out->count].words = frame->words;
    out->drawn[out->count].time = times[frame->frame];
  }
  return EB_OK;
}

/* A number a frame. */
static eb_error frame_column(const eb_report_run *run, const char *path, double **out) {
  size_t frames, count;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  EB_TRY(eb_results_column(run->file, run->index, path, out, &count));
  if (count == frames) return EB_OK;
  free(*out);
  *out = NULL;
  return EB_ERROR(EB_ERR_FORMAT, "'%s': run %s has %zu frames and %zu entries in %s",
                  eb_results_path(run->file), run->run->id, frames, count, path);
}

eb_error eb_pictures_run(const eb_report_run *run, const eb_view *view, const char *stem,
                         eb_report_picture *out) {
  size_t frames;
  double *times = NULL, *steps = NULL;
  drawing d = {0};
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (frames == 0 || run->run->repetition > 0) return EB_OK;
  eb_error error = frame_column(run, "frames/time", &times);
  if (!error) error = frame_column(run, "frames/step", &steps);
  if (!error) error = open_drawing(run, view, &d);
  if (!error) error = find_fibres(&d);
  if (!error) error = EB_NEW(d.color, d.surface.triangle_count);
  if (!error) error = draw_frames(&d, times, steps, stem, out);
  close_drawing(&d);
  free(times);
  free(steps);
  return error;
}

/* ---- updated elements ------------------------------------------------------------------------ */

static void add_triangle(drawing *d, const int32_t *element, int32_t a, int32_t b, int32_t c) {
  int32_t *t = d->triangles + 3 * (size_t)d->triangle_count++;
  t[0] = element[a], t[1] = element[b], t[2] = element[c];
}

/* Triangles around the updated elements, whose number comes back: their faces but those that they
 * share with another updated one. */
static int64_t collect_triangles(drawing *d, const uint8_t *updates) {
  const eb_face_table *table = eb_face_table_of(d->mesh->type);
  int64_t updated = 0;
  d->triangle_count = 0;
  for (int32_t e = 0; e < d->mesh->element_count; e++) {
    if (!updates[e]) continue;
    updated++;
    const int32_t *element = d->mesh->elements + (size_t)e * d->mesh->type;
    if (d->mesh->type == EB_TRIANGLE) add_triangle(d, element, 0, 1, 2);
    for (int32_t f = 0; d->mesh->type != EB_TRIANGLE && f < table->count; f++) {
      int32_t mate = d->crowded ? -1 : d->mate[table->count * e + f];
      if (mate >= 0 && updates[mate / table->count]) continue;
      const int32_t *local = table->local[f];
      for (int32_t k = 2; k < table->nodes; k++)
        add_triangle(d, element, local[0], local[k - 1], local[k]);
    }
  }
  return updated;
}

static eb_error open_updates(drawing *d) {
  int32_t crowded = -1;
  EB_TRY(eb_results_mesh(d->run->file, d->run->index, &d->mesh));
  EB_TRY(eb_mesh_face_mates(d->mesh, &d->mate, &crowded));
  d->crowded = crowded >= 0;
  const eb_face_table *table = eb_face_table_of(d->mesh->type);
  size_t triangles = (size_t)table->count * (size_t)(table->nodes > 3 ? table->nodes - 2 : 1);
  return EB_NEW(d->triangles, 3 * triangles * (size_t)d->mesh->element_count);
}

static eb_error draw_updates(drawing *d, const size_t *frames, int count, const double *times,
                             const char *stem, eb_report_picture *out) {
  eb_view camera[EB_UPDATE_PICTURES];
  EB_TRY(eb_view_follow(d->run, frames, count, camera));
  for (int i = 0; i < count; i++) {
    char path[4096];
    uint8_t *updates;
    snprintf(path, sizeof path, "%s-updates-%d.png", stem, i + 1);
    EB_TRY(load_positions(d, frames[i]));
    EB_TRY(eb_results_updates(d->run->file, d->run->index, frames[i], &updates));
    out->update[i].updated = collect_triangles(d, updates);
    free(updates);
    eb_render_mesh bodies[2] = {body_of(d), body_of(d)};
    bodies[0].triangle_count = d->triangle_count;
    bodies[0].triangles = d->triangles;
    bodies[0].color = (eb_rgb){1.0f, 0.52f, 0.10f};
    bodies[0].edges = d->triangle_count < MOST_LINED;
    bodies[1].color = (eb_rgb){0.43f, 0.52f, 0.66f};
    bodies[1].translucent = true;
    bodies[1].front = 0.36f;
    EB_TRY(write_picture(d, frames[i], &camera[i], d->view, bodies, 2, path));
    out->update[i].time = times[frames[i]];
    out->updates = i + 1;
  }
  return EB_OK;
}

eb_error eb_pictures_updates(const eb_report_run *run, const eb_view *view, const char *stem,
                             eb_report_picture *out) {
  size_t frames[EB_UPDATE_PICTURES];
  int count;
  double *times;
  drawing d = {0};
  EB_TRY(eb_updated_frames(run, frames, &count));
  if (count == 0) return EB_OK;
  EB_TRY(frame_column(run, "frames/time", &times));
  eb_error error = open_drawing(run, view, &d);
  if (!error) error = open_updates(&d);
  if (!error) error = draw_updates(&d, frames, count, times, stem, out);
  close_drawing(&d);
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
