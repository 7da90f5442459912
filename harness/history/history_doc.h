/* The history for people and scripts. */
#ifndef EB_HISTORY_HISTORY_DOC_H
#define EB_HISTORY_HISTORY_DOC_H

#include <stdio.h>

#include "harness/doc/doc.h"
#include "harness/history/series.h"

/* What is shown, and how it was looked at. */
typedef struct eb_history_shown {
  const eb_history *history;
  const eb_history_view *view;
  const eb_history_choice *choice;
  const char *folder; /* the store */
} eb_history_shown;

/* A table a machine, with a row a figure - latest value, how far it is off the level since the last
 * change, the changes - and a plot of every figure that has two entries or more. */
void eb_history_show(const eb_history_shown *shown, eb_doc *doc);
/* All of that with every entry and level:
 * {"store", "order": "git" or "date", "p", "least", "correlation", "shortest", "dirty_left_out",
 *  "machines": [{"fingerprint", "cpu", "cores", "compiler", "flags", "records",
 *    "figures": [{"name", "unit", "class", "better", "basis": "relative" or "value", "latest",
 *      "since", "noise", "correlation", "correlated", "drift",
 *      "levels": [{"from", "to" (commits), "count", "value"}],
 *      "changes": [{"commit", "date", "after" (the commit before), "size", "p", "verdict": "better"
 *        or "worse"}],
 *      "points": [{"commit", "date", "dirty", "value", "relative", "spread", "samples"}]}]}]} */
EB_MUST eb_error eb_history_json(const eb_history_shown *shown, FILE *out);
/* Writes FOLDER/index.html, and draws the plots that it shows. */
EB_MUST eb_error eb_history_pages(const eb_history_shown *shown, const char *folder);

/* Whether a series is drawn; the stem of the plot of the one of that number: names of figures are
 * not names of files. */
bool eb_history_is_drawn(const eb_history_series *series);
typedef struct eb_history_stem_name {
  char text[48];
} eb_history_stem_name;
eb_history_stem_name eb_history_stem(const eb_history_view *view, int series);

#endif
