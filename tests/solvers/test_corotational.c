/* Corotational elasticity: the equation, rotations without ghost forces, damping, tolerance. */
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "problems/scene_impl.h"
#include "tests/support/mesh_quality.h"

#define MATERIAL "material=corotational"

/* Damping against an undamped system built here: A = (1 + h a) M + (h^2 + h b) K. */
static void the_equation_holds(void) {
  static const struct {
    const char *options;
    double mass, stiffness;
  } cases[] = {{"linear=cholesky", 0, 0},
               {"linear=cholesky,mass_damping=2", 2, 0},
               {"linear=cholesky,stiffness_damping=0.01", 0, 0.01},
               {"linear=cg,linear_rtol=1e-13,mass_damping=1,stiffness_damping=0.02", 1, 0.02}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    owned(fixture) f =
        fixture_open("nx=5,E=1e5,gz=-9.8,support=x0,initial=random,dt=0.01," MATERIAL);
    const eb_scene *scene = f.scene;
    const double *mass = eb_elasticity_mass(scene->elasticity), h = scene->dt;
    int64_t size = 3 * (int64_t)f.state->node_count;
    owned(double) *g = eb_calloc((size_t)size, sizeof *g),
                  *Kv = eb_calloc((size_t)size, sizeof *Kv);
    owned(eb_block_matrix) *K = new_matrix(scene->elasticity);
    eb_elasticity_matrix(scene->elasticity, f.state->x, 0, 1, false, K, g);
    fixture_step(&f, "corotational", cases[i].options, 1);
    eb_block_multiply(K, f.state->v, Kv);
    double residual = 0, scale = 0;
    for (int64_t k = 0; k < size; k++) {
      if (scene->mesh->X[k - k % 3] < 1e-9) continue; /* the clamped end */
      double m = mass[k / 3], gravity = k % 3 == 2 ? -9.8 * m : 0;
      double inertia = m * (f.state->v[k] - scene->v0[k]);
      double damping = h * (cases[i].mass * m * f.state->v[k] + cases[i].stiffness * Kv[k]);
      double all = inertia + damping + h * h * Kv[k] - h * (gravity - g[k]);
      residual += all * all;
      scale += fabs(inertia) + fabs(h * h * Kv[k]);
    }
    tap_below(sqrt(residual) / scale, 1e-12, cases[i].options);
  }
}

/* Linear elasticity would blow a turned body up; here it feels nothing. */
static void turned_bodies_stay_at_rest(void) {
  owned(fixture) f = fixture_open("nx=4,E=1e6,dt=0.01," MATERIAL);
  double c = cos(2.1), s = sin(2.1), fastest = 0;
  for (int32_t i = 0; i < f.state->node_count; i++) {
    double *x = f.state->x + 3 * (int64_t)i, y = x[1], z = x[2];
    x[1] = c * y - s * z + 0.3;
    x[2] = s * y + c * z;
  }
  tap_ok(fixture_step(&f, "corotational", "linear=cholesky", 20) > 0, "a turned block runs");
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    fastest = fmax(fastest, fabs(f.state->v[k]));
  /* Rounding of x excites it: E eps / (rho h_edge) * time is near 1e-10 m/s. */
  tap_below(fastest, 1e-9, "and a rotation of 120 degrees excites nothing");
}

/* How far `solver` is from corotational:linear=cholesky after `steps`, over the motion. */
static double difference_from(const char *solver, const char *options, const char *parameters,
                              int steps) {
  owned(fixture) a = fixture_open(parameters), b = fixture_open(parameters);
  fixture_step(&a, "corotational", "linear=cholesky", steps);
  fixture_step(&b, solver, options, steps);
  double moved = 0;
  for (int64_t k = 0; k < 3 * (int64_t)a.state->node_count; k++)
    moved = fmax(moved, fabs(a.state->x[k] - a.scene->x0[k]));
  return eb_block_distance(a.state, b.state) / moved;
}

static double difference_from_newton(double gravity) {
  char parameters[160];
  snprintf(parameters, sizeof parameters, "nx=5,E=1e5,support=x0,gz=%g,dt=0.01," MATERIAL, gravity);
  return difference_from("newton", "rtol=1e-12", parameters, 5);
}

static void small_motions_agree_with_newton(void) {
  double large = difference_from_newton(-10), small = difference_from_newton(-0.1);
  tap_below(small, 1e-4, "tiny deformations agree with Newton's method");
  tap_below(small, 0.03 * large, "and the difference vanishes with the deformation");
}

static double energy_left(const char *options) {
  owned(fixture) f =
      fixture_open("nx=5,E=1e5,support=x0,initial=random,speed=0.3,dt=0.005," MATERIAL);
  tap_ok(fixture_step(&f, "corotational", options, 20) > 0, "%s runs", options);
  return fixture_energy(&f);
}

static void damping_damps(void) {
  double none = energy_left("linear=cholesky");
  tap_below(energy_left("linear=cholesky,mass_damping=5"), 0.8 * none, "mass damping damps");
  tap_below(energy_left("linear=cholesky,stiffness_damping=0.02"), 0.8 * none,
            "stiffness damping damps");
}

static void the_tolerance_controls_the_error(void) {
  static const char parameters[] = "nx=6,ny=3,nz=3,E=1e6,gz=-9.8,support=x0," MATERIAL;
  static const char *const conditioners[] = {"none", "jacobi", "block-jacobi", "ic"};
  owned(fixture) exact = fixture_open(parameters);
  fixture_step(&exact, "corotational", "linear=cholesky", 3);
  for (int c = 0; c < 4; c++) {
    double error[2];
    for (int level = 0; level < 2; level++) {
      char options[96];
      snprintf(options, sizeof options, "linear=cg,preconditioner=%s,linear_rtol=%s",
               conditioners[c], level ? "1e-8" : "1e-2");
      owned(fixture) f = fixture_open(parameters);
      tap_ok(fixture_step(&f, "corotational", options, 3) == EB_CONVERGED_RTOL, "%s", options);
      error[level] = eb_block_distance(f.state, exact.state);
    }
    tap_below(error[1], 1e-2 * error[0], "a tighter tolerance gives a smaller error");
  }
}

/* A start at v0 with nothing to change is already the solution. */
static void the_solve_is_warm_started(void) {
  owned(fixture) f = fixture_open("nx=4,E=1e5," MATERIAL);
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++) f.state->v[k] = 1;
  fixture_step(&f, "corotational", "linear=cg", 1);
  tap_near(f.log->counters[EB_COUNT_LINEAR_ITERATIONS], 0, 0,
           "a body in uniform motion needs no iteration");
}

static void inverted_elements_survive(void) {
  owned(fixture) f = fixture_open("nx=4,E=1e5,dt=0.005," MATERIAL);
  f.state->x[0] += 0.6; /* the first corner through the opposite side of its elements */
  eb_mesh_quality quality;
  eb_mesh_measure(f.scene->mesh, f.state->x, &quality);
  tap_ok(quality.inverted > 0, "the start is inverted");
  tap_ok(fixture_step(&f, "corotational", "linear=cholesky,stiffness_damping=0.01", 200) > 0 &&
             all_finite(f.state),
         "two hundred steps go well");
  eb_mesh_measure(f.scene->mesh, f.state->x, &quality);
  tap_ok(quality.inverted == 0, "and nothing is inverted at the end");
}

/* ---- estimated rotations --------------------------------------------------------------------- */

/* Rotations by estimate beside those of the points of quadrature. */
static double difference_from_points(const char *parameters, int steps, const char *options) {
  return difference_from("corotational", options, parameters, steps);
}

static void estimates_stand_for_each_other(void) {
  static const char swing[] = "nx=5,E=1e5,gz=-9.8,support=x0,dt=0.01,jitter=0.2," MATERIAL,
                    spin[] = "nx=3,E=1e5,initial=spin,speed=3,dt=0.01," MATERIAL;
  /* Rounding of one step, 1e-15 E / (rho h_edge^2) h^2, through ten. */
  tap_below(difference_from_points(swing, 10, "rotation=svd"), 1e-11,
            "svd is the rotation of the point");
  tap_below(difference_from_points(swing, 10, "rotation=diagonalization"), 1e-11,
            "diagonalization, too, of what is not inverted");
  /* One update leaves a share of what an element turned in a step, some 1e-2 of the motion. */
  tap_below(difference_from_points(swing, 10, "rotation=spin"), 0.03, "spin is near");
  tap_below(difference_from_points(swing, 10, "rotation=spin-full"), 0.03, "spin-full is near");
  /* A turn of some four radians, which an update from the identity does not see. */
  tap_below(difference_from_points(spin, 40, "rotation=spin"), 0.03, "spin follows a turn");
  tap_ok(difference_from_points(spin, 40, "rotation=spin,rotation_start=cold") > 0.1,
         "and a cold start does not");
}

/* Steps a block whose nodes are mirrored at x = 0: the largest speed after one step. */
static double mirrored_speed(const char *options, double *determinant) {
  owned(fixture) f = fixture_open("nx=3,E=1e5,dt=0.01," MATERIAL);
  owned(eb_solver) *solver = NULL;
  double fastest = 0;
  for (int32_t i = 0; i < f.state->node_count; i++) f.state->x[3 * (int64_t)i] *= -1;
  tap_require(eb_solver_create(eb_solver_find("corotational"), options, f.scene, 1, 0, &solver),
              options);
  tap_require(solver->ops->step(solver, f.state, 0.01, f.log, &f.reason), options);
  const double *R = f.log->rotations;
  *determinant = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
                 R[2] * (R[3] * R[7] - R[4] * R[6]);
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    fastest = fmax(fastest, fabs(f.state->v[k]));
  return fastest;
}

static void reflections_are_at_rest(void) {
  double determinant;
  /* As in turned_bodies_stay_at_rest. */
  tap_below(mirrored_speed("rotation=diagonalization", &determinant), 1e-9,
            "the mirror image is at rest where the estimate is a reflection");
  tap_near(determinant, -1, 1e-12, "which is recorded");
  tap_ok(mirrored_speed("rotation=svd", &determinant) > 0.1, "a rotation pulls it back");
  tap_near(determinant, 1, 1e-12, "and is recorded");
}

static void estimates_are_of_tetrahedra(void) {
  owned(fixture) f = fixture_open("nx=2,element=hexahedra," MATERIAL);
  eb_solver *solver;
  tap_fails(
      eb_solver_create(eb_solver_find("corotational"), "rotation=spin", f.scene, 1, 0, &solver),
      EB_ERR_UNSUPPORTED, "needs tetrahedra", "hexahedra are refused");
}

int main(void) {
  estimates_stand_for_each_other();
  reflections_are_at_rest();
  estimates_are_of_tetrahedra();
  the_equation_holds();
  turned_bodies_stay_at_rest();
  small_motions_agree_with_newton();
  damping_damps();
  the_tolerance_controls_the_error();
  the_solve_is_warm_started();
  inverted_elements_survive();
  nan_is_an_outcome("corotational", "corotational");
  extremes_are_outcomes("corotational", "corotational");
  return tap_done();
}
