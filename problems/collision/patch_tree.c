/* The tree over patches: see patch_tree.h. */
#include "problems/collision/patch_tree.h"

#include <stdlib.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"

eb_error eb_patch_tree_create(int32_t leaf_count, eb_patch_tree *out) {
  EB_ASSERT(leaf_count >= 0);
  *out = (eb_patch_tree){.leaf_count = leaf_count,
                         .node_count = leaf_count > 0 ? 2 * leaf_count - 1 : 0};
  EB_TRY(EB_NEW(out->box, out->node_count));
  EB_TRY(EB_NEW(out->after, out->node_count));
  EB_TRY(EB_NEW(out->leaf, out->node_count));
  EB_TRY(EB_NEW(out->body, out->node_count));
  EB_TRY(EB_NEW(out->node, out->leaf_count));
  return EB_NEW(out->point, out->leaf_count);
}

void eb_patch_tree_clear(eb_patch_tree *tree) {
  free(tree->box);
  free(tree->after);
  free(tree->leaf);
  free(tree->body);
  free(tree->node);
  free(tree->point);
  *tree = (eb_patch_tree){0};
}

static void split(eb_patch_tree *tree, int32_t node, int32_t first, int32_t count) {
  tree->after[node] = node + 2 * count - 1;
  if (count == 1) {
    tree->leaf[node] = tree->point[first].index;
    tree->node[tree->leaf[node]] = node;
    return;
  }
  int32_t half = count / 2;
  tree->leaf[node] = -1;
  eb_median_halve(tree->point + first, count, half);
  split(tree, node + 1, first, half);
  split(tree, node + 2 * half, first + half, count - half);
}

void eb_patch_tree_build(eb_patch_tree *tree, const eb_bounds *leaves, const int32_t *body) {
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
void eb_patch_tree_fit(eb_patch_tree *tree, const eb_bounds *leaves) {
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    int32_t left = n + 1, l = tree->leaf[n];
    tree->box[n] =
        l >= 0 ? leaves[l] : eb_bounds_join(tree->box[left], tree->box[tree->after[left]]);
  }
}
