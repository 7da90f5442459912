/* What a scene's page shows of solvers that report their factorization or update their matrix in
 * parts. */
#ifndef EB_REPORT_FACTORS_H
#define EB_REPORT_FACTORS_H

#include "harness/report/model.h"
#include "problems/base/text.h"

/* A table: memory by kind, supernodes, and updates a step. Nothing when no run has reported any. */
EB_MUST eb_error eb_factors_html(const eb_report *report, const eb_report_scene *scene,
                                 const eb_report_picture *pictured, eb_text *page);
/* The pictures of updated elements, with a legend. */
EB_MUST eb_error eb_updates_html(const eb_report *report, const eb_report_scene *scene,
                                 const eb_report_picture *pictured, eb_text *page);
/* Figures: stages over time, elimination trees. */
EB_MUST eb_error eb_factor_plots_html(const eb_report *report, const eb_report_scene *scene,
                                      const eb_report_picture *pictured, eb_text *page);

#endif
