#include "solvers/linalg/one_thread.h"

#include <cblas.h>
#include <omp.h>

eb_one_thread eb_one_thread_begin(void) {
  eb_one_thread before = {omp_get_max_active_levels(), openblas_get_num_threads()};
  omp_set_max_active_levels(0);
  openblas_set_num_threads(1);
  return before;
}

void eb_one_thread_end(eb_one_thread before) {
  openblas_set_num_threads(before.blas_threads);
  omp_set_max_active_levels(before.active_levels);
}
