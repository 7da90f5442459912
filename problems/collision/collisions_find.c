/* The motion sweeps boxes of vertices, edges and triangles; candidates whose boxes meet are tested continuously. Threads find hits in any order: they are sorted by pair, so
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
  bool within = true;
  for (int d = 0; d < 3; d++) {
    to[d] = at[d];
    lo[d] = from[d] < to[d] ? from[d] : to[d];
    hi[d] = from[d] < to[d] ? to[d] : from[d];
    size[d] = hi[d] > -lo[d] ? hi[d] : -lo[d];
    within &= hi[d] - lo[d] <= c->reach[f];
  }
  c->swept[f] = eb_bounds_of(lo, hi, size);
  return within;
}

static eb_error sweep(eb_collisions *c, const double *x1) {
  int32_t vertices = c->patches->first[EB_EDGE], outside = INT32_MAX;
#pragma omp parallel for schedule(static) reduction(min : outside)
  for (int32_t f = 0; f < vertices; f++)
    if (!sweep_vertex(c, f, x1) && c->patches->index[f] < outside) outside = c->patches->index[f];
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

static eb_error test_pair(const eb_collisions *c, eb_pair_kind kind, const int32_t pair[2],
                          eb_hit_list *hits) {
  int32_t features[4];
  double x0[4][3], x1[4][3];
  eb_hit hit = {.pair.kind = kind};
  order_vertices(c->patches, kind, pair, features);
  for (int k = 0; k < 4; k++) {
    memcpy(x0[k], c->x0[features[k]], sizeof x0[k]);
    memcpy(x1[k], c->x1[features[k]], sizeof x1[k]);
    hit.pair.vertex[k] = c->patches->index[features[k]];
  }
  if (!eb_continuous_collision(kind, (const double(*)[3])x0, (const double(*)[3])x1, &hit.time))
    return EB_OK;
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
    return EB_ERROR(EB_ERR_LIMIT, "collisions: %lld hits are more than indices reach; take shorter steps",
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
    if (list->count > 0) memcpy(c->hits + *count, list->hit, (size_t)list->count * sizeof *list->hit);
    *count += (int32_t)list->count;
  }
  if (*count > 1) qsort(c->hits, (size_t)*count, sizeof *c->hits, compare_hits);
  return EB_OK;
}

eb_error eb_collisions_find(eb_collisions *c, const double *x1, const eb_hit **hits,
                            int32_t *count) {
  *hits = NULL;
  *count = 0;
  if (!c->begun)
    return EB_ERROR(EB_ERR_INVALID, "collisions: call eb_collisions_begin before eb_collisions_find");
  EB_TRY(eb_collisions_lists(c));
  EB_TRY(sweep(c, x1));
  for (int32_t k = 0; k < c->thread_count; k++) c->threads[k].hits.count = 0;
  for (int kind = 0; kind < 2; kind++)
    for (int32_t k = 0; k < c->thread_count; k++)
      EB_TRY(test_list(c, (eb_pair_kind)kind, &c->threads[k].pairs[kind]));
  EB_TRY(gather_hits(c, count));
  *hits = c->hits;
  return EB_OK;
}
