/* JSON of runs and options. */
#ifndef EB_RESULTS_JSON_H
#define EB_RESULTS_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "harness/results/record.h"
#include "problems/base/option.h"

/* A number, or null when it is not finite. */
json_t *eb_json_real(double value);
/* All attributes of a run. */
json_t *eb_json_run(const eb_run *run);
/* Options or parameters as they are declared. */
json_t *eb_json_options(const eb_option *options);
/* Prints and releases it. */
EB_MUST eb_error eb_json_print(json_t *json, FILE *out);

#endif
