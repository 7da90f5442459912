/* The step log, what a solver reports of one step, and the names of what it reports.
 *
 * Phases nest: the time between two marks belongs to the innermost open phase, so that the seconds
 * of all phases add up to the time in which any was open, and nothing is counted twice. What is
 * opened deeper than EB_OPEN_PHASES is charged to the deepest that is remembered.
 *
 * A plug-in may have been built against a header with more or fewer names, so that every index that
 * comes from one is checked before it is looked up. A log may be NULL: callers below a solver need
 * not ask. Nothing here allocates but create and eb_log_tree, which is for set-ups. */
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/step.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

const char *eb_reason_name(eb_reason reason) {
  switch (reason) {
  case EB_CONVERGED_RTOL:
    return "EB_CONVERGED_RTOL";
  case EB_CONVERGED_ATOL:
    return "EB_CONVERGED_ATOL";
  case EB_CONVERGED_DIRECT:
    return "EB_CONVERGED_DIRECT";
  case EB_CONVERGED_ITS:
    return "EB_CONVERGED_ITS";
  case EB_CONVERGED_STAGNATED:
    return "EB_CONVERGED_STAGNATED";
  case EB_RUNNING:
    return "EB_RUNNING";
  case EB_DIVERGED_MAX_IT:
    return "EB_DIVERGED_MAX_IT";
  case EB_DIVERGED_NAN:
    return "EB_DIVERGED_NAN";
  case EB_DIVERGED_BREAKDOWN:
    return "EB_DIVERGED_BREAKDOWN";
  case EB_DIVERGED_LINE_SEARCH:
    return "EB_DIVERGED_LINE_SEARCH";
  case EB_NOT_POSITIVE_DEFINITE:
    return "EB_NOT_POSITIVE_DEFINITE";
  case EB_DIVERGED_LINEAR_SOLVE:
    return "EB_DIVERGED_LINEAR_SOLVE";
  case EB_DIVERGED_LIBRARY:
    return "EB_DIVERGED_LIBRARY";
  }
  return "unknown reason";
}

const char *eb_phase_name(eb_phase phase) {
  static const char *const names[EB_PHASE_COUNT] = {[EB_PHASE_ROTATIONS] = "rotations",
                                                    [EB_PHASE_NODE_ROTATIONS] = "node-rotations",
                                                    [EB_PHASE_GRADIENT] = "gradient",
                                                    [EB_PHASE_ASSEMBLE] = "assemble",
                                                    [EB_PHASE_ORDER] = "order",
                                                    [EB_PHASE_ANALYZE] = "analyze",
                                                    [EB_PHASE_FACTOR] = "factor",
                                                    [EB_PHASE_UPDATE] = "update",
                                                    [EB_PHASE_SOLVE] = "solve",
                                                    [EB_PHASE_RHS] = "rhs",
                                                    [EB_PHASE_ESTIMATE] = "estimate",
                                                    [EB_PHASE_LINESEARCH] = "linesearch",
                                                    [EB_PHASE_DETECT] = "detect",
                                                    [EB_PHASE_RESOLVE] = "resolve",
                                                    [EB_PHASE_LOCAL] = "local",
                                                    [EB_PHASE_PROJECT] = "project",
                                                    [EB_PHASE_IO] = "io",
                                                    [EB_PHASE_PRECONDITION] = "precondition"};
  return (unsigned)phase < EB_PHASE_COUNT ? names[phase] : "unknown phase";
}

const char *eb_counter_name(eb_counter counter) {
  static const char *const names[EB_COUNTERS] = {
      [EB_COUNT_FACTORIZATIONS] = "factorizations",
      [EB_COUNT_SOLVES] = "solves",
      [EB_COUNT_MATVECS] = "matvecs",
      [EB_COUNT_ELEMENT_EVALUATIONS] = "element_evaluations",
      [EB_COUNT_LINEAR_ITERATIONS] = "linear_iterations",
      [EB_COUNT_LINE_SEARCHES] = "line_searches",
      [EB_COUNT_FLOPS] = "flops",
      [EB_COUNT_UPDATED_ELEMENTS] = "updated_elements",
      [EB_COUNT_UPDATED_SUPERNODES] = "updated_supernodes",
      [EB_COUNT_DAMPED_ELEMENTS] = "damped_elements",
      [EB_COUNT_REDUCED_UNKNOWNS] = "reduced_unknowns",
      [EB_COUNT_REBUILDS] = "rebuilds",
      [EB_COUNT_CONSTRAINTS] = "constraints",
      [EB_COUNT_ACTIVE_CONSTRAINTS] = "active_constraints",
      [EB_COUNT_OUTER_ITERATIONS] = "collision_rounds",
      [EB_COUNT_RELINEARIZATIONS] = "relinearizations",
      [EB_COUNT_COLLISION_CANDIDATES] = "collision_candidates",
      [EB_COUNT_CONTACT_VISITS] = "contact_visits",
      [EB_COUNT_ACTIVE_SET_CHANGES] = "state_changes"};
  return (unsigned)counter < EB_COUNTERS ? names[counter] : "unknown counter";
}

const char *eb_equation_name(eb_equation equation) {
  static const char *const names[EB_EQUATIONS] = {[EB_EQUATION_IMPLICIT_EULER] = "implicit Euler",
                                                  [EB_EQUATION_STATIC] = "static",
                                                  [EB_EQUATION_LINEARIZED] = "linearized",
                                                  [EB_EQUATION_REDUCED] = "reduced",
                                                  [EB_EQUATION_POSITION_BASED] = "position-based"};
  return (unsigned)equation < EB_EQUATIONS ? names[equation] : "unknown equation";
}

const char *eb_update_name(eb_update update) {
  static const char *const names[EB_UPDATES] = {
      [EB_UPDATE_END_VELOCITY] = "x1 = x0 + h v1",
      [EB_UPDATE_MEAN_VELOCITY] = "x1 = x0 + h (v0 + v1) / 2",
      [EB_UPDATE_SUBSTEPS] = "substeps",
      [EB_UPDATE_CORRECTED] = "x1 = x0 + h v1 + correction",
      [EB_UPDATE_LATE_FORCE] = "x1 = x0 + h v1 - h^2 f_ext / m"};
  return (unsigned)update < EB_UPDATES ? names[update] : "unknown update";
}

const char *eb_memory_name(eb_memory_kind kind) {
  static const char *const names[EB_MEMORY_KINDS] = {[EB_MEMORY_MATRIX] = "matrix",
                                                     [EB_MEMORY_FACTOR] = "factor",
                                                     [EB_MEMORY_UPDATES] = "updates",
                                                     [EB_MEMORY_ELEMENTS] = "elements"};
  return (unsigned)kind < EB_MEMORY_KINDS ? names[kind] : "unknown memory";
}

/* ---- life ---- */

eb_error eb_step_log_create(int64_t residual_capacity, eb_step_log **out) {
  *out = NULL;
  if (residual_capacity < 0)
    return EB_ERROR(EB_ERR_USAGE, "a step log cannot hold %lld residuals; use 0 or more",
                    (long long)residual_capacity);
  eb_step_log *log = NULL;
  EB_TRY(EB_NEW(log, 1));
  log->residuals = eb_calloc((size_t)residual_capacity, sizeof *log->residuals);
  log->residual_seconds = eb_calloc((size_t)residual_capacity, sizeof *log->residual_seconds);
  if (!log->residuals || !log->residual_seconds) {
    eb_step_log_destroy(log);
    return EB_ERROR(EB_ERR_MEMORY, "cannot allocate a step log for %lld residuals",
                    (long long)residual_capacity);
  }
  log->residual_capacity = residual_capacity;
  eb_step_log_reset(log);
  *out = log;
  return EB_OK;
}

static void tree_clear(eb_tree_log *tree) {
  free(tree->parent);
  free(tree->pivots);
  free(tree->rows);
  free(tree->flops);
  *tree = (eb_tree_log){0};
}

void eb_step_log_destroy(eb_step_log *log) {
  if (!log) return;
  free(log->residuals);
  free(log->residual_seconds);
  free(log->element_updates);
  tree_clear(&log->tree);
  free(log);
}

void eb_step_log_reset(eb_step_log *log) {
  eb_step_log fresh = {.residuals = log->residuals,
                       .residual_seconds = log->residual_seconds,
                       .residual_capacity = log->residual_capacity,
                       .own_norm = "",
                       .linearization = {1, 1, EB_TANGENT_EXACT},
                       .step_started = eb_wall_seconds(),
                       .own_seconds = NAN,
                       .element_updates = log->element_updates,
                       .element_count = log->element_count};
  tree_clear(&log->tree);
  *log = fresh;
}

/* ---- residuals' norms ---- */

static const char *const norms[EB_RESIDUAL_NORMS] = {
    [EB_NORM_OWN] = "",
    [EB_NORM_GRADIENT] = "|grad W|_2 over the free nodes, N",
    [EB_NORM_LINEARIZED] = "|b - A v|_2, kg m/s",
    [EB_NORM_CONTACT] = "|b - A v + H^T r|_2, kg m/s",
    [EB_NORM_REDUCED_GRADIENT] = "|B^T grad W|_2 of the cubature points, N/kg^1/2",
    [EB_NORM_QUASISTATIC] = "|f_q|_2 of the net force on quasistatic nodes, N",
    [EB_NORM_ELEMENT] = "largest error of an element, kg m/s: before, after the update",
    [EB_NORM_NO_EQUATION] = "none: explicit parts solve no equation",
    [EB_NORM_NO_TOLERANCE] = "none: there is no tolerance to meet"};

eb_residual_norm eb_residual_norm_find(const char *text) {
  static const char end[] = "|_2";
  for (int n = 0; n < EB_RESIDUAL_NORMS; n++) {
    const char *formula = norms[n], *last = strstr(formula, end);
    if (last && strncmp(text, formula, (size_t)(last + 1 - formula)) == 0)
      return (eb_residual_norm)n;
  }
  return EB_NORM_OWN;
}

const char *eb_log_norm(const eb_step_log *log) {
  if (log->own_norm && *log->own_norm) return log->own_norm;
  return (unsigned)log->residual_norm < EB_RESIDUAL_NORMS ? norms[log->residual_norm] : "";
}

/* ---- what a step reports ---- */

/* The time since the mark goes to the innermost open phase; the mark is now. */
static void settle(eb_step_log *log) {
  double now = eb_wall_seconds();
  int depth = log->open_count < EB_OPEN_PHASES ? log->open_count : EB_OPEN_PHASES;
  if (depth > 0) log->phase_seconds[log->open[depth - 1]] += now - log->phase_mark;
  log->phase_mark = now;
}

/* What is out of range is not logged but counted: a solver, perhaps built against other tables,
 * must not write past ours. */
static bool is_valid(eb_step_log *log, unsigned index, unsigned count) {
  if (index < count) return true;
  log->invalid++;
  return false;
}

void eb_log_begin(eb_step_log *log, eb_phase phase) {
  if (!log || !is_valid(log, (unsigned)phase, EB_PHASE_COUNT)) return;
  settle(log);
  if (log->open_count < EB_OPEN_PHASES) log->open[log->open_count] = phase;
  log->open_count++;
}

/* Closes the phase and what was left open inside it; a phase that is not open changes nothing. */
void eb_log_end(eb_step_log *log, eb_phase phase) {
  if (!log || !is_valid(log, (unsigned)phase, EB_PHASE_COUNT)) return;
  settle(log);
  int at = log->open_count - 1;
  while (at >= 0 && at < EB_OPEN_PHASES && log->open[at] != phase) at--;
  if (at >= 0) log->open_count = at;
}

/* Residuals beyond the room are counted and not kept: the count says what is missing. */
void eb_log_residual(eb_step_log *log, double value) {
  if (!log) return;
  if (log->residual_count < log->residual_capacity) {
    log->residuals[log->residual_count] = value;
    log->residual_seconds[log->residual_count] = eb_wall_seconds() - log->step_started;
  }
  log->residual_count++;
}

void eb_log_round(eb_step_log *log) {
  if (log && log->round_count < EB_LOG_ROUNDS)
    log->rounds[log->round_count++] = log->residual_count;
}

void eb_log_count(eb_step_log *log, eb_counter counter, double amount) {
  if (log && is_valid(log, (unsigned)counter, EB_COUNTERS)) log->counters[counter] += amount;
}

void eb_log_memory(eb_step_log *log, eb_memory_kind kind, double bytes) {
  if (log && is_valid(log, (unsigned)kind, EB_MEMORY_KINDS)) log->memory_bytes[kind] += bytes;
}

static eb_error tree_allocate(eb_tree_log *tree, int32_t count) {
  EB_TRY(EB_NEW(tree->parent, count));
  EB_TRY(EB_NEW(tree->pivots, count));
  EB_TRY(EB_NEW(tree->rows, count));
  return EB_NEW(tree->flops, count);
}

eb_error eb_log_tree(eb_step_log *log, int32_t count, const int32_t *parent, const int32_t *pivots,
                     const int32_t *rows, const double *flops) {
  if (!log) return EB_OK;
  if (count < 0)
    return EB_ERROR(EB_ERR_INVALID, "an elimination tree cannot have %d supernodes", (int)count);
  eb_tree_log *tree = &log->tree;
  tree_clear(tree);
  eb_error error = tree_allocate(tree, count);
  if (error) {
    tree_clear(tree);
    return error;
  }
  tree->count = count;
  memcpy(tree->parent, parent, (size_t)count * sizeof *parent);
  memcpy(tree->pivots, pivots, (size_t)count * sizeof *pivots);
  memcpy(tree->rows, rows, (size_t)count * sizeof *rows);
  memcpy(tree->flops, flops, (size_t)count * sizeof *flops);
  return EB_OK;
}

/* Elements' own counts saturate: they are for pictures of where updates gather, the sum is exact.
 */
void eb_log_updates(eb_step_log *log, const uint8_t *marked, int32_t elements) {
  if (!log) return;
  bool keep = log->element_updates && log->element_count == elements;
  int32_t count = 0;
  for (int32_t e = 0; e < elements; e++) {
    bool on = marked[e] != 0;
    count += on;
    if (keep && on && log->element_updates[e] < UINT8_MAX) log->element_updates[e]++;
  }
  log->counters[EB_COUNT_UPDATED_ELEMENTS] += count;
}
