/* Median splits: n log n to build, n to fit. Workspace: the points of the leaves. */
#include "problems/collision/triangle_tree.h"

#include "problems/base/memory.h"

/* ---- halving --------------------------------------------------------------------------------- */

static int longest_axis(const eb_tree_point *points, int32_t count) {
  float lo[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, hi[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
  for (int32_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      float at = points[i].at[d];
      lo[d] = at < lo[d] ? at : lo[d];
      hi[d] = at > hi[d] ? at : hi[d];
    }
  int axis = 0;
  for (int d = 1; d < 3; d++)
    if (hi[d] - lo[d] > hi[axis] - lo[axis]) axis = d;
  return axis;
}

/* Hoare's selection. */
void eb_tree_halve(eb_tree_point *points, int32_t count, int32_t half) {
  int axis = longest_axis(points, count);
  int32_t lo = 0, hi = count - 1;
  while (lo < hi) {
    float pivot = points[lo + (hi - lo) / 2].at[axis];
    int32_t i = lo, j = hi;
    while (i <= j) {
      while (points[i].at[axis] < pivot) i++;
      while (points[j].at[axis] > pivot) j--;
      if (i > j) break;
      eb_tree_point swap = points[i];
      points[i++] = points[j];
      points[j--] = swap;
    }
    if (half <= j)
      hi = j;
    else if (half >= i)
      lo = i;
    else
      return;
  }
}

/* ---- the tree -------------------------------------------------------------------------------- */

static eb_error allocate(eb_triangle_tree *tree) {
  EB_TRY(EB_NEW(tree->box, tree->node_count));
  EB_TRY(EB_NEW(tree->after, tree->node_count));
  EB_TRY(EB_NEW(tree->leaf, tree->node_count));
  EB_TRY(EB_NEW(tree->body, tree->node_count));
  EB_TRY(EB_NEW(tree->node, tree->leaf_count));
  return EB_NEW(tree->point, tree->leaf_count);
}

eb_error eb_triangle_tree_create(int32_t leaf_count, eb_triangle_tree **out) {
  *out = NULL;
  eb_triangle_tree *tree;
  EB_TRY(EB_NEW(tree, 1));
  tree->leaf_count = leaf_count;
  tree->node_count = leaf_count > 0 ? 2 * leaf_count - 1 : 0;
  eb_error error = allocate(tree);
  if (error)
    eb_triangle_tree_destroy(tree);
  else
    *out = tree;
  return error;
}

void eb_triangle_tree_destroy(eb_triangle_tree *tree) {
  if (!tree) return;
  free(tree->box);
  free(tree->after);
  free(tree->leaf);
  free(tree->body);
  free(tree->node);
  free(tree->point);
  free(tree);
}

static void split(eb_triangle_tree *tree, int32_t node, int32_t first, int32_t count) {
  tree->after[node] = node + 2 * count - 1;
  if (count == 1) {
    tree->leaf[node] = tree->point[first].index;
    tree->node[tree->leaf[node]] = node;
    return;
  }
  int32_t half = count / 2;
  tree->leaf[node] = -1;
  eb_tree_halve(tree->point + first, count, half);
  split(tree, node + 1, first, half);
  split(tree, node + 2 * half, first + half, count - half);
}

void eb_triangle_tree_build(eb_triangle_tree *tree, const eb_bounds *leaves, const int32_t *body) {
  for (int32_t l = 0; l < tree->leaf_count; l++) {
    for (int d = 0; d < 3; d++) tree->point[l].at[d] = leaves[l][d] - leaves[l][4 + d];
    tree->point[l].index = l;
  }
  if (tree->leaf_count > 0) split(tree, 0, 0, tree->leaf_count);
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    int32_t left = n + 1, l = tree->leaf[n];
    int32_t one = l >= 0 ? body[l] : tree->body[left];
    bool same = l >= 0 || one == tree->body[tree->after[left]];
    tree->body[n] = same ? one : -1;
  }
}

/* Children come after their parents: from the last node to the first. */
void eb_triangle_tree_fit(eb_triangle_tree *tree, const eb_bounds *leaves) {
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    int32_t left = n + 1, l = tree->leaf[n];
    tree->box[n] =
        l >= 0 ? leaves[l] : eb_bounds_join(tree->box[left], tree->box[tree->after[left]]);
  }
}
