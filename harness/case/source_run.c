#include "harness/case/source_run.h"

#include <inttypes.h>
#include <string.h>

/* The nodes at rest before any cut, and the elements, bit by bit: only that cuts change which nodes
 * elements have. */
static eb_error check_mesh(const eb_source_run *source_run, const eb_run *run,
                           const eb_scene *scene) {
  const eb_mesh *ours = scene->mesh;
  eb_mesh *theirs;
  EB_TRY(eb_results_mesh(source_run->results, source_run->states.run, &theirs));
  size_t nodes = 3 * (size_t)scene->script.uncut_nodes * sizeof *theirs->X;
  size_t corners = (size_t)theirs->element_count * theirs->type * sizeof *theirs->elements;
  bool same =
      run->uncut_nodes == scene->script.uncut_nodes && run->elements == ours->element_count &&
      theirs->type == ours->type && memcmp(theirs->X, ours->X, nodes) == 0 &&
      (scene->script.cut_count > 0 || memcmp(theirs->elements, ours->elements, corners) == 0);
  eb_mesh_destroy(theirs);
  if (same) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "run %s is on another mesh (%s:%s, %" PRId64 " nodes): a case can only start "
                  "from a state of its own mesh, which has %d nodes",
                  run->id, run->scene, run->parameters, run->uncut_nodes,
                  scene->script.uncut_nodes);
}

static eb_error open_states(const eb_origin *from, const eb_scene *scene, eb_source_run *out) {
  const eb_run *run = NULL;
  EB_TRY(eb_error_prefix(eb_results_open(from->file, &out->results),
                         "run %s, which this case starts from", from->run));
  for (int i = 0; i < eb_results_count(out->results) && !run; i++) {
    if (strcmp(eb_results_run(out->results, i)->id, from->run) != 0) continue;
    run = eb_results_run(out->results, i);
    EB_TRY(eb_checkpoints_open(out->results, i, &out->states));
  }
  if (!run)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "run %s, which this case starts from, is not in '%s'",
                    from->run, from->file);
  for (int64_t step = from->steps.first; step <= from->steps.last; step += from->steps.stride) {
    bool went_on = run->steps_done >= step;
    if (eb_checkpoints_find(&out->states, step) >= 0) continue;
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "run %s has no state after step %" PRId64 ": it %s %s%s%s%s", run->id, step,
                    went_on ? "kept none there and" : "ended before, as", went_on ? "is" : "",
                    run->outcome, *run->detail ? ": " : "", run->detail);
  }
  return check_mesh(out, run, scene);
}

eb_error eb_source_run_open(const eb_origin *from, const eb_scene *scene, eb_source_run *out) {
  *out = (eb_source_run){0};
  if (!from->file)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "run %s, which this case starts from, was not run",
                    from->run);
  eb_error error = open_states(from, scene, out);
  if (!error || eb_error_kind(error) != EB_ERR_IO) return error;
  eb_error absent = EB_ERROR(EB_ERR_UNSUPPORTED, "%s", eb_error_message(error));
  eb_error_free(error);
  return absent;
}

void eb_source_run_close(eb_source_run *source_run) {
  eb_checkpoints_close(&source_run->states);
  eb_results_close(source_run->results);
  *source_run = (eb_source_run){0};
}
