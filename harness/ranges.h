/* Steps as users write them: "20", "20..40", "20..40/5"; several of them with commas or blanks
 * between. */
#ifndef EB_RANGES_H
#define EB_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/text.h"

/* first, first + stride, .., last: last is one of them. */
typedef struct eb_range {
  int64_t first, last, stride;
} eb_range;

/* Sorted, none twice; ranges may overlap. Start from {0}. */
typedef struct eb_ranges {
  eb_range *items;
  int count;
} eb_ranges;

/* EB_ERR_USAGE for what is no step or range, is reversed or negative; `what` names the option in
 * messages. *single: no ".." was written. A last step that the stride does not meet is brought back
 * to the one before it. */
EB_MUST eb_error eb_range_parse(const char *what, const char *text, eb_range *out, bool *single);
int64_t eb_range_count(eb_range range);
/* "20..40/5"; with `single` and one step, "20". */
void eb_range_print(eb_range range, bool single, char *out, size_t bytes);

/* One range at least; EB_ERR_USAGE as above, and *out is then empty. The caller clears it. */
EB_MUST eb_error eb_ranges_parse(const char *what, const char *text, eb_ranges *out);
EB_MUST eb_error eb_ranges_add(eb_ranges *ranges, eb_range range);
EB_MUST eb_error eb_ranges_add_all(eb_ranges *ranges, const eb_ranges *more);
bool eb_ranges_hold(const eb_ranges *ranges, int64_t step);
/* "5,20..40/5"; nothing is appended for none. */
EB_MUST eb_error eb_ranges_print(const eb_ranges *ranges, eb_text *text);
void eb_ranges_clear(eb_ranges *ranges);

#endif
