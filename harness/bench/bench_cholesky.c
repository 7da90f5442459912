/* The multifrontal factor beside CHOLMOD's supernodal one in the same order of elimination, each as
 * it runs fastest.
 *
 * Rates count the operations of the sparse factor itself; what amalgamation adds to supernodes
 * counts for nobody. CHOLMOD's input is permuted before the clock starts.
 *
 * Then its triangular solves for the columns that a condensation onto ten nodes has: three a node
 * with entries at its neighbours, and one with entries everywhere. */
#include <omp.h>
#include <string.h>

#include "harness/bench/bench_cholmod.h"
#include "harness/bench/bench_matrix.h"
#include "harness/bench/bench.h"
#include "problems/base/memory.h"

/* Factors, and AS_ASKED: on as many threads as the case has. */
enum { ONE, TWO, SINGLE, FACTORS, AS_ASKED = FACTORS };

typedef struct direct {
  eb_bench_matrix matrix;
  eb_multifrontal *ours[FACTORS]; /* on one thread, on two, on one in single precision; or NULL */
  eb_bench_cholmod *peer;         /* or NULL */
  int32_t columns;
  double *b, *x;         /* columns right-hand sides and solutions */
  double *rows, *sparse; /* of the condensation, or NULL: its sides by rows and by columns */
} direct;

static void clear(void *context) {
  direct *d = context;
  for (int k = 0; k < FACTORS; k++) eb_multifrontal_destroy(d->ours[k]);
  eb_bench_cholmod_destroy(d->peer);
  eb_bench_matrix_clear(&d->matrix);
  free(d->b);
  free(d->x);
  free(d->rows);
  free(d->sparse);
}

static eb_error create_factor(direct *d, int which) {
  const eb_multifrontal_settings settings = {.threads = which == TWO ? 2 : 1,
                                             .single_precision = which == SINGLE};
  return eb_bench_matrix_factor(&d->matrix, &settings, &d->ours[which]);
}

/* ---- beside CHOLMOD -------------------------------------------------------------------------- */

typedef struct direct_of {
  const eb_bench_body *body;
  int second; /* which factor besides that on one thread */
  int32_t columns;
  /* What counts: operations of the factorization; bytes of the stored factor, once forward and once
   * backward; operations of the solves; a run. */
  enum { FLOPS, BYTES, SOLVES, RUNS } work;
} direct_of;

static eb_error set_up(void *context, const void *of, double *work) {
  direct *d = context;
  const direct_of *what = of;
  d->columns = what->columns;
  EB_TRY(eb_bench_matrix_create(what->body, &d->matrix));
  EB_TRY(create_factor(d, ONE));
  EB_TRY(create_factor(d, what->second));
  const int32_t *order = eb_multifrontal_supernodes(d->ours[ONE])->order;
  EB_TRY(eb_bench_cholmod_create(d->matrix.A, order, &d->peer));
  eb_bench_cholmod_factor(d->peer, EB_BENCH_ONE);
  EB_TRY(EB_NEW(d->b, d->columns * d->matrix.n));
  EB_TRY(EB_NEW(d->x, d->columns * d->matrix.n));
  eb_bench_fill_sides(d->columns * d->matrix.n, d->b);
  if (what->work == FLOPS) *work = eb_bench_cholmod_flops(d->peer);
  if (what->work == BYTES) *work = 2 * 8 * (double)eb_multifrontal_entries(d->ours[ONE]);
  if (what->work == SOLVES) *work = 4 * d->columns * eb_bench_cholmod_entries(d->peer);
  return EB_OK;
}

/* What is timed; errors cannot occur that the same calls during set-up did not raise. */

static eb_multifrontal *factor_of(const direct *d, int which) {
  return d->ours[which == AS_ASKED ? (omp_get_max_threads() > 1 ? TWO : ONE) : which];
}

static void run_factor(void *context, int which) {
  direct *d = context;
  eb_reason reason;
  eb_error_free(eb_multifrontal_factor(factor_of(d, which), d->matrix.A, NULL, &reason));
}

static void run_solve(void *context, int which) {
  direct *d = context;
  eb_reason reason;
  eb_error_free(eb_multifrontal_solve(factor_of(d, which), d->columns, d->b, d->x, NULL, &reason));
}

static void run_both(void *context, int which) {
  run_factor(context, which);
  run_solve(context, which);
}

static void run_cholmod(void *context, int threads) {
  eb_bench_cholmod_factor(((direct *)context)->peer, (eb_bench_threads)threads);
}

static void run_cholmod_solve(void *context, int which) {
  direct *d = context;
  (void)which;
  eb_bench_cholmod_solve(d->peer, d->columns, d->b, d->x);
}

/* ---- a condensation's columns ---------------------------------------------------------------- */

enum { NODES = 10, SIDES = 3 * NODES + 1, STRIDE = 32 };

/* The nodes are spread evenly over the numbering. */
static eb_error set_up_sides(void *context, const void *of, double *work) {
  direct *d = context;
  (void)work;
  EB_TRY(eb_bench_matrix_create(of, &d->matrix));
  EB_TRY(create_factor(d, ONE));
  EB_TRY(create_factor(d, TWO));
  const eb_block_matrix *A = d->matrix.A;
  int64_t n = d->matrix.n;
  EB_TRY(EB_NEW(d->rows, STRIDE * n));
  EB_TRY(EB_NEW(d->sparse, SIDES * n));
  EB_TRY(EB_NEW(d->b, SIDES * n));
  EB_TRY(EB_NEW(d->x, STRIDE * n));
  for (int32_t k = 0; k < NODES; k++) {
    int32_t node = (int32_t)((int64_t)A->rows * k / NODES);
    for (int32_t b = A->start[node]; b < A->start[node + 1]; b++)
      for (int e = 0; e < 9; e++)
        d->sparse[(3 * k + e / 3) * n + 3 * (int64_t)A->column[b] + e % 3] =
            A->values[9 * (int64_t)b + e];
  }
  eb_bench_fill_sides(SIDES * n, d->b);
  for (int64_t i = 0; i < n; i++) d->sparse[(SIDES - 1) * n + i] = d->b[i];
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < SIDES; r++) d->rows[i * STRIDE + r] = d->sparse[r * n + i];
  return EB_OK;
}

enum { BY_ROWS, BY_COLUMNS, EVERYWHERE, ONE_COLUMN };

static void run_sides(void *context, int which) {
  direct *d = context;
  eb_multifrontal *factor = factor_of(d, AS_ASKED);
  const double *b = which == BY_COLUMNS ? d->sparse : d->b;
  int32_t count = which == ONE_COLUMN ? 1 : SIDES;
  eb_reason reason;
  eb_error_free(which == BY_ROWS ? eb_multifrontal_solve_rows(factor, SIDES, STRIDE, d->rows, d->x,
                                                              NULL, &reason)
                                 : eb_multifrontal_solve(factor, count, b, d->x, NULL, &reason));
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const eb_bench_peer cholmod[] = {{"CHOLMOD", 1.2, run_cholmod, EB_BENCH_ONE}, {0}};
static const eb_bench_peer cholmod_solve[] = {{"CHOLMOD", 0, run_cholmod_solve, 0}, {0}};
/* On two threads: nothing may be slower than on one, and on the larger bodies CHOLMOD at its best
 * takes half as long again. */
#define ON_TWO(target_)                                                                            \
  {                                                                                                \
    {"itself, one thread", 1.0, run_factor, ONE},                                                  \
        {"CHOLMOD, one thread", target_, run_cholmod, EB_BENCH_ONE},                               \
        {"CHOLMOD, teams of two", target_, run_cholmod, EB_BENCH_PAIR},                            \
        {"CHOLMOD, as it comes", target_, run_cholmod, EB_BENCH_AS_IS}, {                          \
      0                                                                                            \
    }                                                                                              \
  }
_Static_assert(EB_BENCH_PEERS == 4, "ON_TWO names four");
static const eb_bench_peer two_large[] = ON_TWO(1.5), two_small[] = ON_TWO(1.2);
static const eb_bench_peer double_factor[] = {{"in double", 0, run_factor, ONE}, {0}};
static const eb_bench_peer double_solve[] = {{"in double", 0, run_solve, ONE}, {0}};
static const eb_bench_peer double_both[] = {{"in double", 1.0, run_both, ONE}, {0}};
static const eb_bench_peer beside_rows[] = {
    {"by columns", 1.0, run_sides, BY_COLUMNS},
    {"entries everywhere, by columns", 1.2, run_sides, EVERYWHERE},
    {"one column", 0, run_sides, ONE_COLUMN},
    {"the factorization", 0, run_factor, AS_ASKED},
    {0}};

#define DIRECT(name_, unit_, measure_, body_, second_, columns_, work_, run_, which_, peers_)      \
  .name = "cholesky-" name_, .unit = unit_, .measure = measure_, .bytes = sizeof(direct),          \
  .of = &(const direct_of){&eb_body_##body_, second_, columns_, work_}, .setup = set_up,           \
  .run = run_, .which = which_, .clear = clear, .peers = peers_
#define FACTOR(body_, suffix_, peers_)                                                             \
  DIRECT("factor/" #body_ suffix_, "factor", EB_BENCH_FLOPS, body_, TWO, 1, FLOPS, run_factor,     \
         AS_ASKED, peers_)
#define SOLVE(name_, measure_, body_, columns_, work_)                                             \
  DIRECT(name_, "solve", measure_, body_, TWO, columns_, work_, run_solve, AS_ASKED, cholmod_solve)
#define IN_SINGLE(name_, unit_, measure_, work_, run_, peers_)                                     \
  DIRECT("single" name_ "/sculpture", unit_, measure_, sculpture, SINGLE, 1, work_, run_, SINGLE,  \
         peers_)

const eb_bench_case eb_bench_cholesky[] = {
    {FACTOR(sculpture, "", cholmod), .scales_with = "dgemm"},
    {FACTOR(block, "", cholmod), .target = 0.75, .scales_with = "dgemm"},
    {FACTOR(bar, "", cholmod), .scales_with = "dgemm"},
    {FACTOR(beam, "", cholmod)},
    {FACTOR(sheet, "", cholmod)},
    {FACTOR(sculpture, "-two", two_large), .threads = 2},
    {FACTOR(block, "-two", two_large), .threads = 2},
    {FACTOR(bar, "-two", two_large), .threads = 2},
    {FACTOR(beam, "-two", two_small), .threads = 2},
    {FACTOR(sheet, "-two", two_small), .threads = 2},
    {SOLVE("solve/sculpture", EB_BENCH_BANDWIDTH, sculpture, 1, BYTES), .target = 0.70,
     .scales_with = "triad"},
    {SOLVE("solve/beam", EB_BENCH_BANDWIDTH, beam, 1, BYTES)},
    {SOLVE("solve-64/sculpture", EB_BENCH_FLOPS, sculpture, 64, SOLVES), .scales_with = "dgemm"},
    {IN_SINGLE("-factor", "factor", EB_BENCH_FLOPS, FLOPS, run_factor, double_factor)},
    {IN_SINGLE("-solve", "refined solve", EB_BENCH_TIME, RUNS, run_solve, double_solve)},
    {IN_SINGLE("", "factor and solve", EB_BENCH_TIME, RUNS, run_both, double_both)},
    {.name = "cholesky-solve-sparse-31/dragon",
     .unit = "solve",
     .measure = EB_BENCH_TIME,
     .scales_with = "dgemm",
     .bytes = sizeof(direct),
     .of = &eb_body_dragon,
     .setup = set_up_sides,
     .run = run_sides,
     .which = BY_ROWS,
     .clear = clear,
     .peers = beside_rows},
    {0}};
