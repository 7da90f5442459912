/* The accuracy class of a run: which equation its steps solve, and how well. Figures of cost are
 * ranked among runs of one class alone: whoever solves an easier equation, or the same one more
 * loosely, is shown beside the others and competes with none of them. */
#ifndef EB_RESULTS_ACCURACY_H
#define EB_RESULTS_ACCURACY_H

#include <stdbool.h>

#include "harness/results/record.h"

/* The decades of eb_run.error, each with its lower end and without its upper one. */
typedef enum eb_band {
  EB_BAND_BELOW_1E8, /* error < 1e-8: as far as rounding and a tight tolerance go */
  EB_BAND_1E8,       /* 1e-8 <= error < 1e-6 */
  EB_BAND_1E6,       /* 1e-6 <= error < 1e-4 */
  EB_BAND_1E4,       /* 1e-4 <= error < 1e-2 */
  EB_BAND_1E2,       /* 1e-2 <= error < 1e-1 */
  EB_BAND_ORDER_ONE, /* 1e-1 <= error: the steps explain less than nine tenths of the forces */
  EB_BAND_UNKNOWN,   /* not a number, or negative */
  EB_BANDS
} eb_band;
eb_band eb_band_of(double error);

typedef struct eb_class {
  const char *equation; /* of the run, which must outlive it; "" when the class is unknown */
  eb_band band;
} eb_class;

/* Unknown (EB_BAND_UNKNOWN) for a run without steps, one whose error is no number, and one that
 * names no equation. */
eb_class eb_class_of(const eb_run *run);
/* Negative, 0 or positive: by equation, then from tight to loose; the unknown class is behind all
 * others and equal to itself alone. */
int eb_class_compare(eb_class a, eb_class b);

/* The class in words: "implicit Euler, 1e-8 to 1e-6", "static, of order one", "class unknown". Cut
 * when it is too long. */
typedef struct eb_class_name {
  char text[128];
} eb_class_name;
eb_class_name eb_class_describe(eb_class c);

/* Of runs whose scenes have one name and parameters, whether they are one scene: files of one's own
 * have the names that others give theirs, and change. Without a hash a run had no scene yet, and
 * passes. */
bool eb_run_same_file(const eb_run *a, const eb_run *b);
bool eb_run_same_scene(const eb_run *a,
                       const eb_run *b); /* with the same parameters, mesh and start */
/* Completed, audited, contradicted in nothing, and of a class that is ranked. */
bool eb_run_ranked(const eb_run *run);
/* Whether figures of cost of the two may be set against each other: both ranked, of one class, over
 * the same steps of one scene. */
bool eb_run_comparable(const eb_run *a, const eb_run *b);

/* Where a run stands by error and some cost among those that are comparable with it: behind those
 * alone that are at least as accurate and cheaper, for within a band errors still differ by up to a
 * factor 100. Errors are compared as they are told, by two digits; none below 1e-12, which rounding
 * makes, is better than another. */
typedef struct eb_rank {
  int place;   /* 1 + how many are ahead; 1: on the front; 0 for a run that is not ranked */
  int of;      /* of how many solvers; 0 likewise */
  double over; /* its cost over the cheapest's; NaN for a run that is not ranked */
} eb_rank;
/* Of runs[which]; costs has one entry a run, and runs whose entry is not positive and finite take
 * no part. Repetitions share the place of the cheapest of them. */
eb_rank eb_run_rank(const eb_run *const *runs, const double *costs, int count, int which);

#endif
