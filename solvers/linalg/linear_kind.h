/* What a kind of linear solver provides to the front in linear.c. Inside solvers/linalg only.
 *
 * The front has checked settings, pattern and call order before any of these is called; threads are
 * set. */
#ifndef EB_LINALG_LINEAR_KIND_H
#define EB_LINALG_LINEAR_KIND_H

#include "solvers/linalg/linear.h"

typedef struct eb_linear_kind {
  const char *name;
  bool direct;   /* has no tolerances and no limit of iterations */
  bool by_parts; /* serves matrices that ranks share */
  eb_error (*create)(const eb_linear_settings *settings, const eb_block_matrix *pattern,
                     eb_step_log *log, void **data);
  eb_error (*set_matrix)(void *data, const eb_block_matrix *A, eb_step_log *log, eb_reason *reason);
  eb_error (*solve)(void *data, const double *b, double *x, eb_step_log *log, bool log_residuals,
                    eb_linear_result *result);
  void (*destroy)(void *data);
  /* Only of a kind that is in a shared object (solvers/petsc/loader.c), with the name alone beside:
   * the kind itself. */
  eb_error (*load)(const struct eb_linear_kind **out);
} eb_linear_kind;

extern const eb_linear_kind eb_linear_cg, eb_linear_cholesky, eb_linear_cholesky_single,
    eb_linear_cholmod, eb_linear_petsc;

#endif
