/* An axis of a grid: an option and the values that it takes. */
#ifndef EB_SUITE_AXIS_H
#define EB_SUITE_AXIS_H

#include <stdint.h>

#include "problems/base/strings.h"

struct eb_case;

/* `sweep = OPTION:A|B|C` or `OPTION:LOW..HIGH step S`. */
typedef struct eb_axis {
  char *option;
  eb_strings values; /* as given; none: */
  double low, step;  /* low + i step */
  int64_t count;
} eb_axis;

/* Either of these; EB_ERR_USAGE for what is neither: *out is then empty. */
EB_MUST eb_error eb_axis_parse(const char *value, eb_axis *out);
/* The caller clears *to also after an error. */
EB_MUST eb_error eb_axis_copy(const eb_axis *from, eb_axis *to);
/* The i-th value of a range, as it is written: 0.1 + 2 * 0.1 is 0.3. */
double eb_axis_value(const eb_axis *axis, int64_t i);
/* Gives a case the i-th value: an option of its solver or, where that has none of the name, a
 * parameter of its scene. EB_ERR_USAGE where neither has it. The case is to be resolved then. */
EB_MUST eb_error eb_axis_assign(const eb_axis *axis, int64_t i, struct eb_case *work);
/* Appends the i-th value. */
EB_MUST eb_error eb_axis_put(const eb_axis *axis, int64_t i, eb_text *out);
/* Appends the option and all of its values. */
EB_MUST eb_error eb_axis_describe(const eb_axis *axis, eb_text *out);
void eb_axis_clear(eb_axis *axis);

#endif
