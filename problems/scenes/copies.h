/* Copies of a body: heaps, stacks, pyramids, lattices, circles. */
#ifndef EB_SCENES_COPIES_H
#define EB_SCENES_COPIES_H

#include "problems/mesh/mesh.h"

/* Each replaces the body by its copies, one after the other. Errors leave it as it was; counts are
 * at least 1 and at most EB_MOST_COPIES (EB_ERR_LIMIT). Lengths are m. */
enum { EB_MOST_COPIES = 10000 };

/* Where bodies placed at random start: in cells of a lattice of across x across a layer, centred
 * over the origin, the lowest at z = 0. */
typedef struct eb_cells {
  int32_t across;
  double cell, clearance; /* of its edge; what is left free between what is in two of them */
} eb_cells;

/* Each in a cell of its own, turned by a rotation that is uniform over all and moved as far from
 * the middle of the cell as keeps the ball around it within. EB_ERR_INVALID for a body that is too
 * large for a cell. */
EB_MUST eb_error eb_copies_heap(int32_t count, const eb_cells *cells, uint64_t seed,
                                eb_mesh **mesh);
/* On top of each other from z = gap on, `gap` apart. */
EB_MUST eb_error eb_copies_stack(int32_t count, double gap, eb_mesh **mesh);
/* count[d] along each axis, `gap` apart; the first stays where the body is. */
EB_MUST eb_error eb_copies_lattice(const int32_t count[3], double gap, eb_mesh **mesh);
/* A square pyramid: the lowest layer has `layers` x `layers` bodies, each further one a row less,
 * over the gaps of the one below. Every layer starts `gap` above what it falls on; as all fall
 * alike, the lowest is stopped first and the others meet it in turn. */
EB_MUST eb_error eb_copies_pyramid(int32_t layers, double gap, eb_mesh **mesh);
/* On a circle about the z axis, each turned with its place. */
EB_MUST eb_error eb_copies_circle(int32_t count, double radius, eb_mesh **mesh);

#endif
