/* The front of the linear solvers, A x = b with A symmetric positive definite: checks what the
 * caller passes, keeps the order of calls, sets the number of threads, and hands on to one of the
 * kinds below.
 *
 * Which kind when, for a mesh of n nodes in space: the direct ones take O(n^2) operations and
 * O(n^(4/3)) memory whatever A's condition, and a new right-hand side costs O(n^(4/3)); conjugate
 * gradients take O(n) memory and O(n) operations an iteration, O(n^(1/3) sqrt(contrast)) iterations
 * with a local preconditioner, as the condition number of an elastic stiffness grows with the
 * square of the number of elements across a body. M / h^2 in the matrix bounds it from some size
 * on. */
#include "solvers/linalg/linear.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/option.h"
#include "problems/base/text.h"
#include "problems/ranks/subdomain.h"
#include "solvers/linalg/linear_kind.h"

static const eb_linear_kind *const kinds[] = {&eb_linear_cg, &eb_linear_cholesky,
                                              &eb_linear_cholesky_single, &eb_linear_cholmod,
                                              &eb_linear_petsc};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct eb_linear {
  const eb_linear_kind *kind;
  void *data;
  int threads;
  const eb_ranks *ranks;   /* that share the matrix; NULL: none */
  int32_t rows, blocks;    /* of the pattern */
  bool has_matrix;         /* set_matrix was called and did not fail */
  eb_reason matrix_reason; /* its outcome */
};

static eb_error find_kind(const char *name, const eb_linear_kind **out) {
  const char *names[KINDS];
  for (int k = 0; k < KINDS; k++) {
    names[k] = kinds[k]->name;
    if (name && strcmp(name, names[k]) == 0) {
      *out = kinds[k];
      return kinds[k]->load ? kinds[k]->load(out) : EB_OK;
    }
  }
  return eb_unknown(EB_ERR_USAGE, name ? name : "", names, KINDS, "there is no linear solver");
}

/* Tolerances mean nothing to the direct kinds, whose residual is what rounding leaves. rtol = 0
 * with atol = 0 is allowed: conjugate gradients then end where the true residual stops falling. */
static eb_error check_settings(const eb_linear_kind *kind, const eb_linear_settings *settings) {
  if (settings->threads < 1)
    return EB_ERROR(EB_ERR_USAGE, "linear solver: threads is %d, must be at least 1",
                    settings->threads);
  if (settings->part && !kind->by_parts)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "linear solver '%s' cannot share a matrix between ranks; linear=petsc can, and "
                    "is the default with ranks > 1",
                    kind->name);
  if (kind->direct) return EB_OK;
  if (!(settings->rtol >= 0 && settings->rtol < 1))
    return EB_ERROR(EB_ERR_USAGE, "linear solver '%s': rtol is %g, must be in [0, 1)",
                    settings->kind, settings->rtol);
  if (!(settings->atol >= 0 && isfinite(settings->atol)))
    return EB_ERROR(EB_ERR_USAGE, "linear solver '%s': atol is %g, must be finite and not negative",
                    settings->kind, settings->atol);
  if (settings->max_iterations < 1 || settings->max_iterations > INT32_MAX)
    return EB_ERROR(EB_ERR_USAGE, "linear solver '%s': max_iterations is %lld, must be in 1..%d",
                    settings->kind, (long long)settings->max_iterations, INT32_MAX);
  return EB_OK;
}

/* The number of threads the caller has set, to be given back.
 *
 * OpenMP's number of threads belongs to the calling thread: set around each call and given back,
 * two solvers with different numbers can be used in turn, and the caller's own regions keep
 * theirs. */
static int enter(int threads) {
  int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  return before;
}

eb_error eb_linear_create(const eb_linear_settings *settings, const eb_block_matrix *pattern,
                          eb_step_log *log, eb_linear **out) {
  EB_ASSERT(settings->kind && pattern && out);
  const eb_linear_kind *kind = NULL;
  *out = NULL;
  EB_TRY(find_kind(settings->kind, &kind));
  EB_TRY(check_settings(kind, settings));
  if (pattern->rows < 1)
    return EB_ERROR(EB_ERR_INVALID,
                    "linear solver: the matrix has no rows; give a mesh with nodes");
  if (pattern->rows > INT32_MAX / 3)
    return EB_ERROR(EB_ERR_LIMIT, "linear solver: %d nodes are more than the %d that it can index",
                    pattern->rows, INT32_MAX / 3);
  eb_linear *linear;
  EB_TRY(EB_NEW(linear, 1));
  linear->kind = kind;
  linear->threads = settings->threads;
  linear->ranks = settings->part ? settings->part->ranks : NULL;
  linear->rows = pattern->rows;
  linear->blocks = pattern->start[pattern->rows];
  int before = enter(linear->threads);
  eb_error mine = kind->create(settings, pattern, log, &linear->data);
  bool created = !mine;
  eb_error error = eb_ranks_agree(linear->ranks, mine);
  if (error && created) kind->destroy(linear->data);
  omp_set_num_threads(before);
  if (error) {
    free(linear);
    return eb_error_prefix(error, "linear solver '%s'", kind->name);
  }
  *out = linear;
  return EB_OK;
}

eb_error eb_linear_set_matrix(eb_linear *linear, const eb_block_matrix *A, eb_step_log *log,
                              eb_reason *reason) {
  EB_ASSERT(linear && A && A->values && reason);
  *reason = EB_DIVERGED_LIBRARY;
  linear->has_matrix = false;
  if (A->rows != linear->rows || A->start[A->rows] != linear->blocks)
    return EB_ERROR(EB_ERR_INVALID,
                    "linear solver '%s': the matrix has %d rows and %d blocks, the pattern it was "
                    "created for %d and %d; create a new solver for a new pattern",
                    linear->kind->name, A->rows, A->start[A->rows], linear->rows, linear->blocks);
  int before = enter(linear->threads);
  eb_log_begin(log, EB_PHASE_FACTOR);
  eb_error error =
      eb_ranks_agree(linear->ranks, linear->kind->set_matrix(linear->data, A, log, reason));
  eb_log_end(log, EB_PHASE_FACTOR);
  omp_set_num_threads(before);
  if (error) return eb_error_prefix(error, "linear solver '%s'", linear->kind->name);
  linear->has_matrix = true;
  linear->matrix_reason = *reason;
  return EB_OK;
}

eb_error eb_linear_solve(eb_linear *linear, const double *b, double *x, eb_step_log *log,
                         bool log_residuals, eb_linear_result *result) {
  EB_ASSERT(linear && b && x && result);
  *result = (eb_linear_result){.reason = EB_DIVERGED_LIBRARY, .residual = -1};
  if (!linear->has_matrix)
    return EB_ERROR(EB_ERR_INVALID,
                    "linear solver '%s': solve was called before a matrix was set; call "
                    "eb_linear_set_matrix first",
                    linear->kind->name);
  /* A matrix that could not be factored is an outcome, not an error: every solve with it has
   * that same outcome, and x stays what it was. */
  result->reason = linear->matrix_reason;
  if (linear->matrix_reason < 0) return EB_OK;
  int before = enter(linear->threads);
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_error error =
      eb_ranks_agree(linear->ranks, linear->kind->solve(linear->data, b, x, log,
                                                        log_residuals && log != NULL, result));
  eb_log_end(log, EB_PHASE_SOLVE);
  omp_set_num_threads(before);
  if (error) return eb_error_prefix(error, "linear solver '%s'", linear->kind->name);
  eb_log_count(log, EB_COUNT_SOLVES, 1);
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, (double)result->iterations);
  return EB_OK;
}

void eb_linear_destroy(eb_linear *linear) {
  if (!linear) return;
  linear->kind->destroy(linear->data);
  free(linear);
}
