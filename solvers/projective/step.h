/* What the solvers with a global step share: the incremental potential with contacts, where a step
 * starts, when it ends.
 *
 *   W(x) = 1/2 |x - xt|^2_M / h^2 + E(x) + S(x) + C(x) - f_ext . x,   C = sum 1/2 k depth^2
 *
 * over implicit colliders (problems/contact/implicit_penalty.h), without friction unless it is
 * asked for. The contact of a node at x is the distance to its nearest point p on the surface, C <=
 * 1/2 k |x - p|^2: k on the diagonal of the global step, p found in the local one. */
#ifndef EB_PROJECTIVE_STEP_H
#define EB_PROJECTIVE_STEP_H

#include "solvers/common/implicit.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/common/step_options.h"
#include "solvers/projective/global.h"

#define EB_PROJECTIVE_OPTIONS                                                                      \
  EB_ITERATIONS_OPTION,                                                                            \
      EB_RTOL_OPTION("stop when |grad W| <= rtol (|external| + |inertial| + |elastic| forces)"),   \
      EB_ATOL_OPTION,                                                                              \
      EB_MAX_ITERATIONS_OPTION("10000", "give up after so many, with iterations=0"),               \
      EB_FRICTION_OPTION, {                                                                        \
    .name = "start", .type = EB_OPTION_CHOICE, .fallback = "inertial", .choices = "inertial|last", \
    .unit = "",                                                                                    \
    .doc = "where a step starts from: xt = x0 + h v0 + h^2 f_ext / M, or the last positions"       \
  }

enum {
  EB_PROJECTIVE_CAPABILITIES = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT |
                               EB_CAP_SCRIPTED | EB_CAP_COLLIDERS | EB_CAP_IMPLICIT_PENALTY |
                               EB_CAP_SPRINGS
};

typedef struct eb_projective {
  eb_implicit work; /* touches: those at the iterate; no matrix */
  eb_potential potential;
  eb_point_sweep sweep;
  eb_global *global;
  int64_t size;           /* 3 nodes */
  double *x, *trial;      /* iterate and candidate, size */
  double *predicted;      /* x0 + h v0 */
  double *descent;        /* -grad W at x */
  double *direction;      /* inv(A + P) descent, or what is made of it */
  double *stiffness;      /* nodes: of the contacts that the global step has */
  double *start;          /* xt: predicted + h^2 f_ext / M, size */
  const double *found_at; /* where the touches were looked for */
  double end;             /* time of the end of the step, s */
  eb_potential_residual residual;
  double floor; /* change of grad W when x is rounded to double, N */

  /* options */
  double rtol, atol;
  int64_t fixed_iterations, max_iterations;
  bool from_last, friction;
} eb_projective;

/* `weight` of a law is that of |F - its projection|^2 / 2 in the global step, Pa. On
 * failure nothing stays allocated. */
EB_MUST eb_error eb_projective_create(const eb_solver *solver, double (*weight)(const eb_law *law),
                                      eb_projective *out);
void eb_projective_clear(eb_projective *p);

/* Starts a step: forces, matrix, start in x. False with a negative *reason, or an error. */
EB_MUST eb_error eb_projective_begin(eb_projective *p, const eb_state *state, double dt,
                                     eb_step_log *log, eb_reason *reason);
/* The contacts of nodes at y, which are those of the global step and of the gradient from now on.
 */
void eb_projective_detect(eb_projective *p, const double *y, eb_step_log *log);
/* dE/dx at x, of elements and clusters, is in work.gradient: makes -grad W of it, in descent, and
 * its residual. */
void eb_projective_complete(eb_projective *p, const double *x);
/* W at x, whose elastic energy is given; with the contacts there, which are forgotten again. */
eb_potential_value eb_projective_value(eb_projective *p, const double *x, double elastic);
/* Whether a node is inside a collider at x that the global step has no contact of. */
bool eb_projective_enters(eb_projective *p, const double *x);
/* direction = inv(A + P) r. */
EB_MUST eb_error eb_projective_solve(eb_projective *p, const double *r, eb_step_log *log,
                                     eb_reason *reason);
/* Whether the iteration ends at the present residual, which it logs: at a tolerance, or because
 * nothing helps; a number of iterations is counted by who iterates. */
bool eb_projective_finished(const eb_projective *p, eb_step_log *log, eb_reason *reason);
/* Brings the state to the end of the step, unless *reason says that nothing came of it. */
EB_MUST eb_error eb_projective_end(eb_projective *p, eb_state *state, double dt, eb_step_log *log,
                                   eb_reason *reason);

/* The candidate, `trial`, becomes x. */
void eb_projective_accept(eb_projective *p);
/* Moves x along the direction by the longest of 1, 1/2, 1/4 .. that lowers W sufficiently. *at is W
 * at x, before and after; value(context, ..) is W anywhere, last asked for the new x. False when
 * nothing lowers it. */
typedef eb_potential_value eb_projective_values(void *context, const double *x, eb_step_log *log);
bool eb_projective_search(eb_projective *p, eb_potential_value *at, eb_projective_values *value,
                          void *context, eb_step_log *log);

#endif
