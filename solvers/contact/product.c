/* y = A x for the matrices of contact problems: see product.h.
 *
 * Needs: A symmetric.
 * Workspace: that of linalg/symmetric.c, where A is large.
 * Fails when memory does. */
#include "problems/base/assert.h"
#include "solvers/contact/product.h"

eb_error eb_contact_product_create(const eb_block_matrix *pattern, eb_contact_product *out) {
  *out = (eb_contact_product){.pieces = eb_pieces_of(3 * (int64_t)pattern->rows)};
  return eb_symmetric_create_large(pattern, out->pieces, &out->half);
}

void eb_contact_product_clear(eb_contact_product *product) {
  eb_symmetric_destroy(product->half);
  *product = (eb_contact_product){0};
}

void eb_contact_product_set(eb_contact_product *product, const eb_contact_problem *problem) {
  product->A = problem->A;
  if (!product->half || (problem->matrix && problem->matrix == product->matrix)) return;
  eb_symmetric_set(product->half, problem->A);
  product->matrix = problem->matrix;
}

void eb_contact_product_piece(const eb_contact_product *product, int piece, const double *x,
                              double *y) {
  EB_ASSERT(product->A && piece >= 0 && piece < product->pieces.count);
  const int64_t rows = product->A->rows, length = product->pieces.length / 3;
  const int64_t from = piece * length, end = from + length;
  const int32_t to = (int32_t)(end < rows ? end : rows);
  if (product->half)
    eb_symmetric_multiply_rows(product->half, (int32_t)from, to, x, y);
  else
    eb_block_multiply_rows(product->A, (int32_t)from, to, x, y);
}

void eb_contact_product_whole(const eb_contact_product *product, const double *x, double *y) {
  EB_ASSERT(x != y);
  if (!product->half) {
    eb_block_multiply(product->A, x, y);
    return;
  }
#pragma omp parallel for schedule(static)
  for (int part = 0; part < EB_SYMMETRIC_PARTS; part++)
    for (int piece = eb_symmetric_piece(product->pieces, part);
         piece < eb_symmetric_piece(product->pieces, part + 1); piece++)
      eb_contact_product_piece(product, piece, x, y);
}
