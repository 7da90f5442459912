#include "harness/history/history_record.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/lock.h"
#include "harness/results/json.h"
#include "harness/results/record.h"
#include "problems/base/strings.h"
#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

static const char schema[] = "elastobench history 1";

/* ---- in memory ------------------------------------------------------------------------------- */

/* Of the texts as the record's file keeps them. */
static void make_fingerprint(eb_history_record *r) {
  char cores[16];
  eb_text_clean(r->cpu);
  eb_text_clean(r->compiler);
  eb_text_clean(r->flags);
  const char *const parts[] = {r->cpu, cores, r->compiler, r->flags};
  uint64_t hash = EB_HASH_SEED;
  snprintf(cores, sizeof cores, "%d", r->cores);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    hash = eb_hash(hash, parts[i], strlen(parts[i]) + 1);
  snprintf(r->fingerprint, sizeof r->fingerprint, "%08" PRIx32, (uint32_t)(hash ^ hash >> 32));
}

static bool is_commit(const char *text) {
  size_t length = strlen(text);
  return length >= 7 && length <= 64 && strspn(text, "0123456789abcdef") == length;
}

static bool is_date(const char *text) {
  static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
  if (strlen(text) != strlen(form)) return false;
  for (size_t i = 0; form[i]; i++)
    if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
  return true;
}

eb_error eb_history_record_begin(const eb_host *host, eb_history_record *out) {
  *out =
      (eb_history_record){.dirty = host->dirty, .cores = host->cores, .dgemm = NAN, .triad = NAN};
  if (!is_commit(host->commit) || !is_date(host->commit_date))
    return EB_ERROR(
        EB_ERR_USAGE,
        "the history is one of commits, and this build knows none ('%s' of '%s'); build "
        "it in its repository",
        host->commit, host->commit_date);
  EB_TRY(eb_string_set(&out->commit, host->commit));
  EB_TRY(eb_string_set(&out->date, host->commit_date));
  EB_TRY(eb_string_set(&out->cpu, host->cpu));
  EB_TRY(eb_string_set(&out->compiler, host->compiler));
  EB_TRY(eb_string_set(&out->flags, host->flags));
  make_fingerprint(out);
  return EB_OK;
}

static void clear_figure(eb_history_figure *figure) {
  free(figure->name);
  free(figure->unit);
  free(figure->class);
  *figure = (eb_history_figure){0};
}

static eb_error copy_figure(const eb_history_figure *from, eb_history_figure *to) {
  *to = *from;
  to->name = to->unit = to->class = NULL;
  EB_TRY(eb_string_set(&to->name, from->name));
  EB_TRY(eb_string_set(&to->unit, from->unit));
  return eb_string_set(&to->class, from->class);
}

static int find_figure(const eb_history_record *record, const eb_history_figure *like) {
  for (int i = 0; i < record->count; i++)
    if (strcmp(record->figures[i].name, like->name) == 0 &&
        strcmp(record->figures[i].class, like->class ? like->class : "") == 0)
      return i;
  return -1;
}

eb_error eb_history_record_put(eb_history_record *record, const eb_history_figure *figure) {
  int at = find_figure(record, figure);
  if (at < 0) {
    EB_TRY(EB_APPEND(record->figures, record->count));
    at = record->count - 1;
  }
  clear_figure(&record->figures[at]);
  return copy_figure(figure, &record->figures[at]);
}

void eb_history_record_clear(eb_history_record *record) {
  for (int i = 0; i < record->count; i++) clear_figure(&record->figures[i]);
  free(record->figures);
  free(record->commit);
  free(record->date);
  free(record->cpu);
  free(record->compiler);
  free(record->flags);
  *record = (eb_history_record){0};
}

/* ---- written --------------------------------------------------------------------------------- */

/* A line of JSON; takes the object. */
static eb_error put_line(eb_text *text, const char *before, json_t *json, const char *after) {
  char *line = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
  eb_error error = line ? eb_text_printf(text, "%s%s%s\n", before, line, after)
                        : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON of a record");
  free(line);
  json_decref(json);
  return error;
}

static json_t *figure_json(const eb_history_figure *f) {
  json_t *json = eb_json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:I}", "name", f->name, "unit",
                              f->unit, "better", f->more ? "more" : "less", "value",
                              eb_json_real(f->value), "relative", eb_json_real(f->relative),
                              "spread", eb_json_real(f->spread), "samples", (json_int_t)f->samples);
  if (json && *f->class) json_object_set_new(json, "class", eb_json_text(f->class));
  return json;
}

/* A line a figure, so that a difference of two records can be read. */
static eb_error put_record(const eb_history_record *r, eb_text *text) {
  EB_TRY(eb_text_printf(text,
                        "{\"schema\": \"%s\",\n\"commit\": \"%s\", \"date\": \"%s\", "
                        "\"dirty\": %s,\n",
                        schema, r->commit, r->date, r->dirty ? "true" : "false"));
  EB_TRY(
      put_line(text, "\"machine\": ",
               eb_json_pack("{s:s, s:s, s:i, s:s, s:s}", "fingerprint", r->fingerprint, "cpu",
                            r->cpu, "cores", r->cores, "compiler", r->compiler, "flags", r->flags),
               ","));
  EB_TRY(put_line(
      text, "\"limits\": ",
      eb_json_pack("{s:o, s:o}", "dgemm", eb_json_real(r->dgemm), "triad", eb_json_real(r->triad)),
      ","));
  EB_TRY(eb_text_printf(text, "\"figures\": [\n"));
  for (int i = 0; i < r->count; i++)
    EB_TRY(put_line(text, "", figure_json(&r->figures[i]), i + 1 < r->count ? "," : ""));
  return eb_text_printf(text, "]}\n");
}

static eb_error write_record(const char *path, const eb_history_record *record) {
  eb_text text = {0};
  eb_error error = put_record(record, &text);
  if (!error) error = eb_file_write(path, text.data, text.length);
  eb_text_clear(&text);
  return error;
}

static eb_error make_path(const char *folder, const eb_history_record *r, char **path) {
  char date[32];
  int length = 0;
  for (const char *c = r->date; *c && length < (int)sizeof date - 1; c++)
    if (*c != '-' && *c != ':') date[length++] = *c;
  date[length] = '\0';
  return eb_string_format(path, "%s/%s-%s-%s%s.json", folder, date, r->commit, r->fingerprint,
                          r->dirty ? "-dirty" : "");
}

/* What is there of the record, with the new figures in it. */
static eb_error merge(const char *path, const eb_history_record *record, eb_history_record *out) {
  EB_TRY(eb_history_record_read(path, out));
  if (isfinite(record->dgemm)) out->dgemm = record->dgemm;
  if (isfinite(record->triad)) out->triad = record->triad;
  for (int i = 0; i < record->count; i++) EB_TRY(eb_history_record_put(out, &record->figures[i]));
  return EB_OK;
}

eb_error eb_history_record_store(const char *folder, const eb_history_record *record, char **path) {
  *path = NULL;
  eb_lock lock;
  eb_history_record merged = {0};
  EB_TRY(eb_lock_folder(folder, &lock));
  eb_error error = make_path(folder, record, path);
  bool there = !error && access(*path, F_OK) == 0;
  if (there) error = merge(*path, record, &merged);
  if (!error) error = write_record(*path, there ? &merged : record);
  eb_history_record_clear(&merged);
  eb_lock_release(&lock);
  if (!error) return EB_OK;
  free(*path);
  *path = NULL;
  return error;
}

/* ---- read ------------------------------------------------------------------------------------ */

/* A member that is a number or null. */
static eb_error read_real(const json_t *object, const char *name, double *out) {
  const json_t *value = json_object_get(object, name);
  *out = json_is_number(value) ? json_number_value(value) : NAN;
  if (!value || json_is_number(value) || json_is_null(value)) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "'%s' is neither a number nor null", name);
}

static eb_error read_figure(json_t *json, eb_history_record *record) {
  const char *better, *class = "";
  char *name, *unit;
  json_error_t fault;
  json_int_t samples = 0;
  eb_history_figure figure;
  if (json_unpack_ex(json, &fault, 0, "{s:s, s:s, s:s, s?I, s?s}", "name", &name, "unit", &unit,
                     "better", &better, "samples", &samples, "class", &class) != 0)
    return EB_ERROR(EB_ERR_FORMAT, "figure %d: %s", record->count + 1, fault.text);
  figure = (eb_history_figure){.name = name,
                               .unit = unit,
                               .class = (char *)(uintptr_t) class,
                               .samples = samples,
                               .more = strcmp(better, "more") == 0};
  if (!figure.more && strcmp(better, "less") != 0)
    return EB_ERROR(EB_ERR_FORMAT, "figure '%s': 'better' is 'more' or 'less', not '%s'", name,
                    better);
  eb_error error = read_real(json, "value", &figure.value);
  if (!error) error = read_real(json, "relative", &figure.relative);
  if (!error) error = read_real(json, "spread", &figure.spread);
  if (!error) error = eb_history_record_put(record, &figure);
  return eb_error_prefix(error, "figure '%s'", name);
}

static eb_error read_head(json_t *json, eb_history_record *out) {
  const char *kind, *commit, *date, *fingerprint, *cpu, *compiler, *flags;
  int dirty;
  json_error_t fault;
  if (json_unpack_ex(json, &fault, 0, "{s:s}", "schema", &kind) != 0)
    return EB_ERROR(EB_ERR_FORMAT, "no record of the history: %s", fault.text);
  if (strcmp(kind, schema) != 0)
    return EB_ERROR(EB_ERR_FORMAT, "its schema is '%s'; this program reads '%s'", kind, schema);
  if (json_unpack_ex(json, &fault, 0, "{s:s, s:s, s:b, s:{s:s, s:s, s:i, s:s, s:s}}", "commit",
                     &commit, "date", &date, "dirty", &dirty, "machine", "fingerprint",
                     &fingerprint, "cpu", &cpu, "cores", &out->cores, "compiler", &compiler,
                     "flags", &flags) != 0)
    return EB_ERROR(EB_ERR_FORMAT, "%s", fault.text);
  if (!is_commit(commit)) return EB_ERROR(EB_ERR_FORMAT, "'%s' is no commit", commit);
  if (!is_date(date))
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is no date such as 2026-11-25T04:11:26Z", date);
  EB_TRY(eb_string_set(&out->commit, commit));
  EB_TRY(eb_string_set(&out->date, date));
  EB_TRY(eb_string_set(&out->cpu, cpu));
  EB_TRY(eb_string_set(&out->compiler, compiler));
  EB_TRY(eb_string_set(&out->flags, flags));
  out->dirty = dirty != 0;
  make_fingerprint(out);
  if (strcmp(out->fingerprint, fingerprint) == 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "the fingerprint of its machine is %s, not %s", out->fingerprint,
                  fingerprint);
}

static eb_error read_record(json_t *json, eb_history_record *out) {
  EB_TRY(read_head(json, out));
  const json_t *limits = json_object_get(json, "limits");
  json_t *figures = json_object_get(json, "figures");
  EB_TRY(read_real(limits, "dgemm", &out->dgemm));
  EB_TRY(read_real(limits, "triad", &out->triad));
  if (!json_is_array(figures)) return EB_ERROR(EB_ERR_FORMAT, "it has no list of figures");
  for (size_t i = 0; i < json_array_size(figures); i++)
    EB_TRY(read_figure(json_array_get(figures, i), out));
  return EB_OK;
}

static eb_error parse(const char *path, eb_history_record *out) {
  json_error_t fault;
  eb_text text = {0};
  json_t *json = NULL;
  eb_error error = eb_text_read(path, "record", &text);
  if (!error) json = json_loads(text.data ? text.data : "", JSON_REJECT_DUPLICATES, &fault);
  if (!error && !json)
    error = EB_ERROR(EB_ERR_FORMAT, "%s: line %d: %s", path, fault.line, fault.text);
  if (!error) error = eb_error_prefix(read_record(json, out), "%s", path);
  json_decref(json);
  eb_text_clear(&text);
  return error;
}

eb_error eb_history_record_read(const char *path, eb_history_record *out) {
  *out = (eb_history_record){0};
  eb_error error = parse(path, out);
  if (error) eb_history_record_clear(out);
  return error;
}
