#include "tests/support/mesh_quality.h"

#include <math.h>
#include <stddef.h>

#include "problems/base/vector3.h"
#include "problems/mesh/faces.h"

static const double DEGREES = 57.29577951308232;

static void subtract(const double *a, const double *b, double out[3]) {
  for (int d = 0; d < 3; d++) out[d] = a[d] - b[d];
}

static double length(const double u[3]) {
  return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

/* The angle between two vectors, degrees; accurate near 0 and 180. */
static double angle(const double u[3], const double v[3]) {
  double normal[3];
  eb_cross3(u, v, normal);
  return DEGREES * atan2(length(normal), u[0] * v[0] + u[1] * v[1] + u[2] * v[2]);
}

static void widen(eb_mesh_quality *q, double degrees) {
  q->min_dihedral = fmin(q->min_dihedral, degrees);
  q->max_dihedral = fmax(q->max_dihedral, degrees);
}

/* At the edge i-j the faces to the other two corners k and l meet under the angle between their
 * normals (j - i) x (k - i) and (j - i) x (l - i). */
static void dihedral_angles(const double *p[4], eb_mesh_quality *q) {
  static const int edges[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                  {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
  for (int i = 0; i < 6; i++) {
    double edge[3], side[3], first[3], second[3];
    subtract(p[edges[i][1]], p[edges[i][0]], edge);
    subtract(p[edges[i][2]], p[edges[i][0]], side);
    eb_cross3(edge, side, first);
    subtract(p[edges[i][3]], p[edges[i][0]], side);
    eb_cross3(edge, side, second);
    widen(q, angle(first, second));
  }
}

/* The angles of a polygon at its corners. */
static void corner_angles(const double *const p[4], int corners, eb_mesh_quality *q) {
  for (int i = 0; i < corners; i++) {
    double next[3], previous[3];
    subtract(p[(i + 1) % corners], p[i], next);
    subtract(p[(i + corners - 1) % corners], p[i], previous);
    widen(q, angle(next, previous));
  }
}

/* The area of a triangle or quadrilateral (half the cross product of its diagonals), or the length
 * of an edge; *longest grows to its longest side. */
static double face_measure(const double *const p[4], int corners, double *longest) {
  double u[3], v[3], normal[3];
  for (int i = 0; i < corners; i++) {
    subtract(p[(i + 1) % corners], p[i], u);
    *longest = fmax(*longest, length(u));
  }
  if (corners == 2) return length(u);
  subtract(p[corners == 3 ? 1 : 2], p[0], u);
  subtract(p[corners - 1], p[corners == 3 ? 0 : 1], v);
  eb_cross3(u, v, normal);
  return length(normal) / 2;
}

/* The height over a face is 3 V / area in a tetrahedron, V / area in a hexahedron with parallel
 * faces and 2 A / length in a triangle. */
static double aspect(const eb_mesh *mesh, const double *x, int32_t e, double volume) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  const int32_t *element = mesh->elements + (size_t)e * mesh->type;
  double longest = 0, largest = 0;
  for (int32_t f = 0; f < table->count; f++) {
    const double *p[4] = {0};
    for (int32_t i = 0; i < table->nodes; i++) p[i] = x + 3 * (size_t)element[table->local[f][i]];
    largest = fmax(largest, face_measure(p, table->nodes, &longest));
  }
  double factor = mesh->type == EB_TETRAHEDRON ? 3 : mesh->type == EB_TRIANGLE ? 2 : 1;
  return longest * largest / (factor * fabs(volume));
}

static void measure_angles(const eb_mesh *mesh, const double *x, int32_t e, eb_mesh_quality *q) {
  const int32_t *element = mesh->elements + (size_t)e * mesh->type;
  const double *p[EB_HEXAHEDRON] = {0};
  for (int32_t i = 0; i < (int32_t)mesh->type; i++) p[i] = x + 3 * (size_t)element[i];
  if (mesh->type == EB_TETRAHEDRON) {
    dihedral_angles(p, q);
  } else if (mesh->type == EB_TRIANGLE) {
    corner_angles(p, 3, q);
  } else {
    const eb_face_table *table = eb_face_table_of(mesh->type);
    for (int32_t f = 0; f < table->count; f++) {
      const double *face[4];
      for (int32_t i = 0; i < 4; i++) face[i] = p[table->local[f][i]];
      corner_angles(face, 4, q);
    }
  }
}

void eb_mesh_measure(const eb_mesh *mesh, const double *x, eb_mesh_quality *out) {
  *out = (eb_mesh_quality){.min_dihedral = 180, .min_volume = INFINITY, .max_volume = -INFINITY};
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double volume = eb_mesh_element_volume(mesh, x, e);
    out->min_volume = fmin(out->min_volume, volume);
    out->max_volume = fmax(out->max_volume, volume);
    out->total_volume += volume;
    out->inverted += !(volume > 0);
    out->max_aspect = fmax(out->max_aspect, aspect(mesh, x, e, volume));
    measure_angles(mesh, x, e, out);
  }
}
