/* What result files tell of scaling over ranks. */
#ifndef EB_PREDICT_SCALING_READ_H
#define EB_PREDICT_SCALING_READ_H

#include "harness/predict/scaling_study.h"
#include "harness/results/read.h"

/* Adds every run of a file. */
EB_MUST eb_error eb_scaling_read(const eb_results *results, eb_scaling_samples *samples);

#endif
