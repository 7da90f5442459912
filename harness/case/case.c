#include "harness/case/case.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/case/launch.h"
#include "harness/environment.h"
#include "harness/names.h"
#include "problems/base/strings.h"
#include "problems/base/hash.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"
#include "problems/ranks/subdomain.h"

#define RANKS "ranks" /* the option */

/* Takes the values. */
static eb_error canonical(eb_values *values, char **out) {
  eb_error error = eb_string_set(out, eb_values_canonical(values));
  eb_values_destroy(values);
  return error;
}

/* Files that the command of a program names: another text of a script is another solver. */
static eb_error write_command_files(const eb_case *work, eb_text *text) {
  char *command = strdup(work->all_options), *rest = command, digits[EB_DIGEST_TEXT_BYTES];
  eb_error error = command ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot read the command");
  for (char *word; !error && (word = strsep(&rest, " ="));) {
    struct stat info;
    eb_digest digest;
    if (stat(word, &info) || !S_ISREG(info.st_mode)) continue;
    error = eb_digest_file(word, &digest);
    if (error) break;
    eb_digest_print(digest, digits);
    error = eb_text_printf(text, " file=%s", digits);
  }
  free(command);
  return error;
}

const eb_plugged *eb_case_material(const eb_case *work, int *at) {
  const eb_plugged_list *list = &work->scene->materials;
  const char *chosen;
  size_t length = eb_assigned_value(work->all_parameters, "material", 8, &chosen);
  while (*at < list->count) {
    const eb_plugged *plugged = &list->items[(*at)++];
    const char *name = plugged->ops->name;
    if (plugged->named || (strlen(name) == length && strncmp(name, chosen, length) == 0))
      return plugged;
  }
  return NULL;
}

/* Another build of a plug-in's material is another case. */
static eb_error write_materials(const eb_case *work, eb_text *text) {
  int at = 0;
  for (const eb_plugged *m; (m = eb_case_material(work, &at));) {
    char digits[EB_DIGEST_TEXT_BYTES];
    eb_digest_print(m->digest, digits);
    EB_TRY(eb_text_printf(text, " material=%s:%s", m->ops->name, digits));
  }
  return EB_OK;
}

static eb_error write_task(const eb_case *work, const eb_plugin *plugin, eb_text *text) {
  EB_TRY(eb_text_printf(text, "scene=%s:%s", work->scene->name, work->all_parameters));
  if (work->scene_digest) EB_TRY(eb_text_printf(text, " file=%s", work->scene_digest));
  char digits[EB_DIGEST_TEXT_BYTES];
  if (work->mesh_file) {
    eb_digest digest;
    EB_TRY(eb_digest_file(work->mesh_file, &digest));
    eb_digest_print(digest, digits);
    EB_TRY(eb_text_printf(text, " mesh=%s", digits));
  }
  EB_TRY(eb_text_printf(text, " solver=%s:%s", work->solver->name, work->all_options));
  if (plugin) {
    eb_digest_print(plugin->digest, digits);
    EB_TRY(eb_text_printf(text, " plugin=%s", digits));
  }
  EB_TRY(write_materials(work, text));
  const eb_option *first = work->solver->options;
  if (first && first->name && first->type == EB_OPTION_LINE)
    EB_TRY(write_command_files(work, text));
  EB_TRY(eb_text_printf(text, " threads=%d seed=%" PRId64 " repetition=%d steps=%" PRId64,
                        work->threads, work->seed, work->repetition, work->steps));
  if (!work->from.run) return EB_OK;
  char steps[80];
  eb_range_print(work->from.steps, !work->from.samples, steps, sizeof steps);
  return eb_text_printf(text, " from=%016" PRIx64 "@%s", work->from.source_run, steps);
}

static eb_error write_identity(const eb_case *work, eb_text *text) {
  EB_TRY(eb_text_printf(text, "%s", work->task));
  /* A file whose runs lack frames, checkpoints, an examination or embedded points does not
   * answer a request for them. */
  if (work->frames == EB_FRAMES_ALL) EB_TRY(eb_text_printf(text, " frames=all"));
  if (work->examine) EB_TRY(eb_text_printf(text, " examined"));
  if (work->embed) EB_TRY(eb_text_printf(text, " embed=%" PRId64, work->embed));
  if (work->checkpoints.count == 0) return EB_OK;
  EB_TRY(eb_text_printf(text, " checkpoints="));
  return eb_ranges_print(&work->checkpoints, text);
}

eb_error eb_case_identify(eb_case *work) {
  eb_text text = {0};
  eb_error error = write_identity(work, &text);
  if (!error) error = eb_string_set(&work->identity, text.data);
  eb_text_clear(&text);
  EB_TRY(error);
  /* scene.solver.rN.hash, with what HDF5 and file systems dislike replaced. */
  uint64_t hash = eb_hash(EB_HASH_SEED, work->identity, strlen(work->identity));
  snprintf(work->id, sizeof work->id, "%.60s.%.40s.r%d.%016" PRIx64, work->scene->name,
           work->solver->name, work->repetition, hash);
  for (char *at = work->id; *at; at++)
    if (!isalnum((unsigned char)*at) && !strchr("._-", *at)) *at = '-';
  return EB_OK;
}

static eb_error resolve_options(eb_case *work) {
  eb_values *values;
  EB_TRY(eb_solver_options(work->solver, work->scene, work->options, &values));
  work->ranks = eb_values_declares(values, RANKS) ? (int)eb_values_int(values, RANKS) : 1;
  return canonical(values, &work->all_options);
}

/* One that is there is what the process that planned the case saw. */
static eb_error set_scene_digest(eb_case *work) {
  char digits[EB_DIGEST_TEXT_BYTES];
  if (!eb_scene_path(work->scene) || work->scene_digest) return EB_OK;
  eb_digest_print(work->scene->source->digest, digits);
  return eb_string_set(&work->scene_digest, digits);
}

eb_error eb_case_resolve(eb_case *work, const eb_plugin *plugin) {
  EB_TRY(set_scene_digest(work));
  eb_values *parameters;
  EB_TRY(
      eb_values_create(work->scene->name, work->scene->parameters, work->parameters, &parameters));
  EB_TRY(canonical(parameters, &work->all_parameters));
  EB_TRY(resolve_options(work));
  if (plugin) EB_TRY(eb_string_set(&work->plugin, plugin->path));
  eb_text text = {0};
  eb_error error = write_task(work, plugin, &text);
  if (!error) error = eb_string_set(&work->task, text.data);
  eb_text_clear(&text);
  return error ? error : eb_case_identify(work);
}

static eb_error copy_given(const char *from, char **to) {
  *to = NULL;
  return from ? eb_string_set(to, from) : EB_OK;
}

static eb_error copy_all(const eb_case *from, eb_case *to) {
  EB_TRY(copy_given(from->parameters, &to->parameters));
  EB_TRY(copy_given(from->options, &to->options));
  EB_TRY(copy_given(from->mesh_file, &to->mesh_file));
  EB_TRY(copy_given(from->plugin, &to->plugin));
  EB_TRY(copy_given(from->from.run, &to->from.run));
  EB_TRY(copy_given(from->from.file, &to->from.file));
  return eb_ranges_add_all(&to->checkpoints, &from->checkpoints);
}

eb_error eb_case_copy(const eb_case *from, eb_case *to) {
  *to = *from;
  to->parameters = to->options = to->mesh_file = to->plugin = NULL;
  to->from.run = to->from.file = NULL;
  to->checkpoints = (eb_ranges){0};
  to->scene_digest = to->all_parameters = to->all_options = to->task = to->identity = NULL;
  eb_scene_keep(to->scene);
  eb_error error = copy_all(from, to);
  if (error) eb_case_clear(to);
  return error;
}

void eb_case_clear(eb_case *work) {
  eb_scene_close(work->scene);
  free(work->parameters);
  free(work->options);
  free(work->mesh_file);
  free(work->plugin);
  free(work->scene_digest);
  free(work->all_parameters);
  free(work->all_options);
  free(work->task);
  free(work->identity);
  free(work->from.run);
  free(work->from.file);
  eb_ranges_clear(&work->checkpoints);
  *work = (eb_case){0};
}

static eb_error describe_update(const eb_case *work, eb_run *run) {
  eb_values *values;
  EB_TRY(eb_solver_options(work->solver, work->scene, work->options, &values));
  eb_error error =
      eb_string_set(&run->update, eb_update_name(eb_solver_update(work->solver, values)));
  eb_values_destroy(values);
  return error;
}

/* Those of the assignments "a=1,b=2" that are not among the defaults. */
static eb_error put_changed(const char *assignments, const char *defaults, eb_text *out) {
  EB_TRY(eb_text_append(out, "", 0));
  for (const char *at = assignments; *at;) {
    size_t length = strcspn(at, ","), name = strcspn(at, "=");
    const char *usual;
    size_t bytes = eb_assigned_value(defaults, at, name, &usual);
    bool same =
        name < length && bytes == length - name - 1 && strncmp(at + name + 1, usual, bytes) == 0;
    if (!same) EB_TRY(eb_text_printf(out, "%s%.*s", out->length ? "," : "", (int)length, at));
    at += length + (at[length] == ',');
  }
  return EB_OK;
}

/* Whether nothing has to be given: the command of a program of the user's has to. */
static bool has_defaults(const eb_option *options) {
  for (; options && options->name; options++)
    if (!options->fallback) return false;
  return true;
}

/* What of the assignments to an owner's options is not their default; all, where not each has one.
 * `options` may be NULL. */
static eb_error describe_changed(const char *owner, const eb_option *options,
                                 const char *assignments, char **out) {
  eb_values *values;
  eb_text changed = {0};
  EB_TRY(eb_values_create(owner, has_defaults(options) ? options : NULL, NULL, &values));
  eb_error error = put_changed(assignments, eb_values_canonical(values), &changed);
  if (!error) error = eb_string_set(out, changed.data);
  eb_text_clear(&changed);
  eb_values_destroy(values);
  return error;
}

static eb_error describe_materials(const eb_case *work, eb_run *run) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  int at = 0;
  EB_TRY(eb_text_append(&text, "", 0));
  for (const eb_plugged *m; (m = eb_case_material(work, &at));)
    EB_TRY(eb_text_printf(&text, "%s%s (%s)", text.length ? ", " : "", m->ops->name, m->path));
  return eb_string_set(&run->plugged_materials, text.data);
}

static eb_error describe_texts(const eb_case *work, eb_run *run) {
  const eb_origin *from = &work->from;
  char steps[80] = "", now[32];
  if (from->run) eb_range_print(from->steps, !from->samples, steps, sizeof steps);
  eb_time_text(now);
  EB_TRY(eb_string_set(&run->id, work->id));
  EB_TRY(eb_string_set(&run->identity, work->identity));
  EB_TRY(eb_string_set(&run->scene, work->scene->name));
  EB_TRY(eb_string_set(&run->parameters, work->all_parameters));
  EB_TRY(eb_string_set(&run->mesh_source, work->mesh_file ? work->mesh_file : "generated"));
  EB_TRY(eb_string_set(&run->scene_file, eb_scene_path(work->scene)));
  EB_TRY(eb_string_set(&run->stand_in, work->mesh_file ? "" : work->scene->stand_in));
  EB_TRY(eb_string_set(&run->solver, work->solver->name));
  EB_TRY(eb_string_set(&run->options, work->all_options));
  EB_TRY(eb_string_set(&run->plugin, work->plugin));
  EB_TRY(describe_materials(work, run));
  EB_TRY(describe_changed(work->scene->name, work->scene->parameters, work->all_parameters,
                          &run->parameters_changed));
  EB_TRY(describe_changed(work->solver->name, work->plugin ? NULL : work->solver->options,
                          work->all_options, &run->options_changed));
  EB_TRY(eb_string_set(&run->counts,
                       eb_solver_is_foreign(work->solver) ? EB_COUNTS_CLAIMED : "logged"));
  EB_TRY(eb_string_set(&run->outcome, eb_outcome_name(EB_OUTCOME_UNFINISHED)));
  EB_TRY(eb_string_set(&run->reason, ""));
  EB_TRY(eb_string_set(&run->frames, eb_frames_name(work->frames)));
  EB_TRY(eb_string_set(&run->audit, "none"));
  EB_TRY(eb_string_set(&run->audit_rules, ""));
  EB_TRY(eb_string_set(&run->equation, ""));
  EB_TRY(eb_string_set(&run->from, from->run));
  EB_TRY(eb_string_set(&run->from_steps, steps));
  EB_TRY(describe_update(work, run));
  return eb_string_set(&run->started, now);
}

eb_error eb_case_describe(const eb_case *work, eb_run *run) {
  *run = (eb_run){.order = work->order,
                  .threads = work->threads,
                  .ranks = work->ranks,
                  .steps_per_frame = work->scene->steps_per_frame,
                  .seed = work->seed,
                  .repetition = work->repetition,
                  .steps_wanted = work->steps,
                  .memory_limit = work->memory,
                  .timeout = work->timeout};
  eb_error error = describe_texts(work, run);
  if (error) eb_run_clear(run);
  return error;
}

static eb_error check_scene_file(const eb_case *work) {
  char digits[EB_DIGEST_TEXT_BYTES];
  if (!work->scene_digest) return EB_OK;
  eb_digest_print(work->scene->source->digest, digits);
  if (strcmp(digits, work->scene_digest) == 0) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "'%s', or a mesh that it names, has changed since this run was started; start it "
                  "again for what is in it now",
                  work->scene->source->path);
}

eb_error eb_case_scene(const eb_case *work, const eb_ranks *ranks, eb_scene **out) {
  *out = NULL;
  EB_TRY(check_scene_file(work));
  return ranks ? eb_scene_create_part(work->scene, work->parameters, work->mesh_file, NULL, ranks,
                                      out)
               : eb_scene_create(work->scene, work->parameters, work->mesh_file, NULL, out);
}

static eb_error add_flag(eb_strings *out, const char *flag, const char *value) {
  if (!value) return EB_OK;
  EB_TRY(eb_strings_add(out, flag));
  return eb_strings_add(out, value);
}

static eb_error add_number(eb_strings *out, const char *flag, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value);
  return add_flag(out, flag, text);
}

static eb_error add_material_plugins(const eb_case *work, eb_strings *out) {
  int at = 0;
  for (const eb_plugged *m; (m = eb_case_material(work, &at));)
    if (!work->plugin || strcmp(m->path, work->plugin) != 0)
      EB_TRY(add_flag(out, "--plugin", m->path));
  return EB_OK;
}

eb_error eb_case_command(const eb_case *work, const char *program, const char *command,
                         eb_strings *out) {
  EB_TRY(eb_strings_add(out, program));
  EB_TRY(eb_strings_add(out, command));
  EB_TRY(eb_strings_add(out, eb_scene_given(work->scene)));
  EB_TRY(eb_strings_add(out, work->solver->name));
  EB_TRY(add_flag(out, "--parameters", work->parameters));
  EB_TRY(add_flag(out, "--options", work->options));
  EB_TRY(add_flag(out, "--mesh", work->mesh_file));
  EB_TRY(add_flag(out, "--plugin", work->plugin));
  EB_TRY(add_material_plugins(work, out));
  EB_TRY(add_number(out, "--threads", work->threads));
  EB_TRY(add_number(out, "--seed", (double)work->seed));
  return add_number(out, "--steps", (double)work->steps);
}

eb_error eb_case_arguments(const eb_case *work, const char *program, const char *environment,
                           const char *source_run, const char *output, eb_strings *out) {
  const eb_origin *from = &work->from;
  if (work->ranks > 1) EB_TRY(eb_launch_command(work->ranks, out));
  EB_TRY(eb_case_command(work, program, "case", out));
  if (work->ranks > 1) EB_TRY(eb_strings_add(out, "--distributed"));
  EB_TRY(add_flag(out, "--scene-digest", work->scene_digest));
  EB_TRY(add_number(out, "--repetition", work->repetition));
  EB_TRY(add_number(out, "--order", (double)work->order));
  EB_TRY(add_number(out, "--contact-problem", (double)work->contact_problem));
  EB_TRY(add_flag(out, "--frames", eb_frames_name(work->frames)));
  if (work->examine) EB_TRY(eb_strings_add(out, "--examine"));
  EB_TRY(add_number(out, "--embed", (double)work->embed));
  EB_TRY(add_number(out, "--timeout", work->timeout));
  EB_TRY(add_number(out, "--memory", work->memory));
  if (from->run) {
    char steps[80], hash[20];
    eb_range_print(from->steps, !from->samples, steps, sizeof steps);
    snprintf(hash, sizeof hash, "%016" PRIx64, from->source_run);
    EB_TRY(add_flag(out, "--from", from->run));
    EB_TRY(add_flag(out, "--from-file", source_run));
    EB_TRY(add_flag(out, "--from-steps", steps));
    EB_TRY(add_flag(out, "--from-donor", hash));
  }
  if (work->checkpoints.count > 0) {
    eb_text steps = {0};
    eb_error error = eb_ranges_print(&work->checkpoints, &steps);
    if (!error) error = add_flag(out, "--checkpoints", steps.data);
    eb_text_clear(&steps);
    EB_TRY(error);
  }
  EB_TRY(add_flag(out, "--environment", environment));
  return add_flag(out, "--output", output);
}
