/* An axis of a grid: an option and the values that it takes. */
#ifndef EB_SUITE_AXIS_H
#define EB_SUITE_AXIS_H

#include <stdint.h>

#include "harness/strings.h"

/* `sweep = OPTION:A|B|C` or `OPTION:LOW..HIGH step S`. */
typedef struct eb_axis {
  char *option;
  eb_strings values; /* as given; none: */
  double low, step;  /* low + i step */
  int64_t count;
} eb_axis;

/* EB_ERR_USAGE for what is neither; *out is then empty. */
EB_MUST eb_error eb_axis_parse(const char *value, eb_axis *out);
/* The caller clears *to also after an error. */
EB_MUST eb_error eb_axis_copy(const eb_axis *from, eb_axis *to);
/* Appends the i-th value. */
EB_MUST eb_error eb_axis_put(const eb_axis *axis, int64_t i, eb_text *out);
/* Appends the option and all of its values. */
EB_MUST eb_error eb_axis_describe(const eb_axis *axis, eb_text *out);
void eb_axis_clear(eb_axis *axis);

#endif
