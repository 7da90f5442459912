#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evidence.h"
#include "harness/reproduce/paper_file.h"
#include "problems/base/memory.h"

static eb_error find_case(const eb_paper *paper, const char *name, int *out) {
  *out = eb_paper_case_find(paper, name, strlen(name));
  return *out < 0 ? EB_ERROR(EB_ERR_FORMAT, "there is no case '%s'", name) : EB_OK;
}

/* "X CASE" */
static eb_error read_point(const eb_paper *paper, const char *value, eb_paper_figure *figure) {
  eb_strings words = {0};
  eb_paper_point *point = &figure->points[figure->point_count++];
  eb_error error = eb_words(value, " ", &words);
  if (!error && words.count != 2)
    error = EB_ERROR(EB_ERR_FORMAT, "point: '%s' is not 'X CASE'", value);
  if (!error) error = eb_parse_real("point", words.items[0], -1e300, 1e300, &point->x);
  if (!error) error = find_case(paper, words.items[1], &point->case_);
  eb_strings_clear(&words);
  return error;
}

static eb_error read_curve(const char *value, eb_paper_figure *figure) {
  if (figure->curve_count == EB_MOST_CURVES)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d curves", EB_MOST_CURVES);
  eb_paper_curve *curve = &figure->curves[figure->curve_count++];
  *curve = (eb_paper_curve){.label = value, .first = figure->point_count};
  return EB_OK;
}

/* The points of a curve follow its name; without a name there is one, named by what is shown. */
static eb_error read_points(const eb_paper *paper, const eb_section *section,
                            eb_paper_figure *figure) {
  for (int e = 0; e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    bool point = strcmp(entry->key, "point") == 0;
    if (strcmp(entry->key, "curve") == 0 || (point && figure->curve_count == 0))
      EB_TRY(read_curve(point ? figure->value : entry->value, figure));
    if (point) EB_TRY(read_point(paper, entry->value, figure));
    if (point) figure->curves[figure->curve_count - 1].count++;
  }
  return EB_OK;
}

static const char *text_of(const eb_section *section, const char *key, const char *fallback) {
  const char *value = eb_section_value(section, key);
  return value ? value : fallback;
}

static eb_error read_figure(eb_paper *paper, const eb_section *section) {
  static const char *const keys[] = {"title",   "template", "x",     "y",     "value", "unit",
                                     "against", "show",     "curve", "point", NULL};
  eb_paper_figure *figure = &paper->figures[paper->figure_count++];
  const char *against = eb_section_value(section, "against"),
             *show = eb_section_value(section, "show");
  EB_TRY(eb_section_expect(section, keys));
  EB_TRY(EB_NEW(figure->points, section->count));
  figure->id = section->label;
  figure->title = text_of(section, "title", section->label);
  figure->template = text_of(section, "template", "");
  figure->x = text_of(section, "x", "");
  figure->y = text_of(section, "y", "");
  figure->value = text_of(section, "value", "frame.mean");
  figure->against = figure->show = -1;
  if (show) EB_TRY(find_case(paper, show, &figure->show));
  if (against) EB_TRY(find_case(paper, against, &figure->against));
  bool distance = strcmp(figure->value, "distance") == 0;
  if (!distance) EB_TRY(eb_statistic_check(figure->value));
  if (distance && figure->against < 0)
    return EB_ERROR(EB_ERR_FORMAT, "value = distance wants 'against'");
  EB_TRY(eb_paper_unit(eb_section_value(section, "unit"), &figure->scale));
  return read_points(paper, section, figure);
}

eb_error eb_paper_read_figures(eb_paper *paper) {
  EB_TRY(EB_NEW(paper->figures, paper->sections.count));
  for (int i = 0; i < paper->sections.count; i++) {
    const eb_section *section = &paper->sections.items[i];
    if (strcmp(section->kind, "figure") == 0)
      EB_TRY(eb_error_prefix(read_figure(paper, section), "[figure %s]", section->label));
  }
  return EB_OK;
}

void eb_paper_clear_figures(eb_paper *paper) {
  for (int f = 0; f < paper->figure_count; f++) free(paper->figures[f].points);
  free(paper->figures);
}

int eb_paper_figure_find(const eb_paper *paper, const char *id) {
  for (int f = 0; f < paper->figure_count; f++)
    if (strcmp(paper->figures[f].id, id) == 0) return f;
  return -1;
}
