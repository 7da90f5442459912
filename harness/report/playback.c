#include "harness/report/playback.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/channels.h"
#include "harness/report/markup.h"
#include "harness/report/pictures.h"
#include "harness/report/tessellate.h"
#include "harness/results/scene.h"
#include "harness/strings.h"
#include "problems/base/memory.h"
#include "problems/mesh/faces.h"

enum { LEAST_FRAMES = 9, MOST_FRAMES = 241 };

size_t eb_playback_room(int runs) {
  enum { FOLDER = 96 << 20, RUN = 12 << 20 };
  size_t share = FOLDER / (size_t)(runs > 0 ? runs : 1);
  return share < RUN ? share : RUN;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* A surface in every frame. */
typedef struct part {
  const char *kind;
  int32_t vertex_count, triangle_count;
  int32_t *triangles; /* triangle_count x 3 */
  float *x;           /* frames x vertex_count x 3, m */
  bool moving;
  eb_lattice lattice;
} part;

static void clear_part(part *p) {
  free(p->triangles);
  free(p->x);
}

/* Triangles of one frame, put together. */
typedef struct heap {
  int32_t vertex_count, triangle_count;
  double *X;
  int32_t *triangles;
} heap;

static void clear_heap(heap *h) {
  free(h->X);
  free(h->triangles);
}

static eb_error add_surface(heap *h, int32_t vertices, const double *X, int32_t triangles,
                            const int32_t *triangle) {
  size_t v = 3 * (size_t)h->vertex_count, t = 3 * (size_t)h->triangle_count;
  double *all = eb_recalloc(h->X, v, v + 3 * (size_t)vertices, sizeof *all);
  if (all) h->X = all;
  int32_t *index = eb_recalloc(h->triangles, t, t + 3 * (size_t)triangles, sizeof *index);
  if (index) h->triangles = index;
  if (!all || !index) return EB_ERROR(EB_ERR_MEMORY, "no memory for %d triangles", triangles);
  memcpy(all + v, X, 3 * (size_t)vertices * sizeof *X);
  for (size_t i = 0; i < 3 * (size_t)triangles; i++) index[t + i] = triangle[i] + h->vertex_count;
  h->vertex_count += vertices;
  h->triangle_count += triangles;
  return EB_OK;
}

static eb_error add_collider(heap *h, const eb_collider *collider, const eb_view *view) {
  eb_tessellation surface;
  EB_TRY(eb_tessellate(collider, view->lo, view->hi, &surface));
  eb_error error =
      add_surface(h, surface.vertex_count, surface.X, surface.triangle_count, surface.triangles);
  eb_tessellation_clear(&surface);
  return error;
}

static eb_error collect_obstacles(const eb_report_run *run, size_t frame, const eb_view *view,
                                  heap *h) {
  eb_result_obstacles all;
  (void)view;
  EB_TRY(eb_results_obstacles(run->file, run->index, frame, &all));
  eb_error error = EB_OK;
  if (all.vertex_count > 0)
    error = add_surface(h, all.vertex_count, all.X, all.triangle_count, all.triangles);
  eb_result_obstacles_clear(&all);
  return error;
}

/* Level floors are the ground. */
static eb_error collect_colliders(const eb_report_run *run, size_t frame, const eb_view *view,
                                  heap *h) {
  eb_result_colliders all;
  EB_TRY(eb_results_colliders(run->file, run->index, frame, &all));
  for (int32_t c = 0; c < all.count; c++)
    if (!eb_is_floor(&all.list[c])) EB_TRY(add_collider(h, &all.list[c], view));
  return EB_OK;
}

static eb_error collect_links(const eb_report_run *run, size_t frame, const eb_view *view,
                              heap *h) {
  int32_t count;
  float *links;
  EB_TRY(eb_results_bones(run->file, run->index, frame, &count, &links));
  eb_error error = EB_OK;
  for (int32_t l = 0; l < count && !error; l++) {
    eb_collider shape[2];
    eb_link_shapes(links + 6 * (size_t)l, view, shape);
    error = add_collider(h, &shape[0], view);
    if (!error) error = add_collider(h, &shape[1], view);
  }
  free(links);
  return error;
}

/* What is around the bodies. */
typedef struct surrounding {
  const char *kind;
  eb_error (*collect)(const eb_report_run *run, size_t frame, const eb_view *view, heap *h);
} surrounding;
static const surrounding surroundings[] = {
    {"obstacle", collect_obstacles}, {"collider", collect_colliders}, {"link", collect_links}};
enum { SURROUNDINGS = sizeof surroundings / sizeof *surroundings, PARTS = 1 + SURROUNDINGS };

/* ---- frames ---------------------------------------------------------------------------------- */

/* A run as it is played. */
typedef struct playback {
  const eb_report_run *run;
  size_t stored, count;
  size_t *frame;       /* count: of those stored */
  double *time, *step; /* stored */
  eb_mesh *mesh;
  eb_result_surface surface;
  int32_t *behind; /* the element behind each triangle */
  int32_t *node;   /* of each vertex of the bodies */
  int32_t *vertex; /* nodes: their vertices, or -1 */
  eb_view view;    /* of the bodies in all frames */
  double ground;
  part parts[PARTS]; /* the bodies first; those without triangles are none */
  eb_strain strain;
  float *strains; /* count x triangles */
  bool updates_told;
  uint8_t *updates;     /* count x triangles */
  int64_t *updated;     /* count: elements */
  int64_t *offsets;     /* count + 1: of contacts, NULL: none are told */
  float *point, *force; /* contacts x 3: m, N */
} playback;

static void close_playback(playback *p) {
  free(p->frame);
  free(p->time);
  free(p->step);
  eb_mesh_destroy(p->mesh);
  eb_result_surface_clear(&p->surface);
  free(p->behind);
  free(p->node);
  free(p->vertex);
  for (int i = 0; i < PARTS; i++) clear_part(&p->parts[i]);
  eb_strain_clear(&p->strain);
  free(p->strains);
  free(p->updates);
  free(p->updated);
  free(p->offsets);
  free(p->point);
  free(p->force);
}

/* Frames evenly from the first to the last. */
static eb_error choose_frames(playback *p, size_t room) {
  size_t triangles = (size_t)p->surface.triangle_count;
  size_t each = 3 * sizeof(uint16_t) * (size_t)p->parts[0].vertex_count +
                triangles * (p->updates_told ? 2 : 1);
  size_t count = each > 0 ? room / each : MOST_FRAMES;
  if (count < LEAST_FRAMES) count = LEAST_FRAMES;
  if (count > MOST_FRAMES) count = MOST_FRAMES;
  if (count > p->stored) count = p->stored;
  EB_TRY(EB_NEW(p->frame, count));
  for (size_t k = 0; k < count; k++)
    p->frame[k] = count > 1 ? (k * (p->stored - 1) + (count - 1) / 2) / (count - 1) : 0;
  p->count = count;
  return EB_OK;
}

/* Vertices are the nodes of the surface, in their order. */
static eb_error number_vertices(playback *p) {
  part *body = &p->parts[0];
  size_t nodes = (size_t)p->run->run->nodes, corners = 3 * (size_t)p->surface.triangle_count;
  body->kind = "body";
  body->triangle_count = p->surface.triangle_count;
  EB_TRY(EB_NEW(body->triangles, corners));
  EB_TRY(EB_NEW(p->vertex, nodes));
  EB_TRY(EB_NEW(p->node, nodes));
  for (size_t i = 0; i < corners; i++) p->vertex[p->surface.triangles[i]] = 1;
  for (size_t n = 0; n < nodes; n++) {
    if (p->vertex[n]) p->node[body->vertex_count] = (int32_t)n;
    p->vertex[n] = p->vertex[n] ? body->vertex_count++ : -1;
  }
  for (size_t i = 0; i < corners; i++) body->triangles[i] = p->vertex[p->surface.triangles[i]];
  return EB_OK;
}

static eb_error open_playback(const eb_report_run *run, size_t room, playback *p) {
  size_t steps;
  p->run = run;
  p->updates_told = eb_results_has_updates(run->file, run->index);
  EB_TRY(eb_results_column(run->file, run->index, "frames/time", &p->time, &p->stored));
  if (p->stored == 0) return EB_OK;
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &p->step, &steps));
  if (steps != p->stored)
    return EB_ERROR(EB_ERR_FORMAT, "'%s': run %s has %zu frames and %zu entries in frames/step",
                    eb_results_path(run->file), run->run->id, p->stored, steps);
  EB_TRY(eb_results_mesh(run->file, run->index, &p->mesh));
  EB_TRY(eb_results_surface(run->file, run->index, &p->surface));
  EB_TRY(number_vertices(p));
  size_t triangles = (size_t)p->surface.triangle_count;
  EB_TRY(eb_mesh_elements_behind(p->mesh, p->surface.triangles, p->surface.triangle_count,
                                 &p->behind));
  EB_TRY(eb_strain_create(p->mesh, p->behind, p->surface.triangle_count, &p->strain));
  EB_TRY(choose_frames(p, room));
  EB_TRY(EB_NEW(p->updates, p->updates_told ? p->count * triangles : 0));
  EB_TRY(EB_NEW(p->updated, p->count));
  EB_TRY(EB_NEW(p->strains, p->count * triangles));
  return EB_NEW(p->parts[0].x, 3 * p->count * (size_t)p->parts[0].vertex_count);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static eb_error read_bodies(playback *p) {
  part *body = &p->parts[0];
  for (size_t k = 0; k < p->count; k++) {
    float *x, *to = body->x + 3 * k * (size_t)body->vertex_count;
    EB_TRY(eb_results_frame(p->run->file, p->run->index, p->frame[k], &x));
    for (int32_t v = 0; v < body->vertex_count; v++)
      memcpy(to + 3 * (size_t)v, x + 3 * (size_t)p->node[v], 3 * sizeof *x);
    eb_strain_at(&p->strain, x, p->strains + k * (size_t)body->triangle_count);
    free(x);
  }
  return EB_OK;
}

/* How long the longest side of a frame's box is; infinite when a position is no number. */
static double extent_of(const part *body, size_t frame) {
  eb_lattice box = eb_no_lattice;
  const float *x = body->x + 3 * frame * (size_t)body->vertex_count;
  for (size_t i = 0; i < 3 * (size_t)body->vertex_count; i++)
    if (!isfinite(x[i])) return INFINITY;
  eb_lattice_widen(&box, x, (size_t)body->vertex_count);
  return fmax(box.size[0], fmax(box.size[1], box.size[2]));
}

/* Of a run that ended badly, frames from the first on in which it has blown up are left out. */
static void cut_off(playback *p) {
  static const double far = 20;
  double start = extent_of(&p->parts[0], 0);
  if (eb_report_sound(p->run)) return;
  for (size_t k = 1; k < p->count; k++)
    if (!(extent_of(&p->parts[0], k) <= far * start)) p->count = k;
}

static eb_error set_view(playback *p) {
  part *body = &p->parts[0];
  eb_result_colliders colliders;
  body->lattice = eb_no_lattice;
  eb_lattice_widen(&body->lattice, body->x, p->count * (size_t)body->vertex_count);
  for (int d = 0; d < 3; d++) {
    bool empty = !isfinite(body->lattice.lo[d]);
    if (empty) body->lattice.lo[d] = body->lattice.size[d] = 0;
    p->view.lo[d] = body->lattice.lo[d];
    p->view.hi[d] = body->lattice.lo[d] + body->lattice.size[d];
  }
  p->view.planar = body->lattice.size[2] == 0;
  EB_TRY(eb_results_colliders(p->run->file, p->run->index, 0, &colliders));
  p->ground = eb_view_ground(&p->view, &colliders);
  return EB_OK;
}

static void find_motion(part *surface, size_t frames) {
  size_t row = 3 * (size_t)surface->vertex_count;
  for (size_t k = 1; k < frames && !surface->moving; k++)
    surface->moving = memcmp(surface->x, surface->x + k * row, row * sizeof *surface->x) != 0;
}

/* ---- what is around them --------------------------------------------------------------------- */

static eb_error read_surrounding(const playback *p, const surrounding *what, part *out) {
  out->kind = what->kind;
  for (size_t k = 0; k < p->count; k++) {
    heap h = {0};
    eb_error error = what->collect(p->run, p->frame[k], &p->view, &h);
    size_t row = 3 * (size_t)h.vertex_count;
    if (!error && k == 0 && row > 0) {
      error = EB_NEW(out->x, p->count * row);
      out->vertex_count = h.vertex_count;
      out->triangle_count = h.triangle_count;
      out->triangles = h.triangles;
      h.triangles = NULL;
    }
    if (!error && h.vertex_count != out->vertex_count)
      error = EB_ERROR(EB_ERR_FORMAT, "'%s': run %s has other %ss in frame %zu",
                       eb_results_path(p->run->file), p->run->run->id, what->kind, p->frame[k]);
    for (size_t i = 0; i < row && !error; i++) out->x[k * row + i] = (float)h.X[i];
    clear_heap(&h);
    EB_TRY(error);
    if (row == 0) return EB_OK;
  }
  find_motion(out, p->count);
  out->lattice = eb_no_lattice;
  eb_lattice_widen(&out->lattice, out->x, (out->moving ? p->count : 1) * (size_t)out->vertex_count);
  return EB_OK;
}

/* ---- updated elements ------------------------------------------------------------------------ */

static uint8_t saturated(int sum) {
  return (uint8_t)(sum < 255 ? sum : 255);
}

/* Since the frame before of those that are played: summed over those between. */
static eb_error read_updates(playback *p) {
  size_t elements = (size_t)p->run->run->elements, next = 0;
  uint8_t *sum;
  for (size_t k = 0; k < p->count && p->updates_told; k++) {
    EB_TRY(EB_NEW(sum, elements));
    eb_error error = EB_OK;
    for (; next <= p->frame[k] && !error; next++) {
      uint8_t *one;
      error = eb_results_updates(p->run->file, p->run->index, next, &one);
      for (size_t e = 0; e < elements && !error; e++) sum[e] = saturated(sum[e] + one[e]);
      free(one);
    }
    for (size_t e = 0; e < elements; e++) p->updated[k] += sum[e] > 0;
    for (int32_t t = 0; t < p->surface.triangle_count; t++)
      if (p->behind[t] >= 0)
        p->updates[k * (size_t)p->surface.triangle_count + (size_t)t] = sum[p->behind[t]];
    free(sum);
    EB_TRY(error);
  }
  return EB_OK;
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Where the vertices of contacts are in a frame that is played. */
typedef struct places {
  const playback *p;
  size_t frame;
  eb_result_obstacles obstacles;
} places;

/* NULL for a vertex that is neither on a body's surface nor on an obstacle. */
static bool place_of(const places *at, int32_t vertex, double out[3]) {
  const part *body = &at->p->parts[0];
  int64_t nodes = at->p->run->run->nodes, obstacle = vertex - nodes;
  if (vertex >= 0 && vertex < nodes && at->p->vertex[vertex] >= 0) {
    const float *x =
        body->x + 3 * (at->frame * (size_t)body->vertex_count + (size_t)at->p->vertex[vertex]);
    for (int d = 0; d < 3; d++) out[d] = x[d];
    return true;
  }
  if (obstacle < 0 || obstacle >= at->obstacles.vertex_count) return false;
  memcpy(out, at->obstacles.X + 3 * obstacle, 3 * sizeof *out);
  return true;
}

/* The point of the first feature, whose weights are positive, and the force on it. */
static bool put_contact(const places *at, const eb_result_contacts *all, int64_t c, float point[3],
                        float force[3]) {
  double sum[3] = {0}, total = 0;
  for (int i = 0; i < 4; i++) {
    double weight = all->weight[4 * c + i], x[3];
    if (!(weight > 0)) continue;
    if (!place_of(at, all->vertices[4 * c + i], x)) return false;
    for (int d = 0; d < 3; d++) sum[d] += weight * x[d];
    total += weight;
  }
  for (int d = 0; d < 3; d++) {
    point[d] = (float)(sum[d] / total);
    force[d] = 0;
    for (int axis = 0; axis < 3; axis++)
      force[d] += (float)(all->frame[9 * c + 3 * axis + d] * all->force[3 * c + axis]);
  }
  return isfinite(point[0] + point[1] + point[2]) && isfinite(force[0] + force[1] + force[2]);
}

static eb_error gather_contacts(playback *p, const eb_result_contacts *all) {
  int64_t count = 0;
  EB_TRY(EB_NEW(p->offsets, p->count + 1));
  for (size_t k = 0; k < p->count; k++)
    count += all->offsets[p->frame[k] + 1] - all->offsets[p->frame[k]];
  EB_TRY(EB_NEW(p->point, 3 * count));
  EB_TRY(EB_NEW(p->force, 3 * count));
  count = 0;
  for (size_t k = 0; k < p->count; k++) {
    size_t frame = p->frame[k];
    places at = {.p = p, .frame = k};
    EB_TRY(eb_results_obstacles(p->run->file, p->run->index, frame, &at.obstacles));
    for (int64_t c = all->offsets[frame]; c < all->offsets[frame + 1]; c++)
      count += put_contact(&at, all, c, p->point + 3 * count, p->force + 3 * count);
    p->offsets[k + 1] = count;
    eb_result_obstacles_clear(&at.obstacles);
  }
  return EB_OK;
}

static eb_error read_contacts(playback *p) {
  eb_result_contacts all;
  EB_TRY(eb_results_contacts(p->run->file, p->run->index, p->stored, &all));
  eb_error error = all.count > 0 ? gather_contacts(p, &all) : EB_OK;
  eb_result_contacts_clear(&all);
  return error;
}

/* ---- the script ------------------------------------------------------------------------------ */

static eb_error put_vector(eb_text *out, const char *name, const double v[3]) {
  return eb_text_printf(out, "\"%s\":[%.9g,%.9g,%.9g]", name, v[0], v[1], v[2]);
}

static eb_error put_bytes(eb_text *out, const char *name, const void *bytes, size_t count) {
  EB_TRY(eb_text_printf(out, "\"%s\":\"", name));
  EB_TRY(eb_text_base64(out, bytes, count));
  return eb_text_printf(out, "\"");
}

static eb_error put_places(eb_text *out, const char *name, const eb_lattice *lattice,
                           const float *x, size_t count) {
  uint16_t *place;
  EB_TRY(EB_NEW(place, 3 * count));
  eb_lattice_place(lattice, x, count, place);
  eb_error error = put_vector(out, "lo", lattice->lo);
  if (!error) error = eb_text_printf(out, ",");
  if (!error) error = put_vector(out, "size", lattice->size);
  if (!error) error = eb_text_printf(out, ",\n");
  if (!error) error = put_bytes(out, name, place, 3 * count * sizeof *place);
  free(place);
  return error;
}

static eb_error put_part(eb_text *out, const part *surface, size_t frames) {
  size_t count = surface->moving ? frames : 1;
  EB_TRY(eb_text_printf(out, "{\"kind\":\"%s\",\"vertices\":%d,\"triangles\":%d,\"moving\":%s,\n",
                        surface->kind, surface->vertex_count, surface->triangle_count,
                        surface->moving ? "true" : "false"));
  EB_TRY(put_bytes(out, "index", surface->triangles,
                   3 * (size_t)surface->triangle_count * sizeof *surface->triangles));
  EB_TRY(eb_text_printf(out, ",\n"));
  EB_TRY(put_places(out, "positions", &surface->lattice, surface->x,
                    count * (size_t)surface->vertex_count));
  return eb_text_printf(out, "}");
}

static eb_error put_regions(eb_text *out, const playback *p) {
  size_t count = (size_t)p->surface.triangle_count;
  uint8_t *region;
  EB_TRY(eb_text_printf(out, ",\n\"regions\":["));
  for (int32_t r = 0; r < p->mesh->region_count; r++) {
    EB_TRY(eb_text_printf(out, "%s", r ? "," : ""));
    EB_TRY(eb_markup_json(out, p->mesh->region_name[r]));
  }
  EB_TRY(eb_text_printf(out, "],\n"));
  EB_TRY(EB_NEW(region, count));
  for (size_t t = 0; t < count; t++) region[t] = (uint8_t)p->surface.region[t];
  eb_error error = put_bytes(out, "region", region, count);
  free(region);
  return error;
}

/* The least byte that 99 % of all do not exceed. */
static int usual_most(const uint8_t *bytes, size_t count) {
  size_t histogram[256] = {0}, below = 0;
  int byte = 0;
  for (size_t i = 0; i < count; i++) histogram[bytes[i]]++;
  for (; byte < 255 && (below += histogram[byte]) < 0.99 * (double)count; byte++) continue;
  return byte;
}

/* Roots are finer where strains are small; beyond `limit` an element is torn, however much. */
static eb_error put_strain(eb_text *out, const playback *p) {
  static const double limit = 4;
  size_t count = p->count * (size_t)p->surface.triangle_count;
  double most = 0;
  uint8_t *bytes;
  for (size_t i = 0; i < count; i++) most = fmax(most, fmin(limit, p->strains[i]));
  EB_TRY(EB_NEW(bytes, count));
  for (size_t i = 0; i < count && most > 0; i++)
    bytes[i] = (uint8_t)rint(255 * sqrt(fmin(1, p->strains[i] / most)));
  double share = usual_most(bytes, count) / 255.0;
  eb_error error = eb_text_printf(out, ",\n\"strain\":{\"most\":%.6g,\"range\":%.6g,", most,
                                  most * share * share);
  if (!error) error = put_bytes(out, "data", bytes, count);
  if (!error) error = eb_text_printf(out, "}");
  free(bytes);
  return error;
}

static eb_error put_updates(eb_text *out, const playback *p) {
  if (!p->updates_told) return EB_OK;
  EB_TRY(eb_text_printf(out, ",\n\"updated\":{\"of\":%lld,\"elements\":[",
                        (long long)p->run->run->elements));
  for (size_t k = 0; k < p->count; k++)
    EB_TRY(eb_text_printf(out, "%s%lld", k ? "," : "", (long long)p->updated[k]));
  EB_TRY(eb_text_printf(out, "],"));
  EB_TRY(put_bytes(out, "data", p->updates, p->count * (size_t)p->surface.triangle_count));
  return eb_text_printf(out, "}");
}

static eb_error put_forces(eb_text *out, const float *force, size_t count) {
  double most = 0;
  int16_t *share;
  for (size_t i = 0; i < count; i++) {
    const double f[3] = {force[3 * i], force[3 * i + 1], force[3 * i + 2]};
    for (int d = 0; d < 3; d++) most = fmax(most, fabs(f[d]));
  }
  EB_TRY(EB_NEW(share, 3 * count));
  for (size_t i = 0; i < 3 * count && most > 0; i++)
    share[i] = (int16_t)rint(INT16_MAX * force[i] / most);
  eb_error error = eb_text_printf(out, "\"most\":%.6g,\n", most);
  if (!error) error = put_bytes(out, "forces", share, 3 * count * sizeof *share);
  free(share);
  return error;
}

static eb_error put_contacts(eb_text *out, const playback *p) {
  if (!p->offsets) return EB_OK;
  size_t count = (size_t)p->offsets[p->count];
  eb_lattice lattice = eb_no_lattice;
  eb_lattice_widen(&lattice, p->point, count);
  for (int d = 0; d < 3 && count == 0; d++) lattice.lo[d] = lattice.size[d] = 0;
  EB_TRY(eb_text_printf(out, ",\n\"contacts\":{\"offsets\":["));
  for (size_t k = 0; k <= p->count; k++)
    EB_TRY(eb_text_printf(out, "%s%lld", k ? "," : "", (long long)p->offsets[k]));
  EB_TRY(eb_text_printf(out, "],"));
  EB_TRY(put_places(out, "points", &lattice, p->point, count));
  EB_TRY(eb_text_printf(out, ","));
  EB_TRY(put_forces(out, p->force, count));
  return eb_text_printf(out, "}");
}

static eb_error put_times(eb_text *out, const char *name, const char *format, const double *values,
                          const playback *p) {
  EB_TRY(eb_text_printf(out, "\"%s\":[", name));
  for (size_t k = 0; k < p->count; k++) {
    char number[64];
    snprintf(number, sizeof number, format, values[p->frame[k]]);
    EB_TRY(eb_text_printf(out, "%s%s", k ? "," : "", number));
  }
  return eb_text_printf(out, "],\n");
}

static eb_error put_script(eb_text *out, const playback *p, const char *name) {
  bool samples = p->run->run->from_steps && strstr(p->run->run->from_steps, "..");
  EB_TRY(eb_text_printf(out, "elastobench.add({\"name\":\"%s\",\"stored\":%zu,", name, p->stored));
  EB_TRY(put_times(out, "time", "%.9g", p->time, p));
  EB_TRY(put_times(out, "step", "%.0f", p->step, p));
  EB_TRY(eb_text_printf(out, "\"samples\":%s,\"planar\":%s,\"ground\":%.9g,\"precision\":%.3g,",
                        samples ? "true" : "false", p->view.planar ? "true" : "false", p->ground,
                        eb_lattice_precision(&p->parts[0].lattice)));
  EB_TRY(eb_text_printf(out, "\"box\":{"));
  EB_TRY(put_vector(out, "lo", p->view.lo));
  EB_TRY(eb_text_printf(out, ","));
  EB_TRY(put_vector(out, "hi", p->view.hi));
  EB_TRY(eb_text_printf(out, "},\n\"parts\":["));
  for (int i = 0; i < PARTS; i++)
    if (i == 0 || p->parts[i].triangle_count > 0) {
      EB_TRY(eb_text_printf(out, "%s", i ? ",\n" : ""));
      EB_TRY(put_part(out, &p->parts[i], p->count));
    }
  EB_TRY(eb_text_printf(out, "]"));
  EB_TRY(put_regions(out, p));
  EB_TRY(put_strain(out, p));
  EB_TRY(put_updates(out, p));
  EB_TRY(put_contacts(out, p));
  return eb_text_printf(out, "});\n");
}

/* ---- all of it ------------------------------------------------------------------------------- */

static eb_error read_all(playback *p) {
  EB_TRY(read_bodies(p));
  cut_off(p);
  find_motion(&p->parts[0], p->count);
  EB_TRY(set_view(p));
  for (int s = 0; s < SURROUNDINGS; s++)
    EB_TRY(read_surrounding(p, &surroundings[s], &p->parts[1 + s]));
  EB_TRY(read_updates(p));
  return read_contacts(p);
}

eb_error eb_playback_write(const eb_report_run *run, size_t room, const char *dir, const char *name,
                           eb_playback *out) {
  playback p = {.run = NULL};
  eb_text script = {0};
  char path[4096];
  *out = (eb_playback){.name = ""};
  snprintf(path, sizeof path, "%s/%s.js", dir, name);
  eb_error error = open_playback(run, room, &p);
  if (!error && p.count > 0) {
    error = read_all(&p);
    if (!error) error = put_script(&script, &p, name);
    if (!error) error = eb_text_write(path, &script);
    if (!error) {
      snprintf(out->name, sizeof out->name, "%s", name);
      out->frames = p.count;
      out->stored = p.stored;
      out->triangles = (size_t)p.surface.triangle_count;
      out->bytes = script.length;
    }
  }
  eb_text_clear(&script);
  close_playback(&p);
  return error;
}
