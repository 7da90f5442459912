/* What an articulation holds and where its bodies are at q. Internal to problems/rigid/. */
#ifndef EB_ARTICULATION_DATA_H
#define EB_ARTICULATION_DATA_H

#include "problems/rigid/articulation.h"

typedef struct eb_rider {
  int32_t node, body;
  double place[3]; /* at q = 0 */
} eb_rider;

struct eb_articulation {
  int32_t count;
  eb_rigid_body body[EB_MAX_JOINTS]; /* axes have length 1 */
  double gravity[3];
  int32_t attached, room;
  eb_rider *rider;
};

/* A body at q: its point X of q = 0 is at pivot + rotation (X - rest pivot). */
typedef struct eb_pose {
  double rotation[9], pivot[3], axis[3], centre[3];
} eb_pose;

/* Poses of all bodies at q; room for EB_MAX_JOINTS. */
void eb_articulation_poses(const eb_articulation *articulation, const double *q, eb_pose *pose);
/* Where the body's point X of q = 0 is. */
void eb_pose_point(const eb_pose *pose, const eb_rigid_body *body, const double X[3], double x[3]);
/* The body's rows of the maximal-to-reduced Jacobian for its point that is at x: velocity = linear u and angular velocity = angular u.
 * Both 3 x joints, row-major; `angular` may be NULL. */
void eb_body_jacobian(const eb_articulation *articulation, const eb_pose *pose, int32_t body,
                      const double x[3], double *linear, double *angular);
/* y = R I R^T x: the inertia about the centre in world axes, applied to x. */
void eb_body_inertia(const eb_rigid_body *body, const eb_pose *pose, const double x[3],
                     double y[3]);

#endif
