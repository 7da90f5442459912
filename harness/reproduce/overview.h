/* One page over several papers: verdicts, what is quick, what is a stand-in, and what is ours
 * rather than the paper's, with links to the papers' own pages. */
#ifndef EB_REPRODUCE_OVERVIEW_H
#define EB_REPRODUCE_OVERVIEW_H

#include "harness/reproduce/outcome.h"

/* The same in HTML and in Markdown. */
typedef struct eb_overview_page {
  eb_text papers; /* a row each */
  eb_text claims; /* a section for each paper */
} eb_overview_page;

/* Start from {0}. */
typedef struct eb_overview {
  eb_overview_page html, markdown;
  /* Whether papers have a RESULTS.md beside their page, which the Markdown version then links to:
   * so it can be read where pages are not shown. */
  bool has_markdown;
  int paper_count, quick_count;
  int tally[EB_CLAIM_VERDICTS];
} eb_overview;

/* Adds a paper; its page is FOLDER/index.html beside the overview. has_markdown is set before. */
EB_MUST eb_error eb_overview_add(eb_overview *overview, const eb_reproduction *reproduction,
                                 const char *folder);
void eb_overview_clear(eb_overview *overview);

/* Appends the pages, and a line a paper with the sum of all below. */
EB_MUST eb_error eb_overview_html(const eb_overview *overview, eb_text *page);
EB_MUST eb_error eb_overview_markdown(const eb_overview *overview, eb_text *page);

#endif
