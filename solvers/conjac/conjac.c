/* ConJac: dynamics condensed onto few nodes, the others follow quasistatically.
 *
 *   J^T (M + beta h^2 H) (J y + c) = J^T (M v0 + h f),   v1 = J y + c,   x1 = x0 + h v1 + gamma p
 *
 * Reference: Weidner, Kim and Sueda 2020, "ConJac: Large Steps in Dynamic Simulation", whose K is
 * -H; derived in conjac.h. y are the velocities of the dynamic nodes and the rates of the joints of
 * rigid bodies that nodes are attached to. J maps them to velocities that leave the linearized
 * forces on the quasistatic nodes unchanged; p = inv(H_qq) f_q drives those forces to zero. Where a
 * body comes to rest it is in the equilibrium of all nodes.
 *
 * The defaults are the paper's method. Beyond it, and off: gamma by a line search, further Newton
 * corrections, a factor that serves several steps (then J lags, and with it the inertia that the
 * unknowns feel; p of the present force still leads to the same equilibrium); in flight the relief
 * of quasistatic nodes from what accelerates a body as a whole (inertia_relief, relief.c); contact
 * a step before a fall ends (predict_contact); further dynamic nodes where the choice leaves rigid
 * motions (add_nodes, rigid_modes.c). Without dynamic nodes the bodies follow their supports
 * quasistatically.
 *
 * The paper says nothing of indefinite H_qq, which its Cholesky factor does not take. Elements of H
 * are made without negative eigenvalues (project=always), as where its materials come from (Smith,
 * De Goes and Kim 2018; Kim, De Goes and Iben 2019). With project=never, the H of the materials,
 * its muscle, bunny and cut bar end in an indefinite matrix; project=auto takes that H in the steps
 * in which both systems are definite. The log of a step declares which it was.
 *
 * Needs: mass, dE/dx and H at the start of the step; every body constrained by scripted, attached
 * or dynamic nodes, or H_qq is singular where no contact and no stress holds it. What begins
 * otherwise is refused; what a cut or the script lets go goes on as far as H_qq is definite.
 * Workspace: H, its rows at nodes that are not quasistatic, its factor, two vectors and one for
 * each unknown.
 * Fails: EB_DIVERGED_NAN when state, forces or solution are not finite; EB_NOT_POSITIVE_DEFINITE
 * when H_qq or the small system is not. The state is then as it was, but for the static solve at
 * the start and for failed corrections after the step. */
#include "solvers/conjac/conjac.h"

#include "problems/base/memory.h"
#include "solvers/common/scene_force.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the dynamic nodes ---- */

/* With no number asked for, as many as fit up to the default. */
static eb_error choose(const eb_solver *solver, eb_node_list *out) {
  const eb_values *values = solver->options;
  static const char *const names[] = {"scene", "random", "farthest", "list"}; /* else all */
  const char *name = eb_values_text(values, "selection");
  int selection = 0;
  while (selection < EB_SELECT_ALL && strcmp(name, names[selection])) selection++;
  eb_node_choice choice = {.selection = (eb_selection)selection,
                           .count = (int32_t)eb_values_int(values, "dynamic"),
                           .list = eb_values_text(values, "nodes"),
                           .spacing = eb_values_real(values, "spacing"),
                           .seed = solver->seed};
  bool listed = eb_values_given(values, "nodes");
  if (listed && !eb_values_given(values, "selection")) choice.selection = EB_SELECT_LIST;
  if (listed && choice.selection != EB_SELECT_LIST && eb_values_given(values, "selection"))
    return EB_ERROR(EB_ERR_USAGE, "conjac: nodes are listed, but selection=%s; use selection=list",
                    eb_values_text(values, "selection"));
  if (choice.selection == EB_SELECT_LIST && !listed)
    return EB_ERROR(EB_ERR_USAGE, "conjac: selection=list lacks the list; add nodes=12+40+99, or "
                                  "take dynamic=0 for none");
  bool counted = choice.selection == EB_SELECT_LIST || choice.selection == EB_SELECT_ALL;
  if (counted && eb_values_given(values, "dynamic"))
    return EB_ERROR(EB_ERR_USAGE, "conjac: selection=%s has its own number; leave out dynamic=%lld",
                    choice.selection == EB_SELECT_ALL ? "all" : "list",
                    (long long)eb_values_int(values, "dynamic"));
  eb_error error = eb_conjac_choose(solver->scene, &choice, out);
  bool fewer = !counted && !eb_values_given(values, "dynamic");
  while (fewer && error && eb_error_kind(error) == EB_ERR_USAGE && choice.count > 0) {
    eb_error_free(error);
    choice.count--;
    error = eb_conjac_choose(solver->scene, &choice, out);
  }
  return error;
}

/* ---- life ---- */

/* The scripted and attached nodes, in the workspace of the partition. */
static const uint8_t *find_boundary(eb_conjac *c) {
  for (int32_t i = 0; i < c->work.nodes; i++)
    c->part.next[i] = c->work.fixed[i] || c->part.attached[i];
  return c->part.next;
}

/* Sorts the nodes of a step into classes. Where the script has let go of nodes, further nodes may
 * have to become dynamic: the only case in which a step allocates. */
static eb_error classify(eb_conjac *c, const eb_state *state, eb_step_log *log) {
  const uint8_t *boundary = find_boundary(c);
  bool freed = false;
  for (int32_t i = 0; i < c->work.nodes; i++) freed |= c->boundary[i] && !boundary[i];
  if (freed) return eb_conjac_constrain_rigid_modes(c, boundary, state->x, state->q, log);
  eb_conjac_partition(c, state->q);
  return EB_OK;
}

static void release_mesh(eb_conjac *c) {
  eb_conjac_release_columns(c);
  eb_multifrontal_destroy(c->factor);
  eb_block_matrix_destroy(c->rows);
  eb_implicit_clear(&c->work);
  free(c->root_mass);
  free(c->trial);
  free(c->relieved);
  eb_relief_destroy(c->relief);
  free(c->friction);
  free(c->correction);
  free(c->boundary);
  c->factor = NULL;
  c->rows = NULL;
  c->root_mass = c->trial = c->relieved = c->correction = NULL;
  c->relief = NULL;
  c->friction = NULL;
  c->boundary = NULL;
}

/* Everything that follows from the mesh, for the step that begins at `time` with positions x. */
static eb_error build(eb_conjac *c, const eb_solver *solver, double time, const double *x,
                      const double *angles, eb_step_log *log) {
  const eb_scene *scene = solver->scene;
  EB_TRY(eb_implicit_create(solver, &c->work));
  EB_TRY(eb_block_matrix_like(c->work.matrix, &c->rows));
  EB_TRY(EB_NEW(c->root_mass, c->work.nodes));
  EB_TRY(EB_NEW(c->trial, c->work.size));
  EB_TRY(EB_NEW(c->relieved, c->work.size));
  if (c->settings.relief) EB_TRY(eb_relief_create(scene->mesh, &c->relief));
  EB_TRY(EB_NEW(c->friction, c->work.touch_room));
  EB_TRY(EB_NEW(c->correction, 2 * c->work.size));
  c->constant = c->correction + c->work.size;
  EB_TRY(EB_NEW(c->boundary, c->work.nodes));
  EB_TRY(eb_conjac_allocate_columns(c));
  EB_TRY(eb_multifrontal_create(&(eb_multifrontal_settings){.threads = solver->threads},
                                c->work.matrix, log, &c->factor));
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double lo[3], hi[3], square = 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) square += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  c->diagonal = sqrt(square);
  for (int32_t i = 0; i < c->work.nodes; i++) c->root_mass[i] = sqrt(mass[i]);
  c->potential = (eb_potential){.elasticity = scene->elasticity,
                                .nodes = c->work.nodes,
                                .elastic_scale = eb_potential_elastic_scale(scene),
                                .force = c->relieved};
  eb_scene_boundary(scene, time + scene->dt, c->work.fixed, c->work.target);
  EB_TRY(eb_conjac_constrain_rigid_modes(c, find_boundary(c), x, angles, log));
  double blocks = c->work.matrix->start[c->work.matrix->rows];
  double pattern = sizeof(int32_t) * (blocks + 2 * (double)c->work.matrix->rows);
  eb_log_memory(log, EB_MEMORY_MATRIX, pattern + 2 * 9 * sizeof(double) * blocks);
  eb_log_memory(log, EB_MEMORY_ELEMENTS,
                2 * ((double)c->stride + 1) * (double)c->work.size * sizeof *c->jacobian);
  return EB_OK;
}

static void release(eb_conjac *c) {
  release_mesh(c);
  eb_node_list_clear(&c->chosen);
  free(c);
}

static eb_conjac_projection projection_of(const eb_values *values) {
  const char *name = eb_values_text(values, "project");
  return !strcmp(name, "never")    ? EB_CONJAC_PROJECT_NEVER
         : !strcmp(name, "always") ? EB_CONJAC_PROJECT_ALWAYS
                                   : EB_CONJAC_PROJECT_AUTO;
}

static eb_error conjac_create(eb_solver *solver, const eb_scene *scene) {
  const eb_values *values = solver->options;
  const char *text = eb_values_text(values, "gamma");
  bool search = !strcmp(text, "linesearch");
  char *end;
  double gamma = strtod(text, &end);
  if (!search && (end == text || *end || !(gamma >= 0 && gamma <= 2)))
    return EB_ERROR(EB_ERR_USAGE,
                    "conjac: gamma is '%s'; give a number from 0 to 2 or gamma=linesearch", text);
  eb_conjac *c;
  EB_TRY(EB_NEW(c, 1));
  c->settings = (eb_conjac_settings){.beta = eb_values_real(values, "beta"),
                                     .search = search,
                                     .gamma = gamma,
                                     .newton_steps = eb_values_int(values, "newton_steps"),
                                     .keep_factor = eb_values_int(values, "keep_factor"),
                                     .friction_passes = eb_values_int(values, "friction_passes"),
                                     .project = projection_of(values),
                                     .relief = eb_values_bool(values, "inertia_relief"),
                                     .predict = eb_values_bool(values, "predict_contact"),
                                     .add = eb_values_bool(values, "add_nodes")};
  c->equilibrate_first = !strcmp(eb_values_text(values, "initial"), "static");
  eb_error error = choose(solver, &c->chosen);
  if (!error) error = build(c, solver, 0, scene->x0, NULL, solver->setup_log);
  if (!error && !c->settings.add) error = eb_conjac_require_held_bodies(c, scene->x0);
  if (error)
    release(c);
  else
    solver->data = c;
  return error;
}

static void conjac_destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- cuts ---- */

static eb_error conjac_rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log) {
  eb_conjac *c = solver->data;
  int32_t old_nodes = c->work.nodes;
  c->work.scene = solver->scene;
  /* Of a dynamic node that a cut has parted all copies are dynamic: each keeps its part of the
   * inertia, and which of them the choice meant there is no telling. */
  const int32_t *origin = c->work.scene->script.node_origin;
  int32_t nodes = c->work.scene->mesh->node_count, count = c->chosen.count, *grown;
  EB_TRY(EB_NEW(grown, count + nodes - old_nodes));
  memcpy(grown, c->chosen.nodes, (size_t)count * sizeof *grown);
  for (int32_t i = old_nodes; i < nodes; i++) {
    bool copied = false;
    for (int32_t k = 0; k < c->chosen.count; k++) copied |= origin[c->chosen.nodes[k]] == origin[i];
    if (copied) grown[count++] = i;
  }
  free(c->chosen.nodes);
  c->chosen = (eb_node_list){.count = count, .nodes = grown};
  release_mesh(c);
  return build(c, solver, state->time, state->x, state->q, log);
}

/* ---- towards equilibrium of the quasistatic nodes ----
 *
 * x_q += length p,   p = inv(H_qq) f_q
 *
 * with H_qq made definite element by element is a direction in which the potential energy
 *   Pi(x_q) = E(x) + (energy of contacts) - f_ext . x
 * falls, for its slope is -f_q . p = -f_q . inv(H_qq) f_q < 0. |f_q| need not: the slope of |f_q|^2
 * / 2 is -f_q . H' p with the true Hessian H', which is definite only near minima of Pi. So the
 * line search looks at Pi. In a step p is computed at x0 and used at x0 + h v, where f_q differs by
 * terms of order h^2 only, since (H v)_q = 0; should it not lower Pi there, the length is 0 and the
 * next step's p knows better.
 *
 * Reference: Weidner, Kim and Sueda 2020, Equation 13, whose length is gamma; Armijo's rule.
 * Needs: the factor of H_qq.
 * Workspace: a vector.
 * Fails: EB_DIVERGED_NAN, as the factorization does. */

/* Armijo's constant; rounding of Pi in eps of its terms, a rise of which is none. */
static const double sufficient = 1e-4, noise_digits = 4;
enum { MAX_HALVINGS = 8, MAX_STATIC_ITERATIONS = 200 };

/* ---- forces ---- */

/* The nodes that are inside implicit colliders at x. */
static void find_contact_at(eb_conjac *c, double time, const double *x, eb_step_log *log) {
  eb_implicit *work = &c->work;
  if (work->touch_room == 0) return;
  eb_log_begin(log, EB_PHASE_DETECT);
  work->touch_count = eb_implicit_touches(work->scene, time, x, work->touch_room, work->touches);
  eb_log_end(log, EB_PHASE_DETECT);
}

/* work.rhs = f of the equation of motion; c->relieved = f_ext - M a, the external forces as
 * quasistatic nodes see them: those of unsupported bodies are balanced by the inertia of their
 * rigid acceleration (relief.c). A body in contact is supported. Returns false when f is not
 * finite. */
static bool net_force(eb_conjac *c, const double *x) {
  eb_implicit *work = &c->work;
  eb_touches_gradient(work->touches, work->touch_count, work->gradient);
  for (int64_t k = 0; k < work->size; k++) work->rhs[k] = work->force[k] - work->gradient[k];
  memcpy(c->relieved, work->force, (size_t)work->size * sizeof *work->force);
  if (c->relief)
    eb_relief_apply(c->relief, &c->part, work->touches, work->touch_count,
                    eb_elasticity_mass(work->scene->elasticity), x, work->rhs, c->relieved);
  return eb_all_finite(work->size, work->rhs);
}

/* f_q . p = f_q . inv(H_qq) f_q, J: minus the slope of the potential energy along p. */
static double work_of_correction(const eb_conjac *c) {
  double sum = 0;
  for (int64_t k = 0; k < c->work.size; k++)
    sum += (c->relieved[k] - c->work.gradient[k]) * c->correction[k];
  return sum;
}

/* Writes f_q, with 0 on other nodes, to c->correction, where condense.c solves for p. Returns
 * |f_q|_2, N. */
static double residual(const eb_conjac *c) {
  for (int32_t i = 0; i < c->part.nodes; i++) {
    bool quasistatic = c->part.class[i] == EB_NODE_QUASISTATIC;
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++)
      c->correction[k] = quasistatic ? c->relieved[k] - c->work.gradient[k] : 0;
  }
  return eb_norm(c->work.size, c->correction);
}

/* ---- the line search ---- */

static eb_potential_value value_at(eb_conjac *c, double time, const double *x, eb_step_log *log) {
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, c->work.scene->mesh->element_count);
  eb_potential_value value = eb_potential_at(&c->potential, x);
  find_contact_at(c, time, x, log);
  double contact = eb_touches_energy(c->work.touches, c->work.touch_count);
  return (eb_potential_value){value.value + contact, value.magnitude + contact};
}

/* x_q += length p */
static void add_correction(const eb_conjac *c, double length, double *x) {
  for (int64_t k = 0; k < c->work.size; k++) x[k] += length * c->correction[k];
}

static double line_search(eb_conjac *c, const eb_state *state, double slope, eb_step_log *log) {
  const double *x = state->x;
  c->potential.fixed = c->part.class;
  c->potential.origin = c->potential.predicted = x;
  eb_potential_value here = value_at(c, state->time, x, log);
  double noise = noise_digits * DBL_EPSILON * here.magnitude, length = 1;
  for (int k = 0; k <= MAX_HALVINGS; k++, length *= 0.5) {
    memcpy(c->trial, x, (size_t)c->work.size * sizeof *x);
    add_correction(c, length, c->trial);
    eb_potential_value there = value_at(c, state->time, c->trial, log);
    eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
    if (there.value - here.value <= sufficient * length * slope + noise) return length;
  }
  return 0;
}

/* The step length along p: gamma, or that of the line search from there, given f_q . p. */
static double step_length(eb_conjac *c, const eb_state *state, double work_of_p, eb_step_log *log) {
  if (!c->settings.search) return c->settings.gamma;
  eb_log_begin(log, EB_PHASE_LINESEARCH);
  double length = line_search(c, state, -work_of_p, log);
  eb_log_end(log, EB_PHASE_LINESEARCH);
  return length;
}

/* ---- corrections ---- */

/* f and, when asked, H_qq at x and time t. */
static eb_error linearize(eb_conjac *c, const eb_state *state, bool matrix, eb_step_log *log,
                          eb_reason *reason) {
  eb_implicit *work = &c->work;
  eb_log_begin(log, EB_PHASE_RHS);
  eb_logged_scene_force(work->scene, state->time, state->x, state->v, work->force, log);
  find_contact_at(c, state->time, state->x, log);
  eb_log_end(log, EB_PHASE_RHS);
  /* Definite, so that p goes down in Pi, unless that is never wanted. */
  bool project = c->settings.project != EB_CONJAC_PROJECT_NEVER;
  if (matrix)
    eb_implicit_assemble(work, state->x, 0, 1, project, log);
  else
    eb_implicit_gradient(work, state->x, log);
  *reason = net_force(c, state->x) ? EB_RUNNING : EB_DIVERGED_NAN;
  if (*reason < 0) return EB_OK;
  eb_log_residual(log, residual(c));
  return matrix ? eb_conjac_factor(c, false, log, reason) : EB_OK;
}

/* One correction. Returns the length of its longest entry through *longest. */
static eb_error correct(eb_conjac *c, eb_state *state, bool matrix, double *longest,
                        eb_step_log *log, eb_reason *reason) {
  const double *p = c->correction;
  EB_TRY(linearize(c, state, matrix, log, reason));
  if (*reason < 0) return EB_OK;
  EB_TRY(eb_conjac_correct(c, log, reason));
  if (*reason < 0) return EB_OK;
  double work = work_of_correction(c);
  double length = step_length(c, state, work, log);
  add_correction(c, length, state->x);
  *longest = 0;
  for (int64_t k = 0; k < c->work.size; k++) *longest = fmax(*longest, fabs(length * p[k]));
  return EB_OK;
}

/* The same to the end, with a line search each time: the scene's start may be far from equilibrium,
 * and J and p describe only what is near. */
static eb_error equilibrate(eb_conjac *c, eb_state *state, eb_step_log *log, eb_reason *reason) {
  const double close = 1e-12; /* last correction over the diagonal */
  bool search_in_steps = c->settings.search;
  double longest = INFINITY;
  eb_error error = EB_OK;
  *reason = EB_CONVERGED_ITS;
  c->settings.search = true;
  for (int k = 0; k < MAX_STATIC_ITERATIONS && !error && *reason > 0; k++) {
    error = correct(c, state, true, &longest, log, reason);
    log->iterations++;
    if (longest <= close * c->diagonal) break;
  }
  c->settings.search = search_in_steps;
  c->factor_valid = false;
  return error;
}

/* ---- positions ---- */

/* ---- the step ----
 *
 *   classify   who is scripted, attached, dynamic or quasistatic now   partition.c
 *   factor     H at x0, its rows at n kept, H_qq factored              condense.c
 *   condense   J and p; c where something is known to move             Equations 6 and 12
 *   reduce     the equation of motion of y, friction, v1 = J y + c     Equations 7 and 11
 *   finish     x1 = x0 + h v1 + gamma p                                Equation 13 */

static bool begin_step(eb_conjac *c, const eb_state *state, double dt, eb_step_log *log) {
  return eb_implicit_begin(&c->work, state, dt, log) &&
         eb_all_finite(state->joint_count, state->q) && eb_all_finite(state->joint_count, state->u);
}

/* f, and the factor unless it can still serve.
 *
 * With a factor that is kept, J and H_qq are those of an earlier x0: forces are of the present,
 * so that the equilibrium that p leads to is the right one, and what lags is how the inertia of
 * quasistatic nodes is felt. */
static eb_error factor_if_outdated(eb_conjac *c, const eb_state *state, bool fresh,
                                   eb_step_log *log, eb_reason *reason) {
  if (fresh)
    eb_implicit_assemble(&c->work, state->x, 0, 1, c->projected, log);
  else
    eb_implicit_gradient(&c->work, state->x, log);
  eb_log_begin(log, EB_PHASE_RHS);
  *reason = net_force(c, state->x) ? EB_RUNNING : EB_DIVERGED_NAN;
  double left = *reason == EB_RUNNING ? residual(c) : NAN;
  if (log->residual_count == 0 && *reason == EB_RUNNING) eb_log_residual(log, left);
  eb_log_end(log, EB_PHASE_RHS);
  if (*reason < 0 || !fresh) return EB_OK;
  c->age = 0;
  return eb_conjac_factor(c, true, log, reason);
}

/* Positions and velocities at the end of the step, given v and p. */
static void finish(eb_conjac *c, eb_state *state, double dt, double work_of_p, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_PROJECT);
  /* x1 = x0 + h v1 (Equation 13 without its correction, which follows). Attached nodes are placed
   * by the joints' new angles, not by their velocities: those are tangents, and bones would grow.
   */
  const eb_implicit *work = &c->work;
  int32_t joints = c->part.joints;
  for (int64_t k = 0; k < work->size; k++) {
    bool scripted = c->part.class[k / 3] == EB_NODE_SCRIPTED;
    state->v[k] = scripted ? work->prescribed[k] : work->unknown[k];
    state->x[k] = scripted ? work->target[k] : state->x[k] + dt * state->v[k];
  }
  for (int32_t j = 0; j < joints; j++) {
    state->u[j] = c->reduced.y[c->part.unknowns - joints + j];
    state->q[j] += dt * state->u[j];
  }
  const eb_articulation *bodies = c->part.scene->rigid.articulation;
  for (int32_t k = 0; bodies && k < eb_articulation_attached(bodies); k++) {
    int32_t node = eb_articulation_node(bodies, k);
    if (c->part.class[node] == EB_NODE_ATTACHED)
      eb_articulation_place(bodies, state->q, k, state->x + 3 * (int64_t)node, NULL);
  }
  state->time += dt;
  state->step++;
  eb_log_end(log, EB_PHASE_PROJECT);
  double length = step_length(c, state, work_of_p, log);
  eb_log_begin(log, EB_PHASE_PROJECT);
  add_correction(c, length, state->x);
  eb_log_end(log, EB_PHASE_PROJECT);
}

/* The contacts of the step with implicit colliders. */
static void find_contact(eb_conjac *c, const eb_state *state, double dt, eb_step_log *log) {
  log->touching = c->settings.predict ? EB_TOUCHING_PREDICTED : EB_TOUCHING_PRESENT;
  if (c->settings.predict)
    eb_implicit_find_touches(&c->work, state, dt, log);
  else
    find_contact_at(c, state->time, state->x, log);
}

/* From the forces to v1, with H as c->projected says; f_q . p through *work_of_p. */
static eb_error find_velocities(eb_conjac *c, const eb_state *state, double dt, bool fresh,
                                double *work_of_p, eb_step_log *log, eb_reason *reason) {
  EB_TRY(factor_if_outdated(c, state, fresh, log, reason));
  if (*reason < 0) return EB_OK;
  EB_TRY(eb_conjac_condense(c, fresh, log, reason));
  if (*reason < 0) return EB_OK;
  *work_of_p = work_of_correction(c);
  eb_conjac_reduce(c, state, dt, fresh, log, reason);
  return EB_OK;
}

static eb_error solve_step(eb_conjac *c, eb_state *state, double dt, eb_step_log *log,
                           eb_reason *reason) {
  /* c is not 0 when something moves. A factor that is kept does not know contacts where there are
   * some, or were. */
  eb_implicit *work = &c->work;
  bool contact_changed = c->had_contact;
  find_contact(c, state, dt, log);
  for (const eb_touch *at = work->touches; at < work->touches + work->touch_count; at++)
    for (int d = 0; d < 3; d++) c->inhomogeneous |= at->velocity[d] != 0;
  c->had_contact = work->touch_count > 0;
  contact_changed |= c->had_contact;
  bool fresh = !c->factor_valid || contact_changed || c->age >= c->settings.keep_factor;
  c->factor_valid = false;
  double work_of_p = 0;
  if (fresh) c->projected = c->settings.project == EB_CONJAC_PROJECT_ALWAYS;
  EB_TRY(find_velocities(c, state, dt, fresh, &work_of_p, log, reason));
  if (fresh && *reason == EB_NOT_POSITIVE_DEFINITE &&
      c->settings.project == EB_CONJAC_PROJECT_AUTO) {
    c->projected = true;
    EB_TRY(find_velocities(c, state, dt, fresh, &work_of_p, log, reason));
  }
  if (*reason < 0) return EB_OK;
  log->linearization.tangent = c->projected ? EB_TANGENT_PROJECTED : EB_TANGENT_EXACT;
  if (!eb_all_finite(c->work.size, c->work.unknown)) {
    *reason = EB_DIVERGED_NAN;
    return EB_OK;
  }
  finish(c, state, dt, work_of_p, log);
  c->factor_valid = true;
  c->age++;
  /* Newton's method on the statics of the quasistatic nodes, a fixed number of steps of it (the
   * paper has none; Equation 13 is one, at gamma, with the force from before the step). Where the
   * factor is kept it is a chord method: the force is new, H_qq is not, and its errors fall
   * linearly. */
  bool matrix = c->settings.keep_factor == 1 || c->had_contact;
  double longest;
  for (int64_t k = 0; k < c->settings.newton_steps && 0 < *reason; k++) {
    EB_TRY(correct(c, state, matrix, &longest, log, reason));
    log->iterations++;
  }
  if (matrix && c->settings.newton_steps > 0) c->factor_valid = false;
  /* What friction has made of the velocities, or a factor of an earlier step, does not solve the
   * equation of this one. */
  if (*reason > 0 && (c->work.touch_count > 0 || !fresh)) *reason = EB_CONVERGED_ITS;
  return EB_OK;
}

static eb_error conjac_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                            eb_reason *reason) {
  eb_conjac *c = solver->data;
  eb_implicit *work = &c->work;
  log->residual_norm = EB_NORM_QUASISTATIC;
  log->equation = EB_EQUATION_REDUCED;
  log->linearization = (eb_linearization){1, c->settings.beta, EB_TANGENT_EXACT};
  log->iterations = 1;
  *reason = EB_DIVERGED_NAN;
  if (!begin_step(c, state, dt, log)) return EB_OK;
  EB_TRY(classify(c, state, log));
  if (c->equilibrate_first) {
    EB_TRY(equilibrate(c, state, log, reason));
    if (*reason < 0) return EB_OK;
    c->equilibrate_first = false;
    *reason = EB_DIVERGED_NAN;
    if (!begin_step(c, state, dt, log)) return EB_OK;
  }
  /* v_s, to work.prescribed: scripted nodes arrive where the script wants them, whatever h is. */
  eb_log_begin(log, EB_PHASE_RHS);
  c->inhomogeneous = false;
  for (int64_t k = 0; k < work->size; k++) {
    if (c->part.class[k / 3] != EB_NODE_SCRIPTED) continue;
    work->prescribed[k] = (work->target[k] - state->x[k]) / dt;
    c->inhomogeneous |= work->prescribed[k] != 0;
  }
  eb_log_end(log, EB_PHASE_RHS);
  return solve_step(c, state, dt, log, reason);
}

/* ---- the solver ---- */

static const eb_option options[] = {
    {.name = "beta",
     .type = EB_OPTION_REAL,
     .fallback = "0.5",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "factor of h^2 H in the equation of motion; more damps"},
    {.name = "gamma",
     .type = EB_OPTION_TEXT,
     .fallback = "0.3333333333333333",
     .unit = "",
     .doc = "share of a Newton step that the quasistatic nodes take towards equilibrium, 0 to 2; "
            "or linesearch"},
    {.name = "newton_steps",
     .type = EB_OPTION_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000,
     .unit = "",
     .doc = "further such steps after each time step"},
    {.name = "keep_factor",
     .type = EB_OPTION_INT,
     .fallback = "1",
     .min = 1,
     .max = 1e9,
     .unit = "",
     .doc = "time steps that a factor and its condensation serve"},
    {.name = "friction_passes",
     .type = EB_OPTION_INT,
     .fallback = "1",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "implicit colliders: how often friction is filtered and projected in a step; 1 is the "
            "paper's, more let bodies stick"},
    {.name = "project",
     .type = EB_OPTION_CHOICE,
     .fallback = "always",
     .choices = "auto|always|never",
     .unit = "",
     .doc = "make each element's Hessian positive semi-definite; auto: where a step fails without"},
    {.name = "inertia_relief",
     .type = EB_OPTION_BOOL,
     .fallback = "false",
     .unit = "",
     .doc = "bodies that nothing holds: quasistatic nodes do not bear what accelerates the body as "
            "a whole (not in the paper)"},
    {.name = "predict_contact",
     .type = EB_OPTION_BOOL,
     .fallback = "false",
     .unit = "",
     .doc =
         "implicit colliders push nodes that would be inside at the end of the step, too (not in "
         "the paper)"},
    {.name = "add_nodes",
     .type = EB_OPTION_BOOL,
     .fallback = "false",
     .unit = "",
     .doc =
         "where too few nodes hold a body, further ones become dynamic, also behind cuts (not in "
         "the paper)"},
    {.name = "initial",
     .type = EB_OPTION_CHOICE,
     .fallback = "none",
     .choices = "none|static",
     .unit = "",
     .doc = "static: in the first step the quasistatic nodes first find their equilibrium"},
    {.name = "selection",
     .type = EB_OPTION_CHOICE,
     .fallback = "scene",
     .choices = "scene|random|farthest|list|all",
     .unit = "",
     .doc = "dynamic nodes: the scene's, then random ones; random; far apart; as listed; all"},
    {.name = "dynamic",
     .type = EB_OPTION_INT,
     .fallback = "4",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "their number; when not given, fewer where so many do not fit"},
    {.name = "nodes",
     .type = EB_OPTION_TEXT,
     .fallback = "",
     .unit = "",
     .doc = "selection=list: numbers from 0, 12+40+99"},
    {.name = "spacing",
     .type = EB_OPTION_REAL,
     .fallback = "0.1",
     .min = 0,
     .max = 1,
     .unit = "",
     .doc = "least distance at rest of random ones, over the diagonal of the rest box"},
    {0}};

const eb_solver_ops eb_solver_conjac = {
    .name = "conjac",
    .summary = "dynamics condensed onto few nodes, the others quasistatic (ConJac)",
    .citation = "Weidner, Kim and Sueda 2020",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT | EB_CAP_TRIANGLES |
                    EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED |
                    EB_CAP_COLLIDERS | EB_CAP_IMPLICIT_PENALTY | EB_CAP_CUTTING |
                    EB_CAP_ARTICULATION,
    .options = options,
    .exact = "selection=all,beta=1",
    .accuracy_options = "",
    .memory =
        &(const eb_memory_model){
            .block = 204, .factor = 1, .updates = 1, .workspace = 0.45, .margin = 0.15},
    .create = conjac_create,
    .update = EB_UPDATE_CORRECTED,
    .step = conjac_step,
    .destroy = conjac_destroy,
    .rebuild = conjac_rebuild};
