/* contact-delassus: the contact step with the problem reduced to its contact forces (delassus.h).
 *
 * Reference: Acary, Bremond and Huber 2018. The step and how it fails are in step.h and step.c, the method and its workspace in
 * delassus.c. */
#include "solvers/contact/delassus.h"
#include "solvers/contact/step.h"
#include "solvers/registry.h"

static const eb_option options[] = {EB_DELASSUS_OPTIONS, EB_CONTACT_OPTIONS, {0}};

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_delassus);
}

const eb_solver_ops eb_solver_contact_delassus = {
    .name = "contact-delassus",
    .summary = "contact as constraints, reduced to the contact forces and solved there",
    .citation = "Acary, Bremond and Huber 2018",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = options,
    .create = create,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy};
