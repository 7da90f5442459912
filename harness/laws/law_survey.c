#include "harness/laws/law_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "harness/served.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

const char *eb_law_state_name(eb_law_state state) {
  static const char *const names[EB_LAW_STATES] = {[EB_LAW_UNSERVED] = "not served",
                                                   [EB_LAW_OPEN] = "not measured",
                                                   [EB_LAW_FAILED] = "solver failed",
                                                   [EB_LAW_BROKEN] = "broken",
                                                   [EB_LAW_HOLDS] = "holds"};
  return names[state];
}

static int cases_a_point(const eb_physical_law *law) {
  return law->told ? 2 : 1;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Whether what is told is another scene, and no parameters of the same one. */
static bool is_other_scene(const char *told) {
  return !strchr(told, '=') || strcspn(told, "=") > strcspn(told, ":");
}

/* Appends a scene as the law has it, beside the law's file. */
static eb_error put_spec(const eb_law_survey *survey, const char *scene, const eb_scope *scope,
                         eb_text *out) {
  if (survey->book->folder && eb_scene_file_named(scene))
    EB_TRY(eb_text_printf(out, "%s/", survey->book->folder));
  return eb_scope_put(scope, scene, strlen(scene), true, out);
}

/* The scene's spec at a point of the grid; `told` says it once more. The caller frees *out. */
static eb_error put_scene(const eb_law_survey *survey, const eb_law_cell *cell, int point,
                          bool told, char **out) {
  const eb_physical_law *law = cell->law;
  eb_scope scopes[EB_MOST_LAW_VARIABLES];
  int variables = eb_law_point(law, point, NULL, scopes);
  const eb_scope *scope = variables ? &scopes[variables - 1] : NULL;
  const char *scene = law->scenes.items[cell->scene];
  EB_OWNED(eb_text_clear) eb_text own = {0}, more = {0};
  bool same = !told || strcmp(law->told, "-") == 0, other = !same && is_other_scene(law->told);
  EB_TRY(put_spec(survey, other ? law->told : scene, scope, &own));
  EB_TRY(eb_string_set(out, own.data));
  if (same || other) return EB_OK;
  EB_TRY(eb_scope_put(scope, law->told, strlen(law->told), true, &more));
  return eb_scene_spec_over(*out, more.data, out);
}

/* "slope-3-contact-al": what an expression can name. */
static eb_error put_name(const eb_law_survey *survey, const eb_law_cell *cell, int point, bool told,
                         char **out) {
  size_t length = strcspn(cell->solver, ":");
  EB_TRY(eb_string_format(out, "%s-%d-%.*s-%d%s", cell->law->id, point + 1, (int)length,
                          cell->solver, survey->paper.case_count, told ? "-told" : ""));
  for (char *letter = *out; *letter; letter++)
    if (strchr(".+", *letter)) *letter = '-';
  return EB_OK;
}

/* "CASE@STEP" of the last case; the paper has it. */
static eb_error keep_text(eb_paper *paper, int64_t step, const char **out) {
  EB_FREED char *text = NULL;
  EB_TRY(eb_string_format(&text, "%s@%lld", paper->cases[paper->case_count - 1].name,
                          (long long)step));
  EB_TRY(eb_strings_add(&paper->texts, text));
  *out = paper->texts.items[paper->texts.count - 1];
  return EB_OK;
}

/* Whatever rule of the audit a run breaks, the law measures it: that is what laws are for. */
static eb_error add_case(eb_law_survey *survey, const eb_law_cell *cell, int point, bool told) {
  eb_paper *paper = &survey->paper;
  const eb_physical_law *law = cell->law;
  EB_FREED char *name = NULL, *scene = NULL, *solver = NULL;
  EB_TRY(put_name(survey, cell, point, told, &name));
  EB_TRY(put_scene(survey, cell, point, told, &scene));
  EB_TRY(eb_string_set(&solver, cell->solver));
  int64_t threads = told && law->other_threads ? law->other_threads : 1;
  bool goes_on = told && law->to_step > 0;
  const char *from = NULL;
  if (goes_on) EB_TRY(keep_text(paper, law->from_step, &from));
  EB_TRY(EB_APPEND(paper->cases, paper->case_count));
  paper->cases[paper->case_count - 1] =
      (eb_paper_case){.name = name,
                      .scene = scene,
                      .solver = solver,
                      .source_run = goes_on ? paper->case_count - 2 : -1,
                      .frames = goes_on ? law->to_step - law->from_step : 0,
                      .dependencies = {[EB_DEPENDENCY_FROM] = from},
                      .repeat = 1,
                      .threads = threads,
                      .timeout = law->timeout,
                      .may_fail = true,
                      .may_break = (1u << EB_RULES) - 1,
                      .group = (int)(law - survey->book->laws)};
  name = scene = solver = NULL;
  return EB_OK;
}

static eb_error add_cases(eb_law_survey *survey, eb_law_cell *cell) {
  cell->first_case = survey->paper.case_count;
  cell->state = EB_LAW_OPEN;
  for (int p = 0; p < cell->law->points; p++)
    for (int k = 0; k < cases_a_point(cell->law); k++) EB_TRY(add_case(survey, cell, p, k == 1));
  return EB_NEW(cell->points, cell->law->points);
}

/* ---- who serves what ------------------------------------------------------------------------- */

/* What the scenes of one law need (eb_capability bits), asked of each when somebody comes to it. */
typedef struct law_needs {
  const eb_plugins *plugins;
  uint32_t *bits; /* a scene of the law each */
  bool *known;
} law_needs;

static eb_error ask_needs(const eb_law_survey *survey, const eb_law_cell *cell, law_needs *needs) {
  const eb_scene_ops *scene;
  EB_FREED char *spec = NULL, *assignments = NULL;
  if (needs->known[cell->scene]) return EB_OK;
  EB_TRY(put_scene(survey, cell, 0, false, &spec));
  EB_TRY(eb_open_scene_spec(spec, needs->plugins, &scene, &assignments));
  EB_OWNED(eb_served_clear) eb_served served = {0};
  eb_error error = eb_served_open(scene, assignments, NULL, &served);
  eb_scene_close(scene);
  needs->bits[cell->scene] = served.needs;
  needs->known[cell->scene] = true;
  return error;
}

/* Whether the solver serves the law's scene of that number; else says why not. */
static eb_error serves(const eb_law_survey *survey, eb_law_cell *cell, const eb_solver_ops *ops,
                       law_needs *needs, bool *out) {
  EB_OWNED(eb_text_clear) eb_text line = {0};
  char names[400];
  EB_TRY(ask_needs(survey, cell, needs));
  uint32_t lacks = eb_capabilities_lacking(ops->capabilities, needs->bits[cell->scene]);
  *out = lacks == 0;
  if (*out) return EB_OK;
  eb_capability_names(lacks, names, sizeof names);
  EB_TRY(eb_text_printf(&line, "lacks %s\n", names));
  return cell->why.length && strstr(cell->why.data, line.data)
             ? EB_OK
             : eb_text_append(&cell->why, line.data, line.length);
}

/* A mistake in the options of a solver is its user's, and no reason for an empty cell. */
static eb_error check_options(const eb_solver_ops *ops, const char *options) {
  eb_values *values = NULL;
  eb_error error = eb_values_create_over(ops->name, ops->options, NULL, options, &values);
  eb_values_destroy(values);
  return error;
}

static eb_error choose_scene(const eb_law_survey *survey, law_needs *needs, eb_law_cell *cell) {
  const eb_solver_ops *ops;
  EB_FREED char *name = NULL, *options = NULL;
  EB_TRY(eb_split_spec(cell->solver, &name, &options));
  EB_TRY(eb_solver_lookup(needs->plugins, name, &ops, NULL));
  EB_TRY(check_options(ops, options));
  if (cell->law->of.count && eb_word_find(&cell->law->of, name, strlen(name)) < 0) {
    EB_TRY(eb_text_printf(&cell->why, "the law is of"));
    for (int i = 0; i < cell->law->of.count; i++)
      EB_TRY(eb_text_printf(&cell->why, "%s %s", i ? "," : "", cell->law->of.items[i]));
    return EB_OK;
  }
  bool served = false;
  for (cell->scene = 0; cell->scene < cell->law->scenes.count; cell->scene++) {
    EB_TRY(serves(survey, cell, ops, needs, &served));
    if (served) break;
  }
  if (!served) cell->scene = -1;
  if (served) eb_text_clear(&cell->why);
  return EB_OK;
}

/* What the cell's figures are compared with, which all cells of the law and the scene share. */
static eb_error add_reference(eb_law_survey *survey, eb_law_cell *cell) {
  cell->reference = -1;
  if (!cell->law->reference) return EB_OK;
  for (int r = 0; r < survey->reference_count && cell->reference < 0; r++)
    if (survey->references[r].law == cell->law && survey->references[r].scene == cell->scene)
      cell->reference = r;
  if (cell->reference >= 0) return EB_OK;
  EB_TRY(EB_APPEND(survey->references, survey->reference_count));
  cell->reference = survey->reference_count - 1;
  eb_law_cell *reference = &survey->references[cell->reference];
  *reference = (eb_law_cell){
      .law = cell->law, .solver = cell->law->reference, .scene = cell->scene, .reference = -1};
  return add_cases(survey, reference);
}

static eb_error add_law(eb_law_survey *survey, int l, const eb_plugins *plugins) {
  const eb_physical_law *law = &survey->book->laws[l];
  EB_FREED uint32_t *bits = NULL;
  EB_FREED bool *known = NULL;
  EB_TRY(EB_NEW(bits, law->scenes.count));
  EB_TRY(EB_NEW(known, law->scenes.count));
  law_needs needs = {plugins, bits, known};
  for (int s = 0; s < survey->solvers->count; s++) {
    eb_law_cell *cell = eb_law_survey_cell(survey, l, s);
    *cell = (eb_law_cell){
        .law = law, .solver = survey->solvers->items[s], .scene = -1, .reference = -1, .worst = -1};
    EB_TRY(choose_scene(survey, &needs, cell));
    if (cell->scene < 0) continue;
    EB_TRY(add_reference(survey, cell));
    EB_TRY(add_cases(survey, cell));
  }
  return EB_OK;
}

eb_error eb_law_survey_create(const eb_law_book *book, const eb_strings *solvers,
                              const eb_plugins *plugins, eb_law_survey *out) {
  *out = (eb_law_survey){.book = book, .solvers = solvers, .paper.quick = book->quick};
  EB_TRY(eb_string_set(&out->paper.name, "laws"));
  EB_TRY(EB_NEW(out->cells, book->law_count * solvers->count));
  for (int l = 0; l < book->law_count; l++)
    EB_TRY(eb_error_prefix(add_law(out, l, plugins), "law '%s'", book->laws[l].id));
  return EB_OK;
}

static void clear_cell(eb_law_cell *cell) {
  free(cell->points);
  eb_text_clear(&cell->why);
}

void eb_law_survey_clear(eb_law_survey *survey) {
  int cells = survey->cells ? survey->book->law_count * survey->solvers->count : 0;
  for (int c = 0; c < cells; c++) clear_cell(&survey->cells[c]);
  for (int r = 0; r < survey->reference_count; r++) clear_cell(&survey->references[r]);
  free(survey->cells);
  free(survey->references);
  eb_paper_clear_cases(&survey->paper);
  eb_strings_clear(&survey->paper.texts);
  free(survey->paper.name);
  *survey = (eb_law_survey){0};
}

/* ---- figures --------------------------------------------------------------------------------- */

static const eb_case_evidence *evidence_of(const eb_evidence *evidence, const eb_law_cell *cell,
                                           int point, int told) {
  return &evidence->cases[cell->first_case + point * cases_a_point(cell->law) + told];
}

/* The number, or NaN; *failed when a run that it needs failed. */
static eb_error number(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                       double *out, bool *failed) {
  eb_value value = {0};
  *out = NAN;
  if (!of) return EB_OK;
  EB_TRY(eb_evaluate(e, of, scope, &value));
  bool fits = value.kind == EB_VALUE_NUMBER;
  if (fits && value.knowledge == EB_KNOWN) *out = value.number;
  if (value.knowledge == EB_FAILED) *failed = true;
  eb_value_clear(&value);
  return fits ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "a number is expected");
}

static eb_error read_point(eb_evaluation *e, const eb_law_cell *cell, int point, bool *failed,
                           eb_law_reading *out, double *scale) {
  const eb_physical_law *law = cell->law;
  const eb_paper_case *first =
      &e->paper->cases[cell->first_case + point * cases_a_point(cell->law)];
  eb_scope own[2], scopes[EB_MOST_LAW_VARIABLES];
  own[0] = (eb_scope){"case", first->name, NULL};
  own[1] = (eb_scope){"told", law->told ? first[1].name : NULL, &own[0]};
  const eb_scope *scope = law->told ? &own[1] : &own[0];
  int variables = eb_law_point(law, point, scope, scopes);
  if (variables) scope = &scopes[variables - 1];
  *out = (eb_law_reading){.deviation = NAN, .scheme = NAN, .own = NAN};
  *scale = 1;
  EB_TRY(eb_error_prefix(number(e, law->measure, scope, &out->measured, failed), "measure"));
  EB_TRY(eb_error_prefix(number(e, law->exact, scope, &out->exact, failed), "exact"));
  EB_TRY(eb_error_prefix(number(e, law->bound, scope, &out->bound, failed), "bound"));
  if (law->scale) EB_TRY(eb_error_prefix(number(e, law->scale, scope, scale, failed), "scale"));
  out->deviation = fabs(out->measured - out->exact) / *scale;
  return EB_OK;
}

static void compare_point(const eb_law_cell *reference, int point, double scale,
                          eb_law_reading *out) {
  out->scheme = reference->points[point].deviation;
  out->own = fabs(out->measured - reference->points[point].measured) / scale;
}

/* The worst is what exceeds its bound by the most. */
static void conclude(eb_law_cell *cell, bool failed) {
  bool all = true, within = true;
  double most = -1;
  for (int p = 0; p < cell->law->points; p++) {
    const eb_law_reading *at = &cell->points[p];
    double share = at->bound > 0 ? at->deviation / at->bound : at->deviation > 0 ? INFINITY : 0;
    if (isnan(at->deviation)) all = false;
    if (isnan(at->deviation) || isnan(at->bound)) continue;
    within = within && at->deviation <= at->bound;
    if (share > most) {
      most = share;
      cell->worst = p;
    }
  }
  cell->state = failed ? EB_LAW_FAILED : !within ? EB_LAW_BROKEN : all ? EB_LAW_HOLDS : EB_LAW_OPEN;
}

static eb_error judge(const eb_law_survey *survey, const eb_evidence *evidence, eb_law_cell *cell) {
  eb_evaluation e = {
      .paper = &survey->paper, .evidence = evidence, .left_out = -1, .why = &cell->why};
  bool failed = false;
  if (cell->scene < 0) return EB_OK;
  for (int p = 0; p < cell->law->points; p++) {
    double scale;
    EB_TRY(eb_error_prefix(read_point(&e, cell, p, &failed, &cell->points[p], &scale), "law '%s'",
                           cell->law->id));
    if (cell->reference >= 0)
      compare_point(&survey->references[cell->reference], p, scale, &cell->points[p]);
    for (int k = 0; k < cases_a_point(cell->law); k++) {
      const eb_case_evidence *found = evidence_of(evidence, cell, p, k);
      if (found->run >= 0 &&
          strcmp(eb_results_run(evidence->results, found->run)->audit, "failed") == 0)
        cell->refuted = true;
    }
  }
  conclude(cell, failed);
  return EB_OK;
}

eb_error eb_law_survey_judge(eb_law_survey *survey, const eb_evidence *evidence) {
  for (int r = 0; r < survey->reference_count; r++)
    EB_TRY(judge(survey, evidence, &survey->references[r]));
  for (int c = 0; c < survey->book->law_count * survey->solvers->count; c++)
    EB_TRY(judge(survey, evidence, &survey->cells[c]));
  return EB_OK;
}
