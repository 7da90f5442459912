/* The proximal contact law and its derivative; see cr.h for the formulas. */
#include <math.h>
#include <string.h>

#include "solvers/contact/cr.h"

/* r^_t - u_t / E, and its length. */
static double tangential(const eb_cr_law *law, int32_t k, const double u[3], double z[2]) {
  const double *anchor = law->anchor + 3 * (int64_t)k;
  for (int i = 0; i < 2; i++) z[i] = anchor[1 + i] - u[1 + i] / law->compliance[k];
  return hypot(z[0], z[1]);
}

static double normal(const eb_cr_law *law, int32_t k, const double u[3]) {
  return law->anchor[3 * (int64_t)k] - u[0] / law->compliance[k];
}

eb_contact_state eb_cr_force(const eb_cr_law *law, int32_t k, const double u[3], double r[3]) {
  double z[2], length = tangential(law, k, u, z), n = normal(law, k, u), bound = law->bound[k];
  double share = length > bound ? bound / length : 1;
  r[0] = n > 0 ? n : 0;
  r[1] = share * z[0];
  r[2] = share * z[1];
  if (n <= 0) return bound > 0 ? EB_CONTACT_GRIPS : EB_CONTACT_OPEN;
  return length > bound ? EB_CONTACT_SLIDES : EB_CONTACT_STICKS;
}

/* Of the projection on a disc: the identity inside, s/|z| (1 - z z^T/|z|^2) outside. */
void eb_cr_stiffness(const eb_cr_law *law, int32_t k, const double u[3], double D[9]) {
  double z[2], length = tangential(law, k, u, z), stiffness = 1 / law->compliance[k],
               bound = law->bound[k];
  memset(D, 0, 9 * sizeof *D);
  if (normal(law, k, u) > 0) D[0] = stiffness;
  if (bound <= 0) return;
  bool slides = length > bound;
  double across = slides ? stiffness * bound / length : stiffness;
  double along = slides ? across / (length * length) : 0;
  D[4] = across - along * z[0] * z[0];
  D[5] = D[7] = -along * z[0] * z[1];
  D[8] = across - along * z[1] * z[1];
}
