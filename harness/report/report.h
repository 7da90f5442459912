/* The report: one folder with index.html, its plots (.svg, each beside the .gp and .dat that make
 * it) and pictures (.png). */
#ifndef EB_REPORT_H
#define EB_REPORT_H

#include "harness/strings.h"

/* Reads the result files and writes the report into out_dir (created if missing). Every value shown
 * is read or computed from the files. `unreadable` says of other files why they are left out, which
 * the page repeats. Fails when a file is not a result file, when gnuplot is missing or fails (its
 * message is passed on), or when the folder cannot be written. */
EB_MUST eb_error eb_report_write(const char *const *result_files, int count,
                                 const eb_strings *unreadable, const char *out_dir);

#endif
