/* The residual of every declared equation against systems that are assembled and solved here, and
 * what it says of steps that are none. */
#include "harness/audit/audit_data.h"
#include "problems/contact/implicit_penalty.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/stepper.h"
#include "tests/support/audit_fixture.h"

void dgesv_(const int *n, const int *columns, double *a, const int *lda, int *pivot, double *b,
            const int *ldb, int *info);

static const char *const elements[] = {"tets6", "hexahedra", "triangles"};
enum { ELEMENTS = 3 };

static double norm_free(const trial *t, const double *r) {
  eb_audit_nodes last = eb_audit_last(t->audit);
  double sum = 0;
  for (size_t k = 0; k < t->size; k++)
    if (!last.fixed[k / 3]) sum += r[k] * r[k];
  return sqrt(sum);
}

/* ---- linearized ------------------------------------------------------------------------------ */

/* b - A v1 over h, assembled by the kernels that solvers use: (a M + s h^2 K) v1 = M v0 + h (f_ext
 * - g(x0)) and touches. */
static void assemble_residual(const trial *t, const eb_linearization *l, double *r) {
  eb_block_matrix *K;
  eb_touch touches[200];
  double *Kv = trial_vector(t), *carried = trial_vector(t), *f = trial_vector(t);
  double stiff = l->stiffness * t->h;
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(t->scene->elasticity), &K), "a matrix");
  eb_elasticity_matrix(t->scene->elasticity, t->before->x, 0, 1, l->tangent == EB_TANGENT_PROJECTED,
                       K, r);
  int32_t count = eb_implicit_step_touches(t->scene, t->before->time, t->h, t->before->x,
                                           t->before->v, 200, touches);
  eb_touches_gradient(touches, count, r);
  eb_touches_matrix(touches, count, 1, K);
  eb_touches_carry(touches, count, stiff, carried);
  eb_block_multiply(K, t->after->v, Kv);
  eb_scene_force(t->scene, t->before->time, t->before->x, t->before->v, f);
  for (size_t k = 0; k < t->size; k++)
    r[k] += t->mass[k / 3] * (l->mass * t->after->v[k] - t->before->v[k]) / t->h + stiff * Kv[k] -
            carried[k] - f[k];
  eb_block_matrix_destroy(K);
  free(Kv);
  free(carried);
  free(f);
}

static void test_linearized(void) {
  static const double scales[][2] = {{1, 1}, {1.1, 3}, {1, 0.5}};
  for (int n = 0; n < ELEMENTS * EB_TANGENTS * 3; n++) {
    char parameters[160];
    eb_tangent tangent = (eb_tangent)(n / ELEMENTS % EB_TANGENTS);
    const double *scale = scales[n / (ELEMENTS * EB_TANGENTS)];
    snprintf(parameters, sizeof parameters,
             "nx=3,jitter=0.2,support=x0,gz=-9.8,element=%s,material=%s", elements[n % ELEMENTS],
             tangent == EB_TANGENT_ROTATED ? "corotational" : "stable-neo-hookean");
    trial t;
    trial_open(&t, parameters, 1e5, 0.05);
    double *r = trial_vector(&t);
    const eb_linearization l = {scale[0], scale[1], tangent};
    trial_shake(&t, 1, 0.05, t.before->x);
    trial_shake(&t, 2, 1, t.before->v);
    trial_shake(&t, 3, 1, t.after->v);
    trial_advance(&t);
    eb_audit_row row = trial_audit(&t, EB_EQUATION_LINEARIZED, l, EB_UPDATE_END_VELOCITY);
    assemble_residual(&t, &l, r);
    /* Roundings of 1e-16 in sums of some hundred terms, and in the rotations of bent elements. */
    tap_near(row.declared.norm / norm_free(&t, r), 1, 1e-10,
             "the residual of a linearized step is that of the system a solver assembles");
    tap_near(row.declared.relative * row.declared.scale / row.declared.norm, 1, 1e-12,
             "relative: over its scale");
    free(r);
    trial_close(&t);
  }
}

/* ---- steps of solvers ------------------------------------------------------------------------ */

/* What a change dv of the end's velocity makes of the residual: (M / h + h K) dv, K at x. */
static double answer(const trial *t, const double *x, const double *dv) {
  eb_block_matrix *A;
  double *r = trial_vector(t);
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(t->scene->elasticity), &A), "a matrix");
  eb_elasticity_matrix(t->scene->elasticity, x, 1 / t->h, t->h, false, A, NULL);
  eb_block_multiply(A, dv, r);
  double size = norm_free(t, r);
  eb_block_matrix_destroy(A);
  free(r);
  return size;
}

static void test_solver(const char *solver, const char *options, const char *material,
                        const char *element, eb_equation equation, eb_linearization l) {
  char parameters[160];
  snprintf(parameters, sizeof parameters, "nx=3,support=x0,gx=3,gy=-9.8,element=%s,material=%s",
           element, material);
  trial t;
  eb_reason reason;
  eb_step_log *log;
  trial_open(&t, parameters, 0, 0);
  tap_require(eb_step_log_create(100, &log), "a log");
  double *dv = trial_vector(&t);
  for (int step = 0; step < 3; step++) {
    eb_state_copy(t.after, t.before);
    if (step == 0) t.after->time = t.before->time = t.after->step = t.before->step = 0;
    tap_require(
        eb_block_advance(t.scene, eb_solver_find(solver), options, 1, 1, log, t.after, &reason),
        solver);
  }
  eb_audit_row row = trial_audit(&t, equation, l, EB_UPDATE_END_VELOCITY);
  if (!tap_ok(row.declared.relative < 1e-9, "%s, %s: solves its equation", solver, element))
    printf("#   %g\n", row.declared.relative);
  tap_ok(row.update.error <= row.update.allowed && row.held.error <= row.held.allowed,
         "%s, %s: keeps its update and held nodes", solver, element);
  tap_ok(row.compared < 1e-6 * row.idle && row.progress > 0, "%s, %s: is better than doing nothing",
         solver, element);
  trial_shake(&t, 5, 1e-6, dv);
  for (size_t k = 0; k < t.size; k++)
    if (eb_audit_last(t.audit).fixed[k / 3]) dv[k] = 0;
  for (size_t k = 0; k < t.size; k++) t.after->v[k] += dv[k];
  trial_advance(&t);
  double want = answer(&t, equation == EB_EQUATION_LINEARIZED ? t.before->x : t.after->x, dv);
  row = trial_audit(&t, equation, l, EB_UPDATE_END_VELOCITY);
  /* What was left before, and the curvature of the forces over 1e-8 m. */
  tap_near(row.declared.norm / want, 1, 1e-3, "and a micrometre a second off it shows");
  free(dv);
  eb_step_log_destroy(log);
  trial_close(&t);
}

static void test_solvers(void) {
  const eb_linearization rotated = {1, 1, EB_TANGENT_ROTATED};
  for (int e = 0; e < ELEMENTS; e++) {
    test_solver("semi-implicit", "linear=cholesky", "linear", elements[e], EB_EQUATION_LINEARIZED,
                plain);
    test_solver("corotational", "linear=cholesky", "corotational", elements[e],
                EB_EQUATION_LINEARIZED, rotated);
    test_solver("newton", "rtol=1e-12", "stable-neo-hookean", elements[e],
                EB_EQUATION_IMPLICIT_EULER, plain);
  }
}

/* ---- friction of implicit colliders ---------------------------------------------------------- */

/* Of a node that 10 N push along y, mu = 0.5, and that is left without friction by r: what is left
 * with it. */
static void test_friction_law(void) {
  static const double normal[3] = {0, 1, 0}, limit = 5, rate = 100;
  static const struct {
    const char *what;
    double r[3], slip[3], left[3];
  } nodes[] = {
      {"friction holds a node within the cone", {3, 0, -4}, {0, 0, 0}, {0, 0, 0}},
      {"and no more than that", {6, 0, -8}, {0, 0, 0}, {3, 0, -4}},
      {"it is all that opposes a slip", {-3, 0, 4}, {0.3, 0, -0.4}, {0, 0, 0}},
      {"a slip without friction lacks all of it", {0, 0, 0}, {0.3, 0, -0.4}, {3, 0, -4}},
      {"with half of it, half", {-1.5, 0, 2}, {0.3, 0, -0.4}, {1.5, 0, -2}},
      {"along a slip it is off by twice as much", {3, 0, -4}, {0.3, 0, -0.4}, {6, 0, -8}},
      {"what creeps within the cone is off by the rate of it", {0, 0, 1}, {0, 0, 0.02}, {0, 0, 2}},
      {"the push is not friction's", {0, 7, 0}, {0, -3, 0}, {0, 7, 0}}};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    double r[3], off = 0;
    memcpy(r, nodes[i].r, sizeof r);
    eb_audit_take_friction(limit, rate, normal, nodes[i].slip, r);
    for (int d = 0; d < 3; d++) off = fmax(off, fabs(r[d] - nodes[i].left[d]));
    tap_below(off, 1e-14, nodes[i].what);
  }
}

/* A block that is thrown along a rough floor: a step of it by a solver, and what is said of its
 * friction. */
static eb_audit_row audit_friction(trial *t, const eb_step_log *log, eb_friction_model friction,
                                   const double *unfiltered) {
  const eb_declaration declared = {.equation = log->equation,
                                   .linearization = log->linearization,
                                   .friction = friction,
                                   .unfiltered = unfiltered};
  eb_audit_row row;
  tap_require(eb_audit_step(t->audit, t->before, t->after, t->h, log->equation, &row), "audit");
  tap_require(eb_audit_declared(t->audit, t->before, t->after, t->h, &declared, &row), "audit");
  return row;
}

static void test_filter(const char *solver, const char *options, double mu,
                        eb_friction_model want) {
  static const double solved = 1e-9, wrong = 1e-3; /* of the forces */
  trial t;
  eb_step_log *log;
  trial_open(&t, "nx=3,support=none,gz=-9.8,material=stable-neo-hookean,E=1e4", 1e6, 0);
  t.scene->contacts.colliders[0].friction = mu;
  tap_require(eb_step_log_create(100, &log), "a log");
  t.after->time = t.before->time = t.after->step = 0;
  for (size_t k = 0; k < t.size; k += 3) t.after->v[k] = 1;
  /* The log points to the solver's velocities. */
  eb_stepper stepper = {.scene = t.scene, .state = t.after, .log = log};
  tap_require(eb_stepper_start(&stepper, eb_solver_find(solver), options, 1, 1), solver);
  for (int step = 0; step < 8; step++) {
    eb_state_copy(t.after, t.before);
    tap_require(eb_stepper_step(&stepper), solver);
  }
  tap_ok(log->friction == want, "%s,%s: declares the friction that it has", solver, options);
  eb_audit_row row = audit_friction(&t, log, log->friction, log->unfiltered);
  tap_below(row.declared.relative, solved, "and solves its equation");
  tap_ok(row.filter.error <= row.filter.allowed, "what it filters is what it has solved for");
  row = audit_friction(&t, log, EB_FRICTION_COULOMB, NULL);
  tap_ok(row.declared.relative > wrong, "which is not Coulomb's law at the end (%.2g)",
         row.declared.relative);
  if (want == EB_FRICTION_FILTERED) {
    row = audit_friction(&t, log, EB_FRICTION_NONE, NULL);
    tap_ok(row.declared.relative > wrong, "nor none (%.2g)", row.declared.relative);
  }
  /* Velocities that the step ended with are none that friction would have left. */
  row = audit_friction(&t, log, EB_FRICTION_FILTERED, t.after->v);
  tap_ok(row.filter.error > 1e3 * row.filter.allowed, "a filter that did nothing is seen");
  row = audit_friction(&t, log, EB_FRICTION_FILTERED, t.before->v);
  tap_ok(row.filter.error > 1e3 * row.filter.allowed, "so is one of other velocities");
  eb_solver_destroy(stepper.solver);
  eb_step_log_destroy(log);
  trial_close(&t);
}

static void test_frictions(void) {
  test_filter("semi-implicit", "linear=cholesky", 0.3, EB_FRICTION_FILTERED);
  test_filter("vbd", "iterations=0,rtol=1e-12,friction=true", 0.3, EB_FRICTION_FILTERED);
  test_filter("lbfgs", "rtol=1e-12,friction=true", 0.3, EB_FRICTION_FILTERED);
  test_filter("lbfgs", "rtol=1e-12", 0.3, EB_FRICTION_NONE);
}

/* ---- reduced --------------------------------------------------------------------------------- */

enum { MODES = 4 };

/* v1 of (M + h^2 K) v1 = M v0 + h (f - g(x0)) tested with random motions of the free nodes
 * alone. */
static void galerkin_step(const trial *t, double **mode) {
  const int modes = MODES, one = 1;
  int pivot[MODES], info;
  double matrix[MODES * MODES], q[MODES] = {0};
  eb_block_matrix *A;
  double *g = trial_vector(t), *f = trial_vector(t), *Au = trial_vector(t);
  const uint8_t *fixed = eb_audit_last(t->audit).fixed;
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(t->scene->elasticity), &A), "a matrix");
  eb_elasticity_matrix(t->scene->elasticity, t->before->x, 1, t->h * t->h, false, A, g);
  eb_scene_force(t->scene, 0, t->before->x, t->before->v, f);
  for (int i = 0; i < MODES; i++) {
    mode[i] = trial_vector(t);
    trial_shake(t, 20 + (uint64_t)i, 1, mode[i]);
    for (size_t k = 0; k < t->size; k++)
      if (fixed[k / 3]) mode[i][k] = 0;
  }
  for (int i = 0; i < MODES; i++) {
    eb_block_multiply(A, mode[i], Au);
    for (size_t k = 0; k < t->size; k++)
      q[i] += mode[i][k] * (t->mass[k / 3] * t->before->v[k] + t->h * (f[k] - g[k]));
    for (int j = 0; j < MODES; j++) {
      matrix[MODES * i + j] = 0;
      for (size_t k = 0; k < t->size; k++) matrix[MODES * i + j] += mode[j][k] * Au[k];
    }
  }
  dgesv_(&modes, &one, matrix, &modes, pivot, q, &modes, &info);
  memset(t->after->v, 0, t->size * sizeof *t->after->v);
  for (int i = 0; i < MODES; i++)
    for (size_t k = 0; k < t->size; k++) t->after->v[k] += q[i] * mode[i][k];
  eb_block_matrix_destroy(A);
  free(g);
  free(f);
  free(Au);
}

/* Of a linear material, whose linearized step is that of implicit Euler too. */
static void test_reduced(void) {
  for (int whole = 0; whole < 2; whole++) {
    trial t;
    double *mode[MODES];
    const eb_linearization l = {1, whole ? 0 : 1, EB_TANGENT_EXACT};
    trial_open(&t, "nx=3,support=x0,gz=-9.8,material=linear", 0, 0);
    trial_shake(&t, 2, 1, t.before->v);
    trial_audit(&t, EB_EQUATION_REDUCED, l, EB_UPDATE_END_VELOCITY);
    galerkin_step(&t, mode);
    trial_advance(&t);
    eb_audit_row row = trial_audit(&t, EB_EQUATION_REDUCED, l, EB_UPDATE_END_VELOCITY);
    /* Roundings in sums of 100 terms, over the powers that cancel. */
    tap_below(row.declared.relative, 1e-11, "a Galerkin step leaves no power");
    tap_ok(!row.stands_in && row.step_residual > 0.1 * row.declared.scale,
           "though the residual of all nodes is as large as the forces");
    double good = row.declared.relative;
    int32_t held = 0;
    while (!eb_audit_last(t.audit).fixed[held]) held++;
    t.after->v[3 * held] = 1e-300;
    row = trial_audit(&t, EB_EQUATION_REDUCED, l, EB_UPDATE_END_VELOCITY);
    tap_ok(!row.stands_in, "a held node's own velocity does not change the measure");
    t.after->v[3 * held] = 0;
    for (size_t k = 0; k < t.size; k++) t.after->v[k] += 0.3 * mode[0][k];
    trial_advance(&t);
    row = trial_audit(&t, EB_EQUATION_REDUCED, l, EB_UPDATE_END_VELOCITY);
    tap_ok(row.declared.relative > 1e-3 && good < 1e-11, "a step that is off it has power");
    for (int i = 0; i < MODES; i++) free(mode[i]);
    trial_close(&t);
  }
  trial t;
  trial_open(&t, "nx=3,support=ends,motion=twist,rate=10", 0, 0);
  for (int i = 0; i < 2; i++)
    eb_scene_boundary(t.scene, i * t.h, (uint8_t[200]){0}, (i ? t.after : t.before)->x);
  eb_audit_row row = trial_audit(&t, EB_EQUATION_REDUCED, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(row.stands_in, "where held nodes move the residual of all nodes stands in");
  trial_close(&t);
}

/* ---- position-based -------------------------------------------------------------------------- */

static void test_position_based(void) {
  trial t;
  trial_open(&t, "nx=3,gz=-9.8", 0, 0);
  size_t nodes = t.size / 3;
  trial_fill(&t, 0.3, -0.2, 1, t.before->v);
  for (size_t k = 0; k < t.size; k++)
    t.after->x[k] = t.before->x[k] + t.h * t.before->v[k] - (k % 3 == 2) * 9.8 * t.h * t.h;
  /* Pairs of nodes pull each other along the line between them. */
  for (size_t i = 0; 2 * i + 1 < nodes; i++)
    for (size_t d = 0; d < 3; d++) {
      size_t a = 6 * i + d, b = a + 3;
      double pull = 1e-2 * t.mass[2 * i] * (t.before->x[b] - t.before->x[a]);
      t.after->x[a] += pull / t.mass[2 * i];
      t.after->x[b] -= pull / t.mass[2 * i + 1];
    }
  eb_audit_row row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
  tap_below(row.declared.relative, 1e-10, "forces within a body leave no net force");
  tap_ok(row.step_residual > 0.1 * row.implicit_euler.scale, "though nothing was solved for");
  double couple = 50 * t.h * t.h;
  for (int far = 0; far < 2; far++) {
    size_t node =
        far ? nodes - 1 : 0; /* opposite corners of the block: its diagonal is not along y */
    t.after->x[3 * node + 1] += (far ? -couple : couple) / t.mass[node];
  }
  row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(row.declared.relative > 1e-3, "a couple from outside turns the body");
  for (int far = 0; far < 2; far++) {
    size_t node = far ? nodes - 1 : 0;
    t.after->x[3 * node + 1] -= (far ? -couple : couple) / t.mass[node];
  }
  double kick = 50 * t.h * t.h / t.mass[4];
  t.after->x[3 * 4] += kick;
  row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
  /* The push alone, and the turn with it: not more than the sum of both, in newtons. */
  tap_ok(row.declared.norm > 49.9 && row.declared.norm < 500, "a kick of 50 N from outside shows");
  trial_close(&t);
  trial_open(&t, "nx=3,gz=-9.8", 1e5, -0.01);
  row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(!row.stands_in, "a body above a collider has one");
  trial_fill(&t, 0, 0, -10, t.before->v);
  row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(row.stands_in, "not one that meets it, which may push by what nobody knows");
  trial_close(&t);
  trial_open(&t, "nx=3,support=x0,gz=-9.8", 0, 0);
  row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(row.stands_in, "a held body has no net force to be known");
  trial_close(&t);
}

/* A throw in the order in which forces move positions late: x1 = x0 + h v0, v1 = v0 + h g. */
static void test_late_forces(void) {
  trial t;
  double gained = 0;
  trial_open(&t, "nx=3,gz=-9.8", 0, 0);
  trial_fill(&t, 0.5, 0, 1, t.before->v);
  for (int n = 0; n < 30; n++) {
    for (size_t k = 0; k < t.size; k++) {
      t.after->x[k] = t.before->x[k] + t.h * t.before->v[k];
      t.after->v[k] = t.before->v[k] - (k % 3 == 2) * 9.8 * t.h;
    }
    eb_audit_row row = trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_LATE_FORCE);
    if (n == 0) {
      tap_below(row.declared.relative, 1e-10, "late forces: a throw leaves no net force");
      tap_ok(row.progress > 0, "and is better than to go on as it is, where its positions end");
      eb_audit_row other =
          trial_audit(&t, EB_EQUATION_POSITION_BASED, plain, EB_UPDATE_END_VELOCITY);
      tap_ok(other.declared.relative > 0.1, "by x1 = x0 + h v1 its weight is missing");
    }
    gained = fmax(gained, row.work.of_residual);
    eb_state_copy(t.after, t.before);
    t.after->time += t.h;
    t.after->step++;
  }
  tap_near(gained, 0, 0, "no energy comes from nowhere, up or down");
  trial_close(&t);
}

/* ---- doing nothing --------------------------------------------------------------------------- */

static bool is_better(const eb_audit_row *row) {
  return row->compared < (1 - 1e-6) * row->idle || row->progress > 0;
}

static void test_nothing(void) {
  static const eb_equation equations[] = {EB_EQUATION_IMPLICIT_EULER, EB_EQUATION_LINEARIZED};
  for (int e = 0; e < 2; e++) {
    trial t;
    trial_open(&t, "nx=3,support=x0,gz=-9.8", 0, 0);
    trial_shake(&t, 2, 0.1, t.before->v);
    const uint8_t *fixed = eb_audit_last(t.audit).fixed;
    eb_audit_row row = trial_audit(&t, equations[e], plain, EB_UPDATE_END_VELOCITY);
    for (size_t k = 0; k < t.size; k++)
      if (fixed[k / 3]) t.before->v[k] = 0;
    row = trial_audit(&t, equations[e], plain, EB_UPDATE_END_VELOCITY);
    tap_ok(!is_better(&row), "%s: a frozen step does nothing", eb_equation_name(equations[e]));
    memcpy(t.after->v, t.before->v, t.size * sizeof *t.after->v);
    trial_advance(&t);
    row = trial_audit(&t, equations[e], plain, EB_UPDATE_END_VELOCITY);
    if (!tap_ok(!is_better(&row), "%s: nor does one that goes on", eb_equation_name(equations[e])))
      printf("#   %g J, %.17g of %.17g N\n", row.progress, row.compared, row.idle);
    trial_close(&t);
  }
  trial t;
  trial_open(&t, "nx=3,gz=-9.8", 1e9, -1e-3);
  trial_fill(&t, 0, 0, -1, t.before->v);
  trial_fill(&t, 0, 0, -1 - 9.8 * t.h, t.after->v);
  trial_advance(&t);
  eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(row.progress < 0, "to fall through a stiff floor is worse than to stop above it");
  row = trial_audit(&t, EB_EQUATION_STATIC, plain, EB_UPDATE_END_VELOCITY);
  tap_ok(isfinite(row.idle) && isfinite(row.progress), "static steps are compared too");
  trial_close(&t);
}

/* ---- limits of arithmetic -------------------------------------------------------------------- */

static void test_rounding(void) {
  for (int e = 0; e < ELEMENTS; e++) {
    char parameters[80];
    trial t;
    snprintf(parameters, sizeof parameters, "nx=3,element=%s", elements[e]);
    trial_open(&t, parameters, 0, 0);
    for (size_t k = 0; k < t.size; k++) t.before->x[k] += k % 3 == 2 ? 0 : 100;
    memcpy(t.after->x, t.before->x, t.size * sizeof *t.after->x);
    trial_shake(&t, 4, 3e-14, t.after->x);
    eb_audit_row row = trial_audit(&t, EB_EQUATION_IMPLICIT_EULER, plain, EB_UPDATE_END_VELOCITY);
    tap_below(row.implicit_euler.relative, 1e-6, "roundings of a body at rest are no error");
    tap_below(row.declared.norm, row.rounding + 1e-7 * row.implicit_euler.scale,
              "and known as such");
    row = trial_audit(&t, EB_EQUATION_LINEARIZED, plain, EB_UPDATE_END_VELOCITY);
    tap_below(row.declared.relative, 1e-6, "nor are they in a linearized step");
    trial_close(&t);
  }
}

static void test_blown_up(void) {
  static const double sizes[] = {1e160, 1e300, INFINITY, NAN};
  trial t;
  trial_open(&t, "nx=2", 0, 0);
  for (int n = 0; n < 16; n++) {
    eb_equation equation = n & 1 ? EB_EQUATION_LINEARIZED : EB_EQUATION_IMPLICIT_EULER;
    double *values = n & 2 ? t.after->x : t.after->v, kept = values[7];
    values[7] = sizes[n / 4];
    eb_audit_row row = trial_audit(&t, equation, plain, EB_UPDATE_END_VELOCITY);
    tap_ok(!row.finite, "%g in %s is not finite, %s", sizes[n / 4],
           n & 2 ? "positions" : "velocities", eb_equation_name(equation));
    values[7] = kept;
  }
  trial_close(&t);
}

int main(void) {
  test_linearized();
  test_solvers();
  test_friction_law();
  test_frictions();
  test_reduced();
  test_position_based();
  test_late_forces();
  test_nothing();
  test_rounding();
  test_blown_up();
  return tap_done();
}
