/* Whether two triangles cross, exactly. */
#ifndef EB_AUDIT_EXACT_TRIANGLES_H
#define EB_AUDIT_EXACT_TRIANGLES_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/audit/exact_normal.h"

/* Triangles s and t with corners of x (vertices x 3): closed sets, so that touching counts, and so
 * does overlapping in one plane. Where they share corners (the same number, not the same place)
 * only points beyond the shared corner or edge count; a triangle counts as crossing a copy of
 * itself. A triangle without area is the segment or point that its corners span. */
bool eb_exact_triangles_cross(const double *x, const int32_t s[3], const int32_t t[3]);

/* True only when one of the two is strictly on one side of the other's plane, so that they have no
 * point in common, given their normals; false when not or when floating point cannot tell. */
bool eb_exact_triangles_beside(const double *x, const int32_t s[3], const eb_exact_normal *of_s,
                               const int32_t t[3], const eb_exact_normal *of_t);

#endif
