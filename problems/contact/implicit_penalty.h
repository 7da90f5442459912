/* Implicit penalty contact of nodes with colliders (McAdams et al. 2011, as ConJac uses it).
 *
 * A node at x, deeper than 0 in a collider whose closest surface point is xs, is pushed by
 *   f = -k ((1 - alpha) n n^T + alpha I) (x - xs),
 *   -df/dx ~ k P,  P = (1 - alpha) n n^T + alpha I,
 * with k = stiffness times the node's share of the surface area, alpha the collider's isotropy and
 * n its outward normal. As x - xs lies along n, alpha changes the tangent alone. Only colliders
 * with `implicit` take part.
 *
 * A step that is linear in its velocities takes the force at its end, with the collider's velocity
 * w:
 *   h f = h k depth n - scale k P (v1 - w),     scale = beta h^2:
 * eb_touches_gradient, eb_touches_matrix and eb_touches_carry are the three parts. Friction is
 * not a force here: solvers filter velocities (Bridson, Fedkiw and Anderson 2002),
 * eb_touches_friction, and declare that (EB_FRICTION_FILTERED). */
#ifndef EB_IMPLICIT_PENALTY_H
#define EB_IMPLICIT_PENALTY_H

#include "problems/elasticity/block_matrix.h"
#include "problems/scene_impl.h"

typedef struct eb_touch {
  int32_t node;
  double depth;               /* m, >= 0 */
  double stiffness, isotropy; /* k, N/m; alpha */
  double friction;            /* Coulomb's mu */
  double normal[3];           /* outward */
  double velocity[3];         /* w: the collider's at that point, m/s */
} eb_touch;

/* The most touches that there can be: surface nodes times implicit colliders. */
int32_t eb_implicit_room(const eb_scene *scene);
/* The touches at positions x and time t, by rising node and then collider, into `touches` (room for
 * `room`); returns how many there are, also when they are more than there is room for. Surface
 * nodes only. Allocates nothing. */
int32_t eb_implicit_touches(const eb_scene *scene, double t, const double *x, int32_t room,
                            eb_touch *touches);
/* The touches of a step of length dt from (t, x, v): also the nodes that would be inside at its end
 * if they and the collider went on as they do, so that a fall is met where it ends and not a step's
 * travel below. Such a node, outside by a gap, has depth 0, and its collider is said to recede so
 * that it is reached at the end of the step: w - (gap / dt) n. */
int32_t eb_implicit_step_touches(const eb_scene *scene, double t, double dt, const double *x,
                                 const double *v, int32_t room, eb_touch *touches);
/* Adds the penalty's gradient (-f, N) to g. */
void eb_touches_gradient(const eb_touch *touches, int32_t count, double *g);
/* Adds scale k P to the diagonal blocks of A. */
void eb_touches_matrix(const eb_touch *touches, int32_t count, double scale, eb_block_matrix *A);
/* Adds scale k P w, what moving colliders bring to the other side, to b. */
void eb_touches_carry(const eb_touch *touches, int32_t count, double scale, double *b);
/* Energy 1/2 k depth^2, J. */
double eb_touches_energy(const eb_touch *touches, int32_t count);
/* Normal impulse (N s, not below 0) of a step to velocity v, with the scale of the matrix. */
double eb_touch_impulse(const eb_touch *touch, double dt, double scale, const double v[3]);
/* Friction on the velocities v (nodes x 3) that a step has solved for, with its scale and the
 * nodes' masses (kg): at every touch the impulse on the node is at most mu times the normal
 * impulse. */
void eb_touches_friction(const eb_touch *touches, int32_t count, double dt, double scale,
                         const double *mass, double *v);

#endif
