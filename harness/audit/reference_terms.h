/* What stress and tangent of the plain materials have in common. Internal to harness/audit. */
#ifndef EB_AUDIT_REFERENCE_TERMS_H
#define EB_AUDIT_REFERENCE_TERMS_H

#include "problems/elasticity/material.h"

/* A part of the energy that depends on one number alone: its value and derivatives, J/m^3. */
typedef struct eb_term {
  double value, first, second;
} eb_term;

typedef struct eb_lame {
  double mu, lambda; /* Pa */
} eb_lame;

/* Of linear elasticity. */
eb_lame eb_reference_lame(const eb_material *material);
/* Those that the material's energy is written with. */
eb_lame eb_reference_coefficients(const eb_material *material);
/* The terms in J = det F, but for a constant; 0 where there are none. */
eb_term eb_reference_volume(const eb_material *material, double J);
/* The fibre's, in I5 = |F a|^2. */
eb_term eb_reference_fibre(const eb_material *material, double I5);

#endif
