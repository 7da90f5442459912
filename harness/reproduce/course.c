#include "harness/reproduce/course.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/statistic.h"
#include "problems/base/memory.h"

eb_error eb_course_check(const char *quantity) {
  if (strcmp(quantity, "residual") == 0 || eb_statistic_is_column(quantity)) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "'%s' is neither residual nor a column of steps/", quantity);
}

/* The first residual of each step; NaN in steps without. */
static eb_error read_residuals(const eb_evidence *e, int run, size_t count, double **out) {
  eb_residuals residuals;
  EB_TRY(eb_results_residuals(e->results, run, &residuals));
  eb_error error = EB_NEW(*out, count);
  for (size_t s = 0; s < count && !error; s++) {
    bool any = s < residuals.steps && residuals.offsets[s] < residuals.offsets[s + 1];
    (*out)[s] = any ? residuals.values[residuals.offsets[s]] : NAN;
  }
  eb_residuals_clear(&residuals);
  return error;
}

static eb_error read_quantity(const eb_evidence *e, int run, const char *quantity, eb_course *out) {
  char path[100];
  size_t count;
  if (strcmp(quantity, "residual") == 0) return read_residuals(e, run, out->count, &out->y);
  snprintf(path, sizeof path, "steps/%s", quantity);
  return eb_results_column(e->results, run, path, &out->y, &count);
}

eb_error eb_course_read(const eb_evidence *e, int case_, const char *quantity, eb_course *out) {
  int run = e->cases[case_].run;
  *out = (eb_course){0};
  if (run < 0) return EB_OK;
  EB_TRY(eb_results_steps(e->results, run, EB_COL_TIME, &out->x, &out->count));
  eb_error error = read_quantity(e, run, quantity, out);
  if (error) eb_course_clear(out);
  return error;
}

void eb_course_clear(eb_course *course) {
  free(course->x);
  free(course->y);
  *course = (eb_course){0};
}
