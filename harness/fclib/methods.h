/* The contact methods under the names of their solvers, with the options that they have there. */
#ifndef EB_FCLIB_METHODS_H
#define EB_FCLIB_METHODS_H

#include "harness/fclib/fclib.h"

typedef struct eb_fclib_method {
  const char *name; /* "contact-delassus" */
  const eb_contact_method *method;
} eb_fclib_method;

/* EB_ERR_USAGE, with the nearest name, when there is none of that name. */
EB_MUST eb_error eb_fclib_method_find(const char *name, const eb_fclib_method **out);
/* Those of the built-in solver of its name. */
const eb_option *eb_fclib_method_options(const eb_fclib_method *method);
#endif
