/* Bodies of the dense kernels for the type REAL; NAME and BLAS name ours and the library's. Included by dense.c only.
 *
 * Reference: Golub and Van Loan, "Matrix Computations", 4.2 (left-looking blocked Cholesky). */

/* Columns of one factored block: the bulk of the work is then in the library's products. */
#define BLOCK 48

void NAME(gemm)(int64_t m, int64_t n, int64_t k, const REAL *A, int64_t lda, const REAL *B,
                int64_t ldb, REAL *C, int64_t ldc, bool accumulate) {
  if (m == 0 || n == 0) return;
  BLAS(gemm)
  (CblasColMajor, CblasNoTrans, CblasTrans, (int)m, (int)n, (int)k, -1, A, (int)lda, B, (int)ldb,
   accumulate ? 1 : 0, C, (int)ldc);
}

void NAME(syrk)(int64_t n, int64_t k, const REAL *A, int64_t lda, REAL *C, int64_t ldc,
                bool accumulate) {
  if (n == 0) return;
  BLAS(syrk)
  (CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)k, -1, A, (int)lda, accumulate ? 1 : 0, C,
   (int)ldc);
}

void NAME(trsm)(int64_t m, int64_t n, const REAL *L, int64_t ldl, REAL *B, int64_t ldb) {
  if (m == 0 || n == 0) return;
  BLAS(trsm)
  (CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)m, (int)n, 1, L, (int)ldl,
   B, (int)ldb);
}

/* One diagonal block; the comparison is false for NaN as well. */
static int64_t NAME(potrf_block)(int64_t n, REAL *A, int64_t lda, const REAL *floor) {
  for (int64_t j = 0; j < n; j++) {
    REAL *column = A + j * lda, pivot = column[j];
    if (!(pivot > floor[j])) return j;
    pivot = column[j] = (REAL)sqrt((double)pivot);
    for (int64_t i = j + 1; i < n; i++) column[i] /= pivot;
    for (int64_t l = j + 1; l < n; l++)
      for (int64_t i = l; i < n; i++) A[l * lda + i] -= column[l] * column[i];
  }
  return -1;
}

int64_t NAME(potrf)(int64_t n, REAL *A, int64_t lda, const REAL *floor) {
  for (int64_t j = 0; j < n; j += BLOCK) {
    int64_t width = n - j < BLOCK ? n - j : BLOCK, below = n - j - width;
    REAL *diagonal = A + j * lda + j;
    NAME(syrk)(width, j, A + j, lda, diagonal, lda, true);
    int64_t failed = NAME(potrf_block)(width, diagonal, lda, floor + j);
    if (failed >= 0) return j + failed;
    NAME(gemm)(below, width, j, A + j + width, lda, A + j, lda, diagonal + width, lda, true);
    NAME(trsm)(below, width, diagonal, lda, diagonal + width, lda);
  }
  return -1;
}

void NAME(forward)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *x,
                   int64_t ldx, REAL *y, int64_t ldy) {
  if (n == 0 || count == 0) return;
  BLAS(trsm)
  (CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)count, 1, L,
   (int)ldl, x, (int)ldx);
  if (m == 0) return;
  BLAS(gemm)
  (CblasColMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)count, (int)n, -1, L + n, (int)ldl, x,
   (int)ldx, 1, y, (int)ldy);
}

void NAME(backward)(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *x,
                    int64_t ldx, const REAL *y, int64_t ldy) {
  if (n == 0 || count == 0) return;
  if (m > 0) BLAS(gemm)
  (CblasColMajor, CblasTrans, CblasNoTrans, (int)n, (int)count, (int)m, -1, L + n, (int)ldl, y,
   (int)ldy, 1, x, (int)ldx);
  BLAS(trsm)
  (CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)count, 1, L,
   (int)ldl, x, (int)ldx);
}
#undef BLOCK
