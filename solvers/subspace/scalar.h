/* Symmetric sparse matrices with one row a node: Laplacians of the mesh, and how the project's
 * Cholesky, which is made for blocks of 3 x 3, takes them. */
#ifndef EB_SUBSPACE_SCALAR_H
#define EB_SUBSPACE_SCALAR_H

#include "problems/elasticity/elasticity.h"

/* Compressed rows, both triangles, columns ascending, the diagonal among them. */
typedef struct eb_scalar_matrix {
  int32_t rows;
  int32_t *start;  /* rows + 1 */
  int32_t *column; /* start[rows] */
  double *value;   /* start[rows] */
} eb_scalar_matrix;

/* H_w: at (i, j) the trace of the 3 x 3 block of the elasticity's Hessian at rest (trusty2023,
 * Equation 9). X: nodes x 3. The caller clears *out, here and below. */
EB_MUST eb_error eb_scalar_stiffness(const eb_elasticity *elasticity, const double *X,
                                     eb_scalar_matrix *out);
/* The Laplacian of linear tetrahedra times `factor`: sum over elements of factor V grad N_i . grad
 * N_j. With lambda + 4 mu for the factor it is H_w of a body of these moduli. */
EB_MUST eb_error eb_scalar_laplacian(const eb_mesh *mesh, double factor, eb_scalar_matrix *out);
/* L inv(diag(mass)) L; mass: rows, > 0. */
EB_MUST eb_error eb_scalar_biharmonic(const eb_scalar_matrix *L, const double *mass,
                                      eb_scalar_matrix *out);
void eb_scalar_clear(eb_scalar_matrix *matrix);

/* y = A x; rows long, not overlapping. */
void eb_scalar_multiply(const eb_scalar_matrix *A, const double *x, double *y);

/* The matrix in blocks: three rows that are near each other make one. row[i] (A.rows entries) is
 * the scalar row of node i in *out; blocks that are not full have 1 on the diagonal of their empty
 * rows, marked by origin[row] = -1 where others have their node (3 out->rows entries). The caller
 * frees the three. */
EB_MUST eb_error eb_scalar_pack(const eb_scalar_matrix *A, eb_block_matrix **out, int32_t **row,
                                int32_t **origin);

#endif
