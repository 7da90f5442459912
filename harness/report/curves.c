#include "harness/report/curves.h"

#include "harness/report/gnuplot.h"

static eb_error fill(const eb_curve *curves, int count, unsigned logarithmic, eb_plot_data *data) {
  for (int c = 0; c < count; c++) {
    eb_plot_begin(data, curves[c].label);
    for (int i = 0; i < curves[c].count; i++)
      EB_TRY(eb_plot_point(data, curves[c].x[i], curves[c].y[i], logarithmic));
  }
  return EB_OK;
}

static eb_error draw(const char *dir, const char *base, const char *stem, const char *title,
                     const eb_curve *curves, int count, unsigned logarithmic, bool *drawn) {
  eb_plot_data data = {0};
  eb_error error = fill(curves, count, logarithmic, &data);
  *drawn = !error && data.series > 0;
  if (*drawn) error = eb_plot_draw(dir, base, stem, title, &data);
  eb_text_clear(&data.text);
  return error;
}

eb_error eb_plots_error_tau(const char *dir, const char *base, const char *title,
                            const eb_curve *curves, int count, bool *drawn) {
  return draw(dir, base, "error-tau", title, curves, count, EB_LOG_X | EB_LOG_Y, drawn);
}

eb_error eb_plots_time_budget(const char *dir, const char *base, const char *title,
                              const eb_curve *curves, int count, bool *drawn) {
  return draw(dir, base, "time-budget", title, curves, count, 0, drawn);
}
