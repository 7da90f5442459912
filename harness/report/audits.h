/* What the audits of a scene's runs found at worst, as tables. */
#ifndef EB_REPORT_AUDITS_H
#define EB_REPORT_AUDITS_H

#include "harness/report/model.h"
#include "problems/base/text.h"

/* Runs [first, last) that made a step; the figures of contact, joints and inverted elements only
 * where a run has any. */
EB_MUST eb_error eb_audits_html(const eb_report *report, int first, int last, eb_text *page);

#endif
