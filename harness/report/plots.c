#include "harness/report/plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/gnuplot.h"
#include "harness/results/accuracy.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* ---- steps and their residuals --------------------------------------------------------------- */

static int64_t logged(const eb_residuals *residuals, int64_t step) {
  return residuals->offsets[step + 1] - residuals->offsets[step];
}

/* The step in which this run logged the most residuals, or -1. */
static int64_t longest_step(const eb_residuals *residuals) {
  int64_t best = -1, most = 0;
  for (int64_t s = 0; s < (int64_t)residuals->steps; s++)
    if (logged(residuals, s) > most) {
      most = logged(residuals, s);
      best = s;
    }
  return best;
}

/* Against the iteration or, in a plot that compares times, the wall time. */
static eb_error residual_series(const eb_plot_kind *kind, const eb_report_run *run,
                                eb_plot_data *data) {
  const eb_residuals *residuals = &run->residuals;
  int64_t step = longest_step(residuals);
  if (step < 0) return EB_OK;
  char name[512];
  snprintf(name, sizeof name, "%s, step %lld: %s", run->label, (long long)step + 1,
           residuals->norm);
  eb_plot_begin(data, name);
  for (int64_t r = residuals->offsets[step]; r < residuals->offsets[step + 1]; r++) {
    double x = kind->timed ? 1e3 * residuals->seconds[r] : (double)(r - residuals->offsets[step]);
    EB_TRY(eb_plot_point(data, x, residuals->values[r], EB_LOG_Y, NULL));
  }
  return EB_OK;
}

static bool iterates(const eb_report_run *run) {
  int64_t longest = longest_step(&run->residuals);
  return longest >= 0 && logged(&run->residuals, longest) > 1;
}

/* Residuals in norms of the solvers' own. */
static eb_error own_series(const eb_plot_kind *kind, const eb_report_run *run, eb_plot_data *data) {
  (void)kind;
  const eb_residuals *residuals = &run->residuals;
  const double *time = run->column[EB_COL_TIME];
  char name[512];
  snprintf(name, sizeof name, "%s: %s", run->label, residuals->norm ? residuals->norm : "");
  eb_plot_begin(data, name);
  for (int64_t s = 0; time && s < (int64_t)residuals->steps && s < (int64_t)run->steps; s++)
    if (logged(residuals, s) > 0)
      EB_TRY(eb_plot_point(data, time[s], residuals->values[residuals->offsets[s + 1] - 1],
                           EB_LOG_Y, NULL));
  return EB_OK;
}

static eb_error series(const eb_report_run *run, const char *name, const double *values,
                       double scale, unsigned logarithmic, eb_plot_data *data) {
  const double *time = run->column[EB_COL_TIME];
  if (run->steps == 0 || !values || !time) return EB_OK;
  eb_plot_begin(data, name);
  for (size_t s = 0; s < run->steps; s++)
    EB_TRY(eb_plot_point(data, time[s], scale * values[s], logarithmic, NULL));
  return EB_OK;
}

static eb_error column_series(const eb_plot_kind *kind, const eb_report_run *run,
                              eb_plot_data *data) {
  return series(run, run->label, run->column[kind->column], kind->scale, EB_LOG_Y, data);
}

/* The method's own iterations and, beside them, those of an iterative linear solver within. */
static eb_error iteration_series(const eb_plot_kind *kind, const eb_report_run *run,
                                 eb_plot_data *data) {
  char name[512];
  EB_TRY(column_series(kind, run, data));
  snprintf(name, sizeof name, "%s, linear", run->label);
  return series(run, name, run->linear_iterations, 1, EB_LOG_Y, data);
}

static bool has_iterations(const eb_report_run *run) {
  return eb_largest(run->column[EB_COL_ITERATIONS], run->steps, 0) > 1 ||
         eb_largest(run->linear_iterations, run->steps, 0) > 1;
}

static bool varies(const double *values, size_t count) {
  for (size_t s = 1; values && s < count; s++)
    if (values[s] != values[0]) return true;
  return false;
}

static eb_error size_series(const eb_plot_kind *kind, const eb_report_run *run,
                            eb_plot_data *data) {
  char name[512];
  snprintf(name, sizeof name, "%s, pieces", run->label);
  EB_TRY(series(run, name, run->column[kind->column], 1, EB_LOG_Y, data));
  snprintf(name, sizeof name, "%s, unknowns", run->label);
  return series(run, name, run->reduced_unknowns, 1, EB_LOG_Y, data);
}

static bool changes_size(const eb_report_run *run) {
  return varies(run->column[EB_COL_COMPONENTS], run->steps) ||
         varies(run->reduced_unknowns, run->steps);
}

/* ---- energies -------------------------------------------------------------------------------- */

/* Potential energy has no origin of its own: shown relative to the first step. */
static const struct energy {
  eb_column column;
  const char *name;
  bool relative, always; /* to the first step; also where it is 0 throughout */
} energies[] = {{EB_COL_KINETIC, "kinetic", false, true},
                {EB_COL_ELASTIC, "elastic", false, true},
                {EB_COL_GRAVITATIONAL, "gravitational", true, true},
                {EB_COL_JOINT_KINETIC, "rigid links, kinetic", false, false},
                {EB_COL_JOINT_POTENTIAL, "rigid links, potential", true, false},
                {EB_COL_SPRINGS, "springs", false, false}};
enum { ENERGIES = sizeof energies / sizeof *energies };

/* Of the energies of all runs: the colour of each series, by its run, and its dashes, by the kind;
 * the names of both. */
typedef struct energy_key {
  eb_text hues, dashes, runs;
  bool drawn[ENERGIES];
  int run_count;
} energy_key;

static eb_error energy_series(const eb_report_run *run, energy_key *key, eb_plot_data *data) {
  for (int p = 0; p < ENERGIES; p++) {
    const struct energy *part = &energies[p];
    const double *values = run->column[part->column];
    if (run->steps == 0 || !values) continue;
    if (!part->always && !varies(values, run->steps)) continue;
    char name[512];
    int before = data->series;
    snprintf(name, sizeof name, "%s %s", run->label, part->name);
    eb_plot_begin(data, name);
    double origin = part->relative ? values[0] : 0;
    for (size_t s = 0; s < run->steps; s++)
      EB_TRY(eb_plot_point(data, run->column[EB_COL_TIME][s], values[s] - origin, 0, NULL));
    if (data->series == before) continue;
    key->drawn[p] = true;
    EB_TRY(eb_text_printf(&key->hues, " %d", key->run_count + 1));
    EB_TRY(eb_text_printf(&key->dashes, " %d", p + 1));
  }
  return EB_OK;
}

static eb_error set_energy_key(const energy_key *key, eb_plot_data *data) {
  eb_text kinds = {0}, kind_dashes = {0};
  eb_error error = EB_OK;
  data->entries = key->run_count;
  for (int p = 0; p < ENERGIES && !error; p++) {
    if (!key->drawn[p]) continue;
    data->entries++;
    error = eb_plot_word(&kinds, energies[p].name);
    if (!error) error = eb_text_printf(&kind_dashes, " %d", p + 1);
  }
  const struct {
    const char *name;
    const eb_text *text;
  } settings[] = {{"hues", &key->hues},
                  {"dashes", &key->dashes},
                  {"runs", &key->runs},
                  {"kinds", &kinds},
                  {"kind_dashes", &kind_dashes}};
  for (size_t i = 0; i < sizeof settings / sizeof *settings && !error; i++)
    error =
        eb_plot_set(data, settings[i].name, settings[i].text->data ? settings[i].text->data : "");
  eb_text_clear(&kinds);
  eb_text_clear(&kind_dashes);
  return error;
}

static eb_error energy_curves(const eb_plot_kind *kind, const eb_report_run *runs, int count,
                              eb_plot_data *data) {
  (void)kind;
  energy_key key = {.run_count = 0};
  eb_error error = EB_OK;
  for (int r = 0; r < count && !error; r++) {
    int before = data->series;
    if (runs[r].run->repetition > 0) continue;
    error = energy_series(&runs[r], &key, data);
    if (error || data->series == before) continue;
    error = eb_plot_word(&key.runs, runs[r].label);
    key.run_count++;
  }
  if (!error) error = set_energy_key(&key, data);
  eb_text_clear(&key.hues);
  eb_text_clear(&key.dashes);
  eb_text_clear(&key.runs);
  return error;
}

/* ---- where the time goes --------------------------------------------------------------------- */

/* Adds a column of a table of stages: its name in the first line, and its number to `stages`, so
 * that a phase has the same colour in every plot. EB_PHASE_COUNT: the time in no phase. */
static eb_error stage_column(eb_plot_data *data, eb_phase phase) {
  bool named = phase < EB_PHASE_COUNT;
  size_t used = strlen(data->stages);
  snprintf(data->stages + used, sizeof data->stages - used, " %d", named ? (int)phase + 1 : 0);
  data->series++;
  return eb_plot_word(&data->text, named ? eb_phase_name(phase) : "other");
}

static double mean_phase(const eb_report_run *run, int phase) {
  double mean = run->phase[phase] ? eb_mean(run->phase[phase], run->steps, EB_WARM_UP) : 0;
  return isfinite(mean) ? 1e3 * mean : 0;
}

/* NaN for a run whose times are not compared. */
static double mean_wall(const eb_report_run *run) {
  const double *wall = run->column[EB_COL_WALL];
  return wall && !eb_report_audit_failed(run) ? 1e3 * eb_mean(wall, run->steps, EB_WARM_UP) : NAN;
}

static eb_error phase_row(const eb_report_run *run, const bool *used, eb_plot_data *data) {
  double wall = mean_wall(run);
  if (!isfinite(wall)) return EB_OK;
  EB_TRY(eb_plot_word(&data->text, run->label));
  double named = 0;
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (used[p]) {
      named += mean_phase(run, p);
      EB_TRY(eb_text_printf(&data->text, " %.6g", mean_phase(run, p)));
    }
  return eb_text_printf(&data->text, " %.6g\n", fmax(0, wall - named));
}

/* A table: one row a run, one column a phase that any run has used, and the unnamed rest. Nothing
 * to draw (no series) when no run has made a step. */
static eb_error phase_table(const eb_plot_kind *kind, const eb_report_run *runs, int count,
                            eb_plot_data *data) {
  (void)kind;
  bool used[EB_PHASE_COUNT] = {false};
  int rows = 0;
  for (int r = 0; r < count; r++) rows += isfinite(mean_wall(&runs[r]));
  if (rows == 0) return EB_OK;
  for (int r = 0; r < count; r++)
    for (int p = 0; p < EB_PHASE_COUNT; p++) used[p] = used[p] || mean_phase(&runs[r], p) > 0;
  EB_TRY(eb_plot_word(&data->text, "solver"));
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (used[p]) EB_TRY(stage_column(data, (eb_phase)p));
  EB_TRY(stage_column(data, EB_PHASE_COUNT));
  EB_TRY(eb_text_printf(&data->text, "\n"));
  for (int r = 0; r < count; r++) EB_TRY(phase_row(&runs[r], used, data));
  return EB_OK;
}

/* How the steps of one run went over time, in stages. */
enum { MOST_POINTS = 400 };

/* Steps [first, last) in one row: time, % of elements updated in a step, ms a step in each used
 * phase and in none. */
static eb_error stage_row(const eb_report_run *run, const bool *used, size_t first, size_t last,
                          eb_plot_data *data) {
  double elements = fmax(1, (double)run->run->elements);
  double rest = 1e3 * eb_mean(run->column[EB_COL_WALL] + first, last - first, 0);
  EB_TRY(eb_text_printf(&data->text, "%.9g %.6g", run->column[EB_COL_TIME][last - 1],
                        100 * eb_mean(run->updated_elements + first, last - first, 0) / elements));
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (used[p]) {
      double milliseconds = 1e3 * eb_mean(run->phase[p] + first, last - first, 0);
      rest -= milliseconds;
      EB_TRY(eb_text_printf(&data->text, " %.6g", milliseconds));
    }
  return eb_text_printf(&data->text, " %.6g\n", fmax(0, rest));
}

/* A table: many steps are put together in rows of equally many. */
static eb_error stage_table(const eb_report_run *run, eb_plot_data *data) {
  bool used[EB_PHASE_COUNT];
  EB_TRY(eb_text_printf(&data->text, "\"time\" \"updated\""));
  for (int p = 0; p < EB_PHASE_COUNT; p++) {
    used[p] = run->phase[p] && eb_largest(run->phase[p], run->steps, 0) > 0;
    if (used[p]) EB_TRY(stage_column(data, (eb_phase)p));
  }
  EB_TRY(stage_column(data, EB_PHASE_COUNT));
  EB_TRY(eb_text_printf(&data->text, "\n"));
  size_t stride = (run->steps + MOST_POINTS - 1) / MOST_POINTS;
  for (size_t s = 0; s < run->steps; s += stride)
    EB_TRY(stage_row(run, used, s, s + stride < run->steps ? s + stride : run->steps, data));
  return EB_OK;
}

eb_error eb_plots_stages(const eb_report_run *run, eb_plotter *plotter, const char *base,
                         bool *drawn) {
  eb_plot_data data = {0};
  char title[512];
  *drawn = run->run->repetition == 0 && eb_largest(run->updated_elements, run->steps, 0) > 0;
  if (!*drawn) return EB_OK;
  snprintf(title, sizeof title, "%s, %s", run->scene, run->label);
  eb_error error = stage_table(run, &data);
  if (!error) error = eb_plot_draw(plotter, base, "stages", title, &data);
  eb_text_clear(&data.text);
  return error;
}

/* ---- accuracy against cost, by class --------------------------------------------------------- */

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

/* Symbols of gnuplot that are filled; the number before each is the same one hollow. The seventh
 * class begins again. */
static int class_symbol(int class) {
  static const int filled[] = {7, 5, 9, 13, 11, 15};
  return filled[class % (int)(sizeof filled / sizeof *filled)];
}

/* Why a point is none to compare with others, or "". */
static const char *objection(const eb_report_run *run) {
  const char *rules = run->run->audit_rules;
  if (!eb_report_audit_failed(run)) return eb_report_completed(run) ? "" : run->run->outcome;
  return *rules ? rules : "audit failed";
}

/* One point: what a step costs, and the error of the run in the equation that it declares, or the
 * worst residual of all steps. Its symbol goes to `symbols`. */
static eb_error accuracy_point(const eb_report_run *run, bool declared, class_list *classes,
                               eb_text *symbols, eb_plot_data *data) {
  double wall = 1e3 * eb_report_typical(run, EB_COL_WALL);
  double error = declared ? run->run->error : eb_report_worst(run, EB_COL_RESIDUAL_RELATIVE);
  const char *words = objection(run);
  int before = data->series;
  eb_plot_begin(data, run->label);
  EB_TRY(eb_plot_point(data, wall, error, EB_LOG_X | EB_LOG_Y, words));
  if (data->series == before) return EB_OK;
  int symbol = class_symbol(class_number(classes, eb_class_of(run->run)));
  return eb_text_printf(symbols, " %d", *words ? symbol - 1 : symbol);
}

static eb_error name_classes(const class_list *classes, eb_plot_data *data) {
  eb_text names = {0}, symbols = {0};
  eb_error error = EB_OK;
  for (int c = 0; c < classes->count && !error; c++) {
    eb_class_name name = eb_class_words(classes->of[c]);
    if (strlen(name.text) > data->longest) data->longest = strlen(name.text);
    error = eb_plot_word(&names, name.text);
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

/* Both plots of a scene have the same symbols: classes are numbered over all runs, whether they
 * have a point or not. */
static eb_error accuracy_points(const eb_plot_kind *kind, const eb_report_run *runs, int count,
                                eb_plot_data *data) {
  bool declared = kind->column == EB_COL_EQUATION_RESIDUAL;
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

/* ---- the plots of a scene -------------------------------------------------------------------- */

static const char declared_residual[] = "error in the declared equation",
                  euler_residual[] = "error in implicit Euler";

const eb_plot_kind eb_plot_kinds[EB_PLOT_KINDS] = {
    {.stem = "residuals",
     .caption = "Residual against iteration, in the step with the most iterations",
     .add = residual_series,
     .informs = iterates},
    {.stem = "error-time",
     .caption = "Residual against wall time, in the same step",
     .add = residual_series,
     .informs = iterates,
     .timed = true},
    {.stem = "accuracy",
     .caption = "Accuracy against cost: error in the equation that each solver declares, over the "
                "run. One symbol a class, dashed lines between bands; hollow: the run did not "
                "complete, or its audit failed, by these rules",
     .y = declared_residual,
     .column = EB_COL_EQUATION_RESIDUAL,
     .fill = accuracy_points},
    {.stem = "accuracy-euler",
     .caption = "Implicit Euler's residual against cost: worst of all steps. One symbol a class; "
                "hollow: the run did not complete, or its audit failed",
     .template = "accuracy",
     .y = euler_residual,
     .column = EB_COL_RESIDUAL_RELATIVE,
     .fill = accuracy_points},
    {.stem = "audit",
     .caption = "Residual of the declared equation, each step",
     .y = declared_residual,
     .column = EB_COL_EQUATION_RESIDUAL,
     .scale = 1,
     .add = column_series},
    {.stem = "audit-euler",
     .caption = "Residual of implicit Euler, each step",
     .template = "audit",
     .y = euler_residual,
     .column = EB_COL_RESIDUAL_RELATIVE,
     .scale = 1,
     .add = column_series},
    {.stem = "own",
     .caption = "The last residual that each solver logged in a step, in a norm of its own",
     .add = own_series},
    {.stem = "iterations",
     .caption = "Iterations a step: the method's and, within them, the linear solver's",
     .column = EB_COL_ITERATIONS,
     .scale = 1,
     .add = iteration_series,
     .informs = has_iterations},
    {.stem = "step-time",
     .caption = "Wall time a step",
     .column = EB_COL_WALL,
     .scale = 1e3,
     .add = column_series,
     .timed = true},
    {.stem = "phases", .caption = "Where a step's time goes", .fill = phase_table},
    {.stem = "energy", .caption = "Energies over time", .fill = energy_curves},
    {.stem = "sizes",
     .caption = "Pieces of the bodies, and unknowns of systems that a solver condenses to",
     .column = EB_COL_COMPONENTS,
     .add = size_series,
     .informs = changes_size}};

/* Of repetitions the first; a run that failed its audit is not shown beside others by its times. */
static bool is_drawn(const eb_plot_kind *kind, const eb_report_run *run) {
  return run->run->repetition == 0 && !(kind->timed && eb_report_audit_failed(run));
}

static eb_error fill(const eb_plot_kind *kind, const eb_report_run *runs, int count,
                     eb_plot_data *data) {
  if (kind->fill) return kind->fill(kind, runs, count, data);
  bool informs = !kind->informs;
  for (int r = 0; r < count && !informs; r++)
    informs = is_drawn(kind, &runs[r]) && kind->informs(&runs[r]);
  for (int r = 0; informs && r < count; r++)
    if (is_drawn(kind, &runs[r])) EB_TRY(kind->add(kind, &runs[r], data));
  return EB_OK;
}

static eb_error draw_kind(const eb_report *report, int first, int last, const eb_plot_kind *kind,
                          eb_plotter *plotter, const char *prefix, bool *drawn,
                          eb_plot_data *data) {
  char base[256], title[512];
  EB_TRY(fill(kind, report->runs + first, last - first, data));
  *drawn = data->series > 0;
  if (!*drawn) return EB_OK;
  if (kind->y) EB_TRY(eb_plot_set(data, "yname", kind->y));
  snprintf(base, sizeof base, "%s-%s", prefix, kind->stem);
  snprintf(title, sizeof title, "%s", report->runs[first].scene);
  return eb_plot_draw(plotter, base, kind->template ? kind->template : kind->stem, title, data);
}

eb_error eb_plots_scene(const eb_report *report, int first, int last, eb_plotter *plotter,
                        const char *prefix, bool drawn[EB_PLOT_KINDS]) {
  for (int kind = 0; kind < EB_PLOT_KINDS; kind++) {
    eb_plot_data data = {0};
    eb_error error =
        draw_kind(report, first, last, &eb_plot_kinds[kind], plotter, prefix, &drawn[kind], &data);
    eb_text_clear(&data.text);
    eb_text_clear(&data.settings);
    EB_TRY(error);
  }
  return EB_OK;
}

/* ---- all scenes ------------------------------------------------------------------------------ */

static bool is_compared(const eb_report_run *run) {
  return isfinite(eb_report_typical(run, EB_COL_WALL)) && eb_report_sound(run) &&
         !eb_report_audit_failed(run);
}

/* Distinct labels over all runs that are compared, in order of appearance; returns how many. There
 * is room for as many as runs. */
static int distinct_labels(const eb_report *report, const char **labels) {
  int count = 0;
  for (int r = 0; r < report->run_count; r++) {
    int known = 0;
    if (!is_compared(&report->runs[r])) continue;
    while (known < count && strcmp(labels[known], report->runs[r].label) != 0) known++;
    if (known == count) labels[count++] = report->runs[r].label;
  }
  return count;
}

/* What the layout of the bars follows from. */
typedef struct bar_layout {
  int rows, most; /* most: bars of a row */
  uint32_t seen;  /* a bit a series that has any */
  size_t widest;  /* characters of a line beside the axis */
  double least;   /* ms, of 1e6 and all bars */
} bar_layout;

/* Bars of one scene and class, whose names are two lines beside the axis. */
static eb_error summary_row(const eb_report *report, int first, int last, eb_class class,
                            const char *const *labels, eb_plot_data *data, bar_layout *layout) {
  char name[512];
  eb_class_name of_class = eb_class_words(class);
  size_t scene = strlen(report->runs[first].scene), widest = strlen(of_class.text);
  int count = 0;
  snprintf(name, sizeof name, "%s: %s", report->runs[first].scene, of_class.text);
  if (scene > widest) widest = scene;
  if (widest > layout->widest) layout->widest = widest;
  layout->rows++;
  EB_TRY(eb_text_printf(&data->text, "\n"));
  EB_TRY(eb_plot_word(&data->text, name));
  for (int l = 0; l < data->series; l++) {
    double median = NAN; /* of the first run of that label, unless the audit contradicts it */
    for (int r = last - 1; r >= first; r--)
      if (strcmp(report->runs[r].label, labels[l]) == 0 && is_compared(&report->runs[r]) &&
          eb_class_compare(eb_class_of(report->runs[r].run), class) == 0)
        median = 1e3 * eb_report_typical(&report->runs[r], EB_COL_WALL);
    count += isfinite(median);
    if (isfinite(median)) layout->seen |= UINT32_C(1) << l;
    if (median > 0) layout->least = fmin(layout->least, median);
    EB_TRY(eb_text_printf(&data->text, " %.6g", median));
  }
  if (count > layout->most) layout->most = count;
  return EB_OK;
}

/* Rows are as high as their names and bars ask for, the key has a line a series that has any; bars
 * begin at the power of ten below the least. */
static eb_error set_layout(const bar_layout *layout, eb_plot_data *data) {
  enum { NAME = 34, BAR = 12, USUAL = 440, AROUND = 116, KEY = 18, LETTER = 6, MOST_MARGIN = 400 };
  int row = BAR * layout->most > NAME ? BAR * layout->most : NAME;
  int margin = LETTER * (int)layout->widest, key = KEY * __builtin_popcount(layout->seen);
  data->below = layout->rows * row + key + AROUND - USUAL;
  EB_TRY(eb_text_printf(&data->settings, "least = %.6g\nrows = %d\nmargin = %d\nshown = \"",
                        pow(10, floor(log10(layout->least) - 1e-3)), layout->rows,
                        margin < MOST_MARGIN ? margin : MOST_MARGIN));
  for (int l = 0; l < data->series; l++)
    if (layout->seen >> l & 1) EB_TRY(eb_text_printf(&data->settings, " %d", l + 2));
  return eb_text_printf(&data->settings, "\"\n");
}

static eb_error summary_table(const eb_report *report, const char *const *labels,
                              eb_plot_data *data) {
  bar_layout layout = {.least = 1e6};
  EB_TRY(eb_plot_word(&data->text, "scene"));
  for (int l = 0; l < data->series; l++) EB_TRY(eb_plot_word(&data->text, labels[l]));
  for (int first = 0, last = 0; eb_report_next_scene(report, last, &first, &last);) {
    class_list classes = {.count = 0};
    for (int r = first; r < last; r++)
      if (is_compared(&report->runs[r])) class_number(&classes, eb_class_of(report->runs[r].run));
    for (int c = 0; c < classes.count; c++)
      EB_TRY(summary_row(report, first, last, classes.of[c], labels, data, &layout));
  }
  EB_TRY(eb_text_printf(&data->text, "\n"));
  return set_layout(&layout, data);
}

eb_error eb_plots_summary(const eb_report *report, eb_plotter *plotter, bool *drawn, int *lacking) {
  enum { MOST_LABELS = 16 };
  eb_plot_data data = {0};
  const char **labels;
  EB_TRY(EB_NEW(labels, report->run_count));
  int count = distinct_labels(report, labels);
  data.series = count < MOST_LABELS ? count : MOST_LABELS;
  *lacking = count - data.series;
  eb_error error = count > 0 ? summary_table(report, labels, &data) : EB_OK;
  free(labels);
  *drawn = !error && data.series > 0;
  if (*drawn) error = eb_plot_draw(plotter, "summary", "summary", "Median wall time a step", &data);
  eb_text_clear(&data.text);
  eb_text_clear(&data.settings);
  return error;
}

/* ---- a factorization's elimination tree ------------------------------------------------------ */

eb_error eb_tree_layout(const eb_tree_log *tree, eb_tree_bar *bars, double *nodes) {
  double *size, *left = NULL; /* nodes of the subtree; right end of what is left for children */
  EB_TRY(EB_NEW(size, tree->count));
  eb_error error = EB_NEW(left, tree->count);
  *nodes = 0;
  for (int32_t s = 0; s < tree->count && !error; s++) {
    size[s] += tree->pivots[s];
    *(tree->parent[s] < 0 ? nodes : &size[tree->parent[s]]) += size[s];
  }
  /* From the last supernode to the first, each takes its width from its parent's right end. */
  double left_for_roots = *nodes;
  for (int32_t s = tree->count - 1; s >= 0 && !error; s--) {
    int32_t parent = tree->parent[s];
    double *end = parent < 0 ? &left_for_roots : &left[parent];
    bars[s] = (eb_tree_bar){.depth = parent < 0 ? 0 : bars[parent].depth + 1,
                            .lo = *end - size[s],
                            .hi = *end,
                            .flops = tree->flops[s]};
    *end = bars[s].lo;
    left[s] = bars[s].hi - tree->pivots[s];
  }
  free(size);
  free(left);
  return error;
}

static int by_place(const void *a, const void *b) {
  const eb_tree_bar *left = a, *right = b;
  if (left->depth != right->depth) return left->depth < right->depth ? -1 : 1;
  return (left->lo > right->lo) - (left->lo < right->lo);
}

int32_t eb_tree_merge(eb_tree_bar *bars, int32_t count, double least) {
  int32_t kept = 0;
  qsort(bars, (size_t)count, sizeof *bars, by_place);
  for (int32_t i = 0; i < count; i++) {
    eb_tree_bar *last = kept > 0 ? &bars[kept - 1] : NULL, bar = bars[i];
    bool joins = last && last->depth == bar.depth && bar.hi - bar.lo < least &&
                 last->hi - last->lo < least && bar.lo - last->hi < least;
    if (joins) {
      last->hi = bar.hi;
      last->flops = fmax(last->flops, bar.flops);
    } else {
      bars[kept++] = bar;
    }
  }
  return kept;
}

bool eb_tree_equal(const eb_tree_log *a, const eb_tree_log *b) {
  size_t count = (size_t)a->count;
  return a->count == b->count && memcmp(a->parent, b->parent, count * sizeof *a->parent) == 0 &&
         memcmp(a->pivots, b->pivots, count * sizeof *a->pivots) == 0 &&
         memcmp(a->rows, b->rows, count * sizeof *a->rows) == 0 &&
         memcmp(a->flops, b->flops, count * sizeof *a->flops) == 0;
}

enum { PIXELS = 520 /* that the bars share, about */, MOST_ROWS = 100 };

/* What the bars are drawn in: as many rows as there are depths or, in trees deeper than there is
 * room, fewer, of which each stands for several depths. */
typedef struct icicle {
  int32_t depths, rows;
  double flops[MOST_ROWS], all; /* of a row, of all */
} icicle;

static int32_t row_of(const icicle *at, int32_t depth) {
  return (int32_t)((int64_t)depth * at->rows / at->depths);
}

static icicle measure_icicle(const eb_tree_bar *bars, int32_t count) {
  icicle out = {.depths = 1};
  for (int32_t s = 0; s < count; s++)
    if (bars[s].depth >= out.depths) out.depths = bars[s].depth + 1;
  out.rows = out.depths < MOST_ROWS ? out.depths : MOST_ROWS;
  for (int32_t s = 0; s < count; s++) {
    out.flops[row_of(&out, bars[s].depth)] += bars[s].flops;
    out.all += bars[s].flops;
  }
  return out;
}

/* Top and bottom of a row, in depths. */
static eb_error put_row(const icicle *at, int32_t row, eb_plot_data *data) {
  double height = (double)at->depths / at->rows;
  return eb_text_printf(&data->text, "%.6g %.6g", row * height, (row + 0.9) * height);
}

/* A line a bar: top, bottom, left, right, decimal logarithm of its flops; bars that are wide enough
 * stand a little apart. Then a line a row: top, bottom, share of all flops, %. */
static eb_error icicle_table(const icicle *at, const eb_tree_bar *bars, int32_t count, double pixel,
                             eb_plot_data *data) {
  for (int32_t i = 0; i < count; i++) {
    double gap = bars[i].hi - bars[i].lo > 4 * pixel ? 0.7 * pixel : 0;
    EB_TRY(put_row(at, row_of(at, bars[i].depth), data));
    EB_TRY(eb_text_printf(&data->text, " %.9g %.9g %.4f\n", bars[i].lo + gap, bars[i].hi - gap,
                          log10(fmax(1, bars[i].flops))));
  }
  EB_TRY(eb_text_printf(&data->text, "\n\n"));
  for (int32_t r = 0; r < at->rows; r++) {
    EB_TRY(put_row(at, r, data));
    EB_TRY(eb_text_printf(&data->text, " %.5g\n", at->all > 0 ? 100 * at->flops[r] / at->all : 0));
  }
  data->series = at->depths;
  return EB_OK;
}

eb_error eb_plots_tree(const eb_tree_log *tree, const char *name, eb_plotter *plotter,
                       const char *base) {
  eb_tree_bar *bars;
  eb_plot_data data = {0};
  char title[600];
  double nodes;
  EB_TRY(EB_NEW(bars, tree->count));
  eb_error error = eb_tree_layout(tree, bars, &nodes);
  if (!error) {
    icicle at = measure_icicle(bars, tree->count);
    int32_t left = eb_tree_merge(bars, tree->count, nodes / PIXELS);
    snprintf(title, sizeof title, "%s\n%d supernodes of %.0f nodes, %d deep, %.3g Gflop", name,
             tree->count, nodes, at.depths, 1e-9 * at.all);
    error = icicle_table(&at, bars, left, nodes / PIXELS, &data);
  }
  if (!error) error = eb_plot_draw(plotter, base, "tree", title, &data);
  eb_text_clear(&data.text);
  free(bars);
  return error;
}

/* ---- curves and bars, each a run ------------------------------------------------------------- */

eb_error eb_plots_curves(eb_plotter *plotter, const char *base, const char *stem, const char *title,
                         const char *x, const char *y, unsigned logarithmic, const eb_curve *curves,
                         int count, bool *drawn) {
  eb_plot_data data = {.x = x, .y = y, .logarithmic = logarithmic};
  eb_error error = EB_OK;
  for (int c = 0; c < count; c++) {
    eb_plot_begin(&data, curves[c].label);
    for (int i = 0; i < curves[c].count && !error; i++)
      error = eb_plot_point(&data, curves[c].x[i], curves[c].y[i], logarithmic, NULL);
  }
  *drawn = !error && data.series > 0;
  if (*drawn) error = eb_plot_draw(plotter, base, stem, title, &data);
  eb_text_clear(&data.text);
  return error;
}

static bool all_finite(const double *values, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static eb_error fill_bars(const char *const *labels, int bars, const char *const *layer_names,
                          int layers, const double *values, eb_plot_data *data, bool *any) {
  EB_TRY(eb_plot_word(&data->text, "bar"));
  for (int l = 0; l < layers; l++) EB_TRY(eb_plot_word(&data->text, layer_names[l]));
  EB_TRY(eb_text_printf(&data->text, "\n"));
  for (int b = 0; b < bars; b++) {
    const double *row = values + b * layers;
    if (!all_finite(row, layers)) continue;
    *any = true;
    EB_TRY(eb_plot_word(&data->text, labels[b]));
    for (int l = 0; l < layers; l++) EB_TRY(eb_text_printf(&data->text, " %.6g", row[l]));
    EB_TRY(eb_text_printf(&data->text, "\n"));
  }
  data->series = layers;
  return EB_OK;
}

eb_error eb_plots_bars(eb_plotter *plotter, const char *base, const char *title, const char *y,
                       const char *const *labels, int bars, const char *const *layer_names,
                       int layers, const double *values, bool *drawn) {
  eb_plot_data data = {.x = "", .y = y};
  *drawn = false;
  eb_error error = fill_bars(labels, bars, layer_names, layers, values, &data, drawn);
  if (!error && *drawn) error = eb_plot_draw(plotter, base, "bars", title, &data);
  eb_text_clear(&data.text);
  return error;
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
static eb_error put_tics(eb_plot_data *data, const char *axis, const char *count_name,
                         const double *values, int count) {
  EB_TRY(eb_text_printf(&data->settings, "%s = %d\nset %stics (", count_name, count, axis));
  for (int i = 0; i < count; i++)
    EB_TRY(eb_text_printf(&data->settings, "%s\"%g\" %d", i ? ", " : "", values[i], i));
  return eb_text_printf(&data->settings, ")\n");
}

static bool has_colour(const eb_map_cell *cell, bool logarithmic) {
  return isfinite(cell->x) && isfinite(cell->y) && isfinite(cell->value) &&
         (!logarithmic || cell->value > 0);
}

/* Writing is white on the dark end of the colours. */
static eb_error put_cells(const eb_map_cell *cells, int count, bool logarithmic, const double *xs,
                          const double *ys, eb_plot_data *data) {
  enum { WHITE = 0xffffff, DARK = 0x111827 };
  static const double light = 0.6;
  double least = INFINITY, most = -INFINITY;
  for (int i = 0; i < count; i++) {
    if (!has_colour(&cells[i], logarithmic)) continue;
    least = fmin(least, cells[i].value);
    most = fmax(most, cells[i].value);
  }
  for (int i = 0; i < count; i++) {
    const eb_map_cell *cell = &cells[i];
    if (!has_colour(cell, logarithmic)) continue;
    double share = logarithmic ? log(cell->value / least) / log(most / least)
                               : (cell->value - least) / (most - least);
    EB_TRY(eb_text_printf(&data->text, "%d %d %.9g \"%.3g\" %d\n", place_of(xs, cell->x),
                          place_of(ys, cell->y), cell->value, cell->value,
                          share > light ? DARK : WHITE));
  }
  /* Colours need a range. */
  if (least == most)
    EB_TRY(eb_text_printf(&data->settings, "set cbrange [%.9g:%.9g]\n",
                          logarithmic ? least / 2 : least - fmax(fabs(least), 1) / 2,
                          logarithmic ? least * 2 : least + fmax(fabs(least), 1) / 2));
  data->series = 1;
  return EB_OK;
}

eb_error eb_plots_map(eb_plotter *plotter, const char *base, const char *title, const char *x,
                      const char *y, const char *z, bool logarithmic, const eb_map_cell *cells,
                      int count, bool *drawn) {
  eb_plot_data data = {.x = x, .y = y};
  double *xs = NULL, *ys = NULL;
  int shown = 0;
  eb_error error = EB_NEW(xs, count);
  if (!error) error = EB_NEW(ys, count);
  for (int i = 0; i < count && !error; i++)
    if (has_colour(&cells[i], logarithmic)) {
      xs[shown] = cells[i].x;
      ys[shown++] = cells[i].y;
    }
  *drawn = !error && shown > 0;
  if (*drawn) {
    error = put_tics(&data, "x", "columns", xs, sort_once(xs, shown));
    if (!error) error = put_tics(&data, "y", "rows", ys, sort_once(ys, shown));
    if (!error) error = eb_plot_set(&data, "zname", z);
    if (!error) error = eb_text_printf(&data.settings, "logz = %d\n", logarithmic);
    if (!error) error = put_cells(cells, count, logarithmic, xs, ys, &data);
    if (!error) error = eb_plot_draw(plotter, base, "map", title, &data);
  }
  eb_text_clear(&data.text);
  eb_text_clear(&data.settings);
  free(xs);
  free(ys);
  return error;
}
