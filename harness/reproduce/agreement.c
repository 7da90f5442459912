/* The motion of two solvers on one scene, in one process and in double precision (stored frames are single).
 *
 *   difference = max over nodes of |x_a - x_b| after the last step, over the diagonal of the rest box */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/probe.h"
#include "problems/base/clock.h"
#include "solvers/solver.h"

typedef struct side {
  eb_scene *scene;
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log;
} side;

static void clear_side(side *s) {
  eb_step_log_destroy(s->log);
  eb_state_destroy(s->state);
  eb_solver_destroy(s->solver);
  eb_scene_destroy(s->scene);
}

static eb_error create_solver(const char *spec, int threads, side *s) {
  char *name, *options;
  EB_TRY(eb_split_spec(spec, &name, &options));
  const eb_solver_ops *ops = eb_solver_find(name);
  eb_error error = ops ? eb_solver_create(ops, options, s->scene, threads, 0, &s->solver)
                       : EB_ERROR(EB_ERR_USAGE, "there is no solver '%s'", name);
  free(name);
  free(options);
  return error;
}

static eb_error create_side(const eb_probing *p, const char *solver, side *s) {
  enum { RESIDUALS = 16 };
  const char *spec = eb_section_value(p->arguments, solver);
  if (!spec) return EB_ERROR(EB_ERR_FORMAT, "'%s' is missing", solver);
  EB_TRY(eb_probe_scene(p, &s->scene));
  EB_TRY(create_solver(spec, p->threads, s));
  EB_TRY(eb_state_create(s->scene, &s->state));
  return eb_step_log_create(RESIDUALS, &s->log);
}

/* What the harness does around a step of a case, without its clocks. A step that fails is a result: *on is then false. */
static eb_error step(eb_probing *p, side *s, bool *on) {
  eb_reason reason = EB_RUNNING;
  int64_t number = s->state->step + 1;
  double time = s->state->time + s->scene->dt;
  char text[200];
  eb_step_log_reset(s->log);
  EB_TRY(s->solver->ops->step(s->solver, s->state, s->scene->dt, s->log, &reason));
  s->state->step = number;
  s->state->time = time;
  if (reason > 0) return EB_OK;
  *on = false;
  snprintf(text, sizeof text, "step %lld of %s ended with %s", (long long)number,
           s->solver->ops->name, eb_reason_name(reason));
  json_object_set_new(p->out, "failure", json_string(text));
  return EB_OK;
}

static double difference_of(const side *a, const side *b) {
  double most = 0, lo[3], hi[3], diagonal = 0;
  for (int32_t i = 0; i < a->state->node_count; i++) {
    double square = 0;
    for (int d = 0; d < 3; d++) square += pow(a->state->x[3 * i + d] - b->state->x[3 * i + d], 2);
    if (!(square <= most)) most = square;
  }
  eb_mesh_bounds(a->scene->mesh->X, a->scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) diagonal += pow(hi[d] - lo[d], 2);
  return sqrt(most / diagonal);
}

static eb_error record(eb_probing *p, const side *a, const side *b, int64_t wanted) {
  json_object_set_new(p->out, "steps", json_integer(a->state->step));
  json_object_set_new(p->out, "steps_wanted", json_integer(wanted));
  json_object_set_new(p->out, "difference", json_real(difference_of(a, b)));
  return eb_probe_save(p);
}

static eb_error walk(eb_probing *p, side *a, side *b) {
  int64_t steps = 100;
  const char *text = eb_section_value(p->arguments, "steps");
  double began = eb_wall_seconds();
  if (text) EB_TRY(eb_parse_whole("steps", text, 1, 1000000, &steps));
  EB_TRY(create_side(p, "first", a));
  EB_TRY(create_side(p, "second", b));
  for (bool on = true; on && a->state->step < steps;) {
    EB_TRY(step(p, a, &on));
    if (on) EB_TRY(step(p, b, &on));
    EB_TRY(record(p, a, b, steps));
    on = on && !(p->time_limit > 0 && eb_wall_seconds() - began > p->time_limit);
  }
  return EB_OK;
}

static eb_error run(eb_probing *probing) {
  side a = {0}, b = {0};
  eb_error error = walk(probing, &a, &b);
  clear_side(&a);
  clear_side(&b);
  return error;
}

const eb_probe eb_probe_agreement = {
    "agreement", "two solvers on one scene, step by step in one process",
    (const char *const[]){"scene", "first", "second", "steps", NULL}, run};
