#include "harness/suite/ties.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"

static eb_error keep(char **field, const char *text, size_t length) {
  char *copy = strndup(text, length);
  if (!copy) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a setting");
  free(*field);
  *field = copy;
  return EB_OK;
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

static eb_error add_axis(eb_ties *ties, const char *value) {
  size_t count = (size_t)ties->axis_count;
  eb_axis *grown = eb_recalloc(ties->axes, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a sweep");
  ties->axes = grown;
  EB_TRY(eb_axis_parse(value, &grown[count]));
  ties->axis_count++;
  return EB_OK;
}

static eb_error set_sweep(eb_ties *ties, const char *value) {
  static const double rounding = 1e-6, most = 1e6;
  enum { MOST = 60 };
  if (!strstr(value, " stable")) return add_axis(ties, value);
  char option[MOST], low[MOST], range[2 * MOST], step[MOST], word[8] = "", way[6] = "", rest[2];
  int read =
      sscanf(value, "%59[^: ]:%119s step %59s %7s %5s %1s", option, range, step, word, way, rest);
  char *dots = read >= 2 ? strstr(range, "..") : NULL;
  ties->scan = read == 5 && strcmp(way, "scan") == 0;
  if ((read != 4 && !ties->scan) || !dots || strcmp(word, "stable") != 0 || dots - range >= MOST)
    return EB_ERROR(EB_ERR_USAGE,
                    "sweep wants OPTION:LOW..HIGH step S stable, as in 'beta:0.1..4 step 0.1 "
                    "stable', or 'stable scan' to try every value, not '%s'",
                    value);
  snprintf(low, sizeof low, "%.*s", (int)(dots - range), range);
  EB_TRY(eb_parse_real("sweep", low, -1e300, 1e300, &ties->low));
  EB_TRY(eb_parse_real("sweep", dots + 2, -1e300, 1e300, &ties->high));
  EB_TRY(eb_parse_real("the step of sweep", step, 1e-300, 1e300, &ties->step));
  double steps = (ties->high - ties->low) / ties->step;
  if (!(ties->high >= ties->low))
    return EB_ERROR(EB_ERR_USAGE, "sweep: the range %g..%g ends before it begins", ties->low,
                    ties->high);
  if (steps > most || fabs(steps - round(steps)) > rounding * fmax(1, steps))
    return EB_ERROR(EB_ERR_USAGE, "sweep: from %g in steps of %g there is no %g, or over a million",
                    ties->low, ties->step, ties->high);
  return keep(&ties->option, option, strlen(option));
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
  if (ties->option && ties->axis_count > 0)
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
  free(ties->option);
  for (int i = 0; i < ties->axis_count; i++) eb_axis_clear(&ties->axes[i]);
  free(ties->axes);
  eb_ranges_clear(&ties->checkpoints);
  *ties = (eb_ties){0};
}
