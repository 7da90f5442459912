/* What laws say of solvers, shown: a document, JSON, tests for continuous integration, plots and
 * the picture of the matrix. */
#ifndef EB_LAWS_LAW_REPORT_H
#define EB_LAWS_LAW_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "harness/doc/doc.h"
#include "harness/laws/law_survey.h"

typedef struct eb_law_report {
  const eb_law_survey *survey;
  const eb_results *results; /* NULL: nothing was run */
  bool *plotted;             /* a law each: ID.svg is there; NULL: none is */
  bool pictured;             /* laws.svg is there */
  bool detailed;             /* a terminal shows the points of every law */
} eb_law_report;

/* How many cells are in each state. */
void eb_law_report_tally(const eb_law_report *report, int tally[EB_LAW_STATES]);

/* Draws what can be drawn into DIR: laws.svg, and ID.{dat,gp,svg} of laws with an axis. The caller
 * frees report->plotted. EB_ERR_LIBRARY when gnuplot is missing or fails. */
EB_MUST eb_error eb_law_report_draw(eb_law_report *report, const char *dir);
/* The matrix as a picture: solvers by laws, each cell in the colour of its deviation beside the
 * bound. */
EB_MUST eb_error eb_law_matrix_svg(const eb_law_survey *survey, eb_text *out);

/* In HTML it is a whole page (eb_page_write). */
EB_MUST eb_error eb_law_report_write(const eb_law_report *report, eb_doc_format format,
                                     eb_text *out);
/* The caller releases *out. */
EB_MUST eb_error eb_law_report_json(const eb_law_report *report, json_t **out);
/* A law is a suite, a solver a test in it. */
EB_MUST eb_error eb_law_report_junit(const eb_law_report *report, FILE *out);

/* Appends "mu = 0.5, over = 1.1"; "" without axes. */
EB_MUST eb_error eb_law_put_point(const eb_physical_law *law, int point, eb_text *out);

#endif
