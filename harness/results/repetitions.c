#include "harness/results/repetitions.h"

#include <stdlib.h>
#include <string.h>

#include "harness/results/export.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

static eb_error put_owner(const char *name, const char *changed, eb_text *out) {
  return eb_text_printf(out, "%s%s%s", name, *changed ? ":" : "", changed);
}

eb_error eb_run_scene_name(const eb_run *run, eb_text *out) {
  return put_owner(run->scene, run->parameters_changed, out);
}

eb_error eb_run_work_name(const eb_run *run, eb_text *out) {
  enum { USUAL_THREADS = 1, USUAL_SEED = 0 };
  EB_TRY(put_owner(run->solver, run->options_changed, out));
  if (*run->mesh_source && strcmp(run->mesh_source, "generated") != 0)
    EB_TRY(eb_text_printf(out, "/mesh:%s", run->mesh_source));
  EB_TRY(eb_text_printf(out, "/steps:%lld", (long long)run->steps_wanted));
  if (run->threads != USUAL_THREADS)
    EB_TRY(eb_text_printf(out, "/threads:%lld", (long long)run->threads));
  if (run->seed != USUAL_SEED) EB_TRY(eb_text_printf(out, "/seed:%lld", (long long)run->seed));
  return *run->from ? eb_text_printf(out, "/from:%s@%s", run->from, run->from_steps) : EB_OK;
}

/* ---- repetitions ----------------------------------------------------------------------------- */

static eb_error file_run(const eb_run *run, eb_repetitions *out, int *of) {
  eb_text name = {0};
  eb_error error = eb_run_scene_name(run, &name);
  if (!error) error = eb_text_printf(&name, "/");
  if (!error) error = eb_run_work_name(run, &name);
  for (*of = 0; !error && *of < out->names.count; ++*of)
    if (strcmp(out->names.items[*of], name.data) == 0) break;
  if (!error && *of == out->names.count) error = eb_strings_add(&out->names, name.data);
  eb_text_clear(&name);
  return error;
}

eb_error eb_repetitions_gather(const eb_results *results, const eb_strings *ids,
                               bool (*selects)(const eb_run *run), eb_repetitions *out) {
  int count = eb_results_count(results);
  EB_TRY(EB_NEW(out->of, count));
  for (int i = 0; i < count; i++) {
    const eb_run *run = eb_results_run(results, i);
    out->of[i] = -1;
    if (eb_export_selects(ids, run) && (!selects || selects(run)))
      EB_TRY(file_run(run, out, &out->of[i]));
  }
  return EB_OK;
}

void eb_repetitions_clear(eb_repetitions *repetitions) {
  eb_strings_clear(&repetitions->names);
  free(repetitions->of);
  *repetitions = (eb_repetitions){0};
}

/* ---- sums ------------------------------------------------------------------------------------ */

eb_error eb_run_total(const eb_results *results, int run, int column, double *out) {
  double *values;
  size_t count;
  EB_TRY(eb_results_steps(results, run, column, &values, &count));
  size_t skip = eb_sample_warmup(count, EB_WARM_UP);
  *out = count > skip ? eb_sample_sum(values + skip, count - skip) : 0;
  free(values);
  return EB_OK;
}
