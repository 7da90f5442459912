/* A scaling study as text, Markdown, JSON and HTML. */
#include "harness/predict/scaling_show.h"

#include <math.h>
#include <string.h>

#include "harness/predict/scaling_words.h"
#include "harness/print.h"
#include "harness/report/markup.h"
#include "harness/results/json.h"

/* ---- what all of them go through ------------------------------------------------------------- */

/* How a medium puts a table and a line of words. */
typedef struct medium {
  eb_error (*table)(const eb_scaling_table *table, eb_text *out);
  eb_error (*line)(const char *words, eb_text *out);
} medium;

typedef eb_error make_table(const eb_scaling_series *series, eb_scaling_table *out);

static eb_error put_table(const eb_scaling_series *series, make_table *make, const medium *to,
                          eb_text *out) {
  eb_scaling_table table;
  eb_error error = make(series, &table);
  if (!error && table.rows > 0) error = to->table(&table, out);
  eb_strings_clear(&table.cells);
  return error;
}

/* Takes the words; none make no line. */
static eb_error put_line(eb_error error, eb_text *words, const medium *to, eb_text *out) {
  if (!error && words->length > 0) error = to->line(words->data, out);
  eb_text_clear(words);
  return error;
}

/* All but title and plot. */
static eb_error put_series(const eb_scaling_series *series, const medium *to, eb_text *out) {
  eb_text words = {0};
  EB_TRY(put_table(series, eb_scaling_rows, to, out));
  EB_TRY(put_line(eb_scaling_errors_words(series, &words), &words, to, out));
  if (series->missing.data) EB_TRY(to->line(series->missing.data, out));
  EB_TRY(put_table(series, eb_scaling_constants, to, out));
  EB_TRY(put_table(series, eb_scaling_predictions, to, out));
  for (int i = 0; i < series->prediction_count; i++)
    EB_TRY(put_line(eb_scaling_assumptions(&series->predictions[i], &words), &words, to, out));
  return EB_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int width_of(const eb_scaling_table *table, int column) {
  size_t width = strlen(table->headings[column]);
  for (int r = 0; r < table->rows; r++) {
    size_t own = strlen(eb_scaling_cell(table, r, column));
    if (own > width) width = own;
  }
  return (int)width;
}

static eb_error text_table(const eb_scaling_table *table, eb_text *out) {
  for (int r = -1; r < table->rows; r++) {
    for (int c = 0; c < table->columns; c++) {
      const char *cell = r < 0 ? table->headings[c] : eb_scaling_cell(table, r, c);
      bool last = c == table->columns - 1;
      if (!last || *cell) EB_TRY(eb_text_printf(out, "  %*s", last ? 0 : width_of(table, c), cell));
    }
    EB_TRY(eb_text_printf(out, "\n"));
  }
  return EB_OK;
}

static eb_error text_line(const char *words, eb_text *out) {
  return eb_text_printf(out, "  %s.\n", words);
}

static eb_error write_text(const eb_scaling_study *study, eb_text *out) {
  static const medium text = {text_table, text_line};
  for (int i = 0; i < study->count; i++) {
    EB_TRY(eb_scaling_title(&study->series[i], out));
    EB_TRY(eb_text_printf(out, "\n"));
    EB_TRY(put_series(&study->series[i], &text, out));
  }
  return eb_text_printf(out, "%s\n", study->count > 0 ? eb_scaling_legend : "");
}

eb_error eb_scaling_print(const eb_scaling_study *study, FILE *out) {
  eb_text text = {0};
  eb_error error = write_text(study, &text);
  if (!error) eb_print(out, "%s", text.data);
  eb_text_clear(&text);
  return error;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static eb_error markdown_table(const eb_scaling_table *table, eb_text *out) {
  for (int c = 0; c < table->columns; c++) EB_TRY(eb_text_printf(out, "| %s ", table->headings[c]));
  EB_TRY(eb_text_printf(out, "|\n"));
  for (int c = 0; c < table->columns; c++)
    EB_TRY(eb_text_printf(out, c < table->columns - 1 ? "|--:" : "|---|\n"));
  for (int r = 0; r < table->rows; r++) {
    for (int c = 0; c < table->columns; c++)
      EB_TRY(eb_text_printf(out, "| %s ", eb_scaling_cell(table, r, c)));
    EB_TRY(eb_text_printf(out, "|\n"));
  }
  return eb_text_printf(out, "\n");
}

static eb_error markdown_line(const char *words, eb_text *out) {
  return eb_text_printf(out, "%s.\n\n", words);
}

eb_error eb_scaling_markdown(const eb_scaling_study *study, eb_text *out) {
  static const medium markdown = {markdown_table, markdown_line};
  for (int i = 0; i < study->count; i++) {
    EB_TRY(eb_text_printf(out, "## "));
    EB_TRY(eb_scaling_title(&study->series[i], out));
    EB_TRY(eb_text_printf(out, "\n\n"));
    EB_TRY(put_series(&study->series[i], &markdown, out));
  }
  return eb_text_printf(out, "%s\n", study->count > 0 ? eb_scaling_legend : "");
}

/* ---- HTML ------------------------------------------------------------------------------------ */

static eb_error html_table(const eb_scaling_table *table, eb_text *page) {
  const int last = table->columns - 1;
  EB_TRY(eb_text_printf(page, "<div class=\"scroll\"><table><thead><tr>"));
  for (int c = 0; c < table->columns; c++)
    EB_TRY(eb_markup_between(page, c == last ? "<th class=\"text\">" : "<th>", table->headings[c],
                             "</th>"));
  EB_TRY(eb_text_printf(page, "</tr></thead>\n<tbody>\n"));
  for (int r = 0; r < table->rows; r++) {
    EB_TRY(eb_text_printf(page, "<tr>"));
    for (int c = 0; c < table->columns; c++)
      EB_TRY(eb_markup_between(page, c == last ? "<td class=\"text\">" : "<td>",
                               eb_scaling_cell(table, r, c), "</td>"));
    EB_TRY(eb_text_printf(page, "</tr>\n"));
  }
  return eb_text_printf(page, "</tbody></table></div>\n");
}

static eb_error html_line(const char *words, eb_text *page) {
  return eb_markup_between(page, "<p class=\"note\">", words, ".</p>\n");
}

static eb_error html_series(const eb_scaling_study *study, int at, bool drawn, eb_text *page) {
  static const medium html = {html_table, html_line};
  eb_text title = {0};
  char stem[32];
  eb_error error = eb_scaling_title(&study->series[at], &title);
  if (!error) error = eb_markup_between(page, "<h3>", title.data, "</h3>\n");
  eb_text_clear(&title);
  EB_TRY(error);
  eb_scaling_stem(at, stem);
  if (drawn) {
    EB_TRY(eb_text_printf(page, "<div class=\"figures\">\n"));
    EB_TRY(eb_markup_plot(page, "", stem,
                          "Seconds an iteration of Newton's over ranks: filled and in full lines "
                          "as measured, hollow and dashed as told by the model. Left: one scene on "
                          "more ranks; right: as many elements a rank"));
    EB_TRY(eb_text_printf(page, "</div>\n"));
  }
  return put_series(&study->series[at], &html, page);
}

eb_error eb_scaling_html(const eb_scaling_study *study, const bool *drawn, eb_text *page) {
  if (study->count == 0) return EB_OK;
  EB_TRY(eb_text_printf(page, "<section><h2 id=\"scaling\">Scaling over ranks</h2>\n"));
  EB_TRY(eb_markup_between(page, "<p>", eb_scaling_legend, "</p>\n"));
  for (int i = 0; i < study->count; i++) EB_TRY(html_series(study, i, drawn[i], page));
  return eb_text_printf(page, "</section>\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_time(const eb_scaling_time *t) {
  return eb_json_pack("{s:o, s:o, s:o, s:o, s:o}", "total", eb_json_real(t->total), "compute",
                      eb_json_real(t->compute), "halo", eb_json_real(t->halo), "reductions",
                      eb_json_real(t->reductions), "coarse", eb_json_real(t->coarse));
}

static json_t *json_network(const eb_network *n) {
  return eb_json_pack("{s:o, s:o, s:o}", "latency", eb_json_real(n->latency), "bandwidth",
                      eb_json_real(n->bandwidth), "reduction", eb_json_real(n->reduction));
}

static json_t *json_row(const eb_scaling_row *row) {
  const eb_scaling_sample *s = row->sample;
  return eb_json_pack(
      "{s:s, s:o, s:o, s:i, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scene", s->scene,
      "elements", eb_json_real(s->elements), "nodes", eb_json_real(s->nodes), "ranks", s->ranks,
      "trouble", s->trouble, "more_ranks_than_cores", row->kind == EB_SCALING_CROWDED, "seconds",
      eb_json_real(row->seconds), "told", json_time(&row->told), "error", eb_json_real(row->error),
      "strong", eb_json_real(row->strong), "weak", eb_json_real(row->weak), "iterations",
      eb_json_real(s->iterations), "linear_iterations", eb_json_real(s->linear_iterations),
      "network", json_network(&s->at.network));
}

static json_t *json_given(const eb_scaling_row *row) {
  const eb_scaling_work work = eb_scaling_given(row);
  return eb_json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "elements",
                      eb_json_real(row->sample->elements), "assemble", eb_json_real(work.assemble),
                      "setup", eb_json_real(work.setup), "iteration", eb_json_real(work.iteration),
                      "iterations", eb_json_real(work.iterations), "elements_per_node",
                      eb_json_real(work.elements_per_node));
}

static json_t *json_errors(const eb_scaling_errors *e) {
  return eb_json_pack("{s:i, s:o, s:o}", "count", e->count, "median", eb_json_real(e->median),
                      "worst", eb_json_real(e->worst));
}

static json_t *json_prediction(const eb_scaling_prediction *p) {
  return eb_json_pack("{s:o, s:i, s:o, s:o, s:i, s:i, s:o, s:o}", "elements",
                      eb_json_real(p->point.elements), "ranks", p->point.ranks, "told",
                      json_time(&p->told), "network", json_network(&p->machine.network), "cores",
                      p->machine.cores, "per_node", p->per_node, "rank_beyond_measured",
                      eb_json_real(p->beyond), "whole_beyond_measured", eb_json_real(p->larger));
}

static json_t *json_series(const eb_scaling_series *series) {
  json_t *rows = json_array(), *constants = json_array(), *predictions = json_array();
  for (int r = 0; r < series->row_count; r++) {
    json_array_append_new(rows, json_row(&series->rows[r]));
    if (eb_scaling_gives(&series->rows[r]))
      json_array_append_new(constants, json_given(&series->rows[r]));
  }
  for (int i = 0; i < series->prediction_count; i++)
    json_array_append_new(predictions, json_prediction(&series->predictions[i]));
  return eb_json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "scene",
                      series->problem, "solver", series->solver, "machine", series->machine,
                      "cores", series->cores, "rows", rows, "constants", constants, "own_cores",
                      json_errors(&series->errors[EB_SCALING_SHARED]), "shared_cores",
                      json_errors(&series->errors[EB_SCALING_CROWDED]), "one_rank",
                      json_errors(&series->errors[EB_SCALING_ALONE]), "predictions", predictions,
                      "missing", series->missing.data ? series->missing.data : "");
}

eb_error eb_scaling_json(const eb_scaling_study *study, json_t **out) {
  json_t *series = json_array();
  for (int i = 0; i < study->count; i++)
    json_array_append_new(series, json_series(&study->series[i]));
  *out = eb_json_pack("{s:o}", "series", series);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
}
