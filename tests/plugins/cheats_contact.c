/* Solvers that cheat with contacts: a built-in solver steps (option `of`), and one thing is wrong
 * with the contacts that it reports, or with where it leaves the bodies (option `fault`). What is
 * wrong with the record is wrong in a copy of it. With fault=none nothing is. */
#include "problems/contact_record.h"
#include "tests/plugins/wrapped.h"

#include <math.h>

static const eb_option options[] = {
    {"of", EB_OPTION_TEXT, "contact-al", 0, 0, NULL, "", "the solver inside"},
    {"fault", EB_OPTION_TEXT, "none", 0, 0, NULL, "", "what is wrong"},
    {0}};

typedef struct forged {
  wrapped w;
  eb_contact_record record;
  eb_pair *pair;
  double *weight, *frame, *c, *r; /* copies, writable */
  void (*spoil)(struct forged *f, eb_state *state, double dt, eb_step_log *log);
} forged;

/* ---- contacts -------------------------------------------------------------------------------- */

static void silent(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)f, (void)state, (void)dt;
  log->contacts = NULL;
}

/* Half of the contacts are not told. */
static void omitted(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.count /= 2;
}

/* Records that nobody can read. */
static void negative(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.count = -1;
}

static void without_forces(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.r = NULL;
}

static void of_other_nodes(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  f->record.nodes = 1;
}

static void doubled(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < 3 * f->record.count; k++) f->r[k] *= 2;
}

/* A demand of 1 m, met or not: the rule is on the demand. */
static void generous(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++) f->c[3 * k] += 1;
  f->record.gap = f->record.eps2 = 1;
}

/* A demand below the distance that there is: the contact would have no reason to push. */
static void needless(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++) f->c[3 * k] -= 0.9 * f->record.gap;
}

static void unweighted(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < 4 * f->record.count; k++) f->weight[k] *= 1.01;
}

static void skewed(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++) f->frame[9 * k + 3] += 1e-3;
}

static void not_finite(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  if (f->record.count > 0) f->r[0] = NAN;
}

/* Frames turned about t1: n' = cos n + sin t2, t2' = cos t2 - sin n. */
static void tilted(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  double c = cos(0.5), s = sin(0.5);
  for (int32_t k = 0; k < f->record.count; k++)
    for (int d = 0; d < 3; d++) {
      double n = f->frame[9 * k + d], t = f->frame[9 * k + 6 + d];
      f->frame[9 * k + d] = c * n + s * t;
      f->frame[9 * k + 6 + d] = c * t - s * n;
    }
}

/* ---- friction -------------------------------------------------------------------------------- */

static void turned(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++) {
    double first = f->r[3 * k + 1];
    f->r[3 * k + 1] = -f->r[3 * k + 2];
    f->r[3 * k + 2] = first;
  }
}

static void beyond(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++)
    for (int d = 1; d < 3; d++) f->r[3 * k + d] *= 3;
}

/* Contacts on the cone get 4 % more of it. */
static void edged(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++) {
    double *r = f->r + 3 * k;
    bool on = hypot(r[1], r[2]) > 0.99 * f->record.mu[k] * r[0];
    for (int d = 1; on && d < 3; d++) r[d] *= 1.04;
  }
}

static void sucking(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)state, (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++) f->r[3 * k] *= -1;
}

/* ---- places ---------------------------------------------------------------------------------- */

static double way_along(const forged *f, const eb_state *state, int32_t k, int32_t vertex) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += f->frame[9 * k + d] * state->x[3 * vertex + d];
  return sum;
}

/* The force of a vertex on a face acts on the vertex of the mesh that is farthest from the face
 * instead: the body's momentum is the same. */
static void across_air(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)dt, (void)log;
  for (int32_t k = 0; k < f->record.count; k++) {
    int32_t *vertex = &f->pair[k].vertex[0], farthest = *vertex;
    if (f->pair[k].kind != EB_VERTEX_FACE || *vertex >= f->record.nodes) continue;
    for (int32_t i = 0; i < state->node_count; i++)
      if (way_along(f, state, k, i) > way_along(f, state, k, farthest)) farthest = i;
    double higher = way_along(f, f->w.before, k, farthest) - way_along(f, f->w.before, k, *vertex);
    f->c[3 * k] -= higher; /* the demand stays what it was */
    *vertex = farthest;
  }
}

/* All bodies 5 mm down, with velocities that follow. */
static void sunk(forged *f, eb_state *state, double dt, eb_step_log *log) {
  (void)log;
  const double way = 5e-3;
  const double *gravity = eb_scene_gravity(f->w.inner->scene);
  double size = sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
  for (int32_t k = 0; k < 3 * state->node_count; k++) {
    double off = way * gravity[k % 3] / size;
    state->x[k] += off;
    state->v[k] += off / dt;
  }
}

/* ---- the solver ------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  void (*spoil)(forged *f, eb_state *state, double dt, eb_step_log *log);
} faults[] = {{"none", NULL},
              {"silent", silent},
              {"omitted", omitted},
              {"negative", negative},
              {"without-forces", without_forces},
              {"of-other-nodes", of_other_nodes},
              {"doubled", doubled},
              {"generous", generous},
              {"needless", needless},
              {"unweighted", unweighted},
              {"skewed", skewed},
              {"not-finite", not_finite},
              {"tilted", tilted},
              {"turned", turned},
              {"beyond", beyond},
              {"edged", edged},
              {"sucking", sucking},
              {"across-air", across_air},
              {"sunk", sunk}};

static void clear_copy(forged *f) {
  free(f->pair);
  free(f->weight);
  free(f->frame);
  free(f->c);
  free(f->r);
  f->pair = NULL;
  f->weight = f->frame = f->c = f->r = NULL;
}

static void destroy(eb_solver *solver) {
  forged *f = solver->data;
  if (!f) return;
  wrapped_clear(&f->w);
  clear_copy(f);
  free(f);
  solver->data = NULL;
}

static void *copy(const void *from, size_t bytes) {
  void *out = malloc(bytes > 0 ? bytes : 1);
  if (out && bytes > 0) memcpy(out, from, bytes);
  return out;
}

static eb_error copy_record(forged *f, const eb_contact_record *from) {
  size_t count = (size_t)from->count;
  clear_copy(f);
  f->record = *from;
  f->record.pair = f->pair = copy(from->pair, count * sizeof *f->pair);
  f->record.weight = f->weight = copy(from->weight, 4 * count * sizeof(double));
  f->record.frame = f->frame = copy(from->frame, 9 * count * sizeof(double));
  f->record.c = f->c = copy(from->c, 3 * count * sizeof(double));
  f->record.r = f->r = copy(from->r, 3 * count * sizeof(double));
  return f->pair && f->weight && f->frame && f->c && f->r
             ? EB_OK
             : EB_ERROR(EB_ERR_MEMORY, "cheat-contact: no memory for %zu contacts", count);
}

static eb_error fill(forged *f, eb_solver *solver) {
  const char *name = eb_values_text(solver->options, "fault");
  size_t count = sizeof faults / sizeof *faults, i = 0;
  while (i < count && strcmp(faults[i].name, name) != 0) i++;
  if (i == count) return EB_ERROR(EB_ERR_USAGE, "cheat-contact: there is no fault '%s'", name);
  f->spoil = faults[i].spoil;
  return wrapped_create(&f->w, solver, eb_values_text(solver->options, "of"), "");
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  forged *f = solver->data = calloc(1, sizeof *f);
  eb_error error = f ? fill(f, solver) : EB_ERROR(EB_ERR_MEMORY, "cheat-contact: no memory");
  if (error) destroy(solver);
  return error;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  forged *f = solver->data;
  EB_TRY(wrapped_step(&f->w, state, dt, log, reason));
  if (!log->contacts) return EB_OK;
  EB_TRY(copy_record(f, log->contacts));
  log->contacts = &f->record;
  if (f->spoil) f->spoil(f, state, dt, log);
  return EB_OK;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {
    .name = "cheat-contact",
    .summary = "a built-in solver of contact with one fault in its contacts",
    .citation = "",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_TRIANGLES | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_CONTACT | EB_CAP_FREE_BODIES,
    .update = EB_UPDATE_END_VELOCITY,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
