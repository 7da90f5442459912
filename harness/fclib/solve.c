/* Solves FCLib's problems with the project's methods: a global problem is lifted to ours (lift.c),
 * a local one is the reduced problem of contact-delassus as it is. */
#include "harness/fclib/fclib.h"

#include <math.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "solvers/contact/delassus.h"

/* ---- methods ---- */

static const eb_fclib_method methods[] = {{"contact-delassus", &eb_contact_delassus},
                                          {"contact-ica", &eb_contact_ica},
                                          {"contact-sp", &eb_contact_sp},
                                          {"contact-cr", &eb_contact_cr},
                                          {0}};

eb_error eb_fclib_method_find(const char *name, const eb_fclib_method **out) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  *out = NULL;
  for (const eb_fclib_method *m = methods; m->name && !error; m++) {
    if (strcmp(m->name, name) == 0) *out = m;
    error = eb_strings_add(&names, m->name);
  }
  if (!error && !*out) error = eb_unknown_name("contact method", name, &names);
  eb_strings_clear(&names);
  return error;
}

const eb_option *eb_fclib_method_options(const eb_fclib_method *method) {
  return eb_solver_find(method->name)->options;
}

/* ---- global ---- */

static eb_error run_method(const eb_contact_method *method, void *data,
                           const eb_contact_problem *problem, const eb_contact_tolerance *tolerance,
                           eb_fclib_result *out) {
  eb_step_log *log;
  EB_TRY(eb_step_log_create(0, &log));
  double began = eb_wall_seconds();
  eb_error error =
      method->solve(data, problem, tolerance, out->found.v, out->found.r, log, &out->outcome);
  out->seconds = eb_wall_seconds() - began;
  out->factor_seconds = log->phase_seconds[EB_PHASE_FACTOR] + log->phase_seconds[EB_PHASE_ORDER] +
                        log->phase_seconds[EB_PHASE_ANALYZE];
  eb_step_log_destroy(log);
  if (!error) eb_contact_velocity(problem, out->found.v, out->found.u);
  return error;
}

static eb_error solve_global(const eb_fclib *p, const eb_contact_method *method,
                             const eb_solver *solver, const eb_contact_tolerance *tolerance,
                             eb_fclib_result *out) {
  eb_fclib_lifted lifted;
  void *data = NULL;
  EB_TRY(eb_fclib_lift(p, &lifted));
  eb_error error = method->create(solver, lifted.A->rows, &data);
  if (!error) error = run_method(method, data, lifted.problem, tolerance, out);
  if (data) method->destroy(data);
  eb_fclib_lifted_clear(&lifted);
  /* A small asymmetry of M is not small beside the masses that alone resist a rigid motion. */
  double residual = 0;
  if (!error) error = eb_fclib_residual(p, out->found.v, out->found.r, &residual);
  if (!error && out->outcome.reason > 0 && !(residual <= 2 * tolerance->eps1))
    out->outcome.reason = EB_DIVERGED_LINEAR_SOLVE;
  return error;
}

/* ---- local ---- */

static eb_error run_reduced(const eb_solver *solver, const eb_contact_tolerance *tolerance,
                            eb_reduced *reduced, eb_fclib_result *out) {
  double began = eb_wall_seconds();
  if (strcmp(eb_values_text(solver->options, "delassus_solver"), "newton") == 0)
    EB_TRY(eb_reduced_newton(reduced, tolerance, NULL, &out->outcome));
  else
    eb_reduced_gauss_seidel(reduced, tolerance, NULL, &out->outcome);
  out->seconds = eb_wall_seconds() - began;
  return EB_OK;
}

static eb_error fill_reduced(const eb_fclib *p, eb_reduced *reduced) {
  size_t m = 3 * (size_t)p->contacts;
  double *W;
  EB_TRY(eb_reduced_reserve(reduced, p->contacts, p->mu));
  EB_TRY(eb_fclib_dense(p, &W));
  memcpy(reduced->W, W, m * m * sizeof *W);
  memcpy(reduced->q, p->w, m * sizeof *W);
  eb_reduced_couple(reduced);
  free(W);
  return EB_OK;
}

static eb_error solve_local(const eb_fclib *p, const eb_contact_method *method,
                            const eb_solver *solver, const eb_contact_tolerance *tolerance,
                            eb_fclib_result *out) {
  eb_reduced reduced = {0};
  size_t bytes = 3 * (size_t)p->contacts * sizeof *reduced.r;
  if (method != &eb_contact_delassus)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "contact-%s needs the matrix of the velocities, which a local problem does not "
                    "have; contact-delassus solves it",
                    method->name);
  eb_error error = fill_reduced(p, &reduced);
  if (!error) error = run_reduced(solver, tolerance, &reduced, out);
  if (!error) {
    memcpy(out->found.r, reduced.r, bytes);
    memcpy(out->found.u, reduced.u, bytes);
  }
  eb_reduced_clear(&reduced);
  return error;
}

eb_error eb_fclib_solve(const eb_fclib *problem, const eb_contact_method *method,
                        const eb_solver *solver, const eb_contact_tolerance *tolerance,
                        eb_fclib_result *out) {
  const eb_fclib_solution *stored = &problem->solution;
  *out = (eb_fclib_result){.stored_merit = NAN};
  if (problem->global) EB_TRY(EB_NEW(out->found.v, (size_t)problem->size + 2));
  EB_TRY(EB_NEW(out->found.u, 3 * (size_t)problem->contacts));
  EB_TRY(EB_NEW(out->found.r, 3 * (size_t)problem->contacts));
  EB_TRY((problem->global ? solve_global : solve_local)(problem, method, solver, tolerance, out));
  if (stored->r) EB_TRY(eb_fclib_merit(problem, stored->v, stored->r, &out->stored_merit));
  return eb_fclib_merit(problem, out->found.v, out->found.r, &out->merit);
}
