/* Cholesky factors and triangular solves from the right. Part of dense_body.h.
 *
 * Left-looking by strips of 6 columns: a tile's product with all columns before it stays in
 * registers while the tile is solved with the strip's own 6 x 6 triangle,
 *
 *   T := (B_J - X_{<J} L_{J,<J}^T) L_JJ^-T.
 *
 * Larger matrices are cut into halves, so that nearly all of their work is products. A strip's own
 * triangle is factored as W D W^T (unit lower W), which keeps square roots out of the chain from
 * one pivot to the next; then L_JJ = W D^1/2.
 *
 * Reference: Golub and Van Loan, "Matrix Computations", 4.2. */
#ifndef TRIANGLE
#define TRIANGLE 96 /* rows; above, halves */
#endif

/* tile := (tile - sum) L^-T with the strip's triangle L and the inverses of its diagonal. */
INLINE void NAME(solve_tile)(const int vectors, const int columns, int64_t k, const REAL *X,
                             int64_t ldx, const REAL *L, int64_t ldl, const REAL *triangle,
                             const REAL *inverse, REAL *T, MASK last) {
  VECTOR t[VECTORS][COLUMNS];
  NAME(product)(vectors, columns, k, X, ldx, L, ldl, last, t);
  foreach (j, 0, columns) {
    foreach (v, 0, vectors - 1) t[v][j] = NAME(load)(T + j * ldx + v * LANES) - t[v][j];
    const int v = vectors - 1;
    t[v][j] = NAME(masked_load)(last, T + j * ldx + v * LANES) - t[v][j];
  }
  foreach (c, 0, columns) {
    VECTOR scale = NAME(splat)(inverse[c]);
    foreach (v, 0, vectors) t[v][c] *= scale;
    foreach (j, c + 1, columns) {
      VECTOR l = NAME(splat)(triangle[c * ldl + j]);
      foreach (v, 0, vectors) t[v][j] -= t[v][c] * l;
    }
  }
  foreach (j, 0, columns) {
    foreach (v, 0, vectors - 1) NAME(store)(T + j * ldx + v * LANES, t[v][j]);
    NAME(masked_store)(last, T + j * ldx + (vectors - 1) * LANES, t[vectors - 1][j]);
  }
}

/* Columns j .. j + columns - 1 of at most ROWS rows of X; those before are solved. */
static void NAME(trsm_tile)(int64_t rows, int columns, int64_t j, REAL *X, int64_t ldx,
                            const REAL *L, int64_t ldl, const REAL *inverse) {
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
#define TILE(V, N)                                                                                 \
  NAME(solve_tile)(V, N, j, X, ldx, L + j, ldl, L + j * ldl + j, inverse, X + j * ldx, last)
  EACH_TILE(TILE)
#undef TILE
}

void NAME(trsm)(int64_t m, int64_t n, const REAL *L, int64_t ldl, REAL *B, int64_t ldb) {
  if (n > TRIANGLE) {
    int64_t half = NAME(half)(n);
    NAME(trsm)(m, half, L, ldl, B, ldb);
    NAME(gemm)(m, n - half, half, B, ldb, L + half, ldl, B + half * ldb, ldb, true);
    NAME(trsm)(m, n - half, L + half * ldl + half, ldl, B + half * ldb, ldb);
    return;
  }
  REAL inverse[TRIANGLE];
  for (int64_t j = 0; j < n; j++) inverse[j] = 1 / L[j * ldl + j];
  for (int64_t i = 0; i < m; i += ROWS)
    for (int64_t j = 0, columns; j < n; j += columns) {
      columns = NAME(tile_columns)(n - j);
      NAME(trsm_tile)
      (m - i < ROWS ? m - i : ROWS, (int)columns, j, B + i, ldb, L, ldl, inverse + j);
    }
}

/* ---- the factor ------------------------------------------------------------------------------ */

/* The 6 x 6 triangle at the top of a strip, as W D W^T with unit lower W. */
typedef struct NAME(corner) {
  REAL entry[COLUMNS][2 * LANES]; /* [column][row]; W below the diagonal when done */
  REAL inverse[COLUMNS];          /* D^-1/2 */
  int failed;                     /* column, or COLUMNS */
} NAME(corner);

/* The comparison is false for NaN as well. */
INLINE void NAME(factor_corner)(const int columns, NAME(corner) * corner, const REAL *floor) {
  REAL(*a)[2 * LANES] = corner->entry;
  corner->failed = COLUMNS;
  foreach (c, 0, columns) {
    if (!(a[c][c] > floor[c]) && corner->failed == COLUMNS) corner->failed = c;
    REAL reciprocal = 1 / a[c][c], w[COLUMNS];
    foreach (j, c + 1, columns) w[j] = a[c][j] * reciprocal;
    foreach (j, c + 1, columns)
      foreach (i, j, columns) a[j][i] -= w[j] * a[c][i];
    foreach (j, c + 1, columns) a[c][j] = w[j];
  }
  foreach (c, 0, columns) corner->inverse[c] = 1 / SQRT(a[c][c]);
}

/* The first tile of a strip: its corner is on the diagonal. A is the strip's first row, T its
 * corner. */
INLINE void NAME(factor_tile)(const int vectors, const int columns, int64_t k, const REAL *A,
                              int64_t lda, REAL *T, MASK last, const REAL *floor,
                              NAME(corner) * corner) {
  VECTOR t[VECTORS][COLUMNS];
  NAME(product)(vectors, columns, k, A, lda, A, lda, last, t);
  foreach (j, 0, columns)
    foreach (v, 0, vectors) {
      MASK mask = NAME(tile_mask)(v, vectors, j, true, last);
      t[v][j] = NAME(masked_load)(mask, T + j * lda + v * LANES) - t[v][j];
      if (v < 2) NAME(store)(corner->entry[j] + v * LANES, t[v][j]);
    }
  NAME(factor_corner)(columns, corner, floor);
  foreach (c, 0, columns)
    foreach (j, c + 1, columns) {
      VECTOR w = NAME(splat)(corner->entry[c][j]);
      foreach (v, 0, vectors) t[v][j] -= t[v][c] * w;
    }
  foreach (j, 0, columns) {
    VECTOR scale = NAME(splat)(corner->inverse[j]);
    foreach (v, 0, vectors) {
      MASK mask = NAME(tile_mask)(v, vectors, j, true, last);
      NAME(masked_store)(mask, T + j * lda + v * LANES, t[v][j] * scale);
    }
  }
}

static void NAME(potrf_tile)(int64_t rows, int columns, int64_t j, REAL *A, int64_t lda,
                             const REAL *floor, NAME(corner) * corner) {
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
#define TILE(V, N) NAME(factor_tile)(V, N, j, A + j, lda, A + j * lda + j, last, floor + j, corner)
  EACH_TILE(TILE)
#undef TILE
}

static int64_t NAME(potrf_strips)(int64_t n, REAL *A, int64_t lda, const REAL *floor) {
  NAME(corner) corner;
  for (int64_t j = 0, columns; j < n; j += columns) {
    columns = NAME(tile_columns)(n - j);
    NAME(potrf_tile)(n - j < ROWS ? n - j : ROWS, (int)columns, j, A, lda, floor, &corner);
    for (int64_t i = j + ROWS; i < n; i += ROWS) NAME(trsm_tile)
    (n - i < ROWS ? n - i : ROWS, (int)columns, j, A + i, lda, A, lda, corner.inverse);
    if (corner.failed < COLUMNS) return j + corner.failed;
  }
  return -1;
}

int64_t NAME(potrf)(int64_t n, REAL *A, int64_t lda, const REAL *floor) {
  if (n <= TRIANGLE) return NAME(potrf_strips)(n, A, lda, floor);
  int64_t half = NAME(half)(n);
  REAL *below = A + half, *corner = below + half * lda;
  int64_t failed = NAME(potrf)(half, A, lda, floor);
  NAME(trsm)(n - half, failed < 0 ? half : failed, A, lda, below, lda);
  if (failed >= 0) return failed;
  NAME(syrk)(n - half, half, below, lda, corner, lda, true);
  failed = NAME(potrf)(n - half, corner, lda, floor + half);
  return failed < 0 ? -1 : half + failed;
}
