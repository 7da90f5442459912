/* From how a case's process ended to its part of the results. */
#ifndef EB_CASE_CRASH_RECORD_H
#define EB_CASE_CRASH_RECORD_H

#include "harness/case/case.h"
#include "harness/case/child.h"

enum { EB_EXIT_HARNESS = 74 /* a case's process could not write its result */ };

/* Makes the file `finished` of `raw`, which the process wrote: as it is when the process had
 * completed it, however it ended then, which the detail mentions; with the cause of the end when it
 * was cut off but the file is readable; a record of the cause alone otherwise. *run receives the
 * attributes; the caller clears it. An error means that results cannot be written here: a process
 * that could not write its own is a case that failed, unless the folder takes no more. */
EB_MUST eb_error eb_crash_record(const eb_case *work, const eb_child_end *end,
                                 const char *environment, const char *raw, const char *finished,
                                 eb_run *run);

#endif
