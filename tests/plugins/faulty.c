/* A solver that goes wrong in the way its option says, at the step its option says: what the harness must survive. */
#include <elastobench/solver.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const eb_option options[] = {
    {"fault", EB_OPTION_CHOICE, "none", 0, 0,
     "none|crash|abort|hang|slow|memory|nan|honest-nan|lie|diverge|exit|error|create-error|create-"
     "hang|rebuild-error",
     "", "what goes wrong"},
    {"at", EB_OPTION_INT, "2", 1, 1e9, NULL, "", "number of the step in which it does"},
    {0}};

static void hang(void) {
  for (;;) pause();
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  if (strcmp(eb_values_text(solver->options, "fault"), "create-hang") == 0) hang();
  if (strcmp(eb_values_text(solver->options, "fault"), "create-error") == 0)
    return EB_ERROR(EB_ERR_INVALID, "the set-up went wrong, as asked");
  return EB_OK;
}

static eb_error rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log) {
  (void)state, (void)log;
  if (strcmp(eb_values_text(solver->options, "fault"), "rebuild-error") == 0)
    return EB_ERROR(EB_ERR_INVALID, "the second set-up went wrong, as asked");
  return EB_OK;
}

static void destroy(eb_solver *solver) {
  (void)solver;
}

static void crash(void) {
  fprintf(stderr, "faulty: about to crash\n");
  fflush(stderr);
  raise(SIGSEGV);
}

/* Touches what it allocates, 16 MB at a time; when no more is given, it goes on with what it has. */
static void eat_memory(void) {
  enum { CHUNK = 16 << 20 };
  for (;;) {
    char *chunk = malloc(CHUNK);
    if (chunk)
      memset(chunk, 1, CHUNK);
    else
      usleep(1000);
  }
}

/* Claims a residual in the norm that the harness audits. */
static void lie(eb_step_log *log, eb_reason *reason) {
  log->residual_norm = "|grad W|_2 over the free nodes, N";
  eb_log_residual(log, 1e-12);
  *reason = EB_CONVERGED_RTOL;
}

static eb_error go_wrong(const char *fault, eb_state *state, eb_step_log *log, eb_reason *reason) {
  if (strcmp(fault, "crash") == 0) crash();
  if (strcmp(fault, "abort") == 0) abort();
  if (strcmp(fault, "hang") == 0) hang();
  if (strcmp(fault, "slow") == 0) usleep(200000);
  if (strcmp(fault, "memory") == 0) eat_memory();
  if (strcmp(fault, "exit") == 0) exit(0);
  if (strcmp(fault, "error") == 0) return EB_ERROR(EB_ERR_INVALID, "the step went wrong, as asked");
  if (strcmp(fault, "lie") == 0) lie(log, reason);
  if (strcmp(fault, "diverge") == 0) *reason = EB_DIVERGED_MAX_IT;
  if (strcmp(fault, "nan") == 0 || strcmp(fault, "honest-nan") == 0) state->x[0] = NAN;
  if (strcmp(fault, "honest-nan") == 0) *reason = EB_DIVERGED_NAN;
  return EB_OK;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  state->time += dt;
  state->step++;
  for (int32_t i = 0; i < 3 * state->node_count; i++) state->x[i] += 1e-3 * dt * (i % 3);
  *reason = EB_CONVERGED_ITS;
  log->iterations = 1;
  const char *fault = eb_values_text(solver->options, "fault");
  bool now = state->step >= eb_values_int(solver->options, "at");
  return now ? go_wrong(fault, state, log, reason) : EB_OK;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {.name = "faulty",
                                          .summary = "goes wrong as asked",
                                          .citation = "",
                                          .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC |
                                                          EB_CAP_SCRIPTED | EB_CAP_CUTTING,
                                          .options = options,
                                          .create = create,
                                          .step = step,
                                          .destroy = destroy,
                                          .rebuild = rebuild};
