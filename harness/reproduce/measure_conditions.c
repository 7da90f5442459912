/* Measures by bounds: single figures of runs, and how far one run's courses are from another's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/measure.h"

/* ---- bounds ----------------------------------------------------------------------------------- */

eb_error eb_bound_parse(const char *op, const char *number, eb_bound *out) {
  static const char *const ops[] = {"<=", ">=", "="};
  int i = 0;
  while (i < 3 && strcmp(ops[i], op) != 0) i++;
  if (i == 3) return EB_ERROR(EB_ERR_FORMAT, "'%s' is none of <=, >=, =", op);
  out->op = ops[i][0];
  return eb_parse_real("condition", number, -1e300, 1e300, &out->value);
}

bool eb_bound_holds(const eb_bound *bound, double value) {
  static const double rounding = 1e-9;
  return bound->op == '<'   ? value <= bound->value
         : bound->op == '>' ? value >= bound->value
                            : fabs(value - bound->value) <= rounding * fmax(1, fabs(bound->value));
}

const char *eb_bound_words(const eb_bound *bound) {
  return bound->op == '<' ? "at most" : bound->op == '>' ? "at least" : "exactly";
}

/* ---- conditions ------------------------------------------------------------------------------- */

static eb_error parse_statistic(const char *word, eb_condition *out) {
  size_t length = strcspn(word, "/");
  snprintf(out->over, sizeof out->over, "%.*s", (int)length, word);
  snprintf(out->under, sizeof out->under, "%s", word[length] ? word + length + 1 : "");
  EB_TRY(eb_statistic_check(out->over));
  return word[length] ? eb_statistic_check(out->under) : EB_OK;
}

static eb_error parse_words(const eb_paper *paper, const eb_strings *words, eb_condition *out) {
  out->case_ = eb_paper_case_find(paper, words->items[0], strlen(words->items[0]));
  if (out->case_ < 0) return EB_ERROR(EB_ERR_FORMAT, "there is no case '%s'", words->items[0]);
  EB_TRY(parse_statistic(words->items[1], out));
  return eb_bound_parse(words->items[2], words->items[3], &out->bound);
}

eb_error eb_condition_parse(const eb_paper *paper, const char *text, eb_condition *out) {
  eb_strings words = {0};
  eb_error error = eb_words(text, " ", &words);
  if (!error && words.count != 4)
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'CASE STATISTIC OP NUMBER'", text);
  if (!error) error = parse_words(paper, &words, out);
  eb_strings_clear(&words);
  return error;
}

typedef struct tally {
  int count, broken, unknown, shortened;
} tally;

static eb_error value_of(const eb_evidence *e, const eb_condition *c, double *out) {
  double under = 1;
  EB_TRY(eb_evidence_statistic(e, c->case_, c->over, 0, out));
  if (*c->under) EB_TRY(eb_evidence_statistic(e, c->case_, c->under, 0, &under));
  *out /= under;
  return EB_OK;
}

static eb_error judge_condition(const eb_evidence *e, const eb_condition *c, tally *t,
                                eb_finding *finding) {
  double value;
  EB_TRY(value_of(e, c, &value));
  if (t->count++ == 0) finding->ours = value;
  t->unknown += isnan(value);
  t->broken += !isnan(value) && !eb_bound_holds(&c->bound, value);
  t->shortened += eb_shortened(e, c->case_);
  return eb_say(finding, "%s: %s%s%s = %.3g (%s %.3g%s)", e->paper->cases[c->case_].name, c->over,
                *c->under ? "/" : "", c->under, value, eb_bound_words(&c->bound), c->bound.value,
                isnan(value) || eb_bound_holds(&c->bound, value) ? "" : ", not as claimed");
}

static eb_error rule_conditions(const tally *t, eb_finding *finding) {
  if (t->unknown) return eb_say(finding, "%d of %d figures are not known", t->unknown, t->count);
  if (t->shortened) return eb_say(finding, "%d of them are of runs cut short", t->shortened);
  return t->broken ? eb_rule(finding, EB_NOT_REPRODUCED, "%d of %d conditions do not hold",
                             t->broken, t->count)
                   : eb_rule(finding, EB_REPRODUCED, "all %d conditions hold", t->count);
}

/* Judges every condition. */
static eb_error judge_all(const eb_evidence *e, const eb_paper_claim *claim, eb_finding *finding) {
  tally t = {0};
  const char *text;
  for (int at = 0; (text = eb_section_next(claim->arguments, "holds", &at));) {
    eb_condition condition;
    bool usable;
    EB_TRY(eb_condition_parse(e->paper, text, &condition));
    EB_TRY(eb_usable(e, condition.case_, finding, &usable));
    if (!usable) return EB_OK;
    EB_TRY(judge_condition(e, &condition, &t, finding));
  }
  return rule_conditions(&t, finding);
}

#define HOLDS                                                                                      \
  { "holds", EB_ARGUMENT_CONDITION, true, "CASE STATISTIC[/STATISTIC] <=|>=|= NUMBER" }

const eb_measure eb_measure_conditions = {"conditions", "figures of runs, each within its bound",
                                          (const eb_argument[]){HOLDS, {0}}, judge_all};

/* ---- follows ---------------------------------------------------------------------------------- */

/* sqrt(sum |a - b|^2 / sum |b|^2) over the common steps of columns whose names begin so ("momentum"). */
typedef struct parting {
  double apart, size;
  size_t steps;
} parting;

static eb_error part_column(const eb_evidence *e, int of, int against, eb_column column,
                            parting *p) {
  double *a, *b = NULL;
  size_t steps[2];
  EB_TRY(eb_results_steps(e->results, e->cases[of].run, column, &a, &steps[0]));
  eb_error error = eb_results_steps(e->results, e->cases[against].run, column, &b, &steps[1]);
  p->steps = !error && steps[1] < steps[0] ? steps[1] : steps[0];
  for (size_t s = 0; s < p->steps && !error; s++) {
    p->apart += pow(a[s] - b[s], 2);
    p->size += pow(b[s], 2);
  }
  free(a);
  free(b);
  return error;
}

static eb_error part_columns(const eb_evidence *e, const char *prefix, int of, int against,
                             parting *p) {
  bool any = false;
  *p = (parting){0};
  for (int c = 0; c < EB_COL_COUNT; c++)
    if (strncmp(eb_columns[c].name, prefix, strlen(prefix)) == 0) {
      any = true;
      EB_TRY(part_column(e, of, against, (eb_column)c, p));
    }
  return any ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "no column of steps/ begins with '%s'", prefix);
}

/* Ours is the worst. */
static eb_error rule_parting(const char *prefix, double most, const parting *p, bool first,
                             eb_finding *finding) {
  double apart = sqrt(p->apart / p->size);
  if (first || !(apart <= finding->ours)) finding->ours = apart;
  EB_TRY(eb_say(finding, "%s: %.3g of its size apart over %zu steps (at most %.3g)", prefix, apart,
                p->steps, most));
  if (!(apart <= most)) finding->ruling = p->steps ? EB_NOT_REPRODUCED : EB_NOT_COMPARABLE;
  return EB_OK;
}

static eb_error judge_follows(const eb_evidence *e, const eb_paper_claim *claim,
                              eb_finding *finding) {
  eb_named of[EB_NAMED], against[EB_NAMED];
  int count, columns = 0;
  bool usable;
  const char *prefix;
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "of", ""), of, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "against", ""), against, &count));
  const eb_named both[2] = {of[0], against[0]};
  EB_TRY(eb_all_usable(e, both, 2, finding, &usable));
  if (!usable) return EB_OK;
  EB_TRY(judge_all(e, claim, finding));
  for (int at = 0; (prefix = eb_section_next(claim->arguments, "columns", &at));) {
    parting p;
    EB_TRY(part_columns(e, prefix, of[0].case_, against[0].case_, &p));
    EB_TRY(rule_parting(prefix, eb_claim_number(claim, "most", 0), &p, columns++ == 0, finding));
  }
  return EB_OK;
}

const eb_measure eb_measure_follows = {
    "follows", "conditions, and columns of one run that stay near those of another",
    (const eb_argument[]){
        HOLDS,
        {"of", EB_ARGUMENT_CASES, true, "the run that is judged"},
        {"against", EB_ARGUMENT_CASES, true, "the one that it has to follow"},
        {"columns", EB_ARGUMENT_TEXT, true, "how the names of the columns of steps/ begin"},
        {"most", EB_ARGUMENT_NUMBER, true, "RMS difference over the RMS of the other's"},
        {0}},
    judge_follows};
