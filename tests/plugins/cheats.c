/* Solvers that cheat. The honest core is a built-in solver (option `of`); around it, from step `at`
 * on, one thing is done wrong (option `fault`): the rules of harness/audit/rules.h have to name it.
 * With fault=none nothing is wrong. tests/README.md lists the faults, tests/audit/cheats.t runs
 * them. */
#include "problems/scene_impl.h"
#include "tests/plugins/wrapped.h"

#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* How positions follow from velocities: part of a solver's table, and so of the plug-in. */
#ifndef CHEAT_UPDATE
#define CHEAT_UPDATE EB_UPDATE_END_VELOCITY
#define CHEAT_NAME   "cheat"
#endif

static const eb_option options[] = {
    {"of", EB_OPTION_TEXT, "newton", 0, 0, NULL, "", "the solver inside"},
    {"with", EB_OPTION_TEXT, "", 0, 0, NULL, "", "one option of it, name=value"},
    {"fault", EB_OPTION_TEXT, "none", 0, 0, NULL, "", "what is wrong"},
    {"says", EB_OPTION_CHOICE, "own", 0, 0, "own|its|direct|stagnated", "",
     "the reason of its steps: the inner solver's own, or always the same"},
    {"at", EB_OPTION_INT, "1", 1, 1e9, NULL, "", "number of the first step in which it is"},
    {"until", EB_OPTION_INT, "1000000000", 1, 1e9, NULL, "",
     "number of the step before which what was written into the scene is undone"},
    {0}};

typedef struct fault fault;

typedef struct cheat {
  wrapped w;
  const fault *fault;
  eb_scene *lent;   /* the run's, which is const to an honest solver */
  double *tape;     /* positions and velocities of steps made beforehand */
  int64_t recorded; /* such steps */
  int64_t taken;    /* steps of any kind */
  double kept;      /* a number of the scene's that was overwritten */
} cheat;

/* One step as a fault finds it. */
typedef struct taken {
  cheat *cheat;
  eb_state *state;
  const eb_state *before;
  double dt;
  eb_step_log *log;
  eb_reason *reason;
} taken;

struct fault {
  const char *name;
  /* The scene that the inner solver is given differs from the run's in this parameter, */
  const char *parameter;
  double factor;
  /* or in what this does to it, or is made here; */
  void (*bend)(eb_scene *own);
  eb_error (*make)(const eb_scene *scene, eb_scene **own);
  /* what is done to the run's own scene; back: undone; */
  void (*forge)(cheat *c, bool back);
  /* what it does to the state before the inner solver steps; */
  void (*deceive)(eb_state *state);
  /* what stands in the place of a step, */
  void (*instead)(const taken *t);
  /* or is done behind it. */
  void (*after)(const taken *t);
};

/* ---- motion ---------------------------------------------------------------------------------- */

static size_t size_of(const taken *t) {
  return 3 * (size_t)t->state->node_count;
}

/* Adds w x (x - centre) + u to the velocities of the nodes, with positions that follow. */
static void push(const taken *t, const double u[3], const double w[3]) {
  double centre[3] = {0}, count = t->state->node_count;
  for (size_t k = 0; k < size_of(t); k++) centre[k % 3] += t->before->x[k] / count;
  for (size_t k = 0; k < size_of(t); k++) {
    size_t d = k % 3, e = (d + 1) % 3, f = (d + 2) % 3, node = k - d;
    double turn =
        w[e] * (t->before->x[node + f] - centre[f]) - w[f] * (t->before->x[node + e] - centre[e]);
    t->state->v[k] += u[d] + turn;
    t->state->x[k] += t->dt * (u[d] + turn);
  }
}

/* Velocities of the step times `a`, with positions that follow. */
static void scale(const taken *t, double a) {
  for (size_t k = 0; k < size_of(t); k++) {
    t->state->v[k] *= a;
    t->state->x[k] = t->before->x[k] + t->dt * t->state->v[k];
  }
}

static void drift(const taken *t) {
  for (size_t k = 0; k < size_of(t); k += 3)
    if (t->state->v[k] != 0) t->state->x[k] += 1e-7;
}

static void lag(const taken *t) {
  for (size_t k = 0; k < size_of(t); k++)
    t->state->x[k] = t->before->x[k] + 0.5 * t->dt * (t->before->v[k] + t->state->v[k]);
}

static void fast(const taken *t) {
  scale(t, 1.01);
}

static void pump(const taken *t) {
  scale(t, 1.05);
}

static void brake(const taken *t) {
  scale(t, 0.5);
}

static void freeze(const taken *t) {
  scale(t, 0);
}

static void coast(const taken *t) {
  for (size_t k = 0; k < size_of(t); k++) {
    t->state->v[k] = t->before->v[k];
    t->state->x[k] = t->before->x[k] + t->dt * t->state->v[k];
  }
}

/* The inertia of the step has lost the old velocities. */
static void forget_velocities(eb_state *state) {
  memset(state->v, 0, 3 * (size_t)state->node_count * sizeof *state->v);
}

/* One step in eight is taken; the others do nothing. */
static void be_lazy(const taken *t) {
  if (t->state->step % 8 != 1) freeze(t);
}

/* Free nodes are shaken by 1 mm of noise that is in no velocity. */
static void shake(const taken *t) {
  uint32_t noise = 1;
  for (size_t k = 0; k < size_of(t); k++) {
    noise = noise * 1664525u + 1013904223u;
    if (t->state->v[k - k % 3 + 2] != 0) t->state->x[k] += 1e-3 * ((noise >> 8) % 3 - 1.0);
  }
}

/* Free nodes are 10 cm away, all of a sudden. */
static void jump(const taken *t) {
  for (size_t k = 0; k < size_of(t); k++)
    if (t->state->v[k - k % 3 + 2] != 0) t->state->x[k] += k % 3 == 0 ? 0.1 : 0;
}

static void half_step(const taken *t) {
  for (size_t k = 0; k < size_of(t); k++)
    t->state->x[k] = t->before->x[k] + 0.5 * t->dt * t->state->v[k];
}

static void kick(const taken *t) {
  push(t, (double[3]){0.1, 0, 0}, (double[3]){0});
}

static void spin(const taken *t) {
  push(t, (double[3]){0}, (double[3]){0, 0, 5});
}

/* A share of every velocity goes to the next node: no momentum is lost or won, but forces act that
 * are none. */
static void smear(const taken *t) {
  size_t nodes = (size_t)t->state->node_count;
  const double *mass = eb_scene_mass(t->cheat->lent);
  for (size_t i = 0; i + 1 < nodes; i++)
    for (size_t d = 0; d < 3; d++) {
      double p = 0.2 * mass[i] * t->state->v[3 * i + d];
      t->state->v[3 * i + d] -= p / mass[i];
      t->state->v[3 * i + 3 + d] += p / mass[i + 1];
    }
  scale(t, 1);
}

/* A step whose inertia is that of half its length: M / (h/2)^2 about the same xt. */
static void misjudge_inertia(const taken *t) {
  eb_solver *inner = t->cheat->w.inner;
  eb_state_copy(t->before, t->state);
  for (size_t k = 0; k < size_of(t); k++) t->state->v[k] *= 2;
  t->log->residual_count = 0;
  eb_reason its;
  if (inner->ops->step(inner, t->state, t->dt / 2, t->log, &its)) abort();
  for (size_t k = 0; k < size_of(t); k++)
    t->state->v[k] = (t->state->x[k] - t->before->x[k]) / t->dt;
  t->state->time = t->before->time + t->dt;
}

/* Nodes beyond the middle are drawn to it, and what they are drawn by does not move: a projection
 * that leaves out half of its particles. */
static void pull_one_sided(const taken *t) {
  double centre[3] = {0}, count = t->state->node_count;
  for (size_t k = 0; k < size_of(t); k++) centre[k % 3] += t->before->x[k] / count;
  for (size_t k = 0; k < size_of(t); k += 3) {
    double way = 1e-2 * fmin(0, centre[0] - t->state->x[k]);
    t->state->x[k] += way;
    t->state->v[k] += way / t->dt;
  }
}

/* ---- nodes that are held --------------------------------------------------------------------- */

/* Where the script wants nodes at a time of the step, put off by `off` along x. */
static void misplace(const taken *t, double time, double off) {
  size_t nodes = (size_t)t->state->node_count;
  uint8_t *fixed = calloc(nodes, 1);
  double *target = calloc(3 * nodes, sizeof *target);
  if (fixed && target) eb_scene_boundary(t->cheat->lent, time, fixed, target);
  for (size_t k = 0; fixed && target && k < 3 * nodes; k++) {
    if (!fixed[k / 3]) continue;
    t->state->x[k] = target[k] + (k % 3 == 0 ? off : 0);
    t->state->v[k] = (t->state->x[k] - t->before->x[k]) / t->dt;
  }
  free(fixed);
  free(target);
}

static void creep(const taken *t) {
  misplace(t, t->before->time + t->dt, 1e-6);
}

static void late(const taken *t) {
  misplace(t, t->before->time, 0);
}

/* Nodes that ride on rigid bodies have come off them. */
static void detach(const taken *t) {
  const eb_free_bodies *bodies = t->cheat->lent->rigid.free_bodies;
  const eb_articulation *joints = t->cheat->lent->rigid.articulation;
  for (int32_t k = 0; joints && k < eb_articulation_attached(joints); k++)
    t->state->x[3 * eb_articulation_node(joints, k)] += 1e-6;
  for (int32_t i = 0; bodies && i < t->state->node_count; i++)
    if (bodies->of_node[i] >= 0) t->state->x[3 * i] += 1e-6;
}

static void restless(const taken *t) {
  t->state->v[3 * (size_t)t->state->node_count - 1] = 1e-3;
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void claim(const taken *t, eb_residual_norm norm, double residual) {
  t->log->residual_count = 0;
  t->log->residual_norm = norm;
  if (residual > 0) eb_log_residual(t->log, residual);
  *t->reason = EB_CONVERGED_ATOL;
}

static void unbacked(const taken *t) {
  claim(t, EB_NORM_GRADIENT, 0);
}

static void boast(const taken *t) {
  scale(t, 1.0001);
  claim(t, EB_NORM_GRADIENT, 1e-12);
}

static void foreign_norm(const taken *t) {
  t->log->own_norm = "my own norm, in my own unit";
  claim(t, EB_NORM_OWN, 1e-12);
}

static void overflow(const taken *t) {
  claim(t, EB_NORM_GRADIENT, 1e-12);
  t->log->residual_count = t->log->residual_capacity + 1;
}

static void reason_77(const taken *t) {
  *t->reason = (eb_reason)77;
}

static void running(const taken *t) {
  *t->reason = EB_RUNNING;
}

static void equation_99(const taken *t) {
  t->log->equation = (eb_equation)99;
}

static void tangent_99(const taken *t) {
  t->log->linearization.tangent = (eb_tangent)99;
}

static void touching_99(const taken *t) {
  t->log->touching = (eb_touching)99;
}

/* Colliders have pushed nodes that were about to arrive, and the step says that they did not. */
static void deny_arrivals(const taken *t) {
  t->log->touching = EB_TOUCHING_PRESENT;
}

/* The other way round. */
static void claim_arrivals(const taken *t) {
  t->log->touching = EB_TOUCHING_PREDICTED;
}

/* No friction, where Coulomb's law is said to be kept. */
static void say_coulomb(const taken *t) {
  t->log->friction = EB_FRICTION_COULOMB;
}

/* A step that stops everything, and says that friction has done it. */
static void freeze_by_friction(const taken *t) {
  static double unfiltered[1 << 16];
  size_t size = size_of(t) < sizeof unfiltered / sizeof *unfiltered ? size_of(t) : 0;
  memcpy(unfiltered, t->state->v, size * sizeof *unfiltered);
  freeze(t);
  t->log->friction = EB_FRICTION_FILTERED;
  t->log->unfiltered = unfiltered;
}

static void filter_nothing(const taken *t) {
  t->log->friction = EB_FRICTION_FILTERED;
  t->log->unfiltered = NULL;
}

static void friction_99(const taken *t) {
  t->log->friction = (eb_friction_model)99;
}

static void overtime(const taken *t) {
  t->log->own_seconds = 100;
}

static void long_phases(const taken *t) {
  t->log->phase_seconds[EB_PHASE_SOLVE] += 100;
}

static void late_residuals(const taken *t) {
  eb_log_residual(t->log, 1e-12);
  t->log->residual_seconds[0] = 100;
}

static void uncounted(const taken *t) {
  t->log->counters[EB_COUNT_FACTORIZATIONS] = -1;
}

static void timeless(const taken *t) {
  t->state->time -= t->dt / 2;
}

static void numberless(const taken *t) {
  t->state->step++;
}

static void massless(const taken *t) {
  t->log->linearization.mass = 0;
}

/* A step that brakes what moves, and declares it as damping. */
static void excused_brake(const taken *t) {
  scale(t, 0.5);
  t->log->linearization.mass = 2;
}

/* A step that does nothing, and calls it an equation whose residual nobody can tell. */
static void excused_freeze(const taken *t) {
  freeze(t);
  t->log->equation = EB_EQUATION_POSITION_BASED;
}

static void excused_reduced(const taken *t) {
  freeze(t);
  t->log->equation = EB_EQUATION_REDUCED;
}

static void not_a_number(const taken *t) {
  t->state->x[0] = NAN;
}

static void huge(const taken *t) {
  for (size_t k = 0; k < size_of(t); k++) t->state->x[k] = t->state->v[k] = 1e300;
}

/* ---- the scene ------------------------------------------------------------------------------- */

static void half_gravity(eb_scene *own) {
  for (int d = 0; d < 3; d++) own->gravity[d] /= 2;
}

static void no_gravity(eb_scene *own) {
  for (int d = 0; d < 3; d++) own->gravity[d] = 0;
}

static void soft_floor(eb_scene *own) {
  for (int32_t c = 0; c < own->contacts.collider_count; c++)
    own->contacts.colliders[c].stiffness = 1;
}

static void no_floor(eb_scene *own) {
  own->contacts.collider_count = 0;
}

static void polish_floors(eb_scene *own) {
  for (int32_t c = 0; c < own->contacts.collider_count; c++)
    own->contacts.colliders[c].friction = 0;
}

static void slip_on(eb_scene *own) {
  own->contacts.friction.common = 0;
}

/* Takes one coefficient for what pairs have of their own. */
static void slip_alike(eb_scene *own) {
  own->contacts.friction.common = 0.4;
  own->contacts.friction.pair_count = 0;
}

static void stick_to(eb_scene *own) {
  own->contacts.friction.common = 50;
}

/* One node in seven is never taken, as if a colour of the nodes were left out of the sweeps. */
static void skip_nodes(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  eb_scene_find(eb_scene_name(scene))->boundary(scene, t, fixed, target);
  for (int32_t i = 3; i < scene->mesh->node_count; i += 7) fixed[i] = 1;
}

static void skip_colour(eb_scene *own) {
  static eb_scene_ops skipping;
  skipping = *own->ops;
  skipping.boundary = skip_nodes;
  own->ops = &skipping;
}

static void forget_springs(eb_scene *own) {
  own->script.spring_count = 0;
}

/* Places and stiffness of the start of the step. */
static void springs_of_start(const eb_scene *scene, double t, double *place, double *stiffness) {
  eb_scene_find(eb_scene_name(scene))->springs(scene, t - scene->dt, place, stiffness);
}

static void hold_springs_back(eb_scene *own) {
  static eb_scene_ops behind;
  behind = *own->ops;
  behind.springs = springs_of_start;
  own->ops = &behind;
}

/* Springs of a hundredth. */
static void weaker_springs(const eb_scene *scene, double t, double *place, double *stiffness) {
  eb_scene_find(eb_scene_name(scene))->springs(scene, t, place, stiffness);
  for (int32_t s = 0; s < scene->script.spring_count; s++) stiffness[s] *= 0.01;
}

static void weaken_springs(eb_scene *own) {
  static eb_scene_ops weak;
  weak = *own->ops;
  weak.springs = weaker_springs;
  own->ops = &weak;
}

static void forget_clusters(eb_scene *own) {
  own->clusters.count = 0;
}

static void halve_clusters(eb_scene *own) {
  for (int32_t c = 0; c < own->clusters.count; c++) own->clusters.stiffness[c] *= 0.5;
}

/* Shapes at rest times a factor: others than those of the mesh, or their mirror images. */
static void reshape_clusters(eb_scene *own, double factor) {
  const eb_cluster_set *set = &own->clusters;
  for (int64_t k = 0; k < 3 * (int64_t)set->start[set->count]; k++) set->rest[k] *= factor;
}

static void shorten_links(eb_scene *own) {
  reshape_clusters(own, 0.99);
}

static void mirror_clusters(eb_scene *own) {
  reshape_clusters(own, -1);
}

/* Obstacles 10 m along gravity. */
static void lower_obstacles(eb_scene *own) {
  for (int32_t o = 0; o < own->contacts.obstacle_count; o++) {
    eb_surface *surface = own->contacts.obstacles[o].surface;
    for (int32_t k = 0; k < 3 * surface->vertex_count; k++) surface->X[k] += own->gravity[k % 3];
  }
}

/* Multiplies a number of the run's scene, or puts it back. */
static void overwrite(cheat *c, double *number, double factor, bool back) {
  if (!back) c->kept = *number;
  *number = back ? c->kept : factor * *number;
}

static void forge_mass(cheat *c, bool back) {
  overwrite(c, (double *)eb_scene_mass(c->lent) + 1, 0.5, back);
}

static void forge_gravity(cheat *c, bool back) {
  overwrite(c, &c->lent->gravity[2], 0.5, back);
}

static void forge_dt(cheat *c, bool back) {
  overwrite(c, &c->lent->dt, 0.5, back);
}

static void forge_material(cheat *c, bool back) {
  overwrite(c, &c->lent->materials[0].young, 0.5, back);
}

static void forge_collider(cheat *c, bool back) {
  overwrite(c, &c->lent->contacts.colliders[0].stiffness, 0.5, back);
}

static void forge_start(cheat *c, bool back) {
  overwrite(c, &c->lent->x0[3], 1.5, back);
}

static void forge_mesh(cheat *c, bool back) {
  overwrite(c, &c->lent->mesh->X[3], 1.5, back);
}

static void forge_bound(cheat *c, bool back) {
  overwrite(c, &c->lent->contacts.penetration_bound, 100, back);
}

/* ---- the process ----------------------------------------------------------------------------- */

static void *burn_once(void *nothing) {
  struct timespec now;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec == 0 && now.tv_nsec < 20000000);
  return nothing;
}

/* 20 ms of work in a thread that the step does not wait for. */
static void burn(const taken *t) {
  (void)t;
  pthread_t thread;
  if (pthread_create(&thread, NULL, burn_once, NULL) == 0) pthread_detach(thread);
}

static void *sleep_on(void *nothing) {
  for (;;) pause();
  return nothing;
}

/* One more thread a step, which does nothing and stays. */
static void hatch(const taken *t) {
  (void)t;
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleep_on, NULL) == 0) pthread_detach(thread);
}

/* Work for the sample that is timed, done in the step that leads to it: every other one. */
static void ahead(const taken *t) {
  static const double seconds = 0.3;
  clock_t began = clock();
  if (t->cheat->taken++ % 2) return;
  while ((double)(clock() - began) < seconds * CLOCKS_PER_SEC) continue;
}

/* Memory that nobody will release, and that the compiler cannot know to be unused. */
static void leak(const taken *t) {
  enum { BYTES = 4 << 20 };
  static char *volatile last;
  (void)t;
  last = malloc(BYTES);
  if (last) memset(last, 1, BYTES);
}

static void replay(const taken *t) {
  cheat *c = t->cheat;
  int64_t step = t->before->step < c->recorded ? t->before->step : c->recorded - 1;
  const double *frame = c->tape + 2 * (size_t)step * size_of(t);
  memcpy(t->state->x, frame, size_of(t) * sizeof *frame);
  memcpy(t->state->v, frame + size_of(t), size_of(t) * sizeof *frame);
  t->state->step++;
  t->state->time += t->dt;
  *t->reason = EB_CONVERGED_ITS;
}

static void close_all(const taken *t) {
  (void)t;
  for (int file = 3; file < 64; file++) close(file);
}

static void go_away(const taken *t) {
  if (chdir("/")) *t->reason = EB_DIVERGED_LIBRARY;
}

static void leave_child(const taken *t) {
  (void)t;
  if (fork() == 0)
    for (;;) pause();
}

static void recount(const taken *t) {
  t->state->node_count--;
}

/* Volumes projected with the weight lambda in the place of 3 lambda: mu stays, lambda is a third.
 */
static eb_error thin_volume(const eb_scene *scene, eb_scene **own) {
  const eb_material *m = eb_scene_material(scene, 0);
  double mu = m->young / (2 * (1 + m->poisson));
  double lambda = mu * 2 * m->poisson / (1 - 2 * m->poisson) / 3;
  double young = mu * (3 * lambda + 2 * mu) / (lambda + mu), nu = lambda / (2 * (lambda + mu));
  eb_scene *soft;
  EB_TRY(wrapped_scene(scene, "E", young / m->young, &soft));
  eb_error error = wrapped_scene(soft, "nu", nu / m->poisson, own);
  eb_scene_destroy(soft);
  return error;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const fault faults[] = {
    {.name = "none"},
    {.name = "drift", .after = drift},
    {.name = "lag", .after = lag},
    {.name = "half-step", .after = half_step},
    {.name = "fast", .after = fast},
    {.name = "pump", .after = pump},
    {.name = "frozen", .after = freeze},
    {.name = "coasting", .after = coast},
    {.name = "lazy", .after = be_lazy},
    {.name = "shake", .after = shake},
    {.name = "jump", .after = jump},
    {.name = "kick", .after = kick},
    {.name = "spin", .after = spin},
    {.name = "smear", .after = smear},
    {.name = "brake", .after = brake},
    {.name = "wrong-inertia", .after = misjudge_inertia},
    {.name = "skipped-colour", .bend = skip_colour},
    {.name = "thin-volume", .make = thin_volume},
    {.name = "forgetful", .deceive = forget_velocities},
    {.name = "half-gravity", .bend = half_gravity},
    {.name = "no-gravity", .bend = no_gravity},
    {.name = "double-mass", .parameter = "rho", .factor = 2},
    {.name = "half-stiffness", .parameter = "E", .factor = 0.5},
    {.name = "no-elasticity", .parameter = "E", .factor = 1e-6},
    {.name = "one-sided", .after = pull_one_sided},
    {.name = "soft-floor", .bend = soft_floor},
    {.name = "no-floor", .bend = no_floor},
    {.name = "creep", .after = creep},
    {.name = "late", .after = late},
    {.name = "detached", .after = detach},
    {.name = "restless", .after = restless},
    {.name = "unbacked", .after = unbacked},
    {.name = "boast", .after = boast},
    {.name = "foreign-norm", .after = foreign_norm},
    {.name = "overflow", .after = overflow},
    {.name = "reason-77", .after = reason_77},
    {.name = "running", .after = running},
    {.name = "equation-99", .after = equation_99},
    {.name = "tangent-99", .after = tangent_99},
    {.name = "touching-99", .after = touching_99},
    {.name = "denied-arrivals", .after = deny_arrivals},
    {.name = "claimed-arrivals", .after = claim_arrivals},
    {.name = "massless", .after = massless},
    {.name = "friction-99", .after = friction_99},
    {.name = "filtered-nothing", .after = filter_nothing},
    {.name = "polished-floor", .bend = polish_floors},
    {.name = "undeclared-polish", .bend = polish_floors, .after = say_coulomb},
    {.name = "excused-stop", .after = freeze_by_friction},
    {.name = "overtime", .after = overtime},
    {.name = "long-phases", .after = long_phases},
    {.name = "late-residuals", .after = late_residuals},
    {.name = "uncounted", .after = uncounted},
    {.name = "timeless", .after = timeless},
    {.name = "numberless", .after = numberless},
    {.name = "excused-brake", .after = excused_brake},
    {.name = "excused-freeze", .after = excused_freeze},
    {.name = "excused-reduced", .after = excused_reduced},
    {.name = "nan", .after = not_a_number},
    {.name = "huge", .after = huge},
    {.name = "slippery", .bend = slip_on},
    {.name = "sticky", .bend = stick_to},
    {.name = "one-coefficient", .bend = slip_alike},
    {.name = "blind", .bend = lower_obstacles},
    {.name = "unsprung", .bend = forget_springs},
    {.name = "late-springs", .bend = hold_springs_back},
    {.name = "weak-springs", .bend = weaken_springs},
    {.name = "unclustered", .bend = forget_clusters},
    {.name = "half-clusters", .bend = halve_clusters},
    {.name = "short-links", .bend = shorten_links},
    {.name = "mirrored", .bend = mirror_clusters},
    {.name = "forged-mass", .forge = forge_mass},
    {.name = "forged-gravity", .forge = forge_gravity},
    {.name = "forged-dt", .forge = forge_dt},
    {.name = "forged-material", .forge = forge_material},
    {.name = "forged-collider", .forge = forge_collider},
    {.name = "forged-start", .forge = forge_start},
    {.name = "forged-mesh", .forge = forge_mesh},
    {.name = "forged-bound", .forge = forge_bound},
    {.name = "burn", .after = burn},
    {.name = "leak", .after = leak},
    {.name = "hatch", .after = hatch},
    {.name = "ahead", .after = ahead},
    {.name = "replay", .instead = replay},
    {.name = "close", .after = close_all},
    {.name = "folder", .after = go_away},
    {.name = "child", .after = leave_child},
    {.name = "count", .after = recount},
};

static eb_error find_fault(const char *name, const fault **out) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    if (strcmp(faults[i].name, name) == 0) {
      *out = &faults[i];
      return EB_OK;
    }
  return EB_ERROR(EB_ERR_USAGE, "cheat: there is no fault '%s'", name);
}

/* ---- the solver ------------------------------------------------------------------------------ */

static void destroy(eb_solver *solver) {
  cheat *c = solver->data;
  if (!c) return;
  wrapped_clear(&c->w);
  free(c->tape);
  free(c);
  solver->data = NULL;
}

/* Takes steps of the scene before there is a clock. */
static eb_error record(cheat *c, eb_solver *solver) {
  enum { STEPS = 12 };
  eb_state *state;
  eb_step_log *log = NULL;
  size_t size = 3 * (size_t)eb_scene_mesh(solver->scene)->node_count;
  c->tape = calloc(2 * STEPS * size, sizeof *c->tape);
  if (!c->tape) return EB_ERROR(EB_ERR_MEMORY, "cheat: no memory for a recording");
  EB_TRY(eb_state_create(solver->scene, &state));
  eb_error error = eb_step_log_create(100, &log);
  for (; !error && c->recorded < STEPS; c->recorded++) {
    eb_reason reason;
    double *frame = c->tape + 2 * (size_t)c->recorded * size;
    eb_step_log_reset(log);
    error = wrapped_step(&c->w, state, eb_scene_dt(solver->scene), log, &reason);
    memcpy(frame, state->x, size * sizeof *frame);
    memcpy(frame + size, state->v, size * sizeof *frame);
  }
  eb_step_log_destroy(log);
  eb_state_destroy(state);
  return error;
}

static eb_error fill(cheat *c, eb_solver *solver) {
  EB_TRY(find_fault(eb_values_text(solver->options, "fault"), &c->fault));
  c->lent = (eb_scene *)solver->scene;
  if (c->fault->parameter || c->fault->bend)
    EB_TRY(wrapped_scene(solver->scene, c->fault->parameter ? c->fault->parameter : "",
                         c->fault->factor, &c->w.own));
  if (c->fault->make) EB_TRY(c->fault->make(solver->scene, &c->w.own));
  if (c->fault->bend) c->fault->bend(c->w.own);
  if (c->fault->forge) c->fault->forge(c, false);
  EB_TRY(wrapped_create(&c->w, solver, eb_values_text(solver->options, "of"),
                        eb_values_text(solver->options, "with")));
  return c->fault->instead ? record(c, solver) : EB_OK;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  cheat *c = solver->data = calloc(1, sizeof *c);
  eb_error error = c ? fill(c, solver) : EB_ERROR(EB_ERR_MEMORY, "cheat: no memory");
  if (error) destroy(solver);
  return error;
}

static void say(const char *what, eb_reason *reason) {
  if (strcmp(what, "its") == 0) *reason = EB_CONVERGED_ITS;
  if (strcmp(what, "direct") == 0) *reason = EB_CONVERGED_DIRECT;
  if (strcmp(what, "stagnated") == 0) *reason = EB_CONVERGED_STAGNATED;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  cheat *c = solver->data;
  taken t = {c, state, c->w.before, dt, log, reason};
  int64_t number = state->step + 1;
  if (c->fault->forge && number == eb_values_int(solver->options, "until"))
    c->fault->forge(c, true);
  if (c->fault->instead) {
    eb_state_copy(state, c->w.before);
    c->fault->instead(&t);
    return EB_OK;
  }
  if (c->fault->deceive) c->fault->deceive(state);
  EB_TRY(wrapped_step(&c->w, state, dt, log, reason));
  say(eb_values_text(solver->options, "says"), reason);
  if (c->fault->after && number >= eb_values_int(solver->options, "at")) c->fault->after(&t);
  return EB_OK;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {
    .name = CHEAT_NAME,
    .summary = "a built-in solver with one fault",
    .citation = "",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_TRIANGLES | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_CONTACT | EB_CAP_STATICS | EB_CAP_IMPLICIT_PENALTY |
                    EB_CAP_ARTICULATION | EB_CAP_FREE_BODIES | EB_CAP_SPRINGS | EB_CAP_CLUSTERS,
    .update = CHEAT_UPDATE,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
