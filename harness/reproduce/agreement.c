/* The motion of two solvers on one scene, in one process and in double precision (stored frames are single).
 *
 *   difference = max over nodes of |x_a - x_b| after the last step, over the diagonal of the rest box */
#include <math.h>
#include <stdio.h>

#include "harness/names.h"
#include "harness/reproduce/probe.h"
#include "harness/reproduce/walker.h"
#include "problems/base/clock.h"

static eb_error create_side(const eb_probing *p, const char *solver, eb_walker *out) {
  const char *scene = eb_section_value(p->arguments, "scene"),
             *spec = eb_section_value(p->arguments, solver);
  if (!scene) return EB_ERROR(EB_ERR_FORMAT, "'scene' is missing");
  if (!spec) return EB_ERROR(EB_ERR_FORMAT, "'%s' is missing", solver);
  EB_TRY(eb_walker_create(scene, spec, p->threads, out));
  eb_probe_note_scene(p, scene, out->scene);
  return EB_OK;
}

/* A step that fails is a result: *on is then false. */
static eb_error step(eb_probing *p, eb_walker *side, bool *on) {
  eb_reason reason;
  char text[200];
  EB_TRY(eb_walker_step(side, &reason));
  if (reason > 0) return EB_OK;
  *on = false;
  snprintf(text, sizeof text, "step %lld of %s ended with %s", (long long)side->state->step,
           side->solver->ops->name, eb_reason_name(reason));
  json_object_set_new(p->out, "failure", json_string(text));
  return EB_OK;
}

static double difference_of(const eb_walker *a, const eb_walker *b) {
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

static eb_error record(eb_probing *p, const eb_walker *a, const eb_walker *b, int64_t wanted) {
  json_object_set_new(p->out, "steps", json_integer(a->state->step));
  json_object_set_new(p->out, "steps_wanted", json_integer(wanted));
  json_object_set_new(p->out, "difference", json_real(difference_of(a, b)));
  return eb_probe_save(p);
}

static eb_error walk(eb_probing *p, eb_walker *a, eb_walker *b) {
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
  eb_walker a = {0}, b = {0};
  eb_error error = walk(probing, &a, &b);
  eb_walker_clear(&a);
  eb_walker_clear(&b);
  return error;
}

const eb_probe eb_probe_agreement = {
    "agreement", "two solvers on one scene, step by step in one process",
    (const char *const[]){"scene", "first", "second", "steps", NULL}, run};
