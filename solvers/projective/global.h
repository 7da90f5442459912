/* The global step: (A + P) d = r for three coordinates, with
 *
 *   A = M / h^2 + sum over points of w weight G G^T + clusters + springs
 *
 * the same for all coordinates and steps, and P the stiffness of contacts on the diagonal, which
 * comes and goes with them. Rows of held nodes are cut off: r and d are 0 there. */
#ifndef EB_PROJECTIVE_GLOBAL_H
#define EB_PROJECTIVE_GLOBAL_H

#include "problems/clusters.h"
#include "problems/elasticity/point_sweep.h"
#include "problems/springs.h"
#include "solvers/solver.h"

/* Of every solver with a global step. */
#define EB_GLOBAL_OPTIONS                                                                          \
  {.name = "contact",                                                                              \
   .type = EB_OPTION_CHOICE,                                                                       \
   .fallback = "refactor",                                                                         \
   .choices = "refactor|update|cg",                                                                \
   .unit = "",                                                                                     \
   .doc = "when contacts change: factor again, updates of rank one, conjugate gradients"},         \
      {.name = "preconditioner",                                                                   \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "factor",                                                                       \
       .choices = "factor|ic0|none",                                                               \
       .unit = "",                                                                                 \
       .doc = "of contact=cg: the factor without contacts, IC(0) of the matrix with them"},        \
      {.name = "linear_rtol",                                                                      \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = "1e-6",                                                                         \
       .min = 0,                                                                                   \
       .max = 0.9,                                                                                 \
       .unit = "",                                                                                 \
       .doc = "contact=cg: stop when |b - A x| <= linear_rtol |b|"},                               \
  {                                                                                                \
    .name = "linear_reference", .type = EB_OPTION_CHOICE, .fallback = "rhs",                       \
    .choices = "rhs|residual", .unit = "",                                                         \
    .doc = "that |b|: of the right-hand side, or of the residual that is there at the start"       \
  }

typedef struct eb_global eb_global;

/* Orders, analyzes and factors for inertia = 1/h^2 of the scene and the nodes held at its start
 * (phases go to the solver's set-up log). `weight` of a law is that of |F|^2 / 2, Pa. *out is NULL
 * on failure. */
EB_MUST eb_error eb_global_create(const eb_solver *solver, const eb_point_sweep *sweep,
                                  const eb_clusters *clusters, double (*weight)(const eb_law *law),
                                  eb_global **out);
void eb_global_destroy(eb_global *global);

/* Before a step: factors again where inertia, held nodes or springs have changed since. */
EB_MUST eb_error eb_global_prepare(eb_global *global, double inertia, const uint8_t *held,
                                   const eb_springs *springs, eb_step_log *log, eb_reason *reason);
/* The contacts' stiffness from now on (nodes, N/m); held nodes have none. */
EB_MUST eb_error eb_global_set_contacts(eb_global *global, const double *stiffness,
                                        eb_step_log *log, eb_reason *reason);
/* d = inv(A + P) r; both nodes x 3. Conjugate gradients look at x for |A x + r|, and stop at
 * `ceiling` at the latest, N. */
EB_MUST eb_error eb_global_solve(eb_global *global, const double *r, const double *x,
                                 double ceiling, double *d, eb_step_log *log, eb_reason *reason);
/* A_ii + P_ii of a node. */
double eb_global_diagonal(const eb_global *global, int32_t node);

#endif
