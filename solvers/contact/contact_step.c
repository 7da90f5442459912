/* The contact solvers: one step around five methods (method.h), linearly implicit Euler with
 * contact as constraints on the velocities.
 *
 *   (M + h^2 K(x0)) v1 = M v0 + h f + H^T r,   x1 = x0 + h v1,
 *
 * with the contact law of problems/contact/problem.h; solved, checked for collisions and
 * relinearized until the motion from x0 to x1 is free of them.
 *
 *   contact-cr        conjugate residuals, cr.c        Verschoor and Jalba 2019
 *   contact-al        augmented Lagrangian, al.c       after Verschoor and Jalba 2019
 *   contact-ica       constraint anticipation, ica.c   Otaduy, Tamstorf, Steinemann and Gross 2009
 *   contact-sp        staggered projections, sp.c      Kaufman, Sueda, James and Pai 2008
 *   contact-delassus  the reduced problem, delassus.c  Acary, Bremond and Huber 2018
 *
 * Reference: Verschoor and Jalba 2019, Algorithm 1, lines 4 to 30, for a method that solves the
 * linearized problem of Equation 20 as a whole:
 *   assemble A and b; list the candidates; take the constraints of the last step over, with their
 * forces as warm start; then outer iterations: solve, detect collisions, update the active set
 * (active_set.c), until nothing changes. The tangential displacement of every contact counts from
 * the start of the step (c_t holds prescribed motion alone), also of a new one: the paper subtracts
 * the displacement up to the impact there, which differs by less than a step's sliding.
 *
 * drift=carried is ours. A solution leaves each contact that rests a slip of up to eps2, m, and the
 * next step begins at the velocities that it has left: the slip is the same in every step, a motion
 * of eps2 / h for ever where the method finds it good each time. So what a contact has slipped, s,
 * counts in the next step, u_t = (motion) + s: rest takes it back, and what stays after any number
 * of steps is the slip of one. Solved to eps2 / 2, with s cut to eps2 / 2, the motion of a step
 * stays within eps2. s is that of a bristle between the two, whose foot follows when it is cut. A
 * contact that moves by more than eps2 in a step has none, as friction opposes its motion alone.
 * contact-sp has it, since its programs begin at the motion of the last step and end at the first
 * that is good; the others come to rest within far less than eps2.
 *
 * A and b are those of Equations 4 and 5 for nodes, without the damping matrix C_d; the rows of
 * free bodies (system.h) are the Newton-Euler equations in one semi-implicit step.
 *
 * Needs: what eb_implicit (mass, force, its gradient at x0) and eb_collisions need; a start without
 * intersections; free bodies that share no element with other nodes.
 * Workspace: A and ten numbers a row, surfaces and candidates, and some 600 bytes a constraint that
 * grow with the most there ever were.
 * Fails: EB_DIVERGED_NAN when state, forces or solution are not finite; EB_DIVERGED_MAX_IT after
 * max_rounds outer iterations, or when the method gives up; EB_DIVERGED_BREAKDOWN when the method
 * stagnates away from the constraints or there are too many candidates; else as the method does.
 * The state is then as it was, and the next step starts without constraints. */
#include "solvers/contact/method.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "solvers/common/linearly_implicit.h"
#include "solvers/contact/active_set.h"
#include "solvers/contact/light_bodies.h"
#include "problems/contact_record.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/linear.h"
#include "solvers/registry.h"

#include <math.h>
#include <string.h>

/* ---- the linear system: set-up ---- */

/* Rows of attached nodes are taken out of A. An element between one of them and a free node
 * would pull at the free one alone, without the reaction on the body: momentum would not be
 * conserved. */
static eb_error check_elements(const eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  const int32_t *of = scene->rigid.free_bodies->of_node;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *node = mesh->elements + (int64_t)e * (int)mesh->type;
    for (int k = 1; k < (int)mesh->type; k++)
      if (of[node[k]] != of[node[0]])
        return EB_ERROR(EB_ERR_UNSUPPORTED,
                        "element %d joins nodes %d and %d, of which one rides on a rigid body and "
                        "the other does not; part the bodies, or make both rigid",
                        (int)e, (int)node[0], (int)node[k]);
  }
  return EB_OK;
}

static eb_error fill_extended(const eb_block_matrix *from, eb_block_matrix *m) {
  int32_t blocks = from->start[from->rows], more = m->rows - from->rows;
  EB_TRY(EB_NEW(m->start, (size_t)m->rows + 1));
  EB_TRY(EB_NEW(m->diagonal, m->rows));
  EB_TRY(EB_NEW(m->column, (size_t)blocks + (size_t)more));
  EB_TRY(EB_NEW(m->values, 9 * ((size_t)blocks + (size_t)more)));
  memcpy(m->start, from->start, ((size_t)from->rows + 1) * sizeof *m->start);
  memcpy(m->diagonal, from->diagonal, (size_t)from->rows * sizeof *m->diagonal);
  memcpy(m->column, from->column, (size_t)blocks * sizeof *m->column);
  for (int32_t k = 0; k < more; k++) {
    m->start[from->rows + k + 1] = blocks + k + 1;
    m->diagonal[from->rows + k] = blocks + k;
    m->column[blocks + k] = from->rows + k;
  }
  return EB_OK;
}

/* Gives the pattern rows for the bodies, a diagonal block each. The blocks of nodes keep their
 * places, so that the elasticity can assemble into the larger matrix as into its own. */
static eb_error extend(int32_t rows, eb_block_matrix **matrix) {
  eb_block_matrix *larger = NULL;
  EB_TRY(EB_NEW(larger, 1));
  larger->rows = rows;
  eb_error error = fill_extended(*matrix, larger);
  if (error) {
    eb_block_matrix_destroy(larger);
    return error;
  }
  eb_block_matrix_destroy(*matrix);
  *matrix = larger;
  return EB_OK;
}

static void clear_system(eb_contact_system *system) {
  eb_implicit_clear(&system->implicit);
  free(system->known);
  free(system->value);
  free(system->b);
  free(system->x);
  free(system->pose);
  *system = (eb_contact_system){0};
}

static eb_error create_system(const eb_solver *solver, eb_contact_system *out) {
  const eb_scene *scene = solver->scene;
  *out = (eb_contact_system){.bodies = scene->rigid.free_bodies, .nodes = scene->mesh->node_count};
  out->body_count = out->bodies ? out->bodies->count : 0;
  out->rows = out->nodes + 2 * out->body_count;
  EB_TRY(eb_implicit_create(solver, &out->implicit));
  eb_error error = out->bodies ? check_elements(scene) : EB_OK;
  if (!error && out->bodies) error = extend(out->rows, &out->implicit.matrix);
  if (!error) error = EB_NEW(out->known, out->rows);
  if (!error) error = EB_NEW(out->value, 3 * (size_t)out->rows);
  if (!error) error = EB_NEW(out->b, 3 * (size_t)out->rows);
  if (!error) error = EB_NEW(out->x, 3 * (size_t)out->nodes);
  if (!error) error = EB_NEW(out->pose, 7 * (size_t)out->body_count);
  if (error) clear_system(out);
  return error;
}

/* ---- the linear system: A and b ---- */

/* Force (N) and torque about its centre (N m) of every body, into the places of its rows in b.
 * Gravity acts on body.mass, the mass of the solid; what else acts on nodes (scripted forces,
 * penalties) acts where they are. */
static void sum_loads(eb_contact_system *system) {
  const eb_scene *scene = system->implicit.scene;
  const double *mass = eb_elasticity_mass(scene->elasticity);
  double *loads = system->b + 3 * (int64_t)system->nodes;
  for (int32_t b = 0; b < system->body_count; b++)
    for (int d = 0; d < 3; d++) {
      loads[6 * b + d] = system->bodies->body[b].mass * scene->gravity[d];
      loads[6 * b + 3 + d] = 0;
    }
  for (int32_t i = 0; i < system->nodes; i++) {
    int32_t b = eb_contact_system_body(system, i);
    if (b < 0) continue;
    const double *centre = system->state->pose + 7 * (int64_t)b;
    double f[3], arm[3], turn[3];
    for (int d = 0; d < 3; d++) {
      f[d] = system->implicit.force[3 * (int64_t)i + d] - mass[i] * scene->gravity[d];
      arm[d] = system->state->x[3 * (int64_t)i + d] - centre[d];
    }
    eb_cross3(arm, f, turn);
    eb_add3(1, f, loads + 6 * (int64_t)b);
    eb_add3(1, turn, loads + 6 * (int64_t)b + 3);
  }
}

/* Newton and Euler for one body, with velocities at the end as unknowns and forces at the start:
 *
 *   m V1 = m V0 + h F,   I W1 = I W0 + h (T - W0 x I W0),   I = R I0 R^T at the start.
 *
 * The gyroscopic torque stands on the right, explicitly: with it in A the matrix would lose its
 * symmetry. It does no work on W0 and turns the spin by h |W| a step. F and T are in b. */
static void body_rows(eb_contact_system *system, int32_t b) {
  const eb_free_body *body = system->bodies->body + b;
  const double *twist = system->state->twist + 6 * (int64_t)b;
  eb_block_matrix *A = system->implicit.matrix;
  int64_t row = system->nodes + 2 * (int64_t)b;
  double *linear = A->values + 9 * (int64_t)A->diagonal[row], *inertia = linear + 9;
  double *force = system->b + 3 * row, *torque = force + 3, momentum[3], gyroscopic[3];
  for (int d = 0; d < 9; d++) linear[d] = d % 4 ? 0 : body->mass;
  eb_free_body_inertia(body, system->state->pose + 7 * (int64_t)b, inertia);
  eb_turn3(inertia, twist + 3, momentum);
  eb_cross3(twist + 3, momentum, gyroscopic);
  for (int d = 0; d < 3; d++) {
    force[d] = body->mass * twist[d] + system->dt * force[d];
    torque[d] = momentum[d] + system->dt * (torque[d] - gyroscopic[d]);
  }
}

static bool assemble(eb_contact_system *system, const eb_state *state, double dt,
                     eb_step_log *log) {
  eb_implicit *work = &system->implicit;
  system->state = state;
  system->dt = dt;
  if (!eb_implicit_begin(work, state, dt, log)) return false;
  eb_implicit_assemble(work, state->x, 1, dt * dt, true, log);
  eb_log_begin(log, EB_PHASE_RHS);
  eb_linearly_implicit_rhs(work, system->state, system->dt);
  memset(system->known, 0, (size_t)system->rows);
  memset(system->value, 0, 3 * (size_t)system->rows * sizeof *system->value);
  memcpy(system->b, work->rhs, (size_t)work->size * sizeof *system->b);
  for (int32_t i = 0; i < system->nodes; i++) {
    bool attached = eb_contact_system_body(system, i) >= 0;
    system->known[i] = attached || work->fixed[i];
    if (work->fixed[i] && !attached)
      memcpy(system->value + 3 * (int64_t)i, work->prescribed + 3 * (int64_t)i,
             3 * sizeof *system->value);
  }
  sum_loads(system);
  for (int32_t b = 0; b < system->body_count; b++) body_rows(system, b);
  eb_block_constrain(work->matrix, system->known, system->value, system->b);
  bool finite = eb_all_finite(3 * (int64_t)system->rows, system->b);
  eb_log_end(log, EB_PHASE_RHS);
  return finite;
}

/* ---- the linear system: velocities and positions ---- */

/* The motion of the last step goes on. Gravity alone changes it by h^2 g in position, which the
 * boxes allow for. */
static void guess(const eb_contact_system *system, double *v) {
  for (int64_t k = 0; k < 3 * (int64_t)system->nodes; k++)
    v[k] = system->known[k / 3] ? system->value[k] : system->state->v[k];
  if (system->body_count)
    memcpy(v + 3 * (int64_t)system->nodes, system->state->twist,
           6 * (size_t)system->body_count * sizeof *v);
}

/* The scripted nodes end where the script puts them, not at x + h v, which is that only up to
 * rounding: runs do not drift. Bodies turn by the exponential of h W (eb_free_body_advance), so
 * that their shape stays exactly what it was; their nodes then are off x + h (V + W x r) by h^2
 * |W|^2 r / 2, which the next outer iteration takes into c. */
static void move(eb_contact_system *system, const double *v) {
  const eb_state *state = system->state;
  const eb_implicit *work = &system->implicit;
  for (int64_t k = 0; k < 3 * (int64_t)system->nodes; k++)
    system->x[k] = work->fixed[k / 3] ? work->target[k] : state->x[k] + system->dt * v[k];
  for (int32_t b = 0; b < system->body_count; b++)
    eb_free_body_advance(state->pose + 7 * (int64_t)b, v + 3 * (system->nodes + 2 * (int64_t)b),
                         system->dt, system->pose + 7 * (int64_t)b);
  if (system->bodies)
    eb_free_bodies_place(system->bodies, work->scene->mesh->X, system->pose, NULL, system->x, NULL);
}

/* ---- the solver: set-up ---- */

/* Conjugate gradients for the unconstrained velocity end at this part of eps1: lower, as Section
 * 6.2.2 has it without a figure, so that the contacts are all that is left to solve. */
static const double unconstrained_part = 0.5;
/* Of eps2: what a solve may leave, and a contact carry on, where drift is carried. */
static const double carried_part = 0.5;
/* A solve that stagnates is good when it meets the constraints to so many tolerances. */
static const double stagnated_slack = 2;

typedef struct contact_step {
  const eb_contact_method *method;
  void *method_data;
  eb_contact_system system;
  eb_contact_surface surface;
  eb_active_set active;
  eb_contact_problem *problem;
  eb_contact_tolerance tolerance; /* of the present step; eps1 absolute */
  double most_eps1;               /* of tolerance_kind=body */
  int64_t max_iterations;         /* outer ones */
  bool to_the_gap;                /* outer iterations end by the gaps of contacts too */
  bool carries_drift;
  eb_linear *unconstrained; /* or NULL: the guess is the motion of the last step */
  double *v;                /* 3 rows */
  int32_t room;
  double *r;    /* 3 room */
  double *work; /* 3 rows + 3 room */
  eb_contact_record record;
  eb_pair *pair;                       /* room; of the record, as all below */
  double *weight, *frame, *c, *mu, *u; /* 4, 9, 3, 1, 3 room */
} contact_step;

enum { FIRST_ROOM = 64 };

/* Makes room in the arrays of constraints for so many. */
static eb_error reserve(contact_step *step, int32_t room) {
  int32_t before = step->room;
  if (room <= before) return EB_OK;
  room = room < 2 * before ? 2 * before : room;
  int64_t rows = 3 * (int64_t)step->system.rows;
  EB_TRY(EB_CONTACT_GROW(step->r, 3, before, room));
  EB_TRY(eb_contact_grow((void **)&step->work, rows + 3 * (int64_t)before, rows + 3 * (int64_t)room,
                         sizeof *step->work));
  EB_TRY(EB_CONTACT_GROW(step->pair, 1, before, room));
  EB_TRY(EB_CONTACT_GROW(step->weight, 4, before, room));
  EB_TRY(EB_CONTACT_GROW(step->frame, 9, before, room));
  EB_TRY(EB_CONTACT_GROW(step->c, 3, before, room));
  EB_TRY(EB_CONTACT_GROW(step->mu, 1, before, room));
  EB_TRY(EB_CONTACT_GROW(step->u, 3, before, room));
  step->room = room;
  return EB_OK;
}

/* Conjugate gradients on A alone, for start=unconstrained. */
static eb_error create_unconstrained(contact_step *step, const eb_solver *solver) {
  const eb_values *options = solver->options;
  if (!step->method->unconstrained || strcmp(eb_values_text(options, "start"), "unconstrained"))
    return EB_OK;
  bool relative = !strcmp(eb_values_text(options, "tolerance_kind"), "relative");
  double eps1 = unconstrained_part * fmin(eb_values_real(options, "eps1"), step->most_eps1);
  const eb_linear_settings settings = {.kind = "cg",
                                       .preconditioner = "jacobi",
                                       .rtol = relative ? eps1 : 0,
                                       .atol = relative ? 0 : eps1,
                                       .max_iterations = eb_values_int(options, "max_iterations"),
                                       .threads = solver->threads};
  return eb_linear_create(&settings, step->system.implicit.matrix, NULL, &step->unconstrained);
}

static eb_error allocate(contact_step *step, const eb_solver *solver) {
  double gap = eb_values_real(solver->options, "gap");
  eb_light_body lightest = {.eps1 = INFINITY};
  if (!strcmp(eb_values_text(solver->options, "tolerance_kind"), "body"))
    EB_TRY(eb_contact_lightest(solver->scene, &lightest));
  step->most_eps1 = lightest.eps1;
  EB_TRY(create_system(solver, &step->system));
  EB_TRY(eb_contact_surface_create(solver->scene, &step->surface));
  EB_TRY(eb_active_set_create(&step->surface, &step->system, gap, &step->active));
  EB_TRY(eb_contact_problem_create(FIRST_ROOM, &step->problem));
  EB_TRY(reserve(step, FIRST_ROOM));
  EB_TRY(EB_NEW(step->v, 3 * (size_t)step->system.rows));
  EB_TRY(create_unconstrained(step, solver));
  return step->method->create(solver, step->system.implicit.matrix, &step->method_data);
}

static void destroy(eb_solver *solver) {
  contact_step *step = solver->data;
  if (step->method_data) step->method->destroy(step->method_data);
  eb_linear_destroy(step->unconstrained);
  clear_system(&step->system);
  eb_contact_surface_clear(&step->surface);
  eb_active_set_clear(&step->active);
  eb_contact_problem_destroy(step->problem);
  free(step->v);
  free(step->r);
  free(step->work);
  free(step->pair);
  free(step->weight);
  free(step->frame);
  free(step->c);
  free(step->mu);
  free(step->u);
  free(step);
}

/* By default of contact-sp: its conjugate residuals whose contacts change state meanwhile need not
 * get to the half of eps2 that carrying leaves a solve. */
static bool carries_drift(const eb_contact_method *method, const eb_values *options) {
  const char *drift = eb_values_text(options, "drift");
  bool active_set =
      method == &eb_contact_sp && !strcmp(eb_values_text(options, "inner"), "active-set");
  return !strcmp(drift, "carried") || (!strcmp(drift, "auto") && active_set);
}

static eb_error create(eb_solver *solver, const eb_contact_method *method) {
  contact_step *step = NULL;
  EB_TRY(EB_NEW(step, 1));
  step->method = method;
  step->max_iterations = eb_values_int(solver->options, "max_rounds");
  step->to_the_gap =
      method->nonlinear && !strcmp(eb_values_text(solver->options, "end_test"), "gap");
  step->carries_drift = carries_drift(method, solver->options);
  solver->data = step;
  eb_error error = allocate(step, solver);
  if (error) destroy(solver);
  return error;
}

/* ---- one outer iteration ---- */

/* A method stagnates where constraints contradict each other, as linearizations of different trial
 * motions may: when it ends too far from them, they are relaxed to what it could give. */
static void accept_or_relax(contact_step *step, bool *relaxed, eb_reason *reason) {
  eb_contact_error error;
  double bound = stagnated_slack * step->tolerance.eps2;
  eb_contact_measure_anew(step->problem, step->v, step->r, step->tolerance.eps2, step->work,
                          &error);
  if (error.violation <= bound && error.active <= bound) return;
  if (isfinite(error.violation)) {
    eb_contact_velocity(step->problem, step->v, step->work);
    *relaxed = eb_active_set_relax(&step->active, step->work, step->tolerance.eps2);
  }
  if (!*relaxed) *reason = EB_DIVERGED_BREAKDOWN;
}

/* Solves from the forces that the constraints have, which are then those of the solution. */
static eb_error solve(contact_step *step, eb_step_log *log, bool *relaxed, eb_reason *reason) {
  eb_constraints *set = &step->active.constraints;
  eb_contact_tolerance tolerance = step->tolerance;
  eb_contact_outcome outcome = {0};
  tolerance.max_iterations -= log->iterations;
  if (step->carries_drift) tolerance.eps2 *= carried_part;
  *reason = EB_DIVERGED_MAX_IT;
  if (tolerance.max_iterations <= 0) return EB_OK;
  EB_TRY(reserve(step, set->count));
  for (int32_t k = 0; k < set->count; k++)
    memcpy(step->r + 3 * (int64_t)k, set->all[k].r, sizeof set->all[k].r);
  eb_log_begin(log, EB_PHASE_RESOLVE);
  eb_error error = step->method->solve(step->method_data, step->problem, &tolerance, step->v,
                                       step->r, log, &outcome);
  eb_log_end(log, EB_PHASE_RESOLVE);
  EB_TRY(error);
  for (int32_t k = 0; k < set->count; k++)
    memcpy(set->all[k].r, step->r + 3 * (int64_t)k, sizeof set->all[k].r);
  log->iterations += outcome.iterations;
  eb_log_count(log, EB_COUNT_ACTIVE_SET_CHANGES, (double)outcome.active_set_changes);
  *reason = outcome.reason;
  if (*reason == EB_CONVERGED_STAGNATED) accept_or_relax(step, relaxed, reason);
  if (*reason > 0 && !eb_all_finite(3 * (int64_t)step->system.rows, step->v))
    *reason = EB_DIVERGED_NAN;
  return EB_OK;
}

/* ---- drift ---- */

/* Lets go of that of contacts that move by more than eps2; whether there were such, so that the
 * step has to be solved without it. */
static bool drop_drift(contact_step *step) {
  double *u = step->work;
  bool dropped = false;
  eb_contact_velocity(step->problem, step->v, u);
  for (int32_t k = 0; k < step->problem->count; k++) {
    const eb_constraint *constraint = step->active.constraints.all + k;
    double *drift = step->active.constraints.all[k].drift, slip[2];
    if (eb_dot3(drift, drift) == 0 || !(constraint->r[0] > 0)) continue;
    for (int i = 0; i < 2; i++)
      slip[i] = u[3 * (int64_t)k + 1 + i] - eb_dot3(constraint->frame + 3 + 3 * i, drift);
    if (hypot(slip[0], slip[1]) <= step->tolerance.eps2) continue;
    memset(drift, 0, 3 * sizeof *drift);
    dropped = true;
  }
  return dropped;
}

/* The drift of contact k after a step in which it has moved by u. */
static void carry_drift(contact_step *step, int32_t k, const double u[3]) {
  eb_constraint *constraint = step->active.constraints.all + k;
  const double *t1 = constraint->frame + 3, *t2 = constraint->frame + 6;
  double slip[2] = {eb_dot3(t1, constraint->drift) + u[1], eb_dot3(t2, constraint->drift) + u[2]};
  double length = hypot(slip[0], slip[1]), most = carried_part * step->tolerance.eps2;
  double part = length > most ? most / length : 1;
  if (hypot(u[1], u[2]) > step->tolerance.eps2) part = 0;
  memset(constraint->drift, 0, sizeof constraint->drift);
  eb_add3(part * slip[0], t1, constraint->drift);
  eb_add3(part * slip[1], t2, constraint->drift);
}

/* ---- an outer iteration as a whole ---- */

/* Lines 7 to 27 of Algorithm 1 once: the contact problem linearized at the present motion, its
 * solution, and what that motion collides with. The rotations of free bodies enter at v, so that
 * the next outer iteration is a Newton step on them. */
static eb_error iterate(contact_step *step, eb_step_log *log, bool *accepted, eb_reason *reason) {
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_error error = eb_constraints_problem(&step->active.constraints, &step->surface, &step->system,
                                          step->v, step->problem);
  if (!error && step->method->scaled)
    eb_constraints_count_similar(&step->active.constraints, &step->surface, &step->system,
                                 step->problem);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  EB_TRY(error);
  bool relaxed = false;
  EB_TRY(solve(step, log, &relaxed, reason));
  eb_log_count(log, EB_COUNT_OUTER_ITERATIONS, 1);
  if (*reason <= 0 || relaxed) return EB_OK;
  eb_log_begin(log, EB_PHASE_DETECT);
  move(&step->system, step->v);
  error = eb_contact_surface_move(&step->surface, &step->system);
  step->active.end_test = step->to_the_gap ? step->tolerance.eps2 : 0;
  if (!error) error = eb_active_set_update(&step->active, log, accepted);
  eb_log_end(log, EB_PHASE_DETECT);
  if (!error && *accepted && step->carries_drift) *accepted = !drop_drift(step);
  return error;
}

/* ---- the step ---- */

/* An absolute eps1 is a momentum: on bodies s times as large, of the same density, velocities
 * that meet it are s^3 times as accurate, and methods that are compared at another scale are
 * compared at another tolerance. The relative one is free of that, and so is that of a body where
 * the absolute one is coarse for the lightest. */
eb_contact_tolerance eb_contact_tolerance_asked(const eb_values *options, int64_t n,
                                                const double *b) {
  bool relative = !strcmp(eb_values_text(options, "tolerance_kind"), "relative");
  return (eb_contact_tolerance){.eps1 = eb_values_real(options, "eps1") *
                                        (relative ? eb_norm(n, b) : 1),
                                .eps2 = eb_values_real(options, "eps2"),
                                .cone = 1e-3,
                                .angle = eb_values_real(options, "angle"),
                                .max_iterations = eb_values_int(options, "max_iterations")};
}

/* The velocity without any contact, by conjugate gradients from the guess. Its iterations are the
 * step's, as Section 6.2.2 counts them. */
static eb_error release(contact_step *step, eb_step_log *log, eb_reason *reason) {
  eb_linear_result result = {0};
  EB_TRY(eb_linear_set_matrix(step->unconstrained, step->system.implicit.matrix, log, reason));
  EB_TRY(eb_linear_solve(step->unconstrained, step->system.b, step->v, log, false, &result));
  log->iterations += result.iterations;
  *reason = result.reason;
  return EB_OK;
}

/* Candidates of the guess, and the constraints and forces of the last step. */
static eb_error begin(contact_step *step, eb_step_log *log, eb_reason *reason) {
  guess(&step->system, step->v);
  *reason = EB_RUNNING;
  if (step->unconstrained) EB_TRY(release(step, log, reason));
  if (*reason < 0) return EB_OK;
  eb_log_begin(log, EB_PHASE_DETECT);
  /* A vertex may be found outside its swept box by the distance at which pairs are near, for both
   * features of a pair, and by what gravity adds to the motion of the last step. */
  const double *g = step->system.implicit.scene->gravity;
  double slack = 4 * step->active.gap + 2 * step->system.dt * step->system.dt * sqrt(eb_dot3(g, g));
  move(&step->system, step->v);
  eb_error error = eb_contact_surface_begin(&step->surface, &step->system, slack);
  if (!error) error = eb_active_set_warm_start(&step->active);
  eb_log_end(log, EB_PHASE_DETECT);
  return error;
}

/* Where the last step took several outer iterations, this one will: those until nothing collides
 * any more only have to find constraints and are solved loosely, and the last ones to the
 * tolerance.
 *
 * The loose solves decide only which constraints there are. A result of theirs is never
 * accepted: when nothing collides any more, the tolerance becomes the one that was asked for,
 * and another outer iteration solves and checks again. */
static eb_error iterate_to_free_motion(contact_step *step, eb_step_log *log, eb_reason *reason) {
  const eb_contact_tolerance exact = step->tolerance;
  bool loose = step->active.iteration > 1;
  if (loose) {
    step->tolerance.eps1 *= 50;
    step->tolerance.eps2 *= 3;
    step->tolerance.cone *= 10;
    step->tolerance.angle *= 4;
  }
  for (int64_t i = 0; i < step->max_iterations; i++) {
    bool accepted = false;
    if (i > 0) eb_log_round(log);
    step->active.iteration = i + 1;
    EB_TRY(iterate(step, log, &accepted, reason));
    if ((accepted && !loose) || *reason <= 0) return EB_OK;
    if (!accepted) continue;
    loose = false;
    step->tolerance = exact;
  }
  *reason = EB_DIVERGED_MAX_IT;
  return EB_OK;
}

/* ---- the record ---- */

/* Pair k in nodes of the scene. With g0 = sum_i w_i x_i(0) and d = sum_i w_i (x_i(1) - x_i(0)),
 *
 *   c = (target gap - n . g0, 0, 0),   u = (n, t1, t2) d - c      (m)
 *
 * the displacement d being the one that was, not the one linearized: the audit judges the motion.
 */
static void record_contact(contact_step *step, int32_t k) {
  const eb_contact_surface *surface = &step->surface;
  const eb_constraint *constraint = step->active.constraints.all + k;
  double at[3] = {0}, displacement[3] = {0};
  double *c = step->c + 3 * (int64_t)k, *u = step->u + 3 * (int64_t)k;
  step->pair[k] = eb_contact_surface_pair(surface, &constraint->pair);
  for (int i = 0; i < 4; i++) {
    int32_t vertex = constraint->pair.vertex[i];
    const double *x0 = surface->x0 + 3 * (int64_t)vertex, *x = surface->x + 3 * (int64_t)vertex;
    eb_add3(constraint->weight[i], x0, at);
    for (int d = 0; d < 3; d++) displacement[d] += constraint->weight[i] * (x[d] - x0[d]);
  }
  c[0] = constraint->target_gap - eb_dot3(constraint->frame, at);
  c[1] = c[2] = 0;
  for (int d = 0; d < 3; d++) u[d] = eb_dot3(constraint->frame + 3 * d, displacement) - c[d];
  memcpy(step->weight + 4 * (int64_t)k, constraint->weight, sizeof constraint->weight);
  memcpy(step->frame + 9 * (int64_t)k, constraint->frame, sizeof constraint->frame);
  step->mu[k] = step->problem->mu[k];
  if (step->carries_drift) carry_drift(step, k, u);
}

static void finish(contact_step *step, eb_state *state, eb_step_log *log) {
  const eb_constraints *set = &step->active.constraints;
  int32_t count = set->count;
  eb_contact_error error;
  /* A guess that is good enough has been checked once. */
  if (log->iterations == 0) log->iterations = 1;
  /* The residual that the step leaves: methods log what they iterate on, before they bring its
   * forces onto their cones. */
  eb_contact_measure_anew(step->problem, step->v, step->r, step->tolerance.eps2, step->work,
                          &error);
  eb_log_residual(log, error.residual);
  for (int32_t k = 0; k < count; k++) record_contact(step, k);
  step->record = (eb_contact_record){.count = count,
                                     .step = step->system.dt,
                                     .gap = step->active.gap,
                                     .eps2 = step->tolerance.eps2,
                                     .eps1 = step->tolerance.eps1,
                                     .cone = step->tolerance.cone,
                                     .angle = step->tolerance.angle,
                                     .nodes = step->system.nodes,
                                     .pair = step->pair,
                                     .weight = step->weight,
                                     .frame = step->frame,
                                     .c = step->c,
                                     .mu = step->mu,
                                     .r = step->r,
                                     .u = step->u,
                                     .problem = step->problem,
                                     .v = step->v};
  memcpy(state->x, step->system.x, 3 * (size_t)step->system.nodes * sizeof *state->x);
  memcpy(state->v, step->v, 3 * (size_t)step->system.nodes * sizeof *state->v);
  if (step->system.bodies) {
    memcpy(state->pose, step->system.pose,
           7 * (size_t)step->system.body_count * sizeof *state->pose);
    memcpy(state->twist, step->v + 3 * (int64_t)step->system.nodes,
           6 * (size_t)step->system.body_count * sizeof *state->twist);
    eb_free_bodies_place(step->system.bodies, step->system.implicit.scene->mesh->X, state->pose,
                         state->twist, state->x, state->v);
  }
  state->time += step->system.dt;
  state->step++;
  for (int32_t k = 0; k < count; k++)
    eb_log_count(log, EB_COUNT_ACTIVE_CONSTRAINTS, set->all[k].r[0] > 0);
  eb_log_count(log, EB_COUNT_CONSTRAINTS, count);
  eb_log_count(log, EB_COUNT_COLLISION_CANDIDATES,
               (double)eb_collisions_candidates(step->surface.collisions));
  log->contacts = &step->record;
}

static eb_error take_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                          eb_reason *reason) {
  contact_step *step = solver->data;
  log->residual_norm = EB_NORM_CONTACT;
  log->equation = EB_EQUATION_LINEARIZED;
  log->linearization = (eb_linearization){1, 1, EB_TANGENT_PROJECTED};
  *reason = EB_DIVERGED_NAN;
  step->problem->matrix++;
  if (!assemble(&step->system, state, dt, log)) return EB_OK;
  step->tolerance =
      eb_contact_tolerance_asked(solver->options, 3 * (int64_t)step->system.rows, step->system.b);
  step->tolerance.eps1 = fmin(step->tolerance.eps1, step->most_eps1);
  eb_error error = begin(step, log, reason);
  if (!error && *reason >= 0) error = iterate_to_free_motion(step, log, reason);
  /* More candidates than can be numbered come of velocities that have blown up: an outcome. */
  if (error && eb_error_kind(error) == EB_ERR_LIMIT) {
    eb_error_free(error);
    error = EB_OK;
    *reason = EB_DIVERGED_BREAKDOWN;
  }
  EB_TRY(error);
  if (*reason > 0)
    finish(step, state, log);
  else
    eb_constraints_reset(&step->active.constraints);
  return EB_OK;
}

/* ---- the solvers ---- */

#define COMMON_OPTIONS(drift)                                                                      \
  {"eps1", EB_OPTION_REAL,                                                                         \
   "5e-5", 1e-14,                                                                                  \
   1,      NULL,                                                                                   \
   "",     "tolerance on the residual |b - A v + H^T r|, see tolerance_kind"},                     \
      {"tolerance_kind",                                                                           \
       EB_OPTION_CHOICE,                                                                           \
       "absolute",                                                                                 \
       0,                                                                                          \
       0,                                                                                          \
       "absolute|relative|body",                                                                   \
       "",                                                                                         \
       "eps1 in kg m/s as in the paper, relative to |b|, or absolute and at most 1 % of what "     \
       "gravity gives the lightest body in a step"},                                               \
      {"eps2", EB_OPTION_REAL, "5e-6", 1e-14,                                                      \
       1e-2,   NULL,           "m",    "tolerance on active constraints, the paper's"},            \
      {"angle", EB_OPTION_REAL, "1.2", 1e-3,                                                       \
       90,      NULL,           "deg", "tolerance on the angle between friction and sliding"},     \
      {"gap", EB_OPTION_REAL, "1e-4", 1e-9, 1e-1, NULL, "m", "distance that constraints ask for"}, \
      {"max_iterations",                                                                           \
       EB_OPTION_INT,                                                                              \
       "20000",                                                                                    \
       1,                                                                                          \
       1e9,                                                                                        \
       NULL,                                                                                       \
       "",                                                                                         \
       "give up after so many iterations in one step"},                                            \
      {"drift",                                                                                    \
       EB_OPTION_CHOICE,                                                                           \
       drift,                                                                                      \
       0,                                                                                          \
       0,                                                                                          \
       "carried|left|auto",                                                                        \
       "",                                                                                         \
       "what a sticking contact slips within eps2 is taken back in the next step, or stays and "   \
       "adds up (as the papers have it); auto: carried with inner=active-set"},                    \
  {                                                                                                \
    "max_rounds", EB_OPTION_INT, "60", 1, 1e6, NULL, "",                                           \
        "give up after so many outer iterations, each a solve and a detection, in one step"        \
  }

/* eb_solver_contact_<method>: its own option, and the rest alike. Not colliders: a scene has
 * contact by constraints or by penalty. `factors`: what it holds, in factors of the matrix. */
#define CONTACT_SOLVER(method, own_option, how, source, at_tightest, declared, factors,            \
                       own_caveats, drift)                                                         \
  static const eb_option method##_options[] = {own_option, COMMON_OPTIONS(drift), {0}};            \
  static eb_error create_##method(eb_solver *solver, const eb_scene *scene) {                      \
    (void)scene;                                                                                   \
    return create(solver, &eb_contact_##method);                                                   \
  }                                                                                                \
  const eb_solver_ops eb_solver_contact_##method = {                                               \
      .name = "contact-" #method,                                                                  \
      .summary = "contact as constraints, " how,                                                   \
      .citation = source,                                                                          \
      .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT |                    \
                      EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES |                  \
                      EB_CAP_SCRIPTED | EB_CAP_CONTACT | EB_CAP_FREE_BODIES,                       \
      .options = method##_options,                                                                 \
      .exact = "eps1=1e-11",                                                                       \
      .accuracy_options = "eps1=1e-7..1e-3",                                                       \
      .memory = &(                                                                                 \
          const eb_memory_model){.node = 1900, .block = 72, .factor = (factors), .margin = 0.35},  \
      .create = create_##method,                                                                   \
      .step = take_step,                                                                           \
      .destroy = destroy,                                                                          \
      .tightest = at_tightest,                                                                     \
      .accuracy = declared,                                                                        \
      .caveats = own_caveats}

static const char tight[] = "eps1=1e-9,eps2=1e-8,angle=0.05,max_iterations=1000000";

static const eb_caveat cr_caveats[] = {
    {EB_CAP_CONTACT,
     "iterations end by the paper's own criterion, which asks for residual and gaps and leaves "
     "friction as it is: a class of its own, and audits may find momentum or energy off",
     "polish=true"},
    {0}};

/* To the paper's own criterion it leaves friction as it is (cr.c); polished it is that of the
 * others. */
CONTACT_SOLVER(cr, EB_CONTACT_CR_OPTIONS,
               "solved by conjugate residuals whose contacts change state meanwhile",
               "Verschoor and Jalba 2019",
               "eps1=1e-9,eps2=1e-8,angle=0.05,max_iterations=1000000,polish=true", EB_ACCURACY, 0,
               cr_caveats, "left");
CONTACT_SOLVER(al, EB_CONTACT_AL_OPTIONS,
               "solved by an augmented Lagrangian with conjugate residuals",
               "after Verschoor and Jalba 2019", tight, EB_ACCURACY, 0, NULL, "left");
CONTACT_SOLVER(ica, EB_CONTACT_ICA_OPTIONS, "solved by iterative constraint anticipation",
               "Otaduy et al. 2009; Verschoor and Jalba 2019, Section 6.2.2", tight, EB_ACCURACY, 0,
               NULL, "left");
/* It does not get to the residuals of the others within its iterations. */
CONTACT_SOLVER(sp, EB_CONTACT_SP_OPTIONS, "solved by staggered projections",
               "Kaufman et al. 2008; Verschoor and Jalba 2019, Section 6.2.2",
               "eps1=1e-5,eps2=1e-6,angle=1", 5e-3, 0, NULL, "auto");
CONTACT_SOLVER(delassus, EB_CONTACT_DELASSUS_OPTIONS,
               "reduced to the contact forces and solved there", "Acary, Bremond and Huber 2018",
               tight, EB_ACCURACY, 2.6, NULL, "left");
