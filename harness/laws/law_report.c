#include "harness/laws/law_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/page.h"
#include "harness/reproduce/evaluate.h"
#include "harness/results/ci.h"
#include "harness/results/json.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- what is shown of a cell ----------------------------------------------------------------- */

void eb_law_report_tally(const eb_law_report *report, int tally[EB_LAW_STATES]) {
  const eb_law_survey *survey = report->survey;
  memset(tally, 0, EB_LAW_STATES * sizeof *tally);
  for (int c = 0; c < survey->book->law_count * survey->solvers->count; c++)
    tally[survey->cells[c].state]++;
}

eb_error eb_law_put_point(const eb_physical_law *law, int point, eb_text *out) {
  eb_scope scopes[EB_MOST_LAW_VARIABLES];
  int variables = eb_law_point(law, point, NULL, scopes);
  for (int a = 0; a < variables; a++)
    EB_TRY(eb_text_printf(out, "%s%s = %s", a ? ", " : "", scopes[a].variable, scopes[a].word));
  return EB_OK;
}

/* An expression as it is written in the law's file, with its names written out. */
static eb_error put_expression(const eb_expression *of, eb_text *out) {
  return eb_expression_print(of, NULL, NULL, NULL, out);
}

static const eb_law_reading *worst_of(const eb_law_cell *cell) {
  return cell->worst < 0 ? NULL : &cell->points[cell->worst];
}

static eb_doc_class class_of(eb_law_state state) {
  return state == EB_LAW_HOLDS      ? EB_DOC_GOOD
         : state == EB_LAW_UNSERVED ? EB_DOC_NOTE
         : state == EB_LAW_OPEN     ? EB_DOC_PLAIN
                                    : EB_DOC_BAD;
}

static void put_state(eb_doc *doc, const eb_law_cell *cell) {
  const eb_law_reading *worst = worst_of(cell);
  eb_doc_class class = class_of(cell->state);
  if (cell->state == EB_LAW_UNSERVED)
    eb_doc_cell(doc, class, "-");
  else if (cell->state == EB_LAW_FAILED)
    eb_doc_cell(doc, class, "failed");
  else if (!worst)
    eb_doc_cell(doc, class, "?");
  else
    eb_doc_cell(doc, class, worst->deviation > 0 ? "%.1e" : "%g", worst->deviation);
}

/* ---- the document ---------------------------------------------------------------------------- */

static void put_summary(const eb_law_report *report, eb_doc *doc) {
  const eb_law_survey *survey = report->survey;
  int tally[EB_LAW_STATES];
  eb_law_report_tally(report, tally);
  eb_doc_heading(doc, 1, NULL, "Laws");
  eb_doc_paragraph(doc, EB_DOC_TALLY, "%d solvers, %d laws: %d cells hold, %d are broken",
                   survey->solvers->count, survey->book->law_count, tally[EB_LAW_HOLDS],
                   tally[EB_LAW_BROKEN]);
  eb_doc_text(doc, EB_DOC_PLAIN, ", %d solver failed, %d not measured, %d not served",
              tally[EB_LAW_FAILED], tally[EB_LAW_OPEN], tally[EB_LAW_UNSERVED]);
  eb_doc_paragraph(doc, EB_DOC_PLAIN,
                   "A cell is the largest deviation of a solver from a law over the law's grid, "
                   "relative to the law's scale. It is good when every deviation is within the "
                   "law's bound. '-': the solver does not serve the scene.");
  if (survey->book->quick)
    eb_doc_paragraph(doc, EB_DOC_NOTE, "Quick: grids are smaller and runs shorter.");
}

static void put_law_head(const eb_physical_law *law, eb_doc *doc) {
  EB_FREED char *target = NULL;
  eb_doc_head(doc, "%s", "");
  if (eb_string_format(&target, "#%s", law->id) == EB_OK) eb_doc_link(doc, target, "%s", law->id);
}

/* Solvers by so many laws, which a terminal can show. */
static void put_matrix(const eb_law_survey *survey, const int *laws, int count, eb_doc *doc) {
  eb_doc_table(doc, NULL);
  eb_doc_head(doc, "solver");
  for (int i = 0; i < count; i++) put_law_head(&survey->book->laws[laws[i]], doc);
  for (int s = 0; s < survey->solvers->count; s++) {
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_CODE, "%s", survey->solvers->items[s]);
    for (int i = 0; i < count; i++) put_state(doc, eb_law_survey_cell(survey, laws[i], s));
  }
  eb_doc_end(doc);
}

static void put_group(const eb_law_survey *survey, const char *group, eb_doc *doc) {
  enum { TOGETHER = 8 };
  const eb_law_book *book = survey->book;
  int laws[TOGETHER], count = 0;
  eb_doc_heading(doc, 2, NULL, "%s", group);
  for (int l = 0; l < book->law_count; l++) {
    if (strcmp(book->laws[l].group, group) != 0) continue;
    laws[count++] = l;
    if (count == TOGETHER) put_matrix(survey, laws, count, doc);
    count %= TOGETHER;
  }
  if (count) put_matrix(survey, laws, count, doc);
}

/* Where a cell is worst, and what went wrong. */
static eb_error put_finding(const eb_law_cell *cell, eb_doc *doc) {
  const eb_law_reading *worst = worst_of(cell);
  EB_OWNED(eb_text_clear) eb_text point = {0};
  eb_doc_item(doc, "%s: ", cell->solver);
  if (worst && cell->state != EB_LAW_FAILED) {
    EB_TRY(eb_law_put_point(cell->law, cell->worst, &point));
    eb_doc_text(doc, EB_DOC_PLAIN, "%s%s%s, exact %s", eb_doc_number_text(worst->measured).text,
                *cell->law->unit ? " " : "", cell->law->unit,
                eb_doc_number_text(worst->exact).text);
    if (!isnan(worst->scheme))
      eb_doc_text(doc, EB_DOC_PLAIN, "; off by %.1e, of which %.1e is the solver's own",
                  worst->deviation, worst->own);
    else
      eb_doc_text(doc, EB_DOC_PLAIN, "; off by %.1e", worst->deviation);
    eb_doc_text(doc, EB_DOC_PLAIN, ", bound %.1e", worst->bound);
    if (point.length) eb_doc_text(doc, EB_DOC_PLAIN, ", at %s", point.data);
    if (cell->refuted) eb_doc_text(doc, EB_DOC_PLAIN, "; its audit failed too");
  }
  if (cell->why.length) {
    size_t first = strcspn(cell->why.data, "\n");
    eb_doc_text(doc, EB_DOC_PLAIN, "%s%.*s", worst ? ". " : "", (int)first, cell->why.data);
  }
  return EB_OK;
}

static void put_heads(const eb_physical_law *law, eb_doc *doc) {
  eb_doc_head(doc, "solver");
  for (int p = 0; p < law->points; p++) {
    eb_scope scopes[EB_MOST_LAW_VARIABLES];
    int variables = eb_law_point(law, p, NULL, scopes);
    eb_doc_head(doc, "%s", variables ? "" : "measured");
    for (int a = 0; a < variables; a++)
      eb_doc_text(doc, EB_DOC_PLAIN, "%s%s=%s", a ? " " : "", scopes[a].variable, scopes[a].word);
  }
}

static void put_readings(const char *name, const eb_law_cell *cell, bool exact, eb_doc *doc) {
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", name);
  for (int p = 0; p < cell->law->points; p++) {
    const eb_law_reading *at = &cell->points[p];
    bool known = !exact && !isnan(at->deviation);
    eb_doc_number(doc,
                  !known                       ? EB_DOC_PLAIN
                  : at->deviation <= at->bound ? EB_DOC_GOOD
                                               : EB_DOC_BAD,
                  exact ? at->exact : at->measured);
  }
}

/* What all served solvers measure at every point, below what they should. */
static void put_points(const eb_law_survey *survey, int l, eb_doc *doc) {
  const eb_physical_law *law = &survey->book->laws[l];
  const eb_law_cell *any = NULL;
  for (int s = 0; s < survey->solvers->count && !any; s++) {
    const eb_law_cell *cell = eb_law_survey_cell(survey, l, s);
    if (cell->scene >= 0) any = cell;
  }
  if (!any) return;
  eb_doc_table(doc, NULL);
  put_heads(law, doc);
  put_readings("exact", any, true, doc);
  for (int r = 0; r < survey->reference_count; r++)
    if (survey->references[r].law == law)
      put_readings(law->reference, &survey->references[r], false, doc);
  for (int s = 0; s < survey->solvers->count; s++) {
    const eb_law_cell *cell = eb_law_survey_cell(survey, l, s);
    if (cell->scene >= 0) put_readings(cell->solver, cell, false, doc);
  }
  eb_doc_end(doc);
}

static eb_error put_law(const eb_law_report *report, int l, eb_doc *doc) {
  const eb_law_survey *survey = report->survey;
  const eb_physical_law *law = &survey->book->laws[l];
  EB_OWNED(eb_text_clear) eb_text exact = {0}, bound = {0};
  EB_TRY(put_expression(law->exact, &exact));
  EB_TRY(put_expression(law->bound, &bound));
  eb_doc_heading(doc, 3, law->id, "%s", *law->title ? law->title : law->id);
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "%s", law->about);
  eb_doc_paragraph(doc, EB_DOC_NOTE, "%s: exact is %s%s%s, within %s. Source: %s.", law->id,
                   exact.data, *law->unit ? " " : "", law->unit, bound.data, law->source);
  if (*law->limit) eb_doc_paragraph(doc, EB_DOC_NOTE, "Exact in the limit of %s.", law->limit);
  if (report->plotted && report->plotted[l]) eb_doc_plot(doc, law->id, "%s", law->title);
  eb_doc_details(doc, report->detailed ? EB_DOC_OPEN : EB_DOC_APPENDIX, "All points of %s",
                 law->id);
  put_points(survey, l, doc);
  eb_doc_end(doc);
  for (int s = 0; s < survey->solvers->count; s++) {
    const eb_law_cell *cell = eb_law_survey_cell(survey, l, s);
    if (cell->state != EB_LAW_HOLDS && cell->state != EB_LAW_UNSERVED)
      EB_TRY(put_finding(cell, doc));
  }
  return EB_OK;
}

/* Which cells are empty, and why: a line for each reason of a law. */
static void put_unserved(const eb_law_survey *survey, eb_doc *doc) {
  eb_doc_details(doc, EB_DOC_APPENDIX, "What solvers do not serve");
  for (int l = 0; l < survey->book->law_count; l++)
    for (int s = 0; s < survey->solvers->count; s++) {
      const eb_law_cell *cell = eb_law_survey_cell(survey, l, s);
      if (cell->scene >= 0 || !cell->why.length) continue;
      eb_doc_item(doc, "%s, %s: %.*s", cell->law->id, cell->solver,
                  (int)strcspn(cell->why.data, "\n"), cell->why.data);
    }
  eb_doc_end(doc);
}

/* `facts`: of machine, build and command. */
static eb_error build(const eb_law_report *report, bool facts, eb_doc *doc) {
  const eb_law_book *book = report->survey->book;
  put_summary(report, doc);
  if (report->pictured)
    eb_doc_markup(doc, "<p><img src=\"laws.svg\" alt=\"Solvers by laws, coloured by the "
                       "deviation beside the bound\" style=\"max-width:100%\"></p>\n");
  for (int l = 0; l < book->law_count; l++) {
    if (!eb_law_opens_group(book, l)) continue;
    put_group(report->survey, book->laws[l].group, doc);
    for (int m = l; m < book->law_count; m++)
      if (strcmp(book->laws[m].group, book->laws[l].group) == 0) EB_TRY(put_law(report, m, doc));
  }
  put_unserved(report->survey, doc);
  if (facts && report->results) eb_page_facts(doc, report->results);
  return EB_OK;
}

eb_error eb_law_report_write(const eb_law_report *report, eb_doc_format format, eb_text *out) {
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  EB_TRY(build(report, format != EB_DOC_TEXT, &doc));
  return format == EB_DOC_HTML ? eb_page_text(&doc, "Laws", "laws", out)
                               : eb_doc_write(&doc, format, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *point_json(const eb_physical_law *law, const eb_law_reading *at, int point) {
  eb_scope scopes[EB_MOST_LAW_VARIABLES];
  json_t *variables = json_object();
  int count = eb_law_point(law, point, NULL, scopes);
  for (int a = 0; a < count; a++)
    eb_json_set(variables, scopes[a].variable, eb_json_text(scopes[a].word));
  return eb_json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:f}", "at", variables, "measured",
                      at->measured, "exact", at->exact, "deviation", at->deviation, "bound",
                      at->bound, "scheme", at->scheme, "own", at->own);
}

static json_t *cell_json(const eb_law_cell *cell) {
  json_t *points = json_array();
  const eb_law_reading *worst = worst_of(cell);
  for (int p = 0; cell->points && p < cell->law->points; p++)
    json_array_append_new(points, point_json(cell->law, &cell->points[p], p));
  return eb_json_pack("{s:s, s:s, s:s, s:f, s:i, s:b, s:s, s:o}", "solver", cell->solver, "state",
                      eb_law_state_name(cell->state), "scene",
                      cell->scene < 0 ? "" : cell->law->scenes.items[cell->scene], "deviation",
                      worst ? worst->deviation : NAN, "worst", cell->worst, "audit_failed",
                      cell->refuted, "why", cell->why.data ? cell->why.data : "", "points", points);
}

static eb_error law_json(const eb_law_survey *survey, int l, json_t **out) {
  const eb_physical_law *law = &survey->book->laws[l];
  json_t *cells = json_array();
  EB_OWNED(eb_text_clear) eb_text measure = {0}, exact = {0}, bound = {0};
  eb_error error = put_expression(law->measure, &measure);
  if (!error) error = put_expression(law->exact, &exact);
  if (!error) error = put_expression(law->bound, &bound);
  for (int s = 0; s < survey->solvers->count && !error; s++)
    json_array_append_new(cells, cell_json(eb_law_survey_cell(survey, l, s)));
  *out = eb_json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "law", law->id,
                      "title", law->title, "group", law->group, "about", law->about, "source",
                      law->source, "limit", law->limit, "unit", law->unit, "measure",
                      measure.data ? measure.data : "", "exact", exact.data ? exact.data : "",
                      "bound", bound.data ? bound.data : "", "solvers", cells);
  return error;
}

eb_error eb_law_report_json(const eb_law_report *report, json_t **out) {
  const eb_law_survey *survey = report->survey;
  json_t *laws = json_array();
  eb_error error = EB_OK;
  for (int l = 0; l < survey->book->law_count && !error; l++) {
    json_t *law = NULL;
    error = law_json(survey, l, &law);
    json_array_append_new(laws, law);
  }
  *out = eb_json_pack("{s:b, s:o}", "quick", survey->book->quick, "laws", laws);
  return error;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static eb_ci_verdict verdict_of(eb_law_state state) {
  return state == EB_LAW_HOLDS    ? EB_CI_PASSED
         : state == EB_LAW_BROKEN ? EB_CI_FAILED
         : state == EB_LAW_FAILED ? EB_CI_ERROR
                                  : EB_CI_SKIPPED;
}

eb_error eb_law_report_junit(const eb_law_report *report, FILE *out) {
  const eb_law_survey *survey = report->survey;
  int count = survey->book->law_count * survey->solvers->count;
  EB_FREED eb_ci_test *tests = NULL;
  EB_OWNED(eb_strings_clear) eb_strings messages = {0};
  EB_TRY(EB_NEW(tests, count));
  for (int c = 0; c < count; c++) {
    const eb_law_cell *cell = &survey->cells[c];
    const eb_law_reading *worst = worst_of(cell);
    EB_OWNED(eb_text_clear) eb_text message = {0};
    EB_TRY(eb_text_printf(&message, "%s", eb_law_state_name(cell->state)));
    if (worst)
      EB_TRY(eb_text_printf(&message, ": measured %.6g%s%s, exact %.6g, off by %.2e, bound %.2e",
                            worst->measured, *cell->law->unit ? " " : "", cell->law->unit,
                            worst->exact, worst->deviation, worst->bound));
    EB_TRY(eb_strings_add(&messages, message.data));
    tests[c] = (eb_ci_test){.suite = cell->law->id,
                            .name = cell->solver,
                            .seconds = NAN,
                            .verdict = verdict_of(cell->state),
                            .detail = cell->why.data};
  }
  for (int c = 0; c < count; c++)
    if (tests[c].verdict != EB_CI_PASSED) tests[c].message = messages.items[c];
  return eb_ci_junit(out, "elastobench laws", tests, count);
}
