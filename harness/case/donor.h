/* The run that a case starts from, the donor: states that it has kept as checkpoints. */
#ifndef EB_CASE_DONOR_H
#define EB_CASE_DONOR_H

#include "harness/case/case.h"
#include "harness/results/checkpoints.h"

typedef struct eb_donor {
  eb_results *results; /* the file that has it, or NULL */
  eb_checkpoints states;
} eb_donor;

/* Opens the donor and makes sure that it has every state that `from` names, on the scene's mesh.
 * EB_ERR_UNSUPPORTED says what is missing, a file that is not there included: that is a donor that
 * has not run. The caller closes *out, also after an error. */
EB_MUST eb_error eb_donor_open(const eb_origin *from, const eb_scene *scene, eb_donor *out);
void eb_donor_close(eb_donor *donor);

#endif
