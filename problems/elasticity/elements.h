/* The precomputed elements behind eb_elasticity: batches of four elements of one material, in
 * chunks, chunks sorted by colour. Internal to problems/elasticity/.
 *
 * Memory is laid out in the order of the sweep. With A nodes and Q integration points an element,
 * batch b has
 *   node      A x 4 indices, ascending in each element; a batch short of elements repeats its
 *             first one with no volume
 *   scatter   A (A + 1) / 2 x 4 block indices of the matrix: pairs a <= b of nodes, row by row,
 *             which fall into the upper triangle
 *   geometry  Q x (3 (A - 1) + 1) lanes: rest gradients of the shape functions of nodes 1 .. A-1
 *             (that of node 0 is minus their sum), then the rest volume of the point.
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
  int32_t *batch_law;    /* batch_count, into laws */
  int32_t *element;      /* batch_count x 4: the mesh's element, -1 for a repeated lane */
  int32_t *node, *scatter;
  eb_v4 *geometry;
  eb_v4 *fibre;    /* batch_count x 3, or NULL */
  double *mass;    /* node_count */
  int32_t *mirror; /* of a block right of the diagonal: where its transpose is */
  eb_law *laws;    /* one a region */
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
  double (*energy)(const eb_elasticity *e, int32_t begin, int32_t end, const double *x);
  void (*gradient)(const eb_elasticity *e, int32_t begin, int32_t end, const double *x, double *g);
  void (*matrix)(const eb_elasticity *e, int32_t begin, int32_t end, const eb_matrix_job *job);
  void (*rotations)(const eb_elasticity *e, int32_t begin, int32_t end, const double *x, double *R);
};

extern const eb_kernels eb_triangle_kernels, eb_tetrahedron_kernels, eb_hexahedron_kernels;

/* What a sweep does around each chunk. Before it: zero gradient of the nodes it opens, and their
 * rows of mass_scale M from the diagonal on. After it: the rows it closes copied to below the
 * diagonal. */
void eb_elements_open_gradient(const eb_elasticity *e, int32_t chunk, double *g);
void eb_elements_open_rows(const eb_elasticity *e, int32_t chunk, const double *mass,
                           double mass_scale, double *values);
void eb_elements_close_rows(const eb_elasticity *e, int32_t chunk, double *values);

#endif
