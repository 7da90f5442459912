/* The one home of what is said of a scaling study: tables as texts, and sentences. */
#include "harness/predict/scaling_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ----------------------------------------------------------------------------------- */

static const char none[] = "-";

static eb_error put(eb_scaling_table *table, const char *format, double value) {
  char text[64];
  snprintf(text, sizeof text, format, value);
  return eb_strings_add(&table->cells, isnan(value) ? none : text);
}

const char *eb_scaling_cell(const eb_scaling_table *table, int row, int column) {
  return table->cells.items[row * table->columns + column];
}

/* ---- measured and told ----------------------------------------------------------------------- */

const char eb_scaling_legend[] =
    "s/iteration: wall time of the steps, the first left out where there are others, over "
    "iterations of Newton's, of the fastest of equal runs. told: by the model, of which compute, "
    "halo, reductions and coarse grid are parts (s); constants are those of runs on one rank, and "
    "a row of one rank is told by the other sizes. strong: time on one rank over ranks x time, of "
    "the same scene; weak: time an element on one rank of as many elements, over that of a rank's "
    "elements. k: linear iterations an iteration of Newton's.";

static const char *const row_headings[] = {
    "elements", "ranks",   "k",    "s/iteration", "told",        "error", "strong",
    "weak",     "compute", "halo", "reductions",  "coarse grid", ""};
enum { ROW_COLUMNS = sizeof row_headings / sizeof *row_headings };

static const char *note_of(const eb_scaling_row *row) {
  if (isnan(row->seconds)) return *row->sample->trouble ? row->sample->trouble : "no steps";
  return row->kind == EB_SCALING_CROWDED ? "more ranks than cores: they take turns" : "";
}

static eb_error put_row(const eb_scaling_row *row, eb_scaling_table *out) {
  const eb_scaling_sample *s = row->sample;
  const double k = isnan(row->seconds) ? NAN : s->linear_iterations / s->iterations;
  const struct {
    const char *format;
    double value;
  } cells[] = {{"%.0f", s->elements},
               {"%.0f", s->ranks},
               {"%.1f", k},
               {"%.4g", row->seconds},
               {"%.4g", row->told.total},
               {"%+.0f %%", 100 * row->error},
               {"%.2f", row->strong},
               {"%.2f", row->weak},
               {"%.3g", row->told.compute},
               {"%.2g", row->told.halo},
               {"%.2g", row->told.reductions},
               {"%.2g", row->told.coarse}};
  for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
    EB_TRY(put(out, cells[c].format, cells[c].value));
  return eb_strings_add(&out->cells, note_of(row));
}

eb_error eb_scaling_rows(const eb_scaling_series *series, eb_scaling_table *out) {
  *out = (eb_scaling_table){
      .rows = series->row_count, .columns = ROW_COLUMNS, .headings = row_headings};
  for (int r = 0; r < series->row_count; r++) EB_TRY(put_row(&series->rows[r], out));
  return EB_OK;
}

/* ---- constants ------------------------------------------------------------------------------- */

static const char *const constant_headings[] = {"on one rank: elements",
                                                "elements a node",
                                                "matrix and gradient (us an element)",
                                                "set-up (us an element)",
                                                "linear iterations",
                                                "of 1 (us a node)",
                                                ""};
enum { CONSTANT_COLUMNS = sizeof constant_headings / sizeof *constant_headings };

eb_error eb_scaling_constants(const eb_scaling_series *series, eb_scaling_table *out) {
  *out = (eb_scaling_table){.columns = CONSTANT_COLUMNS, .headings = constant_headings};
  for (const eb_scaling_row *row = series->rows; row < series->rows + series->row_count; row++) {
    if (!eb_scaling_gives(row)) continue;
    const eb_scaling_work work = eb_scaling_given(row);
    const double values[] = {row->sample->elements, work.elements_per_node, 1e6 * work.assemble,
                             1e6 * work.setup,      work.iterations,        1e6 * work.iteration};
    EB_TRY(put(out, "%.0f", values[0]));
    for (size_t c = 1; c < sizeof values / sizeof *values; c++) EB_TRY(put(out, "%.3g", values[c]));
    EB_TRY(eb_strings_add(&out->cells, ""));
    out->rows++;
  }
  return EB_OK;
}

/* ---- predictions ----------------------------------------------------------------------------- */

static const char *const prediction_headings[] = {
    "elements", "ranks", "s/iteration", "compute", "halo", "reductions", "coarse grid", ""};
enum { PREDICTION_COLUMNS = sizeof prediction_headings / sizeof *prediction_headings };

eb_error eb_scaling_predictions(const eb_scaling_series *series, eb_scaling_table *out) {
  *out = (eb_scaling_table){.columns = PREDICTION_COLUMNS, .headings = prediction_headings};
  for (int i = 0; i < series->prediction_count; i++) {
    const eb_scaling_prediction *p = &series->predictions[i];
    if (isnan(p->told.total)) continue;
    const double parts[] = {p->told.total, p->told.compute, p->told.halo, p->told.reductions,
                            p->told.coarse};
    EB_TRY(put(out, "%.4g", p->point.elements));
    EB_TRY(put(out, "%.0f", p->point.ranks));
    for (size_t c = 0; c < sizeof parts / sizeof *parts; c++) EB_TRY(put(out, "%.3g", parts[c]));
    EB_TRY(eb_strings_add(&out->cells, p->told.oversubscribed ? "more ranks than cores" : ""));
    out->rows++;
  }
  return EB_OK;
}

eb_error eb_scaling_assumptions(const eb_scaling_prediction *p, eb_text *out) {
  const eb_scaling_machine *m = &p->machine;
  EB_TRY(eb_text_append(out, "", 0));
  if (isnan(p->told.total)) return EB_OK;
  EB_TRY(eb_text_printf(
      out,
      "Assumed of %.4g elements on %d ranks: nodes of %d cores like those of the runs, %d rank%s "
      "on each; latency %.2g s, %.3g byte/s, reductions of %.2g s a doubling of ranks, with no "
      "message in another's way; as many linear iterations as in the largest run on one rank, "
      "which is %.3g times smaller; multigrid's coarse levels and set-up shared as its finest is",
      p->point.elements, p->point.ranks, m->cores, p->per_node, p->per_node > 1 ? "s" : "",
      m->network.latency, m->network.bandwidth, m->network.reduction, p->larger));
  return p->beyond > 1 + EB_SCALING_SAME_SIZE
             ? eb_text_printf(out,
                              "; work an element of a node that holds %.3g times as many as that "
                              "run is that of the run",
                              p->beyond)
             : EB_OK;
}

/* ---- sentences ------------------------------------------------------------------------------- */

eb_error eb_scaling_title(const eb_scaling_series *series, eb_text *out) {
  return eb_text_printf(out, "%s by %s (%s, %d core%s)", series->problem, series->solver,
                        series->machine, series->cores, series->cores == 1 ? "" : "s");
}

eb_error eb_scaling_errors_words(const eb_scaling_series *series, eb_text *out) {
  static const char *const of[EB_SCALING_KINDS] = {
      [EB_SCALING_SHARED] = "on ranks with a core each",
      [EB_SCALING_CROWDED] = "on more ranks than cores",
      [EB_SCALING_ALONE] = "on one rank, from other sizes"};
  static const eb_scaling_kind order[] = {EB_SCALING_SHARED, EB_SCALING_CROWDED, EB_SCALING_ALONE};
  EB_TRY(eb_text_append(out, "", 0));
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const eb_scaling_errors *e = &series->errors[order[i]];
    if (e->count == 0) continue;
    EB_TRY(eb_text_printf(out, "%s %s %.0f %% in the median, %.0f %% at worst, of %d",
                          out->length ? ";" : "Off by:", of[order[i]], 100 * e->median,
                          100 * e->worst, e->count));
  }
  return EB_OK;
}
