/* What ties the cases of a section to others, or to each other.
 *
 *   from = LABEL@STEP               each starts from the state that the case of section [LABEL]
 *                                   has after STEP; 0: before any step
 *   from = LABEL@FIRST..LAST        samples: each takes one step from every state of the range.
 *                                   With
 *     stride = N                      of every N-th (also FIRST..LAST/N), or
 *     samples = COUNT                 of so many, evenly spread
 *   from = FILE.h5:RUN@...          of a run in a result file, by its id or a part of it that no
 *                                   other has; FILE.h5@... of its only run
 *   checkpoints = STEPS             steps after which the states are kept, for a later
 *                                   FILE.h5:RUN@STEP; those that the suite's own sections ask
 *                                   for are kept anyway. Samples want the states one step before
 *                                   theirs, too (harness/case/execute.c)
 *   group = NAME                    sections with the same name compete: their repetitions take
 *                                   turns, and one shard has them
 *   sweep = OPTION:LOW..HIGH step S stable
 *                                   looks for the least of the values LOW, LOW + S, .., HIGH of an
 *                                   option of the solver, or of a parameter of the scene, at which
 *                                   the case is stable (harness/suite/sweep.h), by bisection
 *   sweep = OPTION:LOW..HIGH step S stable scan
 *                                   the same by trying every value
 *   sweep = OPTION:LOW..HIGH step S
 *   sweep = OPTION:A|B|C            each of the values is a case of its own; of several such lines
 *                                   the product (harness/suite/product.h) */
#ifndef EB_SUITE_DEPENDENCIES_H
#define EB_SUITE_DEPENDENCIES_H

#include "harness/ranges.h"
#include "harness/suite/axis.h"

typedef struct eb_dependencies {
  char *file, *source_run; /* of `from`: source run is a label, or with `file` a run, NULL for the
                              only one */
  bool tied;               /* there is a `from` */
  eb_range steps;
  bool single; /* it names one step */
  int64_t stride, samples;
  eb_ranges checkpoints;
  char *group;
  eb_axis search; /* the range of a `sweep` for the least stable value; without option: none */
  bool scan;      /* .. that tries every value */
  eb_axis *axes;  /* of a `sweep` whose values are cases */
  int axis_count;
} eb_dependencies;

/* Sets one tie by its name in a suite: EB_ERR_USAGE when the value is bad; *known is false when
 * there is no such tie. */
EB_MUST eb_error eb_dependencies_set(eb_dependencies *dependencies, const char *name,
                                     const char *value, bool *known);
/* When all are set: makes one range of steps, stride and samples. EB_ERR_USAGE when they do not go
 * together. */
EB_MUST eb_error eb_dependencies_finish(eb_dependencies *dependencies);
void eb_dependencies_clear(eb_dependencies *dependencies);

#endif
