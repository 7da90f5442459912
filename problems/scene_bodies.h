/* Connected bodies of a scene, of which every rank may hold a piece. Internal to problems/. */
#ifndef EB_SCENE_BODIES_H
#define EB_SCENE_BODIES_H

#include "problems/ranks/part.h"

/* The largest of the connected bodies of a scene, each figure by itself. */
typedef struct eb_extent {
  double diagonal; /* of the box around the body at rest, m */
  double away;     /* its least distance from a collider at the start, m; infinite without any */
} eb_extent;

/* Collective. */
EB_MUST eb_error eb_scene_largest_body(const eb_scene *scene, eb_extent *out);

#endif
