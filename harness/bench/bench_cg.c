/* Iterations of conjugate gradients on hecht2012/sculpture-medium (24 MB of matrix) and on
 * bench/beam (3 MB, in cache), one thread and two, beside the triad of as many: an iteration is a
 * stream through A, through as much again for IC, and through vectors. */
#include <omp.h>
#include <string.h>

#include "harness/bench/bench.h"
#include "harness/bench/bench_matrix.h"
#include "problems/base/memory.h"
#include "solvers/linalg/linear.h"

enum { ITERATIONS = 20, MOST_THREADS = 2 };

typedef struct cg_of {
  const eb_bench_body *body;
  const char *preconditioner;
} cg_of;

typedef struct cg_bench {
  eb_bench_matrix matrix;
  eb_linear *linear[MOST_THREADS]; /* on one thread, on two */
  double *b, *x;
} cg_bench;

static void clear(void *context) {
  cg_bench *c = context;
  for (int k = 0; k < MOST_THREADS; k++) eb_linear_destroy(c->linear[k]);
  free(c->b);
  free(c->x);
  eb_bench_matrix_clear(&c->matrix);
}

static eb_error create_linear(const cg_bench *c, const char *preconditioner, int threads,
                              eb_linear **out) {
  const eb_linear_settings settings = {.kind = "cg",
                                       .preconditioner = preconditioner,
                                       .max_iterations = ITERATIONS,
                                       .threads = threads};
  eb_reason reason;
  EB_TRY(eb_linear_create(&settings, c->matrix.A, NULL, out));
  EB_TRY(eb_linear_set_matrix(*out, c->matrix.A, NULL, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  return EB_OK;
}

/* Work: bytes, with A counted as it is given, and once; x, r, p and z are read and written, r and p
 * read twice more, q is written and read twice, and Jacobi's diagonal read: 14 vectors. IC: its
 * blocks once, its vector written, read and written, and read. */
static eb_error set_up(void *context, const void *of, double *work) {
  cg_bench *c = context;
  const cg_of *what = of;
  EB_TRY(eb_bench_matrix_create(what->body, &c->matrix));
  EB_TRY(EB_NEW(c->b, c->matrix.n));
  EB_TRY(EB_NEW(c->x, c->matrix.n));
  eb_bench_fill_sides(c->matrix.n, c->b);
  for (int k = 0; k < MOST_THREADS; k++)
    EB_TRY(create_linear(c, what->preconditioner, k + 1, &c->linear[k]));
  const bool ic = strcmp(what->preconditioner, "ic") == 0;
  const double blocks = c->matrix.A->start[c->matrix.A->rows], rows = c->matrix.A->rows;
  const double matrices = ic ? 2 * blocks + rows : blocks, vectors = ic ? 17 : 14;
  *work = ITERATIONS * (76 * matrices + 24 * vectors * rows);
  return EB_OK;
}

/* Errors cannot occur here that the same calls during set-up did not raise. `threads`: 0 for as
 * many as the runner has set. */
static void run(void *context, int threads) {
  cg_bench *c = context;
  eb_linear_result result;
  if (threads == 0) threads = omp_get_max_threads() < MOST_THREADS ? 1 : MOST_THREADS;
  memset(c->x, 0, (size_t)c->matrix.n * sizeof *c->x);
  eb_error_free(eb_linear_solve(c->linear[threads - 1], c->b, c->x, NULL, false, &result));
}

/* Of the one-thread case, the runner takes the speed-up on two against the triad's. */
#define CG(name_, body_, preconditioner_)                                                          \
  {.name = "cg-step/" name_,                                                                       \
   .unit = "bytes",                                                                                \
   .measure = EB_BENCH_BANDWIDTH,                                                                  \
   .scales_with = "triad",                                                                         \
   .bytes = sizeof(cg_bench),                                                                      \
   .of = &(const cg_of){&body_, preconditioner_},                                                  \
   .setup = set_up,                                                                                \
   .run = run,                                                                                     \
   .which = 0,                                                                                     \
   .clear = clear},                                                                                \
  {                                                                                                \
    .name = "cg-step/" name_ "-two", .unit = "bytes", .measure = EB_BENCH_BANDWIDTH,               \
    .bytes = sizeof(cg_bench), .of = &(const cg_of){&body_, preconditioner_}, .setup = set_up,     \
    .run = run, .which = 2, .clear = clear, .threads = 2, .peers = (const eb_bench_peer[]) {       \
      {"one thread", 0, run, 1}, {                                                                 \
        0                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }

const eb_bench_case eb_bench_cg[] = {CG("sculpture-jacobi", eb_body_sculpture, "jacobi"),
                                     CG("sculpture-ic", eb_body_sculpture, "ic"),
                                     CG("beam-jacobi", eb_body_beam, "jacobi"),
                                     CG("beam-ic", eb_body_beam, "ic"),
                                     {0}};
