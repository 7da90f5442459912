/* What the report shows, gathered from result files: plain arrays, so that tables, plots and pictures do
 * not touch HDF5. */
#ifndef EB_REPORT_MODEL_H
#define EB_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"
#include "solvers/solver.h"

/* Columns of steps/ that the report uses. */
typedef enum eb_report_column {
  EB_COLUMN_TIME,
  EB_COLUMN_WALL,
  EB_COLUMN_ITERATIONS,
  EB_COLUMN_RESIDUAL,
  EB_COLUMN_RESIDUAL_RELATIVE,
  EB_COLUMN_KINETIC,
  EB_COLUMN_ELASTIC,
  EB_COLUMN_GRAVITATIONAL,
  EB_COLUMN_INVERTED,
  EB_COLUMN_PENETRATION,
  EB_COLUMNS
} eb_report_column;

typedef struct eb_report_run {
  char *scene;      /* "conjac2020/twist" with the parameters the user gave */
  char *scene_name; /* without them */
  char *scene_key;  /* hash: runs of one key are compared with each other */
  char *solver, *options;
  char *label;  /* solver and the options in which runs of this scene differ */
  char *reason; /* outcome of the run, or why there is none */
  char *stand_in;
  int64_t threads, repetition, vertices, elements;
  double setup_seconds, peak_rss; /* s, bytes */
  int64_t steps;
  double *column[EB_COLUMNS];    /* steps each */
  double *phase[EB_PHASE_COUNT]; /* steps each, s */
  int64_t *residual_offset;      /* steps + 1 */
  double *residual, *residual_seconds;
  char *residual_norm;
  int64_t frames, nodes;
  float *frame_first, *frame_last; /* nodes x 3; NULL when none */
  double frame_first_time, frame_last_time;
  int64_t triangles;
  int32_t *triangle;        /* triangles x 3: surface over mesh nodes */
  int32_t *triangle_region; /* triangles */
} eb_report_run;

typedef struct eb_report_fact {
  char *name, *value;
} eb_report_fact;

typedef struct eb_report {
  int run_count;
  eb_report_run *runs; /* sorted by scene, then as stored */
  int fact_count;
  eb_report_fact *facts; /* /environment of the first file */
  int file_count;
} eb_report;

EB_MUST eb_error eb_report_load(const char *const *files, int count, eb_report *out);
void eb_report_clear(eb_report *report);

/* Runs [*first, *last) of the next scene from index `from`; false when there is none. */
bool eb_report_next_scene(const eb_report *report, int from, int *first, int *last);

/* Median and maximum of a column without the first step (kept apart: caches and workspaces are cold). NaN without data. */
double eb_report_median(const double *values, int64_t count, int64_t skip);
double eb_report_mean(const double *values, int64_t count, int64_t skip);
double eb_report_max(const double *values, int64_t count, int64_t skip);

#endif
