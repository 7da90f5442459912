/* What a page plays of a run, made small: positions as 16-bit places on a lattice, and what colours
 * the surface, a byte a triangle. */
#ifndef EB_REPORT_CHANNELS_H
#define EB_REPORT_CHANNELS_H

#include "problems/base/text.h"
#include "problems/mesh/mesh.h"

/* ---- positions ------------------------------------------------------------------------------- */

/* A box with 65536 places along each side: x = lo + size * place / 65535. Start from
 * eb_no_lattice. */
typedef struct eb_lattice {
  double lo[3], size[3]; /* m */
} eb_lattice;
extern const eb_lattice eb_no_lattice; /* holds nothing */

/* Makes the box so wide that it holds `count` points (x 3); what is not finite is left out. */
void eb_lattice_widen(eb_lattice *lattice, const float *x, size_t count);
/* The places of points, which are at most half a place off along each axis when the box holds them
 * (and the floats' own rounding); what is outside goes to its sides, what is no number to lo. */
void eb_lattice_place(const eb_lattice *lattice, const float *x, size_t count, uint16_t *place);
/* The largest distance between a point of the box and its place, m. */
double eb_lattice_precision(const eb_lattice *lattice);

/* ---- strain ---------------------------------------------------------------------------------- */

/* The strain of an element is its largest |s - 1| over the principal stretches s, the singular
 * values of F = sum_a x_a grad N_a: of a tetrahedron F is constant, of a hexahedron it is the mean,
 * of a planar triangle it is that within the plane. */
typedef struct eb_strain {
  const eb_mesh *mesh;
  const int32_t *element; /* count; -1: none, which has strain 0 */
  int32_t count;
  double *gradient; /* at rest, 1/m: as eb_kernels measure them */
} eb_strain;

/* Of the `count` elements of a list, which stay the caller's, as does the mesh. */
EB_MUST eb_error eb_strain_create(const eb_mesh *mesh, const int32_t *element, int32_t count,
                                  eb_strain *out);
void eb_strain_clear(eb_strain *strain);
/* Of each, at positions x (nodes of the mesh x 3). In parallel. */
void eb_strain_at(const eb_strain *strain, const float *x, float *out);

/* ---- texts ----------------------------------------------------------------------------------- */

/* Appends bytes in base64 (RFC 4648), padded. */
EB_MUST eb_error eb_text_base64(eb_text *text, const void *bytes, size_t count);

#endif
