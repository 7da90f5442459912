/* The contact step as a program: outcomes, determinism, warm start, self-contact, its
 * constraints. */
#include "solvers/contact/constraints.h"
#include "tests/support/owned.h"
#include "tests/support/contact_scene.h"

static const char *const solvers[] = {"contact-al", "contact-cr", "contact-ica", "contact-sp",
                                      "contact-delassus"};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

/* Two soft cubes and a rigid one in a row above the floor, the middle one about to be hit. */
static recipe row_of_cubes(void) {
  recipe r = {.block = {{.cubes = {2, 2, 2},
                         .size = {0.05, 0.05, 0.05},
                         .centre = {-0.0603, 0.004, 0.0253}},
                        {.cubes = {2, 2, 2}, .size = {0.05, 0.05, 0.05}, .centre = {0, 0, 0.0252}},
                        {.cubes = {1, 1, 1},
                         .size = {0.05, 0.05, 0.05},
                         .centre = {0.0604, 0.002, 0.0254},
                         .rigid = true}},
              .young = 1e5,
              .dt = 2e-3,
              .mu = 0.3,
              .gravity = {0, 0, -9.81},
              .floor = true};
  r.block[0].velocity[0] = 1;
  r.block[2].velocity[0] = -1;
  return r;
}

/* ---- every method ---- */

static void methods_agree(void) {
  recipe r = row_of_cubes();
  run a[SOLVERS];
  double worst = 0;
  bool well = true;
  for (int s = 0; s < SOLVERS; s++) {
    a[s] = cook(&r, solvers[s], "eps1=1e-6,eps2=1e-7,angle=0.1");
    well &= go(&a[s], 5);
    tap_ok(a[s].reason > 0, "%s steps: %s", solvers[s], eb_reason_name(a[s].reason));
    for (int64_t k = 0; k < 3 * (int64_t)a[0].state->node_count; k++)
      worst = fmax(worst, fabs(a[s].state->x[k] - a[0].state->x[k]));
  }
  /* The same problem solved to 1e-7 m a step; forces on duplicates are not unique, positions
   * are. */
  tap_ok(well && worst < 1e-5, "all methods take the same steps (%g m)", worst);
  for (int s = 0; s < SOLVERS; s++) finish(&a[s]);
}

/* From the velocity without contacts the solution is the same. Its iterations are counted: a step
 * in which nothing touches has no others. */
static void releasing_first_changes_nothing(const char *solver) {
  recipe r = row_of_cubes();
  const char *tight = "eps1=1e-6,eps2=1e-7,angle=0.1,start=unconstrained";
  owned(run) warm = cook(&r, solver, "eps1=1e-6,eps2=1e-7,angle=0.1");
  run released = cook(&r, solver, tight);
  bool well = go(&warm, 5) && go(&released, 5);
  double worst = 0;
  for (int64_t k = 0; k < 3 * (int64_t)warm.state->node_count; k++)
    worst = fmax(worst, fabs(warm.state->x[k] - released.state->x[k]));
  tap_ok(well && worst < 1e-5, "%s without contacts first takes the same steps (%g m)", solver,
         worst);
  finish(&released);
  for (int b = 0; b < 3; b++) r.block[b].centre[2] += 1;
  r.block[0].velocity[0] = r.block[2].velocity[0] = 0;
  released = cook(&r, solver, "start=unconstrained");
  go_well(&released, 1);
  tap_ok(released.log->counters[EB_COUNT_CONSTRAINTS] == 0 &&
             released.log->counters[EB_COUNT_LINEAR_ITERATIONS] >= 1 &&
             (double)released.log->iterations >= released.log->counters[EB_COUNT_LINEAR_ITERATIONS],
         "%s counts the iterations of the velocity without contacts", solver);
  finish(&released);
}

/* ---- outcomes ---- */

static void a_step_that_fails_leaves_the_state(const char *options, eb_reason reason) {
  recipe r = row_of_cubes();
  r.block[0].centre[2] -= 2e-4 - 1e-5; /* nearer to the floor than the gap */
  owned(run) a = cook(&r, "contact-al", options);
  uint64_t before = eb_state_hash(a.state);
  bool well = go(&a, 40);
  int64_t step = a.state->step;
  tap_ok(!well && a.reason == reason, "%s ends with %s", options, eb_reason_name(a.reason));
  if (step == 0) tap_ok(eb_state_hash(a.state) == before, "  and leaves the state alone");
  uint64_t kept = eb_state_hash(a.state);
  tap_ok(!go(&a, 1) && eb_state_hash(a.state) == kept, "  also when it is asked again");
  tap_ok(a.log->contacts == NULL, "  without a record");
}

static void not_a_number_is_an_outcome(void) {
  recipe r = row_of_cubes();
  owned(run) a = cook(&r, "contact-al", "");
  double *places[] = {a.state->x + 5, a.state->v + 7, a.state->twist + 4};
  for (int k = 0; k < 3; k++) {
    double kept = *places[k];
    *places[k] = NAN;
    bool well = go(&a, 1);
    tap_ok(!well && a.reason == EB_DIVERGED_NAN && a.state->step == 0, "NaN is an outcome: %d", k);
    *places[k] = kept;
  }
  tap_ok(go(&a, 5), "and the step goes on when it is gone");
}

/* ---- the same bits ---- */

static uint64_t hash_with(const char *solver, int threads) {
  recipe r = row_of_cubes();
  eb_scene *scene;
  cooking = &r;
  tap_require(eb_scene_create(&recipe_ops, NULL, NULL, "", &scene), "a recipe");
  owned(run) a = {.scene = scene};
  tap_require(eb_state_create(scene, &a.state), "a state");
  tap_require(eb_step_log_create(16, &a.log), "a log");
  tap_require(eb_solver_create(eb_solver_find(solver), "", scene, threads, 1, &a.solver), solver);
  go(&a, 8); /* whatever comes of it: staggered projections may well give up */
  uint64_t hash = eb_state_hash(a.state);
  return hash;
}

static void bits_are_the_same(void) {
  for (int s = 0; s < SOLVERS; s++) {
    uint64_t one = hash_with(solvers[s], 1);
    tap_ok(hash_with(solvers[s], 1) == one, "%s: a rerun has the same bits", solvers[s]);
    tap_ok(hash_with(solvers[s], 2) == one, "%s: two threads have the same bits", solvers[s]);
  }
}

/* ---- warm start ---- */

/* Iterations of a step at rest, with the constraints of the step before and by a solver that knows
 * nothing of it. */
static void warm_start_helps(void) {
  recipe r = row_of_cubes();
  r.block[0].velocity[0] = r.block[2].velocity[0] = 0;
  owned(run) a = cook(&r, "contact-al", "");
  go_well(&a, 60);
  owned(eb_solver) *cold = NULL;
  owned(eb_state) *copy = new_state(a.scene);
  memcpy(copy->x, a.state->x, 3 * (size_t)copy->node_count * sizeof *copy->x);
  memcpy(copy->v, a.state->v, 3 * (size_t)copy->node_count * sizeof *copy->v);
  memcpy(copy->pose, a.state->pose, 7 * sizeof *copy->pose);
  memcpy(copy->twist, a.state->twist, 6 * sizeof *copy->twist);
  tap_require(eb_solver_create(eb_solver_find("contact-al"), "", a.scene, 1, 1, &cold), "another");
  eb_step_log_reset(a.log);
  eb_reason reason;
  tap_require(cold->ops->step(cold, copy, r.dt, a.log, &reason), "a cold step");
  int64_t without = a.log->iterations;
  go_well(&a, 1);
  tap_ok(reason > 0 && a.log->iterations < without,
         "forces of the last step save iterations: %lld instead of %lld",
         (long long)a.log->iterations, (long long)without);
}

/* ---- a body that touches itself ---- */

/* A long bar whose ends fly at each other around its middle: bent into a hook by its initial
 * velocity. */
static void touches_itself(void) {
  recipe r = {.block = {{.cubes = {16, 1, 1}, .size = {0.4, 0.02, 0.02}}},
              .young = 2e4,
              .dt = 2e-3,
              .mu = 0.2};
  owned(run) a = cook(&r, "contact-al", "");
  for (int32_t i = 0; i < a.state->node_count; i++) {
    double x = a.state->x[3 * i];
    a.state->v[3 * i] = -x * 20;
    a.state->v[3 * i + 2] = 60 * (x * x - 0.01);
  }
  bool well = true;
  double most = 0;
  for (int s = 0; s < 80 && well; s++) {
    well = go(&a, 1);
    for (int32_t k = 0; well && k < a.log->contacts->count; k++)
      most = fmax(most, a.log->contacts->r[3 * k]);
  }
  tap_ok(well, "a bar is bent until it touches itself: %s", eb_reason_name(a.reason));
  tap_ok(most > 0, "  and pushes itself apart");
}

/* ---- demands ---- */

static void demands(void) {
  tap_ok(eb_constraint_target_gap(2e-4, 1e-4) == 1e-4, "what is far has to keep the gap");
  tap_ok(eb_constraint_target_gap(6e-5, 1e-4) == 6e-5, "what has half of it stays as it is");
  double near = eb_constraint_target_gap(3e-5, 1e-4);
  tap_ok(near > 3e-5 && near < 5e-5, "what is closer comes away slowly");
  tap_ok(eb_constraint_target_gap(1e-9, 1e-4) < 5e-5, "also when it nearly touches");
}

/* ---- linearization ---- */

static void frames(void) {
  const double face[4][3] = {{0.2, 0.3, 0.1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const double below[4][3] = {{0.2, 0.3, -0.1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const double contact[4][3] = {{0.2, 0.3, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  eb_constraint k = {.pair = {.kind = EB_VERTEX_FACE}};
  eb_constraint_linearize(&k, face, contact, true);
  tap_ok(k.frame[2] == 1 && fabs(k.weight[1] + 0.5) < 1e-15,
         "a vertex that hits a face from above");
  k.r[0] = 2;
  k.r[1] = 1;
  eb_constraint_linearize(&k, face, face, false);
  tap_ok(k.frame[2] == 1 && k.r[0] == 2 && k.r[1] == 1, "keeps its force while it stays there");
  eb_constraint_linearize(&k, below, contact, true);
  tap_ok(k.frame[2] == -1 && k.r[0] == 0, "and has none on the other side");
  const double beside[4][3] = {{-0.3, 0.5, 0.4}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  eb_constraint_linearize(&k, beside, beside, false);
  tap_near(k.frame[0], -0.6, 1e-15, "beside the face the direction of the distance is normal");
  const double edges[4][3] = {{-1, 0, 0.2}, {1, 0, 0.2}, {0, -1, 0}, {0, 1, 0}};
  eb_constraint e = {.pair = {.kind = EB_EDGE_EDGE}};
  eb_constraint_linearize(&e, edges, edges, false);
  tap_ok(e.frame[2] == 1 && e.weight[0] == 0.5 && e.weight[3] == -0.5, "crossing edges");
  const double along[4][3] = {{-1, 0, 0.2}, {1, 0, 0.2}, {-1, 0.1, 0}, {1, 0.1, 0}};
  eb_constraint_linearize(&e, along, along, false);
  tap_near(e.frame[1], -0.1 / sqrt(0.05), 1e-15, "parallel edges: the direction of the distance");
}

int main(void) {
  demands();
  frames();
  methods_agree();
  releasing_first_changes_nothing("contact-ica");
  releasing_first_changes_nothing("contact-sp");
  a_step_that_fails_leaves_the_state("max_rounds=1", EB_DIVERGED_MAX_IT);
  a_step_that_fails_leaves_the_state("max_iterations=1", EB_DIVERGED_MAX_IT);
  not_a_number_is_an_outcome();
  bits_are_the_same();
  warm_start_helps();
  touches_itself();
  return tap_done();
}
