#include "harness/report/curves.h"

#include <math.h>

#include "harness/report/gnuplot.h"

static eb_error fill(const eb_curve *curves, int count, unsigned logarithmic, eb_plot_data *data) {
  for (int c = 0; c < count; c++) {
    eb_plot_begin(data, curves[c].label);
    for (int i = 0; i < curves[c].count; i++)
      EB_TRY(eb_plot_point(data, curves[c].x[i], curves[c].y[i], logarithmic));
  }
  return EB_OK;
}

/* `data` may have axes. */
static eb_error draw(const char *dir, const char *base, const char *stem, const char *title,
                     const eb_curve *curves, int count, eb_plot_data data, bool *drawn) {
  eb_error error = fill(curves, count, data.logarithmic, &data);
  *drawn = !error && data.series > 0;
  if (*drawn) error = eb_plot_draw(dir, base, stem, title, &data);
  eb_text_clear(&data.text);
  return error;
}

eb_error eb_plots_error_tau(const char *dir, const char *base, const char *title,
                            const eb_curve *curves, int count, bool *drawn) {
  const eb_plot_data data = {.logarithmic = EB_LOG_X | EB_LOG_Y};
  return draw(dir, base, "error-tau", title, curves, count, data, drawn);
}

eb_error eb_plots_time_budget(const char *dir, const char *base, const char *title,
                              const eb_curve *curves, int count, bool *drawn) {
  return draw(dir, base, "time-budget", title, curves, count, (eb_plot_data){0}, drawn);
}

eb_error eb_plots_curves(const char *dir, const char *base, const char *stem, const char *title,
                         const char *x, const char *y, unsigned logarithmic, const eb_curve *curves,
                         int count, bool *drawn) {
  const eb_plot_data data = {.x = x, .y = y, .logarithmic = logarithmic};
  return draw(dir, base, stem, title, curves, count, data, drawn);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static eb_error put_name(eb_plot_data *data, const char *name) {
  EB_TRY(eb_text_printf(&data->text, " \""));
  for (const char *c = name; *c; c++)
    EB_TRY(eb_text_printf(&data->text, "%c", *c == '"' || *c == '\\' ? '\'' : *c));
  return eb_text_printf(&data->text, "\"");
}

static bool is_finite(const double *values, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static eb_error fill_bars(const char *const *labels, int bars, const char *const *layer_names,
                          int layers, const double *values, eb_plot_data *data, bool *any) {
  EB_TRY(put_name(data, "bar"));
  for (int l = 0; l < layers; l++) EB_TRY(put_name(data, layer_names[l]));
  EB_TRY(eb_text_printf(&data->text, "\n"));
  for (int b = 0; b < bars; b++) {
    const double *row = values + b * layers;
    if (!is_finite(row, layers)) continue;
    *any = true;
    EB_TRY(put_name(data, labels[b]));
    for (int l = 0; l < layers; l++) EB_TRY(eb_text_printf(&data->text, " %.6g", row[l]));
    EB_TRY(eb_text_printf(&data->text, "\n"));
  }
  data->series = layers;
  return EB_OK;
}

eb_error eb_plots_bars(const char *dir, const char *base, const char *title, const char *y,
                       const char *const *labels, int bars, const char *const *layer_names,
                       int layers, const double *values, bool *drawn) {
  eb_plot_data data = {.x = "", .y = y};
  *drawn = false;
  eb_error error = fill_bars(labels, bars, layer_names, layers, values, &data, drawn);
  if (!error && *drawn) error = eb_plot_draw(dir, base, "bars", title, &data);
  eb_text_clear(&data.text);
  return error;
}
