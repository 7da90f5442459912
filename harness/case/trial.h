/* Whether a result file can be read, found out by a process that may crash of it: libhdf5 trusts
 * what a file says of itself, and a solver may have written into its file by accident. */
#ifndef EB_CASE_TRIAL_H
#define EB_CASE_TRIAL_H

#include <stdbool.h>

/* Opens the file as a result and reads every dataset in it, in a child of this process. */
bool eb_trial_read(const char *path);

#endif
