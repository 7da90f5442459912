/* elastobench list: what there is. */
#include <stdio.h>
#include <string.h>

#include "harness/cli/claims.h"
#include "harness/cli/command.h"
#include "harness/results/json.h"
#include "harness/names.h"
#include "harness/print.h"
#include "harness/suite/suite.h"
#include "problems/scene_impl.h"
#include "problems/elasticity/material.h"

static const eb_flag flags[] = {EB_FLAG_FORMAT, EB_FLAG_PLUGIN, {0}};

/* One listing: lines on `out`, or objects in `array` when it is not NULL. */
typedef struct listing {
  json_t *array;
  bool titled;
} listing;

static void add(listing *to, const char *name, const char *summary) {
  if (to->array)
    json_array_append_new(to->array, json_pack("{s:s, s:s}", "name", name, "summary", summary));
  else
    eb_print(stdout, "%s%-30s %s\n", to->titled ? "  " : "", name, summary);
}

static eb_error add_scenes(listing *to, const eb_plugins *plugins) {
  (void)plugins;
  for (const eb_scene_ops *const *ops = eb_scenes(); *ops; ops++)
    add(to, (*ops)->name, (*ops)->summary);
  return EB_OK;
}

static eb_error add_solvers(listing *to, const eb_plugins *plugins) {
  for (const eb_solver_ops *const *ops = eb_solvers(); *ops; ops++)
    add(to, (*ops)->name, (*ops)->summary);
  for (int i = 0; i < plugins->count; i++)
    add(to, plugins->items[i].solver->name, plugins->items[i].solver->summary);
  return EB_OK;
}

static eb_error add_materials(listing *to, const eb_plugins *plugins) {
  (void)plugins;
  for (int i = 0; i < EB_MATERIAL_KINDS; i++) {
    const eb_material_info *info = eb_material_describe((eb_material_kind)i);
    add(to, info->name, info->summary);
  }
  return EB_OK;
}

static eb_error add_suites(listing *to, const eb_plugins *plugins) {
  (void)plugins;
  eb_strings names = {0};
  eb_error error = eb_suite_names(&names);
  for (int i = 0; i < names.count && !error; i++) {
    eb_suite *suite;
    error = eb_suite_load(names.items[i], &suite);
    if (error) break;
    add(to, names.items[i], suite->summary ? suite->summary : "");
    eb_suite_destroy(suite);
  }
  eb_strings_clear(&names);
  return error;
}

static eb_error add_paper(listing *to, const char *name) {
  eb_paper *paper;
  EB_TRY(eb_paper_load(name, NULL, false, &paper));
  eb_error error = EB_OK;
  for (int c = 0; c < paper->claim_count && !error; c++) {
    json_t *json = NULL;
    error = to->array ? eb_claim_json(paper, &paper->claims[c], &json)
                      : eb_claim_print(paper, &paper->claims[c]);
    if (!error && json) json_array_append_new(to->array, json);
  }
  eb_paper_destroy(paper);
  return error;
}

static eb_error add_claims(listing *to, const eb_plugins *plugins) {
  (void)plugins;
  eb_strings names = {0};
  eb_error error = eb_paper_names(&names);
  for (int i = 0; i < names.count && !error; i++) error = add_paper(to, names.items[i]);
  eb_strings_clear(&names);
  return error;
}

static const struct {
  const char *name;
  eb_error (*add)(listing *to, const eb_plugins *plugins);
} kinds[] = {{"scenes", add_scenes},
             {"solvers", add_solvers},
             {"materials", add_materials},
             {"suites", add_suites},
             {"claims", add_claims}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static eb_error list(const char *wanted, bool json, const eb_plugins *plugins) {
  bool found = false;
  json_t *all = json ? json_object() : NULL;
  eb_error error = EB_OK;
  for (int i = 0; i < KINDS && !error; i++) {
    if (wanted && strcmp(wanted, kinds[i].name) != 0) continue;
    found = true;
    listing to = {.array = json ? json_array() : NULL, .titled = !wanted};
    if (!json && !wanted) eb_print(stdout, "%s:\n", kinds[i].name);
    error = kinds[i].add(&to, plugins);
    if (json) json_object_set_new(all, kinds[i].name, to.array);
  }
  eb_strings names = {0};
  for (int i = 0; i < KINDS && !error && !found; i++) error = eb_strings_add(&names, kinds[i].name);
  if (!error && !found) error = eb_unknown_name("listing", wanted, &names);
  eb_strings_clear(&names);
  if (!error && json) return eb_json_print(all, stdout);
  json_decref(all);
  return error;
}

static eb_error run(const eb_arguments *arguments, int *code) {
  (void)code;
  bool json;
  eb_plugins plugins = {0};
  const eb_strings *names = &arguments->positional;
  EB_TRY(eb_arguments_json(arguments, &json));
  eb_error error = eb_arguments_plugins(arguments, &plugins);
  if (!error) error = list(names->count ? names->items[0] : NULL, json, &plugins);
  eb_plugins_clear(&plugins);
  return error;
}

const eb_command eb_command_list = {.name = "list",
                                    .synopsis =
                                        "[scenes|solvers|materials|suites|claims] [options]",
                                    .summary = "list what there is",
                                    .flags = flags,
                                    .least = 0,
                                    .most = 1,
                                    .run = run};
