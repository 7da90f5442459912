/* Richardson's extrapolation of first-order runs, by observed orders (Roache 1994, "Perspective: a
 * method for uniform reporting of grid refinement studies"). */
#include "harness/precision/extrapolation.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"

static const double safety = 1.25;     /* of three levels and an observed order: Roache 1994 */
static const double least_order = 0.5; /* that is taken for convergence */
static const double order_slack = 0.5; /* of a column's order, for the next to be made */

/* T[column + 1] in the place of T[column]: entries from column + 1 on. */
static void next_column(double *table, int levels, size_t size, int column) {
  double weight = 1 / (ldexp(1, column + 1) - 1);
  for (int j = levels - 1; j > column; j--) {
    double *entry = table + (size_t)j * size;
    const double *before = entry - size;
    for (size_t i = 0; i < size; i++) entry[i] += weight * (entry[i] - before[i]);
  }
}

/* Of a column whose entries begin at `column`; *order is NAN with fewer than three of them. */
static void observe(const double *table, int levels, size_t size, int column,
                    eb_distance_of *distance, const void *context, double *last, double *order) {
  const double *end = table + (size_t)(levels - 1) * size;
  *last = distance(context, end, end - size);
  *order = levels - column < 3 ? NAN : log2(distance(context, end - size, end - 2 * size) / *last);
}

/* What is left behind the last entry of a column is taken for a geometric series of the observed
 * ratio, at best that of order 1. */
static double stated_error(double last, double order) {
  double p = isnan(order) ? 1 : fmin(1, order);
  return p >= least_order ? safety * last / (exp2(p) - 1) : INFINITY;
}

static void extrapolate(double *table, int levels, size_t size, eb_distance_of *distance,
                        const void *context, double rounding, double *out,
                        eb_extrapolation *found) {
  bool goes_on = true;
  for (int c = 0; c < levels - 1 && goes_on; c++) {
    if (c > 0) next_column(table, levels, size, c - 1);
    observe(table, levels, size, c, distance, context, &found->last[c], &found->order[c]);
    bool known = found->last[c] <= rounding;
    found->columns = c + 1;
    if (c == 0) found->converges = known || found->order[0] >= least_order;
    double error = !found->converges ? INFINITY
                   : known           ? rounding
                                     : stated_error(found->last[c], found->order[c]);
    if (c == 0 || error < found->error) {
      found->column = c;
      found->error = error;
      memcpy(out, table + (size_t)(levels - 1) * size, size * sizeof *out);
    }
    goes_on = !known && fabs(found->order[c] - (c + 1)) <= order_slack;
  }
}

eb_error eb_extrapolate(const double *const *level, int levels, size_t size,
                        eb_distance_of *distance, const void *context, double rounding, double *out,
                        eb_extrapolation *found) {
  double *table;
  *found = (eb_extrapolation){.levels = levels};
  if (levels < 2 || levels > EB_MOST_LEVELS)
    return EB_ERROR(EB_ERR_INVALID, "%d levels cannot be extrapolated: 2 to %d can", levels,
                    EB_MOST_LEVELS);
  EB_TRY(EB_NEW(table, (size_t)levels * size));
  for (int j = 0; j < levels; j++) memcpy(table + (size_t)j * size, level[j], size * sizeof *table);
  extrapolate(table, levels, size, distance, context, rounding, out, found);
  free(table);
  return EB_OK;
}

double eb_damped_motion(double lost, double mass, double h, double t) {
  return sqrt(2 * lost / mass) * sqrt(h * t / 2);
}
