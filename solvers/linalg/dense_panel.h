/* One panel [L11; L21] of the triangular solves. Part of dense_body.h.
 *
 * A single right-hand side reads L once and is bound by memory: strips of 6 columns are solved with their own triangle
 * and taken off everything below (forward), or gathered from everything below and solved (backward), while the
 * strip that comes next is fetched. dense_several.h does the same for several right-hand sides. */

/* y (m) -= the strip's m rows times the 6 entries of x. */
INLINE void NAME(strip_subtract)(const int columns, int64_t m, const REAL *L, int64_t ldl,
                                 const REAL *x, REAL *y) {
  VECTOR scale[COLUMNS];
  UNROLL for (int c = 0; c < columns; c++) scale[c] = NAME(splat)(x[c]);
  int64_t i = 0;
  for (; i + LANES <= m; i += LANES) {
    VECTOR sum = NAME(load)(y + i);
    UNROLL for (int c = 0; c < columns; c++) {
      sum -= scale[c] * NAME(load)(L + c * ldl + i);
      __builtin_prefetch(L + (c + COLUMNS) * ldl + i, 0, 2);
    }
    NAME(store)(y + i, sum);
  }
  if (i == m) return;
  MASK last = NAME(lanes)(0, m - i);
  VECTOR sum = NAME(masked_load)(last, y + i);
  UNROLL for (int c = 0; c < columns; c++) sum -=
      scale[c] * NAME(masked_load)(last, L + c * ldl + i);
  NAME(masked_store)(last, y + i, sum);
}

/* sum[c] += the strip's column c times y. */
INLINE void NAME(strip_gather)(const int columns, int64_t m, const REAL *L, int64_t ldl,
                               const REAL *y, VECTOR sum[COLUMNS]) {
  int64_t i = 0;
  for (; i + LANES <= m; i += LANES) {
    VECTOR v = NAME(load)(y + i);
    UNROLL for (int c = 0; c < columns; c++) {
      sum[c] += v * NAME(load)(L + c * ldl + i);
      __builtin_prefetch(L + (c - COLUMNS) * ldl + i, 0, 2);
    }
  }
  if (i == m) return;
  MASK last = NAME(lanes)(0, m - i);
  VECTOR v = NAME(masked_load)(last, y + i);
  UNROLL for (int c = 0; c < columns; c++) sum[c] += v * NAME(masked_load)(last, L + c * ldl + i);
}

/* Columns of L from the diagonal down: `pivots` rows of L11, then m of L21. */
INLINE void NAME(forward_strip)(const int columns, int64_t pivots, int64_t m, const REAL *L,
                                int64_t ldl, REAL *x, REAL *y) {
  REAL inverse[COLUMNS], t[COLUMNS];
  UNROLL for (int c = 0; c < columns; c++) inverse[c] = 1 / L[c * ldl + c], t[c] = x[c];
  UNROLL for (int c = 0; c < columns; c++) {
    x[c] = t[c] *= inverse[c];
    UNROLL for (int j = c + 1; j < columns; j++) t[j] -= t[c] * L[c * ldl + j];
  }
  NAME(strip_subtract)(columns, pivots - columns, L + columns, ldl, t, x + columns);
  NAME(strip_subtract)(columns, m, L + pivots, ldl, t, y);
}

INLINE void NAME(backward_strip)(const int columns, int64_t pivots, int64_t m, const REAL *L,
                                 int64_t ldl, REAL *x, const REAL *y) {
  REAL inverse[COLUMNS], t[COLUMNS];
  VECTOR sum[COLUMNS] = {{0}};
  NAME(strip_gather)(columns, m, L + pivots, ldl, y, sum);
  NAME(strip_gather)(columns, pivots - columns, L + columns, ldl, x + columns, sum);
  UNROLL for (int c = 0; c < columns; c++) inverse[c] = 1 / L[c * ldl + c];
  UNROLL for (int c = 0; c < columns; c++) t[c] = x[c] - NAME(total)(sum[c]);
  UNROLL for (int c = columns - 1; c >= 0; c--) {
    x[c] = t[c] *= inverse[c];
    UNROLL for (int j = 0; j < c; j++) t[j] -= t[c] * L[j * ldl + c];
  }
}

/* x -= the strip's columns times y. */
INLINE void NAME(gather_strip)(const int columns, int64_t m, const REAL *L, int64_t ldl, REAL *x,
                               const REAL *y) {
  VECTOR sum[COLUMNS] = {{0}};
  NAME(strip_gather)(columns, m, L, ldl, y, sum);
  UNROLL for (int c = 0; c < columns; c++) x[c] -= NAME(total)(sum[c]);
}

static void NAME(forward_one)(int64_t n, int64_t m, const REAL *L, int64_t ldl, REAL *x, REAL *y) {
  for (int64_t j = 0, columns; j < n; j += columns) {
    columns = NAME(tile_columns)(n - j);
#define STRIP(N) NAME(forward_strip)(N, n - j, m, L + j * ldl + j, ldl, x + j, y)
    EACH_STRIP(STRIP)
#undef STRIP
  }
}

/* The strips of forward_one in reverse. */
static void NAME(backward_one)(int64_t n, int64_t m, const REAL *L, int64_t ldl, REAL *x,
                               const REAL *y) {
  for (int64_t end = n, columns; end > 0; end -= columns) {
    columns = NAME(last_columns)(end);
    int64_t j = end - columns;
#define STRIP(N) NAME(backward_strip)(N, n - j, m, L + j * ldl + j, ldl, x + j, y)
    EACH_STRIP(STRIP)
#undef STRIP
  }
}
