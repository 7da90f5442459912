/* Colliders: rigid solids, analytic or of a surface, fixed or moved by a script, that nodes meet by
 * a penalty force: one of the start of the step (problems/contact/penalty.h) or, with `implicit`,
 * one of its end (problems/contact/implicit_penalty.h). The signed distance is negative where
 * matter must not be; a node touches when it is below `margin`. */
#ifndef EB_COLLIDER_H
#define EB_COLLIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/mesh/sdf.h"

typedef enum eb_collider_kind {
  EB_PLANE,           /* half space below: origin, axis = outward unit normal */
  EB_SPHERE,          /* solid ball: origin, radius */
  EB_CYLINDER,        /* solid, infinite along axis through origin: radius */
  EB_CAPPED_CYLINDER, /* solid, |along axis| <= half_length about origin: a piston */
  /* A hemispherical hollow that opens along axis, set into the half space below its rim: origin is
   * the sphere's centre, radius its inner radius; all below the rim and outside the sphere
   * is solid. */
  EB_BOWL,
  EB_CAPSULE, /* within radius of |along axis| <= half_length about origin */
  EB_MESH     /* what a closed surface encloses, which is where it is: origin is 0 */
} eb_collider_kind;

typedef struct eb_collider {
  eb_collider_kind kind;
  double origin[3], axis[3], radius, half_length; /* m; at time 0 */
  double margin;                                  /* m: pushes from so far above its surface on */
  /* Pa/m: pressure for a depth of 1 m; 0: as much as the body bears (penalty.h) */
  double stiffness;
  double damping;  /* Pa s/m */
  double friction; /* Coulomb's mu, with what no pair of names is of */
  uint32_t names;  /* its bits of eb_friction_law */
  double grip;     /* Pa s/m: what takes the place of damping in f_t; 0: damping */
  /* its penalty is taken at the end of the step (implicit_penalty.h), not in f_ext */
  bool implicit;
  double isotropy; /* alpha of implicit_penalty.h, 0 to 1 */
  /* Scripted motion: position offset (m) and velocity (m/s) at time t, or NULL when it stands
   * still. It is handed `script` or, where that is NULL, `motion_parameters`. */
  void (*motion)(double t, const void *script, double offset[3], double velocity[3]);
  double motion_parameters[8];
  /* Likewise how it turns about the origin of the coordinates before it is shifted: row-major, and
   * rad/s; NULL when it does not. A point X of it is at rotation X + offset. */
  void (*turn)(double t, const void *script, double rotation[9], double spin[3]);
  const void *script;  /* of whoever made it, who keeps it as long as the scene */
  eb_surface *surface; /* of EB_MESH, owned by the scene, and its signed distance */
  eb_solid solid;
} eb_collider;

/* Rigid motion at a time: x = rotation X + shift, which moves at velocity + spin x (x - shift). */
typedef struct eb_pose {
  double rotation[9], shift[3], spin[3], velocity[3];
} eb_pose;

/* Its pose at time t; whether it ever moves. */
bool eb_collider_pose(const eb_collider *collider, double t, eb_pose *out);
/* Velocity (m/s) of what a pose moves, at p. */
void eb_pose_velocity(const eb_pose *pose, const double p[3], double velocity[3]);

/* Makes an EB_MESH of a closed surface, which it takes over, also on failure. EB_ERR_INVALID: it is
 * open, or encloses nothing. */
EB_MUST eb_error eb_collider_enclose(eb_collider *collider, eb_surface *surface);
/* Frees what an EB_MESH has. */
void eb_collider_clear(eb_collider *collider);

/* Signed distance (m) at p and time t, unit normal and the collider's velocity at p (m/s). */
double eb_collider_distance(const eb_collider *collider, double t, const double p[3],
                            double normal[3], double velocity[3]);

#endif
