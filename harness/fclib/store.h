/* Contact problems in result files: a step of a run keeps its own in the group contact_problem,
 * laid out as a file of FCLib. */
#ifndef EB_FCLIB_STORE_H
#define EB_FCLIB_STORE_H

#include "harness/fclib/fclib.h"
#include "harness/results/read.h"
#include "harness/strings.h"

/* The name of the group below a run. */
#define EB_FCLIB_GROUP "contact_problem"

/* Writes a problem with its solution and guess into a file or an empty group. */
EB_MUST eb_error eb_fclib_write_into(hid_t where, const eb_fclib *problem);

/* Writes one file of FCLib, <id>.hdf5, for every selected run that has kept a problem, into
 * `folder` (made when missing; NULL: the working folder), and prints the paths to `out`. *written
 * is their number. */
EB_MUST eb_error eb_fclib_export(const eb_results *results, const eb_strings *ids,
                                 const char *folder, FILE *out, int *written);

#endif
