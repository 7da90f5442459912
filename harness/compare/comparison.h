/* A comparison as people, scripts and build servers read it. */
#ifndef EB_COMPARE_COMPARISON_H
#define EB_COMPARE_COMPARISON_H

#include <stdio.h>

#include "harness/compare/build.h"
#include "harness/compare/compared.h"

typedef enum eb_compare_format {
  EB_COMPARE_TEXT,
  EB_COMPARE_JSON,
  EB_COMPARE_JUNIT,
  EB_COMPARE_TAP,
  EB_COMPARE_FORMATS
} eb_compare_format;
/* "text|json|junit|tap" */
#define EB_COMPARE_FORMAT_NAMES "text|json|junit|tap"
/* EB_ERR_USAGE lists the names there are; NULL is text. */
EB_MUST eb_error eb_compare_format_parse(const char *name, eb_compare_format *out);

/* What is compared: of result files the builds have their paths alone. */
typedef struct eb_compare_title {
  const eb_build *builds; /* EB_SIDES */
  double margin;          /* a share */
  double seconds;         /* wall time of it all */
} eb_compare_title;

/* Of junit and tap, a case is a test, which fails when it is failed, nondeterministic or regressed,
 * and is skipped when inconclusive. */
EB_MUST eb_error eb_compare_print(const eb_comparison *comparison, const eb_compare_title *title,
                                  eb_compare_format format, FILE *out);

#endif
