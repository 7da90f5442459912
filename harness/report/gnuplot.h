/* Plots by gnuplot: data as text, a template of reports/gnuplot/, a picture. Plots of a folder are
 * written one after the other and drawn together, by a few processes of gnuplot. */
#ifndef EB_REPORT_GNUPLOT_H
#define EB_REPORT_GNUPLOT_H

#include <stdio.h>
#include <sys/types.h>

#include "harness/strings.h"
#include "problems/base/text.h"
#include "solvers/solver.h"

/* The data of one plot while it is being written: blocks for gnuplot's `index`, or one table. The
 * caller clears `text`. `pending` names a series that has no point yet: blocks without points are
 * not written. `stages` has a number for each column of a table of stages: the phase, from 1, or 0
 * for the time in none. */
typedef struct eb_plot_data {
  eb_text text;
  int series;
  const char *x,
      *y; /* names of the axes, for templates that take any; NULL where the template names them */
  unsigned logarithmic; /* of these axes: EB_LOG_X | EB_LOG_Y */
  char pending[512], stages[128];
  eb_text settings; /* what else the template wants: lines of gnuplot; the caller clears it too */
  /* What the picture needs more height for: names in the key (0: as many as series) and the longest
   * of them, in characters; pixels below the axes. */
  int entries, below;
  size_t longest;
} eb_plot_data;

enum { EB_LOG_X = 1, EB_LOG_Y = 2 };

/* Whatever text is drawn comes to gnuplot through the functions below, which quote it: in data and
 * in lists of words by eb_plot_word, in scripts by eb_plot_set and eb_plot_draw. None of it is a
 * command, a format or markup, whoever wrote it. */

/* Appends the text in double quotes, as a column of data or a word of a list, with a blank before
 * it except at the start of a line. A double quote in it becomes a single one, a backslash a slash,
 * a control byte a blank. */
EB_MUST eb_error eb_plot_word(eb_text *out, const char *text);

/* Begins a series of points. */
void eb_plot_begin(eb_plot_data *data, const char *name);
/* Adds a point to it, unless it is not below 1e300 or not positive along an axis that is
 * `logarithmic` (EB_LOG_X | EB_LOG_Y); `words` stand beside it, NULL: none. */
EB_MUST eb_error eb_plot_point(eb_plot_data *data, double x, double y, unsigned logarithmic,
                               const char *words);

/* Adds the setting NAME = 'TEXT', whatever the text is. */
EB_MUST eb_error eb_plot_set(eb_plot_data *data, const char *name, const char *text);

/* A process of gnuplot, and where its messages go. */
typedef struct eb_plot_process {
  pid_t child;
  FILE *messages;
} eb_plot_process;

/* The plots of a folder. Start from {.dir = ..}, end with eb_plotter_finish. */
enum { EB_PLOT_PROCESSES = 16 };
typedef struct eb_plotter {
  const char *dir;
  eb_strings scripts; /* that wait: "BASE.gp" */
  int count;          /* of processes at work */
  eb_plot_process process[EB_PLOT_PROCESSES];
} eb_plotter;

/* Writes DIR/BASE.dat and DIR/BASE.gp, made from the template STEM, and lets DIR/BASE.svg wait to
 * be drawn. BASE is a word (eb_is_word), else EB_ERR_FORMAT: gnuplot runs a file name that begins
 * with '<' or '|'. The title may be any text. */
EB_MUST eb_error eb_plot_draw(eb_plotter *plotter, const char *base, const char *stem,
                              const char *title, eb_plot_data *data);

/* Begins to draw what waits, in as many processes as the machine has cores for; once. */
EB_MUST eb_error eb_plotter_start(eb_plotter *plotter);

/* Waits until everything is drawn, what waits still included. EB_ERR_LIBRARY when gnuplot is
 * missing or fails, with what it said. Call it also after an error, which then is `error` and comes
 * back. */
EB_MUST eb_error eb_plotter_finish(eb_plotter *plotter, eb_error error);

#endif
