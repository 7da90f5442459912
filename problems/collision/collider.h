/* Colliders: analytic rigid solids, fixed or moved by a script, that nodes meet by a penalty force:
 * one of the start of the step (problems/contact/penalty.h) or, with `implicit`, one of its end
 * (problems/contact/implicit_penalty.h). The signed distance is negative where matter must not be;
 * a node touches when it is below `margin`. */
#ifndef EB_COLLIDER_H
#define EB_COLLIDER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum eb_collider_kind {
  EB_PLANE,           /* half space below: origin, axis = outward unit normal */
  EB_SPHERE,          /* solid ball: origin, radius */
  EB_CYLINDER,        /* solid, infinite along axis through origin: radius */
  EB_CAPPED_CYLINDER, /* solid, |along axis| <= half_length about origin: a piston */
  /* A hemispherical hollow that opens along axis, set into the half space below its rim: origin is
   * the sphere's centre, radius its inner radius; all below the rim and outside the sphere
   * is solid. */
  EB_BOWL
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
  const void *script; /* of whoever made it, who keeps it as long as the scene */
} eb_collider;

/* Whether it moves; then offset (m) and velocity (m/s) at time t. */
bool eb_collider_moves(const eb_collider *collider, double t, double offset[3], double velocity[3]);

/* Signed distance (m) at p and time t, unit normal and the collider's velocity at p (m/s). */
double eb_collider_distance(const eb_collider *collider, double t, const double p[3],
                            double normal[3], double velocity[3]);

#endif
