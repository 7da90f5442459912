/* Figures of checks on their way to a file: as they come, or as tests when all are there. */
#ifndef EB_CHECK_PRINTER_H
#define EB_CHECK_PRINTER_H

#include "harness/check/check.h"
#include "harness/status_line.h"

/* A figure that waits until all are there. */
typedef struct eb_check_waiting {
  char *suite, *name, *message, *detail;
  bool passed;
} eb_check_waiting;

typedef struct eb_check_printer {
  FILE *out;
  eb_check_format format;
  int count, failed;
  eb_check_waiting *waiting; /* of formats that want all figures */
  int waiting_count;
  eb_error error; /* the first that kept one from waiting */
  eb_status_line status;
  const char *solver, *group; /* that it shows */
} eb_check_printer;

/* Whose figures and groups are printed: emit, begin and context are set; the printer outlives it.
 */
eb_check eb_check_printer_open(eb_check_printer *printer, FILE *out, eb_check_format format);
/* Prints what is left, whatever came before, and releases it. */
EB_MUST eb_error eb_check_printer_close(eb_check_printer *printer, int *failed);

#endif
