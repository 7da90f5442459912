/* A tree of boxes over tetrahedra that move: built once, boxes fitted anew to every set of positions.
 * Internal to problems/collision/. */
#ifndef EB_BOX_TREE_H
#define EB_BOX_TREE_H

#include "problems/mesh/mesh.h"

typedef struct eb_box {
  double lo[3], hi[3];
} eb_box;

typedef struct eb_tree_node {
  int32_t first, count; /* a leaf's tetrahedra: order[first] ..; count is 0 at other nodes */
  int32_t after;        /* the node after its subtree; its first child is the next node */
} eb_tree_node;

typedef struct eb_box_tree {
  int32_t node_count;
  int32_t *order; /* tetrahedra; not owned */
  eb_tree_node *nodes;
  eb_box *boxes; /* node_count */
} eb_box_tree;

/* Over the `count` tetrahedra that `order` holds, which it rearranges and keeps. */
EB_MUST eb_error eb_box_tree_create(const eb_mesh *mesh, int32_t *order, int32_t count,
                                    eb_box_tree **out);
void eb_box_tree_destroy(eb_box_tree *tree);

void eb_box_tree_fit(eb_box_tree *tree, const int32_t *tetrahedra, const double *x);

static inline bool eb_box_holds(const eb_box *box, const double p[3]) {
  return p[0] >= box->lo[0] && p[0] <= box->hi[0] && p[1] >= box->lo[1] && p[1] <= box->hi[1] &&
         p[2] >= box->lo[2] && p[2] <= box->hi[2];
}

/* Next tetrahedron whose leaf's box holds p, or -1. The walk starts with *at = *taken = 0. */
int32_t eb_box_tree_next(const eb_box_tree *tree, const double p[3], int32_t *at, int32_t *taken);

#endif
