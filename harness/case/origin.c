#include "harness/case/origin.h"

#include <inttypes.h>
#include <string.h>

#include "problems/base/memory.h"

/* ---- the donor ------------------------------------------------------------------------------- */

static const char *file_of(const eb_origin *from) {
  return from->file ? from->file : "";
}

/* What became of a run that lacks a state. */
static eb_error missing_state(const eb_run *donor, int64_t step) {
  bool went_on = donor->steps_done >= step;
  return EB_ERROR(EB_ERR_UNSUPPORTED, "run %s has no state after step %" PRId64 ": it %s %s%s%s%s",
                  donor->id, step, went_on ? "kept none there and" : "ended before, as",
                  went_on ? "is" : "", donor->outcome, *donor->detail ? ": " : "", donor->detail);
}

static eb_error find_donor(eb_job *j) {
  const eb_origin *from = &j->work->from;
  for (int i = 0; i < eb_results_count(j->donor); i++)
    if (strcmp(eb_results_run(j->donor, i)->id, from->run) == 0)
      return eb_checkpoints_open(j->donor, i, &j->states);
  return EB_ERROR(EB_ERR_UNSUPPORTED, "run %s, which this case starts from, is not in '%s'",
                  from->run, file_of(from));
}

static eb_error check_states(const eb_job *j) {
  eb_range steps = j->work->from.steps;
  const eb_run *donor = eb_results_run(j->donor, j->states.run);
  for (int64_t step = steps.first; step <= steps.last; step += steps.stride)
    if (eb_checkpoints_find(&j->states, step) < 0) return missing_state(donor, step);
  return EB_OK;
}

/* The nodes at rest before any cut, bit by bit. */
static bool same_nodes(const eb_scene *scene, const eb_mesh *theirs, const eb_run *donor) {
  size_t bytes = 3 * (size_t)scene->uncut_nodes * sizeof *theirs->X;
  return donor->uncut_nodes == scene->uncut_nodes &&
         donor->elements == scene->mesh->element_count && theirs->type == scene->mesh->type &&
         memcmp(theirs->X, scene->mesh->X, bytes) == 0;
}

/* Cuts change which nodes elements have; without them they are the same bit by bit. */
static bool same_elements(const eb_scene *scene, const eb_mesh *theirs) {
  size_t corners = (size_t)theirs->element_count * theirs->type;
  if (scene->cut_count > 0) return true;
  return memcmp(theirs->elements, scene->mesh->elements, corners * sizeof *theirs->elements) == 0;
}

static eb_error check_mesh(const eb_job *j) {
  eb_mesh *mesh;
  const eb_run *donor = eb_results_run(j->donor, j->states.run);
  EB_TRY(eb_results_mesh(j->donor, j->states.run, &mesh));
  bool same = same_nodes(j->scene, mesh, donor) && same_elements(j->scene, mesh);
  eb_mesh_destroy(mesh);
  if (same) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "run %s is on another mesh (%s:%s, %" PRId64 " nodes): a case can only start "
                  "from a state of its own mesh, which has %d nodes",
                  donor->id, donor->scene, donor->parameters, donor->uncut_nodes,
                  j->scene->uncut_nodes);
}

static eb_error open_donor(eb_job *j) {
  const eb_origin *from = &j->work->from;
  if (!from->file)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "run %s, which this case starts from, was not run",
                    from->run);
  eb_error error = eb_results_open(from->file, &j->donor);
  if (error) return eb_error_prefix(error, "run %s, which this case starts from", from->run);
  EB_TRY(find_donor(j));
  EB_TRY(check_states(j));
  return check_mesh(j);
}

eb_error eb_origin_open(eb_job *j, eb_error *failure) {
  *failure = EB_OK;
  if (!j->work->from.run) return EB_OK;
  *failure = open_donor(j);
  if (!*failure || eb_error_kind(*failure) != EB_ERR_IO) return EB_OK;
  /* A file that is not there is a donor that has not run. */
  eb_error gone = *failure;
  *failure = EB_ERROR(EB_ERR_UNSUPPORTED, "%s", eb_error_message(gone));
  eb_error_free(gone);
  return EB_OK;
}

void eb_origin_close(eb_job *j) {
  eb_checkpoints_close(&j->states);
  eb_results_close(j->donor);
  j->donor = NULL;
}

/* ---- placing a state ------------------------------------------------------------------------- */

/* Makes the cuts that the state's mesh has had. The values that they are made on do not matter: the
 * state's own take their place. */
static eb_error follow_cuts(eb_job *j, size_t row) {
  bool changed = false;
  if ((double)j->after->node_count >= j->states.nodes[row]) return EB_OK;
  j->after->time = j->states.began[row];
  EB_TRY(eb_witness_advance(&j->witness, j->after));
  EB_TRY(eb_scene_advance(j->scene, j->after, &changed));
  if (!changed) return EB_OK;
  EB_TRY(eb_job_follow_mesh(j));
  return eb_solver_rebuild(j->solver, j->after, j->log);
}

/* *on is false when the scripts of this scene have not cut the mesh as the donor's had, or the
 * solver cannot follow: then the outcome is set. */
static eb_error place(eb_job *j, int64_t row, bool *on) {
  eb_error failure = follow_cuts(j, (size_t)row);
  if (!failure) failure = eb_checkpoints_read(&j->states, (size_t)row, j->after);
  *on = !failure;
  return failure ? eb_job_conclude_error(j, "start", failure) : EB_OK;
}

eb_error eb_origin_start(eb_job *j, bool *on) {
  EB_TRY(place(j, eb_checkpoints_find(&j->states, j->work->from.steps.first), on));
  j->after->step = 0;
  return EB_OK;
}

/* ---- samples --------------------------------------------------------------------------------- */

static eb_error renew_solver(eb_job *j, bool *on) {
  const eb_case *work = j->work;
  eb_solver_destroy(j->solver);
  j->solver = NULL;
  j->renew = false;
  eb_error failure = eb_solver_create(work->solver, work->options, j->scene, work->threads,
                                      (uint64_t)work->seed, &j->solver);
  *on = !failure;
  return failure ? eb_job_conclude_error(j, "set-up of the solver", failure) : EB_OK;
}

/* The step before, when the donor has kept the state that it starts from, and no sample has led
 * beyond a cut that came later. */
static eb_error lead_in(eb_job *j, int64_t step, bool *on) {
  int64_t row = eb_checkpoints_find(&j->states, step - 1);
  j->lead = 0;
  if (row < 0 || j->states.nodes[row] < (double)j->after->node_count) return EB_OK;
  EB_TRY(place(j, row, on));
  if (!*on) return EB_OK;
  j->after->step = j->run.steps_done;
  return eb_job_lead(j, on);
}

eb_error eb_origin_sample(eb_job *j, bool *on) {
  const eb_range *steps = &j->work->from.steps;
  int64_t step = steps->first + j->run.steps_done * steps->stride;
  bool first = j->run.steps_done == 0 || j->renew;
  double led = j->lead_cpu;
  *on = true;
  if (j->renew) EB_TRY(renew_solver(j, on));
  if (*on) EB_TRY(lead_in(j, step, on));
  if (first) j->lead_cpu = led;
  if (*on) EB_TRY(place(j, eb_checkpoints_find(&j->states, step), on));
  if (!*on) return EB_OK;
  j->after->step = j->run.steps_done;
  j->from_step = step;
  EB_TRY(eb_witness_jump(&j->witness));
  return eb_job_sample_frame(j);
}

/* A lead-in does what a step does, from farther away, which may be as much as a set-up. What is
 * prepared there for the step that is timed would take time off the clock: ten steps and a set-up
 * for each are beyond what any method needs. The first one of a new solver is its set-up: an
 * iterative method that has no solution of its own to start from yet may need as many iterations
 * as in fifty later steps, as in the first step of any run, which figures of times leave out. */
void eb_origin_judge(eb_job *j) {
  static const double steps = 10, moment = 0.02;
  double allowed = steps * j->cost.timed_cpu + moment +
                   (double)j->run.steps_done * (j->run.setup_cpu_seconds + moment);
  if (j->lead_cpu <= allowed) return;
  eb_verdict_break(&j->witness.verdict, EB_RULE_HIDDEN_WORK,
                   "the steps that lead to samples have taken %.3g s of processor time, beside "
                   "%.3g s of timed work",
                   j->lead_cpu, j->cost.timed_cpu);
}
