#include "harness/check/subject.h"

#include <string.h>

bool eb_subject_declares(const eb_solver_ops *ops, const char *option) {
  for (const eb_option *at = ops->options; at && at->name; at++)
    if (!strcmp(at->name, option)) return true;
  return false;
}

bool eb_subject_can(const eb_solver_ops *ops, uint32_t capabilities) {
  return (ops->capabilities & capabilities) == capabilities;
}

const char *eb_subject_material(const eb_solver_ops *ops) {
  return eb_subject_can(ops, EB_CAP_HYPERELASTIC) ? "stable-neo-hookean" : "corotational";
}

const char *eb_subject_exact(const eb_solver_ops *ops) {
  if (eb_subject_declares(ops, "linear")) return "linear=cholesky";
  if (eb_subject_declares(ops, "eps1")) return "eps1=1e-11";
  return eb_subject_declares(ops, "tau") ? "tau=0" : "";
}
