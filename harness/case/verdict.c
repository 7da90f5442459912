#include "harness/case/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Counts a failure and keeps the words of the first. */
__attribute__((format(printf, 2, 3))) static void fail(eb_verdict *verdict, const char *format,
                                                       ...) {
  va_list arguments;
  if (verdict->failures++ > 0) return;
  va_start(arguments, format);
  vsnprintf(verdict->detail, sizeof verdict->detail, format, arguments);
  va_end(arguments);
}

static bool claims_tolerance(const eb_step_log *log, eb_reason reason) {
  return (reason == EB_CONVERGED_RTOL || reason == EB_CONVERGED_ATOL) && log->residual_norm &&
         strncmp(log->residual_norm, EB_AUDITED_NORM, strlen(EB_AUDITED_NORM)) == 0 &&
         log->residual_count > 0 && log->residual_count <= log->residual_capacity;
}

void eb_verdict_step(eb_verdict *verdict, const eb_audit_row *row, const eb_step_log *log,
                     eb_reason reason, int64_t step) {
  static const double allowed_ratio = 100, rounding = 1e-9;
  verdict->steps++;
  if (reason <= 0) return;
  if (!row->finite) {
    fail(verdict, "step %lld is reported as converged, but its state is not finite",
         (long long)step);
    return;
  }
  if (!claims_tolerance(log, reason)) return;
  double claimed = log->residuals[log->residual_count - 1];
  double scale = row->residual_relative > 0 ? row->residual / row->residual_relative : 0;
  if (!(row->residual <= allowed_ratio * claimed + rounding * scale))
    fail(verdict,
         "step %lld: the audited residual is %.3g N where the solver claims convergence at %.3g N",
         (long long)step, row->residual, claimed);
}

/* ---- contact ---------------------------------------------------------------------------------- */

static bool fail_geometry(eb_verdict *verdict, const eb_crossing_counts *found, int64_t step) {
  if (found->between + found->self + found->nested == 0) return false;
  fail(
      verdict,
      "step %lld: %lld pairs of triangles of different bodies and %lld of the same body meet, %lld "
      "bodies are inside others",
      (long long)step, (long long)found->between, (long long)found->self, (long long)found->nested);
  return true;
}

/* One measure of the contact law against what the solver claims. */
typedef struct bound {
  const char *what, *unit;
  double value, allowed;
} bound;

static void check_bounds(eb_verdict *verdict, const bound *bounds, int count, int64_t step) {
  for (int i = 0; i < count; i++)
    if (!(bounds[i].value <= bounds[i].allowed)) {
      fail(verdict, "step %lld: %s %.3g %s, where the solver's tolerance allows %.3g",
           (long long)step, bounds[i].what, bounds[i].value, bounds[i].unit, bounds[i].allowed);
      return;
    }
}

void eb_verdict_contact(eb_verdict *verdict, const eb_judgement *j, eb_reason reason,
                        int64_t step) {
  if (reason <= 0 || fail_geometry(verdict, &j->crossings, step)) return;
  const eb_contact_law *law = &j->law;
  double eps2 = 10 * fmin(j->eps2, EB_MOST_EPS2), cone = 10 * fmin(j->cone, EB_MOST_CONE),
         angle = 2 * fmin(j->angle, EB_MOST_ANGLE);
  const bound bounds[] = {
      {"contacts that cannot be:", "", law->unsound, 0},
      {"a contact is too close by", "m", law->violation, eps2},
      {"a contact pushes off its distance by", "m", law->open, eps2},
      {"momentum is not explained, in parts of what eps1 leaves,", "", j->balance_excess, 10},
      {"a contact slips inside Coulomb's cone by", "m", law->sliding, eps2},
      {"friction is outside of Coulomb's cone by", "of the largest push", law->cone, cone},
      {"friction is off the direction against slip by", "degrees", law->angle, angle}};
  int all = sizeof bounds / sizeof *bounds, stagnated = 3;
  check_bounds(verdict, bounds, reason == EB_CONVERGED_STAGNATED ? stagnated : all, step);
}

const char *eb_verdict_word(const eb_verdict *verdict) {
  return verdict->failures ? "failed" : verdict->steps ? "passed" : "none";
}
