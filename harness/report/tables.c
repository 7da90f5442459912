#include "harness/report/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "harness/results/accuracy.h"
#include "harness/results/explained.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_solver(eb_doc *doc, const eb_report_run *run) {
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", run->label);
  if (*run->run->client) /* what a program of the user's calls itself */
    eb_doc_text(doc, EB_DOC_NOTE, " (%s)", run->run->client);
  if (run->run->repetition > 0)
    eb_doc_text(doc, EB_DOC_NOTE, " (repetition %lld)", (long long)run->run->repetition + 1);
}

/* The names of broken rules, each leading to its definition. */
static void put_rules(eb_doc *doc, const char *rules) {
  const char *separator = ": ";
  for (const char *c = rules; *c;) {
    char word[64], target[80];
    size_t length = strcspn(c, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, c);
    snprintf(target, sizeof target, "#rule-%s", word);
    eb_doc_text(doc, EB_DOC_PLAIN, "%s", separator);
    if (eb_rule_find(word) < EB_RULES)
      eb_doc_link(doc, target, "%s", word);
    else
      eb_doc_text(doc, EB_DOC_PLAIN, "%s", word);
    separator = ", ";
    c += length + (c[length] == ',');
  }
}

static void put_status(eb_doc *doc, const eb_report_run *run) {
  bool failed = eb_report_audit_failed(run), good = eb_report_completed(run) && !failed;
  bool skipped = strcmp(run->run->outcome, eb_outcome_name(EB_OUTCOME_SKIPPED)) == 0;
  eb_doc_cell(doc,
              good      ? EB_DOC_GOOD
              : skipped ? EB_DOC_PLAIN
                        : EB_DOC_BAD,
              "%s%s", run->run->outcome, failed ? ", audit failed" : "");
  if (failed) put_rules(doc, run->run->audit_rules);
}

static void put_number(eb_doc *doc, const char *format, double value) {
  eb_doc_number_as(doc, EB_DOC_PLAIN, format, value);
}

/* ---- tables of a row a run ------------------------------------------------------------------- */

/* What a row has in one column. */
typedef struct figure {
  const char *head, *format;
  double value; /* not finite: there is none */
} figure;
enum { MOST_FIGURES = 16, MOST_NEEDS = 5 };

typedef struct table {
  const char *style, *title;               /* title: the head of the runs */
  bool (*shows)(const eb_report_run *run); /* NULL: all */
  int (*fill)(const eb_report_run *run, figure *out);
  /* Columns in one of which a run must ever have had anything, where there are any; else the table
   * says nothing. */
  int needs;
  eb_column need[MOST_NEEDS];
} table;

static bool has_any(const eb_report_run *run, const table *what) {
  bool any = what->needs == 0;
  for (int c = 0; c < what->needs; c++) any = any || eb_report_worst(run, what->need[c]) > 0;
  return any;
}

/* Of those runs that the table shows; nothing when it shows none. */
static void put_table(eb_doc *doc, const table *what, const eb_report_run *const *runs, int count) {
  figure figures[MOST_FIGURES] = {{0}};
  int columns = 0;
  bool any = false;
  for (int r = 0; r < count; r++) any = any || has_any(runs[r], what);
  for (int r = 0; r < count && any; r++) {
    if (what->shows && !what->shows(runs[r])) continue;
    bool first = columns == 0;
    columns = what->fill(runs[r], figures);
    if (first) eb_doc_table(doc, what->style);
    if (first) eb_doc_head(doc, "%s", what->title);
    for (int f = 0; f < columns && first; f++) eb_doc_head(doc, "%s", figures[f].head);
    eb_doc_row(doc, NULL);
    put_solver(doc, runs[r]);
    for (int f = 0; f < columns; f++) put_number(doc, figures[f].format, figures[f].value);
  }
  if (columns > 0) eb_doc_end(doc);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

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
  EB_FREED const eb_run **runs = NULL;
  EB_FREED double *costs = NULL;
  EB_TRY(EB_NEW(runs, count));
  EB_TRY(EB_NEW(costs, count));
  for (int r = 0; r < count; r++) runs[r] = rows[r].run->run;
  for (int c = 0; c < COSTS; c++)
    for (int r = 0; r < count; r++) {
      costs_of(rows, count, c, rows[r].run->machine, costs);
      rows[r].rank[c] = eb_run_rank(runs, costs, count, r);
    }
  return EB_OK;
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

/* Above runs of one class, over as many steps, on one machine. */
static void put_class(eb_doc *doc, const row *of) {
  bool unknown = of->class.band == EB_BAND_UNKNOWN;
  const char *why = of->class.band == EB_BAND_ORDER_ONE
                        ? " not ranked: the steps explain less than nine tenths of the forces"
                    : unknown
                        ? " not ranked: the file tells of no error in an equation that is declared"
                        : "";
  eb_doc_part(doc, "%s", eb_class_describe(of->class).text);
  if (!unknown)
    eb_doc_text(doc, EB_DOC_PLAIN, "; %lld steps", (long long)of->run->run->steps_wanted);
  if (!unknown && of->run->machine > 0)
    eb_doc_text(doc, EB_DOC_PLAIN, "; machine %d", of->run->machine);
  eb_doc_text(doc, EB_DOC_NOTE, "%s", why);
}

static void put_ranks(eb_doc *doc, const row *r) {
  static const struct {
    double scale;
    const char *format;
  } shown[COSTS] = {{1e3, "%.2f"}, {1, "%.3f"}, {1, "%.3f"}};
  const eb_run *run = r->run->run;
  char threads[40] = "%.0f";
  if (run->ranks > 1) snprintf(threads, sizeof threads, "%lld x %%.0f", (long long)run->ranks);
  eb_doc_row(doc, NULL);
  put_solver(doc, r->run);
  put_status(doc, r->run);
  put_number(doc, threads, (double)run->threads);
  put_number(doc, "%.0f", (double)r->run->steps);
  put_number(doc, "%.1e", r->class.band == EB_BAND_UNKNOWN ? NAN : run->error);
  for (int c = 0; c < COSTS; c++) {
    double cost = shown[c].scale * r->cost[c];
    /* Of short times decimals would leave nothing. */
    put_number(doc, cost < 0.1 ? "%#.2g" : shown[c].format, cost);
    put_number(doc, r->rank[c].place == 1 ? "%.2f *" : "%.2f", r->rank[c].over);
  }
}

static void put_note(eb_doc *doc, const eb_report_run *run, const char *text) {
  if (!text[0]) return;
  eb_doc_paragraph(doc, EB_DOC_NOTE, "%s", "");
  eb_doc_text(doc, EB_DOC_STRONG, "%s", run->label);
  eb_doc_text(doc, EB_DOC_PLAIN, ": %s", text);
}

/* What a run cost beside the clock. */
static int fill_costs(const eb_report_run *run, figure *out) {
  static const double megabyte = 1048576;
  const eb_run *of = run->run;
  double told = of->process_cpu_seconds > 0 ? 1 : NAN; /* not by runs that were cut off */
  double own = eb_report_typical(run, EB_COL_CLIENT_TIME);
  /* What nobody but the solver knows is told as what it is. */
  bool claims = of->counts && strcmp(of->counts, EB_COUNTS_CLAIMED) == 0;
  const figure all[] = {{"set-up (s)", "%.3f", of->setup_seconds},
                        {"start to first step (s)", "%.2f", told * of->first_step_at},
                        {"process CPU over timed CPU", "%.2f",
                         told * of->process_cpu_seconds / of->timed_cpu_seconds},
                        {"untimed CPU (s)", "%.3f", told * of->untimed_cpu_seconds},
                        {"audits (s)", "%.2f", of->audit_seconds > 0 ? of->audit_seconds : NAN},
                        {"threads alive", "%.0f", told * (double)of->threads_alive},
                        {"memory growth (MB)", "%.1f", told * of->memory_growth / megabyte},
                        {"peak memory (MB)", "%.0f", of->peak_rss / megabyte},
                        {"iterations, median", claims ? "%.1f, claimed" : "%.1f",
                         eb_report_typical(run, EB_COL_ITERATIONS)},
                        {"linear iterations, median", claims ? "%.0f, claimed" : "%.0f",
                         eb_median(run->linear_iterations, run->steps, EB_WARM_UP)},
                        {"step by its own clock, median (ms)", "%.3f", own > 0 ? 1e3 * own : NAN}};
  memcpy(out, all, sizeof all);
  return sizeof all / sizeof *all;
}

static const table of_costs = {
    .style = "runs", .title = "cost beside the clock", .fill = fill_costs};

/* Why audits failed, and why nobody is ranked. */
static eb_error put_explanation(eb_doc *doc, const row *rows, int count) {
  EB_FREED eb_explained *runs = NULL;
  EB_TRY(EB_NEW(runs, count));
  for (int r = 0; r < count; r++)
    runs[r] = (eb_explained){rows[r].run->run, &rows[r].run->breaches, rows[r].run->label};
  eb_explain_unranked(runs, count, doc);
  eb_explain_rules(runs, count, true, doc);
  return EB_OK;
}

static eb_error put_ranking(eb_doc *doc, row *rows, int count) {
  static const char *const heads[] = {
      "solver",         "outcome",           "threads",          "steps",
      "error",          "step, median (ms)", "over the fastest", "set-up and steps (s)",
      "over the least", "start to end (s)",  "over the least",   NULL};
  EB_FREED const eb_report_run **order = NULL;
  EB_TRY(rank(rows, count));
  EB_TRY(EB_NEW(order, count));
  qsort(rows, (size_t)count, sizeof *rows, compare_rows);
  eb_doc_table(doc, "ranks runs");
  eb_doc_heads(doc, heads);
  for (int r = 0; r < count; r++) {
    if (r == 0 || compare_groups(&rows[r - 1], &rows[r]) != 0) put_class(doc, &rows[r]);
    put_ranks(doc, &rows[r]);
    order[r] = rows[r].run;
  }
  eb_doc_end(doc);
  eb_doc_paragraph(doc, EB_DOC_NOTE, "* on the front: no run of its class is as accurate for less");
  for (int r = 0; r < count; r++) {
    put_note(doc, rows[r].run, rows[r].run->run->detail);
    /* What is explained below is not said twice. */
    if (rows[r].run->breaches.count == 0)
      put_note(doc, rows[r].run, rows[r].run->run->audit_detail);
  }
  EB_TRY(put_explanation(doc, rows, count));
  put_table(doc, &of_costs, order, count);
  return EB_OK;
}

eb_error eb_report_ranking(const eb_report *report, const eb_report_scene *scene, eb_doc *doc) {
  int count = scene->last - scene->first;
  EB_FREED row *rows = NULL;
  EB_TRY(EB_NEW(rows, count));
  for (int r = 0; r < count; r++) {
    const eb_report_run *run = &report->runs[scene->first + r];
    double whole = run->run->total_seconds, total = run->run->setup_seconds;
    for (size_t s = 0; s < run->steps; s++) total += run->column[EB_COL_WALL][s];
    rows[r] = (row){.run = run,
                    .at = r,
                    .class = eb_class_of(run->run),
                    .cost = {[STEP] = eb_report_typical(run, EB_COL_WALL),
                             [TOTAL] = run->steps > 0 ? total : NAN,
                             [WHOLE] = run->steps > 0 && whole > 0 ? whole : NAN}};
  }
  return put_ranking(doc, rows, count);
}

/* ---- what the audits found at worst ---------------------------------------------------------- */

typedef enum statistic {
  WORST,
  TYPICAL, /* the median without the first step */
  SUM
} statistic;

/* A figure over the steps of a run. */
typedef struct over_steps {
  const char *heading, *format;
  eb_column column;
  statistic statistic;
  double scale;
  bool declared; /* of files that name the declared equation alone */
} over_steps;

static const over_steps step_figures[] = {
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

static const over_steps contact_figures[] = {
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

static const over_steps joint_figures[] = {
    {"residual (N m), worst", "%.1e", EB_COL_JOINT_RESIDUAL, WORST, 1, false},
    {"over its terms, worst", "%.1e", EB_COL_JOINT_RESIDUAL_RELATIVE, WORST, 1, false},
    {"median", "%.1e", EB_COL_JOINT_RESIDUAL_RELATIVE, TYPICAL, 1, false}};

static double value_of(const over_steps *f, const eb_report_run *run) {
  if (f->declared && !eb_report_declares(run)) return NAN;
  double total = 0;
  for (size_t s = 0; s < run->steps; s++) total += run->column[f->column][s];
  return f->scale * (f->statistic == SUM       ? total
                     : f->statistic == TYPICAL ? eb_report_typical(run, f->column)
                                               : eb_report_worst(run, f->column));
}

static int fill(const over_steps *list, size_t count, const eb_report_run *run, figure *out) {
  for (size_t f = 0; f < count; f++)
    out[f] = (figure){list[f].heading, list[f].format, value_of(&list[f], run)};
  return (int)count;
}

#define FILL(list) fill(list, sizeof(list) / sizeof *(list), run, out)
static int fill_steps(const eb_report_run *run, figure *out) {
  return FILL(step_figures);
}
static int fill_contact(const eb_report_run *run, figure *out) {
  return FILL(contact_figures);
}
static int fill_joints(const eb_report_run *run, figure *out) {
  return FILL(joint_figures);
}

static bool made_steps(const eb_report_run *run) {
  return run->steps > 0;
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

static bool holds_any(const eb_report_run *run) {
  if (run->run->repetition > 0) return false;
  return total_memory(run) > 0 || run->picture.supernodes > 0 || isfinite(mean_share(run));
}

/* Memory by kind, supernodes, and updates a step. */
static int fill_factors(const eb_report_run *run, figure *out) {
  static const double megabyte = 1048576;
  double all = total_memory(run), supernodes = run->picture.supernodes;
  double unknowns = eb_largest(run->reduced_unknowns, run->steps, 0);
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    out[i] = (figure){eb_memory_name((eb_memory_kind)i), "%.1f", run->memory[i] / megabyte};
  const figure rest[] = {
      {"together", "%.1f", all > 0 ? all / megabyte : NAN},
      {"supernodes", "%.0f", supernodes > 0 ? supernodes : NAN},
      {"elements updated a step, mean (%)", "%.2f", 100 * mean_share(run)},
      {"unknowns after condensation, most", "%.0f", unknowns > 0 ? unknowns : NAN}};
  memcpy(out + EB_MEMORY_KINDS, rest, sizeof rest);
  return EB_MEMORY_KINDS + sizeof rest / sizeof *rest;
}

eb_error eb_report_audits(const eb_report *report, const eb_report_scene *scene, eb_doc *doc) {
  static const table tables[] = {
      {"audits runs", "audits, worst of all steps", made_steps, fill_steps, 0, {0}},
      {"audits runs",
       "contact, worst of all steps",
       made_steps,
       fill_contact,
       5,
       {EB_COL_CONTACT_COUNT, EB_COL_INTERSECTIONS, EB_COL_SELF_INTERSECTIONS, EB_COL_NESTED,
        EB_COL_CONTACT_UNRECORDED}},
      {"audits runs",
       "joints",
       made_steps,
       fill_joints,
       2,
       {EB_COL_JOINT_RESIDUAL, EB_COL_JOINT_KINETIC}},
      {"runs",
       "held while stepping (MB), as the solver reports it",
       holds_any,
       fill_factors,
       0,
       {0}}};
  int count = scene->last - scene->first;
  EB_FREED const eb_report_run **runs = NULL;
  EB_TRY(EB_NEW(runs, count));
  for (int r = 0; r < count; r++) runs[r] = &report->runs[scene->first + r];
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    put_table(doc, &tables[t], runs, count);
  return EB_OK;
}
