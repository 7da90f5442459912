/* Halves by the centroids' median along the longest axis at rest; leaves hold up to four tetrahedra.
 * Nodes stand in preorder with the number of the node after their subtree, so that a walk needs no
 * stack. */
#include "problems/collision/box_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"

enum { LEAF = 4 };

/* ---- building -------------------------------------------------------------------------------- */

typedef struct builder {
  const eb_mesh *mesh;
  eb_box_tree *tree;
} builder;

/* Four times a coordinate of the centroid of tetrahedron e at rest. */
static double middle(const eb_mesh *mesh, int32_t e, int axis) {
  const int32_t *corner = mesh->elements + 4 * (size_t)e;
  double sum = 0;
  for (int k = 0; k < 4; k++) sum += mesh->X[3 * (size_t)corner[k] + (size_t)axis];
  return sum;
}

static int longest_axis(const builder *b, int32_t first, int32_t count) {
  double lo[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, hi[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  for (int32_t i = first; i < first + count; i++)
    for (int d = 0; d < 3; d++) {
      double at = middle(b->mesh, b->tree->order[i], d);
      lo[d] = fmin(lo[d], at);
      hi[d] = fmax(hi[d], at);
    }
  int axis = 0;
  for (int d = 1; d < 3; d++)
    if (hi[d] - lo[d] > hi[axis] - lo[axis]) axis = d;
  return axis;
}

/* Hoare's selection: afterwards no centroid before first + half lies beyond one of the others. */
static void halve(const builder *b, int32_t first, int32_t count, int32_t half, int axis) {
  int32_t *order = b->tree->order, lo = first, hi = first + count - 1, target = first + half;
  while (lo < hi) {
    double pivot = middle(b->mesh, order[lo + (hi - lo) / 2], axis);
    int32_t i = lo, j = hi;
    while (i <= j) {
      while (middle(b->mesh, order[i], axis) < pivot) i++;
      while (middle(b->mesh, order[j], axis) > pivot) j--;
      if (i > j) break;
      int32_t swap = order[i];
      order[i++] = order[j];
      order[j--] = swap;
    }
    if (target <= j)
      hi = j;
    else if (target >= i)
      lo = i;
    else
      return;
  }
}

static void split(builder *b, int32_t first, int32_t count) {
  eb_tree_node *node = &b->tree->nodes[b->tree->node_count++];
  node->first = first;
  node->count = count <= LEAF ? count : 0;
  if (count > LEAF) {
    halve(b, first, count, count / 2, longest_axis(b, first, count));
    split(b, first, count / 2);
    split(b, first + count / 2, count - count / 2);
  }
  node->after = b->tree->node_count;
}

eb_error eb_box_tree_create(const eb_mesh *mesh, int32_t *order, int32_t count, eb_box_tree **out) {
  *out = NULL;
  eb_box_tree *tree;
  EB_TRY(EB_NEW(tree, 1));
  tree->order = order;
  /* Leaves hold more than LEAF / 2 once anything is split: fewer than 2 count / LEAF leaves. */
  size_t most = 4 * (size_t)count / LEAF + 1;
  eb_error error = EB_NEW(tree->nodes, most);
  if (!error) error = EB_NEW(tree->boxes, most);
  if (error) {
    eb_box_tree_destroy(tree);
    return error;
  }
  split(&(builder){mesh, tree}, 0, count);
  *out = tree;
  return EB_OK;
}

void eb_box_tree_destroy(eb_box_tree *tree) {
  if (!tree) return;
  free(tree->boxes);
  free(tree->nodes);
  free(tree);
}

/* ---- use ------------------------------------------------------------------------------------- */

static void enclose(eb_box *box, const double lo[3], const double hi[3]) {
  for (int d = 0; d < 3; d++) {
    if (lo[d] < box->lo[d]) box->lo[d] = lo[d];
    if (hi[d] > box->hi[d]) box->hi[d] = hi[d];
  }
}

/* Children come after their parents: from the last node to the first. */
void eb_box_tree_fit(eb_box_tree *tree, const int32_t *tetrahedra, const double *x) {
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    const eb_tree_node *node = &tree->nodes[n];
    eb_box *box = &tree->boxes[n];
    *box = (eb_box){{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (int32_t i = 0; i < 4 * node->count; i++) {
      int32_t e = tree->order[node->first + i / 4];
      const double *p = x + 3 * (size_t)tetrahedra[4 * (size_t)e + (size_t)(i % 4)];
      enclose(box, p, p);
    }
    if (node->count > 0) continue;
    const eb_box *left = box + 1, *right = &tree->boxes[tree->nodes[n + 1].after];
    enclose(box, left->lo, left->hi);
    enclose(box, right->lo, right->hi);
  }
}

int32_t eb_box_tree_next(const eb_box_tree *tree, const double p[3], int32_t *at, int32_t *taken) {
  while (*at < tree->node_count) {
    const eb_tree_node *node = &tree->nodes[*at];
    if (*taken > 0 || eb_box_holds(&tree->boxes[*at], p)) {
      if (*taken < node->count) return tree->order[node->first + (*taken)++];
      *at += 1;
    } else {
      *at = node->after;
    }
    *taken = 0;
  }
  return -1;
}
