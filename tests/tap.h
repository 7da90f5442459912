/* Test Anything Protocol for the test programs: silent about passing details, exact about failing
 * ones. Every program ends with `return tap_done();`. */
#ifndef EB_TESTS_TAP_H
#define EB_TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/error.h"

typedef struct tap_state {
  int run, failed;
} tap_state;

static tap_state tap;

__attribute__((format(printf, 2, 3), unused)) static bool tap_ok(bool passed, const char *format,
                                                                 ...) {
  va_list arguments;
  va_start(arguments, format);
  tap.run++;
  tap.failed += !passed;
  printf("%sok %d - ", passed ? "" : "not ", tap.run);
  vprintf(format, arguments);
  putchar('\n');
  fflush(stdout);
  va_end(arguments);
  return passed;
}

/* |got - want| <= tolerance, printing both when not. */
__attribute__((unused)) static bool tap_near(double got, double want, double tolerance,
                                             const char *name) {
  bool passed = fabs(got - want) <= tolerance;
  tap_ok(passed, "%s", name);
  if (!passed)
    printf("#   got %.17g, want %.17g within %g (off by %g)\n", got, want, tolerance,
           fabs(got - want));
  return passed;
}

/* got <= bound (false for NaN), printing both when not. */
__attribute__((unused)) static bool tap_below(double got, double bound, const char *name) {
  bool passed = got <= bound;
  tap_ok(passed, "%s", name);
  if (!passed) printf("#   got %.17g, bound %g\n", got, bound);
  return passed;
}

/* The call succeeded; prints the message when not. Takes the error. */
__attribute__((unused)) static bool tap_succeeds(eb_error error, const char *name) {
  bool passed = !error;
  tap_ok(passed, "%s", name);
  if (!passed)
    printf("#   %s (%s:%d)\n", eb_error_message(error), eb_error_file(error), eb_error_line(error));
  eb_error_free(error);
  return passed;
}

/* The call failed with this code and a message that holds `fragment`. Takes the error. */
__attribute__((unused)) static bool tap_fails(eb_error error, eb_error_code code,
                                              const char *fragment, const char *name) {
  bool passed =
      error && eb_error_kind(error) == code && strstr(eb_error_message(error), fragment) != NULL;
  tap_ok(passed, "%s", name);
  if (!passed)
    printf("#   wanted code %d and '%s', got code %d and '%s'\n", (int)code, fragment,
           error ? (int)eb_error_kind(error) : 0, eb_error_message(error));
  eb_error_free(error);
  return passed;
}

/* Ends the program when set-up that the other cases need has failed. */
__attribute__((unused)) static void tap_require(eb_error error, const char *what) {
  if (!error) return;
  printf("Bail out! %s: %s\n", what, eb_error_message(error));
  exit(1);
}

__attribute__((unused)) static int tap_done(void) {
  printf("1..%d\n", tap.run);
  return tap.failed != 0;
}

#endif
