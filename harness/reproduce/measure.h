/* Measures: how a claim is judged. Each is a function of the results and of its arguments in the paper's file; a verdict is never
 * written by hand. */
#ifndef EB_REPRODUCE_MEASURE_H
#define EB_REPRODUCE_MEASURE_H

#include <jansson.h>

#include "harness/reproduce/evidence.h"
#include "problems/base/text.h"

typedef enum eb_ruling {
  EB_REPRODUCED,
  EB_NOT_REPRODUCED,
  EB_NOT_COMPARABLE,
  EB_RULINGS
} eb_ruling;
/* "reproduced", "not reproduced", "not comparable" */
const char *eb_ruling_name(eb_ruling ruling);

typedef struct eb_finding {
  eb_ruling ruling;
  double paper, ours; /* the claim in one number each; NaN: it has none */
  eb_text reason;     /* in words, from the numbers */
} eb_finding;

typedef enum eb_argument_kind {
  EB_ARGUMENT_CASES,     /* names of cases and numbers between spaces, '/', '*' and '<' */
  EB_ARGUMENT_STAGES,    /* a case, then phases */
  EB_ARGUMENT_BOUND,     /* a statistic, then a number */
  EB_ARGUMENT_POINT,     /* a number, then one or two cases */
  EB_ARGUMENT_CONDITION, /* see eb_condition */
  EB_ARGUMENT_NUMBER,
  EB_ARGUMENT_STATISTIC, /* see evidence.h */
  EB_ARGUMENT_TABLE,
  EB_ARGUMENT_FIGURE,
  EB_ARGUMENT_PROBE,
  EB_ARGUMENT_TEXT
} eb_argument_kind;

typedef struct eb_argument {
  const char *name;
  eb_argument_kind kind;
  bool required;
  const char *doc;
} eb_argument;

struct eb_measure {
  const char *name, *doc;
  const eb_argument *arguments; /* ended by a NULL name; each may be repeated */
  /* Fills *finding, which starts as "not comparable" without a reason. */
  eb_error (*judge)(const eb_evidence *evidence, const eb_paper_claim *claim, eb_finding *finding);
};

/* All measures, ended by NULL. */
extern const eb_measure *const eb_measures[];
/* NULL when there is none of that name. */
const eb_measure *eb_measure_find(const char *name);
/* Checks the arguments of a claim against those its measure declares: EB_ERR_FORMAT. */
EB_MUST eb_error eb_measure_check(const eb_paper *paper, const eb_paper_claim *claim);
/* Marks the cases that a claim's arguments name, and those of the tables they name. */
EB_MUST eb_error eb_measure_cases(const eb_paper *paper, const eb_paper_claim *claim, bool *wanted);

/* The finding of a claim. The caller clears its reason. */
EB_MUST eb_error eb_claim_judge(const eb_evidence *evidence, const eb_paper_claim *claim,
                                eb_finding *finding);

/* ---- for measures ---- */

enum { EB_STAGE_TEXT = 200 };
/* The statistic of a stage: of a phase, or of several of which any may do the work ("update|factor"). */
void eb_stage_statistic(const char *stage, char out[EB_STAGE_TEXT]);

/* A number among the claim's arguments, or `fallback`. */
double eb_claim_number(const eb_paper_claim *claim, const char *name, double fallback);
const char *eb_claim_text(const eb_paper_claim *claim, const char *name, const char *fallback);

/* Cases and their factors in one argument: "0.6*a" is case a with factor 0.6. */
typedef struct eb_named {
  int case_;
  double factor;
} eb_named;
enum { EB_NAMED = 32 };
EB_MUST eb_error eb_claim_cases(const eb_evidence *evidence, const char *value,
                                eb_named out[EB_NAMED], int *count);

/* Sets the ruling and appends the reason, after what stands there already. */
EB_MUST eb_error eb_rule(eb_finding *finding, eb_ruling ruling, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends to the reason. */
EB_MUST eb_error eb_say(eb_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether a case can be judged. Says why not; a solver that failed rules: not reproduced. */
EB_MUST eb_error eb_usable(const eb_evidence *evidence, int case_, eb_finding *finding,
                           bool *usable);
/* The same for all of them. */
EB_MUST eb_error eb_all_usable(const eb_evidence *evidence, const eb_named *cases, int count,
                               eb_finding *finding, bool *usable);

/* The result of the probe that the claim names; NULL, and the reason says so, when there is none. A failure that the probe has noted rules,
 * an error is said. The caller releases *out. */
EB_MUST eb_error eb_claim_probe(const eb_evidence *evidence, const eb_paper_claim *claim,
                                eb_finding *finding, json_t **out);
/* A number in it, or NaN. */
double eb_found_real(const json_t *object, const char *name);

/* Whether fewer frames of a case are there than a full run has. Such a run shows nothing about its end. */
bool eb_shortened(const eb_evidence *evidence, int case_);

/* What a figure has to keep: OP NUMBER, OP one of <=, >=, =. "= 3" holds to rounding. */
typedef struct eb_bound {
  char op; /* '<', '>', '=' */
  double value;
} eb_bound;
/* EB_ERR_FORMAT when one of the texts is not what it should be. */
EB_MUST eb_error eb_bound_parse(const char *op, const char *number, eb_bound *out);
bool eb_bound_holds(const eb_bound *bound, double value);
/* "at most", "at least", "exactly" */
const char *eb_bound_words(const eb_bound *bound);

/* "CASE STATISTIC OP NUMBER", OP one of <=, >=, =; the statistic may be a quotient, A/B. "= 3" holds to rounding. */
typedef struct eb_condition {
  int case_;
  char over[200], under[200]; /* statistics; under "" without a quotient */
  eb_bound bound;
} eb_condition;
/* EB_ERR_FORMAT says what is wrong with the text. */
EB_MUST eb_error eb_condition_parse(const eb_paper *paper, const char *text, eb_condition *out);

/* "X CASE" or "X CASE AGAINST"; against is -1 without the latter. */
typedef struct eb_measured_point {
  double x;
  int case_, against;
} eb_measured_point;
EB_MUST eb_error eb_point_parse(const eb_paper *paper, const char *text, eb_measured_point *out);

/* Tables of measures, by file. */
extern const eb_measure eb_measure_cells, eb_measure_growth, eb_measure_monotone, eb_measure_ratio,
    eb_measure_ranking, eb_measure_phases, eb_measure_threads, eb_measure_trajectory,
    eb_measure_shape, eb_measure_outcomes, eb_measure_completed, eb_measure_updown,
    eb_measure_agreement, eb_measure_conditions, eb_measure_follows, eb_measure_final,
    eb_measure_turn, eb_measure_line, eb_measure_lively, eb_measure_course, eb_measure_limit,
    eb_measure_counts, eb_measure_threshold, eb_measure_probed, eb_measure_spread;

#endif
