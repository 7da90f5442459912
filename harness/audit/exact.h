/* Orientation of points, exactly: the signs that the audit of contact decides by.
 *
 * A determinant is first evaluated in floating point with an error bound; only where that bound
 * cannot tell its sign is it summed as an expansion, a sum of non-overlapping doubles that is the
 * exact value (Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric
 * predicates, 1997). Exact for coordinates that are 0 or between 1e-80 and 1e80 in size; there,
 * nothing underflows or overflows. Nothing is shared with problems/collision. */
#ifndef EB_AUDIT_EXACT_H
#define EB_AUDIT_EXACT_H

/* Sign of det[a - d, b - d, c - d]: 1 when d sees a, b, c clockwise (it lies behind a triangle that
 * is counter-clockwise from the front), -1 from the other side, 0 when the four are coplanar. */
int eb_exact_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

/* Of the projection along `axis` (0, 1, 2) onto the two other coordinates, in cyclic order: the
 * sign of det[a - c, b - c], 1 when a, b, c turn counter-clockwise. */
int eb_exact_orient2d(int axis, const double a[3], const double b[3], const double c[3]);

#endif
