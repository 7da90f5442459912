/* Kernels of the linear algebra: products, dots, and conjugate gradients, whose iteration is a
 * stream through A, through as much again for IC, and through vectors. Iterations are timed on the
 * clamped beam, and set beside the triad, on one thread and two, on hecht2012/sculpture-medium (24
 * MB of matrix) and on the beam (3 MB, in cache). */
#include <omp.h>
#include <string.h>

#include "harness/bench/bench.h"
#include "harness/bench/bench_matrix.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/linear.h"

enum { MOST_THREADS = 2, ITERATIONS = 50, STREAMED_ITERATIONS = 20 };

/* What a case does not need stays NULL. */
typedef struct algebra {
  eb_bench_matrix matrix;
  eb_linear *linear[MOST_THREADS]; /* on one thread, on two */
  int64_t n;
  double *b, *x;
  double sum; /* keeps results alive */
} algebra;

static void clear(void *context) {
  algebra *a = context;
  for (int k = 0; k < MOST_THREADS; k++) eb_linear_destroy(a->linear[k]);
  free(a->b);
  free(a->x);
  eb_bench_matrix_clear(&a->matrix);
}

static eb_error create_sides(algebra *a, int64_t n) {
  a->n = n;
  EB_TRY(EB_NEW(a->b, n));
  EB_TRY(EB_NEW(a->x, n));
  eb_bench_fill_sides(n, a->b);
  return EB_OK;
}

static eb_error create_system(algebra *a, const eb_bench_body *body) {
  EB_TRY(eb_bench_matrix_create(body, &a->matrix));
  return create_sides(a, a->matrix.n);
}

/* ---- product and dot ------------------------------------------------------------------------- */

/* Bytes: the matrix once, x once, y once. */
static eb_error set_up_product(void *context, const void *of, double *work) {
  algebra *a = context;
  EB_TRY(create_system(a, of));
  const eb_block_matrix *A = a->matrix.A;
  *work = (9 * 8 + 4) * (double)A->start[A->rows] + (4 + 24 + 24) * (double)A->rows;
  return EB_OK;
}

static void run_product(void *context, int which) {
  algebra *a = context;
  (void)which;
  eb_block_multiply(a->matrix.A, a->b, a->x);
}

/* Vectors of 96 MB together, without a mesh. */
static eb_error set_up_dot(void *context, const void *of, double *work) {
  algebra *a = context;
  (void)of;
  EB_TRY(create_sides(a, 6 << 20));
  for (int64_t k = 0; k < a->n; k++) a->x[k] = a->b[k] = 1e-3 * (double)(k % 1000);
  *work = 16 * (double)a->n;
  return EB_OK;
}

static void run_dot(void *context, int which) {
  algebra *a = context;
  (void)which;
  a->sum += eb_dot(a->n, a->x, a->b);
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

typedef struct cg_of {
  const eb_bench_body *body;
  const char *preconditioner;
  int iterations;
} cg_of;

static eb_error create_linear(const algebra *a, const cg_of *of, int threads, eb_linear **out) {
  const eb_linear_settings settings = {.kind = "cg",
                                       .preconditioner = of->preconditioner,
                                       .max_iterations = of->iterations,
                                       .threads = threads};
  eb_reason reason;
  EB_TRY(eb_linear_create(&settings, a->matrix.A, NULL, out));
  EB_TRY(eb_linear_set_matrix(*out, a->matrix.A, NULL, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  return EB_OK;
}

static eb_error set_up_factor(void *context, const void *of, double *work) {
  algebra *a = context;
  const cg_of *what = of;
  (void)work;
  EB_TRY(create_system(a, what->body));
  for (int k = 0; k < MOST_THREADS; k++) EB_TRY(create_linear(a, what, k + 1, &a->linear[k]));
  return EB_OK;
}

static eb_error set_up_iterations(void *context, const void *of, double *work) {
  *work = ((const cg_of *)of)->iterations;
  return set_up_factor(context, of, work);
}

/* Work: bytes, with A counted as it is given, and once; x, r, p and z are read and written, r and p
 * read twice more, q is written and read twice, and Jacobi's diagonal read: 14 vectors. IC: its
 * blocks once, its vector written, read and written, and read. */
static eb_error set_up_stream(void *context, const void *of, double *work) {
  const cg_of *what = of;
  EB_TRY(set_up_factor(context, of, work));
  const eb_block_matrix *A = ((algebra *)context)->matrix.A;
  const bool ic = strcmp(what->preconditioner, "ic") == 0;
  const double blocks = A->start[A->rows], rows = A->rows;
  const double matrices = ic ? 2 * blocks + rows : blocks, vectors = ic ? 17 : 14;
  *work = what->iterations * (76 * matrices + 24 * vectors * rows);
  return EB_OK;
}

/* Errors cannot occur here that the same calls during set-up did not raise. */

static void run_factor(void *context, int which) {
  algebra *a = context;
  eb_reason reason;
  (void)which;
  eb_error_free(eb_linear_set_matrix(a->linear[0], a->matrix.A, NULL, &reason));
}

/* `threads`: 0 for as many as the runner has set. */
static void run_cg(void *context, int threads) {
  algebra *a = context;
  eb_linear_result result;
  if (threads == 0) threads = omp_get_max_threads() < MOST_THREADS ? 1 : MOST_THREADS;
  memset(a->x, 0, (size_t)a->n * sizeof *a->x);
  eb_error_free(eb_linear_solve(a->linear[threads - 1], a->b, a->x, NULL, false, &result));
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define ALGEBRA(name_, unit_, measure_, of_, setup_, run_)                                         \
  .name = name_, .unit = unit_, .measure = measure_, .bytes = sizeof(algebra), .of = of_,          \
  .setup = setup_, .run = run_, .clear = clear
#define ON_BEAM(preconditioner_)                                                                   \
  &(const cg_of) {                                                                                 \
    &eb_body_clamped_beam, preconditioner_, ITERATIONS                                             \
  }
#define CG(preconditioner_)                                                                        \
  {                                                                                                \
    ALGEBRA("cg-iteration/" preconditioner_, "iteration", EB_BENCH_TIME, ON_BEAM(preconditioner_), \
            set_up_iterations, run_cg)                                                             \
  }
/* Of the one-thread case, the runner takes the speed-up on two against the triad's. */
#define STREAM(body_, preconditioner_, suffix_)                                                    \
  ALGEBRA("cg-step/" #body_ "-" preconditioner_ suffix_, "bytes", EB_BENCH_BANDWIDTH,              \
          (&(const cg_of){&eb_body_##body_, preconditioner_, STREAMED_ITERATIONS}), set_up_stream, \
          run_cg)
#define STREAMS(body_, preconditioner_)                                                            \
  {STREAM(body_, preconditioner_, ""), .scales_with = "triad"}, {                                  \
    STREAM(body_, preconditioner_, "-two"), .which = 2, .threads = 2, .peers = one_thread          \
  }

static const eb_bench_peer one_thread[] = {{"one thread", 0, run_cg, 1}, {0}};

/* The product's target is that of the project's specification. */
const eb_bench_case eb_bench_linalg[] = {
    {ALGEBRA("block-multiply", "products", EB_BENCH_BANDWIDTH, &eb_body_clamped_block,
             set_up_product, run_product),
     .target = 0.70, .scales_with = "triad"},
    {ALGEBRA("dot", "products", EB_BENCH_BANDWIDTH, NULL, set_up_dot, run_dot),
     .scales_with = "triad"},
    {ALGEBRA("ic-factor/beam", "factor", EB_BENCH_TIME, ON_BEAM("ic"), set_up_factor, run_factor)},
    CG("jacobi"),
    CG("block-jacobi"),
    CG("ic"),
    STREAMS(sculpture, "jacobi"),
    STREAMS(sculpture, "ic"),
    STREAMS(beam, "jacobi"),
    STREAMS(beam, "ic"),
    {0}};
