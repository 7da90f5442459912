#include "harness/bench/runner.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"

enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 200 };

/* Shorter runs are timed several at once: on one thread long enough for the clock and short enough to
 * fit between disturbances; for scaling as long as the machine's kernels, to be as exposed to them. */
static const double batch_seconds = 2e-3, scaling_batch_seconds = 20e-3;

/* One case being measured. */
typedef struct bench {
  const eb_bench_case *of;
  void *context;
  eb_machine *machine;
  double seconds;
  double once;   /* seconds of a run, roughly */
  int64_t batch; /* runs timed together */
} bench;

static double time_batch(const bench *b, int threads) {
  omp_set_num_threads(threads);
  double began = eb_wall_seconds();
  for (int64_t k = 0; k < b->batch; k++) b->of->run(b->context);
  return (eb_wall_seconds() - began) / (double)b->batch;
}

static int64_t batch_of(const bench *b, double seconds) {
  return b->once < seconds ? (int64_t)(seconds / fmax(b->once, 1e-9)) + 1 : 1;
}

/* The untimed first run, and one more to learn how many runs a batch needs. */
static void warm_up(bench *b) {
  b->batch = 1;
  time_batch(b, 1);
  b->once = time_batch(b, 1);
  b->batch = batch_of(b, batch_seconds);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the samples. */
static double median_of(double *samples, int64_t count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  return 0.5 * (samples[(count - 1) / 2] + samples[count / 2]);
}

static bool more_rounds(const bench *b, double began, int64_t done) {
  if (done < LEAST_ROUNDS) return true;
  return done < MOST_ROUNDS && eb_wall_seconds() - began < b->seconds;
}

/* Units per second, or seconds per unit for times. */
static double figure(const eb_bench_result *result, double seconds) {
  return result->of->measure == EB_BENCH_TIME ? seconds / result->work : result->work / seconds;
}

static bool is_fraction(const eb_bench_case *of) {
  return of->measure == EB_BENCH_BANDWIDTH || of->measure == EB_BENCH_FLOPS;
}

static bool meets_target(const eb_bench_result *result) {
  double target = result->of->target;
  if (!(target > 0)) return true;
  if (is_fraction(result->of)) return result->fraction >= target;
  return result->of->measure == EB_BENCH_TIME ? result->best <= target : result->best >= target;
}

static void measure_one_thread(const bench *b, eb_bench_result *result) {
  double seconds[MOST_ROUNDS], fraction[MOST_ROUNDS], began = eb_wall_seconds();
  int64_t round = 0;
  for (; more_rounds(b, began, round); round++) {
    double dgemm = eb_machine_dgemm(b->machine, 1), triad = eb_machine_triad(b->machine, 1);
    seconds[round] = time_batch(b, 1);
    double limit = b->of->measure == EB_BENCH_BANDWIDTH ? triad : dgemm;
    fraction[round] = result->work / seconds[round] / limit;
    result->dgemm = fmax(result->dgemm, dgemm);
    result->triad = fmax(result->triad, triad);
  }
  result->rounds = round;
  result->median = figure(result, median_of(seconds, round));
  result->best = figure(result, seconds[0]);
  result->fraction = is_fraction(b->of) ? median_of(fraction, round) : 0;
  result->ok = meets_target(result);
}

static double machine_rate(const bench *b, int threads) {
  return strcmp(b->of->scales_with, "triad") == 0 ? eb_machine_triad(b->machine, threads)
                                                  : eb_machine_dgemm(b->machine, threads);
}

static void measure_scaling(bench *b, eb_bench_scaling *scaling) {
  double speedup[MOST_ROUNDS], machine[MOST_ROUNDS], fraction[MOST_ROUNDS];
  double began = eb_wall_seconds();
  int64_t round = 0;
  b->batch = batch_of(b, scaling_batch_seconds);
  time_batch(b, 2);
  for (; more_rounds(b, began, round); round++) {
    double rate = machine_rate(b, 1);
    machine[round] = machine_rate(b, 2) / rate;
    double seconds = time_batch(b, 1);
    speedup[round] = seconds / time_batch(b, 2);
    fraction[round] = speedup[round] / machine[round];
  }
  scaling->rounds = round;
  scaling->speedup = median_of(speedup, round);
  scaling->machine_speedup = median_of(machine, round);
  scaling->machine_minimum = machine[0];
  scaling->machine_maximum = machine[round - 1];
  scaling->fraction = median_of(fraction, round);
  scaling->ok = scaling->fraction >= EB_BENCH_SCALING_TARGET;
}

eb_error eb_bench_run(const eb_bench_case *of, eb_machine *machine, double seconds,
                      eb_bench_result *out) {
  bench b = {.of = of, .machine = machine, .seconds = seconds};
  *out = (eb_bench_result){.of = of};
  int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  eb_error error = of->setup(&b.context, &out->work);
  if (!error) {
    warm_up(&b);
    measure_one_thread(&b, out);
    if (of->scales_with) measure_scaling(&b, &out->scaling);
    of->clear(b.context);
  }
  omp_set_num_threads(threads);
  return eb_error_prefix(error, "benchmark '%s'", of->name);
}
