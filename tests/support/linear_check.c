#include "tests/support/linear_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/block_systems.h"
#include "tests/support/dense.h"

static eb_error use(eb_linear *linear, const eb_block_matrix *A, const double *b, double *x,
                    eb_step_log *log, eb_reason *matrix_reason, eb_linear_result *result) {
  EB_TRY(eb_linear_set_matrix(linear, A, log, matrix_reason));
  return eb_linear_solve(linear, b, x, log, true, result);
}

eb_error eb_test_try_solve(const eb_linear_settings *settings, const eb_block_matrix *A,
                           const double *b, double *x, eb_step_log *log, eb_reason *matrix_reason,
                           eb_linear_result *result) {
  eb_linear *linear = NULL;
  memset(x, 0, 3 * (size_t)A->rows * sizeof *x);
  EB_TRY(eb_linear_create(settings, A, log, &linear));
  eb_error error = use(linear, A, b, x, log, matrix_reason, result);
  eb_linear_destroy(linear);
  return error;
}

static void require(eb_error error) {
  if (!error) return;
  printf("Bail out! %s\n", eb_error_message(error));
  exit(1);
}

eb_linear_result eb_test_solve(const eb_linear_settings *settings, const eb_block_matrix *A,
                               const double *b, double *x, eb_step_log *log,
                               eb_reason *matrix_reason) {
  eb_linear *linear = NULL;
  eb_reason reason = EB_RUNNING;
  eb_linear_result result = {.reason = EB_RUNNING};
  require(eb_linear_create(settings, A, log, &linear));
  require(use(linear, A, b, x, log, &reason, &result));
  eb_linear_destroy(linear);
  if (matrix_reason) *matrix_reason = reason;
  return result;
}

void eb_test_reference(const eb_block_matrix *A, const double *b, double *x) {
  double *dense = dense_of_blocks(A);
  memcpy(x, b, 3 * (size_t)A->rows * sizeof *x);
  int info = eb_test_dense_solve(3 * A->rows, dense, x);
  free(dense);
  if (info == 0) return;
  printf("Bail out! LAPACK: minor %d is not positive definite\n", info);
  exit(1);
}

double eb_test_distance(int64_t n, const double *x, const double *y) {
  double largest = 0, scale = 0;
  for (int64_t k = 0; k < n; k++) {
    largest = fmax(largest, fabs(x[k] - y[k]));
    if (isnan(x[k])) return NAN;
    scale = fmax(scale, fabs(y[k]));
  }
  return largest / scale;
}
