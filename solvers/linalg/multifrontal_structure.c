/* The structure of the fronts: which rows they have, where they go in the parent's front, and which
 * entries of A they take. Everything that the numeric factorization would otherwise look up is
 * looked up here, once.
 *
 * Row i of L reaches the supernodes on the paths from A's columns of row i up the tree to i's own
 * supernode; visiting the rows in order therefore gives every supernode its rows in order, without
 * sorting (Liu 1990).
 *
 * Fails when memory is gone.
 * Workspace: 1 integer a node. */
#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal_data.h"

/* ---- rows below the pivots ------------------------------------------------------------------- */

/* mark, count: supernodes. */
static void fill_below(eb_multifrontal *f, const eb_block_matrix *A, int32_t *mark,
                       int32_t *count) {
  const eb_supernodes *t = &f->tree;
  for (int32_t s = 0; s < t->count; s++) mark[s] = -1;
  for (int32_t i = 0; i < t->nodes; i++) {
    int32_t node = t->order[i], last = t->of_node[node];
    for (int32_t b = A->start[node]; b < A->start[node + 1]; b++) {
      if (t->position[A->column[b]] >= i) continue;
      for (int32_t s = t->of_node[A->column[b]]; s != last && mark[s] != i; s = t->parent[s]) {
        mark[s] = i;
        f->below[f->below_start[s] + count[s]++] = i;
      }
    }
  }
}

static eb_error create_below(eb_multifrontal *f, const eb_block_matrix *A) {
  const eb_supernodes *t = &f->tree;
  int32_t *mark = NULL, *count = NULL;
  EB_TRY(EB_NEW(f->below_start, (size_t)t->count + 1));
  for (int32_t s = 0; s < t->count; s++)
    f->below_start[s + 1] = f->below_start[s] + eb_front_below(f, s) / 3;
  EB_TRY(EB_NEW(f->below, f->below_start[t->count]));
  eb_error error = EB_NEW(mark, t->count);
  if (!error) error = EB_NEW(count, t->count);
  if (!error) fill_below(f, A, mark, count);
  free(mark);
  free(count);
  return error;
}

/* ---- children and runs ----------------------------------------------------------------------- */

static eb_error create_children(eb_multifrontal *f) {
  const eb_supernodes *t = &f->tree;
  EB_TRY(EB_NEW(f->child_start, (size_t)t->count + 1));
  int32_t total = 0;
  for (int32_t s = 0; s < t->count; s++)
    if (t->parent[s] >= 0) {
      f->child_start[t->parent[s] + 1]++;
      total++;
    }
  for (int32_t s = 0; s < t->count; s++) f->child_start[s + 1] += f->child_start[s];
  EB_TRY(EB_NEW(f->child, total));
  for (int32_t s = t->count - 1; s >= 0;
       s--) /* from the end: each list's end moves down to its start */
    if (t->parent[s] >= 0) f->child[--f->child_start[t->parent[s] + 1]] = s;
  for (int32_t s = 0; s < t->count; s++) f->child_start[s] = f->child_start[s + 1];
  f->child_start[t->count] = total;
  return EB_OK;
}

/* The runs of s in its parent's front; counts only when `run` is NULL. */
static int64_t find_runs(const eb_multifrontal *f, int32_t s, eb_run *run) {
  int32_t p = f->tree.parent[s];
  if (p < 0) return 0;
  const int32_t *mine = f->below + f->below_start[s], *theirs = f->below + f->below_start[p];
  int32_t count = (int32_t)(f->below_start[s + 1] - f->below_start[s]);
  int32_t first = f->tree.first[p], pivots = f->tree.first[p + 1] - first, at = 0, expected = -1;
  int64_t runs = 0;
  for (int32_t k = 0; k < count; k++) {
    int32_t to = mine[k] - first;
    if (to >= pivots) {
      while (theirs[at] < mine[k]) at++;
      to = pivots + at;
    }
    if (to != expected) {
      if (run) run[runs] = (eb_run){.from = k, .to = to};
      runs++;
    }
    if (run) run[runs - 1].count++;
    expected = to + 1;
  }
  return runs;
}

static eb_error create_runs(eb_multifrontal *f) {
  int32_t count = f->tree.count;
  EB_TRY(EB_NEW(f->run_start, (size_t)count + 1));
  for (int32_t s = 0; s < count; s++) f->run_start[s + 1] = f->run_start[s] + find_runs(f, s, NULL);
  EB_TRY(EB_NEW(f->run, f->run_start[count]));
  for (int32_t s = 0; s < count; s++) find_runs(f, s, f->run + f->run_start[s]);
  return EB_OK;
}

/* ---- entries of A ---------------------------------------------------------------------------- */

/* local: for the nodes below s, by position, their place in the front of s. */
static void fill_entries(eb_multifrontal *f, const eb_block_matrix *A, int32_t *local) {
  const eb_supernodes *t = &f->tree;
  int32_t at = 0;
  for (int32_t s = 0; s < t->count; s++) {
    int32_t first = t->first[s], end = t->first[s + 1], place = end - first;
    for (int64_t k = f->below_start[s]; k < f->below_start[s + 1]; k++)
      local[f->below[k]] = place++;
    for (int32_t j = first; j < end; j++) {
      int32_t node = t->order[j];
      for (int32_t b = A->start[node]; b < A->start[node + 1]; b++) {
        int32_t i = t->position[A->column[b]];
        if (i < j) continue;
        f->entry[at] = b;
        f->target[at++] = i < end ? i - first : local[i];
      }
      f->entry_start[j + 1] = at;
    }
  }
}

static eb_error create_entries(eb_multifrontal *f, const eb_block_matrix *A) {
  int32_t *local, nodes = f->tree.nodes;
  int64_t owned = ((int64_t)A->start[nodes] + nodes) / 2; /* the diagonal and one triangle */
  EB_TRY(EB_NEW(f->entry_start, (size_t)nodes + 1));
  EB_TRY(EB_NEW(f->entry, owned));
  EB_TRY(EB_NEW(f->target, owned));
  EB_TRY(EB_NEW(local, nodes));
  fill_entries(f, A, local);
  free(local);
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

eb_error eb_multifrontal_structure_create(eb_multifrontal *f, const eb_block_matrix *pattern) {
  EB_TRY(create_below(f, pattern));
  EB_TRY(create_children(f));
  EB_TRY(create_runs(f));
  return create_entries(f, pattern);
}

void eb_multifrontal_structure_clear(eb_multifrontal *f) {
  free(f->below_start);
  free(f->below);
  free(f->child_start);
  free(f->child);
  free(f->run_start);
  free(f->run);
  free(f->entry_start);
  free(f->entry);
  free(f->target);
}
