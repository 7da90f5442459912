/* Plots of the report, drawn by gnuplot from templates in reports/gnuplot/. */
#ifndef EB_REPORT_PLOTS_H
#define EB_REPORT_PLOTS_H

#include "harness/report/model.h"

/* A plot that was drawn: file stem in the report folder and its caption. Static text. */
typedef struct eb_plot_kind {
  const char *stem, *caption;
  const char *template, *y; /* NULL: of the same stem; the axis is named there */
} eb_plot_kind;

/* Draws every plot of the runs [first, last) as DIR/PREFIX-STEM.{dat,gp,svg}. A plot without data,
 * or in which nothing varies, is not drawn; drawn[i] says which were, in the order of
 * eb_plot_kinds. */
extern const eb_plot_kind eb_plot_kinds[EB_PLOT_KINDS];
EB_MUST eb_error eb_plots_scene(const eb_report *report, int first, int last, const char *dir,
                                const char *prefix, bool drawn[EB_PLOT_KINDS]);

/* How the steps of one run went over time, for a run that has updated elements: their share and,
 * below it, the time of a step by stage, as DIR/BASE.{dat,gp,svg}; *drawn says whether it has. */
EB_MUST eb_error eb_plots_stages(const eb_report_run *run, const char *dir, const char *base,
                                 bool *drawn);

/* Median step time of every solver, scene by scene and in each class by class, without runs that
 * failed their audit: DIR/summary.{dat,gp,svg}. */
EB_MUST eb_error eb_plots_summary(const eb_report *report, const char *dir, bool *drawn);

#endif
