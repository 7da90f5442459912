/* The tables of a scene's runs. */
#ifndef EB_REPORT_TABLES_H
#define EB_REPORT_TABLES_H

#include "harness/doc/doc.h"
#include "harness/report/model.h"

/* Runs grouped by class, in each those that are ranked first and by the median of their steps;
 * causes of failures in words below; and what they cost beside the clock. */
EB_MUST eb_error eb_report_ranking(const eb_report *report, const eb_report_scene *scene,
                                   eb_doc *doc);

/* What the audits found at worst: of steps, of contact and of joints, where runs have any; and what
 * solvers hold in memory and update, where they report it. */
EB_MUST eb_error eb_report_audits(const eb_report *report, const eb_report_scene *scene,
                                  eb_doc *doc);

#endif
