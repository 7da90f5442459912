/* A paper as data: reports/papers/NAME/paper.ini and its tables.
 *
 *   [paper]        title, citation, machine (of the paper), note
 *   [solvers]      LABEL = SOLVER[:o=v,..]             used below by label
 *   [cases ANY]    frames, quick (or seconds, quick-seconds: simulated time, for cases of one section with different steps),
 *                  repeat, quick-repeat, threads, timeout, quick-timeout (s), memory (MB), may-fail; quick-scene = p=v,..
 *                  (parameters that quick runs add to the scenes: fewer bodies instead of fewer frames); every
 *                  other entry is a case: NAME = SCENE[:p=v,..] LABEL [THREADS]. Cases of one section are competitors: their
 *                  repetitions interleave.
 *   [table ID]     where, title, data (a TSV file), unit (ms, s, MB, 1), note,
 *                  column = NAME: CASE STATISTIC       ours beside that column of the data (with probe:ID in place of the case
 *                                                      the figure ROW.FIELD that the probe has found); a * is replaced by
 *                  row = KEY: TEXT                     this text, or by the row's key
 *                  heading = NAME: TEXT                over a column; with a heading, columns without ours are shown too
 *   [claim ID]     where, claim (in own words), measure and its arguments (harness/reproduce/measure.h), table = ID (shown
 *                  with it), figure = ID, paper = NUMBER (the paper's value in short), note (shown unless reproduced)
 *   [figure ID]    title, template (error-tau, time-budget, curves or curves-log), x, y (names of the axes), value, unit,
 *                  against = CASE, point = X CASE [AGAINST], curve = NAME (of the points that follow): see eb_paper_figure; or
 *                  template = course (or course-log), value = QUANTITY (harness/reproduce/course.h) and lines run = NAME: CASE; or
 *                  template = samples-log, probe = ID and lines series = NAME: KEY (of a probe's result; every second one is of marks); or
 *                  template = bars, value = STATISTIC (of the whole), part = NAME: STATISTIC and lines run = NAME: CASE; or
 *                  template (updates, frames or tree) and show = CASE: pictures of one run
 *   [probe ID]     kind and its arguments (harness/reproduce/probe.h)
 *
 * The first line of a TSV file names its columns; the first column holds the keys of the rows, a second one named
 * `label` what is printed for them; the others are numbers, empty where the paper has none. */
#ifndef EB_REPRODUCE_PAPER_H
#define EB_REPRODUCE_PAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/reproduce/sections.h"

typedef struct eb_paper_case {
  char *name, *scene, *solver; /* unique; "NAME[:assignments]" */
  int64_t frames, all_frames;  /* of this run, and of a full one */
  int64_t repeat;
  int64_t threads;
  double timeout, memory; /* s, MB; 0: the default */
  bool may_fail;          /* a failure is what the paper reports: a result like others */
  const char *reduced;    /* parameters that a quick run adds, or NULL; owned by the sections */
  int group;              /* competitors have the same */
} eb_paper_case;

typedef struct eb_paper_column {
  char *name, *heading;
  char *cases, *statistic; /* with * for the row; NULL: the paper's alone */
  int at;                  /* of the data's columns */
} eb_paper_column;

typedef struct eb_paper_table {
  const char *id, *where, *title, *unit; /* owned by the sections */
  double scale;                          /* from SI to unit */
  char *note;
  eb_strings keys, labels, fills; /* a row each */
  eb_strings names;               /* of the data's columns of numbers */
  double *values;                 /* rows x names; NaN where the paper has none */
  eb_paper_column *columns;
  int column_count;
} eb_paper_table;

typedef struct eb_paper_point {
  double x;
  int case_;   /* -1: of a probe */
  int against; /* -1: that of the figure */
} eb_paper_point;

/* Points that follow each other. */
typedef struct eb_paper_curve {
  char *label;
  const char *series; /* of the figure's probe; NULL: of a case */
  int first, count;
} eb_paper_curve;

/* Curves through cases: a figure of theirs, over that of `against` when it is given, or their distances from it. */
enum { EB_MOST_CURVES = 8, EB_MOST_PARTS = 15 };
typedef struct eb_paper_figure {
  const char *id, *title, *template, *x, *y; /* owned by the sections; x and y name the axes */
  /* A statistic; "distance": the largest of the motion (rms) from that of `against` until its first bounce ends; "error":
   * eb_motion_error; of courses a quantity */
  const char *value;
  double scale;      /* from SI to what y says */
  int against;       /* a case, or -1 */
  int show;          /* the case of figures of one run, or -1 */
  const char *probe; /* whose series are shown, or NULL; owned by the sections */
  eb_paper_point *points;
  int point_count;
  eb_paper_curve curves[EB_MOST_CURVES]; /* of bars and courses each has one point, its run */
  int curve_count;
  eb_strings parts, statistics; /* of bars; what is left to `value` is a part of its own */
} eb_paper_figure;

typedef struct eb_measure eb_measure;

typedef struct eb_paper_claim {
  const char *id, *where; /* owned by the sections */
  char *text;
  char *note;   /* what was tried where it does not reproduce, or "" */
  double paper; /* NaN: none */
  const eb_measure *measure;
  const eb_section *arguments;
} eb_paper_claim;

typedef struct eb_paper {
  char *name, *title, *citation, *machine, *note;
  bool quick;
  eb_sections sections;
  eb_paper_case *cases;
  eb_paper_table *tables;
  eb_paper_claim *claims;
  eb_paper_figure *figures;
  int case_count, table_count, claim_count, figure_count;
} eb_paper;

/* Appends the names of the papers that are compiled in. */
EB_MUST eb_error eb_paper_names(eb_strings *out);

/* Reads a paper: the one compiled in or, when `from` is not NULL, the folder FROM/NAME. EB_ERR_USAGE: no such paper;
 * EB_ERR_FORMAT: a mistake in its files, named. The caller destroys *out. */
EB_MUST eb_error eb_paper_load(const char *name, const char *from, bool quick, eb_paper **out);
void eb_paper_destroy(eb_paper *paper);

/* Index of the case of that name, or -1. */
int eb_paper_case_find(const eb_paper *paper, const char *name, size_t length);
/* The same for tables and figures, by id. */
int eb_paper_table_find(const eb_paper *paper, const char *id);
int eb_paper_figure_find(const eb_paper *paper, const char *id);
/* Number of the row of that key (of the column of that name), or -1. */
int eb_paper_row_find(const eb_paper_table *table, const char *key);
double eb_paper_value(const eb_paper_table *table, int row, const eb_paper_column *column);

/* What is behind a cell: a statistic of a case, or with case_ -1 a figure that a probe has found (eb_probe_value). Neither where the paper or
 * we have none. The caller frees `statistic`. */
typedef struct eb_paper_source {
  int case_;
  const char *probe; /* owned by the table */
  char *statistic;
} eb_paper_source;
EB_MUST eb_error eb_paper_cell(const eb_paper *paper, const eb_paper_table *table, int row,
                               const eb_paper_column *column, eb_paper_source *out);
/* The probe that a column shows, or NULL. */
const char *eb_paper_column_probe(const eb_paper_column *column);

/* What an item - a table, a claim, a figure or, when NULL, everything - consists of. One entry each of the paper's. */
typedef struct eb_paper_choice {
  bool *cases, *tables, *claims, *figures;
} eb_paper_choice;
/* EB_ERR_USAGE with the nearest when there is no such item. Clear *out also after a failure. */
EB_MUST eb_error eb_paper_choose(const eb_paper *paper, const char *item, eb_paper_choice *out);
void eb_paper_choice_clear(eb_paper_choice *choice);

#endif
