/* Vertex block descent: implicit Euler by block coordinate descent on the incremental potential,
 * one node at a time.
 *
 *   W(x) = 1/2 |x - xt|^2_M / h^2 + E(x) + S(x) + C(x) - f_ext . x,   xt = x0 + h v0,
 *   x_i <- x_i - inv(d2W/dx_i^2) dW/dx_i   for all nodes i, colour by colour,   v1 = (x1 - x0) / h
 *
 * Reference: Chen, Liu, Yang and Yuksel 2024, "Vertex Block Descent". S: springs; C = sum 1/2 k
 * depth^2 of implicit colliders at the end of the step, without friction unless it is asked for. A
 * sweep takes every free node once (sweep.h). As W is convex in a node alone but for what the
 * elements' blocks leave out, a step seldom overshoots: W falls from sweep to sweep, and with
 * line_search always.
 *
 * Sweeps reduce errors that vary from node to node at once and those as long as the body hardly:
 * their number to a tolerance grows with the square of the nodes along it, unless inertia holds
 * each node (h small). A fixed number of them, as the paper takes, is a step whose error is what
 * the audit says. Options of the paper:
 *  - start=adaptive: x0 + h v0 + s h^2 g, s the share of gravity g that the node's last step
 *    has been accelerated by, 0 to 1: bodies that lie still start where they are, those that
 *    fall fall. The state that the last step has left is known again by its bits; for another one
 *    the share is 0 or 1, whichever has the lower W. start=best, ours, takes the lowest W of all
 *    starts, so that a step without acceleration is never worse than doing nothing.
 *  - rho > 0: Chebyshev's semi-iteration, x <- w (x - x'') + x'' with x'' two sweeps ago,
 *    w = 4 / (4 - rho^2 w), the first two 1 and 2 / (2 - rho^2). Not for nodes in contact.
 *    W may rise.
 *  - kD > 0: in every node's equation k_D / h of its elements' block times x_i - x0_i is a
 *    force. It resists each node's own way, that of a rigid body too, and is in no equation
 *    that the audit knows: a damped step cannot go on to a tolerance.
 *
 * Needs: blocks and pulls of laws (law.h). With iterations=0 the gradient of W once a sweep.
 * Workspace: eb_implicit without a matrix, the colours (blocks.h), five rows a node.
 * Converged as newton is: |grad W| <= rtol (sum of the sizes of its terms) or atol; what rounding
 * of x leaves is EB_CONVERGED_STAGNATED. Fails: EB_DIVERGED_MAX_IT leaves the last iterate in the
 * state, EB_DIVERGED_NAN leaves it as it was. */
#include "problems/base/memory.h"
#include "solvers/common/implicit.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/common/step_options.h"
#include "solvers/common/support_layer.h"
#include "solvers/registry.h"
#include "solvers/vertex_block/blocks.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const eb_option options[] = {
    {.name = "iterations",
     .type = EB_OPTION_INT,
     .fallback = "20",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "sweeps of every step, whatever is left then; 0: until a tolerance is met"},
    EB_RTOL_OPTION(
        "iterations=0: stop when |grad W| <= rtol (|external| + |inertial| + |elastic|)"),
    EB_ATOL_OPTION,
    EB_MAX_ITERATIONS_OPTION("100000", "give up after so many sweeps, with iterations=0"),
    {.name = "start",
     .type = EB_OPTION_CHOICE,
     .fallback = "best",
     .choices = "best|adaptive|inertial|last",
     .unit = "",
     .doc = "where a step starts from: x0 + h v0 and as much of gravity as the last step was "
            "accelerated by (adaptive), x0 + h v0, the last positions, or the lowest of all"},
    EB_FRICTION_OPTION,
    {.name = "rho",
     .type = EB_OPTION_REAL,
     .fallback = "0",
     .min = 0,
     .max = 0.9999,
     .unit = "",
     .doc = "Chebyshev acceleration with this estimate of the spectral radius; 0: none"},
    {.name = "kD",
     .type = EB_OPTION_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e6,
     .unit = "s",
     .doc = "damping of each node by its own block of the stiffness"},
    {.name = "line_search",
     .type = EB_OPTION_BOOL,
     .fallback = "false",
     .unit = "",
     .doc = "shorten a node's step until it lowers the potential"},
    {0}};

typedef enum starting_point {
  START_LAST,
  START_INERTIAL,
  START_FALLING, /* x0 + h v0 + h^2 g */
  START_ADAPTIVE,
  START_BEST
} starting_point;

typedef struct vbd_solver {
  eb_implicit work;
  eb_potential potential;
  eb_support_layer layer;
  eb_vertex_blocks blocks;
  eb_vertex_step sweep;
  double *predicted, *descent; /* xt; -grad W; 3 nodes */
  double *x;                   /* the iterate without the rows' fourth numbers, 3 nodes */
  /* nodes: iterate, pulls, x0, and the iterates of one and two sweeps ago (with rho) */
  eb_v4 *rows, *pull, *start, *recent, *older;
  uint8_t *touches;
  eb_touch *touching; /* work.touch_room */

  /* the step before: where it went to and what velocities it began with */
  double *last_x, *last_v, *last_v0;
  bool has_last;
  bool friction;

  /* options */
  double rtol, atol, rho, damping;
  int64_t iterations, max_iterations;
  starting_point from;
} vbd_solver;

/* The iterate as vectors of three. */
static void unpack(vbd_solver *vbd) {
  for (int32_t i = 0; i < vbd->work.nodes; i++)
    for (int d = 0; d < 3; d++) vbd->x[3 * (size_t)i + (size_t)d] = vbd->rows[i][d];
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Whether the state is what the last step has left. */
static bool goes_on(const vbd_solver *vbd, const eb_state *state) {
  size_t bytes = (size_t)vbd->work.size * sizeof(double);
  return vbd->has_last && memcmp(state->x, vbd->last_x, bytes) == 0 &&
         memcmp(state->v, vbd->last_v, bytes) == 0;
}

/* The share of the acceleration a (m/s^2) that a node has had: (v0 - v) . a / (h |a|^2). */
static double share_of(const double a[3], const double *v0, const double *v, double dt) {
  double along = 0, size = 0;
  for (int d = 0; d < 3; d++) {
    along += (v0[d] - v[d]) * a[d];
    size += a[d] * a[d];
  }
  return size > 0 ? fmin(fmax(along / (dt * size), 0), 1) : 0;
}

/* x0 + h v0 + share h^2 g into the rows, g gravity; a share below 0: each node's own. Fixed nodes
 * are where they belong. */
static void place(vbd_solver *vbd, const eb_state *state, double dt, double share) {
  const double *gravity = vbd->work.scene->gravity;
  for (int32_t i = 0; i < vbd->work.nodes; i++) {
    size_t at = 3 * (size_t)i;
    double own = share < 0 ? share_of(gravity, state->v + at, vbd->last_v0 + at, dt) : share;
    for (size_t d = 0; d < 3; d++)
      vbd->rows[i][d] = vbd->work.fixed[i] ? vbd->work.target[at + d]
                                           : vbd->predicted[at + d] + dt * dt * own * gravity[d];
    vbd->rows[i][3] = 0;
  }
}

/* W at the rows. */
static double potential_here(vbd_solver *vbd, eb_step_log *log) {
  unpack(vbd);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, vbd->blocks.element_count);
  double contact = 0;
  if (vbd->sweep.scene) {
    int32_t count = eb_implicit_touches(vbd->work.scene, vbd->sweep.end, vbd->x,
                                        vbd->work.touch_room, vbd->touching);
    contact = eb_touches_energy(vbd->touching, count);
  }
  return eb_potential_at(&vbd->potential, vbd->x).value + contact;
}

/* The rows at one start. */
static void put(vbd_solver *vbd, const eb_state *state, double dt, starting_point from) {
  place(vbd, state, dt, from == START_ADAPTIVE ? -1 : from == START_FALLING);
  for (int64_t k = 0; from == START_LAST && k < vbd->work.size; k++)
    if (!vbd->work.fixed[k / 3]) vbd->rows[k / 3][k % 3] = state->x[k];
}

/* The rows at that start of `first` .. `last` that has the lowest W; the first where none has any.
 */
static void put_lowest(vbd_solver *vbd, const eb_state *state, double dt, starting_point first,
                       starting_point last, eb_step_log *log) {
  starting_point best = first;
  double lowest = INFINITY;
  for (int from = (int)first; from <= (int)last; from++) {
    put(vbd, state, dt, (starting_point)from);
    double W = potential_here(vbd, log);
    if (!(W < lowest)) continue;
    lowest = W;
    best = (starting_point)from;
  }
  put(vbd, state, dt, best);
}

static void guess(vbd_solver *vbd, const eb_state *state, double dt, eb_step_log *log) {
  for (int64_t k = 0; k < vbd->work.size; k++) {
    vbd->predicted[k] = state->x[k] + dt * state->v[k];
    vbd->start[k / 3][k % 3] = state->x[k];
  }
  bool knows = goes_on(vbd, state);
  if (vbd->from == START_BEST)
    put_lowest(vbd, state, dt, START_LAST, knows ? START_ADAPTIVE : START_FALLING, log);
  else if (vbd->from == START_ADAPTIVE && !knows)
    put_lowest(vbd, state, dt, START_INERTIAL, START_FALLING, log);
  else
    put(vbd, state, dt, vbd->from);
}

/* Inertia, f_ext and springs as one spring a node: d = m/h^2 + sum k, d target = m/h^2 xt + f_ext +
 * sum k p. */
static void set_pulls(vbd_solver *vbd, double dt) {
  const double *mass = eb_elasticity_mass(vbd->potential.elasticity);
  const eb_springs *springs = &vbd->work.springs;
  for (int32_t i = 0; i < vbd->work.nodes; i++) {
    vbd->pull[i][3] = mass[i] / (dt * dt);
    for (int d = 0; d < 3; d++)
      vbd->pull[i][d] = vbd->predicted[3 * (size_t)i + (size_t)d] +
                        vbd->work.force[3 * (size_t)i + (size_t)d] / vbd->pull[i][3];
  }
  /* The mean of the places so far and of the next, by stiffness. */
  for (int32_t s = 0; s < springs->count; s++) {
    eb_v4 *pull = &vbd->pull[springs->node[s]];
    double sum = (*pull)[3] + springs->stiffness[s];
    for (int d = 0; d < 3; d++)
      (*pull)[d] +=
          springs->stiffness[s] / sum * (springs->place[3 * (size_t)s + (size_t)d] - (*pull)[d]);
    (*pull)[3] = sum;
  }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Adds the colliders' push to the descent at x; returns the sum of its squares. */
static double add_touches(vbd_solver *vbd) {
  double squares = 0;
  int32_t count = eb_implicit_touches(vbd->work.scene, vbd->sweep.end, vbd->x, vbd->work.touch_room,
                                      vbd->touching);
  for (int32_t t = 0; t < count; t++) {
    const eb_touch *touch = &vbd->touching[t];
    if (vbd->work.fixed[touch->node]) continue;
    for (int d = 0; d < 3; d++) {
      double push = touch->stiffness * touch->depth * touch->normal[d];
      vbd->descent[3 * (size_t)touch->node + (size_t)d] += push;
      squares += push * push;
    }
  }
  return squares;
}

/* The change of grad W when x is rounded to double: by the largest entry of every node's block. */
static double rounding_floor(const vbd_solver *vbd) {
  double square = 0;
  for (int32_t i = 0; i < vbd->work.nodes; i++)
    for (int d = 0; d < 3 && !vbd->work.fixed[i]; d++) {
      double change = vbd->rows[i][3] * vbd->rows[i][d];
      square += change * change;
    }
  return 0.5 * DBL_EPSILON * sqrt(square);
}

/* |grad W| at the iterate; logs it, and tells whether it is small enough. */
static void judge(vbd_solver *vbd, eb_step_log *log, eb_reason *reason) {
  unpack(vbd);
  eb_implicit_gradient(&vbd->work, vbd->x, log);
  eb_potential_residual residual =
      eb_potential_descent(&vbd->potential, vbd->x, vbd->work.gradient, vbd->descent);
  residual.scale += eb_support_layer_force(&vbd->layer, vbd->work.fixed, vbd->x);
  if (vbd->sweep.scene) {
    residual.scale += sqrt(add_touches(vbd));
    residual.norm = 0;
    for (int64_t k = 0; k < vbd->work.size; k++) residual.norm += vbd->descent[k] * vbd->descent[k];
    residual.norm = sqrt(residual.norm);
  }
  eb_log_residual(log, residual.norm);
  if (!isfinite(residual.norm))
    *reason = EB_DIVERGED_NAN;
  else if (residual.norm <= vbd->rtol * residual.scale)
    *reason = EB_CONVERGED_RTOL;
  else if (residual.norm <= vbd->atol)
    *reason = EB_CONVERGED_ATOL;
  else if (residual.norm <= rounding_floor(vbd))
    *reason = EB_CONVERGED_STAGNATED;
  else if (log->iterations >= vbd->max_iterations)
    *reason = EB_DIVERGED_MAX_IT;
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* Chebyshev's step behind sweep number n (from 1), of weight *omega. */
static void accelerate(vbd_solver *vbd, int64_t n, double *omega) {
  double square = vbd->rho * vbd->rho;
  *omega = n == 1 ? 1 : n == 2 ? 2 / (2 - square) : 4 / (4 - square * *omega);
  for (int32_t i = 0; n > 1 && i < vbd->work.nodes; i++)
    for (int d = 0; d < 3 && !vbd->touches[i] && !vbd->work.fixed[i]; d++)
      vbd->rows[i][d] = vbd->older[i][d] + *omega * (vbd->rows[i][d] - vbd->older[i][d]);
}

static void sweep(vbd_solver *vbd, double *omega, eb_step_log *log) {
  size_t bytes = (size_t)vbd->work.nodes * sizeof *vbd->rows;
  eb_log_begin(log, EB_PHASE_LOCAL);
  if (vbd->rho > 0) {
    eb_v4 *oldest = vbd->older;
    vbd->older = vbd->recent;
    vbd->recent = oldest;
    memcpy(vbd->recent, vbd->rows, bytes);
  }
  eb_vertex_sweep(&vbd->sweep);
  log->iterations++;
  if (vbd->rho > 0) accelerate(vbd, log->iterations, omega);
  eb_log_end(log, EB_PHASE_LOCAL);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS,
               (double)vbd->blocks.element_count * vbd->blocks.nodes);
}

static void iterate(vbd_solver *vbd, eb_step_log *log, eb_reason *reason) {
  double omega = 1;
  *reason = EB_RUNNING;
  while (*reason == EB_RUNNING) {
    if (vbd->iterations == 0)
      judge(vbd, log, reason);
    else if (log->iterations == vbd->iterations)
      *reason = EB_CONVERGED_ITS;
    if (*reason == EB_RUNNING) sweep(vbd, &omega, log);
  }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(vbd_solver *vbd) {
  eb_support_layer_clear(&vbd->layer);
  eb_implicit_clear(&vbd->work);
  eb_vertex_blocks_clear(&vbd->blocks);
  void *const owned[] = {vbd->predicted, vbd->descent, vbd->x,       vbd->rows,    vbd->pull,
                         vbd->start,     vbd->recent,  vbd->older,   vbd->touches, vbd->touching,
                         vbd->last_x,    vbd->last_v,  vbd->last_v0, vbd};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

static eb_error read_options(const eb_values *values, vbd_solver *vbd) {
  const char *start = eb_values_text(values, "start");
  vbd->rtol = eb_values_real(values, "rtol");
  vbd->atol = eb_values_real(values, "atol");
  vbd->rho = eb_values_real(values, "rho");
  vbd->friction = eb_values_bool(values, "friction");
  vbd->damping = eb_values_real(values, "kD");
  vbd->iterations = eb_values_int(values, "iterations");
  vbd->max_iterations = eb_values_int(values, "max_iterations");
  vbd->sweep.searches = eb_values_bool(values, "line_search");
  vbd->from = !strcmp(start, "last")       ? START_LAST
              : !strcmp(start, "inertial") ? START_INERTIAL
              : !strcmp(start, "adaptive") ? START_ADAPTIVE
                                           : START_BEST;
  if (vbd->damping > 0 && vbd->iterations == 0)
    return EB_ERROR(EB_ERR_USAGE,
                    "vbd: kD=%g damps a step beyond implicit Euler, so that it meets "
                    "no tolerance of that; give iterations, or kD=0",
                    vbd->damping);
  if (vbd->damping > 0 && vbd->sweep.searches)
    return EB_ERROR(EB_ERR_USAGE,
                    "vbd: kD=%g is no part of the potential that line_search looks "
                    "at; give one of them",
                    vbd->damping);
  return EB_OK;
}

static eb_error allocate(vbd_solver *vbd, const eb_solver *solver) {
  EB_TRY(eb_implicit_create_matrixless(solver, &vbd->work));
  EB_TRY(eb_support_layer_create(solver->scene, &vbd->layer));
  eb_log_begin(solver->setup_log, EB_PHASE_ORDER);
  eb_error error = eb_vertex_blocks_create(solver->scene, &vbd->blocks);
  eb_log_end(solver->setup_log, EB_PHASE_ORDER);
  if (error) return error;
  int32_t nodes = vbd->work.nodes;
  double **const vectors[] = {&vbd->predicted, &vbd->descent, &vbd->x,
                              &vbd->last_x,    &vbd->last_v,  &vbd->last_v0};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    EB_TRY(EB_NEW(*vectors[i], vbd->work.size));
  eb_v4 **const rows[] = {&vbd->rows, &vbd->pull, &vbd->start, &vbd->recent, &vbd->older};
  for (size_t i = 0; i < (vbd->rho > 0 ? 5 : 3); i++) EB_TRY(EB_NEW(*rows[i], nodes));
  EB_TRY(EB_NEW(vbd->touches, nodes));
  if (vbd->work.touch_room > 0) EB_TRY(EB_NEW(vbd->touching, vbd->work.touch_room));
  return EB_OK;
}

static void connect(vbd_solver *vbd, const eb_scene *scene) {
  vbd->potential = (eb_potential){.elasticity = scene->elasticity,
                                  .nodes = vbd->work.nodes,
                                  .fixed = vbd->work.fixed,
                                  .force = vbd->work.force,
                                  .predicted = vbd->predicted,
                                  .springs = &vbd->work.springs};
  vbd->sweep.blocks = &vbd->blocks;
  vbd->sweep.fixed = vbd->work.fixed;
  vbd->sweep.pull = vbd->pull;
  vbd->sweep.start = vbd->start;
  vbd->sweep.x = vbd->rows;
  vbd->sweep.touches = vbd->touches;
  vbd->sweep.scene = vbd->work.touch_room > 0 ? scene : NULL;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  vbd_solver *vbd = NULL;
  EB_TRY(EB_NEW(vbd, 1));
  eb_error error = read_options(solver->options, vbd);
  if (!error) error = allocate(vbd, solver);
  if (error) {
    release(vbd);
    return error;
  }
  connect(vbd, scene);
  eb_log_memory(solver->setup_log, EB_MEMORY_ELEMENTS,
                (double)eb_vertex_blocks_bytes(&vbd->blocks));
  solver->data = vbd;
  return EB_OK;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void begin(vbd_solver *vbd, const eb_state *state, double dt, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_RHS);
  eb_support_layer_update(&vbd->layer, vbd->work.fixed);
  vbd->potential.inertia = 1 / (dt * dt);
  vbd->potential.origin = state->x;
  vbd->sweep.damping = vbd->damping / dt;
  vbd->sweep.end = state->time + dt;
  memset(vbd->touches, 0, (size_t)vbd->work.nodes);
  guess(vbd, state, dt, log);
  set_pulls(vbd, dt);
  eb_log_end(log, EB_PHASE_RHS);
}

/* Takes x over as the state, with friction where it is asked for: then x follows v. */
static void finish(vbd_solver *vbd, eb_state *state, double dt, eb_step_log *log) {
  size_t bytes = (size_t)vbd->work.size * sizeof(double);
  memcpy(vbd->last_v0, state->v, bytes);
  for (int64_t k = 0; k < vbd->work.size; k++) state->v[k] = (vbd->x[k] - state->x[k]) / dt;
  if (vbd->friction && vbd->work.touch_room > 0) {
    int32_t count = eb_implicit_touches(vbd->work.scene, vbd->sweep.end, vbd->x,
                                        vbd->work.touch_room, vbd->touching);
    eb_implicit_friction(&vbd->work, vbd->touching, count, dt, 0, state->v, log);
    for (int64_t k = 0; k < vbd->work.size; k++)
      if (!vbd->work.fixed[k / 3]) vbd->x[k] = state->x[k] + dt * state->v[k];
  }
  memcpy(state->x, vbd->x, bytes);
  memcpy(vbd->last_x, state->x, bytes);
  memcpy(vbd->last_v, state->v, bytes);
  vbd->has_last = true;
  state->time += dt;
  state->step++;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  vbd_solver *vbd = solver->data;
  log->residual_norm = EB_NORM_GRADIENT;
  log->equation = EB_EQUATION_IMPLICIT_EULER;
  log->friction = EB_FRICTION_NONE;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(&vbd->work, state, dt, log)) return EB_OK;
  begin(vbd, state, dt, log);
  iterate(vbd, log, reason);
  unpack(vbd);
  if (!eb_all_finite(vbd->work.size, vbd->x)) *reason = EB_DIVERGED_NAN;
  if (*reason != EB_DIVERGED_NAN) finish(vbd, state, dt, log);
  return EB_OK;
}

static const eb_caveat caveats[] = {
    {0,
     "a step is 20 sweeps, whatever they leave: of stiff bodies so much that audits find momentum "
     "or energy off",
     "iterations=0"},
    {0}};

const eb_solver_ops eb_solver_vbd = {
    .name = "vbd",
    .summary = "vertex block descent: Newton's step on one node at a time, colour by colour",
    .citation = "Chen et al. 2024",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_IMPLICIT_PENALTY | EB_CAP_CUTTING | EB_CAP_SPRINGS,
    .options = options,
    .exact = "iterations=0",
    .accuracy_options = "iterations=2..500",
    .memory = &(const eb_memory_model){.margin = 0.15},
    .time = &(const eb_time_model){.iterations = 20, .sweeps = true},
    .caveats = caveats,
    .create = create,
    .step = step,
    .destroy = destroy};
