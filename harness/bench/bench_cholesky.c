/* The multifrontal factor beside CHOLMOD's supernodal one in the same order of elimination, each as
 * it runs fastest.
 *
 * Rates count the operations of the sparse factor itself; what amalgamation adds to supernodes
 * counts for nobody. CHOLMOD's input is permuted before the clock starts. */
#include <omp.h>
#include <string.h>

#include "harness/bench/bench_cholmod.h"
#include "harness/bench/bench_matrix.h"
#include "harness/bench/tables.h"
#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal.h"

enum { ONE, TWO, SINGLE, FACTORS, MANY = 64 };

typedef struct direct {
  eb_bench_matrix matrix;
  eb_multifrontal *ours[FACTORS]; /* on one thread, on two, on one in single precision; or NULL */
  eb_bench_cholmod *peer;
  int32_t columns;
  double *b, *x; /* columns right-hand sides and solutions */
} direct;

static void clear(void *context) {
  direct *d = context;
  for (int k = 0; k < FACTORS; k++) eb_multifrontal_destroy(d->ours[k]);
  eb_bench_cholmod_destroy(d->peer);
  eb_bench_matrix_clear(&d->matrix);
  free(d->b);
  free(d->x);
  free(d);
}

static eb_error create_factor(direct *d, int which) {
  eb_multifrontal_settings settings = {.threads = which == TWO ? 2 : 1,
                                       .single_precision = which == SINGLE};
  eb_reason reason;
  EB_TRY(eb_multifrontal_create(&settings, d->matrix.A, NULL, &d->ours[which]));
  EB_TRY(eb_multifrontal_factor(d->ours[which], d->matrix.A, NULL, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  return EB_OK;
}

static eb_error prepare(direct *d, const eb_bench_body *body, int second) {
  EB_TRY(eb_bench_matrix_create(body, &d->matrix));
  EB_TRY(create_factor(d, ONE));
  EB_TRY(create_factor(d, second));
  const int32_t *order = eb_multifrontal_supernodes(d->ours[ONE])->order;
  EB_TRY(eb_bench_cholmod_create(d->matrix.A, order, &d->peer));
  eb_bench_cholmod_factor(d->peer, EB_BENCH_ONE);
  size_t entries = (size_t)d->columns * (size_t)d->matrix.n;
  EB_TRY(EB_NEW(d->b, entries));
  EB_TRY(EB_NEW(d->x, entries));
  for (size_t k = 0; k < entries; k++) d->b[k] = (double)((k * 7919) % 1009) - 504;
  return EB_OK;
}

/* `second`: which factor besides that on one thread. */
static eb_error set_up(const eb_bench_body *body, int second, int32_t columns, direct **out) {
  direct *d;
  EB_TRY(EB_NEW(d, 1));
  d->columns = columns;
  eb_error error = prepare(d, body, second);
  if (error)
    clear(d);
  else
    *out = d;
  return error;
}

/* ---- what is timed; errors cannot occur that the same calls during set-up did not raise ---- */

static void factor(direct *d, int which) {
  eb_reason reason;
  eb_error_free(eb_multifrontal_factor(d->ours[which], d->matrix.A, NULL, &reason));
}

static void solve(direct *d, int which) {
  eb_reason reason;
  eb_error_free(eb_multifrontal_solve(d->ours[which], d->columns, d->b, d->x, NULL, &reason));
}

static void run_factor(void *context) {
  factor(context, omp_get_max_threads() > 1 ? TWO : ONE);
}

static void run_factor_one(void *context) {
  factor(context, ONE);
}

static void run_factor_single(void *context) {
  factor(context, SINGLE);
}

static void run_solve(void *context) {
  solve(context, omp_get_max_threads() > 1 ? TWO : ONE);
}

static void run_solve_one(void *context) {
  solve(context, ONE);
}

static void run_solve_single(void *context) {
  solve(context, SINGLE);
}

static void run_both_one(void *context) {
  factor(context, ONE);
  solve(context, ONE);
}

static void run_both_single(void *context) {
  factor(context, SINGLE);
  solve(context, SINGLE);
}

static void run_cholmod_one(void *context) {
  eb_bench_cholmod_factor(((direct *)context)->peer, EB_BENCH_ONE);
}

static void run_cholmod_pair(void *context) {
  eb_bench_cholmod_factor(((direct *)context)->peer, EB_BENCH_PAIR);
}

static void run_cholmod_as_is(void *context) {
  eb_bench_cholmod_factor(((direct *)context)->peer, EB_BENCH_AS_IS);
}

static void run_cholmod_solve(void *context) {
  direct *d = context;
  eb_bench_cholmod_solve(d->peer, d->columns, d->b, d->x);
}

/* ---- set-ups ---- */

static eb_error set_up_factor(const eb_bench_body *body, int second, void **context, double *work) {
  direct *d = NULL;
  EB_TRY(set_up(body, second, 1, &d));
  *work = eb_bench_cholmod_flops(d->peer);
  *context = d;
  return EB_OK;
}

/* Bytes: the stored factor once forward and once backward. */
static eb_error set_up_solve(const eb_bench_body *body, int second, void **context, double *work) {
  direct *d = NULL;
  EB_TRY(set_up(body, second, 1, &d));
  *work = 2 * 8 * (double)eb_multifrontal_entries(d->ours[ONE]);
  *context = d;
  return EB_OK;
}

static eb_error set_up_solve_many(const eb_bench_body *body, void **context, double *work) {
  direct *d = NULL;
  EB_TRY(set_up(body, TWO, MANY, &d));
  *work = 4 * MANY * eb_bench_cholmod_entries(d->peer);
  *context = d;
  return EB_OK;
}

#define FACTORED(body_)                                                                            \
  static eb_error factor_##body_(void **context, double *work) {                                   \
    return set_up_factor(&eb_body_##body_, TWO, context, work);                                    \
  }
FACTORED(sculpture)
FACTORED(block)
FACTORED(bar)
FACTORED(beam)
FACTORED(sheet)

static eb_error solve_sculpture(void **context, double *work) {
  return set_up_solve(&eb_body_sculpture, TWO, context, work);
}

static eb_error solve_beam(void **context, double *work) {
  return set_up_solve(&eb_body_beam, TWO, context, work);
}

static eb_error solve_many(void **context, double *work) {
  return set_up_solve_many(&eb_body_sculpture, context, work);
}

static eb_error single_sculpture(void **context, double *work) {
  return set_up_factor(&eb_body_sculpture, SINGLE, context, work);
}

static eb_error single_solve(void **context, double *work) {
  EB_TRY(single_sculpture(context, work));
  *work = 1;
  return EB_OK;
}

/* ---- cases ---- */

static const eb_bench_peer cholmod[] = {{"CHOLMOD", 1.2, run_cholmod_one}, {0}};
static const eb_bench_peer cholmod_solve[] = {{"CHOLMOD", 0, run_cholmod_solve}, {0}};
/* On two threads: nothing may be slower than on one, and on the larger bodies CHOLMOD at its best
 * takes half as long again. */
#define ON_TWO(target_)                                                                            \
  {                                                                                                \
    {"itself, one thread", 1.0, run_factor_one},                                                   \
        {"CHOLMOD, one thread", target_, run_cholmod_one},                                         \
        {"CHOLMOD, teams of two", target_, run_cholmod_pair},                                      \
        {"CHOLMOD, as it comes", target_, run_cholmod_as_is}, {                                    \
      0                                                                                            \
    }                                                                                              \
  }
_Static_assert(EB_BENCH_PEERS == 4, "ON_TWO names four");
static const eb_bench_peer two_large[] = ON_TWO(1.5), two_small[] = ON_TWO(1.2);
static const eb_bench_peer double_factor[] = {{"in double", 0, run_factor_one}, {0}};
static const eb_bench_peer double_solve[] = {{"in double", 0, run_solve_one}, {0}};
static const eb_bench_peer double_both[] = {{"in double", 1.0, run_both_one}, {0}};

#define FACTOR(body_, target_, scales_)                                                            \
  {                                                                                                \
    .name = "cholesky-factor/" #body_, .unit = "factor", .measure = EB_BENCH_FLOPS,                \
    .target = target_, .scales_with = scales_, .setup = factor_##body_, .run = run_factor,         \
    .clear = clear, .peers = cholmod                                                               \
  }
#define FACTOR_TWO(body_, peers_)                                                                  \
  {                                                                                                \
    .name = "cholesky-factor/" #body_ "-two", .unit = "factor", .measure = EB_BENCH_FLOPS,         \
    .setup = factor_##body_, .run = run_factor, .clear = clear, .peers = peers_, .threads = 2      \
  }

const eb_bench_case eb_bench_cholesky[] = {FACTOR(sculpture, 0, "dgemm"),
                                           FACTOR(block, 0.75, "dgemm"),
                                           FACTOR(bar, 0, "dgemm"),
                                           FACTOR(beam, 0, NULL),
                                           FACTOR(sheet, 0, NULL),
                                           FACTOR_TWO(sculpture, two_large),
                                           FACTOR_TWO(block, two_large),
                                           FACTOR_TWO(bar, two_large),
                                           FACTOR_TWO(beam, two_small),
                                           FACTOR_TWO(sheet, two_small),
                                           {.name = "cholesky-solve/sculpture",
                                            .unit = "solve",
                                            .measure = EB_BENCH_BANDWIDTH,
                                            .target = 0.70,
                                            .scales_with = "triad",
                                            .setup = solve_sculpture,
                                            .run = run_solve,
                                            .clear = clear,
                                            .peers = cholmod_solve},
                                           {.name = "cholesky-solve/beam",
                                            .unit = "solve",
                                            .measure = EB_BENCH_BANDWIDTH,
                                            .setup = solve_beam,
                                            .run = run_solve,
                                            .clear = clear,
                                            .peers = cholmod_solve},
                                           {.name = "cholesky-solve-64/sculpture",
                                            .unit = "solve",
                                            .measure = EB_BENCH_FLOPS,
                                            .scales_with = "dgemm",
                                            .setup = solve_many,
                                            .run = run_solve,
                                            .clear = clear,
                                            .peers = cholmod_solve},
                                           {.name = "cholesky-single-factor/sculpture",
                                            .unit = "factor",
                                            .measure = EB_BENCH_FLOPS,
                                            .setup = single_sculpture,
                                            .run = run_factor_single,
                                            .clear = clear,
                                            .peers = double_factor},
                                           {.name = "cholesky-single-solve/sculpture",
                                            .unit = "refined solve",
                                            .measure = EB_BENCH_TIME,
                                            .setup = single_solve,
                                            .run = run_solve_single,
                                            .clear = clear,
                                            .peers = double_solve},
                                           {.name = "cholesky-single/sculpture",
                                            .unit = "factor and solve",
                                            .measure = EB_BENCH_TIME,
                                            .setup = single_solve,
                                            .run = run_both_single,
                                            .clear = clear,
                                            .peers = double_both},
                                           {.name = NULL}};
