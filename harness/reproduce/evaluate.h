/* Expressions evaluated over the evidence of a paper. */
#ifndef EB_REPRODUCE_EVALUATE_H
#define EB_REPRODUCE_EVALUATE_H

#include "harness/reproduce/evaluation.h"

/* Adds the numbers of the paper's tables, each for the expression of ours beside it, in SI units.
 * Rows are turned round when `reversed`: the last row's numbers stand for the first row's. */
EB_MUST eb_error eb_known_tables(const eb_paper *paper, bool reversed, eb_known *known);

/* The value of an expression. EB_ERR_FORMAT or EB_ERR_USAGE, which names the nearest, for what
 * cannot be evaluated on any evidence. The caller clears *out. */
EB_MUST eb_error eb_evaluate(eb_evaluation *e, const eb_expression *expression,
                             const eb_scope *scope, eb_value *out);
/* The value when it is a number; NaN when it is not known. EB_ERR_FORMAT for other kinds. */
EB_MUST eb_error eb_evaluate_number(eb_evaluation *e, const eb_expression *expression,
                                    const eb_scope *scope, double *out);
/* Whether every name and kind is right. */
EB_MUST eb_error eb_expression_check(const eb_paper *paper, const eb_expression *expression,
                                     const eb_scope *scope, eb_value_kind wanted);

/* a COMPARISON factor * b, each in a scope of its own, with competitors' series ended where the
 * first of them ends. Of times the mean over the repetitions counts, of the logarithm of a over b
 * where both are positive, and its 95 % interval decides. */
typedef struct eb_comparing {
  const eb_expression *a, *b;
  const eb_scope *a_scope, *b_scope;
  eb_comparison comparison;
  double factor;
} eb_comparing;
typedef struct eb_compared {
  eb_truth truth;
  eb_knowledge knowledge;
  bool texts;
  bool clipped;     /* series were ended where the first competitor ends */
  double a, b;      /* NaN: not known */
  double low, high; /* interval of a, where it has one; else NaN */
  int repetitions;  /* that the interval rests on; 0: no times are compared */
} eb_compared;
EB_MUST eb_error eb_evaluate_comparison(eb_evaluation *e, const eb_comparing *what,
                                        eb_compared *out);

/* Calls `visit` for each neighbouring pair of rising(...) or falling(...): later COMPARISON factor
 * * earlier. */
typedef eb_error (*eb_pair_visit)(void *context, const eb_comparing *pair);
EB_MUST eb_error eb_pairs_visit(eb_evaluation *e, const eb_expression *call, const eb_scope *scope,
                                eb_pair_visit visit, void *context);
bool eb_is_pairs(const eb_expression *e);      /* rising(...), falling(...) */
bool eb_is_quantifier(const eb_expression *e); /* all(...), any(...) */

/* ---- what names and functions mean ---- */

/* What "CASE.FIGURE" means (harness/reproduce/README.md). */
EB_MUST eb_error eb_figure_read(eb_evaluation *e, const char *name, eb_value *out);

/* A function of the language that is not a reduction. Arguments by a letter each: v series, n
 * number, a either; as an EB_VALUE_TEXT c case, x axis, u upper or lower, t table, w any word; ?
 * before what may be left out. */
typedef struct eb_function eb_function;
struct eb_function {
  const char *name, *arguments, *doc;
  eb_error (*call)(eb_evaluation *e, const eb_function *self, const eb_value *arguments, int count,
                   eb_value *out);
  /* What functions that share a `call` differ in: a number seen in one run or in two, and what more
   * frames could change of it: an end either way (2), a largest only upwards (1), nothing (0); or a
   * function of numbers. */
  eb_error (*one)(const eb_evidence *evidence, int case_, double *out);
  eb_error (*two)(const eb_evidence *evidence, int a, int b, double *out);
  int changes;
  double (*of)(double x);
};
extern const eb_function eb_functions[]; /* ended by a NULL name */
/* Whether the language has a function, reduction or quantifier of that name. */
bool eb_is_function(const char *name);

#endif
