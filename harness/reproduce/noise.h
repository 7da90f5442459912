/* How far a comparison of times may be off that ran once or twice. */
#ifndef EB_REPRODUCE_NOISE_H
#define EB_REPRODUCE_NOISE_H

#include "harness/reproduce/evaluate.h"

/* The logarithm of the ratio that is compared, under these circumstances. */
typedef eb_error (*eb_noise_ratio)(void *context, eb_evaluation *e, double *out);

/* The variance of that ratio, for one repetition of the cases that are named, when times vary as
 * they do in all cases with repetitions (e->evidence->noise). */
EB_MUST eb_error eb_noise_variance(const eb_evaluation *e, const bool *named, eb_noise_ratio ratio,
                                   void *context, double *variance);

#endif
