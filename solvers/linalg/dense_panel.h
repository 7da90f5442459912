/* One panel [L11; L21] of the triangular solves. Part of dense_body.h.
 *
 * A single right-hand side reads L once and is bound by memory: strips of 6 columns are solved with their own triangle
 * and taken off everything below (forward), or gathered from everything below and solved (backward), while the
 * strip that comes next is fetched. Several right-hand sides are products and solves from the right. */

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

/* ---- several right-hand sides ----------------------------------------------------------------------- */

/* X (count x n) -= Y (count x m) L21. */
static void NAME(gather_tile)(int64_t rows, int columns, int64_t m, const REAL *Y, int64_t ldy,
                              const REAL *L, int64_t ldl, REAL *X, int64_t ldx) {
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
#define TILE(V, N) NAME(subtract_tile)(V, N, m, Y, ldy, L, ldl, 1, X, ldx, last, false, true)
  EACH_TILE(TILE)
#undef TILE
}

/* tile := (tile - sum) L^-1, the strip's last column first. */
INLINE void NAME(solve_back_tile)(const int vectors, const int columns, int64_t k, const REAL *X,
                                  int64_t ldx, const REAL *L, int64_t ldl, const REAL *triangle,
                                  REAL *T, MASK last) {
  VECTOR t[VECTORS][COLUMNS];
  NAME(product)(vectors, columns, k, X, ldx, L, ldl, 1, last, t);
  UNROLL for (int j = 0; j < columns; j++) UNROLL for (int v = 0; v < vectors; v++) {
    MASK mask = NAME(tile_mask)(v, vectors, j, false, last);
    t[v][j] = NAME(masked_load)(mask, T + j * ldx + v * LANES) - t[v][j];
  }
  UNROLL for (int c = columns - 1; c >= 0; c--) {
    VECTOR scale = NAME(splat)(1 / triangle[c * ldl + c]);
    UNROLL for (int v = 0; v < vectors; v++) t[v][c] *= scale;
    UNROLL for (int j = 0; j < c; j++) {
      VECTOR l = NAME(splat)(triangle[j * ldl + c]);
      UNROLL for (int v = 0; v < vectors; v++) t[v][j] -= t[v][c] * l;
    }
  }
  UNROLL for (int j = 0; j < columns; j++) UNROLL for (int v = 0; v < vectors; v++) NAME(
      masked_store)(NAME(tile_mask)(v, vectors, j, false, last), T + j * ldx + v * LANES, t[v][j]);
}

/* Columns j .. j + columns - 1 of at most ROWS rows of X (x n); those behind are solved. */
static void NAME(back_tile)(int64_t rows, int columns, int64_t j, int64_t n, REAL *X, int64_t ldx,
                            const REAL *L, int64_t ldl) {
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
  int64_t behind = j + columns;
#define TILE(V, N)                                                                                 \
  NAME(solve_back_tile)                                                                            \
  (V, N, n - behind, X + behind * ldx, ldx, L + j * ldl + behind, ldl, L + j * ldl + j,            \
   X + j * ldx, last)
  EACH_TILE(TILE)
#undef TILE
}

/* ---- both --------------------------------------------------------------------------------------- */

void NAME(forward)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X,
                   int64_t ldx, REAL *Y, int64_t ldy) {
  if (count == 1 && ldx == 1 && ldy == 1) {
    NAME(forward_one)(n, m, L, ldl, X, Y);
  } else {
    NAME(trsm)(count, n, L, ldl, X, ldx);
    NAME(gemm)(count, m, n, X, ldx, L + n, ldl, Y, ldy, true);
  }
}

void NAME(backward)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X,
                    int64_t ldx, const REAL *Y, int64_t ldy) {
  if (count == 1 && ldx == 1 && ldy == 1) {
    NAME(backward_one)(n, m, L, ldl, X, Y);
    return;
  }
  for (int64_t i = 0; i < count; i += ROWS)
    for (int64_t end = n, columns; end > 0; end -= columns) {
      columns = NAME(last_columns)(end);
      int64_t rows = count - i < ROWS ? count - i : ROWS, j = end - columns;
      NAME(gather_tile)
      (rows, (int)columns, m, Y + i, ldy, L + j * ldl + n, ldl, X + j * ldx + i, ldx);
      NAME(back_tile)(rows, (int)columns, j, n, X + i, ldx, L, ldl);
    }
}

void NAME(subtract)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, const REAL *X,
                    int64_t ldx, REAL *Y, int64_t ldy) {
  if (count != 1 || ldx != 1 || ldy != 1) {
    NAME(gemm)(count, m, n, X, ldx, L, ldl, Y, ldy, true);
    return;
  }
  for (int64_t j = 0, columns; j < n; j += columns) {
    columns = NAME(tile_columns)(n - j);
#define STRIP(N) NAME(strip_subtract)(N, m, L + j * ldl, ldl, X + j, Y)
    EACH_STRIP(STRIP)
#undef STRIP
  }
}

void NAME(gather)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X,
                  int64_t ldx, const REAL *Y, int64_t ldy) {
  bool one = count == 1 && ldx == 1 && ldy == 1;
  for (int64_t j = 0, columns; j < n; j += columns) {
    columns = NAME(tile_columns)(n - j);
    if (one) {
#define STRIP(N) NAME(gather_strip)(N, m, L + j * ldl, ldl, X + j, Y)
      EACH_STRIP(STRIP)
#undef STRIP
      continue;
    }
    for (int64_t i = 0; i < count; i += ROWS) NAME(gather_tile)
    (count - i < ROWS ? count - i : ROWS, (int)columns, m, Y + i, ldy, L + j * ldl, ldl,
     X + j * ldx + i, ldx);
  }
}
