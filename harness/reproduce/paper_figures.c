#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/course.h"
#include "harness/reproduce/measure.h"
#include "harness/reproduce/paper_file.h"
#include "problems/base/memory.h"

static eb_error find_case(const eb_paper *paper, const char *name, int *out) {
  *out = eb_paper_case_find(paper, name, strlen(name));
  return *out < 0 ? EB_ERROR(EB_ERR_FORMAT, "there is no case '%s'", name) : EB_OK;
}

/* "X CASE" or "X CASE AGAINST" */
static eb_error read_point(const eb_paper *paper, const char *value, eb_paper_figure *figure) {
  eb_measured_point point;
  EB_TRY(eb_error_prefix(eb_point_parse(paper, value, &point), "point"));
  figure->points[figure->point_count++] =
      (eb_paper_point){.x = point.x, .case_ = point.case_, .against = point.against};
  return EB_OK;
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
  eb_paper_point *point = &figure->points[figure->point_count];
  EB_TRY(eb_paper_split(value, &name, &rest));
  EB_TRY(read_curve(value, name, figure));
  *point = (eb_paper_point){.x = figure->point_count, .against = -1};
  EB_TRY(find_case(paper, rest, &point->case_));
  figure->point_count++;
  figure->curves[figure->curve_count - 1].count = 1;
  return EB_OK;
}

/* "NAME: KEY" of a probe's series. */
static eb_error read_series(const char *value, eb_paper_figure *figure) {
  size_t name;
  eb_paper_curve *curve = &figure->curves[figure->curve_count];
  const char *key;
  EB_TRY(eb_paper_split(value, &name, &key));
  EB_TRY(read_curve(value, name, figure));
  curve->series = key;
  curve->count = 1;
  figure->points[figure->point_count++] = (eb_paper_point){.case_ = -1, .against = -1};
  return figure->probe ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "'series' wants 'probe'");
}

/* "NAME: STATISTIC" */
static eb_error read_part(const char *value, eb_paper_figure *figure) {
  size_t name;
  const char *statistic;
  EB_TRY(eb_paper_split(value, &name, &statistic));
  EB_TRY(eb_statistic_check(statistic));
  EB_TRY(eb_strings_add_part(&figure->parts, value, name));
  return eb_strings_add(&figure->statistics, statistic);
}

/* The points of a curve follow its name; without a name there is one, named by what is shown. */
static eb_error read_points(const eb_paper *paper, const eb_section *section,
                            eb_paper_figure *figure) {
  for (int e = 0; e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    bool point = strcmp(entry->key, "point") == 0, curve = strcmp(entry->key, "curve") == 0;
    const char *name = point ? figure->value : entry->value;
    if (strcmp(entry->key, "run") == 0) EB_TRY(read_run(paper, entry->value, figure));
    if (strcmp(entry->key, "series") == 0) EB_TRY(read_series(entry->value, figure));
    if (strcmp(entry->key, "part") == 0) EB_TRY(read_part(entry->value, figure));
    if (curve || (point && figure->curve_count == 0))
      EB_TRY(read_curve(name, strlen(name), figure));
    if (point) EB_TRY(read_point(paper, entry->value, figure));
    if (point) figure->curves[figure->curve_count - 1].count++;
  }
  return EB_OK;
}

static const char *text_of(const eb_section *section, const char *key, const char *fallback) {
  const char *value = eb_section_value(section, key);
  return value ? value : fallback;
}

static eb_error check_value(const eb_paper_figure *figure) {
  if (strcmp(figure->value, "error") == 0) return EB_OK;
  if (strncmp(figure->template, "course", 6) == 0) return eb_course_check(figure->value);
  if (strcmp(figure->value, "distance") != 0) return eb_statistic_check(figure->value);
  return figure->against < 0 ? EB_ERROR(EB_ERR_FORMAT, "value = distance wants 'against'") : EB_OK;
}

static eb_error check_parts(const eb_paper_figure *figure) {
  bool bars = strcmp(figure->template, "bars") == 0;
  if (bars ? figure->parts.count >= 1 && figure->parts.count <= EB_MOST_PARTS
           : figure->parts.count == 0)
    return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "template 'bars', and no other, wants 1 to %d lines 'part'",
                  EB_MOST_PARTS);
}

static eb_error read_figure(eb_paper *paper, const eb_section *section) {
  static const char *const keys[] = {"title", "template", "x",     "y",      "value",
                                     "unit",  "against",  "show",  "curve",  "point",
                                     "run",   "part",     "probe", "series", NULL};
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
  figure->probe = eb_section_value(section, "probe");
  figure->against = figure->show = -1;
  if (figure->probe && !eb_sections_find(&paper->sections, "probe", figure->probe))
    return EB_ERROR(EB_ERR_FORMAT, "there is no probe '%s'", figure->probe);
  if (show) EB_TRY(find_case(paper, show, &figure->show));
  if (against) EB_TRY(find_case(paper, against, &figure->against));
  EB_TRY(check_value(figure));
  EB_TRY(eb_paper_unit(eb_section_value(section, "unit"), &figure->scale));
  EB_TRY(read_points(paper, section, figure));
  return check_parts(figure);
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
  for (int f = 0; f < paper->figure_count; f++) {
    free(paper->figures[f].points);
    for (int c = 0; c < paper->figures[f].curve_count; c++) free(paper->figures[f].curves[c].label);
    eb_strings_clear(&paper->figures[f].parts);
    eb_strings_clear(&paper->figures[f].statistics);
  }
  free(paper->figures);
}

int eb_paper_figure_find(const eb_paper *paper, const char *id) {
  for (int f = 0; f < paper->figure_count; f++)
    if (strcmp(paper->figures[f].id, id) == 0) return f;
  return -1;
}
