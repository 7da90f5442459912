#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/faces.h"
#include "problems/mesh/validate.h"

/* ---- edges ----------------------------------------------------------------------------------- */

/* Edge 3 t + i runs from corner i of triangle t to the next. */
static void edge_ends(const eb_surface *surface, int32_t edge, int32_t end[2]) {
  const int32_t *triangle = surface->triangles + 3 * (size_t)(edge / 3);
  end[0] = triangle[edge % 3];
  end[1] = triangle[(edge + 1) % 3];
}

static eb_error describe(const eb_surface *surface, int32_t edge, int32_t uses, int32_t forwards) {
  int32_t end[2], triangle = edge / 3;
  edge_ends(surface, edge, end);
  if (uses == 1)
    return EB_ERROR(EB_ERR_INVALID,
                    "the surface is open: edge %d-%d of triangle %d belongs to no other triangle",
                    end[0], end[1], triangle);
  if (uses == 2)
    return EB_ERROR(EB_ERR_INVALID,
                    "edge %d-%d of triangle %d is run through twice the same way: its two "
                    "triangles are not consistently oriented",
                    end[0], end[1], triangle);
  return EB_ERROR(EB_ERR_INVALID,
                  "edge %d-%d of triangle %d is not manifold: %d triangles meet there, %d of them "
                  "run from the lower vertex to the higher",
                  end[0], end[1], triangle, uses, forwards);
}

/* `keys` has room for the ends of all edges. */
static eb_error check_sorted(const eb_surface *surface, int32_t *keys, bool manifold) {
  int32_t edges = 3 * surface->triangle_count, *order;
  for (int32_t edge = 0; edge < edges; edge++) {
    edge_ends(surface, edge, keys + 2 * (size_t)edge);
    eb_tuple_sort(keys + 2 * (size_t)edge, 2);
  }
  EB_TRY(eb_tuples_order(keys, 2, edges, surface->vertex_count, &order));
  /* The lowest edge that breaks the rule. */
  int32_t worst = -1, uses = 0, worst_forwards = 0;
  for (int32_t i = 0, stop; i < edges; i = stop) {
    const int32_t *key = keys + 2 * (size_t)order[i];
    int32_t forwards = 0;
    for (stop = i; stop < edges; stop++) {
      int32_t end[2];
      if (eb_tuple_compare(key, keys + 2 * (size_t)order[stop], 2) != 0) break;
      edge_ends(surface, order[stop], end);
      forwards += end[0] < end[1];
    }
    bool good = 2 * forwards == stop - i && (!manifold || forwards == 1);
    if (good || (worst >= 0 && order[i] > worst)) continue;
    worst = order[i];
    uses = stop - i;
    worst_forwards = forwards;
  }
  free(order);
  return worst < 0 ? EB_OK : describe(surface, worst, uses, worst_forwards);
}

/* The rule; with `manifold`, every edge must be run through exactly once each way. */
static eb_error check_edges(const eb_surface *surface, bool manifold) {
  int32_t *keys;
  if (surface->triangle_count > INT32_MAX / 3)
    return EB_ERROR(EB_ERR_LIMIT, "%d triangles are too many", surface->triangle_count);
  EB_TRY(EB_NEW(keys, 6 * (size_t)surface->triangle_count));
  eb_error error = check_sorted(surface, keys, manifold);
  free(keys);
  return error;
}

/* ---- meshes and surfaces --------------------------------------------------------------------- */

/* A volume below FLAT L^3 (an area below FLAT L^2), L the longest edge, is rounding error. */
static const double FLAT = 1e-12;

static eb_error check_indices(const int32_t *nodes, int32_t corners, int32_t count,
                              const char *what, int32_t e) {
  for (int32_t i = 0; i < corners; i++)
    if (nodes[i] < 0 || nodes[i] >= count)
      return EB_ERROR(EB_ERR_INVALID, "%s %d: corner %d is node %d, but nodes are 0 to %d", what, e,
                      i, nodes[i], count - 1);
  for (int32_t i = 0; i < corners; i++)
    for (int32_t j = 0; j < i; j++)
      if (nodes[i] == nodes[j])
        return EB_ERROR(EB_ERR_INVALID, "%s %d: corners %d and %d are both node %d", what, e, j, i,
                        nodes[i]);
  return EB_OK;
}

static eb_error check_finite(const int32_t *nodes, int32_t corners, const double *X,
                             const char *what, int32_t e) {
  for (int32_t i = 0; i < corners; i++)
    for (int d = 0; d < 3; d++)
      if (!isfinite(X[3 * (size_t)nodes[i] + (size_t)d]))
        return EB_ERROR(EB_ERR_INVALID, "%s %d: coordinate %c of node %d is %g", what, e, "xyz"[d],
                        nodes[i], X[3 * (size_t)nodes[i] + (size_t)d]);
  return EB_OK;
}

/* The longest distance between two corners. */
static double extent(const int32_t *nodes, int32_t corners, const double *X) {
  double longest = 0;
  for (int32_t i = 0; i < corners; i++)
    for (int32_t j = 0; j < i; j++) {
      const double *p = X + 3 * (size_t)nodes[i], *q = X + 3 * (size_t)nodes[j];
      double square = 0;
      for (int d = 0; d < 3; d++) square += (p[d] - q[d]) * (p[d] - q[d]);
      longest = fmax(longest, square);
    }
  return sqrt(longest);
}

static eb_error check_elements(const eb_mesh *mesh) {
  const char *measure = mesh->type == EB_TRIANGLE ? "area" : "volume";
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *nodes = mesh->elements + (size_t)e * mesh->type;
    EB_TRY(check_indices(nodes, mesh->type, mesh->node_count, "element", e));
    EB_TRY(check_finite(nodes, mesh->type, mesh->X, "element", e));
    double length = extent(nodes, mesh->type, mesh->X);
    double unit = mesh->type == EB_TRIANGLE ? length * length : length * length * length;
    double volume = eb_mesh_element_volume(mesh, mesh->X, e);
    if (fabs(volume) <= FLAT * unit)
      return EB_ERROR(EB_ERR_INVALID, "element %d is flat: its %s is %g with edges up to %g m", e,
                      measure, volume, length);
    if (!(volume > 0))
      return EB_ERROR(EB_ERR_INVALID, "element %d is inverted: its %s is %g", e, measure, volume);
    if (mesh->region[e] < 0 || mesh->region[e] >= mesh->region_count)
      return EB_ERROR(EB_ERR_INVALID, "element %d is in region %d, but regions are 0 to %d", e,
                      mesh->region[e], mesh->region_count - 1);
    for (int d = 0; mesh->fibre && d < 3; d++)
      if (!isfinite(mesh->fibre[3 * (size_t)e + (size_t)d]))
        return EB_ERROR(EB_ERR_INVALID, "element %d: component %c of its fibre is %g", e, "xyz"[d],
                        mesh -> fibre[3 * (size_t)e + (size_t)d]);
  }
  return EB_OK;
}

static eb_error check_duplicates(const eb_mesh *mesh) {
  int32_t width = (int32_t)mesh->type, *keys, *order = NULL, first = -1, twin = -1;
  size_t entries = (size_t)mesh->element_count * mesh->type;
  EB_TRY(EB_NEW(keys, entries));
  for (size_t i = 0; i < entries; i++) keys[i] = mesh->elements[i];
  for (int32_t e = 0; e < mesh->element_count; e++) eb_tuple_sort(keys + (size_t)e * width, width);
  eb_error error = eb_tuples_order(keys, width, mesh->element_count, mesh->node_count, &order);
  for (int32_t i = 1; !error && i < mesh->element_count; i++) {
    const int32_t *one = keys + (size_t)order[i - 1] * width;
    if (eb_tuple_compare(one, keys + (size_t)order[i] * width, width) != 0) continue;
    if (twin >= 0 && order[i] > twin) continue;
    first = order[i - 1];
    twin = order[i];
  }
  free(order);
  free(keys);
  if (error || twin < 0) return error;
  return EB_ERROR(EB_ERR_INVALID, "element %d has the same nodes as element %d", twin, first);
}

static eb_error check_unused(const eb_mesh *mesh) {
  unsigned char *used;
  EB_TRY(EB_NEW(used, mesh->node_count));
  for (size_t i = 0; i < (size_t)mesh->element_count * mesh->type; i++) used[mesh->elements[i]] = 1;
  int32_t node = 0;
  while (node < mesh->node_count && used[node]) node++;
  free(used);
  if (node == mesh->node_count) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID, "node %d belongs to no element", node);
}

static eb_error check_faces(const eb_mesh *mesh) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  int32_t *mate, crowded, face = -1, a[4];
  eb_error error = EB_OK;
  EB_TRY(eb_mesh_face_mates(mesh, &mate, &crowded));
  if (crowded >= 0) {
    eb_face_nodes(mesh, crowded, a);
    error =
        EB_ERROR(EB_ERR_INVALID,
                 "element %d: its face on nodes %d, %d, ... is shared by more than two elements",
                 crowded / table->count, a[0], a[1]);
  } else if ((face = eb_mesh_overlap(mesh, mate)) >= 0) {
    eb_face_nodes(mesh, face, a);
    error = EB_ERROR(EB_ERR_INVALID,
                     "element %d overlaps element %d: both lie on the same side of their common "
                     "face on nodes %d, %d, ...",
                     face / table->count, mate[face] / table->count, a[0], a[1]);
  }
  free(mate);
  return error;
}

eb_error eb_mesh_validate(const eb_mesh *mesh) {
  if (mesh->element_count < 1) return EB_ERROR(EB_ERR_INVALID, "the mesh has no elements");
  EB_TRY(check_elements(mesh));
  EB_TRY(check_duplicates(mesh));
  EB_TRY(check_unused(mesh));
  EB_TRY(check_faces(mesh));
  for (int32_t s = 0; s < mesh->set_count; s++)
    for (int32_t i = 0; i < mesh->sets[s].count; i++)
      if (mesh->sets[s].nodes[i] < 0 || mesh->sets[s].nodes[i] >= mesh->node_count)
        return EB_ERROR(EB_ERR_INVALID, "node set '%s' holds node %d, but nodes are 0 to %d",
                        mesh->sets[s].name, mesh->sets[s].nodes[i], mesh->node_count - 1);
  return EB_OK;
}

static eb_error check_corners(const eb_surface *surface) {
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *nodes = surface->triangles + 3 * (size_t)t;
    EB_TRY(check_indices(nodes, 3, surface->vertex_count, "triangle", t));
    EB_TRY(check_finite(nodes, 3, surface->X, "triangle", t));
  }
  return EB_OK;
}

eb_error eb_surface_validate(const eb_surface *surface, bool closed) {
  if (surface->triangle_count < 1) return EB_ERROR(EB_ERR_INVALID, "the surface has no triangles");
  EB_TRY(check_corners(surface));
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *nodes = surface->triangles + 3 * (size_t)t;
    const double *corner[3];
    for (int a = 0; a < 3; a++) corner[a] = surface->X + 3 * (size_t)nodes[a];
    double u[3], v[3], twice_area[3], length = extent(nodes, 3, surface->X);
    for (int d = 0; d < 3; d++) {
      u[d] = corner[1][d] - corner[0][d];
      v[d] = corner[2][d] - corner[0][d];
    }
    eb_cross3(u, v, twice_area);
    if (sqrt(eb_dot3(twice_area, twice_area)) <= FLAT * length * length)
      return EB_ERROR(EB_ERR_INVALID, "triangle %d is degenerate: its corners are in line", t);
  }
  return closed ? check_edges(surface, true) : EB_OK;
}

eb_error eb_surface_check_closed(const eb_surface *surface) {
  EB_TRY(check_corners(surface));
  return check_edges(surface, false);
}
