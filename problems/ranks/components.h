/* Connected bodies of a mesh, of which every rank may hold a piece. */
#ifndef EB_RANKS_COMPONENTS_H
#define EB_RANKS_COMPONENTS_H

#include "problems/ranks/part.h"

/* The largest diagonal of the boxes around the connected bodies at rest, m. Collective. */
EB_MUST eb_error eb_scene_body_diagonal(const eb_scene *scene, double *out);

#endif
