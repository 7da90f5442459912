#include "harness/suite/donors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/results/checkpoints.h"
#include "harness/strings.h"
#include "problems/base/hash.h"

/* ---- a donor in the plan --------------------------------------------------------------------- */

/* The parameters that the scene says its mesh depends on; what else a mesh may depend on is seen
 * when the case runs. */
static eb_error check_mesh(const eb_case *donor, const eb_case *work) {
  const char *left, *right;
  bool same_file =
      (!donor->mesh_file && !work->mesh_file) ||
      (donor->mesh_file && work->mesh_file && strcmp(donor->mesh_file, work->mesh_file) == 0);
  if (donor->scene != work->scene || !same_file)
    return EB_ERROR(EB_ERR_USAGE, "%s cannot start from a state of %s: they have different meshes",
                    work->scene->name, donor->scene->name);
  for (const char *name = work->scene->mesh_parameters; name && *name;) {
    size_t length = strcspn(name, ",");
    size_t a = eb_assigned_value(donor->all_parameters, name, length, &left);
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

static eb_error tie_to_case(eb_plan *plan, const eb_ties *ties, const eb_section_cases *donors,
                            eb_case *work) {
  if (!donors)
    return EB_ERROR(EB_ERR_USAGE, "'%s' is no result file: --from wants FILE.h5:RUN@STEP",
                    ties->donor);
  if (donors->count != 1)
    return EB_ERROR(EB_ERR_USAGE,
                    "from: [%s] has %d cases, and a case starts from one; make a section of it",
                    ties->donor, donors->count);
  eb_case *donor = &plan->cases[donors->last];
  if (ties->steps.last > donor->steps)
    return EB_ERROR(EB_ERR_USAGE, "from: [%s] has %lld steps, and never comes to step %lld",
                    ties->donor, (long long)donor->steps, (long long)ties->steps.last);
  if (donor->from.samples)
    return EB_ERROR(EB_ERR_USAGE, "from: [%s] is of samples, which are no motion", ties->donor);
  EB_TRY(check_mesh(donor, work));
  work->donor = donors->last + 1;
  work->from.donor = eb_hash(EB_HASH_SEED, donor->task, strlen(donor->task));
  EB_TRY(eb_string_set(&work->from.run, donor->id));
  /* The donor keeps the states that are wanted, and those before them that lead to samples. */
  eb_range wanted = work->from.steps;
  eb_range before = {wanted.first - 1, wanted.last - 1, wanted.stride};
  if (before.first < 0) before.first += before.stride;
  EB_TRY(eb_ranges_add(&donor->checkpoints, wanted));
  return work->from.samples && before.first <= before.last
             ? eb_ranges_add(&donor->checkpoints, before)
             : EB_OK;
}

/* ---- a donor in a file ----------------------------------------------------------------------- */

/* The run of that id, or the only one whose id has that part. */
static eb_error find_run(const eb_results *results, const char *name, int *out) {
  int found = 0;
  for (int i = 0; i < eb_results_count(results); i++) {
    const char *id = eb_results_run(results, i)->id;
    bool exact = name && strcmp(id, name) == 0;
    if (name && !strstr(id, name)) continue;
    *out = i;
    found++;
    if (exact) return EB_OK;
  }
  if (found == 1) return EB_OK;
  if (found > 1)
    return EB_ERROR(EB_ERR_USAGE, "'%s' has %d runs%s%s%s; name one by its id",
                    eb_results_path(results), found, name ? " with '" : "", name ? name : "",
                    name ? "' in their ids" : "");
  eb_strings ids = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < eb_results_count(results) && !error; i++)
    error = eb_strings_add(&ids, eb_results_run(results, i)->id);
  if (!error) error = eb_unknown_name("run", name ? name : "", &ids);
  eb_strings_clear(&ids);
  return error;
}

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

static eb_error tie_to_file(const eb_ties *ties, eb_case *work) {
  eb_results *results;
  eb_checkpoints states = {0};
  const eb_run *donor = NULL;
  int run = 0;
  EB_TRY(eb_results_open(ties->file, &results));
  eb_error error = find_run(results, ties->donor, &run);
  if (!error) error = eb_checkpoints_open(results, run, &states);
  if (!error) donor = eb_results_run(results, run);
  if (!error) error = check_kept(&states, donor->id, work->from.steps);
  eb_checkpoints_close(&states);
  if (!error) {
    uint64_t hash = eb_hash(EB_HASH_SEED, donor->identity, strlen(donor->identity));
    work->from.donor = eb_hash(hash, donor->state_hash, strlen(donor->state_hash));
    error = eb_string_set(&work->from.run, donor->id);
  }
  eb_results_close(results);
  return error ? error : eb_string_set(&work->from.file, ties->file);
}

/* ---- a case ---------------------------------------------------------------------------------- */

eb_error eb_case_tie(eb_plan *plan, const eb_ties *ties, const eb_section_cases *donors,
                     const eb_plugin *plugin, eb_case *work) {
  if (ties->tied) {
    work->from.steps = ties->steps;
    work->from.samples = !ties->single;
    EB_TRY(ties->file ? eb_error_prefix(tie_to_file(ties, work), "from")
                      : tie_to_case(plan, ties, donors, work));
    if (work->from.samples) work->steps = eb_range_count(work->from.steps);
  }
  for (int i = 0; i < ties->checkpoints.count; i++)
    if (ties->checkpoints.items[i].last > work->steps)
      return EB_ERROR(EB_ERR_USAGE, "checkpoints: the case has %" PRId64 " steps, not %" PRId64,
                      work->steps, ties->checkpoints.items[i].last);
  if (ties->checkpoints.count > 0 && work->from.samples)
    return EB_ERROR(EB_ERR_USAGE,
                    "checkpoints: samples are no motion that others could go on from");
  EB_TRY(eb_ranges_add_all(&work->checkpoints, &ties->checkpoints));
  return eb_case_resolve(work, plugin);
}
