/* A quantity of a run step by step: for measures and for curves. */
#ifndef EB_REPRODUCE_COURSE_H
#define EB_REPRODUCE_COURSE_H

#include "harness/reproduce/evidence.h"

typedef struct eb_course {
  size_t count;
  double *x, *y; /* simulated time at the end of the step, s; the value */
} eb_course;

/* Whether there is a quantity of that name: "residual" (the first that the solver logs in each step) or a column of steps/. */
EB_MUST eb_error eb_course_check(const char *quantity);
/* count is 0 without a run. The caller clears *out. */
EB_MUST eb_error eb_course_read(const eb_evidence *evidence, int case_, const char *quantity,
                                eb_course *out);
void eb_course_clear(eb_course *course);

#endif
