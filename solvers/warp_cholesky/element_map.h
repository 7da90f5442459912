/* Which supernode an element belongs to: that in which the first eliminated of its nodes is
 * eliminated. Its entries of the matrix are owned by that supernode and by ancestors of it. */
#ifndef EB_WARP_ELEMENT_MAP_H
#define EB_WARP_ELEMENT_MAP_H

#include "problems/mesh/mesh.h"
#include "solvers/linalg/multifrontal.h"

typedef struct eb_element_map {
  int32_t supernodes, elements;
  int32_t *start; /* supernodes + 1 */
  /* elements: those of supernode s are element[start[s]] .. element[start[s+1]-1], ascending */
  int32_t *element;
} eb_element_map;

EB_MUST eb_error eb_element_map_create(const eb_mesh *mesh, const eb_supernodes *tree,
                                       eb_element_map *out);
void eb_element_map_clear(eb_element_map *map);

/* badness[s] = the largest error of the elements of s, NaN when one is; -1 when s has no
 * elements. */
void eb_element_map_badness(const eb_element_map *map, const double *error, double *badness);
/* badness[s] = 1 where an element of s is chosen, else -1. */
void eb_element_map_want(const eb_element_map *map, const uint8_t *chosen, double *badness);
/* chosen[e] = whether e's supernode has a mark of at least `least`. Returns how many are. */
int32_t eb_element_map_choose(const eb_element_map *map, const uint8_t *marked, int least,
                              uint8_t *chosen);

#endif
