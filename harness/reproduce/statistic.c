#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/statistic.h"

/* ---- over frames ------------------------------------------------------------------------------ */

typedef double (*figure)(double *values, size_t count);

static double mean_of(double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += values[i];
  return sum / (double)count;
}

static double min_of(double *values, size_t count) {
  double least = values[0];
  for (size_t i = 1; i < count; i++) least = fmin(least, values[i]);
  return least;
}

static double max_of(double *values, size_t count) {
  double most = values[0];
  for (size_t i = 1; i < count; i++) most = fmax(most, values[i]);
  return most;
}

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double median_of(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* The figure of a column over the frames after the first, or over the first when there is no other. */
static eb_error over_frames(const eb_evidence *evidence, int case_, const char *path,
                            int64_t frames, figure f, double *out) {
  double *values;
  size_t count;
  EB_TRY(eb_evidence_series(evidence, case_, path, &values, &count));
  if (frames > 0 && (size_t)frames < count) count = (size_t)frames;
  size_t skip = count > 1 ? 1 : 0;
  *out = count ? f(values + skip, count - skip) : NAN;
  free(values);
  return EB_OK;
}

/* ---- families --------------------------------------------------------------------------------- */

static eb_error frame_figure(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  figure f = strcmp(of, "mean") == 0  ? mean_of
             : strcmp(of, "min") == 0 ? min_of
             : strcmp(of, "max") == 0 ? max_of
                                      : median_of;
  return over_frames(e, case_, "steps/wall", frames, f, out);
}

/* The figure of a phase, or the sum over all of them. */
static eb_error figure_of_phase(const eb_evidence *e, int case_, const char *of, int64_t frames,
                                figure f, double *out) {
  char path[64];
  bool all = strcmp(of, "sum") == 0;
  *out = 0;
  for (int p = 0; p < EB_PHASE_COUNT; p++) {
    double seconds;
    const char *name = eb_phase_name((eb_phase)p);
    if (!all && strcmp(of, name) != 0) continue;
    snprintf(path, sizeof path, "phases/%s", name);
    EB_TRY(over_frames(e, case_, path, frames, f, &seconds));
    *out += seconds;
  }
  if (*out == 0) *out = NAN; /* not timed */
  return EB_OK;
}

static eb_error phase_figure(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  return figure_of_phase(e, case_, of, frames, mean_of, out);
}

static eb_error stage_figure(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  return figure_of_phase(e, case_, of, frames, median_of, out);
}

static eb_error count_figure(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  char path[64];
  snprintf(path, sizeof path, "counters/%s", of);
  return over_frames(e, case_, path, frames, mean_of, out);
}

static eb_error iteration_figure(const eb_evidence *e, int case_, const char *of, int64_t frames,
                                 double *out) {
  char path[64];
  snprintf(path, sizeof path, "counters/%s", eb_counter_name(EB_COUNT_LINEAR_ITERATIONS));
  return over_frames(e, case_, path, frames, strcmp(of, "max") == 0 ? max_of : mean_of, out);
}

static eb_error memory_figure(const eb_evidence *e, int case_, const char *of, int64_t frames,
                              double *out) {
  char path[64];
  (void)frames;
  snprintf(path, sizeof path, "memory/%s", of);
  return eb_results_setup(e->results, e->cases[case_].run, path, out);
}

static eb_error run_figure(const eb_evidence *e, int case_, const char *of, int64_t frames,
                           double *out) {
  const eb_run *run = eb_evidence_run(e, case_);
  (void)frames;
  *out = strcmp(of, "seconds") == 0 ? run->setup_seconds
         : strcmp(of, "bytes") == 0 ? run->peak_rss
         : strcmp(of, "nodes") == 0 ? (double)run->uncut_nodes
                                    : (double)run->elements;
  return EB_OK;
}

static bool is_phase(const char *of) {
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (strcmp(eb_phase_name((eb_phase)p), of) == 0) return true;
  return strcmp(of, "sum") == 0;
}

static bool is_counter(const char *of) {
  for (int c = 0; c < EB_COUNTERS; c++)
    if (strcmp(eb_counter_name((eb_counter)c), of) == 0) return true;
  return false;
}

static bool is_memory(const char *of) {
  for (int k = 0; k < EB_MEMORY_KINDS; k++)
    if (strcmp(eb_memory_name((eb_memory_kind)k), of) == 0) return true;
  return false;
}

/* "family.of": which `of` there are, by a list or by a function. */
static const struct family {
  const char *name, *members;
  bool (*has)(const char *of);
  eb_statistic compute;
} families[] = {{"frame", "|mean|min|max|median|", NULL, frame_figure},
                {"phase", NULL, is_phase, phase_figure},
                {"stage", NULL, is_phase, stage_figure},
                {"count", NULL, is_counter, count_figure},
                {"iterations", "|mean|max|", NULL, iteration_figure},
                {"memory", NULL, is_memory, memory_figure},
                {"setup", "|seconds|", NULL, run_figure},
                {"peak", "|bytes|", NULL, run_figure},
                {"run", "|nodes|elements|", NULL, run_figure},
                {"end", NULL, eb_statistic_is_column, eb_statistic_end},
                {"most", NULL, eb_statistic_is_column, eb_statistic_most},
                {"least", NULL, eb_statistic_is_column, eb_statistic_least},
                {"late", NULL, eb_statistic_is_column, eb_statistic_late},
                {"gain", NULL, eb_statistic_is_column, eb_statistic_gain},
                {"sum", NULL, eb_statistic_is_column, eb_statistic_sum},
                {"last", NULL, is_counter, eb_statistic_last},
                {"rest", "|height|diagonal|", NULL, eb_statistic_rest},
                {"bounce", "|restitution|flight|", NULL, eb_statistic_bounce},
                {"joints", "|swing|", NULL, eb_statistic_joints},
                {"turned", NULL, eb_statistic_is_turned, eb_statistic_turned},
                {"pieces", "|unrest|", NULL, eb_statistic_pieces}};

static bool is_member(const struct family *family, const char *of) {
  char framed[64];
  if (family->has) return family->has(of);
  snprintf(framed, sizeof framed, "|%s|", of);
  return strstr(family->members, framed) != NULL;
}

/* Takes the next term off "a.b+c.d" and finds its family; NULL when there is none. */
static const struct family *next_term(const char **name, char of[64]) {
  size_t length = strcspn(*name, "+"), dot = strcspn(*name, ".+");
  const char *term = *name;
  *name += length + (term[length] == '+');
  if (dot >= length || length - dot > 60) return NULL;
  snprintf(of, 64, "%.*s", (int)(length - dot - 1), term + dot + 1);
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (strlen(families[i].name) == dot && strncmp(term, families[i].name, dot) == 0 &&
        is_member(&families[i], of))
      return &families[i];
  return NULL;
}

eb_error eb_statistic_check(const char *name) {
  char of[64];
  const char *at = name;
  do {
    if (!next_term(&at, of))
      return EB_ERROR(
          EB_ERR_FORMAT,
          "'%s' is no statistic; there are: frame.mean|min|max|median, phase.NAME, "
          "phase.sum, stage.NAME, count.NAME, iterations.mean|max, memory.KIND, setup.seconds, "
          "peak.bytes, run.nodes|elements, end|most|least|late|gain|sum.COLUMN, last.COUNTER, "
          "rest.height|diagonal, bounce.restitution|flight, joints.swing, "
          "turned.JOINT@FROM-TO:FROM-TO, pieces.unrest, and "
          "sums of them with +",
          name);
  } while (*at);
  return EB_OK;
}

eb_error eb_evidence_statistic(const eb_evidence *evidence, int case_, const char *name,
                               int64_t frames, double *out) {
  char of[64];
  *out = NAN;
  if (!eb_evidence_run(evidence, case_)) return EB_OK;
  for (const char *at = name; *at;) {
    double term;
    const struct family *family = next_term(&at, of);
    if (!family) return eb_statistic_check(name);
    EB_TRY(family->compute(evidence, case_, of, frames, &term));
    if (isnan(*out))
      *out = term;
    else if (!isnan(term))
      *out += term;
  }
  return EB_OK;
}
