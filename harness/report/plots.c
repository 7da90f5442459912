#include "harness/report/plots.h"
#include "harness/results/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/class_plots.h"

static const char declared_residual[] = "error in the declared equation",
                  euler_residual[] = "error in implicit Euler";

const eb_plot_kind eb_plot_kinds[EB_PLOT_KINDS] = {
    {"residuals", "Residual against iteration, in the step with the most iterations", NULL, NULL},
    {"error-time", "Residual against wall time, in the same step", NULL, NULL},
    {"accuracy",
     "Accuracy against cost: error in the equation that each solver declares, worst of all steps. "
     "One symbol a class, dashed lines between bands; hollow: the audit failed, by these rules",
     "accuracy", declared_residual},
    {"accuracy-euler",
     "Implicit Euler's residual against cost: worst of all steps. One symbol a class; hollow: the "
     "audit failed",
     "accuracy", euler_residual},
    {"audit", "Residual of the declared equation, each step", "audit", declared_residual},
    {"audit-euler", "Residual of implicit Euler, each step", "audit", euler_residual},
    {"own", "The last residual that each solver logged in a step, in a norm of its own", NULL,
     NULL},
    {"iterations", "Iterations a step: the method's and, within them, the linear solver's", NULL,
     NULL},
    {"step-time", "Wall time a step", NULL, NULL},
    {"phases", "Where a step's time goes", NULL, NULL},
    {"energy", "Energies over time", NULL, NULL},
    {"sizes", "Pieces of the bodies, and unknowns of systems that a solver condenses to", NULL,
     NULL},
};

enum {
  RESIDUALS,
  ERROR_TIME,
  ACCURACY,
  ACCURACY_EULER,
  AUDIT,
  AUDIT_EULER,
  OWN,
  ITERATIONS,
  STEP_TIME,
  PHASES,
  ENERGY,
  SIZES
};

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

static eb_error residual_series(const eb_report_run *run, bool against_time, eb_plot_data *data) {
  const eb_residuals *residuals = &run->residuals;
  int64_t step = longest_step(residuals);
  if (step < 0) return EB_OK;
  char name[512];
  snprintf(name, sizeof name, "%s, step %lld: %s", run->label, (long long)step + 1,
           residuals->norm);
  eb_plot_begin(data, name);
  for (int64_t r = residuals->offsets[step]; r < residuals->offsets[step + 1]; r++) {
    double x = against_time ? 1e3 * residuals->seconds[r] : (double)(r - residuals->offsets[step]);
    EB_TRY(eb_plot_point(data, x, residuals->values[r], EB_LOG_Y));
  }
  return EB_OK;
}

static eb_error own_series(const eb_report_run *run, eb_plot_data *data) {
  const eb_residuals *residuals = &run->residuals;
  const double *time = run->column[EB_COL_TIME];
  char name[512];
  snprintf(name, sizeof name, "%s: %s", run->label, residuals->norm ? residuals->norm : "");
  eb_plot_begin(data, name);
  for (int64_t s = 0; time && s < (int64_t)residuals->steps && s < (int64_t)run->steps; s++)
    if (logged(residuals, s) > 0)
      EB_TRY(
          eb_plot_point(data, time[s], residuals->values[residuals->offsets[s + 1] - 1], EB_LOG_Y));
  return EB_OK;
}

static eb_error series(const eb_report_run *run, const char *name, const double *values,
                       double scale, unsigned logarithmic, eb_plot_data *data) {
  const double *time = run->column[EB_COL_TIME];
  if (run->steps == 0 || !values || !time) return EB_OK;
  eb_plot_begin(data, name);
  for (size_t s = 0; s < run->steps; s++)
    EB_TRY(eb_plot_point(data, time[s], scale * values[s], logarithmic));
  return EB_OK;
}

/* The method's own iterations and, beside them, those of an iterative linear solver within. */
static eb_error iteration_series(const eb_report_run *run, eb_plot_data *data) {
  char name[512];
  EB_TRY(series(run, run->label, run->column[EB_COL_ITERATIONS], 1, EB_LOG_Y, data));
  snprintf(name, sizeof name, "%s, linear", run->label);
  return series(run, name, run->linear_iterations, 1, EB_LOG_Y, data);
}

static bool varies(const double *values, size_t count) {
  for (size_t s = 1; values && s < count; s++)
    if (values[s] != values[0]) return true;
  return false;
}

static eb_error size_series(const eb_report_run *run, eb_plot_data *data) {
  char name[512];
  snprintf(name, sizeof name, "%s, pieces", run->label);
  EB_TRY(series(run, name, run->column[EB_COL_COMPONENTS], 1, EB_LOG_Y, data));
  snprintf(name, sizeof name, "%s, unknowns", run->label);
  return series(run, name, run->reduced_unknowns, 1, EB_LOG_Y, data);
}

/* Potential energy has no origin of its own: shown relative to the first step. */
static const struct energy {
  eb_column column;
  const char *name;
  bool relative, always; /* to the first step; also where it is 0 throughout */
} energies[] = {{EB_COL_KINETIC, "kinetic", false, true},
                {EB_COL_ELASTIC, "elastic", false, true},
                {EB_COL_GRAVITATIONAL, "gravitational", true, true},
                {EB_COL_JOINT_KINETIC, "bones, kinetic", false, false},
                {EB_COL_JOINT_POTENTIAL, "bones, potential", true, false}};
enum { ENERGIES = sizeof energies / sizeof *energies };

/* Of the energies of all runs: the colour of each series, by its run, and its dashes, by the kind; the names of both. */
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
      EB_TRY(eb_plot_point(data, run->column[EB_COL_TIME][s], values[s] - origin, 0));
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
    error = eb_text_printf(&kinds, " \"%s\"", energies[p].name);
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

static eb_error energy_curves(const eb_report_run *runs, int count, eb_plot_data *data) {
  energy_key key = {.run_count = 0};
  eb_error error = EB_OK;
  for (int r = 0; r < count && !error; r++) {
    char name[512];
    int before = data->series;
    if (runs[r].run->repetition > 0) continue;
    error = energy_series(&runs[r], &key, data);
    if (error || data->series == before) continue;
    snprintf(name, sizeof name, "%s", runs[r].label);
    eb_plot_quotable(name);
    error = eb_text_printf(&key.runs, " \"%s\"", name);
    key.run_count++;
  }
  if (!error) error = set_energy_key(&key, data);
  eb_text_clear(&key.hues);
  eb_text_clear(&key.dashes);
  eb_text_clear(&key.runs);
  return error;
}

static double mean_phase(const eb_report_run *run, int phase) {
  double mean = run->phase[phase] ? eb_mean(run->phase[phase], run->steps, EB_WARM_UP) : 0;
  return isfinite(mean) ? 1e3 * mean : 0;
}

/* NaN for a run whose times are not compared. */
static double mean_wall(const eb_report_run *run) {
  const double *wall = run->column[EB_COL_WALL];
  return wall && !eb_report_refuted(run) ? 1e3 * eb_mean(wall, run->steps, EB_WARM_UP) : NAN;
}

static eb_error phase_row(const eb_report_run *run, const bool *used, eb_plot_data *data) {
  double wall = mean_wall(run);
  if (!isfinite(wall)) return EB_OK;
  EB_TRY(eb_text_printf(&data->text, "\"%s\"", run->label));
  double named = 0;
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (used[p]) {
      named += mean_phase(run, p);
      EB_TRY(eb_text_printf(&data->text, " %.6g", mean_phase(run, p)));
    }
  return eb_text_printf(&data->text, " %.6g\n", fmax(0, wall - named));
}

/* A table: one row a run, one column a phase that any run has used, and the unnamed rest. Nothing to
 * draw (no series) when no run has made a step. */
static eb_error phase_table(const eb_report_run *runs, int count, eb_plot_data *data) {
  bool used[EB_PHASE_COUNT] = {false};
  int rows = 0;
  for (int r = 0; r < count; r++) rows += isfinite(mean_wall(&runs[r]));
  if (rows == 0) return EB_OK;
  for (int r = 0; r < count; r++)
    for (int p = 0; p < EB_PHASE_COUNT; p++) used[p] = used[p] || mean_phase(&runs[r], p) > 0;
  EB_TRY(eb_text_printf(&data->text, "\"solver\""));
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (used[p]) EB_TRY(eb_plot_stage(data, (eb_phase)p));
  EB_TRY(eb_plot_stage(data, EB_PHASE_COUNT));
  EB_TRY(eb_text_printf(&data->text, "\n"));
  for (int r = 0; r < count; r++) EB_TRY(phase_row(&runs[r], used, data));
  return EB_OK;
}

/* Whether a plot of that kind says something of a run: several iterations in a step, or sizes that change. */
static bool tells(int kind, const eb_report_run *run) {
  int64_t longest = longest_step(&run->residuals);
  switch (kind) {
  case RESIDUALS:
  case ERROR_TIME:
    return longest >= 0 && logged(&run->residuals, longest) > 1;
  case ITERATIONS:
    return eb_largest(run->column[EB_COL_ITERATIONS], run->steps, 0) > 1 ||
           eb_largest(run->linear_iterations, run->steps, 0) > 1;
  case SIZES:
    return varies(run->column[EB_COL_COMPONENTS], run->steps) ||
           varies(run->reduced_unknowns, run->steps);
  default:
    return true;
  }
}

static eb_error add_run(int kind, const eb_report_run *run, eb_plot_data *data) {
  switch (kind) {
  case RESIDUALS:
  case ERROR_TIME:
    return residual_series(run, kind == ERROR_TIME, data);
  case AUDIT:
    return series(run, run->label, run->column[EB_COL_EQUATION_RESIDUAL], 1, EB_LOG_Y, data);
  case AUDIT_EULER:
    return series(run, run->label, run->column[EB_COL_RESIDUAL_RELATIVE], 1, EB_LOG_Y, data);
  case OWN:
    return own_series(run, data);
  case ITERATIONS:
    return iteration_series(run, data);
  case STEP_TIME:
    return series(run, run->label, run->column[EB_COL_WALL], 1e3, EB_LOG_Y, data);
  default:
    return size_series(run, data);
  }
}

/* Of repetitions the first; a run that the audit contradicts is not shown beside others by its times. */
static bool shown(int kind, const eb_report_run *run) {
  bool timed = kind == ERROR_TIME || kind == STEP_TIME;
  return run->run->repetition == 0 && !(timed && eb_report_refuted(run));
}

/* Nothing when it would tell nothing of any run. */
static eb_error fill(int kind, const eb_report_run *runs, int count, eb_plot_data *data) {
  bool telling = false;
  if (kind == PHASES) return phase_table(runs, count, data);
  if (kind == ENERGY) return energy_curves(runs, count, data);
  if (kind == ACCURACY || kind == ACCURACY_EULER)
    return eb_class_plot_accuracy(runs, count, kind == ACCURACY, data);
  for (int r = 0; r < count; r++)
    telling = telling || (shown(kind, &runs[r]) && tells(kind, &runs[r]));
  for (int r = 0; telling && r < count; r++)
    if (shown(kind, &runs[r])) EB_TRY(add_run(kind, &runs[r], data));
  return EB_OK;
}

static eb_error draw_kind(const eb_report *report, int first, int last, int kind, const char *dir,
                          const char *prefix, bool *drawn, eb_plot_data *data) {
  char base[256], title[512];
  EB_TRY(fill(kind, report->runs + first, last - first, data));
  *drawn = data->series > 0;
  if (!*drawn) return EB_OK;
  const eb_plot_kind *drawing = &eb_plot_kinds[kind];
  if (drawing->y) EB_TRY(eb_plot_set(data, "yname", drawing->y));
  snprintf(base, sizeof base, "%s-%s", prefix, drawing->stem);
  snprintf(title, sizeof title, "%s", report->runs[first].scene);
  return eb_plot_draw(dir, base, drawing->template ? drawing->template : drawing->stem, title,
                      data);
}

eb_error eb_plots_scene(const eb_report *report, int first, int last, const char *dir,
                        const char *prefix, bool drawn[EB_PLOT_KINDS]) {
  for (int kind = 0; kind < EB_PLOT_KINDS; kind++) {
    eb_plot_data data = {0};
    eb_error error = draw_kind(report, first, last, kind, dir, prefix, &drawn[kind], &data);
    eb_text_clear(&data.text);
    eb_text_clear(&data.settings);
    EB_TRY(error);
  }
  return EB_OK;
}
