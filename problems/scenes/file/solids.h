/* Simple solids and extruded outlines as signed distances, to be filled with tetrahedra. */
#ifndef EB_SCENES_FILE_SOLIDS_H
#define EB_SCENES_FILE_SOLIDS_H

#include "problems/mesh/sdf.h"

/* Along z, about the origin: a cylinder of that length, a tube of inner radius `inner`, a capsule
 * whose two half balls end `length` apart; a ball has no length. m. An outline is a polygon of
 * `count` corners (x, y), in either sense, extruded from z = 0 to `length`. */
typedef enum eb_round_kind {
  EB_ROUND_BALL,
  EB_ROUND_CYLINDER,
  EB_ROUND_TUBE,
  EB_ROUND_CAPSULE,
  EB_ROUND_OUTLINE
} eb_round_kind;
typedef struct eb_round {
  eb_round_kind kind;
  double radius, inner, length;
  const double *corners; /* count x 2 */
  int32_t count;
} eb_round;

/* *out points to `round`. EB_ERR_FORMAT: sizes that make no solid. */
EB_MUST eb_error eb_round_solid(const eb_round *round, eb_solid *out);

#endif
