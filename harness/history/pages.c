/* The history as a page with plots. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/history/show.h"
#include "harness/lock.h"
#include "harness/print.h"
#include "harness/report/gnuplot.h"
#include "harness/report/markup.h"
#include "harness/report/page.h"
#include "problems/base/text.h"

/* ---- plots ----------------------------------------------------------------------------------- */

/* Files are numbered: names of figures are not names of files. */
enum { STEM_BYTES = 48 };
static void stem_of(const eb_history_view *view, const eb_history_series *s,
                    char stem[STEM_BYTES]) {
  snprintf(stem, STEM_BYTES, "%s-%d", s->fingerprint, (int)(s - view->series));
}

static bool is_drawn(const eb_history_series *s) {
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

static eb_error draw(const eb_history_view *view, const eb_history_series *s, eb_plotter *plotter) {
  const eb_change_points *found = &s->found;
  char stem[STEM_BYTES], y[160], words[96];
  eb_plot plot = {0};
  stem_of(view, s, stem);
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
  return eb_plot_draw(plotter, stem, "history", s->name, &plot, NULL);
}

/* ---- the page -------------------------------------------------------------------------------- */

static eb_error put_row(const eb_history_series *s, eb_text *page) {
  const eb_history_figure *latest = s->figures[s->count - 1];
  const eb_change_points *found = &s->found;
  EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", s->name, ""));
  if (*s->class) EB_TRY(eb_markup_between(page, "<br><span class=\"note\">", s->class, "</span>"));
  EB_TRY(eb_text_printf(page, "</td><td>%d</td><td>%s", s->count,
                        eb_prefixed_value(latest->value).text));
  EB_TRY(eb_markup_between(page, "", s->unit, "</td>"));
  EB_TRY(eb_markup_number(page, "%+.1f %%", 100 * eb_history_since(s)));
  EB_TRY(eb_markup_number(page, "%.1f %%", 100 * found->noise));
  EB_TRY(eb_text_printf(page, "<td class=\"text\">"));
  for (int c = 0; c < found->change_count; c++) {
    const eb_change *change = &found->changes[c];
    const eb_history_record *r = s->records[change->at];
    EB_TRY(eb_text_printf(page, "%s%.10s <code>%s</code> %+.1f %% %s, p %.1g", c ? "<br>" : "",
                          r->date, r->commit, 100 * change->size,
                          eb_history_worse(s, change) ? "worse" : "better", change->p));
  }
  if (found->drift != 0)
    EB_TRY(eb_text_printf(page, "%sdrifts by %+.1f %%", found->change_count ? "<br>" : "",
                          100 * found->drift));
  return eb_text_printf(page, "</td></tr>\n");
}

static eb_error put_machine(const eb_history_shown *shown, const eb_history_machine *machine,
                            eb_plotter *plotter, eb_text *page) {
  const eb_history_view *view = shown->view;
  const eb_history_record *facts = machine->facts;
  EB_TRY(
      eb_text_printf(page, "<h2 id=\"%s\">%s</h2>\n<p>", facts->fingerprint, facts->fingerprint));
  EB_TRY(eb_markup_between(page, "", facts->cpu, ""));
  EB_TRY(eb_text_printf(page, ", %d cores, ", facts->cores));
  EB_TRY(eb_markup_between(page, "", facts->compiler, ", "));
  EB_TRY(eb_markup_between(page, "", facts->flags, ""));
  EB_TRY(eb_text_printf(
      page,
      "; %d records</p>\n<div class=\"scroll\"><table>\n<tr><th>figure</th><th>records</th>"
      "<th>latest</th><th>since the last change</th><th>noise</th>"
      "<th class=\"text\">changes</th></tr>\n",
      machine->records));
  for (int s = machine->first; s < machine->last; s++) EB_TRY(put_row(&view->series[s], page));
  EB_TRY(eb_text_printf(page, "</table></div>\n<div class=\"figures\">\n"));
  for (int i = machine->first; i < machine->last; i++) {
    const eb_history_series *s = &view->series[i];
    char stem[STEM_BYTES];
    if (!is_drawn(s)) continue;
    EB_TRY(draw(view, s, plotter));
    stem_of(view, s, stem);
    EB_TRY(eb_markup_plot(page, "", stem, s->name));
  }
  return eb_text_printf(page, "</div>\n");
}

static eb_error put_page(const eb_history_shown *shown, eb_plotter *plotter, eb_text *page) {
  const eb_change_options *change = &shown->choice->change;
  EB_TRY(eb_page_open(page, "elastobench history", "history"));
  EB_TRY(eb_text_printf(
      page,
      "<h1>elastobench history</h1>\n<p>Records are in the order of their %s, and figures of one "
      "machine are compared with its own alone. A change is a step between two levels of %d "
      "records "
      "or more and of %g %% or more, which noise alone would show anywhere in a series with a "
      "probability of at most %g, be it correlated by up to %g from one record to the next. Where "
      "a "
      "figure stands beside the machine's limit, measured in the same rounds, that is what changes "
      "are looked for in.</p>\n",
      shown->history->by_git ? "commits" : "dates", change->shortest, 100 * change->least,
      change->p, change->correlation));
  for (int m = 0; m < shown->view->machine_count; m++)
    EB_TRY(put_machine(shown, &shown->view->machines[m], plotter, page));
  return eb_page_close(page);
}

eb_error eb_history_pages(const eb_history_shown *shown, const char *folder) {
  eb_text page = {0};
  eb_lock lock;
  eb_plotter plotter = {.dir = folder};
  EB_TRY(eb_lock_folder(folder, &lock));
  eb_error error = eb_plotter_finish(&plotter, put_page(shown, &plotter, &page));
  if (!error) error = eb_page_write(&page, folder);
  eb_lock_release(&lock);
  eb_text_clear(&page);
  return error;
}
