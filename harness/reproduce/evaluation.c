/* The circumstances of an evaluation: what is known beforehand, and which run stands for a case. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "problems/base/memory.h"

/* ---- what is known beforehand ---------------------------------------------------------------- */

eb_error eb_known_add(eb_known *known, const char *text, const eb_value *value) {
  char *copy;
  EB_TRY(eb_copy(text, &copy));
  eb_error error = EB_APPEND(known->items, known->count);
  if (error)
    free(copy);
  else
    known->items[known->count - 1] = (struct eb_known_value){copy, *value};
  return error;
}

const eb_value *eb_known_find(const eb_known *known, const char *text) {
  int at = eb_find(known->items, known->count, sizeof *known->items, text, strlen(text));
  return at < 0 ? NULL : &known->items[at].value;
}

void eb_known_clear(eb_known *known) {
  for (int i = 0; i < known->count; i++) {
    free(known->items[i].text);
    eb_value_clear(&known->items[i].value);
  }
  free(known->items);
  *known = (eb_known){0};
}

eb_error eb_known_tables(const eb_paper *paper, bool reversed, eb_known *known) {
  for (int t = 0; t < paper->table_count; t++) {
    const eb_paper_table *table = &paper->tables[t];
    int rows = table->keys.count, columns = table->column_count;
    for (int i = 0; i < rows * columns; i++) {
      int row = reversed ? rows - 1 - i / columns : i / columns;
      double number = eb_paper_value(table, row, &table->columns[i % columns]) / table->scale;
      const eb_value value = eb_value_number(number);
      eb_text text = {0};
      if (!table->cells[i] || value.knowledge) continue;
      eb_error error = eb_expression_print(table->cells[i], NULL, NULL, NULL, &text);
      if (!error && !eb_known_find(known, text.data))
        error = eb_known_add(known, text.data, &value);
      eb_text_clear(&text);
      EB_TRY(error);
    }
  }
  return EB_OK;
}

/* ---- what stands for a case ------------------------------------------------------------------ */

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
  const eb_paper *paper = e->paper;
  *out = eb_paper_case_find(paper, name);
  if (*out < 0)
    return eb_unknown_entry("case", name, paper->cases, paper->case_count, sizeof *paper->cases);
  if (e->named) e->named[*out] = true;
  return EB_OK;
}

static bool counts(const eb_evaluation *e, int repetition) {
  return repetition != e->left_out && (e->first == 0 || repetition < e->first);
}

static eb_error say_why(eb_evaluation *e, const eb_case_evidence *found) {
  return *found->why ? eb_evaluation_say(e, "%s", found->why) : EB_OK;
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
  *run = found->run;
  for (int r = 0; r < found->run_count; r++)
    if (found->runs[r] == found->run && counts(e, r)) return say_why(e, found);
  for (int r = found->run_count - 1; r >= 0; r--)
    if (counts(e, r)) *run = found->runs[r];
  return say_why(e, found);
}

int eb_evaluation_other_run(const eb_evaluation *e, int case_, int run, int *at) {
  const eb_case_evidence *found = &e->evidence->cases[case_];
  while (*at < found->run_count) {
    int r = (*at)++;
    if (counts(e, r) && found->runs[r] != run) return found->runs[r];
  }
  return -1;
}

/* A column of times as the disturbance makes it. */
static eb_error disturb(const eb_evaluation *e, int run, const char *path, double *seconds,
                        size_t count) {
  const eb_disturbance *d = e->disturbed;
  eb_evaluation calm = *e;
  char stage[60] = "";
  size_t from = d->from, to = d->to < count ? d->to : count;
  if (d->stage < EB_PHASE_COUNT)
    snprintf(stage, sizeof stage, "phases/%s", eb_phase_name(d->stage));
  if (!*stage || strcmp(path, stage) == 0) {
    for (size_t s = from; s < to; s++) seconds[s] *= 1 + d->by;
  } else if (strncmp(path, "steps/", 6) == 0) {
    double *part;
    calm.disturbed = NULL;
    EB_TRY(eb_evaluation_seconds(&calm, d->case_, run, stage, &part, &count));
    for (size_t s = from; s < to && s < count; s++) seconds[s] += d->by * part[s];
    free(part);
  }
  return EB_OK;
}

double eb_evaluation_time(const eb_evaluation *e, int case_, double seconds) {
  const eb_disturbance *d = e->disturbed;
  bool all = d && d->case_ == case_ && d->stage == EB_PHASE_COUNT && d->to == SIZE_MAX;
  return all ? seconds * (1 + d->by) : seconds;
}

/* What else a machine does only ever adds to a time, and virtual ones change their pace for
 * seconds or minutes: of steps that do the same bit by bit, the least says what one takes. One that
 * was cut short counts as far as it got. */
eb_error eb_evaluation_seconds(const eb_evaluation *e, int case_, int run, const char *path,
                               double **seconds, size_t *count) {
  const eb_results *results = e->evidence->results;
  EB_TRY(eb_results_read(results, run, path, seconds, count));
  for (int at = 0, other; (other = eb_evaluation_other_run(e, case_, run, &at)) >= 0;) {
    double *own;
    size_t done;
    EB_TRY(eb_results_read(results, other, path, &own, &done));
    for (size_t s = 0; s < done && s < *count; s++)
      if (own[s] < (*seconds)[s]) (*seconds)[s] = own[s];
    free(own);
  }
  if (!e->disturbed || e->disturbed->case_ != case_) return EB_OK;
  eb_error error = disturb(e, run, path, *seconds, *count);
  if (error) free(*seconds);
  return error;
}

/* Fewer samples are no shorter run. */
bool eb_evaluation_cut(const eb_evaluation *e, int case_) {
  const eb_paper_case *work = &e->paper->cases[case_];
  return (work->frames < work->all_frames && !work->samples) ||
         (e->evidence && e->evidence->cases[case_].status != EB_RUN_WHOLE);
}
