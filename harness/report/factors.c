#include "harness/report/factors.h"
#include "harness/results/sample.h"

#include <math.h>
#include <stdio.h>

#include "harness/report/markup.h"

/* ---- the table ------------------------------------------------------------------------------- */

static double total_memory(const eb_report_run *run) {
  double sum = 0;
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    if (isfinite(run->memory[i])) sum += run->memory[i];
  return sum;
}

/* Mean share of the elements that a step after the first brings up to date; NAN for a solver that
 * never does. */
static double mean_share(const eb_report_run *run) {
  if (run->steps == 0 || run->run->elements == 0) return NAN;
  double mean = eb_mean(run->updated_elements, run->steps, EB_WARM_UP);
  bool ever = eb_largest(run->updated_elements, run->steps, 0) > 0;
  return ever ? mean / (double)run->run->elements : NAN;
}

static bool reports(const eb_report_run *run, const eb_report_picture *picture) {
  if (run->run->repetition > 0) return false;
  return total_memory(run) > 0 || picture->supernodes > 0 || isfinite(mean_share(run));
}

static eb_error row(const eb_report_run *run, const eb_report_picture *picture, eb_text *page) {
  static const double megabyte = 1048576;
  EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", run->label, "</td>"));
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    EB_TRY(eb_markup_number(page, "%.1f", run->memory[i] / megabyte));
  double all = total_memory(run), supernodes = picture->supernodes;
  EB_TRY(eb_markup_number(page, "%.1f", all > 0 ? all / megabyte : NAN));
  EB_TRY(eb_markup_number(page, "%.0f", supernodes > 0 ? supernodes : NAN));
  EB_TRY(eb_markup_number(page, "%.2f", 100 * mean_share(run)));
  double unknowns = eb_largest(run->reduced_unknowns, run->steps, 0);
  EB_TRY(eb_markup_number(page, "%.0f", unknowns > 0 ? unknowns : NAN));
  return eb_text_printf(page, "</tr>\n");
}

eb_error eb_factors_html(const eb_report *report, const eb_report_scene *scene,
                         const eb_report_picture *pictured, eb_text *page) {
  bool any = false;
  for (int r = scene->first; r < scene->last; r++)
    any = any || reports(&report->runs[r], &pictured[r]);
  if (!any) return EB_OK;
  EB_TRY(eb_text_printf(page, "<div class=\"scroll\"><table><tr><th>held while stepping (MB), as "
                              "the solver reports it</th>"));
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    EB_TRY(eb_markup_between(page, "<th>", eb_memory_name((eb_memory_kind)i), "</th>"));
  EB_TRY(eb_text_printf(page, "<th>together</th><th>supernodes</th><th>elements updated a step, "
                              "mean (%%)</th><th>unknowns after condensation, most</th></tr>\n"));
  for (int r = scene->first; r < scene->last; r++)
    if (reports(&report->runs[r], &pictured[r])) EB_TRY(row(&report->runs[r], &pictured[r], page));
  return eb_text_printf(page, "</table></div>\n");
}

/* ---- pictures -------------------------------------------------------------------------------- */

eb_error eb_updates_html(const eb_report *report, const eb_report_scene *scene,
                         const eb_report_picture *pictured, eb_text *page) {
  for (int r = scene->first; r < scene->last; r++) {
    const eb_report_run *run = &report->runs[r];
    if (pictured[r].updates == 0) continue;
    EB_TRY(eb_markup_between(page, "<h3>Updated elements: ", run->label, "</h3>\n"));
    EB_TRY(eb_text_printf(
        page,
        "<p class=\"note\"><span class=\"updated\"></span> elements whose matrices were brought "
        "up to date since the stored frame before; those inside show through the body, which "
        "is translucent. Frames at equal shares of all updates of the run.</p>\n"
        "<div class=\"strip\">\n"));
    for (int p = 0; p < pictured[r].updates; p++) {
      long long updated = (long long)pictured[r].update[p].updated,
                elements = (long long)run->run->elements;
      EB_TRY(eb_text_printf(page, "<figure><img src=\"%s-r%d-updates-%d.png\" alt=\"",
                            scene->prefix, r - scene->first, p + 1));
      EB_TRY(eb_markup_text(page, run->label));
      EB_TRY(eb_text_printf(page,
                            ", updated elements\"><figcaption>t = %.4g s: %lld of %lld elements "
                            "(%.1f %%)</figcaption></figure>\n",
                            pictured[r].update[p].time, updated, elements,
                            100 * ((double)updated / fmax(1, (double)elements))));
    }
    EB_TRY(eb_text_printf(page, "</div>\n"));
  }
  return EB_OK;
}

/* ---- plots ----------------------------------------------------------------------------------- */

eb_error eb_factor_plots_html(const eb_report *report, const eb_report_scene *scene,
                              const eb_report_picture *pictured, eb_text *page) {
  for (int r = scene->first; r < scene->last; r++) {
    const struct {
      bool drawn;
      const char *stem, *words;
    } plots[] = {
        {pictured[r].stages, "stages", "share of elements updated, and a step's time by stage"},
        {pictured[r].tree, "tree",
         "elimination tree of supernodes; a bar stands over its children, what they leave "
         "free of it are its own pivots"}};
    for (size_t p = 0; p < sizeof plots / sizeof *plots; p++) {
      char prefix[160], caption[600];
      if (!plots[p].drawn) continue;
      snprintf(prefix, sizeof prefix, "%s-r%d", scene->prefix, r - scene->first);
      snprintf(caption, sizeof caption, "%s: %s", report->runs[r].label, plots[p].words);
      EB_TRY(eb_markup_plot(page, prefix, plots[p].stem, caption));
    }
  }
  return EB_OK;
}
