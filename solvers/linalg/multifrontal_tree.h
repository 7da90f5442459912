/* Elimination trees of node graphs. For solvers/linalg/multifrontal*.c only. */
#ifndef EB_LINALG_MULTIFRONTAL_TREE_H
#define EB_LINALG_MULTIFRONTAL_TREE_H

#include "problems/elasticity/block_matrix.h"

/* Nodes named by their place in the elimination order. */
typedef struct eb_elimination_tree {
  int32_t nodes;
  int32_t *order;    /* order[k]: the node eliminated k-th */
  int32_t *position; /* its inverse */
  int32_t *parent;   /* the first node below the diagonal of column k of L; -1 at a root */
  int32_t *count;    /* nodes in column k of L, the diagonal among them */
} eb_elimination_tree;

/* The tree of A's pattern eliminated in `order` (rows entries, a permutation), brought into
 * postorder, which is another order with the same fill. */
EB_MUST eb_error eb_elimination_tree_create(const eb_block_matrix *pattern, const int32_t *order,
                                            eb_elimination_tree *tree);
void eb_elimination_tree_clear(eb_elimination_tree *tree);

/* Postorder of a forest given by lists: child[k] is the first child of k, sibling[k] the next one
 * after k, `root` the first root; -1 ends a list. rank[k] becomes the place of k. The child lists
 * are used up. */
void eb_postorder(int32_t root, const int32_t *parent, int32_t *child, const int32_t *sibling,
                  int32_t *rank);

#endif
