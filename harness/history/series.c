#include "harness/history/series.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"

/* ---- machines -------------------------------------------------------------------------------- */

static bool of_machine(const eb_history_record *record, const char *fingerprint) {
  return strcmp(record->fingerprint, fingerprint) == 0;
}

static eb_error find_machines(const eb_history *history, const eb_history_choice *choice,
                              eb_history_view *out) {
  EB_TRY(EB_NEW(out->machines, history->count));
  for (int i = history->count - 1; i >= 0; i--) {
    const eb_history_record *record = &history->records[i];
    if (choice->machine && !of_machine(record, choice->machine)) continue;
    if (record->dirty && !choice->dirty) {
      out->dirty++;
      continue;
    }
    int m = 0;
    while (m < out->machine_count && !of_machine(out->machines[m].facts, record->fingerprint)) m++;
    if (m == out->machine_count) out->machines[out->machine_count++].facts = record;
    out->machines[m].records++;
  }
  return EB_OK;
}

static eb_error check_machine(const eb_history *history, const char *fingerprint) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  bool found = false;
  for (int i = 0; i < history->count && !found && !error; i++) {
    const char *name = history->records[i].fingerprint;
    bool known = false;
    found = strcmp(name, fingerprint) == 0;
    for (int k = 0; k < names.count; k++) known = known || strcmp(names.items[k], name) == 0;
    if (!known) error = eb_strings_add(&names, name);
  }
  if (!error && !found) error = eb_unknown_name("machine", fingerprint, &names);
  eb_strings_clear(&names);
  return error;
}

/* ---- figures --------------------------------------------------------------------------------- */

static bool meant(const eb_history_figure *figure, const char *pattern) {
  return !pattern || strstr(figure->name, pattern) || fnmatch(pattern, figure->name, 0) == 0;
}

static bool belongs(const eb_history_series *s, const eb_history_figure *figure) {
  return strcmp(s->name, figure->name) == 0 && strcmp(s->class, figure->class) == 0 &&
         strcmp(s->unit, figure->unit) == 0;
}

/* Files an entry under its series of the machine, which is begun with room for all its records. */
static eb_error add_entry(const eb_history_record *record, const eb_history_figure *figure,
                          const eb_history_machine *machine, eb_history_view *view) {
  int at = machine->first;
  while (at < view->count && !belongs(&view->series[at], figure)) at++;
  if (at == view->count) {
    EB_TRY(EB_APPEND(view->series, view->count));
    eb_history_series *fresh = &view->series[at];
    *fresh = (eb_history_series){.name = figure->name,
                                 .unit = figure->unit,
                                 .class = figure->class,
                                 .fingerprint = record->fingerprint};
    EB_TRY(EB_NEW(fresh->records, machine->records));
    EB_TRY(EB_NEW(fresh->figures, machine->records));
    EB_TRY(EB_NEW(fresh->basis, machine->records));
  }
  eb_history_series *s = &view->series[at];
  s->records[s->count] = record;
  s->figures[s->count++] = figure;
  return EB_OK;
}

static eb_error gather(const eb_history *history, const eb_history_choice *choice,
                       eb_history_machine *machine, eb_history_view *view) {
  machine->first = view->count;
  for (int i = 0; i < history->count; i++) {
    const eb_history_record *record = &history->records[i];
    if (!of_machine(record, machine->facts->fingerprint) || (record->dirty && !choice->dirty))
      continue;
    for (int f = 0; f < record->count; f++)
      if (meant(&record->figures[f], choice->figure))
        EB_TRY(add_entry(record, &record->figures[f], machine, view));
  }
  machine->last = view->count;
  return EB_OK;
}

/* The nearest of the figures that there are. */
static eb_error unknown_figure(const eb_history *history, const char *pattern) {
  const eb_history_record *latest = &history->records[history->count - 1];
  return eb_unknown_entry("figure", pattern, latest->figures, latest->count,
                          sizeof *latest->figures);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Beside the machine's limit where all entries have that. */
static eb_error analyze(eb_history_series *s, const eb_history_choice *choice) {
  s->more = s->figures[s->count - 1]->more;
  s->relative = !choice->absolute;
  for (int i = 0; i < s->count; i++) s->relative = s->relative && s->figures[i]->relative > 0;
  for (int i = 0; i < s->count; i++)
    s->basis[i] = s->relative ? s->figures[i]->relative : s->figures[i]->value;
  return eb_change_points_find(s->basis, s->count, &choice->change, &s->found);
}

eb_error eb_history_look(const eb_history *history, const eb_history_choice *choice,
                         eb_history_view *out) {
  *out = (eb_history_view){0};
  if (choice->machine) EB_TRY(check_machine(history, choice->machine));
  EB_TRY(find_machines(history, choice, out));
  for (int m = 0; m < out->machine_count; m++)
    EB_TRY(gather(history, choice, &out->machines[m], out));
  if (choice->figure && out->machine_count > 0 && out->count == 0)
    return unknown_figure(history, choice->figure);
  for (int s = 0; s < out->count; s++)
    EB_TRY(eb_error_prefix(analyze(&out->series[s], choice), "figure '%s'", out->series[s].name));
  return EB_OK;
}

void eb_history_view_clear(eb_history_view *view) {
  for (int i = 0; i < view->count; i++) {
    free(view->series[i].records);
    free(view->series[i].figures);
    free(view->series[i].basis);
    eb_change_points_clear(&view->series[i].found);
  }
  free(view->series);
  free(view->machines);
  *view = (eb_history_view){0};
}

double eb_history_since(const eb_history_series *s) {
  const eb_change_points *found = &s->found;
  if (found->level_count == 0 || found->levels[found->level_count - 1].count < 2) return NAN;
  return s->basis[s->count - 1] / found->levels[found->level_count - 1].value - 1;
}

bool eb_history_worse(const eb_history_series *s, const eb_change *change) {
  return s->more ? change->size < 0 : change->size > 0;
}

bool eb_history_correlated(const eb_history_series *s, const eb_change_options *options) {
  return s->found.correlation > options->correlation + 2 / sqrt(s->count);
}
