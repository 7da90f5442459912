/* Analytic rigid colliders and the explicit penalty force of nodes against them.
 *
 * A collider's signed distance is negative where matter must not be. For a node at distance margin
 * - d, d > 0, with unit normal n (out of the collider) and velocity v relative to the collider, the
 * force is
 *   f_n = max(0, k d - c (v.n)),  f_t = -min(mu f_n, c_t |v_t|) v_t / |v_t|,
 * per node with stiffness k = stiffness a_i (a_i: the node's share of the surface area) and
 * damping c = damping a_i; c_t = grip a_i, or c. */
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
  double
      stiffness;   /* Pa/m: pressure for a depth of 1 m; 0: as much as the body bears (contact.h) */
  double damping;  /* Pa s/m */
  double friction; /* Coulomb's mu */
  double grip;     /* Pa s/m: what takes the place of damping in f_t; 0: damping */
  /* its penalty is taken at the end of the step (implicit_penalty.h), not in f_ext */
  bool implicit;
  double isotropy; /* alpha of implicit_penalty.h, 0 to 1 */
  /* Scripted motion: position offset (m) and velocity (m/s) at time t, or NULL when it stands
   * still. */
  void (*motion)(double t, const double *parameters, double offset[3], double velocity[3]);
  double motion_parameters[8];
} eb_collider;

/* Signed distance (m) at p and time t, unit normal and the collider's velocity at p (m/s). */
double eb_collider_distance(const eb_collider *collider, double t, const double p[3],
                            double normal[3], double velocity[3]);
/* The penalty on one point: k (N/m), c and c_t (N s/m), mu. */
typedef struct eb_penalty {
  double stiffness, damping, grip, friction;
} eb_penalty;

/* Adds f_n n + f_t (N) above to f, for depth > 0 (m), unit normal and velocity relative to what is
 * entered (m/s). */
void eb_penalty_force(const eb_penalty *penalty, double depth, const double normal[3],
                      const double relative[3], double f[3]);
/* Adds the penalty force (N) on one node with surface share `area` (m^2) to f. */
void eb_collider_force(const eb_collider *collider, double t, double area, const double p[3],
                       const double v[3], double f[3]);

#endif
