/* One panel [L11; L21] of the triangular solves: the part of dense_body.h for right-hand sides.
 *
 * A single right-hand side reads L once and is bound by memory: strips of 6 columns are solved with
 * their own triangle and taken off everything below (forward), or gathered from everything below
 * and solved (backward), while the strip that comes next is fetched. Several are lanes: X (count x
 * n) for the pivots, Y (count x m) for the rows below; a strip is again read once and in order,
 * each entry for ROWS right-hand sides. Both do 2 operations for an entry of L and right-hand side.
 */

/* ---- a single right-hand side ---------------------------------------------------------------- */

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

/* ---- several right-hand sides ---------------------------------------------------------------- */

/* x[.][c] -= Y times the strip's column c. */
INLINE void NAME(gather_rows)(const int vectors, const int columns, int64_t m, const REAL *L,
                              int64_t ldl, const REAL *Y, int64_t ldy, MASK last,
                              VECTOR x[VECTORS][COLUMNS]) {
  for (int64_t i = 0; i < m; i++, Y += ldy) {
    VECTOR y[VECTORS];
    NAME(load_rows)(vectors, last, Y, y);
    foreach (c, 0, columns) {
      VECTOR l = NAME(splat)(L[c * ldl + i]);
      foreach (v, 0, vectors) x[v][c] -= y[v] * l;
    }
    if (i % LINE == 0)
      foreach (c, 0, columns) __builtin_prefetch(L + (c - COLUMNS) * ldl + i, 0, 2);
  }
}

/* x := x T^-1, the strip's last column first. */
INLINE void NAME(divide_strip)(const int vectors, const int columns, const REAL *T, int64_t ldl,
                               VECTOR x[VECTORS][COLUMNS]) {
  foreach (behind, 0, columns) {
    const int c = columns - 1 - behind;
    VECTOR scale = NAME(splat)(1 / T[c * ldl + c]);
    foreach (v, 0, vectors) x[v][c] *= scale;
    foreach (j, 0, c) {
      VECTOR l = NAME(splat)(T[j * ldl + c]);
      foreach (v, 0, vectors) x[v][j] -= x[v][c] * l;
    }
  }
}

/* Y -= X L^T for the strip's m rows and at most ROWS right-hand sides. */
INLINE void NAME(subtract_strip)(const int vectors, const int columns, int64_t m, const REAL *L,
                                 int64_t ldl, const REAL *X, int64_t ldx, REAL *Y, int64_t ldy,
                                 MASK last) {
  VECTOR x[VECTORS][COLUMNS];
  foreach (c, 0, columns) {
    foreach (v, 0, vectors - 1) x[v][c] = NAME(load)(X + c * ldx + v * LANES);
    x[vectors - 1][c] = NAME(masked_load)(last, X + c * ldx + (vectors - 1) * LANES);
  }
  for (int64_t i = 0; i < m; i++, Y += ldy) {
    VECTOR y[VECTORS];
    NAME(load_rows)(vectors, last, Y, y);
    foreach (c, 0, columns) {
      VECTOR l = NAME(splat)(L[c * ldl + i]);
      foreach (v, 0, vectors) y[v] -= x[v][c] * l;
    }
    if (i % LINE == 0)
      foreach (c, 0, columns) __builtin_prefetch(L + (c + columns) * ldl + i, 0, 2);
    NAME(store_rows)(vectors, last, y, Y);
  }
}

/* X := (X - Y L - Z K) T^-1 for a strip of m rows L and, below its triangle T, k rows K; without T
 * the difference. */
INLINE void NAME(gather_strips)(const int vectors, const int columns, int64_t m, const REAL *L,
                                const REAL *Y, int64_t ldy, int64_t k, const REAL *K, const REAL *Z,
                                const REAL *T, int64_t ldl, REAL *X, int64_t ldx, MASK last) {
  VECTOR x[VECTORS][COLUMNS];
  foreach (c, 0, columns) {
    foreach (v, 0, vectors - 1) x[v][c] = NAME(load)(X + c * ldx + v * LANES);
    x[vectors - 1][c] = NAME(masked_load)(last, X + c * ldx + (vectors - 1) * LANES);
  }
  NAME(gather_rows)(vectors, columns, m, L, ldl, Y, ldy, last, x);
  NAME(gather_rows)(vectors, columns, k, K, ldl, Z, ldx, last, x);
  if (T) NAME(divide_strip)(vectors, columns, T, ldl, x);
  foreach (c, 0, columns) {
    foreach (v, 0, vectors - 1) NAME(store)(X + c * ldx + v * LANES, x[v][c]);
    NAME(masked_store)(last, X + c * ldx + (vectors - 1) * LANES, x[vectors - 1][c]);
  }
}

static void NAME(subtract_several)(int64_t rows, int columns, int64_t m, const REAL *L, int64_t ldl,
                                   const REAL *X, int64_t ldx, REAL *Y, int64_t ldy) {
#define TILE(V, N) NAME(subtract_strip)(V, N, m, L, ldl, X, ldx, Y, ldy, last)
  EACH_TILE(TILE)
#undef TILE
}

static void NAME(gather_several)(int64_t rows, int columns, int64_t m, const REAL *L, const REAL *Y,
                                 int64_t ldy, int64_t k, const REAL *T, int64_t ldl, REAL *X,
                                 int64_t ldx) {
  const REAL *K = T ? T + columns : L, *Z = X + columns * ldx;
#define TILE(V, N) NAME(gather_strips)(V, N, m, L, Y, ldy, k, K, Z, T, ldl, X, ldx, last)
  EACH_TILE(TILE)
#undef TILE
}

static void NAME(forward_several)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count,
                                  REAL *X, int64_t ldx, REAL *Y, int64_t ldy) {
  for (int64_t i = 0; i < count; i += ROWS) {
    int64_t rows = count - i < ROWS ? count - i : ROWS;
    for (int64_t j = 0, columns; j < n; j += columns) {
      columns = NAME(tile_columns)(n - j);
      const REAL *T = L + j * ldl + j;
      REAL *x = X + j * ldx + i, inverse[COLUMNS];
      for (int64_t c = 0; c < columns; c++) inverse[c] = 1 / T[c * ldl + c];
      NAME(trsm_tile)(rows, (int)columns, 0, x, ldx, T, ldl, inverse);
      NAME(subtract_several)
      (rows, (int)columns, n - j - columns, T + columns, ldl, x, ldx, x + columns * ldx, ldx);
      NAME(subtract_several)(rows, (int)columns, m, L + j * ldl + n, ldl, x, ldx, Y + i, ldy);
    }
  }
}

static void NAME(backward_several)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count,
                                   REAL *X, int64_t ldx, const REAL *Y, int64_t ldy) {
  for (int64_t i = 0; i < count; i += ROWS)
    for (int64_t end = n, columns; end > 0; end -= columns) {
      columns = NAME(last_columns)(end);
      int64_t rows = count - i < ROWS ? count - i : ROWS, j = end - columns;
      NAME(gather_several)
      (rows, (int)columns, m, L + j * ldl + n, Y + i, ldy, n - end, L + j * ldl + j, ldl,
       X + j * ldx + i, ldx);
    }
}

/* ---- any number of right-hand sides ---------------------------------------------------------- */

void NAME(forward)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X,
                   int64_t ldx, REAL *Y, int64_t ldy) {
  if (count == 1 && ldx == 1 && ldy == 1)
    NAME(forward_one)(n, m, L, ldl, X, Y);
  else
    NAME(forward_several)(n, m, L, ldl, count, X, ldx, Y, ldy);
}

void NAME(backward)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X,
                    int64_t ldx, const REAL *Y, int64_t ldy) {
  if (count == 1 && ldx == 1 && ldy == 1)
    NAME(backward_one)(n, m, L, ldl, X, Y);
  else
    NAME(backward_several)(n, m, L, ldl, count, X, ldx, Y, ldy);
}

void NAME(subtract)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, const REAL *X,
                    int64_t ldx, REAL *Y, int64_t ldy) {
  bool one = count == 1 && ldx == 1 && ldy == 1;
  for (int64_t j = 0, columns; j < n; j += columns) {
    columns = NAME(tile_columns)(n - j);
    if (one) {
#define STRIP(N) NAME(strip_subtract)(N, m, L + j * ldl, ldl, X + j, Y)
      EACH_STRIP(STRIP)
#undef STRIP
      continue;
    }
    for (int64_t i = 0; i < count; i += ROWS) NAME(subtract_several)
    (count - i < ROWS ? count - i : ROWS, (int)columns, m, L + j * ldl, ldl, X + j * ldx + i, ldx,
     Y + i, ldy);
  }
}

void NAME(gather)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X,
                  int64_t ldx, const REAL *Y, int64_t ldy) {
  bool one = count == 1 && ldx == 1 && ldy == 1;
  for (int64_t end = n, columns; end > 0; end -= columns) {
    columns = NAME(last_columns)(end);
    int64_t j = end - columns;
    if (one) {
#define STRIP(N) NAME(gather_strip)(N, m, L + j * ldl, ldl, X + j, Y)
      EACH_STRIP(STRIP)
#undef STRIP
      continue;
    }
    for (int64_t i = 0; i < count; i += ROWS) NAME(gather_several)
    (count - i < ROWS ? count - i : ROWS, (int)columns, m, L + j * ldl, Y + i, ldy, 0, NULL, ldl,
     X + j * ldx + i, ldx);
  }
}
