/* Which thread solves with which front when. Going up the tree, a task for every branch runs its
 * supernodes in sequence, the others are run by whoever finishes the last of their children; going
 * down, a supernode's task starts those of its children, and a branch's starts when the parents of
 * all its subtrees are done.
 *
 * A small factor is used by the calling thread alone: waking a team takes some 50 microseconds. */
#include <omp.h>

#include "solvers/linalg/multifrontal_solve_data.h"

/* Bytes of L times right-hand sides: some 200 microseconds for both passes. */
static const double least_parallel_bytes = 3e6;

static bool in_branch(const eb_multifrontal *f, int32_t s) {
  return s >= 0 && f->branch_of[s] >= 0;
}

/* ---- up -------------------------------------------------------------------------------------- */

/* A child of p is done; goes on with p, and so up the tree, when it was the last. */
static void climb(const eb_sweep *sweep, int32_t p) {
  const eb_multifrontal *f = sweep->f;
  while (p >= 0 && atomic_fetch_sub(&f->waiting[p], 1) == 1) {
    eb_solve_forward(sweep, p);
    p = f->tree.parent[p];
  }
}

static void run_branch_up(const eb_sweep *sweep, int32_t b) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t s = f->branch_first[b]; s <= f->branch_last[b]; s++) {
    int32_t p = f->tree.parent[s];
    eb_solve_forward(sweep, s);
    if (!in_branch(f, p)) climb(sweep, p);
  }
}

static void start_up(const eb_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t s = 0; s < f->tree.count; s++)
    f->waiting[s] = f->child_start[s + 1] - f->child_start[s];
  for (int32_t b = 0; b < f->branches; b++) {
#pragma omp task firstprivate(b)
    run_branch_up(sweep, b);
  }
  for (int32_t s = 0; s < f->tree.count; s++) {
    if (in_branch(f, s) || f->child_start[s] < f->child_start[s + 1]) continue;
#pragma omp task firstprivate(s)
    {
      eb_solve_forward(sweep, s);
      climb(sweep, f->tree.parent[s]);
    }
  }
}

/* ---- down ------------------------------------------------------------------------------------ */

static void run_branch_down(eb_sweep *sweep, int32_t b) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t s = f->branch_last[b]; s >= f->branch_first[b]; s--) eb_solve_backward(sweep, s);
}

static void descend(eb_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  eb_solve_backward(sweep, s);
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++) {
    int32_t c = f->child[k], b = f->branch_of[c];
    if (b < 0) {
#pragma omp task firstprivate(c)
      descend(sweep, c);
    } else if (atomic_fetch_sub(&f->solver->waiting[b], 1) == 1) {
#pragma omp task firstprivate(b)
      run_branch_down(sweep, b);
    }
  }
}

/* Subtrees of branches whose roots have a parent wait for it. */
static void count_waiting_branches(const eb_multifrontal *f) {
  for (int32_t b = 0; b < f->branches; b++) f->solver->waiting[b] = 0;
  for (int32_t s = 0; s < f->tree.count; s++)
    if (in_branch(f, s) && f->tree.parent[s] >= 0 && !in_branch(f, f->tree.parent[s]))
      f->solver->waiting[f->branch_of[s]]++;
}

static void start_down(eb_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  count_waiting_branches(f);
  for (int32_t b = 0; b < f->branches; b++) {
    if (f->solver->waiting[b] > 0) continue;
#pragma omp task firstprivate(b)
    run_branch_down(sweep, b);
  }
  for (int32_t s = f->tree.count - 1; s >= 0; s--) {
    if (in_branch(f, s) || f->tree.parent[s] >= 0) continue;
#pragma omp task firstprivate(s)
    descend(sweep, s);
  }
}

/* ---- both ------------------------------------------------------------------------------------ */

static void run_parallel(eb_sweep *sweep) {
  int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(sweep->f->threads)
#pragma omp single
  {
#pragma omp taskgroup
    start_up(sweep);
    start_down(sweep);
  }
  omp_set_max_active_levels(levels);
}

void eb_solve_sweep(eb_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  double bytes = (double)f->memory.factor * sweep->count;
  sweep->parallel = f->threads > 1 && bytes > least_parallel_bytes;
  if (sweep->parallel) {
    run_parallel(sweep);
    return;
  }
  for (int32_t s = 0; s < f->tree.count; s++) eb_solve_forward(sweep, s);
  for (int32_t s = f->tree.count - 1; s >= 0; s--) eb_solve_backward(sweep, s);
}
