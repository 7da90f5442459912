/* Connected bodies of a scene, of which every rank may hold a piece. Internal to problems/. */
#ifndef EB_SCENE_BODIES_H
#define EB_SCENE_BODIES_H

#include "problems/ranks/subdomain.h"

/* The largest diagonal of the boxes around the connected bodies at rest, m. Collective. */
EB_MUST eb_error eb_scene_body_diagonal(const eb_scene *scene, double *out);

#endif
