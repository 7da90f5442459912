/* A paper as data: reports/papers/NAME/paper.ini and its tables.
 *
 *   [paper]        title, citation, machine (of the paper), note
 *   [solvers]      LABEL = SOLVER[:o=v,..]             used below by label
 *   [cases ANY | SETTINGS]   settings and cases, which are every other entry:
 *                  NAME = SCENE[:p=v,..] LABEL [THREADS]
 *                  (FILE.ini[:p=v,..]: a scene's file in the paper's folder)
 *                  Settings: frames (or seconds: simulated time, for cases of one section with
 *                  different steps), repeat, threads, timeout (s), memory (MB), may-fail (a failure
 *                  is what the paper reports), may-gain (energy from nowhere is what the paper
 *                  reports: the run counts when its audit breaks no other rule, and the page says
 *                  so), may-break (some of energy, momentum, progress, replay, friction: the same
 *                  of what steps break that stop before they have converged, or by a criterion
 *                  that does not ask for it), examine (of the subspace
 *                  that the solver declares, harness/audit/examine.h), embed = N (random points in
 *                  every element at rest, harness/audit/embedding.h), quick-scene = p=v,..
 *                  (parameters of quick runs' scenes, beside their own or in their place: fewer
 *                  bodies instead of fewer frames); from, stride, samples, sweep and checkpoints as
 *                  in suites (harness/suite/dependencies.h), where `from` names a case of the
 * paper. KEY = A | B: B is for quick runs. settings = KEY VALUE, KEY A | B, ..: several in one
 *                  line, as in the header.
 *                  Cases of one section are competitors: their repetitions interleave.
 *   [cases]        what holds for the other sections too, unless they say otherwise
 *   [names]        NAME = EXPRESSION, NAME(X, Y) = EXPRESSION of X and Y (macros.h)
 *   [table ID | WHERE]
 *                  title, data (a TSV file), unit (ms, s, MB, 1), note;
 *                  ours = everywhere: also where the paper has no number;
 *                  column = NAME | HEADING | EXPRESSION: a column of the data, and ours beside it;
 *                  without EXPRESSION it is the paper's alone. {row} stands for the text of
 *                  row = KEY: TEXT, or for the row's key. A text with {column} is the expression
 *                  itself, and that stands for the column's text. "-": ours has no such row
 *   [claim ID | WHERE]
 *                  claim (in own words);
 *                  holds = EXPRESSION (one or more, all of which have to);
 *                  source (where their bounds come from);
 *                  given = EXPRESSION (what the machine has to offer: where it does not, nothing is
 *                  refuted);
 *                  paper and ours = EXPRESSION (the claim in one number each; ours is else the left
 *                  side of the first comparison);
 *                  table = ID and figure = ID (shown with it), note (shown unless reproduced);
 *                  range = LABEL: EXPRESSION: what the claim asks for where something that the
 *                  paper leaves unsaid is another; it never decides, but where it comes out
 *                  differently the verdict says that it depends on that
 *   [figure ID | TITLE]   template (error-tau, time-budget, curves or curves-log), x, y (names of
 *                  the axes), unit, value = EXPRESSION of {case} and {against}, point = X CASE
 *                  [AGAINST], against = CASE (of points without), curve = NAME (of the points that
 *                  follow), across = EXPRESSION of {case}: where on the x axis a case stands by
 *                  what was measured of it, in the unit that x says, and points are then point =
 *                  CASE; or
 *                  template = course (or course-log; x is then the simulated time), value =
 *                  EXPRESSION of {case}, a series, and lines run = NAME: CASE; or
 *                  template = samples-log and lines residuals = NAME: CASE and ends = NAME: CASE in
 *                  turns: what a solver logs within one step, the one in which the first case's
 *                  problem was most often made anew, and of that what stands at the end of every
 *                  round; or
 *                  template = map (or map-log: logarithmic colours), x, y (the numbers that a
 *                  case stands for), z (its value), value = EXPRESSION of {case}, and lines point =
 *                  X Y CASE; or
 *                  template = bars, value = EXPRESSION of {case} (of the whole), part = NAME:
 *                  EXPRESSION and lines run = NAME: CASE; or
 *                  template (updates, frames or tree) and show = CASE: pictures of one run
 *
 * Labels of sections, solvers, cases, columns, rows, and lines of figures may have loops behind
 * them (problems/notation/sections.h):
 *   {x}-{m} = verschoor2019/{x} {m} for x in rings pyramid for m in full ica
 *
 * Expressions are described in this room's README; all are in SI units.
 *
 * The first line of a TSV file names its columns; the first column holds the keys of the rows, a
 * second one named `label` what is printed for them; the others are numbers, empty where the paper
 * has none. */
#ifndef EB_REPRODUCE_PAPER_H
#define EB_REPRODUCE_PAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/reproduce/macros.h"
#include "problems/notation/sections.h"
#include "harness/suite/dependencies.h"

/* What ties a case to others, as it is written; NULL: nothing. Owned by the paper. */
enum {
  EB_DEPENDENCY_FROM,
  EB_DEPENDENCY_STRIDE,
  EB_DEPENDENCY_SAMPLES,
  EB_DEPENDENCY_SWEEP,
  EB_DEPENDENCY_CHECKPOINTS,
  EB_PAPER_DEPENDENCIES
};
typedef const char *eb_paper_dependencies[EB_PAPER_DEPENDENCIES];

typedef struct eb_paper_case {
  char *name, *scene, *solver; /* unique; "NAME[:assignments]"; files by their paths from here */
  int64_t frames,
      all_frames; /* of this run, and of a full one; of samples their number; 0: the scene's own */
  eb_paper_dependencies dependencies;
  bool samples;   /* a step from each of several states */
  int source_run; /* the case that it starts from, or -1 */
  int64_t repeat;
  int64_t threads;
  double timeout, memory; /* s, MB; 0: the default */
  bool examine;           /* the subspace that its solver declares */
  int64_t embed;          /* points an element at rest; 0: none */
  bool may_fail;          /* a failure is what the paper reports: a result like others */
  unsigned may_break;     /* 1 << eb_rule each: to break these is */
  const char *reduced;    /* parameters that a quick run adds, or NULL; owned by the paper */
  int group;              /* competitors have the same */
} eb_paper_case;

typedef struct eb_paper_column {
  const char *name; /* owned by the table's names */
  char *heading;
  char *text; /* of ours, before {row} is replaced; NULL: the paper's alone */
  int at;     /* of the data's columns */
} eb_paper_column;

typedef struct eb_paper_table {
  const char *id, *where, *title, *unit; /* owned by the sections */
  double scale;                          /* from SI to unit */
  char *note;
  const char *ours;               /* "everywhere", or "": where the paper has a number */
  eb_strings keys, labels, fills; /* a row each */
  eb_strings names;               /* of the data's columns of numbers */
  double *values;                 /* rows x names; NaN where the paper has none */
  eb_paper_column *columns;
  int column_count;
  eb_expression **cells; /* rows x columns: ours; NULL where there is none */
} eb_paper_table;

typedef struct eb_paper_point {
  double x;
  double row; /* of maps: the other number */
  int case_;
  int against; /* -1: none */
} eb_paper_point;

/* Points that follow each other. */
typedef struct eb_paper_curve {
  char *label;
  bool ends; /* of residuals: only those at the ends of rounds */
  int first, count;
} eb_paper_curve;

enum { EB_MOST_CURVES = 8, EB_MOST_PARTS = 15 };
typedef struct eb_paper_figure {
  const char *id, *title, *template, *x, *y, *z; /* owned by the sections; x, y, z name the axes */
  eb_expression *value;                          /* of {case} and {against}, or NULL */
  eb_expression *across; /* of {case}: the x of its point, or NULL: points say it */
  double scale;          /* from SI to what y says */
  int show;              /* the case of figures of one run, or -1 */
  bool residuals;        /* within one step; there is no `value` */
  eb_paper_point *points;
  int point_count;
  eb_paper_curve curves[EB_MOST_CURVES]; /* of bars and series each has one point, its run */
  int curve_count;
  eb_strings parts; /* of bars; what is left to `value` is a part of its own */
  eb_expression *shares[EB_MOST_PARTS];
} eb_paper_figure;

/* What a claim asks for, and what it would ask for elsewhere in its range. */
typedef struct eb_paper_condition {
  const eb_entry *entry; /* of the section: an entry with loops has several */
  char *label;           /* where in the range; NULL: here */
  eb_expression *of;
} eb_paper_condition;

typedef struct eb_paper_claim {
  const char *id, *where; /* owned by the section */
  char *text;
  char *note;                        /* what was tried where it does not reproduce, or "" */
  char *source;                      /* of its bounds, or "" */
  eb_paper_condition *holds, *range; /* in the section's order; all of `holds` have to */
  int hold_count, range_count;
  eb_expression *given, *paper, *ours; /* or NULL */
  const eb_section *section;
} eb_paper_claim;

typedef struct eb_paper {
  char *name, *title, *citation, *machine, *note;
  char *folder; /* that it was read from; NULL: it is compiled in */
  bool quick;
  bool foreign; /* a folder of anyone's: its solvers only compute (harness/suite/trust.h) */
  eb_sections sections;
  eb_section solvers; /* by label */
  eb_strings texts;   /* of settings that cases point to */
  eb_definitions definitions;
  eb_paper_case *cases;
  eb_paper_table *tables;
  eb_paper_claim *claims;
  eb_paper_figure *figures;
  int case_count, table_count, claim_count, figure_count;
} eb_paper;

/* The path of a file of the paper's folder, which the caller frees. EB_ERR_FORMAT: it leads out of
 * the folder, or the paper is compiled in and has none. */
EB_MUST eb_error eb_paper_place(const eb_paper *paper, const char *name, char **path);

/* Appends the names of the papers that are compiled in. */
EB_MUST eb_error eb_paper_names(eb_strings *out);

/* Reads a paper, with the settings of quick runs where `quick`, and checks its expressions: the one
 * compiled in or, when `from` is not NULL, the folder FROM/NAME. EB_ERR_USAGE: no such paper;
 * EB_ERR_FORMAT: a mistake in its files, named. The caller destroys *out. */
EB_MUST eb_error eb_paper_load(const char *name, const char *from, bool quick, eb_paper **out);
/* The same without the check. */
EB_MUST eb_error eb_paper_read(const char *name, const char *from, bool quick, eb_paper **out);
void eb_paper_destroy(eb_paper *paper);

/* Marks the cases that tables, claims and figures name. */
EB_MUST eb_error eb_paper_table_cases(const eb_paper *paper, const eb_paper_table *table,
                                      bool *cases);
EB_MUST eb_error eb_paper_claim_cases(const eb_paper *paper, const eb_paper_claim *claim,
                                      bool *cases);
EB_MUST eb_error eb_paper_figure_cases(const eb_paper *paper, const eb_paper_figure *figure,
                                       bool *cases);
/* The words that the expressions of a figure's point are about, as a scope in scopes[0]. */
void eb_paper_point_scope(const eb_paper *paper, const eb_paper_point *point, eb_scope scopes[2]);

/* Whether points are cells of a map. */
bool eb_paper_is_map(const eb_paper_figure *figure);
/* Whether points are series, of which each is drawn as a curve. */
bool eb_paper_is_course(const eb_paper_figure *figure);

/* Its [cases] sections. */
EB_MUST eb_error eb_paper_read_cases(eb_paper *paper);
void eb_paper_clear_cases(eb_paper *paper);
/* What the ties of a case say; its source run is a case of the paper. The caller clears *out, also
 * after a failure. */
EB_MUST eb_error eb_paper_dependencies_read(const eb_paper_dependencies dependencies,
                                            eb_dependencies *out);

/* Index of the case of that name, or -1. */
int eb_paper_case_find(const eb_paper *paper, const char *name);
/* The same for tables and figures, by id. */
int eb_paper_table_find(const eb_paper *paper, const char *id);
int eb_paper_figure_find(const eb_paper *paper, const char *id);
/* What the paper's table has there; NaN where it has nothing. */
double eb_paper_value(const eb_paper_table *table, int row, const eb_paper_column *column);

/* What an item - a table, a claim, a figure or, when NULL, everything - consists of. One entry each
 * of the paper's. */
typedef struct eb_paper_choice {
  bool *cases, *tables, *claims, *figures;
} eb_paper_choice;
/* Adds an item to a choice, which starts from {0}. EB_ERR_USAGE with the nearest when there is no
 * such item. Clear *out also after a failure. */
EB_MUST eb_error eb_paper_choose(const eb_paper *paper, const char *item, eb_paper_choice *out);
void eb_paper_choice_clear(eb_paper_choice *choice);

#endif
