#include "harness/history/history_doc.h"

#include "harness/print.h"
#include "harness/results/json.h"

/* ---- the document ---------------------------------------------------------------------------- */

static void show_change(const eb_history_series *s, const eb_change *change, eb_doc *doc) {
  const eb_history_record *r = s->records[change->at];
  bool worse = eb_history_worse(s, change);
  eb_doc_paragraph(doc, EB_DOC_NOTE, "%.10s ", r->date);
  eb_doc_text(doc, EB_DOC_CODE, "%s", r->commit);
  eb_doc_text(doc, EB_DOC_PLAIN, " %+.1f %% %s, p %.1g", 100 * change->size,
              worse ? "worse" : "better", change->p);
}

static void show_series(const eb_history_series *s, const eb_change_options *options, eb_doc *doc) {
  const eb_history_figure *latest = s->figures[s->count - 1];
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", s->name);
  eb_doc_number(doc, EB_DOC_PLAIN, s->count);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s%s", eb_prefixed_value(latest->value).text, s->unit);
  eb_doc_number_as(doc, EB_DOC_PLAIN, "%+.1f %%", 100 * eb_history_since(s));
  eb_doc_number_as(doc, EB_DOC_PLAIN, "%.1f %%", 100 * s->found.noise);
  eb_doc_cell(doc, EB_DOC_PLAIN, s->relative ? "beside the machine" : "as it is");
  if (*s->class) eb_doc_paragraph(doc, EB_DOC_NOTE, "%s", s->class);
  for (int c = 0; c < s->found.change_count; c++) show_change(s, &s->found.changes[c], doc);
  if (s->found.drift != 0)
    eb_doc_paragraph(doc, EB_DOC_NOTE, "drifts by %+.1f %% since", 100 * s->found.drift);
  if (eb_history_correlated(s, options))
    eb_doc_paragraph(doc, EB_DOC_NOTE,
                     "noise correlated by %.2f: p-values allow for %.2f (--correlation)",
                     s->found.correlation, options->correlation);
}

void eb_history_show(const eb_history_shown *shown, eb_doc *doc) {
  static const char *const heads[] = {"figure", "records",   "latest", "since the last change",
                                      "noise",  "looked at", NULL};
  const eb_history_view *view = shown->view;
  for (int m = 0; m < view->machine_count; m++) {
    const eb_history_machine *machine = &view->machines[m];
    const eb_history_record *facts = machine->facts;
    eb_doc_heading(doc, 2, facts->fingerprint, "machine %s", facts->fingerprint);
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "%s, %d cores, %s, %s; %d records by %s", facts->cpu,
                     facts->cores, facts->compiler, facts->flags, machine->records,
                     shown->history->by_git ? "commit" : "date");
    eb_doc_table(doc, NULL);
    eb_doc_heads(doc, heads);
    for (int s = machine->first; s < machine->last; s++)
      show_series(&view->series[s], &shown->choice->change, doc);
    eb_doc_end(doc);
    for (int s = machine->first; s < machine->last; s++)
      if (eb_history_is_drawn(&view->series[s]))
        eb_doc_plot(doc, eb_history_stem(view, s).text, "%s", view->series[s].name);
  }
  if (view->dirty > 0)
    eb_doc_paragraph(doc, EB_DOC_PLAIN,
                     "%d records of trees with local changes are left out (--dirty takes them)",
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
