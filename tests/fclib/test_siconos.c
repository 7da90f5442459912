/* The reduced form against Siconos (Acary, Bremond and Huber 2018): the same problems, handed over
 * in memory, have the same solutions. */
#include "tests/support/contact_methods.h"

#ifdef EB_HAVE_SICONOS

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <GlobalFrictionContactProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>

#include "solvers/contact/delassus.h"

static const eb_option OPTIONS[] = {EB_CONTACT_DELASSUS_OPTIONS, {0}};
static const eb_contact_tolerance STRICT = {1e-12, 1e-10, 1e-8, 1e-4, 20000};

/* Of M, H, f and w in the global problem: forces stay, and W is of 1 mm/N. Steps of ADMM need
 * forces and motions alike in size. */
static const double SCALE = 1e3;

static double *numbers(int64_t count) {
  double *x;
  tap_require(EB_NEW(x, count), "numbers");
  return x;
}

static SolverOptions *options_of(int solver) {
  SolverOptions *options = solver_options_create(solver);
  options->dparam[SICONOS_DPARAM_TOL] = 1e-9; /* of |q| */
  options->iparam[SICONOS_IPARAM_MAX_ITER] = 20000;
  return options;
}

/* Our velocities and motions of a case, solved with both solvers of the reduced form. */
static void ours(const contact_case *c, const char *options, double *v, double *u, double *r) {
  contact_run run =
      contact_run_open(&eb_contact_delassus, OPTIONS, options, c->A, c->problem->count);
  run.tolerance = STRICT;
  tap_ok(contact_run_solve(&run, c->problem) == EB_CONVERGED_ATOL, "ours converges, %s", options);
  memcpy(v, run.v, 3 * (size_t)c->A->rows * sizeof *v);
  memcpy(r, run.r, 3 * (size_t)c->problem->count * sizeof *r);
  eb_contact_velocity(c->problem, v, u);
  contact_run_close(&run);
}

/* W of Siconos is column-major; ours is symmetric. */
static void local(const contact_case *c, double *u, double *r) {
  int m = 3 * c->problem->count;
  eb_delassus operator= {.threads = 1};
  eb_reduced reduced = {0};
  eb_reason reason;
  tap_require(eb_reduced_reserve(&reduced, c->problem->count, c->problem->mu), "room");
  tap_require(eb_delassus_factor(&operator, c->A, NULL, &reason), "factor");
  tap_require(eb_delassus_reduce(&operator, c->problem, &reduced, NULL, &reason), "reduce");
  NumericsMatrix *W = NM_create(NM_DENSE, m, m);
  memcpy(W->matrix0, reduced.W, (size_t)m * (size_t)m * sizeof *r);
  FrictionContactProblem problem = {.dimension = 3,
                                    .numberOfContacts = c->problem->count,
                                    .M = W,
                                    .q = reduced.q,
                                    .mu = c->problem->mu};
  SolverOptions *options = options_of(SICONOS_FRICTION_3D_NSGS);
  tap_ok(fc3d_driver(&problem, r, u, options) == 0, "Siconos' Gauss-Seidel converges");
  solver_options_delete(options);
  free(options);
  NM_clear(W);
  free(W);
  eb_reduced_clear(&reduced);
  eb_delassus_clear(&operator);
}

static NumericsMatrix *sparse(int rows, int columns, int entries) {
  NumericsMatrix *matrix = NM_create(NM_SPARSE, rows, columns);
  NM_triplet_alloc(matrix, entries);
  matrix->matrix2->origin = NSM_TRIPLET;
  return matrix;
}

static NumericsMatrix *matrix_of(const eb_block_matrix *A) {
  int n = 3 * A->rows;
  NumericsMatrix *M = sparse(n, n, 9 * A->start[A->rows]);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int k = 0; k < 9; k++)
        NM_entry(M, 3 * i + k / 3, 3 * A->column[b] + k % 3, SCALE * A->values[9 * (int64_t)b + k]);
  return M;
}

/* Theirs is the transpose of ours. */
static NumericsMatrix *directions_of(const eb_contact_problem *p) {
  NumericsMatrix *H = sparse(3 * p->A->rows, 3 * p->count, 9 * p->start[p->count]);
  for (int32_t i = 0; i < p->count; i++)
    for (int32_t e = p->start[i]; e < p->start[i + 1]; e++)
      for (int k = 0; k < 9; k++)
        NM_entry(H, 3 * p->block[e] + k % 3, 3 * i + k / 3, SCALE * p->H[9 * (int64_t)e + k]);
  return H;
}

static void global(const contact_case *c, double *v, double *u, double *r) {
  int64_t m = 3 * (int64_t)c->problem->count;
  int64_t n = 3 * (int64_t)c->A->rows;
  double *w = numbers(m), *f = numbers(n);
  for (int64_t i = 0; i < m; i++) w[i] = -SCALE * c->problem->c[i];
  for (int64_t i = 0; i < n; i++) f[i] = SCALE * c->b[i];
  GlobalFrictionContactProblem *problem = globalFrictionContactProblem_new();
  problem->dimension = 3;
  problem->numberOfContacts = c->problem->count;
  problem->M = matrix_of(c->A);
  problem->H = directions_of(c->problem);
  problem->q = f;
  problem->b = w;
  problem->mu = c->problem->mu;
  SolverOptions *options = options_of(SICONOS_GLOBAL_FRICTION_3D_ADMM);
  tap_ok(gfc3d_driver(problem, r, u, v, options) == 0, "Siconos' ADMM converges");
  solver_options_delete(options);
  free(options);
  NM_clear(problem->M), free(problem->M);
  NM_clear(problem->H), free(problem->H);
  free(problem);
  free(w), free(f);
  for (int64_t i = 0; i < m; i++) u[i] /= SCALE;
}

/* u is of 1e-4 m and v of 1 m/s. Siconos is at 1e-9 of a norm of 1e-3. */
static void compare(const contact_recipe *recipe, const char *what) {
  contact_case c = contact_open(recipe);
  int64_t n = 3 * (int64_t)c.A->rows, m = 3 * (int64_t)c.problem->count;
  double *v = numbers(n), *u = numbers(m), *r = numbers(m);
  double *their_v = numbers(n), *their_u = numbers(m), *their_r = numbers(m);
  local(&c, their_u, their_r);
  for (int newton = 0; newton < 2; newton++) {
    ours(&c, newton ? "delassus_solver=newton" : "delassus_solver=pgs", v, u, r);
    tap_below(contact_difference(m, u, their_u), 2e-9, what);
  }
  memset(their_r, 0, (size_t)m * sizeof *their_r);
  memset(their_u, 0, (size_t)m * sizeof *their_u);
  global(&c, their_v, their_u, their_r);
  tap_below(contact_difference(m, u, their_u), 1e-9, what);
  tap_below(contact_difference(n, v, their_v), 1e-6, what);
  free(v), free(u), free(r), free(their_v), free(their_u), free(their_r);
  contact_close(&c);
}

int main(void) {
  for (uint64_t seed = 1; seed <= 3; seed++) {
    compare(&(contact_recipe){.seed = seed, .bodies = 3, .side = 3, .contacts = 20, .mu = 0.5},
            "contacts at random");
    compare(&(contact_recipe){.seed = seed, .bodies = 3, .side = 3, .mu = 0.5, .pile = true},
            "a pile");
  }
  return tap_done();
}

#else

int main(void) {
  printf("1..0 # SKIP libsiconos-numerics-dev is not installed\n");
  return 0;
}

#endif
