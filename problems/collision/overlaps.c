/* Surface nodes against the tetrahedra of other bodies.
 *
 * In a tetrahedron with corners x_k the node has weights w_k(p), linear in p, with gradients grad
 * w_k that follow from the deformed edges. Corner k carries the depth d_k at rest, so depth and the
 * way out are
 *   d(p) = sum w_k d_k,   n = -grad d / |grad d|,   grad d = sum d_k grad w_k:
 * the gradient of the depth pushed forward by the deformation of the tetrahedron. d_k is the
 * distance to the surface of the rest shape, 0 on it. Where that is level - all four corners on the
 * surface, or equally far inside - d_k are the values of the distance's tangent at the centroid
 * instead.
 *
 * Candidates: bodies whose boxes meet, then the node down the other body's tree of boxes. The walk
 * takes the tetrahedra in a fixed order and ends at the first that holds the node. */
#include "problems/collision/overlaps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/median.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/mesh.h"
#include "problems/mesh/sdf.h"

/* ---- a tree of boxes over the tetrahedra of a body ------------------------------------------- */

/* Built once, boxes fitted anew to every set of positions in which the body meets another one.
 * Halves by the centroids' median along the longest axis at rest; leaves hold up to four
 * tetrahedra. Nodes stand in preorder with the number of the node after their subtree, so that a
 * walk needs no stack; each is a line of the cache. */

enum { LEAF = 4 };

typedef struct eb_tree_node {
  double lo[3], hi[3];  /* of its tetrahedra */
  int32_t first, count; /* a leaf's tetrahedra: order[first] ..; count is 0 at other nodes */
  int32_t after;        /* the node after its subtree; its first child is the next node */
  int32_t corner;       /* a leaf's corners, each once: from here to the next node's */
} eb_tree_node;

typedef struct eb_box_tree {
  int32_t node_count;
  int32_t *order;      /* tetrahedra; not owned */
  eb_tree_node *nodes; /* node_count + 1 */
  int32_t *corners;    /* mesh nodes */
} eb_box_tree;

static void split(eb_box_tree *tree, eb_named_point *points, int32_t first, int32_t count) {
  eb_tree_node *node = &tree->nodes[tree->node_count++];
  node->first = first;
  node->count = count <= LEAF ? count : 0;
  if (count > LEAF) {
    eb_median_halve(points + first, count, count / 2);
    split(tree, points, first, count / 2);
    split(tree, points, first + count / 2, count - count / 2);
  }
  node->after = tree->node_count;
}

/* Lists the corners of each leaf without repetition: neighbours share most of theirs. */
static void list_corners(eb_box_tree *tree, const int32_t *tetrahedra) {
  int32_t end = 0;
  for (int32_t n = 0; n < tree->node_count; n++) {
    eb_tree_node *node = &tree->nodes[n];
    int32_t begin = end;
    node->corner = begin;
    for (int32_t i = 0; i < 4 * node->count; i++) {
      int32_t corner = tetrahedra[4 * (size_t)tree->order[node->first + i / 4] + (size_t)(i % 4)];
      int32_t k = begin;
      while (k < end && tree->corners[k] != corner) k++;
      if (k == end) tree->corners[end++] = corner;
    }
  }
  tree->nodes[tree->node_count].corner = end;
}

static void box_tree_destroy(eb_box_tree *tree) {
  if (!tree) return;
  free(tree->corners);
  free(tree->nodes);
  free(tree);
}

/* Over the `count` tetrahedra that `order` holds, which it rearranges and keeps. */
static eb_error box_tree_create(const eb_mesh *mesh, int32_t *order, int32_t count,
                                eb_box_tree **out) {
  *out = NULL;
  eb_box_tree *tree;
  EB_TRY(EB_NEW(tree, 1));
  tree->order = order;
  /* Leaves hold more than LEAF / 2 once anything is split: fewer than 2 count / LEAF leaves. */
  size_t most = 4 * (size_t)count / LEAF + 1;
  eb_named_point *points = NULL; /* four times the centroids */
  eb_error error = EB_NEW(tree->nodes, most + 1);
  if (!error) error = EB_NEW(tree->corners, 4 * (size_t)count);
  if (!error) error = EB_NEW(points, count);
  for (int32_t i = 0; !error && i < count; i++) {
    const int32_t *corner = mesh->elements + 4 * (size_t)order[i];
    points[i].index = order[i];
    for (int k = 0; k < 4; k++) eb_add3(1, mesh->X + 3 * (size_t)corner[k], points[i].at);
  }
  if (!error) split(tree, points, 0, count);
  for (int32_t i = 0; !error && i < count; i++) order[i] = points[i].index;
  free(points);
  if (error) {
    box_tree_destroy(tree);
    return error;
  }
  list_corners(tree, mesh->elements);
  *out = tree;
  return EB_OK;
}

static void enclose(double lo[3], double hi[3], const double low[3], const double high[3]) {
  for (int d = 0; d < 3; d++) {
    lo[d] = low[d] < lo[d] ? low[d] : lo[d];
    hi[d] = high[d] > hi[d] ? high[d] : hi[d];
  }
}

/* The box of `count` nodes. */
static void enclose_nodes(int32_t count, const int32_t *nodes, const double *x, double lo[3],
                          double hi[3]) {
  double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  for (int32_t k = 0; k < count; k++) {
    const double *p = x + 3 * (size_t)nodes[k];
    enclose(low, high, p, p);
  }
  memcpy(lo, low, sizeof low);
  memcpy(hi, high, sizeof high);
}

/* Children come after their parents: from the last node to the first. */
static void box_tree_fit(eb_box_tree *tree, const double *x) {
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    eb_tree_node *node = &tree->nodes[n];
    if (node->count > 0) {
      enclose_nodes(node[1].corner - node->corner, tree->corners + node->corner, x, node->lo,
                    node->hi);
      continue;
    }
    const eb_tree_node *right = &tree->nodes[node[1].after];
    memcpy(node->lo, node[1].lo, sizeof node->lo);
    memcpy(node->hi, node[1].hi, sizeof node->hi);
    enclose(node->lo, node->hi, right->lo, right->hi);
  }
}

static bool box_holds(const double lo[3], const double hi[3], const double p[3]) {
  return p[0] >= lo[0] && p[0] <= hi[0] && p[1] >= lo[1] && p[1] <= hi[1] && p[2] >= lo[2] &&
         p[2] <= hi[2];
}

/* Next tetrahedron whose leaf's box holds p, or -1. The walk starts with *at = *taken = 0. */
static int32_t box_tree_next(const eb_box_tree *tree, const double p[3], int32_t *at,
                             int32_t *taken) {
  while (*at < tree->node_count) {
    const eb_tree_node *node = &tree->nodes[*at];
    if (*taken > 0 || box_holds(node->lo, node->hi, p)) {
      if (*taken < node->count) return tree->order[node->first + (*taken)++];
      *at += 1;
    } else {
      *at = node->after;
    }
    *taken = 0;
  }
  return -1;
}

/* ---- depths ---------------------------------------------------------------------------------- */

enum { MOST = 4 };
/* Volume over volume at rest below which a tetrahedron has no inside. */
static const double flat = 0.05;
/* Slope of the depth, squared, below which it shows no way out. */
static const double level = 0.25;
/* A node on a face belongs to one side at least, in spite of rounding. */
static const double rounding = 1e-10;

struct eb_overlaps {
  const eb_bodies *bodies;
  int32_t element_count, surface_count, visit_count;
  int32_t *elements;   /* element_count x 4 */
  double *six_volumes; /* element_count, at rest, m^3 */
  double *depth;       /* element_count x 4: d_k, m */
  int32_t *surface;    /* nodes on the surface, sorted by body, then number */
  int32_t *visits;     /* visit_count: entries of `surface`, neighbours one after the other */
  int32_t *order;      /* elements, sorted by body; the trees' */
  eb_box_tree **trees; /* bodies */
  double *box;         /* bodies x 6: lo, hi of a body's nodes */
  int32_t *meets;      /* bodies x bodies: the others whose boxes meet that of a body, ascending */
  int32_t *meet_count; /* bodies */
  eb_overlap *slots;   /* surface_count x MOST */
  int8_t *used;        /* surface_count */
  eb_overlap *found;   /* surface_count x MOST: packed slots */
};

static double depth_at(const eb_solid *solid, const double p[3]) {
  return fmax(0, -solid->distance(solid->context, p));
}

/* Slope of the depth that the corners of a tetrahedron carry, squared; 1 where it is a distance. */
static double slope2(const double *X, const int32_t *corner, const double depth[4]) {
  double edge[3][3], gradient[3], sum[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < 3; d++)
      edge[k][d] = X[3 * (size_t)corner[k + 1] + (size_t)d] - X[3 * (size_t)corner[0] + (size_t)d];
  for (int k = 0; k < 3; k++) {
    eb_cross3(edge[(k + 1) % 3], edge[(k + 2) % 3], gradient);
    for (int d = 0; d < 3; d++)
      sum[d] += (depth[k + 1] - depth[0]) * gradient[d] / eb_dot3(edge[k], gradient);
  }
  return eb_dot3(sum, sum);
}

/* The tangent of the distance at the centroid, by differences over a thousandth of the depth there.
 * Where that has no direction either, 0: no way out. */
static void tangent_depths(const eb_solid *solid, const double *X, const int32_t *corner,
                           double depth[4]) {
  double centroid[3] = {0, 0, 0}, gradient[3], square = 0;
  for (int i = 0; i < 12; i++)
    centroid[i % 3] += X[3 * (size_t)corner[i / 3] + (size_t)(i % 3)] / 4;
  double here = depth_at(solid, centroid), step = 1e-3 * here;
  for (int d = 0; d < 3; d++) {
    double up[3] = {centroid[0], centroid[1], centroid[2]}, down[3] = {up[0], up[1], up[2]};
    up[d] += step;
    down[d] -= step;
    gradient[d] = step > 0 ? (depth_at(solid, up) - depth_at(solid, down)) / (2 * step) : 0;
    square += gradient[d] * gradient[d];
  }
  for (int k = 0; k < 4; k++) {
    depth[k] = here;
    for (int d = 0; d < 3; d++)
      depth[k] += gradient[d] * (X[3 * (size_t)corner[k] + (size_t)d] - centroid[d]);
    if (square < level) depth[k] = 0;
  }
}

/* Depths and volumes at rest. */
static eb_error measure_depths(eb_overlaps *o, const eb_mesh *mesh, const eb_surface *surface,
                               const uint8_t *outside) {
  eb_solid solid;
  double *node_depth;
  EB_TRY(EB_NEW(node_depth, mesh->node_count));
  eb_error error = eb_solid_from_surface(surface, &solid);
  for (int32_t i = 0; !error && i < mesh->node_count; i++)
    node_depth[i] = outside[i] ? 0 : depth_at(&solid, mesh->X + 3 * (size_t)i);
  for (int32_t e = 0; !error && e < mesh->element_count; e++) {
    const int32_t *corner = mesh->elements + 4 * (size_t)e;
    double *depth = o->depth + 4 * (size_t)e;
    o->six_volumes[e] = 6 * eb_mesh_element_volume(mesh, mesh->X, e);
    for (int k = 0; k < 4; k++) depth[k] = node_depth[corner[k]];
    if (slope2(mesh->X, corner, depth) < level) tangent_depths(&solid, mesh->X, corner, depth);
  }
  if (!error) eb_solid_clear(&solid);
  free(node_depth);
  return error;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* Neighbours go down the same paths of another body's tree, which then is in cache: the surface as
 * the trees of its own bodies come to it. */
static eb_error order_visits(eb_overlaps *o, int32_t node_count) {
  int32_t *place; /* where a node is in `surface`; -1: not there, or visited */
  EB_TRY(EB_NEW(o->visits, o->surface_count));
  EB_TRY(EB_NEW(place, node_count));
  for (int32_t i = 0; i < node_count; i++) place[i] = -1;
  for (int32_t k = 0; k < o->surface_count; k++) place[o->surface[k]] = k;
  for (int32_t b = 0; b < o->bodies->count; b++) {
    const eb_box_tree *tree = o->trees[b];
    for (int32_t c = 0; c < tree->nodes[tree->node_count].corner; c++) {
      int32_t *at = &place[tree->corners[c]];
      if (*at >= 0) o->visits[o->visit_count++] = *at;
      *at = -1;
    }
  }
  free(place);
  return EB_OK;
}

static eb_error fill(eb_overlaps *o, const eb_mesh *mesh, const eb_surface *surface,
                     const uint8_t *outside) {
  const eb_bodies *of = o->bodies;
  size_t elements = (size_t)mesh->element_count, bodies = (size_t)of->count;
  o->element_count = mesh->element_count;
  EB_TRY(EB_NEW(o->elements, 4 * elements));
  memcpy(o->elements, mesh->elements, 4 * elements * sizeof *o->elements);
  EB_TRY(EB_NEW(o->six_volumes, elements));
  EB_TRY(EB_NEW(o->depth, 4 * elements));
  EB_TRY(measure_depths(o, mesh, surface, outside));
  EB_TRY(EB_NEW(o->surface, mesh->node_count));
  EB_TRY(EB_NEW(o->order, elements));
  EB_TRY(EB_NEW(o->trees, bodies));
  int32_t sorted = 0;
  for (int32_t b = 0; b < of->count; b++) {
    /* Its nodes on the surface, which of->nodes lists in ascending order, and its tetrahedra. */
    for (int32_t k = of->start[b]; k < of->start[b + 1]; k++)
      if (outside[of->nodes[k]]) o->surface[o->surface_count++] = of->nodes[k];
    int32_t first = sorted;
    for (int32_t e = 0; e < mesh->element_count; e++)
      if (of->of[mesh->elements[4 * (size_t)e]] == b) o->order[sorted++] = e;
    EB_TRY(box_tree_create(mesh, o->order + first, sorted - first, &o->trees[b]));
  }
  EB_TRY(EB_NEW(o->box, 6 * bodies));
  EB_TRY(EB_NEW(o->meets, bodies * bodies));
  EB_TRY(EB_NEW(o->meet_count, bodies));
  EB_TRY(order_visits(o, mesh->node_count));
  EB_TRY(EB_NEW(o->used, o->surface_count));
  EB_TRY(EB_NEW(o->slots, MOST * (size_t)o->surface_count));
  return EB_NEW(o->found, MOST * (size_t)o->surface_count);
}

eb_error eb_overlaps_create(const eb_mesh *mesh, const eb_surface *surface, const eb_bodies *bodies,
                            eb_overlaps **out) {
  *out = NULL;
  if (mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "contact between bodies wants tetrahedra");
  eb_overlaps *o;
  uint8_t *outside;
  EB_TRY(EB_NEW(outside, mesh->node_count));
  for (int32_t i = 0; i < surface->vertex_count; i++)
    outside[surface->node ? surface->node[i] : i] = 1;
  eb_error error = EB_NEW(o, 1);
  if (!error) {
    o->bodies = bodies;
    error = fill(o, mesh, surface, outside);
    if (error) eb_overlaps_destroy(o);
  }
  free(outside);
  if (!error) *out = o;
  return error;
}

void eb_overlaps_destroy(eb_overlaps *o) {
  if (!o) return;
  for (int32_t b = 0; o->trees && b < o->bodies->count; b++) box_tree_destroy(o->trees[b]);
  free(o->trees);
  free(o->order);
  free(o->found);
  free(o->slots);
  free(o->used);
  free(o->meet_count);
  free(o->meets);
  free(o->box);
  free(o->visits);
  free(o->surface);
  free(o->depth);
  free(o->six_volumes);
  free(o->elements);
  free(o);
}

/* ---- a node in a tetrahedron ----------------------------------------------------------------- */

/* Whether tetrahedron e holds p; then everything of `out` but node and body. With det six times the
 * volume, the gradients of w_1, w_2, w_3 times det are the cross products of the two other edges
 * from corner 0. */
static bool locate(const eb_overlaps *o, int32_t e, const double *x, const double p[3],
                   eb_overlap *out) {
  const int32_t *corner = o->elements + 4 * (size_t)e;
  const double *depth = o->depth + 4 * (size_t)e, *origin = x + 3 * (size_t)corner[0];
  double r[3], edge[3][3], gradient[3][3], det = 0, *weight = out->weight;
  for (int d = 0; d < 3; d++) {
    r[d] = p[d] - origin[d];
    for (int k = 0; k < 3; k++) edge[k][d] = x[3 * (size_t)corner[k + 1] + (size_t)d] - origin[d];
  }
  /* Weights: most tetrahedra have one that is negative. */
  weight[0] = 1;
  for (int k = 0; k < 3; k++) {
    eb_cross3(edge[(k + 1) % 3], edge[(k + 2) % 3], gradient[k]);
    if (k == 0) det = eb_dot3(edge[0], gradient[0]);
    if (!(det > flat * o->six_volumes[e])) return false;
    weight[k + 1] = eb_dot3(gradient[k], r) / det;
    if (!(weight[k + 1] >= -rounding)) return false;
    weight[0] -= weight[k + 1];
  }
  if (!(weight[0] >= -rounding)) return false;
  double slope[3] = {0, 0, 0};
  out->depth = 0;
  for (int k = 0; k < 4; k++) {
    out->depth += weight[k] * depth[k];
    out->corner[k] = corner[k];
    if (k > 0) eb_add3(depth[k] - depth[0], gradient[k - 1], slope);
  }
  double steep = sqrt(eb_dot3(slope, slope));
  for (int d = 0; d < 3; d++) out->normal[d] = -slope[d] / steep;
  if (!(steep > 0 && isfinite(steep))) out->depth = 0;
  return true;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Which bodies' boxes meet; only their trees have to be fitted. */
static void find_meetings(eb_overlaps *o, const double *x) {
  const eb_bodies *of = o->bodies;
  int32_t bodies = of->count;
  for (int32_t b = 0; b < bodies; b++)
    enclose_nodes(of->start[b + 1] - of->start[b], of->nodes + of->start[b], x, o->box + 6 * b,
                  o->box + 6 * b + 3);
  for (int32_t a = 0; a < bodies; a++) {
    o->meet_count[a] = 0;
    for (int32_t b = 0; b < bodies; b++) {
      const double *p = o->box + 6 * a, *q = o->box + 6 * b;
      bool meet = a != b;
      for (int d = 0; d < 3; d++) meet = meet && p[d] <= q[3 + d] && q[d] <= p[3 + d];
      if (meet) o->meets[a * bodies + o->meet_count[a]++] = b;
    }
  }
}

/* The overlaps of surface node k with other bodies. */
static void search_node(eb_overlaps *o, int32_t k, const double *x) {
  int32_t node = o->surface[k], own = o->bodies->of[node];
  const int32_t *meets = o->meets + own * o->bodies->count;
  const double *p = x + 3 * (size_t)node;
  eb_overlap *slots = o->slots + MOST * (size_t)k;
  int8_t used = 0;
  for (int32_t m = 0; m < o->meet_count[own] && used < MOST; m++) {
    int32_t b = meets[m], at = 0, taken = 0;
    eb_overlap *out = &slots[used];
    if (!box_holds(o->box + 6 * b, o->box + 6 * b + 3, p)) continue;
    int32_t e = box_tree_next(o->trees[b], p, &at, &taken);
    while (e >= 0 && !locate(o, e, x, p, out)) e = box_tree_next(o->trees[b], p, &at, &taken);
    if (e < 0 || !(out->depth > 0)) continue;
    out->node = node;
    out->body = b;
    used++;
  }
  o->used[k] = used;
}

int32_t eb_overlaps_find(eb_overlaps *o, const double *x, const eb_overlap **found) {
  *found = o->found;
  int32_t bodies = o->bodies->count, count = 0;
  if (bodies < 2) return 0;
  find_meetings(o, x);
#pragma omp parallel for schedule(dynamic)
  for (int32_t b = 0; b < bodies; b++)
    if (o->meet_count[b] > 0) box_tree_fit(o->trees[b], x);
#pragma omp parallel for schedule(dynamic, 64)
  for (int32_t k = 0; k < o->visit_count; k++) search_node(o, o->visits[k], x);
  for (int32_t k = 0; k < o->surface_count; k++)
    for (int8_t s = 0; s < o->used[k]; s++) o->found[count++] = o->slots[MOST * (size_t)k + s];
  return count;
}
