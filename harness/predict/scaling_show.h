/* A scaling study shown: words, Markdown, JSON, a part of a page, plots. */
#ifndef EB_PREDICT_SCALING_SHOW_H
#define EB_PREDICT_SCALING_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "harness/predict/scaling_study.h"
#include "harness/report/gnuplot.h"

EB_MUST eb_error eb_scaling_print(const eb_scaling_study *study, FILE *out);
EB_MUST eb_error eb_scaling_markdown(const eb_scaling_study *study, eb_text *out);
EB_MUST eb_error eb_scaling_json(const eb_scaling_study *study, json_t **out);

/* The name of a series' plot: "scaling", "scaling-2", .. */
void eb_scaling_stem(int series, char out[32]);
/* Draws scaling.svg of the first series and scaling-K.svg of the K-th: what was measured on several
 * ranks and what is told, rows of one scene (strong) and rows of one size a rank (weak). drawn[k]
 * says whether series k has a point. */
EB_MUST eb_error eb_scaling_draw(const eb_scaling_study *study, eb_plotter *plotter, bool *drawn);

/* Appends the section "Scaling over ranks" of a report, with the plots that were drawn; nothing
 * without a series. */
EB_MUST eb_error eb_scaling_html(const eb_scaling_study *study, const bool *drawn, eb_text *page);

#endif
