#include "harness/reproduce/measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"

const eb_measure *const eb_measures[] = {&eb_measure_cells,     &eb_measure_growth,
                                         &eb_measure_monotone,  &eb_measure_ratio,
                                         &eb_measure_ranking,   &eb_measure_phases,
                                         &eb_measure_threads,   &eb_measure_trajectory,
                                         &eb_measure_shape,     &eb_measure_outcomes,
                                         &eb_measure_completed, &eb_measure_updown,
                                         &eb_measure_agreement, &eb_measure_conditions,
                                         &eb_measure_follows,   &eb_measure_final,
                                         &eb_measure_turn,      &eb_measure_line,
                                         &eb_measure_lively,    &eb_measure_course,
                                         &eb_measure_limit,     &eb_measure_counts,
                                         &eb_measure_threshold, &eb_measure_probed,
                                         &eb_measure_spread,    NULL};

const eb_measure *eb_measure_find(const char *name) {
  for (const eb_measure *const *m = eb_measures; *m; m++)
    if (strcmp((*m)->name, name) == 0) return *m;
  return NULL;
}

const char *eb_ruling_name(eb_ruling ruling) {
  static const char *const names[] = {"reproduced", "not reproduced", "not comparable"};
  return names[ruling];
}

/* ---- arguments -------------------------------------------------------------------------------- */

static const char between[] = " /<*"; /* names of cases in an argument */

static bool is_number(const char *word) {
  char *end;
  strtod(word, &end);
  return end != word && !*end;
}

static eb_error unknown_case(const eb_paper *paper, const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int c = 0; c < paper->case_count && !error; c++)
    error = eb_strings_add(&names, paper->cases[c].name);
  if (!error) error = eb_unknown_name("case", name, &names);
  eb_strings_clear(&names);
  return error;
}

static eb_error check_cases(const eb_paper *paper, const char *value) {
  eb_strings words = {0};
  eb_error error = eb_words(value, between, &words);
  for (int i = 0; i < words.count && !error; i++)
    if (!is_number(words.items[i]) &&
        eb_paper_case_find(paper, words.items[i], strlen(words.items[i])) < 0)
      error = unknown_case(paper, words.items[i]);
  if (!error && words.count > EB_NAMED)
    error = EB_ERROR(EB_ERR_FORMAT, "more than %d cases", EB_NAMED);
  eb_strings_clear(&words);
  return error;
}

void eb_stage_statistic(const char *stage, char out[EB_STAGE_TEXT]) {
  int length = snprintf(out, EB_STAGE_TEXT, "phase.");
  for (; *stage && length < EB_STAGE_TEXT - 8; stage++)
    length += *stage == '|' ? snprintf(out + length, 8, "+phase.")
                            : snprintf(out + length, 2, "%c", *stage);
}

static eb_error check_stage(const char *stage) {
  char statistic[EB_STAGE_TEXT];
  eb_stage_statistic(stage, statistic);
  return eb_statistic_check(statistic);
}

static eb_error check_stages(const eb_paper *paper, const char *value) {
  eb_strings words = {0};
  eb_error error = eb_words(value, " ", &words);
  if (!error && words.count < 2)
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'CASE PHASE ..'", value);
  if (!error && eb_paper_case_find(paper, words.items[0], strlen(words.items[0])) < 0)
    error = unknown_case(paper, words.items[0]);
  for (int i = 1; i < words.count && !error; i++) error = check_stage(words.items[i]);
  eb_strings_clear(&words);
  return error;
}

static eb_error check_bound(const char *value) {
  char statistic[200];
  size_t length = strcspn(value, " ");
  const char *number = value + length + strspn(value + length, " ");
  snprintf(statistic, sizeof statistic, "%.*s", (int)length, value);
  if (!is_number(number)) return EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'STATISTIC NUMBER'", value);
  return eb_statistic_check(statistic);
}

static eb_error check_value(const eb_paper *paper, const eb_argument *argument, const char *value) {
  double number;
  eb_condition condition;
  eb_measured_point point;
  switch (argument->kind) {
  case EB_ARGUMENT_CASES:
    return check_cases(paper, value);
  case EB_ARGUMENT_STAGES:
    return check_stages(paper, value);
  case EB_ARGUMENT_BOUND:
    return check_bound(value);
  case EB_ARGUMENT_POINT:
    return eb_point_parse(paper, value, &point);
  case EB_ARGUMENT_CONDITION:
    return eb_condition_parse(paper, value, &condition);
  case EB_ARGUMENT_NUMBER:
    return eb_parse_real(argument->name, value, -1e300, 1e300, &number);
  case EB_ARGUMENT_STATISTIC:
    return eb_statistic_check(value);
  case EB_ARGUMENT_TABLE:
    return eb_paper_table_find(paper, value) >= 0
               ? EB_OK
               : EB_ERROR(EB_ERR_FORMAT, "there is no table '%s'", value);
  case EB_ARGUMENT_FIGURE:
    return eb_paper_figure_find(paper, value) >= 0
               ? EB_OK
               : EB_ERROR(EB_ERR_FORMAT, "there is no figure '%s'", value);
  case EB_ARGUMENT_PROBE:
    return eb_sections_find(&paper->sections, "probe", value)
               ? EB_OK
               : EB_ERROR(EB_ERR_FORMAT, "there is no probe '%s'", value);
  case EB_ARGUMENT_TEXT:
    break;
  }
  return EB_OK;
}

/* What every claim may have. */
static const eb_argument common[] = {
    {"where", EB_ARGUMENT_TEXT, false, NULL},    {"claim", EB_ARGUMENT_TEXT, false, NULL},
    {"measure", EB_ARGUMENT_TEXT, true, NULL},   {"note", EB_ARGUMENT_TEXT, false, NULL},
    {"paper", EB_ARGUMENT_NUMBER, false, NULL},  {"table", EB_ARGUMENT_TABLE, false, NULL},
    {"figure", EB_ARGUMENT_FIGURE, false, NULL}, {0}};

static const eb_argument *find_argument(const eb_argument *list, const char *name) {
  for (; list->name; list++)
    if (strcmp(list->name, name) == 0) return list;
  return NULL;
}

static eb_error unknown_argument(const eb_paper_claim *claim, const char *key) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (const eb_argument *a = claim->measure->arguments; a->name && !error; a++)
    error = eb_strings_add(&names, a->name);
  if (!error) error = eb_unknown_name("argument", key, &names);
  eb_strings_clear(&names);
  return eb_error_prefix(error, "measure '%s'", claim->measure->name);
}

eb_error eb_point_parse(const eb_paper *paper, const char *text, eb_measured_point *out) {
  eb_strings words = {0};
  int found[2] = {-1, -1};
  eb_error error = eb_words(text, " ", &words);
  if (!error && (words.count < 2 || words.count > 3 || !is_number(words.items[0])))
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'X CASE' or 'X CASE AGAINST'", text);
  for (int i = 1; i < words.count && !error; i++) {
    found[i - 1] = eb_paper_case_find(paper, words.items[i], strlen(words.items[i]));
    if (found[i - 1] < 0) error = unknown_case(paper, words.items[i]);
  }
  if (!error)
    *out = (eb_measured_point){
        .x = strtod(words.items[0], NULL), .case_ = found[0], .against = found[1]};
  eb_strings_clear(&words);
  return error;
}

/* Between bounds that are both missing any figure would do: such a claim could not fail. */
static eb_error check_bounds(const eb_paper_claim *claim) {
  static const char *const bounds[2] = {"least", "most"};
  for (int b = 0; b < 2; b++)
    if (!find_argument(claim->measure->arguments, bounds[b]) ||
        eb_section_value(claim->arguments, bounds[b]))
      return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "measure '%s' wants 'least' or 'most'", claim->measure->name);
}

eb_error eb_measure_check(const eb_paper *paper, const eb_paper_claim *claim) {
  const eb_section *given = claim->arguments;
  for (int e = 0; e < given->count; e++) {
    const eb_argument *argument = find_argument(common, given->entries[e].key);
    if (!argument) argument = find_argument(claim->measure->arguments, given->entries[e].key);
    if (!argument) return unknown_argument(claim, given->entries[e].key);
    EB_TRY(eb_error_prefix(check_value(paper, argument, given->entries[e].value), "%s",
                           argument->name));
  }
  for (const eb_argument *a = claim->measure->arguments; a->name; a++)
    if (a->required && !eb_section_value(given, a->name))
      return EB_ERROR(EB_ERR_FORMAT, "measure '%s' wants '%s': %s", claim->measure->name, a->name,
                      a->doc);
  return check_bounds(claim);
}

static eb_error mark(const eb_paper *paper, const char *value, bool *wanted) {
  eb_strings words = {0};
  eb_error error = eb_words(value, between, &words);
  for (int i = 0; i < words.count && !error; i++) {
    int found = eb_paper_case_find(paper, words.items[i], strlen(words.items[i]));
    if (found >= 0) wanted[found] = true;
  }
  eb_strings_clear(&words);
  return error;
}

static bool names_cases(eb_argument_kind kind) {
  return kind == EB_ARGUMENT_CASES || kind == EB_ARGUMENT_STAGES || kind == EB_ARGUMENT_POINT ||
         kind == EB_ARGUMENT_CONDITION;
}

eb_error eb_measure_cases(const eb_paper *paper, const eb_paper_claim *claim, bool *wanted) {
  for (int e = 0; e < claim->arguments->count; e++) {
    const eb_entry *entry = &claim->arguments->entries[e];
    const eb_argument *argument = find_argument(claim->measure->arguments, entry->key);
    if (argument && names_cases(argument->kind)) EB_TRY(mark(paper, entry->value, wanted));
  }
  return EB_OK;
}

/* ---- for measures ----------------------------------------------------------------------------- */

double eb_claim_number(const eb_paper_claim *claim, const char *name, double fallback) {
  const char *text = eb_section_value(claim->arguments, name);
  return text ? strtod(text, NULL) : fallback;
}

const char *eb_claim_text(const eb_paper_claim *claim, const char *name, const char *fallback) {
  const char *text = eb_section_value(claim->arguments, name);
  return text ? text : fallback;
}

eb_error eb_claim_cases(const eb_evidence *evidence, const char *value, eb_named out[EB_NAMED],
                        int *count) {
  eb_strings words = {0};
  double factor = 1;
  *count = 0;
  eb_error error = eb_words(value, between, &words);
  for (int i = 0; i < words.count && !error && *count < EB_NAMED; i++) {
    const char *word = words.items[i];
    if (is_number(word)) {
      factor = strtod(word, NULL);
      continue;
    }
    int found = eb_paper_case_find(evidence->paper, word, strlen(word));
    if (found < 0) error = unknown_case(evidence->paper, word);
    out[(*count)++] = (eb_named){.case_ = found, .factor = factor};
    factor = 1;
  }
  eb_strings_clear(&words);
  return error;
}

static eb_error append(eb_finding *finding, const char *format, va_list arguments) {
  char text[2000];
  vsnprintf(text, sizeof text, format, arguments);
  return eb_text_printf(&finding->reason, "%s%s", finding->reason.length ? "; " : "", text);
}

eb_error eb_say(eb_finding *finding, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  eb_error error = append(finding, format, arguments);
  va_end(arguments);
  return error;
}

eb_error eb_rule(eb_finding *finding, eb_ruling ruling, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  eb_error error = append(finding, format, arguments);
  va_end(arguments);
  finding->ruling = ruling;
  return error;
}

eb_error eb_usable(const eb_evidence *evidence, int case_, eb_finding *finding, bool *usable) {
  const eb_case_evidence *found = &evidence->cases[case_];
  *usable = found->standing == EB_STANDING_WHOLE || found->standing == EB_STANDING_CUT;
  if (found->standing == EB_STANDING_WHOLE) return EB_OK;
  if (found->standing == EB_STANDING_FAILED)
    return eb_rule(finding, EB_NOT_REPRODUCED, "%s", found->why);
  return eb_say(finding, "%s", found->why);
}

eb_error eb_all_usable(const eb_evidence *evidence, const eb_named *cases, int count,
                       eb_finding *finding, bool *usable) {
  *usable = count > 0;
  for (int i = 0; i < count && *usable; i++)
    EB_TRY(eb_usable(evidence, cases[i].case_, finding, usable));
  return EB_OK;
}

bool eb_shortened(const eb_evidence *e, int case_) {
  const eb_paper_case *work = &e->paper->cases[case_];
  return work->frames < work->all_frames || e->cases[case_].standing != EB_STANDING_WHOLE;
}

eb_error eb_claim_judge(const eb_evidence *evidence, const eb_paper_claim *claim,
                        eb_finding *finding) {
  *finding = (eb_finding){.ruling = EB_NOT_COMPARABLE, .paper = claim->paper, .ours = NAN};
  EB_TRY(eb_text_append(&finding->reason, "", 0));
  return eb_error_prefix(claim->measure->judge(evidence, claim, finding), "claim '%s'", claim->id);
}
