/* What two builds, or two result files, show of the cases of a suite, and what that comes to.
 *
 * Verdict of a case, the first that holds:
 * - skipped: the solver serves the scene in neither build.
 * - failed: a worker failed, crashed or hung; of result files, a run did, or its audit.
 * - nondeterministic: a build does not count alike twice.
 * - regressed: the time is (decision.h); or it is not improved, and instructions or the cost of
 *   cache misses rose by more than 1 %, or a counter of work by more than the margin.
 * - improved: the time is.
 * - equivalent: the time is, and a delay put in was found (compare.h).
 * - inconclusive: else.
 *
 * An alarm on two processes of BASE takes away the belief in all times of the suite, and so do
 * files of two machines: what would have followed from them is inconclusive. The suite's verdict is
 * the gravest of its cases', in the order failed, nondeterministic, regressed, inconclusive,
 * equivalent, improved, skipped. */
#ifndef EB_COMPARE_COMPARED_H
#define EB_COMPARE_COMPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/compare/decision.h"

#define EB_INSTRUCTION_MARGIN 0.01

/* Processes that are fed in turns. */
typedef enum eb_compared_process {
  EB_COMPARED_BASE,
  EB_COMPARED_HEAD,
  EB_COMPARED_AGAIN,   /* of BASE */
  EB_COMPARED_DELAYED, /* of BASE, with a delay put in */
  EB_COMPARED_PROCESSES
} eb_compared_process;

/* The gravest first. */
typedef enum eb_compare_verdict {
  EB_COMPARE_FAILED,
  EB_COMPARE_NONDETERMINISTIC,
  EB_COMPARE_REGRESSED,
  EB_COMPARE_INCONCLUSIVE,
  EB_COMPARE_EQUIVALENT,
  EB_COMPARE_IMPROVED,
  EB_COMPARE_SKIPPED
} eb_compare_verdict;
/* "failed", ... */
const char *eb_compare_verdict_name(eb_compare_verdict verdict);

enum { EB_BASE, EB_HEAD, EB_SIDES };

/* What valgrind counts of some steps. Its caches, of two levels, are a model; a miss of the first
 * one is reckoned as 10 instructions, one of the last as 100, as KCachegrind does. */
typedef struct eb_instructions {
  double executed, first_misses, last_misses;
} eb_instructions;

/* One case of both. */
typedef struct eb_compared {
  char *name;                   /* "bench/beam:resolution=0.5 newton" */
  char *trouble;                /* why it failed or is left out, or NULL */
  bool unserved;                /* by both */
  char *counts[EB_SIDES];       /* "iterations=12,..", or NULL; of counted_steps */
  char *counts_again[EB_SIDES]; /* where a second time gave another, or NULL */
  int64_t counted_steps;
  int64_t block;       /* steps that a round takes at a time */
  double step_seconds; /* CPU time of a step of BASE, roughly */
  eb_series cpu[EB_COMPARED_PROCESSES],
      wall;                 /* of a process beside BASE (its own is empty); of HEAD */
  int64_t instructed_steps; /* 0: valgrind has not counted */
  eb_instructions instructions[EB_SIDES];
  eb_compare_verdict verdict;
  char *reasons; /* what else is to be said, lines; NULL when nothing */
} eb_compared;

typedef struct eb_comparison {
  eb_compared *cases;
  int count;
  double injected; /* the delay put in, a share of each step's time; 0: no processes of control */
  char *machines;  /* how the machines of two result files differ, or NULL */
  int unpaired[EB_SIDES]; /* runs of a result file that the other one does not have */
  int least;              /* rounds, fewer of which cannot show any change; 0: nobody knows */
  int raced;              /* cases with rounds */
  int alarms, found;      /* cases with an alarm on BASE again; those whose delay was found */
  char *uninstructed;     /* why the layer under valgrind was not run, or NULL */
  eb_compare_verdict verdict;
} eb_comparison;

/* Appends a line to the reasons. */
EB_MUST eb_error eb_compared_note(eb_compared *compared, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An error of kind EB_ERR_INVALID, which tells what became of a worker, becomes the case's trouble;
 * others pass through. */
EB_MUST eb_error eb_compared_trouble(eb_error error, eb_compared *out);

/* Fills in verdicts, reasons, alarms and what was found, once the series are judged. `margin` is
 * a share. */
EB_MUST eb_error eb_comparison_judge(double margin, eb_comparison *comparison);
void eb_comparison_clear(eb_comparison *comparison);

#endif
