/* One iteration of the mixed form as it stands before condensation: the reference that mfem's
 * condensed system is tested against.
 *
 * With p, and dS and lambda of every element, all equations at once:
 *
 *   H_x p              + sum w J^T lambda = -grad Psi
 *         w H dS       - w lambda         = -w dpsi/dS
 *   w J p - w dS                          = -w (Sbar - S)
 *
 * (trusty2023, Equation 4, in the notation of problems/elasticity/mixed.h). Symmetric, indefinite,
 * 3 unknowns a node and 12 an element, solved by MUMPS through PETSc. Eliminating dS by the last
 * and lambda by the second row leaves
 *
 *   (H_x + sum w J^T H J) p = -grad Psi - sum w J^T (dpsi/dS + H (Sbar - S)),
 *
 * which is what eb_mixed_condense assembles: nothing else is left out.
 *
 * J and H are taken element by element from one deformation gradient's singular values and
 * eb_material_tangent, and share no sweep with eb_mixed_condense. */
#ifndef EB_MFEM_KKT_H
#define EB_MFEM_KKT_H

#include "problems/springs.h"
#include "solvers/solver.h"

typedef struct eb_kkt eb_kkt;

/* Tetrahedra. The scene outlives it. EB_ERR_UNSUPPORTED for other elements, and where PETSc has no
 * MUMPS. */
EB_MUST eb_error eb_kkt_create(const eb_scene *scene, eb_kkt **out);
void eb_kkt_destroy(eb_kkt *kkt);

/* What an iteration starts from, and what it finds. Symmetric matrices: 00 11 22 12 02 01. */
typedef struct eb_kkt_iteration {
  const double *x;           /* nodes x 3, m */
  const double *S;           /* elements x 6 */
  double inertia;            /* 1/s^2 */
  const eb_springs *springs; /* H_x = inertia M + their stiffness; NULL: none */
  const uint8_t *fixed;      /* nodes: p = 0 there; NULL: none */
  const double *rhs;         /* nodes x 3: -grad Psi, N; not read at fixed nodes */
  double *p;                 /* out, nodes x 3, m */
  double *dS, *lambda;       /* out, elements x 6, - and Pa */
} eb_kkt_iteration;

/* Assembles, factors and solves (phases ASSEMBLE, FACTOR, SOLVE). *reason: EB_CONVERGED_DIRECT,
 * EB_DIVERGED_NAN (x or S are not finite), or EB_DIVERGED_BREAKDOWN when the system is singular.
 * EB_ERR_LIBRARY and EB_ERR_MEMORY as PETSc says. */
EB_MUST eb_error eb_kkt_solve(eb_kkt *kkt, const eb_kkt_iteration *iteration, eb_step_log *log,
                              eb_reason *reason);

#endif
