/* Solvers in a subspace that are wrong, or say what is not so: one fault each around mfem-subspace.
 * What they report is the sound solver's report, but for that. */
#include "problems/subspace_record.h"
#include "tests/plugins/wrapped.h"

#include <math.h>

typedef struct forged {
  wrapped w;
  eb_subspace_record record; /* as it is told */
  double *phi, *weight;
  void (*spoil)(struct forged *f, eb_state *state, double dt, eb_step_log *log);
} forged;

/* Points with half their volume make a body of half the stiffness. */
static void light(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t c = 0; c < f->record.count; c++) f->weight[c] *= 0.5;
}

static void empty(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.size = 0;
}

/* Skinning weights that are missing, and fewer than make the functions. */
static void unweighted(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.weight_of = NULL;
}

static void few(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.weights = 1;
}

/* Only the first function is told: nearly every residual is orthogonal to it. */
static void narrow(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.size = 1;
}

static void scaled(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int64_t k = 0; k < (int64_t)f->record.nodes * f->record.stride; k++) f->phi[k] *= 1e-3;
}

/* A node goes its own way, with a velocity that fits. */
static void astray(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)f, (void)log;
  int32_t last = state->node_count - 1;
  state->x[3 * last] += 1e-5;
  state->v[3 * last] += 1e-5 / dt;
}

/* Stands still with the report of a step that moved. */
static void asleep(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)dt, (void)log;
  size_t bytes = 3 * (size_t)state->node_count * sizeof *state->x;
  memcpy(state->x, f->w.before->x, bytes);
  memset(state->v, 0, bytes);
}

static const struct {
  const char *name;
  void (*spoil)(forged *f, eb_state *state, double dt, eb_step_log *log);
} faults[] = {{"none", NULL},    {"light", light},   {"empty", empty},   {"unweighted", unweighted},
              {"few", few},      {"narrow", narrow}, {"scaled", scaled}, {"astray", astray},
              {"asleep", asleep}};

static void destroy(eb_solver *solver) {
  forged *f = solver->data;
  if (!f) return;
  wrapped_clear(&f->w);
  free(f->phi);
  free(f->weight);
  free(f);
  solver->data = NULL;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  forged *f = solver->data = calloc(1, sizeof *f);
  if (!f) return EB_ERROR(EB_ERR_MEMORY, "cheat-subspace: no memory");
  const char *name = eb_values_text(solver->options, "fault");
  size_t count = sizeof faults / sizeof *faults, i = 0;
  while (i < count && strcmp(faults[i].name, name) != 0) i++;
  eb_error error =
      i < count ? wrapped_create(&f->w, solver, eb_values_text(solver->options, "of"), "modes=4")
                : EB_ERROR(EB_ERR_USAGE, "cheat-subspace: there is no fault '%s'", name);
  if (!error) f->spoil = faults[i].spoil;
  if (error) destroy(solver);
  return error;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  forged *f = solver->data;
  EB_TRY(wrapped_step(&f->w, state, dt, log, reason));
  const eb_subspace_record *own = log->subspace;
  size_t functions = (size_t)own->nodes * (size_t)own->stride;
  if (!f->phi) f->phi = calloc(functions, sizeof *f->phi);
  if (!f->weight) f->weight = calloc((size_t)own->count, sizeof *f->weight);
  if (!f->phi || !f->weight) return EB_ERROR(EB_ERR_MEMORY, "cheat-subspace: no memory");
  memcpy(f->phi, own->phi, functions * sizeof *f->phi);
  memcpy(f->weight, own->weight, (size_t)own->count * sizeof *f->weight);
  f->record = *own;
  f->record.phi = f->phi;
  f->record.weight = f->weight;
  log->subspace = &f->record;
  if (f->spoil) f->spoil(f, state, dt, log);
  return EB_OK;
}

static const eb_option options[] = {
    {"of", EB_OPTION_TEXT, "mfem-subspace", 0, 0, NULL, "", "the sound solver"},
    {"fault", EB_OPTION_TEXT, "none", 0, 0, NULL, "", "what is wrong"},
    {0}};

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {
    .name = "cheat-subspace",
    .summary = "a built-in solver in a subspace with one fault in what it says or does",
    .citation = "",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SPRINGS,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
