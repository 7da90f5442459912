/* What the tests of contact methods share: a method at work on a problem, and independent answers
 * to small problems. */
#ifndef EB_TESTS_CONTACT_METHODS_H
#define EB_TESTS_CONTACT_METHODS_H

#include "solvers/contact/method.h"
#include "solvers/linalg/block_ops.h"
#include "tests/support/owned.h"
#include "tests/support/contact_problems.h"
#include "tests/support/block_systems.h"
#include "tests/support/dense.h"

/* What is tested: a method and the options that it reads. */
typedef struct contact_subject {
  const eb_contact_method *method;
  const eb_option *table;
} contact_subject;

/* A method with its options, the tolerance, and what a solve leaves. */
typedef struct contact_run {
  const eb_contact_method *method;
  eb_values *options;
  void *data;
  int32_t rows, room; /* room: contacts that r has entries for */
  double *v, *r, *work;
  eb_contact_tolerance tolerance;
  eb_contact_outcome outcome;
  eb_contact_error error; /* by eb_contact_measure */
} contact_run;

/* `table`: the options that the method reads. Starts at rest without forces. */
static contact_run contact_run_open(const eb_contact_method *method, const eb_option *table,
                                    const char *options, const eb_block_matrix *A, int32_t room) {
  const int32_t rows = A->rows;
  contact_run run = {.method = method, .rows = rows, .room = room};
  run.tolerance = (eb_contact_tolerance){
      .eps1 = 1e-9, .eps2 = 1e-9, .cone = 1e-3, .angle = 1.2, .max_iterations = 20000};
  tap_require(eb_values_create(method->name, table, options, &run.options), options);
  const eb_solver solver = {.options = run.options, .threads = 1};
  tap_require(method->create(&solver, A, &run.data), "create a method");
  tap_require(EB_NEW(run.v, 3 * (size_t)rows), "velocities");
  tap_require(EB_NEW(run.r, 3 * (size_t)room), "forces");
  tap_require(EB_NEW(run.work, 3 * ((size_t)rows + (size_t)room)), "work");
  return run;
}

static void contact_run_close(contact_run *run) {
  run->method->destroy(run->data);
  eb_values_destroy(run->options);
  free(run->v);
  free(run->r);
  free(run->work);
}
OWNED(contact_run, contact_run_close)

/* From the guess in v and r. */
static eb_reason contact_run_solve(contact_run *run, const eb_contact_problem *problem) {
  tap_require(
      run->method->solve(run->data, problem, &run->tolerance, run->v, run->r, NULL, &run->outcome),
      "solve");
  eb_contact_measure_anew(problem, run->v, run->r, run->tolerance.eps2, run->work, &run->error);
  return run->outcome.reason;
}

__attribute__((unused)) static bool contact_run_is_finite(const contact_run *run) {
  double sum = 0;
  for (int64_t k = 0; k < 3 * (int64_t)run->rows; k++) sum += 0 * run->v[k];
  for (int64_t k = 0; k < 3 * (int64_t)run->room; k++) sum += 0 * run->r[k];
  return sum == 0;
}

/* |x - y| in the largest entry. */
__attribute__((unused)) static double contact_difference(int64_t n, const double *x,
                                                         const double *y) {
  double largest = 0;
  for (int64_t k = 0; k < n; k++) largest = fmax(largest, fabs(x[k] - y[k]));
  return largest;
}

/* x = A^-1 f by LAPACK. */
static void contact_dense_solve(const eb_block_matrix *A, const double *f, double *x) {
  int n = 3 * A->rows;
  double *dense = dense_of_blocks(A);
  memcpy(x, f, (size_t)n * sizeof *x);
  if (eb_test_dense_solve(n, dense, x)) tap_require(EB_ERROR(EB_ERR_INVALID, "dposv"), "oracle");
  free(dense);
}

enum { CONTACT_ENUMERATED = 10 }; /* the most contacts whose 2^count active sets are tried */

/* The normal problem in r_n alone: W = H_n A^-1 H_n^T, q = H_n A^-1 b - c_n. */
typedef struct contact_normal_problem {
  int count;
  double W[CONTACT_ENUMERATED * CONTACT_ENUMERATED], q[CONTACT_ENUMERATED];
  double *response; /* count x n: A^-1 H_n^T */
  double *free;     /* n: A^-1 b */
} contact_normal_problem;

static contact_normal_problem contact_normal_open(const eb_contact_problem *p) {
  contact_normal_problem o = {.count = p->count};
  int64_t n = 3 * (int64_t)p->A->rows;
  double *f, *r, *u;
  tap_require(EB_NEW(o.response, n * p->count), "responses");
  tap_require(EB_NEW(o.free, n), "free motion");
  tap_require(EB_NEW(f, n), "a force");
  tap_require(EB_NEW(r, 3 * (size_t)p->count), "impulses");
  tap_require(EB_NEW(u, 3 * (size_t)p->count), "motions");
  contact_dense_solve(p->A, p->b, o.free);
  eb_contact_velocity(p, o.free, u);
  for (int k = 0; k < o.count; k++) o.q[k] = u[3 * k];
  for (int k = 0; k < o.count; k++) {
    memset(f, 0, (size_t)n * sizeof *f);
    r[3 * k] = 1;
    eb_contact_force_add(p, r, f);
    r[3 * k] = 0;
    contact_dense_solve(p->A, f, o.response + k * n);
    eb_contact_velocity(p, o.response + k * n, u);
    for (int j = 0; j < o.count; j++) o.W[j * o.count + k] = u[3 * j] + p->c[3 * (int64_t)j];
  }
  free(f);
  free(r);
  free(u);
  return o;
}

/* Tries the active set of the bits of `set`: W r = -q on it. True when r >= 0 and u >= 0. */
static bool contact_try_set(const contact_normal_problem *o, unsigned set, double *r) {
  int active[CONTACT_ENUMERATED], size = 0;
  double W[CONTACT_ENUMERATED * CONTACT_ENUMERATED], x[CONTACT_ENUMERATED];
  for (int k = 0; k < o->count; k++)
    if (set >> k & 1) active[size++] = k;
  for (int i = 0; i < size; i++) {
    x[i] = -o->q[active[i]];
    for (int j = 0; j < size; j++) W[i * size + j] = o->W[active[i] * o->count + active[j]];
  }
  if (size && eb_test_dense_solve(size, W, x)) return false;
  memset(r, 0, (size_t)o->count * sizeof *r);
  for (int i = 0; i < size; i++) {
    if (!(x[i] >= 0)) return false;
    r[active[i]] = x[i];
  }
  for (int k = 0; k < o->count; k++) {
    double u = o->q[k];
    for (int j = 0; j < o->count; j++) u += o->W[k * o->count + j] * r[j];
    if (!(set >> k & 1) && u < 0) return false;
  }
  return true;
}

/* The solution without friction of at most CONTACT_ENUMERATED contacts, by trying every active
 * set. */
static void contact_enumerate(const eb_contact_problem *p, double *v) {
  contact_normal_problem o = contact_normal_open(p);
  int64_t n = 3 * (int64_t)p->A->rows;
  double r[CONTACT_ENUMERATED];
  bool found = false;
  for (unsigned set = 0; set < 1u << o.count && !found; set++) found = contact_try_set(&o, set, r);
  tap_ok(found, "one active set solves the problem");
  memcpy(v, o.free, (size_t)n * sizeof *v);
  for (int k = 0; k < o.count && found; k++)
    for (int64_t i = 0; i < n; i++) v[i] += r[k] * o.response[k * n + i];
  free(o.response);
  free(o.free);
}

/* ---- checks that every method passes --------------------------------------------------------- */

__attribute__((unused)) static contact_run
contact_run_for(const contact_subject *subject, const char *options, const contact_case *c) {
  return contact_run_open(subject->method, subject->table, options, c->A, c->problem->count);
}

/* Velocities of the test problems are some 1 m/s. |A (v - v*)| is eps1 and what eps2 lets normal
 * forces err, A at least 1e-4 kg, u = 1e-3 v. */
static const double CONTACT_SAME_VELOCITY = 2e-5;

/* Without friction: against enumeration. */
__attribute__((unused)) static void contact_check_enumerated(const contact_subject *subject,
                                                             const char *options, uint64_t seed) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = seed, .bodies = 3, .side = 2, .contacts = 8});
  contact_run run = contact_run_for(subject, options, &c);
  double *want;
  tap_require(EB_NEW(want, 3 * (size_t)run.rows), "velocities");
  contact_enumerate(c.problem, want);
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "%s %s: no friction",
         subject->method->name, options);
  tap_below(contact_difference(3 * (int64_t)run.rows, run.v, want), CONTACT_SAME_VELOCITY,
            "agrees with enumeration");
  free(want);
  contact_run_close(&run);
  contact_close(&c);
}

/* Without contacts it is a linear system. */
__attribute__((unused)) static void contact_check_no_contacts(const contact_subject *subject,
                                                              const char *options) {
  contact_case c = contact_open(&(contact_recipe){.seed = 3, .bodies = 2, .side = 3});
  contact_run run = contact_run_for(subject, options, &c);
  double *want;
  tap_require(EB_NEW(want, 3 * (size_t)run.rows), "velocities");
  contact_dense_solve(c.A, c.b, want);
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "%s %s: no contacts",
         subject->method->name, options);
  tap_below(contact_difference(3 * (int64_t)run.rows, run.v, want), CONTACT_SAME_VELOCITY,
            "solves the linear system");
  free(want);
  contact_run_close(&run);
  contact_close(&c);
}

/* Whether a problem is solved to the tolerance in at most so many iterations, and a solution in
 * none. */
__attribute__((unused)) static void contact_check_recipe(const contact_subject *subject,
                                                         const char *options,
                                                         const contact_recipe *recipe, int64_t most,
                                                         const char *name) {
  contact_case c = contact_open(recipe);
  contact_run run = contact_run_for(subject, options, &c);
  /* Of motions of 1e-3 m: what is tighter for rows that nearly repeat tests patience. */
  if (recipe->near) run.tolerance.eps2 = 1e-7;
  bool converged = contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL;
  tap_ok(converged && eb_contact_solved(&run.error, &run.tolerance), "%s %s: %s: solved (seed %d)",
         subject->method->name, options, name, (int)recipe->seed);
  tap_ok(run.outcome.iterations > 0 && run.outcome.iterations <= most,
         "%s: in %lld iterations of at most %lld", name, (long long)run.outcome.iterations,
         (long long)most);
  tap_ok(run.outcome.active_set_changes > 0 &&
             run.outcome.active_set_changes <= run.outcome.iterations,
         "%s: changes of states are counted", name);
  contact_run_solve(&run, c.problem);
  tap_ok(run.outcome.iterations == 0, "%s: a solution needs no iteration", name);
  contact_run_close(&run);
  contact_close(&c);
}

/* mu = 0: no friction at all. */
__attribute__((unused)) static void contact_check_frictionless(const contact_subject *subject,
                                                               const char *options) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 3, .side = 3, .contacts = 20});
  contact_run run = contact_run_for(subject, options, &c);
  double largest = 0;
  for (int32_t k = 0; k < 3 * run.room; k++) run.r[k] = 1; /* a guess that is wrong */
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "%s %s: mu = 0",
         subject->method->name, options);
  for (int32_t k = 0; k < run.room; k++)
    largest = fmax(largest, fmax(fabs(run.r[3 * k + 1]), fabs(run.r[3 * k + 2])));
  tap_near(largest, 0, 0, "has no friction");
  contact_run_close(&run);
  contact_close(&c);
}

/* Too few iterations; going on from there; what is not a number. */
__attribute__((unused)) static void contact_check_outcomes(const contact_subject *subject,
                                                           const char *options) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 3, .side = 3, .contacts = 20, .mu = 0.5});
  contact_run run = contact_run_for(subject, options, &c);
  run.tolerance.max_iterations = 3;
  tap_ok(contact_run_solve(&run, c.problem) == EB_DIVERGED_MAX_IT && run.outcome.iterations == 3,
         "%s %s: stops after as many iterations as allowed", subject->method->name, options);
  tap_ok(contact_run_is_finite(&run), "with finite results");
  run.tolerance.max_iterations = 20000;
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "from which it goes on");
  c.b[4] = NAN;
  tap_ok(contact_run_solve(&run, c.problem) == EB_DIVERGED_NAN, "NaN is an outcome");
  contact_run_close(&run);
  contact_close(&c);
}

/* Contacts that contradict each other. */
__attribute__((unused)) static void
contact_check_contradiction(const contact_subject *subject, const char *options, eb_reason reason) {
  contact_case c = contact_open(
      &(contact_recipe){.seed = 2, .bodies = 2, .side = 2, .contacts = 4, .inconsistent = true});
  contact_run run = contact_run_for(subject, options, &c);
  run.tolerance.max_iterations = 1000;
  tap_ok(contact_run_solve(&run, c.problem) == reason && contact_run_is_finite(&run),
         "%s %s: contradicting contacts end as %s with finite results (%s)", subject->method->name,
         options, eb_reason_name(reason), eb_reason_name(run.outcome.reason));
  contact_run_close(&run);
  contact_close(&c);
}

/* A contact whose H is 0, on nodes that are held, is left alone. */
__attribute__((unused)) static void contact_check_immovable(const contact_subject *subject,
                                                            const char *options) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 2, .bodies = 2, .side = 2, .contacts = 4, .mu = 0.5});
  const double H[9] = {0}, met[3] = {-1e-5, 0, 0};
  const int32_t block = 1;
  tap_require(eb_contact_problem_reserve(c.problem, c.problem->count + 1), "room");
  eb_contact_problem_add(c.problem, 1, &block, H, met, 0.5);
  contact_run run = contact_run_for(subject, options, &c);
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL &&
             run.r[3 * (c.problem->count - 1)] == 0,
         "%s %s: a contact that nothing moves has no force", subject->method->name, options);
  contact_run_close(&run);
  contact_close(&c);
}

/* More contacts than ever, then fewer, with one method. */
__attribute__((unused)) static void contact_check_growth(const contact_subject *subject,
                                                         const char *options) {
  static const int32_t COUNTS[] = {0, 5, 60, 3};
  contact_run run = {0};
  for (int i = 0; i < 4; i++) {
    contact_case c = contact_open(
        &(contact_recipe){.seed = 4, .bodies = 2, .side = 3, .contacts = COUNTS[i], .mu = 0.2});
    if (i == 0) run = contact_run_open(subject->method, subject->table, options, c.A, 60);
    memset(run.r, 0, 3 * (size_t)run.room * sizeof *run.r);
    tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "%s %s: %d contacts",
           subject->method->name, options, (int)COUNTS[i]);
    contact_close(&c);
  }
  contact_run_close(&run);
}

#endif
