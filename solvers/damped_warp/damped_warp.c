/* Stiffness warping with selective damping: `warp-cholesky` that never updates its factor.
 *
 *   R_n A R_n^T v1 = M v0 + h (f_ext - g(x0)),   x1 = x0 + h v1,   A as in the first step
 *
 * Reference: Mueller, Dorsey, McMillan, Jagnow and Cutler 2002 for stiffness warping; Hecht, Lee,
 * Shewchuk and O'Brien 2012, Sections 3.3 and 5.4 ("Damped SW"), for this form of it: exact forces
 * on the right-hand side, and elements with an error above 5e-1 drawn towards a rigid motion. A is
 * assembled anew when scripted nodes are let go or the step length changes.
 *
 * Needs, workspace (without update matrices) and failures are those of solvers/warp_cholesky/. */
#include "solvers/registry.h"
#include "solvers/warp_cholesky/warp.h"

#include <math.h>

static const eb_option options[] = {EB_WARP_OPTIONS("horn", "1"), EB_RAYLEIGH_OPTIONS, {0}};

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  eb_warp_settings settings = eb_warp_common_settings(solver->options);
  settings.rule = (eb_update_rule){.goal = EB_UPDATE_TIME, .tau = INFINITY, .budget = 0};
  settings.follow = EB_FOLLOW_WHOLE;
  return eb_warp_create(solver, &settings);
}

const eb_solver_ops eb_solver_damped_warp = {
    .name = "damped-warp",
    .summary = "stiffness warping on a constant Cholesky factor, damped where it is wrong",
    .citation = "Mueller et al. 2002; Hecht, Lee, Shewchuk and O'Brien 2012, Section 5.4",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS,
    .options = options,
    .accuracy_options = "",
    .memory =
        &(const eb_memory_model){
            .block = 227, .factor = 1, .updates = 1, .workspace = 0.45, .margin = 0.15},
    .create = create,
    .step = eb_warp_step,
    .destroy = eb_warp_destroy};
