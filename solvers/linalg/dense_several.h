/* One panel of the triangular solves for several right-hand sides, whose entries of a row are
 * lanes: X (count x n) for the pivots, Y (count x m) for the rows below. Part of dense_body.h.
 *
 * As with a single one, strips of 6 columns of L are read once and in order, each entry for ROWS
 * right-hand sides, while the strip that comes next is fetched. */

/* The lines of a strip that begin in its row L. */
INLINE void NAME(fetch_strip)(const int columns, const REAL *L, int64_t ldl) {
  foreach (c, 0, columns) __builtin_prefetch(L + c * ldl, 0, 2);
}

/* x[.][c] -= Y times the strip's column c. */
INLINE void NAME(gather_rows)(const int vectors, const int columns, int64_t m, const REAL *L,
                              int64_t ldl, const REAL *Y, int64_t ldy, MASK last,
                              VECTOR x[VECTORS][COLUMNS]) {
  for (int64_t i = 0; i < m; i++, Y += ldy) {
    VECTOR y[VECTORS];
    foreach (v, 0, vectors - 1) y[v] = NAME(load)(Y + v * LANES);
    y[vectors - 1] = NAME(masked_load)(last, Y + (vectors - 1) * LANES);
    foreach (c, 0, columns) {
      VECTOR l = NAME(splat)(L[c * ldl + i]);
      foreach (v, 0, vectors) x[v][c] -= y[v] * l;
    }
    if (i % LINE == 0) NAME(fetch_strip)(columns, L - COLUMNS * ldl + i, ldl);
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
    foreach (v, 0, vectors - 1) y[v] = NAME(load)(Y + v * LANES);
    y[vectors - 1] = NAME(masked_load)(last, Y + (vectors - 1) * LANES);
    foreach (c, 0, columns) {
      VECTOR l = NAME(splat)(L[c * ldl + i]);
      foreach (v, 0, vectors) y[v] -= x[v][c] * l;
    }
    if (i % LINE == 0) NAME(fetch_strip)(columns, L + columns * ldl + i, ldl);
    foreach (v, 0, vectors - 1) NAME(store)(Y + v * LANES, y[v]);
    NAME(masked_store)(last, Y + (vectors - 1) * LANES, y[vectors - 1]);
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
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
#define TILE(V, N) NAME(subtract_strip)(V, N, m, L, ldl, X, ldx, Y, ldy, last)
  EACH_TILE(TILE)
#undef TILE
}

static void NAME(gather_several)(int64_t rows, int columns, int64_t m, const REAL *L, const REAL *Y,
                                 int64_t ldy, int64_t k, const REAL *T, int64_t ldl, REAL *X,
                                 int64_t ldx) {
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
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
