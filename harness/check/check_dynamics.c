/* What every dynamic solver owes: momentum, scripts, order in time, determinism, agreement of its
 * linear solvers; the dissipation of implicit Euler; and what Newton's method promises: quadratic
 * convergence, and the equilibrium that dynamics ends in. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/scene_impl.h"
#include "problems/base/memory.h"

#include <math.h>
#include <string.h>

/* Stiffness warping: node rotations about a matrix that nothing brings up to date. */
static bool keeps_its_matrix(const eb_solver_ops *ops) {
  return eb_subject_declares(ops, "node_rotations") && !eb_subject_declares(ops, "tau");
}

/* ---- momentum ---- */

typedef struct momentum {
  double linear[3], angular[3], linear_scale, angular_scale;
} momentum;

static double length_of(const double a[3]) {
  return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

static momentum momentum_of(const eb_scene *scene, const double *x, const double *v) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  momentum out = {0};
  for (int32_t i = 0; i < scene->mesh->node_count; i++, x += 3, v += 3) {
    for (int k = 0; k < 3; k++) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      out.linear[k] += mass[i] * v[k];
      out.angular[k] += mass[i] * (x[a] * v[b] - x[b] * v[a]);
    }
    out.linear_scale += mass[i] * length_of(v);
    out.angular_scale += mass[i] * length_of(x) * length_of(v);
  }
  return out;
}

/* Relative changes of linear and angular momentum over 0.1 s of free flight. */
static eb_error flight_drift(const eb_check *check, int steps, double drift[2]) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_create(&scene, "nx=3,ny=2,nz=2,E=1e5,initial=spin,speed=1,dt=%g,material=%s",
                         0.1 / steps, eb_subject_material(check->solver)));
  EB_TRY(
      eb_block_run(scene, check->solver, eb_subject_exact(check->solver), 1, steps, NULL, &state));
  momentum before = momentum_of(scene, scene->x0, scene->v0);
  momentum after = momentum_of(scene, state->x, state->v);
  for (int k = 0; k < 3; k++) {
    after.linear[k] -= before.linear[k];
    after.angular[k] -= before.angular[k];
  }
  drift[0] = length_of(after.linear) / before.linear_scale;
  drift[1] = length_of(after.angular) / before.angular_scale;
  return EB_OK;
}

static eb_error check_momentum(const eb_check *check) {
  double coarse[2], fine[2];
  eb_equation equation;
  EB_TRY(eb_subject_equation(check->solver, &equation));
  EB_TRY(flight_drift(check, 40, coarse));
  EB_TRY(flight_drift(check, 80, fine));
  bool ghosts = keeps_its_matrix(check->solver);
  eb_check_below(check, fmax(coarse[0], fine[0]), ghosts ? 1e-3 : 1e-9,
                 ghosts ? "relative change in free flight; node rotations that differ within an "
                          "element leave ghost forces, which do not cancel"
                        : "relative change in free flight; internal forces cancel, so only "
                          "rounding and the nonlinear tolerance remain",
                 "%s/momentum/linear", check->solver->name);
  /* Explicit steps keep it: x1 x v1 = x0 x v1, and forces at x0 have no moment. */
  bool kept = fmax(coarse[1], fine[1]) < 1e-12;
  if (equation != EB_EQUATION_POSITION_BASED && !kept)
    eb_check_above(
        check, log2(coarse[1] / fine[1]), ghosts ? 0.5 : 0.85,
        "observed order of the change in h; implicit Euler changes it by h^2 v1 x g(x1) a "
        "step, an error of first order, and ghost forces have their own part in it",
        "%s/momentum/angular-order", check->solver->name);
  eb_check_below(check, fine[1], 0.1, "relative change in free flight at the finer step",
                 "%s/momentum/angular", check->solver->name);
  return EB_OK;
}

/* ---- scripts ---- */

static eb_error check_script(const eb_check *check) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_FREED uint8_t *fixed = NULL;
  EB_FREED double *target = NULL;
  double most = 0;
  if (!eb_subject_can(check->solver, EB_CAP_SCRIPTED)) return EB_OK;
  EB_TRY(eb_block_create(&scene, "nx=6,support=ends,motion=twist,rate=3,dt=0.01,material=%s",
                         eb_subject_material(check->solver)));
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  EB_TRY(EB_NEW(fixed, size / 3));
  EB_TRY(EB_NEW(target, size));
  EB_TRY(eb_block_run(scene, check->solver, "", 1, 5, NULL, &state));
  memcpy(target, scene->mesh->X, (size_t)size * sizeof *target);
  eb_scene_boundary(scene, state->time, fixed, target);
  for (int64_t k = 0; k < size; k++)
    if (fixed[k / 3]) most = fmax(most, fabs(state->x[k] - target[k]));
  eb_check_below(check, most, 0, "m; scripted nodes are where the script says, to the last bit",
                 "%s/script", check->solver->name);
  return EB_OK;
}

/* ---- determinism ---- */

static eb_error threads_on(const eb_check *check, eb_scene *scene, const char *options) {
  uint64_t hash[2];
  for (int threads = 1; threads <= 2; threads++) {
    EB_OWNED(eb_check_free_state) eb_state *state = NULL;
    EB_TRY(eb_block_run(scene, check->solver, options, threads, 3, NULL, &state));
    hash[threads - 1] = eb_state_hash(state);
  }
  eb_check_below(check, hash[0] != hash[1], 0,
                 "1 when the state's bits differ between 1 and 2 threads", "%s/threads%s%s",
                 check->solver->name, *options ? "/" : "", options);
  return EB_OK;
}

/* Large enough that every parallel loop is split. */
static eb_error check_threads(const eb_check *check) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  int cubes = check->quick ? 12 : 24;
  EB_TRY(eb_block_create(&scene,
                         "nx=%d,ny=%d,nz=%d,lx=1,ly=0.3,lz=0.3,gz=-9.8,support=x0,material=%s",
                         cubes, cubes / 3, cubes / 3, eb_subject_material(check->solver)));
  bool linear = eb_subject_declares(check->solver, "linear");
  EB_TRY(threads_on(check, scene, linear ? "linear=cholesky" : ""));
  return linear ? threads_on(check, scene, "linear=cg") : EB_OK;
}

/* ---- linear solvers ---- */

static eb_error compare_linear(const eb_check *check, eb_scene *scene, const eb_state *reference,
                               const char *kind) {
  char options[128];
  snprintf(options, sizeof options, "linear=%s,linear_rtol=1e-14%s", kind,
           eb_subject_declares(check->solver, "rtol") ? ",rtol=1e-12" : "");
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_run(scene, check->solver, options, 1, 3, NULL, &state));
  double off = eb_block_distance(state, reference);
  eb_check_below(check, off, 1e-10, "m, of a 1 m block, against Cholesky after three steps",
                 "%s/linear/%s", check->solver->name, kind);
  return EB_OK;
}

static eb_error check_linear(const eb_check *check) {
  if (!eb_subject_declares(check->solver, "linear")) return EB_OK;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_TRY(eb_block_create(&scene, "nx=6,ny=3,nz=3,E=1e5,gz=-9.8,support=x0,material=%s",
                         eb_subject_material(check->solver)));
  static const char *const kinds[] = {"cholmod", "cholesky-single", "cg", "cg,preconditioner=ic",
                                      "petsc"};
  EB_OWNED(eb_check_free_state) eb_state *reference = NULL;
  const char *options =
      eb_subject_declares(check->solver, "rtol") ? "linear=cholesky,rtol=1e-12" : "linear=cholesky";
  EB_TRY(eb_block_run(scene, check->solver, options, 1, 3, NULL, &reference));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    EB_TRY(compare_linear(check, scene, reference, kinds[k]));
  return EB_OK;
}

/* ---- order in time ---- */

static eb_error swing(const eb_solver_ops *ops, const char *options, const char *material,
                      int steps, eb_state **state) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_TRY(eb_block_create(&scene, "nx=5,ny=2,nz=2,E=1e5,gz=-9.8,support=x0,material=%s,dt=%.17g",
                         material, 0.1 / steps));
  return eb_block_run(scene, ops, options, 1, steps, NULL, state);
}

/* Where the swing ends as h tends to 0: of Newton's method at two steps, whose errors are of first
 * order, what cancels these. */
static eb_error swing_limit(const char *material, eb_state **out) {
  enum { FINE = 640 };
  EB_OWNED(eb_check_free_state) eb_state *coarse = NULL;
  EB_TRY(swing(eb_solver_find("newton"), "", material, FINE / 2, &coarse));
  EB_TRY(swing(eb_solver_find("newton"), "", material, FINE, out));
  for (int64_t k = 0; k < 3 * (int64_t)coarse->node_count; k++)
    (*out)->x[k] += (*out)->x[k] - coarse->x[k];
  return EB_OK;
}

static eb_error check_time_order(const eb_check *check) {
  EB_OWNED(eb_check_free_state) eb_state *reference = NULL;
  eb_equation equation;
  double error_of[2];
  EB_TRY(eb_subject_equation(check->solver, &equation));
  if (equation == EB_EQUATION_POSITION_BASED) return EB_OK;
  EB_TRY(swing_limit(eb_subject_material(check->solver), &reference));
  for (int level = 0; level < 2; level++) {
    EB_OWNED(eb_check_free_state) eb_state *state = NULL;
    EB_TRY(swing(check->solver, eb_subject_exact(check->solver), eb_subject_material(check->solver),
                 20 << level, &state));
    error_of[level] = eb_block_distance(state, reference);
  }
  eb_check_above(check, log2(error_of[0] / error_of[1]), 0.85,
                 "observed order in h against the limit of Newton's method, extrapolated from "
                 "steps 8 and 16 times finer; 1 for implicit Euler in any form",
                 "%s/time-order", check->solver->name);
  return EB_OK;
}

/* ---- energy ---- */

static double total_energy(const eb_scene *scene, const eb_state *state) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double kinetic = 0;
  for (int64_t k = 0; k < 3 * (int64_t)state->node_count; k++)
    kinetic += 0.5 * mass[k / 3] * state->v[k] * state->v[k];
  return kinetic + eb_elasticity_energy(scene->elasticity, state->x);
}

static eb_error check_energy(const eb_check *check) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  eb_reason reason = EB_CONVERGED_ITS;
  double rise = -INFINITY; /* largest of a step, over the start's */
  EB_TRY(eb_block_create(&scene, "nx=4,support=x0,initial=stretched,E=1e5,dt=0.005"));
  EB_TRY(eb_state_create(scene, &state));
  double start = total_energy(scene, state), energy = start;
  for (int step = 0; step < 20 && reason > 0; step++) {
    EB_TRY(eb_block_advance(scene, check->solver, "", 1, 1, NULL, state, &reason));
    double next = total_energy(scene, state);
    rise = fmax(rise, (next - energy) / start);
    energy = next;
  }
  if (reason <= 0) return EB_ERROR(EB_ERR_INVALID, "a step ends with %s", eb_reason_name(reason));
  eb_check_below(check, rise, 1e-9,
                 "largest rise of kinetic plus elastic energy in a step over the start's; implicit "
                 "Euler dissipates where the energy is convex along the motion",
                 "%s/energy/rise", check->solver->name);
  eb_check_below(check, energy / start, 0.9, "energy left after 20 steps of a free vibration",
                 "%s/energy/left", check->solver->name);
  return EB_OK;
}

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
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_log) eb_step_log *log = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_create(&scene,
                         "nx=10,ny=2,nz=2,lx=1,ly=0.2,lz=0.2,E=1e6,nu=0.4,gx=300,"
                         "support=x0,material=%s",
                         material));
  EB_TRY(eb_step_log_create(200, &log));
  EB_TRY(eb_block_run(scene, check->solver, "static=true,rtol=1e-14", 1, 1, log, &state));
  eb_check_above(check, tail_order(log), 1.5,
                 "observed order of the last residuals above rounding in a bar stretched by a "
                 "third; 2 for Newton's method with the exact Hessian, less when rounding shows "
                 "in them, 1 with an approximate one",
                 "newton/%s/tail", material);
  return EB_OK;
}

static eb_error check_newton_tail(const eb_check *check) {
  static const char *const materials[] = {"stable-neo-hookean", "neo-hookean", "stvk",
                                          "fixed-corotational", "corotated",   "mooney-rivlin"};
  for (int m = 0; m < 6; m++) EB_TRY(tail_of(check, materials[m]));
  return EB_OK;
}

/* ---- equilibrium ---- */

static eb_error check_equilibrium(const eb_check *check) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *still = NULL;
  EB_OWNED(eb_check_free_state) eb_state *settled = NULL;
  EB_TRY(eb_block_create(&scene, "nx=5,ny=2,nz=2,E=2e5,nu=0.3,gz=-9.8,dt=0.1,support=x0"));
  EB_TRY(eb_block_run(scene, check->solver, "static=true,rtol=1e-12", 1, 1, NULL, &still));
  EB_TRY(eb_block_run(scene, eb_solver_find("semi-implicit"), "", 1, 400, NULL, &settled));
  eb_check_below(check, eb_block_distance(still, settled), 1e-8,
                 "m, of a 1 m beam; the step of 0.1 s damps all motion within 40 s",
                 "newton/equilibrium-is-the-end-of-dynamics");
  return EB_OK;
}

const eb_check_group eb_checks_dynamics[] = {{"newton-tail", check_newton_tail, "newton"},
                                             {"equilibrium", check_equilibrium, "newton"},
                                             {"energy", check_energy, "newton"},
                                             {"momentum", check_momentum, "*"},
                                             {"script", check_script, "*"},
                                             {"threads", check_threads, "*"},
                                             {"linear", check_linear, "*"},
                                             {"time-order", check_time_order, "*"},
                                             {0}};
