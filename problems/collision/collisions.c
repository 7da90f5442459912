/* Steps of collision detection: boxes of features within reach, patches and tree around them,
 * lists, hits.
 *
 * Patches are up to eight neighbouring triangles of one group, with the vertices and edges that
 * they are the first to have. The tree over the patches is built anew every step, from its boxes
 * alone: it has an eighth as many leaves as there are triangles, so that this costs little, and
 * what it costs and finds does not depend on the past. Patches are formed anew when their vertices
 * have spread to twice what they were. Memory: about 100 bytes a feature, 8 a candidate. Fails for
 * positions and reaches that are not finite. */
#include "problems/collision/collisions.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/median.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Axis-aligned boxes in single precision, rounded outward: (lo, *, -hi, *), so that one minimum
 * encloses and one comparison tells whether two of them meet. */

/* Without AVX the compiler notes that vectors are passed in another way; all callers are compiled
 * alike. */
#if defined(__GNUC__) && !defined(__AVX__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef float bounds __attribute__((vector_size(32)));
typedef int32_t bounds_mask __attribute__((vector_size(32)));

/* Largest coordinate, m, that boxes hold. */
static const double bounds_limit = 1e30;

static inline bounds bounds_join(bounds a, bounds b) {
  bounds out;
  for (int k = 0; k < 8; k++) out[k] = a[k] < b[k] ? a[k] : b[k];
  return out;
}

/* Touching counts. */
static inline bool bounds_meet(bounds a, bounds b) {
  bounds_mask apart = a > -__builtin_shufflevector(b, b, 4, 5, 6, 7, 0, 1, 2, 3);
#ifdef __AVX__
  return __builtin_ia32_movmskps256((bounds)apart) == 0;
#else
  int32_t any = 0;
  for (int k = 0; k < 8; k++) any |= apart[k];
  return any == 0;
#endif
}

/* Encloses lo .. hi (m, within the limit) with a margin far above the rounding errors of what gave
 * them: 2^-22 of the `size` of the numbers that entered, and the smallest float. */
static inline bounds bounds_of(const double lo[3], const double hi[3], const double size[3]) {
  bounds box = {0};
  for (int d = 0; d < 3; d++) {
    double margin = 0x1p-22 * size[d] + (double)FLT_MIN;
    box[d] = (float)(lo[d] - margin);
    box[4 + d] = (float)(-hi[d] - margin);
  }
  return box;
}

/* ---- patches --------------------------------------------------------------------------------- */

/* Every feature belongs to one patch, whose box encloses it. So two features that are near have
 * patches that are near, and a pair of patches lists a pair of features once (the representatives
 * of Curtis et al. 2008, for groups of triangles). Features have numbers of their own, in the order
 * of the patches: first all vertices, then edges, then triangles. Vertices of no triangle have
 * none. */

enum { PATCH_TRIANGLES = 8, PATCH_FEATURES = 3 * PATCH_TRIANGLES };

typedef enum feature_kind { VERTEX, EDGE, TRIANGLE, FEATURE_KINDS } feature_kind;

typedef struct patch_set {
  int32_t count, feature_count;
  int32_t first[FEATURE_KINDS + 1]; /* where the features of a kind begin */
  int32_t *begin[FEATURE_KINDS];    /* count + 1: where those of a patch begin */
  int32_t *index;                   /* feature_count: in the mesh */
  int32_t (*corner)[4]; /* feature_count: vertices (features) of a feature; the last repeated */
  /* count: patches of one body, 0 or more, are not tested against each other; -1: any */
  int32_t *body;
  int32_t *sides;         /* 3 a triangle of the mesh: its edges in the mesh */
  int32_t *feature_of[2]; /* workspace: of vertices and edges of the mesh, or -1 */
  int32_t *group_end;     /* workspace, group_count + 1 */
  eb_named_point *point;  /* workspace, triangle_count */
} patch_set;

/* The edge from a to b, a < b; `start`: where the edges from a vertex begin. */
static int32_t edge_between(const eb_collision_mesh *mesh, const int32_t *start, int32_t a,
                            int32_t b) {
  int32_t lo = start[a], hi = start[a + 1] - 1;
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (mesh->edges[2 * (size_t)middle + 1] < b)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

static int32_t group_of_triangle(const eb_collision_mesh *mesh, int32_t t) {
  return mesh->group[mesh->triangles[3 * (size_t)t]];
}

/* What of the patches does not depend on places; *start (freed by the caller) is workspace. */
static eb_error patches_allocate(const eb_collision_mesh *mesh, patch_set *p, int32_t **start) {
  int32_t triangles = mesh->triangle_count;
  EB_TRY(EB_NEW(p->sides, 3 * (size_t)triangles));
  EB_TRY(EB_NEW(*start, (size_t)mesh->vertex_count + 1));
  EB_TRY(EB_NEW(p->group_end, (size_t)mesh->group_count + 1));
  EB_TRY(EB_NEW(p->feature_of[VERTEX], mesh->vertex_count));
  EB_TRY(EB_NEW(p->feature_of[EDGE], mesh->edge_count));
  EB_TRY(EB_NEW(p->point, triangles));
  /* Edges are sorted by their lower end. */
  for (int32_t e = 0; e < mesh->edge_count; e++) (*start)[mesh->edges[2 * (size_t)e] + 1]++;
  for (int32_t v = 0; v < mesh->vertex_count; v++) (*start)[v + 1] += (*start)[v];
  for (size_t k = 0; k < 3 * (size_t)triangles; k++) {
    int32_t a = mesh->triangles[k], b = mesh->triangles[k % 3 == 2 ? k - 2 : k + 1];
    p->sides[k] = edge_between(mesh, *start, a < b ? a : b, a < b ? b : a);
  }
  /* Ends of the groups' triangles, and so how many patches there are. */
  for (int32_t t = 0; t < triangles; t++) p->group_end[group_of_triangle(mesh, t) + 1]++;
  for (int32_t g = 0; g < mesh->group_count; g++) {
    p->count += (p->group_end[g + 1] + PATCH_TRIANGLES - 1) / PATCH_TRIANGLES;
    p->group_end[g + 1] += p->group_end[g];
  }
  int32_t used = 0;
  for (size_t k = 0; k < 3 * (size_t)triangles; k++) {
    int32_t *seen = &p->feature_of[VERTEX][mesh->triangles[k]];
    used += !*seen;
    *seen = 1;
  }
  p->first[EDGE] = used;
  p->first[TRIANGLE] = used + mesh->edge_count;
  p->first[FEATURE_KINDS] = p->feature_count = used + mesh->edge_count + triangles;
  for (int k = 0; k < FEATURE_KINDS; k++) EB_TRY(EB_NEW(p->begin[k], (size_t)p->count + 1));
  EB_TRY(EB_NEW(p->body, p->count));
  EB_TRY(EB_NEW(p->index, p->feature_count));
  return EB_NEW(p->corner, p->feature_count);
}

typedef struct forming {
  const eb_collision_mesh *mesh;
  patch_set *patches;
  int32_t patch, next[FEATURE_KINDS]; /* to come */
} forming;

/* The feature of a vertex or an edge, a new one of the present patch when no earlier one has it. */
static int32_t own(forming *f, feature_kind kind, int32_t index) {
  int32_t *feature = &f->patches->feature_of[kind][index];
  if (*feature < 0) {
    *feature = f->next[kind]++;
    f->patches->index[*feature] = index;
  }
  return *feature;
}

static void add_patch(forming *f, int32_t first, int32_t count) {
  patch_set *p = f->patches;
  const eb_collision_mesh *mesh = f->mesh;
  int32_t group = group_of_triangle(mesh, p->point[first].index);
  p->body[f->patch] = mesh->obstacle[group] ? 0 : mesh->rigid[group] ? 1 + group : -1;
  for (int k = 0; k < FEATURE_KINDS; k++) p->begin[k][f->patch] = f->next[k];
  for (int32_t i = first; i < first + count; i++) {
    size_t t = (size_t)p->point[i].index;
    int32_t feature = f->next[TRIANGLE]++, *corner = p->corner[feature];
    p->index[feature] = (int32_t)t;
    for (size_t k = 0; k < 3; k++) {
      corner[k] = own(f, VERTEX, mesh->triangles[3 * t + k]);
      for (int c = 0; c < 4; c++) p->corner[corner[k]][c] = corner[k];
    }
    corner[3] = corner[2];
    for (size_t k = 0; k < 3; k++) {
      int32_t edge = p->sides[3 * t + k], *of_edge = p->corner[own(f, EDGE, edge)];
      const int32_t *end = mesh->edges + 2 * (size_t)edge;
      of_edge[0] = p->feature_of[VERTEX][end[0]];
      of_edge[1] = of_edge[2] = of_edge[3] = p->feature_of[VERTEX][end[1]];
    }
  }
  f->patch++;
}

/* Triangles are halved by the median of their centroids until eight or fewer are left; all patches
 * of a group but one have eight. */
static void split_group(forming *f, int32_t first, int32_t count) {
  if (count <= PATCH_TRIANGLES) {
    if (count > 0) add_patch(f, first, count);
    return;
  }
  int32_t patches = (count + PATCH_TRIANGLES - 1) / PATCH_TRIANGLES;
  int32_t half = patches / 2 * PATCH_TRIANGLES;
  eb_median_halve(f->patches->point + first, count, half);
  split_group(f, first, half);
  split_group(f, first + half, count - half);
}

/* Makes compact patches at x (vertex_count x 3, m). */
static void patches_form(const eb_collision_mesh *mesh, patch_set *p, const double *x) {
  forming f = {.mesh = mesh, .patches = p};
  memset(p->feature_of[VERTEX], -1, (size_t)mesh->vertex_count * sizeof(int32_t));
  memset(p->feature_of[EDGE], -1, (size_t)mesh->edge_count * sizeof(int32_t));
  for (int k = 0; k < FEATURE_KINDS; k++) f.next[k] = p->first[k];
  /* The centroids (three times them) sorted by group, which moves the ends to the beginnings. */
  for (int32_t t = mesh->triangle_count - 1; t >= 0; t--) {
    const int32_t *v = mesh->triangles + 3 * (size_t)t;
    eb_named_point *point = &p->point[--p->group_end[mesh->group[v[0]] + 1]];
    for (size_t d = 0; d < 3; d++)
      point->at[d] =
          (float)(x[3 * (size_t)v[0] + d] + x[3 * (size_t)v[1] + d] + x[3 * (size_t)v[2] + d]);
    point->index = t;
  }
  for (int32_t g = 1; g <= mesh->group_count; g++) {
    int32_t first = p->group_end[g];
    p->group_end[g] = g < mesh->group_count ? p->group_end[g + 1] : mesh->triangle_count;
    split_group(&f, first, p->group_end[g] - first);
  }
  for (int k = 0; k < FEATURE_KINDS; k++) p->begin[k][p->count] = f.next[k];
}

/* Sum over patches of the sides of the boxes of the vertices that they own, m: grows by at most
 * sqrt 3 as bodies turn and by more where patches tear. x: of vertex features. */
static double patches_spread(const patch_set *patches, const double (*x)[3]) {
  double sum = 0;
  for (int32_t p = 0; p < patches->count; p++) {
    int32_t begin = patches->begin[VERTEX][p], end = patches->begin[VERTEX][p + 1];
    for (int d = 0; d < 3 && begin < end; d++) {
      double lo = x[begin][d], hi = lo;
      for (int32_t v = begin + 1; v < end; v++) {
        lo = fmin(lo, x[v][d]);
        hi = fmax(hi, x[v][d]);
      }
      sum += hi - lo;
    }
  }
  return sum;
}

/* ---- the tree over them ---------------------------------------------------------------------- */

/* Halves by the median of the boxes' middles, one leaf a patch: n log n to build, n to fit. Nodes
 * stand in preorder with the number of the node after their subtree, so that a walk needs no stack.
 * Its shape follows from the number of leaves. */
typedef struct patch_tree {
  int32_t leaf_count, node_count; /* node_count = max(0, 2 leaf_count - 1) */
  bounds *box;                    /* node_count */
  int32_t *after;                 /* node_count */
  int32_t *leaf;                  /* node_count: the leaf, or -1 */
  int32_t *body;                  /* node_count: of all leaves below, or -1 where they differ */
  int32_t *node;                  /* leaf_count: where a leaf stands */
  eb_named_point *point;          /* leaf_count, workspace */
} patch_tree;

static eb_error tree_allocate(patch_tree *tree, int32_t leaf_count) {
  tree->leaf_count = leaf_count;
  tree->node_count = leaf_count > 0 ? 2 * leaf_count - 1 : 0;
  EB_TRY(EB_NEW(tree->box, tree->node_count));
  EB_TRY(EB_NEW(tree->after, tree->node_count));
  EB_TRY(EB_NEW(tree->leaf, tree->node_count));
  EB_TRY(EB_NEW(tree->body, tree->node_count));
  EB_TRY(EB_NEW(tree->node, tree->leaf_count));
  return EB_NEW(tree->point, tree->leaf_count);
}

static void split_leaves(patch_tree *tree, int32_t node, int32_t first, int32_t count) {
  tree->after[node] = node + 2 * count - 1;
  if (count == 1) {
    tree->leaf[node] = tree->point[first].index;
    tree->node[tree->leaf[node]] = node;
    return;
  }
  int32_t half = count / 2;
  tree->leaf[node] = -1;
  eb_median_halve(tree->point + first, count, half);
  split_leaves(tree, node + 1, first, half);
  split_leaves(tree, node + 2 * half, first + half, count - half);
}

/* Orders the leaves. `body`: a number a leaf, or -1. Boxes of nodes are set by the next fit. */
static void tree_build(patch_tree *tree, const bounds *leaves, const int32_t *body) {
  for (int32_t l = 0; l < tree->leaf_count; l++) {
    for (int d = 0; d < 3; d++) tree->point[l].at[d] = leaves[l][d] - leaves[l][4 + d];
    tree->point[l].index = l;
  }
  if (tree->leaf_count > 0) split_leaves(tree, 0, 0, tree->leaf_count);
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    int32_t left = n + 1, l = tree->leaf[n];
    int32_t one = l >= 0 ? body[l] : tree->body[left];
    bool same = l >= 0 || one == tree->body[tree->after[left]];
    tree->body[n] = same ? one : -1;
  }
}

/* Encloses the leaves' boxes. Children come after their parents: from the last node to the first.
 */
static void tree_fit(patch_tree *tree, const bounds *leaves) {
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    int32_t left = n + 1, l = tree->leaf[n];
    tree->box[n] = l >= 0 ? leaves[l] : bounds_join(tree->box[left], tree->box[tree->after[left]]);
  }
}

/* ---- the detector ---------------------------------------------------------------------------- */

/* Pairs of features: vertex and triangle, or edge and edge. */
typedef struct pair_list {
  int64_t count, room;
  int32_t (*pair)[2]; /* features */
  double (*apart)[2]; /* proofs for motion and for distance: until `travel` of both is this, m */
} pair_list;

typedef struct hit_list {
  eb_hit *hit;
  int64_t count, room;
} hit_list;

/* What one thread has found. Two threads share no cache line. */
typedef struct thread_lists {
  _Alignas(64) pair_list pairs[2]; /* by eb_pair_kind */
  hit_list hits;
  eb_error error; /* of the parallel region that runs */
} thread_lists;

struct eb_collisions {
  const eb_collision_mesh *mesh;
  patch_set patches;
  patch_tree tree; /* over the patches */
  double spread;   /* of the patches when they were formed, m */
  bool begun;
  double (*x0)[3], (*x1)[3], (*way)[3], *reach; /* of vertex features, m */
  bounds *box, *before, *swept; /* of features: within reach; before it was raised; of a motion */
  bounds *patch_box;
  double *travel;   /* of features: sum over their vertices of the way between trials so far, m */
  double proven;    /* the distance that proofs for distance are for, m; 0: there are none */
  uint8_t *changed; /* a patch: are there features whose boxes have grown? */
  int32_t thread_count;
  thread_lists *threads;
  double within; /* of the present test: the distance, m, or < 0 when it is of a motion */
  eb_hit *hits;  /* of all threads; the time is the distance in a test for that */
  eb_near *near;
  int64_t hit_room, near_room;
};

static eb_error allocate(eb_collisions *c) {
  int32_t *start = NULL;
  eb_error error = patches_allocate(c->mesh, &c->patches, &start);
  free(start);
  EB_TRY(error);
  EB_TRY(tree_allocate(&c->tree, c->patches.count));
  int32_t vertices = c->patches.first[EDGE], features = c->patches.feature_count;
  EB_TRY(EB_NEW(c->x0, vertices));
  EB_TRY(EB_NEW(c->x1, vertices));
  EB_TRY(EB_NEW(c->way, vertices));
  EB_TRY(EB_NEW(c->reach, vertices));
  EB_TRY(EB_NEW(c->box, features));
  EB_TRY(EB_NEW(c->before, features));
  EB_TRY(EB_NEW(c->swept, features));
  EB_TRY(EB_NEW(c->travel, features));
  EB_TRY(EB_NEW(c->changed, c->patches.count));
  return EB_NEW(c->patch_box, c->patches.count);
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
    for (int kind = 0; kind < 2; kind++) {
      free(c->threads[k].pairs[kind].pair);
      free(c->threads[k].pairs[kind].apart);
    }
    free(c->threads[k].hits.hit);
  }
  const patch_set *p = &c->patches;
  const patch_tree *t = &c->tree;
  void *const owned[] = {
      c->threads,   c->hits,   c->near,   c->x0,     c->x1,      c->way,           c->reach,
      c->box,       c->before, c->swept,  c->travel, c->changed, c->patch_box,     t->box,
      t->after,     t->leaf,   t->body,   t->node,   t->point,   p->begin[0],      p->begin[1],
      p->begin[2],  p->index,  p->corner, p->body,   p->sides,   p->feature_of[0], p->feature_of[1],
      p->group_end, p->point,  c};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Candidate pairs: the tree of patches is walked once for every patch, then the features of two
 * patches that meet are tested against each other, those outside the other patch's box left out
 * first.
 *
 * A patch begins its walk at its own leaf: in preorder all that comes later is what earlier patches
 * have not met. Threads keep lists of their own, so which list a pair is on depends on the
 * schedule; what is listed does not. */

/* Makes room for one list a thread. */
static eb_error make_lists(eb_collisions *c) {
  int32_t wanted = omp_get_max_threads();
  if (wanted <= c->thread_count) return EB_OK;
  thread_lists *threads =
      eb_recalloc(c->threads, (size_t)c->thread_count, (size_t)wanted, sizeof *threads);
  if (!threads)
    return EB_ERROR(EB_ERR_MEMORY, "collisions: no memory for lists of %d threads", wanted);
  c->threads = threads;
  c->thread_count = wanted;
  return EB_OK;
}

/* The first error of the threads; frees the others. */
static eb_error first_error(eb_collisions *c) {
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

typedef struct selection {
  int32_t feature[PATCH_FEATURES];
  int count;
} selection;

/* The features of a patch whose boxes meet `box`. */
static void select_near(const eb_collisions *c, feature_kind kind, int32_t patch, bounds box,
                        selection *out) {
  int32_t end = c->patches.begin[kind][patch + 1];
  out->count = 0;
  for (int32_t f = c->patches.begin[kind][patch]; f < end; f++) {
    out->feature[out->count] = f;
    out->count += bounds_meet(c->box[f], box);
  }
}

/* Lists the pairs of features of a and b that may be tested: boxes meet (and, unless `all`, did not
 * `before`, when they were listed), no vertex is shared. The loops have no branches that depend on
 * it. */
static eb_error add_pairs(const eb_collisions *c, bool all, const selection *a, const selection *b,
                          pair_list *list) {
  if (a->count == 0 || b->count == 0) return EB_OK;
  int64_t most = list->count + (int64_t)a->count * b->count, met = 0;
  if (most > list->room) {
    int64_t room = 2 * most;
    int32_t(*grown)[2] = eb_recalloc(list->pair, (size_t)list->room, (size_t)room, sizeof *grown);
    if (grown) list->pair = grown;
    double(*apart)[2] =
        grown ? eb_recalloc(list->apart, (size_t)list->room, (size_t)room, sizeof *apart) : NULL;
    if (!apart)
      return EB_ERROR(EB_ERR_MEMORY,
                      "collisions: no memory for %lld candidate pairs; take shorter steps or limit "
                      "the reach",
                      (long long)room);
    list->apart = apart;
    list->room = room;
  }
  int32_t(*pair)[2] = list->pair + list->count;
  for (int i = 0; i < a->count; i++) {
    int32_t f = a->feature[i];
    bounds box = c->box[f];
    for (int j = a == b ? i + 1 : 0; j < b->count; j++) {
      pair[met][0] = f;
      pair[met][1] = b->feature[j];
      met += bounds_meet(c->box[b->feature[j]], box);
    }
  }
  int64_t kept = 0;
  for (int64_t k = 0; k < met; k++) {
    int32_t f = pair[k][0], g = pair[k][1];
    const int32_t *p = c->patches.corner[f], *q = c->patches.corner[g]; /* p: vertex or edge */
    bool listed = !all && bounds_meet(c->before[f], c->before[g]);
    bool shared = (p[0] == q[0]) | (p[0] == q[1]) | (p[0] == q[2]) | (p[1] == q[0]) |
                  (p[1] == q[1]) | (p[1] == q[2]);
    pair[kept][0] = f;
    pair[kept][1] = g;
    kept += !shared & !listed;
  }
  memset(list->apart + list->count, 0, (size_t)kept * sizeof *list->apart);
  list->count += kept;
  return EB_OK;
}

static eb_error list_faces(const eb_collisions *c, bool all, int32_t of_vertices,
                           int32_t of_triangles, pair_list *list) {
  selection vertices, triangles;
  select_near(c, VERTEX, of_vertices, c->patch_box[of_triangles], &vertices);
  select_near(c, TRIANGLE, of_triangles, c->patch_box[of_vertices], &triangles);
  return add_pairs(c, all, &vertices, &triangles, list);
}

static eb_error list_patches(const eb_collisions *c, bool all, int32_t a, int32_t b,
                             pair_list lists[2]) {
  selection first, second;
  EB_TRY(list_faces(c, all, a, b, &lists[EB_VERTEX_FACE]));
  select_near(c, EDGE, a, c->patch_box[b], &first);
  if (a == b) return add_pairs(c, all, &first, &first, &lists[EB_EDGE_EDGE]);
  select_near(c, EDGE, b, c->patch_box[a], &second);
  EB_TRY(add_pairs(c, all, &first, &second, &lists[EB_EDGE_EDGE]));
  return list_faces(c, all, b, a, &lists[EB_VERTEX_FACE]);
}

/* A patch that changed meets all others; of two that changed, the one that stands first lists
 * them. */
static eb_error list_patch(const eb_collisions *c, bool all, int32_t patch, pair_list lists[2]) {
  const patch_tree *tree = &c->tree;
  bounds box = c->patch_box[patch];
  int32_t body = c->patches.body[patch], own_leaf = tree->node[patch];
  for (int32_t n = all ? own_leaf : 0; n < tree->node_count;) {
    bool apart = (body >= 0 && tree->body[n] == body) || !bounds_meet(tree->box[n], box);
    int32_t other = tree->leaf[n];
    if (!apart && other >= 0 && (n >= own_leaf || !c->changed[other]))
      EB_TRY(list_patches(c, all, patch, other, lists));
    n = apart ? tree->after[n] : n + 1;
  }
  return EB_OK;
}

/* Lists the pairs of features whose boxes meet, after what is listed. `all`: begins with empty
 * lists; otherwise only pairs whose boxes did not meet `before`, of which one feature is of a patch
 * that `changed`. After an error the lists lack something: another begin is needed. */
static eb_error list_pairs(eb_collisions *c, bool all) {
  c->begun = false;
  EB_TRY(make_lists(c));
  for (int32_t k = 0; k < c->thread_count && all; k++)
    for (int kind = 0; kind < 2; kind++) c->threads[k].pairs[kind].count = 0;
#pragma omp parallel
  {
    thread_lists *lists = &c->threads[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 32)
    for (int32_t n = 0; n < c->tree.node_count; n++) {
      int32_t patch = c->tree.leaf[n];
      if (patch >= 0 && !lists->error && (all || c->changed[patch]))
        lists->error = list_patch(c, all, patch, lists->pairs);
    }
  }
  EB_TRY(first_error(c));
  c->begun = true;
  return EB_OK;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Boxes of edges and triangles from those of the vertices, which are set. */
static void enclose_features(const patch_set *p, bounds *box) {
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int32_t f = p->first[EDGE]; f < p->first[TRIANGLE]; f++)
      box[f] = bounds_join(box[p->corner[f][0]], box[p->corner[f][1]]);
#pragma omp for schedule(static)
    for (int32_t f = p->first[TRIANGLE]; f < p->first[FEATURE_KINDS]; f++)
      box[f] = bounds_join(bounds_join(box[p->corner[f][0]], box[p->corner[f][1]]),
                           box[p->corner[f][2]]);
  }
}

/* How far x is off the box between x0 and x0 + way of a vertex feature, in the coordinate where it
 * is farthest; m, > 0 outside. */
static double off_way(const eb_collisions *c, int32_t f, const double x[3]) {
  double most = 0;
  for (int d = 0; d < 3; d++) {
    double moved = x[d] - c->x0[f][d], way = c->way[f][d];
    most = fmax(most, fmax(fmin(way, 0) - moved, moved - fmax(way, 0)));
  }
  return most;
}

/* All boxes from x0, way and reach, and the tree's. */
static void fit_boxes(eb_collisions *c) {
  const patch_set *p = &c->patches;
#pragma omp parallel for schedule(static)
  for (int32_t f = 0; f < p->first[EDGE]; f++) {
    double lo[3], hi[3], size[3], r = c->reach[f];
    for (int d = 0; d < 3; d++) {
      double way = c->way[f][d];
      lo[d] = c->x0[f][d] + fmin(way, 0) - r;
      hi[d] = c->x0[f][d] + fmax(way, 0) + r;
      size[d] = fabs(c->x0[f][d]) + fabs(way) + r;
    }
    c->box[f] = bounds_of(lo, hi, size);
  }
  enclose_features(p, c->box);
#pragma omp parallel for schedule(static)
  for (int32_t k = 0; k < p->count; k++) {
    bounds box = {FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
    for (int32_t f = p->begin[TRIANGLE][k]; f < p->begin[TRIANGLE][k + 1]; f++)
      box = bounds_join(box, c->box[f]);
    c->patch_box[k] = box;
  }
}

/* Whether boxes hold all three; NaN they do not. */
static bool all_hold(const double a[3]) {
  return fabs(a[0]) < bounds_limit && fabs(a[1]) < bounds_limit && fabs(a[2]) < bounds_limit;
}

static eb_error check_positions(const eb_collision_mesh *mesh, const double *x) {
  for (size_t i = 0; i < (size_t)mesh->vertex_count; i++)
    if (!all_hold(x + 3 * i))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu is at (%g, %g, %g) m; coordinates must be below %g",
                      i, x[3 * i], x[3 * i + 1], x[3 * i + 2], bounds_limit);
  return EB_OK;
}

static void gather(const patch_set *p, const double *x, double (*out)[3]) {
#pragma omp parallel for schedule(static)
  for (int32_t f = 0; f < p->first[EDGE]; f++)
    memcpy(out[f], x + 3 * (size_t)p->index[f], sizeof out[f]);
}

eb_error eb_collisions_begin(eb_collisions *c, const double *x0, const double *way,
                             const double *reach) {
  const double(*x)[3] = (const double(*)[3])c->x0;
  int32_t vertices = c->patches.first[EDGE];
  EB_TRY(check_positions(c->mesh, x0));
  for (size_t i = 0; i < (size_t)c->mesh->vertex_count; i++) {
    if (way && !all_hold(way + 3 * i))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu has the way (%g, %g, %g) m; it must be below %g", i,
                      way[3 * i], way[3 * i + 1], way[3 * i + 2], bounds_limit);
    if (!(reach[i] >= 0 && reach[i] < bounds_limit))
      return EB_ERROR(EB_ERR_INVALID,
                      "collisions: vertex %zu has the reach %g m; it must be from 0 to %g", i,
                      reach[i], bounds_limit);
  }
  if (c->begun) gather(&c->patches, x0, c->x0);
  if (!c->begun || patches_spread(&c->patches, x) > 2 * c->spread) {
    patches_form(c->mesh, &c->patches, x0);
    gather(&c->patches, x0, c->x0);
    c->spread = patches_spread(&c->patches, x);
  }
  if (way)
    gather(&c->patches, way, c->way);
  else
    memset(c->way, 0, (size_t)vertices * sizeof *c->way);
  for (int32_t f = 0; f < vertices; f++) c->reach[f] = reach[c->patches.index[f]];
  memcpy(c->x1, c->x0, (size_t)vertices * sizeof *c->x1);
  memset(c->travel, 0, (size_t)c->patches.feature_count * sizeof *c->travel);
  fit_boxes(c);
  tree_build(&c->tree, c->patch_box, c->patches.body);
  tree_fit(&c->tree, c->patch_box);
  return list_pairs(c, true);
}

eb_error eb_collisions_cover(eb_collisions *c, const double *x1, int32_t *repaired) {
  const double slack = 1.5;
  const patch_set *p = &c->patches;
  int32_t raised = 0;
  *repaired = 0;
  if (!c->begun)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: call eb_collisions_begin before eb_collisions_cover");
  EB_TRY(check_positions(c->mesh, x1));
#pragma omp parallel for schedule(static) reduction(+ : raised)
  for (int32_t f = 0; f < p->first[EDGE]; f++) {
    double off = off_way(c, f, x1 + 3 * (size_t)p->index[f]);
    if (off <= c->reach[f]) continue;
    c->reach[f] = slack * off;
    raised++;
  }
  *repaired = raised;
  if (raised == 0) return EB_OK;
  memcpy(c->before, c->box, (size_t)p->feature_count * sizeof *c->box);
  fit_boxes(c);
#pragma omp parallel for schedule(static)
  for (int32_t k = 0; k < p->count; k++) {
    c->changed[k] = 0;
    for (int kind = 0; kind < FEATURE_KINDS; kind++)
      for (int32_t f = p->begin[kind][k]; f < p->begin[kind][k + 1]; f++)
        c->changed[k] |= memcmp(&c->box[f], &c->before[f], sizeof c->box[f]) != 0;
  }
  tree_fit(&c->tree, c->patch_box);
  return list_pairs(c, false);
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
 * pair, so that the order follows from the motion alone.
 *
 * Trials of one step differ by little. A candidate that a plane has told apart by m, or that is
 * farther apart by m than was asked, stays so while its vertices, all together, travel less than m
 * / 2: the same plane would tell them apart again, with half of m left over for rounding. So a test
 * leaves behind the `travel` of both features until which it need not be made again, and skipping
 * it changes no hit. */

enum { BLOCK = 1024 /* candidates that a thread takes at a time */ };

/* Boxes of the motion to x1; for distances those of the place alone, grown by half of it each. */
static eb_error sweep(eb_collisions *c, const double *x1) {
  const patch_set *p = &c->patches;
  bool moves = c->within < 0;
  int32_t outside = INT32_MAX;
#pragma omp parallel for schedule(static) reduction(min : outside)
  for (int32_t f = 0; f < p->first[EDGE]; f++) {
    double lo[3], hi[3], size[3], *to = c->x1[f];
    const double *from = c->x0[f], *next = x1 + 3 * (size_t)p->index[f];
    c->travel[f] += sqrt(eb_squared_distance3(next, to));
    memcpy(to, next, 3 * sizeof *to);
    for (int d = 0; d < 3; d++)
      if (moves) {
        lo[d] = from[d] < to[d] ? from[d] : to[d];
        hi[d] = from[d] < to[d] ? to[d] : from[d];
        size[d] = hi[d] > -lo[d] ? hi[d] : -lo[d];
      } else {
        lo[d] = to[d] - 0.5 * c->within;
        hi[d] = to[d] + 0.5 * c->within;
        size[d] = fabs(to[d]) + c->within;
      }
    c->swept[f] = bounds_of(lo, hi, size);
    if (!(off_way(c, f, to) <= c->reach[f]) && p->index[f] < outside) outside = p->index[f];
  }
  if (outside < INT32_MAX)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: vertex %d has left its reach; call eb_collisions_cover before "
                    "eb_collisions_find",
                    outside);
  enclose_features(p, c->swept);
#pragma omp parallel for schedule(static)
  for (int32_t f = p->first[EDGE]; f < p->first[FEATURE_KINDS]; f++) {
    const int32_t *corner = p->corner[f];
    double third = f < p->first[TRIANGLE] ? 0 : c->travel[corner[2]];
    c->travel[f] = c->travel[corner[0]] + c->travel[corner[1]] + third;
  }
  return EB_OK;
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

/* Whether features collide on the way, or are nearer at x1 than `within`; *value: the time of the
 * collision, or the distance. *margin, m: by how much a plane has told them apart at x1, or how
 * much farther than `within` they are; 0 where neither is known. */
static bool meets(double within, eb_pair_kind kind, const double x0[4][3], const double x1[4][3],
                  double *value, double *margin) {
  double n[3], weight[4];
  *margin = 0;
  if (within < 0) {
    /* With parallel planes between the features at x0 and at x1 there is one all the way, since
     * motion is linear. */
    between_middles(kind, x0, n);
    double room = room_between(kind, n, x0[0], x1);
    if (room > 0 && room_between(kind, n, x0[0], x0) > 0) {
      *margin = room / sqrt(eb_dot3(n, n));
      return false;
    }
    return eb_continuous_collision(kind, x0, x1, value);
  }
  between_middles(kind, x1, n);
  double room = room_between(kind, n, x1[0], x1);
  if (room > 0 && room * room > within * within * eb_dot3(n, n)) {
    *margin = room / sqrt(eb_dot3(n, n)) - within;
    return false;
  }
  *value = eb_closest_points(kind, x1, weight);
  if (*value >= within) *margin = *value - within;
  return *value < within;
}

static eb_error test_pair(const eb_collisions *c, eb_pair_kind kind, const int32_t pair[2],
                          double *margin, hit_list *list) {
  const patch_set *p = &c->patches;
  double x0[4][3], x1[4][3];
  eb_hit hit = {.pair.kind = kind};
  /* Its vertices (features) in the order of continuous.h. */
  bool edges = kind == EB_EDGE_EDGE, swapped = edges && p->index[pair[0]] > p->index[pair[1]];
  const int32_t *a = p->corner[pair[swapped]], *b = p->corner[pair[!swapped]];
  const int32_t features[4] = {a[0], edges ? a[1] : b[0], edges ? b[0] : b[1], edges ? b[1] : b[2]};
  for (int k = 0; k < 4; k++) {
    memcpy(x1[k], c->x1[features[k]], sizeof x1[k]);
    if (c->within < 0) memcpy(x0[k], c->x0[features[k]], sizeof x0[k]);
  }
  if (!meets(c->within, kind, (const double(*)[3])x0, (const double(*)[3])x1, &hit.time, margin))
    return EB_OK;
  for (int k = 0; k < 4; k++) hit.pair.vertex[k] = p->index[features[k]];
  if (list->count == list->room) {
    int64_t room = 2 * list->room + 64;
    eb_hit *grown = eb_recalloc(list->hit, (size_t)list->room, (size_t)room, sizeof *grown);
    if (!grown)
      return EB_ERROR(EB_ERR_MEMORY, "collisions: no memory for %lld hits; take shorter steps",
                      (long long)room);
    list->hit = grown;
    list->room = room;
  }
  list->hit[list->count++] = hit;
  return EB_OK;
}

static eb_error test_list(eb_collisions *c, eb_pair_kind kind, const pair_list *list) {
#pragma omp parallel for schedule(dynamic)
  for (int64_t first = 0; first < list->count; first += BLOCK) {
    thread_lists *lists = &c->threads[omp_get_thread_num()];
    int64_t end = first + BLOCK < list->count ? first + BLOCK : list->count;
    for (int64_t k = first; k < end && !lists->error; k++) {
      const int32_t *pair = list->pair[k];
      double travel = c->travel[pair[0]] + c->travel[pair[1]], margin;
      double *apart = &list->apart[k][c->within >= 0];
      if (*apart > travel || !bounds_meet(c->swept[pair[0]], c->swept[pair[1]])) continue;
      lists->error = test_pair(c, kind, pair, &margin, &lists->hits);
      *apart = margin > 0 ? travel + 0.5 * margin : 0;
    }
  }
  return first_error(c);
}

static int compare_hits(const void *a, const void *b) {
  const eb_pair *p = &((const eb_hit *)a)->pair, *q = &((const eb_hit *)b)->pair;
  if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
  for (int k = 0; k < 4; k++)
    if (p->vertex[k] != q->vertex[k]) return p->vertex[k] < q->vertex[k] ? -1 : 1;
  return 0;
}

static void forget_distances(eb_collisions *c) {
  for (int32_t t = 0; t < c->thread_count; t++)
    for (int kind = 0; kind < 2; kind++) {
      const pair_list *list = &c->threads[t].pairs[kind];
      for (int64_t k = 0; k < list->count; k++) list->apart[k][1] = 0;
    }
}

/* Fills c->hits with the collisions on the way to x1, or with what is nearer there than `within`.
 */
static eb_error test(eb_collisions *c, const double *x1, double within, int32_t *count) {
  int64_t all = 0;
  *count = 0;
  if (!c->begun)
    return EB_ERROR(EB_ERR_INVALID,
                    "collisions: call eb_collisions_begin before looking for collisions");
  c->within = within;
  if (within >= 0 && within != c->proven) {
    forget_distances(c);
    c->proven = within;
  }
  EB_TRY(make_lists(c));
  EB_TRY(sweep(c, x1));
  for (int32_t k = 0; k < c->thread_count; k++) c->threads[k].hits.count = 0;
  for (int kind = 0; kind < 2; kind++)
    for (int32_t k = 0; k < c->thread_count; k++)
      EB_TRY(test_list(c, (eb_pair_kind)kind, &c->threads[k].pairs[kind]));
  /* Together, in one order. */
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
  for (int32_t k = 0; k < c->thread_count; k++) {
    const hit_list *list = &c->threads[k].hits;
    if (list->count > 0)
      memcpy(c->hits + *count, list->hit, (size_t)list->count * sizeof *list->hit);
    *count += (int32_t)list->count;
  }
  if (all > 1) qsort(c->hits, (size_t)all, sizeof *c->hits, compare_hits);
  return EB_OK;
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
