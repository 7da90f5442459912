/* Curves over a parameter or over time, and bars, each a run: plots for those who compare several.
 */
#ifndef EB_REPORT_CURVES_H
#define EB_REPORT_CURVES_H

#include <stdbool.h>

#include "problems/base/error.h"

typedef struct eb_curve {
  const char *label;
  int count;
  const double *x, *y; /* count; points that are not finite, or that a logarithmic axis cannot show,
                          are left out */
} eb_curve;

/* Both draw DIR/BASE.svg, beside the DIR/BASE.{dat,gp} that make it; *drawn is false when no point
 * can be shown, and then nothing is written. eb_markup_plot puts it on a page. */

/* Error against the threshold tau of stale elements, both logarithmic. x: tau, kg m/s; y: RMS
 * distance of the positions from those of the exact method, of the scene's diagonal. */
EB_MUST eb_error eb_plots_error_tau(const char *dir, const char *base, const char *title,
                                    const eb_curve *curves, int count, bool *drawn);
/* Time a step against the budget. x: budget, % of the time of a full factorization; y: wall time a
 * step, ms. */
EB_MUST eb_error eb_plots_time_budget(const char *dir, const char *base, const char *title,
                                      const eb_curve *curves, int count, bool *drawn);

/* Any curves, by the template `stem` ("curves", or "samples": lines and marks in turns); x and y
 * name the axes, `logarithmic` is EB_LOG_X | EB_LOG_Y (harness/report/gnuplot.h). */
EB_MUST eb_error eb_plots_curves(const char *dir, const char *base, const char *stem,
                                 const char *title, const char *x, const char *y,
                                 unsigned logarithmic, const eb_curve *curves, int count,
                                 bool *drawn);

/* Stacked bars: a label each, and `layers` values from the bottom to the top, layer_names from the
 * bottom too; y names the axis. Bars with a value that is not finite are left out. */
EB_MUST eb_error eb_plots_bars(const char *dir, const char *base, const char *title, const char *y,
                               const char *const *labels, int bars, const char *const *layer_names,
                               int layers, const double *values, bool *drawn);

#endif
