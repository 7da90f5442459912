/* Steps of collision detection: boxes of features within reach, patches and tree around them, lists.
 *
 * The tree over the patches is built anew every step, from its boxes alone: it has an eighth as many leaves as there are triangles, so that this costs
 * little, and what it costs and finds does not depend on the past. Patches are formed anew when their vertices have spread to twice what they were. Memory: about 100 bytes a
 * feature, 8 a candidate. Fails for positions and reaches that are not finite. */
#include "problems/collision/collisions.h"

#include <string.h>

#include "problems/base/memory.h"
#include "problems/collision/collisions_parts.h"

/* ---- creation -------------------------------------------------------------------------------- */

static eb_error allocate(eb_collisions *c) {
  EB_TRY(eb_patches_create(c->mesh, &c->patches));
  EB_TRY(eb_triangle_tree_create(c->patches->count, &c->tree));
  int32_t vertices = c->patches->first[EB_EDGE], features = c->patches->feature_count;
  EB_TRY(EB_NEW(c->x0, vertices));
  EB_TRY(EB_NEW(c->x1, vertices));
  EB_TRY(EB_NEW(c->way, vertices));
  EB_TRY(EB_NEW(c->reach, vertices));
  EB_TRY(EB_NEW(c->box, features));
  EB_TRY(EB_NEW(c->before, features));
  EB_TRY(EB_NEW(c->swept, features));
  EB_TRY(EB_NEW(c->changed, c->patches->count));
  return EB_NEW(c->patch_box, c->patches->count);
}

eb_error eb_collisions_create(const eb_collision_mesh *mesh, eb_collisions **out) {
  *out = NULL;
  eb_collisions *c;
  EB_TRY(EB_NEW(c, 1));
  c->mesh = mesh;
  eb_error error = allocate(c);
  if (error)
    eb_collisions_destroy(c);
  else
    *out = c;
  return error;
}

void eb_collisions_destroy(eb_collisions *c) {
  if (!c) return;
  for (int32_t k = 0; k < c->thread_count; k++) {
    for (int kind = 0; kind < 2; kind++) free(c->threads[k].pairs[kind].pair);
    free(c->threads[k].hits.hit);
  }
  free(c->threads);
  free(c->hits);
  free(c->near);
  free(c->x0);
  free(c->x1);
  free(c->way);
  free(c->reach);
  free(c->box);
  free(c->before);
  free(c->swept);
  free(c->changed);
  free(c->patch_box);
  eb_triangle_tree_destroy(c->tree);
  eb_patches_destroy(c->patches);
  free(c);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

void eb_collisions_enclose(const eb_patches *p, eb_bounds *box) {
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int32_t f = p->first[EB_EDGE]; f < p->first[EB_TRIANGLE_FACE]; f++)
      box[f] = eb_bounds_join(box[p->corner[f][0]], box[p->corner[f][1]]);
#pragma omp for schedule(static)
    for (int32_t f = p->first[EB_TRIANGLE_FACE]; f < p->first[EB_FEATURES]; f++)
      box[f] = eb_bounds_join(eb_bounds_join(box[p->corner[f][0]], box[p->corner[f][1]]),
                              box[p->corner[f][2]]);
  }
}

static void box_vertex(eb_collisions *c, int32_t f) {
  double lo[3], hi[3], size[3], r = c->reach[f];
  for (int d = 0; d < 3; d++) {
    double way = c->way[f][d];
    lo[d] = c->x0[f][d] + fmin(way, 0) - r;
    hi[d] = c->x0[f][d] + fmax(way, 0) + r;
    size[d] = fabs(c->x0[f][d]) + fabs(way) + r;
  }
  c->box[f] = eb_bounds_of(lo, hi, size);
}

double eb_collisions_off(const eb_collisions *c, int32_t f, const double x[3]) {
  double most = 0;
  for (int d = 0; d < 3; d++) {
    double moved = x[d] - c->x0[f][d], way = c->way[f][d];
    most = fmax(most, fmax(fmin(way, 0) - moved, moved - fmax(way, 0)));
  }
  return most;
}

/* All boxes from x0, way and reach. */
static void fit_boxes(eb_collisions *c) {
  const eb_patches *p = c->patches;
#pragma omp parallel for schedule(static)
  for (int32_t f = 0; f < p->first[EB_EDGE]; f++) box_vertex(c, f);
  eb_collisions_enclose(p, c->box);
#pragma omp parallel for schedule(static)
  for (int32_t k = 0; k < p->count; k++) {
    eb_bounds box = eb_bounds_none();
    for (int32_t f = p->begin[EB_TRIANGLE_FACE][k]; f < p->begin[EB_TRIANGLE_FACE][k + 1]; f++)
      box = eb_bounds_join(box, c->box[f]);
    c->patch_box[k] = box;
  }
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* NaN is not. */
static bool holds(double length) {
  return fabs(length) < EB_BOUNDS_LIMIT;
}

static bool all_hold(const double a[3]) {
  return holds(a[0]) && holds(a[1]) && holds(a[2]);
}

static eb_error check_positions(const eb_collision_mesh *mesh, const double *x) {
  for (size_t i = 0; i < (size_t)mesh->vertex_count; i++)
    if (!all_hold(x + 3 * i))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu is at (%g, %g, %g) m; coordinates must be below %g",
                      i, x[3 * i], x[3 * i + 1], x[3 * i + 2], EB_BOUNDS_LIMIT);
  return EB_OK;
}

static eb_error check_reaches(const eb_collision_mesh *mesh, const double *way,
                              const double *reach) {
  for (size_t i = 0; i < (size_t)mesh->vertex_count; i++) {
    if (way && !all_hold(way + 3 * i))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu has the way (%g, %g, %g) m; it must be below %g", i,
                      way[3 * i], way[3 * i + 1], way[3 * i + 2], EB_BOUNDS_LIMIT);
    if (!(reach[i] >= 0 && holds(reach[i])))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu has the reach %g m; it must be from 0 to %g", i,
                      reach[i], EB_BOUNDS_LIMIT);
  }
  return EB_OK;
}

static void gather(const eb_patches *p, const double *x, double (*out)[3]) {
#pragma omp parallel for schedule(static)
  for (int32_t f = 0; f < p->first[EB_EDGE]; f++)
    memcpy(out[f], x + 3 * (size_t)p->index[f], sizeof out[f]);
}

static void keep_compact(eb_collisions *c, const double *x0) {
  const double(*x)[3] = (const double(*)[3])c->x0;
  if (c->begun) {
    gather(c->patches, x0, c->x0);
    if (eb_patches_spread(c->patches, x) <= 2 * c->spread) return;
  }
  eb_patches_form(c->patches, x0);
  gather(c->patches, x0, c->x0);
  c->spread = eb_patches_spread(c->patches, x);
}

/* After an error the lists lack something: another begin is needed. */
static eb_error list(eb_collisions *c, bool all) {
  eb_error error = eb_collisions_list(c, all);
  c->begun = !error;
  return error;
}

eb_error eb_collisions_begin(eb_collisions *c, const double *x0, const double *way,
                             const double *reach) {
  int32_t vertices = c->patches->first[EB_EDGE];
  EB_TRY(check_positions(c->mesh, x0));
  EB_TRY(check_reaches(c->mesh, way, reach));
  keep_compact(c, x0);
  if (way)
    gather(c->patches, way, c->way);
  else
    memset(c->way, 0, (size_t)vertices * sizeof *c->way);
  for (int32_t f = 0; f < vertices; f++) c->reach[f] = reach[c->patches->index[f]];
  fit_boxes(c);
  eb_triangle_tree_build(c->tree, c->patch_box, c->patches->body);
  eb_triangle_tree_fit(c->tree, c->patch_box);
  return list(c, true);
}

/* ---- raised reaches -------------------------------------------------------------------------- */

static int32_t raise_reaches(eb_collisions *c, const double *x1) {
  const double slack = 1.5;
  int32_t raised = 0;
#pragma omp parallel for schedule(static) reduction(+ : raised)
  for (int32_t f = 0; f < c->patches->first[EB_EDGE]; f++) {
    double off = eb_collisions_off(c, f, x1 + 3 * (size_t)c->patches->index[f]);
    if (off <= c->reach[f]) continue;
    c->reach[f] = slack * off;
    raised++;
  }
  return raised;
}

static bool same_box(eb_bounds a, eb_bounds b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static void mark_changed(eb_collisions *c) {
  const eb_patches *p = c->patches;
#pragma omp parallel for schedule(static)
  for (int32_t k = 0; k < p->count; k++) {
    c->changed[k] = 0;
    for (int kind = 0; kind < EB_FEATURES; kind++)
      for (int32_t f = p->begin[kind][k]; f < p->begin[kind][k + 1]; f++)
        c->changed[k] |= !same_box(c->box[f], c->before[f]);
  }
}

eb_error eb_collisions_cover(eb_collisions *c, const double *x1, int32_t *repaired) {
  *repaired = 0;
  if (!c->begun)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: call eb_collisions_begin before eb_collisions_cover");
  EB_TRY(check_positions(c->mesh, x1));
  *repaired = raise_reaches(c, x1);
  if (*repaired == 0) return EB_OK;
  memcpy(c->before, c->box, (size_t)c->patches->feature_count * sizeof *c->box);
  fit_boxes(c);
  mark_changed(c);
  eb_triangle_tree_fit(c->tree, c->patch_box);
  return list(c, false);
}

int64_t eb_collisions_candidates(const eb_collisions *c) {
  int64_t count = 0;
  for (int32_t k = 0; k < c->thread_count; k++)
    for (int kind = 0; kind < 2; kind++) count += c->threads[k].pairs[kind].count;
  return count;
}
