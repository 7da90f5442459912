#include "harness/results/breaches.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "harness/results/json.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

#define TEXT(field)                                                                                \
  { #field, "", EB_FIELD_TEXT, offsetof(eb_breach, field) }
#define INT(field)                                                                                 \
  { #field, "", EB_FIELD_INT, offsetof(eb_breach, field) }
#define REAL(field)                                                                                \
  { #field, "", EB_FIELD_REAL, offsetof(eb_breach, field) }
static const eb_field fields[] = {
    TEXT(words), TEXT(unit),  TEXT(place), TEXT(body), TEXT(other_body), INT(times), INT(step),
    INT(number), REAL(value), REAL(bound), REAL(x),    REAL(y),          REAL(z),    {0}};

static const char group_name[] = "broken";

void eb_breaches_clear(eb_breaches *breaches) {
  for (int i = 0; i < breaches->count; i++) {
    free(breaches->all[i].rule);
    eb_fields_clear(fields, &breaches->all[i]);
  }
  free(breaches->all);
  *breaches = (eb_breaches){0};
}

static eb_error write_breach(hid_t group, const eb_breach *breach) {
  hid_t of;
  EB_TRY(eb_h5_group(group, breach->rule, &of));
  eb_error error = eb_fields_write(of, fields, breach);
  H5Gclose(of);
  return error;
}

eb_error eb_breaches_write(hid_t run, const eb_breaches *breaches) {
  hid_t group;
  eb_error error = EB_OK;
  if (breaches->count == 0) return EB_OK;
  EB_TRY(eb_h5_group(run, group_name, &group));
  for (int i = 0; i < breaches->count && !error; i++)
    error = write_breach(group, &breaches->all[i]);
  H5Gclose(group);
  return error;
}

static eb_error read_breach(const eb_results *results, int run, const char *rule, eb_breach *out) {
  char path[400];
  snprintf(path, sizeof path, "/runs/%.250s/%s/%s", eb_results_run(results, run)->id, group_name,
           rule);
  hid_t group = H5Gopen2(eb_results_file(results), path, H5P_DEFAULT);
  if (group < 0) return eb_results_locate(results, run, eb_h5_error("cannot open", path));
  eb_error error = eb_fields_read(group, fields, out);
  H5Gclose(group);
  if (!error) error = eb_string_set(&out->rule, rule);
  return eb_results_locate(results, run, error);
}

eb_error eb_breaches_read(const eb_results *results, int run, eb_breaches *out) {
  *out = (eb_breaches){0};
  if (!eb_results_has(results, run, group_name)) return EB_OK;
  EB_TRY(EB_NEW(out->all, EB_RULES));
  for (int r = 0; r < EB_RULES; r++) {
    char path[80];
    const char *rule = eb_rule_name((eb_rule)r);
    snprintf(path, sizeof path, "%s/%s", group_name, rule);
    if (eb_results_has(results, run, path))
      EB_TRY(read_breach(results, run, rule, &out->all[out->count++]));
  }
  return EB_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *breach_json(const eb_breach *b) {
  eb_rule rule = eb_rule_find(b->rule);
  const char *help = eb_rule_help(rule);
  json_t *json = eb_json_pack(
      "{s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:I}", "rule", b->rule, "words", b->words, "times",
      (json_int_t)b->times, "step", (json_int_t)b->step, "unit", b->unit, "place", b->place, "body",
      b->body, "other_body", b->other_body, "number", (json_int_t)b->number);
  json_object_set_new(json, "value", eb_json_real(b->value));
  json_object_set_new(json, "bound", eb_json_real(b->bound));
  json_object_set_new(json, "x", eb_json_real(b->x));
  json_object_set_new(json, "y", eb_json_real(b->y));
  json_object_set_new(json, "z", eb_json_real(b->z));
  json_object_set_new(json, "measures", json_string(eb_rule_demand(rule)));
  json_object_set_new(json, "help", help ? json_string(help) : json_null());
  return json;
}

eb_error eb_breaches_json(const eb_breaches *breaches, json_t **out) {
  *out = json_array();
  for (int i = 0; i < breaches->count; i++)
    json_array_append_new(*out, breach_json(&breaches->all[i]));
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
}
