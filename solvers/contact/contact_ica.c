/* contact-ica: the contact step with iterative constraint anticipation (ica.h).
 *
 * Reference: Otaduy, Tamstorf, Steinemann and Gross 2009. The step and how it fails are in step.h and step.c, the method and its workspace in
 * ica.c. */
#include "solvers/contact/ica.h"
#include "solvers/contact/step.h"
#include "solvers/registry.h"

static const eb_option options[] = {EB_CONTACT_ICA_OPTIONS, EB_CONTACT_OPTIONS, {0}};

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_ica);
}

const eb_solver_ops eb_solver_contact_ica = {
    .name = "contact-ica",
    .summary = "contact as constraints, solved by iterative constraint anticipation",
    .citation = "Otaduy et al. 2009; Verschoor and Jalba 2019, Section 6.2.2",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = options,
    .create = create,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy};
