/* Products of contact methods: half of a large matrix has the products of the whole one, and
 * follows its values as the problem names them. */
#include "solvers/contact/product.h"
#include "tests/support/owned.h"
#include "tests/support/contact_problems.h"
#include "tests/support/block_systems.h"

static double largest_difference(int64_t n, const double *x, const double *y) {
  double largest = 0;
  for (int64_t k = 0; k < n; k++) largest = fmax(largest, fabs(x[k] - y[k]));
  return largest;
}

/* How far products are from those of A, over the largest entry. */
static double off(const eb_contact_product *product, const eb_block_matrix *A) {
  const int64_t n = 3 * (int64_t)A->rows;
  uint64_t seed = 5;
  owned(double) *x = eb_test_random_vector(n, &seed), *y = eb_test_random_vector(n, &seed);
  owned(double) *want = eb_test_random_vector(n, &seed);
  double largest = 0, most = 0;
  eb_block_multiply(A, x, want);
  for (int64_t k = 0; k < n; k++) largest = fmax(largest, fabs(want[k]));
  eb_contact_product_whole(product, x, y);
  most = largest_difference(n, y, want);
  for (int piece = 0; piece < product->pieces.count; piece++)
    eb_contact_product_piece(product, piece, x, y);
  most = fmax(most, largest_difference(n, y, want));
  return most / largest;
}

static void scale(eb_block_matrix *A, double by) {
  for (int64_t k = 0; k < 9 * (int64_t)A->start[A->rows]; k++) A->values[k] *= by;
}

static void products(int32_t bodies, bool large) {
  const double rounding = 1e-14; /* a row adds up some 50 terms */
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 2, .bodies = bodies, .side = 4, .contacts = 1});
  eb_contact_product product;
  tap_require(eb_contact_product_create(c.A, &product), "a product");
  tap_ok((product.half != NULL) == large, "%d bodies: %s of A", bodies, large ? "half" : "all");
  c.problem->matrix = 7;
  eb_contact_product_set(&product, c.problem);
  tap_below(off(&product, c.A), rounding, "its products");
  scale(c.A, 2);
  c.problem->matrix = 8;
  eb_contact_product_set(&product, c.problem);
  tap_below(off(&product, c.A), rounding, "of values with another name");
  for (int again = 0; again < 2; again++) {
    scale(c.A, 2);
    c.problem->matrix = 0;
    eb_contact_product_set(&product, c.problem);
    tap_below(off(&product, c.A), rounding, "of values without a name");
  }
  eb_contact_product_clear(&product);
}

int main(void) {
  products(3, false);
  products(160, true);
  return tap_done();
}
