/* A sound solver whose options are called like those of built-in ones and mean other things: what a
 * solver is must be told by its table, and not by names of its options. */
#include <elastobench/solver.h>

#include "tests/plugins/wrapped.h"

static const eb_option options[] = {
    {"linear", EB_OPTION_CHOICE, "mine", 0, 0, "mine|other", "", "whose solver it is"},
    {"rtol", EB_OPTION_CHOICE, "tight", 0, 0, "tight|loose", "", "as it says"},
    {"selection", EB_OPTION_BOOL, "false", 0, 0, NULL, "", "nothing"},
    {"node_rotations", EB_OPTION_BOOL, "false", 0, 0, NULL, "", "nothing"},
    {"friction_passes", EB_OPTION_INT, "7", 7, 7, NULL, "", "nothing"},
    {0}};

static void destroy(eb_solver *solver) {
  wrapped_clear(solver->data);
  free(solver->data);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  solver->data = calloc(1, sizeof(wrapped));
  if (!solver->data) return EB_ERROR(EB_ERR_MEMORY, "no memory for a solver");
  eb_error error = wrapped_create(solver->data, solver, "semi-implicit", "");
  if (error) destroy(solver);
  return error;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  return wrapped_step(solver->data, state, dt, log, reason);
}

const eb_solver_ops elastobench_solver = {
    .name = "own-words",
    .summary = "linearly implicit Euler, its options in words of its own",
    .citation = "none",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
const int elastobench_abi = EB_PLUGIN_ABI;
