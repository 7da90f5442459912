/* The built-in solvers: adding one is one line here. A solver `name` defines
 * `const eb_solver_ops eb_solver_name`. */
#ifndef EB_SOLVER_REGISTRY_H
#define EB_SOLVER_REGISTRY_H

#include "solvers/solver.h"

/* clang-format off */
#define EB_BUILT_IN_SOLVERS(each)                                                                  \
  each(newton)                                                                                     \
  each(symplectic_euler)                                                                           \
  each(vbd)                                                                                        \
  each(pd)                                                                                         \
  each(lbfgs)                                                                                      \
  each(admm)                                                                                       \
  each(mfem)                                                                                       \
  each(mfem_subspace)                                                                              \
  each(fem_subspace)                                                                               \
  each(semi_implicit)                                                                              \
  each(corotational)                                                                               \
  each(warp_cholesky)                                                                              \
  each(damped_warp)                                                                                \
  each(conjac)                                                                                     \
  each(pbfe)                                                                                       \
  each(xpbd)                                                                                       \
  each(contact_cr)                                                                                 \
  each(contact_al)                                                                                 \
  each(contact_ica)                                                                                \
  each(contact_sp)                                                                                 \
  each(contact_delassus)                                                                           \
  each(external)
/* clang-format on */

#define EB_DECLARE_SOLVER(name) extern const eb_solver_ops eb_solver_##name;
EB_BUILT_IN_SOLVERS(EB_DECLARE_SOLVER)

#endif
