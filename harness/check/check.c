/* Running the checks. */
#include "harness/check/check.h"

#include "harness/check/check_printer.h"
#include "harness/check/conformance.h"
#include "problems/elasticity/plugged_rules.h"

#include <math.h>
#include <string.h>

/* ---- groups ---- */

static const eb_check_group *const tables[] = {
    eb_checks_materials, eb_checks_accuracy, eb_checks_dynamics,    eb_checks_conjac,
    eb_checks_cutting,   eb_checks_contact,  eb_checks_consistency, eb_checks_constraints};
enum { TABLES = sizeof tables / sizeof *tables };

const eb_check_group *eb_check_group_find(const char *name) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_check_group *at = tables[t]; at->name; at++)
      if (strcmp(at->name, name) == 0) return at;
  return NULL;
}

static bool applies(const eb_check_group *group, const char *solver) {
  if (!group->solver || !solver) return !group->solver && !solver;
  return !strcmp(group->solver, "*") || !strcmp(group->solver, solver);
}

/* An error that ends a group is a figure out of bounds. */
static void emit_error(const eb_check *check, const char *group, eb_error error) {
  const char *name = check->solver ? check->solver->name : NULL;
  if (error)
    eb_check_below(check, NAN, 0, eb_error_message(error), "%s%s%s/completed", name ? name : "",
                   name ? "/" : "", group);
  eb_error_free(error);
}

static void run_group(const eb_check *check, const eb_check_group *group) {
  const char *solver = check->solver ? check->solver->name : NULL;
  if (check->begin) check->begin(check->context, solver, group->name);
  emit_error(check, group->name, group->run(check));
}

void eb_check_groups(const eb_check *check) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_check_group *at = tables[t]; at->name; at++)
      if (applies(at, check->solver ? check->solver->name : NULL)) run_group(check, at);
}

/* ---- running ---- */

/* A solver of a plug-in; the tests hold the built-in ones to conformance. */
static void check_plugin(eb_check *check, const eb_solver_ops *solver) {
  check->solver = solver;
  check->begin(check->context, solver->name, "conformance");
  emit_error(check, "conformance", eb_conformance_check(check));
  eb_check_groups(check);
}

/* A material of a plug-in, by the groups that built-in ones are held to; what breaks a rule is not
 * asked for more. */
static void check_plugged(eb_check *check, const eb_plugged *plugged) {
  static const char *const groups[] = {"materials", "assembly", "invariance", "patch",
                                       "manufactured"};
  eb_material material = {.young = 1, .poisson = 0.3, .density = 1};
  check->solver = NULL;
  check->plugged = (eb_plugged_list){plugged, 1};
  eb_error error = eb_material_choose(&check->plugged, plugged->ops->name, &material);
  if (!error) error = eb_plugged_check(&material);
  for (size_t g = 0; g < (error ? 1 : sizeof groups / sizeof *groups); g++)
    run_group(check, eb_check_group_find(groups[g]));
  eb_error_free(error);
  check->plugged = (eb_plugged_list){0};
}

static void check_everything(eb_check *check) {
  eb_check_groups(check);
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    if (eb_solver_wants_options(*at)) continue;
    check->solver = *at;
    eb_check_groups(check);
  }
}

static eb_error find_solver(const eb_plugins *plugins, const char *name, const eb_solver_ops **out,
                            const eb_plugin **plugin) {
  EB_TRY(eb_solver_lookup(plugins, name, out, plugin));
  if (!eb_solver_wants_options(*out)) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE,
                  "'%s' has no defaults to be checked with: run it, its steps are audited", name);
}

eb_error eb_check_run(const eb_plugins *plugins, const char *solver_or_null, uint64_t seed,
                      eb_check_format format, FILE *out, int *failed) {
  eb_check_printer to;
  eb_check check = {0};
  const eb_solver_ops *solver = NULL;
  const eb_plugin *plugin = NULL;
  int loaded = plugins ? plugins->count : 0, materials = plugins ? plugins->material_count : 0;
  *failed = 0;
  if (solver_or_null) EB_TRY(find_solver(plugins, solver_or_null, &solver, &plugin));
  for (int i = 0; !solver && i < loaded; i++)
    EB_TRY(find_solver(plugins, plugins->items[i].solver->name, &check.solver, NULL));
  check = eb_check_printer_open(&to, out, format);
  check.seed = seed;
  check.solver = solver;
  if (plugin)
    check_plugin(&check, solver);
  else if (solver)
    eb_check_groups(&check);
  else if (loaded + materials == 0)
    check_everything(&check);
  for (int i = 0; !solver && i < loaded; i++) check_plugin(&check, plugins->items[i].solver);
  for (int i = 0; !solver && i < materials; i++) check_plugged(&check, &plugins->materials[i]);
  return eb_check_printer_close(&to, failed);
}
