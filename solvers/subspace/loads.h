/* Forces that a scene's script puts on some of its nodes, seen from a subspace: with phi the rows
 * of Phi at these nodes,
 *
 *   B^T f = B^T f_steady + sum over loaded nodes of phi f_script(t, x, v),
 *
 * so that a step with such forces costs what they touch and not what the mesh has. */
#ifndef EB_SUBSPACE_LOADS_H
#define EB_SUBSPACE_LOADS_H

#include "problems/scene_impl.h"
#include "solvers/subspace/basis.h"

typedef struct eb_loads {
  bool everywhere; /* more than an eighth of the nodes: take the whole force instead */
  int32_t count;
  int32_t *node;  /* count */
  double *row;    /* count x axes x size: their rows of Phi */
  double *script; /* nodes x 3, N: workspace */
} eb_loads;

/* Finds the loaded nodes of a scene with ops->force: those that it pushes at any of 501 times of
 * the default run, from the initial state. The caller clears *out, also after a failure. */
EB_MUST eb_error eb_loads_create(const eb_scene *scene, const eb_basis *basis, eb_loads *out);
void eb_loads_clear(eb_loads *loads);
/* Adds scale times their part of B^T f to f (coefficients). Not where they are everywhere. */
void eb_loads_add(eb_loads *loads, const eb_scene *scene, const eb_basis *basis, double t,
                  const double *x, const double *v, double scale, double *f);

#endif
