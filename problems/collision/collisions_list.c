/* Candidate pairs: the tree of patches is walked once for every patch, then the features of two patches that meet are tested against
 * each other, those outside the other patch's box left out first.
 *
 * A patch begins its walk at its own leaf: in preorder all that comes later is what earlier patches have not met. Threads keep lists of
 * their own, so which list a pair is on depends on the schedule; what is listed does not. */
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/collision/collisions_parts.h"

/* ---- lists ----------------------------------------------------------------------------------- */

eb_error eb_collisions_lists(eb_collisions *c) {
  int32_t wanted = omp_get_max_threads();
  if (wanted <= c->thread_count) return EB_OK;
  eb_thread_lists *threads =
      eb_recalloc(c->threads, (size_t)c->thread_count, (size_t)wanted, sizeof *threads);
  if (!threads)
    return EB_ERROR(EB_ERR_MEMORY, "collisions: no memory for lists of %d threads", wanted);
  c->threads = threads;
  c->thread_count = wanted;
  return EB_OK;
}

eb_error eb_collisions_first_error(eb_collisions *c) {
  eb_error first = EB_OK;
  for (int32_t k = 0; k < c->thread_count; k++) {
    if (first)
      eb_error_free(c->threads[k].error);
    else
      first = c->threads[k].error;
    c->threads[k].error = EB_OK;
  }
  return first;
}

static eb_error reserve(eb_pair_list *list, int64_t more) {
  if (list->count + more <= list->room) return EB_OK;
  int64_t room = 2 * (list->count + more);
  int32_t(*pair)[2] = eb_recalloc(list->pair, (size_t)list->room, (size_t)room, sizeof *pair);
  if (!pair)
    return EB_ERROR(
        EB_ERR_MEMORY,
        "collisions: no memory for %lld candidate pairs; take shorter steps or limit the "
        "reach",
        (long long)room);
  list->pair = pair;
  list->room = room;
  return EB_OK;
}

/* ---- two patches ----------------------------------------------------------------------------- */

typedef struct selection {
  int32_t feature[EB_PATCH_FEATURES];
  int count;
} selection;

/* The features of a patch whose boxes meet `box`. */
static void select_near(const eb_collisions *c, eb_feature kind, int32_t patch, eb_bounds box,
                        selection *out) {
  int32_t end = c->patches->begin[kind][patch + 1];
  out->count = 0;
  for (int32_t f = c->patches->begin[kind][patch]; f < end; f++) {
    out->feature[out->count] = f;
    out->count += eb_bounds_meet(c->box[f], box);
  }
}

/* Does vertex or edge a share a vertex with edge or triangle b? */
static bool share_vertex(const int32_t a[4], const int32_t b[4]) {
  return (a[0] == b[0]) | (a[0] == b[1]) | (a[0] == b[2]) | (a[1] == b[0]) | (a[1] == b[1]) |
         (a[1] == b[2]);
}

/* Every pair whose boxes meet; without branches that depend on it. */
static int64_t cross(const eb_bounds *boxes, const selection *a, const selection *b,
                     int32_t (*out)[2]) {
  int64_t count = 0;
  for (int i = 0; i < a->count; i++) {
    int32_t f = a->feature[i];
    eb_bounds box = boxes[f];
    for (int j = a == b ? i + 1 : 0; j < b->count; j++) {
      out[count][0] = f;
      out[count][1] = b->feature[j];
      count += eb_bounds_meet(boxes[b->feature[j]], box);
    }
  }
  return count;
}

/* Keeps the pairs that may be tested and were not listed before; returns how many. */
static int64_t keep(const eb_collisions *c, bool all, int32_t (*pair)[2], int64_t count) {
  const int32_t(*corner)[4] = (const int32_t(*)[4])c->patches->corner;
  int64_t kept = 0;
  for (int64_t k = 0; k < count; k++) {
    int32_t f = pair[k][0], g = pair[k][1];
    bool listed = !all && eb_bounds_meet(c->before[f], c->before[g]);
    pair[kept][0] = f;
    pair[kept][1] = g;
    kept += !share_vertex(corner[f], corner[g]) & !listed;
  }
  return kept;
}

static eb_error add_pairs(const eb_collisions *c, bool all, const selection *a, const selection *b,
                          eb_pair_list *list) {
  if (a->count == 0 || b->count == 0) return EB_OK;
  EB_TRY(reserve(list, (int64_t)a->count * b->count));
  int32_t(*pair)[2] = list->pair + list->count;
  list->count += keep(c, all, pair, cross(c->box, a, b, pair));
  return EB_OK;
}

static eb_error list_faces(const eb_collisions *c, bool all, int32_t of_vertices,
                           int32_t of_triangles, eb_pair_list *list) {
  selection vertices, triangles;
  select_near(c, EB_VERTEX, of_vertices, c->patch_box[of_triangles], &vertices);
  select_near(c, EB_TRIANGLE_FACE, of_triangles, c->patch_box[of_vertices], &triangles);
  return add_pairs(c, all, &vertices, &triangles, list);
}

static eb_error list_patches(const eb_collisions *c, bool all, int32_t a, int32_t b,
                             eb_thread_lists *lists) {
  selection first, second;
  EB_TRY(list_faces(c, all, a, b, &lists->pairs[EB_VERTEX_FACE]));
  select_near(c, EB_EDGE, a, c->patch_box[b], &first);
  if (a == b) return add_pairs(c, all, &first, &first, &lists->pairs[EB_EDGE_EDGE]);
  select_near(c, EB_EDGE, b, c->patch_box[a], &second);
  EB_TRY(add_pairs(c, all, &first, &second, &lists->pairs[EB_EDGE_EDGE]));
  return list_faces(c, all, b, a, &lists->pairs[EB_VERTEX_FACE]);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* A patch that changed meets all others; of two that changed, the one that stands first lists them. */
static eb_error list_patch(const eb_collisions *c, bool all, int32_t patch,
                           eb_thread_lists *lists) {
  const eb_triangle_tree *tree = c->tree;
  eb_bounds box = c->patch_box[patch];
  int32_t body = c->patches->body[patch], own = tree->node[patch];
  for (int32_t n = all ? own : 0; n < tree->node_count;) {
    bool apart = (body >= 0 && tree->body[n] == body) || !eb_bounds_meet(tree->box[n], box);
    int32_t other = tree->leaf[n];
    if (!apart && other >= 0 && (n >= own || !c->changed[other]))
      EB_TRY(list_patches(c, all, patch, other, lists));
    n = apart ? tree->after[n] : n + 1;
  }
  return EB_OK;
}

eb_error eb_collisions_list(eb_collisions *c, bool all) {
  EB_TRY(eb_collisions_lists(c));
  for (int32_t k = 0; k < c->thread_count && all; k++)
    for (int kind = 0; kind < 2; kind++) c->threads[k].pairs[kind].count = 0;
#pragma omp parallel
  {
    eb_thread_lists *lists = &c->threads[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 32)
    for (int32_t n = 0; n < c->tree->node_count; n++) {
      int32_t patch = c->tree->leaf[n];
      if (patch >= 0 && !lists->error && (all || c->changed[patch]))
        lists->error = list_patch(c, all, patch, lists);
    }
  }
  return eb_collisions_first_error(c);
}
