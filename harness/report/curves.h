/* Curves over a solver's parameter, each point a run: plots for those who sweep one. */
#ifndef EB_REPORT_CURVES_H
#define EB_REPORT_CURVES_H

#include <stdbool.h>

#include "problems/base/error.h"

typedef struct eb_curve {
  const char *label;
  int count;
  const double *x,
      *y; /* count; points that are not finite, or that a logarithmic axis cannot show, are left out */
} eb_curve;

/* Both draw DIR/BASE.svg, beside the DIR/BASE.{dat,gp} that make it; *drawn is false when no point can be shown, and then nothing is written.
 * eb_markup_plot puts it on a page. */

/* Error against the threshold tau of stale elements, both logarithmic. x: tau, kg m/s; y: RMS distance of the positions from those of the exact method, of the
 * scene's diagonal. */
EB_MUST eb_error eb_plots_error_tau(const char *dir, const char *base, const char *title,
                                    const eb_curve *curves, int count, bool *drawn);
/* Time a step against the budget. x: budget, % of the time of a full factorization; y: wall time a step, ms. */
EB_MUST eb_error eb_plots_time_budget(const char *dir, const char *base, const char *title,
                                      const eb_curve *curves, int count, bool *drawn);

#endif
