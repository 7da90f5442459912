/* Articulations: checking and copying bodies, attachments, the hash. Kinematics are in kinematics.c, dynamics in dynamics.c. */
#include <math.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/rigid/articulation_data.h"

/* ---- bad input ------------------------------------------------------------------------------- */

static bool finite3(const double v[3]) {
  return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

/* Sylvester's criterion on xx yy zz xy xz yz. */
static bool positive_definite(const double s[6]) {
  double second = s[0] * s[1] - s[3] * s[3];
  double third = s[0] * (s[1] * s[2] - s[5] * s[5]) - s[3] * (s[3] * s[2] - s[5] * s[4]) +
                 s[4] * (s[3] * s[5] - s[1] * s[4]);
  return s[0] > 0 && second > 0 && third > 0 && isfinite(third);
}

static eb_error validate_joint(const eb_rigid_body *body) {
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

static eb_error validate_body(const eb_rigid_body *body, int32_t b) {
  if (body->parent < -1 || body->parent >= b)
    return EB_ERROR(EB_ERR_INVALID, "its parent is %d; it must be an earlier body or -1",
                    body->parent);
  if (!(body->mass > 0 && isfinite(body->mass)))
    return EB_ERROR(EB_ERR_INVALID, "its mass is %g kg; it must be finite and positive",
                    body->mass);
  if (!finite3(body->centre)) return EB_ERROR(EB_ERR_INVALID, "its centre of mass is not finite");
  if (!positive_definite(body->inertia))
    return EB_ERROR(EB_ERR_INVALID, "its inertia is not positive definite");
  return validate_joint(body);
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

static eb_error validate_rider(const eb_articulation *articulation, const eb_rider *rider) {
  if (rider->node < 0) return EB_ERROR(EB_ERR_INVALID, "node %d cannot ride", rider->node);
  if (rider->body < -1 || rider->body >= articulation->count)
    return EB_ERROR(EB_ERR_INVALID, "node %d cannot ride on body %d: there are %d", rider->node,
                    rider->body, articulation->count);
  if (!finite3(rider->place))
    return EB_ERROR(EB_ERR_INVALID, "the place of node %d is not finite", rider->node);
  for (int32_t k = 0; k < articulation->attached; k++)
    if (articulation->rider[k].node == rider->node)
      return EB_ERROR(EB_ERR_INVALID, "node %d rides on body %d already", rider->node,
                      articulation->rider[k].body);
  return EB_OK;
}

eb_error eb_articulation_attach(eb_articulation *articulation, int32_t node, int32_t body,
                                const double place[3]) {
  eb_rider rider = {.node = node, .body = body, .place = {place[0], place[1], place[2]}};
  EB_TRY(validate_rider(articulation, &rider));
  if (articulation->attached == articulation->room) {
    int32_t room = articulation->room ? 2 * articulation->room : 16;
    eb_rider *grown =
        eb_recalloc(articulation->rider, (size_t)articulation->room, (size_t)room, sizeof *grown);
    if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot attach %d nodes to rigid bodies", room);
    articulation->rider = grown;
    articulation->room = room;
  }
  articulation->rider[articulation->attached++] = rider;
  return EB_OK;
}

/* ---- what it holds --------------------------------------------------------------------------- */

int32_t eb_articulation_joints(const eb_articulation *articulation) {
  return articulation->count;
}

const eb_rigid_body *eb_articulation_body(const eb_articulation *articulation, int32_t joint) {
  return &articulation->body[joint];
}

int32_t eb_articulation_attached(const eb_articulation *articulation) {
  return articulation->attached;
}

int32_t eb_articulation_node(const eb_articulation *articulation, int32_t k) {
  return articulation->rider[k].node;
}

int32_t eb_articulation_carrier(const eb_articulation *articulation, int32_t k, double place[3]) {
  memcpy(place, articulation->rider[k].place, sizeof articulation->rider[k].place);
  return articulation->rider[k].body;
}

static uint64_t hash_body(uint64_t hash, const eb_rigid_body *body) {
  const double scalars[6] = {body->mass,  body->lower,           body->upper,
                             body->start, body->limit_stiffness, body->damping};
  hash = eb_hash(hash, &body->parent, sizeof body->parent);
  hash = eb_hash(hash, body->pivot, sizeof body->pivot);
  hash = eb_hash(hash, body->axis, sizeof body->axis);
  hash = eb_hash(hash, body->centre, sizeof body->centre);
  hash = eb_hash(hash, body->inertia, sizeof body->inertia);
  hash = eb_hash(hash, body->tip, sizeof body->tip);
  return eb_hash(hash, scalars, sizeof scalars);
}

uint64_t eb_articulation_hash(const eb_articulation *articulation, uint64_t hash) {
  hash = eb_hash(hash, articulation->gravity, sizeof articulation->gravity);
  for (int32_t b = 0; b < articulation->count; b++) hash = hash_body(hash, &articulation->body[b]);
  for (int32_t k = 0; k < articulation->attached; k++) {
    const eb_rider *rider = &articulation->rider[k];
    hash = eb_hash(hash, &rider->node, sizeof rider->node);
    hash = eb_hash(hash, &rider->body, sizeof rider->body);
    hash = eb_hash(hash, rider->place, sizeof rider->place);
  }
  return hash;
}
