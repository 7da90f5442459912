/* A quantity step by step, for curves. */
#ifndef EB_REPRODUCE_COURSE_H
#define EB_REPRODUCE_COURSE_H

#include <stddef.h>

typedef struct eb_course {
  size_t count;
  double *x,
      *y; /* simulated time at the end of the step, s, or the number of an iteration; the value */
} eb_course;

void eb_course_clear(eb_course *course);

#endif
