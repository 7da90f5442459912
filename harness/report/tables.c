#include "harness/report/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "harness/report/markup.h"
#include "harness/results/accuracy.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* ---- what runs cost: ranked by accuracy class, and beside the clock -------------------------- */

/* What runs are ranked by. */
enum { STEP, TOTAL, WHOLE, COSTS };

typedef struct row {
  const eb_report_run *run;
  int at; /* in the plan */
  eb_class class;
  double cost[COSTS]; /* s */
  eb_rank rank[COSTS];
} row;

/* The costs of a machine; of runs of others there are none to compare. */
static void costs_of(const row *rows, int count, int cost, int machine, double *out) {
  for (int r = 0; r < count; r++)
    out[r] = rows[r].run->machine == machine ? rows[r].cost[cost] : NAN;
}

static eb_error rank(row *rows, int count) {
  const eb_run **runs;
  double *costs;
  EB_TRY(EB_NEW(runs, count));
  eb_error error = EB_NEW(costs, count);
  for (int r = 0; r < count; r++) runs[r] = rows[r].run->run;
  for (int c = 0; c < COSTS && !error; c++)
    for (int r = 0; r < count; r++) {
      costs_of(rows, count, c, rows[r].run->machine, costs);
      rows[r].rank[c] = eb_run_rank(runs, costs, count, r);
    }
  free(runs);
  free(costs);
  return error;
}

/* Runs under one heading: of one class, over as many steps, on one machine. */
static int compare_groups(const row *a, const row *b) {
  int classes = eb_class_compare(a->class, b->class);
  int64_t more = a->run->run->steps_wanted - b->run->run->steps_wanted;
  if (classes || a->class.band == EB_BAND_UNKNOWN) return classes;
  return more ? (more > 0) - (more < 0) : a->run->machine - b->run->machine;
}

static int compare_rows(const void *left, const void *right) {
  const row *a = left, *b = right;
  int groups = compare_groups(a, b);
  bool both = a->rank[STEP].place > 0 && b->rank[STEP].place > 0;
  int ranked = (b->rank[STEP].place > 0) - (a->rank[STEP].place > 0);
  int place = both ? a->rank[STEP].place - b->rank[STEP].place : 0;
  int dearer = both ? (a->cost[STEP] > b->cost[STEP]) - (a->cost[STEP] < b->cost[STEP]) : 0;
  return groups ? groups : ranked ? ranked : place ? place : dearer ? dearer : a->at - b->at;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static eb_error solver_cell(const eb_report_run *run, eb_text *page) {
  EB_TRY(eb_markup_between(page, "<td class=\"text\">", run->label, ""));
  if (*run->run->client) /* what a program of the user's calls itself */
    EB_TRY(eb_markup_between(page, " <span class=\"note\">(", run->run->client, ")</span>"));
  if (run->run->repetition > 0)
    EB_TRY(eb_text_printf(page, " <span class=\"note\">(repetition %lld)</span>",
                          (long long)run->run->repetition + 1));
  return eb_text_printf(page, "</td>");
}

/* The names of broken rules, each leading to its definition. */
static eb_error rule_names(const char *rules, eb_text *page) {
  const char *separator = ": ";
  for (const char *c = rules; *c;) {
    char word[64];
    size_t length = strcspn(c, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, c);
    int rule = 0;
    while (rule < EB_RULES && strcmp(eb_rule_name((eb_rule)rule), word) != 0) rule++;
    EB_TRY(eb_text_printf(page, "%s", separator));
    if (rule < EB_RULES)
      EB_TRY(eb_text_printf(page, "<a href=\"#rule-%s\">%s</a>", word, word));
    else
      EB_TRY(eb_markup_text(page, word));
    separator = ", ";
    c += length + (c[length] == ',');
  }
  return EB_OK;
}

static eb_error status_cell(const eb_report_run *run, eb_text *page) {
  bool audit_failed = eb_report_audit_failed(run), good = eb_report_completed(run) && !audit_failed;
  bool skipped = strcmp(run->run->outcome, eb_outcome_name(EB_OUTCOME_SKIPPED)) == 0;
  EB_TRY(eb_text_printf(page, "<td class=\"text %s\">", good ? "good" : skipped ? "" : "bad"));
  EB_TRY(eb_markup_between(page, "", run->run->outcome, audit_failed ? ", audit failed" : ""));
  if (audit_failed) EB_TRY(rule_names(run->run->audit_rules, page));
  return eb_text_printf(page, "</td>");
}

/* ---- the table of ranks ---------------------------------------------------------------------- */

enum { RANK_COLUMNS = 11 };

static eb_error heading(const row *of, eb_text *page) {
  const char *why = of->class.band == EB_BAND_ORDER_ONE
                        ? "not ranked: the steps explain less than nine tenths of the forces"
                    : of->class.band == EB_BAND_UNKNOWN
                        ? "not ranked: the file tells of no error in an equation that is declared"
                        : NULL;
  EB_TRY(eb_text_printf(page, "<tr class=\"class\"><th colspan=\"%d\">", RANK_COLUMNS));
  EB_TRY(eb_markup_text(page, eb_class_words(of->class).text));
  if (of->class.band != EB_BAND_UNKNOWN)
    EB_TRY(eb_text_printf(page, "; %lld steps", (long long)of->run->run->steps_wanted));
  if (of->class.band != EB_BAND_UNKNOWN && of->run->machine > 0)
    EB_TRY(eb_text_printf(page, "; machine %d", of->run->machine));
  if (why) EB_TRY(eb_text_printf(page, " <span class=\"note\">%s</span>", why));
  return eb_text_printf(page, "</th></tr>\n");
}

/* Decimals of which nothing would be left for short times. */
static eb_error cost_cell(double value, const char *format, eb_text *page) {
  return eb_markup_number(page, value < 0.1 ? "%#.2g" : format, value);
}

static eb_error rank_row(const row *r, eb_text *page) {
  static const struct {
    double scale;
    const char *format;
  } shown[COSTS] = {{1e3, "%.2f"}, {1, "%.3f"}, {1, "%.3f"}};
  EB_TRY(eb_text_printf(page, "<tr>"));
  EB_TRY(solver_cell(r->run, page));
  EB_TRY(status_cell(r->run, page));
  EB_TRY(eb_text_printf(page, "<td>"));
  if (r->run->run->ranks > 1)
    EB_TRY(eb_text_printf(page, "%lld x ", (long long)r->run->run->ranks));
  EB_TRY(eb_text_printf(page, "%lld</td><td>%lld</td>", (long long)r->run->run->threads,
                        (long long)r->run->steps));
  EB_TRY(
      eb_markup_number(page, "%.1e", r->class.band == EB_BAND_UNKNOWN ? NAN : r->run->run->error));
  for (int c = 0; c < COSTS; c++) {
    EB_TRY(cost_cell(shown[c].scale * r->cost[c], shown[c].format, page));
    EB_TRY(eb_markup_number(page, r->rank[c].place == 1 ? "%.2f *" : "%.2f", r->rank[c].over));
  }
  return eb_text_printf(page, "</tr>\n");
}

/* ---- beside the clock ------------------------------------------------------------------------ */

static eb_error cost_row(const eb_report_run *run, eb_text *page) {
  static const double megabyte = 1048576;
  const eb_run *of = run->run;
  bool told = of->process_cpu_seconds > 0; /* not by older files */
  EB_TRY(eb_text_printf(page, "<tr>"));
  EB_TRY(solver_cell(run, page));
  EB_TRY(eb_markup_number(page, "%.3f", of->setup_seconds));
  EB_TRY(eb_markup_number(page, "%.2f", told ? of->first_step_at : NAN));
  EB_TRY(
      eb_markup_number(page, "%.2f", told ? of->process_cpu_seconds / of->timed_cpu_seconds : NAN));
  EB_TRY(eb_markup_number(page, "%.3f", told ? of->untimed_cpu_seconds : NAN));
  EB_TRY(eb_markup_number(page, "%.2f", of->audit_seconds > 0 ? of->audit_seconds : NAN));
  EB_TRY(eb_markup_number(page, "%.0f", told ? (double)of->threads_alive : NAN));
  EB_TRY(eb_markup_number(page, "%.1f", told ? of->memory_growth / megabyte : NAN));
  EB_TRY(eb_markup_number(page, "%.0f", of->peak_rss / megabyte));
  /* What nobody but the solver knows is told as what it is. */
  bool claims = of->counts && strcmp(of->counts, EB_COUNTS_CLAIMED) == 0;
  EB_TRY(eb_markup_number(page, claims ? "%.1f, claimed" : "%.1f",
                          eb_report_typical(run, EB_COL_ITERATIONS)));
  EB_TRY(eb_markup_number(page, claims ? "%.0f, claimed" : "%.0f",
                          eb_median(run->linear_iterations, run->steps, EB_WARM_UP)));
  double own = eb_report_typical(run, EB_COL_OWN);
  EB_TRY(eb_markup_number(page, "%.3f", own > 0 ? 1e3 * own : NAN));
  return eb_text_printf(page, "</tr>\n");
}

/* ---- both ------------------------------------------------------------------------------------ */

static eb_error note(const eb_report_run *run, const char *text, eb_text *page) {
  if (!text[0]) return EB_OK;
  EB_TRY(eb_markup_between(page, "<p class=\"note\"><b>", run->label, "</b>: "));
  return eb_markup_between(page, "", text, "</p>\n");
}

static eb_error write_tables(row *rows, int count, eb_text *page) {
  EB_TRY(rank(rows, count));
  qsort(rows, (size_t)count, sizeof *rows, compare_rows);
  EB_TRY(eb_text_printf(
      page, "<div class=\"scroll\"><table class=\"ranks\" data-runs><thead><tr><th>solver</th>"
            "<th class=\"text\">"
            "outcome</th><th>threads</th><th>steps</th><th>error</th><th>step, median (ms)</th>"
            "<th>over the fastest</th><th>set-up and steps (s)</th><th>over the least</th>"
            "<th>start to end (s)</th><th>over the least</th></tr></thead>\n"));
  for (int r = 0; r < count; r++) {
    bool first = r == 0 || compare_groups(&rows[r - 1], &rows[r]) != 0;
    if (first) EB_TRY(eb_text_printf(page, "%s<tbody>\n", r ? "</tbody>" : ""));
    if (first) EB_TRY(heading(&rows[r], page));
    EB_TRY(rank_row(&rows[r], page));
  }
  EB_TRY(eb_text_printf(page, "</tbody></table></div>\n<p class=\"note\">* on the front: no run of "
                              "its class is as accurate for less</p>\n"));
  for (int r = 0; r < count; r++) {
    EB_TRY(note(rows[r].run, rows[r].run->run->detail, page));
    EB_TRY(note(rows[r].run, rows[r].run->run->audit_detail, page));
  }
  EB_TRY(eb_text_printf(
      page,
      "<div class=\"scroll\"><table data-runs><thead><tr><th>cost beside the clock</th>"
      "<th>set-up (s)</th>"
      "<th>start to first step (s)</th><th>process CPU over timed CPU</th><th>untimed CPU "
      "(s)</th><th>audits (s)</th><th>threads alive</th><th>memory growth (MB)</th><th>peak "
      "memory (MB)</th>"
      "<th>iterations, median</th><th>linear iterations, median</th><th>step by its own clock, "
      "median (ms)</th></tr></thead>\n"
      "<tbody>\n"));
  for (int r = 0; r < count; r++) EB_TRY(cost_row(rows[r].run, page));
  return eb_text_printf(page, "</tbody></table></div>\n");
}

/* Runs [first, last), grouped by class, in each those that are ranked first, by error and the
 * median of their steps; causes of failures in words below. */
eb_error eb_report_ranking(const eb_report *report, int first, int last, eb_text *page) {
  row *rows;
  EB_TRY(EB_NEW(rows, last - first));
  for (int r = first; r < last; r++) {
    const eb_report_run *run = &report->runs[r];
    double whole = run->run->total_seconds, total = run->run->setup_seconds;
    for (size_t s = 0; s < run->steps; s++) total += run->column[EB_COL_WALL][s];
    rows[r - first] = (row){.run = run,
                            .at = r,
                            .class = eb_class_of(run->run),
                            .cost = {[STEP] = eb_report_typical(run, EB_COL_WALL),
                                     [TOTAL] = run->steps > 0 ? total : NAN,
                                     [WHOLE] = run->steps > 0 && whole > 0 ? whole : NAN}};
  }
  eb_error error = write_tables(rows, last - first, page);
  free(rows);
  return error;
}

/* ---- what the audits found at worst ---------------------------------------------------------- */

typedef enum statistic {
  WORST,
  TYPICAL, /* the median without the first step */
  SUM
} statistic;

/* One column of a table. */
typedef struct figure {
  const char *heading, *format;
  eb_column column;
  statistic statistic;
  double scale;
  bool declared; /* of files that name the declared equation alone */
} figure;

typedef struct table {
  const char *heading;
  const figure *figures;
  int count;
} table;

static const figure step_figures[] = {
    {"error, worst", "%.1e", EB_COL_EQUATION_RESIDUAL, WORST, 1, true},
    {"median", "%.1e", EB_COL_EQUATION_RESIDUAL, TYPICAL, 1, true},
    {"implicit Euler's residual, worst", "%.1e", EB_COL_RESIDUAL_RELATIVE, WORST, 1, false},
    {"median", "%.1e", EB_COL_RESIDUAL_RELATIVE, TYPICAL, 1, false},
    {"update error (m)", "%.1e", EB_COL_UPDATE_ERROR, WORST, 1, true},
    {"held error (m)", "%.1e", EB_COL_HELD_ERROR, WORST, 1, true},
    {"momentum balance (kg m/s)", "%.1e", EB_COL_BALANCE, WORST, 1, true},
    {"relative", "%.1e", EB_COL_BALANCE_RELATIVE, WORST, 1, true},
    {"energy excess (J), worst step", "%.1e", EB_COL_ENERGY_EXCESS, WORST, 1, true},
    {"all steps", "%.1e", EB_COL_ENERGY_EXCESS, SUM, 1, true},
    {"penetration (mm)", "%.2f", EB_COL_MAX_PENETRATION, WORST, 1e3, false},
    {"inverted elements", "%.0f", EB_COL_INVERTED, WORST, 1, false}};

static const figure contact_figures[] = {
    {"contacts", "%.0f", EB_COL_CONTACT_COUNT, WORST, 1, false},
    {"with a force", "%.0f", EB_COL_CONTACT_ACTIVE, WORST, 1, false},
    {"crossing triangles", "%.0f", EB_COL_INTERSECTIONS, WORST, 1, false},
    {"of one body", "%.0f", EB_COL_SELF_INTERSECTIONS, WORST, 1, false},
    {"bodies in bodies", "%.0f", EB_COL_NESTED, WORST, 1, false},
    {"too close (m)", "%.1e", EB_COL_CONTACT_VIOLATION, WORST, 1, false},
    {"off, with a force (m)", "%.1e", EB_COL_CONTACT_OPEN, WORST, 1, false},
    {"true gap off (m)", "%.1e", EB_COL_CONTACT_TRUE_GAP, WORST, 1, true},
    {"apart (m)", "%.1e", EB_COL_CONTACT_APART, WORST, 1, false},
    {"unrecorded pairs", "%.0f", EB_COL_CONTACT_UNRECORDED, WORST, 1, true},
    {"normal off (deg)", "%.2g", EB_COL_CONTACT_NORMAL, WORST, 1, true},
    {"slip inside the cone (m)", "%.1e", EB_COL_CONTACT_SLIDING, WORST, 1, false},
    {"beyond the cone", "%.1e", EB_COL_CONTACT_CONE, WORST, 1, false},
    {"friction off (deg)", "%.2g", EB_COL_CONTACT_ANGLE, WORST, 1, false}};

static const figure joint_figures[] = {
    {"residual (N m), worst", "%.1e", EB_COL_JOINT_RESIDUAL, WORST, 1, false},
    {"over its terms, worst", "%.1e", EB_COL_JOINT_RESIDUAL_RELATIVE, WORST, 1, false},
    {"median", "%.1e", EB_COL_JOINT_RESIDUAL_RELATIVE, TYPICAL, 1, false}};

#define COUNT(figures) ((int)(sizeof(figures) / sizeof *(figures)))
static const table of_steps = {"audits, worst of all steps", step_figures, COUNT(step_figures)};
static const table of_contact = {"contact, worst of all steps", contact_figures,
                                 COUNT(contact_figures)};
static const table of_joints = {"joints", joint_figures, COUNT(joint_figures)};

static double value_of(const figure *f, const eb_report_run *run) {
  if (f->declared && !eb_report_declares(run)) return NAN;
  double total = 0;
  for (size_t s = 0; s < run->steps; s++) total += run->column[f->column][s];
  return f->scale * (f->statistic == SUM       ? total
                     : f->statistic == TYPICAL ? eb_report_typical(run, f->column)
                                               : eb_report_worst(run, f->column));
}

static eb_error audit_table(const eb_report *report, int first, int last, const table *what,
                            eb_text *page) {
  EB_TRY(eb_text_printf(page,
                        "<div class=\"scroll\"><table class=\"audits\" data-runs><thead><tr>"
                        "<th>%s</th>",
                        what->heading));
  for (int f = 0; f < what->count; f++)
    EB_TRY(eb_text_printf(page, "<th>%s</th>", what->figures[f].heading));
  EB_TRY(eb_text_printf(page, "</tr></thead>\n<tbody>\n"));
  for (int r = first; r < last; r++) {
    const eb_report_run *run = &report->runs[r];
    if (run->steps == 0) continue;
    EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", run->label, "</td>"));
    for (int f = 0; f < what->count; f++)
      EB_TRY(eb_markup_number(page, what->figures[f].format, value_of(&what->figures[f], run)));
    EB_TRY(eb_text_printf(page, "</tr>\n"));
  }
  return eb_text_printf(page, "</tbody></table></div>\n");
}

/* Whether a run has ever had anything in one of the columns. */
static bool any_above_zero(const eb_report *report, int first, int last, const eb_column *columns,
                           int count) {
  for (int r = first; r < last; r++)
    for (int c = 0; c < count; c++)
      if (eb_report_worst(&report->runs[r], columns[c]) > 0) return true;
  return false;
}

/* Runs [first, last) that made a step; the figures of contact and joints only where a run has any.
 */
eb_error eb_report_audits(const eb_report *report, int first, int last, eb_text *page) {
  static const eb_column contact[] = {EB_COL_CONTACT_COUNT, EB_COL_INTERSECTIONS,
                                      EB_COL_SELF_INTERSECTIONS, EB_COL_NESTED,
                                      EB_COL_CONTACT_UNRECORDED},
                         steps[] = {EB_COL_STEP},
                         joints[] = {EB_COL_JOINT_RESIDUAL, EB_COL_JOINT_KINETIC};
  if (any_above_zero(report, first, last, steps, COUNT(steps)))
    EB_TRY(audit_table(report, first, last, &of_steps, page));
  if (any_above_zero(report, first, last, contact, COUNT(contact)))
    EB_TRY(audit_table(report, first, last, &of_contact, page));
  if (any_above_zero(report, first, last, joints, COUNT(joints)))
    EB_TRY(audit_table(report, first, last, &of_joints, page));
  return EB_OK;
}

/* ---- factorizations, and matrices updated in parts ------------------------------------------- */

static double total_memory(const eb_report_run *run) {
  double sum = 0;
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    if (isfinite(run->memory[i])) sum += run->memory[i];
  return sum;
}

/* Mean share of the elements that a step after the first brings up to date; NAN for a solver that
 * never does. */
static double mean_share(const eb_report_run *run) {
  if (run->steps == 0 || run->run->elements == 0) return NAN;
  double mean = eb_mean(run->updated_elements, run->steps, EB_WARM_UP);
  bool ever = eb_largest(run->updated_elements, run->steps, 0) > 0;
  return ever ? mean / (double)run->run->elements : NAN;
}

static bool reports(const eb_report_run *run, const eb_report_picture *picture) {
  if (run->run->repetition > 0) return false;
  return total_memory(run) > 0 || picture->supernodes > 0 || isfinite(mean_share(run));
}

static eb_error factor_row(const eb_report_run *run, const eb_report_picture *picture,
                           eb_text *page) {
  static const double megabyte = 1048576;
  EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", run->label, "</td>"));
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    EB_TRY(eb_markup_number(page, "%.1f", run->memory[i] / megabyte));
  double all = total_memory(run), supernodes = picture->supernodes;
  EB_TRY(eb_markup_number(page, "%.1f", all > 0 ? all / megabyte : NAN));
  EB_TRY(eb_markup_number(page, "%.0f", supernodes > 0 ? supernodes : NAN));
  EB_TRY(eb_markup_number(page, "%.2f", 100 * mean_share(run)));
  double unknowns = eb_largest(run->reduced_unknowns, run->steps, 0);
  EB_TRY(eb_markup_number(page, "%.0f", unknowns > 0 ? unknowns : NAN));
  return eb_text_printf(page, "</tr>\n");
}

/* Memory by kind, supernodes, and updates a step; nothing when no run has reported any. */
eb_error eb_report_factors(const eb_report *report, const eb_report_scene *scene,
                           const eb_report_picture *pictured, eb_text *page) {
  bool any = false;
  for (int r = scene->first; r < scene->last; r++)
    any = any || reports(&report->runs[r], &pictured[r]);
  if (!any) return EB_OK;
  EB_TRY(eb_text_printf(page, "<div class=\"scroll\"><table data-runs><thead><tr><th>held while "
                              "stepping (MB), as the solver reports it</th>"));
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    EB_TRY(eb_markup_between(page, "<th>", eb_memory_name((eb_memory_kind)i), "</th>"));
  EB_TRY(eb_text_printf(page,
                        "<th>together</th><th>supernodes</th><th>elements updated a step, "
                        "mean (%%)</th><th>unknowns after condensation, most</th></tr></thead>\n"
                        "<tbody>\n"));
  for (int r = scene->first; r < scene->last; r++)
    if (reports(&report->runs[r], &pictured[r]))
      EB_TRY(factor_row(&report->runs[r], &pictured[r], page));
  return eb_text_printf(page, "</tbody></table></div>\n");
}
