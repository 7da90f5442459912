/* Connected bodies of a scene, of which every rank may hold a piece. Internal to problems/. */
#ifndef EB_SCENE_BODIES_H
#define EB_SCENE_BODIES_H

#include "problems/ranks/part.h"

typedef struct eb_bodies_extent {
  double diagonal; /* the largest of the boxes around bodies at rest, m */
  double farthest; /* the least `distance` of the nodes of the body that has the largest such */
} eb_bodies_extent;

/* `distance`: one a node, INFINITY where there is none. Collective. */
EB_MUST eb_error eb_scene_bodies_measure(const eb_scene *scene, const double *distance,
                                         eb_bodies_extent *out);

#endif
