/* A solver that breaks one law of mechanics, and is sound otherwise: what tests of laws are tested
 * with. `fault=none` is Newton's method, or the exact contact solver where there is contact. */
#include <math.h>

#include "tests/plugins/wrapped.h"

const int elastobench_abi = EB_PLUGIN_ABI;

enum { NONE, GRAVITY, MODULUS, FRICTION, CREEP, ABSOLUTE, NUMBERING, DAMPING };

static const eb_option options[] = {
    {"fault", EB_OPTION_CHOICE, "none", 0, 0,
     "none|gravity|modulus|friction|creep|absolute|numbering|damping", "",
     "the law that it breaks"},
    {0}};

typedef struct unlawful {
  wrapped sound;
  int fault;
} unlawful;

static void destroy(eb_solver *solver) {
  unlawful *u = solver->data;
  if (u) wrapped_clear(&u->sound);
  free(u);
}

/* Constants that are wrong are those of another scene. */
static eb_error make_scene(const eb_scene *scene, int fault, eb_scene **out) {
  switch (fault) {
  case GRAVITY:
    return wrapped_scene(scene, "gravity", 1.01, out);
  case MODULUS:
    return wrapped_scene(scene, "E", 1.01, out);
  case FRICTION:
    return wrapped_scene(scene, "mu", 0.95, out);
  default:
    return EB_OK;
  }
}

static int fault_of(const eb_values *values) {
  const char *name = eb_values_text(values, "fault");
  static const char *const names[] = {"none",  "gravity",  "modulus",   "friction",
                                      "creep", "absolute", "numbering", "damping"};
  for (int f = 0; f <= DAMPING; f++)
    if (strcmp(names[f], name) == 0) return f;
  return NONE;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  unlawful *u = calloc(1, sizeof *u);
  if (!u) return EB_ERROR(EB_ERR_MEMORY, "no memory for a solver");
  solver->data = u;
  u->fault = fault_of(solver->options);
  bool contact = eb_scene_needs(scene) & EB_CAP_CONTACT;
  eb_error error = make_scene(scene, u->fault, &u->sound.own);
  if (!error)
    error = wrapped_create(&u->sound, solver, contact ? "contact-delassus" : "newton",
                           contact ? NULL : "rtol=1e-10");
  return error;
}

/* A body that creeps does so against friction: a millimetre a second along x. */
static void creep(const unlawful *u, eb_state *state, double dt) {
  (void)u;
  for (int32_t i = 0; i < state->node_count; i++) {
    state->x[3 * i] += 1e-3 * dt;
    state->v[3 * i] += 1e-3;
  }
}

/* What is slower than 5 cm/s is held to rest. */
static void rest_slow_nodes(const unlawful *u, eb_state *state) {
  for (int32_t i = 0; i < state->node_count; i++) {
    double *v = state->v + 3 * i;
    if (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > 0.05 * 0.05) continue;
    memcpy(state->x + 3 * i, u->sound.before->x + 3 * i, 3 * sizeof *v);
    v[0] = v[1] = v[2] = 0;
  }
}

static void slow(eb_state *state, int32_t every, double factor) {
  for (int32_t i = 0; i < state->node_count; i += every)
    for (int d = 0; d < 3; d++) state->v[3 * i + d] *= factor;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  unlawful *u = solver->data;
  EB_TRY(wrapped_step(&u->sound, state, dt, log, reason));
  if (u->fault == CREEP) creep(u, state, dt);
  if (u->fault == ABSOLUTE) rest_slow_nodes(u, state);
  if (u->fault == NUMBERING) slow(state, 2, 0.999);
  if (u->fault == DAMPING) slow(state, 1, 0.99);
  return EB_OK;
}

const eb_solver_ops elastobench_solver = {
    .name = "unlawful",
    .summary = "breaks one law of mechanics, and is sound otherwise",
    .citation = "none",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_CONTACT | EB_CAP_FIBRES | EB_CAP_SCRIPTED,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
