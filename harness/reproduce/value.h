/* What expressions are worth: numbers, series, texts and truths, and what is known of them. */
#ifndef EB_REPRODUCE_VALUE_H
#define EB_REPRODUCE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "problems/notation/expression.h"

typedef enum eb_value_kind {
  EB_VALUE_NUMBER,
  EB_VALUE_SERIES,
  EB_VALUE_TEXT,
  EB_VALUE_TRUTH
} eb_value_kind;

/* Whether there is evidence. The worst of its parts is that of a whole. */
typedef enum eb_knowledge {
  EB_KNOWN,
  EB_UNKNOWN, /* not measured, contradicted by the audit, or not a number */
  EB_FAILED   /* the solver failed where its success is asked for */
} eb_knowledge;

typedef enum eb_truth { EB_FALSE, EB_TRUE, EB_UNDECIDED } eb_truth;

typedef struct eb_value {
  eb_value_kind kind;
  eb_knowledge knowledge;
  bool timed; /* rests on measured times: another repetition has another value */
  bool bound; /* rests on a time that a limit has cut off: may_rise, may_fall come before noise */
  /* A number of a run that stops before its end: more of the run could make it larger, or
   * smaller. */
  bool may_rise, may_fall;
  double number;
  eb_truth truth;
  char *text;
  /* A series: a value a step, a frame or a word of a loop. */
  double *y, *time; /* time: s, at the end of the step; NULL for what has none */
  double start;     /* s: the time before the first value */
  size_t count;
  size_t first;   /* number of the first value in the run, from 1 */
  size_t warmup;  /* leading values that mean, median, min and max leave out */
  size_t a_frame; /* values a frame */
  bool cut;       /* the run goes on behind the last value */
} eb_value;

/* What is not finite is not known: no bound is judged by it. In a series it is NaN. */
eb_value eb_value_number(double number);
double eb_finite_or_nan(double number);
eb_value eb_value_truth(eb_truth truth);
/* A series of `count` zeros; the caller fills y and, `with_time`, time. */
EB_MUST eb_error eb_value_series(size_t count, bool with_time, eb_value *out);
EB_MUST eb_error eb_value_text(const char *text, eb_value *out);
/* Adds a number to a list, which is a series without times. EB_ERR_FORMAT for other kinds. */
EB_MUST eb_error eb_value_append(eb_value *list, const eb_value *number);
void eb_value_clear(eb_value *value);
/* Makes `to` as little known, and as much a matter of time, as `from`. */
void eb_value_taint(eb_value *to, const eb_value *from);
/* "a number", "a series", .. */
const char *eb_value_kind_name(eb_value_kind kind);

/* out = a op b or op a, of numbers and series. A series with a number is taken value by value; two
 * series over the values that both have. EB_ERR_FORMAT for other kinds. */
EB_MUST eb_error eb_value_negate(const eb_value *a, eb_value *out);
EB_MUST eb_error eb_value_combine(eb_operator op, const eb_value *a, const eb_value *b,
                                  eb_value *out);

/* Whether a comparison holds for numbers that are known; "=" and "!=" to rounding. */
bool eb_compare_numbers(double a, eb_comparison comparison, double b);
/* The same with what the rest of a shortened run could change; EB_UNDECIDED for what is not known.
 * Texts are equal or not. EB_ERR_FORMAT for other kinds. */
EB_MUST eb_error eb_value_compare(const eb_value *a, eb_comparison comparison, const eb_value *b,
                                  eb_truth *out);

/* mean, median, min, max, sum, first, last or count of a series, a number: itself. Means, medians
 * and extremes of times leave out the warm-up. The smallest and the largest of what has something
 * that is not a number are not numbers. NULL: no such reduction. */
EB_MUST eb_error eb_value_reduce(const char *name, const eb_value *series, eb_value *out);
bool eb_is_reduction(const char *name);

/* The part of a series inside a window; `from_time` and `to_time` are the times that calls gave as
 * ends. */
EB_MUST eb_error eb_value_window(const eb_value *series, const eb_window_end *from,
                                 const eb_value *from_time, const eb_window_end *to,
                                 const eb_value *to_time, eb_value *out);
/* Drops what is later than `time`; the series is then cut. */
void eb_value_clip(eb_value *series, double time);
/* Sums over the steps of each frame. */
EB_MUST eb_error eb_value_frames(const eb_value *series, eb_value *out);
/* Sum of y dt, dt the time since the value before it in the run. */
double eb_value_integral(const eb_value *series);

#endif
