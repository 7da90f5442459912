/* Solvers of contact problems side by side at equal merit: each is run to tighter and tighter
 * tolerances of its own until eb_fclib_merit of what it gives is good enough, and that run's time
 * counts. */
#ifndef EB_FCLIB_FCLIB_COMPARE_H
#define EB_FCLIB_FCLIB_COMPARE_H

#include <stdbool.h>

#include "problems/base/strings.h"

typedef struct eb_fclib_race {
  const eb_strings *files;   /* of FCLib */
  const eb_strings *solvers; /* "contact-al:o=v,.." or "siconos-nsgs"; none: every one there is */
  double merit;              /* asked for */
  double timeout;            /* s a solve, the reading of the file with it */
  int repeats;               /* of the run that counts: the median time */
} eb_fclib_race;

/* Prints a table, seconds with the best of each problem marked, and shares of the problems that are
 * solved within factors of the best time (Dolan and More 2002); with json a line for each problem
 * and solver. Each solve is a process of its own: what crashes, hangs or gives up has failed. */
EB_MUST eb_error eb_fclib_compare(const eb_fclib_race *race, bool json);

#endif
