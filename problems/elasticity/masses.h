/* An elasticity that has masses alone: for a scene that is looked at and not stepped, which saves
 * 160 bytes a tetrahedron. */
#ifndef EB_ELASTICITY_MASSES_H
#define EB_ELASTICITY_MASSES_H

#include "problems/elasticity/elasticity.h"

/* As eb_elasticity_create_shared, with its masses bit by bit. It has no pattern, and neither energy
 * nor derivatives may be asked of it. */
EB_MUST eb_error eb_elasticity_create_masses(const eb_mesh *mesh, const eb_material *materials,
                                             int32_t counted, eb_elasticity **out);
/* Whether it is one that has more. */
bool eb_elasticity_sweeps(const eb_elasticity *elasticity);

#endif
