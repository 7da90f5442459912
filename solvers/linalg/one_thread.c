#include "solvers/linalg/one_thread.h"

#include <cblas.h>
#include <omp.h>

/* Three settings, as a library may open a team in three ways: by a region of its own, which
 * takes the number of threads; by one with a num_threads clause, which overrides the number but
 * not the levels that may be active; by OpenBLAS' own count. */
eb_one_thread eb_one_thread_begin(void) {
  eb_one_thread before = {.active_levels = omp_get_max_active_levels(),
                          .threads = omp_get_max_threads(),
                          .blas_threads = openblas_get_num_threads()};
  omp_set_max_active_levels(0);
  openblas_set_num_threads(1);
  return before;
}

void eb_one_thread_end(eb_one_thread before) {
  openblas_set_num_threads(before.blas_threads); /* sets OpenMP's number as well */
  omp_set_num_threads(before.threads);
  omp_set_max_active_levels(before.active_levels);
}
