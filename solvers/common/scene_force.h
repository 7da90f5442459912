/* The external forces of a step, logged apart from what else makes its right-hand side. */
#ifndef EB_COMMON_SCENE_FORCE_H
#define EB_COMMON_SCENE_FORCE_H

#include "solvers/solver.h"

/* f := f_ext at time t (3 nodes, N; eb_scene_force). Where colliders or bodies push, which of them
 * touch has to be found first, and that takes nearly all of the time: phase DETECT, inside the one
 * that is open. Elsewhere that one goes on. */
void eb_logged_scene_force(const eb_scene *scene, double t, const double *x, const double *v,
                           double *f, eb_step_log *log);

#endif
