#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "harness/reproduce/paper_file.h"
#include "problems/base/memory.h"

static eb_error find_case(const eb_paper *paper, const char *name, int *out) {
  *out = eb_paper_case_find(paper, name, strlen(name));
  return *out < 0 ? EB_ERROR(EB_ERR_FORMAT, "there is no case '%s'", name) : EB_OK;
}

static bool is_number(const char *word) {
  char *end;
  strtod(word, &end);
  return end != word && !*end;
}

static eb_error add_point(eb_paper_figure *figure, double x, int against) {
  size_t count = (size_t)figure->point_count;
  eb_paper_point *grown = eb_recalloc(figure->points, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a point");
  figure->points = grown;
  grown[figure->point_count++] = (eb_paper_point){.x = x, .case_ = -1, .against = against};
  return EB_OK;
}

/* "X CASE" or "X CASE AGAINST" */
static eb_error read_point(const eb_paper *paper, const char *value, eb_paper_figure *figure,
                           int against) {
  eb_strings words = {0};
  EB_TRY(add_point(figure, 0, against));
  eb_paper_point *point = &figure->points[figure->point_count - 1];
  eb_error error = eb_words(value, " ", &words);
  if (!error && (words.count < 2 || words.count > 3 || !is_number(words.items[0])))
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'X CASE' or 'X CASE AGAINST'", value);
  if (!error) point->x = strtod(words.items[0], NULL);
  if (!error) error = find_case(paper, words.items[1], &point->case_);
  if (!error && words.count == 3) error = find_case(paper, words.items[2], &point->against);
  eb_strings_clear(&words);
  return error;
}

static eb_error read_curve(const char *label, size_t length, eb_paper_figure *figure) {
  if (figure->curve_count == EB_MOST_CURVES)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d curves", EB_MOST_CURVES);
  eb_paper_curve *curve = &figure->curves[figure->curve_count++];
  *curve = (eb_paper_curve){.label = strndup(label, length), .first = figure->point_count};
  return curve->label ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a name");
}

/* "NAME: CASE": a curve with that case as its one point. */
static eb_error read_run(const eb_paper *paper, const char *value, eb_paper_figure *figure) {
  size_t name;
  const char *rest;
  EB_TRY(eb_paper_split(value, &name, &rest));
  EB_TRY(read_curve(value, name, figure));
  EB_TRY(add_point(figure, figure->point_count, -1));
  EB_TRY(find_case(paper, rest, &figure->points[figure->point_count - 1].case_));
  figure->curves[figure->curve_count - 1].count = 1;
  return EB_OK;
}

static eb_error read_residuals(const eb_paper *paper, const char *value, bool ends,
                               eb_paper_figure *figure) {
  figure->residuals = true;
  EB_TRY(read_run(paper, value, figure));
  figure->curves[figure->curve_count - 1].ends = ends;
  return EB_OK;
}

/* "NAME: EXPRESSION" */
static eb_error read_part(const eb_paper *paper, const char *value, eb_paper_figure *figure) {
  size_t name;
  const char *rest;
  EB_TRY(eb_paper_split(value, &name, &rest));
  if (figure->parts.count == EB_MOST_PARTS)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d parts", EB_MOST_PARTS);
  EB_TRY(eb_strings_add_part(&figure->parts, value, name));
  return eb_definitions_parse(&paper->definitions, rest, &figure->shares[figure->parts.count - 1]);
}

/* What an entry is read into. */
typedef struct reading {
  const eb_paper *paper;
  eb_paper_figure *figure;
  int against;
} reading;

static eb_error read_entry(void *context, const eb_entry *entry) {
  const reading *r = context;
  const eb_paper *paper = r->paper;
  eb_paper_figure *figure = r->figure;
  const char *key = entry->key, *value = entry->value;
  if (strcmp(key, "run") == 0) return read_run(paper, value, figure);
  if (strcmp(key, "residuals") == 0 || strcmp(key, "ends") == 0)
    return read_residuals(paper, value, *key == 'e', figure);
  if (strcmp(key, "part") == 0) return read_part(paper, value, figure);
  if (strcmp(key, "curve") == 0) return read_curve(value, strlen(value), figure);
  if (strcmp(key, "value") == 0)
    return figure->value ? EB_ERROR(EB_ERR_FORMAT, "it is there twice")
                         : eb_definitions_parse(&paper->definitions, value, &figure->value);
  if (strcmp(key, "point") != 0) return EB_OK;
  /* The points of a curve follow its name; without one they are one. */
  if (figure->curve_count == 0) EB_TRY(read_curve(figure->title, strlen(figure->title), figure));
  EB_TRY(read_point(paper, value, figure, r->against));
  figure->curves[figure->curve_count - 1].count++;
  return EB_OK;
}

static bool is_course(const eb_paper_figure *figure) {
  return strncmp(figure->template, "course", 6) == 0;
}

/* Whether the expressions are right for every point. */
static eb_error check_expressions(const eb_paper *paper, const eb_paper_figure *figure) {
  eb_scope scopes[2];
  if (figure->residuals) return EB_OK;
  for (int p = 0; p < figure->point_count; p++) {
    if (!figure->value) return EB_ERROR(EB_ERR_FORMAT, "'value' is missing");
    eb_paper_point_scope(paper, &figure->points[p], scopes);
    EB_TRY(eb_expression_check(paper, figure->value, scopes,
                               is_course(figure) ? EB_VALUE_SERIES : EB_VALUE_NUMBER));
    for (int s = 0; s < figure->parts.count; s++)
      EB_TRY(eb_expression_check(paper, figure->shares[s], scopes, EB_VALUE_NUMBER));
  }
  return EB_OK;
}

static const char *text_of(const eb_section *section, const char *key, const char *fallback) {
  const char *value = eb_section_value(section, key);
  return value ? value : fallback;
}

static eb_error check_residuals(const eb_paper_figure *figure) {
  bool template = strcmp(figure->template, "samples-log") == 0;
  if (template == figure->residuals && !(figure->residuals && figure->value)) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT,
                  "template 'samples-log', and no other, wants lines 'residuals' and "
                  "'ends', and no 'value'");
}

static eb_error check_parts(const eb_paper_figure *figure) {
  bool bars = strcmp(figure->template, "bars") == 0;
  if (bars ? figure->parts.count >= 1 && figure->parts.count <= EB_MOST_PARTS
           : figure->parts.count == 0)
    return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "template 'bars', and no other, wants 1 to %d lines 'part'",
                  EB_MOST_PARTS);
}

static eb_error read_head(const eb_paper *paper, const eb_section *section, eb_paper_figure *figure,
                          int *against) {
  static const char *const keys[] = {"template", "x",         "y",     "value", "unit",
                                     "against",  "show",      "curve", "point", "run",
                                     "part",     "residuals", "ends",  NULL};
  const char *other = eb_section_value(section, "against"),
             *show = eb_section_value(section, "show");
  EB_TRY(eb_section_expect(section, keys));
  figure->id = section->label;
  figure->title = *section->text ? section->text : section->label;
  figure->template = text_of(section, "template", "");
  figure->x = text_of(section, "x", is_course(figure) ? "simulated time (s)" : "");
  figure->y = text_of(section, "y", "");
  figure->show = *against = -1;
  if (show) EB_TRY(find_case(paper, show, &figure->show));
  if (other) EB_TRY(find_case(paper, other, against));
  return eb_paper_unit(eb_section_value(section, "unit"), &figure->scale);
}

/* Entries that are no prose, and no expressions with loops of their own. */
static bool may_loop(const char *key) {
  static const char *const keys[] = {"run", "point", "part", "residuals", "ends"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
    if (strcmp(keys[k], key) == 0) return true;
  return false;
}

static eb_error read_figure(eb_paper *paper, const eb_section *section) {
  eb_paper_figure *figure = &paper->figures[paper->figure_count++];
  reading r = {paper, figure, -1};
  EB_TRY(eb_section_locate(section, NULL, read_head(paper, section, figure, &r.against)));
  for (int e = 0; e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    eb_error error =
        may_loop(entry->key) ? eb_entry_unroll(entry, read_entry, &r) : read_entry(&r, entry);
    EB_TRY(eb_section_locate(section, entry, error));
  }
  EB_TRY(eb_section_locate(section, NULL, check_residuals(figure)));
  EB_TRY(eb_section_locate(section, NULL, check_expressions(paper, figure)));
  return eb_section_locate(section, NULL, check_parts(figure));
}

eb_error eb_paper_read_figures(eb_paper *paper) {
  EB_TRY(EB_NEW(paper->figures, paper->sections.count));
  for (int i = 0; i < paper->sections.count; i++)
    if (strcmp(paper->sections.items[i].kind, "figure") == 0)
      EB_TRY(read_figure(paper, &paper->sections.items[i]));
  return EB_OK;
}

void eb_paper_clear_figures(eb_paper *paper) {
  for (int f = 0; f < paper->figure_count; f++) {
    free(paper->figures[f].points);
    eb_expression_destroy(paper->figures[f].value);
    for (int s = 0; s < EB_MOST_PARTS; s++) eb_expression_destroy(paper->figures[f].shares[s]);
    for (int c = 0; c < paper->figures[f].curve_count; c++) free(paper->figures[f].curves[c].label);
    eb_strings_clear(&paper->figures[f].parts);
  }
  free(paper->figures);
}
