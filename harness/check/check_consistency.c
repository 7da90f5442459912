/* Consistency: whether steps tend to the motion of the audit's own forces as they get shorter.
 *
 * A run is audited against the error that its method makes anyway, and a force that is wrong by
 * less hides below it: one percent of Young's modulus in a step that is cut into explicit parts, or
 * iterated a fixed number of times, leaves such a run in the accuracy class of a sound one. As the
 * step goes to 0 the method's error goes and the wrong force stays. All schemes that follow
 * M dv/dt = f(x), dx/dt = v - implicit, linearized, in parts, iterated however often - do so to
 * first order of one step from any state:
 *
 *   d(h) = (M (v1 - v0) / h + g(x1) - f_ext,  M (x1 - x0 - h v1) / (h T)) = c h + O(h^2),
 *
 * with g and f_ext of the audit and T the longest step here, which makes the latter a force. One
 * that is wrong by b leaves d(0) = b. From two steps the first order cancels,
 *
 *   d(0) = (4 d(h / 4) - d(h)) / 3 + O(h^2),
 *
 * and with T half of the step that is stable for explicit parts, 2 / w of the fastest mode, and h a
 * 64th of T, what is left of the second order is (w h)^2 / 4 = 6e-5 of the forces at most.
 * Iterations gain a factor of the order of (w h)^2 each, so that any number of them is enough.
 * Shorter steps would show rounding: positions to 1e-16 are forces to 1e-16 M |x| / h^2.
 *
 * The forces are of one size: a step from random velocities leaves random displacements, a few
 * percent of an edge, whose elastic forces are as large as the weights. So 1 % of a modulus or of
 * gravity is 4e-3 of their norm (the audit's scale, in which parts do not cancel).
 *
 * In a subspace not all nodes are free to follow: there it is the residual of the declared
 * equation, which is solved at every h. Condensed steps with nodes that only follow have it too,
 * from rest; and position-based ones, whose stiffness is no modulus, of free bodies at rest, on
 * which the weight alone acts.
 *
 * Sizes, shapes, material and load are drawn by the seed, so that no solver can be right on known
 * ones alone, and the drawn block is run and judged like any case. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/case/auditor.h"
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/base/memory.h"
#include "problems/base/random.h"
#include "problems/base/text.h"
#include "solvers/symplectic_euler/stability.h"

/* Between what sound solvers leave, 2e-4 and less, and what 1 % of a force is. */
static const double left_allowed = 1e-3;

/* ---- a solver on a drawn block --------------------------------------------------------------- */

typedef struct rig {
  const eb_solver_ops *ops;
  eb_scene *scene; /* the solver's */
  eb_auditor auditor;
  eb_solver *solver;
  eb_state *start, *before, *after;
  eb_step_log *log;
  double longest; /* s: T */
  double *defect; /* nodes x 6, N: d at the step before */
} rig;

static void close_rig(rig *r) {
  free(r->defect);
  eb_step_log_destroy(r->log);
  eb_state_destroy(r->after);
  eb_state_destroy(r->before);
  eb_state_destroy(r->start);
  eb_solver_destroy(r->solver);
  eb_auditor_clear(&r->auditor);
  eb_scene_destroy(r->scene);
}

/* The solver stays NULL where it does not serve the block. */
static eb_error open_rig(rig *r, char *parameters) {
  const eb_case work = {.scene = &eb_block_scene, .solver = r->ops, .parameters = parameters};
  EB_TRY(eb_block_create(&r->scene, "%s", parameters));
  eb_error error = eb_solver_create(r->ops, eb_subject_exact(r->ops), r->scene, 1, 1, &r->solver);
  if (error && eb_error_kind(error) == EB_ERR_UNSUPPORTED) {
    eb_error_free(error);
    return EB_OK;
  }
  EB_TRY(error);
  EB_TRY(eb_auditor_create(&work, NULL, &r->auditor));
  EB_TRY(eb_step_log_create(1024, &r->log));
  EB_TRY(eb_state_create(r->scene, &r->start));
  EB_TRY(eb_state_create(r->scene, &r->before));
  EB_TRY(eb_state_create(r->scene, &r->after));
  EB_TRY(EB_NEW(r->defect, 6 * (size_t)r->scene->mesh->node_count));
  EB_TRY(eb_stable_step_at_start(r->scene, &r->longest));
  r->longest *= 0.5;
  return EB_OK;
}

/* One step of h from before to after. */
static eb_error step_of(rig *r, double h, eb_reason *reason) {
  *reason = EB_RUNNING;
  eb_state_copy(r->before, r->after);
  eb_step_log_reset(r->log);
  return r->ops->step(r->solver, r->after, h, r->log, reason);
}

/* One that is so short that it has to succeed. */
static eb_error short_step(rig *r, double h) {
  eb_reason reason;
  EB_TRY(step_of(r, h, &reason));
  if (reason > 0) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID, "a step of %.3g s ends with %s", h, eb_reason_name(reason));
}

/* ---- consistency ----------------------------------------------------------------------------- */

/* Condensed steps may be said to be exact, of all nodes. */
static bool follows_all_nodes(const rig *r) {
  eb_equation equation = r->log->equation;
  return !r->log->subspace &&
         (equation == EB_EQUATION_IMPLICIT_EULER || equation == EB_EQUATION_LINEARIZED ||
          (equation == EB_EQUATION_REDUCED && r->ops->exact));
}

/* |d| with `share` of the step before taken off, in place of which it is kept; N. */
static double take_defect(rig *r, double h, double share) {
  const eb_audit_nodes at = eb_audit_last(r->auditor.audit);
  const double *x0 = r->before->x, *v0 = r->before->v, *x1 = r->after->x, *v1 = r->after->v;
  double sum = 0;
  for (size_t k = 0; k < 3 * (size_t)r->after->node_count; k++) {
    double m = at.mass[k / 3], *was = r->defect + 2 * k;
    if (at.fixed[k / 3]) continue;
    double forces = at.gradient[k] - m * (x1[k] - x0[k] - h * v0[k]) / (h * h);
    const double now[2] = {forces + m * (v1[k] - v0[k]) / h,
                           m * (x1[k] - x0[k] - h * v1[k]) / (h * r->longest)};
    for (int i = 0; i < 2; i++) {
      double limit = now[i] + share * (now[i] - was[i]);
      sum += limit * limit;
      was[i] = now[i];
    }
  }
  return sqrt(sum);
}

/* What is left of one step's forces as h goes to 0, over their scale. */
static eb_error measure_left(rig *r, double *left) {
  enum { REFINED = 64, FINER = 4 };
  eb_audit *audit = r->auditor.audit;
  double h = r->longest / REFINED;
  EB_TRY(eb_audit_restore_caches(audit));
  for (int level = 0; level < 2; level++, h /= FINER) {
    eb_audit_row row;
    eb_state_copy(r->start, r->before);
    EB_TRY(short_step(r, h));
    const eb_declaration declared = {.equation = r->log->equation,
                                     .linearization = r->log->linearization,
                                     .update = r->solver->update,
                                     .subspace = r->log->subspace,
                                     .touching = r->log->touching};
    EB_TRY(eb_audit_step(audit, r->before, r->after, h, declared.equation, &row));
    EB_TRY(eb_audit_declared(audit, r->before, r->after, h, &declared, &row));
    double defect = take_defect(r, h, level ? 1. / (FINER - 1) : 0);
    *left = follows_all_nodes(r) ? defect / row.implicit_euler.scale : row.declared.relative;
  }
  return EB_OK;
}

/* From where one step of T leads, at rest where velocities would hide in others. */
static eb_error consistency_of(rig *r, double *left) {
  eb_state_copy(r->start, r->before);
  EB_TRY(short_step(r, r->longest));
  if (r->log->equation != EB_EQUATION_POSITION_BASED) eb_state_copy(r->after, r->start);
  if (!follows_all_nodes(r) && !r->log->subspace) {
    memset(r->start->v, 0, 3 * (size_t)r->start->node_count * sizeof *r->start->v);
    /* What is estimated from step to step comes to rest, too. */
    eb_state_copy(r->start, r->before);
    EB_TRY(short_step(r, r->longest));
  }
  return measure_left(r, left);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Steps of the scene's own length from rest, judged as a case is (harness/case), until it gives
 * up. */
static eb_error judge_run(rig *r) {
  enum { STEPS = 10 };
  eb_verdict *verdict = &r->auditor.verdict;
  eb_reason reason = EB_RUNNING;
  double row[EB_COL_COUNT] = {0}; /* nobody measures the time */
  bool finite;
  eb_state_copy(r->start, r->after);
  memset(r->after->v, 0, 3 * (size_t)r->after->node_count * sizeof *r->after->v);
  for (int i = 0; i < STEPS && reason >= 0; i++) {
    eb_state_copy(r->after, r->before);
    EB_TRY(step_of(r, r->scene->dt, &reason));
    EB_TRY(eb_auditor_step(&r->auditor, r->before, r->after, r->solver->update, r->log, reason, row,
                           &finite));
  }
  EB_TRY(eb_auditor_compare(&r->auditor, r->scene));
  eb_verdict_run(verdict);
  return EB_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* A block whose edges are about `edge` long. Elastic forces of displacements of a share s of an
 * edge are near s E edge; velocities that lead there in a step are s c, c the speed of sound, and
 * accelerations as large s c^2 / edge. */
static eb_error draw_block(uint64_t *seed, const char *support, const char *variant, eb_text *out) {
  static const double share = 0.03;
  const char axis[] = "xyz";
  bool planar = strstr(variant, "triangles");
  double young = pow(10, eb_random_uniform(seed, 4, 7)),
         density = eb_random_uniform(seed, 500, 3000);
  double edge = eb_random_uniform(seed, 0.05, 0.3), sound = sqrt(young / density);
  EB_TRY(eb_text_printf(out, "support=%s,E=%.4g,rho=%.4g,speed=%.4g,dt=%.4g", support, young,
                        density, 2 * share * sound, 0.1 * edge / sound));
  for (int k = 0; k < 3; k++) {
    int cubes = (int)eb_random_uniform(seed, 2, 6);
    double gravity = share * sound * sound / edge * eb_random_uniform(seed, 0.5, 1.5);
    if (planar && k == 2) gravity = 0;
    EB_TRY(eb_text_printf(out, ",n%c=%d,l%c=%.4g,g%c=%.4g", axis[k], cubes, axis[k],
                          edge * cubes * eb_random_uniform(seed, 0.8, 1.2), axis[k],
                          eb_random_uniform(seed, -1, 1) < 0 ? -gravity : gravity));
  }
  return eb_text_printf(out, ",initial=random,%s", variant);
}

/* What was found on all blocks that the solver serves. */
typedef struct findings {
  double left;    /* the most; NAN at once where one is not a number */
  int64_t broken; /* rules */
  eb_text where, broken_where;
} findings;

static void clear_findings(findings *found) {
  eb_text_clear(&found->where);
  eb_text_clear(&found->broken_where);
}

static eb_error look_at(const eb_solver_ops *ops, char *parameters, findings *found) {
  EB_OWNED(close_rig) rig r = {.ops = ops};
  double left = 0;
  char rules[160];
  EB_TRY(open_rig(&r, parameters));
  if (r.solver) EB_TRY(judge_run(&r));
  if (r.solver) EB_TRY(consistency_of(&r, &left));
  if (!(left <= found->left)) {
    found->left = left;
    eb_text_clear(&found->where);
    EB_TRY(eb_text_printf(&found->where, "%s", parameters));
  }
  if (r.auditor.verdict.failures == 0 || found->broken++ > 0) return EB_OK;
  eb_verdict_rules(&r.auditor.verdict, rules, sizeof rules);
  return eb_text_printf(&found->broken_where, "; the first breaks %s, %s: %s", rules,
                        r.auditor.verdict.detail, parameters);
}

/* Every kind of material, element and force that a block can have. */
static eb_error look_at_all(const eb_check *check, const char *support, findings *found) {
  /* Of one point they are boxes: F at the centre, as some have it, is the mean there. */
  static const char *const others[] = {
      "jitter=0.1,element=tets5",     "jitter=0.1,element=hexahedra", "element=hexahedra-one-point",
      "jitter=0.1,element=triangles", "jitter=0.1,fibre=astvk",       "jitter=0.1,fibre=fung",
      "jitter=0.1,clusters=both"};
  enum { OTHERS = sizeof others / sizeof *others };
  uint64_t seed = check->seed;
  for (int i = 0; i < EB_MATERIAL_KINDS + OTHERS; i++) {
    EB_OWNED(eb_text_clear) eb_text parameters = {0};
    EB_OWNED(eb_text_clear) eb_text variant = {0};
    int other = i - EB_MATERIAL_KINDS;
    EB_TRY(other < 0 ? eb_text_printf(&variant, "jitter=0.1,nu=%.3f,material=%s",
                                      eb_random_uniform(&seed, 0.1, 0.4),
                                      eb_material_describe((eb_material_kind)i)->name)
                     : eb_text_printf(&variant, "%s,material=%s", others[other],
                                      eb_subject_material(check->solver)));
    EB_TRY(draw_block(&seed, support, variant.data, &parameters));
    EB_TRY(eb_error_prefix(look_at(check->solver, parameters.data, found), "%s", parameters.data));
  }
  return EB_OK;
}

static eb_error emit(const eb_check *check, findings *found) {
  EB_OWNED(eb_text_clear) eb_text reason = {0};
  EB_TRY(eb_text_printf(&reason,
                        "of the forces on a step is left as its length goes to 0, by the audit's "
                        "own forces: 4e-3 and more where one is wrong by 1 %%; the most of all "
                        "drawn blocks (seed %llu), %s",
                        (unsigned long long)check->seed, found->where.data));
  eb_check_below(check, found->left, left_allowed, reason.data, "%s/consistency/forces",
                 check->solver->name);
  eb_text_clear(&reason);
  EB_TRY(eb_text_printf(&reason, "of these blocks on which ten steps break a rule of the audit%s",
                        found->broken_where.data ? found->broken_where.data : ""));
  eb_check_below(check, (double)found->broken, 0, reason.data, "%s/consistency/rules",
                 check->solver->name);
  return EB_OK;
}

static eb_error check_consistency(const eb_check *check) {
  eb_equation equation;
  EB_OWNED(clear_findings) findings found = {.left = -1};
  EB_TRY(eb_subject_equation(check->solver, &equation));
  EB_TRY(look_at_all(check, equation == EB_EQUATION_POSITION_BASED ? "none" : "x0", &found));
  return emit(check, &found);
}

const eb_check_group eb_checks_consistency[] = {{"consistency", check_consistency, "*"}, {0}};
