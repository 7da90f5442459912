/* The lowest eigenpairs of A w = gamma M w.
 *
 * With y = M^1/2 w the problem is a standard one, and its lowest eigenvalues belong to the largest
 * theta = 1 / (gamma + shift) of
 *
 *   C = M^1/2 (A + shift M)^-1 M^1/2,
 *
 * which SLEPc sees as a shell: two scalings and one solve. A Krylov space of C separates the lowest
 * modes in a few dozen solves, whatever the size of the mesh.
 *
 * A Krylov space has one vector of every eigenspace: of the six motions of a free body, which have
 * one eigenvalue, rounding alone brings the others, and often late. So the space is searched again
 * beside what was found, from another start, until nothing turns up there that belongs to the
 * wanted ones.
 *
 * The shift makes the matrix definite where nothing is held. Where elements are slivers the
 * caller's guess may be far too low, and theta of the wanted modes rounding beside the first: then
 * a tenth of the highest eigenvalue that was found is taken instead.
 *
 * Of few unknowns LAPACK takes the matrix itself, all of it: there the highest modes may be asked
 * for, which an inverse knows only to rounding of the lowest. Where the lowest are lost in rounding
 * of the highest (stiffness a million times that of the rest), the inverse follows.
 *
 * Workspace: a copy of the matrix, its factor, 2 count + 10 vectors of SLEPc's. Fails: eigenpairs
 * that do not converge. */
#include "solvers/subspace/eigen.h"

#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal.h"
#include "solvers/linalg/one_thread.h"
#include "solvers/petsc/session.h"

#include <float.h>
#include <math.h>
#include <slepceps.h>
#include <string.h>

static const double RESIDUAL = 1e-8;
enum { FEW = 300, SEARCHED_AGAIN = 2, MAX_SEARCHES = 40 };

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t, size_t);

typedef struct search {
  const eb_eigenproblem *problem;
  const double *root;
  int32_t unknowns, free, count; /* free: not held */
  double shift;
  eb_block_matrix *shifted; /* A + shift M, what is held cut off */
  eb_multifrontal *factor;
  double *b;      /* unknowns: right-hand side and solution */
  eb_error error; /* of a solve inside SLEPc */
  eb_eigenpairs *out;
  Mat shell;
  EPS eps;
  int32_t found;
  Vec *mode;     /* found */
  double *theta; /* found, of the modes */
} search;

/* ---- the matrix ---- */

static eb_error factor_shifted(search *s, eb_step_log *log) {
  const eb_block_matrix *A = s->problem->matrix;
  eb_block_matrix *S = s->shifted;
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int e = 0; e < 9; e++) {
        int64_t at = 9 * (int64_t)b + e, r = 3 * (int64_t)i + e / 3,
                c = 3 * (int64_t)A->column[b] + e % 3;
        double value = A->values[at];
        if (s->root[r] == 0 || s->root[c] == 0)
          value = r != c ? 0 : value > 0 ? value : 1;
        else if (r == c)
          value += s->shift * s->root[r] * s->root[r];
        S->values[at] = value;
      }
  eb_reason reason;
  const eb_multifrontal_settings settings = {.threads = s->problem->threads};
  if (!s->factor) EB_TRY(eb_multifrontal_create(&settings, S, log, &s->factor));
  EB_TRY(eb_multifrontal_factor(s->factor, S, log, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID,
                    "%s: the stiffness at rest is not positive definite (%s): is an element flat?",
                    s->problem->what, eb_reason_name(reason));
  return EB_OK;
}

/* ---- SLEPc ---- */

/* y = C x. */
static PetscErrorCode apply(Mat shell, Vec x, Vec y) {
  search *s;
  const double *in;
  double *out;
  eb_reason reason = EB_RUNNING;
  PetscCall(MatShellGetContext(shell, &s));
  PetscCall(VecGetArrayRead(x, &in));
  for (int32_t i = 0; i < s->unknowns; i++) s->b[i] = s->root[i] * in[i];
  PetscCall(VecRestoreArrayRead(x, &in));
  s->error = eb_multifrontal_solve(s->factor, 1, s->b, s->b, NULL, &reason);
  PetscCheck(!s->error && reason > 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "a solve failed");
  PetscCall(VecGetArrayWrite(y, &out));
  for (int32_t i = 0; i < s->unknowns; i++) out[i] = s->root[i] * s->b[i];
  PetscCall(VecRestoreArrayWrite(y, &out));
  return 0;
}

/* Its own start, the same in every process; SLEPc's is random. */
static PetscErrorCode set_start(search *s, Vec start, int round) {
  double *entries;
  PetscCall(VecGetArrayWrite(start, &entries));
  for (int32_t i = 0; i < s->unknowns; i++)
    entries[i] = s->root[i] * (round == 0 ? 1 + 0.5 * sin(1.0 + i) : sin(1.0 + (1.7 + round) * i));
  PetscCall(VecRestoreArrayWrite(start, &entries));
  PetscCall(EPSSetInitialSpace(s->eps, 1, &start));
  return 0;
}

/* Appends the modes, `wanted` at most, that converge beside those found. *largest: of their thetas,
 * or 0. */
static PetscErrorCode search_beside(search *s, int round, int32_t wanted, double *largest) {
  PetscInt converged;
  Vec start;
  *largest = 0;
  PetscCall(EPSCreate(PETSC_COMM_SELF, &s->eps));
  PetscCall(EPSSetOperators(s->eps, s->shell, NULL));
  PetscCall(EPSSetProblemType(s->eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(s->eps, EPS_LARGEST_REAL));
  PetscCall(EPSSetType(s->eps, EPSKRYLOVSCHUR));
  PetscCall(EPSSetTolerances(s->eps, 1e-12, 300));
  PetscCall(EPSSetDimensions(s->eps, wanted, PETSC_DEFAULT, PETSC_DEFAULT));
  if (s->found > 0) PetscCall(EPSSetDeflationSpace(s->eps, s->found, s->mode));
  PetscCall(MatCreateVecs(s->shell, &start, NULL));
  PetscCall(set_start(s, start, round));
  PetscCall(EPSSolve(s->eps));
  PetscCall(EPSGetConverged(s->eps, &converged));
  for (int32_t k = 0; k < wanted && k < converged; k++) {
    PetscCall(EPSGetEigenpair(s->eps, k, &s->theta[s->found], NULL, start, NULL));
    /* Rounding has left something of every mode in the vector, which A would raise by its
     * eigenvalue: once more through C it is as small as that of the mode itself. */
    PetscCall(VecDuplicate(start, &s->mode[s->found]));
    PetscCall(MatMult(s->shell, start, s->mode[s->found]));
    PetscCall(VecNormalize(s->mode[s->found], NULL));
    *largest = fmax(*largest, s->theta[s->found++]);
  }
  PetscCall(VecDestroy(&start));
  PetscCall(EPSDestroy(&s->eps));
  return 0;
}

/* Weights w = M^-1/2 y of one eigenvector, the entry of largest size positive. */
static void keep_mode(search *s, int32_t mode, const double *y) {
  double *w = s->out->vector + (int64_t)mode * s->unknowns, largest = 0;
  for (int32_t i = 0; i < s->unknowns; i++) {
    w[i] = s->root[i] > 0 ? y[i] / s->root[i] : 0;
    if (fabs(w[i]) > fabs(largest) * (1 + 1e-9)) largest = w[i];
  }
  for (int32_t i = 0; i < s->unknowns && largest < 0; i++) w[i] = -w[i];
}

/* Of the k-th mode, the largest theta first; those that are equal in the order of their finding. */
static int32_t ranked(const search *s, int32_t k) {
  for (int32_t i = 0; i < s->found; i++) {
    int32_t before = 0;
    for (int32_t j = 0; j < s->found; j++)
      before += s->theta[j] > s->theta[i] || (s->theta[j] == s->theta[i] && j < i);
    if (before == k) return i;
  }
  return -1;
}

static PetscErrorCode find_all(void *context) {
  search *s = context;
  PetscBool running;
  PetscCall(SlepcInitialized(&running));
  if (!running) PetscCall(SlepcInitializeNoArguments()); /* on top of PETSc, which runs */
  PetscCall(MatCreateShell(PETSC_COMM_SELF, s->unknowns, s->unknowns, s->unknowns, s->unknowns, s,
                           &s->shell));
  PetscCall(MatShellSetOperation(s->shell, MATOP_MULT, (eb_petsc_operation *)apply));
  PetscCall(MatSetOption(s->shell, MAT_SYMMETRIC, PETSC_TRUE));
  double largest;
  PetscCall(search_beside(s, 0, s->count, &largest));
  PetscCheck(s->found >= s->count, PETSC_COMM_SELF, PETSC_ERR_CONV_FAILED, "%d of %d converged",
             (int)s->found, (int)s->count);
  for (int round = 1; round <= MAX_SEARCHES && s->found + SEARCHED_AGAIN <= s->free; round++) {
    PetscCall(search_beside(s, round, SEARCHED_AGAIN, &largest));
    if (largest <= s->theta[ranked(s, s->count - 1)]) break;
  }
  for (int32_t k = 0; k < s->count; k++) {
    const double *values;
    int32_t best = ranked(s, k);
    PetscCall(VecGetArrayRead(s->mode[best], &values));
    s->out->value[k] = 1 / s->theta[best] - s->shift;
    keep_mode(s, k, values);
    PetscCall(VecRestoreArrayRead(s->mode[best], &values));
  }
  return 0;
}

static PetscErrorCode release_slepc(void *context) {
  search *s = context;
  for (int32_t k = 0; k < s->count + SEARCHED_AGAIN * MAX_SEARCHES; k++)
    PetscCall(VecDestroy(&s->mode[k]));
  s->found = 0;
  PetscCall(EPSDestroy(&s->eps));
  PetscCall(MatDestroy(&s->shell));
  return 0;
}

/* ---- LAPACK ---- */

/* All modes of M^-1/2 A M^-1/2 over the free unknowns. */
static eb_error solve_dense(search *s) {
  const eb_block_matrix *A = s->shifted;
  int n = s->free, room = 34 * n, info = -1;
  int32_t *place;
  double *dense = NULL, *y;
  EB_TRY(EB_NEW(place, s->unknowns));
  eb_error error =
      EB_NEW(dense, (size_t)n * (size_t)n + (size_t)n + (size_t)room + (size_t)s->unknowns);
  double *value = dense + (size_t)n * (size_t)n, *work = value + n;
  for (int32_t i = 0, next = 0; i < s->unknowns; i++) place[i] = s->root[i] > 0 ? next++ : -1;
  for (int32_t i = 0; !error && i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int e = 0; e < 9; e++) {
        int32_t r = 3 * i + e / 3, c = 3 * A->column[b] + e % 3;
        if (place[r] >= 0 && place[c] >= 0)
          dense[(size_t)place[r] * (size_t)n + (size_t)place[c]] =
              A->values[9 * (int64_t)b + e] / (s->root[r] * s->root[c]);
      }
  eb_one_thread before = eb_one_thread_begin();
  if (!error) dsyev_("V", "U", &n, dense, &n, value, work, &room, &info, 1, 1);
  eb_one_thread_end(before);
  if (!error && info != 0)
    error = EB_ERROR(EB_ERR_LIBRARY, "%s: LAPACK's dsyev returned %d", s->problem->what, info);
  y = work + room;
  for (int32_t k = 0; !error && k < s->count; k++) {
    s->out->value[k] = value[k] - s->shift;
    for (int32_t i = 0; i < s->unknowns; i++)
      y[i] = place[i] >= 0 ? dense[(size_t)k * (size_t)n + (size_t)place[i]] : 0;
    keep_mode(s, k, y);
  }
  free(place);
  free(dense);
  return error;
}

/* ---- the pairs ---- */

/* |A w - gamma M w| / (gamma + shift) in the norm of inv(M), for w of norm 1: by how much the
 * eigenvalue can be off, of itself. Less what rounding of the products alone makes of it, 64 eps of
 * their terms: a thin sheet's highest eigenvalue is 1e9 times its lowest. */
static double residual_of(const search *s, int32_t mode) {
  const eb_block_matrix *A = s->shifted;
  const double *w = s->out->vector + (int64_t)mode * s->unknowns;
  double gamma = s->out->value[mode], square = 0, rounding = 0;
  for (int32_t i = 0; i < s->unknowns; i++) {
    if (s->root[i] == 0) continue;
    double mass = s->root[i] * s->root[i], sum = -(gamma + s->shift) * mass * w[i];
    double terms = fabs(sum);
    for (int32_t b = A->start[i / 3]; b < A->start[i / 3 + 1]; b++)
      for (int k = 0; k < 3; k++) {
        double term =
            A->values[9 * (int64_t)b + 3 * (i % 3) + k] * w[3 * (int64_t)A->column[b] + k];
        sum += term;
        terms += fabs(term);
      }
    square += sum * sum / mass;
    rounding += terms * terms / mass;
  }
  return fmax(0, sqrt(square) - 64 * DBL_EPSILON * sqrt(rounding)) / (gamma + s->shift);
}

/* All that a shift decides; `dense`: by LAPACK. */
static eb_error pass_with_shift(search *s, bool dense, eb_step_log *log) {
  EB_TRY(factor_shifted(s, log));
  if (dense) return solve_dense(s);
  eb_error error = eb_petsc_call(find_all, s, s->problem->what);
  if (s->error) {
    eb_error_free(error);
    error = s->error;
    s->error = EB_OK;
  }
  eb_error freed = eb_petsc_call(release_slepc, s, s->problem->what);
  if (!error) return freed;
  eb_error_free(freed);
  return error;
}

static eb_error find_pairs(search *s, eb_step_log *log) {
  EB_TRY(EB_NEW(s->b, s->unknowns));
  EB_TRY(EB_NEW(s->out->vector, (size_t)s->count * (size_t)s->unknowns));
  EB_TRY(EB_NEW(s->out->value, s->count));
  for (int32_t i = 0; i < s->unknowns; i++) s->free += s->root[i] > 0;
  if (s->count < 1 || s->count > s->free)
    return EB_ERROR(EB_ERR_USAGE, "%d %s of a body with %d free unknowns", (int)s->count,
                    s->problem->what, (int)s->free);
  enum { PASSES = 3 };
  bool few = s->free <= FEW;
  size_t most = (size_t)s->count + SEARCHED_AGAIN * MAX_SEARCHES;
  EB_TRY(EB_NEW(s->mode, most));
  EB_TRY(EB_NEW(s->theta, most));
  EB_TRY(eb_block_matrix_like(s->problem->matrix, &s->shifted));
  for (int pass = 0; pass < PASSES; pass++) {
    bool dense = few && pass == 0;
    if (pass > 0) s->shift = 0.1 * s->out->value[s->count - 1];
    if (!dense) EB_TRY(eb_petsc_start());
    EB_TRY(pass_with_shift(s, dense, log));
    s->out->residual = 0;
    for (int32_t k = 0; k < s->count; k++)
      s->out->residual = fmax(s->out->residual, residual_of(s, k));
    if (s->out->residual <= RESIDUAL) return EB_OK;
  }
  return EB_ERROR(EB_ERR_LIBRARY, "%s: an eigenpair is off by %.1e, not %.0e", s->problem->what,
                  s->out->residual, RESIDUAL);
}

eb_error eb_lowest_eigenpairs(const eb_eigenproblem *problem, eb_step_log *log,
                              eb_eigenpairs *out) {
  *out = (eb_eigenpairs){.unknowns = 3 * (int64_t)problem->matrix->rows, .count = problem->count};
  search s = {.problem = problem,
              .root = problem->root,
              .unknowns = 3 * problem->matrix->rows,
              .count = problem->count,
              .shift = problem->shift,
              .out = out};
  eb_error error = find_pairs(&s, log);
  eb_multifrontal_destroy(s.factor);
  eb_block_matrix_destroy(s.shifted);
  free(s.b);
  free(s.mode);
  free(s.theta);
  if (!error) return EB_OK;
  free(out->vector);
  free(out->value);
  *out = (eb_eigenpairs){0};
  return error;
}
