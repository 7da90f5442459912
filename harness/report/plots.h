/* Plots of the report, drawn by gnuplot from templates in reports/gnuplot/. */
#ifndef EB_REPORT_PLOTS_H
#define EB_REPORT_PLOTS_H

#include "harness/report/gnuplot.h"
#include "harness/report/model.h"

/* A curve over time that a plot has of each run. */
enum {
  EB_LINE_RELATIVE = 1, /* less the first number: of what has no origin of its own */
  EB_LINE_VARYING = 2   /* left out where all numbers are the same */
};
typedef struct eb_plot_line {
  const char *suffix; /* of its name, behind the run's label */
  size_t values;      /* offset in eb_report_run of the numbers of its steps, */
  double scale;       /* times this */
  unsigned how;
} eb_plot_line;

/* A plot of a scene's runs: how it is named, and what it shows. */
typedef struct eb_plot_kind {
  const char *stem, *caption; /* file stem in the report folder */
  const char *template;       /* of reports/gnuplot/; NULL: of the same stem */
  const char *y;              /* name of the axis; NULL: the template has it */
  const eb_plot_line *lines;  /* of plots of curves over time, up to one without a suffix; */
  bool keyed;                 /*   on a linear axis, colours by run, dashes by line */
  /* Of others: fills the plot from one run after the other, or from all. */
  void (*add)(const eb_report_run *run, bool timed, eb_plot *plot);
  void (*fill)(const eb_report_run *runs, int count, bool declared, eb_plot *plot);
  bool declared; /* goes by the equation that a solver declares, not by implicit Euler */
  /* Whether the plot says something of a run, such as a size that changes; it is drawn when it does
   * of one. NULL: it always does. */
  bool (*informs)(const eb_report_run *run);
  bool timed; /* compares times: without runs that failed their audit */
} eb_plot_kind;
extern const eb_plot_kind eb_plot_kinds[EB_PLOT_KINDS];

/* Draws every kind of plot of the runs [first, last) as DIR/PREFIX-STEM.{dat,gp,svg}; a plot
 * without data is not drawn. drawn[i] says which were, in the order of eb_plot_kinds. */
EB_MUST eb_error eb_plots_scene(const eb_report *report, int first, int last, eb_plotter *plotter,
                                const char *prefix, bool drawn[EB_PLOT_KINDS]);

/* How the steps of one run went over time, for a run that has updated elements: their share and,
 * below it, the time of a step by stage, as DIR/BASE.{dat,gp,svg}; *drawn says whether it has. */
EB_MUST eb_error eb_plots_stages(const eb_report_run *run, eb_plotter *plotter, const char *base,
                                 bool *drawn);

/* Median step time of every solver, scene by scene and in each class by class, without runs that
 * went wrong or failed their audit: DIR/summary.{dat,gp,svg}. *lacking counts the solvers behind
 * the first sixteen, for which it has no colours. */
EB_MUST eb_error eb_plots_summary(const eb_report *report, eb_plotter *plotter, bool *drawn,
                                  int *lacking);

/* ---- the elimination tree -------------------------------------------------------------------- */

/* Where a supernode is drawn. Bars are as wide as their subtrees have nodes; so children lie side
 * by side below their parent, and what they leave free of its width are its own pivots. */
typedef struct eb_tree_bar {
  int32_t depth; /* 0 at roots */
  double lo, hi; /* nodes: the subtree is eliminated from lo to hi, its supernode last */
  double flops;
} eb_tree_bar;

/* Fills bars (tree->count); *nodes is the width of all. Children precede their parents, as
 * eb_results_tree has checked. */
EB_MUST eb_error eb_tree_layout(const eb_tree_log *tree, eb_tree_bar *bars, double *nodes);

/* Sorts bars by depth and place and makes one bar, with the most flops of them, of neighbours that
 * are narrower than `least` and nearer than that; returns how many are left. */
int32_t eb_tree_merge(eb_tree_bar *bars, int32_t count, double least);

/* Draws DIR/BASE.{dat,gp,svg}. */
EB_MUST eb_error eb_plots_tree(const eb_tree_log *tree, const char *name, eb_plotter *plotter,
                               const char *base);

/* Whether two trees are the same, so that one picture does for both. */
bool eb_tree_equal(const eb_tree_log *a, const eb_tree_log *b);

/* ---- curves and bars ------------------------------------------------------------------------- */

typedef struct eb_curve {
  const char *label;
  int count;
  const double *x, *y; /* count; points that are not finite, or that a logarithmic axis cannot show,
                          are left out */
} eb_curve;

/* All draw DIR/BASE.svg, beside the DIR/BASE.{dat,gp} that make it; *drawn is false when no point
 * can be shown, and then nothing is written. eb_markup_plot puts it on a page. */

/* Curves by the template `stem`; x and y name the axes of templates that take any ("curves", or
 * "samples": lines and marks in turns) and are NULL for those that have axes of their own:
 * "error-tau", error (RMS distance of the positions from those of the exact method, of the scene's
 * diagonal) against the threshold of stale elements (kg m/s), both logarithmic; "time-budget", wall
 * time a step (ms) against the budget (% of the time of a full factorization). `logarithmic` is
 * EB_LOG_X | EB_LOG_Y (harness/report/gnuplot.h). */
EB_MUST eb_error eb_plots_curves(eb_plotter *plotter, const char *base, const char *stem,
                                 const char *title, const char *x, const char *y,
                                 unsigned logarithmic, const eb_curve *curves, int count,
                                 bool *drawn);

/* Cells of a map: numbers a column and a row each, and what was found there. */
typedef struct eb_map_cell {
  double x, y, value; /* not finite, or not positive where the colours are logarithmic: left out */
} eb_map_cell;

/* A map of cells, in columns and rows by rising x and y, each with its value on it; x, y and z name
 * the axes and the colours, which are `logarithmic` or not. */
EB_MUST eb_error eb_plots_map(eb_plotter *plotter, const char *base, const char *title,
                              const char *x, const char *y, const char *z, bool logarithmic,
                              const eb_map_cell *cells, int count, bool *drawn);

/* Stacked bars: a label each, and `layers` values from the bottom to the top, layer_names from the
 * bottom too; y names the axis. Bars with a value that is not finite are left out. */
EB_MUST eb_error eb_plots_bars(eb_plotter *plotter, const char *base, const char *title,
                               const char *y, const char *const *labels, int bars,
                               const char *const *layer_names, int layers, const double *values,
                               bool *drawn);

#endif
