/* A matrix with scripted nodes taken out, kept beside the whole matrix while parts of that
 * change. */
#ifndef EB_WARP_CONSTRAINED_H
#define EB_WARP_CONSTRAINED_H

#include "problems/elasticity/block_matrix.h"
#include "problems/mesh/mesh.h"

/* Overwrites `constrained` (pattern of A) with A, rows and columns of fixed nodes being the
 * identity times a scale of A's diagonal. */
void eb_constrained_renew(const eb_block_matrix *A, const uint8_t *fixed,
                          eb_block_matrix *constrained);
/* Follows a change of A in the entries of the elements with changed[e] != 0. `touched`: workspace,
 * a byte a node. */
void eb_constrained_follow(const eb_block_matrix *A, const eb_mesh *mesh, const uint8_t *changed,
                           const uint8_t *fixed, uint8_t *touched, eb_block_matrix *constrained);
/* The scale on the diagonal of fixed node i. */
double eb_constrained_scale(const eb_block_matrix *constrained, int32_t i);

#endif
