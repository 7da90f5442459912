/* Triangular solves for the columns that a condensation onto ten nodes has: three a node with
 * entries at its neighbours, and one with entries everywhere. */
#include <omp.h>

#include "harness/bench/bench_matrix.h"
#include "harness/bench/tables.h"
#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal.h"

enum { NODES = 10, SIDES = 3 * NODES + 1, STRIDE = 32 };

typedef struct sides {
  eb_bench_matrix matrix;
  eb_multifrontal *one, *two; /* threads */
  /* The right-hand sides by rows and by columns; columns with entries everywhere; the solutions. */
  double *rows, *columns, *full, *x;
} sides;

static void clear(void *context) {
  sides *d = context;
  eb_multifrontal_destroy(d->one);
  eb_multifrontal_destroy(d->two);
  eb_bench_matrix_clear(&d->matrix);
  free(d->rows);
  free(d->columns);
  free(d->full);
  free(d->x);
  free(d);
}

static eb_error create_factor(const sides *d, int threads, eb_multifrontal **out) {
  eb_multifrontal_settings settings = {.threads = threads};
  eb_reason reason;
  EB_TRY(eb_multifrontal_create(&settings, d->matrix.A, NULL, out));
  EB_TRY(eb_multifrontal_factor(*out, d->matrix.A, NULL, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  return EB_OK;
}

/* The nodes are spread evenly over the numbering. */
static void fill(sides *d) {
  const eb_block_matrix *A = d->matrix.A;
  int64_t n = d->matrix.n;
  for (int32_t k = 0; k < NODES; k++) {
    int32_t node = (int32_t)((int64_t)A->rows * k / NODES);
    for (int32_t b = A->start[node]; b < A->start[node + 1]; b++)
      for (int e = 0; e < 9; e++)
        d->columns[(3 * k + e / 3) * n + 3 * (int64_t)A->column[b] + e % 3] =
            A->values[9 * (int64_t)b + e];
  }
  for (int64_t k = 0; k < SIDES * n; k++) d->full[k] = (double)((k * 7919) % 1009) - 504;
  for (int64_t i = 0; i < n; i++) d->columns[(SIDES - 1) * n + i] = d->full[i];
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < SIDES; r++) d->rows[i * STRIDE + r] = d->columns[r * n + i];
}

static eb_error prepare(sides *d) {
  EB_TRY(eb_bench_matrix_create(&eb_body_dragon, &d->matrix));
  EB_TRY(create_factor(d, 1, &d->one));
  EB_TRY(create_factor(d, 2, &d->two));
  EB_TRY(EB_NEW(d->rows, STRIDE * d->matrix.n));
  EB_TRY(EB_NEW(d->columns, SIDES * d->matrix.n));
  EB_TRY(EB_NEW(d->full, SIDES * d->matrix.n));
  EB_TRY(EB_NEW(d->x, STRIDE * d->matrix.n));
  fill(d);
  return EB_OK;
}

static eb_error set_up(void **context, double *work) {
  sides *d;
  EB_TRY(EB_NEW(d, 1));
  eb_error error = prepare(d);
  if (error) {
    clear(d);
    return error;
  }
  *work = 1;
  *context = d;
  return EB_OK;
}

/* ---- what is timed; errors cannot occur that the same calls during set-up did not raise ---- */

static eb_multifrontal *factor_of(const sides *d) {
  return omp_get_max_threads() > 1 ? d->two : d->one;
}

static void run_rows(void *context) {
  sides *d = context;
  eb_reason reason;
  eb_error_free(
      eb_multifrontal_solve_rows(factor_of(d), SIDES, STRIDE, d->rows, d->x, NULL, &reason));
}

static void solve_columns(sides *d, int32_t count, const double *b) {
  eb_reason reason;
  eb_error_free(eb_multifrontal_solve(factor_of(d), count, b, d->x, NULL, &reason));
}

static void run_columns(void *context) {
  solve_columns(context, SIDES, ((sides *)context)->columns);
}

static void run_full(void *context) {
  solve_columns(context, SIDES, ((sides *)context)->full);
}

static void run_one(void *context) {
  solve_columns(context, 1, ((sides *)context)->full);
}

static void run_factor(void *context) {
  sides *d = context;
  eb_reason reason;
  eb_error_free(eb_multifrontal_factor(factor_of(d), d->matrix.A, NULL, &reason));
}

static const eb_bench_peer peers[] = {{"by columns", 1.0, run_columns},
                                      {"entries everywhere, by columns", 1.2, run_full},
                                      {"one column", 0, run_one},
                                      {"the factorization", 0, run_factor},
                                      {0}};
_Static_assert(EB_BENCH_PEERS == 4, "four peers");

const eb_bench_case eb_bench_sides[] = {{.name = "cholesky-solve-sparse-31/dragon",
                                         .unit = "solve",
                                         .measure = EB_BENCH_TIME,
                                         .scales_with = "dgemm",
                                         .setup = set_up,
                                         .run = run_rows,
                                         .clear = clear,
                                         .peers = peers},
                                        {0}};
