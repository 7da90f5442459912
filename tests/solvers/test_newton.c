/* Newton's method: accuracy by the harness' own audit, treatments of the Hessian, statics,
 * outcomes. */
#include "harness/audit/audit.h"
#include "solvers/common/incremental_potential.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/mesh_quality.h"

/* ---- accuracy ---- */

static eb_audit_row audited(fixture *f, const char *options) {
  eb_audit *audit = NULL;
  eb_audit_row row = {0};
  tap_require(eb_audit_create(f->scene, &audit), "create an audit");
  owned(eb_state) *before = new_state(f->scene);
  fixture_step(f, "newton", options, 1);
  tap_require(eb_audit_step(audit, before, f->state, f->scene->dt, f->log->equation, &row),
              "audit a step");
  eb_audit_destroy(audit);
  return row;
}

/* The audit evaluates elements one by one with formulas of its own. Its force scale differs from
 * the solver's, by a factor that stays below ten on these scenes; hence 1e-7 for rtol = 1e-8. */
static void audit_confirms_the_residual(void) {
  static const char *const elements[] = {"tets6", "hexahedra", "triangles"};
  for (int e = 0; e < 3; e++)
    for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
      const char *material = eb_material_describe((eb_material_kind)kind)->name;
      char parameters[200], name[120];
      snprintf(parameters, sizeof parameters,
               "nx=3,element=%s,material=%s,%s=-20,support=x0,initial=spin,dt=0.02", elements[e],
               material, e == 2 ? "gy" : "gz");
      snprintf(name, sizeof name, "%s, %s: audited residual", elements[e], material);
      owned(fixture) f = fixture_open(parameters);
      eb_audit_row row = audited(&f, "max_iterations=300");
      tap_ok(f.reason > 0, "%s, %s: converges", elements[e], material);
      tap_below(row.implicit_euler.relative, 1e-7, name);
    }
}

static void audit_confirms_equilibrium(void) {
  owned(fixture) f = fixture_open("nx=6,E=2e5,gz=-9.8,support=x0");
  eb_audit_row row = audited(&f, "static=true");
  tap_ok(f.reason > 0 && f.log->equation == EB_EQUATION_STATIC, "statics converge and say so");
  tap_below(row.implicit_euler.relative, 1e-7, "statics: audited residual");
  tap_near(row.totals.kinetic, 0, 0, "statics: nothing moves");
}

/* A twisted bar held at both ends: nodal forces vanish at all free nodes, and only the elements at
 * the supports tell how small the residual has to be. */
static void balanced_forces_have_a_scale(void) {
  static const char *const elements[] = {"tets6", "hexahedra", "triangles"};
  for (int e = 0; e < 3; e++) {
    char parameters[128];
    snprintf(parameters, sizeof parameters, "nx=6,support=ends,motion=twist,rate=1,dt=1,element=%s",
             elements[e]);
    owned(fixture) f = fixture_open(parameters);
    eb_audit_row row = audited(&f, "static=true");
    tap_ok(f.reason == EB_CONVERGED_RTOL,
           "%s: forces that balance meet the relative tolerance (%s)", elements[e],
           eb_reason_name(f.reason));
    tap_below(row.implicit_euler.relative, 1e-7, "and the audit agrees");
  }
}

static void the_log_tells_the_iterations(void) {
  owned(fixture) f = fixture_open("nx=6,E=2e5,gz=-9.8,support=x0");
  fixture_step(&f, "newton", "", 1);
  tap_ok(f.log->residual_count == f.log->iterations + 1,
         "one residual an iteration, and the first");
  tap_ok(f.log->counters[EB_COUNT_FACTORIZATIONS] >= (double)f.log->iterations,
         "factorizations are counted");
  tap_ok(strstr(eb_log_norm(f.log), "grad W") != NULL, "the norm is named");
  tap_below(f.log->residuals[f.log->residual_count - 1], 1e-6 * f.log->residuals[0],
            "the last residual is small");
  tap_ok(f.state->step == 1 && f.state->time == f.scene->dt, "step and time advance");
}

/* ---- the iteration ---- */

static double potential_of(const fixture *f, const double *x, const double *force) {
  const double *mass = eb_elasticity_mass(f->scene->elasticity), h = f->scene->dt;
  double W = eb_elasticity_energy(f->scene->elasticity, x);
  for (int64_t k = 0; k < 3 * (int64_t)f->state->node_count; k++) {
    double off = x[k] - f->scene->x0[k] - h * f->scene->v0[k];
    W += 0.5 * mass[k / 3] * off * off / (h * h) - force[k] * x[k];
  }
  return W;
}

/* Steps cut off after 1, 2, ... iterations show the iterates. */
static void the_potential_decreases(void) {
  static const char parameters[] = "nx=4,E=1e4,initial=random,speed=8,gz=-9.8,dt=0.05";
  owned(fixture) f = fixture_open(parameters);
  owned(double) *force = calloc(3 * (size_t)f.state->node_count, sizeof *force);
  eb_scene_force(f.scene, 0, f.scene->x0, f.scene->v0, force);
  double previous = INFINITY;
  bool decreases = true;
  int iterations = 0;
  for (eb_reason reason = EB_DIVERGED_MAX_IT; reason == EB_DIVERGED_MAX_IT && iterations < 100;) {
    char options[64];
    owned(fixture) g = fixture_open(parameters);
    snprintf(options, sizeof options, "max_iterations=%d", ++iterations);
    reason = fixture_step(&g, "newton", options, 1);
    double W = potential_of(&g, g.state->x, force);
    decreases &= W <= previous + 1e-12 * fabs(previous);
    previous = W;
  }
  tap_ok(iterations > 3 && iterations < 100, "a wild start takes some iterations");
  tap_ok(decreases, "the incremental potential never rises");
}

static void treatments_agree(void) {
  static const char parameters[] = "nx=4,E=3e4,gz=-9.8,support=x0,dt=0.03";
  static const char *const options[] = {"project=auto,rtol=1e-11", "project=always,rtol=1e-11",
                                        "project=never,rtol=1e-11",
                                        "linear=cg,preconditioner=ic,rtol=1e-11"};
  owned(fixture) reference = fixture_open(parameters);
  fixture_step(&reference, "newton", options[0], 5);
  for (int i = 1; i < 4; i++) {
    owned(fixture) f = fixture_open(parameters);
    tap_ok(fixture_step(&f, "newton", options[i], 5) > 0, "%s converges", options[i]);
    tap_below(eb_block_distance(f.state, reference.state), 1e-9, "and finds the same motion");
  }
}

static void inverted_starts_recover(void) {
  owned(fixture) f = fixture_open("nx=3,E=1e5,dt=0.05");
  uint64_t seed = 3;
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    f.state->x[k] = eb_block_random(&seed);
  eb_reason reason = fixture_step(&f, "newton", "max_iterations=500", 60);
  tap_ok(reason > 0, "a scrambled block converges in every step (%s)", eb_reason_name(reason));
  eb_mesh_quality quality;
  eb_mesh_measure(f.scene->mesh, f.state->x, &quality);
  tap_ok(quality.inverted == 0, "and unscrambles itself");
}

static void large_scripted_moves_converge(void) {
  owned(fixture) f = fixture_open("nx=8,support=ends,motion=twist,rate=150,dt=0.01");
  eb_reason reason = fixture_step(&f, "newton", "", 2);
  tap_ok(reason > 0, "an end turned by 86 degrees a step converges (%s)", eb_reason_name(reason));
}

/* ---- known motions ---- */

/* n steps of implicit Euler from rest fall g h^2 n (n + 1) / 2, whatever the material. */
static void free_fall_is_exact(void) {
  owned(fixture) f = fixture_open("nx=3,gz=-9.8,dt=0.01");
  tap_ok(fixture_step(&f, "newton", "", 10) > 0, "a falling block converges");
  double most = 0, fallen = 9.8 * 1e-4 * 55;
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    most = fmax(most, fabs(f.state->x[k] - f.scene->x0[k] + (k % 3 == 2 ? fallen : 0)));
  tap_below(most, 1e-11, "it falls as a rigid body, to rounding and tolerance");
}

/* Without supports the Hessian is singular: six rigid motions cost nothing. */
static void unsupported_equilibrium_is_found(void) {
  owned(fixture) f = fixture_open("nx=3,initial=stretched");
  eb_reason reason = fixture_step(&f, "newton", "static=true", 1);
  tap_ok(reason > 0, "a stretched free block finds an equilibrium (%s)", eb_reason_name(reason));
  /* Young's modulus times volume is 1.6e4 J: strains of 1e-9 or less are left. */
  tap_below(eb_elasticity_energy(f.scene->elasticity, f.state->x), 1e-10, "the unstrained one");
}

static void no_equilibrium_is_an_outcome(void) {
  owned(fixture) f = fixture_open("nx=2,gz=-9.8");
  eb_reason reason = fixture_step(&f, "newton", "static=true,max_iterations=20", 1);
  tap_ok(reason < 0, "a free block under gravity has no equilibrium (%s)", eb_reason_name(reason));
}

/* ---- outcomes ---- */

static void tolerances_decide_the_outcome(void) {
  static const struct {
    const char *options;
    eb_reason reason;
  } cases[] = {{"rtol=1e-6", EB_CONVERGED_RTOL},
               {"rtol=0,atol=1e-3", EB_CONVERGED_ATOL},
               {"rtol=0", EB_CONVERGED_STAGNATED},
               {"rtol=1e-15", EB_CONVERGED_STAGNATED},
               {"max_iterations=1", EB_DIVERGED_MAX_IT}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    owned(fixture) f = fixture_open("nx=5,E=5e4,gz=-9.8,support=x0,dt=0.05");
    fixture_step(&f, "newton", cases[i].options, 1);
    tap_ok(f.reason == cases[i].reason, "%s ends with %s", cases[i].options,
           eb_reason_name(f.reason));
    tap_below((double)f.log->iterations, 15, "within a few iterations");
    tap_ok(f.state->step == 1, "and the step is taken");
  }
}

static void truncated_linear_solves_still_descend(void) {
  owned(fixture) f = fixture_open("nx=5,gz=-9.8,support=x0");
  eb_reason reason =
      fixture_step(&f, "newton", "linear=cg,linear_max_iterations=5,max_iterations=1000", 1);
  tap_ok(reason > 0, "five conjugate gradients an iteration suffice (%s)", eb_reason_name(reason));
}

int main(void) {
  audit_confirms_the_residual();
  audit_confirms_equilibrium();
  balanced_forces_have_a_scale();
  the_log_tells_the_iterations();
  the_potential_decreases();
  treatments_agree();
  inverted_starts_recover();
  large_scripted_moves_converge();
  free_fall_is_exact();
  unsupported_equilibrium_is_found();
  no_equilibrium_is_an_outcome();
  tolerances_decide_the_outcome();
  truncated_linear_solves_still_descend();
  nan_is_an_outcome("newton", "stable-neo-hookean");
  extremes_are_outcomes("newton", "stable-neo-hookean");
  return tap_done();
}
