/* Materials: energy -> stress -> tangent by Taylor tests, projection against LAPACK, rest state and
 * small strains against Lame, invariances, bad parameters. */
#include "problems/elasticity/law.h"
#include "problems/elasticity/material.h"
#include "problems/elasticity/nearest_volume.h"
#include "problems/elasticity/svd3.h"
#include "problems/base/vector3.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"
#include "tests/tap.h"

enum { SAMPLES = 24, PROJECTIONS = 420 };

static const double YOUNG = 2.5e4, POISSON = 0.37;

typedef struct family {
  const char *name;
  double lo[3], hi[3]; /* ranges of the singular values */
} family;

/* Away from J = 0.7, where the extrapolated neo-Hookean energy is only twice differentiable, and
 * from s1 + s2 = 0, where the rotation jumps. */
static const family families[] = {
    {"stretched", {1.0, 1.0, 1.0}, {1.5, 1.4, 1.3}},
    {"sheared", {1.3, 0.95, 0.75}, {1.5, 1.2, 0.85}},
    {"compressed", {0.6, 0.6, 0.6}, {0.75, 0.75, 0.75}},
    {"inverted", {0.9, 0.8, -0.6}, {1.4, 1.2, -0.3}},
    {"isotropic", {1.1, 1.1, 1.1}, {1.1, 1.1, 1.1}},
    {"two equal", {1.25, 0.9, 0.9}, {1.25, 0.9, 0.9}},
    {"rest", {1, 1, 1}, {1, 1, 1}},
};
enum { FAMILIES = sizeof families / sizeof *families };

static const char *const fibre_names[] = {"", " + aStVK fibre", " + Fung fibre"};

static eb_material make_material(eb_material_kind kind, eb_fibre_kind fibre) {
  return (eb_material){.kind = kind,
                       .young = YOUNG,
                       .poisson = POISSON,
                       .density = 1000,
                       .fibre = fibre,
                       .fibre_stiffness = 9e3,
                       .fibre_exponent = 0.8,
                       .activation = 0.6};
}

static void multiply(const double *A, const double *B, bool transpose_b, double *C) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += A[3 * i + k] * (transpose_b ? B[3 * j + k] : B[3 * k + j]);
      C[3 * i + j] = sum;
    }
}

static void sample(const family *f, random_state *random, double F[9], double D[9], double a[3],
                   double R[9]) {
  double U[9], V[9], US[9];
  random_rotation(random, U);
  random_rotation(random, V);
  for (int k = 0; k < 3; k++) {
    double s = f->lo[k] + (f->hi[k] - f->lo[k]) * random_uniform(random, 0, 1);
    for (int i = 0; i < 3; i++) US[3 * i + k] = U[3 * i + k] * s;
  }
  multiply(US, V, true, F);
  multiply(U, V, true, R);
  random_direction(random, 9, D);
  random_direction(random, 3, a);
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void apply(const double *T, const double *D, double *out) {
  for (int i = 0; i < 9; i++) out[i] = dot(9, T + 9 * i, D);
}

/* Root mean squares over the samples of the remainders of order 1 and 2 of psi and of order 1 of P,
 * at step h. */
typedef struct remainders {
  double psi1, psi2, stress;
} remainders;

static remainders measure_remainders(const eb_material *m, const family *f, double h) {
  random_state random = random_seed(17);
  remainders sum = {0};
  for (int n = 0; n < SAMPLES; n++) {
    double F[9], D[9], a[3], R[9], P[9], T[81], TD[9], moved[9], P1[9];
    sample(f, &random, F, D, a, R);
    double psi = eb_material_energy(m, F, a);
    eb_material_stress(m, F, a, P);
    eb_material_tangent(m, F, a, false, T);
    apply(T, D, TD);
    for (int i = 0; i < 9; i++) moved[i] = F[i] + h * D[i];
    double first = eb_material_energy(m, moved, a) - psi - h * dot(9, P, D);
    double second = first - 0.5 * h * h * dot(9, D, TD);
    eb_material_stress(m, moved, a, P1);
    for (int i = 0; i < 9; i++) P1[i] -= P[i] + h * TD[i];
    sum.psi1 += first * first / SAMPLES;
    sum.psi2 += second * second / SAMPLES;
    sum.stress += dot(9, P1, P1) / SAMPLES;
  }
  return (remainders){sqrt(sum.psi1), sqrt(sum.psi2), sqrt(sum.stress)};
}

/* Observed order from h and h/2; a remainder at rounding level means an exact expansion. */
static bool has_order(double coarse, double fine, double order, double rounding) {
  if (coarse <= rounding) return true;
  double slope = log2(coarse / fine);
  /* The next term changes the slope by O(h) = 0.01 times a factor of ten or so. */
  if (fabs(slope - order) <= 0.15) return true;
  printf("#   slope %.3f instead of %g (remainders %g, %g)\n", slope, order, coarse, fine);
  return false;
}

static void test_taylor(eb_material_kind kind, eb_fibre_kind fibre) {
  eb_material m = make_material(kind, fibre);
  const char *name = eb_material_describe(kind)->name;
  const double h = 1.0 / 128, rounding = 1e-13 * YOUNG;
  bool first = true, second = true, stress = true;
  for (int f = 0; f < FAMILIES; f++) {
    remainders a = measure_remainders(&m, &families[f], h);
    remainders b = measure_remainders(&m, &families[f], h / 2);
    first &= has_order(a.psi1, b.psi1, 2, rounding);
    if (kind == EB_COROTATIONAL) continue; /* its tangent leaves the rotation out on purpose */
    second &= has_order(a.psi2, b.psi2, 3, rounding);
    stress &= has_order(a.stress, b.stress, 2, 10 * rounding);
    if (!first || !second || !stress) {
      printf("#   family: %s\n", families[f].name);
      break;
    }
  }
  tap_ok(first, "%s%s: psi - P remainder has order 2", name, fibre_names[fibre]);
  if (kind == EB_COROTATIONAL) return;
  tap_ok(second, "%s%s: psi - P - dP/dF remainder has order 3", name, fibre_names[fibre]);
  tap_ok(stress, "%s%s: P - dP/dF remainder has order 2", name, fibre_names[fibre]);
}

/* The frozen-rotation tangent is R T_linear(R^T D). */
static void test_frozen_rotation(void) {
  eb_material corotational = make_material(EB_COROTATIONAL, EB_FIBRE_NONE);
  eb_material linear = make_material(EB_LINEAR, EB_FIBRE_NONE);
  random_state random = random_seed(5);
  double worst = 0;
  for (int n = 0; n < 20 * FAMILIES; n++) {
    double F[9], D[9], a[3], R[9], T[81], L[81], got[9], back[9], rotated[9], want[9], Rt[9];
    sample(&families[n % FAMILIES], &random, F, D, a, R);
    for (int i = 0; i < 9; i++) Rt[i] = R[3 * (i % 3) + i / 3];
    eb_material_tangent(&corotational, F, NULL, false, T);
    eb_material_tangent(&linear, F, NULL, false, L);
    apply(T, D, got);
    multiply(Rt, D, false, back);
    apply(L, back, rotated);
    multiply(R, rotated, false, want);
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(got[i] - want[i]));
  }
  /* Rotation error is eps / (s1 + s2), and s1 + s2 >= 0.2. */
  tap_below(worst, 1e-13 * YOUNG, "corotational: tangent is the linear one in the rotated frame");
}

/* ---- projection ------------------------------------------------------------------------------ */

typedef struct projection_errors {
  double clamp, symmetry, negative;
  int indefinite;
} projection_errors;

/* One random F; the fibre, when there is one, is compared without the base, since the two are
 * clamped each by itself. */
static void compare_projection(const eb_material *m, const double F[9], const double a[3],
                               projection_errors *e) {
  double T[81], projected[81], clamped[81], least, size, ignored;
  eb_material_tangent(m, F, a, false, T);
  eb_material_tangent(m, F, a, true, projected);
  if (m->fibre) {
    eb_material base = *m;
    double B[81];
    base.fibre = EB_FIBRE_NONE;
    eb_material_tangent(&base, F, a, false, B);
    for (int i = 0; i < 81; i++) T[i] -= B[i];
    eb_material_tangent(&base, F, a, true, B);
    for (int i = 0; i < 81; i++) projected[i] -= B[i];
  }
  lapack_clamp9(T, clamped, &least, &size);
  size = fmax(size, YOUNG);
  e->indefinite += least < -1e-6 * size;
  for (int i = 0; i < 81; i++) {
    e->clamp = fmax(e->clamp, fabs(projected[i] - clamped[i]) / size);
    e->symmetry = fmax(e->symmetry, fabs(T[i] - T[9 * (i % 9) + i / 9]) / size);
  }
  lapack_clamp9(projected, clamped, &least, &ignored);
  e->negative = fmax(e->negative, -least / size);
}

static void test_projection(eb_material_kind kind, eb_fibre_kind fibre) {
  eb_material m = make_material(kind, fibre);
  const char *name = eb_material_describe(kind)->name;
  random_state random = random_seed(23);
  projection_errors e = {0};
  for (int n = 0; n < PROJECTIONS; n++) {
    double F[9], D[9], a[3], R[9];
    sample(&families[n % FAMILIES], &random, F, D, a, R);
    if (n % 2)
      for (int i = 0; i < 9; i++) F[i] = random_uniform(&random, -1.5, 1.5);
    compare_projection(&m, F, a, &e);
  }
  /* Rounding of two eigen decompositions, relative to the largest eigenvalue. */
  tap_below(e.clamp, 1e-12, "projected tangent is the eigenvalue-clamped one (LAPACK)");
  tap_below(e.negative, 1e-13, "projected tangent is positive semi-definite");
  tap_below(e.symmetry, 1e-13, "tangent is symmetric");
  if (kind != EB_LINEAR && kind != EB_COROTATIONAL)
    tap_ok(e.indefinite > PROJECTIONS / 20, "%s%s: the samples were indefinite often enough (%d)",
           name, fibre_names[fibre], e.indefinite);
}

/* ---- one node, and principal stresses -------------------------------------------------------- */

/* P = U diag(slope) V^T of the tangents' slopes. */
static void test_slopes(eb_material_kind kind) {
  eb_material m = make_material(kind, EB_FIBRE_NONE);
  eb_law law = eb_law_make(&m);
  random_state random = random_seed(51);
  double worst = 0;
  for (int n = 0; n < 20 * FAMILIES; n++) {
    double F[9], D[9], a[3], R[9], P[9];
    eb_v4 batch[1][9], U[1][9], s[1][3], V[1][9];
    eb_principal_tangent t;
    sample(&families[n % FAMILIES], &random, F, D, a, R);
    eb_material_stress(&m, F, NULL, P);
    for (int i = 0; i < 9; i++) batch[0][i] = eb_v4_set(F[i]);
    eb_svd3(1, (const eb_v4(*)[9])batch, U, s, V);
    eb_law_tangent(&law, s[0], n % 2, &t);
    for (int i = 0; i < 9; i++)
      for (int k = 0; k < 3; k++)
        P[i] -= U[0][3 * (i / 3) + k][0] * t.slope[k][0] * V[0][3 * (i % 3) + k][0];
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(P[i]));
  }
  tap_ok(worst <= 1e-12 * YOUNG, "%s: P = U diag(slope) V^T (%.1e Pa)",
         eb_material_describe(kind)->name, worst);
}

/* pull = P g; block = (g^T dP/dF g) but for what it leaves out, which is nothing where that is
 * positive semi-definite. */
static void test_node(eb_material_kind kind) {
  eb_material m = make_material(kind, EB_FIBRE_NONE);
  eb_law law = eb_law_make(&m);
  random_state random = random_seed(53);
  const int entry[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
  double pulls = 0, blocks = 0, negative = 0;
  if (!eb_law_serves_node(&law)) return;
  for (int n = 0; n < 60 * FAMILIES; n++) {
    double F[9], D[9], g[3], R[9], P[9], T[81], more[9], least = INFINITY;
    eb_v4 batch[9], rest[3];
    eb_node_terms terms;
    sample(&families[n % FAMILIES], &random, F, D, g, R);
    for (int i = 0; i < 9; i++) batch[i] = eb_v4_set(F[i]);
    for (int i = 0; i < 3; i++) rest[i] = eb_v4_set(g[i]);
    eb_law_node(&law, batch, rest, &terms);
    eb_material_stress(&m, F, NULL, P);
    eb_material_tangent(&m, F, NULL, false, T);
    for (int i = 0; i < 9; i++) {
      more[i] = terms.block[entry[i]][0];
      for (int k = 0; k < 9; k++)
        more[i] -= g[k / 3] * T[9 * (3 * (i / 3) + k / 3) + 3 * (i % 3) + k % 3] * g[k % 3];
    }
    for (int i = 0; i < 3; i++) pulls = fmax(pulls, fabs(terms.pull[i][0] - dot(3, P + 3 * i, g)));
    for (int k = 0; k < 40; k++) { /* in many directions */
      double d[3], left = 0, own = 0;
      random_direction(&random, 3, d);
      for (int i = 0; i < 9; i++) {
        left += d[i / 3] * more[i] * d[i % 3];
        own += d[i / 3] * terms.block[entry[i]][0] * d[i % 3];
      }
      least = fmin(least, own - left);
      negative = fmin(negative, fmin(left, own));
    }
    double size = 0;
    for (int i = 0; i < 9; i++) size = fmax(size, fabs(more[i]));
    if (least > 0.01 * YOUNG) blocks = fmax(blocks, size);
  }
  tap_ok(pulls <= 1e-12 * YOUNG, "%s: a node's pull is P g (%.1e Pa)",
         eb_material_describe(kind)->name, pulls);
  tap_ok(negative >= -1e-12 * YOUNG, "%s: its block leaves out only what is negative (%.1e Pa)",
         eb_material_describe(kind)->name, negative);
  if (kind != EB_STVK) /* whose geometric term may be left out of a positive sum */
    tap_ok(blocks <= 1e-12 * YOUNG, "%s: and nothing where all is positive (%.1e Pa)",
           eb_material_describe(kind)->name, blocks);
}

/* ---- rest state, small strain, invariance ---------------------------------------------------- */

/* At rest: no energy, no stress, and the tangent of Lame. */
static void test_rest(eb_material_kind kind, double poisson) {
  const char *name = eb_material_describe(kind)->name;
  const double F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  eb_material m = make_material(kind, EB_FIBRE_NONE);
  m.poisson = poisson;
  double mu = m.young / (2 * (1 + m.poisson));
  double lambda = m.young * m.poisson / ((1 + m.poisson) * (1 - 2 * m.poisson));
  double P[9], T[81], worst = 0;
  eb_material_stress(&m, F, NULL, P);
  for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(P[i]));
  worst = fmax(worst, fabs(eb_material_energy(&m, F, NULL)));
  tap_ok(worst <= 1e-14 * (mu + fabs(lambda)), "%s, nu = %g: no stress, no energy at rest", name,
         poisson);
  eb_material_tangent(&m, F, NULL, false, T);
  worst = 0;
  for (int r = 0; r < 9; r++)
    for (int c = 0; c < 9; c++) {
      int i = r / 3, k = r % 3, j = c / 3, l = c % 3;
      double want = mu * ((i == j && k == l) + (i == l && k == j)) + lambda * (i == k && j == l);
      worst = fmax(worst, fabs(T[9 * r + c] - want));
    }
  tap_ok(worst <= 1e-13 * (mu + fabs(lambda)), "%s, nu = %g: the tangent at rest is that of Lame",
         name, poisson);
}

/* psi(Q F) = psi(F), P(Q F) = Q P(F); for isotropic materials psi(F Q) = psi(F). */
static void test_objectivity(eb_material_kind kind, eb_fibre_kind fibre) {
  eb_material m = make_material(kind, fibre);
  random_state random = random_seed(3);
  double worst = 0;
  for (int n = 0; n < 20 * FAMILIES; n++) {
    double F[9], D[9], a[3], R[9], Q[9], QF[9], P[9], QP[9], got[9];
    sample(&families[n % FAMILIES], &random, F, D, a, R);
    random_rotation(&random, Q);
    multiply(Q, F, false, QF);
    double psi = eb_material_energy(&m, F, a);
    worst = fmax(worst, fabs(eb_material_energy(&m, QF, a) - psi));
    eb_material_stress(&m, F, a, P);
    multiply(Q, P, false, QP);
    eb_material_stress(&m, QF, a, got);
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(got[i] - QP[i]));
    multiply(F, Q, false, QF);
    if (!fibre) worst = fmax(worst, fabs(eb_material_energy(&m, QF, a) - psi));
  }
  tap_ok(worst <= 1e-12 * YOUNG, "%s%s: indifferent to rotations", eb_material_describe(kind)->name,
         fibre_names[fibre]);
}

/* The extrapolation meets the logarithm with two derivatives at J = 0.7. */
static void test_extrapolation(void) {
  eb_material m = make_material(EB_NEO_HOOKEAN, EB_FIBRE_NONE);
  const double s = cbrt(0.7), mu = YOUNG / (2 * (1 + POISSON));
  double lambda = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON));
  double above = s * (1 + 1e-10), below = s * (1 - 1e-10), T[2][81], P[2][9];
  for (int side = 0; side < 2; side++) {
    double t = side ? above : below, F[9] = {t, 0, 0, 0, t, 0, 0, 0, t};
    eb_material_tangent(&m, F, NULL, false, T[side]);
    eb_material_stress(&m, F, NULL, P[side]);
  }
  double jump = 0;
  for (int i = 0; i < 81; i++) jump = fmax(jump, fabs(T[0][i] - T[1][i]));
  for (int i = 0; i < 9; i++) jump = fmax(jump, fabs(P[0][i] - P[1][i]));
  tap_below(jump, 1e-8 * YOUNG, "neo-hookean: stress and tangent continuous at J = 0.7");
  const double F[9] = {1.1, 0, 0, 0, 0.9, 0, 0, 0, 0.95};
  double J = 1.1 * 0.9 * 0.95, log_J = log(J), Ic = 1.21 + 0.81 + 0.9025;
  tap_near(eb_material_energy(&m, F, NULL),
           mu / 2 * (Ic - 3) - mu * log_J + lambda / 2 * log_J * log_J, 1e-13 * YOUNG,
           "neo-hookean: the published formula above J = 0.7");
}

/* Published formulas evaluated directly, up to the constant that makes psi(I) = 0. */
static void test_formulas(void) {
  const double F[9] = {1.3, 0.1, 0, 0, 0.9, 0.2, 0.05, 0, 0.8};
  const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double mu_L = YOUNG / (2 * (1 + POISSON));
  double lambda_L = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON));
  double mu = 4 * mu_L / 3, lambda = lambda_L + 5 * mu_L / 6,
         alpha = 1 + mu / lambda - mu / (4 * lambda);
  double psi[2];
  for (int i = 0; i < 2; i++) {
    const double *A = i ? one : F;
    double Ic = dot(9, A, A), J = A[0] * (A[4] * A[8] - A[5] * A[7]) -
                                  A[1] * (A[3] * A[8] - A[5] * A[6]) +
                                  A[2] * (A[3] * A[7] - A[4] * A[6]);
    psi[i] = mu / 2 * (Ic - 3) + lambda / 2 * (J - alpha) * (J - alpha) - mu / 2 * log(Ic + 1);
  }
  eb_material m = make_material(EB_STABLE_NEO_HOOKEAN, EB_FIBRE_NONE);
  tap_near(eb_material_energy(&m, F, NULL), psi[0] - psi[1], 1e-12 * YOUNG,
           "stable-neo-hookean: Smith et al. 2018, eq. 14");
  const double a[3] = {1, 0, 0};
  double I5 = 1.3 * 1.3 + 0.05 * 0.05, base = eb_material_energy(&m, F, a);
  m.fibre = EB_FIBRE_ASTVK;
  m.fibre_stiffness = 700;
  tap_near(eb_material_energy(&m, F, a) - base, 350 * (I5 - 1) * (I5 - 1), 1e-11 * YOUNG,
           "aStVK fibre: mu_f/2 (I5 - 1)^2");
  m.fibre = EB_FIBRE_FUNG;
  m.fibre_exponent = 1.5;
  m.activation = 0.25;
  tap_near(eb_material_energy(&m, F, a) - base,
           700 * 0.25 / 3 * (exp(1.5 * (I5 - 1) * (I5 - 1)) - 1), 1e-11 * YOUNG,
           "Fung fibre: activated k1/(2 k2) (exp(k2 (I5 - 1)^2) - 1)");
}

/* ---- nearest matrix of determinant 1 ----------------------------------------------------------
 */

/* The nearest d of product 1 by a search: a grid of logarithms, then finer ones around its best. */
static double searched_distance(const double s[3]) {
  enum { HALF = 24, LEVELS = 14 };
  double centre[2] = {0}, width = 8, best = INFINITY;
  for (int level = 0; level < LEVELS; level++, width *= 0.25) {
    double found[2] = {centre[0], centre[1]};
    for (int i = -HALF; i <= HALF; i++)
      for (int j = -HALF; j <= HALF; j++) {
        double a = centre[0] + width * i / HALF, b = centre[1] + width * j / HALF;
        const double d[3] = {exp(a), exp(b), exp(-a - b)};
        if (!(eb_squared_distance3(s, d) < best)) continue;
        best = eb_squared_distance3(s, d);
        found[0] = a;
        found[1] = b;
      }
    centre[0] = found[0];
    centre[1] = found[1];
  }
  return best;
}

typedef struct nearest {
  double d[3], m;
} nearest;

static nearest find_nearest(const double s[3]) {
  eb_v4 batch[3], d[3], m;
  for (int k = 0; k < 3; k++) batch[k] = eb_v4_set(s[k]);
  m = eb_nearest_volume(batch, d);
  return (nearest){{d[0][0], d[1][0], d[2][0]}, m[0]};
}

static void sample_stretches(random_state *random, int n, double s[3]) {
  double size = n % 3 == 0 ? 1.3 : n % 3 == 1 ? 3 : 30;
  for (int k = 0; k < 3; k++) s[k] = random_uniform(random, 0, size);
  if (n % 4 == 1) s[n % 3] *= -1;
  if (n % 4 == 2) s[1] = s[0];
  if (n % 8 == 4) s[2] = s[1] = s[0] * random_uniform(random, 0.95, 1.05);
  if (n % 16 == 7) { /* about where small d split from equal ones */
    double middle = random_uniform(random, 1.88, 2.01), apart = n % 32 == 7 ? 0 : 1e-4;
    for (int k = 0; k < 3; k++) s[k] = middle * (1 + apart * random_uniform(random, -1, 1));
  }
}

static void test_nearest_volume(void) {
  enum { STRETCHES = 600 };
  random_state random = random_seed(41);
  double product = 0, equation = 0, farther = 0;
  for (int n = 0; n < STRETCHES; n++) {
    double s[3], size = 1;
    sample_stretches(&random, n, s);
    nearest at = find_nearest(s);
    for (int k = 0; k < 3; k++) size = fmax(size, fabs(s[k]));
    product = fmax(product, fabs(at.d[0] * at.d[1] * at.d[2] - 1));
    for (int k = 0; k < 3; k++)
      equation = fmax(equation, fabs((s[k] - at.d[k]) * at.d[k] - at.m) / (size * size));
    farther = fmax(farther, (eb_squared_distance3(s, at.d) - searched_distance(s)) / (size * size));
  }
  /* Some roundings; the search's grid ends at 1e-7 of a logarithm, the square of which counts. */
  tap_below(product, 1e-14, "nearest volume: d has product 1");
  tap_below(equation, 1e-14, "nearest volume: (s - d) d is the same for all three");
  tap_below(farther, 1e-13, "nearest volume: no d is nearer, inverted, equal or far");
}

/* From 1e-6 to 1e6, with every combination of signs that a symmetric matrix can have. */
static void test_far_stretches(void) {
  random_state random = random_seed(43);
  double product = 0;
  for (int n = 0; n < 4000; n++) {
    double s[3];
    for (int k = 0; k < 3; k++)
      s[k] = (n >> k & 1 ? -1 : 1) * pow(10, random_uniform(&random, -6, 6));
    nearest at = find_nearest(s);
    bool positive = at.d[0] > 0 && at.d[1] > 0 && at.d[2] > 0;
    product = fmax(product, positive ? fabs(at.d[0] * at.d[1] * at.d[2] - 1) : INFINITY);
  }
  /* d_k of a negative s_k is a difference of numbers of 1e6. */
  tap_below(product, 1e-3, "nearest volume: found for stretches from 1e-6 to 1e6 of any sign");
}

static void test_nearest_lanes(void) {
  random_state random = random_seed(47);
  bool same = true;
  for (int n = 0; n < 400; n++) {
    eb_v4 s[3], d[3];
    double one[EB_LANES][3];
    for (int l = 0; l < EB_LANES; l++) {
      sample_stretches(&random, 4 * n + l, one[l]);
      for (int k = 0; k < 3; k++) s[k][l] = one[l][k];
    }
    if (n % 5 == 0) s[1][2] = NAN;
    eb_nearest_volume(s, d);
    for (int l = 0; l < EB_LANES; l++) {
      nearest alone = find_nearest(one[l]);
      for (int k = 0; k < 3; k++) same &= (n % 5 == 0 && l == 2) || alone.d[k] == d[k][l];
    }
  }
  tap_ok(same, "nearest volume: a lane has the same bits whatever is beside it, NaN too");
}

/* mu |F - R|^2 + 3/2 lambda |F - D|^2 of a stretch whose D can be had by hand: s = (a, a, b) with d
 * = (t, t, 1 / t^2). And pushed through itself, up to its mirror image, an element is driven back.
 */
static void test_projective(void) {
  eb_material m = make_material(EB_PROJECTIVE, EB_FIBRE_NONE);
  double mu = YOUNG / (2 * (1 + POISSON));
  double lambda = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON));
  /* From (a - t) t = (b - 1 / t^2) / t^2 at t = 1.1 and b = 0.7. */
  double t = 1.1, b = 0.7, a = t + (b - 1 / (t * t)) / (t * t * t);
  const double F[9] = {0, -a, 0, a, 0, 0, 0, 0, b};
  double off = 2 * (a - t) * (a - t) + (b - 1 / (t * t)) * (b - 1 / (t * t));
  tap_near(eb_material_energy(&m, F, NULL),
           mu * (2 * (a - 1) * (a - 1) + (b - 1) * (b - 1)) + 1.5 * lambda * off, 1e-13 * YOUNG,
           "projective: the distances to R and D");
  bool restoring = true;
  double before = INFINITY;
  for (double s = -63.0 / 64; s < 1; s += 1.0 / 64) {
    const double G[9] = {1, 0, 0, 0, s, 0, 0, 0, 1};
    double psi = eb_material_energy(&m, G, NULL), P[9];
    eb_material_stress(&m, G, NULL, P);
    restoring &= psi < before && P[4] < 0;
    before = psi;
  }
  tap_ok(restoring, "projective: an inverted element is driven back to rest");
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void test_bad_materials(void) {
  const eb_material good = make_material(EB_STABLE_NEO_HOOKEAN, EB_FIBRE_FUNG);
  tap_succeeds(eb_material_validate(&good), "a good material");
  eb_material m = good;
  m.poisson = 0.5;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "Poisson's ratio is 0.5", "nu = 0.5");
  m.poisson = -1;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "Poisson's ratio is -1", "nu = -1");
  m.poisson = NAN;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "Poisson's ratio is", "nu = NaN");
  m = good;
  m.young = 0;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "Young's modulus is 0", "E = 0");
  m.young = INFINITY;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "Young's modulus is inf", "E infinite");
  m = good;
  m.density = -1;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "density is -1", "negative density");
  m = good;
  m.activation = 1.5;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "activation is 1.5", "activation above 1");
  m = good;
  m.fibre_exponent = 0;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "k2 is 0", "fibre exponent 0");
  m = good;
  m.fibre_stiffness = NAN;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "fibre stiffness", "fibre stiffness NaN");
  m = good;
  m.kind = (eb_material_kind)EB_MATERIAL_KINDS;
  tap_fails(eb_material_validate(&m), EB_ERR_INVALID, "unknown material kind", "unknown kind");
}

static void test_names(void) {
  bool found = true;
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++)
    found &= eb_material_find(eb_material_describe((eb_material_kind)kind)->name) == kind;
  tap_ok(found, "every material is found by its name");
  tap_ok(eb_material_find("jelly") == -1, "an unknown name is not found");
}

int main(void) {
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
    test_taylor((eb_material_kind)kind, EB_FIBRE_NONE);
    test_projection((eb_material_kind)kind, EB_FIBRE_NONE);
    test_rest((eb_material_kind)kind, POISSON);
    test_rest((eb_material_kind)kind, -0.2);
    if (kind != EB_LINEAR) test_objectivity((eb_material_kind)kind, EB_FIBRE_NONE);
    if (kind != EB_LINEAR && kind != EB_COROTATIONAL) test_slopes((eb_material_kind)kind);
    test_node((eb_material_kind)kind);
  }
  for (int fibre = EB_FIBRE_ASTVK; fibre <= EB_FIBRE_FUNG; fibre++) {
    test_taylor(EB_STABLE_NEO_HOOKEAN, (eb_fibre_kind)fibre);
    test_projection(EB_STABLE_NEO_HOOKEAN, (eb_fibre_kind)fibre);
    test_objectivity(EB_STABLE_NEO_HOOKEAN, (eb_fibre_kind)fibre);
  }
  test_frozen_rotation();
  test_extrapolation();
  test_formulas();
  test_nearest_volume();
  test_far_stretches();
  test_nearest_lanes();
  test_projective();
  test_bad_materials();
  test_names();
  return tap_done();
}
