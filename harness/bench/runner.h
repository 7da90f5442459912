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

typedef struct eb_bench_result {
  const eb_bench_case *of;
  int64_t rounds;      /* timed, not counting those for scaling */
  double work;         /* units in one run */
  double best, median; /* the figure: units/s, s/unit, bytes/s, flop/s, or seconds of a share */
  double dgemm,
      triad; /* the machine's best in the same rounds and on as many threads: flop/s, bytes/s */
  /* Median of the rounds: of the triad or DGEMM measured just before, or the price of a share; 0
   * for rates and times. */
  double fraction;
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
/* All results as one JSON object. */
EB_MUST eb_error eb_bench_print_json(FILE *to, const eb_bench_result *results, size_t count);

#endif
