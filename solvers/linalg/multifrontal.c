/* Life of a multifrontal factor and what its callers see; see multifrontal.h for the equations.
 *
 *   ordering.c                 nested dissection of the node graph
 *   multifrontal_supernodes.c  elimination tree, column counts, supernodes, merged
 *   multifrontal_factor.c      numbers of the fronts, whole or in parts, on several threads
 *   multifrontal_solve.c       triangular solves and refinement
 *   dense.c, dense_wide.c      kernels of one front
 *
 * What lies where: the rows of the fronts and their places in the parents' fronts, the entries of A
 * that they take, which subtrees one thread runs alone, and the memory of the numbers. Everything
 * that the numeric factorization would otherwise look up is looked up here, once.
 *
 * Row i of L reaches the supernodes on the paths from A's columns of row i up the tree to i's own
 * supernode; visiting the rows in order therefore gives every supernode its rows in order, without
 * sorting (Liu 1990).
 *
 * Kept update matrices lie one after the other. Those that are dropped lie in a stack, whose
 * places are fixed here: the subtree of s works in an interval of its own that holds U_s at one end
 * and, while s waits for them, the update matrices of its children packed at the other; each
 * child's subtree works in what is left beside its elder siblings' update matrices. A supernode
 * whose children may be at work at the same time gives each of them an interval of its own instead.
 * Where only update matrices of small subtrees are dropped, each of which one thread runs alone,
 * every thread has a stack for the one that it is at.
 * So nothing is allocated, moved or decided while numbers are computed, and the memory is known.
 *
 * Workspace: 2 integers a node, and some 20 bytes a supernode.
 * Fails with EB_ERR_MEMORY when the sum is above the limit, before the numbers' memory is taken. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal_data.h"

/* ---- rows below the pivots ------------------------------------------------------------------- */

/* The walk up from a column of row i ends where another column of the row has passed: mark. Every
 * step but the last one writes an entry, so that the time is that of the result. */
static eb_error create_below(eb_multifrontal *f, const eb_block_matrix *A) {
  const eb_supernodes *t = &f->tree;
  int32_t *mark;
  EB_TRY(EB_NEW(f->below_start, (size_t)t->count + 1));
  for (int32_t s = 0; s < t->count; s++)
    f->below_start[s + 1] = f->below_start[s] + eb_front_below(f, s) / 3;
  EB_TRY(EB_NEW(f->below, f->below_start[t->count]));
  EB_TRY(EB_NEW(mark, 2 * (size_t)t->count));
  int32_t *count = mark + t->count;
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
  free(mark);
  return EB_OK;
}

/* ---- children and runs ----------------------------------------------------------------------- */

/* The rows of a child below its pivots lie in the parent's front, in the same order, and mostly in
 * long stretches: adding stretches instead of rows one by one is what makes the assembly run at the
 * speed of memory.
 *
 * The runs of s in its parent's front; counts only when `run` is NULL. */
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

/* ---- entries of A ---------------------------------------------------------------------------- */

/* Each entry of the diagonal and of one triangle is owned once: by the earlier of its nodes. */
static eb_error create_entries(eb_multifrontal *f, const eb_block_matrix *A) {
  const eb_supernodes *t = &f->tree;
  int64_t owned = ((int64_t)A->start[t->nodes] + t->nodes) / 2;
  int32_t at = 0, *local; /* of the nodes below s, by position: their place in the front of s */
  EB_TRY(EB_NEW(f->entry_start, (size_t)t->nodes + 1));
  EB_TRY(EB_NEW(f->entry, owned));
  EB_TRY(EB_NEW(f->target, owned));
  EB_TRY(EB_NEW(local, t->nodes));
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
  free(local);
  return EB_OK;
}

/* ---- branches -------------------------------------------------------------------------------- */

/* A branch has at most this share of all flops: many per thread, so that threads end together. */
static const double branch_share = 1.0 / 48;
/* And at least these, when there are as many: some 50 microseconds, a hundred times what starting a
 * task takes. */
static const double branch_flops = 2e6;

/* The flops of each subtree, and the most that one in a branch may have. */
static double subtree_flops(const eb_supernodes *t, double *subtree) {
  double total = 0;
  for (int32_t s = 0; s < t->count; s++) subtree[s] = t->flops[s], total += t->flops[s];
  for (int32_t s = 0; s < t->count; s++)
    if (t->parent[s] >= 0) subtree[t->parent[s]] += subtree[s];
  return fmax(total * branch_share, branch_flops);
}

/* Roots of branches are the highest supernodes whose subtrees have few enough flops; a small
 * subtree joins the branch that ends beside it, when that has room. */
static eb_error cut_branches(eb_multifrontal *f) {
  const eb_supernodes *t = &f->tree;
  double *subtree;
  EB_TRY(EB_NEW(f->branch_first, t->count));
  EB_TRY(EB_NEW(f->branch_last, t->count));
  EB_TRY(EB_NEW(f->branch_of, t->count));
  EB_TRY(EB_NEW(subtree, 2 * (size_t)t->count));
  int32_t *first = (int32_t *)(subtree + t->count); /* supernode of each subtree */
  double most = subtree_flops(t, subtree), filled = 0;
  for (int32_t s = 0; s < t->count; s++)
    first[s] = f->child_start[s] < f->child_start[s + 1] ? first[f->child[f->child_start[s]]] : s;
  for (int32_t s = 0; s < t->count; s++) {
    f->branch_of[s] = -1;
    if (subtree[s] > most || (t->parent[s] >= 0 && subtree[t->parent[s]] <= most)) continue;
    int32_t b = f->branches - 1;
    if (b < 0 || f->branch_last[b] + 1 != first[s] || filled + subtree[s] > most) {
      b = f->branches++;
      f->branch_first[b] = first[s];
      filled = 0;
    }
    f->branch_last[b] = s;
    filled += subtree[s];
    for (int32_t k = first[s]; k <= s; k++) f->branch_of[k] = b;
  }
  free(subtree);
  return EB_OK;
}

/* ---- the stack of update matrices ------------------------------------------------------------ */

static int64_t update_size(const eb_multifrontal *f, int32_t s) {
  return eb_update_elements(eb_front_below(f, s));
}

/* What U_s takes of a stack. */
static int64_t stacked(const eb_multifrontal *f, int32_t s) {
  return f->kept[s] ? 0 : update_size(f, s);
}

/* Within a branch one thread works, and the children of s follow each other: the memory is that of
 * a stack (Liu 1986). Above the branches it is the sum of what may live at the same time. Either
 * way the places depend on the tree and on whether there are several threads, not on how many.
 *
 * Children of s may be at work in the same stack at the same time. */
static bool forks(const eb_multifrontal *f, int32_t s) {
  return f->keep_updates == EB_KEEP_NONE && f->threads > 1 && f->branch_of[s] < 0;
}

/* The interval that s needs, from those of its children. */
static int64_t interval(const eb_multifrontal *f, int32_t s, const int64_t *size) {
  int64_t used = 0, most = 0;
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++) {
    int32_t c = f->child[k];
    int64_t filled = used + stacked(f, c); /* up to the end of U_c */
    bool last = k + 1 == f->child_start[s + 1];
    if (used + size[c] > most) most = used + size[c];
    used = forks(f, s) && !last ? used + size[c] : filled;
  }
  used += stacked(f, s);
  return used > most ? used : most;
}

/* Sizes of the intervals from the leaves up, their places from the roots down. `high` says at which
 * end of its interval an update matrix lies: children's at the one away from that of s, so that U_s
 * can grow while theirs are still read. A supernode that is kept finds the stack empty, since all
 * above it are kept. Returns the size of the stack, whose places are in f->update. */
static int64_t stack_updates(eb_multifrontal *f, int64_t *size, int64_t *start, uint8_t *high) {
  const eb_supernodes *t = &f->tree;
  int64_t end = 0; /* of the roots, which may all be at work at the same time */
  for (int32_t s = 0; s < t->count; s++) size[s] = interval(f, s, size);
  for (int32_t s = t->count - 1; s >= 0; s--) {
    if (t->parent[s] < 0 || f->kept[s]) {
      start[s] = f->threads > 1 && !f->kept[s] ? end : 0;
      end = start[s] + size[s] > end ? start[s] + size[s] : end;
    }
    if (!f->kept[s]) f->update[s] = high[s] ? start[s] + size[s] - stacked(f, s) : start[s];
    int64_t used = 0;
    for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++) {
      int32_t c = f->child[k];
      high[c] = !high[s];
      start[c] = high[s] ? start[s] + used : start[s] + size[s] - used - size[c];
      used += forks(f, s) ? size[c] : stacked(f, c);
    }
  }
  return end;
}

/* Update matrices that are kept have a place of their own each: a partial factorization reads
 * those of children that it does not factor again. Otherwise U_s lives until its parent has been
 * assembled, and the same memory serves many in turn. */
static void place_updates(eb_multifrontal *f, int64_t *work, uint8_t *high) {
  int32_t count = f->tree.count;
  int64_t kept = 0, stack = stack_updates(f, work, work + count, high);
  for (int32_t s = 0; s < count; s++) {
    if (!f->kept[s]) continue;
    f->update[s] = kept;
    kept += update_size(f, s);
  }
  for (int32_t s = 0; s < count; s++)
    if (!f->kept[s]) f->update[s] += kept;
  bool own = f->keep_updates == EB_KEEP_UPPER;
  f->thread_stack = own ? stack : 0;
  f->update_elements = kept + stack * (own ? f->threads : 1);
}

/* What is inside a subtree of few flops is dropped. An update that touches such a subtree forms
 * again what it does not factor there: n m^2 operations a front, none of the elimination. The price
 * is bounded by the subtree's share of all operations, the same for every front of the tree, and
 * the memory lies in many small fronts with few pivots, where it buys most: so the bound on the
 * flops grows from next to nothing until what is left is half, with one thread. Beyond a branch,
 * several threads would be at work. */
static void keep_upper(eb_multifrontal *f, double *subtree, int64_t *work, uint8_t *high) {
  const eb_supernodes *t = &f->tree;
  const double step = 1.2, smallest = 1e-3;
  double most = subtree_flops(t, subtree), bound = smallest * most;
  int64_t all = 0, left;
  for (int32_t s = 0; s < t->count; s++) all += update_size(f, s);
  do {
    bound = fmin(step * bound, most);
    for (int32_t s = 0; s < t->count; s++)
      f->kept[s] = t->parent[s] < 0 || subtree[t->parent[s]] > bound;
    place_updates(f, work, high);
    left = f->update_elements - (f->threads - 1) * f->thread_stack;
  } while (2 * left > all && bound < most);
}

static eb_error place_numbers(eb_multifrontal *f) {
  int32_t count = f->tree.count;
  double *subtree = NULL;
  int64_t *work = NULL;
  uint8_t *high = NULL;
  EB_TRY(EB_NEW(f->panel, (size_t)count + 1));
  EB_TRY(EB_NEW(f->kept, count));
  EB_TRY(EB_NEW(f->update, count));
  EB_TRY(EB_NEW(f->branch_stack, f->branches));
  for (int32_t s = 0; s < count; s++) {
    f->panel[s + 1] = f->panel[s] + eb_panel_leading(f, s) * eb_front_pivots(f, s);
    f->kept[s] = f->keep_updates == EB_KEEP_ALL;
  }
  eb_error error = EB_NEW(subtree, count);
  if (!error) error = EB_NEW(work, 2 * (size_t)count);
  if (!error) error = EB_NEW(high, count);
  if (!error && f->keep_updates == EB_KEEP_UPPER) keep_upper(f, subtree, work, high);
  if (!error && f->keep_updates != EB_KEEP_UPPER) place_updates(f, work, high);
  free(subtree);
  free(work);
  free(high);
  return error;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Predicts the memory, and that it is not above `limit`; `solver`: bytes of the solves. */
static eb_error check_memory(eb_multifrontal *f, int64_t solver, int64_t limit) {
  const double mega = 1e-6;
  int64_t count = f->tree.count, nodes = f->tree.nodes, element = eb_element_bytes(f);
  int64_t per_supernode =
      4 * 8 + 2 * sizeof(double) + 9 * sizeof(int32_t) + 2; /* offsets, costs, tree, marks */
  char what[160], advice[96];
  eb_multifrontal_memory m = {
      .factor = f->panel[count] * element,
      .updates = f->update_elements * element,
      .workspace = solver + count * per_supernode + 4 * nodes * (int64_t)sizeof(int32_t) +
                   f->below_start[count] * (int64_t)sizeof(int32_t) +
                   f->run_start[count] * (int64_t)sizeof(eb_run) +
                   2 * f->entry_start[nodes] * (int64_t)sizeof(int32_t) + 3 * nodes * element};
  double needed = (double)(m.factor + m.updates + m.workspace);
  f->memory = m;
  snprintf(what, sizeof what,
           "the factor of %d nodes (L %.0f MB, update matrices %.0f MB, workspace %.0f MB)",
           f->tree.nodes, mega * (double)m.factor, mega * (double)m.updates,
           mega * (double)m.workspace);
  snprintf(advice, sizeof advice, "use a smaller scene%s or cg",
           f->keep_updates == EB_KEEP_ALL     ? ", keep the upper fronts' update matrices only"
           : f->keep_updates == EB_KEEP_UPPER ? ", drop the update matrices"
                                              : "");
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

/* ---- the whole layout ------------------------------------------------------------------------ */

/* The order of the calls is that of what they read: rows of the fronts; runs, which match them
 * with the rows of the parents; branches, cut from the tree by operations; places of the
 * numbers, for which it matters which subtrees one thread runs alone; and the solves' own
 * workspace. Then all that memory is known, and nothing large has been taken yet. */
static eb_error create_layout(eb_multifrontal *f, const eb_block_matrix *pattern, int64_t limit) {
  int32_t count = f->tree.count;
  int64_t solver = 0;
  EB_TRY(create_below(f, pattern));
  const eb_supernodes *t = &f->tree;
  int32_t *start;
  EB_TRY(EB_NEW(start, (size_t)t->count + 1));
  f->child_start = start;
  for (int32_t s = 0; s < t->count; s++)
    if (t->parent[s] >= 0) start[t->parent[s]]++;
  for (int32_t s = 0; s < t->count; s++) start[s + 1] += start[s];
  EB_TRY(EB_NEW(f->child, start[t->count]));
  for (int32_t s = t->count - 1; s >= 0; s--) /* from the end: a list's end moves to its start */
    if (t->parent[s] >= 0) f->child[--start[t->parent[s]]] = s;
  EB_TRY(EB_NEW(f->run_start, (size_t)count + 1));
  for (int32_t s = 0; s < count; s++) f->run_start[s + 1] = f->run_start[s] + find_runs(f, s, NULL);
  EB_TRY(EB_NEW(f->run, f->run_start[count]));
  for (int32_t s = 0; s < count; s++) find_runs(f, s, f->run + f->run_start[s]);
  EB_TRY(create_entries(f, pattern));
  EB_TRY(cut_branches(f));
  EB_TRY(place_numbers(f));
  EB_TRY(eb_multifrontal_solver_create(f, &solver));
  return check_memory(f, solver, limit);
}

static eb_error allocate(eb_multifrontal *f) {
  EB_TRY(eb_multifrontal_solver_allocate(f));
  EB_TRY(EB_NEW(f->seconds, f->tree.count));
  f->tree.seconds = f->seconds;
  EB_TRY(EB_NEW(f->waiting, f->tree.count));
  EB_TRY(EB_NEW(f->formed, f->tree.count));
  EB_TRY(allocate_numbers(3 * f->tree.nodes * eb_element_bytes(f), &f->floor));
  EB_TRY(allocate_numbers(f->memory.factor, &f->L));
  return allocate_numbers(f->memory.updates, &f->U);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Every block has its mirror image, rows ascend: reading the blocks row by row, the mirror images
 * of a row come in its own order. next: rows of workspace. */
static bool is_symmetric(const eb_block_matrix *A, int32_t *next) {
  for (int32_t i = 0; i < A->rows; i++) {
    next[i] = A->start[i];
    if (A->start[i] > A->start[i + 1] || A->diagonal[i] < A->start[i] ||
        A->diagonal[i] >= A->start[i + 1] || A->column[A->diagonal[i]] != i)
      return false;
  }
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t j = A->column[b];
      if (j < 0 || j >= A->rows || next[j] >= A->start[j + 1] || A->column[next[j]++] != i)
        return false;
    }
  return true;
}

static eb_error analyze(eb_multifrontal *f, const eb_multifrontal_settings *settings,
                        const eb_block_matrix *pattern, int64_t limit, eb_step_log *log) {
  int32_t *work;
  if (pattern->rows < 0 || pattern->rows > INT32_MAX / 3)
    return EB_ERROR(EB_ERR_LIMIT, "a factor of %d nodes; it can index 0 to %d", pattern->rows,
                    INT32_MAX / 3);
  EB_TRY(EB_NEW(work, pattern->rows));
  bool symmetric = pattern->start[0] == 0 && is_symmetric(pattern, work);
  free(work);
  if (!symmetric)
    return EB_ERROR(EB_ERR_INVALID, "the pattern to factor is not symmetric, not sorted or lacks a "
                                    "diagonal block");
  f->blocks = pattern->start[pattern->rows];
  EB_TRY(eb_supernodes_create(pattern, settings->order, log, &f->tree));
  eb_log_begin(log, EB_PHASE_ANALYZE);
  eb_error error = create_layout(f, pattern, limit);
  eb_log_end(log, EB_PHASE_ANALYZE);
  return error;
}

static eb_error build(eb_multifrontal *f, const eb_multifrontal_settings *settings,
                      const eb_block_matrix *pattern, eb_step_log *log) {
  const eb_supernodes *t = &f->tree;
  int32_t *pivots;
  EB_TRY(analyze(f, settings, pattern, settings->memory_limit, log));
  eb_log_begin(log, EB_PHASE_ANALYZE);
  eb_error error = allocate(f);
  eb_log_end(log, EB_PHASE_ANALYZE);
  EB_TRY(error);
  eb_log_memory(log, EB_MEMORY_FACTOR, (double)f->memory.factor);
  eb_log_memory(log, EB_MEMORY_UPDATES, (double)f->memory.updates);
  EB_TRY(EB_NEW(pivots, t->count));
  for (int32_t s = 0; s < t->count; s++) pivots[s] = t->first[s + 1] - t->first[s];
  error = eb_log_tree(log, t->count, t->parent, pivots, t->rows, t->flops);
  free(pivots);
  return error;
}

static eb_error start(const eb_multifrontal_settings *settings, eb_multifrontal **out) {
  *out = NULL;
  if (settings->threads < 1 || settings->memory_limit < 0)
    return EB_ERROR(EB_ERR_USAGE,
                    "multifrontal factor: %d threads (at least 1), memory limit %lld (at least 0)",
                    settings->threads, (long long)settings->memory_limit);
  EB_TRY(EB_NEW(*out, 1));
  (*out)->threads = settings->threads;
  (*out)->keep_updates = settings->keep_updates;
  (*out)->single_precision = settings->single_precision;
  (*out)->failed_row = -1;
  return EB_OK;
}

eb_error eb_multifrontal_create(const eb_multifrontal_settings *settings,
                                const eb_block_matrix *pattern, eb_step_log *log,
                                eb_multifrontal **out) {
  EB_ASSERT(pattern && out);
  EB_TRY(start(settings, out));
  eb_error error = build(*out, settings, pattern, log);
  if (!error) return EB_OK;
  eb_multifrontal_destroy(*out);
  *out = NULL;
  return error;
}

eb_error eb_multifrontal_predict(const eb_multifrontal_settings *settings,
                                 const eb_block_matrix *pattern, eb_multifrontal_memory *memory,
                                 double *flops) {
  eb_multifrontal *f;
  EB_TRY(start(settings, &f));
  eb_error error = analyze(f, settings, pattern, INT64_MAX, NULL);
  *memory = f->memory;
  *flops = 0;
  for (int32_t s = 0; s < f->tree.count; s++) *flops += f->tree.flops[s];
  eb_multifrontal_destroy(f);
  return error;
}

void eb_multifrontal_destroy(eb_multifrontal *f) {
  if (!f) return;
  free(f->below_start);
  free(f->below);
  free(f->child_start);
  free(f->child);
  free(f->run_start);
  free(f->run);
  free(f->entry_start);
  free(f->entry);
  free(f->target);
  free(f->branch_first);
  free(f->branch_last);
  free(f->branch_of);
  free(f->panel);
  free(f->kept);
  free(f->update);
  free(f->branch_stack);
  free(f->seconds);
  free((void *)f->waiting);
  free(f->formed);
  free(f->floor);
  free(f->L);
  free(f->U);
  eb_multifrontal_solver_destroy(f->solver);
  eb_supernodes_clear(&f->tree);
  free(f);
}

const eb_supernodes *eb_multifrontal_supernodes(const eb_multifrontal *factor) {
  return &factor->tree;
}

int64_t eb_multifrontal_failed_row(const eb_multifrontal *factor) {
  return factor->failed_row;
}

/* ---- the factor as a sparse matrix ----------------------------------------------------------- */

int64_t eb_multifrontal_entries(const eb_multifrontal *f) {
  int64_t entries = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int64_t n = eb_front_pivots(f, s);
    entries += n * eb_front_rows(f, s) - n * (n - 1) / 2;
  }
  return entries;
}

/* Entries: a front with n pivots and R rows has n columns, of R, R - 1, ... R - n + 1 entries.
 *
 * Compressed columns, explicit zeros of merged supernodes included. Row r of a front's columns is
 * the r-th pivot, or an axis of the node (r - n) / 3 below them. */
void eb_multifrontal_export(const eb_multifrontal *f, int64_t *start, int32_t *row, double *value) {
  EB_ASSERT(f->valid && start && row && value);
  int64_t at = 0, column = 0;
  start[0] = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int64_t ld = eb_panel_leading(f, s), n = eb_front_pivots(f, s);
    const int32_t *below = f->below + f->below_start[s];
    for (int64_t j = 0; j < n; j++) {
      int64_t offset = f->panel[s] + j * ld;
      for (int64_t r = j; r < eb_front_rows(f, s); r++) {
        row[at] = r < n ? (int32_t)(3 * (int64_t)f->tree.first[s] + r)
                        : 3 * below[(r - n) / 3] + (int32_t)((r - n) % 3);
        value[at++] = f->single_precision ? (double)((const float *)f->L)[offset + r]
                                          : ((const double *)f->L)[offset + r];
      }
      start[++column] = at;
    }
  }
}
