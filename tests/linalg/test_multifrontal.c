/* The multifrontal factor against CHOLMOD and LAPACK, in all its modes. */
#include <malloc.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/dense.h"
#include "tests/support/sparse_factor.h"
#include "tests/tap.h"

static const eb_multifrontal_settings kept = {.keep_updates = EB_KEEP_ALL, .threads = 1};

static eb_multifrontal *create(const eb_multifrontal_settings *settings, const eb_block_matrix *A) {
  eb_multifrontal *factor = NULL;
  tap_require(eb_multifrontal_create(settings, A, NULL, &factor), "create");
  return factor;
}

static eb_reason factor_whole(eb_multifrontal *factor, const eb_block_matrix *A) {
  eb_reason reason = EB_RUNNING;
  tap_require(eb_multifrontal_factor(factor, A, NULL, &reason), "factor");
  return reason;
}

static eb_test_factor fresh(const eb_multifrontal_settings *settings, const eb_block_matrix *A) {
  owned(eb_multifrontal) *factor = create(settings, A);
  if (factor_whole(factor, A) < 0) tap_ok(false, "a fresh factor of a definite matrix");
  eb_test_factor out = eb_test_export(factor);
  return out;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Diagonally dominant matrices have condition numbers of some tens: 1e-12 is some thousand eps. */
static void test_cholmod(eb_block_matrix *A, const char *name) {
  owned(eb_multifrontal) *factor = create(&kept, A);
  tap_ok(factor_whole(factor, A) == EB_CONVERGED_DIRECT, "%s: factored", name);
  owned(eb_test_factor) ours = eb_test_export(factor);
  owned(eb_test_factor) theirs = eb_test_cholmod(A, eb_multifrontal_supernodes(factor));
  tap_below(eb_test_factor_distance(&ours, &theirs), 1e-12, "its factor is CHOLMOD's");
  static const eb_multifrontal_settings others[] = {{.threads = 1},
                                                    {.threads = 2},
                                                    {.threads = 2, .keep_updates = EB_KEEP_ALL},
                                                    {.threads = 5, .keep_updates = EB_KEEP_ALL},
                                                    {.threads = 1, .keep_updates = EB_KEEP_UPPER},
                                                    {.threads = 3, .keep_updates = EB_KEEP_UPPER}};
  static const char *const words[] = {"dropped", "kept above", "kept"};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    owned(eb_test_factor) again = fresh(&others[k], A);
    tap_ok(eb_test_factor_same(&ours, &again), "same bits with %d threads, updates %s",
           others[k].threads, words[others[k].keep_updates]);
  }
  eb_block_matrix_destroy(A);
}

/* Update matrices above 1200 rows have wider block columns: one of them must be there. */
static void test_wide(void) {
  eb_block_matrix *A = eb_test_arrow(420, 25, 3, 7);
  owned(eb_multifrontal) *factor = create(&kept, A);
  const eb_supernodes *t = eb_multifrontal_supernodes(factor);
  int32_t most = 0;
  for (int32_t s = 0; s < t->count; s++) {
    int32_t below = 3 * (t->rows[s] - (t->first[s + 1] - t->first[s]));
    if (below > most) most = below;
  }
  tap_ok(most >= 1200, "an update matrix has %d rows", most);
  test_cholmod(A, "wide fronts");
}

/* Any order, postordered or not, gives a factor of the matrix in the order that is reported. */
static void test_given_order(void) {
  uint64_t seed = 3;
  owned(eb_block_matrix) *A = eb_test_grid(5, 4, 3, 4);
  owned(int32_t) *order = zeros(int32_t, A->rows);
  for (int32_t k = 0; k < A->rows; k++) order[k] = k;
  for (int32_t k = A->rows - 1; k > 0; k--) {
    int32_t other = (int32_t)(0.5 * (eb_test_random(&seed) + 1) * k), node = order[k];
    order[k] = order[other];
    order[other] = node;
  }
  eb_multifrontal_settings settings = kept;
  settings.order = order;
  owned(eb_multifrontal) *factor = create(&settings, A);
  tap_ok(factor_whole(factor, A) == EB_CONVERGED_DIRECT, "factored in a random order");
  owned(eb_test_factor) ours = eb_test_export(factor);
  owned(eb_test_factor) theirs = eb_test_cholmod(A, eb_multifrontal_supernodes(factor));
  tap_below(eb_test_factor_distance(&ours, &theirs), 1e-12, "as CHOLMOD does");
  order[1] = order[0];
  eb_multifrontal *none = NULL;
  tap_fails(eb_multifrontal_create(&settings, A, NULL, &none), EB_ERR_USAGE, "permutation",
            "an order that names a node twice");
  order[1] = A->rows;
  tap_fails(eb_multifrontal_create(&settings, A, NULL, &none), EB_ERR_USAGE, "permutation",
            "an order that names a node that is not there");
  tap_ok(!none, "no factor is made");
}

/* L L^T, multiplied out, is A. */
static void test_product(void) {
  owned(eb_block_matrix) *A = eb_test_random_matrix(40, 9);
  owned(eb_multifrontal) *factor = create(&kept, A);
  const eb_supernodes *tree = eb_multifrontal_supernodes(factor);
  factor_whole(factor, A);
  owned(eb_test_factor) L = eb_test_export(factor);
  owned(double) *dense = dense_of_blocks(A);
  double worst = 0;
  int32_t n = 3 * A->rows;
  for (int32_t k = 0; k < n; k++)
    for (int64_t e = L.start[k]; e < L.start[k + 1]; e++)
      for (int64_t g = L.start[k]; g < L.start[k + 1]; g++) {
        int64_t i = 3 * tree->order[L.row[e] / 3] + L.row[e] % 3;
        int64_t j = 3 * tree->order[L.row[g] / 3] + L.row[g] % 3;
        dense[i * n + j] -= L.value[e] * L.value[g];
      }
  for (int64_t k = 0; k < (int64_t)n * n; k++) worst = fmax(worst, fabs(dense[k]));
  tap_below(worst, 1e-13, "L L^T is the matrix"); /* entries up to 20, 100 terms, eps 1e-16 */
}

/* Rounding of floats, 6e-8, times a condition number of some tens. */
static void test_single(eb_block_matrix *A, const char *name) {
  eb_multifrontal_settings settings = kept;
  settings.single_precision = true;
  owned(eb_multifrontal) *factor = create(&settings, A);
  tap_ok(factor_whole(factor, A) == EB_CONVERGED_DIRECT, "%s: factored in float", name);
  owned(eb_test_factor) ours = eb_test_export(factor);
  owned(eb_test_factor) theirs = eb_test_cholmod(A, eb_multifrontal_supernodes(factor));
  double distance = eb_test_factor_distance(&ours, &theirs);
  tap_below(distance, 1e-5, "its factor is CHOLMOD's to single precision");
  tap_ok(distance > 1e-9, "and not to double"); /* else it was not computed in float */
  settings.threads = 2;
  owned(eb_test_factor) again = fresh(&settings, A);
  tap_ok(eb_test_factor_same(&ours, &again), "same bits with 2 threads");
  eb_block_matrix_destroy(A);
}

/* ---- tree ------------------------------------------------------------------------------------ */

static void test_tree(eb_block_matrix *A, const char *name) {
  owned(eb_multifrontal) *factor = NULL;
  owned(eb_step_log) *log = new_log(1);
  tap_require(eb_multifrontal_create(&kept, A, log, &factor), "create");
  const eb_supernodes *t = eb_multifrontal_supernodes(factor);
  bool good = t->nodes == A->rows && t->first[0] == 0 && t->first[t->count] == A->rows;
  int64_t entries = 0;
  for (int32_t s = 0; s < t->count; s++) {
    int64_t pivots = 3 * (t->first[s + 1] - t->first[s]), rows = 3 * t->rows[s];
    good &= t->parent[s] == -1 ? rows == pivots : t->parent[s] > s && rows > pivots;
    good &= pivots > 0 && t->flops[s] > 0;
    for (int32_t k = t->first[s]; k < t->first[s + 1]; k++)
      good &= t->of_node[t->order[k]] == s && t->position[t->order[k]] == k;
    entries += pivots * rows - pivots * (pivots - 1) / 2;
  }
  tap_ok(good, "%s: the tree is consistent", name);
  tap_ok(entries == eb_multifrontal_entries(factor),
         "its fronts hold the entries that are exported");
  good = log->tree.count == t->count;
  for (int32_t s = 0; good && s < t->count; s++)
    good = log->tree.parent[s] == t->parent[s] && log->tree.rows[s] == t->rows[s] &&
           log->tree.pivots[s] == t->first[s + 1] - t->first[s];
  tap_ok(good, "and is logged");
  eb_block_matrix_destroy(A);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

/* What a factor will take is told without taking it; a limit is no matter. */
static eb_multifrontal_memory predicted(const eb_multifrontal_settings *settings,
                                        const eb_block_matrix *A, const eb_supernodes *tree) {
  eb_multifrontal_settings limited = *settings;
  eb_multifrontal_memory told = {0};
  double flops = 0, sum = 0, before = in_use();
  limited.memory_limit = 1;
  tap_require(eb_multifrontal_predict(&limited, A, &told, &flops), "predict");
  /* A factor takes megabytes; what libraries keep from their first calls is no matter. */
  tap_below(fabs(in_use() - before), 65536, "the prediction keeps nothing");
  for (int32_t s = 0; tree && s < tree->count; s++) sum += tree->flops[s];
  if (tree) tap_near(flops, sum, 0, "its flops are those of the factor");
  return told;
}

/* Allocations are rounded up: large ones to pages of 2 MB, of which there are at most three, others
 * by some tens of bytes. The first create warms what METIS and OpenMP keep. */
static void test_memory(eb_keep_updates keep, bool single, const char *name) {
  const eb_multifrontal_settings settings = {
      .keep_updates = keep, .single_precision = single, .threads = 1};
  eb_block_matrix *A = eb_test_grid(14, 9, 9, 2);
  eb_multifrontal_destroy(create(&settings, A));
  double before = in_use();
  eb_multifrontal *factor = create(&settings, A);
  double taken = in_use() - before;
  eb_multifrontal_memory m = predicted(&settings, A, eb_multifrontal_supernodes(factor));
  double told = (double)(m.factor + m.updates + m.workspace);
  tap_ok(m.factor > 0 && m.updates > 0 && m.workspace > 0, "%s: memory is predicted", name);
  if (taken > 0) /* mallinfo2 says nothing under sanitizers */
    tap_below(fabs(taken - told), 0.002 * told + 3 * 4.2e6, "and taken as predicted");
  before = in_use();
  factor_whole(factor, A);
  double grown = in_use() - before;
  factor_whole(factor, A);
  tap_ok(in_use() == before && grown == 0, "a factorization allocates nothing");
  eb_multifrontal_destroy(factor);
  eb_block_matrix_destroy(A);
}

static void test_memory_limit(void) {
  eb_block_matrix *A = eb_test_grid(9, 9, 9, 2);
  eb_multifrontal *none = NULL;
  eb_multifrontal_memory with = predicted(&kept, A, NULL);
  eb_multifrontal_settings settings = kept;
  settings.memory_limit = with.factor + with.updates + with.workspace;
  eb_multifrontal_destroy(create(&settings, A));
  settings.memory_limit--;
  double before = in_use();
  tap_fails(eb_multifrontal_create(&settings, A, NULL, &none), EB_ERR_MEMORY, "limit",
            "a byte above the limit");
  /* A factor takes megabytes; what printing the line above may leave is no matter. */
  tap_ok(!none && fabs(in_use() - before) < 65536, "takes nothing");
  settings.keep_updates = EB_KEEP_NONE;
  eb_multifrontal_memory without = predicted(&settings, A, NULL);
  tap_ok(2 * without.updates < with.updates && without.factor == with.factor,
         "dropping the update matrices takes less than half of their memory");
  eb_block_matrix_destroy(A);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void test_usage(void) {
  owned(eb_block_matrix) *A = eb_test_grid(3, 3, 3, 2), *B = eb_test_grid(3, 3, 2, 2);
  eb_multifrontal *none = NULL;
  eb_multifrontal_settings settings = kept;
  eb_reason reason;
  settings.threads = 0;
  tap_fails(eb_multifrontal_create(&settings, A, NULL, &none), EB_ERR_USAGE, "thread",
            "no threads");
  settings.threads = 1;
  settings.memory_limit = -1;
  tap_fails(eb_multifrontal_create(&settings, A, NULL, &none), EB_ERR_USAGE, "memory limit",
            "a negative memory limit");
  eb_multifrontal *factor = create(&kept, A);
  tap_fails(eb_multifrontal_factor(factor, B, NULL, &reason), EB_ERR_INVALID, "pattern",
            "a matrix of another size");
  eb_multifrontal_destroy(factor);
  int32_t last = A->start[A->rows] - 1, keep = A->column[last - 1];
  A->column[last - 1] = keep == 0 ? 1 : keep - 1;
  tap_fails(eb_multifrontal_create(&kept, A, NULL, &none), EB_ERR_INVALID, "symmetric",
            "a pattern that is not symmetric");
  A->column[last - 1] = A->rows;
  tap_fails(eb_multifrontal_create(&kept, A, NULL, &none), EB_ERR_INVALID, "symmetric",
            "a column that is not there");
  A->column[last - 1] = keep;
  tap_ok(!none, "no factor is made");
  eb_multifrontal_destroy(NULL);
}

static void test_empty(void) {
  int32_t start[1] = {0}, nothing[1] = {0};
  double value[1] = {0};
  eb_block_matrix A = {.start = start, .column = nothing, .diagonal = nothing, .values = value};
  owned(eb_multifrontal) *factor = create(&kept, &A);
  tap_ok(factor_whole(factor, &A) == EB_CONVERGED_DIRECT &&
             eb_multifrontal_supernodes(factor)->count == 0 && eb_multifrontal_entries(factor) == 0,
         "a matrix without rows");
}

int main(void) {
  eb_test_graphs(test_cholmod);
  test_wide();
  test_given_order();
  test_product();
  test_single(eb_test_grid(30, 4, 4, 3), "bar");
  test_single(eb_test_solid(13, 4), "solid");
  test_tree(eb_test_grid(24, 24, 1, 2), "sheet");
  test_tree(eb_test_islands(5, 5, 5, 4, 30, 5), "disconnected");
  test_memory(EB_KEEP_ALL, false, "kept");
  test_memory(EB_KEEP_UPPER, false, "kept above");
  test_memory(EB_KEEP_NONE, false, "dropped");
  test_memory(EB_KEEP_ALL, true, "single precision");
  test_memory_limit();
  test_usage();
  test_empty();
  return tap_done();
}
