#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evidence.h"
#include "problems/base/memory.h"

static eb_error frames_to_steps(const char *spec, int64_t frames, int64_t *steps) {
  char *name, *assignments;
  EB_TRY(eb_split_spec(spec, &name, &assignments));
  const eb_scene_ops *scene = eb_scene_find(name);
  int64_t a_frame = scene && scene->steps_per_frame > 0 ? scene->steps_per_frame : 1;
  free(name);
  free(assignments);
  *steps = frames * a_frame;
  return EB_OK;
}

/* The repetitions of one case, as eb_plan_create makes them. */
static eb_error expand(const eb_paper_case *work, const eb_plugins *plugins, eb_plan *out) {
  eb_request request = {.plugins = plugins};
  request.settings = (eb_settings){.repeat = work->repeat,
                                   .timeout = work->timeout,
                                   .memory = work->memory,
                                   .thread_count = 1,
                                   .threads = {(int)work->threads}};
  *out = (eb_plan){0};
  eb_error error = frames_to_steps(work->scene, work->frames, &request.settings.steps);
  if (!error) error = eb_strings_add(&request.names, work->scene);
  if (!error) error = eb_strings_add(&request.solvers, work->solver);
  if (!error) error = eb_plan_create(&request, out);
  eb_strings_clear(&request.names);
  eb_strings_clear(&request.solvers);
  return error;
}

/* What this build lacks is a result; everything else is an error. */
static eb_error note_trouble(struct eb_planned *planned, eb_error error) {
  if (!error || eb_error_kind(error) != EB_ERR_USAGE) return error;
  planned->trouble = strdup(eb_error_message(error));
  eb_error_free(error);
  return planned->trouble ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a message");
}

static bool is_planned(const eb_plan *plan, const char *identity) {
  for (int i = 0; i < plan->count; i++)
    if (strcmp(plan->cases[i].identity, identity) == 0) return true;
  return false;
}

/* Moves a case to the end of the plan unless the same work is there already. */
static eb_error take(eb_plan *plan, eb_case *work, int group) {
  if (is_planned(plan, work->identity)) return EB_OK;
  if (plan->count == plan->capacity) {
    int capacity = plan->capacity ? 2 * plan->capacity : 64;
    eb_case *grown = eb_recalloc(plan->cases, (size_t)plan->count, (size_t)capacity, sizeof *grown);
    if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot plan %d cases", capacity);
    plan->cases = grown;
    plan->capacity = capacity;
  }
  work->order = plan->count;
  work->group = group;
  plan->cases[plan->count++] = *work;
  *work = (eb_case){0};
  return EB_OK;
}

/* Expands the cases [first, last) and takes their repetitions in turns. */
static eb_error plan_group(const eb_paper *paper, const bool *wanted, const eb_plugins *plugins,
                           int first, int last, eb_plan *expanded, eb_paper_plan *out) {
  int64_t rounds = 0;
  for (int c = first; c < last; c++) {
    if (wanted && !wanted[c]) continue;
    EB_TRY(note_trouble(&out->cases[c], expand(&paper->cases[c], plugins, &expanded[c])));
    for (int r = 0; r < expanded[c].count; r++)
      EB_TRY(eb_strings_add(&out->cases[c].identities, expanded[c].cases[r].identity));
    if (expanded[c].count > rounds) rounds = expanded[c].count;
  }
  for (int64_t r = 0; r < rounds; r++)
    for (int c = first; c < last; c++)
      if (r < expanded[c].count)
        EB_TRY(take(&out->plan, &expanded[c].cases[r], paper->cases[c].group));
  return EB_OK;
}

static eb_error plan_all(const eb_paper *paper, const bool *wanted, const eb_plugins *plugins,
                         eb_plan *expanded, eb_paper_plan *out) {
  for (int first = 0, last; first < paper->case_count; first = last) {
    last = first + 1;
    while (last < paper->case_count && paper->cases[last].group == paper->cases[first].group)
      last++;
    EB_TRY(plan_group(paper, wanted, plugins, first, last, expanded, out));
  }
  return EB_OK;
}

eb_error eb_paper_plan_create(const eb_paper *paper, const bool *wanted, const eb_plugins *plugins,
                              eb_paper_plan *out) {
  eb_plan *expanded;
  *out = (eb_paper_plan){.case_count = paper->case_count};
  EB_TRY(EB_NEW(out->cases, paper->case_count));
  EB_TRY(EB_NEW(expanded, paper->case_count));
  eb_error error = plan_all(paper, wanted, plugins, expanded, out);
  for (int c = 0; c < paper->case_count; c++) eb_plan_clear(&expanded[c]);
  free(expanded);
  return error;
}

void eb_paper_plan_clear(eb_paper_plan *plan) {
  for (int c = 0; plan->cases && c < plan->case_count; c++) {
    eb_strings_clear(&plan->cases[c].identities);
    free(plan->cases[c].trouble);
  }
  free(plan->cases);
  eb_plan_clear(&plan->plan);
  *plan = (eb_paper_plan){0};
}
