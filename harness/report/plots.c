#include "harness/report/plots.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/accuracy.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* Of repetitions the first; a run that failed its audit is not shown beside others by its times. */
static bool is_drawn(const eb_plot_kind *kind, const eb_report_run *run) {
  return run->run->repetition == 0 && !(kind->timed && eb_report_audit_failed(run));
}

/* ---- curves over time ------------------------------------------------------------------------ */

#define MEMBER(name) offsetof(eb_report_run, name)
#define COLUMN(name) MEMBER(column[EB_COL_##name])
enum { RELATIVE = EB_LINE_RELATIVE, VARYING = EB_LINE_VARYING, MOST_LINES = 6 };

/* Iterations are the method's own and, beside them, those of an iterative linear solver within. */
static const eb_plot_line declared[] = {{"", COLUMN(EQUATION_RESIDUAL), 1, 0}, {0}},
                          euler[] = {{"", COLUMN(RESIDUAL_RELATIVE), 1, 0}, {0}},
                          step_time[] = {{"", COLUMN(WALL), 1e3, 0}, {0}},
                          iterations[] = {{"", COLUMN(ITERATIONS), 1, 0},
                                          {", linear", MEMBER(linear_iterations), 1, 0},
                                          {0}},
                          sizes[] = {{", pieces", COLUMN(COMPONENTS), 1, 0},
                                     {", unknowns", MEMBER(reduced_unknowns), 1, 0},
                                     {0}},
                          energies[MOST_LINES + 1] = {
                              {" kinetic", COLUMN(KINETIC), 1, 0},
                              {" elastic", COLUMN(ELASTIC), 1, 0},
                              {" gravitational", COLUMN(GRAVITATIONAL), 1, RELATIVE},
                              {" rigid links, kinetic", COLUMN(JOINT_KINETIC), 1, VARYING},
                              {" rigid links, potential", COLUMN(JOINT_POTENTIAL), 1,
                               RELATIVE | VARYING},
                              {" springs", COLUMN(SPRINGS), 1, VARYING},
                              {0}};

static bool varies(const double *values, size_t count) {
  for (size_t s = 1; values && s < count; s++)
    if (values[s] != values[0]) return true;
  return false;
}

/* Whether it has any point. */
static bool add_line(const eb_plot_line *line, const eb_report_run *run, unsigned logarithmic,
                     eb_plot *plot) {
  const double *time = run->column[EB_COL_TIME];
  const double *values = *(double *const *)((const char *)run + line->values);
  int before = plot->series;
  char name[512];
  if (run->steps == 0 || !values || !time) return false;
  if ((line->how & VARYING) && !varies(values, run->steps)) return false;
  snprintf(name, sizeof name, "%s%s", run->label, line->suffix);
  eb_plot_begin(plot, name);
  double origin = line->how & RELATIVE ? values[0] : 0;
  for (size_t s = 0; s < run->steps; s++)
    eb_plot_point(plot, time[s], line->scale * (values[s] - origin), logarithmic, NULL);
  return plot->series > before;
}

/* The key of a keyed plot names runs and lines apart from each other. */
static void fill_lines(const eb_plot_kind *kind, const eb_report_run *runs, int count,
                       eb_plot *plot) {
  bool drawn[MOST_LINES] = {false};
  for (int r = 0; r < count; r++) {
    bool any = false;
    for (int l = 0; kind->lines[l].suffix && is_drawn(kind, &runs[r]); l++) {
      if (!add_line(&kind->lines[l], &runs[r], kind->keyed ? 0 : EB_LOG_Y, plot)) continue;
      any = drawn[l] = true;
      if (!kind->keyed) continue;
      eb_plot_list_number(plot, "hues", plot->entries + 1);
      eb_plot_list_number(plot, "dashes", l + 1);
    }
    if (!any || !kind->keyed) continue;
    eb_plot_list_word(plot, "runs", runs[r].label);
    plot->entries++;
  }
  for (int l = 0; kind->keyed && kind->lines[l].suffix; l++) {
    if (!drawn[l]) continue;
    eb_plot_list_word(plot, "kinds", kind->lines[l].suffix + 1);
    eb_plot_list_number(plot, "kind_dashes", l + 1);
    plot->entries++;
  }
}

static bool has_iterations(const eb_report_run *run) {
  return eb_largest(run->column[EB_COL_ITERATIONS], run->steps, 0) > 1 ||
         eb_largest(run->linear_iterations, run->steps, 0) > 1;
}

static bool changes_size(const eb_report_run *run) {
  return varies(run->column[EB_COL_COMPONENTS], run->steps) ||
         varies(run->reduced_unknowns, run->steps);
}

/* ---- residuals that solvers log -------------------------------------------------------------- */

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
static void add_residuals(const eb_report_run *run, bool timed, eb_plot *plot) {
  const eb_residuals *residuals = &run->residuals;
  int64_t step = longest_step(residuals);
  char name[512];
  if (step < 0) return;
  snprintf(name, sizeof name, "%s, step %lld: %s", run->label, (long long)step + 1,
           residuals->norm);
  eb_plot_begin(plot, name);
  for (int64_t r = residuals->offsets[step]; r < residuals->offsets[step + 1]; r++) {
    double x = timed ? 1e3 * residuals->seconds[r] : (double)(r - residuals->offsets[step]);
    eb_plot_point(plot, x, residuals->values[r], EB_LOG_Y, NULL);
  }
}

static bool iterates(const eb_report_run *run) {
  int64_t longest = longest_step(&run->residuals);
  return longest >= 0 && logged(&run->residuals, longest) > 1;
}

/* The last residual of each step, in norms of the solvers' own. */
static void add_own(const eb_report_run *run, bool timed, eb_plot *plot) {
  (void)timed;
  const eb_residuals *residuals = &run->residuals;
  const double *time = run->column[EB_COL_TIME];
  char name[512];
  snprintf(name, sizeof name, "%s: %s", run->label, residuals->norm ? residuals->norm : "");
  eb_plot_begin(plot, name);
  for (int64_t s = 0; time && s < (int64_t)residuals->steps && s < (int64_t)run->steps; s++)
    if (logged(residuals, s) > 0)
      eb_plot_point(plot, time[s], residuals->values[residuals->offsets[s + 1] - 1], EB_LOG_Y,
                    NULL);
}

/* ---- where the time goes --------------------------------------------------------------------- */

/* Heads of a table of stages: the phases that are used, and what is in none. Their numbers, from 1,
 * and 0, go into a list, so that a phase has the same colour in every plot. */
static void put_stages(const bool *used, eb_plot *plot) {
  for (int p = 0; p <= EB_PHASE_COUNT; p++) {
    bool named = p < EB_PHASE_COUNT;
    if (named && !used[p]) continue;
    eb_plot_word(plot, named ? eb_phase_name((eb_phase)p) : "other");
    eb_plot_list_number(plot, "stages", named ? p + 1 : 0);
    plot->series++;
  }
  eb_plot_put(plot, "\n");
}

/* Means over steps [first, last), ms: of the phases that are used, and what is left of `wall`. */
static void put_means(const eb_report_run *run, const bool *used, size_t first, size_t last,
                      size_t skip, double wall, eb_plot *plot) {
  for (int p = 0; p < EB_PHASE_COUNT; p++) {
    if (!used[p]) continue;
    double mean = run->phase[p] ? 1e3 * eb_mean(run->phase[p] + first, last - first, skip) : 0;
    if (!isfinite(mean)) mean = 0;
    wall -= mean;
    eb_plot_put(plot, " %.6g", mean);
  }
  eb_plot_put(plot, " %.6g\n", fmax(0, wall));
}

/* NaN for a run whose times are not compared. */
static double mean_wall(const eb_report_run *run) {
  const double *wall = run->column[EB_COL_WALL];
  return wall && !eb_report_audit_failed(run) ? 1e3 * eb_mean(wall, run->steps, EB_WARM_UP) : NAN;
}

/* A table: a row a run, a column a phase that any run has used. */
static void fill_phases(const eb_report_run *runs, int count, bool declares, eb_plot *plot) {
  (void)declares;
  bool used[EB_PHASE_COUNT] = {false}, any = false;
  for (int r = 0; r < count; r++) {
    any = any || isfinite(mean_wall(&runs[r]));
    for (int p = 0; p < EB_PHASE_COUNT; p++)
      used[p] =
          used[p] || (runs[r].phase[p] && eb_mean(runs[r].phase[p], runs[r].steps, EB_WARM_UP) > 0);
  }
  if (!any) return;
  eb_plot_word(plot, "solver");
  put_stages(used, plot);
  for (int r = 0; r < count; r++) {
    double wall = mean_wall(&runs[r]);
    if (!isfinite(wall)) continue;
    eb_plot_word(plot, runs[r].label);
    put_means(&runs[r], used, 0, runs[r].steps, EB_WARM_UP, wall, plot);
  }
}

/* A table of one run: time, % of elements updated in a step, and stages; many steps are put
 * together in rows of equally many. */
static void put_steps(const eb_report_run *run, eb_plot *plot) {
  enum { MOST_ROWS = 400 };
  bool used[EB_PHASE_COUNT];
  double elements = fmax(1, (double)run->run->elements);
  size_t stride = (run->steps + MOST_ROWS - 1) / MOST_ROWS;
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    used[p] = run->phase[p] && eb_largest(run->phase[p], run->steps, 0) > 0;
  eb_plot_put(plot, "\"time\" \"updated\"");
  put_stages(used, plot);
  for (size_t first = 0; first < run->steps; first += stride) {
    size_t last = first + stride < run->steps ? first + stride : run->steps, count = last - first;
    eb_plot_put(plot, "%.9g %.6g", run->column[EB_COL_TIME][last - 1],
                100 * eb_mean(run->updated_elements + first, count, 0) / elements);
    put_means(run, used, first, last, 0, 1e3 * eb_mean(run->column[EB_COL_WALL] + first, count, 0),
              plot);
  }
}

eb_error eb_plots_stages(const eb_report_run *run, eb_plotter *plotter, const char *base,
                         bool *drawn) {
  eb_plot plot = {0};
  char title[512];
  *drawn = run->run->repetition == 0 && eb_largest(run->updated_elements, run->steps, 0) > 0;
  if (!*drawn) return EB_OK;
  snprintf(title, sizeof title, "%s, %s", run->scene, run->label);
  put_steps(run, &plot);
  return eb_plot_draw(plotter, base, "stages", title, &plot, drawn);
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
 * worst residual of all steps. */
static void add_accuracy(const eb_report_run *run, bool declares, class_list *classes,
                         eb_plot *plot) {
  double wall = 1e3 * eb_report_typical(run, EB_COL_WALL);
  double error = declares ? run->run->error : eb_report_worst(run, EB_COL_RESIDUAL_RELATIVE);
  const char *words = objection(run);
  int before = plot->series;
  eb_plot_begin(plot, run->label);
  eb_plot_point(plot, wall, error, EB_LOG_X | EB_LOG_Y, words);
  if (plot->series == before) return;
  int symbol = class_symbol(class_number(classes, eb_class_of(run->run)));
  eb_plot_list_number(plot, "symbols", *words ? symbol - 1 : symbol);
}

static bool is_shown(const eb_report_run *run) {
  return run->run->repetition == 0 && run->steps > 0;
}

/* Both plots of a scene have the same symbols: classes are numbered over all runs, whether they
 * have a point or not. */
static void fill_accuracy(const eb_report_run *runs, int count, bool declares, eb_plot *plot) {
  class_list classes = {.count = 0};
  for (int r = 0; r < count; r++)
    if (is_shown(&runs[r])) class_number(&classes, eb_class_of(runs[r].run));
  for (int r = 0; r < count; r++)
    if (is_shown(&runs[r]) && (!declares || eb_report_declares(&runs[r])))
      add_accuracy(&runs[r], declares, &classes, plot);
  eb_plot_set(plot, "edges", declares ? "-8 -6 -4 -2 -1" : "");
  for (int c = 0; c < classes.count; c++) {
    eb_class_name name = eb_class_describe(classes.of[c]);
    eb_plot_key(plot, name.text);
    eb_plot_list_word(plot, "classes", name.text);
    eb_plot_list_number(plot, "class_symbols", class_symbol(c));
  }
  plot->entries = plot->series + classes.count;
}

/* ---- the plots of a scene -------------------------------------------------------------------- */

static const char declared_residual[] = "error in the declared equation",
                  euler_residual[] = "error in implicit Euler";

const eb_plot_kind eb_plot_kinds[EB_PLOT_KINDS] = {
    {.stem = "residuals",
     .caption = "Residual against iteration, in the step with the most iterations",
     .add = add_residuals,
     .informs = iterates},
    {.stem = "error-time",
     .caption = "Residual against wall time, in the same step",
     .add = add_residuals,
     .informs = iterates,
     .timed = true},
    {.stem = "accuracy",
     .caption = "Accuracy against cost: error in the equation that each solver declares, over the "
                "run. One symbol a class, dashed lines between bands; hollow: the run did not "
                "complete, or its audit failed, by these rules",
     .y = declared_residual,
     .declared = true,
     .fill = fill_accuracy},
    {.stem = "accuracy-euler",
     .caption = "Implicit Euler's residual against cost: worst of all steps. One symbol a class; "
                "hollow: the run did not complete, or its audit failed",
     .template = "accuracy",
     .y = euler_residual,
     .fill = fill_accuracy},
    {.stem = "audit",
     .caption = "Residual of the declared equation, each step",
     .y = declared_residual,
     .lines = declared},
    {.stem = "audit-euler",
     .caption = "Residual of implicit Euler, each step",
     .template = "audit",
     .y = euler_residual,
     .lines = euler},
    {.stem = "own",
     .caption = "The last residual that each solver logged in a step, in a norm of its own",
     .add = add_own},
    {.stem = "iterations",
     .caption = "Iterations a step: the method's and, within them, the linear solver's",
     .lines = iterations,
     .informs = has_iterations},
    {.stem = "step-time", .caption = "Wall time a step", .lines = step_time, .timed = true},
    {.stem = "phases", .caption = "Where a step's time goes", .fill = fill_phases},
    {.stem = "energy", .caption = "Energies over time", .lines = energies, .keyed = true},
    {.stem = "sizes",
     .caption = "Pieces of the bodies, and unknowns of systems that a solver condenses to",
     .lines = sizes,
     .informs = changes_size}};

static void fill(const eb_plot_kind *kind, const eb_report_run *runs, int count, eb_plot *plot) {
  bool informs = !kind->informs;
  for (int r = 0; r < count && !informs; r++)
    informs = is_drawn(kind, &runs[r]) && kind->informs(&runs[r]);
  if (!informs) return;
  if (kind->lines) fill_lines(kind, runs, count, plot);
  if (kind->fill) kind->fill(runs, count, kind->declared, plot);
  for (int r = 0; kind->add && r < count; r++)
    if (is_drawn(kind, &runs[r])) kind->add(&runs[r], kind->timed, plot);
}

eb_error eb_plots_scene(const eb_report *report, int first, int last, eb_plotter *plotter,
                        const char *prefix, bool drawn[EB_PLOT_KINDS]) {
  for (int k = 0; k < EB_PLOT_KINDS; k++) {
    const eb_plot_kind *kind = &eb_plot_kinds[k];
    eb_plot plot = {0};
    char base[256];
    fill(kind, report->runs + first, last - first, &plot);
    if (kind->y) eb_plot_set(&plot, "yname", kind->y);
    snprintf(base, sizeof base, "%s-%s", prefix, kind->stem);
    EB_TRY(eb_plot_draw(plotter, base, kind->template ? kind->template : kind->stem,
                        report->runs[first].scene, &plot, &drawn[k]));
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

/* The first run of that label in a class, ms, unless the audit contradicts it; else NaN. */
static double median_of(const eb_report *report, int first, int last, eb_class class,
                        const char *label) {
  for (int r = first; r < last; r++)
    if (strcmp(report->runs[r].label, label) == 0 && is_compared(&report->runs[r]) &&
        eb_class_compare(eb_class_of(report->runs[r].run), class) == 0)
      return 1e3 * eb_report_typical(&report->runs[r], EB_COL_WALL);
  return NAN;
}

/* Bars of one scene and class, whose names are two lines beside the axis. */
static void put_bars(const eb_report *report, int first, int last, eb_class class,
                     const char *const *labels, eb_plot *plot, bar_layout *layout) {
  char name[512];
  eb_class_name of_class = eb_class_describe(class);
  size_t scene = strlen(report->runs[first].scene), widest = strlen(of_class.text);
  int count = 0;
  snprintf(name, sizeof name, "%s: %s", report->runs[first].scene, of_class.text);
  if (scene > widest) widest = scene;
  if (widest > layout->widest) layout->widest = widest;
  layout->rows++;
  eb_plot_put(plot, "\n");
  eb_plot_word(plot, name);
  for (int l = 0; l < plot->series; l++) {
    double median = median_of(report, first, last, class, labels[l]);
    count += isfinite(median);
    if (isfinite(median)) layout->seen |= UINT32_C(1) << l;
    if (median > 0) layout->least = fmin(layout->least, median);
    eb_plot_put(plot, " %.6g", median);
  }
  if (count > layout->most) layout->most = count;
}

/* Rows are as high as their names and bars ask for, the key has a line a series that has any; bars
 * begin at the power of ten below the least. */
static void set_layout(const bar_layout *layout, eb_plot *plot) {
  enum { NAME = 34, BAR = 12, USUAL = 440, AROUND = 116, KEY = 18, LETTER = 6, MOST_MARGIN = 400 };
  int row = BAR * layout->most > NAME ? BAR * layout->most : NAME;
  int margin = LETTER * (int)layout->widest, key = KEY * __builtin_popcount(layout->seen);
  plot->below = layout->rows * row + key + AROUND - USUAL;
  eb_plot_setting(plot, "least = %.6g\nrows = %d\nmargin = %d\n",
                  pow(10, floor(log10(layout->least) - 1e-3)), layout->rows,
                  margin < MOST_MARGIN ? margin : MOST_MARGIN);
  for (int l = 0; l < plot->series; l++)
    if (layout->seen >> l & 1) eb_plot_list_number(plot, "shown", l + 2);
}

static void put_summary(const eb_report *report, const char *const *labels, eb_plot *plot) {
  bar_layout layout = {.least = 1e6};
  eb_plot_word(plot, "scene");
  for (int l = 0; l < plot->series; l++) eb_plot_word(plot, labels[l]);
  for (const eb_report_scene *s = report->scenes; s < report->scenes + report->scene_count; s++) {
    class_list classes = {.count = 0};
    for (int r = s->first; r < s->last; r++)
      if (is_compared(&report->runs[r])) class_number(&classes, eb_class_of(report->runs[r].run));
    for (int c = 0; c < classes.count; c++)
      put_bars(report, s->first, s->last, classes.of[c], labels, plot, &layout);
  }
  eb_plot_put(plot, "\n");
  set_layout(&layout, plot);
}

eb_error eb_plots_summary(const eb_report *report, eb_plotter *plotter, bool *drawn, int *lacking) {
  enum { MOST_LABELS = 16 };
  EB_FREED const char **labels = NULL;
  EB_TRY(EB_NEW(labels, report->run_count));
  int count = distinct_labels(report, labels);
  eb_plot plot = {.series = count < MOST_LABELS ? count : MOST_LABELS};
  *lacking = count - plot.series;
  if (count > 0) put_summary(report, labels, &plot);
  return eb_plot_draw(plotter, "summary", "summary", "Median wall time a step", &plot, drawn);
}
