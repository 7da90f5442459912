#include "harness/report/class_plots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/results/accuracy.h"

/* Classes in order of appearance; more than a scene has are not told apart. */
enum { MOST_CLASSES = 32 };
typedef struct class_list {
  eb_class of[MOST_CLASSES];
  int count;
} class_list;

static int class_number(class_list *classes, eb_class wanted) {
  int c = 0;
  while (c < classes->count && eb_class_compare(classes->of[c], wanted) != 0) c++;
  if (c == classes->count && c < MOST_CLASSES) classes->of[classes->count++] = wanted;
  return c;
}

/* ---- accuracy against cost -------------------------------------------------------------------- */

/* Symbols of gnuplot that are filled; the number before each is the same one hollow. The seventh class begins again. */
static int class_symbol(int class) {
  static const int filled[] = {7, 5, 9, 13, 11, 15};
  return filled[class % (int)(sizeof filled / sizeof *filled)];
}

/* One point: what a step costs, and the worst residual of all steps. Its symbol goes to `symbols`. */
static eb_error accuracy_point(const eb_report_run *run, bool declared, class_list *classes,
                               eb_text *symbols, eb_plot_data *data) {
  double wall = 1e3 * eb_report_typical(run, EB_COL_WALL);
  double error = declared ? run->run->error : eb_report_worst(run, EB_COL_RESIDUAL_RELATIVE);
  const char *rules = run->run->audit_rules;
  bool refuted = eb_report_refuted(run);
  int before = data->series;
  eb_plot_begin(data, run->label);
  EB_TRY(eb_plot_named_point(data, wall, error, EB_LOG_X | EB_LOG_Y,
                             !refuted ? ""
                             : *rules ? rules
                                      : "audit failed"));
  if (data->series == before) return EB_OK;
  int symbol = class_symbol(class_number(classes, eb_class_of(run->run)));
  return eb_text_printf(symbols, " %d", refuted ? symbol - 1 : symbol);
}

static eb_error name_classes(const class_list *classes, eb_plot_data *data) {
  eb_text names = {0}, symbols = {0};
  eb_error error = EB_OK;
  for (int c = 0; c < classes->count && !error; c++) {
    eb_class_name name = eb_class_words(classes->of[c]);
    eb_plot_quotable(name.text);
    if (strlen(name.text) > data->longest) data->longest = strlen(name.text);
    error = eb_text_printf(&names, " \"%s\"", name.text);
    if (!error) error = eb_text_printf(&symbols, " %d", class_symbol(c));
  }
  if (!error) error = eb_plot_set(data, "classes", names.data ? names.data : "");
  if (!error) error = eb_plot_set(data, "class_symbols", symbols.data ? symbols.data : "");
  data->entries = data->series + classes->count;
  eb_text_clear(&names);
  eb_text_clear(&symbols);
  return error;
}

static bool is_shown(const eb_report_run *run) {
  return run->run->repetition == 0 && run->steps > 0;
}

/* Both plots of a scene have the same symbols: classes are numbered over all runs, whether they have a point or not. */
eb_error eb_class_plot_accuracy(const eb_report_run *runs, int count, bool declared,
                                eb_plot_data *data) {
  class_list classes = {.count = 0};
  eb_text symbols = {0};
  eb_error error = EB_OK;
  for (int r = 0; r < count; r++)
    if (is_shown(&runs[r])) class_number(&classes, eb_class_of(runs[r].run));
  for (int r = 0; r < count && !error; r++)
    if (is_shown(&runs[r]) && (!declared || eb_report_declares(&runs[r])))
      error = accuracy_point(&runs[r], declared, &classes, &symbols, data);
  if (!error) error = eb_plot_set(data, "symbols", symbols.data ? symbols.data : "");
  if (!error) error = eb_plot_set(data, "edges", declared ? "-8 -6 -4 -2 -1" : "");
  eb_text_clear(&symbols);
  return error ? error : name_classes(&classes, data);
}

/* ---- all scenes ------------------------------------------------------------------------------- */

/* Distinct labels over all runs, in order of appearance; returns how many. */
static int distinct_labels(const eb_report *report, const char **labels, int capacity) {
  int count = 0;
  for (int r = 0; r < report->run_count; r++) {
    int known = 0;
    while (known < count && strcmp(labels[known], report->runs[r].label) != 0) known++;
    if (known == count && count < capacity) labels[count++] = report->runs[r].label;
  }
  return count;
}

static bool is_compared(const eb_report_run *run) {
  return isfinite(eb_report_typical(run, EB_COL_WALL)) && !eb_report_refuted(run);
}

/* Of the runs in [first, last) with that label and class, unless the audit contradicts them. */
static double label_median(const eb_report *report, int first, int last, const char *label,
                           eb_class class) {
  for (int r = first; r < last; r++)
    if (strcmp(report->runs[r].label, label) == 0 && is_compared(&report->runs[r]) &&
        eb_class_compare(eb_class_of(report->runs[r].run), class) == 0)
      return 1e3 * eb_report_typical(&report->runs[r], EB_COL_WALL);
  return NAN;
}

/* Bars of one scene and class. */
static eb_error summary_row(const eb_report *report, int first, int last, eb_class class,
                            const char *const *labels, eb_plot_data *data) {
  enum { USUAL = 40 };
  char name[512];
  snprintf(name, sizeof name, "%s: %s", report->runs[first].scene, eb_class_words(class).text);
  eb_plot_quotable(name);
  int slanted = (int)strlen(name) * 5 / 2; /* pixels that it hangs down by */
  if (slanted > data->below + USUAL) data->below = slanted - USUAL;
  EB_TRY(eb_text_printf(&data->text, "\n\"%s\"", name));
  for (int l = 0; l < data->series; l++)
    EB_TRY(
        eb_text_printf(&data->text, " %.6g", label_median(report, first, last, labels[l], class)));
  return EB_OK;
}

static eb_error summary_table(const eb_report *report, eb_plot_data *data) {
  enum { MOST_LABELS = 16 };
  const char *labels[MOST_LABELS] = {NULL};
  int timed = 0;
  for (int r = 0; r < report->run_count; r++) timed += is_compared(&report->runs[r]);
  if (timed == 0) return EB_OK;
  data->series = distinct_labels(report, labels, MOST_LABELS);
  EB_TRY(eb_text_printf(&data->text, "\"scene\""));
  for (int l = 0; l < data->series; l++) {
    EB_TRY(eb_text_printf(&data->text, " \"%s\"", labels[l]));
    if (strlen(labels[l]) > data->longest) data->longest = strlen(labels[l]);
  }
  for (int first = 0, last = 0; eb_report_next_scene(report, last, &first, &last);) {
    class_list classes = {.count = 0};
    for (int r = first; r < last; r++)
      if (is_compared(&report->runs[r])) class_number(&classes, eb_class_of(report->runs[r].run));
    for (int c = 0; c < classes.count; c++)
      EB_TRY(summary_row(report, first, last, classes.of[c], labels, data));
  }
  return eb_text_printf(&data->text, "\n");
}

eb_error eb_class_plots_summary(const eb_report *report, const char *dir, bool *drawn) {
  eb_plot_data data = {0};
  eb_error error = summary_table(report, &data);
  *drawn = !error && data.series > 0;
  if (*drawn) error = eb_plot_draw(dir, "summary", "summary", "Median wall time a step", &data);
  eb_text_clear(&data.text);
  eb_text_clear(&data.settings);
  return error;
}
