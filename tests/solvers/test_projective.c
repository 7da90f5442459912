/* The solvers with a global step: pd, lbfgs and admm against newton, against each other where there
 * is contact, the fall of the incremental potential, and what a few iterations leave of a turn. */
#include "problems/contact/implicit_penalty.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"

enum { ROOM = 2000 };

/* Laws that projective dynamics takes, with their one parameter. */
#define PROJECTIVE "material=fixed-corotational,nu=0"

/* ---- without contact ------------------------------------------------------------------------- */

/* Both to a tolerance that leaves |x| within 1e-8 m of a block of 1 m. */
static void agrees_with_newton(const char *solver, const char *options, const char *parameters) {
  char all[256], text[160];
  snprintf(all, sizeof all, "nx=4,ny=2,nz=2,dt=0.02,gz=-10,%s", parameters);
  snprintf(text, sizeof text, "rtol=1e-10%s%s", *options ? "," : "", options);
  owned(fixture) ours = fixture_open(all), newton = fixture_open(all);
  eb_reason a = fixture_step(&ours, solver, text, 4);
  eb_reason b = fixture_step(&newton, "newton", "rtol=1e-11", 4);
  tap_ok(a > 0 && b > 0, "%s:%s on %s converges (%s, newton %s)", solver, options, parameters,
         eb_reason_name(a), eb_reason_name(b));
  tap_below(eb_block_distance(ours.state, newton.state), 1e-8, "to newton's positions");
}

static void converge_to_newton(void) {
  static const char *const scenes[] = {
      "support=x0," PROJECTIVE,
      "support=x0,element=tets5,motion=twist,rate=20," PROJECTIVE,
      "support=ends,element=hexahedra,motion=affine," PROJECTIVE,
      "initial=spin,speed=3,element=hexahedra,jitter=0.2,material=corotated,nu=0",
      "initial=random,speed=0.5," PROJECTIVE,
      "support=x0,material=projective,nu=0.3",
      "support=ends,element=hexahedra,motion=affine,material=projective,nu=0.4",
      "support=x0,element=hexahedra-one-point,jitter=0.2,hourglass=4,material=projective,nu=0.2",
      "initial=spin,speed=3,element=hexahedra-staggered,jitter=0.1," PROJECTIVE};
  static const char *const methods[][2] = {{"pd", ""},
                                           {"pd", "start=last"},
                                           {"pd", "acceleration=anderson"},
                                           {"pd", "acceleration=chebyshev"},
                                           {"pd", "contact=update"},
                                           {"pd", "contact=cg"},
                                           {"pd", "contact=cg,preconditioner=ic0"},
                                           {"pd", "contact=cg,preconditioner=none"},
                                           {"lbfgs", ""},
                                           {"lbfgs", "window=0"},
                                           {"admm", ""}};
  for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++)
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
      agrees_with_newton(methods[m][0], methods[m][1], scenes[s]);
}

static void quasi_newton_takes_any_law(void) {
  static const char *const laws[] = {"linear",       "corotated",   "fixed-corotational",
                                     "stvk",         "neo-hookean", "stable-neo-hookean",
                                     "mooney-rivlin"};
  char parameters[96];
  for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
    snprintf(parameters, sizeof parameters, "support=x0,nu=0.3,material=%s%s", laws[k],
             k % 3 == 0   ? ",element=hexahedra"
             : k % 3 == 1 ? ",element=hexahedra-one-point"
                          : "");
    agrees_with_newton("lbfgs", "", parameters);
  }
}

static void laws_that_are_none_are_refused(void) {
  static const char *const solvers[] = {"pd", "admm"};
  for (int k = 0; k < 2; k++) {
    fixture f = fixture_open("material=stable-neo-hookean");
    eb_solver *solver = NULL;
    tap_fails(eb_solver_create(eb_solver_find(solvers[k]), "", f.scene, 1, 1, &solver),
              EB_ERR_UNSUPPORTED, "materials other than", solvers[k]);
    fixture_close(&f);
    f = fixture_open("material=fixed-corotational,nu=0.3");
    tap_fails(eb_solver_create(eb_solver_find(solvers[k]), "", f.scene, 1, 1, &solver),
              EB_ERR_UNSUPPORTED, "materials other than", "with nu above 0");
    fixture_close(&f);
  }
}

/* ---- contact --------------------------------------------------------------------------------- */

/* A block above an implicit floor at z = 0. */
static fixture open_drop(const char *more) {
  char parameters[256];
  snprintf(parameters, sizeof parameters, "nx=4,ny=3,nz=3,dt=0.01,gz=-10,%s%s", PROJECTIVE, more);
  fixture f = fixture_open(parameters);
  f.scene->contacts.colliders[0] = (eb_collider){.kind = EB_PLANE,
                                                 .origin = {0, 0, -0.01},
                                                 .axis = {0, 0, 1},
                                                 .stiffness = 1e8,
                                                 .implicit = true};
  f.scene->contacts.collider_count = 1;
  return f;
}

/* |grad W| at the end of a step from `before` over the weight of the block; grad W from what the
 * scene says of forces. */
static double residual_after(const fixture *f, const eb_state *before) {
  const eb_scene *scene = f->scene;
  const size_t size = 3 * (size_t)f->state->node_count;
  const double *mass = eb_scene_mass(scene), h = scene->dt;
  owned(double) *g = calloc(2 * size, sizeof *g);
  double *force = g + size, sum = 0, weight = 0;
  eb_touch touches[ROOM];
  eb_scene_gradient(scene, f->state->x, g);
  eb_scene_force(scene, before->time, before->x, before->v, force);
  int32_t count = eb_implicit_touches(scene, f->state->time, f->state->x, ROOM, touches);
  eb_touches_gradient(touches, count, g);
  for (size_t k = 0; k < size; k++) {
    double off = f->state->x[k] - before->x[k] - h * before->v[k];
    double r = mass[k / 3] * off / (h * h) + g[k] - force[k];
    sum += r * r;
    weight += force[k] * force[k];
  }
  return sqrt(sum / weight);
}

static void contact_ways_agree(void) {
  static const char *const methods[][2] = {{"pd", "contact=refactor"},
                                           {"pd", "contact=update"},
                                           {"pd", "contact=cg"},
                                           {"pd", "contact=cg,preconditioner=ic0,start=last"},
                                           {"pd", "start=last"},
                                           {"pd", "acceleration=anderson"},
                                           {"lbfgs", ""},
                                           {"lbfgs", "contact=update,start=last"},
                                           {"admm", ""},
                                           {"admm", "contact=update"}};
  enum { METHODS = sizeof methods / sizeof *methods, STEPS = 12 };
  fixture f[METHODS];
  for (int m = 0; m < METHODS; m++) f[m] = open_drop(",initial=spin,speed=0.3");
  owned(eb_state) *before = new_state(f[0].scene);
  for (int m = 0; m < METHODS; m++) {
    char options[120];
    double worst = 0, touched = 0;
    snprintf(options, sizeof options, "rtol=1e-10,%s", methods[m][1]);
    for (int s = 0; s < STEPS; s++) {
      eb_state_copy(f[m].state, before);
      eb_reason reason = fixture_step(&f[m], methods[m][0], options, 1);
      if (reason <= 0)
        tap_ok(false, "%s:%s step %d: %s", methods[m][0], options, s, eb_reason_name(reason));
      worst = fmax(worst, residual_after(&f[m], before));
      touched = fmax(touched, f[m].log->counters[EB_COUNT_CONSTRAINTS]);
    }
    tap_ok(touched > 2, "%s:%s meets the floor with %g nodes", methods[m][0], options, touched);
    /* 1e-10 of forces that are some thousand times the weight in the impact */
    tap_below(worst, 1e-6, "and solves the step with its contact forces");
  }
  for (int m = 1; m < METHODS; m++)
    tap_below(eb_block_distance(f[0].state, f[m].state), 1e-7, methods[m][1]);
  for (int m = 0; m < METHODS; m++) fixture_close(&f[m]);
}

/* Updates of rank one are factorizations: the same iterates, one by one. */
static void updates_change_nothing(void) {
  owned(fixture) a = open_drop(",speed=0.3,initial=spin"), b = open_drop(",speed=0.3,initial=spin");
  for (int s = 0; s < 12; s++) {
    fixture_step(&a, "pd", "iterations=6,contact=refactor", 1);
    fixture_step(&b, "pd", "iterations=6,contact=update", 1);
  }
  tap_below(eb_block_distance(a.state, b.state), 1e-10, "six iterations, refactored or updated");
}

/* ---- the potential --------------------------------------------------------------------------- */

/* W of a step from `before` to x, without its constants. */
static double potential(const fixture *f, const eb_state *before, const double *x) {
  const double *mass = eb_scene_mass(f->scene), h = f->scene->dt;
  eb_touch touches[ROOM];
  int32_t count = eb_implicit_touches(f->scene, before->time + h, x, ROOM, touches);
  double W = eb_scene_energy(f->scene, x) + eb_touches_energy(touches, count);
  for (int64_t k = 0; k < 3 * (int64_t)before->node_count; k++) {
    double off = x[k] - before->x[k] - h * before->v[k];
    W += 0.5 * mass[k / 3] * off * off / (h * h) -
         mass[k / 3] * f->scene->gravity[k % 3] * (x[k] - before->x[k]);
  }
  return W;
}

/* The first STEPS steps, each with 1, 2, 3 .. iterations from the same state. */
static void potential_never_rises(const char *options, bool drop, const char *more) {
  enum { STEPS = 10, ITERATIONS = 20 };
  char parameters[200], text[120];
  snprintf(parameters, sizeof parameters, "nx=4,ny=3,nz=3,dt=0.02,gz=-10%s%s",
           strstr(more, "material") ? "" : "," PROJECTIVE, more);
  owned(fixture) f = drop ? open_drop(more) : fixture_open(parameters);
  owned(eb_state) *before = new_state(f.scene);
  double worst = 0;
  for (int s = 0; s < STEPS; s++) {
    double last = INFINITY, W = 0;
    eb_state_copy(f.state, before);
    for (int n = 1; n <= ITERATIONS; n++, last = W) {
      eb_state_copy(before, f.state);
      snprintf(text, sizeof text, "iterations=%d%s", n, options);
      fixture_step(&f, "pd", text, 1);
      W = potential(&f, before, f.state->x);
      worst = fmax(worst, (W - last) / (fabs(W) + fabs(last)));
    }
  }
  /* rounding of a sum of some thousand terms */
  snprintf(text, sizeof text, "W never rises between iterations%s%s", options, more);
  tap_below(worst, 1e-12, text);
}

static void potentials(void) {
  potential_never_rises("", false, ",initial=random,speed=3");
  potential_never_rises("", false, ",initial=random,speed=3,element=hexahedra,jitter=0.2");
  potential_never_rises(",start=last", false, ",initial=spin,speed=6");
  potential_never_rises(",acceleration=anderson", false, ",initial=random,speed=3");
  potential_never_rises(",acceleration=chebyshev", false, ",initial=random,speed=3");
  potential_never_rises("", true, ",initial=spin,speed=0.5");
  potential_never_rises("", true, ",initial=spin,speed=5,E=1e6");
  potential_never_rises("", false, ",initial=random,speed=3,material=projective,nu=0.3");
  potential_never_rises("", false,
                        ",initial=random,speed=3,element=hexahedra-one-point,material=projective");
  potential_never_rises(",contact=update", true, ",initial=spin,speed=5,E=1e4");
}

/* ---- few iterations -------------------------------------------------------------------------- */

/* rotation rate about z of a free block after one step over that of the converged step */
static double spin_kept(const char *options) {
  const char *parameters = "nx=4,ny=2,nz=2,dt=0.01,E=1e7,initial=spin,speed=1," PROJECTIVE;
  owned(fixture) few = fixture_open(parameters), converged = fixture_open(parameters);
  double spin[2] = {0};
  fixture_step(&few, "pd", options, 1);
  fixture_step(&converged, "newton", "rtol=1e-10", 1);
  for (int f = 0; f < 2; f++) {
    const eb_state *state = f ? converged.state : few.state;
    const double *mass = eb_scene_mass(converged.scene);
    for (int32_t i = 0; i < state->node_count; i++) {
      const double *X = converged.scene->mesh->X + 3 * i, *v = state->v + 3 * i;
      spin[f] += mass[i] * ((X[0] - 0.5) * v[1] - (X[1] - 0.2) * v[0]);
    }
  }
  return spin[0] / spin[1];
}

/* Rotations are fixed in a global step: from the last positions it holds a stiff body's turn back,
 * from the inertial guess the turn is there already (worked beside Lewin 2016, Section 5.4.3). */
static void turns_are_damped(void) {
  double guessed = spin_kept("iterations=1"), last = spin_kept("iterations=1,start=last");
  double more = spin_kept("iterations=30,start=last");
  tap_near(guessed, 1, 0.05, "one iteration from the inertial guess keeps a free spin");
  tap_below(last, 0.2, "one from the last positions loses it");
  tap_ok(more > 2 * last, "and more iterations bring it back: %g, %g", last, more);
}

/* The rows of A sum to M / h^2: internal forces cancel after any iteration. */
static void momentum_is_kept(void) {
  owned(fixture) f = fixture_open("nx=3,gz=-10,initial=random,speed=2," PROJECTIVE);
  const double *mass = eb_scene_mass(f.scene);
  double before = 0, after = 0, total = 0, size = 0;
  for (int32_t i = 0; i < f.state->node_count; i++) {
    before += mass[i] * f.state->v[3 * i + 2];
    total += mass[i];
    size += mass[i] * fabs(f.state->v[3 * i + 2]);
  }
  fixture_step(&f, "pd", "iterations=1", 1);
  for (int32_t i = 0; i < f.state->node_count; i++) after += mass[i] * f.state->v[3 * i + 2];
  tap_near(after, before - 10 * total * f.scene->dt, 1e-11 * size,
           "gravity alone changes momentum");
}

/* ---- estimates of rotations ------------------------------------------------------------------ */

/* Regular hexahedra have equal second moments: spin's answer is then the nearest rotation, and both
 * lead to newton's step; the record is of rotations. */
static void estimates_agree_on_cubes(void) {
  static const char *const estimates[] = {"diagonalization", "spin", "spin-full"};
  const char *parameters =
      "nx=4,ny=2,nz=2,ly=0.5,lz=0.5,element=hexahedra-one-point,dt=0.02,gz=-10,initial=spin,"
      "speed=2," PROJECTIVE;
  for (int k = 0; k < 3; k++) {
    owned(fixture) ours = fixture_open(parameters), newton = fixture_open(parameters);
    owned(eb_solver) *solver = NULL;
    char options[96];
    double off = 0;
    snprintf(options, sizeof options, "rtol=1e-9,rotation=%s", estimates[k]);
    tap_require(eb_solver_create(eb_solver_find("pd"), options, ours.scene, 1, 1, &solver), "pd");
    for (int s = 0; s < 5; s++) {
      eb_step_log_reset(ours.log);
      tap_require(solver->ops->step(solver, ours.state, 0.02, ours.log, &ours.reason), "a step");
    }
    fixture_step(&newton, "newton", "rtol=1e-11", 5);
    tap_ok(ours.reason == EB_CONVERGED_ITS, "%s: %s, as the residual is not the material's",
           options, eb_reason_name(ours.reason));
    tap_below(eb_block_distance(ours.state, newton.state), 1e-7, "newton's positions");
    tap_ok(ours.log->rotations && ours.log->rotated_at, "the estimates are recorded");
    for (int32_t e = 0; e < ours.scene->mesh->element_count; e++)
      for (int i = 0; i < 9; i++) {
        const double *R = ours.log->rotations + 9 * e, *r = R + i / 3 * 3, *c = R + i % 3 * 3;
        off = fmax(off, fabs(r[0] * c[0] + r[1] * c[1] + r[2] * c[2] - (i % 4 == 0)));
      }
    tap_below(off, 1e-12, "of every element, and orthogonal");
  }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void counts_are_right(void) {
  owned(fixture) f = open_drop("");
  fixture_step(&f, "pd", "iterations=4,contact=cg", 1);
  tap_ok(f.log->iterations == 4 && f.log->counters[EB_COUNT_SOLVES] == 4 &&
             f.log->counters[EB_COUNT_FACTORIZATIONS] == 0,
         "four iterations are four solves and no factor");
  tap_ok(f.log->counters[EB_COUNT_LINEAR_ITERATIONS] <= 4,
         "with the factor of the matrix itself, one iteration each at most");
  double most = 0, factors = 0;
  for (int s = 0; s < 12; s++) {
    fixture_step(&f, "pd", "iterations=1,contact=refactor", 1);
    most = fmax(most, f.log->counters[EB_COUNT_ACTIVE_SET_CHANGES]);
    factors = fmax(factors, f.log->counters[EB_COUNT_FACTORIZATIONS]);
  }
  tap_ok(most == 20 && factors == 1, "the 20 nodes below touch at once, and are one factorization");
}

int main(void) {
  static const char *const solvers[] = {"pd", "lbfgs", "admm"};
  converge_to_newton();
  quasi_newton_takes_any_law();
  laws_that_are_none_are_refused();
  contact_ways_agree();
  updates_change_nothing();
  potentials();
  turns_are_damped();
  momentum_is_kept();
  estimates_agree_on_cubes();
  counts_are_right();
  for (int k = 0; k < 3; k++) nan_is_an_outcome(solvers[k], "fixed-corotational,nu=0");
  extremes_are_outcomes("lbfgs", "stable-neo-hookean");
  return tap_done();
}
