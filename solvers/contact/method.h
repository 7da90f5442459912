/* A method solves the contact problem of a step (problems/contact/problem.h):
 *
 *   A v = b + H^T r,   u = H v - c
 *
 * with Signorini's condition on u_n, r_n and Coulomb's law on u_t, r_t. The step around the methods
 * (contact_step.c) is one for all: same matrix, contacts, tolerances, warm start. */
#ifndef EB_CONTACT_METHOD_H
#define EB_CONTACT_METHOD_H

#include "problems/contact/problem.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/solver.h"

/* What a solution must meet, the same for every method, in the measures of eb_contact_measure. */
typedef struct eb_contact_tolerance {
  double eps1;  /* on the residual: absolute, units of b */
  double eps2;  /* on violation, active and sliding, m */
  double cone;  /* of the largest r_n; 1e-3 */
  double angle; /* degrees: 1.2 in the paper */
  int64_t max_iterations;
} eb_contact_tolerance;

/* That of the options of a contact solver: eps1 (of |b|_2, b having n entries, with
 * tolerance_kind=relative), eps2, angle, max_iterations; cone is the same in every step. */
eb_contact_tolerance eb_contact_tolerance_asked(const eb_values *options, int64_t n,
                                                const double *b);

/* Every measure within its tolerance; NaN is within none. */
static inline bool eb_contact_solved(const eb_contact_error *error,
                                     const eb_contact_tolerance *tolerance) {
  return error->residual <= tolerance->eps1 && error->violation <= tolerance->eps2 &&
         error->active <= tolerance->eps2 && error->sliding <= tolerance->eps2 &&
         error->cone <= tolerance->cone && error->angle <= tolerance->angle;
}

/* eb_contact_measure where A v is not known. */
static inline void eb_contact_measure_anew(const eb_contact_problem *problem, const double *v,
                                           const double *r, double eps2, double *work,
                                           eb_contact_error *error) {
  eb_block_multiply(problem->A, v, work);
  eb_contact_measure(problem, v, r, eps2, work, error);
}

/* So measures (v, r), logs what that costs, and says whether it is solved. */
static inline bool eb_contact_is_solved(const eb_contact_problem *problem,
                                        const eb_contact_tolerance *tolerance, const double *v,
                                        const double *r, double *work, eb_step_log *log,
                                        eb_contact_error *error) {
  eb_contact_measure_anew(problem, v, r, tolerance->eps2, work, error);
  eb_log_count(log, EB_COUNT_MATVECS, 1);
  eb_log_count(log, EB_COUNT_CONTACT_VISITS, 2 * (double)problem->count);
  return eb_contact_solved(error, tolerance);
}

typedef struct eb_contact_outcome {
  /* EB_CONVERGED_ATOL. EB_CONVERGED_STAGNATED: the constraints contradict each other, (v, r) solves
   * them in a least-squares sense. Or negative. */
  eb_reason reason;
  int64_t iterations;         /* what the method counts: its file says what one is */
  int64_t active_set_changes; /* iterations at which a contact has opened, closed, stuck or slid */
} eb_contact_outcome;

typedef struct eb_contact_method {
  const char *name;
  bool nonlinear;     /* its solver has the option end_test (active_set.h) */
  bool unconstrained; /* its solver has the option start */
  bool scaled;        /* it asks for problem->similar; for others that is 1 */
  /* For problems whose A has this pattern, which may go afterwards; contacts may grow from solve to
   * solve. Options are the solver's. */
  eb_error (*create)(const eb_solver *solver, const eb_block_matrix *pattern, void **data);
  /* Solves from the guess (v, r), r of contacts that are new being 0, to the tolerance; (v, r) are
   * the result also when it fails. May grow its own arrays when there are more contacts than ever.
   * Logs phases SOLVE or FACTOR inside RESOLVE, residuals and counters: EB_COUNT_MATVECS and
   * EB_COUNT_CONTACT_VISITS in all that it does, also where it asks eb_contact_measure. */
  eb_error (*solve)(void *data, const eb_contact_problem *problem,
                    const eb_contact_tolerance *tolerance, double *v, double *r, eb_step_log *log,
                    eb_contact_outcome *outcome);
  void (*destroy)(void *data);
} eb_contact_method;

extern const eb_contact_method eb_contact_cr, eb_contact_al, eb_contact_ica, eb_contact_sp,
    eb_contact_delassus;

/* Of methods that are published as corrections of the velocity without contacts. */
#define EB_CONTACT_START                                                                           \
  {                                                                                                \
    .name = "start", .type = EB_OPTION_CHOICE, .fallback = "warm",                                 \
    .choices = "warm|unconstrained", .unit = "",                                                   \
    .doc = "from the motion of the last step, or from the one without contacts, by conjugate "     \
           "gradients whose iterations count"                                                      \
  }
/* The options of each method, for the table of its solver (contact_step.c). */
#define EB_CONTACT_CR_OPTIONS                                                                      \
  {.name = "preconditioner",                                                                       \
   .type = EB_OPTION_CHOICE,                                                                       \
   .fallback = "full",                                                                             \
   .choices = "full|diag",                                                                         \
   .unit = "",                                                                                     \
   .doc = "preconditioner of Section 3.4"},                                                        \
      {.name = "deadband",                                                                         \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = "1",                                                                            \
       .min = 0,                                                                                   \
       .max = 1e3,                                                                                 \
       .unit = "",                                                                                 \
       .doc = "changes of a contact count that move it by more than so many eps2; 0: all"},        \
      {.name = "freeze",                                                                           \
       .type = EB_OPTION_INT,                                                                      \
       .fallback = "10",                                                                           \
       .min = 0,                                                                                   \
       .max = 1e9,                                                                                 \
       .unit = "",                                                                                 \
       .doc =                                                                                      \
           "a contact stays in static friction once it has come to it so often, and is turned by " \
           "less once its direction has turned back so often; 0: never"},                          \
      {.name = "interval",                                                                         \
       .type = EB_OPTION_INT,                                                                      \
       .fallback = "1",                                                                            \
       .min = 1,                                                                                   \
       .max = 1e6,                                                                                 \
       .unit = "",                                                                                 \
       .doc = "least number of iterations between evaluations of the states"},                     \
      {.name = "rest",                                                                             \
       .type = EB_OPTION_BOOL,                                                                     \
       .fallback = "true",                                                                         \
       .unit = "",                                                                                 \
       .doc = "at convergence motion within eps2 has any sign"},                                   \
      {.name = "least_squares",                                                                    \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = "1e-3",                                                                         \
       .min = 0,                                                                                   \
       .max = 1,                                                                                   \
       .unit = "",                                                                                 \
       .doc = "least-squares exit at |B C^-1 r| of so many eps1; the paper's is 1"},               \
      {.name = "end_test",                                                                         \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "gap",                                                                          \
       .choices = "gap|step",                                                                      \
       .unit = "",                                                                                 \
       .doc = "outer iterations go on until gaps are within eps2 (Equation 21), or as the other "  \
              "contact solvers'"},                                                                 \
  {                                                                                                \
    .name = "polish", .type = EB_OPTION_BOOL, .fallback = "false", .unit = "",                     \
    .doc = "goes on by contact-al where a tolerance is not met, as that of the friction cone"      \
  }
#define EB_CONTACT_AL_OPTIONS                                                                      \
  {                                                                                                \
    .name = "preconditioner", .type = EB_OPTION_CHOICE, .fallback = "full",                        \
    .choices = "full|diag", .unit = "", .doc = "preconditioner of Section 3.4"                     \
  }
#define EB_CONTACT_ICA_OPTIONS                                                                     \
  EB_CONTACT_START, {                                                                              \
    .name = "inner_sweeps", .type = EB_OPTION_INT, .fallback = "50", .min = 1, .max = 1e6,         \
    .unit = "", .doc = "most sweeps over the contacts in one iteration"                            \
  }
#define EB_CONTACT_SP_OPTIONS                                                                      \
  EB_CONTACT_START, {                                                                              \
    .name = "inner", .type = EB_OPTION_CHOICE, .fallback = "active-set",                           \
    .choices = "active-set|2xcr", .unit = "",                                                      \
    .doc = "states change when conjugate residuals have converged, or while they iterate"          \
  }
#define EB_CONTACT_DELASSUS_OPTIONS                                                                \
  {                                                                                                \
    .name = "delassus_solver", .type = EB_OPTION_CHOICE, .fallback = "newton",                     \
    .choices = "pgs|newton", .unit = "",                                                           \
    .doc = "on the reduced problem: projected Gauss-Seidel or Newton (Alart-Curnier)"              \
  }

#endif
