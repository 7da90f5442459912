#include "harness/report/stages.h"

#include <math.h>
#include <stdio.h>

#include "harness/report/gnuplot.h"

enum { MOST_POINTS = 400 };

static bool any(const double *values, size_t count) {
  for (size_t i = 0; values && i < count; i++)
    if (values[i] > 0) return true;
  return false;
}

static double mean(const double *values, size_t first, size_t last) {
  double sum = 0;
  for (size_t s = first; s < last; s++) sum += values[s];
  return sum / (double)(last - first);
}

/* Steps [first, last) in one row: time, % of elements updated in a step, ms a step in each used phase and in none. */
static eb_error add_row(const eb_report_run *run, const bool *used, size_t first, size_t last,
                        eb_plot_data *data) {
  double elements = fmax(1, (double)run->run->elements);
  double rest = 1e3 * mean(run->column[EB_COL_WALL], first, last);
  EB_TRY(eb_text_printf(&data->text, "%.9g %.6g", run->column[EB_COL_TIME][last - 1],
                        100 * mean(run->updated_elements, first, last) / elements));
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (used[p]) {
      double milliseconds = 1e3 * mean(run->phase[p], first, last);
      rest -= milliseconds;
      EB_TRY(eb_text_printf(&data->text, " %.6g", milliseconds));
    }
  return eb_text_printf(&data->text, " %.6g\n", fmax(0, rest));
}

/* A table: many steps are put together in rows of equally many. */
static eb_error fill(const eb_report_run *run, eb_plot_data *data) {
  bool used[EB_PHASE_COUNT];
  EB_TRY(eb_text_printf(&data->text, "\"time\" \"updated\""));
  for (int p = 0; p < EB_PHASE_COUNT; p++) {
    used[p] = any(run->phase[p], run->steps);
    if (used[p]) EB_TRY(eb_plot_stage(data, (eb_phase)p));
  }
  EB_TRY(eb_plot_stage(data, EB_PHASE_COUNT));
  EB_TRY(eb_text_printf(&data->text, "\n"));
  size_t stride = (run->steps + MOST_POINTS - 1) / MOST_POINTS;
  for (size_t s = 0; s < run->steps; s += stride)
    EB_TRY(add_row(run, used, s, s + stride < run->steps ? s + stride : run->steps, data));
  return EB_OK;
}

eb_error eb_plots_stages(const eb_report_run *run, const char *dir, const char *base, bool *drawn) {
  eb_plot_data data = {0};
  char title[512];
  *drawn = run->run->repetition == 0 && any(run->updated_elements, run->steps);
  if (!*drawn) return EB_OK;
  snprintf(title, sizeof title, "%s, %s", run->scene, run->label);
  eb_error error = fill(run, &data);
  if (!error) error = eb_plot_draw(dir, base, "stages", title, &data);
  eb_text_clear(&data.text);
  return error;
}
