/* Orientation of points, exactly: the signs that the audit of contact decides by.
 *
 * A determinant is first evaluated in floating point with an error bound; only where that bound
 * cannot tell its sign is it summed as an expansion, a sum of non-overlapping doubles that is the
 * exact value (Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric
 * predicates, 1997). Exact for coordinates that are 0 or between 1e-80 and 1e80 in size; there,
 * nothing underflows or overflows. Nothing is shared with problems/collision. */
#ifndef EB_AUDIT_EXACT_H
#define EB_AUDIT_EXACT_H

#include <math.h>

/* Sign of det[a - d, b - d, c - d]: 1 when d sees a, b, c clockwise (it lies behind a triangle that
 * is counter-clockwise from the front), -1 from the other side, 0 when the four are coplanar. */
int eb_exact_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

/* Of the projection along `axis` (0, 1, 2) onto the two other coordinates, in cyclic order: the
 * sign of det[a - c, b - c], 1 when a, b, c turn counter-clockwise. */
int eb_exact_orient2d(int axis, const double a[3], const double b[3], const double c[3]);

/* ---- at a glance -----------------------------------------------------------------------------
 *
 * Normals of triangles and the side that points are on, where floating point can tell it beyond
 * doubt. The bounds hold as well where multiply-adds are contracted. */

/* n is b x c of two vectors that differences of points may be, as floating point has it; size the
 * sum of absolute values of what is subtracted in it. */
typedef struct eb_exact_normal {
  double n[3], size[3];
} eb_exact_normal;

static inline eb_exact_normal eb_exact_cross(const double b[3], const double c[3]) {
  eb_exact_normal out;
  for (int d = 0; d < 3; d++) {
    int u = (d + 1) % 3, v = (d + 2) % 3;
    double p = b[u] * c[v], q = b[v] * c[u];
    out.n[d] = p - q;
    out.size[d] = fabs(p) + fabs(q);
  }
  return out;
}

/* (t1 - t0) x (t2 - t0), whose components are orient2d in the three projections. */
static inline eb_exact_normal eb_exact_normal_of(const double *t0, const double *t1,
                                                 const double *t2) {
  double b[3], c[3];
  for (int d = 0; d < 3; d++) {
    b[d] = t1[d] - t0[d];
    c[d] = t2[d] - t0[d];
  }
  return eb_exact_cross(b, c);
}

/* The sign of component d, 0 when in doubt: orient2d errs by (3 + 16 e) e times the size, e = 2^-53
 * (exact.c). */
static inline int eb_exact_facing(const eb_exact_normal *normal, int d) {
  double least = 4 * 0x1p-53 * normal->size[d];
  return (normal->n[d] > least) - (normal->n[d] < -least);
}

/* The sign of (p - q) . n, 0 when in doubt. With q = t0 that of orient3d, evaluated alike: it errs
 * by (7 + 56 e) e times the size. So does the product of two normals, which is of fourth order and
 * may come near the least numbers there are; hence 1e-300. */
static inline int eb_exact_along(const eb_exact_normal *normal, const double p[3],
                                 const double q[3]) {
  double sum = 0, size = 0;
  for (int d = 0; d < 3; d++) {
    double way = p[d] - q[d];
    sum += way * normal->n[d];
    size += fabs(way) * normal->size[d];
  }
  double least = 8 * 0x1p-53 * size + 1e-300;
  return (sum > least) - (sum < -least);
}

#endif
