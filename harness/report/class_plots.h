/* Plots in which runs stand by their accuracy class. */
#ifndef EB_REPORT_CLASS_PLOTS_H
#define EB_REPORT_CLASS_PLOTS_H

#include "harness/report/gnuplot.h"
#include "harness/report/model.h"

/* Fills `data` for the template "accuracy": a point a run, its median step against the worst of all steps - `declared`: of the residual of its
 * own equation, or else of implicit Euler's. One symbol a class; hollow, with the broken rules beside it, where the audit failed. Of
 * repetitions the first. No series when there is nothing to show. */
EB_MUST eb_error eb_class_plot_accuracy(const eb_report_run *runs, int count, bool declared,
                                        eb_plot_data *data);
/* Median step time of every solver, scene by scene and in each class by class, without runs that their audit contradicts:
 * DIR/summary.{dat,gp,svg}. */
EB_MUST eb_error eb_class_plots_summary(const eb_report *report, const char *dir, bool *drawn);

#endif
