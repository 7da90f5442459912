/* Predictions in words and as JSON. */
#ifndef EB_PREDICT_PREDICTION_DOC_H
#define EB_PREDICT_PREDICTION_DOC_H

#include <jansson.h>
#include <stdio.h>

#include "harness/predict/predict.h"

/* A line: counts, memory, time, each with its margin, or that there is no prediction. */
void eb_prediction_print(const eb_prediction *prediction, FILE *out);
/* {"nodes", "elements", "counted", "factor", "peak", "steady", "memory_margin", "setup", "step",
 * "run", "iterations", "time_factor"}: bytes and seconds, null where there is no prediction. */
json_t *eb_prediction_json(const eb_prediction *prediction);

/* The rates for times, those kept or measured in a second and a half; zeros where that fails. */
eb_rates eb_predict_rates(void);

#endif
