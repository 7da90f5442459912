/* The machine's DGEMM rate and triad bandwidth, measured in a process with the settings of the
 * cases, and kept in the user's cache directory (scene.h says where that is) between runs.
 *
 * Kept rates are trusted while the boot, the processor, the build, BLAS's kernels and the settings
 * of threads are those that they were measured with, and for a day: the neighbours on a shared
 * machine change. The cache is an optimization: whatever is wrong with it, rates are measured
 * again. */
#ifndef EB_CASE_RATES_H
#define EB_CASE_RATES_H

#include "harness/case/child.h"
#include "harness/environment.h"

/* Those that were kept, or else what `program machine` measures in about a second and a half. Rates
 * that cannot be measured are 0, and all of them when the environment variable ELASTOBENCH_NO_RATES
 * is set. */
EB_MUST eb_error eb_rates_measure(const char *program, eb_signals *signals, eb_rates *out);
/* What `machine` does: measures and prints what eb_rates_measure reads. */
EB_MUST eb_error eb_rates_print(void);

#endif
