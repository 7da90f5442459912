#include "harness/reproduce/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/sample.h"
#include "problems/base/memory.h"

static const double hair = 1e-9; /* s, and relative: times are sums of steps */

/* ---- making ---------------------------------------------------------------------------------- */

eb_value eb_value_number(double number) {
  return (eb_value){.kind = EB_VALUE_NUMBER,
                    .number = number,
                    .knowledge = isfinite(number) ? EB_KNOWN : EB_UNKNOWN};
}

eb_value eb_value_truth(eb_truth truth) {
  return (eb_value){.kind = EB_VALUE_TRUTH, .truth = truth};
}

eb_error eb_value_series(size_t count, bool with_time, eb_value *out) {
  *out = (eb_value){.kind = EB_VALUE_SERIES, .count = count, .first = 1, .a_frame = 1};
  EB_TRY(EB_NEW(out->y, count));
  if (with_time) EB_TRY(EB_NEW(out->time, count));
  return EB_OK;
}

eb_error eb_value_text(const char *text, eb_value *out) {
  *out = (eb_value){.kind = EB_VALUE_TEXT};
  return eb_copy(text, &out->text);
}

eb_error eb_value_append(eb_value *list, const eb_value *number) {
  if (number->kind != EB_VALUE_NUMBER)
    return EB_ERROR(EB_ERR_FORMAT, "a list is of numbers, not of %s",
                    number->kind == EB_VALUE_SERIES ? "series: take the mean, max, .. of each"
                                                    : eb_value_kind_name(number->kind));
  EB_TRY(EB_APPEND(list->y, list->count));
  list->y[list->count - 1] = number->number;
  list->may_rise |= number->may_rise;
  list->may_fall |= number->may_fall;
  eb_value_taint(list, number);
  return EB_OK;
}

void eb_value_clear(eb_value *value) {
  free(value->y);
  free(value->time);
  free(value->text);
  *value = (eb_value){0};
}

void eb_value_taint(eb_value *to, const eb_value *from) {
  if (from->knowledge > to->knowledge) to->knowledge = from->knowledge;
  to->timed |= from->timed;
  to->bound |= from->bound;
}

const char *eb_value_kind_name(eb_value_kind kind) {
  static const char *const names[] = {"a number", "a series", "a text", "a condition"};
  return names[kind];
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

double eb_finite_or_nan(double number) {
  return isfinite(number) ? number : NAN;
}

static double combine(eb_operator op, double a, double b) {
  double result = op == EB_OP_ADD        ? a + b
                  : op == EB_OP_SUBTRACT ? a - b
                  : op == EB_OP_MULTIPLY ? a * b
                  : op == EB_OP_DIVIDE   ? a / b
                                         : pow(a, b);
  return eb_finite_or_nan(result);
}

/* How a result moves when a or b does: sums with them, differences and quotients against b. Factors
 * that may be negative, and powers, can do either. */
static void move(eb_operator op, const eb_value *a, const eb_value *b, eb_value *out) {
  bool against = op == EB_OP_SUBTRACT || op == EB_OP_DIVIDE;
  bool plain = op == EB_OP_ADD || op == EB_OP_SUBTRACT ||
               (op != EB_OP_POWER && a->number >= 0 && b->number >= 0);
  bool any = a->may_rise || a->may_fall || b->may_rise || b->may_fall;
  out->may_rise = plain ? a->may_rise || (against ? b->may_fall : b->may_rise) : any;
  out->may_fall = plain ? a->may_fall || (against ? b->may_rise : b->may_fall) : any;
}

static eb_error like(const eb_value *series, size_t count, eb_value *out) {
  EB_TRY(eb_value_series(count, series->time != NULL, out));
  if (series->time && count > 0) memcpy(out->time, series->time, count * sizeof *out->time);
  out->start = series->start;
  out->first = series->first;
  out->warmup = series->warmup;
  out->a_frame = series->a_frame;
  out->cut = series->cut;
  eb_value_taint(out, series);
  return EB_OK;
}

eb_error eb_value_combine(eb_operator op, const eb_value *a, const eb_value *b, eb_value *out) {
  *out = (eb_value){0};
  if ((a->kind != EB_VALUE_NUMBER && a->kind != EB_VALUE_SERIES) ||
      (b->kind != EB_VALUE_NUMBER && b->kind != EB_VALUE_SERIES))
    return EB_ERROR(EB_ERR_FORMAT, "%s and %s cannot be calculated with",
                    eb_value_kind_name(a->kind), eb_value_kind_name(b->kind));
  if (a->kind == EB_VALUE_NUMBER && b->kind == EB_VALUE_NUMBER) {
    *out = eb_value_number(combine(op, a->number, b->number));
    move(op, a, b, out);
  } else {
    const eb_value *series = a->kind == EB_VALUE_SERIES ? a : b;
    size_t count = series->count;
    if (b->kind == EB_VALUE_SERIES && b->count < count) count = b->count;
    EB_TRY(like(series, count, out));
    for (size_t i = 0; i < count; i++)
      out->y[i] = combine(op, a->y ? a->y[i] : a->number, b->y ? b->y[i] : b->number);
  }
  eb_value_taint(out, a);
  eb_value_taint(out, b);
  return EB_OK;
}

eb_error eb_value_negate(const eb_value *a, eb_value *out) {
  const eb_value zero = eb_value_number(0);
  return eb_value_combine(EB_OP_SUBTRACT, &zero, a, out);
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool eb_compare_numbers(double a, eb_comparison comparison, double b) {
  bool equal = a == b || fabs(a - b) <= hair * fmax(fabs(a), fabs(b));
  switch (comparison) {
  case EB_LESS:
    return a < b;
  case EB_LESS_EQUAL:
    return a <= b || equal;
  case EB_EQUAL:
    return equal;
  case EB_GREATER_EQUAL:
    return a >= b || equal;
  case EB_GREATER:
    return a > b;
  default:
    return !equal;
  }
}

/* What holds now may cease to when a - b moves that way, and the other way round. */
static eb_truth with_movement(double a, eb_comparison comparison, double b, bool rises,
                              bool falls) {
  bool holds = eb_compare_numbers(a, comparison, b), moves = rises || falls;
  if (comparison == EB_LESS || comparison == EB_LESS_EQUAL) moves = holds ? rises : falls;
  if (comparison == EB_GREATER || comparison == EB_GREATER_EQUAL) moves = holds ? falls : rises;
  /* What is apart meets only by moving towards the other. */
  if (holds == (comparison == EB_NOT_EQUAL) &&
      (comparison == EB_EQUAL || comparison == EB_NOT_EQUAL))
    moves = a > b ? falls : rises;
  return moves ? EB_UNDECIDED : holds ? EB_TRUE : EB_FALSE;
}

eb_error eb_value_compare(const eb_value *a, eb_comparison comparison, const eb_value *b,
                          eb_truth *out) {
  bool texts = a->kind == EB_VALUE_TEXT && b->kind == EB_VALUE_TEXT &&
               (comparison == EB_EQUAL || comparison == EB_NOT_EQUAL);
  *out = EB_UNDECIDED;
  if (!texts && (a->kind != EB_VALUE_NUMBER || b->kind != EB_VALUE_NUMBER))
    return EB_ERROR(EB_ERR_FORMAT, "%s cannot be compared with %s by '%s'%s",
                    eb_value_kind_name(a->kind), eb_value_kind_name(b->kind),
                    eb_comparison_sign(comparison),
                    a->kind == EB_VALUE_SERIES || b->kind == EB_VALUE_SERIES
                        ? ": take its mean, median, min, max, sum, first, last or count"
                        : "");
  if (a->knowledge || b->knowledge) return EB_OK;
  if (texts)
    *out = (strcmp(a->text, b->text) == 0) == (comparison == EB_EQUAL) ? EB_TRUE : EB_FALSE;
  else
    *out = with_movement(a->number, comparison, b->number, a->may_rise || b->may_fall,
                         a->may_fall || b->may_rise);
  return EB_OK;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* What the rest of a run could do to a reduction. Means and medians of what there is stand for the
 * whole. */
typedef enum reduction { MEAN, MEDIAN, MIN, MAX, SUM, FIRST, LAST, COUNT, REDUCTIONS } reduction;
static const struct {
  const char *name;
  bool warm, rises, falls;
} reductions[REDUCTIONS] = {{"mean", true, false, false}, {"median", true, false, false},
                            {"min", true, false, true},   {"max", true, true, false},
                            {"sum", false, true, true},   {"first", false, false, false},
                            {"last", false, true, true},  {"count", false, true, false}};

static int find_reduction(const char *name) {
  return eb_find(reductions, REDUCTIONS, sizeof *reductions, name, strlen(name));
}

/* Medians sort what they are given. */
static double reduce(reduction r, double *y, size_t count) {
  switch (r) {
  case MEAN:
    return eb_sample_mean(y, count);
  case MEDIAN:
    return eb_sample_median(y, count);
  case MIN:
    return eb_sample_min(y, count);
  case MAX:
    return eb_sample_max(y, count);
  case SUM:
    return eb_sample_sum(y, count);
  case COUNT:
    return (double)count;
  default:
    return y[r == LAST ? count - 1 : 0];
  }
}

bool eb_is_reduction(const char *name) {
  return find_reduction(name) >= 0;
}

eb_error eb_value_reduce(const char *name, const eb_value *series, eb_value *out) {
  int r = find_reduction(name);
  double *work;
  *out = eb_value_number(series->number);
  if (series->kind == EB_VALUE_NUMBER) {
    *out = *series;
    return EB_OK;
  }
  if (series->kind != EB_VALUE_SERIES)
    return EB_ERROR(EB_ERR_FORMAT, "%s wants a series, not %s", name,
                    eb_value_kind_name(series->kind));
  size_t skip = reductions[r].warm ? eb_sample_warmup(series->count, series->warmup) : 0;
  EB_TRY(EB_NEW(work, series->count));
  if (series->count > 0) memcpy(work, series->y, series->count * sizeof *work);
  *out = eb_value_number(series->count ? reduce((reduction)r, work + skip, series->count - skip)
                                       : NAN);
  free(work);
  out->may_rise = series->cut && reductions[r].rises;
  out->may_fall = series->cut && reductions[r].falls;
  eb_value_taint(out, series);
  return EB_OK;
}

/* ---- parts of series ------------------------------------------------------------------------- */

/* Whether value i of a series is behind an end or, with `at`, at it. */
static bool is_behind(const eb_value *s, size_t i, char unit, double end, bool at) {
  double step = (double)(s->first + i);
  if (unit == '1') return at ? step >= end : step > end;
  if (unit == '%') return (double)i >= floor(end * (double)s->count + hair);
  return s->time && (at ? s->time[i] >= end - hair : s->time[i] > end + hair);
}

eb_error eb_value_window(const eb_value *s, const eb_window_end *from, const eb_value *from_time,
                         const eb_window_end *to, const eb_value *to_time, eb_value *out) {
  size_t first = 0, last = s->count;
  *out = eb_value_number(NAN);
  if (s->kind != EB_VALUE_SERIES)
    return EB_ERROR(EB_ERR_FORMAT, "a window is cut out of a series, not of %s",
                    eb_value_kind_name(s->kind));
  double begin = from_time ? from_time->number : from->number,
         end = to_time ? to_time->number : to->number;
  while (from->unit && first < last && !is_behind(s, first, from->unit, begin, true)) first++;
  while (to->unit && last > first && is_behind(s, last - 1, to->unit, end, false)) last--;
  EB_TRY(like(s, last - first, out));
  if (out->count > 0) memcpy(out->y, s->y + first, out->count * sizeof *out->y);
  if (out->count > 0 && s->time) memcpy(out->time, s->time + first, out->count * sizeof *out->time);
  out->first = s->first + first;
  if (first > 0 && s->time) out->start = s->time[first - 1];
  out->warmup = first < s->warmup ? s->warmup - first : 0;
  /* An end that the run has reached closes the window. */
  bool reached = (to->unit == '1' && (double)(s->first + s->count - 1) >= end) ||
                 ((to->unit == 's' || to->unit == '(') && s->time && s->count &&
                  s->time[s->count - 1] >= end - hair && !(to_time && to_time->may_rise));
  out->cut = (s->cut && !reached) || (to_time && to_time->may_rise);
  if (from_time) eb_value_taint(out, from_time);
  if (to_time) eb_value_taint(out, to_time);
  return EB_OK;
}

void eb_value_clip(eb_value *series, double time) {
  if (!series->time) return;
  while (series->count && series->time[series->count - 1] > time + hair) {
    series->count--;
    series->cut = true;
  }
}

eb_error eb_value_frames(const eb_value *s, eb_value *out) {
  *out = (eb_value){0};
  if (s->kind != EB_VALUE_SERIES)
    return EB_ERROR(EB_ERR_FORMAT, "frame wants a series, not %s", eb_value_kind_name(s->kind));
  size_t a_frame = s->a_frame ? s->a_frame : 1;
  EB_TRY(like(s, s->count / a_frame, out));
  for (size_t f = 0; f < out->count; f++) {
    for (size_t k = 0; k < a_frame; k++) out->y[f] += s->y[f * a_frame + k];
    if (s->time) out->time[f] = s->time[(f + 1) * a_frame - 1];
  }
  out->warmup = (s->warmup + a_frame - 1) / a_frame;
  out->a_frame = 1;
  return EB_OK;
}

double eb_value_integral(const eb_value *s) {
  double sum = 0;
  for (size_t i = 0; i < s->count; i++) {
    sum += s->y[i] * (s->time[i] - (i ? s->time[i - 1] : s->start));
  }
  return sum;
}
