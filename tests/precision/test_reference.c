/* References: the stated error of an extrapolated motion against what it truly is - of equations
 * whose solution is known, of a beam against explicit steps far below its limit of stability - and
 * what has no limit is not given one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/precision/extrapolation.h"
#include "harness/precision/accuracy_parameters.h"
#include "harness/precision/trajectory.h"
#include "problems/base/memory.h"
#include "solvers/solver.h"
#include "tests/support/random.h"
#include "tests/tap.h"

static double largest_of_two(const void *context, const double *a, const double *b) {
  (void)context;
  double first = fabs(a[0] - b[0]), second = fabs(a[1] - b[1]);
  return first >= second || isnan(first) ? first : second;
}

/* ---- an oscillator --------------------------------------------------------------------------- */

/* x'' = -w^2 x, x(0) = 1, x'(0) = 0 by implicit Euler in `steps` steps to time 1: position, and
 * velocity over w. */
static void swing(double w, int64_t steps, double y[2]) {
  double h = 1 / (double)steps, a = h * w, x = 1, u = 0;
  for (int64_t i = 0; i < steps; i++) {
    u = (u - a * x) / (1 + a * a);
    x += a * u;
  }
  y[0] = x;
  y[1] = u;
}

static double distance_of_numbers(const void *context, const double *a, const double *b) {
  (void)context;
  return fabs(*a - *b);
}

/* What modes may move whose loss of energy does not vanish with the step. */
static double damped_motion(const double *const *lost, int levels, double mass, double h,
                            double t) {
  double limit, last = *lost[levels - 1];
  eb_extrapolation found;
  tap_require(eb_extrapolate(lost, levels, 1, distance_of_numbers, NULL, 0, &limit, &found),
              "energies");
  return eb_damped_motion(found.converges ? fabs(limit) + found.error : last, mass, h, t);
}

/* Of an oscillator of 1 kg, whose energy is w^2 (x^2 + u^2) / 2. */
static double damped(double w, int64_t first, int levels, double y[][2]) {
  double lost[7];
  const double *level[7];
  for (int j = 0; j < levels; j++) {
    lost[j] = 0.5 * w * w * (1 - y[j][0] * y[j][0] - y[j][1] * y[j][1]);
    level[j] = &lost[j];
  }
  return damped_motion(level, levels, 1, 1 / (double)(first << (levels - 1)), 1);
}

static void test_oscillator(void) {
  bool bounded = true, near = true;
  double best = INFINITY;
  int converged = 0;
  for (double w = 0.5; w < 20; w *= 1.3)
    for (int64_t first = 4; first <= 256; first *= 4)
      for (int levels = 3; levels <= 7; levels++) {
        double y[7][2], estimate[2];
        const double *level[7], truth[2] = {cos(w), -sin(w)};
        eb_extrapolation found;
        for (int j = 0; j < levels; j++) swing(w, first << j, y[j]);
        for (int j = 0; j < levels; j++) level[j] = y[j];
        tap_require(eb_extrapolate(level, levels, 2, largest_of_two, NULL, 1e-13, estimate, &found),
                    "levels");
        double off = largest_of_two(NULL, estimate, truth);
        if (!found.converges) continue;
        converged++;
        bounded &= off <= found.error + damped(w, first, levels, y) + 1e-11;
        /* Where w h is below 1/10 from the first level on, orders are seen and the statement is of
         * use: within a hundred times of the truth, or of the rounding of 16384 steps. */
        if (w < 0.1 * (double)first) near &= found.error <= 100 * off + 1e-11;
        best = fmin(best, found.error);
      }
  tap_ok(converged > 100, "most of the oscillators converge (%d)", converged);
  tap_ok(bounded, "the stated error of an oscillator is never below the true one");
  tap_ok(near, "and not far above where steps resolve the motion");
  tap_below(best, 1e-9, "and falls far below that of first order");
}

/* 1 + h^p at h = 1, 1/2, 1/4, ..: which columns are made. */
static void test_orders(void) {
  static const struct {
    double p;
    int columns, column;
  } wanted[] = {{1, 2, 1}, {2, 1, 0}};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
    double y[5][2], estimate[2];
    const double *level[5];
    eb_extrapolation found;
    for (int j = 0; j < 5; j++) {
      y[j][0] = y[j][1] = 1 + pow(2, -wanted[k].p * j);
      level[j] = y[j];
    }
    tap_require(eb_extrapolate(level, 5, 2, largest_of_two, NULL, 1e-14, estimate, &found),
                "orders");
    tap_near(found.order[0], wanted[k].p, 1e-9, "the order of the levels is observed");
    tap_ok(found.columns == wanted[k].columns && found.column == wanted[k].column,
           "of order %g, column %d of %d is taken", wanted[k].p, found.column, found.columns);
  }
}

/* ---- what has no limit ----------------------------------------------------------------------- */

static void test_no_limit(void) {
  enum { LEVELS = 6 };
  double y[LEVELS][2], estimate[2];
  const double *level[LEVELS];
  random_state state = random_seed(3);
  eb_extrapolation found;
  int accepted = 0, trials = 200;
  for (int t = 0; t < trials; t++) {
    for (int j = 0; j < LEVELS; j++) {
      level[j] = y[j];
      for (int i = 0; i < 2; i++) y[j][i] = random_uniform(&state, -1, 1);
    }
    tap_require(eb_extrapolate(level, LEVELS, 2, largest_of_two, NULL, 1e-13, estimate, &found),
                "noise");
    accepted += found.converges && found.error < 0.1;
  }
  /* Three points at random look convergent now and then; a small error with it is rare. */
  tap_ok(accepted <= trials / 20, "noise is given a small error in %d of %d cases", accepted,
         trials);
  for (int j = 0; j < LEVELS; j++) y[j][0] = y[j][1] = 0.1 * j;
  tap_require(eb_extrapolate(level, LEVELS, 2, largest_of_two, NULL, 1e-13, estimate, &found),
              "a drift");
  tap_ok(!found.converges && isinf(found.error), "levels that go on differing do not converge");
  for (int j = 0; j < LEVELS; j++) y[j][0] = y[j][1] = 7;
  tap_require(eb_extrapolate(level, LEVELS, 2, largest_of_two, NULL, 1e-13, estimate, &found),
              "a constant");
  tap_ok(found.converges && found.error <= 1e-13 && estimate[0] == 7, "a constant is known");
  y[1][0] = 6;
  tap_require(eb_extrapolate(level, 2, 2, largest_of_two, NULL, 1e-13, estimate, &found), "two");
  tap_ok(!found.converges, "two levels that differ tell no order");
  y[LEVELS - 1][0] = NAN;
  tap_require(eb_extrapolate(level, LEVELS, 2, largest_of_two, NULL, 1e-13, estimate, &found),
              "no number");
  tap_ok(!found.converges, "what is no number does not converge");
  tap_fails(eb_extrapolate(level, 1, 2, largest_of_two, NULL, 0, estimate, &found), EB_ERR_INVALID,
            "2 to", "one level is refused");
}

/* ---- a beam ---------------------------------------------------------------------------------- */

static const char beam[] = "resolution=0.1,E=1e5,dt=";
static const double end = 0.2; /* s */

static eb_error open_beam(int64_t steps, eb_scene **scene, eb_state **state) {
  char parameters[80];
  snprintf(parameters, sizeof parameters, "%s%.17g", beam, end / (double)steps);
  EB_TRY(eb_scene_create(eb_scene_find("bench/beam"), parameters, NULL, "", scene));
  return eb_state_create(*scene, state);
}

static double potential(const eb_scene *scene, const eb_state *state) {
  const double *mass = eb_scene_mass(scene), *g = eb_scene_gravity(scene);
  double energy = eb_scene_energy(scene, state->x);
  for (int32_t i = 0; i < state->node_count; i++)
    for (int d = 0; d < 3; d++) energy -= mass[i] * g[d] * state->x[3 * i + d];
  return energy;
}

static double kinetic(const eb_scene *scene, const eb_state *state) {
  const double *mass = eb_scene_mass(scene);
  double energy = 0;
  for (int32_t i = 0; i < 3 * state->node_count; i++)
    energy += 0.5 * mass[i / 3] * state->v[i] * state->v[i];
  return energy;
}

/* Implicit Euler by newton; *lost is what it has dissipated. */
static eb_error step_beam(int64_t steps, eb_scene *scene, eb_state *state, double *lost) {
  eb_solver *solver;
  eb_step_log *log;
  eb_error error = EB_OK;
  *lost = potential(scene, state) + kinetic(scene, state);
  EB_TRY(eb_solver_create(eb_solver_find("newton"), "rtol=1e-10", scene, 1, 0, &solver));
  tap_require(eb_step_log_create(1000, &log), "log");
  for (int64_t i = 0; i < steps && !error; i++) {
    eb_reason reason;
    eb_step_log_reset(log);
    error = solver->ops->step(solver, state, end / (double)steps, log, &reason);
  }
  *lost -= potential(scene, state) + kinetic(scene, state);
  eb_step_log_destroy(log);
  eb_solver_destroy(solver);
  return error;
}

/* Leapfrog (Stoermer-Verlet): second order, and no energy is lost. */
static eb_error leap_beam(int64_t steps, const eb_scene *scene, eb_state *state) {
  const double *mass = eb_scene_mass(scene), *g = eb_scene_gravity(scene);
  int32_t size = 3 * state->node_count;
  double h = end / (double)steps, *force, *target;
  uint8_t *fixed;
  EB_TRY(EB_NEW(force, size));
  EB_TRY(EB_NEW(target, size));
  EB_TRY(EB_NEW(fixed, state->node_count));
  eb_scene_boundary(scene, 0, fixed, target);
  for (int64_t i = 0; i <= steps; i++) {
    double kick = i == 0 || i == steps ? h / 2 : h;
    eb_scene_gradient(scene, state->x, force);
    for (int32_t k = 0; k < size; k++) {
      if (!fixed[k / 3]) state->v[k] += kick * (g[k % 3] - force[k] / mass[k / 3]);
      if (i < steps) state->x[k] += h * state->v[k];
    }
  }
  free(force);
  free(target);
  free(fixed);
  return EB_OK;
}

static void test_beam(void) {
  enum { MOST = 7, FIRST = 8, EXPLICIT = 4000 };
  eb_scene *scene[MOST + 1];
  eb_state *state[MOST + 1];
  double lost[MOST], *estimate;
  const double *level[MOST], *energy[MOST];
  tap_require(open_beam(EXPLICIT, &scene[MOST], &state[MOST]), "the beam");
  tap_require(leap_beam(EXPLICIT, scene[MOST], state[MOST]), "leapfrog");
  const eb_measure measure = {1, state[MOST]->node_count, eb_scene_mass(scene[MOST])};
  size_t size = 3 * (size_t)measure.nodes;
  double mass = 0,
         moved = eb_motion_distance(&measure, state[MOST]->x, eb_scene_start(scene[MOST]));
  for (int32_t i = 0; i < measure.nodes; i++) mass += measure.mass[i];
  tap_require(EB_NEW(estimate, size), "memory");
  for (int j = 0; j < MOST; j++) {
    tap_require(open_beam(FIRST << j, &scene[j], &state[j]), "the beam");
    tap_require(step_beam(FIRST << j, scene[j], state[j], &lost[j]), "implicit Euler");
    level[j] = state[j]->x;
    energy[j] = &lost[j];
  }
  for (int levels = 3; levels <= MOST; levels++) {
    eb_extrapolation found;
    tap_require(
        eb_extrapolate(level, levels, size, eb_motion_distance, &measure, 1e-14, estimate, &found),
        "positions");
    double h = end / (double)(FIRST << (levels - 1));
    double stated = found.error + damped_motion(energy, levels, mass, h, end);
    double off = eb_motion_distance(&measure, estimate, state[MOST]->x);
    tap_ok(found.converges && off <= stated,
           "a beam by %d levels is off by %.1e of its motion, and says %.1e", levels, off / moved,
           stated / moved);
    if (levels == MOST)
      tap_below(stated / moved, 0.02, "and by many levels the statement is worth something");
  }
  for (int j = 0; j <= MOST; j++) {
    eb_state_destroy(state[j]);
    eb_scene_destroy(scene[j]);
  }
  free(estimate);
}

/* ---- distances ------------------------------------------------------------------------------- */

static void test_distance(void) {
  /* Two nodes of 4 and 12 kg at two times: 3-4-0 off at the first node; 1 off at the second. */
  static const double mass[2] = {4, 12}, a[12] = {0}, b[12] = {3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const eb_measure measure = {2, 2, mass};
  double c[12] = {0};
  tap_near(eb_motion_distance(&measure, a, b), 2.5, 1e-15,
           "the largest over the times of the RMS by mass: sqrt(4 25 / 16)");
  c[7] = NAN;
  tap_ok(isnan(eb_motion_distance(&measure, a, c)), "what is no number has no distance");
}

/* ---- knobs ----------------------------------------------------------------------------------- */

static void test_points(void) {
  static const double base2[] = {0.5, 0.25, 0.75, 0.125}, base3[] = {1. / 3, 2. / 3, 1. / 9};
  for (int i = 0; i < 4; i++)
    tap_near(eb_halton(i + 1, 0, 0), base2[i], 1e-15, "van der Corput's sequence in base 2");
  for (int i = 0; i < 3; i++) tap_near(eb_halton(i + 1, 1, 0), base3[i], 1e-15, "and in base 3");
  int cells[8] = {0};
  for (int i = 1; i <= 64; i++) cells[(int)(8 * eb_halton(i, 0, 12345))]++;
  bool even = true;
  for (int k = 0; k < 8; k++) even &= cells[k] >= 7 && cells[k] <= 9;
  tap_ok(even, "a shifted sequence is as even");
}

static void test_declared_knobs(void) {
  eb_strings asked = {0};
  for (const eb_solver_ops *const *ops = eb_solvers(); *ops; ops++) {
    eb_accuracy_parameters knobs;
    tap_succeeds(eb_accuracy_parameters_create(*ops, NULL, &asked, &knobs), (*ops)->name);
    tap_ok(knobs.known, "  declares its knobs, if only that there are none");
    eb_accuracy_parameters_clear(&knobs);
  }
  eb_solver_ops plugin = *eb_solver_find("newton");
  eb_accuracy_parameters knobs;
  plugin.name = "mine";
  plugin.accuracy_options = "rtol=1e-6..1e-2 project=auto|never";
  tap_succeeds(eb_accuracy_parameters_create(&plugin, NULL, &asked, &knobs),
               "a plug-in declares its own");
  tap_ok(knobs.count == 2 && knobs.items[1].values.count == 2, "  a range and values");
  eb_accuracy_parameters_clear(&knobs);
  plugin.accuracy_options = NULL;
  tap_succeeds(eb_accuracy_parameters_create(&plugin, NULL, &asked, &knobs), "or does not");
  tap_ok(!knobs.known, "  and then nobody knows them");
  eb_accuracy_parameters_clear(&knobs);
}

static void test_knobs(void) {
  const eb_solver_ops *newton = eb_solver_find("newton"), *vbd = eb_solver_find("vbd");
  eb_strings asked = {0};
  eb_accuracy_parameters knobs;
  char *options = NULL;
  double middle[EB_MOST_ACCURACY_PARAMETERS] = {0.5, 0.99, 0.5, 0.5, 0.5, 0.5};
  tap_succeeds(eb_accuracy_parameters_create(newton, NULL, &asked, &knobs),
               "newton's knobs are declared");
  tap_ok(knobs.known && knobs.count == 1, "  its tolerance");
  eb_accuracy_parameters_clear(&knobs);
  tap_succeeds(eb_accuracy_parameters_create(newton, "rtol=1e-3", &asked, &knobs),
               "an option that is given");
  tap_ok(knobs.known && knobs.count == 0, "  is no knob");
  eb_accuracy_parameters_clear(&knobs);
  tap_require(eb_strings_add(&asked, "newton:rtol=1e-6..1e-2"), "asked");
  tap_require(eb_strings_add(&asked, "newton:linear=cg|cholesky"), "asked");
  tap_succeeds(eb_accuracy_parameters_create(newton, NULL, &asked, &knobs),
               "knobs that are asked for");
  tap_require(eb_assign(&options, "atol", "1"), "options");
  tap_succeeds(eb_accuracy_parameters_apply(&knobs, middle, &options), "  are turned");
  tap_ok(options && strcmp(options, "atol=1,rtol=0.0001,linear=cholesky") == 0,
         "  in logarithms and equal shares: %s", options);
  tap_succeeds(eb_assign(&options, "rtol", "7"), "  and set anew");
  tap_ok(strcmp(options, "atol=1,rtol=7,linear=cholesky") == 0, "  in their place");
  eb_accuracy_parameters_clear(&knobs);
  tap_succeeds(eb_accuracy_parameters_create(vbd, NULL, &asked, &knobs), "those of another solver");
  tap_ok(knobs.count == 1 && strcmp(knobs.items[0].option, "iterations") == 0,
         "  leave this one's");
  eb_accuracy_parameters_clear(&knobs);
  free(options);
  eb_strings_clear(&asked);
  static const struct {
    const char *knob, *words;
  } bad[] = {{"newton:rtl=1e-6..1", "rtol"},        {"newton:rtol", "LOW..HIGH"},
             {"newton:rtol=1..1e-6", "no range"},   {"newton:rtol=1e-6..2", "rtol"},
             {"newton:linear=cg|none", "linear"},   {"newton:linear=cg", "two values"},
             {"newton:rtol=x..y", "wants a number"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tap_require(eb_strings_add(&asked, bad[i].knob), "asked");
    tap_fails(eb_accuracy_parameters_create(newton, NULL, &asked, &knobs), EB_ERR_USAGE,
              bad[i].words, bad[i].knob);
    eb_accuracy_parameters_clear(&knobs);
    eb_strings_clear(&asked);
  }
}

int main(void) {
  test_oscillator();
  test_orders();
  test_no_limit();
  test_distance();
  test_beam();
  test_points();
  test_declared_knobs();
  test_knobs();
  return tap_done();
}
