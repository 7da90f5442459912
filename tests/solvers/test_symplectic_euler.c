/* Explicit steps: the equation of a part, its order, its energy, and the bound on its length. */
#include "problems/base/memory.h"
#include "solvers/symplectic_euler/stability.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/dense.h"
#include "tests/support/lapack.h"

/* ---- the bound ------------------------------------------------------------------------------- */

/* 2 / sqrt of the largest eigenvalue of M^-1/2 H M^-1/2 over the free nodes, by LAPACK. */
static double true_limit(const fixture *f, const uint8_t *fixed) {
  const double *mass = eb_elasticity_mass(f->scene->elasticity);
  double w[LAPACK_MAX_SIZE];
  int n = 3 * f->state->node_count;
  tap_ok(n <= LAPACK_MAX_SIZE, "%d unknowns have room", n);
  owned(eb_block_matrix) *A = new_matrix(f->scene->elasticity);
  eb_elasticity_matrix(f->scene->elasticity, f->state->x, 0, 1, false, A, NULL);
  owned(double) *H = zeros(double, (size_t)n *(size_t)n);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int e = 0; e < 9 && !fixed[i] && !fixed[A->column[b]]; e++)
        H[(size_t)n * (size_t)(3 * i + e / 3) + (size_t)(3 * A->column[b] + e % 3)] =
            A->values[9 * (int64_t)b + e] / sqrt(mass[i] * mass[A->column[b]]);
  tap_ok(lapack_eigen(n, H, w) == 0, "LAPACK finds the eigenvalues");
  return 2 / sqrt(w[n - 1]);
}

static void the_bound_is_one(const char *parameters) {
  owned(fixture) f = fixture_open(parameters);
  owned(uint8_t) *fixed = zeros(uint8_t, f.state->node_count);
  owned(double) *target = zeros(double, 3 * (size_t)f.state->node_count);
  owned(eb_block_matrix) *matrix = new_matrix(f.scene->elasticity);
  eb_scene_boundary(f.scene, 0, fixed, target);
  double limit = true_limit(&f, fixed);
  double bound = eb_stable_step(f.scene, f.state->x, fixed, matrix);
  /* Rounding of the sums. Half of the limit would still be of use. */
  tap_ok(bound <= limit * (1 + 1e-12) && bound >= 0.5 * limit,
         "%s: the bound, %.3g s, is below the limit, %.3g s, and not far", parameters, bound,
         limit);
  memset(fixed, 1, (size_t)f.state->node_count);
  tap_ok(isinf(eb_stable_step(f.scene, f.state->x, fixed, matrix)),
         "%s: there is none where nothing is free", parameters);
}

/* Beyond the limit a body at rest, touched once, blows up; below it, it never does. */
static void the_limit_is_one(void) {
  owned(fixture) f = fixture_open("nx=2,E=1e4,dt=1e-3,initial=random,speed=1e-6");
  owned(uint8_t) *fixed = zeros(uint8_t, f.state->node_count);
  double limit = true_limit(&f, fixed), before = fixture_energy(&f);
  f.scene->dt = 0.99 * limit;
  fixture_step(&f, "symplectic-euler", "substeps=1", 2000);
  /* The energy of a mode near the limit goes up and down by 1 / (1 - k w / 2), 100 here. */
  tap_ok(fixture_energy(&f) <= 1e3 * before, "just below the limit it stays");
  f.scene->dt = 1.01 * limit;
  fixture_step(&f, "symplectic-euler", "substeps=1", 2000);
  tap_ok(!(fixture_energy(&f) <= 1e6 * before), "just above it does not");
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char bent[] = "nx=4,E=1e5,gz=-9.8,support=x0,dt=0.01";

static void a_part_is_its_equation(void) {
  owned(fixture) f = fixture_open("nx=3,E=1e4,initial=stretched,gz=-9.8,dt=1e-4");
  const double *mass = eb_elasticity_mass(f.scene->elasticity), h = f.scene->dt;
  int64_t n = 3 * (int64_t)f.state->node_count;
  double most = 0, scale = 0, moved = 0;
  owned(double) *g = zeros(double, n);
  eb_elasticity_gradient(f.scene->elasticity, f.scene->x0, g);
  fixture_step(&f, "symplectic-euler", "substeps=1", 1);
  for (int64_t k = 0; k < n; k++) {
    double v = h * (f.scene->gravity[k % 3] - g[k] / mass[k / 3]);
    scale = fmax(scale, fabs(v));
    most = fmax(most, fabs(f.state->v[k] - v));
    moved = fmax(moved, fabs(f.state->x[k] - f.scene->x0[k] - h * v));
  }
  tap_below(most / scale, 1e-12, "one part is v1 = v0 + h (f - g) / m");
  tap_below(moved, 4e-16, "and x1 = x0 + h v1, of lengths of a metre to rounding");
}

/* Of positions after 0.1 s, from two runs, largest over the nodes. */
static double apart(const char *a, const char *b) {
  owned(fixture) one = fixture_open(bent), two = fixture_open(bent);
  double most = 0;
  fixture_step(&one, "symplectic-euler", a, 10);
  fixture_step(&two, "symplectic-euler", b, 10);
  for (int64_t k = 0; k < 3 * (int64_t)one.state->node_count; k++)
    most = fmax(most, fabs(one.state->x[k] - two.state->x[k]));
  return most;
}

static void the_order_is_one(void) {
  double coarse = apart("substeps=40", "substeps=80"), fine = apart("substeps=80", "substeps=160");
  double order = log2(coarse / fine);
  tap_ok(order > 0.9 && order < 1.1, "halving the parts halves the error: order %.3f", order);
}

static void energy_is_kept(void) {
  owned(fixture) f = fixture_open("nx=4,E=1e5,initial=stretched,dt=0.01");
  double first = fixture_energy(&f), least = first, most = first;
  for (int k = 0; k < 100; k++) {
    fixture_step(&f, "symplectic-euler", "substeps=100", 1);
    least = fmin(least, fixture_energy(&f));
    most = fmax(most, fixture_energy(&f));
  }
  /* It goes up and down by O(k w) of itself: parts are a tenth of the limit and less. */
  tap_ok(most - least < 0.1 * first, "over 100 steps the energy stays within a tenth (%.3f)",
         (most - least) / first);
}

static void parts_are_counted(void) {
  owned(fixture) f = fixture_open(bent);
  tap_ok(fixture_step(&f, "symplectic-euler", "", 50) == EB_CONVERGED_ITS && all_finite(f.state),
         "as many parts as are stable are taken by default");
  tap_ok(f.log->iterations > 1, "of which there are %lld", (long long)f.log->iterations);
  int64_t parts = f.log->iterations;
  f.scene->dt *= 10;
  fixture_step(&f, "symplectic-euler", "", 1);
  tap_ok(f.log->iterations > 5 * parts && f.log->iterations < 20 * parts,
         "ten times as many in ten times the step (%lld)", (long long)f.log->iterations);
  double x = f.state->x[20];
  tap_ok(fixture_step(&f, "symplectic-euler", "max_substeps=3", 1) == EB_DIVERGED_MAX_IT &&
             f.state->x[20] == x,
         "more than it may take is an outcome, and leaves the state alone");
  tap_ok(fixture_step(&f, "symplectic-euler", "substeps=1", 400) == EB_DIVERGED_NAN &&
             all_finite(f.state),
         "and so is a state that blows up");
}

/* ---- scripted nodes -------------------------------------------------------------------------- */

static const char twisted[] = "nx=4,E=1e5,support=ends,motion=twist,rate=3";

/* A block twisted by its ends, after 0.08 s. */
static fixture twist(const char *solver, const char *options, double dt) {
  char parameters[120];
  snprintf(parameters, sizeof parameters, "%s,dt=%.17g", twisted, dt);
  fixture f = fixture_open(parameters);
  fixture_step(&f, solver, options, (int64_t)lround(0.08 / dt));
  return f;
}

/* Root of the mean square distance over the nodes. */
static double distance(const fixture *a, const fixture *b) {
  double sum = 0;
  int64_t n = 3 * (int64_t)a->state->node_count;
  for (int64_t k = 0; k < n; k++) {
    double off = a->state->x[k] - b->state->x[k];
    sum += off * off;
  }
  return sqrt(sum / ((double)n / 3));
}

/* Newton's method at step 0, extrapolated from two of its steps, and explicit parts go to one
 * motion: of the first order at least, until what is left is Newton's. */
static void scripts_lead_where_newton_goes(void) {
  owned(fixture) coarse = twist("newton", "rtol=1e-9", 5e-4),
                 fine = twist("newton", "rtol=1e-9", 2.5e-4);
  double stated = distance(&coarse, &fine), off[2];
  for (int64_t k = 0; k < 3 * (int64_t)fine.state->node_count; k++)
    fine.state->x[k] += fine.state->x[k] - coarse.state->x[k];
  for (int i = 0; i < 2; i++) {
    owned(fixture) f = twist("symplectic-euler", i ? "substeps=8" : "substeps=4", 0.01);
    off[i] = distance(&f, &fine);
  }
  tap_ok(off[1] < 0.6 * off[0],
         "half the parts' length, half the way off newton's motion (%.3g, %.3g m)", off[0], off[1]);
  tap_ok(off[1] < 0.1 * stated, "which newton's own steps are farther from (%.3g m)", stated);
}

int main(void) {
  the_bound_is_one("nx=2,E=1e4");
  the_bound_is_one("nx=3,ny=2,nz=1,E=1e5,nu=0.45,support=x0,initial=stretched");
  the_bound_is_one("nx=2,E=1e5,material=corotational,initial=random");
  the_limit_is_one();
  a_part_is_its_equation();
  the_order_is_one();
  energy_is_kept();
  parts_are_counted();
  scripts_lead_where_newton_goes();
  nan_is_an_outcome("symplectic-euler", "stable-neo-hookean");
  extremes_are_outcomes("symplectic-euler", "neo-hookean");
  return tap_done();
}
