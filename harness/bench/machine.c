/* The two limits that kernels are judged by.
 *
 * DGEMM: C = A B with OpenBLAS on one thread, ORDER^3 each, operands of its own for every thread.
 * Triad: a = b + s c (McCalpin 1995), each thread its own part of three arrays that together are
 * three times the last-level cache, however many threads share them; counted as STREAM does, 24
 * bytes an entry, so the line that a store first reads is not counted. */
#include "harness/bench/machine.h"

#include <cblas.h>
#include <omp.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"

enum { ORDER = 384, PER_MATRIX = ORDER * ORDER };

static const double target_seconds = 0.02;

struct eb_machine {
  int threads;
  int64_t length;   /* of a triad array */
  double *matrices; /* 3 PER_MATRIX a thread */
  double *arrays;   /* 3 length */
  int dgemm_repeats, triad_repeats;
};

/* Each array as large as the last-level cache, and at least 32 MiB. */
static int64_t triad_length(void) {
  const int64_t least = (int64_t)1 << 22;
  int64_t length = sysconf(_SC_LEVEL3_CACHE_SIZE) / (int64_t)sizeof(double);
  return length > least ? length : least;
}

static void dgemm(const eb_machine *machine, int thread) {
  double *a = machine->matrices + 3 * (int64_t)PER_MATRIX * thread;
  double *b = a + PER_MATRIX, *c = b + PER_MATRIX;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, a, ORDER, b, ORDER,
              0, c, ORDER);
}

/* The part of the arrays that belongs to a thread of a team. */
static void triad(const eb_machine *machine, int thread, int team) {
  int64_t from = machine->length * thread / team, to = machine->length * (thread + 1) / team;
  double *restrict a = machine->arrays;
  const double *restrict b = a + machine->length, *restrict c = b + machine->length;
  for (int64_t k = from; k < to; k++) a[k] = b[k] + 3.0 * c[k];
}

typedef enum kernel { DGEMM, TRIAD } kernel;

/* Seconds that `*threads` threads take for `repeats` runs each, started together. *threads becomes
 * the number that OpenMP gave. */
static double measure(const eb_machine *machine, kernel which, int *threads, int repeats) {
  int blas = openblas_get_num_threads(), openmp = omp_get_max_threads();
  double began = 0, ended = 0;
  openblas_set_num_threads(1);
#pragma omp parallel num_threads(*threads)
  {
    const int thread = omp_get_thread_num(), team = omp_get_num_threads();
#pragma omp barrier
#pragma omp master
    began = eb_wall_seconds();
    for (int k = 0; k < repeats; k++) {
      if (which == DGEMM)
        dgemm(machine, thread);
      else
        triad(machine, thread, team);
    }
#pragma omp barrier
#pragma omp master
    {
      ended = eb_wall_seconds();
      *threads = team;
    }
  }
  openblas_set_num_threads(blas); /* sets OpenMP's number as well */
  omp_set_num_threads(openmp);
  return ended - began;
}

static int repeats_for(const eb_machine *machine, kernel which) {
  int one = 1;
  measure(machine, which, &one, 1); /* wakes OpenBLAS and the clock up */
  double once = measure(machine, which, &one, 1);
  return once < target_seconds ? (int)(target_seconds / once) + 1 : 1;
}

static eb_error allocate(eb_machine *machine) {
  int64_t entries = 3 * (int64_t)PER_MATRIX * machine->threads;
  EB_TRY(EB_NEW(machine->matrices, entries));
  EB_TRY(EB_NEW(machine->arrays, 3 * machine->length));
  for (int64_t k = 0; k < entries; k++) machine->matrices[k] = 1 + 1e-3 * (double)(k % 17);
  for (int64_t k = 0; k < 3 * machine->length; k++) machine->arrays[k] = 1;
  return EB_OK;
}

eb_error eb_machine_create(int threads, eb_machine **out) {
  *out = NULL;
  if (threads < 1)
    return EB_ERROR(EB_ERR_USAGE, "machine: %d threads asked for, at least 1 is needed", threads);
  eb_machine *machine;
  EB_TRY(EB_NEW(machine, 1));
  machine->threads = threads;
  machine->length = triad_length();
  eb_error error = allocate(machine);
  if (error) {
    eb_machine_destroy(machine);
    return eb_error_prefix(error, "machine benchmark");
  }
  machine->dgemm_repeats = repeats_for(machine, DGEMM);
  machine->triad_repeats = repeats_for(machine, TRIAD);
  *out = machine;
  return EB_OK;
}

static int bounded(const eb_machine *machine, int threads) {
  return threads < 1 ? 1 : threads > machine->threads ? machine->threads : threads;
}

double eb_machine_dgemm(eb_machine *machine, int threads) {
  int team = bounded(machine, threads);
  double seconds = measure(machine, DGEMM, &team, machine->dgemm_repeats);
  return 2.0 * ORDER * PER_MATRIX * team * machine->dgemm_repeats / seconds;
}

double eb_machine_triad(eb_machine *machine, int threads) {
  int team = bounded(machine, threads);
  double seconds = measure(machine, TRIAD, &team, machine->triad_repeats);
  return 24.0 * (double)machine->length * machine->triad_repeats / seconds;
}

void eb_machine_destroy(eb_machine *machine) {
  if (!machine) return;
  free(machine->matrices);
  free(machine->arrays);
  free(machine);
}
