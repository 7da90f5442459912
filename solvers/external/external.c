/* `external:COMMAND`: a solver that is a program of the user's, in any language (README.md in this
 * folder has the protocol).
 *
 * The program is handed the scene as a file, and each step's inputs over a socket; it gives back x,
 * v and its reason, and on the way it may ask for energy, gradient and Hessian of the elements at
 * any positions, which are computed here and count as its work. What the table declares is the most
 * that the protocol can serve; a program declares less, and scenes that ask for more are refused
 * when it has said so. The process is the solver's `process`: the harness counts its time and its
 * memory, and lets it have no other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"
#include "solvers/external/program.h"
#include "solvers/external/reported_contacts.h"
#include "solvers/external/scene_file.h"
#include "solvers/external/words.h"
#include "solvers/registry.h"

enum { RESIDUALS = 1 << 12 }; /* a step may report */

typedef struct external {
  eb_program program;
  eb_handshake hello;
  int scene; /* the file */
  eb_frame_in in;
  eb_text out; /* text of a step */
  int32_t springs;
  int32_t blocks; /* of the Hessian; 0: the program does not ask for it */
  /* Without surfaces contact is no constraint. */
  eb_reported_contacts contacts;
  double *work;      /* force, target, place, stiffness, obstacles, fixed: what a step sends */
  double *obstacles; /* in it: at the start of the step and at its end */
  double *values;    /* 1 + 3 nodes + 9 blocks: energy, gradient, Hessian */
  char norm[100];
} external;

static const eb_option options[] = {
    {"command", EB_OPTION_LINE, NULL, 0, 0, NULL, "",
     "the program with its arguments, for the shell: all that follows external:, or hello=S,"},
    {"hello", EB_OPTION_REAL, "60", 1e-3, 1e6, NULL, "s",
     "how long the program may take to send its first frame, HELO; before the command"},
    {0}};

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(eb_solver *solver) {
  external *e = solver->data;
  eb_program_end(&e->program);
  if (e->scene >= 0) close(e->scene);
  eb_text_clear(&e->out);
  eb_reported_clear(&e->contacts);
  free(e->in.body);
  free(e->work);
  free(e->values);
  free(e);
  solver->data = NULL;
  solver->process = 0;
}

/* What the program sends that it was not asked for: its own words when it gives up. */
static eb_error unexpected(const external *e, const char *wanted) {
  if (strcmp(e->in.kind, "FAIL") == 0)
    return EB_ERROR(EB_ERR_LIBRARY, "the program gives up: %.1000s", e->in.text);
  return EB_ERROR(EB_ERR_FORMAT, "the program has sent a frame %s where %s is due", e->in.kind,
                  wanted);
}

static eb_error receive_hello(external *e, double limit) {
  e->program.limit = limit;
  eb_error error = eb_program_receive(&e->program, &e->in);
  e->program.limit = 0;
  return error || strcmp(e->in.kind, "HELO") == 0 ? error : unexpected(e, "HELO");
}

static eb_error meet(external *e, eb_solver *solver) {
  eb_error error = receive_hello(e, eb_values_real(solver->options, "hello"));
  if (error)
    return eb_error_prefix(
        error, "'%s' has sent no frame HELO%s", eb_values_text(solver->options, "command"),
        eb_error_kind(error) == EB_ERR_LIMIT ? " (external:hello=S,COMMAND waits longer)" : "");
  EB_TRY(eb_handshake_read(e->in.text, &e->hello));
  solver->update = e->hello.update;
  solver->described = e->hello.name;
  return eb_solver_require(e->hello.name, e->hello.serves, solver->scene);
}

static int32_t obstacle_vertices(const external *e) {
  const eb_surfaces *surfaces = e->contacts.surfaces;
  return surfaces ? surfaces->vertex_count - surfaces->nodes : 0;
}

/* Everything that steps need, by what the program has said of itself. */
static eb_error allocate(external *e, const eb_scene *scene) {
  int64_t n = 3 * (int64_t)eb_scene_mesh(scene)->node_count;
  const int32_t *start, *column;
  e->springs = eb_scene_springs(scene, 0, NULL, NULL, NULL);
  if (e->hello.hessian) {
    eb_scene_pattern(scene, &start, &column);
    e->blocks = start[n / 3];
  }
  int64_t before = 2 * n + 4 * (int64_t)e->springs, obstacles = 6 * (int64_t)obstacle_vertices(e);
  /* The fixed nodes, a byte each, stand behind the numbers. */
  EB_TRY(EB_NEW(e->work, before + obstacles + n / 3));
  e->obstacles = e->work + before;
  return EB_NEW(e->values, 1 + n + 9 * (int64_t)e->blocks);
}

/* Before it has said what it is there is no body to expect. */
static eb_error answer(external *e, const eb_scene *scene);

static eb_error introduce(external *e, eb_solver *solver) {
  char text[200];
  EB_TRY(meet(e, solver));
  EB_TRY(allocate(e, solver->scene));
  EB_TRY(eb_scene_file_write(solver->scene, e->contacts.surfaces, e->hello.hessian, e->scene));
  snprintf(text, sizeof text, "protocol %d\nthreads %d\nseed %llu\n", EB_PROTOCOL_VERSION,
           solver->threads, (unsigned long long)solver->seed);
  EB_TRY(eb_program_send(&e->program, "SCEN", text, NULL, 0));
  for (;;) {
    EB_TRY(eb_program_receive(&e->program, &e->in));
    if (strcmp(e->in.kind, "REDY") == 0) return EB_OK;
    if (strcmp(e->in.kind, "EVAL")) return unexpected(e, "REDY");
    EB_TRY(answer(e, solver->scene));
  }
}

/* Room for the longest frame. Pages that none has filled are not taken: the memory is not cleared.
 */
static eb_error make_room(external *e, const eb_scene *scene) {
  if (eb_scene_needs(scene) & EB_CAP_CONTACT)
    EB_TRY(eb_surfaces_create(scene, &e->contacts.surfaces));
  e->in.capacity = 6 * (size_t)eb_scene_mesh(scene)->node_count + 2 * RESIDUALS +
                   EB_REPORTED_NUMBERS * (size_t)eb_reported_most(e->contacts.surfaces);
  e->in.body = malloc(e->in.capacity * sizeof *e->in.body);
  return e->in.body ? EB_OK
                    : EB_ERROR(EB_ERR_MEMORY,
                               "no memory for frames of %zu numbers; use a smaller "
                               "scene or raise the memory limit",
                               e->in.capacity);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  external *e;
  EB_TRY(EB_NEW(e, 1));
  solver->data = e;
  e->scene = -1;
  e->program = (eb_program){.socket = -1, .prints = -1};
  eb_error error = make_room(e, scene);
  if (!error) error = eb_scene_file_open(&e->scene);
  if (!error)
    error = eb_program_start(eb_values_text(solver->options, "command"), e->scene, &e->program);
  if (!error) error = introduce(e, solver);
  /* Room for every activation, so that steps do not allocate. */
  if (!error) error = eb_text_printf(&e->out, "%4000s", "");
  solver->process = e->program.pid;
  if (error) destroy(solver);
  return error;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Energy, gradient and Hessian of the elements at the positions that the program has sent. */
static eb_error answer(external *e, const eb_scene *scene) {
  eb_wanted wanted;
  size_t n = 3 * (size_t)eb_scene_mesh(scene)->node_count, blocks = (size_t)e->blocks, count = 0;
  EB_TRY(eb_wanted_read(e->in.text, &wanted));
  if (e->in.body_count != n)
    return EB_ERROR(EB_ERR_FORMAT, "the program asks for forces at %zu numbers; positions are %zu",
                    e->in.body_count, n);
  if (wanted.hessian && blocks == 0)
    return EB_ERROR(EB_ERR_FORMAT, "the program asks for a Hessian, which its frame HELO has not "
                                   "announced with 'hessian yes'");
  if (wanted.energy) e->values[count++] = eb_scene_energy(scene, e->in.body);
  double *gradient = wanted.gradient ? e->values + count : NULL;
  if (wanted.gradient) count += n;
  if (wanted.hessian)
    eb_scene_hessian(scene, e->in.body, wanted.mass_scale, wanted.hessian_scale, wanted.project,
                     e->values + count, gradient);
  else if (gradient)
    eb_scene_gradient(scene, e->in.body, gradient);
  if (wanted.hessian) count += 9 * blocks;
  return eb_program_send(&e->program, "VALS", "", &(eb_piece){e->values, count * sizeof *e->values},
                         1);
}

static eb_error send_step(external *e, const eb_scene *scene, const eb_state *state, double dt) {
  size_t n = 3 * (size_t)state->node_count, springs = (size_t)e->springs;
  size_t obstacles = 3 * (size_t)obstacle_vertices(e);
  double *force = e->work, *target = force + n, *place = target + n,
         *stiffness = place + 3 * springs;
  uint8_t *fixed = (uint8_t *)(e->obstacles + 2 * obstacles);
  eb_scene_force(scene, state->time, state->x, state->v, force);
  eb_scene_boundary(scene, state->time + dt, fixed, target);
  if (springs) eb_scene_springs(scene, state->time + dt, NULL, place, stiffness);
  if (obstacles) {
    eb_scene_obstacles(scene, state->time, e->obstacles);
    eb_scene_obstacles(scene, state->time + dt, e->obstacles + obstacles);
  }
  e->out.length = 0;
  EB_TRY(eb_text_printf(&e->out, "step %lld\ntime %.17g\ndt %.17g\nactivation",
                        (long long)state->step, state->time, dt));
  for (int32_t r = 0; r < eb_scene_mesh(scene)->region_count; r++)
    EB_TRY(eb_text_printf(&e->out, " %.17g", eb_scene_material(scene, r)->activation));
  EB_TRY(eb_text_printf(&e->out, "\n"));
  eb_piece pieces[] = {{state->x, n * sizeof(double)},
                       {state->v, n * sizeof(double)},
                       {e->work, (2 * n + 4 * springs + 2 * obstacles) * sizeof(double)},
                       {fixed, n / 3}};
  return eb_program_send(&e->program, "STEP", e->out.data, pieces, 4);
}

/* How many numbers a frame DONE has, as its text says. */
static eb_error check_done(const external *e, size_t n, const eb_done *done) {
  int64_t most = eb_reported_most(e->contacts.surfaces);
  if (done->residuals > RESIDUALS)
    return EB_ERROR(EB_ERR_FORMAT, "the program reports %lld residuals; at most %d are taken",
                    (long long)done->residuals, RESIDUALS);
  if (done->contacts > 0 && most == 0)
    return EB_ERROR(EB_ERR_FORMAT, "the program reports contacts in a scene that has none as "
                                   "constraints");
  if (done->contacts > most)
    return EB_ERROR(EB_ERR_FORMAT, "the program reports %lld contacts; at most %lld are taken",
                    (long long)done->contacts, (long long)most);
  size_t kept = (size_t)done->residuals, contacts = (size_t)done->contacts;
  if (e->in.body_count != 2 * n + 2 * kept + EB_REPORTED_NUMBERS * contacts)
    return EB_ERROR(EB_ERR_FORMAT,
                    "the program's frame DONE has %zu numbers; x, v, %zu residuals with their "
                    "seconds and %zu contacts of %d numbers are %zu",
                    e->in.body_count, kept, contacts, EB_REPORTED_NUMBERS,
                    2 * n + 2 * kept + EB_REPORTED_NUMBERS * contacts);
  return EB_OK;
}

static void take_residuals(const double *residual, size_t count, eb_step_log *log) {
  const double *seconds = residual + count;
  for (size_t i = 0; i < count; i++) {
    eb_log_residual(log, residual[i]);
    if (log->residual_count <= log->residual_capacity)
      log->residual_seconds[log->residual_count - 1] = seconds[i];
  }
}

/* Numbers that are not finite are passed on: the harness knows what to make of them. */
static eb_error accept(external *e, eb_state *state, double dt, eb_step_log *log,
                       eb_reason *reason) {
  eb_done done;
  size_t n = 3 * (size_t)state->node_count;
  EB_TRY(eb_done_read(e->in.text, log, &done));
  EB_TRY(check_done(e, n, &done));
  const double *residual = e->in.body + 2 * n, *contacts = residual + 2 * done.residuals;
  if (e->contacts.surfaces) {
    EB_TRY(eb_reported_read(&e->contacts, done.contacts, contacts, state->x, e->obstacles, dt));
    log->contacts = &e->contacts.record;
  }
  memcpy(state->x, e->in.body, n * sizeof(double));
  memcpy(state->v, e->in.body + n, n * sizeof(double));
  snprintf(e->norm, sizeof e->norm, "%s", done.norm);
  eb_text_clean(e->norm);
  log->residual_norm = eb_residual_norm_find(e->norm);
  log->own_norm = e->norm;
  take_residuals(residual, (size_t)done.residuals, log);
  *reason = done.reason;
  return EB_OK;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  external *e = solver->data;
  double began = eb_wall_seconds();
  EB_TRY(send_step(e, solver->scene, state, dt));
  for (;;) {
    EB_TRY(eb_program_receive(&e->program, &e->in));
    if (strcmp(e->in.kind, "DONE") == 0) break;
    if (strcmp(e->in.kind, "EVAL")) return unexpected(e, "DONE");
    EB_TRY(answer(e, solver->scene));
    eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, eb_scene_mesh(solver->scene)->element_count);
  }
  EB_TRY(accept(e, state, dt, log, reason));
  state->time += dt;
  state->step++;
  /* What the program does not call its own is the way to it and back. */
  double took = eb_wall_seconds() - began;
  if (log->own_seconds < took) log->phase_seconds[EB_PHASE_IO] += took - log->own_seconds;
  return EB_OK;
}

const eb_solver_ops eb_solver_external = {
    .name = "external",
    .summary = "a program of yours, in any language: external:COMMAND",
    .citation =
        "solvers/external/README.md has the protocol, new-solver NAME --external python|c++ a "
        "program to start from",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT | EB_CAP_TRIANGLES |
                    EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_PROJECTIVE | EB_CAP_FIBRES |
                    EB_CAP_SCRIPTED | EB_CAP_COLLIDERS | EB_CAP_CONTACT | EB_CAP_SPRINGS |
                    EB_CAP_STATICS,
    .update = EB_UPDATE_END_VELOCITY,
    .options = options,
    .accuracy_options = "",
    .create = create,
    .step = step,
    .destroy = destroy};
