/* Corotational linear elasticity, linearly implicit Euler: the exact method that approximate
 * factorizations are measured against.
 *
 *   (M + h C + h^2 K) v1 = M v0 + h (f_ext - g(x0)),   x1 = x0 + h v1
 *   K = sum_e R_e K_e R_e^T with the rotations R_e(x0) frozen,   C = a M + b K
 *
 * Reference: Mueller and Gross 2004; Hecht, Lee, Shewchuk and O'Brien 2012, Section 3.1, Equations
 * 2 and 3. The forces g are the exact corotational ones. K is positive semi-definite by
 * construction, so nothing is projected. Rayleigh damping folds into the two scales of the
 * assembled matrix: (1 + h a) M + (h^2 + h b) K. Implicit colliders enter K and g; their friction
 * filters v1 (problems/contact/implicit_penalty.h).
 * Needs: every material of kind EB_COROTATIONAL; element rotations that survive inversion (Irving
 * et al. 2004), found within the assembly, so their time is part of the phase "assemble". With any
 * rotation but "points" one estimate an element takes their place (problems/elasticity/rotation.h),
 * in forces and matrix alike; it is recorded, and the equation that is declared stays the same, so
 * that the audit tells what the estimate is worth. Tetrahedra alone then.
 * Workspace: eb_implicit (one block matrix, six vectors, the linear solver); with estimates an
 * eb_corotation and a matrix an element.
 * Fails: EB_DIVERGED_NAN when state or forces are not finite, else as the linear solver does. */
#include "problems/base/memory.h"
#include "problems/elasticity/corotation.h"
#include "solvers/common/linearly_implicit.h"
#include "solvers/registry.h"

#include <string.h>

/* linear_rtol: Hecht et al. ran conjugate gradients to a residual of 1e-4. */
static const eb_option options[] = {
    EB_RAYLEIGH_OPTIONS,
    {.name = "rotation",
     .type = EB_OPTION_CHOICE,
     .fallback = "points",
     .choices = "points|" EB_ROTATION_CHOICES,
     .unit = "",
     .doc =
         "the nearest rotation at every integration point, or one estimate an element, recorded"},
    {.name = "rotation_start",
     .type = EB_OPTION_CHOICE,
     .fallback = "warm",
     .choices = "warm|cold",
     .unit = "",
     .doc = "an estimate goes on from the last one, or from the identity in every step"},
    EB_LINEAR_OPTIONS("cholesky", "jacobi", "1e-4"),
    {0}};

typedef struct corotational {
  eb_implicit implicit;
  eb_corotation *corotation; /* of estimates; NULL: rotations of integration points */
  eb_rotation_method method;
  bool cold;
  double *rotations; /* elements x 9 */
} corotational;

static void destroy(eb_solver *solver) {
  corotational *c = solver->data;
  eb_implicit_clear(&c->implicit);
  eb_corotation_destroy(c->corotation);
  free(c->rotations);
  free(c);
}

static eb_error prepare_estimates(corotational *c, const eb_solver *solver) {
  const eb_scene *scene = solver->scene;
  const char *rotation = eb_values_text(solver->options, "rotation");
  if (strcmp(rotation, "points") == 0) return EB_OK;
  c->method = eb_rotation_find(rotation);
  c->cold = strcmp(eb_values_text(solver->options, "rotation_start"), "cold") == 0;
  EB_TRY(eb_error_prefix(eb_corotation_create(scene->mesh, scene->materials, &c->corotation),
                         "rotation=%s", rotation));
  EB_TRY(eb_corotation_track(c->corotation, scene->mesh));
  return EB_NEW(c->rotations, 9 * (size_t)scene->mesh->element_count);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  corotational *c;
  EB_TRY(EB_NEW(c, 1));
  eb_error error = eb_implicit_create(solver, &c->implicit);
  if (error) {
    free(c);
    return error;
  }
  solver->data = c;
  error = prepare_estimates(c, solver);
  if (error) destroy(solver);
  return error;
}

/* What eb_implicit_assemble does, with the rotations of elements. */
static void assemble(corotational *c, const double *x, double mass_scale, double stiffness_scale,
                     eb_step_log *log) {
  eb_implicit *work = &c->implicit;
  eb_log_begin(log, EB_PHASE_ROTATIONS);
  eb_corotation_estimate_elements(c->corotation, c->method, c->cold, x, c->rotations);
  eb_log_end(log, EB_PHASE_ROTATIONS);
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_corotation_assemble(c->corotation, eb_elasticity_mass(work->scene->elasticity), mass_scale,
                         stiffness_scale, work->matrix);
  eb_corotation_gradient(c->corotation, x, work->gradient);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, work->scene->mesh->element_count);
  log->rotations = c->rotations;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  corotational *c = solver->data;
  double mass = 1 + dt * eb_values_real(solver->options, "mass_damping");
  double stiffness = dt * (dt + eb_values_real(solver->options, "stiffness_damping"));
  if (!c->corotation)
    return eb_linearly_implicit_step(&c->implicit, state, dt, mass, stiffness, true, log, reason);
  if (!eb_linearly_implicit_open(&c->implicit, state, dt, mass, stiffness, true, log, reason))
    return EB_OK;
  assemble(c, state->x, mass, stiffness, log);
  EB_TRY(eb_linearly_implicit_close(&c->implicit, state, dt, stiffness, log, reason));
  /* The solve met its tolerance for the matrix of the estimates: one iteration on the equation. */
  if (*reason > 0 && c->method != EB_ROTATION_SVD) *reason = EB_CONVERGED_ITS;
  return EB_OK;
}

const eb_solver_ops eb_solver_corotational = {
    .name = "corotational",
    .summary = "exact corotational elasticity, one linear solve a step (Hecht's baselines)",
    .citation = "Mueller and Gross 2004; Hecht et al. 2012, Section 3.1",
    .capabilities = EB_CAP_TRIANGLES | EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT |
                    EB_CAP_COROTATIONAL | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_IMPLICIT_PENALTY | EB_CAP_CUTTING | EB_CAP_SPRINGS,
    .options = options,
    .accuracy_options = "",
    .memory = &(const eb_memory_model){.linear = EB_LINEAR_CHOICES, .node = -130},
    .time = &(const eb_time_model){.iterations = 1},
    .create = create,
    .step = step,
    .destroy = destroy};
