/* The precomputed elements behind eb_elasticity: batches of four elements of one material, in
 * chunks, chunks sorted by colour. Internal to problems/elasticity/, and to solvers that sweep over
 * elements of their own accord.
 *
 * Memory is laid out in the order of the sweep. With A nodes and Q integration points an element,
 * batch b has
 *   node      A x 4 indices, ascending in each element; a batch short of elements repeats its
 *             first one with no volume
 *   scatter   A (A + 1) / 2 x 4 block indices of the matrix: pairs a <= b of nodes, row by row,
 *             which fall into the upper triangle
 *   geometry  Q x (3 (A - 1) + 1) lanes: rest gradients of the shape functions of nodes 1 .. A-1
 *             (that of node 0 is minus their sum), then the rest volume of the point
 *   hourglass A (A - 1) / 2 lanes, of hexahedra of one point whose hourglass modes are controlled:
 *             the entries K_ab, N/m, of a scalar 8 x 8 matrix, nodes 1 <= a <= b, row by row. It is
 *             symmetric and positive semi-definite, its rows sum to zero (that gives those of node
 *             0) and it annihilates linear fields; the element stores 1/2 sum_ab K_ab x_a . x_b
 *             beside its point, K x are the forces, and every axis has the same K.
 *
 * So geometry and hourglass of batch b are all that a solver needs for a one-point hexahedron:
 * F = sum_a x_a g_a^T, V (the last lane of geometry), K (or NULL: no control), e->node for which
 * nodes they belong to, e->element for which element of the mesh a lane is. Who lays out elements
 * in another order has them from eb_one_point_hexahedron_kernels.measure and control, or
 * eb_hourglass_vectors where modes are wanted one by one.
 */
#ifndef EB_ELEMENTS_H
#define EB_ELEMENTS_H

#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/law.h"
#include "problems/elasticity/schedule.h"

typedef struct eb_kernels eb_kernels;

struct eb_elasticity {
  const eb_kernels *kernels;
  int32_t node_count, element_count, batch_count, chunk_count, law_count;
  eb_schedule *schedule; /* changes during a sweep */
  int32_t *chunk_start;  /* chunk_count + 1, into batches */
  uint8_t *uncounted;    /* chunk_count: whether energies leave it out; NULL: none */
  int32_t *batch_law;    /* batch_count, into laws */
  int32_t *element;      /* batch_count x 4: the mesh's element, -1 for a repeated lane */
  int32_t *node, *scatter;
  eb_v4 *geometry;
  eb_v4 *hourglass; /* or NULL */
  eb_v4 *fibre;     /* batch_count x 3, or NULL */
  double *mass;     /* node_count */
  int32_t *mirror;  /* of a block right of the diagonal: where its transpose is */
  eb_law *laws;     /* one a region */
  eb_block_matrix *pattern;
};

typedef struct eb_matrix_job {
  const double *x;
  double scale;
  bool project;
  double *values; /* of the matrix */
  double *g;      /* NULL: no gradient */
} eb_matrix_job;

/* What an element type does; each function sweeps batches begin .. end-1 and adds into place. */
struct eb_kernels {
  int nodes, points;
  /* Rest gradients of nodes 1 .. A-1 and volumes of one element with corners X (A x 3), Q x (3
   * (A-1) + 1); share (A) receives the part of the volume lumped to each node. False when a volume
   * is not positive. */
  bool (*measure)(const double *X, double *geometry, double *share);
  /* NULL where elements have no hourglass modes that their points do not see. Otherwise K (A x A),
   * N/m, of an element with corners X and what measure() has found; K = 0: no control. */
  void (*control)(const double *X, const double *geometry, const eb_material *material, double *K);
  double (*energy)(const eb_elasticity *e, int32_t begin, int32_t end, const double *x);
  void (*gradient)(const eb_elasticity *e, int32_t begin, int32_t end, const double *x, double *g);
  void (*matrix)(const eb_elasticity *e, int32_t begin, int32_t end, const eb_matrix_job *job);
  void (*rotations)(const eb_elasticity *e, int32_t begin, int32_t end, const double *x, double *R);
};

extern const eb_kernels eb_triangle_kernels, eb_tetrahedron_kernels, eb_hexahedron_kernels,
    eb_one_point_hexahedron_kernels;

/* gamma_k (one_point.c) of a hexahedron with corners X (8 x 3) and mean gradients b of nodes 1 ..
 * 7, as eb_one_point_hexahedron_kernels.measure finds them: xi_2 xi_3, xi_3 xi_1, xi_1 xi_2, and
 * the product of all. */
enum { EB_HOURGLASS_MODES = 4 };
void eb_hourglass_vectors(const double *X, const double *b,
                          double gamma[EB_HOURGLASS_MODES][EB_HEXAHEDRON]);

/* What a sweep does around each chunk. Before it: zero gradient of the nodes it opens, and their
 * rows of mass_scale M from the diagonal on. After it: the rows it closes copied to below the
 * diagonal. */
void eb_elements_open_gradient(const eb_elasticity *e, int32_t chunk, double *g);
void eb_elements_open_rows(const eb_elasticity *e, int32_t chunk, const double *mass,
                           double mass_scale, double *values);
void eb_elements_close_rows(const eb_elasticity *e, int32_t chunk, double *values);

#endif
