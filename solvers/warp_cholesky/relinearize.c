/* A and its factor follow the rotations, as far as the settings want: estimate, schedule, matrix,
 * factor.
 *
 * The matrix that has fallen behind is A = r M + s sum_e Q_e K_e Q_e^T with Q_e as last refreshed.
 * An element's error is what this misses of the force on its nodes at the velocities v, times h:
 *   s | R_e K_e R_e^T v - R_n Q_e K_e Q_e^T R_n^T v |_2
 * (Hecht, Lee, Shewchuk and O'Brien 2012, Section 4.2). Elements that are refreshed have none; that
 * of the others goes into the log. It is measured at the velocities before the step, not at those
 * that the step will find: an estimate, not a bound.
 *
 * A changes by whole elements. The entries of an element are owned by the supernode of its first
 * eliminated node and by ancestors of it, so that refactoring a supernode with its ancestors (its
 * Section 4.3) is exact for all elements of that supernode. Rank updates change the factor by
 * D_e = after - before of one element at a time instead, of rank 12 at most (Section 5.2).
 *
 * Workspace: that of eb_warp. Fails as a whole factorization does. */
#include "problems/base/assert.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/warp_cholesky/warp.h"

#include <math.h>
#include <string.h>

/* ---- everything anew ------------------------------------------------------------------------- */

/* No budget bounds what is refreshed: the schedule's answer is then a matter of errors alone, the
 * same in every run. */
static bool unlimited(const eb_warp *w) {
  const eb_update_rule *rule = &w->settings.rule;
  return w->settings.count == 0 && (rule->goal == EB_UPDATE_QUALITY || rule->budget >= 1);
}

/* Averages the seconds of the fronts that were factored (marked, or all when NULL) into the
 * costs. */
static void learn_costs(eb_warp *w, const uint8_t *marked) {
  if (!w->settings.measured_costs) return;
  const double *seconds = eb_multifrontal_supernodes(w->factor)->seconds;
  const double share = w->settings.averaging;
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

static eb_error assemble_whole(eb_warp *w, eb_step_log *log, eb_reason *reason) {
  const eb_block_matrix *A = w->implicit.matrix;
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  memcpy(w->fixed, w->implicit.fixed, (size_t)w->implicit.nodes);
  eb_corotation_assemble(w->corotation, eb_elasticity_mass(w->implicit.scene->elasticity),
                         w->mass_scale, w->stiffness_scale, w->implicit.matrix);
  if (w->constrained != A) {
    memcpy(w->constrained->values, A->values, 9 * (size_t)A->start[A->rows] * sizeof *A->values);
    eb_block_constrain(w->constrained, w->fixed, NULL, NULL);
  }
  memset(w->refresh, 1, (size_t)w->elements.elements);
  eb_log_updates(log, w->refresh, w->elements.elements);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, w->elements.elements);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_residual(log, 0);
  return factor_whole(w, log, reason);
}

/* ---- what to refresh ------------------------------------------------------------------------- */

/* Marks, by the rule and the badness of supernodes. */
static void schedule(eb_warp *w, eb_update_rule rule) {
  const eb_supernodes *tree = eb_multifrontal_supernodes(w->factor);
  const eb_update_tree costs = {tree->count, tree->parent, w->badness, w->cost};
  double whole = 0;
  for (int32_t s = 0; s < tree->count; s++) whole += w->cost[s];
  rule.budget = unlimited(w) ? INFINITY : rule.budget * whole;
  eb_update_schedule(&rule, &costs, w->heap, w->marked);
}

/* Errors, badness, marks; refresh[e] for the elements to be refreshed: those of bad supernodes, or
 * the worst `count` ones and then the supernodes that have them. Returns how many these are. */
static int32_t plan(eb_warp *w, const double *v, eb_step_log *log) {
  const eb_warp_settings *settings = &w->settings;
  double largest = 0;
  int32_t chosen;
  eb_log_begin(log, EB_PHASE_ESTIMATE);
  eb_corotation_errors(w->corotation, v, w->stiffness_scale, w->error);
  eb_element_map_badness(&w->elements, w->error, w->badness);
  for (int32_t s = 0; s < w->elements.supernodes; s++) largest = fmax(largest, w->badness[s]);
  eb_log_residual(log, largest);
  if (settings->count > 0) {
    chosen =
        eb_update_largest(w->elements.elements, w->error, settings->count, w->heap, w->refresh);
    eb_element_map_want(&w->elements, w->refresh, w->badness);
    schedule(w, (eb_update_rule){.goal = EB_UPDATE_QUALITY});
  } else {
    int least = settings->refresh_ancestors ? EB_UPDATE_ANCESTOR : EB_UPDATE_CHOSEN;
    schedule(w, settings->rule);
    chosen = eb_element_map_choose(&w->elements, w->marked, least, w->refresh);
  }
  eb_log_end(log, EB_PHASE_ESTIMATE);
  return chosen;
}

/* A part costs more than its share of the whole: the entries of refreshed elements are taken out
 * before they are put in again.
 *
 * Whether the marked fronts are so much of the factor that the rest comes nearly for nothing.
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

/* ---- in parts -------------------------------------------------------------------------------- */

/* The constrained matrix follows A in the entries of refreshed elements: a block of an element lies
 * in the row of one of its nodes. Fixed rows and columns stay as they are. */
static void follow_constrained(eb_warp *w) {
  const eb_block_matrix *A = w->implicit.matrix;
  const eb_mesh *mesh = w->implicit.scene->mesh;
  const int corners = (int)mesh->type;
  if (w->constrained == A) return;
  memset(w->touched, 0, (size_t)A->rows);
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int a = 0; a < corners && w->refresh[e]; a++)
      w->touched[mesh->elements[corners * (int64_t)e + a]] = 1;
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < A->rows; i++) {
    if (!w->touched[i] || w->fixed[i]) continue;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      if (!w->fixed[A->column[b]])
        memcpy(w->constrained->values + 9 * (int64_t)b, A->values + 9 * (int64_t)b,
               9 * sizeof *A->values);
  }
}

static eb_error refresh_parts(eb_warp *w, int32_t chosen, eb_step_log *log, eb_reason *reason) {
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_corotation_refresh(w->corotation, w->refresh, w->stiffness_scale, w->implicit.matrix);
  follow_constrained(w);
  eb_log_updates(log, w->refresh, w->elements.elements);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, 2. * chosen); /* taken out, put in again */
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  if (w->settings.follow == EB_FOLLOW_WHOLE) return factor_whole(w, log, reason);
  eb_log_begin(log, EB_PHASE_UPDATE);
  eb_error error = eb_multifrontal_update(w->factor, w->constrained, w->marked, log, reason);
  eb_log_end(log, EB_PHASE_UPDATE);
  EB_TRY(error);
  w->current = *reason > 0;
  if (w->current) learn_costs(w, w->marked);
  return EB_OK;
}

/* ---- by rank updates ------------------------------------------------------------------------- */

/* The 12 x 12 entries of A at an element's corners; zero in rows and columns of fixed nodes. */
static void gather(const eb_block_matrix *A, const uint8_t *fixed, const int32_t node[4],
                   double out[144]) {
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      bool kept = !fixed[node[a]] && !fixed[node[b]];
      int32_t block = kept ? eb_block_matrix_find(A, node[a], node[b]) : -1;
      const double *from = A->values + 9 * (int64_t)block;
      for (int k = 0; k < 9; k++) out[12 * (3 * a + k / 3) + 3 * b + k % 3] = kept ? from[k] : 0;
    }
}

/* Elements are refreshed one at a time: what A changes by is what this element does. */
static eb_error refresh_by_ranks(eb_warp *w, eb_step_log *log, eb_reason *reason) {
  const eb_block_matrix *A = w->implicit.matrix;
  const eb_mesh *mesh = w->implicit.scene->mesh;
  double before[144], difference[144];
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (!w->refresh[e]) continue;
    const int32_t *node = mesh->elements + 4 * (int64_t)e;
    eb_log_begin(log, EB_PHASE_ASSEMBLE);
    gather(A, w->fixed, node, before);
    w->only[e] = 1;
    eb_corotation_refresh(w->corotation, w->only, w->stiffness_scale, w->implicit.matrix);
    w->only[e] = 0;
    gather(A, w->fixed, node, difference);
    for (int k = 0; k < 144; k++) difference[k] -= before[k];
    eb_log_end(log, EB_PHASE_ASSEMBLE);
    eb_log_begin(log, EB_PHASE_UPDATE);
    eb_error error = eb_updown_change(w->updown, node, difference);
    eb_log_end(log, EB_PHASE_UPDATE);
    EB_TRY(error);
  }
  follow_constrained(w);
  eb_log_updates(log, w->refresh, mesh->element_count);
  eb_log_begin(log, EB_PHASE_UPDATE);
  eb_error error = eb_updown_flush(w->updown, reason);
  eb_log_end(log, EB_PHASE_UPDATE);
  EB_TRY(error);
  w->current = *reason > 0;
  return EB_OK;
}

/* ---- the step's part ------------------------------------------------------------------------- */

eb_error eb_warp_relinearize(eb_warp *w, const double *v, double mass_scale, double stiffness_scale,
                             eb_step_log *log, eb_reason *reason) {
  EB_ASSERT(mass_scale > 0 && stiffness_scale > 0);
  bool other = !w->current || w->mass_scale != mass_scale ||
               w->stiffness_scale != stiffness_scale ||
               memcmp(w->fixed, w->implicit.fixed, (size_t)w->implicit.nodes) != 0;
  w->mass_scale = mass_scale;
  w->stiffness_scale = stiffness_scale;
  bool all = w->settings.rule.tau <= 0 && unlimited(w) && w->settings.whole_from <= 1;
  if (other || all) return assemble_whole(w, log, reason);
  *reason = EB_CONVERGED_DIRECT;
  int32_t chosen = plan(w, v, log);
  if (chosen > 0 && nearly_whole(w)) return assemble_whole(w, log, reason);
  if (chosen > 0) {
    w->current = false;
    EB_TRY(w->settings.follow == EB_FOLLOW_RANKS ? refresh_by_ranks(w, log, reason)
                                                 : refresh_parts(w, chosen, log, reason));
  }
  /* Differences have added up to more than the matrix bears: start from a fresh one. */
  if (*reason < 0) return assemble_whole(w, log, reason);
  double left = 0; /* the largest error among elements that stay as they are */
  eb_log_begin(log, EB_PHASE_ESTIMATE);
  for (int32_t e = 0; e < w->elements.elements; e++)
    if (!w->refresh[e]) left = fmax(left, w->error[e]);
  eb_log_residual(log, left);
  eb_log_end(log, EB_PHASE_ESTIMATE);
  return EB_OK;
}
