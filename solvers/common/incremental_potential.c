/* Value and gradient of the incremental potential; see incremental_potential.h for W.
 *
 *   dW/dx = M (x - xt) / h^2 + dE/dx - f_ext = 0   is   M (v1 - v0) / h = f_ext - dE/dx(x1)
 * with v1 = (x1 - x0) / h: implicit Euler, for x1 - xt = h (v1 - v0). W's minimizers are therefore
 * its solutions, and a step that lowers W from the guess xt bounds by the guess's energy and work
 * both E(x1) and |v1 - v0|_M, which a root of the gradient alone would not.
 *
 * A difference of two W is what a line search decides by. W is summed with a relative error of some
 * eps, but relative to its terms, which may be much larger than it: `magnitude` is their sum. The
 * elastic energy hides its own: psi(F) is a difference of terms of the size of the stiffness (such
 * as |F|^2 - 3), rounded however small it is, so that volume times stiffness is added.
 *
 * Sums run in node order: the same bits for any number of threads. Of a part they run over what
 * its rank owns, and are then summed over the ranks. No workspace; cannot fail. */
#include "solvers/common/incremental_potential.h"

#include "problems/ranks/subdomain.h"

#include <math.h>
#include <string.h>

double eb_potential_elastic_scale(const eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  double sum = 0;
  for (int32_t e = 0; e < eb_scene_own_elements(scene); e++) {
    const eb_material *material = &scene->materials[mesh->region[e]];
    double fibre = material->fibre == EB_FIBRE_NONE ? 0 : material->fibre_stiffness;
    double thickness = mesh->type == EB_TRIANGLE ? eb_material_thickness(material) : 1;
    sum += thickness * eb_mesh_element_volume(mesh, mesh->X, e) * (material->young + fibre);
  }
  eb_ranks_sum(eb_scene_ranks(scene), 1, &sum);
  return sum;
}

double eb_potential_elastic(const eb_potential *potential, const double *x) {
  double clusters = potential->clusters ? eb_clusters_energy(potential->clusters, x) : 0;
  return eb_elasticity_energy(potential->elasticity, x) + clusters;
}

eb_potential_value eb_potential_at(const eb_potential *potential, const double *x) {
  return eb_potential_with(potential, x, eb_potential_elastic(potential, x));
}

eb_potential_value eb_potential_with(const eb_potential *potential, const double *x,
                                     double elastic) {
  enum { INERTIA, WORK, ABSOLUTE_WORK, ELASTIC, SUMS };
  const double *mass = eb_elasticity_mass(potential->elasticity);
  double sum[SUMS] = {[ELASTIC] = elastic};
  for (int32_t i = 0; i < potential->nodes; i++) {
    if (potential->fixed[i]) continue;
    double square = 0, local = 0;
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
      double off = x[k] - potential->predicted[k];
      square += off * off;
      local += potential->force[k] * (x[k] - potential->origin[k]);
    }
    sum[INERTIA] += mass[i] * square;
    sum[WORK] += local;
    sum[ABSOLUTE_WORK] += fabs(local);
  }
  eb_ranks_sum(potential->ranks, SUMS, sum);
  double inertia = 0.5 * potential->inertia * sum[INERTIA];
  double springs =
      potential->springs ? eb_springs_energy(potential->springs, potential->fixed, x) : 0;
  return (eb_potential_value){.value = inertia + sum[ELASTIC] + springs - sum[WORK],
                              .magnitude = inertia + fabs(sum[ELASTIC]) + springs +
                                           sum[ABSOLUTE_WORK] + potential->elastic_scale};
}

eb_potential_residual eb_potential_descent(const eb_potential *potential, const double *x,
                                           const double *g, double *descent) {
  enum { RESIDUAL, EXTERNAL, INTERNAL, INERTIAL, SUMS };
  const double *mass = eb_elasticity_mass(potential->elasticity);
  double sum[SUMS] = {0};
  memset(descent, 0, 3 * (size_t)potential->nodes * sizeof *descent);
  double springs = potential->springs
                       ? eb_springs_gradient(potential->springs, potential->fixed, x, -1, descent)
                       : 0;
  for (int32_t i = 0; i < potential->nodes; i++) {
    double inertia = potential->inertia * mass[i];
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3 && !potential->fixed[i]; k++) {
      double f = potential->force[k], a = inertia * (x[k] - potential->predicted[k]);
      descent[k] += f - g[k] - a;
      sum[RESIDUAL] += descent[k] * descent[k];
      sum[EXTERNAL] += f * f;
      sum[INTERNAL] += g[k] * g[k];
      sum[INERTIAL] += a * a;
    }
  }
  eb_ranks_sum(potential->ranks, SUMS, sum);
  return (eb_potential_residual){.norm = sqrt(sum[RESIDUAL]),
                                 .scale = sqrt(sum[EXTERNAL]) + sqrt(sum[INTERNAL]) +
                                          sqrt(sum[INERTIAL]) + sqrt(springs)};
}
