/* Contact against mechanics. As constraints: Coulomb's law on a slope in every direction, momentum
 * of bodies that collide, energy of one that falls, a stack at rest, and one method against another
 * on the same steps. As implicit penalties: a block on a slope slides with g (sin - mu cos), or it
 * stays. Slopes are level and gravity is tilted.
 *
 * Every solver of constraints goes through all of it, at the options at which it declares its
 * accuracy a (solver.h), and every bound follows from that: accelerations of bodies in contact err
 * by a g at most, so that after a time t
 *
 *   a velocity errs by a g t,   a position by a g t^2 / 2,   an energy by m a g v a second.
 *
 * What a bound has beside that is what exact steps of this size do themselves, and is said where it
 * is added. A coarser solver than EB_COARSEST_ACCURACY is held to that. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/scene_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gravity = 9.81, time_step = 1e-3, pi = 3.14159265358979323846;

/* The options at which a solver declares its accuracy. */
static const char *tightest(const eb_solver_ops *ops) {
  return ops->tightest ? ops->tightest : "";
}

/* What it declares, of an acceleration over g. */
static double accuracy(const eb_solver_ops *ops) {
  return fmin(ops->accuracy > 0 ? ops->accuracy : EB_ACCURACY, EB_COARSEST_ACCURACY);
}

/* How far an acceleration that errs by a g may take a body in so many steps: m/s, m. */
static double speed_error(double a, int steps) {
  return a * gravity * steps * time_step;
}

static double position_error(double a, int steps) {
  return 0.5 * a * gravity * (steps * time_step) * (steps * time_step);
}

/* ---- scenes ---- */

/* sum m values; returns sum m. */
static double sum_up(const eb_scene *scene, const double *values, double sum[3]) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double total = 0;
  memset(sum, 0, 3 * sizeof *sum);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    for (int d = 0; d < 3; d++) sum[d] += mass[i] * values[3 * (int64_t)i + d];
    total += mass[i];
  }
  return total;
}

static eb_error advance(const eb_check *check, eb_scene *scene, const char *options, int64_t steps,
                        eb_state *state) {
  eb_reason reason = EB_RUNNING;
  EB_TRY(eb_block_advance(scene, check->solver, options, 1, steps, NULL, state, &reason));
  if (reason > 0) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID,
                  "step %lld of a contact scene ends with %s; run it with `run` and "
                  "look at its report",
                  (long long)state->step, eb_reason_name(reason));
}

/* ---- Coulomb ---- */

enum { SETTLE = 100, WATCH = 50 };

/* How far the acceleration on a slope that falls towards `heading` is from Coulomb's, over g: the
 * mean of all nodes, after vibrations of the start have died out. */
static eb_error slope_error(const eb_check *check, double friction, double tangent, double heading,
                            double *off) {
  const double cosine = 1 / sqrt(1 + tangent * tangent), sine = tangent * cosine;
  const double down[3] = {cos(heading), sin(heading), 0};
  const double pull[3] = {gravity * sine * down[0], gravity * sine * down[1], -gravity * cosine};
  double want = fmax(0, sine - friction * cosine), before[3], after[3], square = 0;
  const char *options = tightest(check->solver);
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_on_floor(pull, 1e8, 1e-4, friction, time_step, &scene));
  EB_TRY(eb_block_run(scene, check->solver, options, 1, SETTLE, NULL, &state));
  double mass = sum_up(scene, state->v, before);
  EB_TRY(advance(check, scene, options, WATCH, state));
  sum_up(scene, state->v, after);
  for (int d = 0; d < 3; d++) {
    double a = (after[d] - before[d]) / (mass * WATCH * time_step) - gravity * want * down[d];
    square += a * a;
  }
  *off = sqrt(square) / gravity;
  return EB_OK;
}

static eb_error coulomb(const eb_check *check) {
  const double friction = 0.5;
  double sticks = 0, slides = 0, off;
  int directions = check->quick ? 1 : 16;
  for (int k = 0; k < directions; k++) {
    double heading = 2 * pi * k / directions + 0.01;
    EB_TRY(slope_error(check, friction, 0.97 * friction, heading, &off));
    sticks = fmax(sticks, off);
    EB_TRY(slope_error(check, friction, 1.03 * friction, heading, &off));
    slides = fmax(slides, off);
  }
  eb_check_below(check, sticks, accuracy(check->solver),
                 "acceleration over g on slopes whose tangent is 3 % below mu, all directions; "
                 "bounded by tolerances",
                 "%s/contact/sticks", check->solver->name);
  eb_check_below(check, slides, accuracy(check->solver),
                 "acceleration over g on slopes 3 % above it, off sin - mu cos = 0.013",
                 "%s/contact/slides", check->solver->name);
  return EB_OK;
}

/* ---- energy ---- */

static double energy_of(const eb_scene *scene, const eb_state *state) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double energy = eb_elasticity_energy(scene->elasticity, state->x);
  for (int64_t k = 0; k < 3 * (int64_t)state->node_count; k++)
    energy += mass[k / 3] * (0.5 * state->v[k] * state->v[k] - scene->gravity[k % 3] * state->x[k]);
  return energy;
}

static eb_error energy(const eb_check *check) {
  const double pull[3] = {0, 0, -gravity}, height = 0.02;
  const double gap = 1e-4, speed = sqrt(2 * gravity * height), fall_energy = gravity * height;
  double sum[3], rise = -INFINITY;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_on_floor(pull, 1e5, height, 0.5, time_step, &scene));
  EB_TRY(eb_state_create(scene, &state));
  double before = energy_of(scene, state);
  for (int step = 0; step < (check->quick ? 80 : 300); step++) {
    EB_TRY(advance(check, scene, tightest(check->solver), 1, state));
    double after = energy_of(scene, state);
    rise = fmax(rise, after - before);
    before = after;
  }
  double mass = sum_up(scene, scene->x0, sum);
  /* What has come within a quarter of the gap of 0.1 mm is lifted by a quarter of what it lacks. */
  double lift = 0.25 * 0.75 * gap * gravity;
  double work = accuracy(check->solver) * gravity * speed * time_step;
  eb_check_below(
      check, rise / (mass * fall_energy), (lift + work) / fall_energy,
      "largest rise of the energy in a step of a block that falls, bounces and settles, over "
      "that of its fall: what is closer than the gap is pushed back to it, and the declared "
      "accuracy does work at the speed of the impact",
      "%s/contact/energy", check->solver->name);
  return EB_OK;
}

/* ---- bodies ---- */

static eb_error catalogue_scene(const char *parameters, eb_scene **out) {
  return eb_scene_create(eb_scene_find("verschoor2019/stack"), parameters, NULL, "", out);
}

/* The lower box hits the upper one from below and they rise together, away from the floor. */
static eb_error momentum(const eb_check *check) {
  enum { STEPS = 10 };
  static const double velocity[2][3] = {{0.1, 0, 0.8}, {0, -0.2, -0.4}};
  double off = 0, parting = NAN, slack = speed_error(accuracy(check->solver), STEPS);
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(catalogue_scene("bodies=2,gravity=0,resolution=0.5", &scene));
  int64_t half = scene->mesh->node_count / 2;
  for (int64_t i = 0; i < 2 * half; i++)
    memcpy(scene->v0 + 3 * i, velocity[i >= half], sizeof velocity[0]);
  EB_TRY(eb_block_run(scene, check->solver, tightest(check->solver), 1, STEPS, NULL, &state));
  double before[3], after[3];
  sum_up(scene, scene->v0, before);
  double mass = sum_up(scene, state->v, after);
  for (int d = 0; d < 3; d++) off = fmax(off, fabs(after[d] - before[d]) / mass);
  parting = state->twist[6 + 2] - state->twist[2];
  eb_check_below(
      check, off, slack,
      "m/s of the common centre after two boxes of 62 kg have collided at 1.2 m/s with friction: "
      "the declared accuracy over 10 steps",
      "%s/contact/momentum", check->solver->name);
  /* They leave turning at w = 0.3 rad/s, arms of r = 0.35 m: a linearized contact leaves out
   * w^2 h r = 3e-5 m/s of each. */
  eb_check_above(check, parting, -(1e-4 + 2 * slack),
                 "m/s at which they part then: the same of either, and what turns of second order "
                 "make of the exact steps",
                 "%s/contact/parting", check->solver->name);
  return EB_OK;
}

/* How far a stack that has settled moves: one and the same run up to there and on, as a solver that
 * is new has no constraints of the last step, and boxes fall into the gap again. Each step recovers
 * a quarter of what lacks to the gap of 0.1 mm, so that 60 leave 3e-12 m. */
static eb_error stack(const eb_check *check) {
  const char *options = tightest(check->solver);
  double moved = NAN;
  int settle = check->quick ? 60 : 150, steps = check->quick ? 10 : 50;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_OWNED(eb_check_free_state) eb_state *before = NULL;
  EB_TRY(catalogue_scene(check->quick ? "bodies=2,resolution=0.5" : "bodies=4", &scene));
  EB_TRY(eb_block_run(scene, check->solver, options, 1, settle, NULL, &before));
  EB_TRY(eb_block_run(scene, check->solver, options, 1, settle + steps, NULL, &state));
  moved = eb_block_distance(state, before);
  eb_check_below(check, moved, position_error(accuracy(check->solver), steps),
                 "m that a stack of rigid boxes at rest moves in the steps of this check: what the "
                 "declared accuracy accelerates it by",
                 "%s/contact/stack", check->solver->name);
  return EB_OK;
}

/* ---- methods ---- */

/* A block slides and vibrates on a rough slope after a fall of 0.4 mm. */
static eb_error methods(const eb_check *check) {
  enum { AGREED_STEPS = 30 };
  const double pull[3] = {4, 3, -gravity};
  const eb_solver_ops *sides[2] = {check->solver, eb_solver_find("contact-delassus")};
  EB_OWNED(eb_check_free_state) eb_state *mine = NULL;
  EB_OWNED(eb_check_free_state) eb_state *theirs = NULL;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  if (!strcmp(sides[0]->name, sides[1]->name)) return EB_OK;
  EB_TRY(eb_block_on_floor(pull, 1e6, 5e-4, 0.3, time_step, &scene));
  for (int i = 0; i < 2; i++)
    EB_TRY(eb_block_run(scene, sides[i], tightest(sides[i]), 1, AGREED_STEPS, NULL,
                        i ? &theirs : &mine));
  double apart = eb_block_distance(mine, theirs);
  eb_check_below(check, apart,
                 position_error(accuracy(sides[0]) + accuracy(sides[1]), AGREED_STEPS),
                 "m between its result and that of contact-delassus after 30 steps down a slope: "
                 "what the accuracies of both make",
                 "%s/contact/agrees", check->solver->name);
  return EB_OK;
}

static eb_error check_contact(const eb_check *check) {
  if (!eb_subject_can(check->solver, EB_CAP_CONTACT)) return EB_OK;
  EB_TRY(coulomb(check));
  EB_TRY(energy(check));
  EB_TRY(methods(check));
  if (!eb_subject_can(check->solver, EB_CAP_FREE_BODIES)) return EB_OK;
  EB_TRY(momentum(check));
  return stack(check);
}

/* ---- friction of penalties ------------------------------------------------------------------- */

/* Half a second: the block settles in the first, and is watched in the second. */
enum { SLIDE_STEPS = 100 };

static const double slide_step = 5e-3, slope_tangent = 0.5;

/* A block of 10 x 10 x 5 cm on a floor so stiff that it sinks by micrometres: mean acceleration in
 * the second half, and the way there. */
static eb_error slide(const eb_check *check, const char *options, double friction,
                      double *acceleration, double *way) {
  double cosine = 1 / sqrt(1 + slope_tangent * slope_tangent);
  double speed[3], at[3], later_speed[3], later_at[3];
  eb_reason reason = EB_RUNNING;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_create(&scene,
                         "nx=4,ny=4,nz=2,lx=0.1,ly=0.1,lz=0.05,gx=%.17g,gz=%.17g,dt=%g,material=%s",
                         gravity * slope_tangent * cosine, -gravity * cosine, slide_step,
                         eb_subject_material(check->solver)));
  scene->contacts.collider_count = 1;
  scene->contacts.colliders[0] = (eb_collider){.kind = EB_PLANE,
                                               .axis = {0, 0, 1},
                                               .implicit = true,
                                               .stiffness = 4e8,
                                               .friction = friction};
  EB_TRY(eb_block_run(scene, check->solver, options, 1, SLIDE_STEPS, NULL, &state));
  double mass = sum_up(scene, state->v, speed);
  sum_up(scene, state->x, at);
  EB_TRY(eb_block_advance(scene, check->solver, options, 1, SLIDE_STEPS, NULL, state, &reason));
  sum_up(scene, state->v, later_speed);
  sum_up(scene, state->x, later_at);
  *acceleration = (later_speed[0] / mass - speed[0] / mass) / (SLIDE_STEPS * slide_step);
  *way = later_at[0] / mass - at[0] / mass;
  if (reason <= 0)
    return EB_ERROR(EB_ERR_INVALID, "a step on the slope ends with %s", eb_reason_name(reason));
  return EB_OK;
}

typedef struct friction_case {
  const char *options, *name;
  double bound; /* of the acceleration */
  const char *reason;
} friction_case;

static eb_error friction_of(const eb_check *check, const friction_case *on) {
  const double slippery = 0.3, rough = 0.6;
  double acceleration, way;
  eb_equation equation;
  EB_TRY(eb_subject_equation(check->solver, &equation));
  EB_TRY(slide(check, on->options, slippery, &acceleration, &way));
  double exact = gravity * (slope_tangent - slippery) / sqrt(1 + slope_tangent * slope_tangent);
  eb_check_below(check, fabs(acceleration / exact - 1), on->bound, on->reason,
                 "%s/friction%s/slides", check->solver->name, on->name);
  EB_TRY(slide(check, on->options, rough, &acceleration, &way));
  eb_check_below(check, fabs(way), equation == EB_EQUATION_POSITION_BASED ? 5e-3 : 1e-4,
                 "m in half a second on that slope with mu = 0.6, which holds it, but for what "
                 "projections do behind friction",
                 "%s/friction%s/sticks", check->solver->name, on->name);
  return EB_OK;
}

static eb_error check_friction(const eb_check *check) {
  static const char law[] =
      "acceleration down a slope of tangent 0.5 with mu = 0.3 against g (sin - mu cos), "
      "relative; vibrations are left of the start";
  static const friction_case all = {"selection=all,beta=1", "/all-dynamic", 1e-3, law};
  static const friction_case condensed = {"friction_passes=100", "", 0.15,
                                          "the same; quasistatic nodes feel neither the inertia "
                                          "nor the friction of a slide, so that the sole "
                                          "does not quite carry the weight"};
  if (!eb_subject_can(check->solver, EB_CAP_IMPLICIT_PENALTY)) return EB_OK;
  if (!eb_subject_declares(check->solver, "friction_passes")) {
    char options[160];
    const char *exact = eb_subject_exact(check->solver);
    /* Those that iterate need no more digits than the law is held to; on a floor so stiff plain
     * projective dynamics takes a minute for them and ADMM two, and both filter as their
     * accelerated kind does. */
    bool filters = eb_subject_declares(check->solver, "friction");
    bool accelerates = eb_subject_declares(check->solver, "acceleration");
    if (check->quick && eb_subject_declares(check->solver, "contact") && filters &&
        !eb_subject_declares(check->solver, "window"))
      return EB_OK;
    const char *asked = !filters      ? ""
                        : accelerates ? "friction=true,rtol=1e-5,acceleration=anderson"
                                      : "friction=true,rtol=1e-5";
    snprintf(options, sizeof options, "%s%s%s", exact, *exact && *asked ? "," : "", asked);
    return friction_of(check, &(friction_case){options, "", 1e-3, law});
  }
  EB_TRY(friction_of(check, &all));
  return friction_of(check, &condensed);
}

const eb_check_group eb_checks_contact[] = {
    {"friction", check_friction, "*"}, {"contact", check_contact, "*"}, {0}};
