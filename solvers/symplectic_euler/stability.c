/* The stability limit of explicit steps, by Gershgorin's circle theorem.
 *
 * Symplectic Euler on x'' = -w^2 x is stable for k w < 2 (Hairer, Lubich and Wanner 2006, Section
 * I.1.2; the limit is the leapfrog method's). Of M x'' = -H x the largest w^2 is the largest
 * eigenvalue of inv(M) H, and no eigenvalue of a matrix exceeds the largest sum of sizes in a row:
 * an upper bound without iterations, which a power method would only approach from below. On meshes
 * of tetrahedra it is 1.2 to 2 times the eigenvalue, so that steps are at most a third shorter than
 * they had to be. */
#include "solvers/symplectic_euler/stability.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"

double eb_stable_step(const eb_scene *scene, const double *x, const uint8_t *fixed,
                      eb_block_matrix *matrix) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double largest = 0;
  eb_elasticity_matrix(scene->elasticity, x, 0, 1, false, matrix, NULL);
  for (int32_t i = 0; i < matrix->rows; i++) {
    double sum[3] = {0};
    for (int32_t b = matrix->start[i]; b < matrix->start[i + 1] && !fixed[i]; b++)
      for (int e = 0; e < 9 && !fixed[matrix->column[b]]; e++)
        sum[e / 3] += fabs(matrix->values[9 * (int64_t)b + e]);
    for (int d = 0; d < 3; d++) largest = fmax(largest, sum[d] / mass[i]);
  }
  return largest > 0 ? 2 / sqrt(largest) : INFINITY;
}

eb_error eb_stable_step_at_start(const eb_scene *scene, double *out) {
  uint8_t *fixed;
  double *target = NULL;
  eb_block_matrix *matrix = NULL;
  EB_TRY(EB_NEW(fixed, scene->mesh->node_count));
  eb_error error = EB_NEW(target, 3 * (size_t)scene->mesh->node_count);
  if (!error) error = eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &matrix);
  if (!error) {
    eb_scene_boundary(scene, 0, fixed, target);
    *out = eb_stable_step(scene, scene->x0, fixed, matrix);
  }
  eb_block_matrix_destroy(matrix);
  free(target);
  free(fixed);
  return error;
}
