/* Where the bodies of an articulation are and how they move with the rates of the joints.
 *
 * Body b turns with its parent p and about its joint's axis: R_b = R_p exp([a_b] q_b), with a_b the axis at q = 0. The joint sits where
 * the parent has it, and its axis in the world is R_p a_b. A point at x of body b has
 *   velocity = sum_j (axis_j x (x - pivot_j)) u_j,   angular velocity = sum_j axis_j u_j
 * over the joints j between the body and the world. */
#include <math.h>
#include <string.h>

#include "problems/base/vector3.h"
#include "problems/rigid/articulation_data.h"

/* exp([axis] angle), Rodrigues. */
static void axis_rotation(const double axis[3], double angle, double rotation[9]) {
  double c = cos(angle), s = sin(angle);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      rotation[3 * i + j] = (1 - c) * axis[i] * axis[j] + (i == j ? c : 0);
  for (int d = 0; d < 3; d++) {
    int e = (d + 1) % 3, f = (d + 2) % 3;
    rotation[3 * f + e] += s * axis[d];
    rotation[3 * e + f] -= s * axis[d];
  }
}

void eb_pose_point(const eb_pose *pose, const eb_rigid_body *body, const double X[3], double x[3]) {
  double arm[3], turned[3];
  for (int d = 0; d < 3; d++) arm[d] = X[d] - body->pivot[d];
  eb_turn3(pose->rotation, arm, turned);
  for (int d = 0; d < 3; d++) x[d] = pose->pivot[d] + turned[d];
}

static void hang(const eb_rigid_body *body, const eb_rigid_body *parent, const eb_pose *on,
                 double angle, eb_pose *pose) {
  double about[9];
  axis_rotation(body->axis, angle, about);
  memcpy(pose->rotation, about, sizeof about);
  memcpy(pose->pivot, body->pivot, sizeof pose->pivot);
  memcpy(pose->axis, body->axis, sizeof pose->axis);
  if (parent) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        pose->rotation[3 * i + j] = 0;
        for (int k = 0; k < 3; k++)
          pose->rotation[3 * i + j] += on->rotation[3 * i + k] * about[3 * k + j];
      }
    eb_pose_point(on, parent, body->pivot, pose->pivot);
    eb_turn3(on->rotation, body->axis, pose->axis);
  }
  eb_pose_point(pose, body, body->centre, pose->centre);
}

void eb_articulation_poses(const eb_articulation *articulation, const double *q, eb_pose *pose) {
  const eb_rigid_body *body = articulation->body;
  for (int32_t b = 0; b < articulation->count; b++) {
    int32_t p = body[b].parent;
    hang(&body[b], p < 0 ? NULL : &body[p], p < 0 ? NULL : &pose[p], q[b], &pose[b]);
  }
}

void eb_body_jacobian(const eb_articulation *articulation, const eb_pose *pose, int32_t body,
                      const double x[3], double *linear, double *angular) {
  int32_t n = articulation->count;
  memset(linear, 0, 3 * (size_t)n * sizeof *linear);
  if (angular) memset(angular, 0, 3 * (size_t)n * sizeof *angular);
  for (int32_t j = body; j >= 0; j = articulation->body[j].parent) {
    double arm[3], column[3];
    for (int d = 0; d < 3; d++) arm[d] = x[d] - pose[j].pivot[d];
    eb_cross3(pose[j].axis, arm, column);
    for (int d = 0; d < 3; d++) {
      linear[d * n + j] = column[d];
      if (angular) angular[d * n + j] = pose[j].axis[d];
    }
  }
}

void eb_body_inertia(const eb_rigid_body *body, const eb_pose *pose, const double x[3],
                     double y[3]) {
  const double *s = body->inertia, *R = pose->rotation;
  const double inertia[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
  double own[3], turned[3];
  for (int d = 0; d < 3; d++) own[d] = R[d] * x[0] + R[3 + d] * x[1] + R[6 + d] * x[2];
  eb_turn3(inertia, own, turned);
  eb_turn3(R, turned, y);
}

void eb_articulation_place(const eb_articulation *articulation, const double *q, int32_t k,
                           double place[3], double *jacobian) {
  const eb_rider *rider = &articulation->rider[k];
  eb_pose pose[EB_MAX_JOINTS];
  eb_articulation_poses(articulation, q, pose);
  memcpy(place, rider->place, sizeof rider->place);
  if (rider->body >= 0)
    eb_pose_point(&pose[rider->body], &articulation->body[rider->body], rider->place, place);
  if (jacobian) eb_body_jacobian(articulation, pose, rider->body, place, jacobian, NULL);
}

void eb_articulation_bone(const eb_articulation *articulation, const double *q, int32_t body,
                          double pivot[3], double tip[3]) {
  eb_pose pose[EB_MAX_JOINTS];
  eb_articulation_poses(articulation, q, pose);
  memcpy(pivot, pose[body].pivot, sizeof pose[body].pivot);
  eb_pose_point(&pose[body], &articulation->body[body], articulation->body[body].tip, tip);
}
