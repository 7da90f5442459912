/* What the tests of contact methods share: a method at work on a problem, and independent answers to small problems. */
#ifndef EB_TESTS_CONTACT_METHODS_H
#define EB_TESTS_CONTACT_METHODS_H

#include "solvers/contact/method.h"
#include "solvers/linalg/block_ops.h"
#include "tests/contact_problems.h"
#include "tests/support/block_systems.h"

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
                                    const char *options, int32_t rows, int32_t room) {
  contact_run run = {.method = method, .rows = rows, .room = room};
  run.tolerance = (eb_contact_tolerance){
      .eps1 = 1e-9, .eps2 = 1e-9, .cone = 1e-3, .angle = 1.2, .max_iterations = 20000};
  tap_require(eb_values_create(method->name, table, options, &run.options), options);
  const eb_solver solver = {.options = run.options, .threads = 1};
  tap_require(method->create(&solver, rows, &run.data), "create a method");
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

/* From the guess in v and r. */
static eb_reason contact_run_solve(contact_run *run, const eb_contact_problem *problem) {
  tap_require(
      run->method->solve(run->data, problem, &run->tolerance, run->v, run->r, NULL, &run->outcome),
      "solve");
  eb_contact_measure(problem, run->v, run->r, run->tolerance.eps2, run->work, &run->error);
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
  double *dense = eb_test_dense(A);
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

/* The solution without friction of at most CONTACT_ENUMERATED contacts, by trying every active set. */
__attribute__((unused)) static void contact_enumerate(const eb_contact_problem *p, double *v) {
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

#endif
