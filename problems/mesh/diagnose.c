#include "problems/mesh/diagnose.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/median.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/cut.h"
#include "problems/mesh/faces.h"
#include "problems/mesh/sdf.h"

/* ---- a tree of points ------------------------------------------------------------------------ */

enum { LEAF = 8, MOST_DEPTH = 64 };

/* Points in halves by the median, the nodes depth first. */
typedef struct branch {
  double lo[3], hi[3];
  int32_t first, count; /* its points */
  int32_t right;        /* second child; the first is the next one; 0 at leaves */
} branch;

typedef struct point_tree {
  eb_named_point *points;
  branch *branches;
  int32_t branch_count;
} point_tree;

static int32_t grow(point_tree *tree, int32_t first, int32_t count) {
  int32_t index = tree->branch_count++;
  branch *b = &tree->branches[index];
  eb_named_point *points = tree->points + first;
  *b = (branch){.first = first, .count = count};
  for (int d = 0; d < 3; d++) {
    b->lo[d] = b->hi[d] = points[0].at[d];
    for (int32_t i = 1; i < count; i++) {
      double at = points[i].at[d];
      b->lo[d] = at < b->lo[d] ? at : b->lo[d];
      b->hi[d] = at > b->hi[d] ? at : b->hi[d];
    }
  }
  if (count <= LEAF) return index;
  eb_median_halve(points, count, count / 2);
  grow(tree, first, count / 2);
  b->right = grow(tree, first + count / 2, count - count / 2);
  return index;
}

static eb_error plant(const double *X, int32_t count, point_tree *out) {
  EB_TRY(EB_NEW(out->points, count));
  EB_TRY(EB_NEW(out->branches, 2 * (size_t)count));
  for (int32_t i = 0; i < count; i++)
    out->points[i] =
        (eb_named_point){{X[3 * (size_t)i], X[3 * (size_t)i + 1], X[3 * (size_t)i + 2]}, i};
  grow(out, 0, count);
  return EB_OK;
}

/* A box, and the plane normal . x = level: what lies farther from it than `reach` is not meant. A
 * normal of 0 means all of the box. */
typedef struct region {
  double lo[3], hi[3], normal[3], level, reach;
} region;

static bool meets(const branch *b, const region *r) {
  double middle = -r->level, half = r->reach;
  for (int d = 0; d < 3; d++) {
    if (b->lo[d] > r->hi[d] || b->hi[d] < r->lo[d]) return false;
    middle += r->normal[d] * 0.5 * (b->lo[d] + b->hi[d]);
    half += fabs(r->normal[d]) * 0.5 * (b->hi[d] - b->lo[d]);
  }
  return fabs(middle) <= half;
}

/* ---- nodes at one place, and in faces that do not have them ---------------------------------- */

static const double SAME = 1e-4; /* of the shortest edge */
/* Points that a search may look at, a vertex or a triangle on average: conforming meshes take about
 * 50, a million nodes at one place would take a million. */
enum { PATIENCE = 200 };

typedef struct inspection {
  const eb_surface *surface;
  point_tree tree;
  double *near;             /* vertex_count: how far off a place is the same, m */
  uint8_t *hanging;         /* vertex_count */
  int32_t vertex, triangle; /* that is being looked at */
  bool holds;               /* a vertex */
  int64_t patience;         /* points left to look at */
  eb_mesh_diagnosis *out;
} inspection;

/* Calls visit() for all points in the leaves that meet the region. */
static void search(inspection *in, const region *r, void (*visit)(inspection *, int32_t)) {
  int32_t stack[MOST_DEPTH], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    int32_t index = stack[--depth];
    const branch *b = &in->tree.branches[index];
    if (!meets(b, r)) continue;
    if (b->right) {
      stack[depth++] = b->right;
      stack[depth++] = index + 1;
      continue;
    }
    in->patience -= b->count;
    if (in->patience < 0) {
      in->out->at_least = true;
      return;
    }
    for (int32_t i = 0; i < b->count; i++) visit(in, in->tree.points[b->first + i].index);
  }
}

static bool at_one_place(const inspection *in, int32_t a, int32_t b) {
  double near = fmin(in->near[a], in->near[b]);
  return eb_squared_distance3(in->surface->X + 3 * (size_t)a, in->surface->X + 3 * (size_t)b) <=
         near * near;
}

static void pair_with(inspection *in, int32_t other) {
  if (other > in->vertex && at_one_place(in, in->vertex, other)) in->out->coincident++;
}

static void hold(inspection *in, int32_t vertex) {
  const int32_t *corner = in->surface->triangles + 3 * (size_t)in->triangle;
  const double *x[3];
  double near = in->near[vertex];
  for (int k = 0; k < 3; k++) {
    near = fmin(near, in->near[corner[k]]);
    x[k] = in->surface->X + 3 * (size_t)corner[k];
  }
  const double *p = in->surface->X + 3 * (size_t)vertex;
  if (eb_triangle_distance(x[0], x[1], x[2], p) > near * near) return;
  for (int k = 0; k < 3; k++)
    if (vertex == corner[k] || at_one_place(in, vertex, corner[k])) return;
  in->out->hanging += !in->hanging[vertex];
  in->hanging[vertex] = 1;
  in->holds = true;
}

static void measure_edges(inspection *in) {
  const eb_surface *surface = in->surface;
  for (int32_t v = 0; v < surface->vertex_count; v++) in->near[v] = INFINITY;
  for (int32_t edge = 0; edge < 3 * surface->triangle_count; edge++) {
    int32_t a = surface->triangles[edge], b = surface->triangles[edge - edge % 3 + (edge + 1) % 3];
    double near =
        SAME * sqrt(eb_squared_distance3(surface->X + 3 * (size_t)a, surface->X + 3 * (size_t)b));
    in->near[a] = fmin(in->near[a], near);
    in->near[b] = fmin(in->near[b], near);
  }
}

static void inspect_vertex(inspection *in, int32_t vertex) {
  const double *x = in->surface->X + 3 * (size_t)vertex;
  region around = {.reach = INFINITY};
  for (int d = 0; d < 3; d++) {
    around.lo[d] = x[d] - in->near[vertex];
    around.hi[d] = x[d] + in->near[vertex];
  }
  in->vertex = vertex;
  search(in, &around, pair_with);
}

static void inspect_triangle(inspection *in, int32_t triangle) {
  const int32_t *corner = in->surface->triangles + 3 * (size_t)triangle;
  const double *x[3];
  double u[3], v[3], near = INFINITY;
  region box;
  for (int k = 0; k < 3; k++) {
    near = fmin(near, in->near[corner[k]]);
    x[k] = in->surface->X + 3 * (size_t)corner[k];
  }
  for (int d = 0; d < 3; d++) {
    box.lo[d] = fmin(x[0][d], fmin(x[1][d], x[2][d])) - near;
    box.hi[d] = fmax(x[0][d], fmax(x[1][d], x[2][d])) + near;
    u[d] = x[1][d] - x[0][d];
    v[d] = x[2][d] - x[0][d];
  }
  eb_cross3(u, v, box.normal);
  box.level = eb_dot3(box.normal, x[0]);
  box.reach = near * sqrt(eb_dot3(box.normal, box.normal));
  in->triangle = triangle;
  search(in, &box, hold);
}

/* Of hexahedra two triangles are a face. */
static eb_error inspect(const eb_mesh *mesh, inspection *in) {
  const eb_surface *surface = in->surface;
  int32_t of_face = mesh->type == EB_HEXAHEDRON ? 2 : 1;
  EB_TRY(EB_NEW(in->near, surface->vertex_count));
  EB_TRY(EB_NEW(in->hanging, surface->vertex_count));
  EB_TRY(plant(surface->X, surface->vertex_count, &in->tree));
  measure_edges(in);
  in->patience = PATIENCE * ((int64_t)surface->vertex_count + surface->triangle_count);
  for (int32_t v = 0; v < surface->vertex_count; v++) inspect_vertex(in, v);
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    inspect_triangle(in, t);
    if (t % of_face < of_face - 1) continue;
    in->out->holding += in->holds;
    in->holds = false;
  }
  return EB_OK;
}

static eb_error count_crowded(const eb_surface *surface, eb_mesh_diagnosis *out) {
  int32_t edges = 3 * surface->triangle_count, *keys, *order = NULL;
  EB_TRY(EB_NEW(keys, 2 * (size_t)edges));
  for (int32_t edge = 0; edge < edges; edge++) {
    int32_t *key = keys + 2 * (size_t)edge;
    key[0] = surface->triangles[edge];
    key[1] = surface->triangles[edge - edge % 3 + (edge + 1) % 3];
    eb_tuple_sort(key, 2);
  }
  eb_error error = eb_tuples_order(keys, 2, edges, surface->vertex_count, &order);
  for (int32_t i = 0, stop; !error && i < edges; i = stop) {
    for (stop = i + 1; stop < edges; stop++)
      if (eb_tuple_compare(keys + 2 * (size_t)order[i], keys + 2 * (size_t)order[stop], 2)) break;
    out->crowded_edges += stop - i > 2;
  }
  free(order);
  free(keys);
  return error;
}

/* ---- quality --------------------------------------------------------------------------------- */

/* The cube of the mean ratio; *cosine grows to those of the dihedral angles, negated: that between
 * two faces is pi minus the angle between their normals. */
static double tetrahedron_quality(const double *const p[8], double *least, double *most) {
  double edge[3][3], normal[4][3], length[4], squares = 0;
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < 3; d++) edge[k][d] = p[k + 1][d] - p[0][d];
  for (int k = 0; k < 3; k++) eb_cross3(edge[(k + 1) % 3], edge[(k + 2) % 3], normal[k]);
  for (int d = 0; d < 3; d++) normal[3][d] = -normal[0][d] - normal[1][d] - normal[2][d];
  for (int k = 0; k < 4; k++) length[k] = sqrt(eb_dot3(normal[k], normal[k]));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++) {
      double cosine = -eb_dot3(normal[i], normal[j]) / (length[i] * length[j]);
      *least = cosine < *least ? cosine : *least;
      *most = cosine > *most ? cosine : *most;
      squares += eb_squared_distance3(p[i], p[j]);
    }
  double six = eb_dot3(edge[0], normal[0]);
  return 432 * six * six / (squares * squares * squares);
}

/* next[a]: the corners that share an edge with corner a, counter-clockwise seen from it. */
static double hexahedron_quality(const double *const p[8]) {
  static const int next[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                 {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};
  double least = 1;
  for (int a = 0; a < 8; a++) {
    double edge[3][3], normal[3], lengths = 1;
    for (int k = 0; k < 3; k++) {
      for (int d = 0; d < 3; d++) edge[k][d] = p[next[a][k]][d] - p[a][d];
      lengths *= eb_dot3(edge[k], edge[k]);
    }
    eb_cross3(edge[0], edge[1], normal);
    least = fmin(least, eb_dot3(normal, edge[2]) / sqrt(lengths));
  }
  return least;
}

static double triangle_quality(const double *const p[8], double area) {
  double squares = 0;
  for (int k = 0; k < 3; k++) squares += eb_squared_distance3(p[k], p[(k + 1) % 3]);
  return 4 * sqrt(3.0) * area / squares;
}

static void measure_quality(const eb_mesh *mesh, eb_mesh_diagnosis *out) {
  double least = 1, most = -1;
  bool tetrahedra = mesh->type == EB_TETRAHEDRON;
  out->quality = INFINITY;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const double *p[8];
    for (size_t a = 0; a < (size_t)mesh->type; a++)
      p[a] = mesh->X + 3 * (size_t)mesh->elements[(size_t)e * mesh->type + a];
    double quality = tetrahedra ? tetrahedron_quality(p, &least, &most)
                     : mesh->type == EB_HEXAHEDRON
                         ? hexahedron_quality(p)
                         : triangle_quality(p, eb_mesh_element_volume(mesh, mesh->X, e));
    if (quality >= out->quality) continue;
    out->quality = quality;
    out->worst = e;
  }
  if (!tetrahedra) return;
  const double degrees = 57.29577951308232;
  out->quality = cbrt(out->quality);
  out->min_dihedral = degrees * acos(fmin(1, most));
  out->max_dihedral = degrees * acos(fmax(-1, least));
}

const char *eb_mesh_quality_name(eb_element_type type) {
  return type == EB_HEXAHEDRON ? "scaled Jacobian" : "mean ratio";
}

/* ---- the diagnosis --------------------------------------------------------------------------- */

eb_error eb_mesh_diagnose(const eb_mesh *mesh, eb_mesh_diagnosis *out) {
  eb_surface *surface;
  int32_t *part;
  *out = (eb_mesh_diagnosis){0};
  measure_quality(mesh, out);
  EB_TRY(EB_NEW(part, mesh->node_count));
  out->pieces = eb_mesh_components(mesh, part);
  free(part);
  EB_TRY(eb_mesh_surface(mesh, &surface));
  inspection in = {.surface = surface, .out = out};
  eb_error error = inspect(mesh, &in);
  if (!error) error = count_crowded(surface, out);
  free(in.tree.branches);
  free(in.tree.points);
  free(in.hanging);
  free(in.near);
  eb_surface_destroy(surface);
  return error;
}

eb_error eb_mesh_diagnosis_print(const eb_mesh_diagnosis *diagnosis, eb_element_type type,
                                 const char *name, eb_text *out) {
  const eb_mesh_diagnosis *d = diagnosis;
  const char *at_least = d->at_least ? "at least " : "";
  if (d->pieces > 1)
    EB_TRY(
        eb_text_printf(out, "%s: the mesh is in %d pieces that share no node\n", name, d->pieces));
  if (d->coincident > 0)
    EB_TRY(eb_text_printf(out,
                          "%s: %s%d %s of nodes %s at one place and %s not joined: the body comes "
                          "apart there, unless they are merged\n",
                          name, at_least, d->coincident, d->coincident == 1 ? "pair" : "pairs",
                          d->coincident == 1 ? "lies" : "lie", d->coincident == 1 ? "is" : "are"));
  if (d->hanging > 0)
    EB_TRY(eb_text_printf(out,
                          "%s: %s%d %s inside %d %s that %s not have %s as a corner: the mesh "
                          "does not conform, and the body comes apart there\n",
                          name, at_least, d->hanging, d->hanging == 1 ? "node hangs" : "nodes hang",
                          d->holding, d->holding == 1 ? "face" : "faces",
                          d->holding == 1 ? "does" : "do", d->hanging == 1 ? "it" : "them"));
  if (d->crowded_edges > 0)
    EB_TRY(eb_text_printf(out,
                          "%s: %d %s more than two boundary faces: parts hang together there like "
                          "on a hinge\n",
                          name, d->crowded_edges,
                          d->crowded_edges == 1 ? "edge has" : "edges have"));
  if (d->quality < EB_MESH_POOR)
    EB_TRY(eb_text_printf(out,
                          "%s: element %d (counted from 0) has a %s of %.2g, where 1 is best: "
                          "steps are hard to solve on so flat elements\n",
                          name, d->worst, eb_mesh_quality_name(type), d->quality));
  return EB_OK;
}
