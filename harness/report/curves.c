/* Curves, bars and maps of numbers that the caller has. */
#include <math.h>
#include <stdlib.h>

#include "harness/report/plots.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

eb_error eb_plots_curves(eb_plotter *plotter, const char *base, const char *stem, const char *title,
                         const char *x, const char *y, unsigned logarithmic, const eb_curve *curves,
                         int count, bool *drawn) {
  eb_plot plot = {0};
  if (x && y) eb_plot_axes(&plot, x, y, logarithmic);
  for (int c = 0; c < count; c++) {
    eb_plot_begin(&plot, curves[c].label);
    for (int i = 0; i < curves[c].count; i++)
      eb_plot_point(&plot, curves[c].x[i], curves[c].y[i], logarithmic, NULL);
  }
  return eb_plot_draw(plotter, base, stem, title, &plot, drawn);
}

static bool all_finite(const double *values, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

eb_error eb_plots_bars(eb_plotter *plotter, const char *base, const char *title, const char *y,
                       const char *const *labels, int bars, const char *const *layer_names,
                       int layers, const double *values, bool *drawn) {
  eb_plot plot = {0};
  eb_plot_axes(&plot, "", y, 0);
  eb_plot_word(&plot, "bar");
  for (int l = 0; l < layers; l++) eb_plot_word(&plot, layer_names[l]);
  eb_plot_put(&plot, "\n");
  for (int b = 0; b < bars; b++) {
    const double *row = values + b * layers;
    if (!all_finite(row, layers)) continue;
    plot.series = layers;
    eb_plot_word(&plot, labels[b]);
    for (int l = 0; l < layers; l++) eb_plot_put(&plot, " %.6g", row[l]);
    eb_plot_put(&plot, "\n");
  }
  return eb_plot_draw(plotter, base, "bars", title, &plot, drawn);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Sorts numbers, each once; returns how many there are. */
static int sort_once(double *values, int count) {
  int kept = 0;
  qsort(values, (size_t)count, sizeof *values, ascending);
  for (int i = 0; i < count; i++)
    if (kept == 0 || values[i] > values[kept - 1]) values[kept++] = values[i];
  return kept;
}

static int place_of(const double *values, double value) {
  int at = 0;
  while (values[at] < value) at++;
  return at;
}

/* The axis' tics: the numbers of its columns or rows. */
static void put_tics(eb_plot *plot, const char *axis, const char *count_name, const double *values,
                     int count) {
  eb_plot_setting(plot, "%s = %d\nset %stics (", count_name, count, axis);
  for (int i = 0; i < count; i++) eb_plot_setting(plot, "%s\"%g\" %d", i ? ", " : "", values[i], i);
  eb_plot_setting(plot, ")\n");
}

static bool has_colour(const eb_map_cell *cell, bool logarithmic) {
  return isfinite(cell->x) && isfinite(cell->y) && isfinite(cell->value) &&
         (!logarithmic || cell->value > 0);
}

/* Writing is white on the dark end of the colours. */
static void put_cells(const eb_map_cell *cells, int count, bool logarithmic, const double *xs,
                      const double *ys, eb_plot *plot) {
  enum { WHITE = 0xffffff, DARK = 0x111827 };
  static const double light = 0.6;
  double least = INFINITY, most = -INFINITY;
  for (int i = 0; i < count; i++) {
    least = fmin(least, cells[i].value);
    most = fmax(most, cells[i].value);
  }
  for (int i = 0; i < count; i++) {
    const eb_map_cell *cell = &cells[i];
    double share = logarithmic ? log(cell->value / least) / log(most / least)
                               : (cell->value - least) / (most - least);
    eb_plot_put(plot, "%d %d %.9g \"%.3g\" %d\n", place_of(xs, cell->x), place_of(ys, cell->y),
                cell->value, cell->value, share > light ? DARK : WHITE);
  }
  /* Colours need a range. */
  double around = fmax(fabs(least), 1) / 2;
  if (count > 0 && least == most)
    eb_plot_setting(plot, "set cbrange [%.9g:%.9g]\n", logarithmic ? least / 2 : least - around,
                    logarithmic ? least * 2 : least + around);
  plot->series = count > 0;
}

eb_error eb_plots_map(eb_plotter *plotter, const char *base, const char *title, const char *x,
                      const char *y, const char *z, bool logarithmic, const eb_map_cell *cells,
                      int count, bool *drawn) {
  EB_FREED eb_map_cell *shown = NULL;
  EB_FREED double *xs = NULL, *ys = NULL;
  eb_plot plot = {0};
  int kept = 0;
  EB_TRY(EB_NEW(shown, count));
  EB_TRY(EB_NEW(xs, count));
  EB_TRY(EB_NEW(ys, count));
  for (int i = 0; i < count; i++) {
    if (!has_colour(&cells[i], logarithmic)) continue;
    xs[kept] = cells[i].x;
    ys[kept] = cells[i].y;
    shown[kept++] = cells[i];
  }
  eb_plot_axes(&plot, x, y, 0);
  put_tics(&plot, "x", "columns", xs, sort_once(xs, kept));
  put_tics(&plot, "y", "rows", ys, sort_once(ys, kept));
  eb_plot_set(&plot, "zname", z);
  eb_plot_setting(&plot, "logz = %d\n", logarithmic);
  put_cells(shown, kept, logarithmic, xs, ys, &plot);
  return eb_plot_draw(plotter, base, "map", title, &plot, drawn);
}
