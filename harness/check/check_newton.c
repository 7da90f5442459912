/* What Newton's method promises: quadratic convergence, and the equilibrium that dynamics ends in. */
#include "harness/check/block.h"
#include "harness/check/check.h"

#include <math.h>

/* ---- quadratic tail ---- */

/* log(r2 / r1) / log(r1 / r0) of the three residuals that end at index k. */
static double order_at(const double *r, int64_t k) {
  return k < 2 ? -INFINITY : log2(r[k] / r[k - 1]) / log2(r[k - 1] / r[k - 2]);
}

/* The order observed where the iteration reaches rounding, as seen by the first residual down there,
 * which rounding can only make look slower, or by the one before. */
static double tail_order(const eb_step_log *log) {
  int64_t count =
      log->residual_count < log->residual_capacity ? log->residual_count : log->residual_capacity;
  const double *r = log->residuals;
  int64_t k = 0;
  while (k < count - 1 && r[k] > 30 * r[count - 1]) k++;
  return fmax(order_at(r, k), order_at(r, k - 1));
}

static eb_error tail_on(const eb_check *check, const eb_scene *scene, const char *material,
                        eb_step_log *log) {
  eb_state *state = NULL;
  EB_TRY(eb_block_run(scene, check->solver, "static=true,rtol=1e-14", 1, 1, log, &state));
  eb_state_destroy(state);
  eb_check_above(check, tail_order(log), 1.7,
                 "observed order of the last residuals above rounding; 2 for Newton's method with "
                 "the exact Hessian, 1 with an approximate one",
                 "newton/%s/tail", material);
  return EB_OK;
}

static eb_error tail_of(const eb_check *check, const char *material) {
  eb_scene *scene = NULL;
  eb_step_log *log = NULL;
  EB_TRY(eb_block_create(&scene,
                         "nx=10,ny=2,nz=2,lx=1,ly=0.2,lz=0.2,E=1e6,nu=0.4,gz=-3,"
                         "support=x0,material=%s",
                         material));
  eb_error error = eb_step_log_create(200, &log);
  if (!error) error = tail_on(check, scene, material, log);
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

static eb_error equilibrium_on(const eb_check *check, const eb_scene *scene, eb_state **still,
                               eb_state **settled) {
  EB_TRY(eb_block_run(scene, check->solver, "static=true,rtol=1e-12", 1, 1, NULL, still));
  EB_TRY(eb_block_run(scene, eb_solver_find("semi-implicit"), "", 1, 400, NULL, settled));
  eb_check_below(check, eb_block_distance(*still, *settled), 1e-8,
                 "m, of a 1 m beam; the step of 0.1 s damps all motion within 40 s",
                 "newton/equilibrium-is-the-end-of-dynamics");
  return EB_OK;
}

eb_error eb_check_equilibrium(const eb_check *check) {
  eb_scene *scene = NULL;
  eb_state *still = NULL, *settled = NULL;
  EB_TRY(eb_block_create(&scene, "nx=5,ny=2,nz=2,E=2e5,nu=0.3,gz=-9.8,dt=0.1,support=x0"));
  eb_error error = equilibrium_on(check, scene, &still, &settled);
  eb_state_destroy(still);
  eb_state_destroy(settled);
  eb_scene_destroy(scene);
  return error;
}
