/* Names, options and tolerances of the methods that solve FCLib's problems. */
#include "harness/fclib/methods.h"

#include <math.h>
#include <string.h>

#include "harness/names.h"
#include "solvers/solver.h"

const eb_fclib_method eb_fclib_methods[] = {{"contact-delassus", &eb_contact_delassus},
                                            {"contact-ica", &eb_contact_ica},
                                            {"contact-sp", &eb_contact_sp},
                                            {"contact-cr", &eb_contact_cr},
                                            {0}};

eb_error eb_fclib_method_find(const char *name, const eb_fclib_method **out) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  *out = NULL;
  for (const eb_fclib_method *m = eb_fclib_methods; m->name && !error; m++) {
    if (strcmp(m->name, name) == 0) *out = m;
    error = eb_strings_add(&names, m->name);
  }
  if (!error && !*out) error = eb_unknown_name("contact method", name, &names);
  eb_strings_clear(&names);
  return error;
}

const eb_option *eb_fclib_method_options(const eb_fclib_method *method) {
  return eb_solver_find(method->name)->options;
}

eb_contact_tolerance eb_fclib_tolerance(const eb_values *options, const eb_fclib *problem) {
  static const double CONE = 1e-3; /* as in every step: method.h */
  double scale = 0;
  for (int32_t i = 0; i < problem->size; i++) scale += problem->f[i] * problem->f[i];
  bool relative = strcmp(eb_values_text(options, "tolerance_kind"), "relative") == 0;
  return (eb_contact_tolerance){.eps1 =
                                    eb_values_real(options, "eps1") * (relative ? sqrt(scale) : 1),
                                .eps2 = eb_values_real(options, "eps2"),
                                .cone = CONE,
                                .angle = eb_values_real(options, "angle"),
                                .max_iterations = eb_values_int(options, "max_iterations")};
}
