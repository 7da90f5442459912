#include "harness/reproduce/evaluation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"

/* ---- what is known beforehand --------------------------------------------------------------- */

eb_error eb_known_add(eb_known *known, const char *text, const eb_value *value) {
  size_t count = (size_t)known->count;
  char **texts = eb_recalloc(known->texts, count, count + 1, sizeof *texts);
  if (texts) known->texts = texts;
  eb_value *values = eb_recalloc(known->values, count, count + 1, sizeof *values);
  if (values) known->values = values;
  char *copy = strdup(text);
  if (!texts || !values || !copy) {
    free(copy);
    return EB_ERROR(EB_ERR_MEMORY, "cannot keep a figure");
  }
  texts[count] = copy;
  values[count] = *value;
  known->count++;
  return EB_OK;
}

const eb_value *eb_known_find(const eb_known *known, const char *text) {
  for (int i = 0; i < known->count; i++)
    if (strcmp(known->texts[i], text) == 0) return &known->values[i];
  return NULL;
}

void eb_known_clear(eb_known *known) {
  for (int i = 0; i < known->count; i++) {
    free(known->texts[i]);
    eb_value_clear(&known->values[i]);
  }
  free(known->texts);
  free(known->values);
  *known = (eb_known){0};
}

/* ---- for what names mean -------------------------------------------------------------------- */

eb_error eb_evaluation_say(eb_evaluation *e, const char *format, ...) {
  char text[1000];
  va_list arguments;
  if (!e->why) return EB_OK;
  va_start(arguments, format);
  vsnprintf(text, sizeof text - 1, format, arguments);
  va_end(arguments);
  strcat(text, "\n");
  if (e->why->length && strstr(e->why->data, text)) return EB_OK;
  return eb_text_printf(e->why, "%s", text);
}

eb_error eb_evaluation_case(eb_evaluation *e, const char *name, int *out) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  *out = eb_paper_case_find(e->paper, name, strlen(name));
  if (*out >= 0 && e->named) e->named[*out] = true;
  if (*out >= 0) return EB_OK;
  for (int c = 0; c < e->paper->case_count && !error; c++)
    error = eb_strings_add(&names, e->paper->cases[c].name);
  if (!error) error = eb_unknown_name("case", name, &names);
  eb_strings_clear(&names);
  return error;
}

eb_error eb_evaluation_run(eb_evaluation *e, int case_, int *run, eb_knowledge *knowledge) {
  *run = -1;
  *knowledge = EB_UNKNOWN;
  if (!e->evidence || e->own) return EB_OK;
  const eb_case_evidence *found = &e->evidence->cases[case_];
  if (found->status < EB_RUN_CUT) {
    if (found->status == EB_RUN_FAILED) *knowledge = EB_FAILED;
    return eb_evaluation_say(e, "%s", found->why);
  }
  if (found->run < 0)
    return eb_evaluation_say(e, "%s is a sweep: ask for least_stable(%s)",
                             e->paper->cases[case_].name, e->paper->cases[case_].name);
  *knowledge = EB_KNOWN;
  *run = e->repetition >= 0 && e->repetition < found->run_count ? found->runs[e->repetition]
                                                                : found->run;
  return *found->why ? eb_evaluation_say(e, "%s", found->why) : EB_OK;
}

/* Fewer samples are no shorter run. */
bool eb_evaluation_cut(const eb_evaluation *e, int case_) {
  const eb_paper_case *work = &e->paper->cases[case_];
  return (work->frames < work->all_frames && !work->samples) ||
         (e->evidence && e->evidence->cases[case_].status != EB_RUN_WHOLE);
}
