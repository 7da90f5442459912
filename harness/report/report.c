#include "harness/report/report.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/lock.h"
#include "harness/report/definitions.h"
#include "harness/report/markup.h"
#include "harness/report/model.h"
#include "harness/report/page.h"
#include "harness/report/pictures.h"
#include "harness/report/plots.h"
#include "harness/report/tables.h"
#include "harness/results/accuracy.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

/* What a page is made of. `pictured` and `playbacks` have one entry a run, `scenes` one a scene. */
typedef struct workspace {
  eb_report report;
  eb_report_scene *scenes;
  int scene_count;
  bool summary;        /* drawn, */
  int summary_lacking; /* without so many solvers, for which it has no room */
  eb_report_picture *pictured;
  eb_playback *playbacks;
  eb_plotter plotter;
  eb_text page;
  eb_lock lock; /* of the folder */
} workspace;

/* ---- what was drawn of runs ------------------------------------------------------------------ */

static eb_error updates(const eb_report *report, const eb_report_scene *scene,
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
      EB_TRY(eb_text_printf(page,
                            "<figure><img loading=\"lazy\" width=\"640\" height=\"480\" "
                            "src=\"%s-r%d-updates-%d.png\" alt=\"",
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

static eb_error factor_plots(const eb_report *report, const eb_report_scene *scene,
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

/* ---- a scene ----------------------------------------------------------------------------------
 */

static eb_error pictures(const eb_report *report, const eb_report_scene *scene,
                         const eb_report_picture *pictured, eb_text *page) {
  bool any = false;
  for (int r = scene->first; r < scene->last; r++) any = any || pictured[r].count > 0;
  if (!any) return EB_OK;
  EB_TRY(eb_text_printf(page, "<div class=\"pictures\">\n"));
  for (int r = scene->first; r < scene->last; r++)
    for (int p = 0; p < pictured[r].count; p++) {
      EB_TRY(eb_text_printf(
          page,
          "<figure><img loading=\"lazy\" width=\"640\" height=\"480\" src=\"%s-r%d-%s.png\" alt=\"",
          scene->prefix, r - scene->first, pictured[r].drawn[p].name));
      EB_TRY(eb_markup_text(page, report->runs[r].label));
      EB_TRY(eb_markup_between(page, "\"><figcaption>", report->runs[r].label, ""));
      EB_TRY(eb_text_printf(page, ", %s, t = %.4g s</figcaption></figure>\n",
                            pictured[r].drawn[p].words, pictured[r].drawn[p].time));
    }
  return eb_text_printf(page, "</div>\n");
}

static eb_error facts_of(const eb_report_run *run, eb_text *page) {
  EB_TRY(eb_text_printf(page, "<p>"));
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
  return eb_text_printf(page, "</p>\n");
}

/* Repetitions move as the first run does, whose script is there. */
static eb_error player(const workspace *work, const eb_report_scene *scene, eb_text *page) {
  int count = scene->last - scene->first;
  char picture[200];
  eb_played *runs;
  EB_TRY(EB_NEW(runs, count));
  for (int r = 0; r < count; r++) {
    const eb_report_run *run = &work->report.runs[scene->first + r];
    runs[r] = (eb_played){.playback = &work->playbacks[scene->first + r],
                          .label = run->label,
                          .note = eb_report_audit_failed(run) ? "audit failed"
                                  : eb_report_completed(run)  ? ""
                                                              : run->run->outcome};
  }
  snprintf(picture, sizeof picture, "%s.png", scene->prefix);
  eb_error error =
      eb_page_player(page, runs, count, scene->poster[0] ? picture : NULL, scene->poster);
  free(runs);
  return error;
}

/* Folded where there are too many to be read one after the other. */
static eb_error open_fold(const workspace *work, const char *words, eb_text *page) {
  enum { MANY = 40 };
  return eb_text_printf(page, "<details%s><summary>%s</summary>\n",
                        work->report.run_count > MANY ? "" : " open", words);
}

static eb_error scene_section(const workspace *work, const eb_report_scene *scene, eb_text *page) {
  const eb_report *report = &work->report;
  const eb_report_run *run = &report->runs[scene->first];
  EB_TRY(eb_text_printf(page, "<section class=\"scene\"><h2 id=\"%s\">", scene->prefix));
  EB_TRY(eb_markup_between(page, "", run->scene, "</h2>\n"));
  EB_TRY(facts_of(run, page));
  EB_TRY(eb_report_ranking(report, scene->first, scene->last, page));
  EB_TRY(player(work, scene, page));
  EB_TRY(pictures(report, scene, work->pictured, page));
  EB_TRY(updates(report, scene, work->pictured, page));
  EB_TRY(open_fold(work, "Audits, and what is held in memory", page));
  EB_TRY(eb_report_audits(report, scene->first, scene->last, page));
  EB_TRY(eb_report_factors(report, scene, work->pictured, page));
  EB_TRY(eb_text_printf(page, "</details>\n"));
  EB_TRY(open_fold(work, "Plots", page));
  EB_TRY(eb_text_printf(page, "<div class=\"figures\">\n"));
  for (int k = 0; k < EB_PLOT_KINDS; k++)
    if (scene->plot[k])
      EB_TRY(eb_markup_plot(page, scene->prefix, eb_plot_kinds[k].stem, eb_plot_kinds[k].caption));
  EB_TRY(factor_plots(report, scene, work->pictured, page));
  return eb_text_printf(page, "</div></details></section>\n");
}

/* ---- the page -------------------------------------------------------------------------------- */

static eb_error introduction(const workspace *work, eb_text *page) {
  return eb_text_printf(
      page,
      "<nav><a href=\"#scenes\">scenes</a><a href=\"#definitions\">definitions</a>"
      "<a href=\"#environment\">environment</a></nav>\n"
      "<p>%d runs of %d scenes. Costs are ranked among runs of one accuracy class alone: the same "
      "equation, errors in the same band, the audit passed. The error is audited, computed after "
      "each step by the harness from positions and velocities and never taken from the solver: "
      "the residual of the equation that the solver declares, over the run, over the forces it "
      "balances. A coarse method is no worse for it; it is ranked among those that are as "
      "coarse. Beside it stands how far the steps are from implicit Euler, solved exactly: solvers "
      "that take one linear solve a step, and those that solve with a matrix which is out of date "
      "on purpose, do not aim at that. What a run that fails its audit cost is compared with "
      "nothing. Times are wall times on the machine%s described at the end. The figures have their "
      "formulas under <a href=\"#definitions\">definitions</a>.</p>\n",
      work->report.run_count, work->scene_count, work->report.machine_count > 1 ? "s" : "");
}

/* Files that were merged from shards of several machines, which have a scene each. */
static eb_error shards(const eb_report *report, eb_text *page) {
  for (int f = 0; f < report->file_count; f++) {
    const eb_results *file = report->files[f];
    if (!eb_h5_exists(eb_results_file(file), "environments")) continue;
    EB_TRY(eb_markup_between(page, "<p>", eb_results_path(file),
                             " was merged from shards of several machines, of which the first is "
                             "described at the end: times may be compared within a scene, and not "
                             "between scenes.</p>\n"));
  }
  return EB_OK;
}

/* Whose times may be set against whose, where the files are of several machines. */
static eb_error machines(const eb_report *report, eb_text *page) {
  if (report->machine_count < 2) return EB_OK;
  EB_TRY(eb_text_printf(page,
                        "<p>The files come from %d machines. Costs are ranked within each machine "
                        "alone; plots show the runs of all side by side, and times of two machines "
                        "there tell nothing of their solvers.</p>\n<ol>\n",
                        report->machine_count));
  for (int m = 1; m <= report->machine_count; m++) {
    const char *separator = "<li>";
    for (int f = 0; f < report->file_count; f++) {
      if (report->machine[f] != m) continue;
      EB_TRY(eb_markup_between(page, separator, eb_results_path(report->files[f]), ""));
      separator = ", ";
    }
    EB_TRY(eb_text_printf(page, "</li>\n"));
  }
  return eb_text_printf(page, "</ol>\n");
}

/* Machine and program of every file. */
static eb_error environments(const eb_report *report, eb_text *page) {
  if (report->file_count == 1) return eb_page_environment(page, report->files[0]);
  EB_TRY(eb_text_printf(page, "<h2 id=\"environment\">Environments</h2>\n"));
  for (int f = 0; f < report->file_count; f++) {
    const eb_results *file = report->files[f];
    EB_TRY(eb_markup_between(page, "<details><summary>", eb_results_path(file), ""));
    EB_TRY(eb_markup_between(page, ": commit ", eb_results_environment(file, "commit"), ", "));
    EB_TRY(eb_markup_between(page, "", eb_results_environment(file, "cpu"), "</summary>\n"));
    EB_TRY(eb_page_facts(page, file));
    EB_TRY(eb_text_printf(page, "</details>\n"));
  }
  return EB_OK;
}

static eb_error overview_row(const eb_report *report, const eb_report_scene *scene, eb_text *page) {
  const eb_report_run *first = &report->runs[scene->first];
  int completed = 0, failed = 0, ranked = 0;
  for (int r = scene->first; r < scene->last; r++) {
    const eb_report_run *run = &report->runs[r];
    completed += eb_report_completed(run);
    failed += eb_report_audit_failed(run);
    ranked += eb_run_ranked(run->run);
  }
  EB_TRY(eb_text_printf(page, "<tr><td class=\"text\"><a href=\"#%s\">", scene->prefix));
  EB_TRY(eb_markup_between(page, "", first->scene, "</a></td>"));
  return eb_text_printf(page,
                        "<td>%lld</td><td>%lld</td><td>%d</td><td>%d</td><td class=\"%s\">%d</td>"
                        "<td>%d</td></tr>\n",
                        (long long)first->run->uncut_nodes, (long long)first->run->elements,
                        scene->last - scene->first, completed, failed ? "bad" : "", failed, ranked);
}

static eb_error overview(const workspace *work, eb_text *page) {
  EB_TRY(eb_text_printf(page, "<div class=\"scroll\"><table id=\"scenes\"><thead><tr><th>scene</th>"
                              "<th>vertices</th><th>elements</th><th>runs</th><th>completed</th>"
                              "<th>audit failed</th><th>ranked</th></tr></thead>\n<tbody>\n"));
  for (int s = 0; s < work->scene_count; s++)
    EB_TRY(overview_row(&work->report, &work->scenes[s], page));
  return eb_text_printf(page, "</tbody></table></div>\n");
}

static eb_error summary(const workspace *work, eb_text *page) {
  char caption[200], lacking[80] = "";
  if (work->summary_lacking > 0)
    snprintf(lacking, sizeof lacking, " (%d more not in the picture)", work->summary_lacking);
  snprintf(caption, sizeof caption,
           "Median wall time a step, every solver%s: compare the bars of one scene and class",
           lacking);
  EB_TRY(eb_text_printf(page, "<div class=\"figures\">\n"));
  EB_TRY(eb_markup_plot(page, "", "summary", caption));
  return eb_text_printf(page, "</div>\n");
}

static eb_error write_page(const workspace *work, eb_text *page) {
  EB_TRY(eb_page_open(page, "elastobench report", "report"));
  EB_TRY(eb_text_printf(page, "<h1>elastobench report</h1>\n"));
  EB_TRY(introduction(work, page));
  EB_TRY(machines(&work->report, page));
  EB_TRY(shards(&work->report, page));
  const eb_strings *remarks = work->report.remarks;
  if (remarks && remarks->count > 0)
    EB_TRY(eb_text_printf(page, "<p class=\"note\">Files that could not be read are left out; "
                                "those that are damaged and read say so:</p>\n"));
  for (int i = 0; remarks && i < remarks->count; i++)
    EB_TRY(eb_markup_between(page, "<p class=\"note\">", remarks->items[i], "</p>\n"));
  EB_TRY(overview(work, page));
  if (work->summary) EB_TRY(summary(work, page));
  for (int s = 0; s < work->scene_count; s++) EB_TRY(scene_section(work, &work->scenes[s], page));
  EB_TRY(eb_definitions_html(page));
  EB_TRY(environments(&work->report, page));
  return eb_page_close(page);
}

/* ---- plots ----------------------------------------------------------------------------------- */

/* The elimination tree of a run, unless a run of the scene before it has the same. */
static eb_error draw_tree(workspace *work, const eb_report_scene *scene, int r,
                          const eb_tree_log *trees) {
  const eb_report_run *run = &work->report.runs[r];
  const eb_tree_log *tree = &trees[r - scene->first];
  eb_report_picture *out = &work->pictured[r];
  char base[192], name[512];
  out->supernodes = tree->count;
  out->tree = tree->count > 0;
  for (const eb_tree_log *before = trees; before < tree && out->tree; before++)
    out->tree = !eb_tree_equal(tree, before);
  snprintf(base, sizeof base, "%s-r%d-tree", scene->prefix, r - scene->first);
  snprintf(name, sizeof name, "%s, %s", run->scene, run->label);
  return out->tree ? eb_plots_tree(tree, name, &work->plotter, base) : EB_OK;
}

static eb_error draw_trees(workspace *work, const eb_report_scene *scene) {
  int count = scene->last - scene->first;
  eb_tree_log *trees;
  EB_TRY(EB_NEW(trees, count));
  eb_error error = EB_OK;
  for (int r = 0; r < count && !error; r++) {
    const eb_report_run *run = &work->report.runs[scene->first + r];
    error = eb_results_tree(run->file, run->index, &trees[r]);
    if (!error) error = draw_tree(work, scene, scene->first + r, trees);
  }
  for (int r = 0; r < count; r++) eb_results_tree_clear(&trees[r]);
  free(trees);
  return error;
}

static eb_error draw_plots(workspace *work) {
  for (int s = 0; s < work->scene_count; s++) {
    eb_report_scene *scene = &work->scenes[s];
    EB_TRY(eb_plots_scene(&work->report, scene->first, scene->last, &work->plotter, scene->prefix,
                          scene->plot));
    for (int r = scene->first; r < scene->last; r++) {
      char base[192];
      snprintf(base, sizeof base, "%s-r%d-stages", scene->prefix, r - scene->first);
      EB_TRY(
          eb_plots_stages(&work->report.runs[r], &work->plotter, base, &work->pictured[r].stages));
    }
    EB_TRY(draw_trees(work, scene));
  }
  EB_TRY(eb_plots_summary(&work->report, &work->plotter, &work->summary, &work->summary_lacking));
  return eb_plotter_start(&work->plotter);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Files have the scene's name with everything but letters, digits and dashes replaced, and its
 * number, which keeps scenes that differ in parameters only apart. */
static void list_scenes(workspace *work) {
  const eb_report *report = &work->report;
  for (int first = 0, last = 0; eb_report_next_scene(report, last, &first, &last);) {
    eb_report_scene *scene = &work->scenes[work->scene_count++];
    scene->first = first;
    scene->last = last;
    snprintf(scene->prefix, sizeof scene->prefix, "%d-%.80s", work->scene_count,
             report->runs[first].run->scene);
    for (char *c = scene->prefix; *c; c++)
      if (!isalnum((unsigned char)*c) && *c != '-') *c = '-';
  }
}

/* The scripts of all runs that are played: a repetition moves as the first run does. */
static eb_error write_playbacks(workspace *work, const char *dir) {
  char data[4096];
  int played = 0;
  for (int r = 0; r < work->report.run_count; r++)
    played += work->report.runs[r].run->repetition == 0;
  size_t room = eb_playback_room(played);
  EB_TRY(eb_page_data(dir, data, sizeof data));
  for (int s = 0; s < work->scene_count; s++) {
    const eb_report_scene *scene = &work->scenes[s];
    for (int r = scene->first; r < scene->last; r++) {
      char name[160];
      if (work->report.runs[r].run->repetition > 0) continue;
      snprintf(name, sizeof name, "%s-r%d", scene->prefix, r - scene->first);
      EB_TRY(eb_playback_write(&work->report.runs[r], room, data, name, &work->playbacks[r]));
    }
  }
  return EB_OK;
}

static eb_error draw_pictures(workspace *work, const eb_report_request *request) {
  EB_TRY(eb_pictures_posters(&work->report, work->scenes, work->scene_count, request->dir));
  for (int s = 0; s < work->scene_count && request->pictures; s++)
    EB_TRY(eb_pictures_scene(&work->report, &work->scenes[s], request->dir, work->pictured));
  return EB_OK;
}

static eb_error write_report(workspace *work, const eb_report_request *request) {
  EB_TRY(eb_report_load(request->files, request->file_count, &work->report));
  work->report.remarks = request->remarks;
  EB_TRY(eb_lock_folder(request->dir, &work->lock));
  EB_TRY(EB_NEW(work->scenes, work->report.run_count));
  EB_TRY(EB_NEW(work->pictured, work->report.run_count));
  EB_TRY(EB_NEW(work->playbacks, work->report.run_count));
  list_scenes(work);
  EB_TRY(draw_plots(work)); /* gnuplot is at work while the rest is made */
  EB_TRY(write_playbacks(work, request->dir));
  EB_TRY(draw_pictures(work, request));
  EB_TRY(write_page(work, &work->page));
  return eb_page_write(&work->page, request->dir);
}

eb_error eb_report_write(const eb_report_request *request) {
  workspace work = {.plotter = {.dir = request->dir}};
  eb_error error = eb_plotter_finish(&work.plotter, write_report(&work, request));
  eb_report_clear(&work.report);
  eb_lock_release(&work.lock);
  free(work.scenes);
  free(work.pictured);
  free(work.playbacks);
  eb_text_clear(&work.page);
  return error;
}
