#include "harness/suite/tie.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/results/checkpoints.h"
#include "problems/base/hash.h"
#include "problems/base/memory.h"

/* ---- sections -------------------------------------------------------------------------------- */

eb_error eb_places_create(const eb_suite *suite, eb_suite_places *out) {
  *out = (eb_suite_places){.suite = suite};
  EB_TRY(EB_NEW(out->items, suite->count));
  for (int i = 0; i < suite->count; i++) out->items[i] = (eb_place){.group = -1, .donor = -1};
  return EB_OK;
}

void eb_places_clear(eb_suite_places *places) {
  free(places->items);
  *places = (eb_suite_places){0};
}

static eb_error unknown_section(const eb_suite *suite, const char *name) {
  eb_strings labels = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < suite->count && !error; i++)
    error = eb_strings_add(&labels, suite->sections[i].label);
  if (!error) error = eb_unknown_name("section", name, &labels);
  eb_strings_clear(&labels);
  return error;
}

static int find_section(const eb_suite *suite, const char *label) {
  for (int i = 0; i < suite->count; i++)
    if (strcmp(suite->sections[i].label, label) == 0) return i;
  return -1;
}

eb_error eb_places_check(eb_suite_places *places) {
  const eb_suite *suite = places->suite;
  for (int i = 0; i < suite->count; i++) {
    const eb_suite_section *section = &suite->sections[i];
    if (!section->ties.tied || section->ties.file) continue;
    places->items[i].donor = find_section(suite, section->ties.donor);
    if (places->items[i].donor < 0)
      return eb_error_prefix(unknown_section(suite, section->ties.donor), "[%s]: from",
                             section->label);
  }
  return EB_OK;
}

int eb_places_next(const eb_suite_places *places) {
  for (int i = 0; i < places->suite->count; i++) {
    const eb_place *place = &places->items[i];
    if (!place->done && (place->donor < 0 || places->items[place->donor].done)) return i;
  }
  return -1;
}

/* From a section that waits, as many donors back as there are sections: that one is in a circle. */
eb_error eb_places_circle(const eb_suite_places *places) {
  eb_text text = {0};
  const eb_suite *suite = places->suite;
  int at = 0;
  while (places->items[at].done) at++;
  for (int i = 0; i < suite->count; i++) at = places->items[at].donor;
  eb_error error = eb_text_printf(&text, "[%s]", suite->sections[at].label);
  for (int i = places->items[at].donor; i != at && !error; i = places->items[i].donor)
    error = eb_text_printf(&text, " from [%s]", suite->sections[i].label);
  if (!error)
    error = EB_ERROR(EB_ERR_USAGE, "cases start from each other in a circle: %s from [%s]",
                     text.data, suite->sections[at].label);
  eb_text_clear(&text);
  return error;
}

void eb_place_note(eb_place *place, int at) {
  place->cases++;
  place->only = at;
}

/* ---- a donor in the plan --------------------------------------------------------------------- */

/* The value of one name in "a=1,b=2". */
static size_t find_value(const char *canonical, const char *name, size_t length,
                         const char **value) {
  for (const char *at = canonical; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (strncmp(at, name, length) == 0 && at[length] == '=') {
      *value = at + length + 1;
      return strcspn(*value, ",");
    }
  *value = "";
  return 0;
}

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
    size_t a = find_value(donor->all_parameters, name, length, &left);
    size_t b = find_value(work->all_parameters, name, length, &right);
    if (a != b || strncmp(left, right, a) != 0)
      return EB_ERROR(EB_ERR_USAGE,
                      "%s with %.*s = %.*s cannot start from a state of one with %.*s: they have "
                      "different meshes",
                      work->scene->name, (int)length, name, (int)b, right, (int)a, left);
    name += length + (name[length] == ',');
  }
  return EB_OK;
}

/* The states that are wanted, and those before them that lead to samples. */
static eb_error ask_for(eb_ranges *checkpoints, eb_range steps, bool samples) {
  EB_TRY(eb_ranges_add(checkpoints, steps));
  eb_range before = {steps.first - 1, steps.last - 1, steps.stride};
  if (before.first < 0) before.first += before.stride;
  return samples && before.first <= before.last ? eb_ranges_add(checkpoints, before) : EB_OK;
}

static eb_error tie_to_case(eb_plan *plan, const eb_ties *ties, const eb_suite_places *places,
                            eb_case *work) {
  if (!places)
    return EB_ERROR(EB_ERR_USAGE, "'%s' is no result file: --from wants FILE.h5:RUN@STEP",
                    ties->donor);
  const eb_place *place = &places->items[find_section(places->suite, ties->donor)];
  if (place->cases != 1)
    return EB_ERROR(EB_ERR_USAGE,
                    "from: [%s] has %d cases, and a case starts from one; make a section of it",
                    ties->donor, place->cases);
  eb_case *donor = &plan->cases[place->only];
  if (ties->steps.last > donor->steps)
    return EB_ERROR(EB_ERR_USAGE, "from: [%s] has %lld steps, and never comes to step %lld",
                    ties->donor, (long long)donor->steps, (long long)ties->steps.last);
  if (donor->from.samples)
    return EB_ERROR(EB_ERR_USAGE, "from: [%s] is of samples, which are no motion", ties->donor);
  EB_TRY(check_mesh(donor, work));
  work->donor = place->only + 1;
  work->from.donor = eb_hash(EB_HASH_SEED, donor->task, strlen(donor->task));
  EB_TRY(eb_run_set(&work->from.run, donor->id));
  return ask_for(&donor->checkpoints, work->from.steps, work->from.samples);
}

/* ---- a donor in a file ----------------------------------------------------------------------- */

static eb_error unknown_run(const eb_results *results, const char *name) {
  eb_strings ids = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < eb_results_count(results) && !error; i++)
    error = eb_strings_add(&ids, eb_results_run(results, i)->id);
  if (!error) error = eb_unknown_name("run", name, &ids);
  eb_strings_clear(&ids);
  return error;
}

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
  return unknown_run(results, name ? name : "");
}

static eb_error describe_kept(const eb_checkpoints *states, eb_text *text) {
  if (states->count == 0) return eb_text_printf(text, "it has none");
  EB_TRY(eb_text_printf(text, "it has those after"));
  for (size_t i = 0; i < states->count; i++) EB_TRY(eb_text_printf(text, " %.0f", states->step[i]));
  return EB_OK;
}

static eb_error check_kept(const eb_checkpoints *states, const char *id, eb_range steps) {
  for (int64_t step = steps.first; step <= steps.last; step += steps.stride) {
    if (eb_checkpoints_find(states, step) >= 0) continue;
    eb_text text = {0};
    eb_error error = describe_kept(states, &text);
    if (!error)
      error = EB_ERROR(EB_ERR_USAGE,
                       "run %s keeps no state after step %" PRId64 " (%.200s); run it again with "
                       "--checkpoints %" PRId64,
                       id, step, text.data, step);
    eb_text_clear(&text);
    return error;
  }
  return EB_OK;
}

static eb_error tie_to_run(const eb_results *results, int run, eb_case *work) {
  eb_checkpoints states;
  const eb_run *donor = eb_results_run(results, run);
  EB_TRY(eb_checkpoints_open(results, run, &states));
  eb_error error = check_kept(&states, donor->id, work->from.steps);
  eb_checkpoints_close(&states);
  EB_TRY(error);
  work->from.donor = eb_hash(EB_HASH_SEED, donor->identity, strlen(donor->identity));
  work->from.donor = eb_hash(work->from.donor, donor->state_hash, strlen(donor->state_hash));
  return eb_run_set(&work->from.run, donor->id);
}

static eb_error tie_to_file(const eb_ties *ties, eb_case *work) {
  eb_results *results;
  int run = 0;
  EB_TRY(eb_results_open(ties->file, &results));
  eb_error error = find_run(results, ties->donor, &run);
  if (!error) error = tie_to_run(results, run, work);
  eb_results_close(results);
  if (!error) error = eb_run_set(&work->from.file, ties->file);
  return error;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static eb_error check_own(const eb_ties *ties, const eb_case *work) {
  for (int i = 0; i < ties->checkpoints.count; i++)
    if (ties->checkpoints.items[i].last > work->steps)
      return EB_ERROR(EB_ERR_USAGE, "checkpoints: the case has %" PRId64 " steps, not %" PRId64,
                      work->steps, ties->checkpoints.items[i].last);
  if (ties->checkpoints.count > 0 && work->from.samples)
    return EB_ERROR(EB_ERR_USAGE,
                    "checkpoints: samples are no motion that others could go on from");
  return EB_OK;
}

eb_error eb_tie(eb_plan *plan, const eb_ties *ties, const eb_suite_places *places,
                const eb_plugin *plugin, eb_case *work) {
  if (ties->tied) {
    work->from.steps = ties->steps;
    work->from.samples = !ties->single;
    EB_TRY(ties->file ? eb_error_prefix(tie_to_file(ties, work), "from")
                      : tie_to_case(plan, ties, places, work));
    if (work->from.samples) work->steps = eb_range_count(work->from.steps);
  }
  EB_TRY(check_own(ties, work));
  EB_TRY(eb_ranges_add_all(&work->checkpoints, &ties->checkpoints));
  return eb_case_resolve(work, plugin);
}
