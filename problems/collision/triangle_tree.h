/* A tree of boxes over anything that has boxes: halves by the median of their middles along the longest axis, one leaf a box.
 *
 * Nodes stand in preorder with the number of the node after their subtree, so that a walk needs no stack. Its shape follows from
 * the number of leaves. Internal to problems/collision/. */
#ifndef EB_TRIANGLE_TREE_H
#define EB_TRIANGLE_TREE_H

#include "problems/base/error.h"
#include "problems/collision/triangle_tree_box.h"

/* A point with a name. */
typedef struct eb_tree_point {
  float at[3];
  int32_t index;
} eb_tree_point;

/* Rearranges: afterwards no point before `half` lies beyond one of the others along the longest axis. */
void eb_tree_halve(eb_tree_point *points, int32_t count, int32_t half);

typedef struct eb_triangle_tree {
  int32_t leaf_count, node_count; /* node_count = max(0, 2 leaf_count - 1) */
  eb_bounds *box;                 /* node_count */
  int32_t *after;                 /* node_count */
  int32_t *leaf;                  /* node_count: the leaf, or -1 */
  int32_t *body;                  /* node_count: of all leaves below, or -1 where they differ */
  int32_t *node;                  /* leaf_count: where a leaf stands */
  eb_tree_point *point;           /* leaf_count, workspace */
} eb_triangle_tree;

EB_MUST eb_error eb_triangle_tree_create(int32_t leaf_count, eb_triangle_tree **out);
void eb_triangle_tree_destroy(eb_triangle_tree *tree);
/* Orders the leaves. `body`: a number a leaf, or -1. Boxes of nodes are set by the next fit. */
void eb_triangle_tree_build(eb_triangle_tree *tree, const eb_bounds *leaves, const int32_t *body);
/* Encloses the leaves' boxes. */
void eb_triangle_tree_fit(eb_triangle_tree *tree, const eb_bounds *leaves);

#endif
