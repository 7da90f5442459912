/* The history as a page with plots. */
#include <stdio.h>

#include "harness/history/history_doc.h"
#include "harness/lock.h"
#include "harness/report/gnuplot.h"
#include "harness/report/page.h"

/* ---- plots ----------------------------------------------------------------------------------- */

eb_history_stem_name eb_history_stem(const eb_history_view *view, int series) {
  eb_history_stem_name stem;
  snprintf(stem.text, sizeof stem.text, "%s-%d", view->series[series].fingerprint, series);
  return stem;
}

bool eb_history_is_drawn(const eb_history_series *s) {
  return s->count > 1 && s->found.level_count > 0;
}

/* Records are numbered from 1; levels meet between two of them. */
static void put_levels(const eb_history_series *s, eb_plot *plot) {
  const eb_change_points *found = &s->found;
  eb_plot_begin(plot, "level");
  for (int l = 0; l < found->level_count; l++) {
    double from = l ? found->levels[l].first + 0.5 : 1;
    double to = l + 1 < found->level_count ? found->levels[l + 1].first + 0.5 : s->count;
    eb_plot_point(plot, from, found->levels[l].value, 0, NULL);
    eb_plot_point(plot, to, found->levels[l].value, 0, NULL);
  }
}

static eb_error draw(const eb_history_view *view, int series, eb_plotter *plotter) {
  const eb_history_series *s = &view->series[series];
  const eb_change_points *found = &s->found;
  char y[160], words[96];
  eb_plot plot = {0};
  snprintf(y, sizeof y, "%s%s", s->unit, s->relative ? ", beside the machine's limit" : "");
  eb_plot_axes(&plot, "record", y, 0);
  eb_plot_begin(&plot, "figure");
  for (int i = 0; i < s->count; i++)
    eb_plot_point(&plot, i + 1, s->basis[i], 0, s->records[i]->commit);
  put_levels(s, &plot);
  eb_plot_begin(&plot, "change");
  for (int c = 0; c < found->change_count; c++) {
    snprintf(words, sizeof words, "%s %+.1f %%", s->records[found->changes[c].at]->commit,
             100 * found->changes[c].size);
    eb_plot_point(&plot, found->changes[c].at + 0.5, found->levels[c + 1].value, 0, words);
  }
  return eb_plot_draw(plotter, eb_history_stem(view, series).text, "history", s->name, &plot, NULL);
}

/* Whether it fails or not, the plotter is to be finished. */
static eb_error draw_all(const eb_history_view *view, eb_plotter *plotter) {
  for (int s = 0; s < view->count; s++)
    if (eb_history_is_drawn(&view->series[s])) EB_TRY(draw(view, s, plotter));
  return EB_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void explain(const eb_history_shown *shown, eb_doc *doc) {
  const eb_change_options *change = &shown->choice->change;
  eb_doc_heading(doc, 1, NULL, "elastobench history");
  eb_doc_paragraph(
      doc, EB_DOC_PLAIN,
      "Records are in the order of their %s, and figures of one machine are compared with its own "
      "alone. A change is a step between two levels of %d records or more and of %g %% or more, "
      "which noise alone would show anywhere in a series with a probability of at most %g, be it "
      "correlated by up to %g from one record to the next. Where a figure stands beside the "
      "machine's limit, measured in the same rounds, that is what changes are looked for in.",
      shown->history->by_git ? "commits" : "dates", change->shortest, 100 * change->least,
      change->p, change->correlation);
}

eb_error eb_history_pages(const eb_history_shown *shown, const char *folder) {
  eb_lock lock;
  eb_doc doc = {0};
  eb_plotter plotter = {.dir = folder};
  EB_TRY(eb_lock_folder(folder, &lock));
  eb_error error = eb_plotter_finish(&plotter, draw_all(shown->view, &plotter));
  explain(shown, &doc);
  eb_history_show(shown, &doc);
  if (!error) error = eb_page_publish(&doc, "elastobench history", "history", folder);
  eb_doc_clear(&doc);
  eb_lock_release(&lock);
  return error;
}
