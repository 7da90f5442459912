#include "harness/report/playback.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/channels.h"
#include "harness/report/drawing.h"
#include "harness/results/json.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/mesh/faces.h"

enum { LEAST_FRAMES = 9, MOST_FRAMES = 241 };

size_t eb_playback_room(int runs) {
  enum { FOLDER = 96 << 20, RUN = 12 << 20 };
  size_t share = FOLDER / (size_t)(runs > 0 ? runs : 1);
  return share < RUN ? share : RUN;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* A surface in every frame. */
typedef struct part {
  const char *kind;
  int32_t vertex_count, triangle_count;
  int32_t *triangles; /* triangle_count x 3 */
  float *x;           /* frames x vertex_count x 3, m */
  bool moving;
  eb_lattice lattice;
} part;
enum { PARTS = 1 + EB_DRAWN_KINDS };

/* A run as it is played. */
typedef struct playback {
  eb_drawing drawing;
  size_t count;
  size_t *frame;   /* count: of those stored */
  int32_t *behind; /* the element behind each triangle */
  int32_t *node;   /* of each vertex of the bodies */
  int32_t *vertex; /* nodes: their vertices, or -1 */
  eb_view view;    /* of the bodies in all frames */
  double ground;
  part parts[PARTS]; /* the bodies first; those without triangles are none */
  eb_strain strain;
  float *strains;       /* count x triangles */
  uint8_t *updates;     /* count x triangles; NULL: elements are not updated */
  int64_t *updated;     /* count: elements */
  int64_t *offsets;     /* count + 1: of contacts, NULL: none are told */
  float *point, *force; /* contacts x 3: m, N */
} playback;

static void close_playback(playback *p) {
  eb_drawing_close(&p->drawing);
  free(p->frame);
  free(p->behind);
  free(p->node);
  free(p->vertex);
  for (int i = 0; i < PARTS; i++) {
    free(p->parts[i].triangles);
    free(p->parts[i].x);
  }
  eb_strain_clear(&p->strain);
  free(p->strains);
  free(p->updates);
  free(p->updated);
  free(p->offsets);
  free(p->point);
  free(p->force);
}

static bool has_updates(const playback *p) {
  return eb_results_has_updates(p->drawing.run->file, p->drawing.run->index);
}

/* Frames evenly from the first to the last. */
static eb_error choose_frames(playback *p, size_t room) {
  size_t triangles = (size_t)p->drawing.surface.triangle_count, stored = p->drawing.frames;
  size_t each = 3 * sizeof(uint16_t) * (size_t)p->parts[0].vertex_count +
                triangles * (has_updates(p) ? 2 : 1);
  size_t count = each > 0 ? room / each : MOST_FRAMES;
  if (count < LEAST_FRAMES) count = LEAST_FRAMES;
  if (count > MOST_FRAMES) count = MOST_FRAMES;
  if (count > stored) count = stored;
  EB_TRY(EB_NEW(p->frame, count));
  for (size_t k = 0; k < count; k++)
    p->frame[k] = count > 1 ? (k * (stored - 1) + (count - 1) / 2) / (count - 1) : 0;
  p->count = count;
  return EB_OK;
}

/* Vertices are the nodes of the surface, in their order. */
static eb_error number_vertices(playback *p) {
  part *body = &p->parts[0];
  const eb_result_surface *surface = &p->drawing.surface;
  size_t nodes = (size_t)p->drawing.run->run->nodes, corners = 3 * (size_t)surface->triangle_count;
  body->kind = "body";
  body->triangle_count = surface->triangle_count;
  EB_TRY(EB_NEW(body->triangles, corners));
  EB_TRY(EB_NEW(p->vertex, nodes));
  EB_TRY(EB_NEW(p->node, nodes));
  for (size_t i = 0; i < corners; i++) p->vertex[surface->triangles[i]] = 1;
  for (size_t n = 0; n < nodes; n++) {
    if (p->vertex[n]) p->node[body->vertex_count] = (int32_t)n;
    p->vertex[n] = p->vertex[n] ? body->vertex_count++ : -1;
  }
  for (size_t i = 0; i < corners; i++) body->triangles[i] = p->vertex[surface->triangles[i]];
  return EB_OK;
}

static eb_error open_playback(playback *p, size_t room) {
  const eb_result_surface *surface = &p->drawing.surface;
  EB_TRY(number_vertices(p));
  size_t triangles = (size_t)surface->triangle_count;
  EB_TRY(eb_mesh_elements_behind(p->drawing.mesh, surface->triangles, surface->triangle_count,
                                 &p->behind));
  EB_TRY(eb_strain_create(p->drawing.mesh, p->behind, surface->triangle_count, &p->strain));
  EB_TRY(choose_frames(p, room));
  if (has_updates(p)) EB_TRY(EB_NEW(p->updates, p->count * triangles));
  EB_TRY(EB_NEW(p->updated, p->count));
  EB_TRY(EB_NEW(p->strains, p->count * triangles));
  return EB_NEW(p->parts[0].x, 3 * p->count * (size_t)p->parts[0].vertex_count);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static eb_error read_bodies(playback *p) {
  part *body = &p->parts[0];
  for (size_t k = 0; k < p->count; k++) {
    EB_FREED float *x = NULL;
    float *to = body->x + 3 * k * (size_t)body->vertex_count;
    EB_TRY(eb_results_frame(p->drawing.run->file, p->drawing.run->index, p->frame[k], &x));
    for (int32_t v = 0; v < body->vertex_count; v++)
      memcpy(to + 3 * (size_t)v, x + 3 * (size_t)p->node[v], 3 * sizeof *x);
    eb_strain_at(&p->strain, x, p->strains + k * (size_t)body->triangle_count);
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
  if (eb_report_sound(p->drawing.run)) return;
  for (size_t k = 1; k < p->count; k++)
    if (!(extent_of(&p->parts[0], k) <= far * start)) p->count = k;
}

static eb_error set_view(playback *p) {
  part *body = &p->parts[0];
  EB_OWNED(eb_result_colliders_clear) eb_result_colliders colliders = {0};
  body->lattice = eb_no_lattice;
  eb_lattice_widen(&body->lattice, body->x, p->count * (size_t)body->vertex_count);
  for (int d = 0; d < 3; d++) {
    bool empty = !isfinite(body->lattice.lo[d]);
    if (empty) body->lattice.lo[d] = body->lattice.size[d] = 0;
    p->view.lo[d] = body->lattice.lo[d];
    p->view.hi[d] = body->lattice.lo[d] + body->lattice.size[d];
  }
  p->view.planar = body->lattice.size[2] == 0;
  EB_TRY(eb_results_colliders(p->drawing.run->file, p->drawing.run->index, 0, &colliders));
  p->ground = eb_view_ground(&p->view, &colliders);
  return EB_OK;
}

static void find_motion(part *surface, size_t frames) {
  size_t row = 3 * (size_t)surface->vertex_count;
  for (size_t k = 1; k < frames && !surface->moving; k++)
    surface->moving = memcmp(surface->x, surface->x + k * row, row * sizeof *surface->x) != 0;
}

/* ---- what is around them --------------------------------------------------------------------- */

/* Puts a frame's surfaces, which the first frame has too, into the part. */
static eb_error add_frame(const playback *p, size_t k, eb_drawn *drawn, part *out) {
  size_t row = 3 * (size_t)drawn->vertex_count;
  if (k == 0 && row > 0) {
    EB_TRY(EB_NEW(out->x, p->count * row));
    out->vertex_count = drawn->vertex_count;
    out->triangle_count = drawn->triangle_count;
    out->triangles = drawn->triangles;
    drawn->triangles = NULL;
  }
  if (drawn->vertex_count != out->vertex_count)
    return EB_ERROR(EB_ERR_FORMAT, "'%s': run %s has other %ss in frame %zu",
                    eb_results_path(p->drawing.run->file), p->drawing.run->run->id, out->kind,
                    p->frame[k]);
  for (size_t i = 0; i < row; i++) out->x[k * row + i] = (float)drawn->X[i];
  return EB_OK;
}

static eb_error read_around(const playback *p, eb_drawn_kind kind, part *out) {
  out->kind = eb_drawn_names[kind];
  for (size_t k = 0; k < p->count && (k == 0 || out->vertex_count > 0); k++) {
    EB_OWNED(eb_drawn_clear) eb_drawn drawn = {0};
    EB_TRY(eb_drawn_read(p->drawing.run, p->frame[k], &p->view, kind, &drawn));
    EB_TRY(add_frame(p, k, &drawn, out));
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
  size_t elements = (size_t)p->drawing.run->run->elements, next = 0;
  size_t triangles = (size_t)p->drawing.surface.triangle_count;
  for (size_t k = 0; k < p->count && p->updates; k++) {
    EB_FREED uint8_t *sum = NULL;
    EB_TRY(EB_NEW(sum, elements));
    for (; next <= p->frame[k]; next++) {
      EB_FREED uint8_t *one = NULL;
      EB_TRY(eb_results_updates(p->drawing.run->file, p->drawing.run->index, next, &one));
      for (size_t e = 0; e < elements; e++) sum[e] = saturated(sum[e] + one[e]);
    }
    for (size_t e = 0; e < elements; e++) p->updated[k] += sum[e] > 0;
    for (size_t t = 0; t < triangles; t++)
      if (p->behind[t] >= 0) p->updates[k * triangles + t] = sum[p->behind[t]];
  }
  return EB_OK;
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Where a vertex of contacts is in a frame that is played; NULL for one that is neither on a body's
 * surface nor on an obstacle. Obstacles are numbered behind the nodes. */
static const float *position_of(const playback *p, size_t k, int32_t vertex) {
  int64_t nodes = p->drawing.run->run->nodes;
  bool body = vertex < nodes;
  const part *of = &p->parts[body ? 0 : 1 + EB_DRAWN_OBSTACLE];
  int64_t at = vertex < 0 ? -1 : body ? p->vertex[vertex] : vertex - nodes;
  if (at < 0 || at >= of->vertex_count) return NULL;
  return of->x + 3 * (k * (size_t)of->vertex_count + (size_t)at);
}

/* The point of the first feature, whose weights are positive, and the force on it. */
static bool put_contact(const playback *p, size_t k, const eb_result_contacts *all, int64_t c,
                        float point[3], float force[3]) {
  double sum[3] = {0}, total = 0;
  for (int i = 0; i < 4; i++) {
    double weight = all->weight[4 * c + i];
    if (!(weight > 0)) continue;
    const float *x = position_of(p, k, all->vertices[4 * c + i]);
    if (!x) return false;
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
    for (int64_t c = all->offsets[frame]; c < all->offsets[frame + 1]; c++)
      count += put_contact(p, k, all, c, p->point + 3 * count, p->force + 3 * count);
    p->offsets[k + 1] = count;
  }
  return EB_OK;
}

static eb_error read_contacts(playback *p) {
  EB_OWNED(eb_result_contacts_clear) eb_result_contacts all = {0};
  EB_TRY(eb_results_contacts(p->drawing.run->file, p->drawing.run->index, p->drawing.frames, &all));
  return all.count > 0 ? gather_contacts(p, &all) : EB_OK;
}

/* ---- the script ------------------------------------------------------------------------------ */

/* Bytes in base64. */
static json_t *bytes_json(const void *bytes, size_t count) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  eb_error error = eb_text_base64(&text, bytes, count);
  if (!error) return json_string(text.data ? text.data : "");
  eb_error_free(error);
  return NULL;
}

static json_t *vector_json(const double v[3]) {
  json_t *json = json_array();
  for (int d = 0; d < 3; d++) json_array_append_new(json, eb_json_real(v[d]));
  return json;
}

/* Of the frames that are played. */
static json_t *frames_json(const playback *p, const double *values) {
  json_t *json = json_array();
  for (size_t k = 0; k < p->count; k++)
    json_array_append_new(json, eb_json_real(values[p->frame[k]]));
  return json;
}

static json_t *counts_json(const int64_t *counts, size_t count) {
  json_t *json = json_array();
  for (size_t k = 0; k < count; k++) json_array_append_new(json, json_integer(counts[k]));
  return json;
}

/* Adds a member; without one, or without memory, there is no object any more. */
static void set(json_t **object, const char *name, json_t *value) {
  if (eb_json_set(*object, name, value) == 0) return;
  json_decref(*object);
  *object = NULL;
}

/* Adds points on a lattice. */
static void set_places(json_t **object, const char *name, const eb_lattice *lattice, const float *x,
                       size_t count) {
  EB_FREED uint16_t *place = eb_calloc(3 * count, sizeof *place);
  if (place) eb_lattice_place(lattice, x, count, place);
  set(object, "lo", vector_json(lattice->lo));
  set(object, "size", vector_json(lattice->size));
  set(object, name, place ? bytes_json(place, 3 * count * sizeof *place) : NULL);
}

static json_t *parts_json(const playback *p) {
  json_t *list = json_array();
  for (int i = 0; i < PARTS; i++) {
    const part *surface = &p->parts[i];
    if (i > 0 && surface->triangle_count == 0) continue;
    json_t *json = eb_json_pack("{s:s, s:i, s:i, s:b, s:o}", "kind", surface->kind, "vertices",
                                surface->vertex_count, "triangles", surface->triangle_count,
                                "moving", surface->moving, "index",
                                bytes_json(surface->triangles, 3 * (size_t)surface->triangle_count *
                                                                   sizeof *surface->triangles));
    set_places(&json, "positions", &surface->lattice, surface->x,
               (surface->moving ? p->count : 1) * (size_t)surface->vertex_count);
    if (json_array_append_new(list, json) == 0) continue;
    json_decref(list);
    return NULL;
  }
  return list;
}

static json_t *palette_json(void) {
  json_t *list = json_array();
  for (int r = 0; r < EB_REGION_COLORS; r++) {
    eb_rgb c = eb_color_of_region(r);
    char hex[8];
    snprintf(hex, sizeof hex, "#%02x%02x%02x", (unsigned)lrintf(255 * c.r),
             (unsigned)lrintf(255 * c.g), (unsigned)lrintf(255 * c.b));
    json_array_append_new(list, json_string(hex));
  }
  return list;
}

/* Names of regions, and the region behind each triangle. */
static void set_regions(json_t **object, const playback *p) {
  const eb_result_surface *surface = &p->drawing.surface;
  size_t count = (size_t)surface->triangle_count;
  json_t *names = json_array();
  EB_FREED uint8_t *region = eb_calloc(count, 1);
  for (int32_t r = 0; r < p->drawing.mesh->region_count; r++)
    json_array_append_new(names, eb_json_text(p->drawing.mesh->region_name[r]));
  for (size_t t = 0; t < count && region; t++) region[t] = (uint8_t)surface->region[t];
  set(object, "regions", names);
  set(object, "region", region ? bytes_json(region, count) : NULL);
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
static json_t *strain_json(const playback *p) {
  static const double limit = 4;
  size_t count = p->count * (size_t)p->drawing.surface.triangle_count;
  double most = 0;
  EB_FREED uint8_t *bytes = eb_calloc(count, 1);
  if (!bytes) return NULL;
  for (size_t i = 0; i < count; i++) most = fmax(most, fmin(limit, p->strains[i]));
  for (size_t i = 0; i < count && most > 0; i++)
    bytes[i] = (uint8_t)rint(255 * sqrt(fmin(1, p->strains[i] / most)));
  double share = usual_most(bytes, count) / 255.0;
  return eb_json_pack("{s:f, s:f, s:o}", "most", most, "range", most * share * share, "data",
                      bytes_json(bytes, count));
}

static json_t *updated_json(const playback *p) {
  return eb_json_pack("{s:I, s:o, s:o}", "of", (json_int_t)p->drawing.run->run->elements,
                      "elements", counts_json(p->updated, p->count), "data",
                      bytes_json(p->updates, p->count * (size_t)p->drawing.surface.triangle_count));
}

/* Forces are shares of the largest component. */
static json_t *contacts_json(const playback *p) {
  size_t count = (size_t)p->offsets[p->count];
  double most = 0;
  eb_lattice lattice = eb_no_lattice;
  EB_FREED int16_t *share = eb_calloc(3 * count, sizeof *share);
  if (!share) return NULL;
  eb_lattice_widen(&lattice, p->point, count);
  for (int d = 0; d < 3 && count == 0; d++) lattice.lo[d] = lattice.size[d] = 0;
  for (size_t i = 0; i < 3 * count; i++) most = fmax(most, fabs((double)p->force[i]));
  for (size_t i = 0; i < 3 * count && most > 0; i++)
    share[i] = (int16_t)rint(INT16_MAX * p->force[i] / most);
  json_t *json = eb_json_pack("{s:o, s:f, s:o}", "offsets", counts_json(p->offsets, p->count + 1),
                              "most", most, "forces", bytes_json(share, 3 * count * sizeof *share));
  set_places(&json, "points", &lattice, p->point, count);
  return json;
}

static json_t *playback_json(const playback *p, const char *name) {
  const eb_run *run = p->drawing.run->run;
  bool samples = run->from_steps && strstr(run->from_steps, "..");
  double direction[3];
  eb_view_direction(&p->view, direction);
  json_t *json = eb_json_pack(
      "{s:s, s:I, s:o, s:o, s:b, s:b, s:f, s:f, s:o, s:o, s:o, s:o}", "name", name, "stored",
      (json_int_t)p->drawing.frames, "time", frames_json(p, p->drawing.time), "step",
      frames_json(p, p->drawing.step), "samples", samples, "planar", p->view.planar, "ground",
      p->ground, "precision", eb_lattice_precision(&p->parts[0].lattice), "box",
      eb_json_pack("{s:o, s:o}", "lo", vector_json(p->view.lo), "hi", vector_json(p->view.hi)),
      "direction", vector_json(direction), "palette", palette_json(), "parts", parts_json(p));
  set_regions(&json, p);
  set(&json, "strain", strain_json(p));
  if (p->updates) set(&json, "updated", updated_json(p));
  if (p->offsets) set(&json, "contacts", contacts_json(p));
  return json;
}

static eb_error put_script(eb_text *out, const playback *p, const char *name) {
  json_t *json = playback_json(p, name);
  EB_FREED char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(json);
  if (!text) return EB_ERROR(EB_ERR_MEMORY, "no memory for the script that plays '%s'", name);
  return eb_text_printf(out, "elastobench.add(%s);\n", text);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static eb_error read_all(playback *p, size_t room) {
  EB_TRY(open_playback(p, room));
  EB_TRY(read_bodies(p));
  cut_off(p);
  find_motion(&p->parts[0], p->count);
  EB_TRY(set_view(p));
  for (int k = 0; k < EB_DRAWN_KINDS; k++)
    EB_TRY(read_around(p, (eb_drawn_kind)k, &p->parts[1 + k]));
  EB_TRY(read_updates(p));
  return read_contacts(p);
}

eb_error eb_playback_write(const eb_report_run *run, size_t room, const char *dir, const char *name,
                           eb_playback *out) {
  EB_OWNED(close_playback) playback p = {.count = 0};
  EB_OWNED(eb_text_clear) eb_text script = {0};
  char path[4096];
  *out = (eb_playback){.name = ""};
  EB_TRY(eb_drawing_open(run, &p.drawing));
  if (p.drawing.frames == 0) return EB_OK;
  EB_TRY(read_all(&p, room));
  EB_TRY(put_script(&script, &p, name));
  snprintf(path, sizeof path, "%s/%s.js", dir, name);
  EB_TRY(eb_text_write(path, &script));
  snprintf(out->name, sizeof out->name, "%s", name);
  out->frames = p.count;
  return EB_OK;
}
