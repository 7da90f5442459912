/* Whether two triangles cross, exactly, and whether those round a vertex lie beside each other like
 * petals. */
#ifndef EB_AUDIT_EXACT_TRIANGLES_H
#define EB_AUDIT_EXACT_TRIANGLES_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/audit/exact.h"

/* Triangles s and t with corners of x (vertices x 3): closed sets, so that touching counts, and so
 * does overlapping in one plane. Where they share corners (the same number, not the same place)
 * only points beyond the shared corner or edge count; a triangle counts as crossing a copy of
 * itself. A triangle without area is the segment or point that its corners span. */
bool eb_exact_triangles_cross(const double *x, const int32_t s[3], const int32_t t[3]);

/* True only when one of the two is strictly on one side of the other's plane, so that they have no
 * point in common, given their normals; false when not or when floating point cannot tell. */
bool eb_exact_triangles_beside(const double *x, const int32_t s[3], const eb_exact_normal *of_s,
                               const int32_t t[3], const eb_exact_normal *of_t);

/* One of the triangles round a vertex o, (o, rim, the rim of the next spoke); they come in their
 * order and the last joins the first. */
typedef struct eb_spoke {
  int32_t rim;
  int32_t corner; /* of o: 3 triangle + 0, 1 or 2 */
} eb_spoke;

/* True only when no two triangles of the fan meet beyond the corners that they share, x
 * (vertices x 3); false when they do or floating point cannot tell. `normals` are those of all
 * triangles at x. */
bool eb_exact_fan_spreads(const double *x, int32_t vertex, int32_t count, const eb_spoke *spokes,
                          const eb_exact_normal *normals);

#endif
