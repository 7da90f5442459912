/* Plots by gnuplot: data as text, a template of reports/gnuplot/, a picture. Plots of a folder are
 * written one after the other and drawn together, by a few processes of gnuplot. */
#ifndef EB_REPORT_GNUPLOT_H
#define EB_REPORT_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "problems/base/strings.h"
#include "problems/base/text.h"

/* Whatever text is drawn comes to gnuplot through the functions below, which quote it: as a word of
 * the data or of a list, as a setting, as a title. None of it is a command, a format or markup,
 * whoever wrote it. */

/* Words and numbers that a template wants as one text. */
typedef struct eb_plot_list {
  const char *name;
  eb_text text;
} eb_plot_list;

/* One plot while it is being built: blocks for gnuplot's `index`, or one table, and what else its
 * template wants. Start from {0}, end with eb_plot_draw. Building cannot fail: the first error
 * stays, and comes back when the plot is drawn. */
enum { EB_PLOT_LISTS = 8 };
typedef struct eb_plot {
  eb_text data, settings; /* settings: lines of gnuplot */
  eb_plot_list lists[EB_PLOT_LISTS];
  eb_error error;
  int series;        /* 0: there is nothing to draw */
  char pending[512]; /* a series that has no point yet: blocks without points are not written */
  /* What the picture needs more height for: names in the key (0: as many as series) and the longest
   * of them, in characters; pixels below the axes. */
  int entries, below;
  size_t longest;
} eb_plot;

/* Appends to the data, as it is: numbers. */
void eb_plot_put(eb_plot *plot, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a text in double quotes, as a column of the data, with a blank before it except at the
 * start of a line. A double quote in it becomes a single one, a backslash a slash, a control byte a
 * blank. */
void eb_plot_word(eb_plot *plot, const char *text);

enum { EB_LOG_X = 1, EB_LOG_Y = 2 };

/* Begins a block of rows of that name, or a series of points: its block begins with its first
 * point. */
void eb_plot_block(eb_plot *plot, const char *name);
void eb_plot_begin(eb_plot *plot, const char *name);
/* Adds a point to it, unless it is not below 1e300 or not positive along an axis that is
 * `logarithmic` (EB_LOG_X | EB_LOG_Y); `words` stand beside it, NULL: none. */
void eb_plot_point(eb_plot *plot, double x, double y, unsigned logarithmic, const char *words);
/* A name of the key, which may need more room for it. */
void eb_plot_key(eb_plot *plot, const char *name);

/* Appends to the settings, as it is: no words of others. And NAME = 'TEXT', whatever the text
 * is. */
void eb_plot_setting(eb_plot *plot, const char *format, ...) __attribute__((format(printf, 2, 3)));
void eb_plot_set(eb_plot *plot, const char *name, const char *text);
/* Names the axes, for templates that take any. */
void eb_plot_axes(eb_plot *plot, const char *x, const char *y, unsigned logarithmic);
/* Appends a number, or a word, to the list of that name, which is a setting too: the template says
 * what it is when nothing was appended. */
void eb_plot_list_number(eb_plot *plot, const char *name, int number);
void eb_plot_list_word(eb_plot *plot, const char *name, const char *word);

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
 * be drawn; nothing of a plot without series, which *drawn tells (NULL: nobody asks). BASE is a
 * word (eb_is_word), else EB_ERR_FORMAT: gnuplot runs a file name that begins with '<' or '|'. The
 * title may be any text. Clears the plot, whatever comes of it. */
EB_MUST eb_error eb_plot_draw(eb_plotter *plotter, const char *base, const char *stem,
                              const char *title, eb_plot *plot, bool *drawn);

/* Begins to draw what waits, in as many processes as the machine has cores for; once. */
EB_MUST eb_error eb_plotter_start(eb_plotter *plotter);

/* Waits until everything is drawn, what waits still included. EB_ERR_LIBRARY when gnuplot is
 * missing or fails, with what it said. Call it also after an error, which then is `error` and comes
 * back. */
EB_MUST eb_error eb_plotter_finish(eb_plotter *plotter, eb_error error);

#endif
