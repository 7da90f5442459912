#include "harness/report/ranking.h"
#include "harness/results/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "harness/report/markup.h"
#include "harness/results/accuracy.h"
#include "problems/base/memory.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* What runs are ranked by. */
enum { STEP, TOTAL, WHOLE, COSTS };

typedef struct row {
  const eb_report_run *run;
  int at; /* in the plan */
  eb_class class;
  double cost[COSTS]; /* s */
  eb_rank rank[COSTS];
} row;

static eb_error rank(row *rows, int count) {
  const eb_run **runs;
  double *costs;
  EB_TRY(EB_NEW(runs, count));
  eb_error error = EB_NEW(costs, count);
  for (int c = 0; c < COSTS && !error; c++) {
    for (int r = 0; r < count; r++) {
      runs[r] = rows[r].run->run;
      costs[r] = rows[r].cost[c];
    }
    for (int r = 0; r < count; r++) rows[r].rank[c] = eb_run_rank(runs, costs, count, r);
  }
  free(runs);
  free(costs);
  return error;
}

/* Runs under one heading: of one class, over as many steps. */
static int compare_groups(const row *a, const row *b) {
  int classes = eb_class_compare(a->class, b->class);
  int64_t more = a->run->run->steps_wanted - b->run->run->steps_wanted;
  if (classes || a->class.band == EB_BAND_UNKNOWN) return classes;
  return (more > 0) - (more < 0);
}

static int compare_rows(const void *left, const void *right) {
  const row *a = left, *b = right;
  int groups = compare_groups(a, b);
  bool both = a->rank[STEP].place > 0 && b->rank[STEP].place > 0;
  int ranked = (b->rank[STEP].place > 0) - (a->rank[STEP].place > 0);
  int place = both ? a->rank[STEP].place - b->rank[STEP].place : 0;
  return groups ? groups : ranked ? ranked : place ? place : a->at - b->at;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static eb_error solver_cell(const eb_report_run *run, eb_text *page) {
  EB_TRY(eb_markup_between(page, "<td class=\"text\">", run->label, ""));
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
  if (why) EB_TRY(eb_text_printf(page, " <span class=\"note\">%s</span>", why));
  return eb_text_printf(page, "</th></tr>\n");
}

static eb_error rank_row(const row *r, eb_text *page) {
  static const struct {
    double scale;
    const char *format;
  } shown[COSTS] = {{1e3, "%.2f"}, {1, "%.3f"}, {1, "%.3f"}};
  EB_TRY(eb_text_printf(page, "<tr>"));
  EB_TRY(solver_cell(r->run, page));
  EB_TRY(status_cell(r->run, page));
  EB_TRY(eb_text_printf(page, "<td>%lld</td><td>%lld</td>", (long long)r->run->run->threads,
                        (long long)r->run->steps));
  EB_TRY(
      eb_markup_number(page, "%.1e", r->class.band == EB_BAND_UNKNOWN ? NAN : r->run->run->error));
  for (int c = 0; c < COSTS; c++) {
    EB_TRY(eb_markup_number(page, shown[c].format, shown[c].scale * r->cost[c]));
    EB_TRY(eb_markup_number(page, "%.2f", r->rank[c].over));
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
  EB_TRY(eb_markup_number(page, "%.1f", eb_report_typical(run, EB_COL_ITERATIONS)));
  EB_TRY(eb_markup_number(page, "%.0f", eb_median(run->linear_iterations, run->steps, EB_WARM_UP)));
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
      page, "<div class=\"scroll\"><table class=\"ranks\"><tr><th>solver</th><th class=\"text\">"
            "outcome</th><th>threads</th><th>steps</th><th>error</th><th>step, median (ms)</th>"
            "<th>over the fastest</th><th>set-up and steps (s)</th><th>over the least</th>"
            "<th>start to end (s)</th><th>over the least</th></tr>\n"));
  for (int r = 0; r < count; r++) {
    if (r == 0 || compare_groups(&rows[r - 1], &rows[r]) != 0) EB_TRY(heading(&rows[r], page));
    EB_TRY(rank_row(&rows[r], page));
  }
  EB_TRY(eb_text_printf(page, "</table></div>\n"));
  for (int r = 0; r < count; r++) {
    EB_TRY(note(rows[r].run, rows[r].run->run->detail, page));
    EB_TRY(note(rows[r].run, rows[r].run->run->audit_detail, page));
  }
  EB_TRY(eb_text_printf(
      page, "<div class=\"scroll\"><table><tr><th>cost beside the clock</th><th>set-up (s)</th>"
            "<th>start to first step (s)</th><th>process CPU over timed CPU</th><th>untimed CPU "
            "(s)</th><th>audits (s)</th><th>threads alive</th><th>memory growth (MB)</th><th>peak "
            "memory (MB)</th>"
            "<th>iterations, median</th><th>linear iterations, median</th></tr>\n"));
  for (int r = 0; r < count; r++) EB_TRY(cost_row(rows[r].run, page));
  return eb_text_printf(page, "</table></div>\n");
}

eb_error eb_ranking_html(const eb_report *report, int first, int last, eb_text *page) {
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
