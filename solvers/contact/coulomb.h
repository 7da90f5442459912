/* One contact alone, solved with Coulomb's law: what projected Gauss-Seidel does at every contact.
 *
 *   u = q + W r,   0 <= u_n  perp  r_n >= 0,   |r_t| <= mu r_n,   u_t = 0 or r_t = -mu r_n u_t / |u_t|
 *
 * W (3x3, symmetric, positive semi-definite) is what an impulse at this contact does to its own motion. */
#ifndef EB_CONTACT_COULOMB_H
#define EB_CONTACT_COULOMB_H

#include <stdint.h>

typedef struct eb_coulomb {
  double W[9];       /* row-major: normal, two tangents */
  double inverse[9]; /* of W, whose diagonal is raised by 1e-12 of its largest entry */
  double tangential; /* largest eigenvalue of the tangents' block */
  double mu;
} eb_coulomb;

/* Keeps W and what follows from it. */
void eb_coulomb_set(eb_coulomb *contact, const double W[9], double mu);

typedef enum eb_coulomb_state {
  EB_COULOMB_APART,
  EB_COULOMB_STICKS,
  EB_COULOMB_SLIDES
} eb_coulomb_state;
/* Where an impulse lies: nothing, inside the cone, or on it (within 1e-6, as eb_contact_measure has it). */
eb_coulomb_state eb_coulomb_state_of(const double r[3], double mu);
/* Counts the contacts (r: 3 each) whose state differs from state[], which is brought up to date. */
int32_t eb_coulomb_changes(int32_t count, const double *r, const double *mu, uint8_t *state);

/* The impulse of this contact: `r` is the one that it has, with which it moves by `u`; `r` becomes the solution and `change` what was added to it.
 * A contact that no impulse moves (W_nn = 0) gets none. */
void eb_coulomb_solve(const eb_coulomb *contact, const double u[3], double r[3], double change[3]);

#endif
