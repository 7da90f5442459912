/* One panel [L11; L21] of the triangular solves. Part of dense_body.h.
 *
 * A single right-hand side reads L once and is bound by memory: strips of 6 columns are solved with
 * their own triangle and taken off everything below (forward), or gathered from everything below
 * and solved (backward), while the strip that comes next is fetched. dense_several.h does the same
 * for several right-hand sides. */

/* Rows up to the next whole line of L's first column, at most m: loads of whole lines are twice as
 * fast as those of halves. */
INLINE int64_t NAME(rows_to_line)(const REAL *L, int64_t m) {
  int64_t rows = -((int64_t)((uintptr_t)L / sizeof(REAL))) & (LANES - 1);
  return rows < m ? rows : m;
}

/* Some lanes of a vector of y (m) -= the strip's rows times the entries of x. */
INLINE void NAME(subtract_some)(const int columns, MASK mask, const REAL *L, int64_t ldl,
                                const VECTOR scale[COLUMNS], REAL *y) {
  VECTOR sum = NAME(masked_load)(mask, y);
  foreach (c, 0, columns) sum -= scale[c] * NAME(masked_load)(mask, L + c * ldl);
  NAME(masked_store)(mask, y, sum);
}

/* y (m) -= the strip's m rows times the 6 entries of x. */
INLINE void NAME(strip_subtract)(const int columns, int64_t m, const REAL *L, int64_t ldl,
                                 const REAL *x, REAL *y) {
  VECTOR scale[COLUMNS];
  foreach (c, 0, columns) scale[c] = NAME(splat)(x[c]);
  int64_t i = NAME(rows_to_line)(L, m);
  if (i > 0) NAME(subtract_some)(columns, NAME(lanes)(0, i), L, ldl, scale, y);
  for (; i + LANES <= m; i += LANES) {
    VECTOR sum = NAME(load)(y + i);
    foreach (c, 0, columns) {
      sum -= scale[c] * NAME(load)(L + c * ldl + i);
      __builtin_prefetch(L + (c + COLUMNS) * ldl + i, 0, 2);
    }
    NAME(store)(y + i, sum);
  }
  if (i < m) NAME(subtract_some)(columns, NAME(lanes)(0, m - i), L + i, ldl, scale, y + i);
}

INLINE void NAME(gather_some)(const int columns, MASK mask, const REAL *L, int64_t ldl,
                              const REAL *y, VECTOR sum[COLUMNS]) {
  VECTOR v = NAME(masked_load)(mask, y);
  foreach (c, 0, columns) sum[c] += v * NAME(masked_load)(mask, L + c * ldl);
}

/* sum[c] += the strip's column c times y. */
INLINE void NAME(strip_gather)(const int columns, int64_t m, const REAL *L, int64_t ldl,
                               const REAL *y, VECTOR sum[COLUMNS]) {
  int64_t i = NAME(rows_to_line)(L, m);
  if (i > 0) NAME(gather_some)(columns, NAME(lanes)(0, i), L, ldl, y, sum);
  for (; i + LANES <= m; i += LANES) {
    VECTOR v = NAME(load)(y + i);
    foreach (c, 0, columns) {
      sum[c] += v * NAME(load)(L + c * ldl + i);
      __builtin_prefetch(L + (c - COLUMNS) * ldl + i, 0, 2);
    }
  }
  if (i < m) NAME(gather_some)(columns, NAME(lanes)(0, m - i), L + i, ldl, y + i, sum);
}

/* Columns of L from the diagonal down: `pivots` rows of L11, then m of L21. */
INLINE void NAME(forward_strip)(const int columns, int64_t pivots, int64_t m, const REAL *L,
                                int64_t ldl, REAL *x, REAL *y) {
  REAL inverse[COLUMNS], t[COLUMNS];
  foreach (c, 0, columns) inverse[c] = 1 / L[c * ldl + c], t[c] = x[c];
  foreach (c, 0, columns) {
    x[c] = t[c] *= inverse[c];
    foreach (j, c + 1, columns) t[j] -= t[c] * L[c * ldl + j];
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
  foreach (c, 0, columns) inverse[c] = 1 / L[c * ldl + c];
  foreach (c, 0, columns) t[c] = x[c] - NAME(total)(sum[c]);
  foreach (behind, 0, columns) {
    const int c = columns - 1 - behind;
    x[c] = t[c] *= inverse[c];
    foreach (j, 0, c) t[j] -= t[c] * L[j * ldl + c];
  }
}

/* x -= the strip's columns times y. */
INLINE void NAME(gather_strip)(const int columns, int64_t m, const REAL *L, int64_t ldl, REAL *x,
                               const REAL *y) {
  VECTOR sum[COLUMNS] = {{0}};
  NAME(strip_gather)(columns, m, L, ldl, y, sum);
  foreach (c, 0, columns) x[c] -= NAME(total)(sum[c]);
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
