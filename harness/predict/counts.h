/* How large a case is, told without building its elasticity. */
#ifndef EB_PREDICT_COUNTS_H
#define EB_PREDICT_COUNTS_H

#include "harness/case/case.h"
#include "problems/elasticity/block_matrix.h"

typedef enum eb_counted {
  EB_COUNTED_NOT,   /* the scene cannot be built; all counts are 0 */
  EB_COUNTED_GRID,  /* by formula from the cubes of a bar; exact */
  EB_COUNTED_MESH,  /* on the mesh; exact */
  EB_COUNTED_TABLE, /* a stand-in that takes long to make: the paper's counts times resolution,
                       which the mesh will meet to some per cent; blocks by Euler's formula */
} eb_counted;

typedef struct eb_counts {
  eb_counted by;
  int arity; /* nodes of an element */
  int64_t nodes, elements;
  int64_t blocks;   /* 3 x 3, of the matrix: both triangles and the diagonal */
  int32_t cubes[3]; /* of a grid, else 0 */
} eb_counts;

/* A bar of cubes of six tetrahedra each (eb_generate_tets6). */
eb_counts eb_counts_of_grid(const int32_t cubes[3]);
/* Nodes, elements and a body's surface tell the edges of its tetrahedra (Euler and Poincare); for
 * hexahedra and triangles the same from the edges of their regular lattices. */
int64_t eb_counts_blocks(int arity, int64_t nodes, int64_t elements);

/* Mean number of faces that a box shares with others, when `ranks` are a grid of boxes as cubic as
 * its factors allow: 0 of one, 1 of two, 2 of four, 3 of eight, nearly 6 of many. */
double eb_counts_faces(int ranks);

/* Counts the scene of a case. A mesh that is to be read or made is returned in *mesh for those who
 * want more of it than counts (the caller destroys it), and is cached for the run; NULL where it
 * was not needed. What cannot be built is the run's to complain of: EB_COUNTED_NOT. */
void eb_counts_find(const eb_case *work, eb_counts *out, eb_mesh **mesh);
/* The mesh of a case whose counts did not need it. */
EB_MUST eb_error eb_counts_mesh(const eb_case *work, eb_mesh **out);

#endif
