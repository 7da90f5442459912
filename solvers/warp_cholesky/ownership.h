/* Which supernode an element belongs to: that in which the first eliminated of its nodes is
 * eliminated. Its entries of the matrix are owned by that supernode and by ancestors of it. */
#ifndef EB_WARP_OWNERSHIP_H
#define EB_WARP_OWNERSHIP_H

#include "problems/mesh/mesh.h"
#include "solvers/linalg/multifrontal.h"

typedef struct eb_ownership {
  int32_t supernodes, elements;
  int32_t *start; /* supernodes + 1 */
  /* elements: those of supernode s are element[start[s]] .. element[start[s+1]-1], ascending */
  int32_t *element;
} eb_ownership;

EB_MUST eb_error eb_ownership_create(const eb_mesh *mesh, const eb_supernodes *tree,
                                     eb_ownership *out);
void eb_ownership_clear(eb_ownership *ownership);

/* badness[s] = the largest error of the elements of s, NaN when one is; -1 when s has no
 * elements. */
void eb_ownership_badness(const eb_ownership *ownership, const double *error, double *badness);
/* badness[s] = 1 where an element of s is chosen, else -1. */
void eb_ownership_want(const eb_ownership *ownership, const uint8_t *chosen, double *badness);
/* chosen[e] = whether e's supernode has a mark of at least `least`. Returns how many are. */
int32_t eb_ownership_choose(const eb_ownership *ownership, const uint8_t *marked, int least,
                            uint8_t *chosen);

#endif
