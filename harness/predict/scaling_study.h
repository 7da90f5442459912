/* Runs over ranks beside the model of scaling.h: how a scene scales that one solver was run on, on
 * several numbers of ranks, what the model tells of that from runs on one rank, and how far off it
 * is.
 *
 * A series is one scene in any sizes and one solver but for its ranks, on one machine. Constants
 * come from its runs on one rank, which are at several sizes: between two of them by the logarithm
 * of the size, beyond the outermost as there. Work an element is that of the size that a machine's
 * node holds, for its cores share a cache; the number of iterations is that of the whole. No row
 * takes constants from itself: one of one rank is told by the other sizes. Networks are those that
 * the runs have measured between their own ranks, in the median of those on as many. So nothing is
 * fitted to what is judged. */
#ifndef EB_PREDICT_SCALING_STUDY_H
#define EB_PREDICT_SCALING_STUDY_H

#include "harness/predict/scaling.h"
#include "harness/strings.h"

/* What a run tells; texts are another's. Sums are over its steps but for the first, where there are
 * others. */
typedef struct eb_scaling_sample {
  const char *problem, *solver, *machine; /* those of a series: scene without its size, solver
                                             without its ranks and with steps and threads; host and
                                             processor */
  const char *scene;                      /* with its size: "bench/block:cubes=24" */
  const char *trouble;                    /* "" of a run that completed and kept the rules */
  double elements, nodes;                 /* of the whole scene */
  int ranks;
  double seconds, setup, solve; /* s: of the steps; in them, of preconditioner and linear solves */
  double iterations;            /* of Newton's */
  double linear_iterations;
  eb_scaling_machine at; /* its network: zeros where the run does not tell */
} eb_scaling_sample;

/* Start from {0}. */
typedef struct eb_scaling_samples {
  int count, capacity;
  eb_scaling_sample *items;
  eb_strings texts; /* what reading has made of names */
} eb_scaling_samples;

/* Adds a copy of a sample, its texts left where they are. */
EB_MUST eb_error eb_scaling_add(eb_scaling_samples *samples, const eb_scaling_sample *sample);
void eb_scaling_samples_clear(eb_scaling_samples *samples);

/* What is asked beside what was measured. */
typedef struct eb_scaling_point {
  double elements;
  int ranks;
} eb_scaling_point;

enum { EB_SCALING_POINTS = 32 };
typedef struct eb_scaling_request {
  /* Of predictions, and of rows whose runs tell none; zeros: as measured. */
  eb_network network;
  int cores;    /* of a node; 0: those of the machine */
  int per_node; /* ranks on a node; 0: rows all on one, predictions a rank a core */
  int point_count;
  eb_scaling_point points[EB_SCALING_POINTS];
} eb_scaling_request;

/* All as measured, and 10^9 elements on 1000 ranks. */
eb_scaling_request eb_scaling_usual(void);

typedef enum eb_scaling_kind {
  EB_SCALING_ALONE,  /* one rank: told by other sizes */
  EB_SCALING_SHARED, /* several, each on a core of its own */
  EB_SCALING_CROWDED /* more ranks than cores, which take turns */
} eb_scaling_kind;
enum { EB_SCALING_KINDS = EB_SCALING_CROWDED + 1 };

/* One scene on so many ranks. */
typedef struct eb_scaling_row {
  const eb_scaling_sample
      *sample; /* the fastest of its repetitions that are good, or a failed one */
  eb_scaling_kind kind;
  double seconds;       /* an iteration of Newton's; NaN: it failed */
  eb_scaling_time told; /* total NaN: there are no constants, or no network */
  double error;         /* of what is told, over what was measured; NaN: one of both is missing */
  /* Time on one rank over that of all ranks, of the same scene, and of the work of one of them; NaN
   * where no such run is there. */
  double strong, weak;
} eb_scaling_row;

typedef struct eb_scaling_errors {
  int count;
  double median, worst; /* of absolute values; NaN without any */
} eb_scaling_errors;

typedef struct eb_scaling_prediction {
  eb_scaling_point point;
  eb_scaling_machine machine; /* that it is told for */
  int per_node;
  double beyond; /* elements on a machine's node over those of the largest run on one rank; */
  double larger; /* and in all, whose iterations are taken to be as many */
  eb_scaling_time told; /* total NaN: no constants, or no network */
} eb_scaling_prediction;

typedef struct eb_scaling_series {
  const char *problem, *solver, *machine;
  int cores;
  int row_count, prediction_count;
  eb_scaling_row *rows; /* by elements, then ranks */
  eb_scaling_errors errors[EB_SCALING_KINDS];
  eb_scaling_prediction *predictions;
  eb_text missing; /* why nothing is told, and what to run; no data: it is */
} eb_scaling_series;

typedef struct eb_scaling_study {
  int count; /* of series with several numbers of ranks */
  eb_scaling_series *series;
} eb_scaling_study;

/* Samples must outlive *out, which the caller clears also after an error. */
EB_MUST eb_error eb_scaling_study_create(const eb_scaling_samples *samples,
                                         const eb_scaling_request *request, eb_scaling_study *out);
void eb_scaling_study_clear(eb_scaling_study *study);

/* Whether a row gives constants, and those it gives. */
bool eb_scaling_gives(const eb_scaling_row *row);
eb_scaling_work eb_scaling_given(const eb_scaling_row *row);
/* Whether the model was judged by a row of several ranks. */
bool eb_scaling_judged(const eb_scaling_study *study);

/* Within this share, sizes of a rank are one size: a weak series. */
#define EB_SCALING_SAME_SIZE 0.05
/* The row of one rank that a row is measured by in weak scaling, and itself of one of them; NULL:
 * there is none. */
const eb_scaling_row *eb_scaling_weak_base(const eb_scaling_series *series,
                                           const eb_scaling_row *row);

#endif
