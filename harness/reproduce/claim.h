/* Claims judged: each condition on its own, and the verdict of all. A verdict is never written by
 * hand. */
#ifndef EB_REPRODUCE_CLAIM_H
#define EB_REPRODUCE_CLAIM_H

#include "harness/reproduce/evaluate.h"

typedef enum eb_claim_verdict {
  EB_REPRODUCED,
  EB_NOT_REPRODUCED,
  EB_NOT_COMPARABLE,
  EB_CLAIM_VERDICTS
} eb_claim_verdict;
/* "reproduced", "not reproduced", "not comparable" */
const char *eb_claim_verdict_name(eb_claim_verdict verdict);

/* One comparison of a claim, or what else has to hold. */
typedef struct eb_condition {
  char *text;   /* the expression, with the words of its loops */
  char *values; /* the same with values put in: "180 / 97 = 1.856 >= 2" */
  /* Its left side's value, and the rest: "1.856", ">= 2"; "" for what is no comparison. */
  char *value, *bound;
  eb_truth truth;
  eb_knowledge knowledge;
} eb_condition;

typedef struct eb_claim_result {
  eb_claim_verdict verdict;
  double paper, ours;       /* the claim in one number each; NaN: it has none */
  eb_condition *conditions; /* what does not hold, what is open, what holds */
  int count, holding;
  /* "; the same at A, B; otherwise at C; open at D": by the claim's range; "" without one */
  eb_text range;
  eb_text ruling; /* "reproduced", "reproduced, otherwise at C": the verdict depends on C then */
  eb_text causes; /* a line each: what is missing, contradicted, failed or too noisy */
  eb_text reason; /* in words */
} eb_claim_result;

/* The result of a claim: reproduced when every condition holds, not reproduced when one does not
 * or a solver failed where its success is asked for - unless `given` does not hold -, else not
 * comparable. The caller clears it, also after a failure. */
EB_MUST eb_error eb_claim_judge(eb_evaluation *e, const eb_paper_claim *claim,
                                eb_claim_result *out);
void eb_claim_result_clear(eb_claim_result *result);

/* "holds", "does not hold", "open" */
const char *eb_truth_name(eb_truth truth);

#endif
