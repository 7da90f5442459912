/* The condensed muscle and the arm that it moves: against a coupled step in full space, in motion,
 * at rest and at its limits. */
#include "problems/mesh/io.h"
#include "solvers/solver.h"
#include "tests/support/owned.h"
#include "tests/support/coupled_oracle.h"
#include "tests/support/scene_fixture.h"

typedef struct trial {
  eb_scene *scene;
  eb_state *state;
  eb_solver *solver;
  eb_step_log *log;
} trial;

static trial begin(const char *parameters, const char *options) {
  trial t = {.scene = make("conjac2020/muscle", parameters)};
  tap_require(eb_state_create(t.scene, &t.state), "state");
  tap_require(eb_step_log_create(16, &t.log), "log");
  char all[256];
  snprintf(all, sizeof all, "project=always,%s", options ? options : ""); /* as the oracle */
  if (options)
    tap_require(eb_solver_create(eb_solver_find("conjac"), all, t.scene, 1, 1, &t.solver),
                "solver");
  return t;
}

static void end(trial *t) {
  eb_solver_destroy(t->solver);
  eb_step_log_destroy(t->log);
  eb_state_destroy(t->state);
  eb_scene_destroy(t->scene);
}
OWNED(trial, end)

static void advance(trial *t) {
  bool changed;
  eb_reason reason = EB_RUNNING;
  tap_require(eb_scene_advance(t->scene, t->state, &changed), "advance");
  eb_step_log_reset(t->log);
  tap_require(t->solver->ops->step(t->solver, t->state, t->scene->dt, t->log, &reason), "step");
  if (reason < 0)
    tap_ok(false, "step %d ends with %s", (int)t->state->step, eb_reason_name(reason));
}

static void advance_oracle(trial *t, oracle *o, double beta) {
  bool changed;
  tap_require(eb_scene_advance(t->scene, t->state, &changed), "advance");
  oracle_step(o, t->state, t->scene->dt, beta);
}

static double elbow(const trial *t) {
  return eb_values_real(t->scene->parameters, "flexion") + t->state->q[1] * 180 / acos(-1);
}

/* Greatest distance between the nodes of two states over the diagonal of the rest box. */
static double apart(const trial *a, const trial *b) {
  double lo[3], hi[3], diagonal = 0, worst = 0;
  eb_mesh_bounds(a->scene->mesh->X, a->scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) diagonal += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  for (int k = 0; k < 3 * a->state->node_count; k++)
    worst = fmax(worst, fabs(a->state->x[k] - b->state->x[k]));
  return worst / sqrt(diagonal);
}

static double joints_apart(const trial *a, const trial *b) {
  double worst = 0;
  for (int j = 0; j < a->state->joint_count; j++)
    worst = fmax(worst, fabs(a->state->q[j] - b->state->q[j]));
  return worst;
}

/* ---- against the full space ---- */

/* With every free node dynamic nothing is condensed: both solve the same equations, one by LU and
 * one by Cholesky. The fall, its end on the elbow's limit and the rise of activation are within. */
static void all_nodes_dynamic(void) {
  const char *parameters = "resolution=0.5,activate=0.15,relax=1,elbow_min=70";
  owned(trial) a = begin(parameters, "selection=all,beta=1"), b = begin(parameters, NULL);
  owned(oracle) o = oracle_open(b.scene);
  double nodes = 0, joints = 0;
  bool limited = false, active = false;
  for (int i = 0; i < 60; i++) {
    advance(&a);
    advance_oracle(&b, &o, 1);
    nodes = fmax(nodes, apart(&a, &b));
    joints = fmax(joints, joints_apart(&a, &b));
    limited = limited || elbow(&a) < 70;
    active = active || a.scene->ops->activation(a.scene, a.state->time) > 0.5;
  }
  tap_below(nodes, 1e-9, "all nodes dynamic: positions are those of the full space");
  tap_below(joints, 1e-9, "and so are the angles of the joints");
  tap_ok(limited && active, "the elbow has met its limit, the muscle was active");
  tap_ok(a.log->counters[EB_COUNT_REDUCED_UNKNOWNS] == o.unknowns, "%d unknowns in both",
         o.unknowns);
}

/* Much damping and long steps: both come to rest, by different ways and at the same place. */
static void same_rest(const char *parameters, const char *name) {
  owned(trial) a = begin(parameters, "dynamic=1"), b = begin(parameters, NULL);
  owned(oracle) o = oracle_open(b.scene);
  double speed = 0;
  for (int i = 0; i < 800; i++) {
    advance(&a);
    advance_oracle(&b, &o, 1);
  }
  for (int j = 0; j < 2; j++) speed = fmax(speed, fmax(fabs(a.state->u[j]), fabs(b.state->u[j])));
  tap_below(speed, 1e-9, label(name, "the arm is at rest, rad/s"));
  tap_below(apart(&a, &b), 1e-8, label(name, "positions are those of the full space"));
  tap_below(joints_apart(&a, &b), 1e-8, label(name, "and so are the angles"));
  tap_ok(fabs(elbow(&a) - eb_values_real(a.scene->parameters, "flexion")) > 3,
         "%s: far from where it began", name);
}

/* ---- two-way coupling ---- */

typedef struct exchange {
  double bones, muscle;              /* angular momentum about the shoulder */
  double bone_moment, muscle_moment; /* of gravity */
} exchange;

static exchange weigh_exchange(const trial *t, const double *x, const double *v) {
  const double *mass = eb_elasticity_mass(t->scene->elasticity);
  double p[3] = {0}, l[3] = {0}, g = t->scene->gravity[1], ahead[2], T, L;
  exchange e = {0};
  for (int i = 0; i < t->state->node_count; i++) {
    e.muscle += mass[i] * (x[3 * i] * v[3 * i + 1] - x[3 * i + 1] * v[3 * i]);
    e.muscle_moment += mass[i] * x[3 * i] * g;
  }
  eb_articulation_momentum(t->scene->rigid.articulation, t->state->q, t->state->u, p, l);
  e.bones = l[2];
  /* Gravity's moment about the shoulder is -dV/dq of the shoulder's angle, which turns
   * everything. */
  for (int side = 0; side < 2; side++) {
    double q[2] = {t->state->q[0] + (side ? 1e-6 : -1e-6), t->state->q[1]};
    eb_articulation_energy(t->scene->rigid.articulation, q, t->state->u, &T, &ahead[side], &L);
  }
  e.bone_moment = -(ahead[1] - ahead[0]) / 2e-6;
  return e;
}

typedef struct deviation {
  double angle, momentum; /* of the elbow, degrees; over the largest that bones or muscle have */
  double least;           /* flexion of the elbow, degrees */
  double unknowns;
} deviation;

/* From the full space, over a fall until the muscle wakes and lifts the arm. Both take the same
 * small steps, so that what is left is what the condensation leaves out. */
static deviation deviate(const char *options) {
  const char *parameters = "resolution=0.5,activate=0.15,ramp=0.1,dt=1e-3";
  owned(trial) a = begin(parameters, options), b = begin(parameters, NULL);
  owned(oracle) o = oracle_open(b.scene);
  deviation most = {.least = INFINITY};
  double largest = 0;
  for (int i = 0; i < 300; i++) {
    advance(&a);
    advance_oracle(&b, &o, 1);
    exchange one = weigh_exchange(&a, a.state->x, a.state->v);
    exchange two = weigh_exchange(&b, b.state->x, b.state->v);
    most.angle = fmax(most.angle, fabs(elbow(&a) - elbow(&b)));
    most.least = fmin(most.least, elbow(&a));
    double differ = fmax(fabs(one.bones - two.bones), fabs(one.muscle - two.muscle));
    most.momentum = fmax(most.momentum, differ);
    largest = fmax(largest, fmax(fabs(two.bones), fabs(two.muscle)));
  }
  most.momentum /= largest;
  most.unknowns = a.log->counters[EB_COUNT_REDUCED_UNKNOWNS];
  return most;
}

/* A muscle of one dynamic node has the modes that move that node alone: it follows within a few
 * hundredths, eight nodes better. */
static void follows_full_space(void) {
  deviation one = deviate("dynamic=1,beta=1"), eight = deviate("dynamic=8,beta=1");
  tap_ok(one.unknowns == 4, "one dynamic node in the plane and two joints: 4 unknowns");
  tap_ok(one.least < 60, "the arm falls until the elbow is bent by %.0f degrees", one.least);
  tap_below(one.angle, 1, "its angle is that of the full space, degrees");
  tap_below(one.momentum, 0.1, "bones and muscle have the angular momenta of the full space");
  tap_below(eight.angle, 0.5 * one.angle, "eight dynamic nodes follow closer: the angle");
  tap_below(eight.momentum, 0.8 * one.momentum, "and the momenta");
}

/* From rest nothing is stressed, so that turning everything about the shoulder meets no stiffness:
 * in the first step the angular momentum about the shoulder, over the positions at its start, is
 * gravity's moment times h to rounding, and what the muscle takes from it the bones get. */
static void first_step_balances(const char *options) {
  owned(trial) t = begin("joint_damping=0", options);
  int n = 3 * t.state->node_count;
  owned(double) *x = malloc((size_t)n * sizeof *x);
  double h = t.scene->dt;
  memcpy(x, t.state->x, (size_t)n * sizeof *x);
  exchange before = weigh_exchange(&t, x, t.state->v);
  double mass[4];
  eb_articulation_mass(t.scene->rigid.articulation, t.state->q, mass);
  advance(&t);
  exchange after = weigh_exchange(&t, x, t.state->v);
  /* The bones' at the positions of the start: the shoulder's row of their mass matrix. */
  after.bones = mass[0] * t.state->u[0] + mass[1] * t.state->u[1];
  double to_bones = after.bones - h * before.bone_moment;
  double to_muscle = after.muscle - h * before.muscle_moment;
  tap_near(to_bones, -to_muscle, 1e-7 * fabs(to_bones),
           label(options, "what the bones get the muscle gives (difference of energies: 1e-8)"));
  tap_ok(fabs(to_bones) > 0.02 * h * fabs(before.bone_moment), "%s: and it is not little", options);
}

/* Change of angular momentum less the impulse of gravity's moment over the fall and the lift, over
 * the largest exchanged. The shoulder passes no moment: no damping there, and it stays between its
 * limits. */
static double imbalance(const char *parameters, int steps) {
  owned(trial) t = begin(parameters, "dynamic=1");
  double sum = 0, largest = 0, worst = 0, h = t.scene->dt;
  for (int i = 0; i < steps; i++) {
    exchange e = weigh_exchange(&t, t.state->x, t.state->v);
    worst = fmax(worst, fabs(e.bones + e.muscle - sum));
    largest = fmax(largest, fmax(fabs(e.bones), fabs(e.muscle)));
    sum += h * (e.bone_moment + e.muscle_moment);
    advance(&t);
  }
  return worst / largest;
}

static void momentum_is_exchanged(void) {
  first_step_balances("dynamic=1");
  first_step_balances("dynamic=8");
  double coarse = imbalance("joint_damping=0,activate=0.3,dt=4e-3", 125);
  double fine = imbalance("joint_damping=0,activate=0.3,dt=1e-3", 500);
  tap_below(fine, 0.05, "gravity's moment is what changes the angular momentum about the shoulder");
  tap_below(fine, 0.5 * coarse, "the better the shorter the steps");
}

/* ---- the scene ---- */

static double mean_elbow(trial *t, double until, double window) {
  double sum = 0;
  int count = 0;
  while (t->state->time < until - 0.5 * t->scene->dt) {
    advance(t);
    if (t->state->time < until - window) continue;
    sum += elbow(t);
    count++;
  }
  return sum / count;
}

static void muscle_moves_the_arm(void) {
  owned(trial) t = begin(NULL, "dynamic=1"), limp = begin("activation=0", "dynamic=1");
  double before = mean_elbow(&t, 1, 0.3), during = mean_elbow(&t, 2, 0.5);
  double after = mean_elbow(&t, 3, 0.4);
  double hangs[2] = {mean_elbow(&limp, 1, 0.3), mean_elbow(&limp, 3, 0.4)};
  tap_ok(during - before > 20, "the active muscle bends the elbow (from %.0f to %.0f degrees)",
         before, during);
  tap_ok(fabs(after - before) < 0.3 * (during - before),
         "relaxed, it lets the arm sink again (to %.0f degrees)", after);
  tap_near(hangs[0], before, 1e-9, "a muscle that is never active does the same until then");
  tap_near(hangs[1], after, 1, "and later, when the arm swings no more, hangs as the relaxed one");
  double bones = 0, muscle = 0;
  for (int b = 0; b < 2; b++) bones += eb_articulation_body(t.scene->rigid.articulation, b)->mass;
  for (int i = 0; i < t.state->node_count; i++)
    muscle += eb_elasticity_mass(t.scene->elasticity)[i];
  tap_ok(muscle > bones, "the muscle outweighs the bones (%.0f g and %.0f g)", 1e3 * muscle,
         1e3 * bones);
  double flat = 0;
  for (int i = 0; i < t.state->node_count; i++)
    flat = fmax(flat, fabs(t.state->x[3 * i + 2]) + fabs(t.state->v[3 * i + 2]));
  tap_below(flat, 0, "everything has stayed in its plane");
}

/* At a limit the spring gives by what it carries: a fall of about 30 g from 5 cm, 1.5e-2 J, into 20
 * N m/rad gives 0.04 rad. */
static void limits_hold(void) {
  trial t = begin("elbow_min=80,limit_stiffness=20,joint_damping=2e-3", "dynamic=1");
  double least = INFINITY, rest;
  for (int i = 0; i < 200; i++) {
    advance(&t);
    least = fmin(least, elbow(&t));
  }
  rest = elbow(&t);
  tap_ok(least < 80 && least > 76, "the falling forearm passes its limit by little (%.1f)",
         80 - least);
  tap_ok(rest < 80 && rest > 79.5, "and comes to rest on it (%.2f)", 80 - rest);
  end(&t);
  t = begin("elbow_max=70,limit_stiffness=20,joint_damping=2e-3,activate=0.2", "dynamic=1");
  double most = 0;
  for (int i = 0; i < 200; i++) {
    advance(&t);
    if (t.state->time > 0.6) most = fmax(most, elbow(&t));
  }
  tap_ok(most > 70 && most < 74, "the muscle cannot bend it beyond the other (%.1f)", most - 70);
  end(&t);
}

/* ---- bad input ---- */

static void bad_requests(void) {
  tap_fails(attempt("conjac2020/muscle", "elbow_min=100,elbow_max=50", NULL), EB_ERR_INVALID,
            "limits are crossed", "limits that are crossed");
  tap_fails(attempt("conjac2020/muscle", "forearm_mass=0", NULL), EB_ERR_USAGE, "forearm_mass",
            "a forearm without mass");
  tap_fails(attempt("conjac2020/muscle", "activation=2", NULL), EB_ERR_USAGE, "activation",
            "an activation above 1");
  owned(eb_scene) *bar = make("conjac2020/twist", "resolution=0.34");
  char path[128];
  snprintf(path, sizeof path, "%s/bar.msh", folder);
  tap_require(eb_mesh_write(path, bar->mesh), "write");
  tap_fails(attempt("conjac2020/muscle", NULL, path), EB_ERR_UNSUPPORTED, "planar",
            "a solid in the place of the planar muscle");
}

int main(void) {
  fixture_open();
  openblas_set_num_threads(1);
  all_nodes_dynamic();
  same_rest("resolution=0.5,dt=0.02,joint_damping=2e-2,activation=0", "limp");
  same_rest("resolution=0.5,dt=0.02,joint_damping=2e-2,activate=1,relax=100", "active");
  follows_full_space();
  momentum_is_exchanged();
  muscle_moves_the_arm();
  limits_hold();
  bad_requests();
  return fixture_close();
}
