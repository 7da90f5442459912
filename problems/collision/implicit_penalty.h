/* Implicit penalty contact of nodes with colliders (McAdams et al. 2011, as ConJac uses it).
 *
 * A node at x, deeper than 0 in a collider whose closest surface point is xs, is pushed by
 *   f = -k ((1 - alpha) n n^T + alpha I) (x - xs),     -df/dx ~ k ((1 - alpha) n n^T + alpha I),
 * with k = stiffness times the node's share of the surface area, alpha the collider's isotropy and n its outward normal. As x - xs
 * lies along n, alpha changes the tangent alone. Friction is not a force here: solvers filter velocities (Bridson, Fedkiw and
 * Anderson 2002): eb_touch_friction. Only colliders with `implicit` take part. */
#ifndef EB_IMPLICIT_PENALTY_H
#define EB_IMPLICIT_PENALTY_H

#include "problems/elasticity/block_matrix.h"
#include "problems/scene.h"

typedef struct eb_touch {
  int32_t node;
  double depth;                  /* m, > 0 */
  double stiffness, isotropy;    /* k, N/m; alpha */
  double friction;               /* Coulomb's mu */
  double normal[3], velocity[3]; /* outward; the collider's at that point, m/s */
} eb_touch;

/* Whether the scene has an implicit collider. */
bool eb_scene_has_implicit_contact(const eb_scene *scene);
/* The touches at positions x and time t, by rising node and then collider, into `touches` (room for `room`); returns how many there are, also
 * when they are more than there is room for. Surface nodes only. Allocates nothing. */
int32_t eb_implicit_touches(const eb_scene *scene, double t, const double *x, int32_t room,
                            eb_touch *touches);
/* Adds the penalty's gradient (-f, N) to g. */
void eb_touches_gradient(const eb_touch *touches, int32_t count, double *g);
/* Adds scale k ((1 - alpha) n n^T + alpha I) to the diagonal blocks of A. */
void eb_touches_matrix(const eb_touch *touches, int32_t count, double scale, eb_block_matrix *A);
/* Energy 1/2 k depth^2, J. */
double eb_touches_energy(const eb_touch *touches, int32_t count);
/* Coulomb's friction on a velocity, given that before and after the contact impulse: the change of normal velocity allows a tangential change
 * of mu times as much. `before` and `v` (after; changed in place) in m/s. */
void eb_touch_friction(const eb_touch *touch, const double before[3], double v[3]);

#endif
