/* The audit's rotation of a deformation gradient against its singular vectors, where rotations are
 * easy, hard and not unique. */
#include "tests/support/one_gradient.h"
#include "tests/support/random.h"
#include "tests/tap.h"

enum { DRAWS = 20000 };

typedef struct family {
  const char *name;
  double lo[3], hi[3]; /* singular values, the last with the sign of det F */
  double size;
} family;

static const family families[] = {
    {"a rotation", {1, 1, 1}, {1, 1, 1}, 1},
    {"a small strain", {0.9, 0.9, 0.9}, {1.1, 1.1, 1.1}, 1},
    {"a rotation to rounding", {1, 1, 1}, {1 + 1e-15, 1 + 1e-15, 1 + 1e-15}, 1},
    {"two equal stretches", {1.3, 0.6, 0.6}, {1.3, 0.6, 0.6}, 1},
    {"two equal stretches nearly", {1.3, 0.6, 0.6}, {1.3, 0.6, 0.6 + 1e-12}, 1},
    {"a large strain", {1.5, 0.5, 0.1}, {3, 1.5, 0.5}, 1},
    {"nearly flat", {0.8, 0.8, 1e-12}, {1.2, 1.2, 1e-9}, 1},
    {"flat", {0.8, 0.8, 0}, {1.2, 1.2, 0}, 1},
    {"slightly inverted", {0.8, 0.8, -0.3}, {1.2, 1.2, 0}, 1},
    {"inverted", {0.9, 0.8, -0.7}, {1.2, 0.9, -0.3}, 1},
    {"all but on a line", {1, 1e-2, 1e-3}, {1, 0.2, 1e-2}, 1},
    {"all but undetermined", {1, 0.5, -0.5 + 1e-6}, {1, 0.5, -0.5 + 1e-3}, 1},
    {"a strain of a tiny F", {0.9, 0.5, 0.1}, {1.1, 0.9, 0.5}, 1e-40},
    {"a strain of a huge F", {0.9, 0.5, 0.1}, {1.1, 0.9, 0.5}, 1e40},
};

static void multiply(const double A[9], const double B[9], bool transpose_b, double C[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      C[3 * i + j] = 0;
      for (int k = 0; k < 3; k++)
        C[3 * i + j] += A[3 * i + k] * (transpose_b ? B[3 * j + k] : B[3 * k + j]);
    }
}

static double difference(const double A[9], const double B[9]) {
  double most = 0;
  for (int i = 0; i < 9; i++) {
    double d = fabs(A[i] - B[i]);
    most = d <= most ? most : d; /* NaN stays */
  }
  return most;
}

static void test_family(const family *f) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  random_state random = random_seed(19);
  double vectors = 0, orthogonal = 0;
  for (int n = 0; n < DRAWS; n++) {
    double U[9], V[9], US[9], F[9], R[9], s[3], want[9], RRt[9], gap = INFINITY;
    random_rotation(&random, U);
    random_rotation(&random, V);
    for (int k = 0; k < 3; k++) s[k] = random_uniform(&random, f->lo[k], f->hi[k]);
    for (int i = 0; i < 9; i++) US[i] = f->size * U[i] * s[i % 3];
    multiply(US, V, true, F);
    one_polar(F, R);
    eb_reference_svd(F, U, s, V);
    multiply(U, V, true, want);
    multiply(R, R, true, RRt);
    gap = (s[1] + s[2]) / s[0]; /* what a rounding of F, of 1e-16 s0, is divided by */
    vectors = fmax(vectors, difference(R, want) * fmin(gap, 1));
    orthogonal = fmax(orthogonal, difference(RRt, identity));
  }
  tap_ok(vectors <= 1e-14 && orthogonal <= 1e-14,
         "%s: the rotation of the singular vectors (%.1e, %.1e)", f->name, vectors, orthogonal);
}

/* Where no rotation is nearest, or F is no matrix. */
static void test_undetermined(void) {
  static const double cases[][9] = {{0},
                                    {1, 0, 0, 0, 0, 0, 0, 0, 0},
                                    {-1, 0, 0, 0, -1, 0, 0, 0, -1},
                                    {0, 0, 0, 0, 0, 2, 0, 0, 0},
                                    {1, 0, 0, 0, 1, 0, 0, 0, -1},
                                    {1e-200, 0, 0, 0, 1e-200, 0, 0, 0, 1e-200},
                                    {1e150, 0, 0, 0, 1e150, 0, 0, 0, 1e150}};
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double worst = 0, R[9], RRt[9], bad[9] = {NAN, 0, 0, 0, 1, 0, 0, 0, 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    one_polar(cases[i], R);
    multiply(R, R, true, RRt);
    worst = fmax(worst, difference(RRt, identity));
    if (R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
            R[2] * (R[3] * R[7] - R[4] * R[6]) <
        0)
      worst = INFINITY;
  }
  tap_below(worst, 1e-14, "where rotations are equally near, one of them");
  one_polar(bad, R);
  tap_ok(!isfinite(R[0] + R[4] + R[8]), "what is no number has none");
}

int main(void) {
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) test_family(&families[i]);
  test_undetermined();
  return tap_done();
}
