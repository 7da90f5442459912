#include "harness/suite/source_runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/results/checkpoints.h"
#include "harness/results/choose.h"
#include "problems/base/strings.h"
#include "problems/base/hash.h"

/* ---- a source run in the plan
 * --------------------------------------------------------------------- */

/* The parameters that the scene says its mesh depends on; what else a mesh may depend on is seen
 * when the case runs. */
static eb_error check_mesh(const eb_case *source_run, const eb_case *work) {
  const char *left, *right;
  bool same_file = (!source_run->mesh_file && !work->mesh_file) ||
                   (source_run->mesh_file && work->mesh_file &&
                    strcmp(source_run->mesh_file, work->mesh_file) == 0);
  if (!eb_same_scene(source_run->scene, work->scene) || !same_file)
    return EB_ERROR(EB_ERR_USAGE, "%s cannot start from a state of %s: they have different meshes",
                    work->scene->name, source_run->scene->name);
  for (const char *name = work->scene->mesh_parameters; name && *name;) {
    size_t length = strcspn(name, ",");
    size_t a = eb_assigned_value(source_run->all_parameters, name, length, &left);
    size_t b = eb_assigned_value(work->all_parameters, name, length, &right);
    if (a != b || strncmp(left, right, a) != 0)
      return EB_ERROR(EB_ERR_USAGE,
                      "%s with %.*s = %.*s cannot start from a state of one with %.*s: they have "
                      "different meshes",
                      work->scene->name, (int)length, name, (int)b, right, (int)a, left);
    name += length + (name[length] == ',');
  }
  return EB_OK;
}

static eb_error tie_to_case(eb_plan *plan, const eb_dependencies *dependencies,
                            const eb_section_cases *source_runs, eb_case *work) {
  if (!source_runs)
    return EB_ERROR(EB_ERR_USAGE, "'%s' is no result file: --from wants FILE.h5:RUN@STEP",
                    dependencies->source_run);
  if (source_runs->count != 1)
    return EB_ERROR(EB_ERR_USAGE,
                    "from: [%s] has %d cases, and a case starts from one; make a section of it",
                    dependencies->source_run, source_runs->count);
  eb_case *source_run = &plan->cases[source_runs->last];
  if (dependencies->steps.last > source_run->steps)
    return EB_ERROR(EB_ERR_USAGE, "from: [%s] has %lld steps, and never comes to step %lld",
                    dependencies->source_run, (long long)source_run->steps,
                    (long long)dependencies->steps.last);
  if (source_run->from.samples)
    return EB_ERROR(EB_ERR_USAGE, "from: [%s] is of samples, which are no motion",
                    dependencies->source_run);
  EB_TRY(check_mesh(source_run, work));
  work->source_run = source_runs->last + 1;
  work->from.source_run = eb_hash(EB_HASH_SEED, source_run->task, strlen(source_run->task));
  EB_TRY(eb_string_set(&work->from.run, source_run->id));
  /* The source run keeps the states that are wanted, and those before them that lead to samples. */
  eb_range wanted = work->from.steps;
  eb_range before = {wanted.first - 1, wanted.last - 1, wanted.stride};
  if (before.first < 0) before.first += before.stride;
  EB_TRY(eb_ranges_add(&source_run->checkpoints, wanted));
  return work->from.samples && before.first <= before.last
             ? eb_ranges_add(&source_run->checkpoints, before)
             : EB_OK;
}

/* ---- a source run in a file
 * ----------------------------------------------------------------------- */

/* Whether the run keeps the states that the case is to start from. */
static eb_error check_kept(const eb_checkpoints *states, const char *id, eb_range steps) {
  int64_t step = steps.first;
  while (step <= steps.last && eb_checkpoints_find(states, step) >= 0) step += steps.stride;
  if (step > steps.last) return EB_OK;
  eb_text kept = {0};
  eb_error error = eb_text_printf(&kept, states->count ? "it has those after" : "it has none");
  for (size_t i = 0; i < states->count && !error; i++)
    error = eb_text_printf(&kept, " %.0f", states->step[i]);
  if (!error)
    error = EB_ERROR(EB_ERR_USAGE,
                     "run %s keeps no state after step %" PRId64 " (%.200s); run it again with "
                     "--checkpoints %" PRId64,
                     id, step, kept.data, step);
  eb_text_clear(&kept);
  return error;
}

static eb_error tie_to_file(const eb_dependencies *dependencies, eb_case *work) {
  eb_results *results;
  eb_checkpoints states = {0};
  const eb_run *source_run = NULL;
  int run = 0;
  EB_TRY(eb_results_open(dependencies->file, &results));
  eb_error error = eb_results_choose(results, dependencies->source_run, &run);
  if (!error) error = eb_checkpoints_open(results, run, &states);
  if (!error) source_run = eb_results_run(results, run);
  if (!error) error = check_kept(&states, source_run->id, work->from.steps);
  eb_checkpoints_close(&states);
  if (!error) {
    uint64_t hash = eb_hash(EB_HASH_SEED, source_run->identity, strlen(source_run->identity));
    work->from.source_run = eb_hash(hash, source_run->state_hash, strlen(source_run->state_hash));
    error = eb_string_set(&work->from.run, source_run->id);
  }
  eb_results_close(results);
  return error ? error : eb_string_set(&work->from.file, dependencies->file);
}

/* ---- a case ---------------------------------------------------------------------------------- */

eb_error eb_dependencies_apply(eb_plan *plan, const eb_dependencies *dependencies,
                               const eb_section_cases *source_runs, const eb_plugin *plugin,
                               eb_case *work) {
  if (dependencies->tied) {
    work->from.steps = dependencies->steps;
    work->from.samples = !dependencies->single;
    EB_TRY(dependencies->file ? eb_error_prefix(tie_to_file(dependencies, work), "from")
                              : tie_to_case(plan, dependencies, source_runs, work));
    if (work->from.samples) work->steps = eb_range_count(work->from.steps);
  }
  for (int i = 0; i < dependencies->checkpoints.count; i++)
    if (dependencies->checkpoints.items[i].last > work->steps)
      return EB_ERROR(EB_ERR_USAGE, "checkpoints: the case has %" PRId64 " steps, not %" PRId64,
                      work->steps, dependencies->checkpoints.items[i].last);
  if (dependencies->checkpoints.count > 0 && work->from.samples)
    return EB_ERROR(EB_ERR_USAGE,
                    "checkpoints: samples are no motion that others could go on from");
  EB_TRY(eb_ranges_add_all(&work->checkpoints, &dependencies->checkpoints));
  return eb_case_resolve(work, plugin);
}
