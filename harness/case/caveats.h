/* What is to be known of a case before it runs: which defaults the scene has for its solver, and
 * what to expect of the solver's own. */
#ifndef EB_CASE_CAVEATS_H
#define EB_CASE_CAVEATS_H

#include "harness/case/case.h"

/* Appends what holds of the case's options, a sentence each, without its stop: "conjac on
 * conjac2020/bunny: dynamic=8, the paper's number of dynamic nodes". What is known already is not
 * appended again. */
EB_MUST eb_error eb_caveats_add(const eb_case *work, eb_strings *out);

/* Of a solver with its defaults on a scene, in few words: "by default dynamic=8, the paper's number
 * of dynamic nodes; ...". *expected: an audit may fail for it. */
EB_MUST eb_error eb_caveats_put(const eb_scene_ops *scene, const eb_solver_ops *solver,
                                bool *expected, eb_text *out);

#endif
