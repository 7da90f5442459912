/* Dense kernels against BLAS and LAPACK, in both precisions, as compiled for every processor. */
#include <cblas.h>
#include <float.h>

#include "solvers/linalg/dense.h"
#include "solvers/linalg/dense.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/tap.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);

/* ---- the kernels of one target and precision, on arrays of doubles --------------------------- */

typedef struct array {
  int64_t rows, columns, ld;
  double *value; /* exactly ld (columns - 1) + rows, so that a sanitizer sees a step too far */
} array;

static int64_t extent(const array *a) {
  return a->rows > 0 && a->columns > 0 ? a->ld * (a->columns - 1) + a->rows : 0;
}

typedef struct kernels {
  const char *name;
  double epsilon;
  int64_t (*potrf)(array *A, const double *floor);
  void (*trsm)(const array *L, array *B);
  void (*syrk)(const array *A, array *C, bool accumulate);
  void (*gemm)(const array *A, const array *B, array *C, bool accumulate);
  void (*forward)(const array *L, array *x, array *y);
  void (*backward)(const array *L, array *x, const array *y);
} kernels;

static void *room(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory) exit(1);
  return memory;
}

/* Arrays go through copies in the precision of the kernel; the doubles of the tests are floats
 * too. */
#define ADAPT(target, type, REAL)                                                                  \
  static REAL *target##_##type##_copy(const array *a) {                                            \
    REAL *copy = room((size_t)extent(a) * sizeof *copy);                                           \
    for (int64_t i = 0; i < extent(a); i++) copy[i] = (REAL)a->value[i];                           \
    return copy;                                                                                   \
  }                                                                                                \
  static void target##_##type##_back(REAL *copy, array *a) {                                       \
    for (int64_t i = 0; i < extent(a); i++) a->value[i] = (double)copy[i];                         \
    free(copy);                                                                                    \
  }                                                                                                \
  static int64_t target##_##type##_potrf(array *A, const double *floor) {                          \
    REAL *a = target##_##type##_copy(A), *f = room((size_t)A->rows * sizeof *f);                   \
    for (int64_t i = 0; i < A->rows; i++) f[i] = (REAL)floor[i];                                   \
    int64_t failed = target##_potrf_##type(A->rows, a, A->ld, f);                                  \
    target##_##type##_back(a, A);                                                                  \
    free(f);                                                                                       \
    return failed;                                                                                 \
  }                                                                                                \
  static void target##_##type##_trsm(const array *L, array *B) {                                   \
    REAL *l = target##_##type##_copy(L), *b = target##_##type##_copy(B);                           \
    target##_trsm_##type(B->rows, L->rows, l, L->ld, b, B->ld);                                    \
    target##_##type##_back(b, B);                                                                  \
    free(l);                                                                                       \
  }                                                                                                \
  static void target##_##type##_syrk(const array *A, array *C, bool accumulate) {                  \
    REAL *a = target##_##type##_copy(A), *c = target##_##type##_copy(C);                           \
    target##_syrk_##type(A->rows, A->columns, a, A->ld, c, C->ld, accumulate);                     \
    target##_##type##_back(c, C);                                                                  \
    free(a);                                                                                       \
  }                                                                                                \
  static void target##_##type##_gemm(const array *A, const array *B, array *C, bool accumulate) {  \
    REAL *a = target##_##type##_copy(A), *b = target##_##type##_copy(B),                           \
         *c = target##_##type##_copy(C);                                                           \
    target##_gemm_##type(A->rows, B->rows, A->columns, a, A->ld, b, B->ld, c, C->ld, accumulate);  \
    target##_##type##_back(c, C);                                                                  \
    free(a);                                                                                       \
    free(b);                                                                                       \
  }                                                                                                \
  static void target##_##type##_forward(const array *L, array *x, array *y) {                      \
    REAL *l = target##_##type##_copy(L), *u = target##_##type##_copy(x),                           \
         *v = target##_##type##_copy(y);                                                           \
    target##_forward_##type(x->columns, y->columns, l, L->ld, x->rows, u, x->ld, v, y->ld);        \
    target##_##type##_back(u, x);                                                                  \
    target##_##type##_back(v, y);                                                                  \
    free(l);                                                                                       \
  }                                                                                                \
  static void target##_##type##_backward(const array *L, array *x, const array *y) {               \
    REAL *l = target##_##type##_copy(L), *u = target##_##type##_copy(x),                           \
         *v = target##_##type##_copy(y);                                                           \
    target##_backward_##type(x->columns, y->columns, l, L->ld, x->rows, u, x->ld, v, y->ld);       \
    target##_##type##_back(u, x);                                                                  \
    free(l);                                                                                       \
    free(v);                                                                                       \
  }
#define KERNELS(target, type, title, eps)                                                          \
  {                                                                                                \
    title, eps, target##_##type##_potrf, target##_##type##_trsm, target##_##type##_syrk,           \
        target##_##type##_gemm, target##_##type##_forward, target##_##type##_backward              \
  }

ADAPT(eb, d, double)
ADAPT(eb, s, float)
ADAPT(eb_base, d, double)
ADAPT(eb_base, s, float)

/* What is chosen on this processor, and the kernels of the other processors. */
static const kernels all_kernels[] = {KERNELS(eb, d, "double", DBL_EPSILON),
                                      KERNELS(eb, s, "float", FLT_EPSILON),
                                      KERNELS(eb_base, d, "double without AVX-512", DBL_EPSILON),
                                      KERNELS(eb_base, s, "float without AVX-512", FLT_EPSILON)};

/* ---- arrays ---------------------------------------------------------------------------------- */

static random_state numbers;

/* Everything NaN: what a kernel must neither read into its result nor write. */
static array blank(int64_t rows, int64_t columns, int64_t ld) {
  array a = {rows, columns, ld, NULL};
  a.value = room((size_t)extent(&a) * sizeof *a.value);
  for (int64_t i = 0; i < extent(&a); i++) a.value[i] = NAN;
  return a;
}

static double *at(const array *a, int64_t i, int64_t j) {
  return a->value + j * a->ld + i;
}

static double entry(void) {
  return (double)(float)random_uniform(&numbers, -1, 1);
}

static array full(int64_t rows, int64_t columns, int64_t ld) {
  array a = blank(rows, columns, ld);
  for (int64_t j = 0; j < columns; j++)
    for (int64_t i = 0; i < rows; i++) *at(&a, i, j) = entry();
  return a;
}

/* Lower triangle only. */
static array lower(int64_t n, int64_t ld) {
  array a = blank(n, n, ld);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) *at(&a, i, j) = entry();
  return a;
}

/* Small entries below a diagonal near one: its inverse is of moderate size. `below` more rows. */
static array well_conditioned(int64_t n, int64_t below, int64_t ld) {
  array a = blank(n + below, n, ld);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n + below; i++)
      *at(&a, i, j) = (float)(i == j ? 1.5 + 0.5 * entry() : entry() / (double)(n + 1));
  return a;
}

static array copy_of(const array *a) {
  array b = *a;
  b.value = room((size_t)extent(a) * sizeof *b.value);
  memcpy(b.value, a->value, (size_t)extent(a) * sizeof *b.value);
  return b;
}

/* Largest difference over the entries that `want` defines; INFINITY when others were touched or the
 * result is NaN. */
static double distance(const array *got, const array *want) {
  double worst = 0;
  for (int64_t i = 0; i < extent(want); i++) {
    double g = got->value[i], w = want->value[i];
    if (isnan(w) != isnan(g)) return INFINITY;
    if (!isnan(w) && !(fabs(g - w) <= worst)) worst = fabs(g - w);
  }
  return worst;
}

static int blas(int64_t n) {
  return (int)n;
}

static int blas_ld(int64_t ld) {
  return ld > 0 ? (int)ld : 1;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Error of one product, in units of eps (k + 1): k terms below 1 are added up, each time with half
 * an eps of a partial sum of a few units. Whatever is computed wrongly is off by 1e5 such units. */
static double gemm_error(const kernels *which, int64_t m, int64_t n, int64_t k, bool accumulate) {
  array A = full(m, k, m + 3), B = full(n, k, n + 1);
  array C = accumulate ? full(m, n, m + 2) : blank(m, n, m + 2), want = copy_of(&C);
  if (!accumulate)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < m; i++) *at(&want, i, j) = 0;
  if (m > 0 && n > 0)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, blas(m), blas(n), blas(k), -1, A.value,
                blas_ld(A.ld), B.value, blas_ld(B.ld), 1, want.value, blas_ld(C.ld));
  which->gemm(&A, &B, &C, accumulate);
  double error = distance(&C, &want) / (which->epsilon * (double)(k + 1));
  free(A.value);
  free(B.value);
  free(C.value);
  free(want.value);
  return error;
}

static double syrk_error(const kernels *which, int64_t n, int64_t k, bool accumulate) {
  array A = full(n, k, n + 1);
  array C = accumulate ? lower(n, n + 5) : blank(n, n, n + 5), want = copy_of(&C);
  if (!accumulate)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = j; i < n; i++) *at(&want, i, j) = 0;
  if (n > 0)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, blas(n), blas(k), -1, A.value,
                blas_ld(A.ld), 1, want.value, blas_ld(C.ld));
  which->syrk(&A, &C, accumulate);
  double error = distance(&C, &want) / (which->epsilon * (double)(k + 1));
  free(A.value);
  free(C.value);
  free(want.value);
  return error;
}

static const int64_t depths[] = {0, 1, 2, 3, 6, 13, 48, 70};
enum { DEPTHS = sizeof depths / sizeof *depths, SIZES = 71 };

static void test_products(const kernels *which) {
  double gemm = 0, syrk = 0;
  for (int64_t n = 0; n < SIZES; n++)
    for (int64_t d = 0; d < DEPTHS; d++) {
      int64_t k = depths[d];
      syrk = fmax(syrk, fmax(syrk_error(which, n, k, true), syrk_error(which, n, k, false)));
      gemm = fmax(gemm, gemm_error(which, n, (7 * n + d) % SIZES, k, n % 2));
      gemm = fmax(gemm, gemm_error(which, n, d, k, d % 2));
      gemm = fmax(gemm, gemm_error(which, d, n, k, true));
    }
  tap_below(gemm, 4, "C -= A B^T of all small sizes is BLAS's");
  tap_below(syrk, 4, "the triangle of C -= A A^T too, and the other one is not touched");
}

/* Sizes at which operands are cut and copied. */
static void test_large_products(const kernels *which) {
  static const int64_t sizes[][3] = {{333, 251, 401}, {129, 700, 77}, {700, 67, 641},
                                     {64, 64, 1000},  {5, 999, 330},  {257, 241, 320},
                                     {801, 25, 33}};
  double gemm = 0, syrk = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t *size = sizes[s];
    gemm = fmax(gemm, gemm_error(which, size[0], size[1], size[2], s % 2));
    syrk = fmax(syrk, syrk_error(which, size[0], size[2], s % 2));
  }
  tap_below(fmax(gemm, syrk), 4, "large products are BLAS's");
}

/* ---- triangles ------------------------------------------------------------------------------- */

/* The solution of a well conditioned system, entries of order 1, in units of eps (n + 1). */
static double trsm_error(const kernels *which, int64_t m, int64_t n) {
  array L = well_conditioned(n, 0, n + 1), B = full(m, n, m + 3), want = copy_of(&B);
  if (m > 0 && n > 0)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, blas(m), blas(n),
                1, L.value, blas_ld(L.ld), want.value, blas_ld(B.ld));
  which->trsm(&L, &B);
  double error = distance(&B, &want) / (which->epsilon * (double)(n + 1));
  free(L.value);
  free(B.value);
  free(want.value);
  return error;
}

/* n on the diagonal and entries below 1 elsewhere: positive definite. */
static array dominant(int64_t n, int64_t ld) {
  array A = lower(n, ld);
  for (int64_t j = 0; j < n; j++) *at(&A, j, j) = (double)n + 1;
  return A;
}

static double potrf_error(const kernels *which, int64_t n) {
  array A = dominant(n, n + 3), want = copy_of(&A);
  owned(double) *floor = room((size_t)n * sizeof *floor);
  for (int64_t j = 0; j < n; j++) floor[j] = 0;
  int info = 0, order = blas(n), ld = blas_ld(A.ld);
  if (n > 0) dpotrf_("L", &order, want.value, &ld, &info, 1);
  int64_t failed = which->potrf(&A, floor);
  double error = distance(&A, &want) / (which->epsilon * sqrt((double)n + 1));
  free(A.value);
  free(want.value);
  return info == 0 && failed == -1 ? error : INFINITY;
}

static void test_triangles(const kernels *which) {
  double trsm = 0, potrf = 0;
  for (int64_t n = 0; n < SIZES; n++) {
    potrf = fmax(potrf, potrf_error(which, n));
    for (int64_t d = 0; d < DEPTHS; d++)
      trsm = fmax(trsm, fmax(trsm_error(which, n, depths[d]), trsm_error(which, depths[d], n)));
  }
  tap_below(trsm, 4, "B L^-T of all small sizes is BLAS's");
  tap_below(potrf, 4, "the factor of all small sizes is LAPACK's");
  static const int64_t large[] = {97, 191, 193, 250, 389, 607};
  for (size_t s = 0; s < sizeof large / sizeof *large; s++) {
    potrf = fmax(potrf, potrf_error(which, large[s]));
    trsm = fmax(
        trsm, fmax(trsm_error(which, 611 - large[s], large[s]), trsm_error(which, large[s], 100)));
  }
  tap_below(fmax(potrf, trsm), 4, "large triangles too");
}

/* Spoils the pivot of column c: with a value that it comes out as, or with NaN. Returns what potrf
 * says and, in *error, how far the columns before c are off. */
static int64_t failing(const kernels *which, int64_t n, int64_t c, double diagonal, double bound,
                       double *error) {
  array A = dominant(n, n + 1), want = copy_of(&A);
  owned(double) *floor = room((size_t)n * sizeof *floor);
  for (int64_t j = 0; j < n; j++) floor[j] = 0;
  int info = 0, order = blas(n), ld = blas_ld(A.ld);
  dpotrf_("L", &order, want.value, &ld, &info, 1);
  *at(&A, c, c) = diagonal;
  floor[c] = bound;
  int64_t failed = which->potrf(&A, floor);
  *error = 0;
  for (int64_t j = 0; j < c; j++)
    for (int64_t i = j; i < n; i++) {
      double off = fabs(*at(&A, i, j) - *at(&want, i, j));
      if (!(off <= *error)) *error = off;
    }
  *error /= which->epsilon * sqrt((double)n + 1);
  free(A.value);
  free(want.value);
  return failed;
}

static void test_failing_pivots(const kernels *which) {
  static const int64_t sizes[] = {1, 2, 3, 7, 24, 70, 200};
  int wrong = 0;
  double worst = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int64_t n = sizes[s], c = 0; c<n; c += n> 100 ? 13 : 1) {
      const double spoilt[][2] = {
          {-1, 0},
          {0, 0},
          {NAN, 0},
          {-INFINITY, 0},
          {(double)n + 1, 2 * (double)n + 2}, /* positive but not above its floor */
          {(double)n + 1, (double)n + 1}};    /* nor above it: not above */
      for (size_t k = 0; k < sizeof spoilt / sizeof *spoilt; k++) {
        double error;
        wrong += failing(which, n, c, spoilt[k][0], spoilt[k][1], &error) != c;
        worst = fmax(worst, error);
      }
    }
  tap_ok(wrong == 0,
         "a pivot that is negative, zero, NaN or not above its floor is named (%d wrong)", wrong);
  tap_below(worst, 4, "and the columns before it are factored");
}

/* ---- panels ---------------------------------------------------------------------------------- */

/* The transposed arrays of the contract against BLAS's solves from the left on the same memory. */
static double panel_error(const kernels *which, int64_t n, int64_t m, int64_t count, int64_t pad) {
  array L = well_conditioned(n, m, n + m + 2), x = full(count, n, count + pad);
  array y = full(count, m, count + pad), x_want = copy_of(&x), y_want = copy_of(&y);
  int rows = blas(m), columns = blas(n), sides = blas(count), ld = blas_ld(x.ld);
  const double *below = L.value + n;
  if (n > 0 && count > 0) {
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, sides, columns, 1,
                L.value, blas_ld(L.ld), x_want.value, ld);
    if (m > 0)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, sides, rows, columns, -1, x_want.value,
                  ld, below, blas_ld(L.ld), 1, y_want.value, ld);
  }
  which->forward(&L, &x, &y);
  double error = fmax(distance(&x, &x_want), distance(&y, &y_want));
  memcpy(x.value, x_want.value, (size_t)extent(&x) * sizeof *x.value);
  memcpy(y.value, y_want.value, (size_t)extent(&y) * sizeof *y.value);
  if (n > 0 && count > 0) {
    if (m > 0)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, sides, columns, rows, -1, y_want.value,
                  ld, below, blas_ld(L.ld), 1, x_want.value, ld);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, sides, columns,
                1, L.value, blas_ld(L.ld), x_want.value, ld);
  }
  which->backward(&L, &x, &y);
  error = fmax(error, fmax(distance(&x, &x_want), distance(&y, &y_want)));
  free(L.value);
  free(x.value);
  free(y.value);
  free(x_want.value);
  free(y_want.value);
  return error / (which->epsilon * (double)(n + m + 1));
}

static void test_panels(const kernels *which) {
  static const int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 31, 33, 64, 70};
  double single = 0, several = 0, large = 0;
  for (int64_t n = 0; n < SIZES; n++)
    for (int64_t m = 0; m < SIZES; m += 1 + (n % 5 != 0) * 6) {
      single = fmax(single, panel_error(which, n, m, 1, 0));
      several = fmax(several, panel_error(which, n, m, counts[(n + m) % 11], (n + m) % 3));
    }
  large = fmax(panel_error(which, 301, 770, 1, 0), panel_error(which, 301, 470, 65, 1));
  tap_below(single, 4, "forward and backward of one right-hand side are BLAS's");
  tap_below(several, 4, "and of several");
  tap_below(large, 4, "and with a large panel");
}

int main(void) {
  openblas_set_num_threads(1);
  for (size_t k = 0; k < sizeof all_kernels / sizeof *all_kernels; k++) {
    printf("# %s\n", all_kernels[k].name);
    numbers = random_seed(17);
    test_products(&all_kernels[k]);
    test_large_products(&all_kernels[k]);
    test_triangles(&all_kernels[k]);
    test_failing_pivots(&all_kernels[k]);
    test_panels(&all_kernels[k]);
  }
  return tap_done();
}
