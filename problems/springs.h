/* Springs between nodes and places: soft penalties of the end of a step.
 *
 *   S(x) = sum_s 1/2 k_s |x_i(s) - p_s|^2,   dS/dx_i = k_s (x_i - p_s),   d2S/dx_i^2 = k_s I
 *
 * A scene says which nodes (eb_scene_add_spring), and at every time where the places are and how
 * stiff (ops->springs). A node may have several. What follows is how solvers that hold positions
 * of nodes take them; those of a subspace go by solvers/subspace/springs.h. */
#ifndef EB_SPRINGS_H
#define EB_SPRINGS_H

#include "problems/elasticity/block_matrix.h"
#include "problems/scene_impl.h"

/* As they are at one time. */
typedef struct eb_springs {
  int32_t count;
  const int32_t *node; /* of the scene */
  double *place;       /* count x 3, m */
  double *stiffness;   /* count, N/m; 0: let go */
} eb_springs;

/* Room for the scene's springs; none is a count of 0. The caller clears *out, also after failure.
 */
EB_MUST eb_error eb_springs_create(const eb_scene *scene, eb_springs *out);
void eb_springs_clear(eb_springs *springs);
/* Places and stiffness at time t. Allocates nothing. */
void eb_springs_set(eb_springs *springs, const eb_scene *scene, double t);

/* S at x (nodes x 3), J. Here and below, springs at nodes that `fixed` marks are left out; NULL:
 * none. */
double eb_springs_energy(const eb_springs *springs, const uint8_t *fixed, const double *x);
/* p . d2S/dx2 p, J for p in m. */
double eb_springs_curvature(const eb_springs *springs, const uint8_t *fixed, const double *p);
/* Adds scale dS/dx (N) to g (nodes x 3); returns the sum of the squares of the springs' forces,
 * N^2. */
double eb_springs_gradient(const eb_springs *springs, const uint8_t *fixed, const double *x,
                           double scale, double *g);
/* Adds scale d2S/dx2 to the diagonal blocks of A, of fixed nodes too. */
void eb_springs_matrix(const eb_springs *springs, double scale, eb_block_matrix *A);

/* What building a scene asks: whether its springs can be served, and their part of its hash. Both
 * look at the default run at 501 times. */
EB_MUST eb_error eb_springs_check(const eb_scene *scene);
EB_MUST eb_error eb_springs_hash(const eb_scene *scene, uint64_t *hash);

#endif
