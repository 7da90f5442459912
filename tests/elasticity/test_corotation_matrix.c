/* The matrix of stale elements and the error estimate, against sums of explicit 12x12 matrices:
 * assembled, refreshed once and thousands of times. */
#include "tests/support/owned.h"
#include "tests/support/corotation.h"
#include "tests/support/dense.h"

static const double MASS = 700, SCALE = 0.3;

static void assemble(body *b) {
  for (int64_t i = 0; i < 9 * (int64_t)b->matrix->start[b->matrix->rows]; i++)
    b->matrix->values[i] = NAN; /* nothing of what was there may remain */
  eb_corotation_assemble(b->corotation, eb_elasticity_mass(b->elasticity), MASS, SCALE, b->matrix);
  reference_refresh(b, NULL);
}

/* Distance of the matrix from the reference, relative to the largest entry. */
static double matrix_error(const body *b) {
  int64_t size = 9 * (int64_t)b->mesh->node_count * b->mesh->node_count;
  owned(double) *got = dense_of_blocks(b->matrix), *want = reference_matrix(b, MASS, SCALE);
  return distance(size, got, want) / largest(size, want);
}

static bool symmetric(const eb_block_matrix *m) {
  owned(double) *dense = dense_of_blocks(m);
  int size = 3 * m->rows;
  bool same = true;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < i; j++) same &= dense[size * i + j] == dense[size * j + i];
  return same;
}

static void mark(random_state *random, int one_in, int count, uint8_t *marked) {
  for (int e = 0; e < count; e++) marked[e] = random_word(random) % (unsigned)one_in == 0;
}

static void assembly_is_the_sum_of_the_elements(void) {
  random_state random = random_seed(20);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  assemble(&b);
  tap_below(matrix_error(&b), 1e-14, "at rest: the matrix of linear elasticity");
  double worst = 0;
  for (int k = 0; k < 5; k++) {
    body_deform(&b, &random, 0.05);
    body_rotate(&b);
    assemble(&b);
    worst = worse(worst, matrix_error(&b));
  }
  /* Twelve products of rounded rotations an entry. */
  tap_below(worst, 1e-13, "deformed and inverted: the sum of Q_e K_e Q_e^T");
  tap_ok(symmetric(b.matrix), "and it is exactly symmetric");
}

/* R_n A R_n^T of block (i, j) is R_i A_ij R_j^T. */
static void fresh_rotations_cancel(void) {
  random_state random = random_seed(21);
  owned(body) b = body_of(body_mesh(4, 3, 3));
  owned(eb_block_matrix) *exact = NULL;
  eb_block_matrix *A = b.matrix;
  double worst = 0;
  int inverted = 0;
  tap_require(eb_block_matrix_like(A, &exact), "matrix");
  for (int k = 0; k < 10; k++) {
    body_deform(&b, &random, 0.05);
    inverted += body_inverted(&b);
    body_rotate(&b);
    assemble(&b);
    eb_elasticity_matrix(b.elasticity, b.x, MASS, SCALE, false, exact, NULL);
    const double *R = eb_corotation_node_rotations(b.corotation);
    double size = largest(9 * A->start[A->rows], exact->values);
    for (int i = 0; i < A->rows; i++)
      for (int at = A->start[i]; at < A->start[i + 1]; at++) {
        double left[9], whole[9], turned[9];
        multiply3(R + 9 * i, false, A->values + 9 * at, left);
        for (int r = 0; r < 9; r++) turned[r] = R[9 * A->column[at] + 3 * (r % 3) + r / 3];
        multiply3(left, false, turned, whole);
        worst = worse(worst, distance(9, whole, exact->values + 9 * at) / size);
      }
  }
  tap_ok(inverted > 100, "among elements some of which are inverted (%d),", inverted);
  tap_below(worst, 1e-12, "the fresh matrix between the node rotations is the corotational one");
}

static void frozen_nodes_give_the_corotational_matrix(void) {
  random_state random = random_seed(22);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  body_deform(&b, &random, 0.05);
  body_rotate(&b);
  eb_corotation_freeze_nodes(b.corotation);
  assemble(&b);
  int64_t values = 9 * (int64_t)b.matrix->start[b.matrix->rows];
  owned(double) *got = zeros(double, values);
  memcpy(got, b.matrix->values, (size_t)values * sizeof *got);
  eb_elasticity_matrix(b.elasticity, b.x, MASS, SCALE, false, b.matrix, NULL);
  tap_below(distance(values, got, b.matrix->values) / largest(values, got), 1e-13,
            "with frozen nodes the matrix is the corotational one");
}

/* ---- refresh --------------------------------------------------------------------------------- */

static void refreshed_elements_are_of_the_present(void) {
  const int one_in[] = {1, 2, 7, 40, 1000000};
  random_state random = random_seed(23);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  int elements = b.mesh->element_count;
  owned(uint8_t) *marked = zeros(uint8_t, elements);
  body_deform(&b, &random, 0.05);
  body_rotate(&b);
  assemble(&b);
  for (int k = 0; k < 5; k++) {
    body_deform(&b, &random, 0.05);
    body_rotate(&b);
    mark(&random, one_in[k], elements, marked);
    eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
    reference_refresh(&b, marked);
    double off = matrix_error(&b);
    tap_ok(off <= 1e-13, "refresh of one element in %d: the sum of fresh and stale (%.1e)",
           one_in[k], off);
  }
  for (int e = 0; e < elements; e += 11) {
    body_deform(&b, &random, 0.05);
    body_rotate(&b);
    memset(marked, 0, (size_t)elements);
    marked[e] = 255;
    eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
    reference_refresh(&b, marked);
  }
  tap_below(matrix_error(&b), 1e-13, "and of single elements");
  tap_ok(symmetric(b.matrix), "refreshed, the matrix is exactly symmetric");
}

static void refreshing_nothing_changes_nothing(void) {
  random_state random = random_seed(24);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  size_t bytes = 9 * (size_t)b.matrix->start[b.matrix->rows] * sizeof(double);
  owned(uint8_t) *marked = zeros(uint8_t, b.mesh->element_count);
  owned(double) *before = zeros(double, bytes / sizeof(double));
  body_deform(&b, &random, 0.02);
  body_rotate(&b);
  assemble(&b);
  memcpy(before, b.matrix->values, bytes);
  body_deform(&b, &random, 0.02);
  body_rotate(&b);
  eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
  tap_ok(memcmp(before, b.matrix->values, bytes) == 0, "a refresh of nothing changes no bit");
  memset(marked, 1, (size_t)b.mesh->element_count);
  eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
  memcpy(before, b.matrix->values, bytes);
  eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
  int64_t values = 9 * (int64_t)b.matrix->start[b.matrix->rows];
  /* Old and new blocks come from the same rotations, but the compiler may contract them
   * otherwise. */
  tap_below(distance(values, before, b.matrix->values) / largest(values, before), 1e-15,
            "nor does a refresh of what is of the present, but for rounding");
}

static void thousands_of_refreshes_do_not_drift(void) {
  enum { REFRESHES = 5000 };
  random_state random = random_seed(25);
  owned(body) b = body_of(body_mesh(2, 2, 1));
  int64_t values = 9 * (int64_t)b.matrix->start[b.matrix->rows];
  int elements = b.mesh->element_count;
  owned(uint8_t) *marked = zeros(uint8_t, elements);
  owned(double) *refreshed = zeros(double, values);
  assemble(&b);
  for (int k = 0; k < REFRESHES; k++) {
    body_deform(&b, &random, 0.05);
    body_rotate(&b);
    mark(&random, 1 + k % 5, elements, marked);
    eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
  }
  memset(marked, 1, (size_t)elements);
  eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
  memcpy(refreshed, b.matrix->values, (size_t)values * sizeof *refreshed);
  assemble(&b);
  /* Each rounds by 1e-16 of an element's entries; 5 000 add up as a random walk to 70 times
   * that. */
  tap_below(distance(values, refreshed, b.matrix->values) / largest(values, b.matrix->values),
            1e-13, "5000 random refreshes end at a fresh assembly");
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void errors_are_those_of_explicit_matrices(void) {
  random_state random = random_seed(26);
  owned(body) b = body_of(body_mesh(3, 3, 2));
  int elements = b.mesh->element_count;
  double fresh = 0, stale = 0, some = 0;
  owned(uint8_t) *marked = zeros(uint8_t, elements);
  owned(double) *got = zeros(double, elements), *want = zeros(double, elements),
                *whole = zeros(double, elements);
  for (int k = 0; k < 10; k++) {
    body_deform(&b, &random, 0.05);
    body_rotate(&b);
    assemble(&b);
    eb_corotation_errors(b.corotation, b.v, SCALE, got);
    reference_errors(&b, SCALE, want, whole);
    for (int e = 0; e < elements; e++) fresh = worse(fresh, got[e] / largest(elements, whole));
    body_deform(&b, &random, 0.05);
    body_rotate(&b);
    mark(&random, 3, elements, marked);
    eb_corotation_refresh(b.corotation, marked, SCALE, b.matrix);
    reference_refresh(&b, marked);
    for (int e = 0; e < elements; e++) got[e] = NAN;
    eb_corotation_errors(b.corotation, b.v, SCALE, got);
    reference_errors(&b, SCALE, want, whole);
    for (int e = 0; e < elements; e++) {
      stale = worse(stale, fabs(got[e] - want[e]) / whole[e]);
      if (!marked[e]) some += want[e] > 0.1 * whole[e];
    }
  }
  tap_below(fresh, 1e-14, "where everything is fresh the errors vanish");
  /* Forces cancel to rounding of the larger of the two products. */
  tap_below(stale, 1e-12, "errors are those of explicit matrices");
  tap_ok(some > 100, "and large where elements are stale (%g of them)", some);
}

static void errors_scale(void) {
  random_state random = random_seed(27);
  owned(body) b = body_of(body_mesh(2, 2, 2));
  int elements = b.mesh->element_count, n = 3 * b.mesh->node_count;
  owned(double) *one = zeros(double, elements), *two = zeros(double, elements);
  body_deform(&b, &random, 0.05);
  body_rotate(&b);
  eb_corotation_errors(b.corotation, b.v, 1, one);
  eb_corotation_errors(b.corotation, b.v, 4, two);
  for (int e = 0; e < elements; e++) two[e] /= 4;
  tap_ok(memcmp(one, two, (size_t)elements * sizeof *one) == 0,
         "errors are in proportion to the stiffness");
  for (int i = 0; i < n; i++) b.v[i] = 3 + i % 3;
  eb_corotation_errors(b.corotation, b.v, 1, two);
  tap_ok(largest(elements, two) > 0, "a translation is felt where nodes turn differently");
  memset(b.v, 0, (size_t)n * sizeof *b.v);
  eb_corotation_errors(b.corotation, b.v, 1, two);
  tap_ok(largest(elements, two) == 0, "no velocity, no error");
}

int main(void) {
  assembly_is_the_sum_of_the_elements();
  fresh_rotations_cancel();
  frozen_nodes_give_the_corotational_matrix();
  refreshed_elements_are_of_the_present();
  refreshing_nothing_changes_nothing();
  thousands_of_refreshes_do_not_drift();
  errors_are_those_of_explicit_matrices();
  errors_scale();
  return tap_done();
}
