/* Runs of result files as figures of the history. */
#ifndef EB_HISTORY_RUNS_H
#define EB_HISTORY_RUNS_H

#include "harness/history/history_record.h"
#include "harness/results/read.h"

/* The record of what a result file measured: of every work (harness/results/repetitions.h) whose
 * runs completed and passed their audit, in each accuracy class, the medians over its repetitions
 * of the median step's wall and processor time, of the set-up and of the iterations a step, as
 * "SCENE/WORK, wall" and so on. *left_out counts the other runs. EB_ERR_FORMAT for a file that was
 * merged from several machines. */
EB_MUST eb_error eb_history_of_results(const eb_results *results, eb_history_record *out,
                                       int *left_out);

#endif
