/* Steps of collision detection: boxes of features within reach, patches and tree around them,
 * lists.
 *
 * The tree over the patches is built anew every step, from its boxes alone: it has an eighth as
 * many leaves as there are triangles, so that this costs little, and what it costs and finds does
 * not depend on the past. Patches are formed anew when their vertices have spread to twice what
 * they were. Memory: about 100 bytes a feature, 8 a candidate. Fails for positions and reaches that
 * are not finite. */
#include "problems/collision/collisions.h"

#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/collision/patches.h"

/* Pairs of features: vertex and triangle, or edge and edge. */
typedef struct eb_pair_list {
  int32_t (*pair)[2];
  int64_t count, room;
} eb_pair_list;

typedef struct eb_hit_list {
  eb_hit *hit;
  int64_t count, room;
} eb_hit_list;

/* What one thread has found. Two threads share no cache line. */
typedef struct eb_thread_lists {
  _Alignas(64) eb_pair_list pairs[2]; /* by eb_pair_kind */
  eb_hit_list hits;
  eb_error error; /* of the parallel region that runs */
} eb_thread_lists;

struct eb_collisions {
  const eb_collision_mesh *mesh;
  eb_patches *patches;
  eb_triangle_tree *tree; /* over the patches */
  double spread;          /* of the patches when they were formed, m */
  bool begun;
  double (*x0)[3], (*x1)[3], (*way)[3], *reach; /* of vertex features, m */
  eb_bounds *box, *before,
      *swept; /* of features: within reach; before it was raised; of a motion */
  eb_bounds *patch_box;
  uint8_t *changed; /* a patch: are there features whose boxes have grown? */
  int32_t thread_count;
  eb_thread_lists *threads;
  double within; /* of the present test: the distance, m, or < 0 when it is of a motion */
  eb_hit *hits;  /* of all threads; the time is the distance in a test for that */
  eb_near *near;
  int64_t hit_room, near_room;
};

/* ---- candidates ------------------------------------------------------------------------------ */

/* Candidate pairs: the tree of patches is walked once for every patch, then the features of two
 * patches that meet are tested against each other, those outside the other patch's box left out
 * first.
 *
 * A patch begins its walk at its own leaf: in preorder all that comes later is what earlier patches
 * have not met. Threads keep lists of their own, so which list a pair is on depends on the
 * schedule; what is listed does not. */

/* ---- lists ----------------------------------------------------------------------------------- */

/* Makes room for one list a thread. */
static eb_error collisions_lists(eb_collisions *c) {
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

/* The first error of the threads; frees the others. */
static eb_error collisions_first_error(eb_collisions *c) {
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

/* A patch that changed meets all others; of two that changed, the one that stands first lists
 * them. */
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

/* Lists the pairs of features whose boxes meet, after what is listed. `all`: begins with empty
 * lists; otherwise only pairs whose boxes did not meet `before`, of which one feature is of a patch
 * that `changed`. */
static eb_error collisions_list(eb_collisions *c, bool all) {
  EB_TRY(collisions_lists(c));
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
  return collisions_first_error(c);
}

/* ---- the detector ---------------------------------------------------------------------------- */

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

/* Boxes of edges and triangles from those of the vertices, which are set. */
static void collisions_enclose(const eb_patches *p, eb_bounds *box) {
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

/* How far x is off the box between x0 and x0 + way of a vertex feature, in the coordinate where it
 * is farthest; m, > 0 outside. */
static double collisions_off(const eb_collisions *c, int32_t f, const double x[3]) {
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
  collisions_enclose(p, c->box);
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
  eb_error error = collisions_list(c, all);
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
    double off = collisions_off(c, f, x1 + 3 * (size_t)c->patches->index[f]);
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

/* ---- hits ------------------------------------------------------------------------------------ */

/* The motion sweeps boxes of vertices, edges and triangles; candidates whose boxes meet, and
 * between which no plane across the line of their middles stays, are tested continuously, or
 * likewise for their distance in one place. Threads find hits in any order: they are sorted by
 * pair, so that the order follows from the motion alone. */

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
  return collisions_off(c, f, to) <= c->reach[f];
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
  return collisions_off(c, f, to) <= c->reach[f];
}

static bool box_moved_vertex(eb_collisions *c, int32_t f, const double *x1) {
  return c->within < 0 ? sweep_vertex(c, f, x1) : place_vertex(c, f, x1);
}

static eb_error sweep(eb_collisions *c, const double *x1) {
  int32_t vertices = c->patches->first[EB_EDGE], outside = INT32_MAX;
#pragma omp parallel for schedule(static) reduction(min : outside)
  for (int32_t f = 0; f < vertices; f++)
    if (!box_moved_vertex(c, f, x1) && c->patches->index[f] < outside)
      outside = c->patches->index[f];
  if (outside < INT32_MAX)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: vertex %d has left its reach; call eb_collisions_cover before "
                    "eb_collisions_find",
                    outside);
  collisions_enclose(c->patches, c->swept);
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

/* How far the features are apart along n, in its length; 0 or less: not. Less than what rounding,
 * here or in the continuous test, could hide: `origin` is near them. */
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

/* With parallel planes between the features at x0 and at x1 there is one all the way, since motion
 * is linear. */
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
  return collisions_first_error(c);
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
  EB_TRY(collisions_lists(c));
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
