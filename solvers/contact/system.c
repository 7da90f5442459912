/* Assembly of the linear system of a contact step; see system.h for the equations.
 *
 *   (M + h^2 K(x0)) v1 = M v0 + h f(x0),   x1 = x0 + h v1          nodes
 *   diag(m, I(q0)) V1 = (m V0 + h F, I W0 + h (T - W0 x I W0))     free bodies
 *
 * Reference: Verschoor and Jalba 2019, Equations 4 and 5, for nodes (without the damping matrix
 * C_d). The rows of bodies are the Newton-Euler equations in one semi-implicit step, the gyroscopic
 * torque taken at its start.
 *
 * Needs: what eb_implicit needs (mass, force, its gradient at x0), free bodies that share no
 * element with other nodes.
 * Workspace: A and ten numbers a row.
 * Fails: begin returns false when a force or a state is not finite. */
#include "solvers/contact/system.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "solvers/common/linearly_implicit.h"
#include "solvers/linalg/block_ops.h"

#include <string.h>

/* ---- set-up ---- */

static eb_error check_elements(const eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  const int32_t *of = scene->free_bodies->of_node;
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

eb_error eb_contact_system_create(const eb_solver *solver, eb_contact_system *out) {
  const eb_scene *scene = solver->scene;
  *out = (eb_contact_system){.bodies = scene->free_bodies, .nodes = scene->mesh->node_count};
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
  if (error) eb_contact_system_clear(out);
  return error;
}

void eb_contact_system_clear(eb_contact_system *system) {
  eb_implicit_clear(&system->implicit);
  free(system->known);
  free(system->value);
  free(system->b);
  free(system->x);
  free(system->pose);
  *system = (eb_contact_system){0};
}

/* ---- A and b ---- */

/* Force and torque about the centre, N and N m. Gravity acts on body.mass, the mass of the solid;
 * what else acts on nodes (scripted forces, penalties) acts where they are. */
static void body_force(const eb_contact_system *system, int32_t b, double force[3],
                       double torque[3]) {
  const eb_scene *scene = system->implicit.scene;
  const double *mass = eb_elasticity_mass(scene->elasticity), *centre = system->state->pose + 7 * b;
  for (int d = 0; d < 3; d++) force[d] = system->bodies->body[b].mass * scene->gravity[d];
  memset(torque, 0, 3 * sizeof *torque);
  for (int32_t i = 0; i < system->nodes; i++) {
    if (system->bodies->of_node[i] != b) continue;
    double f[3], arm[3], turn[3];
    for (int d = 0; d < 3; d++) {
      f[d] = system->implicit.force[3 * (int64_t)i + d] - mass[i] * scene->gravity[d];
      arm[d] = system->state->x[3 * (int64_t)i + d] - centre[d];
    }
    eb_cross3(arm, f, turn);
    eb_add3(1, f, force);
    eb_add3(1, turn, torque);
  }
}

/* Newton and Euler for one body, with velocities at the end as unknowns and forces at the start:
 *
 *   m V1 = m V0 + h F,   I W1 = I W0 + h (T - W0 x I W0),   I = R I0 R^T at the start.
 *
 * The gyroscopic torque stands on the right, explicitly: with it in A the matrix would lose its
 * symmetry. It does no work on W0 and turns the spin by h |W| a step. */
static void body_rows(eb_contact_system *system, int32_t b) {
  const eb_free_body *body = system->bodies->body + b;
  const double *twist = system->state->twist + 6 * (int64_t)b;
  eb_block_matrix *A = system->implicit.matrix;
  int64_t row = system->nodes + 2 * (int64_t)b;
  double *linear = A->values + 9 * (int64_t)A->diagonal[row], *inertia = linear + 9;
  double force[3], torque[3], momentum[3], gyroscopic[3];
  for (int d = 0; d < 9; d++) linear[d] = d % 4 ? 0 : body->mass;
  eb_free_body_inertia(body, system->state->pose + 7 * (int64_t)b, inertia);
  body_force(system, b, force, torque);
  eb_turn3(inertia, twist + 3, momentum);
  eb_cross3(twist + 3, momentum, gyroscopic);
  for (int d = 0; d < 3; d++) {
    system->b[3 * row + d] = body->mass * twist[d] + system->dt * force[d];
    system->b[3 * row + 3 + d] = momentum[d] + system->dt * (torque[d] - gyroscopic[d]);
  }
}

static void node_rows(eb_contact_system *system) {
  eb_implicit *work = &system->implicit;
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
}

bool eb_contact_system_begin(eb_contact_system *system, const eb_state *state, double dt,
                             eb_step_log *log) {
  eb_implicit *work = &system->implicit;
  system->state = state;
  system->dt = dt;
  if (!eb_implicit_begin(work, state, dt, log)) return false;
  eb_implicit_assemble(work, state->x, 1, dt * dt, true, log);
  eb_log_begin(log, EB_PHASE_RHS);
  node_rows(system);
  for (int32_t b = 0; b < system->body_count; b++) body_rows(system, b);
  eb_block_constrain(work->matrix, system->known, system->value, system->b);
  bool finite = eb_all_finite(3 * (int64_t)system->rows, system->b);
  eb_log_end(log, EB_PHASE_RHS);
  return finite;
}

/* ---- velocities and positions ---- */

void eb_contact_system_guess(const eb_contact_system *system, double *v) {
  for (int64_t k = 0; k < 3 * (int64_t)system->nodes; k++)
    v[k] = system->known[k / 3] ? system->value[k] : system->state->v[k];
  if (system->body_count)
    memcpy(v + 3 * (int64_t)system->nodes, system->state->twist,
           6 * (size_t)system->body_count * sizeof *v);
}

void eb_contact_system_move(eb_contact_system *system, const double *v) {
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

void eb_contact_system_advance(const eb_contact_system *system, const double *v, eb_state *state) {
  memcpy(state->x, system->x, 3 * (size_t)system->nodes * sizeof *state->x);
  memcpy(state->v, v, 3 * (size_t)system->nodes * sizeof *state->v);
  if (system->bodies) {
    memcpy(state->pose, system->pose, 7 * (size_t)system->body_count * sizeof *state->pose);
    memcpy(state->twist, v + 3 * (int64_t)system->nodes,
           6 * (size_t)system->body_count * sizeof *state->twist);
    eb_free_bodies_place(system->bodies, system->implicit.scene->mesh->X, state->pose, state->twist,
                         state->x, state->v);
  }
  state->time += system->dt;
  state->step++;
}
