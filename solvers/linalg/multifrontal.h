/* A = L L^T by a supernodal multifrontal factorization that can be brought up to date in parts.
 *
 * The node graph is ordered by nested dissection (METIS), nodes of like structure are eliminated
 * together in supernodes, and every supernode s owns a dense front over its own nodes (pivots) and
 * the later nodes they touch:
 *
 *   F_s = [A's entries of s's pivots] + sum over children c of (U_c, extended)
 *       = [L11; L21] [L11; L21]^T + [0 0; 0 U_s]
 *
 * With the update matrices U kept, a change of A is followed by refactoring the fronts of the
 * supernodes that hold the changed entries and of their ancestors, and nothing else. With those of
 * small subtrees dropped, which are more than half of the bytes, the ones that an update reads are
 * formed again first.
 *
 * References: Duff and Reid 1983; Liu 1992, "The multifrontal method for sparse matrix solution",
 * SIAM Review 34(1); Hecht, Lee, Shewchuk and O'Brien 2012, Section 4.3, for the partial
 * refactorization.
 *
 * Entry (i, j) of A is owned by the supernode in which the earlier of the nodes i and j is
 * eliminated. An element's entries are therefore owned by the supernode of its first eliminated
 * node and by ancestors of it.
 *
 * One factor serves one call at a time and uses up to `threads` OpenMP threads; the numbers have
 * the same bits for any number of threads. Calls after create allocate nothing. */
#ifndef EB_LINALG_MULTIFRONTAL_H
#define EB_LINALG_MULTIFRONTAL_H

#include "problems/elasticity/block_matrix.h"
#include "solvers/solver.h"

typedef struct eb_multifrontal eb_multifrontal;

/* Which update matrices stay after a factorization. The place of one that does not is used again
 * once its parent has taken it. The numbers have the same bits either way. */
typedef enum eb_keep_updates {
  EB_KEEP_NONE, /* a change of A is followed by a whole factorization */
  /* All but those inside subtrees of few operations: as many of these, up to a 48th of all
   * operations each, as bring the bytes to half of those of EB_KEEP_ALL. */
  EB_KEEP_UPPER,
  EB_KEEP_ALL
} eb_keep_updates;

typedef struct eb_multifrontal_settings {
  eb_keep_updates keep_updates;
  /* Factor in float, whose range A's entries must not leave; solves are refined to double accuracy
   * (one right-hand side at a time, A kept by reference). */
  bool single_precision;
  int threads; /* at least 1 */
  /* Bytes; EB_ERR_MEMORY before the numbers' memory is taken when the prediction exceeds it; 0:
   * what this process may still take (eb_available_memory). */
  int64_t memory_limit;
  /* order[k]: the node eliminated k-th, for comparisons at equal ordering; NULL: METIS. Read by
   * create only, which takes a postorder of its tree with the same fill. */
  const int32_t *order;
} eb_multifrontal_settings;

/* Orders, analyzes, predicts the memory and takes it, for the pattern of A (whose values are not
 * read). Phases ORDER and ANALYZE; memory and tree go to `log` (may be NULL). */
EB_MUST eb_error eb_multifrontal_create(const eb_multifrontal_settings *settings,
                                        const eb_block_matrix *pattern, eb_step_log *log,
                                        eb_multifrontal **out);
void eb_multifrontal_destroy(eb_multifrontal *factor);

/* The elimination tree of supernodes. Owned by the factor. */
typedef struct eb_supernodes {
  int32_t count, nodes;
  const int32_t *order;    /* nodes: the node eliminated k-th */
  const int32_t *position; /* nodes: its inverse */
  const int32_t *of_node;  /* nodes: the supernode that node is eliminated in */
  /* count + 1: supernode s eliminates order[first[s]] .. order[first[s+1]-1] */
  const int32_t *first;
  const int32_t *rows;   /* count: nodes of the front, pivots included */
  const int32_t *parent; /* count: parent[s] > s, or -1 at a root; children precede their parents */
  const double *flops;   /* count: of the front's partial factorization, assembly apart */
  const double *seconds; /* count: wall time of the front when it was last factored */
} eb_supernodes;
const eb_supernodes *eb_multifrontal_supernodes(const eb_multifrontal *factor);

/* Bytes, as predicted before they were taken. */
typedef struct eb_multifrontal_memory {
  int64_t factor;    /* L */
  int64_t updates;   /* kept update matrices, and the largest stacks of others that live at once */
  int64_t workspace; /* indices, right-hand sides, what threads need */
} eb_multifrontal_memory;
/* What eb_multifrontal_create would take for this pattern, whatever the limit, and the flops of a
 * whole factorization: by the same analysis, without the numbers' memory. */
EB_MUST eb_error eb_multifrontal_predict(const eb_multifrontal_settings *settings,
                                         const eb_block_matrix *pattern,
                                         eb_multifrontal_memory *memory, double *flops);

/* Factors A whole. *reason is EB_NOT_POSITIVE_DEFINITE when a pivot is not positive or is only
 * rounding (64 eps of A's diagonal entry), EB_DIVERGED_NAN when an entry of A is not finite, else
 * EB_CONVERGED_DIRECT. After a negative reason there is no factor until a whole factorization
 * succeeds. Counts factorizations and flops in `log` (may be NULL). */
EB_MUST eb_error eb_multifrontal_factor(eb_multifrontal *factor, const eb_block_matrix *A,
                                        eb_step_log *log, eb_reason *reason);
/* Follows a change of A. marked[s] != 0 (count bytes) says that entries owned by supernode s have
 * changed; on return the ancestors that were refactored with them are marked too. Nothing marked:
 * nothing is done. Same outcomes as factor, the same numbers too. The flops in `log` include those
 * of forming update matrices again, tree.seconds does not. EB_ERR_USAGE with EB_KEEP_NONE or
 * without a factor. */
EB_MUST eb_error eb_multifrontal_update(eb_multifrontal *factor, const eb_block_matrix *A,
                                        uint8_t *marked, eb_step_log *log, eb_reason *reason);
/* After EB_NOT_POSITIVE_DEFINITE: the scalar row 3 node + axis whose pivot failed; else -1. */
int64_t eb_multifrontal_failed_row(const eb_multifrontal *factor);

/* Solves A X = B for `count` right-hand sides, columns of 3 nodes doubles one after the other, in
 * the nodes' own order. B and X may be the same. *reason: EB_DIVERGED_NAN when the solution is not
 * finite, EB_DIVERGED_LINEAR_SOLVE when refinement stalls above double accuracy, else
 * EB_CONVERGED_DIRECT. */
EB_MUST eb_error eb_multifrontal_solve(eb_multifrontal *factor, int32_t count, const double *b,
                                       double *x, eb_step_log *log, eb_reason *reason);

/* The same with right-hand sides and solutions stored by rows, which are read and written faster:
 * those of a scalar row are neighbours, at b + row x stride and x + row x stride, stride >= count.
 *
 * Either way the work up the tree is done only for supernodes in whose subtree a right-hand side
 * has an entry, 8 right-hand sides (from the first on) together: those with entries everywhere are
 * best kept apart from the others. */
EB_MUST eb_error eb_multifrontal_solve_rows(eb_multifrontal *factor, int32_t count, int64_t stride,
                                            const double *b, double *x, eb_step_log *log,
                                            eb_reason *reason);

/* The factor as a sparse matrix, for tests and comparisons: entries of L with row >= column in
 * elimination order, scalar columns; start has 3 nodes + 1 entries, row and value room for
 * eb_multifrontal_entries. */
int64_t eb_multifrontal_entries(const eb_multifrontal *factor);
void eb_multifrontal_export(const eb_multifrontal *factor, int64_t *start, int32_t *row,
                            double *value);

#endif
