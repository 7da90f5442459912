/* Colliders as triangles, to be drawn. */
#ifndef EB_REPORT_TESSELLATE_H
#define EB_REPORT_TESSELLATE_H

#include "problems/base/error.h"
#include "problems/collision/collider.h"

typedef struct eb_tessellation {
  int32_t vertex_count, triangle_count;
  double *X;          /* vertex_count x 3, m: on the collider's surface */
  int32_t *triangles; /* triangle_count x 3, counterclockwise from outside the collider */
} eb_tessellation;

/* The surface of a collider where its origin says (scripted motion is not asked). What is infinite
 * ends at the box lo, hi (m): a cylinder where the box ends along its axis, there cut with flat
 * ends; a plane is a square that covers the box. A bowl is its hollow with a narrow brim on the rim
 * plane. Vertices are shared within smooth parts and doubled at sharp edges, so that averaged
 * normals are those of the surface. The caller clears *out. */
EB_MUST eb_error eb_tessellate(const eb_collider *collider, const double lo[3], const double hi[3],
                               eb_tessellation *out);
void eb_tessellation_clear(eb_tessellation *tessellation);

#endif
