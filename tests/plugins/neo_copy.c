/* The built-in neo-hookean once more, as a plug-in: the same energy, to be compared with, and what
 * a plug-in's material may get wrong, by its parameter `wrong`. */
#include <elastobench/material.h>

#include <math.h>
#include <stddef.h>

enum wrong {
  RIGHT,
  STRESS_SIGN,
  STRESS_FACTOR, /* 1 % too much */
  TANGENT_FACTOR,
  TANGENT_SKEW,
  NOT_OBJECTIVE,
  ANISOTROPIC,
  NAN_AT_REST,
  STRESSED_AT_REST,
  UNSTABLE,
  IMPURE,
  UNWRITTEN,          /* an entry of the stress */
  INFINITE_INSIDE_OUT /* which is none: there it has no energy */
};

static int wrong(const double *p, enum wrong kind) {
  return p[EB_FIRST_OWN] == (double)kind;
}

/* h(J) = -mu ln J + lambda/2 ln^2 J with derivatives, below 0.7 its polynomial about 0.7. */
static void volume(const double *p, double J, double h[3]) {
  double at = J < 0.7 ? 0.7 : J, d = J - at, l = log(at);
  h[1] = (p[1] * l - p[0]) / at;
  h[2] = (p[1] * (1 - l) + p[0]) / (at * at);
  h[0] = -p[0] * l + 0.5 * p[1] * l * l + h[1] * d + 0.5 * h[2] * d * d;
  h[1] += h[2] * d;
}

static double cofactor(const double F[9], double C[9]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
      C[3 * i + k] = F[3 * a + c] * F[3 * b + d] - F[3 * a + d] * F[3 * b + c];
    }
  return F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
}

static double energy(const double *p, const double F[9]) {
  static int asked;
  double C[9], h[3], J = cofactor(F, C), Ic = 0;
  volume(p, J, h);
  for (int i = 0; i < 9; i++) Ic += F[i] * F[i];
  double psi = 0.5 * p[0] * (Ic - 3) + h[0];
  if (wrong(p, NOT_OBJECTIVE)) psi += 0.5 * p[0] * F[1] * F[1];
  if (wrong(p, ANISOTROPIC))
    psi += 0.5 * p[0] * pow(F[0] * F[0] + F[3] * F[3] + F[6] * F[6] - 1, 2);
  if (wrong(p, NAN_AT_REST) && Ic == 3) return NAN;
  if (wrong(p, STRESSED_AT_REST)) psi += 0.1 * p[0] * (J - 1);
  if (wrong(p, UNSTABLE)) psi = -psi;
  if (wrong(p, IMPURE)) psi += 1e-6 * p[0] * (asked++ % 2);
  if (wrong(p, INFINITE_INSIDE_OUT) && !(J > 0)) return INFINITY;
  return psi;
}

static void stress(const double *p, const double F[9], double P[9]) {
  double C[9], h[3], J = cofactor(F, C);
  volume(p, J, h);
  for (int i = 0; i < 9; i++) P[i] = p[0] * F[i] + h[1] * C[i];
  if (wrong(p, NOT_OBJECTIVE)) P[1] += p[0] * F[1];
  if (wrong(p, ANISOTROPIC))
    for (int i = 0; i < 9; i += 3)
      P[i] += 2 * p[0] * (F[0] * F[0] + F[3] * F[3] + F[6] * F[6] - 1) * F[i];
  if (wrong(p, STRESSED_AT_REST))
    for (int i = 0; i < 9; i++) P[i] += 0.1 * p[0] * C[i];
  for (int i = 0; i < 9; i++)
    P[i] *= wrong(p, STRESS_SIGN) || wrong(p, UNSTABLE) ? -1 : wrong(p, STRESS_FACTOR) ? 1.01 : 1;
  if (wrong(p, UNWRITTEN)) P[5] = NAN;
}

/* dC_ik / dF_jl = e_ijm e_kln F_mn */
static double bend(const double F[9], int i, int k, int j, int l) {
  if (i == j || k == l) return 0;
  double sign = ((j - i + 3) % 3 == 1) == ((l - k + 3) % 3 == 1) ? 1 : -1;
  return sign * F[3 * (3 - i - j) + 3 - k - l];
}

static void tangent(const double *p, const double F[9], double dPdF[81]) {
  double C[9], h[3], J = cofactor(F, C);
  volume(p, J, h);
  for (int r = 0; r < 9; r++)
    for (int s = 0; s < 9; s++) {
      double bent = bend(F, r / 3, r % 3, s / 3, s % 3);
      double *T = &dPdF[9 * r + s];
      *T = p[0] * (r == s) + h[2] * C[r] * C[s] + h[1] * bent;
      if (wrong(p, STRESSED_AT_REST)) *T += 0.1 * p[0] * bent;
      if (wrong(p, NOT_OBJECTIVE) && r == 1 && s == 1) *T += p[0];
      if (wrong(p, ANISOTROPIC) && r % 3 == 0 && s % 3 == 0)
        *T += 4 * p[0] * F[r] * F[s] +
              2 * p[0] * (F[0] * F[0] + F[3] * F[3] + F[6] * F[6] - 1) * (r == s);
      if (wrong(p, TANGENT_FACTOR)) *T *= 1.01;
      if (wrong(p, TANGENT_SKEW) && r < s) *T += 1e-6 * p[0];
      if (wrong(p, STRESS_SIGN) || wrong(p, UNSTABLE)) *T = -*T;
      if (wrong(p, STRESS_FACTOR)) *T *= 1.01;
    }
}

static const eb_option parameters[] = {
    {"wrong", EB_OPTION_REAL, "0", 0, 20, NULL, "", "what is wrong; 0: nothing"}, {0}};

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_material_ops elastobench_material = {.name = "neo-copy",
                                              .summary = "neo-hookean of a plug-in",
                                              .citation = "Bonet and Wood 1997",
                                              .parameters = parameters,
                                              .energy = energy,
                                              .stress = stress,
                                              .tangent = tangent};
