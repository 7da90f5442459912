/* What the plain materials, their tangents and decompositions have in common. Internal to
 * harness/audit. */
#ifndef EB_AUDIT_REFERENCE_TERMS_H
#define EB_AUDIT_REFERENCE_TERMS_H

#include "harness/audit/four.h"
#include "problems/elasticity/plugged.h"

/* A part of the energy that depends on one number alone: its value and derivatives, J/m^3. */
typedef struct eb_term {
  eb_four value, first, second;
} eb_term;

typedef struct eb_lame {
  double mu, lambda; /* Pa */
} eb_lame;

/* A 3 x 3 matrix; off[k] is the entry of the pair that leaves k out. */
typedef struct eb_symmetric {
  eb_four diagonal[3], off[3];
} eb_symmetric;

/* dJ/dF: the cofactor matrix of F. */
static inline void eb_cofactor(const eb_four F[9], eb_four C[9]) {
  C[0] = F[4] * F[8] - F[5] * F[7];
  C[1] = F[5] * F[6] - F[3] * F[8];
  C[2] = F[3] * F[7] - F[4] * F[6];
  C[3] = F[2] * F[7] - F[1] * F[8];
  C[4] = F[0] * F[8] - F[2] * F[6];
  C[5] = F[1] * F[6] - F[0] * F[7];
  C[6] = F[1] * F[5] - F[2] * F[4];
  C[7] = F[2] * F[3] - F[0] * F[5];
  C[8] = F[0] * F[4] - F[1] * F[3];
}

/* |A|^2 */
static inline eb_four eb_norm2(const eb_four A[9]) {
  return eb_four_dot3(A, A) + eb_four_dot3(A + 3, A + 3) + eb_four_dot3(A + 6, A + 6);
}

/* Of linear elasticity. */
static inline eb_lame eb_lame_of(const eb_material *material) {
  double E = material->young, nu = material->poisson;
  return (eb_lame){E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))};
}

enum { EB_PLUGGED_NUMBERS = EB_FIRST_OWN + EB_OWN_PARAMETERS };
/* What the functions of a plug-in's material are given. */
static inline void eb_reference_numbers(const eb_material *material, double p[EB_PLUGGED_NUMBERS]) {
  eb_lame lame = eb_lame_of(material);
  p[0] = lame.mu;
  p[1] = lame.lambda;
  for (int k = 0; k < EB_OWN_PARAMETERS; k++) p[EB_FIRST_OWN + k] = material->own[k];
}

/* Those that the material's energy is written with; stable neo-Hookean: Smith et al. 2018, Sec.
 * 3.4. */
static inline eb_lame eb_coefficients(const eb_material *material) {
  eb_lame lame = eb_lame_of(material);
  if (material->kind != EB_STABLE_NEO_HOOKEAN) return lame;
  return (eb_lame){4. / 3 * lame.mu, lame.lambda + 5. / 6 * lame.mu};
}

/* A = Q diag(w) Q^T. */
void eb_reference_diagonalize(eb_symmetric A, eb_four Q[9], eb_four w[3]);
/* F = U diag(s) V^T with det U = det V = 1, s in no particular order; the smallest has the sign of
 * det F. */
void eb_reference_frame(const eb_four F[9], eb_four U[9], eb_four s[3], eb_four V[9]);
/* d of product 1, d > 0, nearest to s. */
void eb_reference_nearest_volume(const eb_four s[3], eb_four d[3]);

/* *out: the terms in J = det F, given those coefficients; 0 where there are none. */
void eb_reference_volume(eb_material_kind kind, eb_lame lame, const eb_four *J, eb_term *out);
/* *out: the fibre's, in I5 = |F a|^2. */
void eb_reference_fibre(const eb_material *material, const eb_four *I5, eb_term *out);

#endif
