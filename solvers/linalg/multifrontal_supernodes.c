/* From the node graph to supernodes: elimination tree, column counts, supernodes merged and
 * ordered.
 *
 * Tree and counts are found in time almost linear in the entries of A, without forming L:
 *   Liu 1990, "The role of elimination trees in sparse factorization", SIAM J. Matrix Anal. Appl.
 *   11(1), for the tree;
 *   Gilbert, Ng and Peyton 1994, "An efficient algorithm to compute row and column counts for
 *   sparse Cholesky factorization", SIAM J. Matrix Anal. Appl. 15(4), for the counts.
 *
 * A supernode is a set of columns of L that are eliminated together in one dense front. Column k +
 * 1 belongs to the supernode of its only child k when the structure of k is that of k + 1 and k
 * itself (fundamental supernodes: Liu, Ng and Peyton 1993). Structures need not be compared: that
 * of k without k is contained in that of its parent, so that equal counts mean equal sets. These
 * supernodes are small, so a child is merged with its parent, at the price of entries that are
 * zero, whenever one front costs less time than two by the model below (Ashcraft and Grimes 1989
 * merge by counting zeros). All of this is exact but for the model, which decides about time alone:
 * with any merging L is the same matrix.
 *
 * Children are visited in the order of descending (stack needed while the child's subtree is worked
 * on - update matrix left behind), which needs the smallest stack of all orders (Liu 1986, "On the
 * storage requirement in the out-of-core multifrontal method").
 *
 * Workspace: 17 integers a node.
 * Fails when memory is gone and on an order that is no permutation. */
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal_data.h"
#include "solvers/linalg/ordering.h"

/* ---- elimination tree ------------------------------------------------------------------------ */

/* Nodes named by their place in the elimination order. */
typedef struct elimination_tree {
  int32_t nodes;
  int32_t *order;    /* order[k]: the node eliminated k-th */
  int32_t *position; /* its inverse */
  int32_t *parent;   /* the first node below the diagonal of column k of L; -1 at a root */
  int32_t *count;    /* nodes in column k of L, the diagonal among them */
} elimination_tree;

/* Row k of L holds the paths from the columns of A's row k up to k: each path ends below a root of
 * the forest found so far, which then gets k for its parent. `above` shortens the paths. */
static void find_parents(const eb_block_matrix *A, elimination_tree *tree, int32_t *above) {
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

/* Postorder of a forest given by lists: child[k] is the first child of k, sibling[k] the next one
 * after k, `root` the first root; -1 ends a list. rank[k] becomes the place of k. The child lists
 * are used up: they hold what is left to visit, so that no stack is needed. */
static void postorder(int32_t root, const int32_t *parent, int32_t *child, const int32_t *sibling,
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
static void bring_into_postorder(elimination_tree *tree, int32_t *work) {
  int32_t n = tree->nodes, root = -1, *rank = work, *child = rank + n, *sibling = child + n;
  for (int32_t k = 0; k < n; k++) child[k] = -1;
  for (int32_t k = n - 1; k >= 0; k--) { /* lists in ascending order */
    int32_t *list = tree->parent[k] < 0 ? &root : &child[tree->parent[k]];
    sibling[k] = *list;
    *list = k;
  }
  postorder(root, tree->parent, child, sibling, rank);
  int32_t *renamed = child;
  for (int32_t k = 0; k < n; k++)
    renamed[rank[k]] = tree->parent[k] < 0 ? -1 : rank[tree->parent[k]];
  memcpy(tree->parent, renamed, (size_t)n * sizeof *renamed);
  for (int32_t k = 0; k < n; k++) renamed[rank[k]] = tree->order[k];
  memcpy(tree->order, renamed, (size_t)n * sizeof *renamed);
  for (int32_t k = 0; k < n; k++) tree->position[tree->order[k]] = k;
}

/* ---- column counts --------------------------------------------------------------------------- */

/* The root of the tree that k has been joined to, with the path to it shortened: nearly constant
 * time a call (Tarjan 1975). Two leaves of a row's subtree meet in the root of the earlier one's
 * tree, as trees are joined in postorder. */
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
static void count_columns(const eb_block_matrix *A, elimination_tree *tree, int32_t *work) {
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

/* The tree of A's pattern eliminated in `order` (rows entries, a permutation), brought into
 * postorder, which is another order with the same fill: it renames the nodes along the tree and
 * changes no structure (Liu 1990). The arrays are parts of `work`, 8 rows long. */
static eb_error build_tree(const eb_block_matrix *A, const int32_t *order, int32_t *work,
                           elimination_tree *tree) {
  size_t n = (size_t)A->rows;
  *tree = (elimination_tree){A->rows, work, work + n, work + 2 * n, work + 3 * n};
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
  find_parents(A, tree, work + 4 * n);
  bring_into_postorder(tree, work + 4 * n);
  count_columns(A, tree, work + 4 * n);
  return EB_OK;
}

/* ---- fundamental supernodes ------------------------------------------------------------------ */

/* Supernodes while they are merged; those that were merged into another have pivots 0. Counts are
 * in nodes. */
typedef struct forest {
  int32_t count;
  int32_t *begin;          /* count + 1: columns begin[s] .. begin[s + 1] - 1 before merging */
  int32_t *pivots, *below; /* columns, and rows below them */
  int32_t *parent, *child, *sibling;
  int32_t root;                /* first of the roots, which are siblings */
  int32_t *head, *last, *next; /* what s was merged from, in the order of elimination */
} forest;

/* Column k continues the supernode of k - 1 when k - 1 is its only child and count(k - 1) =
 * count(k)
 * + 1: then the structures differ by k - 1 alone. With several children the structures of all would
 * have to be merged, which is what a front is for.
 *
 * Finds the fundamental supernodes and links them as their first columns are linked in the tree.
 * of_column: nodes of workspace. */
static void group_columns(const elimination_tree *tree, forest *f, int32_t *of_column) {
  int32_t *children = f->next; /* of columns, until the lists begin */
  for (int32_t k = 0; k < tree->nodes; k++) children[k] = 0;
  for (int32_t k = 0; k < tree->nodes; k++)
    if (tree->parent[k] >= 0) children[tree->parent[k]]++;
  for (int32_t k = 0; k < tree->nodes; k++) {
    bool continues = k > 0 && tree->parent[k - 1] == k && children[k] == 1 &&
                     tree->count[k - 1] == tree->count[k] + 1;
    if (!continues) f->begin[f->count++] = k;
    of_column[k] = f->count - 1;
  }
  f->begin[f->count] = tree->nodes;
  f->root = -1;
  for (int32_t s = f->count - 1; s >= 0; s--) {
    int32_t end = f->begin[s + 1] - 1, above = tree->parent[end];
    f->pivots[s] = f->begin[s + 1] - f->begin[s];
    f->below[s] = tree->count[end] - 1;
    f->parent[s] = above < 0 ? -1 : of_column[above];
    f->child[s] = -1;
    int32_t *list = above < 0 ? &f->root : &f->child[f->parent[s]];
    f->sibling[s] = *list;
    *list = s;
    f->head[s] = f->last[s] = s;
    f->next[s] = -1;
  }
}

/* ---- merging --------------------------------------------------------------------------------- */

/* Operations of the partial factorization with n scalar pivots and m rows below. The pivot that has
 * i rows below it takes a square root, i divisions and, for the lower triangle of what is left, i
 * (i + 1) / 2 multiplications and as many subtractions: (i + 1)^2 in all. With i + 1 = m + j the
 * sum over j = 1 .. n is
 *   n m^2 + 2 m n (n + 1) / 2 + n (n + 1) (2 n + 1) / 6. */
static double partial_flops(double n, double m) {
  return n * m * m + m * n * (n + 1) + n * (n + 1) * (2 * n + 1) / 6;
}

/* Seconds that a front takes, up to a common factor:
 *   per_front                    what calls and loops cost whatever its size,
 *   per_entry (n (m + n) + m^2)  moving its panel and its update matrix in and out,
 *   per_flop (1 + 6 / n) flops   arithmetic, at half its rate with 6 pivots.
 * Fitted to timings of fronts of 3 to 1000 rows. */
static double front_cost(int32_t pivots, int32_t below) {
  const double per_front = 0.6e-6, per_entry = 0.35e-9, per_flop = 1 / 46e9, half_rate = 6;
  double n = 3.0 * pivots, m = 3.0 * below;
  return per_front + per_entry * (n * (m + n) + m * m) +
         per_flop * (1 + half_rate / n) * partial_flops(n, m);
}

/* Rows do not change: below p's pivots lie p's own rows, which contain c's. Entries that c did not
 * have become explicit zeros, in L as in the front.
 *
 * Merges the child c that *link points at into p; c's children take its place in p's list. */
static void merge(forest *f, int32_t *link, int32_t p) {
  int32_t c = *link, after = f->sibling[c];
  *link = after;
  if (f->child[c] >= 0) {
    int32_t end = f->child[c];
    for (int32_t k = end; k >= 0; k = f->sibling[k]) {
      f->parent[k] = p;
      end = k;
    }
    f->sibling[end] = after;
    *link = f->child[c];
  }
  f->next[f->last[c]] = f->head[p]; /* c's columns come first: what is merged later comes earlier */
  f->head[p] = f->head[c];
  f->pivots[p] += f->pivots[c];
  f->pivots[c] = 0;
}

/* The rows of a child lie in those of its parent, so that both together have the parent's rows
 * below their pivots. From the leaves up: what a parent has taken in is part of what it costs when
 * its own parent looks at it. A merged child is refactored with every other subtree of its parent:
 * merging must save a good part of its cost. */
static void merge_children(forest *f) {
  const double least_saving = 0.1;
  for (int32_t p = 0; p < f->count; p++)
    for (int32_t *link = &f->child[p]; *link >= 0;) {
      double child = front_cost(f->pivots[*link], f->below[*link]);
      double apart = child + front_cost(f->pivots[p], f->below[p]);
      double together = front_cost(f->pivots[*link] + f->pivots[p], f->below[p]);
      if (together < apart - least_saving * child)
        merge(f, link, p);
      else
        link = &f->sibling[*link];
    }
}

/* ---- order of the children ------------------------------------------------------------------- */

typedef struct ranked_child {
  int64_t excess; /* stack needed below it, less its update matrix */
  int32_t s;
} ranked_child;

static int by_excess(const void *a, const void *b) {
  const ranked_child *x = a, *y = b;
  if (x->excess != y->excess) return x->excess < y->excess ? 1 : -1;
  return x->s < y->s ? -1 : 1;
}

static int64_t update_entries(const forest *f, int32_t s) {
  int64_t m = 3 * (int64_t)f->below[s];
  return m * (m + 1) / 2;
}

/* Sorts the children of s and finds the stack that its subtree needs: while child k is worked on,
 * the update matrices of those before it are held, and all of them when s itself is assembled. Two
 * neighbours c, d need max(stack c, U_c + stack d) in this order, and exchanging them cannot lower
 * it when stack c - U_c >= stack d - U_d (Liu 1986). */
static int64_t sort_children(forest *f, int32_t s, const int64_t *stack, ranked_child *work) {
  int32_t count = 0, *link = &f->child[s];
  for (int32_t c = f->child[s]; c >= 0; c = f->sibling[c])
    work[count++] = (ranked_child){stack[c] - update_entries(f, c), c};
  qsort(work, (size_t)count, sizeof *work, by_excess);
  int64_t held = 0, most = 0;
  for (int32_t k = 0; k < count; k++) {
    int32_t c = work[k].s;
    *link = c;
    link = &f->sibling[c];
    if (held + stack[c] > most) most = held + stack[c];
    held += update_entries(f, c);
  }
  *link = -1;
  held += update_entries(f, s);
  return held > most ? held : most;
}

static eb_error order_children(forest *f) {
  int64_t *stack = NULL;
  ranked_child *work = NULL;
  eb_error error = EB_NEW(stack, f->count);
  if (!error) error = EB_NEW(work, f->count);
  for (int32_t s = 0; !error && s < f->count; s++)
    if (f->pivots[s]) stack[s] = sort_children(f, s, stack, work);
  free(stack);
  free(work);
  return error;
}

/* ---- result ---------------------------------------------------------------------------------- */

/* rank: places of the merged supernodes, in their postorder. */
static eb_error number(const elimination_tree *tree, const forest *f, const int32_t *rank,
                       eb_supernodes *out) {
  int32_t *first, *rows, *parent, *order, *position, *of_node;
  double *flops;
  for (int32_t s = 0; s < f->count; s++) out->count += f->pivots[s] > 0;
  EB_TRY(EB_NEW(first, (size_t)out->count + 1));
  out->first = first;
  EB_TRY(EB_NEW(rows, out->count));
  out->rows = rows;
  EB_TRY(EB_NEW(parent, out->count));
  out->parent = parent;
  EB_TRY(EB_NEW(flops, out->count));
  out->flops = flops;
  EB_TRY(EB_NEW(order, out->nodes));
  out->order = order;
  EB_TRY(EB_NEW(position, out->nodes));
  out->position = position;
  EB_TRY(EB_NEW(of_node, out->nodes));
  out->of_node = of_node;
  for (int32_t s = 0; s < f->count; s++) {
    if (!f->pivots[s]) continue;
    int32_t at = rank[s];
    first[at + 1] = f->pivots[s];
    rows[at] = f->pivots[s] + f->below[s];
    parent[at] = f->parent[s] < 0 ? -1 : rank[f->parent[s]];
    flops[at] = partial_flops(3.0 * f->pivots[s], 3.0 * f->below[s]);
  }
  for (int32_t at = 0; at < out->count; at++) first[at + 1] += first[at];
  for (int32_t s = 0; s < f->count; s++) {
    if (!f->pivots[s]) continue;
    int32_t k = first[rank[s]];
    for (int32_t part = f->head[s]; part >= 0; part = f->next[part])
      for (int32_t column = f->begin[part]; column < f->begin[part + 1]; column++, k++) {
        order[k] = tree->order[column];
        position[order[k]] = k;
        of_node[order[k]] = rank[s];
      }
  }
  return EB_OK;
}

/* scratch: nodes + 1 and 8 nodes for the forest, then 4 nodes. */
static eb_error build_supernodes(const elimination_tree *tree, int32_t *scratch,
                                 eb_supernodes *out) {
  size_t n = (size_t)tree->nodes;
  int32_t *next = scratch + n + 1, *work = next + 8 * n;
  forest f = {.begin = scratch,
              .pivots = next,
              .below = next + n,
              .parent = next + 2 * n,
              .child = next + 3 * n,
              .sibling = next + 4 * n,
              .head = next + 5 * n,
              .last = next + 6 * n,
              .next = next + 7 * n};
  group_columns(tree, &f, work);
  merge_children(&f);
  EB_TRY(order_children(&f));
  postorder(f.root, f.parent, f.child, f.sibling, work);
  return number(tree, &f, work, out);
}

eb_error eb_supernodes_create(const eb_block_matrix *pattern, const int32_t *order,
                              eb_step_log *log, eb_supernodes *out) {
  size_t n = (size_t)pattern->rows;
  elimination_tree tree;
  int32_t *work, *nodes = NULL;
  *out = (eb_supernodes){.nodes = pattern->rows};
  EB_TRY(EB_NEW(work, 17 * n + 1));
  eb_log_begin(log, EB_PHASE_ORDER);
  eb_error error = order ? EB_OK : EB_NEW(nodes, n);
  if (!error && !order) error = eb_order_nodes(pattern, nodes);
  if (!error) error = build_tree(pattern, order ? order : nodes, work, &tree);
  eb_log_end(log, EB_PHASE_ORDER);
  eb_log_begin(log, EB_PHASE_ANALYZE);
  if (!error) error = build_supernodes(&tree, work + 4 * n, out);
  eb_log_end(log, EB_PHASE_ANALYZE);
  free(nodes);
  free(work);
  if (error) eb_supernodes_clear(out);
  return error;
}

void eb_supernodes_clear(eb_supernodes *supernodes) {
  free((void *)supernodes->order);
  free((void *)supernodes->position);
  free((void *)supernodes->of_node);
  free((void *)supernodes->first);
  free((void *)supernodes->rows);
  free((void *)supernodes->parent);
  free((void *)supernodes->flops);
  *supernodes = (eb_supernodes){0};
}
