/* What a solver says of its steps against what the audit measured of them: rows made by hand. */
#include "harness/case/verdict.h"
#include "tests/tap.h"

/* A step of a solver that is right about everything. */
typedef struct trial {
  eb_scene scene;
  eb_step_log log;
  double residuals[1], seconds[1];
  eb_declaration declared;
  eb_audit_row row;
  eb_momentum_row momentum;
  eb_audited_step step;
} trial;

static void good_step(trial *t) {
  *t = (trial){.scene = {.dt = 0.01, .contacts.penetration_bound = 0.1},
               .residuals = {1e-3},
               .log = {.residual_norm = EB_NORM_GRADIENT,
                       .residual_count = 1,
                       .residual_capacity = 1,
                       .own_seconds = NAN,
                       .linearization = {1, 1, EB_TANGENT_EXACT}},
               .declared = {.linearization = {1, 1, EB_TANGENT_EXACT}},
               .row = {.finite = true,
                       .step_residual = 1e-3,
                       .declared = {.norm = 1e-3, .scale = 100, .relative = 1e-5},
                       .compared = 1e-3,
                       .idle = NAN,
                       .progress = NAN,
                       .held.allowed = 1e-12,
                       .update.allowed = 1e-12,
                       .work.scale = 10}};
  t->log.residuals = t->residuals;
  t->log.residual_seconds = t->seconds;
  t->step = (eb_audited_step){.scene = &t->scene,
                              .log = &t->log,
                              .declared = &t->declared,
                              .row = &t->row,
                              .momentum = &t->momentum,
                              .reason = EB_CONVERGED_RTOL,
                              .number = 1};
}

static const char *rules_of(const trial *t) {
  static char text[256];
  eb_verdict verdict = {0};
  for (int i = 0; i < 3; i++)
    eb_verdict_step(&verdict, &t->step); /* as many as progress asks for */
  eb_verdict_run(&verdict);
  eb_verdict_rules(&verdict, text, sizeof text);
  return text;
}

static void set_residual(trial *t, double newtons) {
  t->row.step_residual = t->row.declared.norm = t->row.compared = newtons;
  t->row.declared.relative = newtons / 100;
}

#define BREAKS(rule, change, ...)                                                                  \
  do {                                                                                             \
    trial t;                                                                                       \
    good_step(&t);                                                                                 \
    change;                                                                                        \
    const char *found = rules_of(&t);                                                              \
    if (!tap_ok(!strcmp(found, rule), __VA_ARGS__)) printf("#   '%s'\n", found);                   \
  } while (0)

static void test_claims(void) {
  eb_verdict none = {0};
  tap_ok(!strcmp(eb_verdict_word(&none), "none"), "no steps: none");
  BREAKS("", (void)0, "a step that is as it is said to be");
  BREAKS("", set_residual(&t, 5e-2), "50 times the claim");
  BREAKS("residual", set_residual(&t, 2e-1), "200 times the claim");
  BREAKS("residual", (t.residuals[0] = 0, set_residual(&t, 1e-6)), "a claim of zero");
  BREAKS("", (t.residuals[0] = 0, set_residual(&t, 1e-8)), "what rounding leaves");
  BREAKS("residual", set_residual(&t, NAN), "a residual of NaN");
  BREAKS("claim", t.log.residual_norm = EB_NORM_QUASISTATIC,
         "a tolerance in a norm that nobody audits");
  BREAKS("claim", t.log.residual_norm = EB_NORM_OWN, "a tolerance in no norm");
  BREAKS("claim", t.log.residual_count = 0, "a tolerance without a residual");
  BREAKS("claim", t.log.residual_count = 2, "more residuals than are kept");
  BREAKS("", (t.step.reason = EB_CONVERGED_ITS, t.log.residual_count = 0), "no tolerance claimed");
  BREAKS("residual", t.step.reason = EB_CONVERGED_DIRECT, "a direct solve that leaves 1e-5");
  BREAKS("", (t.step.reason = EB_CONVERGED_DIRECT, set_residual(&t, 9e-5)), "one that leaves 9e-7");
  BREAKS("", t.step.reason = EB_CONVERGED_STAGNATED, "stagnation at 1e-5");
  BREAKS("residual", (t.step.reason = EB_CONVERGED_STAGNATED, set_residual(&t, 0.2)),
         "stagnation at 2e-3");
  BREAKS("", (t.step.reason = EB_DIVERGED_MAX_IT, set_residual(&t, 50)), "admitted failure");
  BREAKS("claim", t.step.reason = (eb_reason)77, "a reason that there is not");
  BREAKS("claim", t.step.reason = EB_RUNNING, "a step that is still running");
  BREAKS("claim", t.declared.equation = EB_EQUATIONS, "an equation that there is not");
  BREAKS("claim", t.declared.linearization.mass = 0, "a linearization without mass");
  BREAKS("claim", t.declared.linearization.stiffness = NAN, "one of no stiffness at all");
  BREAKS("claim", t.declared.friction = EB_FRICTION_MODELS, "a friction that there is not");
  BREAKS("claim", t.declared.friction = EB_FRICTION_FILTERED, "a filter of no velocities");
  BREAKS("", (t.declared.friction = EB_FRICTION_FILTERED, t.declared.unfiltered = t.residuals),
         "one of some");
  BREAKS("claim", t.log.invalid = 1, "a phase that there is not");
}

static void test_linear_norm(void) {
  const eb_residual_norm momentum = EB_NORM_LINEARIZED;
  BREAKS("", (t.declared.equation = EB_EQUATION_LINEARIZED, t.log.residual_norm = momentum),
         "a linear residual in kg m/s is a hundred times as large in N at h = 0.01 s");
  BREAKS("residual",
         (t.declared.equation = EB_EQUATION_LINEARIZED, t.log.residual_norm = momentum,
          set_residual(&t, 20)),
         "200 times that");
  BREAKS("claim", t.log.residual_norm = momentum, "the norm of another equation");
}

static void test_steps(void) {
  BREAKS("finite", t.row.finite = false, "a state that is not finite");
  BREAKS("", (t.row.finite = false, t.step.reason = EB_DIVERGED_NAN), "an admitted one");
  BREAKS("update", t.row.update.error = 1e-9, "positions that velocities do not explain");
  BREAKS("update", t.row.filter.error = 1e-9, "velocities that no filter leaves");
  BREAKS("update", t.row.filter.error = NAN, "a filter of what is no number");
  BREAKS("held", t.row.held.error = 1e-9, "a held node off its place");
  BREAKS("momentum", t.momentum.excess = 1.1, "momentum from nowhere");
  BREAKS("penetration", t.row.max_penetration = 0.11, "a body under the floor");
  BREAKS("energy", t.row.work.of_residual = 0.2, "energy from nowhere");
  BREAKS("", t.row.work.of_residual = 0.13, "less than a twentieth of it");
  BREAKS("", t.row.work.of_residual = -5, "energy that is lost");
  BREAKS(
      "progress",
      (t.step.reason = EB_CONVERGED_ITS, set_residual(&t, 50), t.row.idle = 50, t.row.progress = 0),
      "a step that does nothing");
  BREAKS("",
         (t.step.reason = EB_CONVERGED_ITS, set_residual(&t, 50), t.row.idle = 60,
          t.row.progress = -1),
         "a step that is better than nothing in its residual");
  BREAKS(
      "",
      (t.step.reason = EB_CONVERGED_ITS, set_residual(&t, 50), t.row.idle = 50, t.row.progress = 1),
      "or in its potential");
  BREAKS("progress",
         (t.step.reason = EB_CONVERGED_ITS, set_residual(&t, 50 * (1 - 1e-12)), t.row.idle = 50,
          t.row.progress = -1),
         "one that is better by rounding");
  BREAKS("", (t.row.idle = 1e-4, t.row.progress = 0), "nothing where nothing is to do");
  BREAKS("update,held", (t.row.update.error = 1e-9, t.row.held.error = 1), "two rules at once");
}

/* Nothing of a step takes longer than the step, and phases not longer than all threads together. */
static void test_times(void) {
  BREAKS("",
         (t.step.wall = 0.065, t.step.threads = 2, t.log.own_seconds = 0.0655,
          t.log.phase_seconds[EB_PHASE_SOLVE] = 0.13),
         "a clock that is a little slow, and phases of two threads");
  BREAKS("claim", (t.step.wall = 0.065, t.step.threads = 2, t.log.own_seconds = 0.1),
         "an own time that is longer than the step");
  BREAKS("claim", (t.step.wall = 0.065, t.step.threads = 2, t.log.own_seconds = -0.01),
         "one that is negative");
  BREAKS("claim",
         (t.step.wall = 0.065, t.step.threads = 2, t.log.phase_seconds[EB_PHASE_SOLVE] = 0.07,
          t.log.phase_seconds[EB_PHASE_FACTOR] = 0.07),
         "phases that no two threads have the time for");
  BREAKS("claim",
         (t.step.wall = 0.065, t.step.threads = 1, t.log.phase_seconds[EB_PHASE_SOLVE] = 10,
          t.log.phase_seconds[EB_PHASE_FACTOR] = -9.99),
         "nor one that gives back what another has taken");
  BREAKS("claim", (t.step.wall = 0.065, t.step.threads = 1, t.seconds[0] = 1),
         "a residual after it");
  BREAKS("claim", (t.log.counters[EB_COUNT_FACTORIZATIONS] = -1), "a count below zero");
}

/* Gains count from where their sum is lowest: what was lost before is no credit. */
static void test_energy_sums(void) {
  trial t;
  eb_verdict verdict = {0};
  good_step(&t);
  for (int i = 0; i < 10; i++) {
    t.row.work.of_residual = i < 5 ? -1 : 0.15;
    eb_verdict_step(&verdict, &t.step);
  }
  eb_verdict_run(&verdict);
  tap_ok(verdict.broken[EB_RULE_ENERGY] == 1, "what was lost before is no credit");
}

/* Constraints give back what they have taken, and what the body had stored at first. */
static void test_energy_of_constraints(void) {
  trial t;
  good_step(&t);
  t.declared.equation = EB_EQUATION_POSITION_BASED;
  t.row.work.stored = 2;
  t.row.work.kinetic_scale = 8;
  for (int more = 0; more < 2; more++) {
    eb_verdict verdict = {0};
    for (int i = 0; i < 10; i++) {
      t.row.work.of_residual = i < 5 ? -1 : more ? 1.6 : 1.45;
      eb_verdict_step(&verdict, &t.step);
    }
    eb_verdict_run(&verdict);
    tap_ok(verdict.broken[EB_RULE_ENERGY] == more, "position-based: %s than there was",
           more ? "more" : "no more");
  }
}

/* A body of constraints may stay where it has come to. */
static void test_rest(void) {
  for (int moved = 0; moved < 2; moved++) {
    trial t;
    eb_verdict verdict = {0};
    good_step(&t);
    t.declared.equation = EB_EQUATION_POSITION_BASED;
    t.step.reason = EB_CONVERGED_ITS;
    t.row.idle = t.row.compared = 50;
    for (int i = 0; i < 40; i++) {
      t.row.displacement = moved && i < 3 ? 1e-2 : 1e-7;
      t.row.progress = moved && i < 3 ? 1 : -1;
      eb_verdict_step(&verdict, &t.step);
    }
    eb_verdict_run(&verdict);
    tap_ok(verdict.broken[EB_RULE_PROGRESS] == !moved, "position-based: a body that %s",
           moved ? "has come to rest may stay" : "never moves does nothing");
  }
}

/* Of each rule the step that is most times its bound, whatever came first; and how often. */
static void test_worst(void) {
  static const double errors[] = {1e-9, 5e-9, 2e-9, 0};
  eb_verdict verdict = {0};
  for (int i = 0; i < 4; i++) {
    trial t;
    good_step(&t);
    t.step.number = i + 1;
    t.row.update = (eb_audit_bound){errors[i], 1e-12, {EB_SPOT_NODE, 7 * i, -1}};
    /* 4 times its bound is less than 50 times, though it is a larger number */
    t.row.filter = (eb_audit_bound){i == 2 ? 4 : 0, 1, {EB_SPOT_NODE, 1, -1}};
    t.momentum.excess = i == 3 ? NAN : 0;
    eb_verdict_step(&verdict, &t.step);
  }
  const eb_worst *update = &verdict.worst_of[EB_RULE_UPDATE],
                 *momentum = &verdict.worst_of[EB_RULE_MOMENTUM];
  tap_ok(update->measure.step == 2 && update->measure.value == 5e-9 &&
             update->measure.bound == 1e-12 && !strcmp(update->measure.unit, "m"),
         "the worst step of a rule, and its bound");
  tap_ok(update->measure.spot.kind == EB_SPOT_NODE && update->measure.spot.at == 7,
         "and where it was");
  tap_ok(!strncmp(update->words, "step 2:", 7) && !strncmp(verdict.detail, "step 1:", 7),
         "has its words, and the first failure its own");
  tap_ok(verdict.broken[EB_RULE_UPDATE] == 4, "all failures count");
  tap_ok(momentum->measure.step == 4 && momentum->fresh, "what is no number is worst of all");
  tap_ok(verdict.worst_of[EB_RULE_HELD].measure.step == 0, "rules that hold have no worst");
}

/* Energy is that of the run, and the step the one that gained most. */
static void test_worst_energy(void) {
  trial t;
  eb_verdict verdict = {0};
  good_step(&t);
  for (int i = 0; i < 10; i++) {
    t.step.number = i + 1;
    t.row.work.of_residual = i == 6 ? 0.4 : 0.15;
    t.row.work.spot = (eb_spot){EB_SPOT_NODE, i, -1};
    eb_verdict_step(&verdict, &t.step);
  }
  eb_verdict_run(&verdict);
  const eb_measure *worst = &verdict.worst_of[EB_RULE_ENERGY].measure;
  tap_ok(worst->step == 7 && worst->spot.at == 6, "energy: the step that gained most, and where");
  tap_near(worst->value, 9 * 0.15 + 0.4, 1e-12, "its value is that of the run");
  tap_near(worst->bound, 0.5, 1e-12, "and so its bound");
}

/* A step without a residual has forces all the same. */
static void test_error(void) {
  trial t;
  eb_verdict verdict = {0};
  for (int i = 0; i < 4; i++) {
    good_step(&t);
    if (i > 0) set_residual(&t, 0);
    eb_verdict_step(&verdict, &t.step);
  }
  tap_near(sqrt(verdict.residual2 / verdict.scale2), 0.5e-5, 1e-15,
           "steps that are solved exactly count in the error of the run");
}

/* Two samples that each gain 4 % of the energy: one after the other they would be above what is
 * allowed, as a run's steps are. */
static void test_jumps(void) {
  char rules[64];
  trial t;
  good_step(&t);
  t.row.work.of_residual = 0.04 * t.row.work.scale;
  for (int jumps = 0; jumps < 2; jumps++) {
    eb_verdict verdict = {0};
    eb_verdict_step(&verdict, &t.step);
    if (jumps) eb_verdict_reset(&verdict);
    eb_verdict_step(&verdict, &t.step);
    eb_verdict_run(&verdict);
    eb_verdict_rules(&verdict, rules, sizeof rules);
    tap_ok(strcmp(rules, jumps ? "" : "energy") == 0, "energy is %s",
           jumps ? "not summed across a jump" : "summed over steps");
  }
}

int main(void) {
  test_error();
  test_claims();
  test_linear_norm();
  test_steps();
  test_times();
  test_energy_sums();
  test_energy_of_constraints();
  test_rest();
  test_jumps();
  test_worst();
  test_worst_energy();
  return tap_done();
}
