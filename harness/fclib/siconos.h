/* Siconos' solvers as peers on FCLib's problems (Acary, Bremond and Huber 2018): the library is
 * loaded when it is first asked for, and the program is built where its headers are missing too
 * (Debian: libsiconos-numerics-dev). */
#ifndef EB_FCLIB_SICONOS_H
#define EB_FCLIB_SICONOS_H

#include "harness/fclib/fclib.h"

/* Whether a solver's name is one of Siconos': "siconos-nsgs", -nsn, -admm. */
bool eb_siconos_is(const char *name);
/* Whether the library can be loaded here. */
bool eb_siconos_is_there(void);
/* Solves from rest to Siconos' own measure of the error, which is of |q|. Local problems by NSGS,
 * NSN_AC, ADMM, global ones by NSGS_WR, NSN_AC_WR, ADMM, with their default options. Seconds are
 * those of its driver. EB_ERR_UNSUPPORTED where the library or the solver is not there. Does not
 * come back where Siconos crashes or ends the program: to be called in a process of its own. The
 * caller clears *out also after an error. */
EB_MUST eb_error eb_siconos_solve(const eb_fclib *problem, const char *name, double tolerance,
                                  int max_iterations, eb_fclib_result *out);

#endif
