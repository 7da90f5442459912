/* What the triangular solves of a multifrontal factor consist of. For solvers/linalg/multifrontal_solve*.c only. */
#ifndef EB_LINALG_MULTIFRONTAL_SOLVE_DATA_H
#define EB_LINALG_MULTIFRONTAL_SOLVE_DATA_H

#include "solvers/linalg/multifrontal_data.h"

/* Several right-hand sides are solved for `width` at a time. Their entries of a scalar row are neighbours, filled up to whole
 * vectors of the kernels; rows are in the order of elimination. The vector of supernode s holds its rows below the pivots: what its subtree adds to them going up the
 * tree, the solution there going down.
 *
 * Inside a branch such vectors are needed only until the parent has taken them, and lie in one of the two stacks of the thread
 * that runs the branch: those of even depth in one, those of odd depth in the other, so that a supernode's children
 * are on top of one stack when it puts its own vector on the other. The other supernodes' vectors are
 * `shared`: each has a place of its own. */
struct eb_multifrontal_solver {
  int32_t width;
  int64_t *place;           /* count: first row of the vector of s, in the stacks or in `shared` */
  int64_t shared, stacks;   /* rows of the shared vectors, and of both stacks of a thread */
  void *pivots;             /* 3 nodes x width */
  void *vectors;            /* shared + threads stacks rows x width */
  _Atomic int32_t *waiting; /* branches; going down: parents that the branch still waits for */
  double *refine;           /* in single precision, 3 vectors of 3 nodes: b, b - A x, A x */
};

/* The parent of s takes its vector from the stack. */
static inline bool eb_solve_stacked(const eb_multifrontal *f, int32_t s) {
  int32_t p = f->tree.parent[s];
  return f->branch_of[s] >= 0 && p >= 0 && f->branch_of[p] >= 0;
}

/* One pass over the factor, up and down the tree, for at most `width` right-hand sides:
 * x := (add ? x : 0) + A^-1 b, with b multiplied by `scale` before it is converted to the factor's precision and
 * the solution divided by it. b and x are columns of 3 nodes. */
typedef struct eb_sweep {
  const eb_multifrontal *f;
  int32_t count,
      lanes; /* right-hand sides, and the entries that a row has for them: more are zero */
  const double *b;
  double *x, scale;
  bool add;
  bool parallel; /* in a team of threads */
} eb_sweep;

/* ---- multifrontal_solve_front.c ------------------------------------------------------------------- */

/* One front, whose children (forward) or parent (backward) are done. */
void eb_solve_forward(const eb_sweep *sweep, int32_t s);
void eb_solve_backward(const eb_sweep *sweep, int32_t s);

/* ---- multifrontal_solve_schedule.c ------------------------------------------------------------------ */

void eb_solve_sweep(eb_sweep *sweep);

#endif
