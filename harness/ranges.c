#include "harness/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"

/* ---- one range ------------------------------------------------------------------------------- */

enum { LONGEST = 64 /* bytes of a range as text */ };
static const int64_t most_steps = 1000000000;

static eb_error parse_step(const char *what, const char *from, size_t length, int64_t least,
                           int64_t *out) {
  char text[LONGEST];
  snprintf(text, sizeof text, "%.*s", (int)length, from);
  return eb_parse_whole(what, text, least, most_steps, out);
}

eb_error eb_range_parse(const char *what, const char *text, eb_range *out, bool *single) {
  const char *dots = strstr(text, ".."), *slash = strchr(text, '/');
  size_t length = slash ? (size_t)(slash - text) : strlen(text);
  if (strlen(text) >= LONGEST)
    return EB_ERROR(EB_ERR_USAGE, "%s: '%.20s...' is too long for a range of steps", what, text);
  *single = !dots;
  out->stride = 1;
  if (slash && !dots)
    return EB_ERROR(EB_ERR_USAGE, "%s: '%s' has a stride, but is no range FIRST..LAST", what, text);
  if (slash) EB_TRY(parse_step(what, slash + 1, strlen(slash + 1), 1, &out->stride));
  EB_TRY(parse_step(what, text, dots ? (size_t)(dots - text) : length, 0, &out->first));
  out->last = out->first;
  if (dots) EB_TRY(parse_step(what, dots + 2, length - (size_t)(dots + 2 - text), 0, &out->last));
  if (out->last < out->first)
    return EB_ERROR(EB_ERR_USAGE, "%s: the range %s ends before it begins", what, text);
  out->last -= (out->last - out->first) % out->stride;
  return EB_OK;
}

int64_t eb_range_count(eb_range range) {
  return (range.last - range.first) / range.stride + 1;
}

void eb_range_print(eb_range range, bool single, char *out, size_t bytes) {
  if (single && range.first == range.last)
    snprintf(out, bytes, "%" PRId64, range.first);
  else if (range.stride == 1)
    snprintf(out, bytes, "%" PRId64 "..%" PRId64, range.first, range.last);
  else
    snprintf(out, bytes, "%" PRId64 "..%" PRId64 "/%" PRId64, range.first, range.last,
             range.stride);
}

/* ---- several --------------------------------------------------------------------------------- */

static int compare(eb_range a, eb_range b) {
  if (a.first != b.first) return a.first < b.first ? -1 : 1;
  if (a.last != b.last) return a.last < b.last ? -1 : 1;
  return (a.stride > b.stride) - (a.stride < b.stride);
}

eb_error eb_ranges_add(eb_ranges *ranges, eb_range range) {
  int at = 0;
  while (at < ranges->count && compare(ranges->items[at], range) < 0) at++;
  if (at < ranges->count && compare(ranges->items[at], range) == 0) return EB_OK;
  EB_TRY(EB_APPEND(ranges->items, ranges->count));
  eb_range *here = &ranges->items[at];
  memmove(here + 1, here, (size_t)(ranges->count - 1 - at) * sizeof *here);
  *here = range;
  return EB_OK;
}

eb_error eb_ranges_add_all(eb_ranges *ranges, const eb_ranges *more) {
  for (int i = 0; i < more->count; i++) EB_TRY(eb_ranges_add(ranges, more->items[i]));
  return EB_OK;
}

eb_error eb_ranges_parse(const char *what, const char *text, eb_ranges *out) {
  static const char between[] = " ,";
  eb_error error = EB_OK;
  *out = (eb_ranges){0};
  for (const char *at = text + strspn(text, between); *at && !error; at += strspn(at, between)) {
    char word[LONGEST + 1]; /* one that is cut is too long for a range */
    size_t length = strcspn(at, between);
    eb_range range;
    bool single;
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    at += length;
    error = eb_range_parse(what, word, &range, &single);
    if (!error) error = eb_ranges_add(out, range);
  }
  if (!error && out->count == 0)
    error = EB_ERROR(EB_ERR_USAGE, "%s wants steps, as in 5,20..40/5", what);
  if (error) eb_ranges_clear(out);
  return error;
}

bool eb_ranges_hold(const eb_ranges *ranges, int64_t step) {
  for (int i = 0; i < ranges->count; i++) {
    const eb_range *r = &ranges->items[i];
    if (step >= r->first && step <= r->last && (step - r->first) % r->stride == 0) return true;
  }
  return false;
}

eb_error eb_ranges_print(const eb_ranges *ranges, eb_text *text) {
  for (int i = 0; i < ranges->count; i++) {
    char one[LONGEST + 32];
    eb_range_print(ranges->items[i], true, one, sizeof one);
    EB_TRY(eb_text_printf(text, "%s%s", i ? "," : "", one));
  }
  return EB_OK;
}

void eb_ranges_clear(eb_ranges *ranges) {
  free(ranges->items);
  *ranges = (eb_ranges){0};
}
