/* What a mesh that is valid (eb_mesh_validate) may still have wrong with it, found before it runs:
 * nothing holds nodes together that only lie at one place. */
#ifndef EB_MESH_DIAGNOSE_H
#define EB_MESH_DIAGNOSE_H

#include <stdbool.h>

#include "problems/base/text.h"
#include "problems/mesh/mesh.h"

#define EB_MESH_POOR 0.02 /* quality of an element; the thinnest sheets of the catalogue: 0.03 */

typedef struct eb_mesh_diagnosis {
  int32_t pieces;        /* connected components, through shared nodes */
  int32_t coincident;    /* pairs of nodes at one place */
  int32_t hanging;       /* nodes inside a face or an edge that does not have them */
  int32_t holding;       /* faces in which they lie */
  int32_t crowded_edges; /* edges of more than two boundary faces */
  bool at_least;         /* there are so many coincident or hanging nodes that not all were found */
  /* The least quality of an element, and the first element of it: of a tetrahedron the mean ratio
   * 12 (3 V)^(2/3) / (sum of squared edges) (Liu and Joe, 1994), of a triangle 4 sqrt(3) A / (sum
   * of squared edges), of a hexahedron the scaled Jacobian, the least determinant of the three unit
   * edges at a corner. 1 is best: equal edges, or square corners. */
  double quality;
  int32_t worst;
  double min_dihedral, max_dihedral; /* degrees; of tetrahedra, else 0 */
} eb_mesh_diagnosis;

/* The name of that measure. */
const char *eb_mesh_quality_name(eb_element_type type);

/* Nodes, faces and edges are those of the boundary. Places are equal within 1e-4 of the shortest
 * edge beside them: files round to six digits. O(n log n): where very many nodes crowd at a place,
 * the search ends early, and counts are lower bounds. */
EB_MUST eb_error eb_mesh_diagnose(const eb_mesh *mesh, eb_mesh_diagnosis *out);
/* What a user should know of it, a line each with `name` in front; nothing when all is well. */
EB_MUST eb_error eb_mesh_diagnosis_print(const eb_mesh_diagnosis *diagnosis, eb_element_type type,
                                         const char *name, eb_text *out);

#endif
