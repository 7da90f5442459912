#include <stdlib.h>

#include "harness/results/export.h"
#include "harness/results/json.h"
#include "solvers/solver.h"

static json_t *array_json(const double *values, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(array, eb_json_real(values[i]));
  return array;
}

/* Adds object[name] = the column of that path. */
static eb_error add_column(const eb_results *results, int run, const char *group, const char *name,
                           json_t *object) {
  char path[96];
  double *values;
  size_t count;
  snprintf(path, sizeof path, "%s/%s", group, name);
  EB_TRY(eb_results_column(results, run, path, &values, &count));
  json_object_set_new(object, name, array_json(values, count));
  free(values);
  return EB_OK;
}

static eb_error add_steps(const eb_results *results, int run, json_t *json) {
  json_t *steps = json_object(), *phases = json_object(), *counters = json_object();
  json_object_set_new(json, "steps", steps);
  json_object_set_new(json, "phases", phases);
  json_object_set_new(json, "counters", counters);
  for (int i = 0; i < EB_COL_COUNT; i++)
    EB_TRY(add_column(results, run, "steps", eb_columns[i].name, steps));
  for (int i = 0; i < EB_PHASE_COUNT; i++)
    EB_TRY(add_column(results, run, "phases", eb_phase_name((eb_phase)i), phases));
  for (int i = 0; i < EB_COUNTERS; i++)
    EB_TRY(add_column(results, run, "counters", eb_counter_name((eb_counter)i), counters));
  return EB_OK;
}

/* One array a step. */
static eb_error add_residuals(const eb_results *results, int run, json_t *json) {
  eb_residuals r;
  EB_TRY(eb_results_residuals(results, run, &r));
  json_t *steps = json_array();
  for (size_t s = 0; s < r.steps; s++)
    json_array_append_new(
        steps, array_json(r.values + r.offsets[s], (size_t)(r.offsets[s + 1] - r.offsets[s])));
  json_object_set_new(json, "residuals", json_pack("{s:s, s:o}", "norm", r.norm, "steps", steps));
  eb_residuals_clear(&r);
  return EB_OK;
}

static json_t *environment_json(const eb_results *results) {
  json_t *json = json_object();
  for (int i = 0; i < eb_results_fact_count(results); i++) {
    const eb_fact *fact = eb_results_fact(results, i);
    json_object_set_new(json, fact->name, json_string(fact->value));
  }
  return json;
}

static eb_error add_runs(const eb_results *results, const eb_strings *ids, json_t *runs) {
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    if (!eb_export_selects(ids, run)) continue;
    json_t *json = eb_json_run(run);
    json_array_append_new(runs, json);
    EB_TRY(add_steps(results, i, json));
    EB_TRY(add_residuals(results, i, json));
  }
  return EB_OK;
}

eb_error eb_export_json(const eb_results *results, const eb_strings *ids, FILE *out) {
  json_t *runs = json_array();
  eb_error error = add_runs(results, ids, runs);
  if (error) {
    json_decref(runs);
    return error;
  }
  return eb_json_print(json_pack("{s:s, s:i, s:o, s:o}", "file", eb_results_path(results),
                                 "schema_version", EB_SCHEMA_VERSION, "environment",
                                 environment_json(results), "runs", runs),
                       out);
}
