/* What the runs of a scene cost, as tables: ranked by accuracy class, and beside the clock. */
#ifndef EB_REPORT_RANKING_H
#define EB_REPORT_RANKING_H

#include "harness/report/model.h"
#include "problems/base/text.h"

/* Runs [first, last), grouped by class, in each those that are ranked first and by the median of
 * their steps; causes of failures in words below. */
EB_MUST eb_error eb_ranking_html(const eb_report *report, int first, int last, eb_text *page);

#endif
