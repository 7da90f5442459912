#include "harness/suite/ties.h"

#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/suite/words.h"

static eb_error keep(char **field, const char *text, size_t length) {
  free(*field);
  return eb_copy_part(text, length, field);
}

/* ---- from ------------------------------------------------------------------------------------ */

/* A run of a file, "FILE.h5:RUN" or "FILE.h5", or a "LABEL". */
static eb_error set_from(eb_ties *ties, const char *value) {
  static const char ending[] = ".h5", between[] = ".h5:";
  enum { TAIL = sizeof ending - 1 };
  const char *at = strrchr(value, '@');
  if (!at || at == value || !at[1])
    return EB_ERROR(EB_ERR_USAGE,
                    "from wants SECTION@STEP, SECTION@FIRST..LAST or FILE.h5:RUN@STEP, not '%s'",
                    value);
  ties->tied = true;
  const char *file_end = strstr(value, between);
  if (file_end && file_end < at) {
    EB_TRY(keep(&ties->file, value, (size_t)(file_end - value) + TAIL));
    EB_TRY(keep(&ties->donor, file_end + TAIL + 1, (size_t)(at - file_end) - TAIL - 1));
  } else {
    bool file = at - value > TAIL && strncmp(at - TAIL, ending, TAIL) == 0;
    EB_TRY(keep(file ? &ties->file : &ties->donor, value, (size_t)(at - value)));
  }
  return eb_range_parse("from", at + 1, &ties->steps, &ties->single);
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* RANGE stable [scan] */
static eb_error set_search(eb_ties *ties, const char *value, const char *stable) {
  char *range;
  const char *more = stable + strlen(" stable");
  more += strspn(more, " ");
  ties->scan = strcmp(more, "scan") == 0;
  if (*more && !ties->scan)
    return EB_ERROR(EB_ERR_USAGE,
                    "sweep wants 'stable' or, to try every value, 'stable scan' behind its range, "
                    "not 'stable %s'",
                    more);
  while (stable > value && stable[-1] == ' ') stable--;
  EB_TRY(eb_copy_part(value, (size_t)(stable - value), &range));
  eb_axis_clear(&ties->search);
  eb_error error = eb_axis_parse(range, &ties->search);
  free(range);
  if (!error && ties->search.values.count > 0)
    error = EB_ERROR(EB_ERR_USAGE,
                     "sweep wants OPTION:LOW..HIGH step S stable, as in 'beta:0.1..4 step 0.1 "
                     "stable', not '%s'",
                     value);
  return error;
}

static eb_error set_sweep(eb_ties *ties, const char *value) {
  eb_axis axis;
  const char *stable = strstr(value, " stable");
  if (stable) return set_search(ties, value, stable);
  EB_TRY(eb_axis_parse(value, &axis));
  eb_error error = EB_APPEND(ties->axes, ties->axis_count);
  if (error)
    eb_axis_clear(&axis);
  else
    ties->axes[ties->axis_count - 1] = axis;
  return error;
}

/* ---- all ------------------------------------------------------------------------------------- */

eb_error eb_ties_set(eb_ties *ties, const char *name, const char *value, bool *known) {
  *known = true;
  if (strcmp(name, "from") == 0) return set_from(ties, value);
  if (strcmp(name, "stride") == 0) return eb_parse_whole(name, value, 1, 1000000000, &ties->stride);
  if (strcmp(name, "samples") == 0) return eb_parse_whole(name, value, 1, 1000000, &ties->samples);
  if (strcmp(name, "group") == 0) return keep(&ties->group, value, strlen(value));
  if (strcmp(name, "sweep") == 0) return set_sweep(ties, value);
  if (strcmp(name, "checkpoints") == 0) {
    eb_ranges_clear(&ties->checkpoints);
    return eb_ranges_parse(name, value, &ties->checkpoints);
  }
  *known = false;
  return EB_OK;
}

eb_error eb_ties_finish(eb_ties *ties) {
  eb_range *steps = &ties->steps;
  int64_t way = steps->last - steps->first;
  if (ties->search.option && ties->axis_count > 0)
    return EB_ERROR(EB_ERR_USAGE, "sweep: a section looks for the least stable value of an option, "
                                  "or has a case for each value; make two of it");
  if (!ties->stride && !ties->samples) return EB_OK;
  if (!ties->tied || ties->single)
    return EB_ERROR(EB_ERR_USAGE, "%s is of samples: it wants from = SECTION@FIRST..LAST beside it",
                    ties->stride ? "stride" : "samples");
  if (ties->stride && ties->samples)
    return EB_ERROR(EB_ERR_USAGE, "stride and samples say the same: give one of them");
  if (ties->stride && steps->stride > 1)
    return EB_ERROR(EB_ERR_USAGE, "from has a stride already, behind its '/'");
  if (ties->samples > way + 1)
    return EB_ERROR(EB_ERR_USAGE, "samples = %lld, but there are only %lld states in %lld..%lld",
                    (long long)ties->samples, (long long)way + 1, (long long)steps->first,
                    (long long)steps->last);
  if (ties->stride) steps->stride = ties->stride;
  if (ties->samples == 1) steps->last = steps->first;
  if (ties->samples > 1) {
    steps->stride = way / (ties->samples - 1);
    steps->last = steps->first + (ties->samples - 1) * steps->stride;
  }
  steps->last -= (steps->last - steps->first) % steps->stride;
  return EB_OK;
}

void eb_ties_clear(eb_ties *ties) {
  free(ties->file);
  free(ties->donor);
  free(ties->group);
  eb_axis_clear(&ties->search);
  for (int i = 0; i < ties->axis_count; i++) eb_axis_clear(&ties->axes[i]);
  free(ties->axes);
  eb_ranges_clear(&ties->checkpoints);
  *ties = (eb_ties){0};
}
