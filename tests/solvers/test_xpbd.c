/* Extended position-based dynamics: one constraint against its closed form, what projections keep,
 * and how it approaches Newton's method on the same energy. */
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/elements.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"

/* ---- one element ----------------------------------------------------------------------------- */

/* Leaves one element to sweeps, that of a corner of the block and the three edges there, whose
 * nodes are written to corner[], the corner's first. */
static bool keep_a_corner(const eb_scene *scene, int32_t corner[4]) {
  const eb_mesh *mesh = scene->mesh;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int a = 0; a < 4; a++) {
      const int32_t *node = mesh->elements + 4 * e;
      const double *c = mesh->X + 3 * node[a];
      int edges = 0;
      for (int b = 0; b < 4; b++)
        for (int d = 0; d < 3; d++) {
          const double *x = mesh->X + 3 * node[b];
          if (fabs(fabs(x[d] - c[d]) - 1) > 1e-12 || eb_squared_distance3(x, c) > 1.1) continue;
          corner[d + 1] = node[b];
          edges++;
        }
      if (edges < 3) continue;
      corner[0] = node[a];
      for (int32_t k = 0; k < EB_LANES * scene->elasticity->batch_count; k++)
        if (scene->elasticity->element[k] != e) scene->elasticity->element[k] = -1;
      return true;
    }
  return false;
}

/* It is stretched by s along its edges, without a velocity: with one constraint C = |F - R| and one
 * projection, dx = w dC/dx dl and dl = -C / (|dC|^2_w + a / h^2), where F - R = diag(s - 1) and the
 * gradients of the shape functions are unit vectors. */
static void one_projection_is_the_formula(void) {
  static const double s[3] = {1.3, 0.8, 1.1};
  owned(fixture) f =
      fixture_open("nx=1,ny=1,nz=1,lx=1,ly=1,lz=1,element=tets5,material=projective,nu=0,"
                   "E=2e4,dt=0.02");
  const double *mass = eb_scene_mass(f.scene), *X = f.scene->mesh->X;
  int32_t corner[4] = {0};
  tap_ok(keep_a_corner(f.scene, corner), "there is an element at a corner");
  double C = 0, moved = 0, h = f.scene->dt, k = 2 * 1e4 / 6, want[4][3], most = 0; /* 2 mu V */
  for (int a = 0; a < 4; a++) memcpy(want[a], X + 3 * corner[a], sizeof want[a]);
  for (int d = 0; d < 3; d++) {
    double edge = want[d + 1][d] - want[0][d];
    want[d + 1][d] += (s[d] - 1) * edge;
    C += (s[d] - 1) * (s[d] - 1);
  }
  C = sqrt(C);
  for (int a = 1; a < 4; a++) memcpy(f.state->x + 3 * corner[a], want[a], sizeof want[a]);
  for (int d = 0; d < 3; d++)
    moved += (s[d] - 1) / C * (s[d] - 1) / C * (1 / mass[corner[0]] + 1 / mass[corner[d + 1]]);
  double dl = -C / (moved + 1 / (k * h * h));
  for (int d = 0; d < 3; d++) {
    double slope = (s[d] - 1) / C * copysign(1, want[d + 1][d] - want[0][d]);
    want[0][d] -= slope * dl / mass[corner[0]];
    want[d + 1][d] += slope * dl / mass[corner[d + 1]];
  }
  fixture_step(&f, "xpbd", "iterations=1,substeps=1", 1);
  for (int k3 = 0; k3 < 12; k3++)
    most = fmax(most, fabs(f.state->x[3 * corner[k3 / 3] + k3 % 3] - want[k3 / 3][k3 % 3]));
  tap_below(most, 4e-15, "one projection"); /* roundings of places of 1 m, and of the SVD */
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static const char *const bodies[] = {
    "nx=1,ny=1,nz=1,lx=1,ly=0.7,lz=1.3,element=hexahedra-one-point,material=projective,"
    "hourglass=0.5,initial=random,speed=3,dt=0.1,E=1e5",
    "nx=4,element=tets6,material=projective,initial=random,speed=3,dt=0.03,E=1e5",
    "nx=4,element=hexahedra-one-point,material=fixed-corotational,nu=0,hourglass=1,initial=random,"
    "speed=3,dt=0.03,E=1e5"};

static void momenta_are_kept(void) {
  for (int b = 0; b < 3; b++) {
    owned(fixture) f = fixture_open(bodies[b]);
    const double *mass = eb_scene_mass(f.scene);
    double P[3] = {0}, L[3] = {0}, size = 0, turns = 0, h = f.scene->dt;
    owned(eb_state) *start = new_state(f.scene);
    fixture_step(&f, "xpbd", b ? "iterations=7,substeps=1" : "iterations=1,substeps=1", 1);
    for (int64_t i = 0; i < start->node_count; i++) {
      double kick[3], arm[3], moment[3];
      for (int d = 0; d < 3; d++) {
        kick[d] = mass[i] * (f.state->v[3 * i + d] - start->v[3 * i + d]);
        arm[d] = start->x[3 * i + d] + h * start->v[3 * i + d];
      }
      eb_cross3(arm, kick, moment);
      eb_add3(1, kick, P);
      eb_add3(1, moment, L);
      size += sqrt(eb_dot3(kick, kick));
      turns += sqrt(eb_dot3(moment, moment));
    }
    tap_below(sqrt(eb_dot3(P, P)) / size, 1e-13, "projections do not push"); /* x over h */
    /* Later projections have their arms where earlier ones have moved nodes to. */
    if (b == 0)
      tap_below(sqrt(eb_dot3(L, L)) / turns, 1e-13, "nor turn, with the rotation of the present");
  }
}

static void it_falls(void) {
  owned(fixture) f = fixture_open("nx=3,gz=-9.8,material=projective,dt=0.01");
  fixture_step(&f, "xpbd", "substeps=4", 30);
  double most = 0, n = 120, h = 0.0025;
  for (int64_t k = 2; k < 3 * (int64_t)f.state->node_count; k += 3)
    most = fmax(most, fabs(f.state->x[k] - f.scene->mesh->X[k] + 9.8 * h * h * n * (n + 1) / 2));
  tap_below(most, 1e-13, "a fall has as many steps as there are substeps");
  tap_near(f.state->time, 0.3, 1e-15, "and steps are of full length");
  tap_ok(f.state->step == 30 && f.log->equation == EB_EQUATION_IMPLICIT_EULER &&
             f.reason == EB_CONVERGED_ITS,
         "and it says what it is");
}

/* ---- Newton's method ------------------------------------------------------------------------- */

/* Largest distance from Newton's method with steps of dt / substeps, at 0.1 s, over how far that
 * has gone. */
static double off_newton(const char *parameters, int substeps, int iterations) {
  enum { STEPS = 5 };
  char text[200], options[64];
  snprintf(text, sizeof text, "%s,dt=%.17g", parameters, 0.1 / (STEPS * substeps));
  owned(fixture) reference = fixture_open(text);
  snprintf(text, sizeof text, "%s,dt=%.17g", parameters, 0.1 / STEPS);
  owned(fixture) f = fixture_open(text);
  fixture_step(&reference, "newton", "rtol=1e-10", STEPS * substeps);
  snprintf(options, sizeof options, "iterations=%d,substeps=%d", iterations, substeps);
  fixture_step(&f, "xpbd", options, STEPS);
  double off = eb_block_distance(f.state, reference.state), far = 0;
  for (int64_t k = 0; k < 3 * (int64_t)f.state->node_count; k++)
    far = fmax(far, fabs(reference.state->x[k] - f.scene->x0[k]));
  return off / far;
}

/* With steps as long, what is off falls with the square of their length: 16 times for 4 times as
 * many. Iterations alone end beside the solution, since gradients turn while multipliers add up. */
static void it_approaches_newton(void) {
  static const char *const scenes[] = {
      "nx=3,ny=1,nz=1,support=x0,gz=-9.8,E=1e5,nu=0.3,material=projective",
      "nx=3,ny=1,nz=1,support=x0,gz=-9.8,E=1e5,nu=0.3,material=projective,"
      "element=hexahedra-one-point,hourglass=0.5"};
  for (int s = 0; s < 2; s++) {
    double few = off_newton(scenes[s], 1, 50), many = off_newton(scenes[s], 1, 200);
    tap_near(many, few, 1e-6 * few, "iterations converge");
    double off[3] = {few, off_newton(scenes[s], 4, 50), off_newton(scenes[s], 16, 50)};
    tap_below(off[0], 0.02, "to what is near Newton's method");
    for (int k = 0; k < 2; k++)
      tap_below(off[k + 1], off[k] / 8, "a quarter of the step is off by less than an eighth");
    tap_below(off_newton(scenes[s], 64, 1), 1e-4, "one iteration of small steps is enough");
  }
}

/* ---- colliders, refusals --------------------------------------------------------------------- */

static void it_rests_on_colliders(void) {
  owned(fixture) f = fixture_open("nx=3,gz=-9.8,dt=0.01,material=projective,E=1e6");
  const double *mass = eb_scene_mass(f.scene);
  double weight = 0, push = 0, fastest = 0;
  f.scene->contacts.collider_count = 1;
  f.scene->contacts.colliders[0] = (eb_collider){
      .kind = EB_PLANE, .axis = {0, 0, 1}, .stiffness = 1e7, .friction = 0.5, .implicit = true};
  for (int64_t i = 0; i < f.state->node_count; i++) f.state->v[3 * i] = 0.5;
  fixture_step(&f, "xpbd", "", 200);
  for (int64_t i = 0; i < f.state->node_count; i++) {
    weight += 9.8 * mass[i];
    push += 1e7 * f.scene->node_area[i] * fmax(0, -f.state->x[3 * i + 2]);
    fastest = fmax(fastest, fabs(f.state->v[3 * i]));
  }
  tap_near(push, weight, 0.05 * weight, "the penalty of a floor carries the weight");
  tap_below(fastest, 1e-2, "and friction has ended the slide");
}

static void others_are_refused(void) {
  static const struct {
    const char *parameters, *fragment;
  } cases[] = {{"material=stable-neo-hookean", "lacks"},
               {"material=fixed-corotational,nu=0.3", "lacks"},
               {"material=projective,nu=-0.2", "lacks"},
               {"material=projective,element=hexahedra", "hexahedra of Gauss points"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    owned(eb_scene) *scene = NULL;
    eb_solver *solver;
    tap_require(eb_block_create(&scene, "%s", cases[i].parameters), cases[i].parameters);
    tap_fails(eb_solver_create(eb_solver_find("xpbd"), "", scene, 1, 1, &solver),
              EB_ERR_UNSUPPORTED, cases[i].fragment, cases[i].parameters);
  }
}

/* The extremes of other solvers, but for negative ratios of Poisson, which are refused. */
static void scales_are_outcomes(void) {
  static const char *const extremes[] = {
      "E=1e-300", "E=1e300", "dt=1e-12", "dt=1e6", "rho=1e9", "lx=1e6,ly=1e6,lz=1e6", "nu=0.4999"};
  for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
    char parameters[160];
    snprintf(parameters, sizeof parameters, "nx=2,support=x0,material=projective,gz=-9.8,%s",
             extremes[i]);
    owned(fixture) f = fixture_open(parameters);
    eb_reason reason = fixture_step(&f, "xpbd", "", 2);
    tap_ok(reason != EB_RUNNING && (reason < 0 || all_finite(f.state)), "%s ends with %s",
           extremes[i], eb_reason_name(reason));
  }
}

int main(void) {
  one_projection_is_the_formula();
  momenta_are_kept();
  it_falls();
  it_approaches_newton();
  it_rests_on_colliders();
  others_are_refused();
  nan_is_an_outcome("xpbd", "projective");
  scales_are_outcomes();
  return tap_done();
}
