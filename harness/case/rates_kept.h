/* The machine's rates, kept in the user's cache directory (scene.h says where that is) between
 * runs.
 *
 * They are trusted while the boot, the processor, the build, BLAS's kernels and the settings of
 * threads are those that they were measured with, and for a day: the neighbours on a shared machine
 * change. The cache is an optimization: whatever is wrong with it, rates are measured again. */
#ifndef EB_CASE_RATES_KEPT_H
#define EB_CASE_RATES_KEPT_H

#include <stdbool.h>

#include "harness/environment.h"

/* False when there are none to be trusted. */
bool eb_rates_recall(eb_rates *out);
void eb_rates_keep(const eb_rates *rates);

#endif
