/* The motion sweeps boxes of vertices, edges and triangles; candidates whose boxes meet, and between which no
 * plane across the line of their middles stays, are tested continuously, or likewise for their distance in one place. Threads find hits in any order: they are sorted by pair, so
 * that the order follows from the motion alone. */
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/collision/collisions_parts.h"

enum { BLOCK = 1024 /* candidates that a thread takes at a time */ };

/* ---- sweeping -------------------------------------------------------------------------------- */

static bool sweep_vertex(eb_collisions *c, int32_t f, const double *x1) {
  double lo[3], hi[3], size[3], *to = c->x1[f];
  const double *from = c->x0[f], *at = x1 + 3 * (size_t)c->patches->index[f];
  for (int d = 0; d < 3; d++) {
    to[d] = at[d];
    lo[d] = from[d] < to[d] ? from[d] : to[d];
    hi[d] = from[d] < to[d] ? to[d] : from[d];
    size[d] = hi[d] > -lo[d] ? hi[d] : -lo[d];
  }
  c->swept[f] = eb_bounds_of(lo, hi, size);
  return eb_collisions_off(c, f, to) <= c->reach[f];
}

/* For distances: boxes of the place alone, grown by half of it each. */
static bool place_vertex(eb_collisions *c, int32_t f, const double *x1) {
  double lo[3], hi[3], size[3], *to = c->x1[f];
  const double *at = x1 + 3 * (size_t)c->patches->index[f];
  for (int d = 0; d < 3; d++) {
    to[d] = at[d];
    lo[d] = to[d] - 0.5 * c->within;
    hi[d] = to[d] + 0.5 * c->within;
    size[d] = fabs(to[d]) + c->within;
  }
  c->swept[f] = eb_bounds_of(lo, hi, size);
  return eb_collisions_off(c, f, to) <= c->reach[f];
}

static bool box_vertex(eb_collisions *c, int32_t f, const double *x1) {
  return c->within < 0 ? sweep_vertex(c, f, x1) : place_vertex(c, f, x1);
}

static eb_error sweep(eb_collisions *c, const double *x1) {
  int32_t vertices = c->patches->first[EB_EDGE], outside = INT32_MAX;
#pragma omp parallel for schedule(static) reduction(min : outside)
  for (int32_t f = 0; f < vertices; f++)
    if (!box_vertex(c, f, x1) && c->patches->index[f] < outside) outside = c->patches->index[f];
  if (outside < INT32_MAX)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: vertex %d has left its reach; call eb_collisions_cover before "
                    "eb_collisions_find",
                    outside);
  eb_collisions_enclose(c->patches, c->swept);
  return EB_OK;
}

/* ---- testing --------------------------------------------------------------------------------- */

static void add_edge(const eb_patches *p, int32_t feature, int32_t at, int32_t features[4]) {
  for (int k = 0; k < 2; k++) features[at + k] = p->corner[feature][k];
}

/* The vertices (features) of a pair in the order of continuous.h. */
static void order_vertices(const eb_patches *p, eb_pair_kind kind, const int32_t pair[2],
                           int32_t features[4]) {
  if (kind == EB_VERTEX_FACE) {
    features[0] = pair[0];
    for (int k = 0; k < 3; k++) features[1 + k] = p->corner[pair[1]][k];
  } else {
    bool swapped = p->index[pair[0]] > p->index[pair[1]];
    add_edge(p, pair[swapped], 0, features);
    add_edge(p, pair[!swapped], 2, features);
  }
}

/* From the second feature's middle to the first one's, at any length. */
static void between_middles(eb_pair_kind kind, const double x[4][3], double n[3]) {
  for (int d = 0; d < 3; d++) {
    double rest = x[2][d] + x[3][d];
    n[d] = kind == EB_VERTEX_FACE ? x[0][d] - (x[1][d] + rest) / 3 : x[0][d] + x[1][d] - rest;
  }
}

/* In a register; fmax is a call. */
static double larger(double a, double b) {
  return a > b ? a : b;
}

/* How far the features are apart along n, in its length; 0 or less: not. Less than what rounding, here or in the continuous test, could hide: `origin` is near them. */
static double room_between(eb_pair_kind kind, const double n[3], const double origin[3],
                           const double x[4][3]) {
  double at[4], most = 0;
  for (int k = 0; k < 4; k++) {
    at[k] = 0;
    for (int d = 0; d < 3; d++) {
      double term = n[d] * (x[k][d] - origin[d]);
      at[k] += term;
      most = larger(most, fabs(term));
    }
  }
  double lo = kind == EB_VERTEX_FACE || at[0] < at[1] ? at[0] : at[1];
  double hi = larger(at[2], at[3]);
  if (kind == EB_VERTEX_FACE) hi = larger(hi, at[1]);
  return lo - hi - 1e-9 * most;
}

/* With parallel planes between the features at x0 and at x1 there is one all the way, since motion is linear. */
static bool stay_apart(eb_pair_kind kind, const double x0[4][3], const double x1[4][3]) {
  double n[3];
  between_middles(kind, x0, n);
  return room_between(kind, n, x0[0], x0) > 0 && room_between(kind, n, x0[0], x1) > 0;
}

/* Whether the features are farther apart than that; false: perhaps. */
static bool are_apart(eb_pair_kind kind, const double x[4][3], double distance) {
  double n[3];
  between_middles(kind, x, n);
  double room = room_between(kind, n, x[0], x);
  return room > 0 && room * room > distance * distance * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

static eb_error add_hit(eb_hit_list *list, const eb_hit *hit) {
  if (list->count == list->room) {
    int64_t room = 2 * list->room + 64;
    eb_hit *grown = eb_recalloc(list->hit, (size_t)list->room, (size_t)room, sizeof *grown);
    if (!grown)
      return EB_ERROR(EB_ERR_MEMORY, "collisions: no memory for %lld hits; take shorter steps",
                      (long long)room);
    list->hit = grown;
    list->room = room;
  }
  list->hit[list->count++] = *hit;
  return EB_OK;
}

/* *value: the time of the collision, or the distance. */
static bool meets(const eb_collisions *c, eb_pair_kind kind, const double x0[4][3],
                  const double x1[4][3], double *value) {
  double weight[4];
  if (c->within < 0)
    return !stay_apart(kind, x0, x1) && eb_continuous_collision(kind, x0, x1, value);
  if (are_apart(kind, x1, c->within)) return false;
  *value = eb_closest_points(kind, x1, weight);
  return *value < c->within;
}

static void points_of(const double (*from)[3], const int32_t features[4], double x[4][3]) {
  for (int k = 0; k < 4; k++) memcpy(x[k], from[features[k]], sizeof x[k]);
}

static eb_error test_pair(const eb_collisions *c, eb_pair_kind kind, const int32_t pair[2],
                          eb_hit_list *hits) {
  int32_t features[4];
  double x0[4][3], x1[4][3];
  eb_hit hit = {.pair.kind = kind};
  order_vertices(c->patches, kind, pair, features);
  points_of((const double(*)[3])c->x1, features, x1);
  if (c->within < 0) points_of((const double(*)[3])c->x0, features, x0);
  if (!meets(c, kind, (const double(*)[3])x0, (const double(*)[3])x1, &hit.time)) return EB_OK;
  for (int k = 0; k < 4; k++) hit.pair.vertex[k] = c->patches->index[features[k]];
  return add_hit(hits, &hit);
}

static eb_error test_block(const eb_collisions *c, eb_pair_kind kind, const eb_pair_list *list,
                           int64_t first, eb_hit_list *hits) {
  int64_t end = first + BLOCK < list->count ? first + BLOCK : list->count;
  for (int64_t k = first; k < end; k++) {
    const int32_t *pair = list->pair[k];
    if (eb_bounds_meet(c->swept[pair[0]], c->swept[pair[1]]))
      EB_TRY(test_pair(c, kind, pair, hits));
  }
  return EB_OK;
}

static eb_error test_list(eb_collisions *c, eb_pair_kind kind, const eb_pair_list *list) {
#pragma omp parallel for schedule(dynamic)
  for (int64_t first = 0; first < list->count; first += BLOCK) {
    eb_thread_lists *own = &c->threads[omp_get_thread_num()];
    if (!own->error) own->error = test_block(c, kind, list, first, &own->hits);
  }
  return eb_collisions_first_error(c);
}

/* ---- hits ------------------------------------------------------------------------------------ */

static int compare_hits(const void *a, const void *b) {
  const eb_pair *p = &((const eb_hit *)a)->pair, *q = &((const eb_hit *)b)->pair;
  if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
  for (int k = 0; k < 4; k++)
    if (p->vertex[k] != q->vertex[k]) return p->vertex[k] < q->vertex[k] ? -1 : 1;
  return 0;
}

static eb_error gather_hits(eb_collisions *c, int32_t *count) {
  int64_t all = 0;
  for (int32_t k = 0; k < c->thread_count; k++) all += c->threads[k].hits.count;
  if (all > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT,
                    "collisions: %lld hits are more than indices reach; take shorter steps",
                    (long long)all);
  if (all > c->hit_room) {
    free(c->hits);
    c->hit_room = 0;
    EB_TRY(EB_NEW(c->hits, 2 * all));
    c->hit_room = 2 * all;
  }
  *count = 0;
  for (int32_t k = 0; k < c->thread_count; k++) {
    const eb_hit_list *list = &c->threads[k].hits;
    if (list->count > 0)
      memcpy(c->hits + *count, list->hit, (size_t)list->count * sizeof *list->hit);
    *count += (int32_t)list->count;
  }
  if (*count > 1) qsort(c->hits, (size_t)*count, sizeof *c->hits, compare_hits);
  return EB_OK;
}

static eb_error test(eb_collisions *c, const double *x1, double within, int32_t *count) {
  *count = 0;
  if (!c->begun)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: call eb_collisions_begin before looking for collisions");
  c->within = within;
  EB_TRY(eb_collisions_lists(c));
  EB_TRY(sweep(c, x1));
  for (int32_t k = 0; k < c->thread_count; k++) c->threads[k].hits.count = 0;
  for (int kind = 0; kind < 2; kind++)
    for (int32_t k = 0; k < c->thread_count; k++)
      EB_TRY(test_list(c, (eb_pair_kind)kind, &c->threads[k].pairs[kind]));
  return gather_hits(c, count);
}

eb_error eb_collisions_find(eb_collisions *c, const double *x1, const eb_hit **hits,
                            int32_t *count) {
  *hits = NULL;
  EB_TRY(test(c, x1, -1, count));
  *hits = c->hits;
  return EB_OK;
}

eb_error eb_collisions_near(eb_collisions *c, const double *x, double distance,
                            const eb_near **near, int32_t *count) {
  *near = NULL;
  EB_TRY(test(c, x, distance, count));
  if (*count > c->near_room) {
    free(c->near);
    c->near_room = 0;
    EB_TRY(EB_NEW(c->near, 2 * (size_t)*count));
    c->near_room = 2 * (int64_t)*count;
  }
  for (int32_t k = 0; k < *count; k++) c->near[k] = (eb_near){c->hits[k].pair, c->hits[k].time};
  *near = c->near;
  return EB_OK;
}
