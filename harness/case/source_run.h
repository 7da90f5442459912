/* The run that a case starts from, the source run: states that it has kept as checkpoints. */
#ifndef EB_CASE_SOURCE_RUN_H
#define EB_CASE_SOURCE_RUN_H

#include "harness/case/case.h"
#include "harness/results/checkpoints.h"

typedef struct eb_source_run {
  eb_results *results; /* the file that has it, or NULL */
  eb_checkpoints states;
} eb_source_run;

/* Opens the source run and makes sure that it has every state that `from` names, on the scene's
 * mesh. EB_ERR_UNSUPPORTED says what is missing, a file that is not there included: that is a
 * source run that has not run. The caller closes *out, also after an error. */
EB_MUST eb_error eb_source_run_open(const eb_origin *from, const eb_scene *scene,
                                    eb_source_run *out);
void eb_source_run_close(eb_source_run *source_run);

#endif
