/* Names to solvers. The list itself is in registry.h. */
#include "solvers/registry.h"

#include <string.h>

#define EB_SOLVER_ENTRY(name) &eb_solver_##name,

const eb_solver_ops *const *eb_solvers(void) {
  static const eb_solver_ops *const all[] = {EB_BUILT_IN_SOLVERS(EB_SOLVER_ENTRY) NULL};
  return all;
}

const eb_solver_ops *eb_solver_find(const char *name) {
  for (const eb_solver_ops *const *ops = eb_solvers(); *ops; ops++)
    if (!strcmp((*ops)->name, name)) return *ops;
  return NULL;
}
