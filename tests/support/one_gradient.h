/* The audit's materials at one deformation gradient: in a lane that its bits choose, among others
 * that are no numbers, inverted and at rest. */
#ifndef EB_TESTS_ONE_GRADIENT_H
#define EB_TESTS_ONE_GRADIENT_H

#include <stdint.h>
#include <string.h>

#include "harness/audit/reference.h"
#include "harness/audit/tangent.h"

static inline int one_lane(const double F[9]) {
  uint64_t bits = 0;
  for (int i = 0; i < 9; i++) {
    uint64_t word;
    memcpy(&word, F + i, sizeof word);
    bits = (bits ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  }
  return (int)(bits >> 62);
}

/* Neighbours first, so that `lane` has the gradient itself. */
static inline void one_among(const double F[9], int lane, eb_four out[9]) {
  for (int i = 0; i < 9; i++) {
    double rest = i % 4 == 0;
    out[i] = (eb_four){NAN, -rest, rest, i == 0 ? INFINITY : rest};
    out[i][lane] = F[i];
  }
}

static inline void one_vector(const double *a, eb_four out[3]) {
  for (int d = 0; d < 3; d++) out[d] = eb_four_of(a ? a[d] : 0);
}

static inline void one_of(const eb_four *from, int count, int lane, double *out) {
  for (int i = 0; i < count; i++) out[i] = from[i][lane];
}

static inline void one_polar(const double F[9], double R[9]) {
  eb_four among[9], turned[9];
  int lane = one_lane(F);
  one_among(F, lane, among);
  eb_reference_polar(among, turned);
  one_of(turned, 9, lane, R);
}

static inline double one_material(const eb_material *material, const double F[9],
                                  const double *fibre, double P[9]) {
  eb_four among[9], a[3], psi, stress[9];
  int lane = one_lane(F);
  one_among(F, lane, among);
  one_vector(fibre, a);
  eb_reference_material(material, among, fibre ? a : NULL, &psi, stress);
  one_of(stress, 9, lane, P);
  return psi[lane];
}

static inline void one_tangent(const eb_material *material, eb_tangent tangent, const double F[9],
                               const double *fibre, const double dF[9], double dP[9]) {
  eb_four among[9], a[3], moved[9], product[9];
  eb_tangent_at at;
  int lane = one_lane(F);
  one_among(F, lane, among);
  one_among(dF, lane, moved);
  one_vector(fibre, a);
  eb_reference_tangent(material, tangent, among, fibre ? a : NULL, &at);
  eb_tangent_apply(&at, moved, product);
  one_of(product, 9, lane, dP);
}

#endif
