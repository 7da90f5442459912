/* What a step reports: why it ended, which equation it claims to have solved, and the log of its
 * phases, counters, residuals, contacts and subspace. Solvers fill it; audit, result file and
 * reports read it, and need to know no solver for that. */
#ifndef EB_STEP_H
#define EB_STEP_H

#include <stdint.h>

#include "problems/base/error.h"

#pragma GCC visibility push(default) /* exported */

/* Why a step ended: positive when the method met its own criterion, negative when not.
 * Reasons are data and are logged; they are never errors. */
typedef enum eb_reason {
  EB_CONVERGED_RTOL = 1,      /* relative tolerance met */
  EB_CONVERGED_ATOL = 2,      /* absolute tolerance met */
  EB_CONVERGED_DIRECT = 3,    /* one direct solve, no tolerance to meet */
  EB_CONVERGED_ITS = 4,       /* a fixed number of iterations was asked for and done */
  EB_CONVERGED_STAGNATED = 5, /* no further decrease possible in floating point */
  EB_RUNNING = 0,
  EB_DIVERGED_MAX_IT = -1,
  EB_DIVERGED_NAN = -2,
  EB_DIVERGED_BREAKDOWN = -3, /* direction of non-positive curvature, loss of orthogonality */
  EB_DIVERGED_LINE_SEARCH = -4,
  EB_NOT_POSITIVE_DEFINITE = -5,
  EB_DIVERGED_LINEAR_SOLVE = -6,
  EB_DIVERGED_LIBRARY = -7
} eb_reason;

/* "EB_CONVERGED_RTOL", ... */
const char *eb_reason_name(eb_reason reason);

/* One vocabulary of phases for all solvers. */
typedef enum eb_phase {
  EB_PHASE_ROTATIONS, /* of elements */
  EB_PHASE_NODE_ROTATIONS,
  EB_PHASE_GRADIENT, /* elastic forces, where no matrix comes with them */
  EB_PHASE_ASSEMBLE, /* the matrix of the system, with the forces that come with it */
  EB_PHASE_ORDER,    /* of unknowns or of elements */
  EB_PHASE_ANALYZE,  /* what depends on the mesh and not on positions */
  EB_PHASE_FACTOR,   /* numeric factorization, or making a preconditioner */
  EB_PHASE_UPDATE,   /* a factor that follows a change in part */
  EB_PHASE_SOLVE,    /* linear systems */
  EB_PHASE_RHS,      /* forces, script and all else that a right-hand side is made of */
  EB_PHASE_ESTIMATE, /* of errors, or of how long a step may be */
  EB_PHASE_LINESEARCH,
  EB_PHASE_DETECT,       /* contacts: which there are; forces of those that are explicit */
  EB_PHASE_RESOLVE,      /* contacts: forces, friction */
  EB_PHASE_LOCAL,        /* elements or nodes one by one: projections, constraints, stretches */
  EB_PHASE_PROJECT,      /* positions and velocities to unknowns, and back */
  EB_PHASE_IO,           /* files, and waiting for another program */
  EB_PHASE_PRECONDITION, /* applying a preconditioner */
  EB_PHASE_COUNT
} eb_phase;
const char *eb_phase_name(eb_phase phase); /* "rotations", ... */

typedef enum eb_counter {
  EB_COUNT_FACTORIZATIONS,
  EB_COUNT_SOLVES,
  EB_COUNT_MATVECS,
  EB_COUNT_ELEMENT_EVALUATIONS,
  EB_COUNT_LINEAR_ITERATIONS,
  EB_COUNT_LINE_SEARCHES,
  EB_COUNT_FLOPS,
  EB_COUNT_UPDATED_ELEMENTS,   /* element matrices brought up to date in the system */
  EB_COUNT_UPDATED_SUPERNODES, /* fronts refactored in part of a factorization */
  EB_COUNT_DAMPED_ELEMENTS,
  EB_COUNT_REDUCED_UNKNOWNS,   /* of the system that a condensing solver steps in time */
  EB_COUNT_REBUILDS,           /* set-ups after a change of the mesh */
  EB_COUNT_CONSTRAINTS,        /* of contact, at the end of the step */
  EB_COUNT_ACTIVE_CONSTRAINTS, /* those of them that carry a force */
  EB_COUNT_OUTER_ITERATIONS,   /* of contact: a solve, then detection of collisions */
  EB_COUNT_RELINEARIZATIONS, /* constraints made anew within the step because the bodies moved on */
  EB_COUNT_COLLISION_CANDIDATES, /* pairs of features that the step has tested */
  EB_COUNT_ACTIVE_SET_CHANGES,   /* of contacts, in the method that solves for them */
  EB_COUNT_CONTACT_VISITS, /* times that a method goes to a contact: for a product with its rows (or
                              with their transposes, or both at once), or for its law */
  EB_COUNTERS
} eb_counter;
const char *eb_counter_name(eb_counter counter); /* "factorizations", ... */

/* Memory that a solver holds while it steps, by what it is for. */
typedef enum eb_memory_kind {
  EB_MEMORY_MATRIX,   /* the assembled system matrix */
  EB_MEMORY_FACTOR,   /* its Cholesky factor */
  EB_MEMORY_UPDATES,  /* kept update matrices of the fronts */
  EB_MEMORY_ELEMENTS, /* element matrices or what they are made from */
  EB_MEMORY_KINDS
} eb_memory_kind;
const char *eb_memory_name(eb_memory_kind kind); /* "matrix", ... */

/* The elimination tree of a factorization, as eb_supernodes has it. */
typedef struct eb_tree_log {
  int32_t count;
  int32_t *parent, *pivots, *rows; /* count; pivots and rows in nodes */
  double *flops;                   /* count */
} eb_tree_log;

/* The equation that a step claims to solve. The harness measures the residual of that one, and that
 * of implicit Euler beside it (harness/audit/figures.md has the formulas); runs are ranked only
 * among those of the same equation. */
typedef enum eb_equation {
  EB_EQUATION_IMPLICIT_EULER, /* grad W(x1) = 0 (problems/scene.h) */
  EB_EQUATION_STATIC,         /* the same without inertia; v1 = 0 */
  EB_EQUATION_LINEARIZED,     /* one linear solve about x0, see eb_linearization */
  EB_EQUATION_REDUCED, /* the linearized equation (stiffness > 0) or implicit Euler (0), tested
                                 with the motions of a subspace alone */
  EB_EQUATION_POSITION_BASED, /* positions are projected onto constraints between nodes of a body */
  EB_EQUATIONS
} eb_equation;
const char *eb_equation_name(eb_equation equation); /* "implicit Euler", ... */

/* Which derivative of the forces a linearized step takes. */
typedef enum eb_tangent {
  EB_TANGENT_EXACT,     /* d2E/dx2 at x0 */
  EB_TANGENT_PROJECTED, /* the same with each element's part made positive semi-definite */
  EB_TANGENT_ROTATED,   /* sum_e R_e K_e R_e^T with the elements' rotations at x0 frozen */
  EB_TANGENTS
} eb_tangent;

/* The equation of a linearized step, K the tangent:
 *   (mass M + stiffness h^2 K) v1 = M v0 + h (f_ext - g(x0)),   x1 = x0 + h v1.
 * mass and stiffness are 1 in linearly implicit Euler; damping raises them. */
typedef struct eb_linearization {
  double mass, stiffness;
  eb_tangent tangent;
} eb_linearization;

/* Which nodes implicit colliders push in a linearized step (problems/contact/implicit_penalty.h).
 */
typedef enum eb_touching {
  EB_TOUCHING_PREDICTED, /* those inside at x0, and those that would be at x0 + h v0 */
  EB_TOUCHING_PRESENT,   /* those inside at x0 alone */
  EB_TOUCHINGS
} eb_touching;

/* The friction of a step: at implicit colliders, or the last one at contacts as constraints. The
 * harness holds a step to what it declares, and ranks runs among those of the same alone. */
typedef enum eb_friction_model {
  EB_FRICTION_COULOMB,  /* Coulomb's law at the end of the step */
  EB_FRICTION_FILTERED, /* the equation is that of velocities `unfiltered`, without friction, which
                           are then braked: eb_touches_friction (implicit_penalty.h) */
  EB_FRICTION_NONE,
  EB_FRICTION_BY_MOTION, /* right to what moves a contact by a tolerance: forces may be outside of
                            the cone */
  EB_FRICTION_MODELS
} eb_friction_model;

/* How the positions of a step follow from its velocities; the harness holds every node to it that
 * no body carries, scripted ones too. */
typedef enum eb_update {
  EB_UPDATE_END_VELOCITY,  /* x1 = x0 + h v1 */
  EB_UPDATE_MEAN_VELOCITY, /* x1 = x0 + h (v0 + v1) / 2 */
  EB_UPDATE_SUBSTEPS,      /* the step is cut into parts: its energy bounds how far a node goes */
  EB_UPDATE_CORRECTED,     /* x1 = x0 + h v1 + c, where c may only lower the potential energy */
  EB_UPDATE_LATE_FORCE,    /* x1 = x0 + h v1 - h^2 f_ext / m of free nodes: f_ext of a step moves
                              positions in the next; x1 = x0 + h v1 of scripted ones */
  EB_UPDATES
} eb_update;
const char *eb_update_name(eb_update update); /* "x1 = x0 + h v1", ... */

/* What the residuals that a step logs are: norm and unit. A tolerance is claimed in one of the
 * norms that the audit measures: of the gradient, of the linearized step with or without contact
 * forces, and of the subspace that the step declares. */
typedef enum eb_residual_norm {
  EB_NORM_OWN,              /* none of these: what own_norm of the log says */
  EB_NORM_GRADIENT,         /* |grad W|_2 over the free nodes, N */
  EB_NORM_LINEARIZED,       /* |b - A v|_2, kg m/s */
  EB_NORM_CONTACT,          /* |b - A v + H^T r|_2, kg m/s */
  EB_NORM_REDUCED_GRADIENT, /* |B^T grad W|_2 of the cubature points, N/kg^1/2 */
  EB_NORM_QUASISTATIC,      /* |f_q|_2 of the net force on quasistatic nodes, N */
  EB_NORM_ELEMENT,          /* largest error of an element before and after the update, kg m/s */
  EB_NORM_NO_EQUATION,      /* none: explicit parts solve no equation */
  EB_NORM_NO_TOLERANCE,     /* none: there is no tolerance to meet */
  EB_RESIDUAL_NORMS
} eb_residual_norm;
/* The norm whose formula, up to its closing bar, `text` begins with, as "|grad W|_2, N" does;
 * EB_NORM_OWN: there is none. */
eb_residual_norm eb_residual_norm_find(const char *text);

struct eb_contact_record;
struct eb_subspace_record;

enum {
  EB_OPEN_PHASES = 16, /* phases inside each other; deeper ones count as part of these */
  EB_LOG_ROUNDS = 64   /* of solving; later ones are not kept */
};

/* What a solver reports of a step (or of its set-up). Owned and reset by the harness, filled by the
 * solver through the functions below, which allocate nothing. Residuals past the capacity are
 * counted, not kept. */
typedef struct eb_step_log {
  double phase_seconds[EB_PHASE_COUNT];
  eb_phase open[EB_OPEN_PHASES]; /* those that have begun and not ended, innermost last */
  int open_count;
  double phase_mark; /* since when the innermost one's time has not been added up */
  double counters[EB_COUNTERS];
  int64_t iterations;             /* outermost iterations of the step */
  eb_residual_norm residual_norm; /* of the residuals; EB_NORM_OWN after a reset */
  const char *own_norm;           /* in the solver's words, as long-lived as it; "" after a reset */
  double *residuals;
  double *residual_seconds; /* wall seconds since the step began, beside each residual */
  int64_t residual_count, residual_capacity;
  /* Residuals before the problem was made anew within the step, each time. */
  int64_t rounds[EB_LOG_ROUNDS];
  int round_count;
  double step_started;
  /* s: what a program of the user's says that its step took (solvers/external); NaN: there is none.
   * The step's time is what the harness measures. */
  double own_seconds;
  eb_equation equation;
  /* Of EB_EQUATION_LINEARIZED and EB_EQUATION_REDUCED; 1, 1, exact and predicted after a reset. */
  eb_linearization linearization;
  eb_touching touching;       /* in scenes with implicit colliders */
  eb_friction_model friction; /* Coulomb's after a reset */
  /* Of EB_FRICTION_FILTERED: nodes x 3, m/s; owned by the solver and good until its next step. */
  const double *unfiltered;
  double memory_bytes[EB_MEMORY_KINDS]; /* of the set-up */
  eb_tree_log tree;                     /* of the set-up; count 0: none */
  /* Per element: updates since the harness last cleared it (it does at every stored frame),
   * saturating at 255. Kept by reset. NULL when nobody asked. */
  uint8_t *element_updates;
  int32_t element_count;
  /* The contacts of the step (problems/contact_record.h), owned by the solver and good until its
   * next step; NULL when there are none. */
  const struct eb_contact_record *contacts;
  /* The subspace in which implicit Euler or statics is solved (problems/subspace_record.h), owned
   * by the solver and good as long as it; NULL: that of all positions. */
  const struct eb_subspace_record *subspace;
  /* The rotation of every element of the mesh that the step has worked with (elements x 9,
   * row-major) as an estimate; owned by the solver and good until its next step; NULL: none. */
  const double *rotations;
  /* The positions of nodes (nodes x 3) of which they were estimated last, as long-lived; NULL:
   * those at the start of the step. */
  const double *rotated_at;
  int invalid; /* reports of phases, counters and memory kinds out of range, which are not logged */
} eb_step_log;

/* Room for so many residuals a step. EB_ERR_USAGE: fewer than 0. The caller destroys *out;
 * NULL is fine. */
EB_MUST eb_error eb_step_log_create(int64_t residual_capacity, eb_step_log **out);
void eb_step_log_destroy(eb_step_log *log);
/* A step begins: forgets all but element_updates, and starts the clock of residual_seconds. */
void eb_step_log_reset(eb_step_log *log);

/* Norm and unit of the residuals in words: own_norm, or else those of residual_norm. */
const char *eb_log_norm(const eb_step_log *log);

/* ---- what a solver calls: where `log` is NULL nothing is done -------------------------------- */

/* A phase may begin inside another one, or inside itself; the time of the inner one is then its own
 * and not the outer one's. The end of a phase ends those inside it; the end of one that has not
 * begun is ignored. */
void eb_log_begin(eb_step_log *log, eb_phase phase);
void eb_log_end(eb_step_log *log, eb_phase phase);
/* In the norm and unit of residual_norm. */
void eb_log_residual(eb_step_log *log, double value);
/* The problem is made anew: the residuals that follow are of another one. */
void eb_log_round(eb_step_log *log);
void eb_log_count(eb_step_log *log, eb_counter counter, double amount);

/* Adds bytes to one kind; during set-up. */
void eb_log_memory(eb_step_log *log, eb_memory_kind kind, double bytes);
/* Copies a tree of `count` supernodes into the log; during set-up. */
EB_MUST eb_error eb_log_tree(eb_step_log *log, int32_t count, const int32_t *parent,
                             const int32_t *pivots, const int32_t *rows, const double *flops);
/* Elements (marked[e] != 0) whose matrices this step has brought up to date; counts them too. */
void eb_log_updates(eb_step_log *log, const uint8_t *marked, int32_t elements);

#pragma GCC visibility pop

#endif
