#include "harness/report/html.h"

#include <stdio.h>
#include <string.h>

#include "harness/embedded.h"
#include "harness/report/audits.h"
#include "harness/report/definitions.h"
#include "harness/report/factors.h"
#include "harness/report/markup.h"
#include "harness/report/plots.h"
#include "harness/report/ranking.h"

static eb_error head(eb_text *page) {
  eb_embedded css;
  EB_TRY(eb_embedded_find("html/report.css", &css));
  EB_TRY(eb_text_printf(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width\">\n"
                              "<title>elastobench report</title>\n<style>\n"));
  EB_TRY(eb_text_append(page, css.data, css.size));
  return eb_text_printf(page, "</style></head><body>\n<h1>elastobench report</h1>\n");
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
  EB_TRY(eb_ranking_html(report, scene->first, scene->last, page));
  EB_TRY(eb_audits_html(report, scene->first, scene->last, page));
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
  EB_TRY(eb_text_printf(page, "<h2 id=\"environment\">Environment</h2>\n"
                              "<table class=\"facts\">\n"));
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
      "<a href=\"#definitions\">definitions</a><a href=\"#environment\">environment</a></nav>\n"
      "<p>%d runs of %d scenes. Costs are ranked among runs of one accuracy class alone: the same "
      "equation, errors in the same band, the audit passed. The error is audited, computed after "
      "each step by the harness from positions and velocities and never taken from the solver: "
      "the residual of the equation that the solver declares, over the run, over the forces it "
      "balances. A coarse method is no worse for it; it is ranked among those that are as "
      "coarse. Beside it stands how far the steps are from implicit Euler, solved exactly: solvers "
      "that take one linear solve a step, and those that solve with a matrix which is out of date "
      "on purpose, do not aim at that. What a run that fails its audit cost is compared with "
      "nothing. Times are wall times on the machine described at the end. The figures have their "
      "formulas under <a href=\"#definitions\">definitions</a>.</p>\n",
      report->run_count, count);
}

eb_error eb_report_html(const eb_report *report, const eb_report_scene *scenes, int scene_count,
                        bool summary, const eb_report_picture *pictured, eb_text *page) {
  EB_TRY(head(page));
  EB_TRY(contents(report, scenes, scene_count, page));
  const eb_strings *unreadable = report->unreadable;
  if (unreadable && unreadable->count > 0)
    EB_TRY(
        eb_text_printf(page, "<p class=\"note\">Files that could not be read are left out:</p>\n"));
  for (int i = 0; unreadable && i < unreadable->count; i++)
    EB_TRY(eb_markup_between(page, "<p class=\"note\">", unreadable->items[i], "</p>\n"));
  if (summary) {
    EB_TRY(eb_text_printf(page, "<div class=\"figures\">\n"));
    EB_TRY(eb_markup_plot(
        page, "", "summary",
        "Median wall time a step, every solver: compare the bars of one scene and class"));
    EB_TRY(eb_text_printf(page, "</div>\n"));
  }
  for (int s = 0; s < scene_count; s++) EB_TRY(scene_section(report, &scenes[s], pictured, page));
  EB_TRY(eb_definitions_html(page));
  EB_TRY(environment(report, page));
  return eb_text_printf(page, "</body></html>\n");
}
