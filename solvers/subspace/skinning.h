/* What a subspace is made from: functions at the nodes of the mesh, the slowest first.
 *
 * Skinning eigenmodes are weights of linear blend skinning that know the material (trusty2023,
 * Section 5.1, Equation 9; Benchekroun et al. 2023):
 *
 *   H_w W = M_w W Gamma,   H_w = sum over the three axes of d2W/dx_axis^2 at rest,
 *
 * M_w the lumped masses of the nodes. H_w is a graph Laplacian weighted by stiffness: constants are
 * its null space, so the first mode of a body that nothing pins is constant, and stiff parts have
 * weights that hardly vary.
 *
 * Linear modes are displacements, K V = M V Lambda with the stiffness K at rest: the vibrations of
 * linear modal analysis, the six motions without strain of a free body among them. */
#ifndef EB_SUBSPACE_SKINNING_H
#define EB_SUBSPACE_SKINNING_H

#include "problems/elasticity/elasticity.h"
#include "solvers/solver.h"

typedef struct eb_skinning {
  int32_t nodes, modes;
  int32_t axes;       /* values a node: 1 of weights, 3 of displacements */
  double *weight;     /* modes x nodes x axes, M-orthonormal where there are eigenvalues */
  double *eigenvalue; /* modes, 1/s^2, rising; NULL: these modes have none */
  double residual;    /* largest |A w - gamma M w| / (gamma + shift), in the norm of inv(M) */
} eb_skinning;

/* The lowest `modes` of the elasticity at positions X (nodes x 3), as eb_lowest_eigenpairs. Where
 * pinned[i] != 0 (nodes, or NULL) weights are zero. The same bits for any number of threads.
 * EB_ERR_USAGE for more modes than free nodes. The caller clears *out, here and below. */
EB_MUST eb_error eb_skinning_eigenmodes(const eb_elasticity *elasticity, const double *X,
                                        const uint8_t *pinned, int32_t modes, int threads,
                                        eb_step_log *log, eb_skinning *out);
/* Those of tetrahedra that are all of one modulus (lambda + 4 mu = 1 Pa), with the true masses: the
 * material-blind ones of trusty2023, Figure 3. */
EB_MUST eb_error eb_skinning_uniform(const eb_mesh *mesh, const double *mass, const uint8_t *pinned,
                                     int32_t modes, int threads, eb_step_log *log,
                                     eb_skinning *out);
/* Linear modes. Pinned nodes do not move. EB_ERR_USAGE for more than three a free node. */
EB_MUST eb_error eb_skinning_linear(const eb_elasticity *elasticity, const double *X,
                                    const uint8_t *pinned, int32_t modes, int threads,
                                    eb_step_log *log, eb_skinning *out);
void eb_skinning_clear(eb_skinning *skinning);

#endif
