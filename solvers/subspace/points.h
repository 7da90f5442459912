/* Cubature points of a subspace: stretches, stresses and the dense stiffness, all in coefficients u
 * of the basis; nothing here has the size of the mesh.
 *
 * With G_c the gradients of the scalar functions in the element of point c, F_c = I + U G_c, where
 * U is u as 3 x size; functions of three components have nine gradients each, F_c = I + u . G_c. A
 * stiffness is a sum of squares,
 *
 *   K = sum_c w_c sum_l a_cl a_cl^T,   a_cl = E_cl : dF_c/du,
 *
 * six of them a point in the mixed form, where the E are the factor of H carried back by J
 * (mixed_point.h), nine in FEM: three for the diagonal entries of the tangent in the frame of the
 * singular vectors, three flips, three twists, those below zero left out. K is then one symmetric
 * rank-(6 or 9) count update of a dense matrix. */
#ifndef EB_SUBSPACE_POINTS_H
#define EB_SUBSPACE_POINTS_H

#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/mixed.h"
#include "solvers/subspace/basis.h"
#include "solvers/subspace/cubature.h"

typedef struct eb_points eb_points;

/* Tetrahedra. `materials` has one entry a region. With `mixed`, stretches of their own, which start
 * as the identity. EB_ERR_UNSUPPORTED for other elements, and for materials that are not functions
 * of the stretch alone. Keeps nothing of what it is given. */
EB_MUST eb_error eb_points_create(const eb_mesh *mesh, const eb_material *materials,
                                  const eb_basis *basis, const eb_cubature *cubature, bool mixed,
                                  eb_points **out);
void eb_points_destroy(eb_points *points);

/* S = Sbar(u), and nothing in FEM. u, q, g: coefficients of the basis. */
void eb_points_project(eb_points *points, const double *u);
/* First half of an iteration: stresses at (u, S). q = sum w J^T (dpsi/dS + H (Sbar - S)), and in
 * FEM the same as g; g = sum w B^T P(F) of FEM. Prepares what eb_points_stiffness needs. */
void eb_points_linearize(eb_points *points, const double *u, double *q, double *g);
/* K into `stiffness` (coefficients squared, column-major, lower triangle; overwritten). */
void eb_points_stiffness(eb_points *points, double *stiffness);
/* Floating-point operations of one such K, multiplications and additions. */
double eb_points_stiffness_flops(const eb_points *points);
/* The mixed form's second half: dS and lambda for the direction p. As eb_mixed_expand. */
double eb_points_expand(eb_points *points, const double *p, eb_mixed_energy *before);
/* Elastic part of the Lagrangian at (u, S + a dS); in FEM the elastic energy at u. */
eb_mixed_energy eb_points_energy(const eb_points *points, const double *u, double a);
/* S += a dS; nothing in FEM. */
void eb_points_accept(eb_points *points, double a);
/* What the elasticity is a difference of: sum of w (stiffness), J. */
double eb_points_scale(const eb_points *points);
/* What rounding of F, whose entries are of the size of 1, leaves unknown of the forces: 4 eps times
 * the norm of w (stiffness) G over the points, in units of q. */
double eb_points_unknown(const eb_points *points);

#endif
