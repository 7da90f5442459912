/* Linearly implicit Euler: the equation it claims, its limits, its agreement with Newton's
 * method. */
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "problems/scene_impl.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"

/* |(a M + b H(x0)) v1 - M v0 - h (f_ext - g(x0))|_2 over the free nodes, relative to |M v0| +
 * h |f_ext| + h |g|: the step's equation, evaluated from its result. */
static double equation_residual(const fixture *f, const eb_state *before, double mass_scale,
                                double stiffness_scale, bool project) {
  const eb_scene *scene = f->scene;
  const double *mass = eb_elasticity_mass(scene->elasticity), h = scene->dt;
  int64_t size = 3 * (int64_t)before->node_count;
  owned(double) *g = eb_calloc((size_t)size, sizeof *g), *Av = eb_calloc((size_t)size, sizeof *Av);
  owned(double) *force = eb_calloc((size_t)size, sizeof *force);
  owned(double) *target = eb_calloc((size_t)size, sizeof *target);
  owned(uint8_t) *fixed = eb_calloc((size_t)before->node_count, 1);
  owned(eb_block_matrix) *A = new_matrix(scene->elasticity);
  eb_elasticity_matrix(scene->elasticity, before->x, mass_scale, stiffness_scale, project, A, g);
  eb_block_multiply(A, f->state->v, Av);
  eb_scene_force(scene, before->time, before->x, before->v, force);
  eb_scene_boundary(scene, f->state->time, fixed, target);
  double residual = 0, scale = 0;
  for (int64_t k = 0; k < size; k++) {
    double b = mass[k / 3] * before->v[k] + h * (force[k] - g[k]);
    scale += fabs(mass[k / 3] * before->v[k]) + h * fabs(force[k]) + h * fabs(g[k]);
    if (!fixed[k / 3]) residual += (Av[k] - b) * (Av[k] - b);
  }
  return sqrt(residual) / scale;
}

static const char deformed[] = "nx=5,E=1e5,gz=-9.8,support=ends,motion=twist,rate=4,"
                               "initial=random,speed=0.3,dt=0.01";

static void the_equation_holds(void) {
  static const struct {
    const char *options;
    double beta;
  } cases[] = {{"", 1},
               {"beta=3.7", 3.7},
               {"beta=0.5", 0.5},
               {"linear=cg,linear_rtol=1e-13", 1},
               {"linear=cg,preconditioner=ic,linear_rtol=1e-13", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    owned(fixture) before = fixture_open(deformed), after = fixture_open(deformed);
    fixture_step(&before, "semi-implicit", cases[i].options, 3);
    fixture_step(&after, "semi-implicit", cases[i].options, 4);
    double h = after.scene->dt;
    tap_below(equation_residual(&after, before.state, 1, cases[i].beta * h * h, true), 1e-12,
              cases[i].options[0] ? cases[i].options : "beta=1: the equation of the paper holds");
    double most = 0;
    for (int64_t k = 0; k < 3 * (int64_t)before.state->node_count; k++)
      most = fmax(most, fabs(after.state->x[k] - before.state->x[k] - h * after.state->v[k]));
    tap_below(most, 1e-15, "and x1 = x0 + h v1, to rounding");
  }
}

static void without_stiffness_it_is_symplectic_euler(void) {
  owned(fixture) f = fixture_open("nx=3,E=1e4,initial=stretched,dt=1e-4");
  const double *mass = eb_elasticity_mass(f.scene->elasticity);
  owned(double) *g = eb_calloc(3 * (size_t)f.state->node_count, sizeof *g);
  double most = 0, scale = 0;
  eb_elasticity_gradient(f.scene->elasticity, f.scene->x0, g);
  fixture_step(&f, "semi-implicit", "beta=0", 1);
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++) {
    double v = -f.scene->dt * g[k] / mass[k / 3];
    scale = fmax(scale, fabs(v));
    most = fmax(most, fabs(f.state->v[k] - v));
  }
  tap_below(most / scale, 1e-14, "beta=0 is explicit: v1 = v0 - h g / m");
}

/* Small-strain elasticity is quadratic: one linear solve is the whole implicit step. */
static void linear_material_needs_no_iteration(void) {
  static const char parameters[] =
      "nx=5,E=1e5,material=linear,gz=-9.8,support=x0,initial=random,dt=0.02";
  owned(fixture) a = fixture_open(parameters), b = fixture_open(parameters);
  tap_ok(fixture_step(&a, "semi-implicit", "", 10) == EB_CONVERGED_DIRECT, "a direct solve");
  tap_ok(fixture_step(&b, "newton", "rtol=1e-12", 10) > 0, "Newton's method converges");
  tap_below(eb_block_distance(a.state, b.state), 1e-10,
            "on a quadratic energy both are implicit Euler");
}

/* From rest, the guess of Newton's method is x0 and its first full step solves the same system. */
static void it_is_the_first_newton_iteration(void) {
  static const char parameters[] = "nx=5,E=1e5,gz=-2,support=x0,dt=0.02";
  owned(fixture) a = fixture_open(parameters), b = fixture_open(parameters);
  fixture_step(&a, "semi-implicit", "", 1);
  fixture_step(&b, "newton", "max_iterations=1,project=always", 1);
  tap_below(eb_block_distance(a.state, b.state), 1e-14, "beta=1 is Newton's first iteration");
}

static double energy_left(const char *options) {
  owned(fixture) f = fixture_open("nx=5,E=1e5,support=x0,initial=random,speed=0.3,dt=0.01");
  tap_ok(fixture_step(&f, "semi-implicit", options, 20) > 0, "%s runs", options);
  return fixture_energy(&f);
}

static void beta_damps(void) {
  double little = energy_left("beta=1"), much = energy_left("beta=3.7");
  tap_below(much, 0.8 * little, "a larger beta leaves less energy");
}

static void residuals_of_the_linear_solver_are_logged(void) {
  owned(fixture) f = fixture_open(deformed);
  eb_reason reason = fixture_step(&f, "semi-implicit", "linear=cg,linear_rtol=1e-9", 1);
  tap_ok(reason == EB_CONVERGED_RTOL && f.log->residual_count > 2,
         "conjugate gradients log their residuals");
  tap_ok(f.log->counters[EB_COUNT_LINEAR_ITERATIONS] > 0, "and count their iterations");
  reason = fixture_step(&f, "semi-implicit", "linear=cg,linear_max_iterations=2", 1);
  tap_ok(reason == EB_DIVERGED_MAX_IT, "too few iterations are an outcome (%s)",
         eb_reason_name(reason));
}

/* Unprojected and strongly compressed, the matrix is indefinite: an outcome, and no step. */
static void indefinite_matrices_are_outcomes(void) {
  owned(fixture) f = fixture_open("nx=4,E=1e7,nu=0.45,dt=0.1");
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++) f.state->x[k] *= k % 3 ? 1 : 0.3;
  double kept = f.state->x[0];
  eb_reason reason = fixture_step(&f, "semi-implicit", "project=false", 1);
  tap_ok(reason == EB_NOT_POSITIVE_DEFINITE, "project=false under compression ends with %s",
         eb_reason_name(reason));
  tap_ok(f.state->step == 0 && f.state->x[0] == kept, "and leaves the state alone");
  tap_ok(fixture_step(&f, "semi-implicit", "", 1) > 0, "the projected matrix is definite");
}

int main(void) {
  the_equation_holds();
  without_stiffness_it_is_symplectic_euler();
  linear_material_needs_no_iteration();
  it_is_the_first_newton_iteration();
  beta_damps();
  residuals_of_the_linear_solver_are_logged();
  indefinite_matrices_are_outcomes();
  nan_is_an_outcome("semi-implicit", "stable-neo-hookean");
  extremes_are_outcomes("semi-implicit", "stable-neo-hookean");
  return tap_done();
}
