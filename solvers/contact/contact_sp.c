/* contact-sp: the contact step with staggered projections (sp.h).
 *
 * Reference: Kaufman, Sueda, James and Pai 2008. The step and how it fails are in step.h and step.c, the method and its workspace in
 * sp.c. */
#include "solvers/contact/sp.h"
#include "solvers/contact/step.h"
#include "solvers/registry.h"

static const eb_option options[] = {EB_CONTACT_SP_OPTIONS, EB_CONTACT_OPTIONS, {0}};

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_sp);
}

const eb_solver_ops eb_solver_contact_sp = {
    .name = "contact-sp",
    .summary = "contact as constraints, solved by staggered projections",
    .citation = "Kaufman et al. 2008; Verschoor and Jalba 2019, Section 6.2.2",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = options,
    .create = create,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy};
