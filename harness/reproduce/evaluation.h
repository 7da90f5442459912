/* Under which circumstances expressions are evaluated, and what stands for a case under them. */
#ifndef EB_REPRODUCE_EVALUATION_H
#define EB_REPRODUCE_EVALUATION_H

#include "harness/reproduce/evidence.h"
#include "harness/reproduce/value.h"

/* Numbers that take the place of what an expression would find: the paper's own, or what was
 * found before. */
typedef struct eb_known {
  char **texts; /* expressions as eb_expression_print writes them */
  eb_value *values;
  int count;
} eb_known;
/* Takes what the value owns; a series cannot be kept. */
EB_MUST eb_error eb_known_add(eb_known *known, const char *text, const eb_value *value);
const eb_value *eb_known_find(const eb_known *known, const char *text);
void eb_known_clear(eb_known *known);

typedef struct eb_evaluation {
  const eb_paper *paper;
  const eb_evidence
      *evidence;   /* NULL: names and kinds are checked, every figure of a run is unknown */
  eb_known *known; /* NULL: none are kept */
  bool own;        /* only what is known counts: the paper is judged by its own numbers */
  bool *named;     /* set for every case that is named, when it is not NULL */
  int repetition;  /* of the runs; -1: the one that stands for the case */
  double *limits;  /* s, by group of competitors: where their series end, or NULL */
  eb_text *why;    /* what is missing or failed: a line each, each once; NULL: nobody asks */
} eb_evaluation;

/* Notes a cause, once. */
EB_MUST eb_error eb_evaluation_say(eb_evaluation *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The case of that name. EB_ERR_USAGE with the nearest. */
EB_MUST eb_error eb_evaluation_case(eb_evaluation *e, const char *name, int *out);
/* The run of a case that counts now, or -1: then *knowledge tells why, and the cause is noted. */
EB_MUST eb_error eb_evaluation_run(eb_evaluation *e, int case_, int *run, eb_knowledge *knowledge);
/* Whether less of a case was run than the paper's file asks for. */
bool eb_evaluation_cut(const eb_evaluation *e, int case_);

#endif
