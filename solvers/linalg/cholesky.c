/* A = L L^T by the project's own multifrontal factorization, then two triangular solves:
 * linear=cholesky, and linear=cholesky-single with the factor in floats and solutions refined to
 * double accuracy.
 *
 * The factor in floats takes half of the memory and about half of the time of the other, and a
 * solve is repeated until it is refined: worth it where a factor serves few solves, and A is well
 * enough conditioned.
 *
 * Reference, workspace and failures: multifrontal.h. Every matrix is factored anew, so update
 * matrices are not kept; solvers that refactor in parts use multifrontal.h directly. */
#include "solvers/linalg/linear_kind.h"
#include "solvers/linalg/multifrontal.h"

static eb_error create(bool single_precision, const eb_linear_settings *settings,
                       const eb_block_matrix *pattern, eb_step_log *log, void **data) {
  const eb_multifrontal_settings own = {.single_precision = single_precision,
                                        .threads = settings->threads};
  eb_multifrontal *factor = NULL;
  EB_TRY(eb_multifrontal_create(&own, pattern, log, &factor));
  *data = factor;
  return EB_OK;
}

static eb_error create_double(const eb_linear_settings *settings, const eb_block_matrix *pattern,
                              eb_step_log *log, void **data) {
  return create(false, settings, pattern, log, data);
}

static eb_error create_single(const eb_linear_settings *settings, const eb_block_matrix *pattern,
                              eb_step_log *log, void **data) {
  return create(true, settings, pattern, log, data);
}

static eb_error set_matrix(void *data, const eb_block_matrix *A, eb_step_log *log,
                           eb_reason *reason) {
  return eb_multifrontal_factor(data, A, log, reason);
}

static eb_error solve(void *data, const double *b, double *x, eb_step_log *log, bool log_residuals,
                      eb_linear_result *result) {
  (void)log_residuals;
  result->residual = -1;
  return eb_multifrontal_solve(data, 1, b, x, log, &result->reason);
}

static void destroy(void *data) {
  eb_multifrontal_destroy(data);
}

const eb_linear_kind eb_linear_cholesky = {.name = "cholesky",
                                           .direct = true,
                                           .create = create_double,
                                           .set_matrix = set_matrix,
                                           .solve = solve,
                                           .destroy = destroy};
const eb_linear_kind eb_linear_cholesky_single = {.name = "cholesky-single",
                                                  .direct = true,
                                                  .create = create_single,
                                                  .set_matrix = set_matrix,
                                                  .solve = solve,
                                                  .destroy = destroy};
