/* Solves FCLib's problems with the project's methods: a global problem is lifted to ours, a local
 * one is the reduced problem of contact-delassus as it is. */
#include <math.h>
#include <string.h>

#include "harness/fclib/fclib.h"
#include "harness/names.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "solvers/contact/delassus.h"
#include "solvers/linalg/block_ops.h"

/* ---- FCLib's matrices as ours ---------------------------------------------------------------- */

/* General triplets become 3x3 blocks of consecutive unknowns.
 *
 * A size that is no multiple of 3 is filled up with unknowns that have the mean of the diagonal and
 * no force. What is off by rounding between a matrix and its transpose is averaged. */

static const double ASYMMETRY =
    1e-6; /* of the largest entry: more is not rounding of whoever wrote it */

void eb_fclib_lifted_clear(eb_fclib_lifted *lifted) {
  eb_contact_problem_destroy(lifted->problem);
  eb_block_matrix_destroy(lifted->A);
  free(lifted->b);
  *lifted = (eb_fclib_lifted){0};
}

/* The block pairs of the entries, and of their mirror images. */
static eb_error make_pattern(const eb_fclib_matrix *m, int32_t rows, eb_block_matrix **out) {
  int32_t *pairs;
  EB_TRY(EB_NEW(pairs, 2 * (size_t)m->count));
  for (int64_t k = 0; k < m->count; k++) {
    pairs[2 * k] = m->row[k] / 3;
    pairs[2 * k + 1] = m->column[k] / 3;
  }
  eb_error error = eb_block_matrix_create(rows, pairs, m->count, 2, out);
  free(pairs);
  return error;
}

static double *entry_of(eb_block_matrix *A, int32_t row, int32_t column) {
  int64_t block = eb_block_matrix_find(A, row / 3, column / 3);
  return A->values + 9 * block + 3 * (row % 3) + column % 3;
}

static eb_error make_symmetric(eb_block_matrix *A) {
  double off = 0, largest = 0;
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int k = 0; k < 9; k++) {
        double *x = A->values + 9 * (int64_t)b + k;
        double *y = entry_of(A, 3 * A->column[b] + k % 3, 3 * i + k / 3);
        off = fmax(off, fabs(*x - *y));
        largest = fmax(largest, fabs(*x));
        *x = *y = 0.5 * (*x + *y);
      }
  if (off <= ASYMMETRY * largest) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "M is not symmetric: entries differ from their mirror images by %g, the largest "
                  "is %g",
                  off, largest);
}

static eb_error make_matrix(const eb_fclib *global, eb_fclib_lifted *out) {
  const eb_fclib_matrix *M = &global->M;
  int32_t rows = global->size / 3 + (global->size % 3 != 0);
  EB_TRY(make_pattern(M, rows, &out->A));
  for (int32_t k = 0; k < M->count; k++) *entry_of(out->A, M->row[k], M->column[k]) += M->value[k];
  double sum = 0;
  for (int32_t i = 0; i < global->size; i++) sum += *entry_of(out->A, i, i);
  for (int32_t i = global->size; i < 3 * rows; i++) *entry_of(out->A, i, i) = sum / global->size;
  EB_TRY(EB_NEW(out->b, 3 * (size_t)rows));
  memcpy(out->b, global->f, (size_t)global->size * sizeof *out->b);
  return make_symmetric(out->A);
}

/* The entries of H in the order of their contacts: those of contact k are order[start[k]] ..
 * order[start[k + 1] - 1]. */
static void sort_entries(const eb_fclib_matrix *H, int32_t contacts, int32_t *start,
                         int32_t *order) {
  for (int32_t e = 0; e < H->count; e++) start[H->column[e] / 3 + 1]++;
  for (int32_t k = 0; k < contacts; k++) start[k + 1] += start[k];
  for (int32_t e = H->count - 1; e >= 0; e--) order[--start[H->column[e] / 3 + 1]] = e;
  /* Filling from the back has moved every start one place on. */
  memmove(start, start + 1, (size_t)contacts * sizeof *start);
  start[contacts] = H->count;
}

/* A contact's blocks while they are gathered. */
typedef struct gathered {
  int32_t entries, block[EB_CONTACT_ENTRIES];
  double H[9 * EB_CONTACT_ENTRIES];
} gathered;

static bool gather(const eb_fclib_matrix *H, int32_t e, gathered *g) {
  int32_t at = 0, block = H->row[e] / 3;
  while (at < g->entries && g->block[at] != block) at++;
  if (at == EB_CONTACT_ENTRIES) return false;
  if (at == g->entries) g->block[g->entries++] = block;
  g->H[9 * at + 3 * (H->column[e] % 3) + H->row[e] % 3] += H->value[e];
  return true;
}

static eb_error add_contacts(const eb_fclib *global, const int32_t *start, const int32_t *order,
                             eb_contact_problem *problem) {
  for (int32_t k = 0; k < global->contacts; k++) {
    gathered g = {0};
    double c[3];
    for (int d = 0; d < 3; d++) c[d] = -global->w[3 * (int64_t)k + d];
    for (int32_t e = start[k]; e < start[k + 1]; e++)
      if (!gather(&global->H, order[e], &g))
        return EB_ERROR(EB_ERR_UNSUPPORTED,
                        "contact %d acts on more than %d groups of three unknowns", (int)k,
                        EB_CONTACT_ENTRIES);
    if (g.entries == 0) return EB_ERROR(EB_ERR_UNSUPPORTED, "contact %d acts on nothing", (int)k);
    eb_contact_problem_add(problem, g.entries, g.block, g.H, c, global->mu[k]);
  }
  return EB_OK;
}

static eb_error make_contacts(const eb_fclib *global, eb_contact_problem *problem) {
  int32_t *start = NULL, *order = NULL;
  eb_error error = EB_NEW(start, (size_t)global->contacts + 2);
  if (!error) error = EB_NEW(order, global->H.count);
  if (!error) {
    sort_entries(&global->H, global->contacts, start, order);
    error = add_contacts(global, start, order, problem);
  }
  free(start);
  free(order);
  return error;
}

eb_error eb_fclib_lift(const eb_fclib *global, eb_fclib_lifted *out) {
  *out = (eb_fclib_lifted){0};
  eb_error error = make_matrix(global, out);
  if (!error) error = eb_contact_problem_create(global->contacts, &out->problem);
  if (!error) error = make_contacts(global, out->problem);
  if (error) {
    eb_fclib_lifted_clear(out);
    return error;
  }
  out->problem->A = out->A;
  out->problem->b = out->b;
  return EB_OK;
}

/* ---- methods ---- */

static const eb_fclib_method methods[] = {{"contact-delassus", &eb_contact_delassus},
                                          {"contact-ica", &eb_contact_ica},
                                          {"contact-sp", &eb_contact_sp},
                                          {"contact-cr", &eb_contact_cr},
                                          {"contact-al", &eb_contact_al},
                                          {0}};

static eb_error find_method(const char *name, const eb_fclib_method **out) {
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

eb_error eb_fclib_solver(const char *spec, const eb_fclib_method **method, eb_values **options) {
  char *name = NULL, *assignments = NULL;
  *options = NULL;
  EB_TRY(eb_split_spec(spec, &name, &assignments));
  eb_error error = find_method(name, method);
  if (!error) error = eb_values_create(name, eb_solver_find(name)->options, assignments, options);
  free(name);
  free(assignments);
  return error;
}

/* ---- global ---- */

/* What a solve of a global problem works on. */
typedef struct global_solve {
  const eb_fclib *problem;
  const eb_contact_method *method;
  const eb_contact_tolerance *tolerance;
  eb_fclib_lifted lifted;
  void *data;
  double *rest; /* n: f + H r - M v */
  eb_step_log *log;
} global_solve;

static eb_error solve_lifted(global_solve *s, eb_fclib_result *out) {
  eb_contact_outcome outcome;
  double began = eb_wall_seconds();
  EB_TRY(s->method->solve(s->data, s->lifted.problem, s->tolerance, out->found.v, out->found.r,
                          s->log, &outcome));
  out->seconds += eb_wall_seconds() - began;
  out->outcome.reason = outcome.reason;
  out->outcome.iterations += outcome.iterations;
  out->outcome.active_set_changes += outcome.active_set_changes;
  return EB_OK;
}

/* Methods see S, M with its mirror image averaged. With D = M - S
 *
 *   S v(k+1) = (f - D v(k)) + H r(k+1)
 *
 * solves M v = f + H r where it converges, which is where S^-1 D is small: what is off by rounding
 * is not small beside the masses that alone resist a rigid motion. f - D v is f as it is plus what
 * has been left over so far, since S v - H r is what the method made of its right-hand side. */
static eb_error refine(global_solve *s, eb_fclib_result *out) {
  enum { MOST = 30 };
  const eb_fclib *p = s->problem;
  double enough = 2 * s->tolerance->eps1, before = INFINITY;
  for (int i = 0; out->outcome.reason > 0; i++) {
    double residual = eb_fclib_residual(p, out->found.v, out->found.r, s->rest);
    if (residual <= enough) return EB_OK;
    if (i == MOST || !(residual < 0.5 * before)) break;
    before = residual;
    for (int32_t k = 0; k < p->size; k++) s->lifted.b[k] += s->rest[k];
    EB_TRY(solve_lifted(s, out));
  }
  if (out->outcome.reason > 0) out->outcome.reason = EB_DIVERGED_LINEAR_SOLVE;
  return EB_OK;
}

static eb_error solve_global(const eb_fclib *p, const eb_contact_method *method,
                             const eb_solver *solver, const eb_contact_tolerance *tolerance,
                             eb_fclib_result *out) {
  global_solve s = {.problem = p, .method = method, .tolerance = tolerance};
  EB_TRY(eb_fclib_lift(p, &s.lifted));
  eb_error error = EB_NEW(s.rest, p->size);
  if (!error) error = eb_step_log_create(0, &s.log);
  if (!error) error = method->create(solver, s.lifted.A, &s.data);
  if (!error) error = solve_lifted(&s, out);
  if (!error) error = refine(&s, out);
  if (!error) {
    const double *seconds = s.log->phase_seconds;
    out->factor_seconds =
        seconds[EB_PHASE_FACTOR] + seconds[EB_PHASE_ORDER] + seconds[EB_PHASE_ANALYZE];
    eb_contact_velocity(s.lifted.problem, out->found.v, out->found.u);
  }
  if (s.data) method->destroy(s.data);
  eb_step_log_destroy(s.log);
  free(s.rest);
  eb_fclib_lifted_clear(&s.lifted);
  return error;
}

/* ---- local ---- */

/* W, which need not be symmetric: that of capsules is not. */
static eb_error fill_reduced(const eb_fclib *p, eb_reduced *reduced) {
  int64_t m = 3 * (int64_t)p->contacts;
  EB_TRY(eb_reduced_reserve(reduced, p->contacts, p->mu));
  memset(reduced->W, 0, (size_t)(m * m) * sizeof *reduced->W);
  for (int32_t k = 0; k < p->M.count; k++)
    reduced->W[p->M.row[k] * m + p->M.column[k]] += p->M.value[k];
  memcpy(reduced->q, p->w, (size_t)m * sizeof *reduced->q);
  eb_reduced_couple(reduced);
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
  double began = eb_wall_seconds();
  if (!error && strcmp(eb_values_text(solver->options, "delassus_solver"), "newton") == 0)
    error = eb_reduced_newton(&reduced, tolerance, NULL, &out->outcome);
  else if (!error)
    eb_reduced_gauss_seidel(&reduced, tolerance, NULL, &out->outcome);
  out->seconds = eb_wall_seconds() - began;
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
