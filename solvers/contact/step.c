/* The contact step around any method; see step.h for its equations.
 *
 * Verschoor and Jalba 2019, Algorithm 1, lines 4 to 30, for a method that solves the linearized problem of Equation 20 as a whole:
 *   assemble A and b; list the candidates; carry the constraints of the last step over, with their forces as warm start;
 *   rounds: solve; look for collisions and worn constraints (step_look.c); done when there are none.
 * The tangential displacement of every contact counts from the start of the step (c_t holds known motion alone), also of a new one: the paper subtracts the way up to the
 * impact there, which differs by less than a step's sliding.
 *
 * Workspace: the system (step_system.h), surfaces and candidates, and some 500 bytes a constraint that grow with the most there ever were.
 * Fails: EB_DIVERGED_NAN when state, forces or solution are not finite; EB_DIVERGED_MAX_IT after max_rounds, or when the method gives up;
 * EB_DIVERGED_BREAKDOWN when the method stagnates away from the constraints or there are too many candidates; else as the method does. The state is
 * then as it was, and the next step starts without constraints. */
#include "solvers/contact/step.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "solvers/contact/step_data.h"
#include "solvers/linalg/block_ops.h"

#include <math.h>
#include <string.h>

/* A solve that stagnates is good when it meets the constraints to so many tolerances. */
static const double stagnated_slack = 2;
static const double cone_tolerance = 1e-3;
/* Of the gap: what a constraint asks for at least. */
static const double least_demand = 0.02;

/* ---- set-up ---- */

eb_error eb_contact_step_reserve(eb_contact_step *step, int32_t room) {
  int32_t before = step->room;
  if (room <= before) return EB_OK;
  room = room < 2 * before ? 2 * before : room;
  int64_t rows = 3 * (int64_t)step->system.rows;
  EB_TRY(EB_CONTACT_GROW(step->r, 3, before, room));
  EB_TRY(eb_contact_grow((void **)&step->work, rows + 3 * (int64_t)before, rows + 3 * (int64_t)room,
                         sizeof *step->work));
  EB_TRY(EB_CONTACT_GROW(step->mark, 1, before, room));
  EB_TRY(EB_CONTACT_GROW(step->pair, 1, before, room));
  EB_TRY(EB_CONTACT_GROW(step->weight, 4, before, room));
  EB_TRY(EB_CONTACT_GROW(step->frame, 9, before, room));
  EB_TRY(EB_CONTACT_GROW(step->c, 3, before, room));
  EB_TRY(EB_CONTACT_GROW(step->mu, 1, before, room));
  EB_TRY(EB_CONTACT_GROW(step->u, 3, before, room));
  step->room = room;
  return EB_OK;
}

enum { FIRST_ROOM = 64 };

static eb_error allocate(eb_contact_step *step, const eb_solver *solver) {
  EB_TRY(eb_contact_system_create(solver, &step->system));
  EB_TRY(eb_contact_surface_create(solver->scene, &step->surface));
  EB_TRY(eb_constraints_create(step->system.nodes, FIRST_ROOM, &step->constraints));
  EB_TRY(eb_contact_problem_create(FIRST_ROOM, &step->problem));
  EB_TRY(eb_contact_step_reserve(step, FIRST_ROOM));
  EB_TRY(EB_NEW(step->v, 3 * (size_t)step->system.rows));
  return step->method->create(solver, step->system.rows, &step->method_data);
}

static void destroy(eb_contact_step *step) {
  if (step->method_data) step->method->destroy(step->method_data);
  eb_contact_system_clear(&step->system);
  eb_contact_surface_clear(&step->surface);
  eb_constraints_clear(&step->constraints);
  eb_contact_problem_destroy(step->problem);
  free(step->v);
  free(step->r);
  free(step->work);
  free(step->mark);
  free(step->pair);
  free(step->weight);
  free(step->frame);
  free(step->c);
  free(step->mu);
  free(step->u);
  free(step);
}

eb_error eb_contact_solver_create(eb_solver *solver, const eb_scene *scene,
                                  const eb_contact_method *method) {
  (void)scene;
  eb_contact_step *step = NULL;
  EB_TRY(EB_NEW(step, 1));
  step->method = method;
  step->gap = eb_values_real(solver->options, "gap");
  step->max_rounds = eb_values_int(solver->options, "max_rounds");
  eb_error error = allocate(step, solver);
  if (error) {
    destroy(step);
    return error;
  }
  solver->data = step;
  return EB_OK;
}

void eb_contact_solver_destroy(eb_solver *solver) {
  destroy(solver->data);
}

/* ---- one round ---- */

static void set_tolerance(eb_contact_step *step, const eb_values *options) {
  double scale = strcmp(eb_values_text(options, "tolerance_kind"), "relative")
                     ? 1
                     : eb_norm(3 * (int64_t)step->system.rows, step->system.b);
  step->tolerance =
      (eb_contact_tolerance){.eps1 = scale * eb_values_real(options, "eps1"),
                             .eps2 = eb_values_real(options, "eps2"),
                             .cone = cone_tolerance,
                             .angle = eb_values_real(options, "angle"),
                             .max_iterations = eb_values_int(options, "max_iterations")};
}

/* Constraints that contradict each other, as linearizations of different trial motions may, ask for no more than the method could give; one that would have to ask for contact is
 * left out, and comes back linearized where the next motion hits. Returns whether there were such. */
static bool relax(eb_contact_step *step) {
  eb_constraints *set = &step->constraints;
  int32_t count = set->count, relaxed = 0;
  eb_contact_velocity(step->problem, step->v, step->work);
  for (int32_t k = 0; k < count; k++) {
    double lack = -step->work[3 * (int64_t)k];
    step->mark[k] = 1;
    if (!(lack > step->tolerance.eps2)) continue;
    set->all[k].demand -= lack;
    step->mark[k] = set->all[k].demand > least_demand * step->gap;
    relaxed++;
  }
  eb_constraints_filter(set, step->mark);
  return relaxed > 0;
}

static void judge_stagnation(eb_contact_step *step, bool *relaxed, eb_reason *reason) {
  eb_contact_error error;
  double bound = stagnated_slack * step->tolerance.eps2;
  eb_contact_measure(step->problem, step->v, step->r, step->tolerance.eps2, step->work, &error);
  if (error.violation <= bound && error.active <= bound) return;
  *relaxed = isfinite(error.violation) && relax(step);
  if (!*relaxed) *reason = EB_DIVERGED_BREAKDOWN;
}

static eb_error solve(eb_contact_step *step, eb_step_log *log, bool *relaxed, eb_reason *reason) {
  eb_constraints *set = &step->constraints;
  eb_contact_tolerance tolerance = step->tolerance;
  eb_contact_outcome outcome = {0};
  tolerance.max_iterations -= log->iterations;
  *reason = EB_DIVERGED_MAX_IT;
  if (tolerance.max_iterations <= 0) return EB_OK;
  for (int32_t k = 0; k < set->count; k++)
    memcpy(step->r + 3 * (int64_t)k, set->all[k].r, sizeof set->all[k].r);
  eb_log_begin(log, EB_PHASE_RESOLVE);
  eb_error error = step->method->solve(step->method_data, step->problem, &tolerance, step->v,
                                       step->r, log, &outcome);
  eb_log_end(log, EB_PHASE_RESOLVE);
  EB_TRY(error);
  for (int32_t k = 0; k < set->count; k++)
    memcpy(set->all[k].r, step->r + 3 * (int64_t)k, sizeof set->all[k].r);
  log->iterations += outcome.iterations;
  eb_log_count(log, EB_COUNT_STATE_CHANGES, (double)outcome.state_changes);
  *reason = outcome.reason;
  if (*reason == EB_CONVERGED_STAGNATED) judge_stagnation(step, relaxed, reason);
  if (*reason > 0 && !eb_all_finite(3 * (int64_t)step->system.rows, step->v))
    *reason = EB_DIVERGED_NAN;
  return EB_OK;
}

static eb_error look(eb_contact_step *step, eb_step_log *log, bool *settled) {
  eb_contact_system_move(&step->system, step->v);
  EB_TRY(eb_contact_surface_move(&step->surface, &step->system));
  return eb_contact_step_look(step, log, settled);
}

static eb_error round_of(eb_contact_step *step, eb_step_log *log, bool *settled,
                         eb_reason *reason) {
  double mu = step->system.implicit.scene->contact_friction;
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_error error = eb_constraints_problem(&step->constraints, &step->surface, &step->system,
                                          step->v, mu, step->problem);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  EB_TRY(error);
  bool relaxed = false;
  EB_TRY(solve(step, log, &relaxed, reason));
  eb_log_count(log, EB_COUNT_COLLISION_ROUNDS, 1);
  if (*reason <= 0 || relaxed) return EB_OK;
  eb_log_begin(log, EB_PHASE_DETECT);
  error = look(step, log, settled);
  eb_log_end(log, EB_PHASE_DETECT);
  return error;
}

/* ---- the step ---- */

/* How far from its boxes' motion a vertex may be found: both of a pair's features, at the distance that pairs are looked at, and a fall of one step. */
static double slack(const eb_contact_step *step) {
  const double *g = step->system.implicit.scene->gravity;
  return 4 * step->gap + 2 * step->system.dt * step->system.dt * sqrt(eb_dot3(g, g));
}

static eb_error begin(eb_contact_step *step) {
  eb_contact_system_guess(&step->system, step->v);
  eb_contact_system_move(&step->system, step->v);
  EB_TRY(eb_contact_surface_begin(&step->surface, &step->system, slack(step)));
  return eb_contact_step_carry(step);
}

/* What a round that only finds constraints needs of its solution. */
static eb_contact_tolerance loosened(const eb_contact_tolerance *exact) {
  eb_contact_tolerance loose = *exact;
  loose.eps1 *= 50;
  loose.eps2 *= 3;
  loose.cone *= 10;
  loose.angle *= 4;
  return loose;
}

/* Where the last step took several rounds, this one will: those until nothing collides any more are solved loosely, and the last ones to the tolerance. */
static eb_error run(eb_contact_step *step, eb_step_log *log, eb_reason *reason) {
  const eb_contact_tolerance exact = step->tolerance;
  bool loose = step->rounds > 1;
  eb_log_begin(log, EB_PHASE_DETECT);
  eb_error error = begin(step);
  eb_log_end(log, EB_PHASE_DETECT);
  EB_TRY(error);
  if (loose) step->tolerance = loosened(&exact);
  for (int64_t i = 0; i < step->max_rounds; i++) {
    bool settled = false;
    if (i > 0) eb_log_round(log);
    step->rounds = i + 1;
    EB_TRY(round_of(step, log, &settled, reason));
    if ((settled && !loose) || *reason <= 0) return EB_OK;
    if (!settled) continue;
    loose = false;
    step->tolerance = exact;
  }
  *reason = EB_DIVERGED_MAX_IT;
  return EB_OK;
}

/* What the step leaves: methods log what they iterate on, before they bring its forces onto their cones. */
static void log_residual(eb_contact_step *step, eb_step_log *log) {
  eb_contact_error error;
  eb_contact_measure(step->problem, step->v, step->r, step->tolerance.eps2, step->work, &error);
  eb_log_residual(log, error.residual);
}

static void finish(eb_contact_step *step, eb_state *state, eb_step_log *log) {
  int32_t count = step->constraints.count;
  /* A guess that is good enough has been looked at once. */
  if (log->iterations == 0) log->iterations = 1;
  log_residual(step, log);
  eb_contact_step_record(step);
  eb_contact_system_advance(&step->system, step->v, state);
  for (int32_t k = 0; k < count; k++)
    eb_log_count(log, EB_COUNT_ACTIVE_CONSTRAINTS, step->constraints.all[k].r[0] > 0);
  eb_log_count(log, EB_COUNT_CONSTRAINTS, count);
  eb_log_count(log, EB_COUNT_COLLISION_CANDIDATES,
               (double)eb_collisions_candidates(step->surface.collisions));
  log->contacts = &step->record;
}

eb_error eb_contact_solver_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                                eb_reason *reason) {
  eb_contact_step *step = solver->data;
  log->residual_norm = "|b - A v + H^T r|_2, kg m/s";
  log->equation = EB_EQUATION_LINEARIZED;
  log->linearization = (eb_linearization){1, 1, EB_TANGENT_PROJECTED};
  *reason = EB_DIVERGED_NAN;
  if (!eb_contact_system_begin(&step->system, state, dt, log)) return EB_OK;
  set_tolerance(step, solver->options);
  eb_error error = run(step, log, reason);
  if (error && eb_error_kind(error) == EB_ERR_LIMIT) {
    eb_error_free(error);
    error = EB_OK;
    *reason = EB_DIVERGED_BREAKDOWN;
  }
  EB_TRY(error);
  if (*reason > 0)
    finish(step, state, log);
  else
    eb_constraints_forget(&step->constraints);
  return EB_OK;
}
