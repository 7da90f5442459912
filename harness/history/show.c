#include "harness/history/show.h"

#include <math.h>
#include <string.h>

#include "harness/print.h"
#include "harness/results/json.h"

/* ---- text ------------------------------------------------------------------------------------ */

static void print_change(const eb_history_series *s, const eb_change *change, FILE *out) {
  const eb_history_record *r = s->records[change->at];
  eb_print(out, "    %.10s %s %+.1f %% %s, p %.1g\n", r->date, r->commit, 100 * change->size,
           eb_history_worse(s, change) ? "worse" : "better", change->p);
}

static void print_series(const eb_history_series *s, const eb_change_options *options, int width,
                         FILE *out) {
  const eb_history_figure *latest = s->figures[s->count - 1];
  char value[80], since[32] = "-  ";
  snprintf(value, sizeof value, "%s%s", eb_prefixed_value(latest->value).text, s->unit);
  if (isfinite(eb_history_since(s)))
    snprintf(since, sizeof since, "%+.1f %%", 100 * eb_history_since(s));
  eb_print(out, "  %-*s %5d  %-18s %9s  %s", width, s->name, s->count, value, since,
           s->relative ? "beside the machine" : "as it is");
  if (*s->class) eb_print(out, "  [%s]", s->class);
  eb_print(out, "\n");
  for (int c = 0; c < s->found.change_count; c++) print_change(s, &s->found.changes[c], out);
  if (s->found.drift != 0) eb_print(out, "    drifts by %+.1f %% since\n", 100 * s->found.drift);
  if (eb_history_correlated(s, options))
    eb_print(out, "    noise correlated by %.2f: p-values allow for %.2f (--correlation)\n",
             s->found.correlation, options->correlation);
}

void eb_history_print(const eb_history_shown *shown, FILE *out) {
  const eb_history_view *view = shown->view;
  int width = 6;
  for (int s = 0; s < view->count; s++) {
    int length = (int)strlen(view->series[s].name);
    width = length > width ? length : width;
  }
  for (int m = 0; m < view->machine_count; m++) {
    const eb_history_machine *machine = &view->machines[m];
    const eb_history_record *facts = machine->facts;
    eb_print(out, "machine %s: %s, %d cores, %s, %s; %d records by %s\n", facts->fingerprint,
             facts->cpu, facts->cores, facts->compiler, facts->flags, machine->records,
             shown->history->by_git ? "commit" : "date");
    eb_print(out, "  %-*s %5s  %-18s %9s  %s\n", width, "figure", "of", "latest", "since",
             "looked at");
    for (int s = machine->first; s < machine->last; s++)
      print_series(&view->series[s], &shown->choice->change, width, out);
  }
  if (view->dirty > 0)
    eb_print(out, "%d records of trees with local changes are left out (--dirty takes them)\n",
             view->dirty);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *point_json(const eb_history_record *r, const eb_history_figure *f) {
  return eb_json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:I}", "commit", r->commit, "date", r->date,
                      "dirty", r->dirty, "value", eb_json_real(f->value), "relative",
                      eb_json_real(f->relative), "spread", eb_json_real(f->spread), "samples",
                      (json_int_t)f->samples);
}

static json_t *levels_json(const eb_history_series *s) {
  json_t *all = json_array();
  for (int l = 0; l < s->found.level_count; l++) {
    const eb_level *level = &s->found.levels[l];
    json_array_append_new(all, eb_json_pack("{s:s, s:s, s:i, s:o}", "from",
                                            s->records[level->first]->commit, "to",
                                            s->records[level->last]->commit, "count", level->count,
                                            "value", eb_json_real(level->value)));
  }
  return all;
}

static json_t *changes_json(const eb_history_series *s) {
  json_t *all = json_array();
  for (int c = 0; c < s->found.change_count; c++) {
    const eb_change *change = &s->found.changes[c];
    const eb_history_record *r = s->records[change->at];
    json_array_append_new(all, eb_json_pack("{s:s, s:s, s:s, s:f, s:f, s:s}", "commit", r->commit,
                                            "date", r->date, "after",
                                            s->records[s->found.levels[c].last]->commit, "size",
                                            change->size, "p", change->p, "verdict",
                                            eb_history_worse(s, change) ? "worse" : "better"));
  }
  return all;
}

static json_t *series_json(const eb_history_series *s, const eb_change_options *options) {
  json_t *points = json_array();
  for (int i = 0; i < s->count; i++)
    json_array_append_new(points, point_json(s->records[i], s->figures[i]));
  return eb_json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:f, s:o, s:o, s:o}", "name", s->name,
      "unit", s->unit, "class", s->class, "better", s->more ? "more" : "less", "basis",
      s->relative ? "relative" : "value", "latest",
      point_json(s->records[s->count - 1], s->figures[s->count - 1]), "since",
      eb_json_real(eb_history_since(s)), "noise", eb_json_real(s->found.noise), "correlation",
      eb_json_real(s->found.correlation), "correlated", eb_history_correlated(s, options), "drift",
      s->found.drift, "levels", levels_json(s), "changes", changes_json(s), "points", points);
}

static json_t *machine_json(const eb_history_view *view, const eb_history_machine *machine,
                            const eb_change_options *options) {
  const eb_history_record *facts = machine->facts;
  json_t *figures = json_array();
  for (int s = machine->first; s < machine->last; s++)
    json_array_append_new(figures, series_json(&view->series[s], options));
  return eb_json_pack("{s:s, s:s, s:i, s:s, s:s, s:i, s:o}", "fingerprint", facts->fingerprint,
                      "cpu", facts->cpu, "cores", facts->cores, "compiler", facts->compiler,
                      "flags", facts->flags, "records", machine->records, "figures", figures);
}

eb_error eb_history_json(const eb_history_shown *shown, FILE *out) {
  const eb_history_view *view = shown->view;
  const eb_change_options *options = &shown->choice->change;
  json_t *machines = json_array();
  for (int m = 0; m < view->machine_count; m++)
    json_array_append_new(machines, machine_json(view, &view->machines[m], options));
  return eb_json_print(eb_json_pack("{s:s, s:s, s:f, s:f, s:f, s:i, s:i, s:o}", "store",
                                    shown->folder, "order", shown->history->by_git ? "git" : "date",
                                    "p", options->p, "least", options->least, "correlation",
                                    options->correlation, "shortest", options->shortest,
                                    "dirty_left_out", view->dirty, "machines", machines),
                       out);
}
