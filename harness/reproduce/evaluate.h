/* Expressions evaluated over the evidence of a paper: under which circumstances, and what stands
 * for a case under them. */
#ifndef EB_REPRODUCE_EVALUATE_H
#define EB_REPRODUCE_EVALUATE_H

#include "harness/reproduce/evidence.h"
#include "harness/reproduce/value.h"

/* Numbers that take the place of what an expression would find: the paper's own, or what was
 * found before. */
typedef struct eb_known {
  struct eb_known_value {
    char *text; /* the expression as eb_expression_print writes it */
    eb_value value;
  } * items;
  int count;
} eb_known;
/* Takes what the value owns; a series cannot be kept. */
EB_MUST eb_error eb_known_add(eb_known *known, const char *text, const eb_value *value);
/* NULL: there is none. */
const eb_value *eb_known_find(const eb_known *known, const char *text);
void eb_known_clear(eb_known *known);

/* Times of a case that grow by a share, to see what moves a comparison. */
typedef struct eb_disturbance {
  int case_;
  double by;
  eb_phase stage;  /* of that stage, and with it the steps that hold it; EB_PHASE_COUNT: of all */
  size_t from, to; /* in steps [from, to) */
} eb_disturbance;

typedef struct eb_evaluation {
  const eb_paper *paper;
  const eb_evidence
      *evidence;   /* NULL: names and kinds are checked, every figure of a run is unknown */
  eb_known *known; /* NULL: none are kept */
  bool own;        /* only what is known counts: the paper is judged by its own numbers */
  bool *named;     /* set for every case that is named, when it is not NULL */
  int first;       /* so many repetitions of a case count; 0: all */
  int left_out;    /* but for this one; -1: for none */
  double *limits;  /* s, by group of competitors: where their series end, or NULL */
  const eb_disturbance *disturbed; /* NULL: times are as they were taken */
  eb_text *why; /* what is missing or failed: a line each, each once; NULL: nobody asks */
} eb_evaluation;

/* Notes a cause, once. */
EB_MUST eb_error eb_evaluation_say(eb_evaluation *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The case of that name. EB_ERR_USAGE with the nearest. */
EB_MUST eb_error eb_evaluation_case(eb_evaluation *e, const char *name, int *out);
/* The run that stands for a case now, or -1: then *knowledge tells why, and the cause is noted. */
EB_MUST eb_error eb_evaluation_run(eb_evaluation *e, int case_, int *run, eb_knowledge *knowledge);
/* The next repetition from *at on that counts beside that run, or -1; *at moves behind it. */
int eb_evaluation_other_run(const eb_evaluation *e, int case_, int run, int *at);
/* A column of times ("steps/wall"): of every step the least of all repetitions that count. The
 * caller frees *seconds. */
EB_MUST eb_error eb_evaluation_seconds(const eb_evaluation *e, int case_, int run, const char *path,
                                       double **seconds, size_t *count);
/* A time that a run has one of, under the disturbance of all its times. */
double eb_evaluation_time(const eb_evaluation *e, int case_, double seconds);
/* Whether less of a case was run than the paper's file asks for. */
bool eb_evaluation_cut(const eb_evaluation *e, int case_);

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
/* Marks the cases that an expression names. */
EB_MUST eb_error eb_expression_cases(const eb_paper *paper, const eb_expression *expression,
                                     const eb_scope *scope, bool *cases);

/* a COMPARISON factor * b, each in a scope of its own, with competitors' series ended where the
 * first of them ends. Of times the 95 % interval decides, of the logarithm of a over b where both
 * are positive: that of the jackknife, which leaves out one repetition of all cases after the
 * other, or, with fewer than three, of how much the paper's repeated cases vary. */
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

/* Calls `visit` for each neighbouring pair of a < b < c, and of rising(...) or falling(...): later
 * COMPARISON factor * earlier. */
typedef eb_error (*eb_pair_visit)(void *context, const eb_comparing *pair);
EB_MUST eb_error eb_pairs_visit(const eb_expression *call, const eb_scope *scope,
                                eb_pair_visit visit, void *context);
bool eb_is_pairs(const eb_expression *e);      /* a < b, rising(...), falling(...) */
bool eb_is_quantifier(const eb_expression *e); /* all(...), any(...) */

/* ---- what names and functions mean ---- */

/* What "CASE.FIGURE" means (harness/reproduce/README.md). */
EB_MUST eb_error eb_figure_read(eb_evaluation *e, const char *name, eb_value *out);

typedef struct eb_function eb_function;
typedef struct eb_view eb_view; /* a shape in a run (motion_functions.c) */
/* A call whose arguments are what the function's letters ask for. */
typedef struct eb_call {
  eb_evaluation *e;
  const eb_function *self;
  const eb_value *arguments;
  int count;
  int cases[2]; /* the first two arguments that are cases; -1: there is none */
} eb_call;

/* What is seen in runs needs one of every case: where one lacks it the value is not known, and else
 * the caller fills *out, whose number is NaN, and says what more of a run could change. */
typedef enum eb_seen { EB_NOT_SEEN, EB_SEEN_NUMBER, EB_SEEN_SERIES } eb_seen;

/* A function of the language that is not a reduction. Arguments by a letter each: v series, n
 * number, a either; as an EB_VALUE_TEXT c case, x axis, u upper or lower, t table, w any word; ?
 * before what may be left out. */
struct eb_function {
  const char *name, *arguments, *doc;
  eb_error (*call)(const eb_call *call, eb_value *out);
  eb_seen seen;
  /* Of a number that is seen: more frames could change it either way (2), only upwards (1), or not
   * at all (0). */
  int changes;
  double (*of)(double x);                         /* a function of numbers */
  eb_error (*look)(eb_view *view, eb_value *out); /* of shapes: which are seen */
  double (*shape)(const eb_view *view);           /* and what each of them is worth */
};
/* Both ended by a NULL name; the second are those that are seen in frames. */
extern const eb_function eb_functions[], eb_motion_functions[];
/* Whether the language has a function, reduction or quantifier of that name. */
bool eb_is_function(const char *name);

/* How far apart two shapes are, over a length. */
typedef struct eb_distance {
  double rms, max;
} eb_distance;
/* `x` (count x 3) moved onto `y` by the rigid motion that makes the sum of squared distances least
 * (Horn 1987): the distances that remain, over `length`. */
void eb_rigid_distance(const double *x, const double *y, int64_t count, double length,
                       eb_distance *out);

#endif
