/* Which nodes a condensation steps in time, and how they move with its unknowns.
 *
 *   scripted      s   velocity given by the script: v_s = (target - x) / h
 *   attached      a   to bodies of the scene's articulation: v_a = J_a(q) u
 *   dynamic       d   chosen and not scripted now: v_d
 *   quasistatic   q   the rest; their velocities follow from the others'
 *
 * The unknowns are y = (v_d, u); in the plane a dynamic node has two. On the nodes that are not
 * quasistatic, the boundary of the static problem, velocities are B y + c: every dynamic or
 * attached node has three rows of B with few entries that are not zero, next to each other; c is
 * v_s on scripted nodes and 0 elsewhere. Internal to conjac. */
#ifndef EB_CONJAC_PARTITION_H
#define EB_CONJAC_PARTITION_H

#include "problems/scene_impl.h"
#include "solvers/conjac/nodes.h"

typedef enum eb_node_class {
  EB_NODE_QUASISTATIC = 0, /* so that a class is true for the nodes of the boundary */
  EB_NODE_SCRIPTED,
  EB_NODE_ATTACHED,
  EB_NODE_DYNAMIC
} eb_node_class;

/* A node whose velocity the unknowns give: entries first .. first + count - 1 of its rows of B. */
typedef struct eb_moving_node {
  int32_t node, first, count;
  double *rows; /* 3 x count, row-major */
} eb_moving_node;

typedef struct eb_partition {
  const eb_scene *scene;
  int32_t nodes, axes;      /* axes: unknowns of a dynamic node */
  uint8_t *class, *next;    /* nodes; next: workspace */
  uint8_t *attached;        /* nodes: to a body */
  int32_t quasistatic;      /* nodes of that class */
  int32_t joints, unknowns; /* at present */
  int32_t moving, room;     /* dynamic, then attached nodes; the most that there can be */
  eb_moving_node *move;     /* room */
  double *jacobians;        /* of attached nodes: rows of B */
  double identity[9];       /* of dynamic ones */
} eb_partition;

/* Room for the nodes of `chosen`. On failure nothing stays allocated. */
EB_MUST eb_error eb_partition_create(const eb_scene *scene, const eb_node_list *chosen,
                                     eb_partition *out);
void eb_partition_clear(eb_partition *partition);
/* The most unknowns that there can be. */
int32_t eb_partition_most_unknowns(const eb_partition *partition);
/* Sorts the nodes into classes, given the scripted ones and the angles of the joints (NULL: 0).
 * Returns whether a class has changed. */
bool eb_partition_update(eb_partition *partition, const eb_node_list *chosen, const uint8_t *fixed,
                         const double *angles);

#endif
