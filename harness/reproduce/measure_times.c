/* Measures on times and other figures of cases: tables, ratios, orders. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/measure.h"

/* The figure of a case over the frames that it has in common with another. */
static eb_error figure_of(const eb_evidence *e, const eb_paper_claim *claim, int case_, int other,
                          double *out) {
  const int both[2] = {case_, other};
  return eb_evidence_statistic(e, case_, eb_claim_text(claim, "statistic", "frame.mean"),
                               eb_evidence_common(e, both, 2), out);
}

static eb_error ratio_of(const eb_evidence *e, const eb_paper_claim *claim, int over, int under,
                         double *out) {
  double a, b;
  EB_TRY(figure_of(e, claim, over, under, &a));
  EB_TRY(figure_of(e, claim, under, over, &b));
  *out = a / b;
  return EB_OK;
}

static const char *name_of(const eb_evidence *e, int case_) {
  return e->paper->cases[case_].name;
}

/* ---- cells ------------------------------------------------------------------------------------ */

/* The cells of a table: how many both have, and how far ours are from the paper's. */
typedef struct tally {
  int wanted, measured, outside;
  double logs, least, most; /* of ours over the paper's */
} tally;

static eb_error count_cell(const eb_evidence *e, const eb_paper_claim *claim,
                           const eb_paper_table *table, int row, const eb_paper_column *column,
                           tally *t, eb_finding *finding) {
  eb_paper_source source;
  double ours = NAN;
  bool usable = true;
  EB_TRY(eb_paper_cell(e->paper, table, row, column, &source));
  if (!source.statistic) return EB_OK;
  t->wanted++;
  eb_error error = source.case_ < 0 ? EB_OK : eb_usable(e, source.case_, finding, &usable);
  if (!error) error = eb_evidence_cell(e, &source, &ours);
  free(source.statistic);
  EB_TRY(error);
  double ratio = ours * table->scale / eb_paper_value(table, row, column);
  if (!usable || !isfinite(ratio) || !(ratio > 0)) return EB_OK;
  t->measured++;
  t->logs += log(ratio);
  t->least = fmin(t->least, ratio);
  t->most = fmax(t->most, ratio);
  t->outside += ratio < eb_claim_number(claim, "least", 0) ||
                ratio > eb_claim_number(claim, "most", INFINITY);
  return EB_OK;
}

static eb_error judge_cells(const eb_evidence *e, const eb_paper_claim *claim,
                            eb_finding *finding) {
  tally t = {.least = INFINITY, .most = -INFINITY};
  const eb_paper_table *table =
      &e->paper->tables[eb_paper_table_find(e->paper, eb_claim_text(claim, "table", ""))];
  for (int r = 0; r < table->keys.count; r++)
    for (int c = 0; c < table->column_count; c++)
      EB_TRY(count_cell(e, claim, table, r, &table->columns[c], &t, finding));
  if (t.measured == 0)
    return eb_rule(finding, EB_NOT_COMPARABLE, "none of the %d cells was measured", t.wanted);
  finding->ours = exp(t.logs / t.measured);
  EB_TRY(eb_say(
      finding,
      "%d of %d cells measured; ours over the paper's: %.3g in the geometric mean, %.3g to %.3g",
      t.measured, t.wanted, finding->ours, t.least, t.most));
  if (t.measured < t.wanted) return EB_OK;
  if (!t.outside) return eb_rule(finding, EB_REPRODUCED, "every cell is within its bounds");
  return eb_rule(finding, EB_NOT_REPRODUCED, "%d cells are outside %.3g to %.3g", t.outside,
                 eb_claim_number(claim, "least", 0), eb_claim_number(claim, "most", INFINITY));
}

const eb_measure eb_measure_cells = {
    "cells", "every cell of the table measured, ours over the paper's within bounds",
    (const eb_argument[]){{"table", EB_ARGUMENT_TABLE, true, "the table"},
                          {"least", EB_ARGUMENT_NUMBER, false, "ours over the paper's"},
                          {"most", EB_ARGUMENT_NUMBER, false, "ours over the paper's"},
                          {0}},
    judge_cells};

/* ---- ratio ------------------------------------------------------------------------------------ */

/* Rules by the bounds `least` and `most`, which the noise widens. */
static eb_error rule_ratio(const eb_paper_claim *claim, double ratio, eb_finding *finding) {
  double noise = eb_claim_number(claim, "noise", 0);
  double least = eb_claim_number(claim, "least", -INFINITY),
         most = eb_claim_number(claim, "most", INFINITY);
  if (!isfinite(ratio)) return eb_rule(finding, EB_NOT_COMPARABLE, "the ratio is not a number");
  if (ratio < least * (1 - noise)) return eb_rule(finding, EB_NOT_REPRODUCED, "below %.3g", least);
  if (ratio > most * (1 + noise)) return eb_rule(finding, EB_NOT_REPRODUCED, "above %.3g", most);
  if (isfinite(least)) EB_TRY(eb_say(finding, "at least %.3g is claimed", least));
  if (isfinite(most)) EB_TRY(eb_say(finding, "at most %.3g is claimed", most));
  finding->ruling = EB_REPRODUCED;
  return EB_OK;
}

static eb_error judge_ratio(const eb_evidence *e, const eb_paper_claim *claim,
                            eb_finding *finding) {
  eb_named over[EB_NAMED], under[EB_NAMED];
  int count;
  bool usable;
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "over", ""), over, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "under", ""), under, &count));
  const eb_named both[2] = {over[0], under[0]};
  EB_TRY(eb_all_usable(e, both, 2, finding, &usable));
  if (!usable) return EB_OK;
  EB_TRY(ratio_of(e, claim, over[0].case_, under[0].case_, &finding->ours));
  EB_TRY(eb_say(finding, "%s / %s = %.3g", name_of(e, over[0].case_), name_of(e, under[0].case_),
                finding->ours));
  return rule_ratio(claim, finding->ours, finding);
}

#define STATISTIC                                                                                  \
  { "statistic", EB_ARGUMENT_STATISTIC, false, "what is compared (frame.mean)" }
#define NOISE                                                                                      \
  { "noise", EB_ARGUMENT_NUMBER, false, "relative difference that decides nothing (0)" }

const eb_measure eb_measure_ratio = {
    "ratio", "a figure of one case over that of another, within bounds",
    (const eb_argument[]){{"over", EB_ARGUMENT_CASES, true, "the case above the line"},
                          {"under", EB_ARGUMENT_CASES, true, "the case below the line"},
                          {"least", EB_ARGUMENT_NUMBER, false, "bound of the ratio"},
                          {"most", EB_ARGUMENT_NUMBER, false, "bound of the ratio"},
                          STATISTIC,
                          NOISE,
                          {0}},
    judge_ratio};

/* ---- growth ----------------------------------------------------------------------------------- */

enum { MOST_ROWS = 16, MOST_COLUMNS = EB_NAMED / 2 };

/* Ratios in a grid: a row an argument "a/b c/d". */
typedef struct grid {
  int rows, columns;
  double ratio[MOST_ROWS][MOST_COLUMNS];
} grid;

static eb_error add_row(const eb_evidence *e, const eb_paper_claim *claim, const char *value,
                        grid *g, eb_finding *finding, bool *usable) {
  eb_named cases[EB_NAMED];
  int count;
  EB_TRY(eb_claim_cases(e, value, cases, &count));
  if (g->rows == MOST_ROWS || count % 2 || (g->rows && count / 2 != g->columns))
    return EB_ERROR(EB_ERR_FORMAT, "rows are 'a/b c/d ..', all of one length, %d at most",
                    MOST_ROWS);
  EB_TRY(eb_all_usable(e, cases, count, finding, usable));
  g->columns = count / 2;
  for (int i = 0; i < count && *usable; i += 2)
    EB_TRY(ratio_of(e, claim, cases[i].case_, cases[i + 1].case_, &g->ratio[g->rows][i / 2]));
  g->rows++;
  return EB_OK;
}

/* How many neighbours fall short of growing, along rows and columns. */
static int shrinking(const grid *g, double noise) {
  int count = 0;
  for (int r = 0; r < g->rows; r++)
    for (int c = 0; c < g->columns; c++) {
      count += c > 0 && !(g->ratio[r][c] >= (1 - noise) * g->ratio[r][c - 1]);
      count += r > 0 && !(g->ratio[r][c] >= (1 - noise) * g->ratio[r - 1][c]);
    }
  return count;
}

static eb_error say_grid(const grid *g, eb_finding *finding) {
  char text[1000] = "";
  for (int r = 0, used = 0; r < g->rows; r++)
    for (int c = 0; c < g->columns && used < (int)sizeof text - 20; c++)
      used += snprintf(text + used, sizeof text - (size_t)used, "%s%.3g",
                       c   ? " "
                       : r ? " | "
                           : "",
                       g->ratio[r][c]);
  return eb_say(finding, "ratios by row: %s", text);
}

static eb_error judge_growth(const eb_evidence *e, const eb_paper_claim *claim,
                             eb_finding *finding) {
  grid g = {0};
  bool usable = true;
  const char *row;
  for (int at = 0; usable && (row = eb_section_next(claim->arguments, "row", &at));)
    EB_TRY(add_row(e, claim, row, &g, finding, &usable));
  if (!usable) return EB_OK;
  EB_TRY(say_grid(&g, finding));
  finding->ours = g.ratio[g.rows - 1][g.columns - 1];
  int falls = shrinking(&g, eb_claim_number(claim, "noise", 0));
  double least = eb_claim_number(claim, "least", -INFINITY);
  if (falls)
    EB_TRY(
        eb_rule(finding, EB_NOT_REPRODUCED, "%d steps along rows and columns do not grow", falls));
  if (!(finding->ours >= least))
    EB_TRY(eb_rule(finding, EB_NOT_REPRODUCED, "the last ratio, %.3g, is below %.3g", finding->ours,
                   least));
  if (falls || !(finding->ours >= least)) return EB_OK;
  return eb_rule(finding, EB_REPRODUCED, "it grows along every row and column%s",
                 isfinite(least) ? " and ends above its bound" : "");
}

const eb_measure eb_measure_growth = {
    "growth", "a grid of ratios that grows along rows and columns and ends above a bound",
    (const eb_argument[]){{"row", EB_ARGUMENT_CASES, true, "a/b c/d .."},
                          {"least", EB_ARGUMENT_NUMBER, false, "of the last ratio"},
                          STATISTIC,
                          NOISE,
                          {0}},
    judge_growth};

/* ---- monotone --------------------------------------------------------------------------------- */

static eb_error judge_sequence(const eb_evidence *e, const eb_paper_claim *claim, const char *value,
                               bool falling, eb_finding *finding, int *broken, bool *usable) {
  eb_named cases[EB_NAMED];
  int count;
  double noise = eb_claim_number(claim, "noise", 0);
  EB_TRY(eb_claim_cases(e, value, cases, &count));
  EB_TRY(eb_all_usable(e, cases, count, finding, usable));
  for (int i = 1; i < count && *usable; i++) {
    double step;
    EB_TRY(ratio_of(e, claim, cases[i].case_, cases[i - 1].case_, &step));
    bool holds = falling ? step <= 1 + noise : step >= 1 - noise;
    *broken += !holds;
    if (!holds)
      EB_TRY(eb_say(finding, "%s takes %.3g times %s", name_of(e, cases[i].case_), step,
                    name_of(e, cases[i - 1].case_)));
  }
  return EB_OK;
}

static eb_error judge_monotone(const eb_evidence *e, const eb_paper_claim *claim,
                               eb_finding *finding) {
  static const char *const keys[] = {"falling", "rising"};
  int broken = 0, sequences = 0;
  bool usable = true;
  const char *cases;
  for (int k = 0; k < 2; k++)
    for (int at = 0; usable && (cases = eb_section_next(claim->arguments, keys[k], &at));) {
      sequences++;
      EB_TRY(judge_sequence(e, claim, cases, k == 0, finding, &broken, &usable));
    }
  if (!usable) return EB_OK;
  if (!sequences) return eb_rule(finding, EB_NOT_COMPARABLE, "there are no sequences");
  if (broken)
    return eb_rule(finding, EB_NOT_REPRODUCED, "%d steps go the other way by more than %g %%",
                   broken, 100 * eb_claim_number(claim, "noise", 0));
  return eb_rule(finding, EB_REPRODUCED, "all %d sequences hold", sequences);
}

const eb_measure eb_measure_monotone = {
    "monotone", "figures that do not rise, or do not fall, along sequences of cases",
    (const eb_argument[]){{"falling", EB_ARGUMENT_CASES, false, "a b c"},
                          {"rising", EB_ARGUMENT_CASES, false, "a b c"},
                          STATISTIC,
                          NOISE,
                          {0}},
    judge_monotone};

/* ---- ranking ---------------------------------------------------------------------------------- */

/* Ours is the first ratio. */
static eb_error judge_order(const eb_evidence *e, const eb_paper_claim *claim, const char *value,
                            eb_finding *finding, int *broken, bool *usable) {
  eb_named cases[EB_NAMED];
  int count;
  double noise = eb_claim_number(claim, "noise", 0);
  EB_TRY(eb_claim_cases(e, value, cases, &count));
  EB_TRY(eb_all_usable(e, cases, count, finding, usable));
  for (int i = 1; i < count && *usable; i++) {
    double ratio;
    EB_TRY(ratio_of(e, claim, cases[i - 1].case_, cases[i].case_, &ratio));
    bool holds = ratio * cases[i - 1].factor < cases[i].factor * (1 + noise);
    *broken += !holds;
    if (isnan(finding->ours)) finding->ours = ratio;
    EB_TRY(eb_say(finding, "%s / %s = %.3g%s", name_of(e, cases[i - 1].case_),
                  name_of(e, cases[i].case_), ratio, holds ? "" : " (not as claimed)"));
  }
  return EB_OK;
}

static eb_error judge_ranking(const eb_evidence *e, const eb_paper_claim *claim,
                              eb_finding *finding) {
  int broken = 0;
  bool all = true;
  const char *order;
  for (int at = 0; (order = eb_section_next(claim->arguments, "order", &at));) {
    bool usable = true;
    EB_TRY(judge_order(e, claim, order, finding, &broken, &usable));
    all = all && usable;
  }
  if (broken)
    return eb_rule(finding, EB_NOT_REPRODUCED, "%d of these neighbours stand in another order",
                   broken);
  if (!all) return EB_OK;
  return eb_rule(finding, EB_REPRODUCED, "every order holds");
}

const eb_measure eb_measure_ranking = {
    "ranking", "orders of cases by a figure; a factor is 0.6*case",
    (const eb_argument[]){
        {"order", EB_ARGUMENT_CASES, true, "a < b < 0.6*c"}, STATISTIC, NOISE, {0}},
    judge_ranking};
