/* Names of runs by what they do, and runs that are repetitions of one work. */
#ifndef EB_RESULTS_REPETITIONS_H
#define EB_RESULTS_REPETITIONS_H

#include "harness/results/read.h"
#include "problems/base/strings.h"

/* "bench/beam:resolution=0.25" and "newton:linear=cg/steps:20/threads:2": scene and solver with
 * what is not at its default, then mesh file, steps, threads, seed and start, the latter three
 * where they are not 1, not the usual one, not the scene's own. What the defaults were is in the
 * file, so that a run keeps its name; plug-ins' options are all told. Appended to the texts. */
EB_MUST eb_error eb_run_scene_name(const eb_run *run, eb_text *out);
EB_MUST eb_error eb_run_work_name(const eb_run *run, eb_text *out);

/* Runs by the name "SCENE/WORK" of the above. Start from {0}; cleared also after an error. */
typedef struct eb_repetitions {
  eb_strings names; /* in the order of the first run of each */
  int *of;          /* of each run of the file, its name; -1: not selected */
} eb_repetitions;
/* Of the runs that `ids` selects (all when it is empty) and, where `selects` is not NULL, that does
 * too. */
EB_MUST eb_error eb_repetitions_gather(const eb_results *results, const eb_strings *ids,
                                       bool (*selects)(const eb_run *run), eb_repetitions *out);
void eb_repetitions_clear(eb_repetitions *repetitions);

/* The sum of a column (eb_results_steps) over the steps of a run but the first, whose caches are
 * cold, unless there is no other; 0 without steps. */
EB_MUST eb_error eb_run_total(const eb_results *results, int run, int column, double *out);

#endif
