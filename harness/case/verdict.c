#include "harness/case/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How many times its bound a value is; what is no number is worst. */
static double times_bound(const eb_measure *m) {
  return isnan(m->value) ? INFINITY : m->value == 0 ? 0 : m->value / m->bound;
}

static bool is_worse(const eb_measure *a, const eb_measure *b) {
  double times_a = times_bound(a), times_b = times_bound(b);
  return times_a > times_b || (times_a == times_b && a->value > b->value);
}

__attribute__((format(printf, 4, 0))) static void note(eb_verdict *verdict, eb_rule rule,
                                                       const eb_measure *measure,
                                                       const char *format, va_list arguments) {
  eb_worst *worst = &verdict->worst_of[rule];
  char words[sizeof worst->words];
  vsnprintf(words, sizeof words, format, arguments);
  if (verdict->failures++ == 0) memcpy(verdict->detail, words, sizeof words);
  if (verdict->broken[rule]++ > 0 && !is_worse(measure, &worst->measure)) return;
  *worst = (eb_worst){.measure = *measure, .fresh = true};
  memcpy(worst->words, words, sizeof words);
}

void eb_verdict_break(eb_verdict *verdict, eb_rule rule, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  note(verdict, rule, &(eb_measure){0}, format, arguments);
  va_end(arguments);
}

void eb_verdict_exceed(eb_verdict *verdict, eb_rule rule, const eb_measure *measure,
                       const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  note(verdict, rule, measure, format, arguments);
  va_end(arguments);
}

const char *eb_verdict_word(const eb_verdict *verdict) {
  return verdict->failures ? "failed" : verdict->steps ? "passed" : "none";
}

void eb_verdict_rules(const eb_verdict *verdict, char *out, size_t bytes) {
  size_t used = 0;
  out[0] = '\0';
  for (int r = 0; r < EB_RULES; r++)
    if (verdict->broken[r] && used < bytes)
      used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? "," : "",
                               eb_rule_name((eb_rule)r));
}

/* ---- what a solver says ---------------------------------------------------------------------- */

static bool is_known(eb_reason reason) {
  return reason >= EB_DIVERGED_LIBRARY && reason <= EB_CONVERGED_STAGNATED && reason != EB_RUNNING;
}

/* Whether the step declares something that there is, and reported in range. */
static bool is_in_range(const eb_audited_step *s) {
  const eb_declaration *d = s->declared;
  return is_known(s->reason) && (unsigned)d->equation < EB_EQUATIONS &&
         (unsigned)d->update < EB_UPDATES && (unsigned)d->linearization.tangent < EB_TANGENTS &&
         (unsigned)d->touching < EB_TOUCHINGS && (unsigned)d->friction < EB_FRICTION_MODELS &&
         (d->friction != EB_FRICTION_FILTERED || d->unfiltered) &&
         isfinite(d->linearization.mass) && isfinite(d->linearization.stiffness) &&
         d->linearization.mass > 0 && d->linearization.stiffness >= 0 && s->log->iterations >= 0;
}

/* Counts and times are of something. */
static bool counts(const eb_step_log *log) {
  bool good = !(log->own_seconds < 0);
  for (int c = 0; c < EB_COUNTERS; c++)
    good = good && log->counters[c] >= 0 && isfinite(log->counters[c]);
  for (int p = 0; p < EB_PHASE_COUNT; p++) good = good && log->phase_seconds[p] >= 0;
  return good;
}

/* A program may read another clock than the harness, which is a little slower, and round to
 * milliseconds. What a solver of the library logs is read within the harness's two readings. */
void eb_verdict_times(eb_verdict *verdict, const char *of, const eb_step_log *log, double wall,
                      int threads) {
  static const double slower = 1.01, rounding = 1e-3; /* s */
  double phases = 0, latest = 0, allowed = slower * wall + rounding;
  for (int p = 0; p < EB_PHASE_COUNT; p++) phases += log->phase_seconds[p];
  for (int64_t i = 0; i < log->residual_count && i < log->residual_capacity; i++)
    latest = fmax(latest, log->residual_seconds[i]);
  const struct {
    const char *what;
    double value, allowed;
  } claims[] = {
      {"takes", isnan(log->own_seconds) ? 0 : log->own_seconds, allowed},
      {"has spent in its phases", phases, threads * allowed},
      {"has needed for its residuals", latest, allowed},
  };
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
    if (!(claims[i].value <= claims[i].allowed))
      eb_verdict_break(verdict, EB_RULE_TOLERANCE,
                       "%s: the solver says that it %s %.3g s, where %.3g s on %d thread%s have "
                       "passed",
                       of, claims[i].what, claims[i].value, wall, threads, threads == 1 ? "" : "s");
}

/* What the norm of the logged residuals is in units of the force residual; 0: the audit does not
 * measure that norm of the declared equation. */
static double unit_of_norm(const eb_audited_step *s) {
  bool linear = s->declared->equation == EB_EQUATION_LINEARIZED;
  switch (s->log->residual_norm) {
  case EB_NORM_GRADIENT:
    return linear ? 0 : 1;
  case EB_NORM_LINEARIZED:
  case EB_NORM_CONTACT:
    return linear ? 1 / s->scene->dt : 0;
  case EB_NORM_REDUCED_GRADIENT:
    return s->declared->subspace ? s->row->subspace_unit : 0;
  default:
    return 0;
  }
}

/* Where the residual of the equation is one of nodes, the largest of them. */
static eb_spot residual_spot(const eb_audited_step *s) {
  bool of_nodes = !s->declared->subspace && s->declared->equation != EB_EQUATION_POSITION_BASED;
  return (eb_spot){of_nodes ? EB_SPOT_RESIDUAL : EB_SPOT_NONE, -1, -1};
}

static void check_claim(eb_verdict *verdict, const eb_audited_step *s, double scale) {
  static const double allowed_ratio = 100, rounding = 1e-9;
  const eb_step_log *log = s->log;
  double unit = unit_of_norm(s);
  if (log->residual_count <= 0 || log->residual_count > log->residual_capacity || unit == 0) {
    eb_verdict_exceed(verdict, EB_RULE_TOLERANCE, &(eb_measure){.step = s->number},
                      "step %lld: %s says that a tolerance is met, but %s", (long long)s->number,
                      eb_reason_name(s->reason),
                      log->residual_count <= 0 ? "no residual was logged"
                      : log->residual_count > log->residual_capacity
                          ? "more residuals were logged than are kept"
                          : "its norm is not one that the audit measures");
    return;
  }
  double claimed = unit * log->residuals[log->residual_count - 1];
  double allowed = allowed_ratio * claimed + rounding * scale + s->row->rounding;
  if (!(s->row->step_residual <= allowed))
    eb_verdict_exceed(
        verdict, EB_RULE_RESIDUAL,
        &(eb_measure){s->number, s->row->step_residual, allowed, "N", residual_spot(s)},
        "step %lld: the audited residual is %.3g N where the solver claims convergence at %.3g N",
        (long long)s->number, s->row->step_residual, claimed);
}

static void check_residual(eb_verdict *verdict, const eb_audited_step *s) {
  static const double direct = 1e-6, stagnated = 1e-3;
  double relative = s->row->declared.relative;
  double scale = s->row->declared.scale;
  if (s->row->subspace_unsound) {
    eb_verdict_exceed(verdict, EB_RULE_TOLERANCE, &(eb_measure){.step = s->number},
                      "step %lld: the subspace that is declared cannot be: functions, points and "
                      "their volumes must be those of the body",
                      (long long)s->number);
    return;
  }
  if (s->reason == EB_CONVERGED_RTOL || s->reason == EB_CONVERGED_ATOL)
    check_claim(verdict, s, scale);
  double bound = s->row->stands_in                     ? INFINITY
                 : s->reason == EB_CONVERGED_DIRECT    ? direct
                 : s->reason == EB_CONVERGED_STAGNATED ? stagnated
                                                       : INFINITY;
  if (!(relative <= bound) && bound < INFINITY)
    eb_verdict_exceed(verdict, EB_RULE_RESIDUAL,
                      &(eb_measure){s->number, relative, bound, NULL, residual_spot(s)},
                      "step %lld: %s, but the audited residual of the %s equation is %.3g of its "
                      "forces, above %.0e",
                      (long long)s->number, eb_reason_name(s->reason),
                      eb_equation_name(s->declared->equation), relative, bound);
  verdict->worst = fmax(verdict->worst, relative);
  verdict->residual2 += s->row->declared.norm * s->row->declared.norm;
  verdict->scale2 += scale * scale;
}

enum { PROGRESS_FROM = 3 }; /* compared steps */

/* ---- what must hold of every step ------------------------------------------------------------ */

static void check_motion(eb_verdict *verdict, const eb_audited_step *s) {
  const eb_audit_row *row = s->row;
  bool still = s->declared->equation == EB_EQUATION_STATIC;
  const struct {
    eb_rule rule;
    const eb_audit_bound *bound;
    const char *what, *off;
  } bounds[] = {{EB_RULE_HELD, &row->held, "held node", "its place"},
                {EB_RULE_UPDATE, &row->update, "node",
                 still ? "standing still, which statics do" : eb_update_name(s->declared->update)},
                {EB_RULE_UPDATE, &row->filter, "node",
                 "where friction leaves it by the velocities that it is said to filter"},
                {EB_RULE_UPDATE, &row->subspace, "node", "the declared subspace"}};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    if (!(bounds[i].bound->error <= bounds[i].bound->allowed))
      eb_verdict_exceed(verdict, bounds[i].rule,
                        &(eb_measure){s->number, bounds[i].bound->error, bounds[i].bound->allowed,
                                      "m", bounds[i].bound->spot},
                        "step %lld: a %s is %.3g m off %s", (long long)s->number, bounds[i].what,
                        bounds[i].bound->error, bounds[i].off);
  verdict->unexplained =
      fmax(verdict->unexplained, fmax(s->momentum->excess, s->momentum->held_excess));
  if (!(s->momentum->excess <= 1))
    eb_verdict_exceed(
        verdict, EB_RULE_MOMENTUM,
        &(eb_measure){s->number, s->momentum->excess, 1, NULL, s->momentum->spot},
        "step %lld: no force explains a body's momentum, by %.3g times what is allowed "
        "(%.3g kg m/s in this step)",
        (long long)s->number, s->momentum->excess, s->momentum->balance);
  if (!(s->momentum->held_excess <= 1))
    eb_verdict_exceed(
        verdict, EB_RULE_MOMENTUM,
        &(eb_measure){s->number, s->momentum->held_excess, 1, NULL, s->momentum->held_spot},
        "step %lld: no force explains the momentum of a body that is held, by %.3g "
        "times what is allowed",
        (long long)s->number, s->momentum->held_excess);
  if (!(row->max_penetration <= s->scene->contacts.penetration_bound))
    eb_verdict_exceed(
        verdict, EB_RULE_PENETRATION,
        &(eb_measure){s->number, row->max_penetration, s->scene->contacts.penetration_bound, "m",
                      row->deepest},
        "step %lld: a node is %.3g m deep in a collider, where the scene allows %.3g m",
        (long long)s->number, row->max_penetration, s->scene->contacts.penetration_bound);
}

/* What residuals have done over any stretch of the run: since the sum was lowest. Constraints store
 * energy that nobody knows of, and give it back: theirs is summed since the start, from which the
 * elastic energy may have come. */
static void sum_work(eb_verdict *verdict, const eb_audited_step *s) {
  const eb_audit_row *row = s->row;
  bool based = s->declared->equation == EB_EQUATION_POSITION_BASED;
  double stored = based && !verdict->goes_on ? row->work.stored : 0;
  eb_worst *most = &verdict->most_in_step;
  verdict->goes_on = true;
  if (row->work.of_residual > most->measure.value)
    *most = (eb_worst){.measure = {s->number, row->work.of_residual, 0, "J", row->work.spot},
                       .fresh = true};
  verdict->gained += row->work.of_residual - stored;
  if (!based) verdict->gained = fmax(0, verdict->gained);
  verdict->energy_scale =
      fmax(verdict->energy_scale, based ? row->work.kinetic_scale + stored : row->work.scale);
  if (!(verdict->gained > verdict->most_gained)) return;
  verdict->most_gained = verdict->gained;
  verdict->gained_at = s->number;
}

/* Only steps in which doing nothing is wrong by a hundredth of the forces tell anything. A first
 * step may be as good as none; statics may have no other: their steps count for as many as it takes
 * (eb_verdict_run). A body of constraints that has moved may come to rest where the material would
 * not: then doing nothing is right. */
static void compare(eb_verdict *verdict, const eb_audited_step *s) {
  static const double wrong = 1e-2, less = 1 - 1e-6, still = 1e-3; /* rounding is no progress */
  const eb_audit_row *row = s->row;
  verdict->most_displacement = fmax(verdict->most_displacement, row->displacement);
  bool rests = s->declared->equation == EB_EQUATION_POSITION_BASED && verdict->better > 0 &&
               row->displacement < still * verdict->most_displacement;
  if (isnan(row->idle) || !(row->idle > wrong * row->declared.scale) || rests) return;
  int weight = s->declared->equation == EB_EQUATION_STATIC ? PROGRESS_FROM : 1;
  bool better = row->compared < less * row->idle || row->progress > 0;
  verdict->compared += weight;
  verdict->better += better ? weight : 0;
  if (!better && !(row->compared / row->idle <= verdict->idlest.value))
    verdict->idlest = (eb_measure){.step = s->number, .value = row->compared / row->idle};
}

void eb_verdict_reset(eb_verdict *verdict) {
  verdict->gained = 0;
  verdict->goes_on = false;
}

void eb_verdict_run(eb_verdict *verdict) {
  static const double gain_allowed = 0.05, better_share = 0.1;
  const eb_worst *most = &verdict->most_in_step;
  double allowed = gain_allowed * verdict->energy_scale;
  if (verdict->most_gained > allowed) {
    eb_verdict_exceed(
        verdict, EB_RULE_ENERGY,
        &(eb_measure){most->measure.step, verdict->most_gained, allowed, "J", most->measure.spot},
        "%.3g J have come from nowhere by step %lld, most in step %lld, where %.3g J is the "
        "largest energy of the run",
        verdict->most_gained, (long long)verdict->gained_at, (long long)most->measure.step,
        verdict->energy_scale);
    verdict->worst_of[EB_RULE_ENERGY].place = most->place;
    verdict->worst_of[EB_RULE_ENERGY].fresh = false;
  }
  if (verdict->compared >= PROGRESS_FROM &&
      (double)verdict->better < better_share * (double)verdict->compared)
    eb_verdict_exceed(
        verdict, EB_RULE_PROGRESS,
        &(eb_measure){verdict->idlest.step, verdict->idlest.value, 1, NULL, {0}},
        "%lld of %lld steps are no better than doing nothing: in residual and potential "
        "bodies that stop or go on as they are do as well",
        (long long)(verdict->compared - verdict->better), (long long)verdict->compared);
}

void eb_verdict_test_replay(eb_verdict *verdict, const eb_verdict *alone) {
  static const double times = 10, small = 1e-2;
  bool alike = alone->worst <= fmax(small, times * verdict->worst), keeps = true;
  bool useful =
      alone->better == alone->compared; /* coarser than the run, where the push meets something */
  for (int r = 0; r < EB_RULES; r++)
    keeps &= alone->broken[r] == 0 || r == EB_RULE_PENETRATION ||
             (r == EB_RULE_MOMENTUM && alike && alone->unexplained <= times);
  if (keeps && (alike || useful)) return;
  eb_verdict_break(
      verdict, EB_RULE_REPLAY,
      "a step from a state that belongs to no run is not answered: %.2g of its forces are "
      "left, where the steps of the run leave at most %.2g%s%s",
      alone->worst, verdict->worst, alone->failures ? "; " : "", alone->detail);
}

/* ---- contact --------------------------------------------------------------------------------- */

static eb_spot contact_spot(int32_t k) {
  return (eb_spot){EB_SPOT_CONTACT, k, -1};
}

void eb_verdict_contact(eb_verdict *verdict, const eb_audited_step *s) {
  const eb_contact_audit_row *j = s->contact;
  const eb_contact_law *law = &j->law;
  const eb_contact_bounds *scene = &s->scene->contacts.bounds;
  double slack = eb_contact_audit_slack(s->reason), gap = slack * scene->distance;
  double creep = scene->distance;
  /* What friction to a motion is off Coulomb's is in the error of the run, and in its class. */
  bool coulomb = s->declared->friction != EB_FRICTION_BY_MOTION;
  const eb_intersection_counts *found = &j->intersections;
  const eb_spot crossing = {EB_SPOT_CROSSING, -1, -1}, unrecorded = {EB_SPOT_UNRECORDED, -1, -1};
  int64_t crossings = found->between + found->self + found->nested;
  if (crossings > 0)
    eb_verdict_exceed(verdict, EB_RULE_INTERSECTION,
                      &(eb_measure){s->number, (double)crossings, 0, NULL, crossing},
                      "step %lld: %lld pairs of triangles of different bodies and %lld of the same "
                      "body meet, %lld bodies are inside others",
                      (long long)s->number, (long long)found->between, (long long)found->self,
                      (long long)found->nested);
  const struct {
    eb_rule rule;
    const char *what, *unit;
    double value, allowed;
    eb_spot spot;
  } bounds[] = {{EB_RULE_CONTACT_RECORD, "contacts that cannot be:", "", law->unsound, 0,
                 contact_spot(law->at.unsound)},
                {EB_RULE_CONTACT_RECORD, "pairs of features are near and have no contact:", "",
                 (double)j->unrecorded, 0, unrecorded},
                {EB_RULE_CONTACT_GAP, "a contact is too close by", "m", law->violation, gap,
                 contact_spot(law->at.violation)},
                {EB_RULE_CONTACT_GAP, "a contact pushes off its distance by", "m", law->open, gap,
                 contact_spot(law->at.open)},
                {EB_RULE_CONTACT_GAP, "features push each other off their true distance by", "m",
                 law->true_gap, slack * scene->reach, contact_spot(law->at.true_gap)},
                {EB_RULE_CONTACT_NORMAL, "a normal is off the geometry by", "degrees", law->normal,
                 slack * scene->normal, contact_spot(law->at.normal)},
                {EB_RULE_MOMENTUM, "momentum is not explained, in parts of what is allowed,", "",
                 j->balance_excess, slack, j->unbalanced},
                {EB_RULE_FRICTION, "a contact slips inside Coulomb's cone by", "m", law->sliding,
                 gap, contact_spot(law->at.sliding)},
                {EB_RULE_FRICTION, "contacts inside Coulomb's cone have crept in all by", "m",
                 j->creep, creep, j->creeping},
                {EB_RULE_FRICTION, "friction is outside of Coulomb's cone by", "of its limit",
                 law->cone, slack * scene->cone, contact_spot(law->at.cone)},
                {EB_RULE_FRICTION, "friction is off the direction against slip by", "degrees",
                 law->angle, slack * scene->angle, contact_spot(law->at.angle)}};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    if (!(bounds[i].value <= bounds[i].allowed) && (coulomb || bounds[i].rule != EB_RULE_FRICTION))
      eb_verdict_exceed(verdict, bounds[i].rule,
                        &(eb_measure){s->number, bounds[i].value, bounds[i].allowed, bounds[i].unit,
                                      bounds[i].spot},
                        "step %lld: %s %.3g %s, where %.3g is allowed", (long long)s->number,
                        bounds[i].what, bounds[i].value, bounds[i].unit, bounds[i].allowed);
}

/* ---- a step ---------------------------------------------------------------------------------- */

void eb_verdict_step(eb_verdict *verdict, const eb_audited_step *s) {
  int64_t before = verdict->failures;
  verdict->steps++;
  char of[40];
  snprintf(of, sizeof of, "step %lld", (long long)s->number);
  if (s->wall > 0) eb_verdict_times(verdict, of, s->log, s->wall, s->threads);
  if (!is_in_range(s) || s->log->invalid > 0 || !counts(s->log))
    eb_verdict_exceed(
        verdict, EB_RULE_TOLERANCE, &(eb_measure){.step = s->number},
        "step %lld: the solver reports a reason, equation, phase or counter that there is not",
        (long long)s->number);
  if (s->reason <= 0 && is_known(s->reason)) return;
  if (!s->row->finite)
    eb_verdict_exceed(
        verdict, EB_RULE_FINITE,
        &(eb_measure){.step = s->number, .spot = {EB_SPOT_NOT_FINITE, -1, -1}},
        "step %lld is reported as converged, but its state or its audit is not finite",
        (long long)s->number);
  if (s->row->finite && is_in_range(s)) {
    check_residual(verdict, s);
    check_motion(verdict, s);
    if (s->contact) eb_verdict_contact(verdict, s);
    sum_work(verdict, s);
    compare(verdict, s);
  }
  /* A step that broke several rules is one failure. */
  if (verdict->failures > before) verdict->failures = before + 1;
}
