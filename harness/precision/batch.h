/* A batch: cases with labels, run into one result file, and found there again by their labels. */
#ifndef EB_PRECISION_BATCH_H
#define EB_PRECISION_BATCH_H

#include "harness/case/session.h"
#include "harness/results/read.h"

typedef struct eb_batch {
  eb_suite suite; /* a section a case */
  eb_plan plan;
  eb_results *results; /* NULL: not run yet, or interrupted before a case was complete */
} eb_batch;

typedef struct eb_batch_case {
  const char *label, *scene, *solver; /* "NAME[:a=1,..]" */
  const char *group;                  /* of competitors, which take turns; or NULL */
  int64_t stride;                     /* steps between the states that are kept */
  int times;                          /* how many: the case has times * stride steps */
  int64_t seed;
} eb_batch_case;

/* How all cases are run, and where to. */
typedef struct eb_batch_setting {
  const eb_plugins *plugins;
  const eb_strings *meshes; /* "SCENE=FILE" */
  int threads;
  double timeout, memory; /* s, MB; 0: the defaults */
  const char *target, *command_line;
} eb_batch_setting;

/* Copies what it is given. */
EB_MUST eb_error eb_batch_add(eb_batch *batch, const eb_batch_case *one);
/* Runs what the target lacks and opens it; *interrupted: a signal has ended that. Cases may be
 * added and run again with EB_EXISTING_RESUME. */
EB_MUST eb_error eb_batch_run(eb_batch *batch, const eb_batch_setting *setting,
                              eb_existing existing, bool *interrupted);
/* The run of that label in batch->results, or -1. */
int eb_batch_find(const eb_batch *batch, const char *label);
/* Whether a run has completed and its audit has passed; if not, *why says what is wrong, with the
 * rules that are broken: "audit failed: energy,momentum". The caller frees it. */
EB_MUST eb_error eb_run_is_valid(const eb_run *run, bool *stands, char **why);
void eb_batch_clear(eb_batch *batch);

#endif
