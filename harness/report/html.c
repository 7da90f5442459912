#include "harness/report/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/embedded.h"
#include "harness/report/factors.h"
#include "harness/report/markup.h"

static eb_error head(eb_text *page) {
  eb_embedded css;
  EB_TRY(eb_embedded_find("html/report.css", &css));
  EB_TRY(eb_text_printf(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width\">\n"
                              "<title>elastobench report</title>\n<style>\n"));
  EB_TRY(eb_text_append(page, css.data, css.size));
  return eb_text_printf(page, "</style></head><body>\n<h1>elastobench report</h1>\n");
}

static double skipped_median(const eb_report_run *run, eb_column column) {
  return run->column[column] ? eb_report_median(run->column[column], run->steps, 1) : NAN;
}

static double whole_max(const eb_report_run *run, eb_column column) {
  return run->column[column] ? eb_report_max(run->column[column], run->steps, 0) : NAN;
}

/* The least median step time among the runs of one scene that ran to their end and passed the audit. */
static double fastest(const eb_report *report, const eb_report_scene *scene) {
  double least = INFINITY;
  for (int r = scene->first; r < scene->last; r++) {
    double median = skipped_median(&report->runs[r], EB_COL_WALL);
    bool ranked = eb_report_completed(&report->runs[r]) && !eb_report_refuted(&report->runs[r]);
    if (ranked && median < least) least = median;
  }
  return least;
}

static eb_error run_row(const eb_report_run *run, double best, eb_text *page) {
  bool refuted = eb_report_refuted(run);
  bool good = eb_report_completed(run) && !refuted;
  bool skipped = strcmp(run->run->outcome, eb_outcome_name(EB_OUTCOME_SKIPPED)) == 0;
  double wall = skipped_median(run, EB_COL_WALL);
  EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", run->label, ""));
  if (run->run->repetition > 0)
    EB_TRY(eb_text_printf(page, " <span class=\"note\">(repetition %lld)</span>",
                          (long long)run->run->repetition + 1));
  EB_TRY(eb_text_printf(page, "</td><td class=\"text %s\">", good ? "good" : skipped ? "" : "bad"));
  EB_TRY(eb_markup_between(page, "", run->run->outcome, refuted ? ", audit failed" : ""));
  EB_TRY(eb_text_printf(page, "</td><td>%lld</td><td>%lld</td>", (long long)run->run->threads,
                        (long long)run->steps));
  EB_TRY(eb_markup_number(page, "%.3f", run->run->setup_seconds));
  EB_TRY(eb_markup_number(page, "%.2f", 1e3 * wall));
  EB_TRY(eb_markup_number(page, "%.2f", refuted ? NAN : wall / best));
  EB_TRY(eb_markup_number(page, "%.1f", skipped_median(run, EB_COL_ITERATIONS)));
  EB_TRY(eb_markup_number(page, "%.0f", eb_report_median(run->linear_iterations, run->steps, 1)));
  EB_TRY(eb_markup_number(page, "%.1e", skipped_median(run, EB_COL_RESIDUAL_RELATIVE)));
  EB_TRY(eb_markup_number(page, "%.1e", whole_max(run, EB_COL_RESIDUAL_RELATIVE)));
  EB_TRY(eb_markup_number(page, "%.0f", whole_max(run, EB_COL_INVERTED)));
  EB_TRY(eb_markup_number(page, "%.2f", 1e3 * whole_max(run, EB_COL_MAX_PENETRATION)));
  EB_TRY(eb_markup_number(page, "%.0f", run->run->peak_rss / 1048576));
  return eb_text_printf(page, "</tr>\n");
}

static eb_error note(const eb_report_run *run, const char *text, eb_text *page) {
  if (!text[0]) return EB_OK;
  EB_TRY(eb_markup_between(page, "<p class=\"note\"><b>", run->label, "</b>: "));
  return eb_markup_between(page, "", text, "</p>\n");
}

static eb_error run_table(const eb_report *report, const eb_report_scene *scene, eb_text *page) {
  EB_TRY(eb_text_printf(
      page,
      "<div class=\"scroll\"><table><tr><th>solver</th><th class=\"text\">outcome</th>"
      "<th>threads</th><th>steps</th><th>set-up (s)</th><th>step, median (ms)</th>"
      "<th>over the fastest</th><th>iterations, median</th><th>linear iterations</th><th>audited "
      "residual, median</th>"
      "<th>worst</th><th>inverted, most</th><th>penetration (mm)</th><th>peak memory (MB)</th>"
      "</tr>\n"));
  double best = fastest(report, scene);
  for (int r = scene->first; r < scene->last; r++) EB_TRY(run_row(&report->runs[r], best, page));
  EB_TRY(eb_text_printf(page, "</table></div>\n"));
  for (int r = scene->first; r < scene->last; r++) {
    EB_TRY(note(&report->runs[r], report->runs[r].run->detail, page));
    EB_TRY(note(&report->runs[r], report->runs[r].run->audit_detail, page));
  }
  return EB_OK;
}

static eb_error pictures(const eb_report *report, const eb_report_scene *scene,
                         const eb_report_picture *pictured, eb_text *page) {
  EB_TRY(eb_text_printf(page, "<div class=\"pictures\">\n"));
  for (int r = scene->first; r < scene->last; r++)
    for (int p = 0; p < pictured[r].count; p++) {
      EB_TRY(eb_text_printf(page, "<figure><img src=\"%s-r%d-%s.png\" alt=\"", scene->prefix,
                            r - scene->first, pictured[r].drawn[p].name));
      EB_TRY(eb_markup_text(page, report->runs[r].label));
      EB_TRY(eb_markup_between(page, "\"><figcaption>", report->runs[r].label, ""));
      EB_TRY(eb_text_printf(page, ", %s, t = %.4g s</figcaption></figure>\n",
                            pictured[r].drawn[p].words, pictured[r].drawn[p].time));
    }
  return eb_text_printf(page, "</div>\n");
}

static eb_error scene_section(const eb_report *report, const eb_report_scene *scene,
                              const eb_report_picture *pictured, eb_text *page) {
  const eb_report_run *run = &report->runs[scene->first];
  EB_TRY(eb_text_printf(page, "<h2 id=\"%s\">", scene->prefix));
  EB_TRY(eb_markup_between(page, "", run->scene, "</h2>\n<p>"));
  if (run->run->nodes > 0)
    EB_TRY(eb_text_printf(page, "%lld vertices, %lld elements. ", (long long)run->run->uncut_nodes,
                          (long long)run->run->elements));
  if (run->run->nodes > run->run->uncut_nodes)
    EB_TRY(eb_text_printf(page, "Cuts make it %lld vertices. ", (long long)run->run->nodes));
  if (strcmp(run->run->mesh_source, "generated") != 0)
    EB_TRY(eb_markup_between(page, "The geometry was read from ", run->run->mesh_source, ". "));
  if (run->run->stand_in && run->run->stand_in[0])
    EB_TRY(eb_markup_between(page, "The geometry is a stand-in (", run->run->stand_in,
                             "): its numbers are not those of the paper's own model."));
  EB_TRY(eb_text_printf(page, "</p>\n"));
  EB_TRY(run_table(report, scene, page));
  EB_TRY(eb_factors_html(report, scene, pictured, page));
  EB_TRY(pictures(report, scene, pictured, page));
  EB_TRY(eb_updates_html(report, scene, pictured, page));
  EB_TRY(eb_text_printf(page, "<div class=\"figures\">\n"));
  for (int k = 0; k < EB_PLOT_KINDS; k++)
    if (scene->plot[k])
      EB_TRY(eb_markup_plot(page, scene->prefix, eb_plot_kinds[k].stem, eb_plot_kinds[k].caption));
  EB_TRY(eb_factor_plots_html(report, scene, pictured, page));
  return eb_text_printf(page, "</div>\n");
}

static eb_error environment(const eb_report *report, eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h2 id=\"environment\">Environment</h2>\n<table>\n"));
  const eb_results *file = report->files[0];
  for (int f = 0; f < eb_results_fact_count(file); f++) {
    const eb_fact *fact = eb_results_fact(file, f);
    EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", fact->name, "</td>"));
    EB_TRY(eb_markup_between(page, "<td class=\"text\">", fact->value, "</td></tr>\n"));
  }
  return eb_text_printf(page, "</table>\n");
}

static eb_error contents(const eb_report *report, const eb_report_scene *scenes, int count,
                         eb_text *page) {
  EB_TRY(eb_text_printf(page, "<nav>"));
  for (int s = 0; s < count; s++) {
    EB_TRY(eb_text_printf(page, "<a href=\"#%s\">", scenes[s].prefix));
    EB_TRY(eb_markup_between(page, "", report->runs[scenes[s].first].scene, "</a>"));
  }
  return eb_text_printf(
      page,
      "<a href=\"#environment\">environment</a></nav>\n"
      "<p>%d runs of %d scenes. Residuals in the tables are audited: computed after each step by "
      "the "
      "harness from positions and velocities, never taken from the solver. They are the norm of "
      "the gradient of the incremental potential over the sum of the forces it balances, so that "
      "1e-10 means solved to ten digits and 1 means not solved at all. Solvers that take one "
      "linear "
      "solve a step, and those that solve with a matrix which is out of date on purpose, do not "
      "aim "
      "at that: theirs tells how far their step is from the exact one, and fails an audit only "
      "where a solver claims a tolerance in this norm. Times are wall times on the "
      "machine described at the end; the first step of each run is kept out of medians and "
      "means. What a run that fails its audit cost is compared with nothing.</p>\n",
      report->run_count, count);
}

eb_error eb_report_html(const eb_report *report, const eb_report_scene *scenes, int scene_count,
                        bool summary, const eb_report_picture *pictured, eb_text *page) {
  EB_TRY(head(page));
  EB_TRY(contents(report, scenes, scene_count, page));
  if (summary) {
    EB_TRY(eb_text_printf(page, "<div class=\"figures\">\n"));
    EB_TRY(eb_markup_plot(page, "", "summary", "Median wall time a step, every scene and solver"));
    EB_TRY(eb_text_printf(page, "</div>\n"));
  }
  for (int s = 0; s < scene_count; s++) EB_TRY(scene_section(report, &scenes[s], pictured, page));
  EB_TRY(environment(report, page));
  return eb_text_printf(page, "</body></html>\n");
}
