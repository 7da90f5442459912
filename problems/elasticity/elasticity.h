/* Elastic energy E(x) of a mesh, its gradient g = dE/dx (the internal force is -g) and Hessian H.
 *
 * Everything is precomputed once: rest shape inverse, volumes, lumped mass, the sparsity of the
 * node graph and the scatter map. Elements are kept in chunks, sorted by colour (chunks of one
 * colour share no node) and assembled in parallel straight into place; at every node the chunks
 * come in one fixed order, so results have the same bits for any number of threads. The functions
 * allocate nothing and use the OpenMP threads that omp_set_num_threads has set. One elasticity
 * serves one call at a time. */
#ifndef EB_ELASTICITY_H
#define EB_ELASTICITY_H

#include "problems/elasticity/block_matrix.h"
#include "problems/elasticity/material.h"
#include "problems/mesh/mesh.h"

typedef struct eb_elasticity eb_elasticity;

/* Tetrahedra, hexahedra (trilinear; 2x2x2 Gauss points, or one and control of hourglass modes, as
 * the materials' `integration` says, one_point.c) and planar triangles: plane strain, F33 = 1, of 1
 * m thickness unless the materials say otherwise; forces along z are 0, and H's z entries, on which
 * nothing acts, are the mean of its x and y entries, so that H is definite where the plane problem
 * is. `materials` has one entry a region and is copied. The mesh is not kept. */
EB_MUST eb_error eb_elasticity_create(const eb_mesh *mesh, const eb_material *materials,
                                      eb_elasticity **out);
/* The same of a mesh of which the elements from `counted` on are others' to count: they are in
 * gradient, matrix and masses, and not in the energy. */
EB_MUST eb_error eb_elasticity_create_shared(const eb_mesh *mesh, const eb_material *materials,
                                             int32_t counted, eb_elasticity **out);
void eb_elasticity_destroy(eb_elasticity *elasticity);

/* Sets the activation (0 to 1) of every material with fibres from now on. */
void eb_elasticity_activate(eb_elasticity *elasticity, double activation);

/* Bytes it holds. */
int64_t eb_elasticity_bytes(const eb_elasticity *elasticity);
/* Lumped mass of each node, kg (nodes). Owned by the elasticity. */
const double *eb_elasticity_mass(const eb_elasticity *elasticity);
/* The pattern of H, for eb_block_matrix_like. Owned by the elasticity; it has no values. */
const eb_block_matrix *eb_elasticity_pattern(const eb_elasticity *elasticity);

/* x: nodes x 3 positions, m. Energy in J; g (nodes x 3) in N is overwritten. */
double eb_elasticity_energy(const eb_elasticity *elasticity, const double *x);
void eb_elasticity_gradient(const eb_elasticity *elasticity, const double *x, double *g);

/* Overwrites `matrix` (pattern of eb_elasticity_pattern) with mass_scale M + hessian_scale H(x),
 * exactly symmetric; with `project`, each element's contribution is positive semi-definite. `g`,
 * when not NULL, receives the gradient in the same sweep. For EB_COROTATIONAL, H is the sum of R_e
 * K_e R_e^T. */
void eb_elasticity_matrix(const eb_elasticity *elasticity, const double *x, double mass_scale,
                          double hessian_scale, bool project, eb_block_matrix *matrix, double *g);

/* Rotations R_e of every element (elements x 9), proper also for inverted elements (Irving et al.
 * 2004). */
void eb_elasticity_rotations(const eb_elasticity *elasticity, const double *x, double *rotations);

#endif
