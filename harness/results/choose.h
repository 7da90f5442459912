/* Runs of a result file by the names that people give them.
 *
 * A run's id ends, behind its last dot, with the digits of a hash; the first few of them that no
 * other run of the file has are its short id, four at least. */
#ifndef EB_RESULTS_CHOOSE_H
#define EB_RESULTS_CHOOSE_H

#include "harness/results/read.h"

/* The run of that id; or the only one whose id or hash begins with the name; or, where none begins
 * with it, the only one that has it in its id. NULL is the only run of the file. EB_ERR_USAGE names
 * those that there are. */
EB_MUST eb_error eb_results_choose(const eb_results *results, const char *name, int *out);
/* Appends the ids of those that are named. */
EB_MUST eb_error eb_results_choose_ids(const eb_results *results, const eb_strings *names,
                                       eb_strings *ids);
/* The short ids of all runs, which the caller clears also after an error. */
EB_MUST eb_error eb_results_short_ids(const eb_results *results, eb_strings *out);

#endif
