/* Brackets around calls into libraries that would open OpenMP teams of their own. */
#ifndef EB_LINALG_ONE_THREAD_H
#define EB_LINALG_ONE_THREAD_H

/* What to restore. */
typedef struct eb_one_thread {
  int active_levels, threads, blas_threads;
} eb_one_thread;

/* Until the end call, parallel regions entered by this thread have a team of one and OpenBLAS uses
 * one thread.
 *
 * Why: Debian's CHOLMOD opens a team of four threads, whatever omp_set_num_threads says, for loops
 * of some microseconds inside every supernode; on two cores its factorization then takes 2 to 4
 * times as long. With no active level allowed its regions run on the calling thread, as
 * OMP_THREAD_LIMIT=1 in the environment would make them. OpenBLAS on two threads inside the
 * supernodes gained nothing in any setting that was measured. */
eb_one_thread eb_one_thread_begin(void);
void eb_one_thread_end(eb_one_thread before);

#endif
