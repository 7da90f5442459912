/* `elastobench compare`: what a change does to a suite, in three layers (layers.h), judged as
 * decision.h and compared.h have it. */
#ifndef EB_COMPARE_H
#define EB_COMPARE_H

#include "harness/compare/layers.h"

/* Two builds. How cases fare is in *out; an error is one of the harness, of a build that is no
 * worker, or an interruption (request->signals tells). The caller clears *out also after an error.
 */
EB_MUST eb_error eb_compare_builds(const eb_compare_request *request, eb_comparison *out);

/* Two result files, by the runs that both have: repetitions are rounds, every step but the first
 * counts, there is one look and no control. The runs were not fed in turns, so that a machine that
 * has changed in between looks like a change. EB_ERR_INVALID: there is no run in common. */
EB_MUST eb_error eb_compare_results(const char *base, const char *head, double margin,
                                    eb_comparison *out);

#endif
