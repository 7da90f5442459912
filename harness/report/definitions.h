/* What every figure of the report is, by its formula as it is computed, and what each rule of the
 * audit demands. */
#ifndef EB_REPORT_DEFINITIONS_H
#define EB_REPORT_DEFINITIONS_H

#include "problems/base/text.h"

/* A section with the anchors "definitions" and, for each rule, "rule-NAME". */
EB_MUST eb_error eb_definitions_html(eb_text *page);

#endif
