/* Figures that a probe has left in its rows, each within its bound. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/measure.h"
#include "harness/reproduce/probe.h"

/* ROW.FIELD[/ROW.FIELD] OP NUMBER */
typedef struct bound {
  char over[200], under[200]; /* under "": no quotient */
  eb_bound limit;
} bound;

typedef struct tally {
  int count, broken, unknown;
} tally;

static eb_error parse_words(const eb_strings *words, bound *out) {
  if (words->count != 3)
    return EB_ERROR(EB_ERR_FORMAT, "it is not 'ROW.FIELD[/ROW.FIELD] OP NUMBER'");
  size_t length = strcspn(words->items[0], "/");
  snprintf(out->over, sizeof out->over, "%.*s", (int)length, words->items[0]);
  snprintf(out->under, sizeof out->under, "%s",
           words->items[0][length] ? words->items[0] + length + 1 : "");
  return eb_bound_parse(words->items[1], words->items[2], &out->limit);
}

static eb_error parse_bound(const char *text, bound *out) {
  eb_strings words = {0};
  eb_error error = eb_words(text, " ", &words);
  if (!error) error = parse_words(&words, out);
  eb_strings_clear(&words);
  return eb_error_prefix(error, "holds: '%s'", text);
}

/* The row that "ROW.FIELD" names, or NULL. */
static const json_t *row_of(const json_t *result, const char *path) {
  char row[200];
  const char *dot = strrchr(path, '.');
  snprintf(row, sizeof row, "%.*s", dot ? (int)(dot - path) : 0, path);
  return json_object_get(json_object_get(result, "rows"), row);
}

/* NaN when the probe has not found it. */
static double figure_of(const json_t *result, const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? eb_found_real(row_of(result, path), dot + 1) : NAN;
}

/* The cause that the probe has noted beside a figure that it lacks. */
static eb_error say_cause(const json_t *result, const char *path, eb_finding *finding) {
  const char *reason = json_string_value(json_object_get(row_of(result, path), "reason"));
  if (!*path || !reason || !isnan(figure_of(result, path))) return EB_OK;
  return eb_say(finding, "%s is not known: %s", path, reason);
}

static eb_error judge_bound(const json_t *result, const bound *b, tally *t, eb_finding *finding) {
  double value = figure_of(result, b->over);
  if (*b->under) value /= figure_of(result, b->under);
  if (t->count++ == 0) finding->ours = value;
  bool unknown = !isfinite(value), broken = !unknown && !eb_bound_holds(&b->limit, value);
  t->unknown += unknown;
  t->broken += broken;
  EB_TRY(say_cause(result, b->over, finding));
  EB_TRY(say_cause(result, b->under, finding));
  return eb_say(finding, "%s%s%s = %.3g (%s %.3g%s)", b->over, *b->under ? "/" : "", b->under,
                value, eb_bound_words(&b->limit), b->limit.value, broken ? ", not as claimed" : "");
}

static eb_error rule(const tally *t, bool complete, eb_finding *finding) {
  if (t->broken)
    return eb_rule(finding, EB_NOT_REPRODUCED, "%d of %d conditions do not hold", t->broken,
                   t->count);
  if (t->unknown || !complete)
    return eb_say(finding,
                  t->unknown ? "%d of %d figures are not known"
                             : "the probe did not come to its end",
                  t->unknown, t->count);
  return eb_rule(finding, EB_REPRODUCED, "all %d conditions hold", t->count);
}

/* What kept the probe from some of its figures. */
static eb_error say_stopped(const json_t *result, eb_finding *finding) {
  const json_t *stopped = json_object_get(result, "stopped");
  for (size_t i = 0; i < json_array_size(stopped); i++)
    EB_TRY(eb_say(finding, "%s", json_string_value(json_array_get(stopped, i))));
  return EB_OK;
}

static eb_error judge_result(const json_t *result, const eb_paper_claim *claim,
                             eb_finding *finding) {
  tally t = {0};
  const char *text;
  for (int at = 0; (text = eb_section_next(claim->arguments, "holds", &at));) {
    bound b;
    EB_TRY(parse_bound(text, &b));
    EB_TRY(judge_bound(result, &b, &t, finding));
  }
  EB_TRY(say_stopped(result, finding));
  return rule(&t, json_is_true(json_object_get(result, "complete")), finding);
}

static eb_error judge(const eb_evidence *e, const eb_paper_claim *claim, eb_finding *finding) {
  json_t *result;
  EB_TRY(eb_claim_probe(e, claim, finding, &result));
  eb_error error = result ? judge_result(result, claim, finding) : EB_OK;
  json_decref(result);
  return error;
}

const eb_measure eb_measure_probed = {
    "probed", "figures of a probe's rows, each within its bound",
    (const eb_argument[]){{"probe", EB_ARGUMENT_PROBE, true, "whose result has rows"},
                          {"holds", EB_ARGUMENT_TEXT, true, "ROW.FIELD[/ROW.FIELD] <=|>=|= NUMBER"},
                          {0}},
    judge};
