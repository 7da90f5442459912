/* Springs (problems/springs.h) seen from a subspace: with phi_s the row of Phi at the node of a
 * spring, and u as 3 x size, x_i = X_i + U phi_s, so that
 *
 *   S(u) = sum_s 1/2 k_s |X_s - p_s + U phi_s|^2,
 *   B^T dS/dx = sum_s k_s (X_s - p_s + U phi_s) (x) phi_s,
 *
 * and the Hessian is one block sum_s k_s phi_s phi_s^T for each axis. In a basis of displacements a
 * node has a row for each axis, and the Hessian is one block of all. Rows of Phi are copied once:
 * nothing here has the size of the mesh. */
#ifndef EB_SUBSPACE_SPRINGS_H
#define EB_SUBSPACE_SPRINGS_H

#include "problems/springs.h"
#include "solvers/subspace/basis.h"

typedef struct eb_reduced_springs {
  eb_springs springs;
  int32_t axes, size; /* of the basis */
  double *phi;        /* count x axes x size */
  double *rest;       /* count x 3: X_s, m */
  double *block;      /* size x size, lower triangle by columns: sum k phi phi^T */
  double *stiffness;  /* count: the k that the block has */
} eb_reduced_springs;

/* The caller clears *out, also after failure. */
EB_MUST eb_error eb_reduced_springs_create(const eb_scene *scene, const eb_basis *basis,
                                           eb_reduced_springs *out);
void eb_reduced_springs_clear(eb_reduced_springs *reduced);
/* Places and stiffness at time t, and the block where the stiffness has changed. */
void eb_reduced_springs_set(eb_reduced_springs *reduced, const eb_scene *scene, double t);

/* u, f: coefficients of the basis. f = -B^T dS/dx at u, overwritten. */
void eb_reduced_springs_force(const eb_reduced_springs *reduced, const double *u, double *f);
/* S at u, J. */
double eb_reduced_springs_energy(const eb_reduced_springs *reduced, const double *u);
/* p . d2S/du2 p. */
double eb_reduced_springs_curvature(const eb_reduced_springs *reduced, const double *p);
/* Adds d2S/du2 to K (coefficients squared, column-major, lower triangle). */
void eb_reduced_springs_stiffness(const eb_reduced_springs *reduced, double *K);

#endif
