/* The matrix of the global step and its factor, through changes of contacts.
 *
 *   (M / h^2 + sum w weight G G^T + K_c + K_s + P) d = r,   P = diag(k) over the contacts
 *
 * with k (delta_ab - 1/n) of every cluster in K_c and the springs on the diagonal.
 *
 * Reference: Bouaziz et al. 2014 for A; Lewin 2016, Sections 5.4.4 and 5.5, for the answers to P:
 *   refactor   a new factor of A + P;
 *   update     a rank-one update of L D L^T for every entry that has changed;
 *   cg         conjugate gradients on A + P, preconditioned by the factor of A, which stays.
 * The last one needs no more iterations than contacts have distinct effects, few at k of the order
 * of A's own entries, many where k rules (there IC(0) of A + P does better).
 *
 * Held nodes are eliminated: their columns would go to the right-hand side, which is 0 for
 * corrections d, so that their couplings are dropped and their own diagonal entries are left.
 *
 * Workspace: A twice (without inertia and held nodes, and with), 5 vectors, what the factor and
 * conjugate gradients need. Fails as they do. */
#include "solvers/projective/global.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/projective/factor.h"
#include "solvers/projective/pcg.h"

enum { MOST_ITERATIONS = 100000 };

typedef enum contact_way { CONTACT_REFACTOR, CONTACT_UPDATE, CONTACT_CG } contact_way;

struct eb_global {
  const eb_block_matrix *pattern;
  const double *mass;
  contact_way way;
  double rtol;
  bool of_residual; /* rtol is relative to the first residual */

  double inertia;
  uint8_t *held;                 /* nodes; as in `value` */
  double *springs, *new_springs; /* nodes: their stiffness in `value`, that of the step */
  double *elastic, *value;       /* entries: sum of w weight G G^T and K_c; A */
  double *contact, *change;      /* nodes: P; what it changes by */
  bool ready;                    /* `value` is factored */
  eb_scalar_factor *factor;      /* NULL: conjugate gradients do without */
  eb_incomplete incomplete;
  bool incomplete_ready;
  eb_pcg cg;
  eb_v4 *b, *x; /* nodes */
};

static eb_scalar_matrix3 matrix_of(const eb_global *global) {
  return (eb_scalar_matrix3){global->pattern, global->value, global->contact};
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static void assemble(eb_global *global) {
  const eb_block_matrix *p = global->pattern;
  for (int32_t i = 0; i < p->rows; i++) {
    for (int32_t b = p->start[i]; b < p->start[i + 1]; b++) {
      bool cut = (global->held[i] || global->held[p->column[b]]) && b != p->diagonal[i];
      global->value[b] = cut ? 0 : global->elastic[b];
    }
    global->value[p->diagonal[i]] += global->inertia * global->mass[i] + global->springs[i];
  }
}

double eb_global_diagonal(const eb_global *global, int32_t node) {
  EB_ASSERT(node >= 0 && node < global->pattern->rows);
  return global->value[global->pattern->diagonal[node]] + global->contact[node];
}

/* A failure leaves no factor: the next step tries again. */
static eb_error factorize(eb_global *global, eb_step_log *log, eb_reason *reason) {
  eb_error error = EB_OK;
  *reason = EB_CONVERGED_DIRECT;
  if (global->factor) {
    const double *extra = global->way == CONTACT_CG ? NULL : global->contact;
    eb_log_begin(log, EB_PHASE_FACTOR);
    error = eb_scalar_factor_set(global->factor, global->value, extra, log, reason);
    eb_log_end(log, EB_PHASE_FACTOR);
  }
  global->ready = !error && *reason > 0;
  return error;
}

/* Contacts are kept: what they were belongs to the factor. */
eb_error eb_global_prepare(eb_global *global, double inertia, const uint8_t *held,
                           const eb_springs *springs, eb_step_log *log, eb_reason *reason) {
  EB_ASSERT(inertia > 0);
  size_t nodes = (size_t)global->pattern->rows;
  memset(global->new_springs, 0, nodes * sizeof *global->new_springs);
  for (int32_t s = 0; s < springs->count; s++)
    global->new_springs[springs->node[s]] += springs->stiffness[s];
  *reason = EB_CONVERGED_DIRECT;
  if (global->ready && inertia == global->inertia && !memcmp(held, global->held, nodes) &&
      !memcmp(global->springs, global->new_springs, nodes * sizeof *global->springs))
    return EB_OK;
  global->inertia = inertia;
  memcpy(global->held, held, nodes);
  memcpy(global->springs, global->new_springs, nodes * sizeof *global->springs);
  assemble(global);
  global->incomplete_ready = false;
  return factorize(global, log, reason);
}

/* ---- contacts -------------------------------------------------------------------------------- */

eb_error eb_global_set_contacts(eb_global *global, const double *stiffness, eb_step_log *log,
                                eb_reason *reason) {
  int32_t changed = 0, updated = 0;
  *reason = EB_CONVERGED_DIRECT;
  for (int32_t i = 0; i < global->pattern->rows; i++) {
    double k = global->held[i] ? 0 : stiffness[i];
    global->change[i] = k - global->contact[i];
    global->contact[i] = k;
    changed += global->change[i] != 0;
  }
  if (changed == 0) return EB_OK;
  eb_log_count(log, EB_COUNT_ACTIVE_SET_CHANGES, changed);
  global->incomplete_ready = false;
  if (global->way == CONTACT_REFACTOR) return factorize(global, log, reason);
  if (global->way == CONTACT_CG) return EB_OK;
  eb_log_begin(log, EB_PHASE_UPDATE);
  eb_error error = eb_scalar_factor_update(global->factor, global->change, &updated, reason);
  eb_log_end(log, EB_PHASE_UPDATE);
  /* A difference of large numbers has left a pivot that is not positive: factor instead. */
  return error || *reason > 0 ? error : factorize(global, log, reason);
}

/* ---- solve ----------------------------------------------------------------------------------- */

static void by_factor(void *context, const eb_v4 *r, eb_v4 *z) {
  eb_scalar_factor_solve(context, r, z);
}

static void by_incomplete(void *context, const eb_v4 *r, eb_v4 *z) {
  eb_incomplete_solve(context, r, z);
}

static void to_lanes(int32_t nodes, const double *x, eb_v4 *lanes) {
  for (int32_t i = 0; i < nodes; i++)
    lanes[i] = (eb_v4){x[3 * (int64_t)i], x[3 * (int64_t)i + 1], x[3 * (int64_t)i + 2], 0};
}

/* Returns whether all of it is finite. */
static bool from_lanes(int32_t nodes, const eb_v4 *lanes, double *x) {
  eb_v4 finite = {0}; /* stays 0 unless an entry is infinite or NaN */
  for (int32_t i = 0; i < nodes; i++) {
    finite += 0 * lanes[i];
    for (int d = 0; d < 3; d++) x[3 * (int64_t)i + d] = lanes[i][d];
  }
  return eb_v4_sum(finite) == 0;
}

/* |A x + r| over the free nodes: the right-hand side that x + d solves for. */
static double right_side_norm(eb_global *global, const double *x) {
  const eb_scalar_matrix3 A = matrix_of(global);
  double sum = 0;
  to_lanes(global->pattern->rows, x, global->x);
  eb_scalar_product(&A, global->x, global->cg.q);
  for (int32_t i = 0; i < global->pattern->rows; i++) {
    if (global->held[i]) continue;
    eb_v4 side = global->cg.q[i] + global->b[i];
    sum += eb_v4_sum(side * side);
  }
  return sqrt(sum);
}

static eb_reason solve_by_cg(eb_global *global, const double *x, double ceiling, eb_step_log *log) {
  const eb_scalar_matrix3 A = matrix_of(global);
  int64_t iterations = 0;
  double norm = global->of_residual
                    ? sqrt(eb_lanes_dot(global->pattern->rows, global->b, global->b))
                    : right_side_norm(global, x);
  if (global->incomplete.value && !global->incomplete_ready) {
    eb_log_begin(log, EB_PHASE_FACTOR);
    global->incomplete_ready = eb_incomplete_factor(&global->incomplete, &A);
    eb_log_end(log, EB_PHASE_FACTOR);
    if (!global->incomplete_ready) return EB_NOT_POSITIVE_DEFINITE;
  }
  eb_reason reason = eb_pcg_solve(&global->cg, &A, global->b, fmin(global->rtol * norm, ceiling),
                                  MOST_ITERATIONS, global->x, &iterations);
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, (double)iterations);
  eb_log_count(log, EB_COUNT_MATVECS, (double)iterations);
  return reason;
}

eb_error eb_global_solve(eb_global *global, const double *r, const double *x, double ceiling,
                         double *d, eb_step_log *log, eb_reason *reason) {
  *reason = EB_CONVERGED_DIRECT;
  eb_log_begin(log, EB_PHASE_SOLVE);
  to_lanes(global->pattern->rows, r, global->b);
  if (global->way == CONTACT_CG)
    *reason = solve_by_cg(global, x, ceiling, log);
  else
    eb_scalar_factor_solve(global->factor, global->b, global->x);
  bool finite = from_lanes(global->pattern->rows, global->x, d);
  if (*reason > 0 && !finite) *reason = EB_DIVERGED_NAN;
  eb_log_end(log, EB_PHASE_SOLVE);
  eb_log_count(log, EB_COUNT_SOLVES, 1);
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

void eb_global_destroy(eb_global *global) {
  if (!global) return;
  eb_scalar_factor_destroy(global->factor);
  eb_incomplete_clear(&global->incomplete);
  eb_pcg_clear(&global->cg);
  void *const owned[] = {global->held,    global->springs, global->new_springs,
                         global->elastic, global->value,   global->contact,
                         global->change,  global->b,       global->x};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(global);
}

static eb_error allocate(eb_global *global) {
  const size_t nodes = (size_t)global->pattern->rows;
  const size_t entries = (size_t)global->pattern->start[nodes];
  EB_TRY(EB_NEW(global->held, nodes));
  EB_TRY(EB_NEW(global->springs, nodes));
  EB_TRY(EB_NEW(global->new_springs, nodes));
  EB_TRY(EB_NEW(global->elastic, entries));
  EB_TRY(EB_NEW(global->value, entries));
  EB_TRY(EB_NEW(global->contact, nodes));
  EB_TRY(EB_NEW(global->change, nodes));
  EB_TRY(EB_NEW(global->b, nodes));
  return EB_NEW(global->x, nodes);
}

/* What the options ask for. */
static eb_error choose(eb_global *global, const eb_solver *solver) {
  const char *contact = eb_values_text(solver->options, "contact");
  const char *conditioner = eb_values_text(solver->options, "preconditioner");
  global->way = !strcmp(contact, "cg")       ? CONTACT_CG
                : !strcmp(contact, "update") ? CONTACT_UPDATE
                                             : CONTACT_REFACTOR;
  global->rtol = eb_values_real(solver->options, "linear_rtol");
  global->of_residual = !strcmp(eb_values_text(solver->options, "linear_reference"), "residual");
  if (global->way != CONTACT_CG || !strcmp(conditioner, "factor"))
    EB_TRY(eb_scalar_factor_create(global->pattern, global->way == CONTACT_UPDATE,
                                   solver->setup_log, &global->factor));
  if (global->way != CONTACT_CG) return EB_OK;
  EB_TRY(eb_pcg_create(global->pattern->rows, &global->cg));
  global->cg.precondition = global->factor ? by_factor : NULL;
  global->cg.context = global->factor;
  if (strcmp(conditioner, "ic0") != 0) return EB_OK;
  global->cg.precondition = by_incomplete;
  global->cg.context = &global->incomplete;
  return eb_incomplete_create(global->pattern, &global->incomplete);
}

/* The factor that most steps need, made while nobody waits; where it is not definite, the first
 * step will say so. */
static eb_error factor_ahead(eb_global *global, const eb_solver *solver) {
  const eb_scene *scene = solver->scene;
  eb_springs springs = {0};
  uint8_t *fixed = NULL;
  double *target = NULL;
  eb_reason reason;
  eb_error error = eb_springs_create(scene, &springs);
  if (!error) error = EB_NEW(fixed, scene->mesh->node_count);
  if (!error) error = EB_NEW(target, 3 * (size_t)scene->mesh->node_count);
  if (!error) {
    eb_springs_set(&springs, scene, scene->dt);
    eb_scene_boundary(scene, scene->dt, fixed, target);
    error = eb_global_prepare(global, 1 / (scene->dt * scene->dt), fixed, &springs,
                              solver->setup_log, &reason);
  }
  eb_springs_clear(&springs);
  free(fixed);
  free(target);
  return error;
}

eb_error eb_global_create(const eb_solver *solver, const eb_point_sweep *sweep,
                          const eb_clusters *clusters, double (*weight)(const eb_law *law),
                          eb_global **out) {
  eb_global *global;
  *out = NULL;
  EB_TRY(EB_NEW(global, 1));
  global->pattern = eb_elasticity_pattern(sweep->elasticity);
  global->mass = eb_elasticity_mass(sweep->elasticity);
  eb_error error = allocate(global);
  if (!error) error = choose(global, solver);
  if (!error) {
    eb_point_sweep_matrix(sweep, weight, global->elastic);
    eb_clusters_bound(clusters, global->pattern, global->elastic);
  }
  if (!error) error = factor_ahead(global, solver);
  if (error)
    eb_global_destroy(global);
  else
    *out = global;
  return error;
}
