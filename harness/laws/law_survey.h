/* Solvers measured by laws: which cases that takes, and what their figures are. */
#ifndef EB_LAWS_LAW_SURVEY_H
#define EB_LAWS_LAW_SURVEY_H

#include "harness/laws/physical_law.h"
#include "harness/reproduce/evidence.h"

typedef enum eb_law_state {
  EB_LAW_UNSERVED, /* the solver does not serve the scene */
  EB_LAW_OPEN,     /* not measured */
  EB_LAW_FAILED,   /* the solver failed on a point of the grid */
  EB_LAW_BROKEN,   /* a deviation is over the bound */
  EB_LAW_HOLDS,
  EB_LAW_STATES
} eb_law_state;
/* "not served", "not measured", "solver failed", "broken", "holds" */
const char *eb_law_state_name(eb_law_state state);

/* A point of a law's grid; NaN: not known. */
typedef struct eb_law_reading {
  double measured, exact, bound;
  double deviation; /* |measured - exact| / scale */
  double scheme;    /* the same of the reference */
  double own;       /* |measured - what the reference measures| / scale: the solver's own share */
} eb_law_reading;

/* A law and a solver. */
typedef struct eb_law_cell {
  const eb_physical_law *law;
  const char *solver; /* NAME[:assignments] */
  int scene;          /* of the law's; -1: none is served */
  int reference;      /* among the references; -1: there is none */
  int first_case; /* of the survey's cases; a point has one, or two where the law is told twice */
  eb_law_state state;
  eb_law_reading *points;
  int worst;    /* point of the largest deviation over its bound; -1: none is known */
  bool refuted; /* the audit of a run failed */
  eb_text why;  /* a line each: what is missing, failed, refused */
} eb_law_cell;

typedef struct eb_law_survey {
  const eb_law_book *book;
  const eb_strings *solvers;
  eb_paper paper;          /* its cases */
  eb_law_cell *cells;      /* laws x solvers */
  eb_law_cell *references; /* of a law and one of its scenes each */
  int reference_count;
} eb_law_survey;

/* The cases that measure these solvers. book, solvers and plugins outlive *out. EB_ERR_USAGE for an
 * unknown solver or scene. Clear *out also after a failure. */
EB_MUST eb_error eb_law_survey_create(const eb_law_book *book, const eb_strings *solvers,
                                      const eb_plugins *plugins, eb_law_survey *out);
void eb_law_survey_clear(eb_law_survey *survey);

/* Fills in what was measured. */
EB_MUST eb_error eb_law_survey_judge(eb_law_survey *survey, const eb_evidence *evidence);

static inline eb_law_cell *eb_law_survey_cell(const eb_law_survey *survey, int law, int solver) {
  return &survey->cells[law * survey->solvers->count + solver];
}

#endif
