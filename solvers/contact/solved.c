/* When a contact problem counts as solved: every measure of eb_contact_measure within its tolerance; NaN is within none. */
#include "solvers/contact/method.h"

bool eb_contact_solved(const eb_contact_error *error, const eb_contact_tolerance *tolerance) {
  return error->residual <= tolerance->eps1 && error->violation <= tolerance->eps2 &&
         error->active <= tolerance->eps2 && error->sliding <= tolerance->eps2 &&
         error->cone <= tolerance->cone && error->angle <= tolerance->angle;
}
