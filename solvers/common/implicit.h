/* What every implicit solver holds: the constraints and forces of the step, one system matrix in
 * the pattern of the elasticity, and for solvers that declare its options one linear solver. */
#ifndef EB_COMMON_IMPLICIT_H
#define EB_COMMON_IMPLICIT_H

#include "problems/clusters.h"
#include "problems/contact/implicit_penalty.h"
#include "problems/springs.h"
#include "solvers/linalg/linear.h"
#include "solvers/solver.h"

#define EB_LINEAR_CHOICES "cholesky|cholesky-single|cholmod|cg|petsc"

/* The options of the linear solver, the same for every solver that has one. `tolerance` is the
 * default of linear_rtol, as text. */
#define EB_LINEAR_OPTIONS(kind, conditioner, tolerance)                                            \
  {.name = "linear",                                                                               \
   .type = EB_OPTION_CHOICE,                                                                       \
   .fallback = (kind),                                                                             \
   .choices = EB_LINEAR_CHOICES,                                                                   \
   .unit = "",                                                                                     \
   .doc = "linear solver: multifrontal Cholesky (single: its factor in floats, refined), "         \
          "CHOLMOD, conjugate gradients, any PETSc KSP"},                                          \
      {.name = "preconditioner",                                                                   \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = (conditioner),                                                                  \
       .choices = "none|jacobi|block-jacobi|ic",                                                   \
       .unit = "",                                                                                 \
       .doc = "preconditioner of linear=cg"},                                                      \
      {.name = "linear_rtol",                                                                      \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = (tolerance),                                                                    \
       .min = 0,                                                                                   \
       .max = 0.9,                                                                                 \
       .unit = "",                                                                                 \
       .doc = "cg, petsc: stop when |b - A x| <= linear_rtol |b|"},                                \
      {.name = "linear_atol",                                                                      \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = "0",                                                                            \
       .min = 0,                                                                                   \
       .max = 1e300,                                                                               \
       .unit = "",                                                                                 \
       .doc = "cg, petsc: or when |b - A x| <= linear_atol, in units of b"},                       \
      {.name = "linear_max_iterations",                                                            \
       .type = EB_OPTION_INT,                                                                      \
       .fallback = "10000",                                                                        \
       .min = 1,                                                                                   \
       .max = 1e9,                                                                                 \
       .unit = "",                                                                                 \
       .doc = "cg, petsc: give up after so many iterations"},                                      \
  {                                                                                                \
    .name = "petsc", .type = EB_OPTION_TEXT, .fallback = EB_PETSC_MULTIGRID, .unit = "",           \
    .doc = "linear=petsc: PETSc options, e.g. -ksp_type cg -pc_type icc"                           \
  }

typedef struct eb_implicit {
  const eb_scene *scene;
  int threads;
  int32_t nodes;      /* of the scene's mesh: of a part the local ones */
  int32_t own;        /* the first of them, which count in sums */
  int64_t size;       /* 3 nodes */
  int64_t scripted;   /* nodes scripted at the end of the present step, of all ranks */
  uint8_t *fixed;     /* nodes: scripted at the end of the step */
  double *target;     /* size: where scripted nodes are then, m */
  double *force;      /* size: f_ext at the start of the step, N */
  double *gradient;   /* size: dE/dx, of elements and clusters, N */
  double *rhs;        /* size: right-hand side of the linear system */
  double *unknown;    /* size: its solution */
  double *prescribed; /* size: values of the unknown at scripted nodes, 0 elsewhere */
  eb_block_matrix *matrix;
  eb_linear *linear; /* NULL when the solver has no option `linear` */
  int32_t touch_count, touch_room;
  eb_touch *touches;  /* touch_room: with implicit colliders; NULL without */
  double *unfiltered; /* size: velocities that friction was none of; likewise */
  eb_springs springs; /* at the end of the step */
  eb_clusters clusters;
} eb_implicit;

/* Allocates everything; with EB_LINEAR_OPTIONS among the solver's options, also creates that linear
 * solver, which orders and analyzes (phases go to the solver's set-up log). On failure nothing
 * stays allocated. Of a part collective, as is all below that sums, asks or solves. */
EB_MUST eb_error eb_implicit_create(const eb_solver *solver, eb_implicit *out);
/* The same without matrix and linear solver. */
EB_MUST eb_error eb_implicit_create_matrixless(const eb_solver *solver, eb_implicit *out);
void eb_implicit_clear(eb_implicit *work);

/* Whether every entry is finite. */
bool eb_all_finite(int64_t n, const double *x);
/* Whether every entry of `x` (size) at nodes that count is finite, on all ranks. */
bool eb_implicit_finite(const eb_implicit *work, const double *x);

/* Starts a step: sets the threads, evaluates f_ext at the start, the script and the springs at the
 * end of the step (phase RHS; DETECT where contacts push). Returns false when the state or the
 * forces are not finite. */
bool eb_implicit_begin(eb_implicit *work, const eb_state *state, double dt, eb_step_log *log);

/* Assembles mass_scale M + hessian_scale H(x) into work->matrix, with `project` each element's and
 * cluster's part positive semi-definite, and dE/dx into work->gradient (phase ASSEMBLE). */
void eb_implicit_assemble(eb_implicit *work, const double *x, double mass_scale,
                          double hessian_scale, bool project, eb_step_log *log);
/* dE/dx alone (phase GRADIENT). */
void eb_implicit_gradient(eb_implicit *work, const double *x, eb_step_log *log);

/* The touches of the step (phase DETECT). */
void eb_implicit_find_touches(eb_implicit *work, const eb_state *state, double dt,
                              eb_step_log *log);

/* Friction of `count` touches on the velocities v that the step's equation has, which has none:
 * filters them (eb_touches_friction), and declares so. */
void eb_implicit_friction(eb_implicit *work, const eb_touch *touches, int32_t count, double dt,
                          double scale, double *v, eb_step_log *log);

/* Constrains work->matrix and work->rhs to work->prescribed at the scripted nodes, factors, and
 * solves for work->unknown, whose value on entry is the initial guess of iterative methods; ghosts
 * of a part get it from their owners. The matrix is spent (eb_linear_settings): it is assembled
 * again before it is read. *reason is the outcome of the factorization when that failed, else of
 * the solve. */
EB_MUST eb_error eb_implicit_solve(eb_implicit *work, bool log_residuals, eb_step_log *log,
                                   eb_reason *reason);

#endif
