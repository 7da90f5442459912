/* The contact solvers: one step (step.c), four methods for its contact problem.
 *
 *   contact-cr        conjugate residuals, cr.c          Verschoor and Jalba 2019
 *   contact-ica       constraint anticipation, ica.c     Otaduy, Tamstorf, Steinemann and Gross
 * 2009 contact-sp        staggered projections, sp.c        Kaufman, Sueda, James and Pai 2008
 *   contact-delassus  the reduced problem, delassus.c    Acary, Bremond and Huber 2018
 *
 * What the step needs and how it fails is in step.c; what a method needs and how it fails, in its
 * file. */
#include "solvers/contact/step.h"
#include "solvers/registry.h"

static const char tight[] = "eps1=1e-9,eps2=1e-8,angle=0.05,max_iterations=1000000";

static const eb_option cr_options[] = {EB_CONTACT_CR_OPTIONS, EB_CONTACT_OPTIONS, {0}};
static const eb_option ica_options[] = {EB_CONTACT_ICA_OPTIONS, EB_CONTACT_OPTIONS, {0}};
static const eb_option sp_options[] = {EB_CONTACT_SP_OPTIONS, EB_CONTACT_OPTIONS, {0}};
static const eb_option delassus_options[] = {EB_CONTACT_DELASSUS_OPTIONS, EB_CONTACT_OPTIONS, {0}};

static eb_error create_cr(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_cr);
}

static eb_error create_ica(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_ica);
}

static eb_error create_sp(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_sp);
}

static eb_error create_delassus(eb_solver *solver, const eb_scene *scene) {
  return eb_contact_solver_create(solver, scene, &eb_contact_delassus);
}

const eb_solver_ops eb_solver_contact_cr = {
    .name = "contact-cr",
    .summary = "contact as constraints, solved by conjugate residuals with changing states",
    .citation = "Verschoor and Jalba 2019",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = cr_options,
    .create = create_cr,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy,
    .tightest = tight,
    .accuracy = EB_ACCURACY};

const eb_solver_ops eb_solver_contact_ica = {
    .name = "contact-ica",
    .summary = "contact as constraints, solved by iterative constraint anticipation",
    .citation = "Otaduy et al. 2009; Verschoor and Jalba 2019, Section 6.2.2",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = ica_options,
    .create = create_ica,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy,
    .tightest = tight,
    .accuracy = EB_ACCURACY};

const eb_solver_ops eb_solver_contact_sp = {
    .name = "contact-sp",
    .summary = "contact as constraints, solved by staggered projections",
    .citation = "Kaufman et al. 2008; Verschoor and Jalba 2019, Section 6.2.2",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = sp_options,
    .create = create_sp,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy,
    /* It does not get to the residuals of the others within its iterations. */
    .tightest = "eps1=1e-6,eps2=1e-6,angle=0.5",
    .accuracy = 5e-3};

const eb_solver_ops eb_solver_contact_delassus = {
    .name = "contact-delassus",
    .summary = "contact as constraints, reduced to the contact forces and solved there",
    .citation = "Acary, Bremond and Huber 2018",
    .capabilities = EB_CONTACT_CAPABILITIES,
    .options = delassus_options,
    .create = create_delassus,
    .step = eb_contact_solver_step,
    .destroy = eb_contact_solver_destroy,
    .tightest = tight,
    .accuracy = EB_ACCURACY};
