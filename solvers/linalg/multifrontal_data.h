/* What a multifrontal factor consists of. For solvers/linalg/multifrontal*.c only.
 *
 * Nodes are named by their position in the elimination order; scalar row 3 k + axis belongs to the node eliminated
 * k-th. Supernodes are in postorder: the descendants of s are a contiguous range that ends at s.
 *
 * The front of s has 3 rows[s] scalar rows: first its own (pivots), which are the consecutive scalar
 * rows from 3 first[s] on, then those of the nodes below. Its two parts are kept apart:
 *
 *   panel   [L11; L21], all rows x pivots, column-major; above the diagonal of L11 undefined
 *   update  lower triangle of U, in block columns of EB_UPDATE_WIDTH columns, each column-major and trimmed to
 *           the rows from its own diagonal on; above the diagonal undefined */
#ifndef EB_LINALG_MULTIFRONTAL_DATA_H
#define EB_LINALG_MULTIFRONTAL_DATA_H

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
  bool keep_updates, single_precision;

  int64_t *below_start; /* count + 1 */
  int32_t *
      below; /* nodes below the pivots of s: below[below_start[s]] .. below[below_start[s + 1] - 1], positions,
                           ascending */
  int32_t *child_start; /* count + 1 */
  int32_t
      *child; /* children of s: child[child_start[s]] .. child[child_start[s + 1] - 1], ascending */
  int64_t *run_start; /* count + 1 */
  eb_run *run;        /* of s: run[run_start[s]] .., ascending */

  /* Blocks of A (entries of eb_block_matrix) owned by the k-th eliminated node, with their places: entry e lands in that
   * node's columns at front node target[e]. A block (j, i) read along its rows is column i of the lower triangle. */
  int32_t *entry_start; /* nodes + 1 */
  int32_t *entry;       /* block */
  int32_t *target;      /* node of the front, pivots included */

  /* Branches: disjoint subtrees small enough to be run in sequence by one thread, b from branch_first[b] to branch_root[b].
   * The supernodes above them (branch_of -1) are run when their children are done. */
  int32_t branches;
  int32_t *branch_first, *branch_root; /* branches */
  int32_t *branch_of;                  /* count */

  /* Numbers: double, or float in single precision. Offsets count elements. */
  int64_t *panel;  /* count + 1; where the panel of s begins in L */
  int64_t *update; /* count + 1; where the update matrix of s begins in U */
  void *L, *U;
  double *seconds; /* count */
  bool valid;      /* there is a factor */
  int64_t failed_row;
  const eb_block_matrix *A; /* of the last factorization or update that succeeded */
  eb_multifrontal_memory memory;
  eb_multifrontal_solver *solver;
};

/* ---- shapes of the fronts -------------------------------------------------------------------------- */

enum {
  EB_UPDATE_WIDTH = 96
}; /* scalar columns; whole nodes and whole register tiles of the kernels */

static inline int32_t eb_front_pivots(const eb_multifrontal *f, int32_t s) { /* scalar */
  return 3 * (f->tree.first[s + 1] - f->tree.first[s]);
}
static inline int32_t eb_front_rows(const eb_multifrontal *f,
                                    int32_t s) { /* scalar, pivots included */
  return 3 * f->tree.rows[s];
}

/* Leading dimension for columns of `rows` elements: whole vectors of 32 bytes in either precision, and never a
 * multiple of 512 bytes in tall panels, where columns would share the few cache sets that such a stride reaches. */
static inline int64_t eb_leading(int64_t rows) {
  int64_t leading = (rows + 7) / 8 * 8;
  return leading >= 256 && leading % 64 == 0 ? leading + 8 : leading;
}

/* The panel of s is at L + panel[s] with this leading dimension. */
static inline int64_t eb_panel_leading(const eb_multifrontal *f, int32_t s) {
  return eb_leading(eb_front_rows(f, s));
}

/* ---- multifrontal_solve.c ---------------------------------------------------------------------------- */

/* Bytes that the next call will take, from the structure alone (everything above `L` is there). */
int64_t eb_multifrontal_solver_bytes(const eb_multifrontal *f);
/* Sets f->solver. */
EB_MUST eb_error eb_multifrontal_solver_create(eb_multifrontal *f);
void eb_multifrontal_solver_destroy(eb_multifrontal_solver *solver); /* NULL is fine */

#endif
