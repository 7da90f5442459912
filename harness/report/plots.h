/* Plots of the report, drawn by gnuplot from templates in reports/gnuplot/. */
#ifndef EB_REPORT_PLOTS_H
#define EB_REPORT_PLOTS_H

#include "harness/report/model.h"

/* A plot that was drawn: file stem in the report folder and its caption. Static text. */
typedef struct eb_plot_kind {
  const char *stem, *caption;
  const char *template, *y; /* NULL: of the same stem; the axis is named there */
} eb_plot_kind;

/* Draws every plot of the runs [first, last) as DIR/PREFIX-STEM.{dat,gp,svg}. A plot without data, or in
 * which nothing varies, is not drawn; drawn[i] says which
 * were, in the order of eb_plot_kinds. */
extern const eb_plot_kind eb_plot_kinds[EB_PLOT_KINDS];
EB_MUST eb_error eb_plots_scene(const eb_report *report, int first, int last, const char *dir,
                                const char *prefix, bool drawn[EB_PLOT_KINDS]);

#endif
