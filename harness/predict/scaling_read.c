/* Runs as samples of scaling_study.h. The sums over steps leave out the first, whose caches are
 * cold, and in which PETSc is configured. */
#include "harness/predict/scaling_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/repetitions.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* Parameters of scenes that say how fine the mesh is, and the option that says how many share it.
 */
static const char *const sizes[] = {"cubes", "resolution"}, *const shares[] = {"ranks"};

/* The assignments "a=1,b=2" but for those of these names. */
static eb_error drop(const char *assignments, const char *const *names, size_t count,
                     eb_text *out) {
  EB_TRY(eb_text_append(out, "", 0));
  for (const char *at = assignments; *at;) {
    size_t length = strcspn(at, ","), name = strcspn(at, "=");
    bool named = false;
    for (size_t i = 0; i < count; i++)
      named = named || (strlen(names[i]) == name && strncmp(at, names[i], name) == 0);
    if (!named) EB_TRY(eb_text_printf(out, "%s%.*s", out->length ? "," : "", (int)length, at));
    at += length + (at[length] == ',');
  }
  return EB_OK;
}

/* A text that the samples keep. */
static eb_error keep(eb_scaling_samples *samples, const char *text, const char **out) {
  EB_TRY(eb_strings_add(&samples->texts, text));
  *out = samples->texts.items[samples->texts.count - 1];
  return EB_OK;
}

static eb_error keep_name(eb_scaling_samples *samples, const eb_run *run,
                          eb_error (*name)(const eb_run *run, eb_text *out), const char **out) {
  eb_text text = {0};
  eb_error error = name(run, &text);
  if (!error) error = keep(samples, text.data, out);
  eb_text_clear(&text);
  return error;
}

static eb_error name_sample(const eb_run *run, eb_scaling_samples *samples,
                            eb_scaling_sample *sample) {
  eb_text parameters = {0}, options = {0};
  eb_run like = *run; /* a run without size and ranks; its texts stay the run's */
  eb_error error = keep_name(samples, run, eb_run_scene_name, &sample->scene);
  if (!error) error = drop(run->parameters, sizes, sizeof sizes / sizeof *sizes, &parameters);
  if (!error) error = drop(run->options, shares, sizeof shares / sizeof *shares, &options);
  like.parameters = parameters.data;
  like.options = options.data;
  if (!error) error = keep_name(samples, &like, eb_run_scene_name, &sample->problem);
  if (!error) error = keep_name(samples, &like, eb_run_work_name, &sample->solver);
  eb_text_clear(&parameters);
  eb_text_clear(&options);
  return error;
}

static eb_error find_trouble(const eb_run *run, eb_scaling_samples *samples, const char **out) {
  if (strcmp(run->outcome, eb_outcome_name(EB_OUTCOME_COMPLETED)) != 0)
    return keep(samples, run->outcome, out);
  *out = "";
  if (strcmp(run->audit, "passed") == 0) return EB_OK;
  eb_text words = {0};
  eb_error error = strcmp(run->audit, "failed") == 0
                       ? eb_text_printf(&words, "audit failed: %s", run->audit_rules)
                       : eb_text_printf(&words, "not audited");
  if (!error) error = keep(samples, words.data, out);
  eb_text_clear(&words);
  return error;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static eb_error read_machine(hid_t group, eb_scaling_samples *samples, eb_scaling_sample *sample) {
  int64_t cores;
  char *cpu = NULL, *host = NULL, *words = NULL;
  eb_error error = eb_h5_get_int(group, "cores", &cores);
  if (!error) error = eb_h5_get_real(group, "triad_byte_per_second", &sample->at.triad);
  if (!error) error = eb_h5_get_real(group, "triad_all_byte_per_second", &sample->at.triad_all);
  if (!error) error = eb_h5_get_text(group, "cpu", &cpu);
  if (!error) error = eb_h5_get_text(group, "host", &host);
  if (!error) error = eb_string_format(&words, "%s, %s", host, cpu);
  if (!error) error = keep(samples, words, &sample->machine);
  if (!error) sample->at.cores = cores > 1 ? (int)cores : 1;
  free(cpu);
  free(host);
  free(words);
  return error;
}

/* Where the file says what the run's machine is: of a file joined from shards, each run may have
 * its own. */
static eb_error find_machine(const eb_results *results, int run, char path[300]) {
  char *hash = NULL;
  snprintf(path, 300, "runs/%.250s", eb_results_run(results, run)->id);
  hid_t group = H5Gopen2(eb_results_file(results), path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = eb_h5_get_text(group, "environment", &hash);
  H5Gclose(group);
  if (!error)
    snprintf(path, 300, "%s%s%.250s", *hash ? "environments" : "environment", *hash ? "/" : "",
             hash);
  free(hash);
  return error;
}

/* A file without it is one machine. */
static eb_error put_machine(const eb_results *results, int run, eb_scaling_samples *samples,
                            eb_scaling_sample *sample) {
  char path[300];
  const hid_t file = eb_results_file(results);
  EB_TRY(find_machine(results, run, path));
  sample->machine = "unknown machine";
  sample->at.cores = 1;
  if (!eb_h5_exists(file, path)) return EB_OK;
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = read_machine(group, samples, sample);
  H5Gclose(group);
  return error;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static eb_error sum_steps(const eb_results *results, int run, eb_scaling_sample *sample) {
  const struct {
    int table;
    double *out;
  } sums[] = {{EB_COL_WALL, &sample->seconds},
              {EB_COL_ITERATIONS, &sample->iterations},
              {EB_STEP_PHASES + EB_PHASE_FACTOR, &sample->setup},
              {EB_STEP_PHASES + EB_PHASE_SOLVE, &sample->solve},
              {EB_STEP_COUNTERS + EB_COUNT_LINEAR_ITERATIONS, &sample->linear_iterations}};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    EB_TRY(eb_run_total(results, run, sums[i].table, sums[i].out));
  return EB_OK;
}

eb_error eb_scaling_read(const eb_results *results, eb_scaling_samples *samples) {
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    eb_scaling_sample sample = {.elements = (double)run->elements,
                                .nodes = (double)run->uncut_nodes,
                                .ranks = (int)run->ranks,
                                .at.network = {.latency = run->network_latency,
                                               .bandwidth = run->network_bandwidth,
                                               .reduction = run->network_reduction}};
    EB_TRY(name_sample(run, samples, &sample));
    EB_TRY(find_trouble(run, samples, &sample.trouble));
    EB_TRY(put_machine(results, i, samples, &sample));
    EB_TRY(sum_steps(results, i, &sample));
    EB_TRY(eb_scaling_add(samples, &sample));
  }
  return EB_OK;
}
