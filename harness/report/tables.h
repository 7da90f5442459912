/* The tables of a page, each with a head and a part for the rows that are compared with each
 * other. */
#ifndef EB_REPORT_TABLES_H
#define EB_REPORT_TABLES_H

#include "harness/report/model.h"
#include "problems/base/text.h"

/* Runs [first, last), grouped by class, in each those that are ranked first and by the median of
 * their steps; causes of failures in words below; and what they cost beside the clock. */
EB_MUST eb_error eb_report_ranking(const eb_report *report, int first, int last, eb_text *page);

/* What the audits found at worst. */
EB_MUST eb_error eb_report_audits(const eb_report *report, int first, int last, eb_text *page);

/* Memory by kind, supernodes, and updates a step; nothing when no run has reported any. `pictured`
 * has one entry a run of the report. */
EB_MUST eb_error eb_report_factors(const eb_report *report, const eb_report_scene *scene,
                                   const eb_report_picture *pictured, eb_text *page);

#endif
