/* index.html of a report. */
#ifndef EB_REPORT_HTML_H
#define EB_REPORT_HTML_H

#include "harness/report/model.h"
#include "problems/base/text.h"

/* Appends the page to `page`. `pictured` has one entry a run. */
EB_MUST eb_error eb_report_html(const eb_report *report, const eb_report_scene *scenes,
                                int scene_count, bool summary, const eb_report_picture *pictured,
                                eb_text *page);

#endif
