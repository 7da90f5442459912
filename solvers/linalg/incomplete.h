/* Incomplete Cholesky factor of 3x3-block matrices, M = L L^T without fill, IC(0), as a
 * preconditioner. Inside solvers/linalg only. */
#ifndef EB_LINALG_INCOMPLETE_H
#define EB_LINALG_INCOMPLETE_H

#include <stdbool.h>

#include "problems/elasticity/block_matrix.h"
#include "solvers/linalg/spin_team.h"

typedef struct eb_block_ic eb_block_ic;

/* For the pattern of A and teams of at most `threads`. */
EB_MUST eb_error eb_block_ic_create(const eb_block_matrix *pattern, int threads, eb_block_ic **out);
void eb_block_ic_destroy(eb_block_ic *ic);

/* By all members of a team. False, for all, when a diagonal entry of A is not positive, so that no
 * shift can help. */
bool eb_block_ic_factor(eb_block_ic *ic, const eb_block_matrix *A, eb_spin_member *member);
/* L L^T z = r, 3 rows each. By all members of a team: r is complete before, z after it. */
void eb_block_ic_solve(eb_block_ic *ic, const double *r, eb_spin_member *member);
/* Nodes from .. to-1 of the last z. */
void eb_block_ic_result(const eb_block_ic *ic, int32_t from, int32_t to, double *z);

#endif
