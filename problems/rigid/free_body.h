/* Free rigid bodies that nodes of the mesh ride on: connected components of regions that a scene
 * declares rigid.
 *
 *   m v' = f,   d(I w)/dt = torque,   x_a = p + R(q) (X_a - centre)
 *
 * A pose is (p, q): position of the centre of mass, unit quaternion (w, x, y, z); at rest p =
 * centre and q = 1. A twist is (v, w): velocity of the centre, m/s, angular velocity in world axes,
 * rad/s. */
#ifndef EB_FREE_BODY_H
#define EB_FREE_BODY_H

#include "problems/mesh/mesh.h"

typedef struct eb_free_body {
  double mass;       /* kg */
  double centre[3];  /* of mass, at rest, m */
  double inertia[9]; /* about the centre, in the axes of rest, kg m^2 */
} eb_free_body;

typedef struct eb_free_bodies {
  int32_t count, node_count;
  eb_free_body *body;
  int32_t *of_node; /* node_count: the body that a node rides on, or -1 */
} eb_free_bodies;

/* `rigid`: a flag a region; `density`: kg/m^3 a region. Mass and inertia are those of the solid.
 * Tetrahedra and hexahedra. *out is NULL when no region is rigid. */
EB_MUST eb_error eb_free_bodies_create(const eb_mesh *mesh, const uint8_t *rigid,
                                       const double *density, eb_free_bodies **out);
void eb_free_bodies_destroy(eb_free_bodies *bodies);

/* Inertia in world axes, row-major. */
void eb_free_body_inertia(const eb_free_body *body, const double pose[7], double inertia[9]);
/* The pose after dt at a constant twist: p + dt v, exp(dt w) q. */
void eb_free_body_advance(const double pose[7], const double twist[6], double dt, double out[7]);
/* Pose (7 a body) and twist (6 a body) of least squares to positions and velocities of the riding
 * nodes, weighted equally: how an initial state is read. */
EB_MUST eb_error eb_free_bodies_fit(const eb_free_bodies *bodies, const double *X, const double *x,
                                    const double *v, double *pose, double *twist);
/* Writes positions, and when not NULL velocities, of the nodes that ride; leaves the others. X:
 * rest positions. */
void eb_free_bodies_place(const eb_free_bodies *bodies, const double *X, const double *pose,
                          const double *twist, double *x, double *v);

#endif
