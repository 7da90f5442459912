/* The layers of a comparison of two builds, a case at a time.
 *
 * Counts. Either build takes the first steps of the case in two fresh processes.
 *
 * Rounds. A case has four processes (eb_compared_process), each a process: BASE, HEAD, BASE again,
 * and BASE with a delay put in. A round has two turns. In a turn each process takes a block of k
 * steps, in an order drawn by lot, then the next k in the opposite order: of any two processes it
 * is ABBA, or BAAB as often. What drifts evenly during a turn cancels, all processes meet the same
 * states, and blocks are long beside the clock and short beside what else goes on. With t_i and b_i
 * the times of the process and of BASE in the four halves, the number of a round is y = mean of ln
 * (t_i / b_i). Every EB_LIFE rounds all processes are started anew, in an order drawn by lot: how
 * memory is laid out becomes noise and is no bias of the whole. Where they have one thread each,
 * they share one processor, drawn by lot: they run one at a time, and meet the same neighbours.
 *
 * Instructions. Both builds take the first steps under valgrind, with one thread. */
#ifndef EB_COMPARE_LAYERS_H
#define EB_COMPARE_LAYERS_H

#include "harness/compare/build.h"
#include "harness/compare/compared.h"
#include "harness/status_line.h"
#include "harness/suite/plan.h"

enum { EB_LIFE = 20 };

typedef struct eb_compare_request {
  const eb_build *builds; /* EB_SIDES */
  const eb_plan *plan;
  double margin;     /* a share */
  int rounds;        /* at most */
  double delay;      /* that HEAD is made slower by, a share */
  double patience;   /* s, for an answer of a worker */
  bool instructions; /* run that layer */
  uint64_t seed;     /* of the lots */
  eb_signals *signals;
  eb_status_line *status; /* what is at work */
} eb_compare_request;

/* The delay of the process that has one, a share of each step's time: 5 %, or 3 % beyond the
 * margin.
 */
double eb_injected_delay(double margin);

/* What becomes of a worker is told in out->trouble, or, under valgrind, noted. Errors are those of
 * the harness, of a build that is no worker, or "interrupted". */
EB_MUST eb_error eb_layer_counts(const eb_compare_request *request, const eb_case *work,
                                 eb_compared *out);
/* Brings the series to so many rounds. *lots is the state of the random numbers. */
EB_MUST eb_error eb_layer_rounds(const eb_compare_request *request, const eb_case *work, int rounds,
                                 uint64_t *lots, eb_compared *out);
/* Behind the rounds, which tell how long a step is. */
EB_MUST eb_error eb_layer_instructions(const eb_compare_request *request, const eb_case *work,
                                       eb_compared *out);

/* *why says why valgrind cannot be had, or is NULL; the caller frees it. */
EB_MUST eb_error eb_valgrind_find(eb_signals *signals, char **why);
#endif
