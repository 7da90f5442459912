/* How long explicit steps may be. */
#ifndef EB_SYMPLECTIC_EULER_STABILITY_H
#define EB_SYMPLECTIC_EULER_STABILITY_H

#include "problems/scene_impl.h"

/* A step (s) at which symplectic Euler is stable about x (nodes x 3, m): 2 / w, where w^2, a bound
 * of the eigenvalues of inv(M) H(x), is that of Gershgorin's circles over the nodes with fixed[i]
 * == 0. `matrix` has the pattern of the elasticity; its values are overwritten. Of the elements'
 * forces alone: penalties of colliders may want less. INFINITY where nothing resists. */
double eb_stable_step(const eb_scene *scene, const double *x, const uint8_t *fixed,
                      eb_block_matrix *matrix);

/* The same of a scene as it begins, with what its script holds then. EB_ERR_MEMORY. */
EB_MUST eb_error eb_stable_step_at_start(const eb_scene *scene, double *out);

#endif
