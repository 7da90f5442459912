/* What all checks share: a measured figure against its bound, on its way to whoever prints or
 * counts it, and what a solver under test can do. */
#include "harness/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- figures --------------------------------------------------------------------------------- */

static void emit(const eb_check *check, double measured, bool at_least, double bound,
                 const char *reason, const char *format, va_list arguments) {
  char name[192];
  vsnprintf(name, sizeof name, format, arguments);
  eb_check_figure figure = {.name = name,
                            .measured = measured,
                            .at_least = at_least,
                            .bound = bound,
                            .reason = reason,
                            .passed = at_least ? measured >= bound : measured <= bound};
  check->emit(check->context, &figure);
}

void eb_check_below(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  emit(check, measured, false, bound, reason, format, arguments);
  va_end(arguments);
}

void eb_check_above(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  emit(check, measured, true, bound, reason, format, arguments);
  va_end(arguments);
}

/* ---- the solver under test ------------------------------------------------------------------- */

bool eb_subject_declares(const eb_solver_ops *ops, const char *option) {
  for (const eb_option *at = ops->options; at && at->name; at++)
    if (!strcmp(at->name, option)) return true;
  return false;
}

bool eb_subject_can(const eb_solver_ops *ops, uint32_t capabilities) {
  return (ops->capabilities & capabilities) == capabilities;
}

bool eb_subject_has_constraints(const eb_solver_ops *ops) {
  return eb_subject_declares(ops, "ks") && eb_subject_declares(ops, "constraint");
}

const char *eb_subject_material(const eb_solver_ops *ops) {
  return eb_subject_can(ops, EB_CAP_HYPERELASTIC) ? "stable-neo-hookean"
         : eb_subject_can(ops, EB_CAP_PROJECTIVE) ? "projective,nu=0"
                                                  : "corotational";
}

const char *eb_subject_exact(const eb_solver_ops *ops) {
  if (eb_subject_declares(ops, "linear")) return "linear=cholesky";
  if (eb_subject_declares(ops, "eps1")) return "eps1=1e-11";
  if (eb_subject_declares(ops, "rho")) return "iterations=0";
  if (ops->update == EB_UPDATE_SUBSTEPS && eb_subject_declares(ops, "substeps"))
    return "substeps=2";
  return eb_subject_declares(ops, "tau") ? "tau=0" : "";
}
