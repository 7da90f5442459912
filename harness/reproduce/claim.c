#include "harness/reproduce/claim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

const char *eb_claim_verdict_name(eb_claim_verdict verdict) {
  static const char *const names[] = {"reproduced", "not reproduced", "not comparable"};
  return names[verdict];
}

const char *eb_truth_name(eb_truth truth) {
  static const char *const names[] = {"does not hold", "holds", "open"};
  return names[truth];
}

static eb_error put_value(eb_text *out, double value) {
  if (isnan(value)) return eb_text_printf(out, "-");
  bool whole = fabs(value) < 1e15 && value == rint(value);
  return eb_text_printf(out, whole ? "%.0f" : "%.4g", value);
}

/* ---- conditions ------------------------------------------------------------------------------ */

typedef struct judging {
  eb_evaluation *e;
  eb_claim_result *out;
  double first; /* left side of the first comparison */
} judging;

/* Takes the texts. */
static eb_error add_condition(eb_claim_result *to, eb_truth truth, eb_knowledge knowledge,
                              eb_text texts[4]) {
  EB_TRY(EB_APPEND(to->conditions, to->count));
  to->conditions[to->count - 1] = (eb_condition){.text = texts[0].data,
                                                 .values = texts[1].data,
                                                 .value = texts[2].data,
                                                 .bound = texts[3].data,
                                                 .truth = truth,
                                                 .knowledge = knowledge};
  for (int t = 0; t < 4; t++) texts[t] = (eb_text){0};
  to->holding += truth == EB_TRUE;
  return EB_OK;
}

/* A figure by its value. */
static eb_error put_figure(void *context, const eb_expression *of, const eb_scope *scope,
                           eb_text *out, bool *done) {
  eb_evaluation *e = context;
  eb_value value = {0};
  eb_error error = EB_OK;
  bool figure =
      of->op == EB_OP_NAME || (of->op == EB_OP_CALL && !eb_is_quantifier(of) && !eb_is_pairs(of));
  if (!figure) return EB_OK;
  EB_TRY(eb_evaluate(e, of, scope, &value));
  *done = value.kind != EB_VALUE_SERIES;
  if (value.kind == EB_VALUE_NUMBER)
    error = put_value(out, value.knowledge ? NAN : value.number);
  else if (value.kind == EB_VALUE_TRUTH)
    error = eb_text_printf(out, "%s", eb_truth_name(value.truth));
  else if (*done)
    error = eb_text_printf(out, "\"%s\"", value.knowledge ? "-" : value.text);
  eb_value_clear(&value);
  return error;
}

/* What the sides are made of, where they are calculated; of times the interval says more, and what
 * is clipped has other values alone. */
static eb_error put_parts(judging *j, const eb_expression *side, const eb_scope *scope,
                          const eb_compared *found, eb_text *out) {
  bool plain = side->op == EB_OP_NUMBER || side->op == EB_OP_NAME || side->op == EB_OP_CALL ||
               side->op == EB_OP_TEXT;
  if (plain || found->repetitions || found->clipped) return EB_OK;
  EB_TRY(eb_expression_print(side, scope, put_figure, j->e, out));
  return eb_text_printf(out, " = ");
}

static eb_error put_sides(judging *j, const eb_comparing *what, const eb_compared *found,
                          eb_text texts[4]) {
  const char *sign = eb_comparison_sign(what->comparison);
  EB_TRY(eb_expression_print(what->a, what->a_scope, NULL, NULL, &texts[0]));
  EB_TRY(eb_text_printf(&texts[0], " %s ", sign));
  if (what->factor != 1) EB_TRY(eb_text_printf(&texts[0], "%.6g * ", what->factor));
  EB_TRY(eb_expression_print(what->b, what->b_scope, NULL, NULL, &texts[0]));
  if (found->texts) {
    EB_TRY(eb_expression_print(what->a, what->a_scope, put_figure, j->e, &texts[2]));
    EB_TRY(eb_text_printf(&texts[3], "%s ", sign));
    EB_TRY(eb_expression_print(what->b, what->b_scope, put_figure, j->e, &texts[3]));
    return eb_text_printf(&texts[1], "%s %s", texts[2].data, texts[3].data);
  }
  EB_TRY(put_value(&texts[2], found->a));
  if (!isnan(found->low))
    EB_TRY(eb_text_printf(&texts[2], " [%.4g, %.4g]", found->low, found->high));
  EB_TRY(eb_text_printf(&texts[3], "%s ", sign));
  EB_TRY(put_value(&texts[3], found->b));
  EB_TRY(put_parts(j, what->a, what->a_scope, found, &texts[1]));
  EB_TRY(eb_text_printf(&texts[1], "%s %s ", texts[2].data, sign));
  EB_TRY(put_parts(j, what->b, what->b_scope, found, &texts[1]));
  EB_TRY(put_value(&texts[1], found->b));
  return isnan(found->low) ? EB_OK
                           : eb_text_printf(&texts[1], " (95 %% of %d repetition%s)",
                                            found->repetitions, found->repetitions == 1 ? "" : "s");
}

static eb_error judge_comparison(void *context, const eb_comparing *what) {
  judging *j = context;
  eb_compared found;
  eb_text texts[4] = {0};
  EB_TRY(eb_evaluate_comparison(j->e, what, &found));
  if (j->out->count == 0) j->first = found.a;
  eb_error error = put_sides(j, what, &found, texts);
  if (!error) error = add_condition(j->out, found.truth, found.knowledge, texts);
  for (int t = 0; t < 4; t++) eb_text_clear(&texts[t]);
  return error;
}

static eb_error judge_other(judging *j, const eb_expression *of, const eb_scope *scope) {
  eb_value value;
  eb_text texts[4] = {0};
  EB_TRY(eb_evaluate(j->e, of, scope, &value));
  eb_error error = eb_expression_print(of, scope, NULL, NULL, &texts[0]);
  if (!error) error = eb_expression_print(of, scope, put_figure, j->e, &texts[1]);
  if (!error) error = eb_text_append(&texts[2], "", 0);
  if (!error) error = eb_text_append(&texts[3], "", 0);
  if (!error) error = add_condition(j->out, value.truth, value.knowledge, texts);
  for (int t = 0; t < 4; t++) eb_text_clear(&texts[t]);
  eb_value_clear(&value);
  return error;
}

/* What an expression that has to hold consists of, as far as all of it has to. */
typedef struct part {
  judging *j;
  const eb_expression *of;
} part;

static eb_error judge_part(void *context, const eb_scope *scope) {
  part *p = context;
  const eb_expression *of = p->of;
  if (of->op == EB_OP_AND || (eb_is_quantifier(of) && strcmp(of->text, "all") == 0)) {
    for (int i = 0; i < of->count; i++) {
      part inner = {p->j, of->items[i]};
      EB_TRY(i < of->looped ? eb_loops_visit(of, scope, judge_part, &inner)
                            : judge_part(&inner, scope));
    }
    return EB_OK;
  }
  if (eb_is_pairs(of)) return eb_pairs_visit(of, scope, judge_comparison, p->j);
  return judge_other(p->j, of, scope);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Sorts the conditions into what does not hold, what is open, what holds, each as it stood, and
 * rules by them. */
static eb_error rule(eb_claim_result *f) {
  static const eb_truth order[] = {EB_FALSE, EB_UNDECIDED, EB_TRUE};
  eb_condition *sorted;
  int count = 0;
  bool failed = false;
  EB_TRY(EB_NEW(sorted, f->count));
  for (int k = 0; k < 3; k++)
    for (int c = 0; c < f->count; c++)
      if (f->conditions[c].truth == order[k]) sorted[count++] = f->conditions[c];
  free(f->conditions);
  f->conditions = sorted;
  for (int c = 0; c < count; c++) failed = failed || sorted[c].knowledge == EB_FAILED;
  bool refuted = failed || (count && sorted[0].truth == EB_FALSE);
  f->verdict = refuted                                    ? EB_NOT_REPRODUCED
               : count && sorted[0].truth == EB_UNDECIDED ? EB_NOT_COMPARABLE
                                                          : EB_REPRODUCED;
  return EB_OK;
}

/* The conditions that decide, and all when all hold; a few of them, since the page shows every
 * one. */
static eb_error put_reason(eb_claim_result *f) {
  enum { MOST = 8 };
  const char *causes = f->causes.data;
  size_t length;
  int telling = f->verdict == EB_REPRODUCED ? f->count : f->count - f->holding;
  EB_TRY(eb_text_printf(&f->reason, "%d of %d conditions %s%s", f->holding, f->count,
                        f->holding == 1 ? "holds" : "hold", f->range.data));
  for (const char *cause; (cause = eb_line_next(&causes, &length));)
    EB_TRY(eb_text_printf(&f->reason, "; %.*s", (int)length, cause));
  for (int c = 0; c < telling && c < MOST; c++)
    EB_TRY(eb_text_printf(&f->reason, "; %s: %s%s", f->conditions[c].text, f->conditions[c].values,
                          f->conditions[c].truth == EB_FALSE       ? ", not as claimed"
                          : f->conditions[c].truth == EB_UNDECIDED ? ", open"
                                                                   : ""));
  return telling > MOST ? eb_text_printf(&f->reason, "; and %d more", telling - MOST) : EB_OK;
}

/* The verdict of one expression that has to hold, without a trace of it. */
static eb_error judge_variant(const judging *j, const eb_expression *holds, eb_claim_verdict *out) {
  eb_claim_result result = {0};
  eb_evaluation quiet = *j->e;
  judging inner = {.e = &quiet, .out = &result};
  part whole = {&inner, holds};
  quiet.why = NULL;
  eb_error error = judge_part(&whole, NULL);
  if (!error) error = rule(&result);
  *out = result.verdict;
  eb_claim_result_clear(&result);
  return error;
}

/* Where in the range the claim comes out as it did, otherwise, or open. */
static eb_error judge_range(const judging *j, const eb_paper_claim *claim) {
  static const char *const words[] = {"the same at", "otherwise at", "open at"};
  eb_claim_result *f = j->out;
  EB_TRY(eb_text_printf(&f->ruling, "%s", eb_claim_verdict_name(f->verdict)));
  for (int k = 0; k < 3; k++)
    for (int v = 0, first = 1; v < claim->range_count; v++) {
      const char *label = claim->range[v].label;
      eb_claim_verdict verdict;
      EB_TRY(judge_variant(j, claim->range[v].of, &verdict));
      int found = verdict == EB_NOT_COMPARABLE ? 2 : verdict != f->verdict;
      if (found != k) continue;
      EB_TRY(first ? eb_text_printf(&f->range, "; %s %s", words[k], label)
                   : eb_text_printf(&f->range, ", %s", label));
      if (k == 1 && f->verdict != EB_NOT_COMPARABLE)
        EB_TRY(first ? eb_text_printf(&f->ruling, ", otherwise at %s", label)
                     : eb_text_printf(&f->ruling, ", %s", label));
      first = 0;
    }
  return EB_OK;
}

static eb_error judge(judging *j, const eb_paper_claim *claim) {
  eb_claim_result *f = j->out;
  eb_text *causes = &f->causes;
  for (int h = 0; h < claim->hold_count; h++) {
    part whole = {j, claim->holds[h].of};
    EB_TRY(judge_part(&whole, NULL));
  }
  EB_TRY(rule(f));
  if (claim->given && f->verdict == EB_NOT_REPRODUCED) {
    eb_value given;
    EB_TRY(eb_evaluate(j->e, claim->given, NULL, &given));
    bool holds = given.truth == EB_TRUE;
    eb_value_clear(&given);
    if (!holds) {
      f->verdict = EB_NOT_COMPARABLE;
      EB_TRY(eb_text_printf(causes, "this is not given here: "));
      EB_TRY(eb_expression_print(claim->given, NULL, NULL, NULL, causes));
      EB_TRY(eb_text_printf(causes, ": "));
      EB_TRY(eb_expression_print(claim->given, NULL, put_figure, j->e, causes));
      EB_TRY(eb_text_printf(causes, "\n"));
    }
  }
  f->ours = j->first;
  if (claim->ours) {
    /* As the left side of a comparison: over the same steps, and the mean over repetitions. */
    const eb_expression one = {.op = EB_OP_NUMBER, .number = 1};
    const eb_comparing what = {claim->ours, &one, NULL, NULL, EB_GREATER, 1};
    eb_evaluation quiet = *j->e;
    eb_compared found;
    quiet.why = NULL;
    EB_TRY(eb_evaluate_comparison(&quiet, &what, &found));
    f->ours = found.a;
  }
  if (claim->paper) EB_TRY(eb_evaluate_number(j->e, claim->paper, NULL, &f->paper));
  EB_TRY(judge_range(j, claim));
  return put_reason(f);
}

eb_error eb_claim_judge(eb_evaluation *e, const eb_paper_claim *claim, eb_claim_result *out) {
  *out = (eb_claim_result){.verdict = EB_NOT_COMPARABLE, .paper = NAN, .ours = NAN};
  judging j = {.e = e, .out = out, .first = NAN};
  EB_TRY(eb_text_append(&out->causes, "", 0));
  EB_TRY(eb_text_append(&out->range, "", 0));
  e->why = &out->causes;
  eb_error error = judge(&j, claim);
  e->why = NULL;
  return eb_error_prefix(error, "claim '%s'", claim->id);
}

void eb_claim_result_clear(eb_claim_result *f) {
  for (int c = 0; c < f->count; c++) {
    free(f->conditions[c].text);
    free(f->conditions[c].values);
    free(f->conditions[c].value);
    free(f->conditions[c].bound);
  }
  free(f->conditions);
  eb_text_clear(&f->range);
  eb_text_clear(&f->ruling);
  eb_text_clear(&f->causes);
  eb_text_clear(&f->reason);
  *f = (eb_claim_result){0};
}
