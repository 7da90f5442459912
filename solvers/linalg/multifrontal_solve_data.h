/* What the triangular solves of a multifrontal factor consist of. For
 * solvers/linalg/multifrontal_solve*.c only. */
#ifndef EB_LINALG_MULTIFRONTAL_SOLVE_DATA_H
#define EB_LINALG_MULTIFRONTAL_SOLVE_DATA_H

#include "solvers/linalg/multifrontal_data.h"

/* Lanes are filled up to whole groups of so many: whole vectors, since masked stores would hold up
 * the loads that follow. */
enum { EB_LANE_GROUP = 8 };

/* Several right-hand sides are solved for `width` at a time. Their entries of a scalar row are
 * neighbours (lanes), filled up to whole groups; rows are in the order of elimination. The vector
 * of supernode s holds its rows below the pivots: what its subtree adds to them going up the tree,
 * the solution there going down.
 *
 * Inside a branch such vectors are needed only until the parent has taken them, and lie in one of
 * the two stacks of the thread that runs the branch: those of even depth in one, those of odd depth
 * in the other, so that a supernode's children are on top of one stack when it puts its own vector
 * on the other. The other supernodes' vectors are `shared`: each has a place of its own. */
struct eb_multifrontal_solver {
  int32_t width;
  int64_t *place;         /* count: first row of the vector of s, in the stacks or in `shared` */
  int64_t shared, stacks; /* rows of the shared vectors, and of both stacks of a thread */
  void *pivots;           /* 3 nodes x width */
  void *vectors;          /* shared + threads stacks rows x width */
  /* count: the groups of lanes in which the right-hand sides have an entry in the subtree of s, a
   * bit each. Going up the tree the others stay 0 at s: nothing is done for them, and their part of
   * the vector of s is undefined. */
  uint8_t *filled;
  _Atomic int32_t *waiting; /* branches; going down: parents that the branch still waits for */
  double *refine;           /* in single precision, 4 vectors of 3 nodes: b, b - A x, A x, x */
};

/* The parent of s takes its vector from the stack. */
static inline bool eb_solve_stacked(const eb_multifrontal *f, int32_t s) {
  int32_t p = f->tree.parent[s];
  return f->branch_of[s] >= 0 && p >= 0 && f->branch_of[p] >= 0;
}

/* One pass over the factor, up and down the tree, for at most `width` right-hand sides: x := (add ?
 * x : 0) + A^-1 b, with b multiplied by `scale` before it is converted to the factor's precision
 * and the solution divided by it. Entry (row, r) of b and x is at [row x row_stride + r x
 * side_stride]. */
typedef struct eb_sweep {
  const eb_multifrontal *f;
  int32_t count,
      lanes; /* right-hand sides, and the entries that a row has for them: more are zero */
  const double *b;
  double *x, scale;
  int64_t row_stride, side_stride;
  bool add;
  bool parallel;         /* in a team of threads */
  _Atomic bool infinite; /* an entry of the solution is not finite */
} eb_sweep;

/* Lanes beside each other. */
typedef struct eb_lanes {
  int32_t from, count;
} eb_lanes;

/* The next run of lanes whose groups are in `groups`, from {0, 0} on; false when there is none. */
static inline bool eb_next_lanes(const eb_sweep *sweep, uint8_t groups, eb_lanes *run) {
  int32_t group = sweep->lanes < EB_LANE_GROUP ? sweep->lanes : EB_LANE_GROUP;
  int32_t g = (run->from + run->count) / group, groups_of_row = sweep->lanes / group;
  while (g < groups_of_row && !(groups >> g & 1)) g++;
  run->from = g * group;
  while (g < groups_of_row && groups >> g & 1) g++;
  run->count = g * group - run->from;
  return run->count > 0;
}

/* ---- multifrontal_solve_front.c -------------------------------------------------------------- */

/* One front, whose children (forward) or parent (backward) are done. */
void eb_solve_forward(const eb_sweep *sweep, int32_t s);
void eb_solve_backward(eb_sweep *sweep, int32_t s);

/* ---- multifrontal_solve_schedule.c ----------------------------------------------------------- */

void eb_solve_sweep(eb_sweep *sweep);

#endif
