/* The incremental potential of implicit Euler, whose minimizer over the free nodes is the step:
 *
 *   W(x) = 1/2 |x - xt|^2_M / h^2 + E(x) + S(x) - f_ext . (x - x0),   xt = x0 + h v0
 *   grad W = M (x - xt) / h^2 + dE/dx + dS/dx - f_ext
 *
 * with E the elastic energy of elements and clusters (problems/clusters.h) and S that of the
 * scene's springs (problems/springs.h; Ortiz and Stainier 1999 and many since). Without inertia it
 * is the potential energy whose minimizer is the equilibrium. Measuring the work of f_ext from x0
 * only shifts W by a constant, and keeps its digits where the body is far from the origin.
 *
 * With ranks, every function is collective and its results are those of all of them. */
#ifndef EB_COMMON_INCREMENTAL_POTENTIAL_H
#define EB_COMMON_INCREMENTAL_POTENTIAL_H

#include "problems/clusters.h"
#include "problems/elasticity/elasticity.h"
#include "problems/ranks/ranks.h"
#include "problems/scene_impl.h"
#include "problems/springs.h"

typedef struct eb_potential {
  const eb_elasticity *elasticity;
  int32_t nodes;         /* those that count: of a part the owned ones */
  const eb_ranks *ranks; /* that share the nodes; NULL: none */
  double inertia;        /* 1/h^2, or 0 for equilibrium, 1/s^2 */
  /* Sum over elements of rest volume x stiffness, and that of clusters, J: psi is a difference of
   * terms of that size, however small it is itself. */
  double elastic_scale;
  const uint8_t *fixed;        /* nodes */
  const double *force;         /* f_ext, nodes x 3, N */
  const double *origin;        /* x0, nodes x 3, m */
  const double *predicted;     /* xt, nodes x 3, m */
  const eb_springs *springs;   /* NULL: none */
  const eb_clusters *clusters; /* NULL: none */
} eb_potential;

typedef struct eb_potential_value {
  double value;     /* W, J */
  double magnitude; /* sum of the sizes of its terms: W is known to a few eps of it */
} eb_potential_value;

/* The elastic scale of a scene, of its elements. */
double eb_potential_elastic_scale(const eb_scene *scene);

/* W over the free nodes at x (nodes x 3). */
eb_potential_value eb_potential_at(const eb_potential *potential, const double *x);
/* E(x), of a part its share, not collective; and W where it is known. */
double eb_potential_elastic(const eb_potential *potential, const double *x);
eb_potential_value eb_potential_with(const eb_potential *potential, const double *x,
                                     double elastic);

typedef struct eb_potential_residual {
  double norm;  /* |grad W|_2 over the free nodes, N */
  double scale; /* |f_ext|_2 + |M (x - xt) / h^2|_2 + |dE/dx|_2 + |k (x - p)|_2 over the free
                   nodes, N; vanishes where elastic forces alone balance
                   (solvers/common/support_layer.h) */
} eb_potential_residual;

/* Writes -grad W to `descent` (nodes x 3, 0 at scripted nodes), given g = dE/dx at x. */
eb_potential_residual eb_potential_descent(const eb_potential *potential, const double *x,
                                           const double *g, double *descent);

#endif
