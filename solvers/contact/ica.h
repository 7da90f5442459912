/* Options of Iterative Constraint Anticipation (eb_contact_ica), for the table of the solver that uses it. */
#ifndef EB_CONTACT_ICA_H
#define EB_CONTACT_ICA_H

#define EB_CONTACT_ICA_OPTIONS                                                                     \
  {                                                                                                \
    .name = "inner_sweeps", .type = EB_OPTION_INT, .fallback = "50", .min = 1, .max = 1e6,         \
    .unit = "", .doc = "most sweeps over the contacts in one iteration"                            \
  }

#endif
