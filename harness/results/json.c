#include "harness/results/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/text.h"

json_t *eb_json_real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *eb_json_text(const char *text) {
  return text ? eb_json_part(text, strlen(text)) : NULL;
}

json_t *eb_json_part(const char *text, size_t bytes) {
  char *clean = strndup(text, bytes);
  if (clean) eb_text_clean(clean);
  json_t *json = clean ? json_string(clean) : NULL;
  free(clean);
  return json;
}

int eb_json_set(json_t *object, const char *name, json_t *value) {
  char *clean = strdup(name);
  if (clean) eb_text_clean(clean);
  int failed = json_object_set_new(object, clean, value);
  free(clean);
  return failed;
}

static json_t *next_value(char kind, va_list *values) {
  switch (kind) {
  case 's':
    return eb_json_text(va_arg(*values, const char *));
  case 'i':
    return json_integer(va_arg(*values, int));
  case 'I':
    return json_integer(va_arg(*values, json_int_t));
  case 'b':
    return json_boolean(va_arg(*values, int));
  case 'f':
    return eb_json_real(va_arg(*values, double));
  case 'O':
    return json_incref(va_arg(*values, json_t *));
  default:
    return va_arg(*values, json_t *);
  }
}

json_t *eb_json_pack(const char *format, ...) {
  json_t *object = json_object();
  bool failed = !object;
  va_list values;
  va_start(values, format);
  for (const char *colon = format; (colon = strchr(colon, ':')); colon++) {
    const char *name = va_arg(values, const char *);
    /* What comes behind a failure is taken all the same, to be released. */
    if (eb_json_set(object, name, next_value(colon[1], &values))) failed = true;
  }
  va_end(values);
  if (!failed) return object;
  json_decref(object);
  return NULL;
}

json_t *eb_json_run(const eb_run *run) {
  json_t *json = eb_json_pack("{s:s}", "id", run->id);
  for (const eb_field *field = eb_run_fields; field->name; field++) {
    const char *at = (const char *)run + field->offset;
    json_t *value = field->type == EB_FIELD_TEXT  ? eb_json_text(*(char *const *)at)
                    : field->type == EB_FIELD_INT ? json_integer(*(const int64_t *)at)
                                                  : eb_json_real(*(const double *)at);
    json_object_set_new(json, field->name, value ? value : json_null());
  }
  return json;
}

static json_t *option_json(const eb_option *option) {
  static const char *const types[] = {
      [EB_OPTION_REAL] = "real",     [EB_OPTION_INT] = "integer", [EB_OPTION_BOOL] = "boolean",
      [EB_OPTION_CHOICE] = "choice", [EB_OPTION_TEXT] = "text",   [EB_OPTION_LINE] = "line"};
  /* The default has the option's type; one that is no number of its type stays a text. */
  char *end;
  const char *given = option->fallback ? option->fallback : "";
  double real = strtod(given, &end);
  bool number = option->type == EB_OPTION_REAL || option->type == EB_OPTION_INT;
  bool reads = number && end != given && !*end && isfinite(real);
  json_t *fallback = !option->fallback                ? json_null()
                     : !reads                         ? eb_json_text(given)
                     : option->type == EB_OPTION_REAL ? json_real(real)
                                                      : json_integer((json_int_t)real);
  json_t *json = eb_json_pack(
      "{s:s, s:s, s:o, s:s, s:s}", "name", option->name, "type", types[option->type], "default",
      fallback, "unit", option->unit ? option->unit : "", "doc", option->doc ? option->doc : "");
  if (number && (option->min != 0 || option->max != 0)) {
    json_object_set_new(json, "min", json_real(option->min));
    json_object_set_new(json, "max", json_real(option->max));
  }
  if (option->type == EB_OPTION_CHOICE)
    json_object_set_new(json, "choices", eb_json_text(option->choices));
  return json;
}

json_t *eb_json_options(const eb_option *options) {
  json_t *array = json_array();
  for (; options && options->name; options++) json_array_append_new(array, option_json(options));
  return array;
}

/* An error of the stream is told by who closes it, and knows its name. */
static eb_error dump(json_t *json, size_t form, FILE *out) {
  if (!json) return EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
  int failed = json_dumpf(json, out, form | JSON_REAL_PRECISION(17));
  json_decref(json);
  fputc('\n', out);
  return failed && !ferror(out) ? EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text") : EB_OK;
}

eb_error eb_json_print(json_t *json, FILE *out) {
  return dump(json, JSON_INDENT(2), out);
}

eb_error eb_json_line(json_t *json, FILE *out) {
  return dump(json, 0, out);
}
