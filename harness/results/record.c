#include "harness/results/record.h"

#include <stdlib.h>
#include <string.h>

#include "harness/results/schema.h"
#include "problems/base/strings.h"

static const char *const outcome_names[EB_OUTCOMES] = {"unfinished",    "completed", "diverged",
                                                       "not-finite",    "crashed",   "timed-out",
                                                       "out-of-memory", "failed",    "skipped"};

const char *eb_outcome_name(eb_outcome outcome) {
  return outcome_names[outcome];
}

eb_outcome eb_outcome_find(const char *name) {
  for (int i = 0; i < EB_OUTCOMES; i++)
    if (strcmp(outcome_names[i], name) == 0) return (eb_outcome)i;
  return EB_OUTCOME_UNFINISHED;
}

const char *eb_frames_name(eb_frames frames) {
  return frames == EB_FRAMES_ALL ? "all" : "interval";
}

eb_error eb_frames_parse(const char *name, eb_frames *out) {
  *out = strcmp(name, "all") == 0        ? EB_FRAMES_ALL
         : strcmp(name, "interval") == 0 ? EB_FRAMES_INTERVAL
                                         : EB_FRAMES_UNSET;
  if (*out != EB_FRAMES_UNSET) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "frames are stored at the scene's 'interval' or 'all', not '%s'",
                  name);
}

#define TEXT(field)                                                                                \
  { #field, "", EB_FIELD_TEXT, offsetof(eb_run, field) }
#define INT(field)                                                                                 \
  { #field, "1", EB_FIELD_INT, offsetof(eb_run, field) }
#define REAL(field, unit)                                                                          \
  { #field, unit, EB_FIELD_REAL, offsetof(eb_run, field) }

const eb_field eb_run_fields[] = {TEXT(identity),
                                  TEXT(scene),
                                  TEXT(scene_hash),
                                  TEXT(parameters),
                                  TEXT(parameters_changed),
                                  TEXT(mesh_source),
                                  TEXT(stand_in),
                                  TEXT(scene_file),
                                  TEXT(solver),
                                  TEXT(options),
                                  TEXT(options_changed),
                                  TEXT(plugin),
                                  TEXT(plugged_materials),
                                  TEXT(client),
                                  TEXT(counts),
                                  TEXT(outcome),
                                  TEXT(reason),
                                  TEXT(detail),
                                  TEXT(frames),
                                  TEXT(output),
                                  TEXT(audit),
                                  TEXT(audit_detail),
                                  TEXT(audit_rules),
                                  TEXT(equation),
                                  TEXT(update),
                                  TEXT(from),
                                  TEXT(from_steps),
                                  TEXT(started),
                                  TEXT(state_hash),
                                  INT(order),
                                  INT(ranks),
                                  INT(steps_per_frame),
                                  INT(threads),
                                  INT(seed),
                                  INT(repetition),
                                  INT(steps_wanted),
                                  INT(steps_done),
                                  INT(nodes),
                                  INT(uncut_nodes),
                                  INT(elements),
                                  REAL(dt, "s"),
                                  REAL(scene_seconds, "s"),
                                  REAL(setup_seconds, "s"),
                                  REAL(setup_cpu_seconds, "s"),
                                  REAL(total_seconds, "s"),
                                  REAL(peak_rss, "byte"),
                                  REAL(memory_limit, "byte"),
                                  REAL(timeout, "s"),
                                  REAL(error, "1"),
                                  INT(audit_failures),
                                  REAL(first_step_at, "s"),
                                  REAL(process_cpu_seconds, "s"),
                                  REAL(timed_cpu_seconds, "s"),
                                  REAL(untimed_cpu_seconds, "s"),
                                  REAL(memory_growth, "byte"),
                                  REAL(audit_seconds, "s"),
                                  REAL(cut_step_seconds, "s"),
                                  REAL(network_latency, "s"),
                                  REAL(network_bandwidth, "byte/s"),
                                  REAL(network_reduction, "s"),
                                  INT(threads_alive),
                                  {0}};

static void *at(const void *record, const eb_field *field) {
  return (char *)(uintptr_t)record + field->offset;
}

void eb_fields_clear(const eb_field *fields, void *record) {
  for (const eb_field *f = fields; f->name; f++)
    if (f->type == EB_FIELD_TEXT) free(*(char **)at(record, f));
}

eb_error eb_fields_write(hid_t group, const eb_field *fields, const void *record) {
  for (const eb_field *f = fields; f->name; f++) {
    const void *value = at(record, f);
    EB_TRY(f->type == EB_FIELD_TEXT  ? eb_h5_put_text(group, f->name, *(char *const *)value)
           : f->type == EB_FIELD_INT ? eb_h5_put_int(group, f->name, *(const int64_t *)value)
                                     : eb_h5_put_real(group, f->name, *(const double *)value));
  }
  return EB_OK;
}

eb_error eb_fields_read(hid_t group, const eb_field *fields, void *record) {
  for (const eb_field *f = fields; f->name; f++) {
    void *value = at(record, f);
    EB_TRY(f->type == EB_FIELD_TEXT  ? eb_h5_get_text(group, f->name, value)
           : f->type == EB_FIELD_INT ? eb_h5_get_int(group, f->name, value)
                                     : eb_h5_get_real(group, f->name, value));
  }
  return EB_OK;
}

void eb_run_clear(eb_run *run) {
  free(run->id);
  eb_fields_clear(eb_run_fields, run);
  *run = (eb_run){0};
}

eb_error eb_run_copy(const eb_run *from, eb_run *to) {
  *to = *from;
  to->id = NULL;
  for (const eb_field *f = eb_run_fields; f->name; f++)
    if (f->type == EB_FIELD_TEXT) *(char **)at(to, f) = NULL;
  eb_error error = eb_string_set(&to->id, from->id);
  for (const eb_field *f = eb_run_fields; f->name && !error; f++)
    if (f->type == EB_FIELD_TEXT) error = eb_string_set(at(to, f), *(char **)at(from, f));
  if (error) eb_run_clear(to);
  return error;
}

eb_error eb_run_write(hid_t group, const eb_run *run) {
  return eb_fields_write(group, eb_run_fields, run);
}

/* ---- the schema ------------------------------------------------------------------------------ */

eb_error eb_schema_write(hid_t file) {
  EB_TRY(eb_h5_put_text(file, "format", EB_SCHEMA_FORMAT));
  return eb_h5_put_int(file, "schema_version", EB_SCHEMA_VERSION);
}
