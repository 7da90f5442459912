/* index.html of a report. */
#ifndef EB_REPORT_HTML_H
#define EB_REPORT_HTML_H

#include "harness/report/model.h"
#include "harness/report/plots.h"
#include "problems/base/text.h"

/* What was drawn for one scene. */
typedef struct eb_report_scene {
  int first, last;  /* runs */
  char prefix[128]; /* of its files */
  bool plot[EB_PLOT_KINDS];
} eb_report_scene;

/* Appends the page to `page`. `pictured[r]` is how many pictures run r has (PREFIX-rN-first.png, PREFIX-rN-last.png): 0 or 2. */
EB_MUST eb_error eb_report_html(const eb_report *report, const eb_report_scene *scenes,
                                int scene_count, bool summary, const int *pictured, eb_text *page);

#endif
