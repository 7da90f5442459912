#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evidence.h"
#include "harness/suite/plan.h"
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

/* What this build lacks is a result; everything else is an error. */
static eb_error note_trouble(struct eb_planned *planned, eb_error error) {
  if (!error || eb_error_kind(error) != EB_ERR_USAGE) return error;
  planned->trouble = strdup(eb_error_message(error));
  eb_error_free(error);
  return planned->trouble ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a message");
}

/* Plans a case by itself, wherever it starts. */
static eb_error try_case(const eb_paper_case *work, const eb_plugins *plugins,
                         struct eb_planned *planned) {
  eb_request request = {.plugins = plugins};
  eb_plan alone = {0};
  eb_error error = eb_strings_add(&request.names, work->scene);
  if (!error) error = eb_strings_add(&request.solvers, work->solver);
  if (!error) error = eb_plan_create(&request, &alone);
  eb_plan_clear(&alone);
  eb_strings_clear(&request.names);
  eb_strings_clear(&request.solvers);
  return note_trouble(planned, error);
}

/* Whom a case starts from that cannot be run is its own trouble. */
static eb_error follow_donors(const eb_paper *paper, int c, eb_paper_plan *out) {
  eb_text text = {0};
  int donor = paper->cases[c].donor;
  while (donor >= 0 && !out->cases[donor].trouble) donor = paper->cases[donor].donor;
  if (donor < 0 || out->cases[c].trouble) return EB_OK;
  EB_TRY(eb_text_printf(&text, "it starts from %s: %s", paper->cases[donor].name,
                        out->cases[donor].trouble));
  out->cases[c].trouble = text.data;
  return EB_OK;
}

/* ---- the paper as a suite -------------------------------------------------------------------- */

/* A section a case, by its name; the cases of a section of the paper compete. */
static eb_error fill_section(const eb_paper_case *work, eb_suite_section *out) {
  char group[20];
  bool known;
  out->settings = (eb_settings){.repeat = work->repeat,
                                .timeout = work->timeout,
                                .memory = work->memory,
                                .thread_count = 1,
                                .threads = {(int)work->threads}};
  out->label = strdup(work->name);
  if (!out->label) return EB_ERROR(EB_ERR_MEMORY, "cannot plan a case");
  EB_TRY(frames_to_steps(work->scene, work->frames, &out->settings.steps));
  EB_TRY(eb_strings_add(&out->scenes, work->scene));
  EB_TRY(eb_strings_add(&out->solvers, work->solver));
  EB_TRY(eb_paper_ties_read(work->ties, &out->ties));
  snprintf(group, sizeof group, "%d", work->group);
  return eb_ties_set(&out->ties, "group", group, &known);
}

static eb_error fill_suite(const eb_paper *paper, const eb_paper_plan *plan, eb_suite *suite) {
  suite->name = strdup(paper->name);
  if (!suite->name) return EB_ERROR(EB_ERR_MEMORY, "cannot plan a paper");
  EB_TRY(EB_NEW(suite->sections, paper->case_count));
  for (int c = 0; c < paper->case_count; c++)
    if (!plan->cases[c].trouble)
      EB_TRY(fill_section(&paper->cases[c], &suite->sections[suite->count++]));
  return EB_OK;
}

static eb_error plan_suite(const eb_paper *paper, const eb_plugins *plugins, eb_paper_plan *out) {
  eb_suite *suite;
  EB_TRY(EB_NEW(suite, 1));
  const eb_request request = {.suite = suite, .plugins = plugins};
  eb_error error = fill_suite(paper, out, suite);
  if (!error) error = eb_plan_create(&request, &out->plan);
  eb_suite_destroy(suite);
  return error;
}

/* ---- what is wanted of it -------------------------------------------------------------------- */

static int case_of(const eb_paper *paper, const char *label) {
  return eb_paper_case_find(paper, label, strlen(label));
}

static eb_error name_runs(const eb_paper *paper, eb_paper_plan *out) {
  const eb_plan *plan = &out->plan;
  for (int l = 0; l < plan->label_count; l++)
    EB_TRY(eb_strings_add(&out->cases[case_of(paper, plan->labels[l].label)].identities,
                          plan->cases[plan->labels[l].at].identity));
  for (int s = 0; s < plan->sweep_count; s++)
    EB_TRY(eb_sweep_identity(&plan->sweeps[s],
                             &out->cases[case_of(paper, plan->sweeps[s].name)].sweep));
  return EB_OK;
}

static eb_error keep_wanted(const eb_paper *paper, const bool *wanted, eb_plan *plan) {
  bool *cases, *sweeps;
  EB_TRY(EB_NEW(cases, plan->count));
  eb_error error = EB_NEW(sweeps, plan->sweep_count);
  if (!error) {
    for (int l = 0; l < plan->label_count; l++)
      cases[plan->labels[l].at] |= wanted[case_of(paper, plan->labels[l].label)];
    for (int s = 0; s < plan->sweep_count; s++)
      sweeps[s] = wanted[case_of(paper, plan->sweeps[s].name)];
    error = eb_plan_keep(plan, cases, sweeps);
    free(sweeps);
  }
  free(cases);
  return error;
}

/* All is planned whatever is wanted: what a donor keeps, and so whether its run is there already,
 * does not depend on who is asked for. */
eb_error eb_paper_plan_create(const eb_paper *paper, const bool *wanted, const eb_plugins *plugins,
                              eb_paper_plan *out) {
  *out = (eb_paper_plan){.case_count = paper->case_count};
  EB_TRY(EB_NEW(out->cases, paper->case_count));
  for (int c = 0; c < paper->case_count; c++)
    EB_TRY(try_case(&paper->cases[c], plugins, &out->cases[c]));
  for (int c = 0; c < paper->case_count; c++) EB_TRY(follow_donors(paper, c, out));
  EB_TRY(plan_suite(paper, plugins, out));
  EB_TRY(name_runs(paper, out));
  return wanted ? keep_wanted(paper, wanted, &out->plan) : EB_OK;
}

void eb_paper_plan_clear(eb_paper_plan *plan) {
  for (int c = 0; plan->cases && c < plan->case_count; c++) {
    eb_strings_clear(&plan->cases[c].identities);
    free(plan->cases[c].sweep);
    free(plan->cases[c].trouble);
  }
  free(plan->cases);
  eb_plan_clear(&plan->plan);
  *plan = (eb_paper_plan){0};
}
