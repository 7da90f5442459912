/* Consistency of steps: a force that is wrong by less than a method's own error is seen, as is a
 * constraint that is missing, and the same solver without that is not flagged. test_physics.c has
 * all built-in ones at their own. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "tests/plugins/wrapped.h"
#include "tests/tap.h"

#include <math.h>

/* ---- one solver ------------------------------------------------------------------------------ */

enum { FORCES, RULES, FIGURES };

typedef struct seen {
  double measured[FIGURES];
  bool passed[FIGURES];
  int count;
  char reason[1200];
} seen;

static void note(void *context, const eb_check_figure *figure) {
  seen *s = context;
  if (s->count >= FIGURES) return;
  s->measured[s->count] = figure->measured;
  s->passed[s->count++] = figure->passed;
  if (!figure->passed)
    snprintf(s->reason, sizeof s->reason, "%s: %s", figure->name, figure->reason);
}

static seen look_at(const eb_solver_ops *ops, uint64_t seed) {
  seen s = {0};
  eb_check check = {.solver = ops, .quick = true, .seed = seed, .emit = note, .context = &s};
  tap_require(eb_check_group_find("consistency")->run(&check), ops->name);
  return s;
}

/* ---- biased solvers -------------------------------------------------------------------------- */

/* A sound solver on a scene whose one number is off. */
typedef struct bias {
  const char *of, *with; /* the solver and its options */
  const char *parameter;
  double factor;
} bias;

static bias present; /* of the solver that is under test */

static eb_error create_biased(eb_solver *solver, const eb_scene *scene) {
  wrapped *w = calloc(1, sizeof *w);
  char *parameters = wrapped_parameters(scene, present.parameter, present.factor);
  if (!w || !parameters) return EB_ERROR(EB_ERR_MEMORY, "no memory");
  solver->data = w;
  EB_TRY(eb_block_create(&w->own, "%s", parameters));
  free(parameters);
  return wrapped_create(w, solver, present.of, present.with);
}

static eb_error step_biased(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                            eb_reason *reason) {
  return wrapped_step(solver->data, state, dt, log, reason);
}

static void destroy_biased(eb_solver *solver) {
  wrapped *w = solver->data;
  if (w) wrapped_clear(w);
  free(w);
}

static eb_solver_ops biased_ops(const bias *b) {
  eb_solver_ops ops = *eb_solver_find(b->of);
  ops.name = "biased";
  ops.options = NULL;
  ops.update_of = NULL;
  ops.exact = ""; /* what `with` makes it */
  ops.create = create_biased;
  ops.step = step_biased;
  ops.destroy = destroy_biased;
  present = *b;
  return ops;
}

static seen look_at_biased(const bias *b, uint64_t seed) {
  eb_solver_ops ops = biased_ops(b);
  return look_at(&ops, seed);
}

static void biases_are_seen(void) {
  static const bias biases[] = {{"symplectic-euler", "", "gz", 0.95},
                                {"symplectic-euler", "", "E", 0.99},
                                {"vbd", "", "E", 0.99},
                                {"vbd", "", "gz", 0.95},
                                {"newton", "rtol=0.1", "E", 0.99},
                                {"newton", "rtol=0.1", "gz", 0.95},
                                {"semi-implicit", "", "E", 0.99},
                                {"mfem", "", "E", 0.99},
                                {"lbfgs", "iterations=3", "E", 0.99},
                                {"pd", "iterations=3", "E", 0.99},
                                {"conjac", "selection=all,beta=1", "E", 0.99},
                                {"conjac", "selection=all,beta=1", "gz", 0.95},
                                {"mfem-subspace", "", "E", 0.99},
                                {"contact-cr", "", "E", 0.99},
                                {"warp-cholesky", "", "E", 0.99},
                                {"damped-warp", "", "rho", 0.99},
                                {"xpbd", "", "E", 0.99},
                                {"xpbd", "", "gz", 0.95},
                                {"pbfe", "", "gz", 0.95},
                                {"admm", "iterations=3", "rho", 0.99}};
  for (size_t i = 0; i < sizeof biases / sizeof *biases; i++) {
    bias sound = biases[i];
    sound.factor = 1;
    seen right = look_at_biased(&sound, 3), wrong = look_at_biased(&biases[i], 3);
    tap_ok(right.passed[FORCES], "%s %s is consistent", sound.of, sound.with);
    if (!right.passed[FORCES]) printf("# %.3g %s\n", right.measured[FORCES], right.reason);
    tap_ok(!wrong.passed[FORCES], "  and %s times %g is seen (%.2g)", biases[i].parameter,
           biases[i].factor, wrong.measured[FORCES]);
    if (wrong.passed[FORCES]) printf("# %.3g %s\n", wrong.measured[FORCES], biases[i].of);
  }
}

/* ---- kinds of constraints -------------------------------------------------------------------- */

typedef struct kinds {
  bool passed[3]; /* shape, volume, hourglass */
  int count;
} kinds;

static void note_kind(void *context, const eb_check_figure *figure) {
  kinds *k = context;
  if (k->count < 3) k->passed[k->count] = figure->passed;
  k->count++;
}

/* Position-based finite elements without one of their constraints, which the others hide in a run.
 */
static void missing_constraints_are_seen(void) {
  static const struct {
    const char *with;
    int missing;
  } cases[] = {{"", -1},
               {"iterations=100", -1},
               {"ks=0.05,kv=0.05,khg=0.05", -1},
               {"ks=0", 0},
               {"volume=none", 1},
               {"khg=0", 2},
               {"ks=0,iterations=100", 0},
               {"volume=none,iterations=100", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kinds k = {0};
    eb_solver_ops ops = biased_ops(&(bias){"pbfe", cases[i].with, "E", 1});
    eb_check check = {.solver = &ops, .quick = true, .emit = note_kind, .context = &k};
    tap_require(eb_check_group_find("constraints")->run(&check), cases[i].with);
    bool right = k.count == 3;
    for (int kind = 0; kind < 3; kind++) right &= k.passed[kind] == (kind != cases[i].missing);
    tap_ok(right, "pbfe with '%s': kinds of constraints that are missing are named, and no others",
           cases[i].with);
  }
}

int main(void) {
  biases_are_seen();
  missing_constraints_are_seen();
  return tap_done();
}
