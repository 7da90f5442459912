/* What a solver in a subspace says of it, so that others can hold its steps against the equation
 * that they solve: positions x = X + B u, B = I_3 (x) Phi (axes = 1) or Phi (axes = 3), elastic
 * forces from some elements alone. */
#ifndef EB_SUBSPACE_RECORD_H
#define EB_SUBSPACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* With an eb_equation of implicit Euler or statics, the step solves it in this subspace:
 *   B^T (M (x1 - xt) / h^2 - f_ext + sum_c weight_c P(F_c(x1)) dN/dX) = 0,  x1 - X in its span,
 * B^T M B = I, and the weights are volumes that make up the body. Owned by the solver; the same
 * in every step. */
typedef struct eb_subspace_record {
  int32_t nodes, axes, size, stride;
  const double *phi; /* (axes nodes) x stride, of which `size` count */
  int32_t count;
  const int32_t *element;  /* count */
  const double *weight;    /* count, m^3 */
  int32_t weights;         /* skinning weights that phi is made from; 0: not told */
  const double *weight_of; /* weights x nodes, kg^-1/2 */
} eb_subspace_record;

/* Entries of u. */
static inline int32_t eb_subspace_coefficients(const eb_subspace_record *s) {
  return s->axes == 1 ? 3 * s->size : s->size;
}
/* The row of Phi for an axis of a node (size entries), and the coefficient that its first belongs
 * to. */
static inline const double *eb_subspace_row(const eb_subspace_record *s, size_t node, size_t axis,
                                            size_t *first) {
  *first = s->axes == 1 ? axis * (size_t)s->size : 0;
  return s->phi + (s->axes == 1 ? node : 3 * node + axis) * (size_t)s->stride;
}

#endif
