/* contact-cr: the contact step with preconditioned conjugate residuals (cr.h).
 *
 * Reference: Verschoor and Jalba 2019. The step and how it fails are in step.h and step.c, the method and its workspace in cr.c. */
#include "solvers/contact/step.h"
#include "solvers/registry.h"

static const eb_option options[] = {{.name = "preconditioner",
                                     .type = EB_OPTION_CHOICE,
                                     .fallback = "full",
                                     .choices = "full|diag",
                                     .unit = "",
                                     .doc = "preconditioner of Section 3.4"},
                                    EB_CONTACT_OPTIONS,
                                    {0}};

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_cr);
}

const eb_solver_ops eb_solver_contact_cr = {
    .name = "contact-cr",
    .summary = "contact as constraints, solved by conjugate residuals with changing states",
    .citation = "Verschoor and Jalba 2019",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = options,
    .create = create,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy};
