/* Skinning eigenmodes: weights of linear blend skinning that know the material (trusty2023,
 * Section 5.1, Equation 9; Benchekroun et al. 2023).
 *
 *   H_w W = M_w W Gamma,   H_w = sum over the three axes of d2W/dx_axis^2 at rest,
 *
 * M_w the lumped masses of the nodes. H_w is a graph Laplacian weighted by stiffness: constants are
 * its null space, so the first mode of a body that nothing pins is constant, and stiff parts have
 * weights that hardly vary. */
#ifndef EB_SUBSPACE_SKINNING_H
#define EB_SUBSPACE_SKINNING_H

#include "problems/elasticity/elasticity.h"

struct eb_step_log;

typedef struct eb_skinning {
  int32_t nodes, modes;
  double *weight;     /* modes x nodes, M-orthonormal, the lowest eigenvalue first */
  double *eigenvalue; /* modes, 1/s^2 */
  double residual;    /* largest |H_w w - gamma M_w w| / (gamma + shift), in the norm of inv(M_w) */
} eb_skinning;

/* The lowest `modes` of the elasticity at positions X (nodes x 3), by SLEPc's Krylov-Schur on the
 * inverse of H_w + shift M_w, which the project's Cholesky factors. Where pinned[i] != 0 (nodes, or
 * NULL) weights are zero. The same bits for any number of threads. EB_ERR_USAGE for more modes than
 * free nodes; EB_ERR_LIBRARY when an eigenpair does not reach a residual of 1e-8. The caller clears
 * *out. */
EB_MUST eb_error eb_skinning_eigenmodes(const eb_elasticity *elasticity, const double *X,
                                        const uint8_t *pinned, int32_t modes, int threads,
                                        struct eb_step_log *log, eb_skinning *out);
void eb_skinning_clear(eb_skinning *skinning);

#endif
