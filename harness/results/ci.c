/* JUnit's XML: https://github.com/testmoapp/junitxml, which collects what readers agree on; TAP:
 * https://testanything.org. */
#include "harness/results/ci.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"

static bool told(double seconds) {
  return isfinite(seconds) && seconds >= 0;
}

static eb_error finish(FILE *out) {
  if (fflush(out) == 0 && !ferror(out)) return EB_OK;
  return EB_ERROR(EB_ERR_IO, "cannot write the results of tests: %s", strerror(errno));
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

static eb_error put_attribute(FILE *out, const char *name, const char *text) {
  fprintf(out, " %s=\"", name);
  EB_TRY(eb_print_escaped(out, text, eb_xml_attribute));
  fputc('"', out);
  return EB_OK;
}

static void put_seconds(FILE *out, double seconds) {
  if (told(seconds)) fprintf(out, " time=\"%.6f\"", seconds);
}

/* The attributes that count the tests of a suite, or of all where it is NULL. */
static void put_counts(FILE *out, const eb_ci_test *tests, int count, const char *suite) {
  int all = 0, by_verdict[EB_CI_ERROR + 1] = {0};
  double seconds = 0;
  for (int i = 0; i < count; i++) {
    if (suite && strcmp(tests[i].suite, suite) != 0) continue;
    all++;
    by_verdict[tests[i].verdict]++;
    if (told(tests[i].seconds)) seconds += tests[i].seconds;
  }
  fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\"", all,
          by_verdict[EB_CI_FAILED], by_verdict[EB_CI_ERROR], by_verdict[EB_CI_SKIPPED]);
  put_seconds(out, seconds);
}

static eb_error put_case(FILE *out, const eb_ci_test *test) {
  static const char *const elements[] = {
      [EB_CI_FAILED] = "failure", [EB_CI_SKIPPED] = "skipped", [EB_CI_ERROR] = "error"};
  fputs("    <testcase", out);
  EB_TRY(put_attribute(out, "classname", test->suite));
  EB_TRY(put_attribute(out, "name", test->name));
  put_seconds(out, test->seconds);
  if (test->verdict == EB_CI_PASSED && !test->detail) {
    fputs("/>\n", out);
    return EB_OK;
  }
  const char *element = test->verdict == EB_CI_PASSED ? "system-out" : elements[test->verdict];
  fprintf(out, ">\n      <%s", element);
  if (test->verdict != EB_CI_PASSED) EB_TRY(put_attribute(out, "message", test->message));
  fputc('>', out);
  EB_TRY(eb_print_escaped(out, test->detail, eb_xml_content));
  fprintf(out, "</%s>\n    </testcase>\n", element);
  return EB_OK;
}

/* Whether no test before this one is of its suite. */
static bool opens_suite(const eb_ci_test *tests, int test) {
  for (int i = 0; i < test; i++)
    if (strcmp(tests[i].suite, tests[test].suite) == 0) return false;
  return true;
}

static eb_error put_suite(FILE *out, const eb_ci_test *tests, int count, const char *suite) {
  fputs("  <testsuite", out);
  EB_TRY(put_attribute(out, "name", suite));
  put_counts(out, tests, count, suite);
  fputs(">\n", out);
  for (int i = 0; i < count; i++)
    if (strcmp(tests[i].suite, suite) == 0) EB_TRY(put_case(out, &tests[i]));
  fputs("  </testsuite>\n", out);
  return EB_OK;
}

eb_error eb_ci_junit(FILE *out, const char *name, const eb_ci_test *tests, int count) {
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
  EB_TRY(put_attribute(out, "name", name));
  put_counts(out, tests, count, NULL);
  fputs(">\n", out);
  for (int i = 0; i < count; i++)
    if (opens_suite(tests, i)) EB_TRY(put_suite(out, tests, count, tests[i].suite));
  fputs("</testsuites>\n", out);
  return finish(out);
}

/* ---- TAP ------------------------------------------------------------------------------------- */

/* A description ends where its line does, or at a '#'. */
static const eb_escape in_line[] = {{'\n', " "}, {'\t', " "}, {'#', "\\#"}, {'\\', "\\\\"}, {0}};
/* Between double quotes, as YAML and JSON have it. */
static const eb_escape in_quotes[] = {
    {'\n', "\\n"}, {'\t', "\\t"}, {'"', "\\\""}, {'\\', "\\\\"}, {0}};

static eb_error put_entry(FILE *out, const char *key, const char *text) {
  if (!text) return EB_OK;
  fprintf(out, "  %s: \"", key);
  EB_TRY(eb_print_escaped(out, text, in_quotes));
  fputs("\"\n", out);
  return EB_OK;
}

static eb_error put_block(FILE *out, const eb_ci_test *test) {
  bool bad = test->verdict == EB_CI_FAILED || test->verdict == EB_CI_ERROR;
  if (!bad && !told(test->seconds) && !test->detail) return EB_OK;
  fputs("  ---\n", out);
  if (told(test->seconds)) fprintf(out, "  duration_ms: %.3f\n", 1e3 * test->seconds);
  if (bad) {
    fprintf(out, "  severity: %s\n", test->verdict == EB_CI_ERROR ? "error" : "fail");
    EB_TRY(put_entry(out, "message", test->message));
  }
  EB_TRY(put_entry(out, "detail", test->detail));
  fputs("  ...\n", out);
  return EB_OK;
}

static eb_error put_line(FILE *out, const eb_ci_test *test, int number) {
  bool good = test->verdict == EB_CI_PASSED || test->verdict == EB_CI_SKIPPED;
  fprintf(out, "%sok %d - ", good ? "" : "not ", number);
  EB_TRY(eb_print_escaped(out, test->suite, in_line));
  fputs(": ", out);
  EB_TRY(eb_print_escaped(out, test->name, in_line));
  if (test->verdict == EB_CI_SKIPPED) {
    fputs(" # SKIP ", out);
    EB_TRY(eb_print_escaped(out, test->message, in_line));
  }
  fputc('\n', out);
  return put_block(out, test);
}

eb_error eb_ci_tap(FILE *out, const eb_ci_test *tests, int count) {
  fprintf(out, "TAP version 13\n1..%d%s\n", count, count ? "" : " # SKIP there are no tests");
  for (int i = 0; i < count; i++) EB_TRY(put_line(out, &tests[i], i + 1));
  return finish(out);
}
