/* A solver of several ranks: symplectic Euler on parts of a scene (explicit.c says more), and what
 * can go wrong on one of them (option `fault`, on rank `on` from step `at` on). Ranks exchange what
 * they own by sums of vectors over the whole mesh, plainly. */
#include <elastobench/solver.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "problems/ranks/subdomain.h"
#include "tests/plugins/eat_memory.h"

static const eb_option options[] = {
    {"ranks", EB_OPTION_INT, "1", 1, 1e5, NULL, "", "processes that share the case"},
    {"fault", EB_OPTION_CHOICE, "none", 0, 0, "none|stale|push|uneven|kill|exit|hang|memory|error",
     "", "what goes wrong"},
    {"on", EB_OPTION_INT, "1", 0, 1e5, NULL, "", "the rank on which it does"},
    {"at", EB_OPTION_INT, "2", 1, 1e9, NULL, "", "the step"},
    {0}};

typedef struct ranked {
  double *force, *gradient, *target, *all;
  uint8_t *fixed;
  const eb_subdomain *part; /* NULL: the scene is whole */
  int self;
} ranked;

static bool goes_wrong(const eb_solver *solver, const char *how, int64_t step) {
  const ranked *r = solver->data;
  return strcmp(eb_values_text(solver->options, "fault"), how) == 0 &&
         eb_values_int(solver->options, "on") == r->self &&
         step >= eb_values_int(solver->options, "at");
}

static void destroy(eb_solver *solver) {
  ranked *r = solver->data;
  free(r->force);
  free(r->gradient);
  free(r->target);
  free(r->all);
  free(r->fixed);
  free(r);
  solver->data = NULL;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  size_t nodes = (size_t)eb_scene_mesh(scene)->node_count;
  ranked *r = solver->data = calloc(1, sizeof *r);
  if (!r) return EB_ERROR(EB_ERR_MEMORY, "ranked: no memory");
  r->part = scene->part;
  if (r->part) MPI_Comm_rank(MPI_COMM_WORLD, &r->self);
  r->force = calloc(3 * nodes, sizeof(double));
  r->gradient = calloc(3 * nodes, sizeof(double));
  r->target = calloc(3 * nodes, sizeof(double));
  r->all = r->part ? calloc(3 * (size_t)r->part->all_nodes, sizeof(double)) : NULL;
  r->fixed = calloc(nodes, 1);
  eb_error error = r->force && r->gradient && r->target && r->fixed && (r->all || !r->part)
                       ? EB_OK
                       : EB_ERROR(EB_ERR_MEMORY, "ranked: no memory for %zu nodes", nodes);
  if (error) destroy(solver);
  return error;
}

/* Ghosts get what their owners have. Who waits sleeps: a rank that another lets down takes no
 * time. */
static void exchange(const ranked *r, int32_t nodes, double *values) {
  const eb_subdomain *part = r->part;
  if (!part) return;
  memset(r->all, 0, 3 * (size_t)part->all_nodes * sizeof *r->all);
  for (int32_t i = 0; i < part->nodes; i++)
    memcpy(r->all + 3 * (size_t)part->original_node[i], values + 3 * (size_t)i, 3 * sizeof *values);
  MPI_Request request;
  int done = 0;
  MPI_Iallreduce(MPI_IN_PLACE, r->all, 3 * (int)part->all_nodes, MPI_DOUBLE, MPI_SUM,
                 MPI_COMM_WORLD, &request);
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) usleep(100);
  for (int32_t i = part->nodes; i < nodes; i++)
    memcpy(values + 3 * (size_t)i, r->all + 3 * (size_t)part->original_node[i], 3 * sizeof *values);
}

static void end_somehow(const eb_solver *solver, int64_t step) {
  if (goes_wrong(solver, "kill", step)) raise(SIGKILL);
  if (goes_wrong(solver, "exit", step)) _exit(9);
  if (goes_wrong(solver, "memory", step)) eat_memory();
  while (goes_wrong(solver, "hang", step)) pause();
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  const ranked *r = solver->data;
  const eb_scene *scene = solver->scene;
  const double *mass = eb_scene_mass(scene);
  int64_t number = state->step + 1;
  end_somehow(solver, number);
  eb_scene_gradient(scene, state->x, r->gradient);
  eb_scene_force(scene, state->time, state->x, state->v, r->force);
  eb_scene_boundary(scene, state->time + dt, r->fixed, r->target);
  double stale[6];
  size_t last = 3 * (size_t)(state->node_count - 1);
  memcpy(stale, state->x + last, 3 * sizeof *stale);
  memcpy(stale + 3, state->v + last, 3 * sizeof *stale);
  for (int32_t n = 0; n < state->node_count; n++)
    for (int i = 3 * n; i < 3 * n + 3; i++) {
      if (r->fixed[n])
        state->v[i] = (r->target[i] - state->x[i]) / dt;
      else
        state->v[i] += dt * (r->force[i] - r->gradient[i]) / mass[n];
      state->x[i] += dt * state->v[i];
    }
  if (goes_wrong(solver, "push", number) && !r->fixed[0]) state->x[0] += 1e-9;
  exchange(r, state->node_count, state->x);
  exchange(r, state->node_count, state->v);
  if (goes_wrong(solver, "stale", number)) {
    memcpy(state->x + last, stale, 3 * sizeof *stale);
    memcpy(state->v + last, stale + 3, 3 * sizeof *stale);
  }
  if (goes_wrong(solver, "error", number))
    return EB_ERROR(EB_ERR_INVALID, "the step went wrong, as asked");
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS,
               r->part ? r->part->elements : eb_scene_mesh(scene)->element_count);
  state->time += dt;
  state->step = number;
  log->iterations = 1;
  log->equation = EB_EQUATION_IMPLICIT_EULER;
  *reason = goes_wrong(solver, "uneven", number) ? EB_CONVERGED_STAGNATED : EB_CONVERGED_ITS;
  return EB_OK;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {
    .name = "ranked",
    .summary = "symplectic Euler of several ranks, one of which may go wrong",
    .citation = "Hairer, Lubich and Wanner: Geometric Numerical Integration, 2006",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED,
    .update = EB_UPDATE_END_VELOCITY,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
