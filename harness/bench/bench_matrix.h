/* The matrices that linear solvers are measured on: M + h^2 K of corotational bodies at rest, h =
 * 1/30 s, nothing clamped; or M / h^2 + H of stable neo-Hookean ones, h = 1/60 s, with the face at
 * x = 0 clamped. */
#ifndef EB_BENCH_MATRIX_H
#define EB_BENCH_MATRIX_H

#include "problems/scene_impl.h"
#include "solvers/linalg/multifrontal.h"

typedef struct eb_bench_matrix {
  eb_scene *scene;           /* that it comes from; NULL: generated here */
  eb_mesh *generated;        /* NULL: the scene's */
  eb_elasticity *elasticity; /* of the generated mesh */
  const eb_mesh *mesh;
  eb_block_matrix *A;
  int64_t n; /* 3 rows */
} eb_bench_matrix;

typedef struct eb_bench_body {
  const char *scene; /* of the catalogue, or NULL for a grid */
  int32_t cubes[3];
  double edges[3]; /* of a cube, m */
  bool clamped;    /* of grids */
} eb_bench_body;

/* The catalogue's sculpture with 115 712 tetrahedra and its dragon of 10 456 nodes (through their
 * mesh cache); bench/beam, 3 321 nodes; a bar of 5 915 nodes, 12 x 12 x 34 cubes; a block of 28^3
 * cubes, 24 389 nodes, what the root separator of a compact body costs; a sheet of 50 x 50 x 1
 * cubes, 5 202 nodes, where there is hardly any. Clamped: the beam, and a block of 40^3 cubes, 68
 * 921 nodes, whose 76 MB are above the usual last-level cache. */
extern const eb_bench_body eb_body_sculpture, eb_body_dragon, eb_body_beam, eb_body_bar,
    eb_body_block, eb_body_sheet, eb_body_clamped_beam, eb_body_clamped_block;

EB_MUST eb_error eb_bench_matrix_create(const eb_bench_body *body, eb_bench_matrix *out);
/* Also of a zeroed one. */
void eb_bench_matrix_clear(eb_bench_matrix *matrix);

/* A multifrontal factor of it. */
EB_MUST eb_error eb_bench_matrix_factor(const eb_bench_matrix *matrix,
                                        const eb_multifrontal_settings *settings,
                                        eb_multifrontal **out);
/* Right-hand sides with entries everywhere, the same every time. */
void eb_bench_fill_sides(int64_t entries, double *b);

#endif
