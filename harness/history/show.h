/* The history for people and scripts. */
#ifndef EB_HISTORY_SHOW_H
#define EB_HISTORY_SHOW_H

#include <stdio.h>

#include "harness/history/series.h"

/* What is shown, and how it was looked at. */
typedef struct eb_history_shown {
  const eb_history *history;
  const eb_history_view *view;
  const eb_history_choice *choice;
  const char *folder; /* the store */
} eb_history_shown;

/* A line a figure: latest value, how far it is off the level since the last change, the changes. */
void eb_history_print(const eb_history_shown *shown, FILE *out);
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
/* Writes FOLDER/index.html with the table and a plot of every figure that has two entries or
 * more. */
EB_MUST eb_error eb_history_pages(const eb_history_shown *shown, const char *folder);

#endif
