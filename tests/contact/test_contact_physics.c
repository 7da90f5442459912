/* The contact step against mechanics: rest, Coulomb's law on slopes, momentum, edges, bodies that
 * are pushed. */
#include "harness/check/block.h"
#include "tests/support/owned.h"
#include "tests/support/contact_scene.h"

static const double UP[3] = {0, 0, 1};
static const double G = 9.81, GAP = 1e-4;
static const char *solver = "contact-al";

static recipe_block cube_at(double x, double y, double z, double side, bool rigid) {
  return (recipe_block){
      .cubes = {2, 2, 2}, .size = {side, side, side}, .centre = {x, y, z}, .rigid = rigid};
}

/* ---- rest ---- */

/* 1.1 mm above the gap, and turned so that it lands on an edge when `edge`. */
static void falls_and_rests(bool rigid) {
  recipe r = {.block = {cube_at(0.05, 0.04, 0.0512, 0.1, rigid)},
              .young = 2e5,
              .dt = 2e-3,
              .mu = 0.5,
              .gravity = {0, 0, -G},
              .floor = true};
  owned(run) a = cook(&r, solver, "");
  double least = INFINITY, p[3];
  bool well = true;
  for (int s = 0; s < 200 && well; s++) {
    well = go(&a, 1);
    least = fmin(least, lowest(&a, UP));
  }
  momentum_of(&a, &r, 0, p);
  tap_ok(well, "a %s cube falls on the floor: %s", rigid ? "rigid" : "soft",
         eb_reason_name(a.reason));
  /* Constraints hold to eps2 = 5e-6 m, and a quarter of what lacks comes back in a step. */
  tap_ok(least > GAP - 2.5e-5, "  and keeps its distance (%g)", least);
  /* To contact-cr's criterion a contact that rests may move by eps2 a step, 2.5e-3 m/s. */
  double rest = strcmp(solver, "contact-cr") ? 1e-3 : 2.5e-3;
  tap_below(sqrt(eb_dot3(p, p)), rest * mass_of(&a, &r, 0), "  and comes to rest");
  tap_below(lowest(&a, UP), GAP + 6e-6, "  on the floor");
}

/* A block bounces over an edge of the floor, where several constraints hold one vertex, to the
 * tolerance at which the solver declares its accuracy. Each step has a solver of its own, which
 * knows no forces of the last one. Steps that succeed, of 250. */
static int64_t bounce(double young, double height) {
  const eb_solver_ops *ops = eb_solver_find(solver);
  const double pull[3] = {0, 0, -G};
  eb_reason reason = EB_CONVERGED_ITS;
  owned(eb_scene) *scene = NULL;
  tap_require(eb_block_on_floor(pull, young, height, 0.5, 1e-3, &scene), "a block");
  owned(eb_state) *state = new_state(scene);
  int64_t steps = 0;
  for (; steps < 250 && reason > 0; steps++)
    tap_require(eb_block_advance(scene, ops, ops->tightest, 1, 1, NULL, state, &reason), "step");
  return steps - (reason <= 0);
}

static void bounces_on_an_edge(void) {
  static const double stiffness[] = {2e4, 1e5, 5e5}, height[] = {3e-3, 1.1e-2, 2e-2};
  for (int i = 0; i < 9; i++) {
    int64_t steps = bounce(stiffness[i / 3], height[i % 3]);
    tap_ok(steps == 250, "%s: a block of %g Pa bounces from %g m (%d steps)", solver,
           stiffness[i / 3], height[i % 3], (int)steps);
  }
}

/* How far a block that is pulled along the floor by `share` of what friction can hold slips in 300
 * steps, once it has settled; m. */
static double slips(const char *options, double share) {
  const eb_solver_ops *ops = eb_solver_find(solver);
  const double pull[3] = {0.5 * share * G, 0, -G};
  eb_reason reason;
  double slip = 0;
  owned(eb_scene) *scene = NULL;
  tap_require(eb_block_on_floor(pull, 1e7, 1.5e-4, 0.5, 1e-3, &scene), "a block");
  owned(eb_state) *state = new_state(scene), *settled = new_state(scene);
  tap_require(eb_block_advance(scene, ops, options, 1, 150, NULL, state, &reason), "settles");
  memcpy(settled->x, state->x, 3 * (size_t)state->node_count * sizeof *state->x);
  tap_require(eb_block_advance(scene, ops, options, 1, 300, NULL, state, &reason), "rests");
  for (int32_t i = 0; i < state->node_count; i++)
    slip += (state->x[3 * i] - settled->x[3 * i]) / state->node_count;
  return reason > 0 ? fabs(slip) : NAN;
}

/* What a step may leave, 5e-6 m, does not add up: each of the two solvers of a run leaves it once.
 */
static void rest_is_no_creep(void) {
  static const char *const all[] = {"contact-al", "contact-ica", "contact-sp", "contact-delassus"};
  for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
    solver = all[s];
    for (int i = 0; i < 2; i++)
      tap_below(slips("drift=carried", i ? 0.9 : 0.5), 1e-5,
                "a block that friction holds does not creep");
  }
  solver = "contact-sp";
  tap_ok(slips("drift=left", 0.9) > 2e-5, "contact-sp creeps where drift is left");
}

/* The forces of the record carry the weight. */
static void record_carries_the_weight(void) {
  recipe r = {.block = {cube_at(0.05, 0.04, 0.05 + GAP, 0.1, true)},
              .young = 2e5,
              .dt = 2e-3,
              .mu = 0.5,
              .gravity = {0, 0, -G},
              .floor = true};
  owned(run) a = cook(&r, solver, "");
  go_well(&a, 20);
  const eb_contact_record *record = a.log->contacts;
  double sum[3] = {0}, weight = G * mass_of(&a, &r, 0);
  bool placed = record != NULL;
  for (int32_t k = 0; placed && k < record->count; k++) {
    /* The floor is the second feature, or its vertex the first one. */
    double sign = record->pair[k].vertex[0] >= record->nodes ? -1 : 1;
    for (int d = 0; d < 3; d++)
      eb_add3(sign * record->r[3 * k + d], record->frame + 9 * k + 3 * d, sum);
  }
  tap_ok(placed && record->count >= 3, "a step leaves a record");
  /* Residuals of eps1 = 5e-5 kg m/s are forces of eps1 / h. */
  tap_near(sum[2], weight, 5e-5 / r.dt, "  whose forces carry the weight");
  tap_below(hypot(sum[0], sum[1]), 5e-5 / r.dt, "  straight up");
}

/* ---- Coulomb ---- */

/* Block on the plane z = 0 with gravity tilted by `slope` towards the direction `heading`; returns
 * the acceleration along it from velocities at two times. */
static double acceleration(bool rigid, double mu, double slope, double heading, double *across) {
  double h = 1e-3, t[2] = {cos(heading), sin(heading)}, at[2][3];
  recipe r = {.block = {cube_at(0, 0, 0.02 + GAP, 0.04, rigid)},
              .young = 5e6,
              .dt = h,
              .mu = mu,
              .gravity = {G * sin(slope) * t[0], G * sin(slope) * t[1], -G * cos(slope)},
              .floor = true};
  owned(run) a = cook(&r, solver, "eps2=1e-8,eps1=1e-9,angle=0.05");
  int settle = rigid ? 2 : 150, length = rigid ? 10 : 50;
  go_well(&a, settle);
  momentum_of(&a, &r, 0, at[0]);
  go_well(&a, length);
  momentum_of(&a, &r, 0, at[1]);
  double mass = mass_of(&a, &r, 0), dv[2];
  for (int d = 0; d < 2; d++) dv[d] = (at[1][d] - at[0][d]) / mass;
  *across = (dv[1] * t[0] - dv[0] * t[1]) / (h * length);
  return (dv[0] * t[0] + dv[1] * t[1]) / (h * length);
}

static void sticks_below_and_slides_above(bool rigid) {
  double mu = 0.5, limit = atan(mu), across;
  const char *kind = rigid ? "rigid" : "soft";
  double stuck = acceleration(rigid, mu, limit - 0.05, 0.3, &across);
  tap_ok(fabs(stuck) < 1e-2 * G, "a %s block sticks below the angle of friction (%g)", kind, stuck);
  double slope = limit + 0.15, want = G * (sin(slope) - mu * cos(slope));
  double slides = acceleration(rigid, mu, slope, 0.3, &across);
  tap_ok(fabs(slides - want) < 1e-2 * want, "a %s block slides above it with g (sin - mu cos)",
         kind);
  tap_ok(fabs(across) < 1e-2 * want, "  straight down");
}

static void friction_is_isotropic(void) {
  double mu = 0.4, slope = 0.6, want = G * (sin(slope) - mu * cos(slope)), worst = 0, drift = 0;
  for (int k = 0; k < 16; k++) {
    double across, along = acceleration(true, mu, slope, 2 * M_PI * k / 16 + 0.01, &across);
    worst = fmax(worst, fabs(along - want));
    drift = fmax(drift, fabs(across));
  }
  tap_below(worst, 1e-2 * want, "friction is the same in 16 directions");
  tap_below(drift, 1e-2 * want, "  and opposes the motion");
}

/* The same on a plane that is turned itself. */
static void slides_on_a_turned_plane(void) {
  double slope = 0.7, mu = 0.5, c = cos(slope), s = sin(slope), h = 1e-3, p[3];
  double up[3] = {-s, 0, c}, centre = 0.02 + GAP;
  recipe r = {.block = {cube_at(-s * centre, 0, c * centre, 0.04, true)},
              .young = 1e6,
              .dt = h,
              .mu = mu,
              .gravity = {0, 0, -G},
              .floor = true,
              .slope = slope};
  memcpy(r.block[0].turn, (double[]){c, 0, -s, 0, 1, 0, s, 0, c}, 9 * sizeof(double));
  owned(run) a = cook(&r, solver, "eps2=1e-8,eps1=1e-9");
  go_well(&a, 50);
  momentum_of(&a, &r, 0, p);
  double want = G * (s - mu * c) * h * 50, along = -(c * p[0] + s * p[2]) / mass_of(&a, &r, 0);
  tap_near(along, want, 1e-2 * want, "a block slides on a turned plane with g (sin - mu cos)");
  tap_ok(lowest(&a, up) > GAP - 1e-6, "  on it");
}

/* ---- collisions between bodies ---- */

static void momentum_is_conserved(bool rigid) {
  recipe r = {
      .block = {cube_at(-0.0301, 0.004, 0, 0.05, false), cube_at(0.0301, 0, 0.003, 0.05, rigid)},
      .young = 1e5,
      .dt = 1e-3,
      .mu = 0.3};
  r.block[0].velocity[0] = 1;
  r.block[1].velocity[0] = -2;
  owned(run) a = cook(&r, solver, "eps1=1e-5");
  double p[3], q[3], before = -mass_of(&a, &r, 0);
  bool well = go(&a, 60);
  momentum_of(&a, &r, 0, p);
  momentum_of(&a, &r, 1, q);
  tap_ok(well, "soft and %s cube collide: %s", rigid ? "rigid" : "soft", eb_reason_name(a.reason));
  tap_ok(q[0] / mass_of(&a, &r, 1) > p[0] / mass_of(&a, &r, 0), "  and part");
  /* 60 steps of residuals 1e-5 kg m/s each, spread over nodes. */
  tap_below(fabs(p[0] + q[0] - before), 1e-3, "  with their momentum");
  tap_below(fmax(fabs(p[1] + q[1]), fabs(p[2] + q[2])), 1e-3, "  in all directions");
}

/* Two bars, crossed, the upper one turned about its axis so that edge meets edge. */
static void bars_cross(bool rigid) {
  double c = sqrt(0.5), side = 0.04;
  recipe r = {.block = {{.cubes = {6, 1, 1},
                         .size = {0.3, side, side},
                         .held = true,
                         .turn = {1, 0, 0, 0, c, -c, 0, c, c}},
                        {.cubes = {1, 6, 1},
                         .size = {side, 0.3, side},
                         .rigid = rigid,
                         .turn = {c, 0, c, 0, 1, 0, -c, 0, c},
                         .centre = {0.007, 0.003, 2 * side * c + 0.002}}},
              .young = 1e6,
              .dt = 2e-3,
              .mu = 0.5,
              .gravity = {0, 0, -G}};
  owned(run) a = cook(&r, solver, "");
  bool well = go(&a, 60), edges = false;
  for (int32_t k = 0; well && k < a.log->contacts->count; k++)
    edges |= a.log->contacts->pair[k].kind == EB_EDGE_EDGE && a.log->contacts->r[3 * k] > 0;
  double least = INFINITY;
  for (int32_t i = first_node(&r, 1); i < first_node(&r, 2); i++)
    if (fabs(a.state->x[3 * i]) < side && fabs(a.state->x[3 * i + 1]) < 0.3)
      least = fmin(least, a.state->x[3 * i + 2]);
  tap_ok(well && edges, "a %s bar is held by an edge: %s", rigid ? "rigid" : "soft",
         eb_reason_name(a.reason));
  tap_ok(least > -side, "  and does not fall through");
}

/* ---- obstacles that move ---- */

static void rises(double t, const void *script, double rotation[9], double shift[3]) {
  const double *parameters = script;
  memset(rotation, 0, 9 * sizeof *rotation);
  for (int d = 0; d < 3; d++) {
    rotation[4 * d] = 1;
    shift[d] = parameters[d] * t;
  }
}

static void moving_floor_pushes(bool rigid) {
  recipe r = {.block = {cube_at(0, 0, 0.0252, 0.05, rigid)},
              .young = 1e6,
              .dt = 1e-3,
              .mu = 0.5,
              .gravity = {0, 0, -G},
              .floor = true,
              .motion = rises,
              .parameters = {0.03, -0.02, 0.4}};
  owned(run) a = cook(&r, solver, "");
  bool well = go(&a, 150);
  double p[3], mass = mass_of(&a, &r, 0);
  momentum_of(&a, &r, 0, p);
  tap_ok(well, "a floor that moves pushes a %s cube: %s", rigid ? "rigid" : "soft",
         eb_reason_name(a.reason));
  tap_ok(lowest(&a, UP) > 0.4 * 0.15, "  ahead of it");
  /* Where a contact sticks, velocities agree to eps2 / h = 5e-3 m/s. */
  tap_below(fmax(fabs(p[0] / mass - 0.03), fabs(p[1] / mass + 0.02)), 6e-3, "  along with it");
  tap_near(p[2] / mass, 0.4, 2e-2, "  at its speed");
}

/* Whether each of so many bodies on each other moves by less than eps2 a step for each surface
 * below it. */
static void each_stands(const run *a, const recipe *r, int count) {
  const double eps2 = 5e-6;
  for (int b = 0; b < count; b++) {
    double p[3];
    momentum_of(a, r, b, p);
    tap_below(sqrt(eb_dot3(p, p)), eps2 / r->dt * (b + 1) * mass_of(a, r, b),
              "  stands: less than eps2 a step and surface");
  }
}

/* A rigid cube on a soft one on a rigid one. */
static void stack_stands(void) {
  recipe r = {.block = {cube_at(0, 0, 0.0502, 0.1, true), cube_at(0.01, 0, 0.1504, 0.1, false),
                        cube_at(0, 0.01, 0.2506, 0.1, true)},
              .young = 5e5,
              .dt = 2e-3,
              .mu = 0.5,
              .gravity = {0, 0, -G},
              .floor = true};
  owned(run) a = cook(&r, solver, "");
  bool well = go(&a, 150);
  tap_ok(well, "%s: a stack of three: %s", solver, eb_reason_name(a.reason));
  each_stands(&a, &r, 3);
}

/* Ten rigid boxes fall onto each other by 0.2 mm. Four hundred contacts share their weight. */
static void tower_stands(const char *options, double most) {
  recipe r = {.young = 5e5, .dt = 1e-3, .mu = 0.5, .gravity = {0, 0, -G}, .floor = true};
  for (int b = 0; b < 10; b++)
    r.block[b] = (recipe_block){.cubes = {2, 2, 1},
                                .size = {0.5, 0.5, 0.25},
                                .centre = {0, 0, 0.125 + 3e-4 + b * (0.25 + 3e-4)},
                                .rigid = true};
  owned(run) a = cook(&r, solver, options);
  bool well = true;
  double iterations = 0;
  int steps = 0;
  for (; steps < 100 && well; steps++) {
    well = go(&a, 1);
    iterations += a.log->counters[EB_COUNT_LINEAR_ITERATIONS];
  }
  tap_ok(well, "%s%s%s: a tower of ten: %s", solver, *options ? ":" : "", options,
         eb_reason_name(a.reason));
  tap_below(iterations / steps, most, "  in few iterations");
  each_stands(&a, &r, 10);
}

int main(void) {
  for (int rigid = 0; rigid < 2; rigid++) {
    falls_and_rests(rigid);
    sticks_below_and_slides_above(rigid);
    momentum_is_conserved(rigid);
    bars_cross(rigid);
    moving_floor_pushes(rigid);
  }
  record_carries_the_weight();
  friction_is_isotropic();
  slides_on_a_turned_plane();
  stack_stands();
  /* An iteration is a Newton step: as many as one proximal step may take, in two outer iterations.
   */
  tower_stands("", 100);
  bounces_on_an_edge();
  /* To its own criterion its friction is too coarse for accelerations (solvers/contact/cr.c). */
  solver = "contact-cr";
  for (int rigid = 0; rigid < 2; rigid++) {
    falls_and_rests(rigid);
    momentum_is_conserved(rigid);
    bars_cross(rigid);
    moving_floor_pushes(rigid);
  }
  stack_stands();
  /* Conjugate residuals end after as many iterations as there are unknowns, 60: five solves. */
  tower_stands("polish=true", 300);
  bounces_on_an_edge();
  rest_is_no_creep();
  return tap_done();
}
