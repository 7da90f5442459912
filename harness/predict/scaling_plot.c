/* The plot of a series: strong and weak scaling side by side (reports/gnuplot/scaling.gp). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/predict/scaling_show.h"

void eb_scaling_stem(int series, char out[32]) {
  snprintf(out, 32, series > 0 ? "scaling-%d" : "scaling", series + 1);
}

/* Two blocks for gnuplot's `index`: measured and told, of the rows that belong to `to`. An empty
 * one has a point that is not drawn, so that the two of a curve stay a pair. */
typedef bool relation(const eb_scaling_series *series, const eb_scaling_row *row,
                      const eb_scaling_row *to);

static bool same_scene(const eb_scaling_series *series, const eb_scaling_row *row,
                       const eb_scaling_row *to) {
  (void)series;
  return strcmp(row->sample->scene, to->sample->scene) == 0;
}

static bool same_share(const eb_scaling_series *series, const eb_scaling_row *row,
                       const eb_scaling_row *to) {
  return eb_scaling_weak_base(series, row) == to;
}

static eb_error put_block(const eb_scaling_series *series, relation *belongs,
                          const eb_scaling_row *to, bool told, eb_plot_data *data) {
  EB_TRY(eb_text_printf(&data->text, "%s\"ranks\" \"%.0f\"\n", data->series++ ? "\n\n" : "",
                        to->sample->elements));
  for (const eb_scaling_row *row = series->rows; row < series->rows + series->row_count; row++) {
    double seconds = told ? row->told.total : row->seconds;
    if (belongs(series, row, to))
      EB_TRY(isnan(seconds)
                 ? eb_text_printf(&data->text, "%d nan\n", row->sample->ranks)
                 : eb_text_printf(&data->text, "%d %.6g\n", row->sample->ranks, seconds));
  }
  return EB_OK;
}

/* Curves of rows that belong to one of them, where there are two at least that were measured. */
static eb_error put_curves(const eb_scaling_series *series, relation *belongs, int *count,
                           eb_plot_data *data) {
  *count = 0;
  for (const eb_scaling_row *to = series->rows; to < series->rows + series->row_count; to++) {
    int rows = 0, before = 0;
    for (const eb_scaling_row *row = series->rows; row < series->rows + series->row_count; row++) {
      if (!belongs(series, row, to) || isnan(row->seconds)) continue;
      rows++;
      before += row < to;
    }
    bool first = belongs == same_share || before == 0;
    if (rows < 2 || !first || isnan(to->seconds)) continue;
    EB_TRY(put_block(series, belongs, to, false, data));
    EB_TRY(put_block(series, belongs, to, true, data));
    ++*count;
  }
  return EB_OK;
}

static eb_error draw(const eb_scaling_series *series, const char *stem, eb_plotter *plotter,
                     bool *drawn, eb_plot_data *data) {
  int strong, weak, most = 1;
  char title[512];
  EB_TRY(put_curves(series, same_scene, &strong, data));
  EB_TRY(put_curves(series, same_share, &weak, data));
  for (int r = 0; r < series->row_count; r++)
    if (series->rows[r].sample->ranks > most) most = series->rows[r].sample->ranks;
  *drawn = strong + weak > 0;
  if (!*drawn) return EB_OK;
  EB_TRY(eb_text_printf(&data->settings, "strong = %d\nweak = %d\ncores = %d\nmost = %d\n", strong,
                        weak, series->cores, most));
  snprintf(title, sizeof title, "%s by %s", series->problem, series->solver);
  return eb_plot_draw(plotter, stem, "scaling", title, data);
}

eb_error eb_scaling_draw(const eb_scaling_study *study, eb_plotter *plotter, bool *drawn) {
  for (int i = 0; i < study->count; i++) {
    eb_plot_data data = {0};
    char stem[32];
    eb_scaling_stem(i, stem);
    eb_error error = draw(&study->series[i], stem, plotter, &drawn[i], &data);
    eb_text_clear(&data.text);
    eb_text_clear(&data.settings);
    EB_TRY(error);
  }
  return EB_OK;
}
