/* Solvers on planar triangles: nothing leaves the plane, and a thickness scales forces and masses
 * alike. */
#include "problems/scene_impl.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"

static bool declares(const eb_solver_ops *ops, const char *option) {
  for (const eb_option *at = ops->options; at && at->name; at++)
    if (!strcmp(at->name, option)) return true;
  return false;
}

static const char *material_for(const eb_solver_ops *ops) {
  return ops->capabilities & EB_CAP_HYPERELASTIC ? "stable-neo-hookean" : "corotational";
}

/* Exactly 0: the unknowns along z have no right-hand side and no coupling to the plane. */
static void stays_in_plane(const eb_solver_ops *ops, const char *options) {
  static const char *const motions[] = {"gy=-9.8,support=x0,jitter=0.2", "initial=spin",
                                        "support=ends,motion=twist,rate=3"};
  for (int m = 0; m < 3; m++) {
    char parameters[160];
    snprintf(parameters, sizeof parameters, "nx=6,ny=3,element=triangles,material=%s,%s",
             material_for(ops), motions[m]);
    fixture f = fixture_open(parameters);
    if (eb_solver_lacks(ops, f.scene)) { /* scripted nodes */
      fixture_close(&f);
      continue;
    }
    eb_reason reason = fixture_step(&f, ops->name, options, 4);
    double off = 0, way = 0;
    for (int k = 0; k < 3 * f.state->node_count; k++)
      if (k % 3 == 2)
        off = fmax(off, fmax(fabs(f.state->x[k]), fabs(f.state->v[k])));
      else
        way = fmax(way, fabs(f.state->x[k] - f.scene->x0[k]));
    tap_ok(reason > 0 && off == 0 && way > 1e-4, "%s (%s), %s: moves in the plane (%g)", ops->name,
           options, motions[m], off);
    fixture_close(&f);
  }
}

static void every_solver_stays(void) {
  static const char *const linear[] = {
      "linear=cholesky", "linear=cholesky-single",      "linear=cholmod",
      "linear=cg",       "linear=cg,preconditioner=ic", "linear=petsc"};
  int met = 0;
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    if (eb_solver_wants_options(*at)) continue;
    if (!((*at)->capabilities & EB_CAP_TRIANGLES)) continue;
    met++;
    for (int i = 0; i < (declares(*at, "linear") ? 6 : 1); i++)
      stays_in_plane(*at, declares(*at, "linear") ? linear[i] : "");
  }
  tap_ok(met >= 3, "solvers that serve triangles are there");
}

/* Forces and masses are in proportion to it, so motion under gravity does not depend on it. */
static void thickness_cancels(void) {
  owned(fixture) thick = fixture_open("nx=6,ny=3,element=triangles,gy=-9.8,support=x0,E=2e4");
  owned(fixture) thin = fixture_open("nx=6,ny=3,element=triangles,gy=-9.8,support=x0,E=2e4");
  thin.scene->materials[0].thickness = 1.0 / 64;
  eb_elasticity_destroy(thin.scene->elasticity);
  tap_require(
      eb_elasticity_create(thin.scene->mesh, thin.scene->materials, &thin.scene->elasticity),
      "a thin body");
  eb_reason one = fixture_step(&thick, "newton", "rtol=1e-12", 5);
  eb_reason two = fixture_step(&thin, "newton", "rtol=1e-12", 5);
  tap_ok(one > 0 && two > 0 && fixture_energy(&thin) < 0.02 * fixture_energy(&thick),
         "a thin body has less energy");
  tap_below(eb_block_distance(thick.state, thin.state), 1e-12, "but moves alike");
}

int main(void) {
  every_solver_stays();
  thickness_cancels();
  return tap_done();
}
