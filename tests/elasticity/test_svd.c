/* Batched 3x3 SVD, polar and eigen decompositions against LAPACK, on a million random and difficult
 * matrices. */
#include "problems/base/sanitizer.h"
#include "problems/elasticity/svd3.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"
#include "tests/tap.h"

/* A million random matrices, a tenth of them where sanitizers make everything twenty times
 * slower. */
#if EB_SANITIZER
enum { RANDOM_BATCHES = 25000, OTHER_BATCHES = 4000, LAPACK_EVERY = 8 };
#else
enum { RANDOM_BATCHES = 250000, OTHER_BATCHES = 20000, LAPACK_EVERY = 8 };
#endif

/* Largest relative errors over everything tried: each is divided by the largest entry of its
 * matrix. */
typedef struct svd_errors {
  double rebuild, left, right, values, order, sign;
} svd_errors;

static double worse(double a, double b) {
  return b > a || isnan(b) ? b : a;
}

static double orthogonality(const eb_v4 Q[9], int lane) {
  double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = i == j ? -1 : 0;
      for (int k = 0; k < 3; k++) sum += Q[3 * k + i][lane] * Q[3 * k + j][lane];
      worst = worse(worst, fabs(sum));
    }
  double d = Q[0][lane] * (Q[4][lane] * Q[8][lane] - Q[5][lane] * Q[7][lane]) -
             Q[1][lane] * (Q[3][lane] * Q[8][lane] - Q[5][lane] * Q[6][lane]) +
             Q[2][lane] * (Q[3][lane] * Q[7][lane] - Q[4][lane] * Q[6][lane]);
  return worse(worst, fabs(d - 1));
}

static double largest_entry(const eb_v4 F[9], int lane) {
  double largest = 0;
  for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(F[i][lane]));
  return largest;
}

/* Long double, so that the check's own rounding and range do not count. */
static double rebuild_error(const eb_v4 F[9], const eb_v4 U[9], const eb_v4 s[3], const eb_v4 V[9],
                            int lane) {
  double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      long double sum = -F[3 * i + j][lane];
      for (int k = 0; k < 3; k++)
        sum += (long double)U[3 * i + k][lane] * s[k][lane] * V[3 * j + k][lane];
      worst = worse(worst, (double)fabsl(sum));
    }
  return worst;
}

static double determinant(const eb_v4 F[9], int lane, double unit) {
  long double f[9];
  for (int i = 0; i < 9; i++) f[i] = F[i][lane] / unit;
  return (double)(f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                  f[2] * (f[3] * f[7] - f[4] * f[6]));
}

static void check_lane(const eb_v4 F[9], const eb_v4 U[9], const eb_v4 s[3], const eb_v4 V[9],
                       int lane, bool lapack, svd_errors *e) {
  double size = largest_entry(F, lane);
  double unit = size > 0 ? size : 1;
  e->left = worse(e->left, orthogonality(U, lane));
  e->right = worse(e->right, orthogonality(V, lane));
  e->rebuild = worse(e->rebuild, rebuild_error(F, U, s, V, lane) / unit);
  e->order = worse(e->order, fmax(s[1][lane] - s[0][lane], fabs(s[2][lane]) - s[1][lane]) / unit);
  /* The sign of the determinant, where rounding leaves no doubt about it. */
  double relative = determinant(F, lane, unit);
  if (fabs(relative) > 1e-12) e->sign = worse(e->sign, relative * s[2][lane] < 0);
  if (!lapack) return;
  double A[9], want[3];
  for (int i = 0; i < 9; i++) A[i] = F[i][lane] / unit;
  if (lapack_singular_values3(A, want) != 0) want[0] = NAN;
  for (int k = 0; k < 3; k++) e->values = worse(e->values, fabs(fabs(s[k][lane]) / unit - want[k]));
}

static void svd(const eb_v4 F[9], eb_v4 U[9], eb_v4 s[3], eb_v4 V[9]) {
  eb_svd3(1, (const eb_v4(*)[9])F, (eb_v4(*)[9])U, (eb_v4(*)[3])s, (eb_v4(*)[9])V);
}

static void check_batch(const eb_v4 F[9], bool lapack, svd_errors *e) {
  eb_v4 U[9], s[3], V[9];
  svd(F, U, s, V);
  for (int l = 0; l < EB_LANES; l++) check_lane(F, U, s, V, l, lapack, e);
}

static void judge(const svd_errors *e, const char *what) {
  printf("# %s: rebuild %.2g, U %.2g, V %.2g, values %.2g\n", what, e->rebuild, e->left, e->right,
         e->values);
  /* A handful of roundings of the largest singular value, itself up to three times the largest
   * entry. */
  tap_ok(e->rebuild <= 4e-15, "%s: U S V^T rebuilds the matrix", what);
  /* LAPACK's own error in clusters is larger: 1e-15 on rebuilding bounds ours by Weyl's
   * inequality. */
  tap_ok(e->values <= 1e-14, "%s: singular values agree with LAPACK", what);
  tap_ok(e->left <= 2e-15 && e->right <= 2e-15, "%s: U and V are rotations", what);
  tap_ok(e->order <= 2e-15, "%s: values are in order", what);
  tap_ok(e->sign == 0, "%s: the sign of the determinant is on the smallest value", what);
}

/* ---- families -------------------------------------------------------------------------------- */

typedef void filler(random_state *random, double F[9]);

static void fill_uniform(random_state *random, double F[9]) {
  for (int i = 0; i < 9; i++) F[i] = random_uniform(random, -1, 1);
}

static void fill_near_rotation(random_state *random, double F[9]) {
  double scale = pow(10, random_uniform(random, -17, 0));
  random_rotation(random, F);
  for (int i = 0; i < 9; i++) F[i] += scale * random_uniform(random, -1, 1);
}

static void compose(random_state *random, const double s[3], double F[9]) {
  double U[9], V[9];
  random_rotation(random, U);
  random_rotation(random, V);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      F[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) F[3 * i + j] += U[3 * i + k] * s[k] * V[3 * j + k];
    }
}

static double signed_power(random_state *random, double lo, double hi) {
  double magnitude = pow(10, random_uniform(random, lo, hi));
  return random_word(random) & 1 ? magnitude : -magnitude;
}

/* Singular values over thirty orders of magnitude. */
static void fill_graded(random_state *random, double F[9]) {
  const double s[3] = {signed_power(random, -2, 2), signed_power(random, -16, 0),
                       signed_power(random, -28, 0)};
  compose(random, s, F);
}

/* Pairs and triples equal to within 0 .. 1e-5. */
static void fill_clustered(random_state *random, double F[9]) {
  double s[3], base = random_uniform(random, 0.5, 2);
  for (int k = 0; k < 3; k++)
    s[k] = random_word(random) % 3 ? base + signed_power(random, -18, -5)
                                   : random_uniform(random, -2, 2);
  compose(random, s, F);
}

static void fill_singular(random_state *random, double F[9]) {
  const double s[3] = {random_uniform(random, 0.5, 2),
                       random_word(random) & 1 ? random_uniform(random, 0, 1) : 0, 0};
  compose(random, s, F);
}

/* Small integers: exact ties, zero rows and columns, rank one, permutations. */
static void fill_integers(random_state *random, double F[9]) {
  for (int i = 0; i < 9; i++) F[i] = (double)(int)(random_word(random) % 3) - 1;
}

/* The whole exponent range, subnormal numbers included. */
static void fill_scaled(random_state *random, double F[9]) {
  fill_uniform(random, F);
  int exponent = (int)(random_word(random) % 2040) - 1020;
  for (int i = 0; i < 9; i++) F[i] = ldexp(F[i], exponent);
}

/* Entries of unrelated magnitude. */
static void fill_wild(random_state *random, double F[9]) {
  for (int i = 0; i < 9; i++) F[i] = random_word(random) % 4 ? signed_power(random, -200, 200) : 0;
}

static void fill_exact_multiple(random_state *random, double F[9]) {
  double s = random_uniform(random, -3, 3);
  for (int i = 0; i < 9; i++) F[i] = i % 4 == 0 ? s : 0;
}

static void test_family(filler *fill, const char *name, int batches, int lapack_every) {
  random_state random = random_seed(91);
  svd_errors e = {0};
  for (int b = 0; b < batches; b++) {
    eb_v4 F[9];
    for (int l = 0; l < EB_LANES; l++) {
      double one[9];
      fill(&random, one);
      for (int i = 0; i < 9; i++) F[i][l] = one[i];
    }
    check_batch(F, b % lapack_every == 0, &e);
  }
  judge(&e, name);
}

/* ---- polar, eigen, special values ------------------------------------------------------------ */

static void test_eigen(void) {
  random_state random = random_seed(7);
  double rebuild = 0, rotation = 0, values = 0;
  for (int b = 0; b < 20000; b++) {
    eb_v4 S[6], w[3], Q[9], full[9], rows[9];
    double scale = b % 3 ? 1 : pow(10, random_uniform(&random, -250, 250));
    for (int i = 0; i < 6; i++)
      for (int l = 0; l < EB_LANES; l++)
        S[i][l] = scale * (b % 4 == 1 ? (double)(random_word(&random) % 3) - 1
                                      : random_uniform(&random, -1, 1));
    const int entry[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
    eb_eigen3(S, w, Q);
    for (int i = 0; i < 9; i++) full[i] = S[entry[i]];
    for (int l = 0; l < EB_LANES; l++) {
      double unit = fmax(largest_entry(full, l), scale), A[9], want[3], got[3];
      for (int i = 0; i < 9; i++) A[i] = full[i][l] / unit;
      if (lapack_eigen(3, A, want) != 0) want[0] = NAN;
      for (int k = 0; k < 3; k++) got[k] = w[k][l] / unit;
      for (int k = 0; k < 2; k++) /* two passes sort three */
        for (int m = 0; m < 2; m++)
          if (got[m] > got[m + 1]) {
            double kept = got[m];
            got[m] = got[m + 1];
            got[m + 1] = kept;
          }
      for (int k = 0; k < 3; k++) values = worse(values, fabs(got[k] - want[k]));
      rotation = worse(rotation, orthogonality(Q, l));
      memcpy(rows, Q, sizeof rows);
      rebuild = worse(rebuild, rebuild_error(full, Q, w, rows, l) / unit);
    }
  }
  tap_below(rebuild, 8e-15, "eigen: Q W Q^T rebuilds the matrix");
  tap_below(values, 1e-14, "eigen: values agree with LAPACK");
  tap_below(rotation, 2e-15, "eigen: Q is a rotation");
}

static void test_polar(void) {
  random_state random = random_seed(13);
  double worst = 0;
  for (int b = 0; b < 5000; b++) {
    eb_v4 F[9], R[9];
    double want[9][EB_LANES];
    for (int l = 0; l < EB_LANES; l++) {
      double Q[9], V[9], s[3];
      random_rotation(&random, Q);
      random_rotation(&random, V);
      for (int k = 0; k < 3; k++) s[k] = random_uniform(&random, 0.5, 2);
      if (b % 2) s[2] = random_uniform(&random, -0.4, -0.2);
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          double entry = 0, rotation = 0;
          for (int k = 0; k < 3; k++) {
            entry += Q[3 * i + k] * s[k] * V[3 * j + k];
            rotation += Q[3 * i + k] * V[3 * j + k];
          }
          F[3 * i + j][l] = entry;
          want[3 * i + j][l] = rotation;
        }
    }
    eb_polar3(F, R);
    for (int i = 0; i < 9; i++)
      for (int l = 0; l < EB_LANES; l++) worst = worse(worst, fabs(R[i][l] - want[i][l]));
  }
  /* The condition of R is |F| / (s1 + s2), here at most 20. */
  tap_below(worst, 4e-14, "polar: R = Q V^T for F = Q S V^T, inverted ones included");
}

/* Below the normal range precision is absolute: two units of the smallest number. */
static void test_subnormal(void) {
  random_state random = random_seed(41);
  double rebuild = 0, rotation = 0;
  for (int b = 0; b < 1000; b++) {
    eb_v4 F[9], U[9], s[3], V[9];
    for (int i = 0; i < 9; i++)
      for (int l = 0; l < EB_LANES; l++)
        F[i][l] = ldexp(random_uniform(&random, -1, 1), -1030 - b % 45);
    svd(F, U, s, V);
    for (int l = 0; l < EB_LANES; l++) {
      rebuild = worse(rebuild, rebuild_error(F, U, s, V, l));
      rotation = worse(rotation, fmax(orthogonality(U, l), orthogonality(V, l)));
    }
  }
  tap_below(rebuild, 2 * 4.95e-324, "subnormal matrices are rebuilt to two units");
  tap_below(rotation, 2e-15, "subnormal matrices: U and V are rotations");
}

static void test_special(void) {
  eb_v4 F[9] = {{0}}, U[9], s[3], V[9];
  svd_errors e = {0};
  check_batch(F, true, &e);
  tap_ok(e.left == 0 && e.right == 0 && e.rebuild == 0,
         "the zero matrix has U = V rotations, s = 0");
  for (int i = 0; i < 9; i++) F[i] = eb_v4_set(i % 4 == 0);
  F[1][1] = NAN;
  F[5][2] = INFINITY;
  svd(F, U, s, V);
  tap_ok(isnan(s[0][1]) && isnan(s[0][2]), "NaN and infinity give NaN in their lanes");
  tap_ok(s[0][0] == 1 && s[1][0] == 1 && s[2][0] == 1 && s[0][3] == 1,
         "the other lanes are not touched by them");
  double bad = 0;
  for (int i = 0; i < 9; i++) bad = worse(bad, fabs(U[i][0] - V[i][0]));
  tap_below(bad, 1e-15, "the identity has U = V");
}

/* The bits of a lane do not depend on what the other lanes hold. */
static void test_lanes(void) {
  random_state random = random_seed(29);
  bool same = true;
  for (int b = 0; b < 2000; b++) {
    eb_v4 F[9], alone[9], out[2][21];
    for (int i = 0; i < 9; i++) {
      F[i] = eb_v4_set(0);
      for (int l = 0; l < EB_LANES; l++) F[i][l] = random_uniform(&random, -1, 1);
      alone[i] = eb_v4_set(F[i][b % EB_LANES]);
    }
    svd(F, out[0], out[0] + 9, out[0] + 12);
    svd(alone, out[1], out[1] + 9, out[1] + 12);
    for (int i = 0; i < 21; i++) same &= out[0][i][b % EB_LANES] == out[1][i][b % EB_LANES];
  }
  tap_ok(same, "a lane has the same bits whatever the others hold");
}

/* Nor on how many batches are decomposed in one call. */
static void test_counts(void) {
  enum { COUNT = 7 };
  random_state random = random_seed(31);
  eb_v4 F[COUNT][9], U[COUNT][9], s[COUNT][3], V[COUNT][9];
  for (int b = 0; b < COUNT; b++)
    for (int i = 0; i < 9; i++)
      for (int l = 0; l < EB_LANES; l++) F[b][i][l] = random_uniform(&random, -1, 1);
  eb_svd3(COUNT, (const eb_v4(*)[9])F, U, s, V);
  bool same = true;
  for (int b = 0; b < COUNT; b++) {
    eb_v4 one[21];
    svd(F[b], one, one + 9, one + 12);
    same &= memcmp(one, U[b], sizeof U[b]) == 0 && memcmp(one + 9, s[b], sizeof s[b]) == 0 &&
            memcmp(one + 12, V[b], sizeof V[b]) == 0;
  }
  tap_ok(same, "many batches in one call give the same bits as one by one");
}

int main(void) {
  test_family(fill_uniform, "uniform", RANDOM_BATCHES, LAPACK_EVERY);
  test_family(fill_near_rotation, "near rotations", OTHER_BATCHES, 4);
  test_family(fill_graded, "graded", OTHER_BATCHES, 4);
  test_family(fill_clustered, "clustered", OTHER_BATCHES, 4);
  test_family(fill_singular, "singular", OTHER_BATCHES, 4);
  test_family(fill_integers, "small integers", OTHER_BATCHES, 4);
  test_family(fill_scaled, "all exponents", OTHER_BATCHES, 4);
  test_family(fill_wild, "unrelated entries", OTHER_BATCHES, 4);
  test_family(fill_exact_multiple, "multiples of I", 1000, 4);
  test_eigen();
  test_polar();
  test_subnormal();
  test_special();
  test_lanes();
  test_counts();
  return tap_done();
}
