/* Data files compiled into the program: what the Makefile embeds, by its path from reports/ or from
 * the root ("gnuplot/style.gp", "html/report.css", "suites/demo.ini"). */
#ifndef EB_EMBEDDED_H
#define EB_EMBEDDED_H

#include <stddef.h>

#include "problems/base/error.h"

typedef struct eb_embedded {
  const char *name;
  const char *data; /* not 0-terminated */
  size_t size;
} eb_embedded;

/* All files, ended by a NULL name. */
extern const eb_embedded eb_embedded_files[];
/* EB_ERR_USAGE when there is no such file. */
EB_MUST eb_error eb_embedded_find(const char *name, eb_embedded *out);

#endif
