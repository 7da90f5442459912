#include "harness/compare/comparison.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/doc/doc.h"
#include "harness/names.h"
#include "harness/results/ci.h"
#include "harness/results/json.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

static const char *const formats[EB_COMPARE_FORMATS] = {"text", "json", "junit", "tap"};

eb_error eb_compare_format_parse(const char *name, eb_compare_format *out) {
  *out = EB_COMPARE_TEXT;
  for (int k = 0; name && k < EB_COMPARE_FORMATS; k++)
    if (strcmp(name, formats[k]) == 0) {
      *out = (eb_compare_format)k;
      return EB_OK;
    }
  return name ? eb_unknown(EB_ERR_USAGE, name, formats, EB_COMPARE_FORMATS, "there is no --format")
              : EB_OK;
}

/* A log ratio as a change, %. */
static double percent(double log_ratio) {
  return 100 * expm1(log_ratio);
}

/* ---- the document ---------------------------------------------------------------------------- */

/* In per cent; of few rounds there is none. */
static void describe_interval(const eb_series *s, const char *none, char *out, size_t bytes) {
  if (s->count > 0 && isfinite(s->low))
    snprintf(out, bytes, "%+.2f .. %+.2f", percent(s->low), percent(s->high));
  else
    snprintf(out, bytes, "%s", none);
}

static void show_change(const eb_series *s, eb_doc *doc) {
  eb_doc_number_as(doc, EB_DOC_PLAIN, "%+.2f%%", s->count > 0 ? percent(s->centre) : NAN);
}

static void show_case(const eb_compared *c, eb_doc *doc) {
  const eb_series *cpu = &c->cpu[EB_COMPARED_HEAD];
  const char *told = c->trouble ? c->trouble : c->reasons;
  char interval[40];
  describe_interval(cpu, "-", interval, sizeof interval);
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", c->name);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", eb_compare_verdict_name(c->verdict));
  show_change(cpu, doc);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", interval);
  show_change(&c->wall, doc);
  eb_doc_number_as(
      doc, EB_DOC_PLAIN, "%+.2f%%",
      c->instructed_steps > 0
          ? 100 * (c->instructions[EB_HEAD].executed / c->instructions[EB_BASE].executed - 1)
          : NAN);
  eb_doc_number(doc, EB_DOC_PLAIN, cpu->count);
  if (told && *told) eb_doc_verbatim(doc, "%s", told);
}

static void show_controls(const eb_comparison *all, eb_doc *doc) {
  if (all->injected > 0)
    eb_doc_paragraph(
        doc, EB_DOC_PLAIN,
        "controls in the same rounds: BASE beside itself raised %d alarms in %d cases, "
        "a delay of %.0f %% was found in %d of %d",
        all->alarms, all->raced, 100 * all->injected, all->found, all->raced);
  else
    eb_doc_paragraph(doc, EB_DOC_PLAIN,
                     "controls: none, for the runs were not fed in turns: a machine that has "
                     "changed in between looks like a change");
}

static void show(const eb_comparison *all, const eb_compare_title *title, eb_doc *doc) {
  static const char *const sides[EB_SIDES] = {"BASE", "HEAD"};
  static const char *const heads[] = {"case", "verdict",      "CPU time", "90 % interval",
                                      "wall", "instructions", "rounds",   NULL};
  for (int side = 0; side < EB_SIDES; side++) {
    const eb_build *b = &title->builds[side];
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "%s %s %s", sides[side], b->given,
                     b->version ? b->version : "");
  }
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int k = 0; k < all->count; k++) show_case(&all->cases[k], doc);
  eb_doc_end(doc);
  if (all->uninstructed)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "instructions: not counted: %s", all->uninstructed);
  show_controls(all, doc);
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "verdict: %s (margin %g %%)",
                   eb_compare_verdict_name(all->verdict), 100 * title->margin);
}

static eb_error print_text(const eb_comparison *all, const eb_compare_title *title, FILE *out) {
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  show(all, title, &doc);
  return eb_doc_print(&doc, EB_DOC_TEXT, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *series_json(const eb_series *s) {
  json_t *rounds = json_array();
  for (int k = 0; k < s->count; k++) json_array_append_new(rounds, eb_json_real(s->y[k]));
  if (s->count == 0)
    return eb_json_pack("{s:s, s:o}", "verdict", eb_change_name(s->change), "log_ratios", rounds);
  return eb_json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "verdict", eb_change_name(s->change),
                      "change", eb_json_real(expm1(s->centre)), "low",
                      eb_json_real(isfinite(s->low) ? expm1(s->low) : NAN), "high",
                      eb_json_real(expm1(s->high)), "probability", eb_json_real(s->probability),
                      "log_ratios", rounds);
}

/* "a=1,b=2" as an object; digests, which are no numbers, as texts. */
static json_t *counts_json(const char *counts) {
  json_t *object = json_object();
  for (const char *name = counts; name && *name;) {
    size_t all = strcspn(name, ","), length = strcspn(name, "=");
    char key[64], value[64];
    snprintf(key, sizeof key, "%.*s", (int)length, name);
    snprintf(value, sizeof value, "%.*s", (int)(all - length - 1), name + length + 1);
    bool digest = strcmp(key, "residuals") == 0 || strcmp(key, "state") == 0;
    eb_json_set(object, key, digest ? eb_json_text(value) : eb_json_real(strtod(value, NULL)));
    name += all + (name[all] == ',');
  }
  return object;
}

static json_t *sides_json(json_t *base, json_t *head) {
  return eb_json_pack("{s:o, s:o}", "base", base, "head", head);
}

static json_t *instructions_json(const eb_instructions *i) {
  return eb_json_pack("{s:o, s:o, s:o}", "executed", eb_json_real(i->executed),
                      "first_level_misses", eb_json_real(i->first_misses), "last_level_misses",
                      eb_json_real(i->last_misses));
}

static json_t *case_json(const eb_compared *c, bool controlled) {
  json_t *object =
      eb_json_pack("{s:s, s:s, s:s, s:s, s:b, s:I, s:o, s:I, s:i, s:o, s:o}", "case", c->name,
                   "verdict", eb_compare_verdict_name(c->verdict), "trouble",
                   c->trouble ? c->trouble : "", "reasons", c->reasons ? c->reasons : "",
                   "deterministic", !c->counts_again[EB_BASE] && !c->counts_again[EB_HEAD],
                   "counted_steps", (json_int_t)c->counted_steps, "counts",
                   sides_json(counts_json(c->counts[EB_BASE]), counts_json(c->counts[EB_HEAD])),
                   "block_steps", (json_int_t)c->block, "rounds", c->cpu[EB_COMPARED_HEAD].count,
                   "cpu", series_json(&c->cpu[EB_COMPARED_HEAD]), "wall", series_json(&c->wall));
  if (c->instructed_steps > 0)
    json_object_set_new(object, "instructions",
                        sides_json(instructions_json(&c->instructions[EB_BASE]),
                                   instructions_json(&c->instructions[EB_HEAD])));
  if (controlled)
    json_object_set_new(object, "controls",
                        eb_json_pack("{s:o, s:o}", "same", series_json(&c->cpu[EB_COMPARED_AGAIN]),
                                     "delayed", series_json(&c->cpu[EB_COMPARED_DELAYED])));
  return object;
}

static json_t *build_json(const eb_build *b) {
  return eb_json_pack("{s:s, s:s, s:s}", "name", b->given, "version", b->version ? b->version : "",
                      "flags", b->flags ? b->flags : "");
}

static eb_error print_json(const eb_comparison *all, const eb_compare_title *title, FILE *out) {
  json_t *cases = json_array();
  for (int k = 0; k < all->count; k++)
    json_array_append_new(cases, case_json(&all->cases[k], all->injected > 0));
  json_t *object = eb_json_pack(
      "{s:s, s:o, s:o, s:f, s:f, s:o, s:s}", "verdict", eb_compare_verdict_name(all->verdict),
      "base", build_json(&title->builds[EB_BASE]), "head", build_json(&title->builds[EB_HEAD]),
      "margin", title->margin, "seconds", title->seconds, "cases", cases, "instructions_left_out",
      all->uninstructed ? all->uninstructed : "");
  if (object && all->injected == 0)
    json_object_set_new(
        object, "unpaired",
        eb_json_pack("{s:i, s:i}", "base", all->unpaired[EB_BASE], "head", all->unpaired[EB_HEAD]));
  if (object && all->injected > 0)
    json_object_set_new(object, "controls",
                        eb_json_pack("{s:i, s:i, s:i, s:f}", "cases", all->raced, "alarms",
                                     all->alarms, "found", all->found, "delay", all->injected));
  if (!object) return EB_ERROR(EB_ERR_MEMORY, "no memory to print the comparison");
  return eb_json_print(object, out);
}

/* ---- build servers --------------------------------------------------------------------------- */

static eb_ci_test test_of(const eb_compared *c, const char *detail) {
  static const eb_ci_verdict verdicts[] = {
      [EB_COMPARE_FAILED] = EB_CI_ERROR,     [EB_COMPARE_NONDETERMINISTIC] = EB_CI_FAILED,
      [EB_COMPARE_REGRESSED] = EB_CI_FAILED, [EB_COMPARE_INCONCLUSIVE] = EB_CI_SKIPPED,
      [EB_COMPARE_SKIPPED] = EB_CI_SKIPPED,  [EB_COMPARE_EQUIVALENT] = EB_CI_PASSED,
      [EB_COMPARE_IMPROVED] = EB_CI_PASSED};
  return (eb_ci_test){.suite = "compare",
                      .name = c->name,
                      .seconds = c->step_seconds,
                      .verdict = verdicts[c->verdict],
                      .message = eb_compare_verdict_name(c->verdict),
                      .detail = detail};
}

static eb_error detail_of(const eb_compared *c, char **out) {
  const eb_series *cpu = &c->cpu[EB_COMPARED_HEAD];
  const char *words = c->trouble ? c->trouble : c->reasons ? c->reasons : "";
  char interval[40];
  if (cpu->count == 0) return eb_string_format(out, "%s", words);
  describe_interval(cpu, "no interval", interval, sizeof interval);
  return eb_string_format(out, "CPU time %+.2f %% (%s) in %d rounds%s%s", percent(cpu->centre),
                          interval, cpu->count, *words ? "\n" : "", words);
}

static eb_error print_tests(const eb_comparison *all, eb_compare_format format, FILE *out) {
  eb_ci_test *tests;
  eb_strings details = {0};
  eb_error error = EB_NEW(tests, all->count);
  for (int k = 0; k < all->count && !error; k++) {
    char *detail = NULL;
    error = detail_of(&all->cases[k], &detail);
    if (!error) error = eb_strings_add(&details, detail);
    if (!error) tests[k] = test_of(&all->cases[k], details.items[k]);
    free(detail);
  }
  if (!error && format == EB_COMPARE_JUNIT)
    error = eb_ci_junit(out, "elastobench compare", tests, all->count);
  if (!error && format == EB_COMPARE_TAP) error = eb_ci_tap(out, tests, all->count);
  eb_strings_clear(&details);
  free(tests);
  return error;
}

eb_error eb_compare_print(const eb_comparison *comparison, const eb_compare_title *title,
                          eb_compare_format format, FILE *out) {
  if (format == EB_COMPARE_JSON) return print_json(comparison, title, out);
  if (format == EB_COMPARE_TEXT) return print_text(comparison, title, out);
  return print_tests(comparison, format, out);
}
