/* Corotational linear elasticity taken apart: rotations, forces, and element matrices that may be
 * out of date.
 *
 * With R_e the rotation of element e, K_e its constant stiffness matrix and R_i a rotation at every
 * node,
 *
 *   exact       K(x) = sum_e R_e K_e R_e^T
 *   approximate R_n [ sum_e Q_e K_e Q_e^T ] R_n^T,
 *   Q_e = diag(R_1^T R_e, .., R_4^T R_e) as last refreshed,
 *
 * R_n = diag(R_i) of the present. An element whose Q_e is of the present contributes exactly R_e
 * K_e R_e^T: the node rotations cancel (Hecht, Lee, Shewchuk and O'Brien 2012, Equations 3 to 5).
 * The matrix in brackets is what gets factored; it changes only where elements are refreshed.
 *
 * Tetrahedra whose materials are all EB_COROTATIONAL. Functions after create allocate nothing, use
 * the OpenMP threads that omp_set_num_threads has set, and give the same bits for any number of
 * them. */
#ifndef EB_COROTATION_H
#define EB_COROTATION_H

#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/rotation.h"

typedef struct eb_corotation eb_corotation;

/* `materials` has one entry a region and is copied; the mesh is not kept. EB_ERR_UNSUPPORTED for
 * other elements or materials. All rotations start as the identity. */
EB_MUST eb_error eb_corotation_create(const eb_mesh *mesh, const eb_material *materials,
                                      eb_corotation **out);
void eb_corotation_destroy(eb_corotation *corotation);
/* Bytes it holds. */
int64_t eb_corotation_bytes(const eb_corotation *corotation);

/* R_e of every element at x (nodes x 3), proper also for inverted elements (Irving et al. 2004). */
void eb_corotation_rotate_elements(eb_corotation *corotation, const double *x);
/* What eb_corotation_estimate_elements works on: the rest of `mesh`, the one that the corotation
 * was made for. */
EB_MUST eb_error eb_corotation_track(eb_corotation *corotation, const eb_mesh *mesh);
/* R_e of every element by one of the estimators, and by the same at all times. Those that track go
 * on from the last estimate, or from the identity when `cold`. A reflection is one in forces and
 * matrix, too. rotations (elements x 9, row-major) receives them. */
void eb_corotation_estimate_elements(eb_corotation *corotation, eb_rotation_method method,
                                     bool cold, const double *x, double *rotations);
/* R_i of every node: the rotation that takes the nodes it shares elements with, relative to it and
 * all with weight one, best from their rest positions to x (Horn 1987). Always proper; where the
 * ring does not determine it (all on a line) the one nearest to the last. Nodes without elements
 * and rings with NaN keep theirs. */
void eb_corotation_rotate_nodes(eb_corotation *corotation, const double *x);
/* R_i = identity at every node. */
void eb_corotation_freeze_nodes(eb_corotation *corotation);
/* nodes x 9, row-major; owned by the corotation. */
const double *eb_corotation_node_rotations(const eb_corotation *corotation);
/* out := R_n^T in, or R_n in when not `transpose` (nodes x 3; may be the same). */
void eb_corotation_turn(const eb_corotation *corotation, bool transpose, const double *in,
                        double *out);

/* g = sum_e R_e K_e (R_e^T x_e - X_e), N, with the R_e of the last rotate_elements. */
void eb_corotation_gradient(const eb_corotation *corotation, const double *x, double *g);

/* Takes every Q_e of the present and overwrites `matrix` (pattern of eb_elasticity_pattern) with
 * mass_scale M + stiffness_scale sum_e Q_e K_e Q_e^T. M is lumped and commutes with the
 * rotations. */
void eb_corotation_assemble(eb_corotation *corotation, const double *mass, double mass_scale,
                            double stiffness_scale, eb_block_matrix *matrix);
/* Takes Q_e of the present for the elements with marked[e] != 0, and changes `matrix` by the
 * difference. */
void eb_corotation_refresh(eb_corotation *corotation, const uint8_t *marked, double stiffness_scale,
                           eb_block_matrix *matrix);
/* Where elements are stale: error[e] = | R_e K_e R_e^T v_e - R_n Q_e K_e Q_e^T R_n^T v_e |_2 times
 * stiffness_scale, kg m/s for a stiffness_scale in s^2 (Section 4.2; the mass drops out). v: nodes
 * x 3, m/s. */
void eb_corotation_errors(const eb_corotation *corotation, const double *v, double stiffness_scale,
                          double *error);

#endif
