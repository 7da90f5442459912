/* Steps that the tests of the linear solvers share. */
#ifndef EB_TESTS_LINEAR_CHECK_H
#define EB_TESTS_LINEAR_CHECK_H

#include "solvers/linalg/linear.h"

/* Creates a solver, sets A, solves for x (initial guess on entry), destroys it. *matrix_reason,
 * when not NULL, receives the outcome of set_matrix. Ends the program on an error. */
eb_linear_result eb_test_solve(const eb_linear_settings *settings, const eb_block_matrix *A,
                               const double *b, double *x, eb_step_log *log,
                               eb_reason *matrix_reason);
/* The same from a zero guess, passing errors on. */
eb_error eb_test_try_solve(const eb_linear_settings *settings, const eb_block_matrix *A,
                           const double *b, double *x, eb_step_log *log, eb_reason *matrix_reason,
                           eb_linear_result *result);
/* LAPACK's solution of A x = b. Ends the program when A is not positive definite. */
void eb_test_reference(const eb_block_matrix *A, const double *b, double *x);
/* max |x - y| / max |y| */
double eb_test_distance(int64_t n, const double *x, const double *y);

#endif
