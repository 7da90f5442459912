/* What text, Markdown and HTML say of a scaling study in the same words. */
#ifndef EB_PREDICT_SCALING_WORDS_H
#define EB_PREDICT_SCALING_WORDS_H

#include "harness/predict/scaling_study.h"

/* A table: texts by row and column; the last column is words, the others are numbers. */
typedef struct eb_scaling_table {
  int rows, columns;
  const char *const *headings; /* columns */
  eb_strings cells;            /* rows x columns */
} eb_scaling_table;

/* Measured and told, a row each; what constants are made of; predictions. The caller clears the
 * cells, also after an error. */
EB_MUST eb_error eb_scaling_rows(const eb_scaling_series *series, eb_scaling_table *out);
EB_MUST eb_error eb_scaling_constants(const eb_scaling_series *series, eb_scaling_table *out);
EB_MUST eb_error eb_scaling_predictions(const eb_scaling_series *series, eb_scaling_table *out);
const char *eb_scaling_cell(const eb_scaling_table *table, int row, int column);

/* "bench/block by newton:linear=petsc/steps:3", and the machine with its cores. */
EB_MUST eb_error eb_scaling_title(const eb_scaling_series *series, eb_text *out);
/* How far off what was told is; a sentence, "" where nothing was judged. */
EB_MUST eb_error eb_scaling_errors_words(const eb_scaling_series *series, eb_text *out);
/* What predictions rest on. */
EB_MUST eb_error eb_scaling_assumptions(const eb_scaling_prediction *prediction, eb_text *out);

/* What columns mean, for whoever reads them. */
extern const char eb_scaling_legend[];

#endif
