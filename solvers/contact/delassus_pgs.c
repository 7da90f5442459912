/* Reduced contact problems by projected Gauss-Seidel (Jourdan, Alart and Jean 1998, "A Gauss-Seidel like algorithm to solve frictional contact problems"):
 *
 *   for every contact k: r_k from u_k = W_kk r_k + (sum over j != k of W_kj r_j + q_k) and the contact law.
 *
 * A sweep costs one product with W, from which contacts that are not coupled are left out. Workspace: that of eb_reduced. Slow when contacts are many and coupled, and without an end, which max_iterations gives it, when there is no
 * solution. */
#include "solvers/contact/delassus.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"

/* *array := `count` new numbers. */
static eb_error renew(double **array, size_t count) {
  free(*array);
  return EB_NEW(*array, count);
}

eb_error eb_reduced_reserve(eb_reduced *reduced, int32_t count, const double *mu) {
  reduced->count = count;
  reduced->mu = mu;
  if (count <= reduced->room && reduced->W) return EB_OK;
  size_t m = 3 * (size_t)count;
  reduced->room = 0;
  EB_TRY(renew(&reduced->W, m * m));
  EB_TRY(renew(&reduced->q, m));
  EB_TRY(renew(&reduced->r, m));
  EB_TRY(renew(&reduced->u, m));
  EB_TRY(renew(&reduced->work, 5 * m));
  free(reduced->run_start);
  free(reduced->run);
  reduced->run_start = reduced->run = NULL;
  EB_TRY(EB_NEW(reduced->run_start, (size_t)count + 1));
  EB_TRY(EB_NEW(reduced->run, (size_t)count * ((size_t)count + 1)));
  reduced->room = count;
  return EB_OK;
}

void eb_reduced_clear(eb_reduced *reduced) {
  free(reduced->W);
  free(reduced->q);
  free(reduced->r);
  free(reduced->u);
  free(reduced->work);
  free(reduced->run_start);
  free(reduced->run);
  free(reduced->jacobian);
  free(reduced->pivots);
  *reduced = (eb_reduced){0};
}

static bool is_coupled(const eb_reduced *reduced, int64_t k, int64_t j) {
  int64_t m = 3 * (int64_t)reduced->count;
  for (int e = 0; e < 9; e++)
    if (reduced->W[(3 * k + e / 3) * m + 3 * j + e % 3] != 0) return true;
  return false;
}

void eb_reduced_couple(eb_reduced *reduced) {
  int32_t ends = 0; /* of runs; odd inside of one */
  for (int32_t k = 0; k < reduced->count; k++) {
    for (int32_t j = 0; j < reduced->count; j++)
      if (is_coupled(reduced, k, j) != (ends % 2 != 0)) reduced->run[ends++] = j;
    if (ends % 2) reduced->run[ends++] = reduced->count;
    reduced->run_start[k + 1] = ends / 2;
  }
}

/* Runs are of some tens of entries: eb_dot is made for thousands. */
static double dot(int64_t n, const double *x, const double *y) {
  enum { LANES = 4 };
  double lane[LANES] = {0}, rest = 0;
  int64_t whole = n / LANES * LANES;
  for (int64_t i = 0; i < whole; i += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
  for (int64_t i = whole; i < n; i++) rest += x[i] * y[i];
  return lane[0] + lane[1] + (lane[2] + lane[3]) + rest;
}

/* Row i of u = W r + q. */
static double velocity_of(const eb_reduced *reduced, const double *r, int64_t i) {
  int64_t m = 3 * (int64_t)reduced->count;
  double sum = reduced->q[i];
  for (int32_t at = reduced->run_start[i / 3]; at < reduced->run_start[i / 3 + 1]; at++) {
    int64_t first = 3 * (int64_t)reduced->run[2 * at], last = 3 * (int64_t)reduced->run[2 * at + 1];
    sum += dot(last - first, reduced->W + i * m + first, r + first);
  }
  return sum;
}

void eb_reduced_velocity(const eb_reduced *reduced, const double *r, double *u) {
  for (int64_t i = 0; i < 3 * (int64_t)reduced->count; i++) u[i] = velocity_of(reduced, r, i);
}

void eb_reduced_sweep(eb_reduced *reduced) {
  int64_t m = 3 * (int64_t)reduced->count;
  for (int64_t k = 0; k < reduced->count; k++) {
    double W[9], q[3], *r = reduced->r + 3 * k, *u = reduced->u + 3 * k;
    for (int i = 0; i < 3; i++) {
      memcpy(W + 3 * i, reduced->W + (3 * k + i) * m + 3 * k, 3 * sizeof *W);
      u[i] = velocity_of(reduced, reduced->r, 3 * k + i);
      q[i] = u[i] - (W[3 * i] * r[0] + W[3 * i + 1] * r[1] + W[3 * i + 2] * r[2]);
    }
    eb_contact_solve_local(W, q, reduced->mu[k], r);
  }
}

static bool is_nan(const eb_contact_error *e) {
  return isnan(e->violation) || isnan(e->active) || isnan(e->sliding) || isnan(e->cone);
}

bool eb_reduced_judge(const eb_reduced *reduced, const double *r,
                      const eb_contact_tolerance *tolerance, eb_step_log *log,
                      eb_contact_outcome *outcome) {
  eb_contact_error error = {0};
  eb_contact_measure_law(reduced->count, reduced->u, r, reduced->mu, tolerance->eps2, &error);
  double worst = fmax(error.violation, fmax(error.active, error.sliding));
  eb_log_residual(log, worst);
  outcome->reason = eb_contact_solved(&error, tolerance) ? EB_CONVERGED_ATOL
                    : is_nan(&error)                     ? EB_DIVERGED_NAN
                                                         : EB_DIVERGED_MAX_IT;
  return outcome->reason != EB_DIVERGED_MAX_IT;
}

/* What every contact met at its turn says whether another product, for u after the sweep, is worth it. */
void eb_reduced_gauss_seidel(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                             eb_step_log *log, eb_contact_outcome *outcome) {
  size_t bytes = 3 * (size_t)reduced->count * sizeof *reduced->r;
  outcome->reason = EB_DIVERGED_MAX_IT;
  while (outcome->iterations < tolerance->max_iterations) {
    memcpy(reduced->work, reduced->r, bytes);
    eb_reduced_sweep(reduced);
    outcome->iterations++;
    if (!eb_reduced_judge(reduced, reduced->work, tolerance, log, outcome)) continue;
    eb_reduced_velocity(reduced, reduced->r, reduced->u);
    if (eb_reduced_judge(reduced, reduced->r, tolerance, NULL, outcome)) break;
  }
}
