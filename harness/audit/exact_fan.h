/* The triangles round a vertex: whether they lie beside each other like petals. */
#ifndef EB_AUDIT_EXACT_FAN_H
#define EB_AUDIT_EXACT_FAN_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/audit/exact_normal.h"

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
