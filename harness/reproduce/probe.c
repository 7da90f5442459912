#include "harness/reproduce/probe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/case/child.h"
#include "harness/environment.h"
#include "harness/names.h"
#include "harness/reproduce/evidence.h"
#include "harness/reproduce/walker.h"
#include "problems/base/file.h"
#include "problems/base/memory.h"

const eb_probe *const eb_probes[] = {&eb_probe_low_rank, NULL};

/* ---- sections --------------------------------------------------------------------------------- */

static const eb_probe *probe_of(const eb_section *section) {
  const char *kind = eb_section_value(section, "kind");
  for (const eb_probe *const *p = eb_probes; kind && *p; p++)
    if (strcmp((*p)->name, kind) == 0) return *p;
  return NULL;
}

static eb_error check_probe(const eb_section *section) {
  enum { MOST = 24 };
  const char *keys[MOST + 1] = {"kind", "threads", "timeout", "quick-timeout", "memory"};
  int count = 5;
  const eb_probe *probe = probe_of(section);
  if (!probe) return EB_ERROR(EB_ERR_FORMAT, "'kind' names no probe");
  for (int i = 0; probe->arguments[i] && count < MOST; i++) keys[count++] = probe->arguments[i];
  keys[count] = NULL;
  return eb_section_expect(section, keys);
}

eb_error eb_probes_check(const eb_paper *paper) {
  for (int i = 0; i < paper->sections.count; i++) {
    const eb_section *section = &paper->sections.items[i];
    if (strcmp(section->kind, "probe") == 0)
      EB_TRY(eb_error_prefix(check_probe(section), "[probe %s]", section->label));
  }
  return EB_OK;
}

static eb_error real_setting(const eb_section *section, const char *name, double fallback,
                             double *out) {
  const char *text = eb_section_value(section, name);
  *out = fallback;
  return text ? eb_parse_real(name, text, 0, 1e9, out) : EB_OK;
}

static eb_error time_limit(const eb_paper *paper, const eb_section *section, double *out) {
  EB_TRY(real_setting(section, "timeout", 3600, out));
  return paper->quick ? real_setting(section, "quick-timeout", *out, out) : EB_OK;
}

/* What the result depends on. */
static eb_error identity_of(const eb_paper *paper, const eb_section *section, char **out) {
  eb_text text = {0};
  char *version = NULL;
  eb_error error = eb_version_text(&version);
  if (!error) error = eb_text_printf(&text, "%s%s", paper->quick ? "quick " : "", version);
  for (int e = 0; e < section->count && !error; e++)
    error = eb_text_printf(&text, " %s=%s", section->entries[e].key, section->entries[e].value);
  free(version);
  *out = text.data;
  if (!error) return EB_OK;
  eb_text_clear(&text);
  *out = NULL;
  return error;
}

/* ---- results ---------------------------------------------------------------------------------- */

eb_error eb_probe_save(const eb_probing *probing) {
  char path[4200];
  char *text = json_dumps(probing->out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  if (!text) return EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
  snprintf(path, sizeof path, "%s.new", probing->path);
  eb_error error = eb_file_write(path, text, strlen(text));
  free(text);
  if (!error && rename(path, probing->path))
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", probing->path, strerror(errno));
  return error;
}

static void path_of(const eb_paper *paper, const char *folder, const char *id, char *out,
                    size_t bytes) {
  snprintf(out, bytes, "%s/%s-%s.json", folder, paper->name, id);
}

eb_error eb_probe_load(const eb_paper *paper, const char *folder, const char *id, json_t **out) {
  char path[4096];
  json_error_t why;
  *out = NULL;
  path_of(paper, folder, id, path, sizeof path);
  if (access(path, F_OK)) return EB_OK;
  *out = json_load_file(path, 0, &why);
  return *out ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "'%s': %s", path, why.text);
}

void eb_probe_note_scene(const eb_probing *probing, const char *spec, const eb_scene *scene) {
  const char *stand_in = scene->ops->stand_in;
  json_object_set_new(probing->out, "scene", json_string(spec));
  json_object_set_new(probing->out, "stand_in", json_string(stand_in ? stand_in : ""));
  json_object_set_new(probing->out, "scene_elements", json_integer(scene->mesh->element_count));
}

eb_error eb_probe_scene(const eb_probing *probing, eb_scene **out) {
  const char *spec = eb_section_value(probing->arguments, "scene");
  if (!spec) return EB_ERROR(EB_ERR_FORMAT, "'scene' is missing");
  EB_TRY(eb_walker_scene(spec, out));
  eb_probe_note_scene(probing, spec, *out);
  return EB_OK;
}

/* ---- in this process -------------------------------------------------------------------------- */

static eb_error execute(const eb_probe *probe, eb_probing *probing, const char *identity) {
  json_object_set_new(probing->out, "identity", json_string(identity));
  json_object_set_new(probing->out, "complete", json_false());
  EB_TRY(eb_probe_save(probing));
  eb_error failure = probe->run(probing);
  if (failure) json_object_set_new(probing->out, "error", json_string(eb_error_message(failure)));
  eb_error_free(failure);
  json_object_set_new(probing->out, "complete", json_true());
  return eb_probe_save(probing);
}

eb_error eb_probe_execute(const eb_paper *paper, const char *id, const char *path) {
  char *identity;
  double threads, limit;
  const eb_section *section = eb_sections_find(&paper->sections, "probe", id);
  if (!section) return EB_ERROR(EB_ERR_USAGE, "'%s' has no probe '%s'", paper->name, id);
  EB_TRY(real_setting(section, "threads", 1, &threads));
  EB_TRY(time_limit(paper, section, &limit));
  EB_TRY(identity_of(paper, section, &identity));
  eb_probing probing = {.arguments = section,
                        .quick = paper->quick,
                        .threads = (int)threads,
                        .time_limit = limit,
                        .out = json_object(),
                        .path = path};
  eb_error error = execute(probe_of(section), &probing, identity);
  json_decref(probing.out);
  free(identity);
  return error;
}

/* ---- in processes of their own ---------------------------------------------------------------- */

static eb_error arguments_of(const eb_paper *paper, const char *from, const char *id,
                             const char *path, eb_strings *argv) {
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return EB_ERROR(EB_ERR_IO, "cannot find my own program at /proc/self/exe");
  program[length] = '\0';
  const char *const words[] = {
      program, "probe", paper->name, id, "--output", path, from ? "--from" : NULL, from};
  for (size_t i = 0; i < sizeof words / sizeof *words && words[i]; i++)
    EB_TRY(eb_strings_add(argv, words[i]));
  return paper->quick ? eb_strings_add(argv, "--quick") : EB_OK;
}

static eb_error start(const eb_paper *paper, const eb_section *section, const char *from,
                      const char *path, eb_signals *signals, eb_child_end *end) {
  static const double grace = 120; /* s beyond what a probe allows its parts */
  eb_strings argv = {0}, settings = {0};
  eb_limits limits = {0};
  double threads, memory;
  EB_TRY(real_setting(section, "threads", 1, &threads));
  EB_TRY(real_setting(section, "memory", 0, &memory));
  EB_TRY(time_limit(paper, section, &limits.timeout));
  limits.timeout += grace;
  limits.memory = memory > 0 ? 1e6 * memory : 0.9 * eb_machine_memory();
  eb_error error = arguments_of(paper, from, section->label, path, &argv);
  if (!error) error = eb_environment_settings((int)threads, &settings);
  if (!error) error = eb_child_run(&argv, &settings, limits, signals, NULL, NULL, end);
  eb_strings_clear(&argv);
  eb_strings_clear(&settings);
  return error;
}

static eb_error is_there(const eb_paper *paper, const eb_section *section, const char *folder,
                         bool *out) {
  json_t *old;
  char *identity;
  *out = false;
  eb_error error = eb_probe_load(paper, folder, section->label, &old);
  if (error || !old) {
    eb_error_free(error); /* what cannot be read is measured again */
    return EB_OK;
  }
  error = identity_of(paper, section, &identity);
  const char *had = json_string_value(json_object_get(old, "identity"));
  *out = !error && had && strcmp(had, identity) == 0 &&
         json_is_true(json_object_get(old, "complete")) && !json_object_get(old, "error");
  json_decref(old);
  free(identity);
  return error;
}

static eb_error run_probe(const eb_paper *paper, const eb_section *section, const char *from,
                          const char *folder, bool resume, eb_signals *signals) {
  char path[4096];
  bool kept = false;
  eb_child_end end;
  path_of(paper, folder, section->label, path, sizeof path);
  if (resume) EB_TRY(is_there(paper, section, folder, &kept));
  if (kept) return EB_OK;
  unlink(path);
  EB_TRY(start(paper, section, from, path, signals, &end));
  if (end.cause == EB_CHILD_INTERRUPTED) {
    unlink(path);
    return EB_OK;
  }
  fprintf(stderr, "probe %s: %s, %.2f s%s%s\n", section->label,
          end.cause == EB_CHILD_TIMED_OUT     ? "time limit reached"
          : end.cause == EB_CHILD_OVER_MEMORY ? "memory limit reached"
          : end.exited_zero                   ? "done"
                                              : "failed",
          end.seconds, end.exited_zero || !*end.output ? "" : ": ",
          end.exited_zero ? "" : end.output);
  return EB_OK;
}

static bool is_wanted(const eb_paper_choice *choice, const char *id) {
  for (int i = 0; i < choice->probes.count; i++)
    if (strcmp(choice->probes.items[i], id) == 0) return true;
  return false;
}

static eb_error run_wanted(const eb_paper *paper, const eb_paper_choice *choice, const char *from,
                           const char *folder, bool resume, eb_signals *signals) {
  for (int i = 0; i < paper->sections.count; i++) {
    const eb_section *section = &paper->sections.items[i];
    if (strcmp(section->kind, "probe") != 0 || !is_wanted(choice, section->label)) continue;
    if (eb_signals_pending(signals)) break;
    EB_TRY(run_probe(paper, section, from, folder, resume, signals));
  }
  return EB_OK;
}

eb_error eb_probes_run(const eb_paper *paper, const eb_paper_choice *choice, const char *from,
                       const char *folder, bool resume, bool *interrupted) {
  eb_signals signals = {.fd = -1};
  eb_error error = eb_signals_open(&signals);
  if (!error) error = run_wanted(paper, choice, from, folder, resume, &signals);
  *interrupted = !error && eb_signals_pending(&signals);
  eb_signals_close(&signals);
  return error;
}
