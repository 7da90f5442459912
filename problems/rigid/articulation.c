/* Articulations: kinematics, the equations of motion, checking and copying bodies, attachments. */
#include "problems/rigid/articulation.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

typedef struct eb_rider {
  int32_t node, body;
  double place[3]; /* at q = 0 */
} eb_rider;

struct eb_articulation {
  int32_t count;
  eb_rigid_body body[EB_MAX_JOINTS]; /* axes have length 1 */
  double gravity[3];
  int32_t attached;
  eb_rider *rider;
};

/* A body at q: its point X of q = 0 is at pivot + rotation (X - rest pivot). */
typedef struct eb_pose {
  double rotation[9], pivot[3], axis[3], centre[3];
} eb_pose;

/* ---- where bodies are ------------------------------------------------------------------------ */

/* Where the bodies of an articulation are and how they move with the rates of the joints.
 *
 * Body b turns with its parent p and about its joint's axis: R_b = R_p exp([a_b] q_b), with a_b the
 * axis at q = 0. The joint sits where the parent has it, and its axis in the world is R_p a_b. A
 * point at x of body b has
 *   velocity = sum_j (axis_j x (x - pivot_j)) u_j,   angular velocity = sum_j axis_j u_j
 * over the joints j between the body and the world. */

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

/* Where the body's point X of q = 0 is. */
static void pose_point(const eb_pose *pose, const eb_rigid_body *body, const double X[3],
                       double x[3]) {
  double arm[3], turned[3];
  for (int d = 0; d < 3; d++) arm[d] = X[d] - body->pivot[d];
  eb_turn3(pose->rotation, arm, turned);
  for (int d = 0; d < 3; d++) x[d] = pose->pivot[d] + turned[d];
}

/* Poses of all bodies at q; room for EB_MAX_JOINTS. */
static void articulation_poses(const eb_articulation *articulation, const double *q,
                               eb_pose *poses) {
  for (int32_t b = 0; b < articulation->count; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    eb_pose *pose = &poses[b];
    double about[9];
    axis_rotation(body->axis, q[b], about);
    memcpy(pose->rotation, about, sizeof about);
    memcpy(pose->pivot, body->pivot, sizeof pose->pivot);
    memcpy(pose->axis, body->axis, sizeof pose->axis);
    if (body->parent >= 0) {
      const eb_pose *on = &poses[body->parent];
      for (int i = 0; i < 9; i++) {
        pose->rotation[i] = 0;
        for (int k = 0; k < 3; k++)
          pose->rotation[i] += on->rotation[i / 3 * 3 + k] * about[3 * k + i % 3];
      }
      pose_point(on, &articulation->body[body->parent], body->pivot, pose->pivot);
      eb_turn3(on->rotation, body->axis, pose->axis);
    }
    pose_point(pose, body, body->centre, pose->centre);
  }
}

/* The body's rows of the maximal-to-reduced Jacobian for its point that is at x: velocity = linear
 * u and angular velocity = angular u. Both 3 x joints, row-major; `angular` may be NULL. */
static void body_jacobian(const eb_articulation *articulation, const eb_pose *pose, int32_t body,
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

/* y = R I R^T x: the inertia about the centre in world axes, applied to x. */
static void body_inertia(const eb_rigid_body *body, const eb_pose *pose, const double x[3],
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
  EB_ASSERT(k >= 0 && k < articulation->attached);
  const eb_rider *rider = &articulation->rider[k];
  eb_pose pose[EB_MAX_JOINTS];
  articulation_poses(articulation, q, pose);
  memcpy(place, rider->place, sizeof rider->place);
  if (rider->body >= 0)
    pose_point(&pose[rider->body], &articulation->body[rider->body], rider->place, place);
  if (jacobian) body_jacobian(articulation, pose, rider->body, place, jacobian, NULL);
}

void eb_articulation_bone(const eb_articulation *articulation, const double *q, int32_t body,
                          double pivot[3], double tip[3]) {
  EB_ASSERT(body >= 0 && body < articulation->count);
  eb_pose pose[EB_MAX_JOINTS];
  articulation_poses(articulation, q, pose);
  memcpy(pivot, pose[body].pivot, sizeof pose[body].pivot);
  pose_point(&pose[body], &articulation->body[body], articulation->body[body].tip, tip);
}

/* ---- the equations of motion ----------------------------------------------------------------- */

/* The reduced equations of motion of an articulation (Wang et al. 2019, REDMAX):
 *   J^T M J u' = J^T (f - M Jdot u) + tau_r,
 * where J stacks the rows of body_jacobian at the centres of mass, M is block diagonal with m I and
 * the inertia about the centre, f is gravity and the gyroscopic moment -w x I w, and tau_r is the
 * joints' own: damping and limits.
 *
 * Jdot u is what the bodies accelerate at u' = 0, found from the world outwards. With p the parent
 * of b, w and a the angular velocity and acceleration, s the axis of the joint and r the arm from
 * one pivot to the next or to the centre:
 *   a_b = a_p + w_p x s_b u_b,   every point: acceleration of the pivot + a x r + w x (w x r). */

typedef struct motion {
  double spin[3], velocity[3];  /* of the body, of its pivot */
  double angular[3], linear[3]; /* their accelerations at u' = 0 */
  double centre_velocity[3], centre_acceleration[3];
} motion;

/* Velocity and acceleration of a body's point at `arm` from its pivot. */
static void point_motion(const motion *m, const double arm[3], double velocity[3],
                         double acceleration[3]) {
  double swing[3], turn[3], inward[3];
  eb_cross3(m->spin, arm, swing);
  eb_cross3(m->angular, arm, turn);
  eb_cross3(m->spin, swing, inward);
  for (int d = 0; d < 3; d++) {
    velocity[d] = m->velocity[d] + swing[d];
    acceleration[d] = m->linear[d] + turn[d] + inward[d];
  }
}

static void motions(const eb_articulation *articulation, const double *q, const double *u,
                    eb_pose *pose, motion *out) {
  articulation_poses(articulation, q, pose);
  for (int32_t b = 0; b < articulation->count; b++) {
    int32_t p = articulation->body[b].parent;
    motion *m = &out[b];
    double arm[3], turn[3];
    memset(m, 0, sizeof *m);
    if (p >= 0) {
      for (int d = 0; d < 3; d++) arm[d] = pose[b].pivot[d] - pose[p].pivot[d];
      point_motion(&out[p], arm, m->velocity, m->linear);
      memcpy(m->spin, out[p].spin, sizeof m->spin);
      memcpy(m->angular, out[p].angular, sizeof m->angular);
      eb_cross3(out[p].spin, pose[b].axis, turn);
      eb_add3(u[b], turn, m->angular);
    }
    eb_add3(u[b], pose[b].axis, m->spin);
    for (int d = 0; d < 3; d++) arm[d] = pose[b].centre[d] - pose[b].pivot[d];
    point_motion(m, arm, m->centre_velocity, m->centre_acceleration);
  }
}

void eb_articulation_mass(const eb_articulation *articulation, const double *q, double *mass) {
  int32_t n = articulation->count;
  eb_pose pose[EB_MAX_JOINTS];
  double linear[3 * EB_MAX_JOINTS], angular[3 * EB_MAX_JOINTS];
  articulation_poses(articulation, q, pose);
  memset(mass, 0, (size_t)n * (size_t)n * sizeof *mass);
  for (int32_t b = 0; b < n; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    body_jacobian(articulation, pose, b, pose[b].centre, linear, angular);
    for (int32_t i = b; i >= 0; i = articulation->body[i].parent) {
      double turned[3];
      body_inertia(body, &pose[b], pose[i].axis, turned);
      for (int32_t j = b; j >= 0; j = articulation->body[j].parent)
        for (int d = 0; d < 3; d++)
          mass[i * n + j] +=
              body->mass * linear[d * n + i] * linear[d * n + j] + turned[d] * angular[d * n + j];
    }
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) mass[i * n + j] = mass[j * n + i];
}

/* How far beyond its limits a joint is, with sign. */
static double excess(const eb_rigid_body *body, double angle) {
  if (angle > body->upper) return angle - body->upper;
  return angle < body->lower ? angle - body->lower : 0;
}

void eb_articulation_force(const eb_articulation *articulation, const double *q, const double *u,
                           double *tau, double *stiffness, double *damping) {
  int32_t n = articulation->count;
  eb_pose pose[EB_MAX_JOINTS];
  motion moving[EB_MAX_JOINTS];
  motions(articulation, q, u, pose, moving);
  for (int32_t j = 0; j < n; j++) {
    const eb_rigid_body *body = &articulation->body[j];
    double beyond = excess(body, q[j]);
    tau[j] = -body->damping * u[j] - (beyond != 0 ? body->limit_stiffness * beyond : 0);
    if (stiffness) stiffness[j] = beyond != 0 ? body->limit_stiffness : 0;
    if (damping) damping[j] = body->damping;
  }
  /* tau += J_b^T (f - M Jdot u) of each body. */
  for (int32_t b = 0; b < n; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    const motion *m = &moving[b];
    double linear[3 * EB_MAX_JOINTS], force[3], moment[3], spun[3], turned[3];
    for (int d = 0; d < 3; d++)
      force[d] = body->mass * (articulation->gravity[d] - m->centre_acceleration[d]);
    body_inertia(body, &pose[b], m->spin, spun);
    body_inertia(body, &pose[b], m->angular, turned);
    eb_cross3(spun, m->spin, moment);
    eb_add3(-1, turned, moment);
    body_jacobian(articulation, pose, b, pose[b].centre, linear, NULL);
    for (int32_t j = b; j >= 0; j = articulation->body[j].parent) {
      tau[j] += eb_dot3(pose[j].axis, moment);
      for (int d = 0; d < 3; d++) tau[j] += linear[d * n + j] * force[d];
    }
  }
}

void eb_articulation_energy(const eb_articulation *articulation, const double *q, const double *u,
                            double *kinetic, double *gravitational, double *limits) {
  eb_pose pose[EB_MAX_JOINTS];
  motion moving[EB_MAX_JOINTS];
  motions(articulation, q, u, pose, moving);
  *kinetic = *gravitational = *limits = 0;
  for (int32_t b = 0; b < articulation->count; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    const motion *m = &moving[b];
    double spun[3], beyond = excess(body, q[b]);
    body_inertia(body, &pose[b], m->spin, spun);
    *kinetic += 0.5 * (body->mass * eb_dot3(m->centre_velocity, m->centre_velocity) +
                       eb_dot3(spun, m->spin));
    *gravitational -= body->mass * eb_dot3(articulation->gravity, pose[b].centre);
    *limits += 0.5 * body->limit_stiffness * beyond * beyond;
  }
}

void eb_articulation_momentum(const eb_articulation *articulation, const double *q, const double *u,
                              double momentum[3], double angular[3]) {
  eb_pose pose[EB_MAX_JOINTS];
  motion moving[EB_MAX_JOINTS];
  motions(articulation, q, u, pose, moving);
  for (int32_t b = 0; b < articulation->count; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    double spun[3], orbital[3];
    body_inertia(body, &pose[b], moving[b].spin, spun);
    eb_cross3(pose[b].centre, moving[b].centre_velocity, orbital);
    eb_add3(body->mass, moving[b].centre_velocity, momentum);
    eb_add3(body->mass, orbital, angular);
    eb_add3(1, spun, angular);
  }
}

/* ---- bad input ------------------------------------------------------------------------------- */

static bool finite3(const double v[3]) {
  return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

static eb_error validate_body(const eb_rigid_body *body, int32_t b) {
  if (body->parent < -1 || body->parent >= b)
    return EB_ERROR(EB_ERR_INVALID, "its parent is %d; it must be an earlier body or -1",
                    body->parent);
  if (!(body->mass > 0 && isfinite(body->mass)))
    return EB_ERROR(EB_ERR_INVALID, "its mass is %g kg; it must be finite and positive",
                    body->mass);
  if (!finite3(body->centre)) return EB_ERROR(EB_ERR_INVALID, "its centre of mass is not finite");
  /* Sylvester's criterion on xx yy zz xy xz yz. */
  const double *s = body->inertia;
  double second = s[0] * s[1] - s[3] * s[3];
  double third = s[0] * (s[1] * s[2] - s[5] * s[5]) - s[3] * (s[3] * s[2] - s[5] * s[4]) +
                 s[4] * (s[3] * s[5] - s[1] * s[4]);
  if (!(s[0] > 0 && second > 0 && third > 0 && isfinite(third)))
    return EB_ERROR(EB_ERR_INVALID, "its inertia is not positive definite");
  /* Its joint. */
  if (!finite3(body->pivot) || !finite3(body->tip))
    return EB_ERROR(EB_ERR_INVALID, "pivot or tip is not finite");
  if (!finite3(body->axis) || !(eb_dot3(body->axis, body->axis) > 0))
    return EB_ERROR(EB_ERR_INVALID, "the axis of its joint is zero or not finite");
  if (!isfinite(body->start)) return EB_ERROR(EB_ERR_INVALID, "its start angle is not finite");
  if (!(body->lower <= body->upper))
    return EB_ERROR(EB_ERR_INVALID, "its limits are crossed: lower %g rad, upper %g rad",
                    body->lower, body->upper);
  bool limited = isfinite(body->lower) || isfinite(body->upper);
  if (!(body->limit_stiffness >= 0 && isfinite(body->limit_stiffness)) ||
      (limited && body->limit_stiffness == 0))
    return EB_ERROR(EB_ERR_INVALID,
                    "its limit stiffness is %g N m/rad; it must be finite and not negative, and "
                    "positive where there is a limit",
                    body->limit_stiffness);
  if (!(body->damping >= 0 && isfinite(body->damping)))
    return EB_ERROR(EB_ERR_INVALID, "its damping is %g N m s/rad; it must be finite and >= 0",
                    body->damping);
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

eb_error eb_articulation_create(int32_t count, const eb_rigid_body *bodies, const double gravity[3],
                                eb_articulation **out) {
  *out = NULL;
  if (count < 1 || count > EB_MAX_JOINTS)
    return EB_ERROR(EB_ERR_INVALID, "an articulation has 1 to %d bodies, not %d", EB_MAX_JOINTS,
                    count);
  if (!finite3(gravity)) return EB_ERROR(EB_ERR_INVALID, "gravity is not finite");
  for (int32_t b = 0; b < count; b++)
    EB_TRY(eb_error_prefix(validate_body(&bodies[b], b), "rigid body %d", b));
  eb_articulation *articulation;
  EB_TRY(EB_NEW(articulation, 1));
  articulation->count = count;
  memcpy(articulation->gravity, gravity, sizeof articulation->gravity);
  memcpy(articulation->body, bodies, (size_t)count * sizeof *bodies);
  for (int32_t b = 0; b < count; b++) {
    double *axis = articulation->body[b].axis, length = sqrt(eb_dot3(axis, axis));
    for (int d = 0; d < 3; d++) axis[d] /= length;
  }
  *out = articulation;
  return EB_OK;
}

void eb_articulation_destroy(eb_articulation *articulation) {
  if (!articulation) return;
  free(articulation->rider);
  free(articulation);
}

/* ---- attachments ----------------------------------------------------------------------------- */

eb_error eb_articulation_attach(eb_articulation *articulation, int32_t node, int32_t body,
                                const double place[3]) {
  eb_rider rider = {.node = node, .body = body, .place = {place[0], place[1], place[2]}};
  if (node < 0) return EB_ERROR(EB_ERR_INVALID, "node %d cannot ride", node);
  if (body < -1 || body >= articulation->count)
    return EB_ERROR(EB_ERR_INVALID, "node %d cannot ride on body %d: there are %d", node, body,
                    articulation->count);
  if (!finite3(place)) return EB_ERROR(EB_ERR_INVALID, "the place of node %d is not finite", node);
  for (int32_t k = 0; k < articulation->attached; k++)
    if (articulation->rider[k].node == node)
      return EB_ERROR(EB_ERR_INVALID, "node %d rides on body %d already", node,
                      articulation->rider[k].body);
  EB_TRY(EB_APPEND(articulation->rider, articulation->attached));
  articulation->rider[articulation->attached - 1] = rider;
  return EB_OK;
}

/* ---- what it holds --------------------------------------------------------------------------- */

int32_t eb_articulation_joints(const eb_articulation *articulation) {
  return articulation->count;
}

const eb_rigid_body *eb_articulation_body(const eb_articulation *articulation, int32_t joint) {
  EB_ASSERT(joint >= 0 && joint < articulation->count);
  return &articulation->body[joint];
}

int32_t eb_articulation_attached(const eb_articulation *articulation) {
  return articulation->attached;
}

int32_t eb_articulation_node(const eb_articulation *articulation, int32_t k) {
  EB_ASSERT(k >= 0 && k < articulation->attached);
  return articulation->rider[k].node;
}

int32_t eb_articulation_carrier(const eb_articulation *articulation, int32_t k, double place[3]) {
  EB_ASSERT(k >= 0 && k < articulation->attached);
  memcpy(place, articulation->rider[k].place, sizeof articulation->rider[k].place);
  return articulation->rider[k].body;
}

uint64_t eb_articulation_hash(const eb_articulation *articulation, uint64_t hash) {
  hash = eb_hash(hash, articulation->gravity, sizeof articulation->gravity);
  for (int32_t b = 0; b < articulation->count; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    const double scalars[6] = {body->mass,  body->lower,           body->upper,
                               body->start, body->limit_stiffness, body->damping};
    hash = eb_hash(hash, &body->parent, sizeof body->parent);
    hash = eb_hash(hash, body->pivot, sizeof body->pivot);
    hash = eb_hash(hash, body->axis, sizeof body->axis);
    hash = eb_hash(hash, body->centre, sizeof body->centre);
    hash = eb_hash(hash, body->inertia, sizeof body->inertia);
    hash = eb_hash(hash, body->tip, sizeof body->tip);
    hash = eb_hash(hash, scalars, sizeof scalars);
  }
  for (int32_t k = 0; k < articulation->attached; k++) {
    const eb_rider *rider = &articulation->rider[k];
    hash = eb_hash(hash, &rider->node, sizeof rider->node);
    hash = eb_hash(hash, &rider->body, sizeof rider->body);
    hash = eb_hash(hash, rider->place, sizeof rider->place);
  }
  return hash;
}
