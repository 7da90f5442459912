/* The group of a solver's set-up in a result file: phases, counters, memory and elimination
 * tree. */
#ifndef EB_RESULTS_WRITE_SETUP_H
#define EB_RESULTS_WRITE_SETUP_H

#include "harness/results/h5.h"
#include "solvers/solver.h"

/* Fills runs/<id>/setup; `setup` is the open group. */
EB_MUST eb_error eb_setup_write(hid_t setup, const eb_step_log *log);

#endif
