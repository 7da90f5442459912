/* The rigid motion of every body of a mesh: a frame in which stale matrices err less.
 *
 * With any velocities u, A v1 = b is A (v1 - u) = b - A u. If the right-hand side is exact, an
 * approximate A errs in proportion to v1 - u instead of v1. The u here is the rigid motion that has
 * each body's momentum and angular momentum,
 *   u_i = p + omega x (x_i - c),   p = sum m v / sum m,   I omega = sum m (x - c) x (v - p),
 * so that a body in flight feels nothing of how far its rotations are out of date, whoever watches
 * it. */
#ifndef EB_WARP_MOVING_FRAME_H
#define EB_WARP_MOVING_FRAME_H

#include "problems/mesh/mesh.h"

typedef enum eb_frame_kind {
  EB_FRAME_WORLD,       /* u = 0 */
  EB_FRAME_TRANSLATION, /* omega = 0 */
  EB_FRAME_BODY
} eb_frame_kind;

typedef struct eb_body_motion {
  double mass, centre[3], velocity[3]; /* kg, m, m/s */
  double turn[3];                      /* angular momentum, then omega, 1/s */
  double second[9];                    /* sum m r r^T, r = x - c */
} eb_body_motion;

typedef struct eb_moving_frame {
  int32_t nodes, bodies;
  int32_t *body;          /* nodes: which connected part of the mesh it belongs to */
  eb_body_motion *motion; /* bodies */
  double *velocity;       /* nodes x 3: u, m/s */
} eb_moving_frame;

/* Finds the bodies of the mesh, which is not kept. On failure nothing stays allocated. */
EB_MUST eb_error eb_moving_frame_create(const eb_mesh *mesh, eb_moving_frame *out);
void eb_moving_frame_clear(eb_moving_frame *frame);

/* frame->velocity of nodes with these masses (kg), positions and velocities (nodes x 3). */
void eb_moving_frame_follow(eb_moving_frame *frame, eb_frame_kind kind, const double *mass,
                            const double *x, const double *v);

#endif
