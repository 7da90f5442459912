/* The report: one folder that opens from disk, with index.html, its plots (.svg, each beside the
 * .gp and .dat that make it), what its players show (data/) and pictures (.png). */
#ifndef EB_REPORT_H
#define EB_REPORT_H

#include <stdbool.h>

#include "problems/base/strings.h"

typedef struct eb_report_request {
  const char *const *files; /* result files */
  int file_count;
  const eb_strings *remarks; /* on damaged files, and others that are left out, for the page */
  const char *dir;           /* where to, created if missing */
  bool pictures;             /* of the runs' frames; else of one a scene */
} eb_report_request;

/* Writes a report. Every value shown is read or computed from the files. Fails when a file is not a
 * result file, when gnuplot is missing or fails (its message is passed on), or when the folder
 * cannot be written. */
EB_MUST eb_error eb_report_write(const eb_report_request *request);

#endif
