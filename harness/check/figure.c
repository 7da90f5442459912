/* What all checks share: a measured figure against its bound, on its way to whoever prints or
 * counts it, and what a solver under test can do. */
#include "harness/check/check.h"

#include "harness/check/block.h"

#include <math.h>
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
                            .passed = isnan(bound) ? true
                                      : at_least   ? measured >= bound
                                                   : measured <= bound};
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

void eb_check_note(const eb_check *check, double measured, const char *reason, const char *format,
                   ...) {
  va_list arguments;
  va_start(arguments, format);
  emit(check, measured, false, NAN, reason, format, arguments);
  va_end(arguments);
}

const char *eb_check_material(const eb_check *check, int k) {
  if (check->plugged.count > 0)
    return k < check->plugged.count ? check->plugged.items[k].ops->name : NULL;
  const eb_material_info *info = eb_material_describe((eb_material_kind)k);
  return info ? info->name : NULL;
}

/* ---- the solver under test ------------------------------------------------------------------- */

bool eb_subject_declares(const eb_solver_ops *ops, const char *option) {
  if (!eb_solver_find(ops->name)) return false;
  for (const eb_option *at = ops->options; at && at->name; at++)
    if (!strcmp(at->name, option)) return true;
  return false;
}

bool eb_subject_can(const eb_solver_ops *ops, uint32_t capabilities) {
  return (ops->capabilities & capabilities) == capabilities;
}

eb_error eb_subject_equation(const eb_solver_ops *ops, eb_equation *out) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_OWNED(eb_check_free_log) eb_step_log *log = NULL;
  EB_TRY(eb_block_create(&scene, "nx=1,ny=1,nz=1,gz=-9.8,support=x0,material=%s",
                         eb_subject_material(ops)));
  EB_TRY(eb_step_log_create(0, &log));
  EB_TRY(eb_block_run(scene, ops, eb_subject_exact(ops), 1, 1, log, &state));
  *out = log->equation;
  return EB_OK;
}

const char *eb_subject_material(const eb_solver_ops *ops) {
  return eb_subject_can(ops, EB_CAP_HYPERELASTIC) ? "stable-neo-hookean"
         : eb_subject_can(ops, EB_CAP_PROJECTIVE) ? "projective,nu=0"
                                                  : "corotational";
}

const char *eb_subject_exact(const eb_solver_ops *ops) {
  return ops->exact ? ops->exact : "";
}
