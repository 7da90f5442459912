/* The elimination tree and the column counts of L, in time almost linear in the entries of A.
 *
 * References: Liu 1990, "The role of elimination trees in sparse factorization", SIAM J. Matrix
 * Anal. Appl. 11(1), for the tree; Gilbert, Ng and Peyton 1994, "An efficient algorithm to compute
 * row and column counts for sparse Cholesky factorization", SIAM J. Matrix Anal. Appl. 15(4), for
 * the counts.
 *
 * Workspace: 4 integers a node.
 * Fails when memory is gone and on an order that is no permutation. */
#include "solvers/linalg/multifrontal_tree.h"

#include <string.h>

#include "problems/base/memory.h"

/* ---- order and its inverse ------------------------------------------------------------------- */

static eb_error take_order(eb_elimination_tree *tree, const int32_t *order) {
  for (int32_t k = 0; k < tree->nodes; k++) tree->position[k] = -1;
  for (int32_t k = 0; k < tree->nodes; k++) {
    int32_t node = order[k];
    if (node < 0 || node >= tree->nodes || tree->position[node] >= 0)
      return EB_ERROR(EB_ERR_USAGE,
                      "the elimination order is no permutation of %d nodes: entry %d is %d",
                      tree->nodes, k, node);
    tree->order[k] = node;
    tree->position[node] = k;
  }
  return EB_OK;
}

/* ---- tree ------------------------------------------------------------------------------------ */

/* Row k of L holds the paths from the columns of A's row k up to k: each path ends below a root of
 * the forest found so far, which then gets k for its parent. `above` shortens the paths. */
static void find_parents(const eb_block_matrix *A, eb_elimination_tree *tree, int32_t *above) {
  for (int32_t k = 0; k < tree->nodes; k++) {
    tree->parent[k] = above[k] = -1;
    int32_t node = tree->order[k];
    for (int32_t b = A->start[node]; b < A->start[node + 1]; b++) {
      int32_t i = tree->position[A->column[b]];
      while (i >= 0 && i < k) {
        int32_t next = above[i];
        above[i] = k;
        if (next < 0) tree->parent[i] = k;
        i = next;
      }
    }
  }
}

void eb_postorder(int32_t root, const int32_t *parent, int32_t *child, const int32_t *sibling,
                  int32_t *rank) {
  int32_t ranked = 0;
  for (int32_t k = root; k >= 0;) {
    int32_t down = child[k];
    if (down >= 0) {
      child[k] = sibling[down];
      k = down;
      continue;
    }
    rank[k] = ranked++;
    k = parent[k] >= 0 ? parent[k] : sibling[k];
  }
}

/* Renames the nodes to their postorder. work: 3 nodes. */
static void bring_into_postorder(eb_elimination_tree *tree, int32_t *work) {
  int32_t n = tree->nodes, root = -1, *rank = work, *child = rank + n, *sibling = child + n;
  for (int32_t k = 0; k < n; k++) child[k] = -1;
  for (int32_t k = n - 1; k >= 0; k--) { /* lists in ascending order */
    int32_t *list = tree->parent[k] < 0 ? &root : &child[tree->parent[k]];
    sibling[k] = *list;
    *list = k;
  }
  eb_postorder(root, tree->parent, child, sibling, rank);
  int32_t *renamed = child;
  for (int32_t k = 0; k < n; k++)
    renamed[rank[k]] = tree->parent[k] < 0 ? -1 : rank[tree->parent[k]];
  memcpy(tree->parent, renamed, (size_t)n * sizeof *renamed);
  for (int32_t k = 0; k < n; k++) renamed[rank[k]] = tree->order[k];
  memcpy(tree->order, renamed, (size_t)n * sizeof *renamed);
  for (int32_t k = 0; k < n; k++) tree->position[tree->order[k]] = k;
}

/* ---- column counts --------------------------------------------------------------------------- */

/* The root of the tree that k has been joined to. */
static int32_t find(int32_t *joined, int32_t k) {
  int32_t root = k;
  while (joined[root] != root) root = joined[root];
  while (joined[k] != root) {
    int32_t next = joined[k];
    joined[k] = root;
    k = next;
  }
  return root;
}

/* Row i of L is a subtree with root i whose leaves are columns of A. Column k's count is a sum over
 * its descendants d of +1 for every subtree that d is a leaf of, -1 where two of its paths meet and
 * are counted once, -1 at a root's parent. A column j of A's row i is a leaf unless the leaf before
 * it lies among j's descendants. */
static void count_columns(const eb_block_matrix *A, eb_elimination_tree *tree, int32_t *work) {
  int32_t n = tree->nodes, *first = work, *largest = first + n, *leaf = largest + n;
  int32_t *joined = leaf + n, *count = tree->count;
  for (int32_t k = 0; k < n; k++) {
    first[k] = joined[k] = k;
    largest[k] = leaf[k] = -1;
  }
  for (int32_t k = 0; k < n; k++) { /* first: the first descendant in postorder */
    int32_t p = tree->parent[k];
    count[k] = first[k] == k;
    if (p >= 0 && first[k] < first[p]) first[p] = first[k];
  }
  for (int32_t j = 0; j < n; j++) {
    if (tree->parent[j] >= 0) count[tree->parent[j]]--;
    int32_t node = tree->order[j];
    for (int32_t b = A->start[node]; b < A->start[node + 1]; b++) {
      int32_t i = tree->position[A->column[b]];
      if (i <= j || first[j] <= largest[i]) continue;
      count[j]++;
      if (leaf[i] >= 0) count[find(joined, leaf[i])]--;
      largest[i] = first[j];
      leaf[i] = j;
    }
    if (tree->parent[j] >= 0) joined[j] = tree->parent[j];
  }
  for (int32_t k = 0; k < n; k++)
    if (tree->parent[k] >= 0) count[tree->parent[k]] += count[k];
}

/* ---- life ------------------------------------------------------------------------------------ */

static eb_error build(const eb_block_matrix *pattern, const int32_t *order,
                      eb_elimination_tree *tree, int32_t *work) {
  EB_TRY(EB_NEW(tree->order, tree->nodes));
  EB_TRY(EB_NEW(tree->position, tree->nodes));
  EB_TRY(EB_NEW(tree->parent, tree->nodes));
  EB_TRY(EB_NEW(tree->count, tree->nodes));
  EB_TRY(take_order(tree, order));
  find_parents(pattern, tree, work);
  bring_into_postorder(tree, work);
  count_columns(pattern, tree, work);
  return EB_OK;
}

eb_error eb_elimination_tree_create(const eb_block_matrix *pattern, const int32_t *order,
                                    eb_elimination_tree *tree) {
  *tree = (eb_elimination_tree){.nodes = pattern->rows};
  int32_t *work;
  EB_TRY(EB_NEW(work, 4 * (size_t)pattern->rows));
  eb_error error = build(pattern, order, tree, work);
  free(work);
  if (error) eb_elimination_tree_clear(tree);
  return error;
}

void eb_elimination_tree_clear(eb_elimination_tree *tree) {
  free(tree->order);
  free(tree->position);
  free(tree->parent);
  free(tree->count);
  *tree = (eb_elimination_tree){0};
}
