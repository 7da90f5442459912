/* Laws as data: what mechanics says exactly of a scene, and how a run is measured by it.
 *
 *   [names]   NAME = EXPRESSION, NAME(X, Y) = EXPRESSION, as papers have them
 *   [law ID | TITLE]
 *             group (laws of one group share a table), about (a sentence or two), source (where the
 *             exact value comes from), limit (in which limit it is exact: mesh, step, stiffness);
 *             scene = NAME[:p=v,..], or FILE.ini[:p=v,..] beside the law's file; repeated for
 *             solvers that do not serve the first one: each takes the first one that it serves;
 *             for = VARIABLE in WORDS: an axis of the grid. {VARIABLE} in scenes, and VARIABLE in
 *             expressions, stand for its words; for = A B in WORDS takes words two at a time;
 *             told = p=v,..: the scene once more with these parameters over its own, or told =
 * SCENE
 *             [:p=v,..]: another one; {told} is its case. "told = -" is the same scene once more;
 *             other-threads = N: on so many threads; continued = AT, ALL: going on from the state
 *             of {case} after step AT up to step ALL (of scenes whose frames are steps);
 *             reference = SOLVER[:o=v,..], which has converged to what the scheme says at this step
 *             and mesh: its figures stand beside the solvers';
 *             measure = EXPRESSION of {case} and {told}: the figure, in `unit`;
 *             exact = EXPRESSION: what it has to be;
 *             scale = EXPRESSION: what a deviation is divided by (1 when it is left out);
 *             bound = EXPRESSION: the most that |measure - exact| / scale may be;
 *             x = VARIABLE: the axis of the law's plot; without it there is none;
 *             of = SOLVERS: the law is of these alone, others are not served;
 *             timeout = S: seconds a run (60)
 *
 * KEY = A | B: B is for quick runs. Expressions are those of papers (harness/reproduce/README.md).
 */
#ifndef EB_LAWS_PHYSICAL_LAW_H
#define EB_LAWS_PHYSICAL_LAW_H

#include <stdint.h>

#include "harness/reproduce/macros.h"

/* An axis of a grid: at each of its places every variable has a word. */
typedef struct eb_law_axis {
  eb_strings variables;
  eb_strings words; /* places x variables */
  int places;
} eb_law_axis;

enum { EB_MOST_LAW_AXES = 4, EB_MOST_LAW_VARIABLES = 12 };
typedef struct eb_physical_law {
  const char *id, *title; /* owned by the sections */
  char *group, *about, *source, *limit, *unit;
  eb_strings scenes, of;      /* of: names of solvers; none: of all */
  char *told, *reference;     /* or NULL */
  int64_t other_threads;      /* of the case that is told; 0: as many */
  int64_t from_step, to_step; /* that it does from the other's state; 0: all, from the start */
  eb_law_axis axes[EB_MOST_LAW_AXES];
  int axis_count;
  int points; /* of the grid; 1 without axes */
  char *x;    /* or NULL */
  eb_expression *measure, *exact, *bound;
  eb_expression *scale; /* or NULL */
  double timeout;       /* s */
} eb_physical_law;

typedef struct eb_law_file {
  char *path;
  eb_sections sections;
  eb_definitions definitions;
} eb_law_file;

typedef struct eb_law_book {
  char *folder; /* where scenes' files are; NULL: of the laws that are compiled in */
  bool quick;
  eb_law_file *files;
  int file_count;
  eb_physical_law *laws;
  int law_count;
} eb_law_book;

/* The laws that are compiled in or, when `from` is not NULL, those of that file. EB_ERR_IO;
 * EB_ERR_FORMAT: a mistake, with file and line. The caller clears *out, also after a failure. */
EB_MUST eb_error eb_law_book_read(const char *from, bool quick, eb_law_book *out);
void eb_law_book_clear(eb_law_book *book);
/* Leaves the laws of these ids, in the book's order; all when there are none. EB_ERR_USAGE, with
 * the nearest, for one that there is not. */
EB_MUST eb_error eb_law_book_keep(eb_law_book *book, const eb_strings *ids);

/* The variables of a law, in order, and their words at a point of the grid: an entry of `scopes`
 * each, of which the last is the innermost, around `outer` (or NULL). Returns how many there are.
 * The first axis is the slowest. */
int eb_law_point(const eb_physical_law *law, int point, const eb_scope *outer,
                 eb_scope scopes[EB_MOST_LAW_VARIABLES]);
/* The axis that a variable is of, or -1. */
int eb_law_axis_of(const eb_physical_law *law, const char *variable);

/* Whether no law before this one is of its group. */
bool eb_law_opens_group(const eb_law_book *book, int law);

#endif
