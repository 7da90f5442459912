#include "harness/report/pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/tessellate.h"
#include "harness/results/scene.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/mesh/faces.h"

enum { WIDTH = 640, HEIGHT = 480, MOST_LINED = 20000 /* triangles with their edges drawn */ };

/* ---- which frames ---------------------------------------------------------------------------- */

/* Frames are chosen by the steps that led to them: frame f is what step[f] led to, and frame 0 the
 * start, which no step led to. */

/* What frames are chosen from, and those that are. */
typedef struct choice {
  const eb_report_run *run;
  double *step;
  size_t frames, last;       /* entries of step; the frame that stands for the end */
  eb_pictured_frame *chosen; /* last + 1; no name: not chosen */
} choice;

/* The end of a run is its last frame or, when it blew up, the last whose positions are all finite.
 * `chosen` stays NULL for runs that are not drawn. */
static eb_error open_choice(const eb_report_run *run, choice *out) {
  size_t frames;
  bool finite = eb_report_completed(run);
  *out = (choice){.run = run};
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (frames == 0 || run->run->repetition > 0) return EB_OK;
  for (out->last = frames - 1; !finite && out->last > 0; out->last -= !finite) {
    float *x;
    EB_TRY(eb_results_frame(run->file, run->index, out->last, &x));
    finite = true;
    for (size_t i = 0; i < 3 * (size_t)run->run->nodes; i++) finite = finite && isfinite(x[i]);
    free(x);
  }
  EB_TRY(EB_NEW(out->chosen, out->last + 1));
  eb_error error =
      eb_results_column(run->file, run->index, "frames/step", &out->step, &out->frames);
  if (error) free(out->chosen);
  return error;
}

static void close_choice(choice *from) {
  free(from->step);
  free(from->chosen);
}

/* ---- first, most strained, most active, after cuts, last ------------------------------------- */

/* The value of a column after the step that led to a frame, or 0. */
static double value_at(const choice *from, eb_column column, size_t frame) {
  double step = frame < from->frames ? from->step[frame] : 0;
  if (!(step >= 1 && step <= (double)from->run->steps) || !from->run->column[column]) return 0;
  return from->run->column[column][(size_t)step - 1];
}

/* The frame in [first, last] with the largest value of a column: the first such one or, when
 * `latest`, the last; 0 when all are 0. */
static size_t highest(const choice *from, eb_column column, size_t first, size_t last,
                      bool latest) {
  size_t out = 0;
  double most = 0;
  for (size_t f = first; f <= last; f++) {
    double value = value_at(from, column, f);
    if (!(value > most || (latest && out > 0 && value == most))) continue;
    most = value;
    out = f;
  }
  return out;
}

/* Whoever chooses a frame first names it. */
static void choose(choice *from, const char *name, const char *words, size_t frame) {
  if (!from->chosen[frame].name) from->chosen[frame] = (eb_pictured_frame){name, words, frame};
}

static void choose_between(choice *from, const char *name, const char *words, size_t frame) {
  if (frame > 0 && frame < from->last) choose(from, name, words, frame);
}

/* Marks the frames on one side of a peak between which and the peak the elastic energy does not
 * fall to a tenth of theirs. */
static void mark_slope(const choice *from, size_t peak, int toward, uint8_t *joined) {
  double least = INFINITY;
  for (size_t f = peak; f <= from->last; f += (size_t)toward) {
    double energy = value_at(from, EB_COL_ELASTIC, f);
    least = fmin(least, energy);
    joined[f] = joined[f] || !(least <= 0.1 * energy);
    if (f == 0) break;
  }
}

/* The most strained frame, and others after and before which the strain is all but gone, as when a
 * script bends a body one way after the other. What stores less than a twentieth of the most energy
 * is not worth a picture. */
static eb_error choose_peaks(choice *from) {
  static const char *const name[EB_PICTURED_PEAKS][2] = {{"strained", "most strained"},
                                                         {"strained-2", "strained"},
                                                         {"strained-3", "strained"},
                                                         {"strained-4", "strained"}};
  uint8_t *joined;
  double most = 0;
  EB_TRY(EB_NEW(joined, from->last + 1));
  for (int p = 0; p < EB_PICTURED_PEAKS; p++) {
    size_t peak = 0;
    double energy = 0;
    for (size_t f = 1; f <= from->last; f++)
      if (!joined[f] && value_at(from, EB_COL_ELASTIC, f) > energy) {
        energy = value_at(from, EB_COL_ELASTIC, f);
        peak = f;
      }
    most = fmax(most, energy);
    if (peak == 0 || energy < 0.05 * most) break;
    choose_between(from, name[p][0], name[p][1], peak);
    mark_slope(from, peak, 1, joined);
    mark_slope(from, peak, -1, joined);
  }
  free(joined);
  return EB_OK;
}

/* The first frame from `first` on with more components than the frame before, or last + 1. */
static size_t next_cut(const choice *from, size_t first) {
  for (size_t f = first; f <= from->last; f++) {
    double before = value_at(from, EB_COL_COMPONENTS, f - 1);
    if (before > 0 && value_at(from, EB_COL_COMPONENTS, f) > before) return f;
  }
  return from->last + 1;
}

/* Where the pieces move fastest between a cut and the next one, or the end: by then they have
 * parted. */
static void choose_cuts(choice *from) {
  static const char *const name[EB_PICTURED_CUTS][2] = {{"cut-1", "after the first cut"},
                                                        {"cut-2", "after the second cut"},
                                                        {"cut-3", "after the third cut"}};
  size_t cut = next_cut(from, 1);
  for (int c = 0; c < EB_PICTURED_CUTS && cut <= from->last; c++) {
    size_t next = next_cut(from, cut + 1);
    choose_between(from, name[c][0], name[c][1],
                   highest(from, EB_COL_KINETIC, cut, next - 1, false));
    cut = next;
  }
}

eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                            int *count) {
  choice from;
  eb_error error = EB_OK;
  *count = 0;
  EB_TRY(open_choice(run, &from));
  if (!from.chosen) return EB_OK;
  choose(&from, "first", "first frame", 0);
  if (eb_report_sound(run)) {
    error = choose_peaks(&from);
    choose_between(&from, "active", "fibres most active (red)",
                   highest(&from, EB_COL_ACTIVATION, 1, from.last, true));
    choose_cuts(&from);
  }
  for (size_t f = 0; f <= from.last && !error; f++)
    if (from.chosen[f].name) out[(*count)++] = from.chosen[f];
  if (!error) out[(*count)++] = (eb_pictured_frame){"last", "last frame", from.last};
  close_choice(&from);
  return error;
}

/* ---- updated elements ------------------------------------------------------------------------ */

/* Frame f stands for the share of all updates in whose middle it is, of EB_UPDATE_PICTURES equal
 * ones; what is then still free goes to the frames with the most updates. */
static void choose_updated(choice *from, const double *updates, double total) {
  double sum = 0;
  int chosen = 0;
  for (size_t f = 0, k = 0; f <= from->last; f++) {
    sum += updates[f];
    for (; k < EB_UPDATE_PICTURES && sum >= (k + 0.5) / EB_UPDATE_PICTURES * total; k++) {
      chosen += !from->chosen[f].name;
      choose(from, "share", "", f);
    }
  }
  for (; chosen < EB_UPDATE_PICTURES; chosen++) {
    size_t best = 0;
    for (size_t f = 1; f <= from->last; f++)
      if (!from->chosen[f].name && updates[f] > (best ? updates[best] : 0)) best = f;
    if (best == 0) return;
    choose(from, "most", "", best);
  }
}

eb_error eb_updated_frames(const eb_report_run *run, size_t out[EB_UPDATE_PICTURES], int *count) {
  choice from;
  double *updates;
  *count = 0;
  if (!eb_results_has_updates(run->file, run->index)) return EB_OK;
  EB_TRY(open_choice(run, &from));
  if (!from.chosen) return EB_OK;
  eb_error error = EB_NEW(updates, from.last + 1);
  if (!error) {
    double total = 0; /* between each frame and the one before, without those of the first step */
    for (size_t f = 0, s = 1; f <= from.last && f < from.frames; f++)
      for (; s < run->steps && (double)s < from.step[f]; s++) {
        updates[f] += run->updated_elements[s];
        total += run->updated_elements[s];
      }
    if (total > 0) choose_updated(&from, updates, total);
    for (size_t f = 0; f <= from.last; f++)
      if (from.chosen[f].name) out[(*count)++] = f;
    free(updates);
  }
  close_choice(&from);
  return error;
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
eb_error eb_draw_obstacles(eb_render *render, const eb_result_obstacles *all) {
  static const float tones[] = {0.80f, 0.62f, 0.72f, 0.52f, 0.86f, 0.57f, 0.76f, 0.67f};
  for (int32_t first = 0, last = 0; first < all->triangle_count; first = last) {
    int32_t obstacle = all->obstacle[all->triangles[3 * (size_t)first]];
    while (last < all->triangle_count &&
           all->obstacle[all->triangles[3 * (size_t)last]] == obstacle)
      last++;
    float tone = tones[obstacle % (int32_t)(sizeof tones / sizeof *tones)];
    const eb_render_mesh mesh = {.vertex_count = all->vertex_count,
                                 .triangle_count = last - first,
                                 .X = all->X,
                                 .triangles = all->triangles + 3 * (size_t)first,
                                 .color = {tone, tone, tone * 0.985f},
                                 .translucent = true,
                                 .front = 5 / 9.0f,
                                 .back = 0.16f};
    EB_TRY(eb_render_surface(render, &mesh));
  }
  return EB_OK;
}

void eb_link_shapes(const float ends[6], const eb_view *view, eb_collider shape[2]) {
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

static eb_error draw_rigid_link(eb_render *render, const float ends[6], const eb_view *view) {
  static const eb_render_mesh ivory = {.color = {0.93f, 0.88f, 0.74f}},
                              brown = {.color = {0.62f, 0.55f, 0.42f}};
  eb_collider shape[2];
  for (int i = 0; i < 6; i++)
    if (!isfinite(ends[i])) return EB_OK;
  eb_link_shapes(ends, view, shape);
  EB_TRY(draw_collider(render, &shape[0], view, brown));
  return shape[1].half_length > 0 ? draw_collider(render, &shape[1], view, ivory) : EB_OK;
}

/* ---- a picture ------------------------------------------------------------------------------- */

/* All that a picture shows, read from the file: any thread can draw it. */
typedef struct picture {
  char path[4096];
  eb_view camera, view; /* view: how far endless colliders reach, and where the ground is */
  int32_t node_count, link_count, body_count;
  double *X;              /* nodes x 3 */
  float *links;           /* links x 2 x 3 */
  eb_rgb *color;          /* of the triangles of the first body, or NULL */
  int32_t *triangles;     /* of the first body, where it is not the surface; or NULL */
  eb_render_mesh body[2]; /* made of these arrays and the surface */
  eb_result_colliders colliders;
  eb_result_obstacles obstacles;
} picture;

static void clear_pictures(picture *pictures, int count) {
  for (int i = 0; pictures && i < count; i++) {
    free(pictures[i].X);
    free(pictures[i].links);
    free(pictures[i].color);
    free(pictures[i].triangles);
    eb_result_obstacles_clear(&pictures[i].obstacles);
  }
  free(pictures);
}

/* Where everything is in a frame; bodies are still to be made. */
static eb_error read_picture(const eb_report_run *run, size_t frame, picture *out) {
  float *x;
  out->node_count = (int32_t)run->run->nodes;
  EB_TRY(EB_NEW(out->X, 3 * (size_t)out->node_count));
  EB_TRY(eb_results_frame(run->file, run->index, frame, &x));
  for (size_t i = 0; i < 3 * (size_t)out->node_count; i++) out->X[i] = x[i];
  free(x);
  EB_TRY(eb_results_bones(run->file, run->index, frame, &out->link_count, &out->links));
  EB_TRY(eb_results_obstacles(run->file, run->index, frame, &out->obstacles));
  return eb_results_colliders(run->file, run->index, frame, &out->colliders);
}

static eb_error draw_all(eb_render *render, const picture *p) {
  /* Of a collider, what faces away is left out, so that one sees through the near side of a bowl.
   */
  static const eb_render_mesh collider_style = {
      .color = {0.80f, 0.80f, 0.79f}, .translucent = true, .front = 5 / 9.0f};
  double direction[3];
  eb_view_direction(&p->camera, direction);
  EB_TRY(eb_render_camera(render, p->camera.lo, p->camera.hi, direction));
  for (int b = 0; b < p->body_count; b++) EB_TRY(eb_render_surface(render, &p->body[b]));
  for (int32_t l = 0; l < p->link_count; l++)
    EB_TRY(draw_rigid_link(render, p->links + 6 * (size_t)l, &p->view));
  EB_TRY(eb_draw_obstacles(render, &p->obstacles));
  for (int32_t c = 0; c < p->colliders.count; c++)
    if (!eb_is_floor(&p->colliders.list[c])) /* those are the ground */
      EB_TRY(draw_collider(render, &p->colliders.list[c], &p->view, collider_style));
  return eb_render_ground(render, eb_view_ground(&p->view, &p->colliders));
}

static eb_error draw_picture(const picture *p) {
  eb_render *render;
  EB_TRY(eb_render_create(WIDTH, HEIGHT, &render));
  eb_error error = draw_all(render, p);
  if (!error) error = eb_render_write_png(render, p->path);
  eb_render_destroy(render);
  return error;
}

/* All at once; the first failure in their order comes back. */
static eb_error draw_pictures(const picture *pictures, int count) {
  eb_error *errors, first = EB_OK;
  EB_TRY(EB_NEW(errors, count));
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < count; i++) errors[i] = draw_picture(&pictures[i]);
  for (int i = 0; i < count; i++) {
    if (first)
      eb_error_free(errors[i]);
    else
      first = errors[i];
  }
  free(errors);
  return first;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* A run that is being drawn. */
typedef struct drawing {
  const eb_report_run *run;
  const eb_view *view; /* of the scene */
  eb_mesh *mesh;
  eb_result_surface surface;
  uint8_t *fibred; /* regions: whether an element has a fibre; NULL: none is ever active */
  int32_t *mate;   /* eb_mesh_face_mates; NULL for planar elements, or unreliable when `crowded` */
  bool crowded;
} drawing;

static void close_drawing(drawing *d) {
  eb_mesh_destroy(d->mesh);
  eb_result_surface_clear(&d->surface);
  free(d->fibred);
  free(d->mate);
}

static eb_error open_drawing(const eb_report_run *run, const eb_view *view, drawing *d) {
  d->run = run;
  d->view = view;
  return eb_results_surface(run->file, run->index, &d->surface);
}

static eb_render_mesh body_of(const drawing *d, const picture *p) {
  return (eb_render_mesh){.vertex_count = p->node_count,
                          .triangle_count = d->surface.triangle_count,
                          .X = p->X,
                          .triangles = d->surface.triangles,
                          .edges = d->surface.triangle_count < MOST_LINED};
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
static void color_surface(const drawing *d, double step, eb_rgb *color) {
  static const eb_rgb red = {0.80f, 0.12f, 0.10f};
  bool led = step >= 1 && step <= (double)d->run->steps;
  float active = d->fibred && led ? (float)d->run->column[EB_COL_ACTIVATION][(size_t)step - 1] : 0;
  for (int32_t t = 0; t < d->surface.triangle_count; t++) {
    int32_t region = d->surface.region[t];
    eb_rgb *c = &color[t];
    *c = eb_color_of_region(region);
    if (!d->fibred || region < 0 || region >= d->mesh->region_count || !d->fibred[region]) continue;
    c->r += active * (red.r - c->r);
    c->g += active * (red.g - c->g);
    c->b += active * (red.b - c->b);
  }
}

/* The end of a run that blew up is shown whole, from farther away. */
static eb_error read_frame(const drawing *d, const eb_pictured_frame *frame, double step,
                           const char *stem, picture *out) {
  snprintf(out->path, sizeof out->path, "%s-%s.png", stem, frame->name);
  EB_TRY(eb_view_with_frame(d->view, d->run, frame->frame, &out->camera));
  out->view = out->camera;
  EB_TRY(read_picture(d->run, frame->frame, out));
  EB_TRY(EB_NEW(out->color, d->surface.triangle_count));
  color_surface(d, step, out->color);
  out->body[0] = body_of(d, out);
  out->body[0].triangle_color = out->color;
  out->body_count = 1;
  return EB_OK;
}

static eb_error draw_frames(const drawing *d, const double *times, const double *steps,
                            const char *stem, eb_report_picture *out) {
  eb_pictured_frame chosen[EB_PICTURES];
  picture *pictures;
  int count;
  EB_TRY(eb_pictured_frames(d->run, chosen, &count));
  EB_TRY(EB_NEW(pictures, count));
  eb_error error = EB_OK;
  for (int i = 0; i < count && !error; i++)
    error = read_frame(d, &chosen[i], steps[chosen[i].frame], stem, &pictures[i]);
  if (!error) error = draw_pictures(pictures, count);
  clear_pictures(pictures, count);
  for (out->count = 0; out->count < count && !error; out->count++) {
    const eb_pictured_frame *frame = &chosen[out->count];
    out->drawn[out->count].name = frame->name;
    out->drawn[out->count].words = frame->words;
    out->drawn[out->count].time = times[frame->frame];
  }
  return error;
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

/* Begins to draw frames of a run; *times and *steps have an entry a frame. */
static eb_error open_frames(const eb_report_run *run, const eb_view *view, drawing *d,
                            double **times, double **steps) {
  EB_TRY(frame_column(run, "frames/time", times));
  EB_TRY(frame_column(run, "frames/step", steps));
  EB_TRY(open_drawing(run, view, d));
  return find_fibres(d);
}

eb_error eb_pictures_run(const eb_report_run *run, const eb_view *view, const char *stem,
                         eb_report_picture *out) {
  size_t frames;
  double *times = NULL, *steps = NULL;
  drawing d = {0};
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (frames == 0 || run->run->repetition > 0) return EB_OK;
  eb_error error = open_frames(run, view, &d, &times, &steps);
  if (!error) error = draw_frames(&d, times, steps, stem, out);
  close_drawing(&d);
  free(times);
  free(steps);
  return error;
}

/* ---- the picture that stands for a scene ----------------------------------------------------- */

/* A poster in the making; the drawing has the surface that the picture shows. */
typedef struct poster {
  drawing drawing;
  eb_view view;
} poster;

static eb_error read_poster(const eb_report *report, int r, const eb_pictured_frame *frame,
                            const char *stem, char words[200], poster *p, picture *out) {
  const eb_report_run *run = &report->runs[r];
  const eb_report_scene alone = {.first = r, .last = r + 1};
  double *times = NULL, *steps = NULL;
  eb_error error = eb_view_fit(report, &alone, &p->view);
  if (!error) error = open_frames(run, &p->view, &p->drawing, &times, &steps);
  if (!error) error = read_frame(&p->drawing, frame, steps[frame->frame], stem, out);
  if (!error)
    snprintf(words, 200, "%.120s, %s, t = %.4g s", run->label, frame->words, times[frame->frame]);
  snprintf(out->path, sizeof out->path, "%s.png", stem);
  free(times);
  free(steps);
  return error;
}

/* *read stays false for a scene without frames. */
static eb_error choose_poster(const eb_report *report, eb_report_scene *scene, const char *dir,
                              poster *p, picture *out, bool *read) {
  eb_pictured_frame frame[EB_PICTURES];
  int run = scene->first, count = 0, best = 0;
  char stem[4000];
  for (; run < scene->last; run++) {
    EB_TRY(eb_pictured_frames(&report->runs[run], frame, &count));
    if (count > 0) break;
  }
  *read = count > 0;
  if (!*read) return EB_OK;
  while (best < count - 1 && strcmp(frame[best].name, "strained") != 0) best++;
  snprintf(stem, sizeof stem, "%s/%s", dir, scene->prefix);
  return read_poster(report, run, &frame[best], stem, scene->poster, p, out);
}

eb_error eb_pictures_posters(eb_report *report, const char *dir) {
  picture *pictures;
  poster *posters;
  int read = 0, count = report->scene_count;
  EB_TRY(EB_NEW(pictures, count));
  eb_error error = EB_NEW(posters, count);
  for (int s = 0; s < count && !error; s++) {
    bool any = false;
    error = choose_poster(report, &report->scenes[s], dir, &posters[read], &pictures[read], &any);
    read += any;
  }
  if (!error) error = draw_pictures(pictures, read);
  clear_pictures(pictures, count);
  for (int s = 0; posters && s < count; s++) close_drawing(&posters[s].drawing);
  free(posters);
  return error;
}

/* ---- updated elements ------------------------------------------------------------------------ */

static void add_triangle(picture *p, const int32_t *element, int32_t a, int32_t b, int32_t c) {
  int32_t *t = p->triangles + 3 * (size_t)p->body[0].triangle_count++;
  t[0] = element[a], t[1] = element[b], t[2] = element[c];
}

/* Triangles around the updated elements, whose number comes back: their faces but those that they
 * share with another updated one. */
static int64_t collect_triangles(const drawing *d, const uint8_t *updates, picture *p) {
  const eb_face_table *table = eb_face_table_of(d->mesh->type);
  int64_t updated = 0;
  for (int32_t e = 0; e < d->mesh->element_count; e++) {
    if (!updates[e]) continue;
    updated++;
    const int32_t *element = d->mesh->elements + (size_t)e * d->mesh->type;
    if (d->mesh->type == EB_TRIANGLE) add_triangle(p, element, 0, 1, 2);
    for (int32_t f = 0; d->mesh->type != EB_TRIANGLE && f < table->count; f++) {
      int32_t mate = d->crowded ? -1 : d->mate[table->count * e + f];
      if (mate >= 0 && updates[mate / table->count]) continue;
      const int32_t *local = table->local[f];
      for (int32_t k = 2; k < table->nodes; k++)
        add_triangle(p, element, local[0], local[k - 1], local[k]);
    }
  }
  return updated;
}

static eb_error open_updates(drawing *d) {
  int32_t crowded = -1;
  EB_TRY(eb_results_mesh(d->run->file, d->run->index, &d->mesh));
  EB_TRY(eb_mesh_face_mates(d->mesh, &d->mate, &crowded));
  d->crowded = crowded >= 0;
  return EB_OK;
}

/* The updated elements in orange, inside a translucent body. */
static eb_error read_updates(const drawing *d, size_t frame, int64_t *updated, picture *out) {
  const eb_face_table *table = eb_face_table_of(d->mesh->type);
  size_t most = (size_t)table->count * (size_t)(table->nodes > 3 ? table->nodes - 2 : 1);
  uint8_t *updates;
  out->view = *d->view;
  EB_TRY(read_picture(d->run, frame, out));
  EB_TRY(EB_NEW(out->triangles, 3 * most * (size_t)d->mesh->element_count));
  EB_TRY(eb_results_updates(d->run->file, d->run->index, frame, &updates));
  out->body[0] = out->body[1] = body_of(d, out);
  out->body[0].triangle_count = 0;
  out->body[0].triangles = out->triangles;
  out->body[0].color = (eb_rgb){1.0f, 0.52f, 0.10f};
  *updated = collect_triangles(d, updates, out);
  free(updates);
  out->body[0].edges = out->body[0].triangle_count < MOST_LINED;
  out->body[1].color = (eb_rgb){0.43f, 0.52f, 0.66f};
  out->body[1].translucent = true;
  out->body[1].front = 0.36f;
  out->body_count = 2;
  return EB_OK;
}

static eb_error draw_updates(const drawing *d, const size_t *frames, int count, const double *times,
                             const char *stem, eb_report_picture *out) {
  eb_view camera[EB_UPDATE_PICTURES];
  picture *pictures;
  EB_TRY(eb_view_follow(d->run, frames, count, camera));
  EB_TRY(EB_NEW(pictures, count));
  eb_error error = EB_OK;
  for (int i = 0; i < count && !error; i++) {
    snprintf(pictures[i].path, sizeof pictures[i].path, "%s-updates-%d.png", stem, i + 1);
    pictures[i].camera = camera[i];
    error = read_updates(d, frames[i], &out->update[i].updated, &pictures[i]);
    out->update[i].time = times[frames[i]];
  }
  if (!error) error = draw_pictures(pictures, count);
  clear_pictures(pictures, count);
  if (!error) out->updates = count;
  return error;
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

eb_error eb_pictures_scene(eb_report *report, const eb_report_scene *scene, const char *dir) {
  eb_view view;
  EB_TRY(eb_view_fit(report, scene, &view));
  for (int r = scene->first; r < scene->last; r++) {
    char stem[4000];
    snprintf(stem, sizeof stem, "%s/%s-r%d", dir, scene->prefix, r - scene->first);
    EB_TRY(eb_pictures_run(&report->runs[r], &view, stem, &report->runs[r].picture));
    EB_TRY(eb_pictures_updates(&report->runs[r], &view, stem, &report->runs[r].picture));
  }
  return EB_OK;
}
