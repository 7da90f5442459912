/* The paper beside ours: everything that is printed, computed once. */
#ifndef EB_REPRODUCE_OUTCOME_H
#define EB_REPRODUCE_OUTCOME_H

#include <jansson.h>

#include "harness/doc/doc.h"
#include "harness/report/model.h"
#include "harness/report/playback.h"
#include "harness/reproduce/claim.h"

typedef struct eb_shown_table {
  const eb_paper_table *table;
  double *ours;  /* rows x columns, in the table's unit; NaN where there is none */
  eb_text notes; /* a line each: what is quick, cut short, missing, a stand-in */
} eb_shown_table;

typedef struct eb_shown_claim {
  const eb_paper_claim *claim;
  eb_claim_result result;
  eb_text cases; /* their names, in one line */
  eb_text notes;
} eb_shown_claim;

/* A quantity step by step, for curves. */
typedef struct eb_time_series {
  size_t count;
  double *x,
      *y; /* simulated time at the end of the step, s, or the number of an iteration; the value */
} eb_time_series;

typedef struct eb_shown_figure {
  const eb_paper_figure *figure;
  double *x;      /* a point each; NaN where there is none */
  double *y;      /* a point each (of a course its largest); NaN where there is none */
  double *layers; /* of bars: points x (parts + 1), from the bottom; the last one is what is left */
  eb_time_series *series; /* a point each, or NULL */
  eb_text notes;
  bool drawn; /* as ID.svg, ID-updates-N.png or ID-NAME.png */
  eb_report_picture pictures;
} eb_shown_figure;

typedef struct eb_reproduction {
  const eb_evidence *evidence;
  eb_shown_table *tables;
  eb_shown_claim *claims;
  eb_shown_figure *figures;
  int table_count, claim_count, figure_count;
  int measured;                 /* cells of tables and points of figures */
  int tally[EB_CLAIM_VERDICTS]; /* how many claims have each verdict */
  eb_text machine;              /* and build: a line each, "name: value" */
  eb_playback *playbacks;       /* a case each: what the player shows of its run */
  const char *overview;         /* link to the page over several papers, or NULL */
  eb_known known;
} eb_reproduction;

/* Judges the chosen claims and fills the chosen tables. Clear *out also after a failure. */
EB_MUST eb_error eb_reproduction_create(const eb_evidence *evidence, const eb_paper_choice *choice,
                                        eb_reproduction *out);
void eb_reproduction_clear(eb_reproduction *reproduction);

/* What stands under a column's heading: "paper" where it has no expression, "ours" where the paper
 * has no number in it, else both and "ratio". Returns how many there are. */
int eb_shown_heads(const eb_paper_table *table, int column, const char *out[3]);
/* The same of a cell; NaN where there is none. */
int eb_shown_cell(const eb_shown_table *shown, int row, int column, double out[3]);
/* " with local changes", or "": of the build that made the results. */
const char *eb_reproduction_changed(const eb_results *results);

/* Appends the paper beside ours: what was run and where, claims with their conditions, tables,
 * figures, and everything that is ours and not the paper's. In HTML it is a whole page
 * (eb_page_write), with the player of runs; what was drawn is shown. */
EB_MUST eb_error eb_reproduction_write(const eb_reproduction *reproduction, eb_doc_format format,
                                       eb_text *out);
/* The caller releases *out. */
EB_MUST eb_error eb_reproduction_json(const eb_reproduction *reproduction, json_t **out);
/* Draws the figures that have something to show into DIR: ID.{dat,gp,svg}, or ID-updates-N.png; and
 * writes what the player shows of every case. EB_ERR_LIBRARY when gnuplot is missing or fails. */
EB_MUST eb_error eb_reproduction_draw(eb_reproduction *reproduction, const char *dir);

/* ---- several papers ---- */

/* What is said of each paper, as it is added. */
typedef struct eb_overview_parts {
  eb_doc links, papers, sections; /* to the sections; a row each; a section each */
} eb_overview_parts;

/* Several papers: verdicts, what is quick, what is a stand-in, and what is ours rather than the
 * paper's, with links to the papers' own pages. Start from {0}. */
enum { EB_OVERVIEWS = 2 }; /* as a page, in Markdown */
typedef struct eb_overview {
  eb_overview_parts of[EB_OVERVIEWS];
  /* Whether papers have a RESULTS.md beside their page, which the Markdown version then links to:
   * so it can be read where pages are not shown. */
  bool has_markdown;
  int paper_count, quick_count;
  int tally[EB_CLAIM_VERDICTS];
} eb_overview;

/* Adds a paper; its page is FOLDER/index.html beside the overview. has_markdown is set before. */
void eb_overview_add(eb_overview *overview, const eb_reproduction *reproduction,
                     const char *folder);
void eb_overview_clear(eb_overview *overview);

/* Appends it, once in each format: what was added is taken. */
EB_MUST eb_error eb_overview_write(eb_overview *overview, eb_doc_format format, eb_text *out);

#endif
