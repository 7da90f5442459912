/* The triangular solves of one front with pivots x and rows below y,
 *
 *   forward    [x; y] := [b; 0] + sum over children of their y,   x := L11^-1 x,   y := y - L21 x
 *   backward   y := the solution there,                           x := L11^-T (x - L21^T y)
 *
 * Going up, lanes in which a subtree has no entries are left out. Every y has its memory, so that
 * the order of all additions to an entry depends on the front alone, whatever thread runs it: the
 * bits do not depend on the threads. Large panels are cut into tasks whose results do not depend on
 * each other. */
#include <omp.h>
#include <string.h>

#include "solvers/linalg/dense.h"
#include "solvers/linalg/multifrontal_solve_data.h"

/* Cuts of large panels: whole strips of the kernels. A task reads some 300 kB of a panel of 1000
 * rows, which takes ten times as long as starting it. */
enum { BLOCK_COLUMNS = 192, CHUNK_ROWS = 384, CHUNK_COLUMNS = 48 };
/* Panels with more elements, outside the branches, are cut. */
static const int64_t large_panel = 150000;

static bool is_large(const eb_multifrontal *f, int32_t s) {
  return f->branch_of[s] < 0 && f->panel[s + 1] - f->panel[s] > large_panel;
}

/* Nodes whose right-hand sides or solutions are fetched ahead. */
enum { AHEAD = 4 };

static void fetch(const void *from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch((const char *)from + at, 0, 2);
}

/* The rows of the node eliminated k-th, where they are neighbours. */
static void fetch_node(const eb_sweep *sweep, const double *rows, int32_t k) {
  if (sweep->side_stride == 1)
    fetch(rows + 3 * (int64_t)sweep->f->tree.order[k] * sweep->row_stride,
          3 * sweep->row_stride * (int64_t)sizeof *rows);
}

#define REAL    double
#define NAME(x) x##_d
#include "solvers/linalg/multifrontal_solve_body.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_s
#include "solvers/linalg/multifrontal_solve_body.h"

void eb_solve_forward(const eb_sweep *sweep, int32_t s) {
  (sweep->f->single_precision ? forward_s : forward_d)(sweep, s);
}

void eb_solve_backward(eb_sweep *sweep, int32_t s) {
  (sweep->f->single_precision ? backward_s : backward_d)(sweep, s);
}
