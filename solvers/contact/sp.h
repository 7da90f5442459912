/* Options of Staggered Projections (eb_contact_sp), for the table of the solver that uses it. */
#ifndef EB_CONTACT_SP_H
#define EB_CONTACT_SP_H

#define EB_CONTACT_SP_OPTIONS                                                                      \
  {                                                                                                \
    .name = "inner", .type = EB_OPTION_CHOICE, .fallback = "active-set",                           \
    .choices = "active-set|2xcr", .unit = "",                                                      \
    .doc = "states change when conjugate residuals have converged, or while they iterate"          \
  }

#endif
