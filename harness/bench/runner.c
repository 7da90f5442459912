#include "harness/bench/runner.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "harness/results/sample.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"

/* Shorter runs are timed several at once: on one thread long enough for the clock and short enough
 * to fit between disturbances; for scaling as long as the machine's kernels, to be as exposed to
 * them. */
static const double batch_seconds = 2e-3, scaling_batch_seconds = 20e-3;

/* A function being timed. */
typedef struct timed {
  eb_bench_runs *run;
  int which;
  double once;   /* seconds of a run, roughly */
  int64_t batch; /* runs timed together */
} timed;

/* One case being measured. */
typedef struct bench {
  const eb_bench_case *of;
  void *context;
  eb_machine *machine;
  double seconds;
  int threads;
  timed itself, peers[EB_BENCH_PEERS];
  int peer_count;
} bench;

static double time_batch(const bench *b, const timed *t, int threads) {
  omp_set_num_threads(threads);
  double began = eb_wall_seconds(), charged = 0;
  for (int64_t k = 0; k < t->batch; k++) {
    t->run(b->context, t->which);
    if (b->of->charged) charged += b->of->charged(b->context);
  }
  return (b->of->charged ? charged : eb_wall_seconds() - began) / (double)t->batch;
}

static int64_t batch_of(const timed *t, double seconds) {
  return t->once < seconds ? (int64_t)(seconds / fmax(t->once, 1e-9)) + 1 : 1;
}

/* The untimed first run, and, when that was short, one more to learn how many runs a batch
 * needs. */
static void warm_up(const bench *b, timed *t) {
  t->batch = 1;
  t->once = time_batch(b, t, b->threads);
  if (t->once < scaling_batch_seconds) t->once = time_batch(b, t, b->threads);
  t->batch = batch_of(t, batch_seconds);
}

static bool more_rounds(const bench *b, double began, int64_t done) {
  if (done < EB_BENCH_LEAST_ROUNDS) return true;
  return done < EB_BENCH_ROUNDS && eb_wall_seconds() - began < b->seconds;
}

/* Units per second, seconds per unit for times, seconds for shares. */
static double figure(const eb_bench_result *result, double seconds) {
  if (result->of->measure == EB_BENCH_SHARE) return seconds;
  return result->of->measure == EB_BENCH_TIME ? seconds / result->work : result->work / seconds;
}

static eb_bench_ratio ratio_of(const bench *b, const eb_bench_round *rounds, int64_t count,
                               int peer) {
  double ratio[EB_BENCH_ROUNDS], target = b->of->peers[peer].target;
  for (int64_t k = 0; k < count; k++) ratio[k] = rounds[k].peers[peer] / rounds[k].seconds;
  double median = eb_median(ratio, (size_t)count, 0);
  return (eb_bench_ratio){.median = median,
                          .minimum = eb_least(ratio, (size_t)count, 0),
                          .maximum = eb_largest(ratio, (size_t)count, 0),
                          .ok = !(target > 0) || median >= target};
}

/* The figure of a round beside the machine's limit in it. */
static double beside_limit(const eb_bench_result *result, const eb_bench_round *now) {
  double rate = result->work / now->seconds;
  switch (result->of->measure) {
  case EB_BENCH_BANDWIDTH:
    return rate / now->triad;
  case EB_BENCH_TIME:
    return now->dgemm / rate;
  case EB_BENCH_SHARE:
    return now->seconds / (result->work * now->peers[0]);
  default:
    return rate / now->dgemm;
  }
}

static void time_round(const bench *b, eb_bench_round *now) {
  now->dgemm = eb_machine_dgemm(b->machine, b->threads);
  now->triad = eb_machine_triad(b->machine, b->threads);
  double cpu = eb_cpu_seconds();
  now->seconds = time_batch(b, &b->itself, b->threads);
  now->cpu = (eb_cpu_seconds() - cpu) / (double)b->itself.batch;
  for (int p = 0; p < b->peer_count; p++) now->peers[p] = time_batch(b, &b->peers[p], b->threads);
}

static bool meets_target(const eb_bench_result *r) {
  double target = r->of->target;
  switch (r->of->measure) {
  case EB_BENCH_TIME:
    return !(target > 0) || r->best <= target;
  case EB_BENCH_RATE:
    return !(target > 0) || r->best >= target;
  case EB_BENCH_SHARE:
    return !(target > 0) || r->fraction <= target;
  default:
    return !(target > 0) || r->fraction >= target;
  }
}

static void measure(const bench *b, eb_bench_result *result) {
  eb_bench_measure kind = b->of->measure;
  double seconds[EB_BENCH_ROUNDS], relative[EB_BENCH_ROUNDS], began = eb_wall_seconds();
  int64_t count = 0;
  for (; more_rounds(b, began, count); count++) {
    eb_bench_round *now = &result->round[count];
    time_round(b, now);
    seconds[count] = now->seconds;
    relative[count] = beside_limit(result, now);
    result->dgemm = fmax(result->dgemm, now->dgemm);
    result->triad = fmax(result->triad, now->triad);
  }
  result->rounds = count;
  result->batch = b->itself.batch;
  result->median = figure(result, eb_median(seconds, (size_t)count, 0));
  result->best = figure(result, eb_least(seconds, (size_t)count, 0));
  result->relative = eb_median(relative, (size_t)count, 0);
  bool absolute = kind == EB_BENCH_RATE || kind == EB_BENCH_TIME;
  result->fraction = absolute ? 0 : result->relative;
  result->ok = meets_target(result);
  for (int p = 0; p < b->peer_count; p++) result->peers[p] = ratio_of(b, result->round, count, p);
}

static double machine_rate(const bench *b, int threads) {
  return strcmp(b->of->scales_with, "triad") == 0 ? eb_machine_triad(b->machine, threads)
                                                  : eb_machine_dgemm(b->machine, threads);
}

static void measure_scaling(bench *b, eb_bench_scaling *scaling) {
  double speedup[EB_BENCH_ROUNDS], machine[EB_BENCH_ROUNDS], fraction[EB_BENCH_ROUNDS];
  double began = eb_wall_seconds();
  int64_t round = 0;
  timed *t = &b->itself;
  t->batch = batch_of(t, scaling_batch_seconds);
  time_batch(b, t, 2);
  for (; more_rounds(b, began, round); round++) {
    double rate = machine_rate(b, 1);
    machine[round] = machine_rate(b, 2) / rate;
    double seconds = time_batch(b, t, 1);
    speedup[round] = seconds / time_batch(b, t, 2);
    fraction[round] = speedup[round] / machine[round];
  }
  scaling->rounds = round;
  scaling->speedup = eb_median(speedup, (size_t)round, 0);
  scaling->machine_speedup = eb_median(machine, (size_t)round, 0);
  scaling->machine_minimum = eb_least(machine, (size_t)round, 0);
  scaling->machine_maximum = eb_largest(machine, (size_t)round, 0);
  scaling->fraction = eb_median(fraction, (size_t)round, 0);
  scaling->ok = scaling->fraction >= EB_BENCH_SCALING_TARGET;
}

eb_error eb_bench_run(const eb_bench_case *of, eb_machine *machine, double seconds,
                      eb_bench_result *out) {
  bench b = {.of = of,
             .context = eb_calloc(1, of->bytes),
             .machine = machine,
             .seconds = seconds,
             .threads = of->threads > 0 ? of->threads : 1,
             .itself = {.run = of->run, .which = of->which}};
  *out = (eb_bench_result){.of = of, .work = 1};
  if (!b.context) return EB_ERROR(EB_ERR_MEMORY, "benchmark '%s': no memory", of->name);
  int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  eb_error error = of->setup(b.context, of->of, &out->work);
  if (!error) {
    warm_up(&b, &b.itself);
    for (const eb_bench_peer *p = of->peers; p && p->name && b.peer_count < EB_BENCH_PEERS; p++) {
      timed *peer = &b.peers[b.peer_count++];
      *peer = p->run ? (timed){.run = p->run, .which = p->which}
                     : (timed){.run = of->run, .which = b.peer_count};
      warm_up(&b, peer);
    }
    measure(&b, out);
    if (of->scales_with) measure_scaling(&b, &out->scaling);
    if (of->describe) of->describe(b.context, out->description, sizeof out->description);
  }
  of->clear(b.context);
  free(b.context);
  omp_set_num_threads(threads);
  return eb_error_prefix(error, "benchmark '%s'", of->name);
}
