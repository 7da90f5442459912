/* What is to be known of a case before it runs: which defaults the scene has for its solver, and
 * what to expect of the solver's own. */
#ifndef EB_CASE_CAVEATS_H
#define EB_CASE_CAVEATS_H

#include "harness/case/case.h"
#include "solvers/contact/light_bodies.h"

/* Appends what holds of the case's options, a sentence each, without its stop: "conjac on
 * conjac2020/bunny: dynamic=8, the paper's number of dynamic nodes". What is known already is not
 * appended again. */
EB_MUST eb_error eb_caveats_add(const eb_case *work, eb_strings *out);

/* What is known of the bodies of the scene that was built last: cases of one scene ask once. Start
 * from {0}. */
typedef struct eb_known_bodies {
  char *scene; /* which: its name, parameters and mesh file */
  bool built;  /* else it is refused, as its cases will tell */
  eb_light_body lightest;
} eb_known_bodies;
void eb_known_bodies_clear(eb_known_bodies *known);
/* Appends, of a solver of contact as constraints, whether its absolute tolerance is coarse for the
 * lightest body of the scene, with what helps. Builds the scene, unless it was the last one. */
EB_MUST eb_error eb_caveats_add_tolerance(const eb_case *work, eb_known_bodies *known,
                                          eb_strings *out);

/* Of a solver with its defaults on a scene, in few words: "by default dynamic=8, the paper's number
 * of dynamic nodes; ...". *expected: an audit may fail for it. */
EB_MUST eb_error eb_caveats_put(const eb_scene_ops *scene, const eb_solver_ops *solver,
                                bool *expected, eb_text *out);

#endif
