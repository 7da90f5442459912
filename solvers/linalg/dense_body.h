/* The dense kernels for one precision and one vector width. The file that includes this defines
 *
 *   VECTOR_BYTES, VECTORS       a register's bytes and how many registers a tile is high
 *   REAL, SQRT, NAME(x)         the precision and the names that it gives to what is defined here
 *   INTEGER                     as wide as REAL; without AVX-512
 *   MASKED_LOAD(mask, address), MASKED_STORE(mask, address, value)
 *
 * and includes it once for each precision; all but the first two are undefined again.
 *
 * A tile of C, VECTORS vectors high and 6 columns wide (fronts have multiples of three), stays in
 * registers while outer products of a column of A and a row of B^T are added: 4 x 6 sums, 4 vectors
 * of A and one of B are 29 of AVX-512's 32 registers, 2 x 6 + 2 + 1 = 15 of AVX2's 16.
 * Both are read where they stand: A's rows of a tile serve all columns of a narrow C from the
 * first-level cache, and fronts are made of narrow products. Wide ones copy blocks of A.
 *
 * Every entry of C is one sum over p in ascending order, by parts of at most DEPTH, whatever tile
 * it falls in. No product is handed to BLAS, whose sums depend on how a matrix was cut: the bits of
 * a factor would then depend on the number of threads.
 *
 * References: Goto and van de Geijn 2008, "Anatomy of high-performance matrix multiplication", ACM
 * TOMS 34(3), for products; Golub and Van Loan, "Matrix Computations", 4.2, for the factor. */

/* ---- vectors --------------------------------------------------------------------------------- */

/* AVX-512 masks loads and stores at no cost, AVX2 at a small one; elsewhere lanes are taken one by
 * one. */
#ifndef LANES
#define INLINE static inline __attribute__((always_inline, unused))
/* Unrolled, so that arrays of vectors live in registers. */
#define foreach(i, from, end) _Pragma("GCC unroll 8") for (int i = (from); i < (end); i++)
#define LANES                 ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define LINE                  (64 / (int64_t)sizeof(REAL)) /* of the cache */
#define VECTOR                NAME(vector)
#define MASK                  NAME(mask)
#endif

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));
/* In memory only. */
typedef REAL NAME(unaligned)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));

INLINE VECTOR NAME(load)(const REAL *from) {
  return *(const NAME(unaligned) *)from;
}

INLINE void NAME(store)(REAL *to, VECTOR value) {
  *(NAME(unaligned) *)to = value;
}

INLINE VECTOR NAME(splat)(REAL value) {
  return value - (VECTOR){0};
}

/* A fixed tree of additions. */
INLINE REAL NAME(total)(VECTOR value) {
  REAL lane[VECTOR_BYTES / sizeof(REAL)];
  NAME(store)(lane, value);
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

#if VECTOR_BYTES == 64
typedef uint16_t MASK;

/* Lanes first .. end - 1; both may lie outside. */
INLINE MASK NAME(lanes)(int64_t first, int64_t end) {
  uint32_t below_end = end >= LANES ? ~0u : end <= 0 ? 0u : (1u << end) - 1;
  uint32_t below_first = first <= 0 ? 0u : first >= LANES ? ~0u : (1u << first) - 1;
  return (MASK)(below_end & ~below_first);
}

INLINE VECTOR NAME(masked_load)(MASK mask, const REAL *from) {
  return (VECTOR)MASKED_LOAD(mask, from);
}

INLINE void NAME(masked_store)(MASK mask, REAL *to, VECTOR value) {
  MASKED_STORE(mask, to, value);
}
#else
typedef INTEGER MASK __attribute__((vector_size(VECTOR_BYTES)));

INLINE MASK NAME(lanes)(int64_t first, int64_t end) {
  MASK lane;
  for (int64_t l = 0; l < LANES; l++) lane[l] = (INTEGER)l;
  return (lane >= (INTEGER)first) & (lane < (INTEGER)end);
}

INLINE VECTOR NAME(masked_load)(MASK mask, const REAL *from) {
#ifdef __AVX2__
  return (VECTOR)MASKED_LOAD(mask, from);
#else
  VECTOR value = {0};
  for (int64_t l = 0; l < LANES; l++)
    if (mask[l]) value[l] = from[l];
  return value;
#endif
}

INLINE void NAME(masked_store)(MASK mask, REAL *to, VECTOR value) {
#ifdef __AVX2__
  if (_mm256_movemask_epi8((__m256i)mask) == -1)
    NAME(store)(to, value); /* AMD's processors take some twenty cycles for a masked store */
  else
    MASKED_STORE(mask, to, value);
#else
  for (int64_t l = 0; l < LANES; l++)
    if (mask[l]) to[l] = value[l];
#endif
}
#endif

/* ---- tiles ----------------------------------------------------------------------------------- */

#ifndef ROWS
#define ROWS    (VECTORS * LANES)
#define COLUMNS 6
#define DEPTH   320                              /* columns of A in one pass over C */
#define NEAR    (327680 / (int64_t)sizeof(REAL)) /* entries of A that need not be fetched */
#define NARROW  192                              /* columns of C */
/* Entries of A that stay in the second-level cache. */
#define COPY        (589824 / (int64_t)sizeof(REAL))
#define SYRK_STRIPS 96 /* rows; above, halves */

/* Runs DO(vectors, columns) with constants on a tile of `rows` rows and `columns` columns; `last`
 * masks the lanes of its last vector. EACH_STRIP runs DO(columns). */
/* clang-format off */
#if VECTORS == 4
#define EACH_HEIGHT(DO, columns)                                                                   \
  switch (vectors) {                                                                               \
  case 1: DO(1, columns); break;                                                                   \
  case 2: DO(2, columns); break;                                                                   \
  case 3: DO(3, columns); break;                                                                   \
  default: DO(4, columns); break;                                                                  \
  }
#else
#define EACH_HEIGHT(DO, columns)                                                                   \
  switch (vectors) {                                                                               \
  case 1: DO(1, columns); break;                                                                   \
  default: DO(2, columns); break;                                                                  \
  }
#endif
#define EACH_TILE(DO)                                                                              \
  int vectors = (int)((rows + LANES - 1) / LANES);                                                 \
  MASK last = NAME(lanes)(0, rows - (vectors - 1) * LANES);                                        \
  switch (columns) {                                                                               \
  case 6: EACH_HEIGHT(DO, 6) break;                                                                \
  case 3: EACH_HEIGHT(DO, 3) break;                                                                \
  default: EACH_HEIGHT(DO, 1) break;                                                               \
  }
#define EACH_STRIP(DO)                                                                             \
  switch (columns) {                                                                               \
  case 6: DO(6); break;                                                                            \
  case 3: DO(3); break;                                                                            \
  default: DO(1); break;                                                                           \
  }
/* clang-format on */
#endif

/* A tile's rows of a column at `from`, or to it. */
INLINE void NAME(load_rows)(const int vectors, MASK last, const REAL *from, VECTOR to[VECTORS]) {
  foreach (v, 0, vectors - 1) to[v] = NAME(load)(from + v * LANES);
  to[vectors - 1] = NAME(masked_load)(last, from + (vectors - 1) * LANES);
}

INLINE void NAME(store_rows)(const int vectors, MASK last, const VECTOR from[VECTORS], REAL *to) {
  foreach (v, 0, vectors - 1) NAME(store)(to + v * LANES, from[v]);
  NAME(masked_store)(last, to + (vectors - 1) * LANES, from[vectors - 1]);
}

/* sum[v][j] = sum over p of A(rows of v, p) B(j, p); `last` masks the lanes of the last vector. */
INLINE void NAME(product)(const int vectors, const int columns, int64_t k, const REAL *A,
                          int64_t lda, const REAL *B, int64_t ldb, MASK last,
                          VECTOR sum[VECTORS][COLUMNS]) {
  foreach (j, 0, columns)
    foreach (v, 0, vectors) sum[v][j] = (VECTOR){0};
  for (int64_t p = 0; p < k; p++, A += lda, B += ldb) {
    VECTOR a[VECTORS];
    NAME(load_rows)(vectors, last, A, a);
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

/* ---- C -= A B^T and its symmetric half ------------------------------------------------------- */

/* One tile of C, at most ROWS x COLUMNS. */
static void NAME(gemm_tile)(int64_t rows, int columns, int64_t k, const REAL *A, int64_t lda,
                            const REAL *B, int64_t ldb, REAL *C, int64_t ldc, bool accumulate) {
#define TILE(V, N) NAME(subtract_tile)(V, N, k, A, lda, B, ldb, C, ldc, last, false, accumulate)
  EACH_TILE(TILE)
#undef TILE
}

/* The same with its corner on the diagonal: the lower triangle only. */
static void NAME(syrk_tile)(int64_t rows, int columns, int64_t k, const REAL *A, int64_t lda,
                            REAL *C, int64_t ldc, bool accumulate){
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

/* ---- triangular solves from the right -------------------------------------------------------- */

/* Left-looking by strips of 6 columns: a tile's product with all columns before it stays in
 * registers while the tile is solved with the strip's own 6 x 6 triangle,
 *
 *   T := (B_J - X_{<J} L_{J,<J}^T) L_JJ^-T.
 *
 * Larger matrices are cut into halves, so that nearly all of their work is products: of the n^3 / 3
 * operations of a factor all but a share of some 1.5 TRIANGLE / n. */
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

/* The 6 x 6 triangle at the top of a strip, as W D W^T with unit lower W: that keeps square roots
 * out of the chain from one pivot to the next; then L_JJ = W D^1/2. */
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

#include "solvers/linalg/dense_solve_body.h"

#undef REAL
#undef SQRT
#undef NAME
#undef INTEGER
#undef MASKED_LOAD
#undef MASKED_STORE
