/* A material of a plug-in: an energy density psi(F) per rest volume (J/m^3), the first
 * Piola-Kirchhoff stress P = dpsi/dF and its derivative, as functions of one deformation gradient.
 *
 * A plug-in exports `const eb_material_ops elastobench_material` and `elastobench_abi`, beside a
 * solver or alone. What it brings is isotropic and objective, psi(F Q) = psi(Q F) = psi(F) for
 * every rotation Q, and at rest, F = I, has neither energy nor stress: it is held to that before it
 * runs (problems/elasticity/plugged_rules.h). Fibres of a scene are added to it. */
#ifndef EB_MATERIAL_OPS_H
#define EB_MATERIAL_OPS_H

#include "problems/base/option.h"
#include "problems/base/plugin_abi.h"

#pragma GCC visibility push(default) /* exported */

enum {
  EB_OWN_PARAMETERS = 8, /* a material has at most */
  EB_FIRST_OWN = 2       /* where they begin in p */
};

/* p[0] is Lame's mu = E / (2 (1 + nu)) and p[1] lambda = E nu / ((1 + nu) (1 - 2 nu)), Pa, of the
 * scene's E and nu; from p[EB_FIRST_OWN] on follow the material's own parameters, in SI units and
 * in the order of the table.
 *
 * Matrices are row-major; dPdF is 9 x 9 with entry 9 (3 i + k) + 3 j + l = dP_ik / dF_jl,
 * symmetric. All entries are written. Functions are pure, and called by many threads at once. Where
 * psi is not defined, as for det F <= 0, it is infinite or NaN: solvers step back from there. */
typedef struct eb_material_ops {
  const char *name; /* letters, digits, '-', '_', '.' and '+'; none of a built-in material */
  const char *summary, *citation;
  /* Real numbers with units, ranges and defaults, ended by a NULL name; NULL: none. Keys of scene
   * files have other names. */
  const eb_option *parameters;
  double (*energy)(const double *p, const double F[9]);
  void (*stress)(const double *p, const double F[9], double P[9]);
  void (*tangent)(const double *p, const double F[9], double dPdF[81]);
} eb_material_ops;

extern const eb_material_ops elastobench_material;

#pragma GCC visibility pop

#endif
