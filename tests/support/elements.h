/* A plain reference for the elements: one element, one quadrature point and one entry after the
 * other, from the one-element interface of the materials. Slow on purpose; shares no code with the
 * assembly it judges. */
#ifndef EB_TESTS_ELEMENTS_H
#define EB_TESTS_ELEMENTS_H

#include <math.h>
#include <string.h>

#include "problems/elasticity/material.h"
#include "problems/mesh/mesh.h"

enum { REFERENCE_NODES = 8, REFERENCE_POINTS = 8 };

typedef struct reference_point {
  double slope[REFERENCE_NODES][3]; /* dN_a / dX */
  double shape[REFERENCE_NODES];
  double volume;
} reference_point;

static inline double reference_invert(double A[3][3], double inverse[3][3]) {
  double d = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, e = (j + 2) % 3;
      inverse[j][i] = A[a][c] * A[b][e] - A[a][e] * A[b][c];
    }
  for (int j = 0; j < 3; j++) d += A[0][j] * inverse[j][0];
  for (int i = 0; i < 9; i++) (&inverse[0][0])[i] /= d;
  return d;
}

/* Shape functions and their natural derivatives at (r, s, t). */
static inline void reference_shapes(eb_element_type type, const double r[3], double N[],
                                    double D[][3]) {
  if (type == EB_TRIANGLE) {
    const double slope[3][3] = {{-1, -1, 0}, {1, 0, 0}, {0, 1, 0}};
    memcpy(D, slope, sizeof slope);
    N[0] = 1 - r[0] - r[1];
    N[1] = r[0];
    N[2] = r[1];
    return;
  }
  if (type == EB_TETRAHEDRON) {
    N[0] = 1 - r[0] - r[1] - r[2];
    for (int i = 0; i < 3; i++) {
      N[i + 1] = r[i];
      D[0][i] = -1;
      for (int a = 1; a < 4; a++) D[a][i] = a == i + 1;
    }
    return;
  }
  static const int at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                               {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  for (int a = 0; a < 8; a++) {
    double f[3], d[3];
    for (int i = 0; i < 3; i++) {
      f[i] = at[a][i] ? r[i] : 1 - r[i];
      d[i] = at[a][i] ? 1 : -1;
    }
    N[a] = f[0] * f[1] * f[2];
    D[a][0] = d[0] * f[1] * f[2];
    D[a][1] = f[0] * d[1] * f[2];
    D[a][2] = f[0] * f[1] * d[2];
  }
}

/* The quadrature points of element e; returns their number. A triangle is 1 m thick: its Jacobian
 * has a 1 along z. */
static inline int reference_points(const eb_mesh *mesh, int32_t e, reference_point *points) {
  const bool planar = mesh->type == EB_TRIANGLE;
  int nodes = (int)mesh->type, count = mesh->type == EB_HEXAHEDRON ? 8 : 1;
  for (int q = 0; q < count; q++) {
    double r[3], D[REFERENCE_NODES][3], J[3][3] = {{0}}, inverse[3][3];
    for (int i = 0; i < 3; i++)
      r[i] = count == 1 ? (planar ? 1 / 3.0 : 0.25) : 0.5 + (q >> i & 1 ? 0.5 : -0.5) / sqrt(3.0);
    reference_shapes(mesh->type, r, points[q].shape, D);
    for (int a = 0; a < nodes; a++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          J[i][j] += mesh->X[3 * mesh->elements[nodes * e + a] + i] * D[a][j];
    if (planar) J[2][2] = 1;
    points[q].volume = reference_invert(J, inverse) / (count == 8 ? 8 : planar ? 2 : 6);
    for (int a = 0; a < nodes; a++)
      for (int i = 0; i < 3; i++) {
        points[q].slope[a][i] = 0;
        for (int j = 0; j < 3; j++) points[q].slope[a][i] += D[a][j] * inverse[j][i];
      }
  }
  return count;
}

/* What a planar element keeps of a 3 x 3 x 3 x 3 tangent contracted with two slopes: the plane's
 * entries, and along z their mean. */
static inline void reference_flatten(double K[9]) {
  K[2] = K[5] = K[6] = K[7] = 0;
  K[8] = (K[0] + K[4]) / 2;
}

/* Energy, gradient (3 n) and dense matrix (3 n x 3 n) of mass_scale M + hessian_scale H. */
typedef struct reference_sums {
  double energy, *gradient, *matrix;
} reference_sums;

static inline void reference_add(const eb_mesh *mesh, const eb_material *materials, const double *x,
                                 int32_t e, double mass_scale, double hessian_scale, bool project,
                                 reference_sums *out) {
  int nodes = (int)mesh->type, size = 3 * mesh->node_count;
  const int32_t *node = mesh->elements + nodes * e;
  const eb_material *material = &materials[mesh->region[e]];
  const double *fibre = mesh->fibre ? mesh->fibre + 3 * e : NULL;
  const bool planar = mesh->type == EB_TRIANGLE;
  const double thickness = planar && material->thickness > 0 ? material->thickness : 1;
  reference_point points[REFERENCE_POINTS];
  int count = reference_points(mesh, e, points);
  for (int q = 0; q < count; q++) {
    const reference_point *p = &points[q];
    const double volume = thickness * p->volume;
    double F[9] = {0}, P[9], T[81];
    for (int a = 0; a < nodes; a++)
      for (int i = 0; i < 9; i++) F[i] += x[3 * node[a] + i / 3] * p->slope[a][i % 3];
    for (int k = 0; planar && k < 3; k++) F[6 + k] = k == 2;
    out->energy += volume * eb_material_energy(material, F, fibre);
    eb_material_stress(material, F, fibre, P);
    eb_material_tangent(material, F, fibre, project, T);
    for (int a = 0; a < nodes; a++)
      for (int i = 0; i < (planar ? 6 : 9); i++)
        out->gradient[3 * node[a] + i / 3] += volume * P[i] * p->slope[a][i % 3];
    for (int a = 0; a < nodes; a++)
      for (int b = 0; b < nodes; b++) {
        double K[9] = {0};
        for (int r = 0; r < 9; r++)
          for (int c = 0; c < 9; c++)
            K[3 * (r / 3) + c / 3] += p->slope[a][r % 3] * T[9 * r + c] * p->slope[b][c % 3];
        if (planar) reference_flatten(K);
        for (int i = 0; i < 9; i++)
          out->matrix[size * (3 * node[a] + i / 3) + 3 * node[b] + i % 3] +=
              hessian_scale * volume * K[i];
      }
    for (int a = 0; a < nodes; a++)
      for (int i = 0; i < 3; i++)
        out->matrix[(size + 1) * (3 * node[a] + i)] +=
            mass_scale * material->density * volume * p->shape[a];
  }
}

#endif
