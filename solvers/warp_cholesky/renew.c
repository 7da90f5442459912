/* Estimate, schedule, matrix, factor; see renew.h. */
#include "solvers/warp_cholesky/renew.h"

#include "solvers/warp_cholesky/constrained.h"

#include <math.h>
#include <string.h>

/* ---- everything anew ---- */

static bool unlimited(const eb_warp *w) {
  const eb_update_rule *rule = &w->settings.rule;
  return w->settings.count == 0 && (rule->goal == EB_UPDATE_QUALITY || rule->budget >= 1);
}

/* Whether the factor belongs to another matrix than the one that is asked for. */
static bool outdated(const eb_warp *w, double mass_scale, double stiffness_scale) {
  return !w->current || w->mass_scale != mass_scale || w->stiffness_scale != stiffness_scale ||
         memcmp(w->fixed, w->implicit.fixed, (size_t)w->implicit.nodes) != 0;
}

/* Averages the seconds of the fronts that were factored (marked, or all when NULL) into the
 * costs. */
static void learn_costs(eb_warp *w, const uint8_t *marked) {
  if (!w->settings.measured_costs) return;
  const double *seconds = eb_multifrontal_seconds(w->factor), share = w->settings.averaging;
  for (int32_t s = 0; s < w->elements.supernodes; s++) {
    if (marked && !marked[s]) continue;
    w->cost[s] = w->cost[s] > 0 ? w->cost[s] + share * (seconds[s] - w->cost[s]) : seconds[s];
  }
}

static eb_error factor_whole(eb_warp *w, eb_step_log *log, eb_reason *reason) {
  w->current = false;
  eb_log_begin(log, EB_PHASE_FACTOR);
  eb_error error = eb_multifrontal_factor(w->factor, w->constrained, log, reason);
  if (!error && *reason > 0 && w->updown) error = eb_updown_take(w->updown);
  eb_log_end(log, EB_PHASE_FACTOR);
  EB_TRY(error);
  w->current = *reason > 0;
  if (w->current) learn_costs(w, NULL);
  return EB_OK;
}

static eb_error renew_whole(eb_warp *w, eb_step_log *log, eb_reason *reason) {
  const eb_scene *scene = w->implicit.scene;
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  memcpy(w->fixed, w->implicit.fixed, (size_t)w->implicit.nodes);
  eb_corotation_assemble(w->corotation, eb_elasticity_mass(scene->elasticity), w->mass_scale,
                         w->stiffness_scale, w->implicit.matrix);
  if (w->constrained != w->implicit.matrix)
    eb_constrained_renew(w->implicit.matrix, w->fixed, w->constrained);
  memset(w->refresh, 1, (size_t)w->elements.elements);
  eb_log_updates(log, w->refresh, w->elements.elements);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, w->elements.elements);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_residual(log, 0);
  return factor_whole(w, log, reason);
}

/* ---- in parts ---- */

static double largest(int32_t count, const double *values) {
  double found = 0;
  for (int32_t k = 0; k < count; k++) found = fmax(found, values[k]);
  return found;
}

static double sum(int32_t count, const double *values) {
  double total = 0;
  for (int32_t k = 0; k < count; k++) total += values[k];
  return total;
}

/* The largest error among elements that stay as they are. */
static double left_over(const eb_warp *w) {
  double found = 0;
  for (int32_t e = 0; e < w->elements.elements; e++)
    if (!w->refresh[e]) found = fmax(found, w->error[e]);
  return found;
}

/* Marks, by the rule and the badness of supernodes. */
static void schedule(eb_warp *w, eb_update_rule rule) {
  const eb_supernodes *tree = eb_multifrontal_supernodes(w->factor);
  eb_update_tree costs = {tree->count, tree->parent, w->badness, w->cost};
  rule.budget = unlimited(w) ? INFINITY : rule.budget * sum(tree->count, w->cost);
  eb_update_schedule(&rule, &costs, w->heap, w->marked);
}

/* Supernodes that are bad, and the elements of these. */
static int32_t plan_supernodes(eb_warp *w) {
  int least = w->settings.refresh_ancestors ? EB_UPDATE_ANCESTOR : EB_UPDATE_CHOSEN;
  schedule(w, w->settings.rule);
  return eb_element_map_choose(&w->elements, w->marked, least, w->refresh);
}

/* The worst elements, and the supernodes that have them. */
static int32_t plan_elements(eb_warp *w) {
  int32_t chosen = eb_worst_choose(&w->worst, w->error, w->settings.count, w->refresh);
  eb_element_map_want(&w->elements, w->refresh, w->badness);
  schedule(w, (eb_update_rule){.goal = EB_UPDATE_QUALITY});
  return chosen;
}

/* Errors, badness, marks; refresh[e] for the elements to be refreshed. Returns how many these
 * are. */
static int32_t plan(eb_warp *w, const double *v, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_ESTIMATE);
  eb_corotation_errors(w->corotation, v, w->stiffness_scale, w->error);
  eb_element_map_badness(&w->elements, w->error, w->badness);
  eb_log_residual(log, largest(w->elements.supernodes, w->badness));
  int32_t chosen = w->settings.count > 0 ? plan_elements(w) : plan_supernodes(w);
  eb_log_end(log, EB_PHASE_ESTIMATE);
  return chosen;
}

/* Whether the marked fronts are so much of the factor that the rest comes nearly for nothing.
 * Decided by flops, not by seconds: the same in every run. */
static bool nearly_whole(const eb_warp *w) {
  if (!unlimited(w)) return false;
  double marked = 0, all = 0;
  for (int32_t s = 0; s < w->elements.supernodes; s++) {
    all += w->work[s];
    if (w->marked[s]) marked += w->work[s];
  }
  return marked >= w->settings.whole_from * all;
}

static void refresh_matrix(eb_warp *w, int32_t chosen, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_corotation_refresh(w->corotation, w->refresh, w->stiffness_scale, w->implicit.matrix);
  if (w->constrained != w->implicit.matrix)
    eb_constrained_follow(w->implicit.matrix, w->implicit.scene->mesh, w->refresh, w->fixed,
                          w->touched, w->constrained);
  eb_log_updates(log, w->refresh, w->elements.elements);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, 2. * chosen);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
}

static eb_error refactor_parts(eb_warp *w, eb_step_log *log, eb_reason *reason) {
  w->current = false;
  eb_log_begin(log, EB_PHASE_UPDATE);
  eb_error error = eb_multifrontal_update(w->factor, w->constrained, w->marked, log, reason);
  eb_log_end(log, EB_PHASE_UPDATE);
  EB_TRY(error);
  w->current = *reason > 0;
  if (w->current) learn_costs(w, w->marked);
  return EB_OK;
}

static eb_error renew_part(eb_warp *w, int32_t chosen, eb_step_log *log, eb_reason *reason) {
  if (w->settings.follow == EB_FOLLOW_RANKS) {
    w->current = false;
    EB_TRY(eb_warp_renew_by_ranks(w, log, reason));
    w->current = *reason > 0;
    return EB_OK;
  }
  refresh_matrix(w, chosen, log);
  return w->settings.follow == EB_FOLLOW_WHOLE ? factor_whole(w, log, reason)
                                               : refactor_parts(w, log, reason);
}

eb_error eb_warp_renew(eb_warp *w, const double *v, double mass_scale, double stiffness_scale,
                       eb_step_log *log, eb_reason *reason) {
  bool whole =
      outdated(w, mass_scale, stiffness_scale) || (w->settings.rule.tau <= 0 && unlimited(w));
  w->mass_scale = mass_scale;
  w->stiffness_scale = stiffness_scale;
  if (whole) return renew_whole(w, log, reason);
  *reason = EB_CONVERGED_DIRECT;
  int32_t chosen = plan(w, v, log);
  if (chosen > 0 && nearly_whole(w)) return renew_whole(w, log, reason);
  if (chosen > 0) EB_TRY(renew_part(w, chosen, log, reason));
  /* Differences have added up to more than the matrix bears: start from a fresh one. */
  if (*reason < 0) return renew_whole(w, log, reason);
  eb_log_begin(log, EB_PHASE_ESTIMATE);
  eb_log_residual(log, left_over(w));
  eb_log_end(log, EB_PHASE_ESTIMATE);
  return EB_OK;
}
