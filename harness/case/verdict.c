#include "harness/case/verdict.h"

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

const char *eb_verdict_word(const eb_verdict *verdict) {
  return verdict->failures ? "failed" : verdict->steps ? "passed" : "none";
}
