#include "harness/report/audits.h"

#include <math.h>

#include "harness/report/markup.h"

typedef enum statistic {
  WORST,
  TYPICAL, /* the median without the first step */
  TOTAL
} statistic;

/* One column of a table. */
typedef struct figure {
  const char *heading, *format;
  eb_column column;
  statistic statistic;
  double scale;
  bool declared; /* of files that name the declared equation alone */
} figure;

typedef struct table {
  const char *heading;
  const figure *figures;
  int count;
} table;

static const figure step_figures[] = {
    {"error, worst", "%.1e", EB_COL_EQUATION_RESIDUAL, WORST, 1, true},
    {"median", "%.1e", EB_COL_EQUATION_RESIDUAL, TYPICAL, 1, true},
    {"implicit Euler's residual, worst", "%.1e", EB_COL_RESIDUAL_RELATIVE, WORST, 1, false},
    {"median", "%.1e", EB_COL_RESIDUAL_RELATIVE, TYPICAL, 1, false},
    {"update error (m)", "%.1e", EB_COL_UPDATE_ERROR, WORST, 1, true},
    {"held error (m)", "%.1e", EB_COL_HELD_ERROR, WORST, 1, true},
    {"momentum balance (kg m/s)", "%.1e", EB_COL_BALANCE, WORST, 1, true},
    {"relative", "%.1e", EB_COL_BALANCE_RELATIVE, WORST, 1, true},
    {"energy excess (J), worst step", "%.1e", EB_COL_ENERGY_EXCESS, WORST, 1, true},
    {"all steps", "%.1e", EB_COL_ENERGY_EXCESS, TOTAL, 1, true},
    {"penetration (mm)", "%.2f", EB_COL_MAX_PENETRATION, WORST, 1e3, false},
    {"inverted elements", "%.0f", EB_COL_INVERTED, WORST, 1, false}};

static const figure contact_figures[] = {
    {"contacts", "%.0f", EB_COL_CONTACT_COUNT, WORST, 1, false},
    {"with a force", "%.0f", EB_COL_CONTACT_ACTIVE, WORST, 1, false},
    {"crossing triangles", "%.0f", EB_COL_INTERSECTIONS, WORST, 1, false},
    {"of one body", "%.0f", EB_COL_SELF_INTERSECTIONS, WORST, 1, false},
    {"bodies in bodies", "%.0f", EB_COL_NESTED, WORST, 1, false},
    {"too close (m)", "%.1e", EB_COL_CONTACT_VIOLATION, WORST, 1, false},
    {"off, with a force (m)", "%.1e", EB_COL_CONTACT_OPEN, WORST, 1, false},
    {"true gap off (m)", "%.1e", EB_COL_CONTACT_TRUE_GAP, WORST, 1, true},
    {"apart (m)", "%.1e", EB_COL_CONTACT_APART, WORST, 1, false},
    {"unrecorded pairs", "%.0f", EB_COL_CONTACT_UNRECORDED, WORST, 1, true},
    {"normal off (deg)", "%.2g", EB_COL_CONTACT_NORMAL, WORST, 1, true},
    {"slip inside the cone (m)", "%.1e", EB_COL_CONTACT_SLIDING, WORST, 1, false},
    {"beyond the cone", "%.1e", EB_COL_CONTACT_CONE, WORST, 1, false},
    {"friction off (deg)", "%.2g", EB_COL_CONTACT_ANGLE, WORST, 1, false}};

static const figure joint_figures[] = {
    {"residual (N m), worst", "%.1e", EB_COL_JOINT_RESIDUAL, WORST, 1, false},
    {"over its terms, worst", "%.1e", EB_COL_JOINT_RESIDUAL_RELATIVE, WORST, 1, false},
    {"median", "%.1e", EB_COL_JOINT_RESIDUAL_RELATIVE, TYPICAL, 1, false}};

#define COUNT(figures) ((int)(sizeof(figures) / sizeof *(figures)))
static const table of_steps = {"audits, worst of all steps", step_figures, COUNT(step_figures)};
static const table of_contact = {"contact, worst of all steps", contact_figures,
                                 COUNT(contact_figures)};
static const table of_joints = {"joints", joint_figures, COUNT(joint_figures)};

static double value_of(const figure *f, const eb_report_run *run) {
  if (f->declared && !eb_report_declares(run)) return NAN;
  double total = 0;
  for (size_t s = 0; s < run->steps; s++) total += run->column[f->column][s];
  return f->scale * (f->statistic == TOTAL     ? total
                     : f->statistic == TYPICAL ? eb_report_typical(run, f->column)
                                               : eb_report_worst(run, f->column));
}

static eb_error write_table(const eb_report *report, int first, int last, const table *what,
                            eb_text *page) {
  EB_TRY(eb_text_printf(page, "<div class=\"scroll\"><table class=\"audits\"><tr><th>%s</th>",
                        what->heading));
  for (int f = 0; f < what->count; f++)
    EB_TRY(eb_text_printf(page, "<th>%s</th>", what->figures[f].heading));
  EB_TRY(eb_text_printf(page, "</tr>\n"));
  for (int r = first; r < last; r++) {
    const eb_report_run *run = &report->runs[r];
    if (run->steps == 0) continue;
    EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", run->label, "</td>"));
    for (int f = 0; f < what->count; f++)
      EB_TRY(eb_markup_number(page, what->figures[f].format, value_of(&what->figures[f], run)));
    EB_TRY(eb_text_printf(page, "</tr>\n"));
  }
  return eb_text_printf(page, "</table></div>\n");
}

/* Whether a run has ever had anything in one of the columns. */
static bool any(const eb_report *report, int first, int last, const eb_column *columns, int count) {
  for (int r = first; r < last; r++)
    for (int c = 0; c < count; c++)
      if (eb_report_worst(&report->runs[r], columns[c]) > 0) return true;
  return false;
}

eb_error eb_audits_html(const eb_report *report, int first, int last, eb_text *page) {
  static const eb_column contact[] = {EB_COL_CONTACT_COUNT, EB_COL_INTERSECTIONS,
                                      EB_COL_SELF_INTERSECTIONS, EB_COL_NESTED,
                                      EB_COL_CONTACT_UNRECORDED},
                         steps[] = {EB_COL_STEP},
                         joints[] = {EB_COL_JOINT_RESIDUAL, EB_COL_JOINT_KINETIC};
  if (any(report, first, last, steps, COUNT(steps)))
    EB_TRY(write_table(report, first, last, &of_steps, page));
  if (any(report, first, last, contact, COUNT(contact)))
    EB_TRY(write_table(report, first, last, &of_contact, page));
  if (any(report, first, last, joints, COUNT(joints)))
    EB_TRY(write_table(report, first, last, &of_joints, page));
  return EB_OK;
}
