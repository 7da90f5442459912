/* How parts of a body move: the regions of a mesh that has more than one, and the groups of nodes
 * that the scene names (eb_grip), with their names. A region's masses are those of its own
 * elements, an equal share to each node; a group's are those of its nodes.
 *
 * The turn of a part is told by the rotation R of its nodes from their rest shape that leaves
 *   sum m |x - c - R (X - C)|^2
 * least, c and C being the centres of mass: R = U V^T of sum m (x - c) (X - C)^T = U S V^T, det R
 * = 1 (Horn 1987; Kabsch 1976). As a vector it is the rotation vector of R while that has never
 * come to 3 rad; from then on each step adds the rotation vector of what the part has turned in it,
 * R1 R0^T. It so goes on through any number of turns, is the angle along an axis that stays, and is
 * of the present shape alone as long as the part turns by less than half a turn. It does not flip
 * at half a turn: rotation vectors obey |log(R1 R0^T R0)| <= |log R0 + log(R1 R0^T)| (a hinge on a
 * sphere closes to less than in the plane), which is 3 rad at most where log R1 is taken. A step in
 * which the part turns by more than half a turn is taken for one the other way round. */
#ifndef EB_PARTS_H
#define EB_PARTS_H

#include "harness/audit/audit.h"

typedef struct eb_parts eb_parts;

/* One part at the end of a step. */
typedef struct eb_part_row {
  double turn[3]; /* rad; NaN where no rotation is told: a node, nodes in a line */
  double spin[3]; /* kg m^2/s: angular momentum about the part's own centre of mass */
  /* J: sum of 1/2 L . inv(I) L over the connected pieces of the part, each about its own centre */
  double rotational;
  double displacement; /* m: mean |x - X| over its nodes */
  double centre[3];    /* of mass, m */
} eb_part_row;

/* Of the audit's scene and masses; keeps nothing of either. Without parts *out has a count of 0.
 * The caller destroys it. */
EB_MUST eb_error eb_parts_create(const eb_audit *audit, eb_parts **out);
void eb_parts_destroy(eb_parts *parts);
/* The same parts on a mesh that has been cut since; turns go on. */
EB_MUST eb_error eb_parts_follow(eb_parts *parts, const eb_audit *audit);

int eb_parts_count(const eb_parts *parts);
/* Of letters, digits, '-' and '_'; no other part has it. Regions come first. */
const char *eb_parts_name(const eb_parts *parts, int part);
/* The part that is that region of the mesh, or -1. */
int eb_parts_of_region(const eb_parts *parts, int32_t region);

/* The step that comes does not begin where the last one ended: turns begin anew. */
void eb_parts_reset(eb_parts *parts);
/* Fills a row each after the step from `before` to `after`, finite states. */
void eb_parts_step(eb_parts *parts, const eb_state *before, const eb_state *after,
                   eb_part_row *rows);

/* The connected pieces of a region, through elements of it that share nodes: of its nodes' masses,
 * the sum over weights (rows of `weights` x nodes) of sum_pieces sum m (w - mean of the piece)^2
 * over the mass of the region. */
double eb_parts_variance(const eb_parts *parts, int part, int32_t weights, const double *weight);

#endif
