/* Where the numbers of a multifrontal factor lie, how much memory that is, and which subtrees one
 * thread runs alone.
 *
 * Kept update matrices lie one after the other. Those that are dropped lie in one stack, whose
 * places are fixed here: the subtree of s works in an interval of its own that holds U_s at one end
 * and, while s waits for them, the update matrices of its children packed at the other; each
 * child's subtree works in what is left beside its elder siblings' update matrices. A supernode
 * whose children may be at work at the same time gives each of them an interval of its own instead.
 * So nothing is allocated, moved or decided while numbers are computed, and the memory is known.
 *
 * Fails with EB_ERR_MEMORY when the sum is above the limit, before the numbers' memory is taken. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal_data.h"

/* ---- branches -------------------------------------------------------------------------------- */

/* A branch has at most this share of all flops: many per thread, so that threads end together. */
static const double branch_share = 1.0 / 48;
/* And at least these, when there are as many: some 50 microseconds, a hundred times what starting a
 * task takes. */
static const double branch_flops = 2e6;

/* tree: flops of the subtree of s. */
static void subtree_flops(const eb_supernodes *t, double *tree) {
  for (int32_t s = 0; s < t->count; s++) tree[s] = t->flops[s];
  for (int32_t s = 0; s < t->count; s++)
    if (t->parent[s] >= 0) tree[t->parent[s]] += tree[s];
}

/* Puts the subtree first .. root into the branch that ends beside it, when there is one with room,
 * or into a new one. */
static void add_to_branch(eb_multifrontal *f, int32_t first, int32_t root, double flops,
                          double most, double *filled) {
  int32_t b = f->branches - 1;
  if (b < 0 || f->branch_last[b] + 1 != first || *filled + flops > most) {
    f->branch_first[++b] = first;
    f->branches++;
    *filled = 0;
  }
  f->branch_last[b] = root;
  *filled += flops;
  for (int32_t s = first; s <= root; s++) f->branch_of[s] = b;
}

/* tree, first: flops and first supernode of every subtree. */
static void cut_branches(eb_multifrontal *f, const double *tree, const int32_t *first) {
  const eb_supernodes *t = &f->tree;
  double total = 0, filled = 0;
  for (int32_t s = 0; s < t->count; s++) total += t->flops[s];
  double most = fmax(total * branch_share, branch_flops);
  for (int32_t s = 0; s < t->count; s++) {
    f->branch_of[s] = -1;
    bool root = tree[s] <= most && (t->parent[s] < 0 || tree[t->parent[s]] > most);
    if (root) add_to_branch(f, first[s], s, tree[s], most, &filled);
  }
}

static eb_error create_branches(eb_multifrontal *f) {
  const eb_supernodes *t = &f->tree;
  double *tree = NULL;
  int32_t *first = NULL;
  EB_TRY(EB_NEW(f->branch_first, t->count));
  EB_TRY(EB_NEW(f->branch_last, t->count));
  EB_TRY(EB_NEW(f->branch_of, t->count));
  eb_error error = EB_NEW(tree, t->count);
  if (!error) error = EB_NEW(first, t->count);
  if (!error) {
    subtree_flops(t, tree);
    for (int32_t s = 0; s < t->count; s++)
      first[s] = f->child_start[s] < f->child_start[s + 1] ? first[f->child[f->child_start[s]]] : s;
    cut_branches(f, tree, first);
  }
  free(tree);
  free(first);
  return error;
}

/* ---- the stack of update matrices ------------------------------------------------------------ */

static int64_t update_size(const eb_multifrontal *f, int32_t s) {
  return eb_update_elements(eb_front_below(f, s));
}

/* Children of s may be at work at the same time. */
static bool forks(const eb_multifrontal *f, int32_t s) {
  return f->threads > 1 && f->branch_of[s] < 0;
}

/* The interval that s needs, from those of its children. */
static int64_t interval(const eb_multifrontal *f, int32_t s, const int64_t *size) {
  int64_t used = 0, most = 0;
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++) {
    int32_t c = f->child[k];
    int64_t filled = used + update_size(f, c); /* up to the end of U_c */
    bool last = k + 1 == f->child_start[s + 1];
    if (used + size[c] > most) most = used + size[c];
    used = forks(f, s) && !last ? used + size[c] : filled;
  }
  used += update_size(f, s);
  return used > most ? used : most;
}

/* Gives the children of s their intervals: start and, in `high`, at which end their update matrix
 * lies, the one away from that of s. */
static void place_children(eb_multifrontal *f, int32_t s, const int64_t *size, int64_t *start,
                           uint8_t *high) {
  int64_t used = 0;
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++) {
    int32_t c = f->child[k];
    high[c] = !high[s];
    start[c] = high[s] ? start[s] + used : start[s] + size[s] - used - size[c];
    used += forks(f, s) ? size[c] : update_size(f, c);
  }
}

static void place_updates(eb_multifrontal *f, int64_t *size, int64_t *start, uint8_t *high) {
  const eb_supernodes *t = &f->tree;
  int64_t end = 0; /* of the roots, which may all be at work at the same time */
  for (int32_t s = 0; s < t->count; s++) size[s] = interval(f, s, size);
  for (int32_t s = t->count - 1; s >= 0; s--) {
    if (t->parent[s] < 0) {
      start[s] = f->threads > 1 ? end : 0;
      end = start[s] + size[s] > end ? start[s] + size[s] : end;
    }
    f->update[s] = high[s] ? start[s] + size[s] - update_size(f, s) : start[s];
    place_children(f, s, size, start, high);
  }
  f->update_elements = end;
}

static eb_error stack_updates(eb_multifrontal *f) {
  int64_t *size = NULL, *start = NULL;
  uint8_t *high = NULL;
  eb_error error = EB_NEW(size, f->tree.count);
  if (!error) error = EB_NEW(start, f->tree.count);
  if (!error) error = EB_NEW(high, f->tree.count);
  if (!error) place_updates(f, size, start, high);
  free(size);
  free(start);
  free(high);
  return error;
}

static void keep_updates(eb_multifrontal *f) {
  for (int32_t s = 0; s < f->tree.count; s++) {
    f->update[s] = f->update_elements;
    f->update_elements += update_size(f, s);
  }
}

static eb_error place_numbers(eb_multifrontal *f) {
  size_t count = (size_t)f->tree.count;
  EB_TRY(EB_NEW(f->panel, count + 1));
  EB_TRY(EB_NEW(f->update, count));
  for (int32_t s = 0; s < f->tree.count; s++)
    f->panel[s + 1] = f->panel[s] + eb_panel_leading(f, s) * eb_front_pivots(f, s);
  if (f->keep_updates)
    keep_updates(f);
  else
    EB_TRY(stack_updates(f));
  return EB_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int64_t element_bytes(const eb_multifrontal *f) {
  return f->single_precision ? sizeof(float) : sizeof(double);
}

static void predict(eb_multifrontal *f) {
  int64_t count = f->tree.count, nodes = f->tree.nodes;
  int64_t per_supernode =
      4 * 8 + 2 * sizeof(double) + 9 * sizeof(int32_t); /* offsets, costs, tree */
  f->memory.factor = f->panel[count] * element_bytes(f);
  f->memory.updates = f->update_elements * element_bytes(f);
  f->memory.workspace = count * per_supernode + 4 * nodes * (int64_t)sizeof(int32_t) +
                        f->below_start[count] * (int64_t)sizeof(int32_t) +
                        f->run_start[count] * (int64_t)sizeof(eb_run) +
                        2 * f->entry_start[nodes] * (int64_t)sizeof(int32_t) +
                        3 * nodes * element_bytes(f);
}

static eb_error check_limit(const eb_multifrontal *f, int64_t limit) {
  const double mega = 1e-6;
  char what[160], advice[96];
  eb_multifrontal_memory m = f->memory;
  double needed = (double)(m.factor + m.updates + m.workspace);
  snprintf(what, sizeof what,
           "the factor of %d nodes (L %.0f MB, update matrices %.0f MB, workspace %.0f MB)",
           f->tree.nodes, mega * (double)m.factor, mega * (double)m.updates,
           mega * (double)m.workspace);
  snprintf(advice, sizeof advice, "use a smaller scene%s or cg",
           f->keep_updates ? ", drop the update matrices" : "");
  if (!limit) return eb_memory_require(needed, what, advice);
  if (needed <= (double)limit) return EB_OK;
  return EB_ERROR(EB_ERR_MEMORY, "%s needs %.0f MB, more than the limit of %.0f MB; %s", what,
                  mega * needed, mega * (double)limit, advice);
}

/* Zeroed memory for numbers. Large blocks lie in large pages: walking over the columns of a front
 * touches a new small page with every column. */
static eb_error allocate_numbers(int64_t bytes, void **out) {
  const size_t page = (size_t)2 << 20;
  size_t size = (size_t)bytes, alignment = size >= 2 * page ? page : 64;
  size = (size / alignment + 1) * alignment;
  *out = aligned_alloc(alignment, size);
  if (!*out)
    return EB_ERROR(EB_ERR_MEMORY,
                    "cannot allocate %lld bytes for a factor; use a smaller scene or cg",
                    (long long)bytes);
  if (alignment == page) madvise(*out, size, MADV_HUGEPAGE); /* advice: refusal changes nothing */
  memset(*out, 0, size);
  return EB_OK;
}

eb_error eb_multifrontal_layout_create(eb_multifrontal *f, int64_t limit) {
  EB_TRY(create_branches(f));
  EB_TRY(place_numbers(f));
  int64_t solver;
  EB_TRY(eb_multifrontal_solver_create(f, &solver));
  predict(f);
  f->memory.workspace += solver;
  EB_TRY(check_limit(f, limit));
  EB_TRY(eb_multifrontal_solver_allocate(f));
  EB_TRY(EB_NEW(f->seconds, f->tree.count));
  EB_TRY(EB_NEW(f->waiting, f->tree.count));
  EB_TRY(allocate_numbers(3 * f->tree.nodes * element_bytes(f), &f->floor));
  EB_TRY(allocate_numbers(f->memory.factor, &f->L));
  return allocate_numbers(f->memory.updates, &f->U);
}

void eb_multifrontal_layout_clear(eb_multifrontal *f) {
  free(f->branch_first);
  free(f->branch_last);
  free(f->branch_of);
  free(f->panel);
  free(f->update);
  free(f->seconds);
  free(f->waiting);
  free(f->floor);
  free(f->L);
  free(f->U);
  eb_multifrontal_solver_destroy(f->solver);
}
