/* What a case will take, told before it runs: memory and time, each with how far off it may be.
 *
 * Memory is a sum over what is held, with bytes a node, an element, a block of the matrix and a
 * byte of the factor; time is a sum over what is computed, at the rates that the machine has shown
 * (harness/case/rates.h). README.md has the constants' origin and their errors on cases that they
 * were not made from. */
#ifndef EB_PREDICT_H
#define EB_PREDICT_H

#include "harness/environment.h"
#include "harness/predict/fill.h"

typedef struct eb_memory_prediction {
  bool known;    /* there is a model of the solver, and the scene could be counted */
  double peak;   /* bytes resident at most, most often at the end of the set-up */
  double steady; /* bytes resident while it steps */
  double margin; /* the true values are between these over 1 + margin and times 1 + margin */
} eb_memory_prediction;

typedef struct eb_time_prediction {
  bool known;        /* there is a model of the solver's time, and the machine's rates are known */
  double setup;      /* s: scenes, ordering, analysis */
  double step;       /* s of a step, wall clock */
  double run;        /* s: set-up, all steps and their audits */
  double iterations; /* a step, which are assumed */
  double factor;     /* the true values are between these over and times the factor */
} eb_time_prediction;

typedef struct eb_prediction {
  eb_counts counts;
  eb_fill fill; /* EB_FILLED_NOT where the solver has no such factor */
  eb_memory_prediction memory;
  eb_time_prediction time;
} eb_prediction;

/* Predicts case after case; what was counted and analyzed of a scene serves the cases after it. */
typedef struct eb_predictor {
  eb_rates rates;      /* zeros: no times */
  bool rough;          /* fill by its law alone, in no time */
  const eb_case *last; /* whose scene counts and fill are of; NULL before */
  eb_counts counts;
  eb_fill fill;
} eb_predictor;

/* With `rates` all of a case; NULL: memory alone. */
eb_predictor eb_predictor_start(const eb_rates *rates);
/* `work` is kept by reference until the next call. */
void eb_predict_case(eb_predictor *predictor, const eb_case *work, eb_prediction *out);

/* ---- the two models -------------------------------------------------------------------------- */

/* Whether the solver of a case factors the matrix of its nodes. */
bool eb_predict_factors(const eb_case *work);
eb_memory_prediction eb_predict_memory(const eb_case *work, const eb_counts *counts,
                                       const eb_fill *fill);
eb_time_prediction eb_predict_time(const eb_case *work, const eb_counts *counts,
                                   const eb_fill *fill, const eb_rates *rates);

/* ---- before a run ---------------------------------------------------------------------------- */

/* Writes a line on *out for every case whose memory will likely not do: beyond --memory, or what
 * the machine has free now; and what may be done. Nothing is refused. */
void eb_predict_warn(const eb_case *cases, int count, FILE *out);

#endif
