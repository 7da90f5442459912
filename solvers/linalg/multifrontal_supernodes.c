/* Supernodes: columns of L that are eliminated together in one dense front.
 *
 * Column k + 1 belongs to the supernode of its only child k when the structure of k is that of k +
 * 1 and k itself (fundamental supernodes: Liu, Ng and Peyton 1993). These supernodes are small, so
 * a child is merged with its parent, at the price of entries that are zero, whenever one front
 * costs less time than two by the model below (Ashcraft and Grimes 1989 merge by counting zeros).
 *
 * Children are visited in the order of descending (stack needed while the child's subtree is worked
 * on - update matrix left behind), which needs the smallest stack of all orders (Liu 1986, "On the
 * storage requirement in the out-of-core multifrontal method").
 *
 * Workspace: 10 integers a node. */
#include "solvers/linalg/multifrontal_supernodes.h"

#include "problems/base/memory.h"

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

static eb_error allocate(forest *f, int32_t nodes) {
  size_t n = (size_t)nodes;
  EB_TRY(EB_NEW(f->begin, n + 1));
  EB_TRY(EB_NEW(f->pivots, n));
  EB_TRY(EB_NEW(f->below, n));
  EB_TRY(EB_NEW(f->parent, n));
  EB_TRY(EB_NEW(f->child, n));
  EB_TRY(EB_NEW(f->sibling, n));
  EB_TRY(EB_NEW(f->head, n));
  EB_TRY(EB_NEW(f->last, n));
  return EB_NEW(f->next, n);
}

static void clear(forest *f) {
  free(f->begin);
  free(f->pivots);
  free(f->below);
  free(f->parent);
  free(f->child);
  free(f->sibling);
  free(f->head);
  free(f->last);
  free(f->next);
}

/* ---- fundamental supernodes ------------------------------------------------------------------ */

/* Finds where supernodes begin; of_column, children: nodes. */
static void group_columns(const eb_elimination_tree *tree, forest *f, int32_t *of_column,
                          int32_t *children) {
  for (int32_t k = 0; k < tree->nodes; k++) children[k] = 0;
  for (int32_t k = 0; k < tree->nodes; k++)
    if (tree->parent[k] >= 0) children[tree->parent[k]]++;
  f->count = 0;
  for (int32_t k = 0; k < tree->nodes; k++) {
    bool continues = k > 0 && tree->parent[k - 1] == k && children[k] == 1 &&
                     tree->count[k - 1] == tree->count[k] + 1;
    if (!continues) f->begin[f->count++] = k;
    of_column[k] = f->count - 1;
  }
  f->begin[f->count] = tree->nodes;
}

static void link_supernodes(const eb_elimination_tree *tree, forest *f, const int32_t *of_column) {
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

/* Operations of the partial factorization with n scalar pivots and m rows below: the sum of (m +
 * j)^2 for j = 1 .. n. */
static double partial_flops(double n, double m) {
  return n * m * m + m * n * (n + 1) + n * (n + 1) * (2 * n + 1) / 6;
}

/* Seconds that a front takes, up to a common factor: what calls and loops cost whatever its size,
 * moving its entries in and out, and arithmetic, which is slow with few pivots. Fitted to timings
 * of fronts of 3 to 1000 rows. */
static double front_cost(int32_t pivots, int32_t below) {
  const double per_front = 0.6e-6, per_entry = 0.35e-9, per_flop = 1 / 46e9, half_rate = 6;
  double n = 3.0 * pivots, m = 3.0 * below;
  return per_front + per_entry * (n * (m + n) + m * m) +
         per_flop * (1 + half_rate / n) * partial_flops(n, m);
}

/* A merged child is refactored with every other subtree of its parent: merging must save a good
 * part of its cost. */
static bool worth_merging(const forest *f, int32_t c, int32_t p) {
  const double least_saving = 0.1;
  double child = front_cost(f->pivots[c], f->below[c]);
  double apart = child + front_cost(f->pivots[p], f->below[p]);
  return front_cost(f->pivots[c] + f->pivots[p], f->below[p]) < apart - least_saving * child;
}

/* Merges the child c that *link points at into p; c's children take its place in p's list. */
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

static void merge_children(forest *f) {
  for (int32_t p = 0; p < f->count; p++)
    for (int32_t *link = &f->child[p]; *link >= 0;) {
      if (worth_merging(f, *link, p))
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

/* Sorts the children of s and finds the stack that its subtree needs. */
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

static eb_error allocate_result(eb_supernodes *out, int32_t **first, int32_t **rows,
                                int32_t **parent, double **flops) {
  size_t count = (size_t)out->count;
  eb_error error = EB_NEW(*first, count + 1);
  out->first = *first;
  if (!error) error = EB_NEW(*rows, count);
  out->rows = *rows;
  if (!error) error = EB_NEW(*parent, count);
  out->parent = *parent;
  if (!error) error = EB_NEW(*flops, count);
  out->flops = *flops;
  return error;
}

/* The merged supernode s as number `at`. */
static void number_columns(const eb_elimination_tree *tree, const forest *f, int32_t s, int32_t at,
                           int32_t first, eb_supernodes *out) {
  int32_t *order = (int32_t *)out->order, *position = (int32_t *)out->position;
  int32_t *of_node = (int32_t *)out->of_node, k = first;
  for (int32_t part = f->head[s]; part >= 0; part = f->next[part])
    for (int32_t column = f->begin[part]; column < f->begin[part + 1]; column++) {
      int32_t node = tree->order[column];
      order[k] = node;
      position[node] = k++;
      of_node[node] = at;
    }
}

/* rank: places of the merged supernodes, in their postorder. */
static eb_error number(const eb_elimination_tree *tree, const forest *f, const int32_t *rank,
                       eb_supernodes *out) {
  int32_t *first = NULL, *rows = NULL, *parent = NULL;
  double *flops = NULL;
  out->count = 0;
  for (int32_t s = 0; s < f->count; s++) out->count += f->pivots[s] > 0;
  EB_TRY(allocate_result(out, &first, &rows, &parent, &flops));
  for (int32_t s = 0; s < f->count; s++) {
    if (!f->pivots[s]) continue;
    int32_t at = rank[s];
    first[at + 1] = f->pivots[s];
    rows[at] = f->pivots[s] + f->below[s];
    parent[at] = f->parent[s] < 0 ? -1 : rank[f->parent[s]];
    flops[at] = partial_flops(3.0 * f->pivots[s], 3.0 * f->below[s]);
  }
  for (int32_t at = 0; at < out->count; at++) first[at + 1] += first[at];
  for (int32_t s = 0; s < f->count; s++)
    if (f->pivots[s]) number_columns(tree, f, s, rank[s], first[rank[s]], out);
  return EB_OK;
}

static eb_error build(const eb_elimination_tree *tree, forest *f, int32_t *work,
                      eb_supernodes *out) {
  int32_t *order, *position, *of_node;
  EB_TRY(allocate(f, tree->nodes));
  EB_TRY(EB_NEW(order, tree->nodes));
  out->order = order;
  EB_TRY(EB_NEW(position, tree->nodes));
  out->position = position;
  EB_TRY(EB_NEW(of_node, tree->nodes));
  out->of_node = of_node;
  group_columns(tree, f, work, f->next);
  link_supernodes(tree, f, work);
  merge_children(f);
  EB_TRY(order_children(f));
  eb_postorder(f->root, f->parent, f->child, f->sibling, work);
  return number(tree, f, work, out);
}

eb_error eb_supernodes_create(const eb_elimination_tree *tree, eb_supernodes *supernodes) {
  *supernodes = (eb_supernodes){.nodes = tree->nodes};
  forest f = {0};
  int32_t *work;
  EB_TRY(EB_NEW(work, tree->nodes));
  eb_error error = build(tree, &f, work, supernodes);
  clear(&f);
  free(work);
  if (error) eb_supernodes_clear(supernodes);
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
