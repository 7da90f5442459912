/* Measures benchmark cases beside the machine's limits, and prints the results. */
#ifndef EB_BENCH_RUNNER_H
#define EB_BENCH_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/bench/bench.h"
#include "harness/bench/machine.h"

/* A speed-up on two threads is judged against this fraction of the machine's own. */
#define EB_BENCH_SCALING_TARGET 0.85

/* Speed-ups from 1 to 2 threads, measured round by round; medians. */
typedef struct eb_bench_scaling {
  int64_t rounds;         /* 0: the case does not ask for it */
  double speedup;         /* of the case */
  double machine_speedup; /* of the kernel named by scales_with */
  double machine_minimum; /* lowest and */
  double machine_maximum; /* highest of the rounds: how steady the second core was */
  double fraction;        /* median over the rounds of speedup / machine_speedup */
  bool ok;
} eb_bench_scaling;

/* The peer's seconds over the case's, round by round. */
typedef struct eb_bench_ratio {
  double median, minimum, maximum;
  bool ok; /* the median meets the peer's target, or there is none */
} eb_bench_ratio;

/* What one round measured. */
typedef struct eb_bench_round {
  double dgemm, triad;          /* flop/s, bytes/s */
  double seconds, cpu;          /* of a run: those that count, and all processor time */
  double peers[EB_BENCH_PEERS]; /* s */
} eb_bench_round;
enum { EB_BENCH_LEAST_ROUNDS = 3, EB_BENCH_ROUNDS = 200 };

typedef struct eb_bench_result {
  const eb_bench_case *of;
  int64_t rounds; /* timed, not counting those for scaling */
  eb_bench_round round[EB_BENCH_ROUNDS];
  int64_t batch;       /* runs that were timed together in each */
  double work;         /* units in one run */
  double best, median; /* the figure: units/s, s/unit, bytes/s, flop/s, or seconds of a share */
  double dgemm,
      triad; /* the machine's best in the same rounds and on as many threads: flop/s, bytes/s */
  /* Median of the rounds: of the triad or DGEMM measured just before, or the price of a share; 0
   * for rates and times. */
  double fraction;
  /* Median of the rounds of the figure beside the limit measured just before, in the direction of
   * the figure: bytes over the triad's, flops and other rates over DGEMM's; a time times DGEMM's
   * rate; the price of a share. What slows the machine down as a whole is not in it. */
  double relative;
  bool ok; /* best or fraction meets the target, or there is none */
  eb_bench_ratio peers[EB_BENCH_PEERS];
  eb_bench_scaling scaling;
  char description[160]; /* what the runs did; empty: nothing to say */
} eb_bench_result;

/* Sets the case up, runs it and its peers once untimed, then interleaves {DGEMM, triad, case,
 * peers} on the case's threads for about `seconds` (at least 3 rounds), and, for cases that scale,
 * {kernel on 1, on 2 threads, case on 1, on 2} for as long again. The machine must have been
 * created for 2 threads. */
EB_MUST eb_error eb_bench_run(const eb_bench_case *of, eb_machine *machine, double seconds,
                              eb_bench_result *out);

/* A table for people; call the head once. name_width: characters of the longest name. */
void eb_bench_print_head(FILE *to, int name_width);
void eb_bench_print(FILE *to, int name_width, const eb_bench_result *result);
/* The same in google-benchmark's shape (harness/results/benchmark.h), a round as a repetition. */
EB_MUST eb_error eb_bench_print_benchmark(FILE *to, const eb_bench_result *results, size_t count);
/* All results as one JSON object. */
EB_MUST eb_error eb_bench_print_json(FILE *to, const eb_bench_result *results, size_t count);

/* "tets/s", "s/matrix": the unit of a case's figure. */
typedef struct eb_bench_unit {
  char text[64];
} eb_bench_unit;
eb_bench_unit eb_bench_figure_unit(const eb_bench_case *of);
/* Whether more of it is better. */
bool eb_bench_more_is_better(const eb_bench_case *of);

#endif
