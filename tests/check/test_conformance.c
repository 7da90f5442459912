/* Conformance (harness/check/conformance.h) of every registered solver on every registered scene
 * and on blocks; and that solvers which break it are seen. */
#include "harness/check/conformance.h"
#include "tests/tap.h"

static void report(void *context, const eb_conformity *at) {
  static const char *const words[EB_CONFORMINGS] = {"steps well", "with success",
                                                    "the same bits with two threads",
                                                    "no growth of the heap", "refused"};
  (void)context;
  tap_ok(at->kept, "%s on %s: %s", at->solver->name, at->scene, words[at->what]);
  if (!at->kept) printf("# %s\n", at->why);
}

static eb_error ask_every_solver(void *context, eb_scene *scene, bool catalogue, const char *name) {
  const eb_conformance conformance = {report, context};
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++)
    if (!eb_solver_wants_options(*at))
      EB_TRY(eb_conformance_pair(&conformance, *at, scene, catalogue, name));
  return EB_OK;
}

int main(void) {
  const eb_conformance_visitor visitor = {.visit = ask_every_solver};
  tap_succeeds(eb_conformance_scenes(&visitor), "all scenes are asked");
  return tap_done();
}
