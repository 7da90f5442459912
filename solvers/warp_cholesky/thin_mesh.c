/* The smallest height of a tetrahedron is 3 V / A with the area A of its largest face.
 *
 * In thin structures the rotations of neighbouring nodes differ by much near wrinkles and
 * creases, and an element between them feels forces that balance nothing (Hecht et al. 2012,
 * Section 4.1). */
#include "solvers/warp_cholesky/thin_mesh.h"

#include <math.h>

static double length(const double u[3]) {
  return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

static double triangle_area(const double *a, const double *b, const double *c) {
  double u[3], v[3];
  for (int d = 0; d < 3; d++) {
    u[d] = b[d] - a[d];
    v[d] = c[d] - a[d];
  }
  const double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                            u[0] * v[1] - u[1] * v[0]};
  return 0.5 * length(normal);
}

static bool is_flat(const eb_mesh *mesh, int32_t e) {
  static const double flatness = 0.05;
  const double *p[4];
  double edge = 0, face = 0;
  for (int a = 0; a < 4; a++) p[a] = mesh->X + 3 * (int64_t)mesh->elements[4 * (int64_t)e + a];
  for (int a = 0; a < 4; a++) {
    face = fmax(face, triangle_area(p[(a + 1) % 4], p[(a + 2) % 4], p[(a + 3) % 4]));
    for (int b = 0; b < a; b++) {
      const double side[3] = {p[a][0] - p[b][0], p[a][1] - p[b][1], p[a][2] - p[b][2]};
      edge = fmax(edge, length(side));
    }
  }
  return 3 * eb_mesh_element_volume(mesh, mesh->X, e) < flatness * edge * face;
}

bool eb_mesh_is_thin(const eb_mesh *mesh) {
  int64_t flat = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) flat += is_flat(mesh, e);
  return mesh->element_count > 0 && 2 * flat >= mesh->element_count;
}
