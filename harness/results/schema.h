/* The numbers of a run by their paths in the file, and the version of what files are: schema.md has
 * all of a file in words (tests/results/test_schema.c holds the two together). Writing, reading,
 * verifying, exporting and the language of claims go through the table here. */
#ifndef EB_RESULTS_SCHEMA_H
#define EB_RESULTS_SCHEMA_H

#include <stdbool.h>

#include "harness/results/columns.h"
#include "problems/step.h"

/* Files of other versions are not read: what a dataset of one means is said in one place. */
enum { EB_SCHEMA_VERSION = 3 };
#define EB_SCHEMA_FORMAT "elastobench result"

/* What it means that a run with steps lacks a dataset. */
typedef enum eb_absence {
  EB_ABSENT_NEVER,   /* the file is damaged */
  EB_ABSENT_AS_ZERO, /* it is 0 throughout, and was left out */
  EB_ABSENT_GROUP,   /* the run tells nothing of all that is in its group */
  EB_ABSENT_UNTOLD   /* the run does not tell this number */
} eb_absence;

/* A dataset of numbers of a run. */
typedef struct eb_schema_entry {
  char path[96];        /* below the run: "steps/wall"; in "parts/NAME/turn_x" NAME is any name */
  const char *exported; /* the group of JSON that has it, "steps" */
  const char *unit, *meaning;
  const char *setting; /* of a suite's case that makes a run tell it; NULL */
  bool series;         /* a number a step; else one number */
  bool whole;          /* stored as 64-bit integers */
  eb_absence absence;
} eb_schema_entry;

/* The i-th of all; false behind the last one. The first are those that every run with steps has, by
 * number: steps/ (eb_column), phases/ (from EB_STEP_PHASES on, by eb_phase) and counters/ (from
 * EB_STEP_COUNTERS on, by eb_counter). */
enum {
  EB_STEP_PHASES = EB_COL_COUNT,
  EB_STEP_COUNTERS = EB_STEP_PHASES + EB_PHASE_COUNT,
  EB_STEP_TABLES = EB_STEP_COUNTERS + EB_COUNTERS
};
bool eb_schema_at(int i, eb_schema_entry *out);
/* The i-th column of a group of series, "parts/bone", by its own path; false behind the last one.
 */
bool eb_schema_column(const char *group, int i, eb_schema_entry *out);
/* What has that path; false when there is nothing. */
bool eb_schema_find(const char *path, eb_schema_entry *out);

#endif
