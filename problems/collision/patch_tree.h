/* A tree of boxes over patches. Inside problems/collision only.
 *
 * Halves by the median of the boxes' middles, one leaf a patch: n log n to build, n to fit. Nodes
 * stand in preorder with the number of the node after their subtree, so that a walk needs no stack.
 * Its shape follows from the number of leaves. */
#ifndef EB_COLLISION_PATCH_TREE_H
#define EB_COLLISION_PATCH_TREE_H

#include "problems/base/error.h"
#include "problems/base/median.h"
#include "problems/collision/bounds.h"

typedef struct eb_patch_tree {
  int32_t leaf_count, node_count; /* node_count = max(0, 2 leaf_count - 1) */
  eb_bounds *box;                 /* node_count */
  int32_t *after;                 /* node_count */
  int32_t *leaf;                  /* node_count: the leaf, or -1 */
  int32_t *body;                  /* node_count: of all leaves below, or -1 where they differ */
  int32_t *node;                  /* leaf_count: where a leaf stands */
  eb_named_point *point;          /* leaf_count, workspace */
} eb_patch_tree;

/* On failure `out` is to be cleared all the same. */
EB_MUST eb_error eb_patch_tree_create(int32_t leaf_count, eb_patch_tree *out);
void eb_patch_tree_clear(eb_patch_tree *tree);
/* Orders the leaves. `body`: a number a leaf, or -1. Boxes of nodes are set by the next fit. */
void eb_patch_tree_build(eb_patch_tree *tree, const eb_bounds *leaves, const int32_t *body);
/* Encloses the leaves' boxes. */
void eb_patch_tree_fit(eb_patch_tree *tree, const eb_bounds *leaves);

#endif
