/* elastobench scaling: runs over ranks beside the model of it, and what it says of others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/names.h"
#include "harness/predict/scaling_read.h"
#include "harness/predict/scaling_show.h"
#include "harness/print.h"
#include "harness/results/json.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

static const eb_flag flags[] = {
    {"output", 'o', "DIR", "write scaling.json and a plot, scaling.svg with .dat and .gp"},
    {"predict", 0, "ELEMENTS@RANKS", "what an iteration would take; may be repeated (1e9@1000)"},
    {"latency", 0, "S", "of a short message, of predictions (as the runs have measured)"},
    {"bandwidth", 0, "BYTE/S", "of a long one"},
    {"reduction", 0, "S", "of an allreduce, a doubling of ranks"},
    {"cores", 0, "N", "of a node (the machine's)"},
    {"per-node", 0, "N", "ranks on a node (of runs: all; of predictions: the cores)"},
    EB_FLAG_DAMAGED,
    {"format", 0, "text|json|markdown", "how to print"},
    {0}};

typedef enum print_format { TEXT, JSON, MARKDOWN, FORMATS } print_format;

/* ---- the request ----------------------------------------------------------------------------- */

static eb_error read_format(const eb_arguments *arguments, print_format *out) {
  static const char *const names[FORMATS] = {"text", "json", "markdown"};
  const char *text = eb_arguments_text(arguments, "format");
  for (*out = TEXT; text && *out < FORMATS; ++*out)
    if (strcmp(names[*out], text) == 0) return EB_OK;
  return text ? EB_ERROR(EB_ERR_USAGE, "--format is text, json or markdown, not '%s'", text)
              : EB_OK;
}

static eb_error read_point(const char *text, eb_scaling_request *request) {
  static const double most = 1e15;
  const char *at = strchr(text, '@');
  char elements[64];
  int64_t ranks;
  eb_scaling_point *point = &request->points[request->point_count];
  if (!at || at - text >= (ptrdiff_t)sizeof elements)
    return EB_ERROR(EB_ERR_USAGE, "--predict wants ELEMENTS@RANKS, as in 1e9@1000, not '%s'", text);
  if (request->point_count == EB_SCALING_POINTS)
    return EB_ERROR(EB_ERR_USAGE, "--predict: %d at most", EB_SCALING_POINTS);
  snprintf(elements, sizeof elements, "%.*s", (int)(at - text), text);
  EB_TRY(eb_parse_real("--predict: elements", elements, 1, most, &point->elements));
  EB_TRY(eb_parse_whole("--predict: ranks", at + 1, 1, 10000000, &ranks));
  if ((double)ranks > point->elements)
    return EB_ERROR(EB_ERR_USAGE, "--predict %s: more ranks than elements", text);
  point->ranks = (int)ranks;
  request->point_count++;
  return EB_OK;
}

static eb_error read_points(const eb_arguments *arguments, eb_scaling_request *request) {
  const eb_strings *given = eb_arguments_values(arguments, "predict");
  if (given->count > 0) request->point_count = 0;
  for (int i = 0; i < given->count; i++) EB_TRY(read_point(given->items[i], request));
  return EB_OK;
}

static eb_error read_request(const eb_arguments *arguments, eb_scaling_request *request) {
  const struct {
    const char *flag;
    double min, max, *out;
  } reals[] = {{"latency", 1e-9, 1, &request->network.latency},
               {"bandwidth", 1e3, 1e15, &request->network.bandwidth},
               {"reduction", 1e-9, 1, &request->network.reduction}};
  const struct {
    const char *flag;
    int *out;
  } wholes[] = {{"cores", &request->cores}, {"per-node", &request->per_node}};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    char what[32];
    const char *text = eb_arguments_text(arguments, reals[i].flag);
    snprintf(what, sizeof what, "--%s", reals[i].flag);
    if (text) EB_TRY(eb_parse_real(what, text, reals[i].min, reals[i].max, reals[i].out));
  }
  for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
    int64_t value = 0;
    EB_TRY(eb_arguments_whole(arguments, wholes[i].flag, 1, 100000, &value));
    *wholes[i].out = (int)value;
  }
  return read_points(arguments, request);
}

/* ---- files ----------------------------------------------------------------------------------- */

static eb_error read_files(const eb_strings *files, eb_scaling_samples *samples) {
  for (int i = 0; i < files->count; i++) {
    eb_results *results;
    EB_TRY(eb_results_open(files->items[i], &results));
    eb_error error = eb_error_prefix(eb_scaling_read(results, samples), "%s", files->items[i]);
    eb_results_close(results);
    EB_TRY(error);
  }
  return EB_OK;
}

static eb_error write_json(const eb_scaling_study *study, const char *folder) {
  char path[4096];
  json_t *json;
  EB_TRY(eb_scaling_json(study, &json));
  snprintf(path, sizeof path, "%s/scaling.json", folder);
  char *text = json_dumps(json, JSON_INDENT(2));
  json_decref(json);
  if (!text) return EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
  eb_error error = eb_file_write(path, text, strlen(text));
  free(text);
  return error;
}

static eb_error write_folder(const eb_scaling_study *study, const char *folder) {
  eb_plotter plotter = {.dir = folder};
  bool *drawn;
  eb_lock lock;
  EB_TRY(EB_NEW(drawn, study->count));
  eb_error error = eb_lock_folder(folder, &lock);
  if (!error) error = write_json(study, folder);
  if (!error) error = eb_plotter_finish(&plotter, eb_scaling_draw(study, &plotter, drawn));
  eb_lock_release(&lock);
  free(drawn);
  return error;
}

/* ---- the command ----------------------------------------------------------------------------- */

static eb_error print(const eb_scaling_study *study, print_format format) {
  eb_text text = {0};
  json_t *json;
  if (format == TEXT) return eb_scaling_print(study, stdout);
  if (format == JSON) {
    EB_TRY(eb_scaling_json(study, &json));
    return eb_json_print(json, stdout);
  }
  eb_error error = eb_scaling_markdown(study, &text);
  if (!error) eb_print(stdout, "%s", text.data);
  eb_text_clear(&text);
  return error;
}

static eb_error show(const eb_scaling_study *study, const char *folder, print_format format,
                     int *code) {
  if (folder && study->count > 0) EB_TRY(write_folder(study, folder));
  EB_TRY(print(study, format));
  if (study->count == 0)
    eb_print(stderr, "elastobench: no scene was run by one solver on several numbers of ranks; "
                     "'elastobench run scaling -o scaling.h5' makes such a file\n");
  else if (!eb_scaling_judged(study))
    eb_print(stderr, "elastobench: the model could not be judged\n");
  if (*code == EB_EXIT_GOOD && !eb_scaling_judged(study)) *code = EB_EXIT_NOTHING;
  return EB_OK;
}

static eb_error run(const eb_arguments *arguments, int *code) {
  eb_scaling_samples samples = {0};
  eb_scaling_study study = {0};
  eb_scaling_request request = eb_scaling_usual();
  eb_strings good = {0}, remarks = {0};
  const char *folder = eb_arguments_text(arguments, "output");
  print_format format;
  EB_TRY(read_format(arguments, &format));
  EB_TRY(read_request(arguments, &request));
  if (folder && !*folder) return EB_ERROR(EB_ERR_USAGE, "--output wants the name of a folder");
  eb_error error = eb_arguments_results(arguments, &good, &remarks, code);
  if (!error) error = read_files(&good, &samples);
  if (!error) error = eb_scaling_study_create(&samples, &request, &study);
  if (!error) error = show(&study, folder, format, code);
  eb_scaling_study_clear(&study);
  eb_scaling_samples_clear(&samples);
  eb_strings_clear(&good);
  eb_strings_clear(&remarks);
  return error;
}

const eb_command eb_command_scaling = {
    .name = "scaling",
    .synopsis = "F.h5.. [--predict ELEMENTS@RANKS].. [-o DIR] [options]",
    .summary = "runs over ranks beside a model of them, and what it predicts",
    .details =
        "Runs of one scene by one solver on several numbers of ranks, as the suite scaling makes "
        "them\n('elastobench run scaling -o scaling.h5'), are set beside a model: its constants "
        "are those of the runs\non one rank and of the messages that runs have measured. Exit "
        "code 6: there are no such runs, or none\nthat could be judged.",
    .flags = flags,
    .least = 1,
    .most = 1000,
    .run = run};
