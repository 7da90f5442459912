/* What a solver in a subspace says of it, so that others can hold its steps against the equation
 * that they solve: positions x = X + I_3 (x) Phi u, elastic forces from some elements alone. */
#ifndef EB_SUBSPACE_RECORD_H
#define EB_SUBSPACE_RECORD_H

#include <stdint.h>

/* With an eb_equation of implicit Euler or statics, the step solves it in this subspace:
 *   Phi^T (M (x1 - xt) / h^2 - f_ext + sum_c weight_c P(F_c(x1)) dN/dX) = 0,  x1 - X in its span,
 * Phi^T M Phi = I, and the weights are volumes that make up the body. Owned by the solver; the same
 * in every step. */
typedef struct eb_subspace_record {
  int32_t nodes, size, stride;
  const double *phi; /* nodes x stride, of which `size` count */
  int32_t count;
  const int32_t *element;  /* count */
  const double *weight;    /* count, m^3 */
  int32_t weights;         /* skinning weights that phi is made from; 0: not told */
  const double *weight_of; /* weights x nodes, kg^-1/2 */
} eb_subspace_record;

#endif
