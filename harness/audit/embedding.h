/* What the inverse map of a mesh's elements costs and is worth, for runs that ask for it: `points`
 * random places in every element at rest, their positions by formulas of the harness, and what
 * eb_embed4 (problems/mesh/embedding.h) makes of these. */
#ifndef EB_AUDIT_EMBEDDING_H
#define EB_AUDIT_EMBEDDING_H

#include "problems/mesh/mesh.h"

typedef struct eb_embedding_figures {
  double iterations_max, iterations_mean; /* updates of Newton's method */
  double error_max; /* largest error of a natural coordinate, of which an edge is 2 (1 in
                       tetrahedra); NaN: a place was not found */
} eb_embedding_figures;

/* Of tetrahedra or hexahedra; false for other elements. */
bool eb_embedding_examine(const eb_mesh *mesh, int64_t points, uint64_t seed,
                          eb_embedding_figures *out);

#endif
