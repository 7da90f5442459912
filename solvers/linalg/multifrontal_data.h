/* What a multifrontal factor consists of. For solvers/linalg/multifrontal*.c only.
 *
 * Nodes are named by their position in the elimination order; scalar row 3 k + axis belongs to the
 * node eliminated k-th. Supernodes are in postorder: the descendants of s are a contiguous range
 * that ends at s.
 *
 * The front of s has 3 rows[s] scalar rows: first its own (pivots), which are the consecutive
 * scalar rows from 3 first[s] on, then those of the nodes below. Its two parts are kept apart:
 *
 *   panel   [L11; L21], all rows x pivots, column-major; above the diagonal of L11 undefined
 *   update  lower triangle of U, in block columns of eb_update_width columns, each column-major and
 *           trimmed to the rows from its own diagonal on; above the diagonal undefined */
#ifndef EB_LINALG_MULTIFRONTAL_DATA_H
#define EB_LINALG_MULTIFRONTAL_DATA_H

#include <stdatomic.h>

#include "solvers/linalg/multifrontal.h"

typedef struct eb_multifrontal_solver eb_multifrontal_solver; /* of multifrontal_solve.c */

/* A stretch of a front's rows that are neighbours in the parent's front too, in nodes. */
typedef struct eb_run {
  int32_t from;  /* first node, counted from the first node below the pivots */
  int32_t to;    /* where that is in the parent's front, pivots included */
  int32_t count; /* nodes */
} eb_run;

struct eb_multifrontal {
  eb_supernodes tree; /* the arrays belong to this struct */
  int threads;
  int32_t blocks; /* of the pattern */
  eb_keep_updates keep_updates;
  bool single_precision;

  /* Nodes below the pivots of s: below[below_start[s]] .. below[below_start[s + 1] - 1], positions,
   * ascending. Likewise the children of s, ascending, and its runs in its parent's front. */
  int64_t *below_start; /* count + 1 */
  int32_t *below;
  int32_t *child_start; /* count + 1 */
  int32_t *child;
  int64_t *run_start; /* count + 1 */
  eb_run *run;

  /* Blocks of A (entries of eb_block_matrix) owned by the k-th eliminated node, with their places:
   * entry e lands in that node's columns at front node target[e]. A block (j, i) read along its
   * rows is column i of the lower triangle. */
  int32_t *entry_start; /* nodes + 1 */
  int32_t *entry;       /* block */
  int32_t *target;      /* node of the front, pivots included */

  /* Branches: ranges of supernodes, whole subtrees side by side, small enough to be run in sequence
   * by one thread. The supernodes that are in no branch (branch_of -1) are run when their children
   * are done. */
  int32_t branches;
  int32_t *branch_first, *branch_last; /* branches */
  int32_t *branch_of;                  /* count */

  /* Numbers: double, or float in single precision. Offsets count elements. */
  int64_t *panel;          /* count + 1; where the panel of s begins in L */
  uint8_t *kept;           /* count: whether U_s stays; when it does, all above it do too */
  int64_t *update;         /* count; where U_s begins in U, when it does not stay: of thread 0 */
  int64_t update_elements; /* of U */
  int64_t thread_stack;    /* EB_KEEP_UPPER: between the stacks of two threads, else 0 */
  int64_t *branch_stack;   /* branches: that of the thread that runs it, less that of thread 0 */
  void *L, *U;
  void *floor;              /* 3 nodes: what the pivots must exceed */
  _Atomic int32_t *waiting; /* count; while a factorization runs: children that s still waits for */
  uint8_t *formed;          /* count; of an update: only U_s is computed, from L as it is */
  double *seconds;          /* count */
  bool valid;               /* there is a factor */
  int64_t failed_row;
  const eb_block_matrix *A; /* of the last factorization or update */
  eb_multifrontal_memory memory;
  eb_multifrontal_solver *solver;
};

/* ---- shapes of the fronts -------------------------------------------------------------------- */

/* Scalar rows of the front of s: its pivots, those below them, both. */
static inline int32_t eb_front_pivots(const eb_multifrontal *f, int32_t s) {
  return 3 * (f->tree.first[s + 1] - f->tree.first[s]);
}
static inline int32_t eb_front_rows(const eb_multifrontal *f, int32_t s) {
  return 3 * f->tree.rows[s];
}
static inline int32_t eb_front_below(const eb_multifrontal *f, int32_t s) {
  return eb_front_rows(f, s) - eb_front_pivots(f, s);
}

/* Leading dimension for columns of `rows` elements: whole vectors of 32 bytes in either precision,
 * and never a multiple of 512 bytes in tall panels, where columns would share the few cache sets
 * that such a stride reaches. */
static inline int64_t eb_warm_up(int64_t rows) {
  int64_t leading = (rows + 7) / 8 * 8;
  return leading >= 256 && leading % 64 == 0 ? leading + 8 : leading;
}

/* The panel of s is at L + panel[s] with this leading dimension. */
static inline int64_t eb_panel_leading(const eb_multifrontal *f, int32_t s) {
  return eb_warm_up(eb_front_rows(f, s));
}

/* Width of the block columns of an update matrix with m rows; whole nodes and whole register tiles
 * of the kernels. Half a width a row is wasted above the diagonal, but each block column reads all
 * of L21 below it, which in large fronts comes from beyond the caches. */
static inline int64_t eb_update_width(int64_t m) {
  return m < 1200 ? 48 : 240;
}

/* Elements of such an update matrix. */
static inline int64_t eb_update_elements(int64_t m) {
  int64_t elements = 0, width = eb_update_width(m);
  for (; m > 0; m -= width) elements += eb_warm_up(m) * (m < width ? m : width);
  return elements;
}

/* Where U_s begins in U, as long as it lives. */
static inline int64_t eb_update_place(const eb_multifrontal *f, int32_t s) {
  int32_t b = f->branch_of[s];
  return f->update[s] + (f->kept[s] || b < 0 ? 0 : f->branch_stack[b]);
}

static inline int64_t eb_element_bytes(const eb_multifrontal *f) {
  return f->single_precision ? sizeof(float) : sizeof(double);
}

/* ---- multifrontal_supernodes.c --------------------------------------------------------------- */

/* Orders the nodes of the pattern (by METIS when `order` is NULL) and groups the columns of L into
 * supernodes, in the postorder whose stack of update matrices is smallest. The arrays of `out` are
 * new; eb_supernodes_clear frees them. Phases ORDER and ANALYZE. */
EB_MUST eb_error eb_supernodes_create(const eb_block_matrix *pattern, const int32_t *order,
                                      eb_step_log *log, eb_supernodes *out);
void eb_supernodes_clear(eb_supernodes *supernodes);

/* ---- multifrontal_solve.c -------------------------------------------------------------------- */

/* Sets f->solver, for a factor whose structure, branches and panels have been fixed; *bytes: what
 * the next call takes. */
EB_MUST eb_error eb_multifrontal_solver_create(eb_multifrontal *f, int64_t *bytes);
EB_MUST eb_error eb_multifrontal_solver_allocate(eb_multifrontal *f);
void eb_multifrontal_solver_destroy(eb_multifrontal_solver *solver); /* NULL is fine */

#endif
