/* The figures of a history as series: of one machine each, never across machines. */
#ifndef EB_HISTORY_SERIES_H
#define EB_HISTORY_SERIES_H

#include "harness/history/change_points.h"
#include "harness/history/store.h"

/* One figure of one accuracy class on one machine, over the records that have it. What it belongs
 * to is the history's, which must outlive it. */
typedef struct eb_history_series {
  const char *name, *unit, *class, *fingerprint;
  bool more;     /* more is better */
  bool relative; /* `basis` is the value beside the machine's limit, else the value itself */
  int count;
  const eb_history_record **records;
  const eb_history_figure **figures;
  double *basis; /* what is looked for changes */
  eb_change_points found;
} eb_history_series;

/* A machine of the history. */
typedef struct eb_history_machine {
  const eb_history_record *facts; /* a record of it */
  int records;
  int first, last; /* series [first, last) */
} eb_history_machine;

typedef struct eb_history_view {
  eb_history_machine *machines; /* in order of their latest records, the latest first */
  eb_history_series *series;
  int machine_count, count;
  int dirty; /* records of trees with local changes that are left out */
} eb_history_view;

typedef struct eb_history_choice {
  const char *figure;  /* a pattern of the shell, or a part of the name; NULL: all figures */
  const char *machine; /* a fingerprint; NULL: all */
  bool dirty;          /* take records of trees with local changes as well */
  bool absolute;       /* values also where there are figures beside the machine's limit */
  eb_change_options change;
} eb_history_choice;

/* EB_ERR_USAGE, with the nearest one there is, where no figure or machine is meant. The caller
 * clears *out also after an error. */
EB_MUST eb_error eb_history_look(const eb_history *history, const eb_history_choice *choice,
                                 eb_history_view *out);
void eb_history_view_clear(eb_history_view *view);

/* The basis of the last entry over the level that it belongs to, less 1; NAN where it is all of
 * that level. */
double eb_history_since(const eb_history_series *series);
/* Whether a change is for the worse. */
bool eb_history_worse(const eb_history_series *series, const eb_change *change);
/* Whether the noise is more correlated than the p-values allow for: by two standard errors,
 * 1/sqrt(n) each. */
bool eb_history_correlated(const eb_history_series *series, const eb_change_options *options);

#endif
