/* A measure on what scenes are made of: a table of counts, and materials by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/measure.h"
#include "harness/reproduce/probe.h"

typedef struct tally {
  int wanted, measured, wrong;
} tally;

/* The words that follow a row's key in an argument "KEY ..", or NULL. */
static const char *argument_of_row(const eb_paper_claim *claim, const char *name, const char *key) {
  const char *text;
  size_t length = strlen(key);
  for (int at = 0; (text = eb_section_next(claim->arguments, name, &at));)
    if (strncmp(text, key, length) == 0 && text[length] == ' ')
      return text + length + strspn(text + length, " ");
  return NULL;
}

static eb_error judge_cell(const eb_evidence *e, const eb_paper_claim *claim,
                           const eb_paper_table *table, int row, const eb_paper_column *column,
                           tally *t, eb_finding *finding) {
  eb_paper_source source;
  double ours, paper = eb_paper_value(table, row, column);
  const char *key = table->keys.items[row], *within = argument_of_row(claim, "within", key);
  EB_TRY(eb_paper_cell(e->paper, table, row, column, &source));
  if (!source.statistic) return EB_OK;
  eb_error error = eb_evidence_cell(e, &source, &ours);
  free(source.statistic);
  EB_TRY(error);
  ours *= table->scale;
  /* Exact but for the rounding of a number that was text. */
  double slack = (within ? strtod(within, NULL) : 1e-12) * fabs(paper);
  bool right = fabs(ours - paper) <= slack;
  t->wanted++;
  t->measured += !isnan(ours);
  t->wrong += !isnan(ours) && !right;
  if (isnan(ours)) return eb_say(finding, "%s, %s: not known", key, column->heading);
  return right ? EB_OK
               : eb_say(finding, "%s, %s: %g, not %g%s", key, column->heading, ours, paper,
                        within ? " within its tolerance" : "");
}

/* "KEY NAME": the material that the probe has found in the row of that key. */
static eb_error judge_material(const json_t *result, const char *text, tally *t,
                               eb_finding *finding) {
  char key[100];
  size_t length = strcspn(text, " ");
  const char *wanted = text + length + strspn(text + length, " ");
  snprintf(key, sizeof key, "%.*s", (int)length, text);
  const char *found = json_string_value(
      json_object_get(json_object_get(json_object_get(result, "rows"), key), "material"));
  t->wanted++;
  t->measured += found != NULL;
  t->wrong += found && strcmp(found, wanted) != 0;
  if (found && strcmp(found, wanted) == 0) return EB_OK;
  return eb_say(finding, "%s: material %s, not %s", key, found ? found : "not known", wanted);
}

static eb_error rule_counts(const tally *t, int rows, eb_finding *finding) {
  finding->ours = t->measured - t->wrong;
  finding->paper = t->wanted;
  if (t->wrong)
    return eb_rule(finding, EB_NOT_REPRODUCED, "%d of %d entries differ", t->wrong, t->wanted);
  if (t->measured < t->wanted)
    return eb_say(finding, "%d of %d entries are known", t->measured, t->wanted);
  return eb_rule(finding, EB_REPRODUCED, "all %d entries of %d scenes hold", t->wanted, rows);
}

/* Rows that the probe could not measure. */
static eb_error say_troubles(const json_t *result, eb_finding *finding) {
  const char *key;
  json_t *row;
  json_object_foreach(json_object_get(result, "rows"), key, row) {
    const char *trouble = json_string_value(json_object_get(row, "error"));
    if (trouble) EB_TRY(eb_say(finding, "%s: %s", key, trouble));
  }
  return EB_OK;
}

static eb_error judge_found(const eb_evidence *e, const json_t *result, const eb_paper_claim *claim,
                            eb_finding *finding) {
  const eb_paper_table *table =
      &e->paper->tables[eb_paper_table_find(e->paper, eb_claim_text(claim, "table", ""))];
  const char *text;
  tally t = {0};
  for (int r = 0; r < table->keys.count; r++)
    for (int c = 0; c < table->column_count; c++)
      EB_TRY(judge_cell(e, claim, table, r, &table->columns[c], &t, finding));
  EB_TRY(say_troubles(result, finding));
  for (int at = 0; (text = eb_section_next(claim->arguments, "material", &at));)
    EB_TRY(judge_material(result, text, &t, finding));
  return rule_counts(&t, table->keys.count, finding);
}

static eb_error judge_counts(const eb_evidence *e, const eb_paper_claim *claim,
                             eb_finding *finding) {
  json_t *result;
  EB_TRY(eb_claim_probe(e, claim, finding, &result));
  eb_error error = result ? judge_found(e, result, claim, finding) : EB_OK;
  json_decref(result);
  return error;
}

const eb_measure eb_measure_counts = {
    "counts", "a table of counts and moduli that is met, and materials by name",
    (const eb_argument[]){
        {"table", EB_ARGUMENT_TABLE, true, "the table; entries that ours lack are passed over"},
        {"probe", EB_ARGUMENT_PROBE, true, "of kind counts"},
        {"within", EB_ARGUMENT_TEXT, false, "ROW NUMBER: relative tolerance of a row (exact)"},
        {"material", EB_ARGUMENT_TEXT, false, "KEY NAME, NAME+FIBRE"},
        {0}},
    judge_counts};
