#include "harness/reproduce/course.h"

#include <stdlib.h>

void eb_course_clear(eb_course *course) {
  free(course->x);
  free(course->y);
  *course = (eb_course){0};
}
