/* Partial refactorizations equal fresh factorizations bit by bit; outcomes of matrices that cannot
 * be factored. */
#include <malloc.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/sparse_factor.h"
#include "tests/tap.h"

typedef struct subject {
  eb_block_matrix *A;
  eb_multifrontal *factor;
  const eb_supernodes *tree;
  uint8_t *marked;
} subject;

static subject begin_keeping(eb_keep_updates keep, eb_block_matrix *A, int threads, bool single) {
  const eb_multifrontal_settings settings = {
      .keep_updates = keep, .threads = threads, .single_precision = single};
  subject s = {.A = A};
  eb_reason reason;
  tap_require(eb_multifrontal_create(&settings, A, NULL, &s.factor), "create");
  tap_require(eb_multifrontal_factor(s.factor, A, NULL, &reason), "factor");
  s.tree = eb_multifrontal_supernodes(s.factor);
  tap_require(EB_NEW(s.marked, s.tree->count + 1), "marks");
  return s;
}

static subject begin(eb_block_matrix *A, int threads, bool single) {
  return begin_keeping(EB_KEEP_ALL, A, threads, single);
}

static void end(subject *s) {
  eb_multifrontal_destroy(s->factor);
  eb_block_matrix_destroy(s->A);
  free(s->marked);
}
OWNED(subject, end)

static eb_reason update(subject *s, eb_step_log *log) {
  eb_reason reason = EB_RUNNING;
  tap_require(eb_multifrontal_update(s->factor, s->A, s->marked, log, &reason), "update");
  return reason;
}

static eb_reason factor_whole(subject *s) {
  eb_reason reason = EB_RUNNING;
  tap_require(eb_multifrontal_factor(s->factor, s->A, NULL, &reason), "factor");
  return reason;
}

static int32_t pick(uint64_t *seed, int32_t count) {
  int32_t k = (int32_t)(0.5 * (eb_test_random(seed) + 1) * count);
  return k < count ? k : count - 1;
}

static int32_t owner(const eb_supernodes *t, int32_t i, int32_t j) {
  return t->of_node[t->position[i] < t->position[j] ? i : j];
}

/* Changes one block of A and its mirror image, the diagonal by so much that A stays dominant; marks
 * their owners. */
static void change(subject *s, uint64_t *seed) {
  int32_t i = pick(seed, s->A->rows);
  int32_t b = s->A->start[i] + pick(seed, s->A->start[i + 1] - s->A->start[i]);
  int32_t j = s->A->column[b];
  double *a = s->A->values + 9 * (int64_t)b;
  double *t = s->A->values + 9 * (int64_t)eb_block_matrix_find(s->A, j, i);
  double shift = 0.3 * eb_test_random(seed);
  for (int e = 0; i != j && e < 9; e++) t[3 * (e % 3) + e / 3] = a[e] += shift;
  for (int e = 0; e < 3; e++) {
    s->A->values[9 * (int64_t)s->A->diagonal[i] + 4 * e] += 1;
    s->A->values[9 * (int64_t)s->A->diagonal[j] + 4 * e] += 1;
  }
  s->marked[owner(s->tree, i, j)] = s->marked[owner(s->tree, i, i)] = 1;
  s->marked[owner(s->tree, j, j)] = 1;
}

/* From one block to a good part of all, in any order, each compared with a factor from the
 * beginning. */
static void test_sequence(eb_keep_updates keep, eb_block_matrix *A, int threads, bool single,
                          const char *name) {
  subject s = begin_keeping(keep, A, threads, single);
  uint64_t seed = 11;
  int same = 0, closed = 0, updates = 12;
  for (int k = 0; k < updates; k++) {
    memset(s.marked, 0, (size_t)s.tree->count);
    for (int c = 0; c < 1 << (k % 6); c++) change(&s, &seed);
    bool good = update(&s, NULL) == EB_CONVERGED_DIRECT;
    for (int32_t t = 0; t < s.tree->count; t++)
      good &= !s.marked[t] || s.tree->parent[t] < 0 || s.marked[s.tree->parent[t]];
    closed += good;
    subject other = {.A = s.A};
    const eb_multifrontal_settings settings = {.threads = 1, .single_precision = single};
    tap_require(eb_multifrontal_create(&settings, A, NULL, &other.factor), "create");
    factor_whole(&other);
    owned(eb_test_factor) x = eb_test_export(s.factor), y = eb_test_export(other.factor);
    same += eb_test_factor_same(&x, &y);
    eb_multifrontal_destroy(other.factor);
  }
  tap_ok(closed == updates, "%s: updated, ancestors marked too", name);
  tap_ok(same == updates, "every update has the bits of a fresh factor (%d of %d)", same, updates);
  end(&s);
}

/* Operations of -L21 L21^T: n multiplications and n subtractions for each of m (m + 1) / 2 entries.
 */
static double forming(const eb_supernodes *t, int32_t s) {
  double n = 3. * (t->first[s + 1] - t->first[s]), m = 3. * t->rows[s] - n;
  return n * m * (m + 1);
}

static void test_extent(eb_keep_updates keep) {
  owned(subject) s = begin_keeping(keep, eb_test_solid(10, 3), 1, false);
  owned(eb_step_log) *log = new_log(1);
  owned(eb_test_factor) before = eb_test_export(s.factor);
  tap_ok(update(&s, log) == EB_CONVERGED_DIRECT &&
             log->counters[EB_COUNT_UPDATED_SUPERNODES] == 0 && log->counters[EB_COUNT_FLOPS] == 0,
         "nothing marked: nothing is done");
  double total = 0, path = 0, again = 0; /* again: at most, of fronts beside the path */
  int32_t length = 0;
  for (int32_t t = 0; t < s.tree->count; t++) total += s.tree->flops[t];
  for (int32_t t = 0; t >= 0; t = s.tree->parent[t], length++) path += s.tree->flops[t];
  s.marked[0] = 1;
  update(&s, log);
  for (int32_t t = 0; t < s.tree->count && keep == EB_KEEP_UPPER; t++)
    if (!s.marked[t]) again += forming(s.tree, t);
  double flops = log->counters[EB_COUNT_FLOPS];
  tap_ok(log->counters[EB_COUNT_UPDATED_SUPERNODES] == length && flops >= (1 - 1e-12) * path &&
             flops <= (1 + 1e-12) * path + again && path < total,
         "one leaf marked: the path to the root is refactored");
  memset(s.marked, 1, (size_t)s.tree->count);
  update(&s, log);
  owned(eb_test_factor) after = eb_test_export(s.factor);
  tap_ok(eb_test_factor_same(&before, &after), "an unchanged matrix leaves the factor as it was");
  bool timed = true;
  for (int32_t t = 0; t < s.tree->count; t++) timed &= s.tree->seconds[t] > 0;
  tap_ok(timed, "every front is timed");
}

/* A leaf is marked whose siblings are in the same small subtree: their update matrices are formed
 * again, which the flops tell, and only those of one such subtree, a 48th of all operations or
 * 2 MFLOP. */
static void test_formed_again(void) {
  owned(subject) s = begin_keeping(EB_KEEP_UPPER, eb_test_solid(13, 3), 1, false);
  owned(eb_step_log) *log = new_log(1);
  double total = 0, most = 0, ever = 0;
  for (int32_t t = 0; t < s.tree->count; t++) total += s.tree->flops[t];
  for (int32_t leaf = 0; leaf < s.tree->count; leaf++) {
    double path = 0;
    eb_step_log_reset(log);
    memset(s.marked, 0, (size_t)s.tree->count);
    s.marked[leaf] = 1;
    update(&s, log);
    for (int32_t t = leaf; t >= 0; t = s.tree->parent[t]) path += s.tree->flops[t];
    double again = log->counters[EB_COUNT_FLOPS] - path;
    most = fmax(most, again);
    ever += again > 0.5; /* flops are whole numbers */
  }
  tap_ok(ever > 0.2 * s.tree->count && ever < s.tree->count,
         "%.0f of %d paths form update matrices beside them again", ever, s.tree->count);
  tap_below(most, fmax(total / 48, 2e6), "within one small subtree");
}

/* Half with one thread; each further one has a stack, for less than one of some 48 subtrees: a
 * twentieth allows for uneven ones. */
static void test_upper_memory(bool single) {
  owned(eb_block_matrix) *A = eb_test_grid(64, 8, 8, 3);
  int64_t updates[4], factor[4];
  for (int k = 0; k < 4; k++) {
    const eb_multifrontal_settings settings = {.keep_updates = k ? EB_KEEP_UPPER : EB_KEEP_ALL,
                                               .single_precision = single,
                                               .threads = k ? k : 1};
    owned(eb_multifrontal) *f = NULL;
    owned(eb_step_log) *log = new_log(1);
    tap_require(eb_multifrontal_create(&settings, A, log, &f), "create");
    eb_multifrontal_memory told;
    double flops;
    tap_require(eb_multifrontal_predict(&settings, A, &told, &flops), "predict");
    updates[k] = told.updates;
    factor[k] = told.factor;
    tap_near(log->memory_bytes[EB_MEMORY_UPDATES], (double)updates[k], 0, "the log has the bytes");
  }
  tap_below((double)updates[1], 0.5 * (double)updates[0], "upper: half of the bytes");
  tap_ok(factor[1] == factor[0], "and the same factor");
  tap_below((double)(updates[2] - updates[1]), 0.05 * (double)updates[0],
            "another thread takes little more");
  tap_ok(updates[2] > updates[1] && updates[3] - updates[2] == updates[2] - updates[1],
         "the same for each");
}

static void test_usage(void) {
  owned(eb_block_matrix) *A = eb_test_grid(3, 3, 3, 3);
  const eb_multifrontal_settings dropped = {.threads = 1},
                                 kept = {.threads = 1, .keep_updates = EB_KEEP_ALL};
  eb_multifrontal *factor = NULL;
  eb_reason reason;
  owned(uint8_t) *marked = zeros(uint8_t, A->rows);
  tap_require(eb_multifrontal_create(&kept, A, NULL, &factor), "create");
  tap_fails(eb_multifrontal_update(factor, A, marked, NULL, &reason), EB_ERR_USAGE, "factor",
            "an update before the first factorization");
  eb_multifrontal_destroy(factor);
  tap_require(eb_multifrontal_create(&dropped, A, NULL, &factor), "create");
  tap_require(eb_multifrontal_factor(factor, A, NULL, &reason), "factor");
  tap_fails(eb_multifrontal_update(factor, A, marked, NULL, &reason), EB_ERR_USAGE, "keep_updates",
            "an update without kept update matrices");
  eb_multifrontal_destroy(factor);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static double *entry(subject *s, int32_t node, int axis) {
  return s->A->values + 9 * (int64_t)s->A->diagonal[node] + 4 * axis;
}

/* A negative diagonal entry makes just the pivot of its own row fail. */
static void test_not_definite(eb_block_matrix *A, int threads, bool single, const char *name) {
  owned(subject) s = begin(A, threads, single);
  uint64_t seed = 21;
  bool found = true, recovered = true;
  for (int k = 0; k < 10; k++) {
    int32_t node = pick(&seed, A->rows), other = pick(&seed, A->rows);
    int axis = pick(&seed, 3);
    double keep = *entry(&s, node, axis), keep_other = *entry(&s, other, 2);
    bool first = s.tree->position[node] < s.tree->position[other];
    *entry(&s, node, axis) = -1;
    found &= factor_whole(&s) == EB_NOT_POSITIVE_DEFINITE &&
             eb_multifrontal_failed_row(s.factor) == 3 * (int64_t)node + axis;
    if (node != other) { /* of two, the one that is eliminated first is named */
      *entry(&s, other, 2) = -1;
      found &= factor_whole(&s) == EB_NOT_POSITIVE_DEFINITE &&
               eb_multifrontal_failed_row(s.factor) ==
                   (first ? 3 * (int64_t)node + axis : 3 * (int64_t)other + 2);
    }
    *entry(&s, node, axis) = keep;
    *entry(&s, other, 2) = node == other && axis == 2 ? keep : keep_other;
    recovered &=
        factor_whole(&s) == EB_CONVERGED_DIRECT && eb_multifrontal_failed_row(s.factor) == -1;
  }
  tap_ok(found, "%s: the row whose pivot fails first is named", name);
  tap_ok(recovered, "and the factor recovers");
}

static void test_not_finite(int threads, double bad, const char *name) {
  owned(subject) s = begin(eb_test_grid(8, 8, 8, 3), threads, false);
  uint64_t seed = 23;
  bool found = true;
  for (int k = 0; k < 8; k++) {
    int32_t i = pick(&seed, s.A->rows);
    int32_t b = s.A->start[i] + pick(&seed, s.A->start[i + 1] - s.A->start[i]), e = pick(&seed, 9);
    int32_t mirror = eb_block_matrix_find(s.A, s.A->column[b], i);
    double *x = s.A->values + 9 * (int64_t)b + e;
    double *y = s.A->values + 9 * (int64_t)mirror + 3 * (e % 3) + e / 3, keep = *x;
    *x = *y = bad;
    found &= factor_whole(&s) == EB_DIVERGED_NAN && eb_multifrontal_failed_row(s.factor) == -1;
    *x = *y = keep;
    found &= factor_whole(&s) == EB_CONVERGED_DIRECT;
    memset(s.marked, 0, (size_t)s.tree->count);
    s.marked[owner(s.tree, i, s.A->column[b])] = 1;
    *x = *y = bad;
    found &= update(&s, NULL) == EB_DIVERGED_NAN;
    *x = *y = keep;
    found &= factor_whole(&s) == EB_CONVERGED_DIRECT;
  }
  tap_ok(found, "%s anywhere in the matrix is found with %d threads", name, threads);
}

/* After a failed update there is no factor until a whole factorization. */
static void test_failed_update(eb_keep_updates keeping) {
  owned(subject) s = begin_keeping(keeping, eb_test_grid(6, 6, 6, 3), 1, false);
  owned(eb_test_factor) want = eb_test_export(s.factor);
  eb_reason reason;
  int32_t node = s.tree->order[2];
  double keep = *entry(&s, node, 1);
  *entry(&s, node, 1) = 0;
  s.marked[s.tree->of_node[node]] = 1;
  tap_ok(update(&s, NULL) == EB_NOT_POSITIVE_DEFINITE &&
             eb_multifrontal_failed_row(s.factor) == 3 * (int64_t)node + 1,
         "an update that fails names the row");
  tap_fails(eb_multifrontal_update(s.factor, s.A, s.marked, NULL, &reason), EB_ERR_USAGE, "factor",
            "and leaves nothing to update");
  *entry(&s, node, 1) = keep;
  factor_whole(&s);
  owned(eb_test_factor) got = eb_test_export(s.factor);
  tap_ok(eb_test_factor_same(&want, &got), "until the whole matrix is factored again");
}

/* Graph Laplacian kron I: singular by exactly one constant vector a component. */
static void test_singular(int32_t rows, bool single, const char *name) {
  eb_block_matrix *A = eb_test_random_matrix(rows, 8);
  owned(subject) s = begin(A, 1, single);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      double *a = A->values + 9 * (int64_t)b;
      memset(a, 0, 9 * sizeof *a);
      a[0] = a[4] = a[8] = b == A->diagonal[i] ? 0.1 * (A->start[i + 1] - A->start[i] - 1) : -0.1;
    }
  tap_ok(factor_whole(&s) == EB_NOT_POSITIVE_DEFINITE, "%s: a singular matrix is found", name);
}

static void test_no_growth(eb_keep_updates keep) {
  subject s = begin_keeping(keep, eb_test_grid(8, 8, 8, 3), 1, false);
  uint64_t seed = 31;
  size_t used = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (int k = 0; k < 5; k++) {
    change(&s, &seed);
    update(&s, NULL);
  }
  tap_ok(mallinfo2().uordblks + mallinfo2().hblkhd == used, "updates allocate nothing");
  end(&s);
}

int main(void) {
  test_sequence(EB_KEEP_ALL, eb_test_grid(16, 16, 1, 2), 1, false, "sheet");
  test_sequence(EB_KEEP_ALL, eb_test_grid(20, 4, 4, 3), 2, false, "bar, 2 threads");
  test_sequence(EB_KEEP_ALL, eb_test_solid(13, 4), 2, false, "solid, 2 threads");
  test_sequence(EB_KEEP_ALL, eb_test_islands(4, 4, 4, 5, 20, 5), 1, false, "disconnected");
  test_sequence(EB_KEEP_ALL, eb_test_random_matrix(200, 6), 1, false, "random graph");
  test_sequence(EB_KEEP_ALL, eb_test_solid(10, 7), 2, true, "solid in float");
  test_sequence(EB_KEEP_UPPER, eb_test_grid(16, 16, 1, 2), 1, false, "sheet, upper kept");
  test_sequence(EB_KEEP_UPPER, eb_test_grid(20, 4, 4, 3), 2, false, "bar, upper kept, 2 threads");
  test_sequence(EB_KEEP_UPPER, eb_test_solid(13, 4), 1, false, "solid, upper kept");
  test_sequence(EB_KEEP_UPPER, eb_test_solid(13, 4), 2, false, "solid, upper kept, 2 threads");
  test_sequence(EB_KEEP_UPPER, eb_test_solid(13, 4), 5, false, "solid, upper kept, 5 threads");
  test_sequence(EB_KEEP_UPPER, eb_test_islands(4, 4, 4, 5, 20, 5), 2, false,
                "disconnected, upper kept, 2 threads");
  test_sequence(EB_KEEP_UPPER, eb_test_random_matrix(200, 6), 1, false, "graph, upper kept");
  test_sequence(EB_KEEP_UPPER, eb_test_solid(10, 7), 2, true, "solid in float, upper kept");
  test_extent(EB_KEEP_ALL);
  test_extent(EB_KEEP_UPPER);
  test_formed_again();
  test_upper_memory(false);
  test_upper_memory(true);
  test_usage();
  test_not_definite(eb_test_grid(9, 9, 9, 3), 1, false, "solid");
  test_not_definite(eb_test_solid(13, 3), 2, false, "large solid, 2 threads");
  test_not_definite(eb_test_islands(4, 4, 4, 3, 10, 5), 2, false, "disconnected, 2 threads");
  test_not_definite(eb_test_grid(9, 9, 9, 3), 1, true, "solid in float");
  test_not_finite(1, NAN, "NaN");
  test_not_finite(2, INFINITY, "infinity");
  test_failed_update(EB_KEEP_ALL);
  test_failed_update(EB_KEEP_UPPER);
  test_singular(40, false, "40 nodes");
  test_singular(300, false, "300 nodes");
  test_singular(40, true, "40 nodes in float");
  test_no_growth(EB_KEEP_ALL);
  test_no_growth(EB_KEEP_UPPER);
  return tap_done();
}
