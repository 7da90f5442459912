/* What Newton's method promises: quadratic convergence, and the equilibrium that dynamics ends
 * in. */
#include "harness/check/block.h"
#include "harness/check/check.h"

#include <math.h>

/* ---- quadratic tail ---- */

/* Order over the last two iterations above rounding, r3 the last residual there: with log(r(k+1) /
 * r(k)) growing by a factor p an iteration, p^2 = log(r3 / r2) / log(r1 / r0). Two iterations,
 * because the norm weighs the components of an error differently from one to the next. */
static double tail_order(const eb_step_log *log) {
  int64_t count =
      log->residual_count < log->residual_capacity ? log->residual_count : log->residual_capacity;
  const double *r = log->residuals;
  int64_t k = count - 1;
  while (k > 3 && r[k] <= 2 * r[count - 1]) k--;
  return k < 3 ? NAN : sqrt(log2(r[k] / r[k - 1]) / log2(r[k - 2] / r[k - 3]));
}

static eb_error tail_of(const eb_check *check, const char *material) {
  eb_scene *scene = NULL;
  eb_step_log *log = NULL;
  eb_state *state = NULL;
  EB_TRY(eb_block_create(&scene,
                         "nx=10,ny=2,nz=2,lx=1,ly=0.2,lz=0.2,E=1e6,nu=0.4,gx=300,"
                         "support=x0,material=%s",
                         material));
  eb_error error = eb_step_log_create(200, &log);
  if (!error)
    error = eb_block_run(scene, check->solver, "static=true,rtol=1e-14", 1, 1, log, &state);
  if (!error)
    eb_check_above(check, tail_order(log), 1.5,
                   "observed order of the last residuals above rounding in a bar stretched by a "
                   "third; 2 for Newton's method with the exact Hessian, less when rounding shows "
                   "in them, 1 with an approximate one",
                   "newton/%s/tail", material);
  eb_state_destroy(state);
  eb_step_log_destroy(log);
  eb_scene_destroy(scene);
  return error;
}

eb_error eb_check_newton_tail(const eb_check *check) {
  static const char *const materials[] = {"stable-neo-hookean", "neo-hookean", "stvk",
                                          "fixed-corotational", "corotated",   "mooney-rivlin"};
  for (int m = 0; m < 6; m++) EB_TRY(tail_of(check, materials[m]));
  return EB_OK;
}

/* ---- equilibrium ---- */

eb_error eb_check_equilibrium(const eb_check *check) {
  eb_scene *scene = NULL;
  eb_state *still = NULL, *settled = NULL;
  EB_TRY(eb_block_create(&scene, "nx=5,ny=2,nz=2,E=2e5,nu=0.3,gz=-9.8,dt=0.1,support=x0"));
  eb_error error = eb_block_run(scene, check->solver, "static=true,rtol=1e-12", 1, 1, NULL, &still);
  if (!error)
    error = eb_block_run(scene, eb_solver_find("semi-implicit"), "", 1, 400, NULL, &settled);
  if (!error)
    eb_check_below(check, eb_block_distance(still, settled), 1e-8,
                   "m, of a 1 m beam; the step of 0.1 s damps all motion within 40 s",
                   "newton/equilibrium-is-the-end-of-dynamics");
  eb_state_destroy(still);
  eb_state_destroy(settled);
  eb_scene_destroy(scene);
  return error;
}
