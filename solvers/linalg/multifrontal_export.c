/* The factor as a sparse matrix in compressed columns, explicit zeros included. */
#include "solvers/linalg/multifrontal_data.h"

int64_t eb_multifrontal_entries(const eb_multifrontal *f) {
  int64_t entries = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int64_t n = eb_front_pivots(f, s);
    entries += n * eb_front_rows(f, s) - n * (n - 1) / 2;
  }
  return entries;
}

/* Scalar row r of the front of s, in elimination order. */
static int32_t front_row(const eb_multifrontal *f, int32_t s, int64_t r) {
  int64_t n = eb_front_pivots(f, s);
  if (r < n) return (int32_t)(3 * (int64_t)f->tree.first[s] + r);
  return 3 * f->below[f->below_start[s] + (r - n) / 3] + (int32_t)((r - n) % 3);
}

void eb_multifrontal_export(const eb_multifrontal *f, int64_t *start, int32_t *row, double *value) {
  int64_t at = 0, column = 0;
  start[0] = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int64_t ld = eb_panel_leading(f, s);
    for (int64_t j = 0; j < eb_front_pivots(f, s); j++) {
      int64_t offset = f->panel[s] + j * ld;
      for (int64_t r = j; r < eb_front_rows(f, s); r++) {
        row[at] = front_row(f, s, r);
        value[at++] = f->single_precision ? (double)((const float *)f->L)[offset + r]
                                          : ((const double *)f->L)[offset + r];
      }
      start[++column] = at;
    }
  }
}
