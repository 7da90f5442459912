/* Signed distance of a closed triangle surface.
 *
 * Distance: exact, to the nearest triangle (Ericson, Real-Time Collision Detection 2005, section
 * 5.1.5), found through a tree of bounding boxes. Sign: the generalized winding number
 *     w(p) = sum over triangles of solid angle / 4 pi,
 * 1 inside, 0 outside, and near these where small pieces overlap (Jacobson et al. 2013); p is
 * inside when w > 1/2. Far parts of the tree are replaced by the first two terms of their expansion
 * (Barill et al. 2018): with areas a, centroids x and unit normals n of the triangles, r = c - p
 * for the centre c,
 *     4 pi w ~ N.r / |r|^3 + tr M / |r|^3 - 3 r.M r / |r|^5,   N = sum a n,  M = sum a (x - c) n^T.
 * Needs O(triangles) memory; a query takes O(log triangles) away from the medial axis. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "problems/base/median.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/sdf.h"
#include "problems/mesh/validate.h"

enum { LEAF = 4, MOST_DEPTH = 64 };
/* A part is far from this many times its radius on. On scanned models w is then off by up to 0.05,
 * of the 0.5 that its sign can bear. */
static const double FAR = 2;
static const double FOUR_PI = 12.566370614359172;

typedef struct triangle {
  double corner[3][3];
} triangle;

typedef struct node {
  double lo[3], hi[3];
  double center[3], radius; /* the ball around center holds the triangles */
  double N[3];
  double M[6];          /* xx yy zz xy+yx yz+zy zx+xz */
  int32_t first, count; /* its triangles */
  int32_t right;        /* second child; the first is the next node; 0 at leaves */
} node;

typedef struct triangle_tree {
  triangle *triangles;
  node *nodes;
  int32_t triangle_count, node_count;
  double outward; /* 1, or -1 when the triangles point inwards */
} triangle_tree;

static void subtract(const double a[3], const double b[3], double out[3]) {
  for (int d = 0; d < 3; d++) out[d] = a[d] - b[d];
}

/* ---- building -------------------------------------------------------------------------------- */

/* Area times normal. */
static void area_vector(const triangle *t, double out[3]) {
  double u[3], v[3];
  subtract(t->corner[1], t->corner[0], u);
  subtract(t->corner[2], t->corner[0], v);
  eb_cross3(u, v, out);
  for (int d = 0; d < 3; d++) out[d] *= 0.5;
}

/* The box, and the expansion about the middle of the triangles, weighted by area. `points` are the
 * centroids of the node's triangles. */
static void measure_node(const triangle *triangles, const eb_named_point *points, node *n) {
  double area = 0, a[3], arm[3];
  for (int d = 0; d < 3; d++) {
    n->lo[d] = INFINITY;
    n->hi[d] = -INFINITY;
  }
  for (int32_t i = 0; i < n->count; i++) {
    const triangle *t = &triangles[points[i].index];
    area_vector(t, a);
    double weight = sqrt(eb_dot3(a, a));
    area += weight;
    for (int d = 0; d < 3; d++) {
      n->center[d] += weight * points[i].at[d];
      for (int c = 0; c < 3; c++) {
        double at = t->corner[c][d];
        n->lo[d] = at < n->lo[d] ? at : n->lo[d];
        n->hi[d] = at > n->hi[d] ? at : n->hi[d];
      }
    }
  }
  for (int d = 0; d < 3; d++) n->center[d] /= area;
  for (int32_t i = 0; i < n->count; i++) {
    const triangle *t = &triangles[points[i].index];
    area_vector(t, a);
    subtract(points[i].at, n->center, arm);
    for (int d = 0; d < 3; d++) {
      int e = (d + 1) % 3;
      n->N[d] += a[d];
      n->M[d] += arm[d] * a[d];
      n->M[3 + d] += arm[d] * a[e] + arm[e] * a[d];
    }
    for (int c = 0; c < 3; c++) {
      subtract(t->corner[c], n->center, arm);
      n->radius = fmax(n->radius, sqrt(eb_dot3(arm, arm)));
    }
  }
}

/* Builds the node of points first .. first + count - 1 and all below it, depth first. */
static int32_t build_node(triangle_tree *tree, eb_named_point *points, int32_t first,
                          int32_t count) {
  int32_t index = tree->node_count++;
  node *n = &tree->nodes[index];
  n->first = first;
  n->count = count;
  measure_node(tree->triangles, points + first, n);
  if (count <= LEAF) return index;
  eb_median_halve(points + first, count, count / 2);
  build_node(tree, points, first, count / 2);
  n->right = build_node(tree, points, first + count / 2, count - count / 2);
  return index;
}

/* Builds the nodes, and puts the triangles into their order. */
static eb_error grow_tree(triangle_tree *tree) {
  eb_named_point *points;
  triangle *sorted;
  EB_TRY(EB_NEW(sorted, tree->triangle_count));
  eb_error error = EB_NEW(points, tree->triangle_count);
  if (error) {
    free(sorted);
    return error;
  }
  for (int32_t i = 0; i < tree->triangle_count; i++) {
    const triangle *t = &tree->triangles[i];
    points[i].index = i;
    for (int d = 0; d < 3; d++)
      points[i].at[d] = (t->corner[0][d] + t->corner[1][d] + t->corner[2][d]) / 3;
  }
  build_node(tree, points, 0, tree->triangle_count);
  for (int32_t i = 0; i < tree->triangle_count; i++) sorted[i] = tree->triangles[points[i].index];
  free(points);
  free(tree->triangles);
  tree->triangles = sorted;
  return EB_OK;
}

/* ---- distance -------------------------------------------------------------------------------- */

/* The way q to p from the nearest point, and its squared length. The nearest feature is a corner,
 * an edge or the face, told by barycentric signs. */
static double way_from(const double a[3], const double b[3], const double c[3], const double p[3],
                       double q[3]) {
  double ab[3], ac[3], ap[3];
  subtract(b, a, ab);
  subtract(c, a, ac);
  subtract(p, a, ap);
  double d1 = eb_dot3(ab, ap), d2 = eb_dot3(ac, ap), bb = eb_dot3(ab, ab), bc = eb_dot3(ab, ac),
         cc = eb_dot3(ac, ac);
  double d3 = d1 - bb, d4 = d2 - bc, d5 = d1 - bc, d6 = d2 - cc;
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  double v, w; /* nearest point = a + v ab + w ac */
  if (d1 <= 0 && d2 <= 0)
    v = w = 0;
  else if (d3 >= 0 && d4 <= d3)
    v = 1, w = 0;
  else if (d6 >= 0 && d5 <= d6)
    v = 0, w = 1;
  else if (vc <= 0 && d1 >= 0 && d3 <= 0)
    v = d1 / (d1 - d3), w = 0;
  else if (vb <= 0 && d2 >= 0 && d6 <= 0)
    v = 0, w = d2 / (d2 - d6);
  else if (va <= 0 && d4 >= d3 && d5 >= d6)
    w = (d4 - d3) / (d4 - d3 + d5 - d6), v = 1 - w;
  else
    v = vb / (va + vb + vc), w = vc / (va + vb + vc);
  for (int d = 0; d < 3; d++) q[d] = ap[d] - v * ab[d] - w * ac[d];
  return eb_dot3(q, q);
}

double eb_triangle_distance(const double a[3], const double b[3], const double c[3],
                            const double p[3]) {
  double way[3];
  return way_from(a, b, c, p, way);
}

static double box_distance(const node *n, const double p[3]) {
  double square = 0;
  for (int d = 0; d < 3; d++) {
    double below = n->lo[d] - p[d], above = p[d] - n->hi[d],
           outside = below > above ? below : above;
    if (outside > 0) square += outside * outside;
  }
  return square;
}

/* And the triangle that is nearest, with the way from it. */
static double squared_distance(const triangle_tree *tree, const double p[3], int32_t *nearest,
                               double way[3]) {
  int32_t stack[MOST_DEPTH], depth = 0;
  double bound[MOST_DEPTH], best = INFINITY;
  stack[depth] = 0;
  bound[depth++] = 0;
  while (depth > 0) {
    if (bound[--depth] >= best) continue;
    int32_t index = stack[depth];
    const node *n = &tree->nodes[index];
    if (n->right == 0) {
      for (int32_t i = 0; i < n->count; i++) {
        const triangle *t = &tree->triangles[n->first + i];
        double q[3], square = way_from(t->corner[0], t->corner[1], t->corner[2], p, q);
        if (!(square < best)) continue;
        best = square;
        *nearest = n->first + i;
        memcpy(way, q, sizeof q);
      }
      continue;
    }
    int32_t near = index + 1, far = n->right;
    double near_bound = box_distance(&tree->nodes[near], p);
    double far_bound = box_distance(&tree->nodes[far], p);
    bool swap = far_bound < near_bound;
    stack[depth] = swap ? near : far;
    bound[depth++] = swap ? near_bound : far_bound;
    stack[depth] = swap ? far : near;
    bound[depth++] = swap ? far_bound : near_bound;
  }
  return best;
}

/* ---- winding number -------------------------------------------------------------------------- */

/* Solid angle of a triangle seen from p (Van Oosterom and Strackee 1983). */
static double solid_angle(const triangle *t, const double p[3]) {
  double a[3], b[3], c[3], ab[3];
  subtract(t->corner[0], p, a);
  subtract(t->corner[1], p, b);
  subtract(t->corner[2], p, c);
  double la = sqrt(eb_dot3(a, a)), lb = sqrt(eb_dot3(b, b)), lc = sqrt(eb_dot3(c, c));
  eb_cross3(a, b, ab);
  return 2 * atan2(eb_dot3(ab, c),
                   la * lb * lc + eb_dot3(a, b) * lc + eb_dot3(b, c) * la + eb_dot3(c, a) * lb);
}

static double expansion(const node *n, const double r[3], double square) {
  double cube = square * sqrt(square);
  double trace = n->M[0] + n->M[1] + n->M[2];
  double form = n->M[0] * r[0] * r[0] + n->M[1] * r[1] * r[1] + n->M[2] * r[2] * r[2] +
                n->M[3] * r[0] * r[1] + n->M[4] * r[1] * r[2] + n->M[5] * r[2] * r[0];
  return (eb_dot3(n->N, r) + trace - 3 * form / square) / cube;
}

static double winding_number(const triangle_tree *tree, const double p[3]) {
  int32_t stack[MOST_DEPTH], depth = 0;
  double angle = 0, r[3];
  stack[depth++] = 0;
  while (depth > 0) {
    int32_t index = stack[--depth];
    const node *n = &tree->nodes[index];
    subtract(n->center, p, r);
    double square = eb_dot3(r, r);
    if (square > FAR * FAR * n->radius * n->radius) {
      angle += expansion(n, r, square);
    } else if (n->right == 0) {
      for (int32_t i = 0; i < n->count; i++)
        angle += solid_angle(&tree->triangles[n->first + i], p);
    } else {
      stack[depth++] = n->right;
      stack[depth++] = index + 1;
    }
  }
  return tree->outward * angle / FOUR_PI;
}

static double signed_distance(const void *context, const double p[3]) {
  double normal[3];
  return eb_solid_distance(&(eb_solid){.context = context}, p, normal);
}

double eb_solid_distance(const eb_solid *solid, const double p[3], double normal[3]) {
  static const double rounding = 1e-10; /* of the size of the surface */
  const triangle_tree *tree = solid->context;
  int32_t nearest = 0;
  double way[3] = {0, 0, 0}, distance = sqrt(squared_distance(tree, p, &nearest, way));
  bool inside = !(box_distance(&tree->nodes[0], p) > 0) && winding_number(tree, p) > 0.5;
  double sign = inside ? -1 : 1, length = distance;
  if (!(distance > rounding * tree->nodes[0].radius)) {
    area_vector(&tree->triangles[nearest], way);
    length = sqrt(eb_dot3(way, way));
    sign = tree->outward;
  }
  for (int d = 0; d < 3; d++) normal[d] = sign * way[d] / length;
  return inside ? -distance : distance;
}

/* ---- the solid ------------------------------------------------------------------------------- */

static eb_error build_tree(const eb_surface *surface, triangle_tree *tree) {
  EB_TRY(EB_NEW(tree->triangles, surface->triangle_count));
  EB_TRY(EB_NEW(tree->nodes, 2 * (size_t)surface->triangle_count));
  /* The triangles that have an area. The others lie on the edges of their neighbours. */
  for (int32_t i = 0; i < surface->triangle_count; i++) {
    triangle *t = &tree->triangles[tree->triangle_count];
    double area[3], edge[3], longest = 0;
    for (int k = 0; k < 9; k++)
      t->corner[k / 3][k % 3] =
          surface->X[3 * (size_t)surface->triangles[3 * (size_t)i + (size_t)(k / 3)] +
                     (size_t)(k % 3)];
    area_vector(t, area);
    for (int k = 0; k < 3; k++) {
      subtract(t->corner[k], t->corner[(k + 1) % 3], edge);
      longest = fmax(longest, eb_dot3(edge, edge));
    }
    tree->triangle_count += sqrt(eb_dot3(area, area)) > 1e-13 * longest;
  }
  /* Six times the enclosed volume is positive when the triangles point outwards. */
  double volume = 0, a[3], b[3], c[3], ab[3];
  const double *origin = tree->triangles[0].corner[0];
  for (int32_t i = 0; i < tree->triangle_count; i++) {
    const triangle *t = &tree->triangles[i];
    subtract(t->corner[0], origin, a);
    subtract(t->corner[1], origin, b);
    subtract(t->corner[2], origin, c);
    eb_cross3(a, b, ab);
    volume += eb_dot3(ab, c);
  }
  if (volume == 0) return EB_ERROR(EB_ERR_INVALID, "the surface encloses no volume");
  tree->outward = volume > 0 ? 1 : -1;
  return grow_tree(tree);
}

static void destroy_tree(triangle_tree *tree) {
  free(tree->triangles);
  free(tree->nodes);
  free(tree);
}

eb_error eb_solid_from_surface(const eb_surface *surface, eb_solid *out) {
  triangle_tree *built;
  *out = (eb_solid){.distance = NULL};
  if (surface->triangle_count < 1) return EB_ERROR(EB_ERR_INVALID, "the surface has no triangles");
  EB_TRY(eb_surface_check_closed(surface));
  EB_TRY(EB_NEW(built, 1));
  eb_error error = build_tree(surface, built);
  if (error) {
    destroy_tree(built);
    return error;
  }
  out->distance = signed_distance;
  out->context = built;
  for (int d = 0; d < 3; d++) {
    out->lo[d] = built->nodes[0].lo[d];
    out->hi[d] = built->nodes[0].hi[d];
  }
  return EB_OK;
}

void eb_solid_clear(eb_solid *solid) {
  if (solid->distance == signed_distance) destroy_tree((triangle_tree *)solid->context);
  *solid = (eb_solid){.distance = NULL};
}
