/* eb_stuff on a shifted lattice, for the search of an element count. */
#ifndef EB_MESH_STUFF_SHIFTED_H
#define EB_MESH_STUFF_SHIFTED_H

#include "problems/mesh/stuffing.h"

/* The lattice is moved by `shift` spacings against the centre of the solid's box. *out is NULL when
 * no point is inside. */
EB_MUST eb_error eb_stuff_shifted(const eb_solid *solid, double spacing, const double shift[3],
                                  eb_mesh **out);

#endif
