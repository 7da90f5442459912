/* A sweep over the points of quadrature whose stresses its caller makes.
 *
 *   g = sum over points of w P : dF/dx,   energy = sum of w psi
 *
 * with P and psi whatever the caller's map makes of the deformation gradients F, which may go by
 * things that it keeps for every point; of hexahedra with one point, with the forces and energy
 * that control their hourglass modes (elements.h). Points come in the order of memory, eight
 * batches of four at a time; chunks run in parallel, and every node receives its forces in one
 * order: the same bits for any number of threads. Nothing is allocated in a sweep. Internal to
 * problems/ and solvers/.
 */
#ifndef EB_POINT_SWEEP_H
#define EB_POINT_SWEEP_H

#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/law.h"

enum { EB_SWEEP_POINTS = 8 };

/* At most eight points, each one of a batch of four elements. */
typedef struct eb_points {
  int count;
  int32_t first; /* number of the first; point q of batch b is b Q + q */
  const eb_law *law[EB_SWEEP_POINTS];
  eb_v4 F[EB_SWEEP_POINTS][9];
  eb_v4 P[EB_SWEEP_POINTS][9], psi[EB_SWEEP_POINTS]; /* for the map to fill */
} eb_points;

/* Called for one group at a time, by several threads for different ones. */
typedef void eb_point_map(void *context, eb_points *points);

typedef struct eb_point_sweep {
  const eb_elasticity *elasticity;
  int32_t points; /* batches of four elements times Q */
  int per_batch;  /* Q */
  double *energy; /* of the chunks */
} eb_point_sweep;

/* The elasticity outlives it. EB_ERR_UNSUPPORTED for triangles. The caller clears *out, also after
 * failure. */
EB_MUST eb_error eb_point_sweep_create(const eb_elasticity *elasticity, eb_point_sweep *out);
void eb_point_sweep_clear(eb_point_sweep *sweep);
/* At x (nodes x 3): overwrites g (nodes x 3), returns the energy. */
double eb_point_sweep_run(const eb_point_sweep *sweep, const double *x, eb_point_map *map,
                          void *context, double *g);
/* Adds the matrix of weight(law)/2 |F|^2, which is the same for all three components of positions:
 * entry (i, j) of sum over points of w weight G_i . G_j, and of the hourglass matrices, to
 * value[b], b the block (i, j) of the elasticity's pattern. */
void eb_point_sweep_matrix(const eb_point_sweep *sweep, double (*weight)(const eb_law *law),
                           double *value);

#endif
