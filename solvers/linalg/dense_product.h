/* C -= A B^T and its symmetric half. Part of dense_body.h.
 *
 * A tile of C, VECTORS vectors high and 6 columns wide (fronts have multiples of three), stays in
 * registers while outer products of a column of A and a row of B^T are added. Both are read where
 * they stand: A's rows of a tile serve all columns of a narrow C from the first-level cache, and
 * fronts are made of narrow products. Wide ones copy blocks of A.
 *
 * Every entry of C is one sum over p in ascending order, by parts of at most DEPTH, whatever tile
 * it falls in. No product is handed to BLAS, whose sums depend on how a matrix was cut: the bits of
 * a factor would then depend on the number of threads.
 *
 * Reference: Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication", ACM
 * TOMS 34(3). */
#ifndef ROWS
#define ROWS    (VECTORS * LANES)
#define COLUMNS 6
#define DEPTH   320                              /* columns of A in one pass over C */
#define NEAR    (327680 / (int64_t)sizeof(REAL)) /* entries of A that need not be fetched */
#define NARROW  192                              /* columns of C */
/* Entries of A that stay in the second-level cache. */
#define COPY        (589824 / (int64_t)sizeof(REAL))
#define SYRK_STRIPS 96 /* rows; above, halves */

/* Runs DO(vectors, columns) with constants. */
#if VECTORS == 4
#define EACH_HEIGHT(DO, columns)                                                                   \
  switch (vectors) {                                                                               \
  case 1:                                                                                          \
    DO(1, columns);                                                                                \
    break;                                                                                         \
  case 2:                                                                                          \
    DO(2, columns);                                                                                \
    break;                                                                                         \
  case 3:                                                                                          \
    DO(3, columns);                                                                                \
    break;                                                                                         \
  default:                                                                                         \
    DO(4, columns);                                                                                \
    break;                                                                                         \
  }
#else
#define EACH_HEIGHT(DO, columns)                                                                   \
  switch (vectors) {                                                                               \
  case 1:                                                                                          \
    DO(1, columns);                                                                                \
    break;                                                                                         \
  default:                                                                                         \
    DO(2, columns);                                                                                \
    break;                                                                                         \
  }
#endif
#define EACH_TILE(DO)                                                                              \
  switch (columns) {                                                                               \
  case 6:                                                                                          \
    EACH_HEIGHT(DO, 6) break;                                                                      \
  case 3:                                                                                          \
    EACH_HEIGHT(DO, 3) break;                                                                      \
  default:                                                                                         \
    EACH_HEIGHT(DO, 1) break;                                                                      \
  }
#define EACH_STRIP(DO)                                                                             \
  switch (columns) {                                                                               \
  case 6:                                                                                          \
    DO(6);                                                                                         \
    break;                                                                                         \
  case 3:                                                                                          \
    DO(3);                                                                                         \
    break;                                                                                         \
  default:                                                                                         \
    DO(1);                                                                                         \
    break;                                                                                         \
  }
#endif

/* sum[v][j] = sum over p of A(rows of v, p) B(j, p); `last` masks the lanes of the last vector. */
INLINE void NAME(product)(const int vectors, const int columns, int64_t k, const REAL *A,
                          int64_t lda, const REAL *B, int64_t ldb, MASK last,
                          VECTOR sum[VECTORS][COLUMNS]) {
  foreach (j, 0, columns)
    foreach (v, 0, vectors) sum[v][j] = (VECTOR){0};
  for (int64_t p = 0; p < k; p++, A += lda, B += ldb) {
    VECTOR a[VECTORS];
    foreach (v, 0, vectors - 1) a[v] = NAME(load)(A + v * LANES);
    a[vectors - 1] = NAME(masked_load)(last, A + (vectors - 1) * LANES);
    foreach (j, 0, columns) {
      VECTOR b = NAME(splat)(B[j]);
      foreach (v, 0, vectors) sum[v][j] += a[v] * b;
    }
  }
}

/* Columns of the next tile when `left` are left. */
INLINE int NAME(tile_columns)(int64_t left) {
  return left >= 6 ? 6 : left >= 3 ? 3 : 1;
}

/* Columns of the last tile of n. */
INLINE int NAME(last_columns)(int64_t n) {
  int64_t over = n % COLUMNS;
  return over == 0 ? COLUMNS : over == 3 ? 3 : 1;
}

/* Where to cut n in two: near the middle, between tiles. */
INLINE int64_t NAME(half)(int64_t n) {
  int64_t unit = n < 4 * 96 ? COLUMNS : 96;
  return (n / 2 + unit - 1) / unit * unit;
}

INLINE int NAME(tile_vectors)(int64_t rows) {
  return (int)((rows + LANES - 1) / LANES);
}

/* The lanes of vector v in column j of a tile; only those of the lower triangle when the tile's
 * corner is on the diagonal. */
INLINE MASK NAME(tile_mask)(int v, int vectors, int j, bool diagonal, MASK last) {
  MASK mask = NAME(lanes)(diagonal ? j - v * LANES : 0, LANES);
  return v + 1 < vectors ? mask : mask & last;
}

INLINE void NAME(subtract_tile)(const int vectors, const int columns, int64_t k, const REAL *A,
                                int64_t lda, const REAL *B, int64_t ldb, REAL *C, int64_t ldc,
                                MASK last, const bool diagonal, bool accumulate) {
  VECTOR sum[VECTORS][COLUMNS];
  NAME(product)(vectors, columns, k, A, lda, B, ldb, last, sum);
  foreach (j, 0, columns)
    foreach (v, 0, vectors) {
      REAL *c = C + j * ldc + v * LANES;
      MASK mask = NAME(tile_mask)(v, vectors, j, diagonal, last);
      if (v + 1 < vectors && (!diagonal || v * LANES >= COLUMNS)) {
        NAME(store)(c, (accumulate ? NAME(load)(c) : (VECTOR){0}) - sum[v][j]);
      } else {
        NAME(masked_store)
        (mask, c, (accumulate ? NAME(masked_load)(mask, c) : (VECTOR){0}) - sum[v][j]);
      }
    }
}

/* One tile of C, at most ROWS x COLUMNS. */
static void NAME(gemm_tile)(int64_t rows, int columns, int64_t k, const REAL *A, int64_t lda,
                            const REAL *B, int64_t ldb, REAL *C, int64_t ldc, bool accumulate) {
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
#define TILE(V, N) NAME(subtract_tile)(V, N, k, A, lda, B, ldb, C, ldc, last, false, accumulate)
  EACH_TILE(TILE)
#undef TILE
}

/* The same with its corner on the diagonal: the lower triangle only. */
static void NAME(syrk_tile)(int64_t rows, int columns, int64_t k, const REAL *A, int64_t lda,
                            REAL *C, int64_t ldc, bool accumulate) {
  int vectors = NAME(tile_vectors)(rows);
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);
#define TILE(V, N) NAME(subtract_tile)(V, N, k, A, lda, A, lda, C, ldc, last, true, accumulate)
  EACH_TILE(TILE)
#undef TILE
}

INLINE void NAME(fetch_tile)(const REAL *from, int64_t columns, int64_t ld) {
  for (int64_t j = 0; j < columns; j++)
    for (int64_t r = 0; r < ROWS; r += LINE) __builtin_prefetch(from + j * ld + r, 0, 2);
}

/* Rows of tiles one after the other, A and B where they stand: A's rows of a tile serve all columns
 * from the first-level cache. When `fetch`, A is large, and the rows of the next tile and C are
 * brought nearer meanwhile. */
static void NAME(gemm_by_rows)(int64_t m, int64_t n, int64_t k, const REAL *A, int64_t lda,
                               const REAL *B, int64_t ldb, REAL *C, int64_t ldc, bool accumulate,
                               bool fetch) {
  for (int64_t i = 0; i < m; i += ROWS) {
    int64_t rows = m - i < ROWS ? m - i : ROWS, fetched = 0;
    for (int64_t j = 0, columns; j < n; j += columns) {
      columns = NAME(tile_columns)(n - j);
      if (fetch) {
        int64_t due = (j + columns) * k / n;
        NAME(fetch_tile)(A + i + ROWS + fetched * lda, due - fetched, lda);
        NAME(fetch_tile)(C + j * ldc + i, columns, ldc);
        fetched = due;
      }
      NAME(gemm_tile)
      (rows, (int)columns, k, A + i, lda, B + j, ldb, C + j * ldc + i, ldc, accumulate);
    }
  }
}

static void NAME(pack_rows)(int64_t k, const REAL *A, int64_t lda, REAL *to) {
  for (int64_t p = 0; p < k; p++, A += lda, to += ROWS)
    foreach (v, 0, VECTORS) NAME(store)(to + v * LANES, NAME(load)(A + v * LANES));
}

/* Columns of tiles one after the other, so that C is walked through in its own order, with a copy
 * of as many rows of A as stay in the second-level cache. k is at most DEPTH. */
static __attribute__((noinline)) void NAME(gemm_by_columns)(int64_t m, int64_t n, int64_t k,
                                                            const REAL *A, int64_t lda,
                                                            const REAL *B, int64_t ldb, REAL *C,
                                                            int64_t ldc, bool accumulate) {
  REAL copy[COPY + ROWS * DEPTH] __attribute__((aligned(64)));
  int64_t most = COPY / k / ROWS * ROWS + ROWS, blocks = (m + most - 1) / most;
  int64_t height = ((m + blocks - 1) / blocks + ROWS - 1) / ROWS * ROWS;
  for (int64_t top = 0; top < m; top += height) {
    int64_t end = top + height < m ? top + height : m;
    for (int64_t i = top; i + ROWS <= end; i += ROWS)
      NAME(pack_rows)(k, A + i, lda, copy + (i - top) * k);
    for (int64_t j = 0, columns; j < n; j += columns) {
      columns = NAME(tile_columns)(n - j);
      for (int64_t i = top; i < end; i += ROWS) {
        int64_t rows = end - i < ROWS ? end - i : ROWS;
        bool whole = rows == ROWS;
        const REAL *a = whole ? copy + (i - top) * k : A + i;
        REAL *c = C + j * ldc + i;
        NAME(fetch_tile)(c + ROWS, columns, ldc);
        NAME(gemm_tile)
        (rows, (int)columns, k, a, whole ? ROWS : lda, B + j, ldb, c, ldc, accumulate);
      }
    }
  }
}

void NAME(gemm)(int64_t m, int64_t n, int64_t k, const REAL *A, int64_t lda, const REAL *B,
                int64_t ldb, REAL *C, int64_t ldc, bool accumulate) {
  int64_t parts = k > DEPTH ? (k + DEPTH - 1) / DEPTH : 1;
  int64_t depth = k > 0 ? (k + parts - 1) / parts : 1;
  for (int64_t p = 0; p == 0 || p < k; p += depth) {
    int64_t deep = k - p < depth ? k - p : depth;
    const REAL *a = A + p * lda, *b = B + p * ldb;
    bool far = m * deep > NEAR, add = accumulate || p > 0;
    if (far && n > NARROW && m > 2 * ROWS)
      NAME(gemm_by_columns)(m, n, deep, a, lda, b, ldb, C, ldc, add);
    else
      NAME(gemm_by_rows)(m, n, deep, a, lda, b, ldb, C, ldc, add, far);
  }
}

/* Strips of COLUMNS from the diagonal down. */
static void NAME(syrk_strips)(int64_t n, int64_t k, const REAL *A, int64_t lda, REAL *C,
                              int64_t ldc, bool accumulate) {
  for (int64_t j = 0, columns; j < n; j += columns) {
    columns = NAME(tile_columns)(n - j);
    for (int64_t i = j; i < n; i += ROWS) {
      int64_t rows = n - i < ROWS ? n - i : ROWS;
      REAL *c = C + j * ldc + i;
      if (i == j)
        NAME(syrk_tile)(rows, (int)columns, k, A + i, lda, c, ldc, accumulate);
      else
        NAME(gemm_tile)(rows, (int)columns, k, A + i, lda, A + j, lda, c, ldc, accumulate);
    }
  }
}

/* Two halves and the square between them. */
void NAME(syrk)(int64_t n, int64_t k, const REAL *A, int64_t lda, REAL *C, int64_t ldc,
                bool accumulate) {
  if (n <= SYRK_STRIPS && k <= DEPTH) {
    NAME(syrk_strips)(n, k, A, lda, C, ldc, accumulate);
  } else if (n <= SYRK_STRIPS) {
    NAME(syrk)(n, k / 2, A, lda, C, ldc, accumulate);
    NAME(syrk)(n, k - k / 2, A + k / 2 * lda, lda, C, ldc, true);
  } else {
    int64_t half = NAME(half)(n);
    NAME(syrk)(half, k, A, lda, C, ldc, accumulate);
    NAME(gemm)(n - half, half, k, A + half, lda, A, lda, C + half, ldc, accumulate);
    NAME(syrk)(n - half, k, A + half, lda, C + half * ldc + half, ldc, accumulate);
  }
}
