/* Why runs failed their audit, and why nobody of a scene is ranked: one home of these words, for
 * the terminal, for pages and for what a file holds. */
#ifndef EB_RESULTS_EXPLAINED_H
#define EB_RESULTS_EXPLAINED_H

#include "harness/doc/doc.h"
#include "harness/results/breaches.h"

/* A run with what it is called beside others. */
typedef struct eb_explained {
  const eb_run *run;
  const eb_breaches *breaches;
  const char *label;
} eb_explained;

/* Each rule that one of the runs broke, once: what it measures and what may help, then of every run
 * that broke it where it was worst. `linked`: rules lead to their definitions on the page. */
void eb_explain_rules(const eb_explained *runs, int count, bool linked, eb_doc *doc);
/* Of runs of one scene, where none is ranked although some completed: why, with their errors. */
void eb_explain_unranked(const eb_explained *runs, int count, eb_doc *doc);

#endif
