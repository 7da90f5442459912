/* A worked example of a plug-in that brings a material: the compressible foam of Blatz and Ko, in
 * its general form
 *
 *   psi = f mu/2 (Ic - 3 + (J^-2b - 1) / b) + (1 - f) mu/2 (IIc / J^2 - 3 + (J^2b - 1) / b)
 *
 * with Ic = |F|^2, IIc = |cof F|^2 and b = lambda / (2 mu) = nu / (1 - 2 nu). f = 1 is a rubber, f
 * = 0 a foam: Blatz and Ko's own of polyurethane has f = 0 and nu = 1/4. Small strains are linear
 * elasticity with the scene's E and nu whatever f is. Without an energy for J <= 0.
 *
 * Build it against the installed headers and run it on a scene of yours:
 *
 *   cc -O2 -shared -fPIC $(pkg-config --cflags elastobench) foam.c -o foam.so -lm
 *   elastobench check --plugin ./foam.so
 *   elastobench run crate.ini:material=foam --plugin ./foam.so -s newton
 *
 * and in the scene's file
 *
 *   [material padding]
 *   kind = foam
 *   rubber = 0.2
 *
 * In the terms of IIc / J^2 = |F^-T|^2 with G = F^-T: d|G|^2 = -2 (G G^T G) : dF and dG = -G dF^T
 * G.
 *
 * Reference: Blatz and Ko 1962, "Application of finite elastic theory to the deformation of rubbery
 * materials"; Ogden 1984, Section 7.2. */
#include <elastobench/material.h>

#include <math.h>

/* J, and G = F^-T = cof F / J. */
static double inverse_transposed(const double F[9], double G[9]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
      G[3 * i + k] = F[3 * a + c] * F[3 * b + d] - F[3 * a + d] * F[3 * b + c];
    }
  double J = F[0] * G[0] + F[1] * G[1] + F[2] * G[2];
  for (int i = 0; i < 9; i++) G[i] /= J;
  return J;
}

static double norm_squared(const double A[9]) {
  double sum = 0;
  for (int i = 0; i < 9; i++) sum += A[i] * A[i];
  return sum;
}

/* A B^T or, of A^T, what the indices say: C_ik = sum_m A_im B_km. */
static void times_transposed(const double A[9], const double B[9], double C[9]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      C[3 * i + k] =
          A[3 * i] * B[3 * k] + A[3 * i + 1] * B[3 * k + 1] + A[3 * i + 2] * B[3 * k + 2];
}

/* What p says: the two halves of mu, and b. */
typedef struct weights {
  double rubber, foam, b;
} weights;

static weights weights_of(const double *p) {
  double mu = p[0], f = p[EB_FIRST_OWN];
  return (weights){0.5 * f * mu, 0.5 * (1 - f) * mu, p[1] / (2 * mu)};
}

/* (J^a - 1) / b with its limit at b = 0, for a = 2 b or -2 b. */
static double power(double J, double sign, double b) {
  double a = sign * 2 * b;
  return b == 0 ? sign * 2 * log(J) : expm1(a * log(J)) / b;
}

static double energy(const double *p, const double F[9]) {
  const weights w = weights_of(p);
  double G[9], J = inverse_transposed(F, G);
  if (!(J > 0)) return INFINITY;
  return w.rubber * (norm_squared(F) - 3 + power(J, -1, w.b)) +
         w.foam * (norm_squared(G) - 3 + power(J, 1, w.b));
}

/* dJ^a/dF = a J^a G. */
static void stress(const double *p, const double F[9], double P[9]) {
  const weights w = weights_of(p);
  double G[9], GGt[9], J = inverse_transposed(F, G), Ja = pow(J, 2 * w.b);
  times_transposed(G, G, GGt);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      double GGtG = 0;
      for (int m = 0; m < 3; m++) GGtG += GGt[3 * i + m] * G[3 * m + k];
      P[3 * i + k] = 2 * w.rubber * (F[3 * i + k] - G[3 * i + k] / Ja) +
                     2 * w.foam * (Ja * G[3 * i + k] - GGtG);
    }
}

/* dG_ik/dF_jl = -G_il G_jk, by which all of P is differentiated. */
static void tangent(const double *p, const double F[9], double dPdF[81]) {
  const weights w = weights_of(p);
  double G[9], GGt[9], GtG[9], GGtG[9], turned[9], J = inverse_transposed(F, G);
  double Ja = pow(J, 2 * w.b), c = w.foam * Ja - w.rubber / Ja, a = w.foam * Ja + w.rubber / Ja;
  for (int i = 0; i < 9; i++) turned[i] = G[3 * (i % 3) + i / 3];
  times_transposed(G, G, GGt);
  times_transposed(turned, turned, GtG);
  times_transposed(GGt, turned, GGtG);
  for (int r = 0; r < 9; r++)
    for (int s = 0; s < 9; s++) {
      int i = r / 3, k = r % 3, j = s / 3, l = s % 3, il = 3 * i + l, jk = 3 * j + k;
      double turn = GGtG[il] * G[jk] + G[il] * GGtG[jk] + GGt[3 * i + j] * GtG[3 * k + l];
      dPdF[9 * r + s] =
          2 * (w.rubber * (r == s) + 2 * w.b * a * G[r] * G[s] - c * G[il] * G[jk] + w.foam * turn);
    }
}

static const eb_option parameters[] = {
    {"rubber", EB_OPTION_REAL, "0", 0, 1, NULL, "", "share f of the rubber's energy"}, {0}};

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_material_ops elastobench_material = {
    .name = "foam",
    .summary = "compressible foam: J and the squares of the inverse stretches",
    .citation = "Blatz and Ko 1962",
    .parameters = parameters,
    .energy = energy,
    .stress = stress,
    .tangent = tangent};
