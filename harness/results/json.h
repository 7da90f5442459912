/* JSON: texts that leave the program as JSON are made here. */
#ifndef EB_RESULTS_JSON_H
#define EB_RESULTS_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "harness/results/record.h"
#include "problems/base/option.h"

/* A number, or null when it is not finite. */
json_t *eb_json_real(double value);
/* A text made fit to leave the program (eb_text_clean); NULL when text is or memory ran out. */
json_t *eb_json_text(const char *text);
/* Of the first bytes of a text. */
json_t *eb_json_part(const char *text, size_t bytes);
/* Sets a member by a name that is cleaned as well; takes the value. Less than 0 when there is none
 * or memory ran out, as json_object_set_new. */
int eb_json_set(json_t *object, const char *name, json_t *value);
/* An object as of json_pack("{s:s, s:i, ..}"), with values s, i, I, b, f, o and O: names and texts
 * are cleaned, reals may be not finite. NULL when a value is. */
json_t *eb_json_pack(const char *format, ...);
/* All attributes of a run. */
json_t *eb_json_run(const eb_run *run);
/* Options or parameters as they are declared. */
json_t *eb_json_options(const eb_option *options);
/* Prints and releases it. */
EB_MUST eb_error eb_json_print(json_t *json, FILE *out);
/* The same on one line. */
EB_MUST eb_error eb_json_line(json_t *json, FILE *out);

#endif
