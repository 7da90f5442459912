/* A solver whose every word has what no medium may be given, and which fails with more of it. */
#include <elastobench/solver.h>

#include <stdio.h>

#define HOSTILE                                                                                    \
  "\033]0;x\a \2331m \377\376 \302\233 \342\200\256 \177 </script><script>alert(1)</script>\r"

static const eb_option options[] = {
    {"word", EB_OPTION_TEXT, HOSTILE, 0, 0, NULL, HOSTILE, "a text" HOSTILE}, {0}};

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)solver;
  (void)scene;
  fprintf(stderr, "printed" HOSTILE "\n");
  return EB_ERROR(EB_ERR_UNSUPPORTED, "refused" HOSTILE);
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  (void)solver;
  (void)state;
  (void)dt;
  (void)log;
  (void)reason;
  return EB_ERROR(EB_ERR_UNSUPPORTED, "no step is made");
}

static void destroy(eb_solver *solver) {
  (void)solver;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {.name = "hostile",
                                          .summary = "a summary" HOSTILE,
                                          .citation = "a citation" HOSTILE,
                                          .options = options,
                                          .capabilities = ~0u,
                                          .create = create,
                                          .step = step,
                                          .destroy = destroy};
