/* Results of tests as systems for continuous integration read them.
 *
 * Texts are any bytes: what is no UTF-8, and control characters, become '?'. */
#ifndef EB_RESULTS_CI_H
#define EB_RESULTS_CI_H

#include <stdio.h>

#include "problems/base/error.h"

typedef enum eb_ci_verdict {
  EB_CI_PASSED,
  EB_CI_FAILED,  /* what was tested is wrong */
  EB_CI_SKIPPED, /* it was not tested */
  EB_CI_ERROR    /* the test did not come to its end */
} eb_ci_verdict;

typedef struct eb_ci_test {
  const char *suite, *name; /* of one suite all names should differ */
  double seconds;           /* that it took; not finite or below 0: not told */
  eb_ci_verdict verdict;
  const char *message, *detail; /* one line, and all there is to say; NULL: nothing */
} eb_ci_test;

/* JUnit's XML as Jenkins, GitLab and GitHub's reporters read it: <testsuites> of that name with a
 * <testsuite> for each suite, in order of appearance, and in these the tests. EB_ERR_IO when `out`
 * takes no more. */
EB_MUST eb_error eb_ci_junit(FILE *out, const char *name, const eb_ci_test *tests, int count);

/* TAP, version 13 (what it uses means the same in 14): a line "suite: name" a test in their order,
 * below it a block of YAML with duration_ms and, of those that have not passed, severity ("fail" or
 * "error"), message and detail. */
EB_MUST eb_error eb_ci_tap(FILE *out, const eb_ci_test *tests, int count);

#endif
