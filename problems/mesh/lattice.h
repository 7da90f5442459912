/* The body-centred cubic lattice of isosurface stuffing: signs, cut points, warped points. */
#ifndef EB_MESH_LATTICE_H
#define EB_MESH_LATTICE_H

#include "problems/mesh/sdf.h"

/* Lattices up to this many points are not worth a team of threads. */
enum { EB_LATTICE_SERIAL = 30000 };

/* Cell (i, j, k) has the index c = i + size[0] (j + size[1] k) and owns two points: 2 c at its corner
 * origin + spacing (i, j, k), and 2 c + 1 in its middle. Every point has 6 neighbours of its own kind
 * (long edges, one spacing) and 8 of the other (short edges, sqrt(3)/2 spacings). */
typedef struct eb_lattice {
  double origin[3], spacing;
  int32_t size[3];
  int32_t stride[3]; /* cells from one cell to the next along an axis */
  int32_t points;    /* 2 size[0] size[1] size[2] */
  double *value;     /* signed distance; far from the surface only its sign is right */
  int8_t *sign;      /* +1 inside, 0 on the surface, -1 outside */
  uint16_t *mask;    /* the point's own edges that the surface cuts, see lattice.c */
  int32_t *first;    /* the number of the first of their cut points */
  int32_t *snap;     /* the cut point that a point was warped to, or -1 */
  int32_t cuts;
  int32_t *owner; /* cuts: the point that owns the edge */
  double *along;  /* cuts: position on the edge, 0 at the owner, 1 at the other end */
  double *X;      /* cuts x 3, m */
} eb_lattice;

/* Covers the solid's box with a lattice whose points include the centre of the box plus `shift`
 * spacings, evaluates the signed distance, finds the cut points and warps the lattice.
 * EB_ERR_USAGE for a spacing that is not positive, EB_ERR_LIMIT for one too small, EB_ERR_INVALID for
 * an empty or infinite box, a distance that is not finite, or a solid that leaves its box. */
EB_MUST eb_error eb_lattice_create(const eb_solid *solid, double spacing, const double shift[3],
                                   eb_lattice *out);
void eb_lattice_clear(eb_lattice *lattice);

/* The number of the cut point between two neighbours of opposite sign. */
int32_t eb_lattice_cut(const eb_lattice *lattice, int32_t a, int32_t b);
/* Where the point stands, warped or not. */
void eb_lattice_place(const eb_lattice *lattice, int32_t point, double out[3]);

#endif
