/* Meshes with exact counts: bars, sheets, rings, triangles, hexahedral blocks.
 *
 * Node (i, j, k) of a grid of nx x ny x nz cubes has index i + (nx + 1) (j + (ny + 1) k). Every
 * grid mesh carries the node sets x0, x1, y0, y1, z0, z1 (its six faces). */
#ifndef EB_MESH_GENERATE_H
#define EB_MESH_GENERATE_H

#include "problems/mesh/mesh.h"

/* Errors: EB_ERR_USAGE for counts below one and sizes that are not positive and finite,
 * EB_ERR_LIMIT for more elements than indices reach. The caller destroys *out. */
typedef struct eb_grid {
  int32_t cubes[3];
  double origin[3]; /* lowest corner, m */
  double size[3];   /* whole extent, m */
} eb_grid;

/* Six tetrahedra a cube (Kuhn: all around the diagonal (0,0,0)-(1,1,1); conforming by
 * translation). */
EB_MUST eb_error eb_generate_tets6(const eb_grid *grid, eb_mesh **out);
/* A piece of a larger mesh, which numbers its nodes node[i] and its elements element[e], both
 * ascending. */
typedef struct eb_piece {
  eb_mesh *mesh;
  int32_t *node, *element;
} eb_piece;

/* Those tetrahedra of eb_generate_tets6 that have a node (i, j, k) with lo <= (i, j, k) < hi, with
 * all their nodes; equal to the whole mesh to the bit, all six node sets included. Needs memory for
 * the piece alone. Release with eb_piece_clear. */
EB_MUST eb_error eb_generate_tets6_piece(const eb_grid *grid, const int32_t lo[3],
                                         const int32_t hi[3], eb_piece *out);
void eb_piece_clear(eb_piece *piece);
/* Five tetrahedra a cube, mirrored in odd cubes so that faces conform. */
EB_MUST eb_error eb_generate_tets5(const eb_grid *grid, eb_mesh **out);
EB_MUST eb_error eb_generate_hexahedra(const eb_grid *grid, eb_mesh **out);
/* Planar triangles in z = 0, two a square; cubes[2], origin[2] and size[2] are ignored, and there
 * are only the sets x0, x1, y0, y1. */
EB_MUST eb_error eb_generate_triangles(const eb_grid *grid, eb_mesh **out);
/* A ring (torus with square section) about the z axis: `around` cubes, six tetrahedra each:
 * `radius` reaches to the middle of the section, whose sides are `section` (m). No node sets.
 * verschoor2019's ring has around = 18, 72 nodes, 108 tetrahedra, 144 surface triangles. */
EB_MUST eb_error eb_generate_ring(int32_t around, double radius, double section, eb_mesh **out);

/* Appends `extra` (translated by `shift`, m) to `mesh`: nodes, elements, regions and sets; regions
 * and sets of equal name are joined. Types must agree. When only one mesh has fibres, the elements
 * of the other get zero fibres. On error `mesh` is as before; `extra` may be `mesh` itself. */
EB_MUST eb_error eb_mesh_append(eb_mesh *mesh, const eb_mesh *extra, const double shift[3]);

/* ---- surfaces -------------------------------------------------------------------------------- */

/* Closed surfaces of simple solids, outward: floors, containers, rollers and races for bodies to
 * meet.
 *
 * Lengths are metres; sizes that are not positive and finite are EB_ERR_USAGE. Flat faces are cut
 * into as few triangles as they need. Round ones are inscribed: their vertices lie on the round
 * shape. The caller destroys *out, which is NULL on failure. */

/* A box about the origin: 8 vertices, 12 triangles. */
EB_MUST eb_error eb_surface_box(const double half[3], eb_surface **out);
/* A box open at the top, with solid walls and floor of thickness `wall`. Its hollow is |x| <
 * half[0], |y| < half[1], 0 < z < height: 16 vertices, 28 triangles. */
EB_MUST eb_error eb_surface_cup(const double half[2], double height, double wall, eb_surface **out);
/* The solid swept by turning a section around the z axis in `around` >= 3 steps. profile[k] = (r,
 * z), `count` >= 3 points with the solid to their left (counter-clockwise in the (r, z) plane).
 * Either all have r > 0, and the section is the closed polygon: a ring; or the first and the last
 * have r = 0, and only they, and the axis closes it: a body with two poles. */
EB_MUST eb_error eb_surface_revolve(const double (*profile)[2], int32_t count, int32_t around,
                                    eb_surface **out);
/* About the origin, its axis z. */
EB_MUST eb_error eb_surface_cylinder(double radius, double half_length, int32_t around,
                                     eb_surface **out);
/* About the origin, `rows` >= 2 of faces from pole to pole along z. */
EB_MUST eb_error eb_surface_sphere(double radius, int32_t rows, int32_t around, eb_surface **out);

/* x = rotation X + shift for every vertex (rotation row-major, or NULL). */
void eb_surface_move(eb_surface *surface, const double rotation[9], const double shift[3]);

/* Shifts nodes of such a mesh at random by up to `share` of a cube along each axis; those on a face
 * stay on it. The same mesh every time. A grid has the same elements in every slab, and functions
 * that vary along it alone single out the same ones in each: in a subspace of such functions the
 * cubature points of a bar would lie on one line, which no bending strains. */
void eb_generate_jitter(const eb_grid *grid, double share, eb_mesh *mesh);

#endif
