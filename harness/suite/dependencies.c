#include "harness/suite/dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/notation/words.h"
#include "problems/base/memory.h"

static eb_error keep(char **field, const char *text, size_t length) {
  free(*field);
  return eb_copy_part(text, length, field);
}

/* ---- from ------------------------------------------------------------------------------------ */

/* A run of a file, "FILE.h5:RUN" or "FILE.h5", or a "LABEL". */
static eb_error set_from(eb_dependencies *dependencies, const char *value) {
  static const char ending[] = ".h5", between[] = ".h5:";
  enum { TAIL = sizeof ending - 1 };
  const char *at = strrchr(value, '@');
  if (!at || at == value || !at[1])
    return EB_ERROR(EB_ERR_USAGE,
                    "from wants SECTION@STEP, SECTION@FIRST..LAST or FILE.h5:RUN@STEP, not '%s'",
                    value);
  dependencies->tied = true;
  const char *file_end = strstr(value, between);
  if (file_end && file_end < at) {
    EB_TRY(keep(&dependencies->file, value, (size_t)(file_end - value) + TAIL));
    EB_TRY(
        keep(&dependencies->source_run, file_end + TAIL + 1, (size_t)(at - file_end) - TAIL - 1));
  } else {
    bool file = at - value > TAIL && strncmp(at - TAIL, ending, TAIL) == 0;
    EB_TRY(
        keep(file ? &dependencies->file : &dependencies->source_run, value, (size_t)(at - value)));
  }
  return eb_range_parse("from", at + 1, &dependencies->steps, &dependencies->single);
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* RANGE stable [scan] */
static eb_error set_search(eb_dependencies *dependencies, const char *value, const char *stable) {
  char *range;
  const char *more = stable + strlen(" stable");
  more += strspn(more, " ");
  dependencies->scan = strcmp(more, "scan") == 0;
  if (*more && !dependencies->scan)
    return EB_ERROR(EB_ERR_USAGE,
                    "sweep wants 'stable' or, to try every value, 'stable scan' behind its range, "
                    "not 'stable %s'",
                    more);
  while (stable > value && stable[-1] == ' ') stable--;
  EB_TRY(eb_copy_part(value, (size_t)(stable - value), &range));
  eb_axis_clear(&dependencies->search);
  eb_error error = eb_axis_parse(range, &dependencies->search);
  free(range);
  if (!error && dependencies->search.values.count > 0)
    error = EB_ERROR(EB_ERR_USAGE,
                     "sweep wants OPTION:LOW..HIGH step S stable, as in 'beta:0.1..4 step 0.1 "
                     "stable', not '%s'",
                     value);
  return error;
}

static eb_error set_sweep(eb_dependencies *dependencies, const char *value) {
  eb_axis axis;
  const char *stable = strstr(value, " stable");
  if (stable) return set_search(dependencies, value, stable);
  EB_TRY(eb_axis_parse(value, &axis));
  eb_error error = EB_APPEND(dependencies->axes, dependencies->axis_count);
  if (error)
    eb_axis_clear(&axis);
  else
    dependencies->axes[dependencies->axis_count - 1] = axis;
  return error;
}

/* ---- all ------------------------------------------------------------------------------------- */

eb_error eb_dependencies_set(eb_dependencies *dependencies, const char *name, const char *value,
                             bool *known) {
  *known = true;
  if (strcmp(name, "from") == 0) return set_from(dependencies, value);
  if (strcmp(name, "stride") == 0)
    return eb_parse_whole(name, value, 1, 1000000000, &dependencies->stride);
  if (strcmp(name, "samples") == 0)
    return eb_parse_whole(name, value, 1, 1000000, &dependencies->samples);
  if (strcmp(name, "group") == 0) return keep(&dependencies->group, value, strlen(value));
  if (strcmp(name, "sweep") == 0) return set_sweep(dependencies, value);
  if (strcmp(name, "checkpoints") == 0) {
    eb_ranges_clear(&dependencies->checkpoints);
    return eb_ranges_parse(name, value, &dependencies->checkpoints);
  }
  *known = false;
  return EB_OK;
}

eb_error eb_dependencies_finish(eb_dependencies *dependencies) {
  eb_range *steps = &dependencies->steps;
  int64_t way = steps->last - steps->first;
  if (dependencies->search.option && dependencies->axis_count > 0)
    return EB_ERROR(EB_ERR_USAGE, "sweep: a section looks for the least stable value of an option, "
                                  "or has a case for each value; make two of it");
  if (!dependencies->stride && !dependencies->samples) return EB_OK;
  if (!dependencies->tied || dependencies->single)
    return EB_ERROR(EB_ERR_USAGE, "%s is of samples: it wants from = SECTION@FIRST..LAST beside it",
                    dependencies->stride ? "stride" : "samples");
  if (dependencies->stride && dependencies->samples)
    return EB_ERROR(EB_ERR_USAGE, "stride and samples say the same: give one of them");
  if (dependencies->stride && steps->stride > 1)
    return EB_ERROR(EB_ERR_USAGE, "from has a stride already, behind its '/'");
  if (dependencies->samples > way + 1)
    return EB_ERROR(EB_ERR_USAGE, "samples = %lld, but there are only %lld states in %lld..%lld",
                    (long long)dependencies->samples, (long long)way + 1, (long long)steps->first,
                    (long long)steps->last);
  if (dependencies->stride) steps->stride = dependencies->stride;
  if (dependencies->samples == 1) steps->last = steps->first;
  if (dependencies->samples > 1) {
    steps->stride = way / (dependencies->samples - 1);
    steps->last = steps->first + (dependencies->samples - 1) * steps->stride;
  }
  steps->last -= (steps->last - steps->first) % steps->stride;
  return EB_OK;
}

void eb_dependencies_clear(eb_dependencies *dependencies) {
  free(dependencies->file);
  free(dependencies->source_run);
  free(dependencies->group);
  eb_axis_clear(&dependencies->search);
  for (int i = 0; i < dependencies->axis_count; i++) eb_axis_clear(&dependencies->axes[i]);
  free(dependencies->axes);
  eb_ranges_clear(&dependencies->checkpoints);
  *dependencies = (eb_dependencies){0};
}
