/* Obstacles: rigid triangle surfaces that move by script and that nothing pushes. Contact with them
 * is a constraint, in contrast to the penalty of colliders (problems/contact/README.md). */
#ifndef EB_OBSTACLE_H
#define EB_OBSTACLE_H

#include "problems/mesh/mesh.h"

typedef struct eb_obstacle {
  /* in its own frame, m; owned by the scene. Outward, open or closed, not crossing itself */
  eb_surface *surface;
  /* Pose at time t: x = rotation X + shift (row-major, m), or NULL when it stays in its own frame.
   * Deterministic in t. It is handed `script` or, where that is NULL, `parameters`. */
  void (*motion)(double t, const void *script, double rotation[9], double shift[3]);
  double parameters[8];
  const void *script; /* of whoever made it, who keeps it as long as the scene */
} eb_obstacle;

/* EB_ERR_INVALID: no surface, a bad one, or a motion that is not rigid at a sampled time. */
EB_MUST eb_error eb_obstacle_validate(const eb_obstacle *obstacle);
/* Its pose at time t, as `motion` writes it. */
void eb_obstacle_pose(const eb_obstacle *obstacle, double t, double rotation[9], double shift[3]);
/* Positions of its vertices at time t, vertex_count x 3, m. */
void eb_obstacle_place(const eb_obstacle *obstacle, double t, double *x);
/* Frees the surface. */
void eb_obstacle_clear(eb_obstacle *obstacle);

#endif
