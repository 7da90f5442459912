/* Articulated rigid bodies in reduced coordinates (Wang et al. 2019, REDMAX): a tree of bodies,
 * each hung on its parent by a revolute joint with one angle, and nodes of a deformable body that
 * ride on them.
 *
 *   M(q) u' = tau(q, u),   M = sum_b J_b^T M_b J_b,   x_a = p_a(q),   v_a = J_a(q) u
 *
 * tau: gravity, Coriolis and centrifugal terms, joint damping and joint limits (a stiff unilateral
 * spring). The angles of planar systems turn about z. */
#ifndef EB_RIGID_ARTICULATION_H
#define EB_RIGID_ARTICULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"

typedef struct eb_articulation eb_articulation;

enum { EB_MAX_JOINTS = 16 };

/* A body and the joint that it hangs on. Everything in the configuration q = 0, world axes, SI
 * units. */
typedef struct eb_rigid_body {
  int32_t parent;                  /* an earlier body, or -1: the world */
  double pivot[3], axis[3];        /* of the joint; the axis need not have length 1 */
  double mass, centre[3];          /* kg; of mass */
  double inertia[6];               /* about the centre: xx yy zz xy xz yz, kg m^2 */
  double lower, upper;             /* limits of the angle, rad; -INFINITY, INFINITY: none */
  double limit_stiffness, damping; /* N m/rad beyond a limit; N m s/rad always */
  double start;                    /* angle of the initial state, rad */
  double tip[3];                   /* the body is drawn as a bone from pivot to tip */
} eb_rigid_body;

/* EB_ERR_INVALID names the body and what is wrong with it. Bodies are copied. */
EB_MUST eb_error eb_articulation_create(int32_t count, const eb_rigid_body *bodies,
                                        const double gravity[3], eb_articulation **out);
void eb_articulation_destroy(eb_articulation *articulation);
/* Lets a node ride on a body (-1: on the world), with its place at q = 0. EB_ERR_INVALID when it
 * rides on one already. */
EB_MUST eb_error eb_articulation_attach(eb_articulation *articulation, int32_t node, int32_t body,
                                        const double place[3]);

int32_t eb_articulation_joints(const eb_articulation *articulation);
const eb_rigid_body *eb_articulation_body(const eb_articulation *articulation, int32_t joint);
int32_t eb_articulation_attached(const eb_articulation *articulation);
/* The k-th attached node. */
int32_t eb_articulation_node(const eb_articulation *articulation, int32_t k);
/* The body that it rides on (-1: the world), and its place at q = 0. */
int32_t eb_articulation_carrier(const eb_articulation *articulation, int32_t k, double place[3]);

/* Where the k-th attached node is at q, and when `jacobian` is not NULL its 3 x joints (row-major)
 * d p / d q. */
void eb_articulation_place(const eb_articulation *articulation, const double *q, int32_t k,
                           double place[3], double *jacobian);
/* M(q), joints x joints, symmetric. */
void eb_articulation_mass(const eb_articulation *articulation, const double *q, double *mass);
/* tau(q, u), N m, and when not NULL -d tau / d q of the limits and -d tau / d u of the damping
 * alone (joints each: both are diagonal and >= 0), for implicit steps. */
void eb_articulation_force(const eb_articulation *articulation, const double *q, const double *u,
                           double *tau, double *stiffness, double *damping);
/* Kinetic, gravitational and limit energy, J. */
void eb_articulation_energy(const eb_articulation *articulation, const double *q, const double *u,
                            double *kinetic, double *gravitational, double *limits);
/* Adds momentum (kg m/s) and angular momentum about the origin (kg m^2/s) of the bodies. */
void eb_articulation_momentum(const eb_articulation *articulation, const double *q, const double *u,
                              double momentum[3], double angular[3]);
/* Ends of the bone of a body at q: pivot and tip, m. */
void eb_articulation_bone(const eb_articulation *articulation, const double *q, int32_t body,
                          double pivot[3], double tip[3]);
/* Everything above that defines the problem, for the hash of a scene. */
uint64_t eb_articulation_hash(const eb_articulation *articulation, uint64_t hash);

#endif
