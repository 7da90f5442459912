#include "harness/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/lock.h"
#include "harness/report/definitions.h"
#include "harness/report/model.h"
#include "harness/report/page.h"
#include "harness/report/pictures.h"
#include "harness/report/playback.h"
#include "harness/report/plots.h"
#include "harness/report/tables.h"
#include "harness/results/accuracy.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"

/* A report in the making. */
typedef struct workspace {
  eb_report report;
  bool summary;        /* drawn, */
  int summary_lacking; /* without so many solvers, for which it has no room */
  eb_plotter plotter;
  eb_doc doc;
  eb_lock lock; /* of the folder */
} workspace;

/* ---- what was drawn of runs ------------------------------------------------------------------ */

/* Files of run r of a scene begin with this. */
typedef struct stem {
  char text[160];
} stem;
static stem stem_of(const eb_report_scene *scene, int r) {
  stem out;
  snprintf(out.text, sizeof out.text, "%s-r%d", scene->prefix, r - scene->first);
  return out;
}

static void put_pictures(const eb_report *report, const eb_report_scene *scene, eb_doc *doc) {
  for (int r = scene->first; r < scene->last; r++) {
    const eb_report_run *run = &report->runs[r];
    for (int p = 0; p < run->picture.count; p++) {
      char file[200];
      snprintf(file, sizeof file, "%s-%s.png", stem_of(scene, r).text, run->picture.drawn[p].name);
      eb_doc_picture(doc, "pictures", file, "%s, %s, t = %.4g s", run->label,
                     run->picture.drawn[p].words, run->picture.drawn[p].time);
    }
  }
}

static void put_updates(const eb_report *report, const eb_report_scene *scene, eb_doc *doc) {
  for (int r = scene->first; r < scene->last; r++) {
    const eb_report_run *run = &report->runs[r];
    if (run->picture.updates == 0) continue;
    eb_doc_heading(doc, 3, NULL, "Updated elements: %s", run->label);
    eb_doc_markup(doc, "<p class=\"note\"><span class=\"updated\"></span> elements whose matrices "
                       "were brought up to date since the stored frame before; those inside show "
                       "through the body, which is translucent. Frames at equal shares of all "
                       "updates of the run.</p>\n");
    for (int p = 0; p < run->picture.updates; p++) {
      long long updated = (long long)run->picture.update[p].updated,
                elements = (long long)run->run->elements;
      char file[200];
      snprintf(file, sizeof file, "%s-updates-%d.png", stem_of(scene, r).text, p + 1);
      eb_doc_picture(doc, "strip", file, "t = %.4g s: %lld of %lld elements (%.1f %%)",
                     run->picture.update[p].time, updated, elements,
                     100 * ((double)updated / fmax(1, (double)elements)));
    }
  }
}

static void put_plots(const eb_report *report, const eb_report_scene *scene, eb_doc *doc) {
  char base[200];
  for (int k = 0; k < EB_PLOT_KINDS; k++) {
    if (!scene->plot[k]) continue;
    snprintf(base, sizeof base, "%s-%s", scene->prefix, eb_plot_kinds[k].stem);
    eb_doc_plot(doc, base, "%s", eb_plot_kinds[k].caption);
  }
  for (int r = scene->first; r < scene->last; r++) {
    const eb_report_run *run = &report->runs[r];
    snprintf(base, sizeof base, "%s-stages", stem_of(scene, r).text);
    if (run->picture.stages)
      eb_doc_plot(doc, base, "%s: share of elements updated, and a step's time by stage",
                  run->label);
    snprintf(base, sizeof base, "%s-tree", stem_of(scene, r).text);
    if (run->picture.tree)
      eb_doc_plot(doc, base,
                  "%s: elimination tree of supernodes; a bar stands over its children, what they "
                  "leave free of it are its own pivots",
                  run->label);
  }
}

/* ---- a scene --------------------------------------------------------------------------------- */

static void put_facts(const eb_report_run *run, eb_doc *doc) {
  const eb_run *of = run->run;
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "%s", "");
  if (of->nodes > 0)
    eb_doc_text(doc, EB_DOC_PLAIN, "%lld vertices, %lld elements. ", (long long)of->uncut_nodes,
                (long long)of->elements);
  if (of->nodes > of->uncut_nodes)
    eb_doc_text(doc, EB_DOC_PLAIN, "Cuts make it %lld vertices. ", (long long)of->nodes);
  if (strcmp(of->mesh_source, "generated") != 0)
    eb_doc_text(doc, EB_DOC_PLAIN, "The geometry was read from %s. ", of->mesh_source);
  if (of->stand_in && of->stand_in[0])
    eb_doc_text(doc, EB_DOC_PLAIN,
                "The geometry is a stand-in (%s): its numbers are not those of the paper's own "
                "model. ",
                of->stand_in);
  if (*of->plugged_materials)
    eb_doc_text(doc, EB_DOC_PLAIN,
                "Energy and stress are the plug-in's own, in the audit as well: %s; they were "
                "checked for consistency before the run.",
                of->plugged_materials);
}

/* Repetitions move as the first run does, whose script is there. */
static eb_error put_player(const eb_report *report, const eb_report_scene *scene, eb_doc *doc) {
  int count = scene->last - scene->first;
  char picture[200];
  EB_FREED eb_played *runs = NULL;
  EB_TRY(EB_NEW(runs, count));
  for (int r = 0; r < count; r++) {
    const eb_report_run *run = &report->runs[scene->first + r];
    runs[r] = (eb_played){.playback = &run->playback,
                          .label = run->label,
                          .note = eb_report_audit_failed(run) ? "audit failed"
                                  : eb_report_completed(run)  ? ""
                                                              : run->run->outcome};
  }
  snprintf(picture, sizeof picture, "%s.png", scene->prefix);
  return eb_page_player(doc, runs, count, scene->poster[0] ? picture : NULL, scene->poster);
}

static eb_error put_scene(const eb_report *report, const eb_report_scene *scene, eb_doc *doc) {
  enum { MANY = 40 }; /* runs, too many to be read one after the other */
  eb_doc_fold fold = report->run_count > MANY ? EB_DOC_FOLDED : EB_DOC_OPEN;
  const eb_report_run *run = &report->runs[scene->first];
  eb_doc_markup(doc, "<section class=\"scene\">");
  eb_doc_heading(doc, 2, scene->prefix, "%s", run->scene);
  put_facts(run, doc);
  EB_TRY(eb_report_ranking(report, scene, doc));
  EB_TRY(put_player(report, scene, doc));
  put_pictures(report, scene, doc);
  put_updates(report, scene, doc);
  eb_doc_details(doc, fold, "Audits, and what is held in memory");
  EB_TRY(eb_report_audits(report, scene, doc));
  eb_doc_end(doc);
  eb_doc_details(doc, fold, "Plots");
  put_plots(report, scene, doc);
  eb_doc_end(doc);
  eb_doc_markup(doc, "</section>\n");
  return EB_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_introduction(const eb_report *report, eb_doc *doc) {
  static const char *const links[] = {"scenes", "definitions", "environment"};
  eb_doc_navigation(doc);
  for (size_t l = 0; l < sizeof links / sizeof *links; l++) {
    char target[40];
    snprintf(target, sizeof target, "#%s", links[l]);
    eb_doc_link(doc, target, "%s", links[l]);
  }
  eb_doc_paragraph(
      doc, EB_DOC_PLAIN,
      "%d runs of %d scenes. Costs are ranked among runs of one accuracy class alone: the same "
      "equation, errors in the same band, the audit passed. The error is audited, computed after "
      "each step by the harness from positions and velocities and never taken from the solver: "
      "the residual of the equation that the solver declares, over the run, over the forces it "
      "balances. A coarse method is no worse for it; it is ranked among those that are as "
      "coarse. Beside it stands how far the steps are from implicit Euler, solved exactly: solvers "
      "that take one linear solve a step, and those that solve with a matrix which is out of date "
      "on purpose, do not aim at that. What a run that fails its audit cost is compared with "
      "nothing. Times are wall times on the machine%s described at the end. The figures have their "
      "formulas under ",
      report->run_count, report->scene_count, report->machine_count > 1 ? "s" : "");
  eb_doc_link(doc, "#definitions", "definitions");
  eb_doc_text(doc, EB_DOC_PLAIN, ".");
}

/* Whose times may be set against whose: where the files are of several machines, and in files that
 * were merged from shards of several, which have a scene each. */
static void put_machines(const eb_report *report, eb_doc *doc) {
  if (report->machine_count > 1)
    eb_doc_paragraph(doc, EB_DOC_PLAIN,
                     "The files come from %d machines. Costs are ranked within each machine alone; "
                     "plots show the runs of all side by side, and times of two machines there "
                     "tell nothing of their solvers.",
                     report->machine_count);
  for (int m = 1; m <= report->machine_count && report->machine_count > 1; m++) {
    const char *separator = "";
    eb_doc_item(doc, "machine %d: ", m);
    for (int f = 0; f < report->file_count; f++) {
      if (report->machine[f] != m) continue;
      eb_doc_text(doc, EB_DOC_PLAIN, "%s%s", separator, eb_results_path(report->files[f]));
      separator = ", ";
    }
  }
  for (int f = 0; f < report->file_count; f++)
    if (eb_h5_exists(eb_results_file(report->files[f]), "environments"))
      eb_doc_paragraph(doc, EB_DOC_PLAIN,
                       "%s was merged from shards of several machines, of which the first is "
                       "described at the end: times may be compared within a scene, and not "
                       "between scenes.",
                       eb_results_path(report->files[f]));
}

static void put_remarks(const eb_strings *remarks, eb_doc *doc) {
  if (!remarks || remarks->count == 0) return;
  eb_doc_paragraph(doc, EB_DOC_NOTE,
                   "Files that could not be read are left out; those that are damaged and read "
                   "say so:");
  for (int i = 0; i < remarks->count; i++)
    eb_doc_paragraph(doc, EB_DOC_NOTE, "%s", remarks->items[i]);
}

static void put_overview(const eb_report *report, eb_doc *doc) {
  static const char *const heads[] = {"scene",     "vertices",     "elements", "runs",
                                      "completed", "audit failed", "ranked",   NULL};
  eb_doc_heading(doc, 2, "scenes", "Scenes");
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int s = 0; s < report->scene_count; s++) {
    const eb_report_scene *scene = &report->scenes[s];
    const eb_report_run *first = &report->runs[scene->first];
    int completed = 0, failed = 0, ranked = 0;
    char target[sizeof scene->prefix + 1];
    for (int r = scene->first; r < scene->last; r++) {
      completed += eb_report_completed(&report->runs[r]);
      failed += eb_report_audit_failed(&report->runs[r]);
      ranked += eb_run_ranked(report->runs[r].run);
    }
    snprintf(target, sizeof target, "#%s", scene->prefix);
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", "");
    eb_doc_link(doc, target, "%s", first->scene);
    eb_doc_number(doc, EB_DOC_PLAIN, (double)first->run->uncut_nodes);
    eb_doc_number(doc, EB_DOC_PLAIN, (double)first->run->elements);
    eb_doc_number(doc, EB_DOC_PLAIN, scene->last - scene->first);
    eb_doc_number(doc, EB_DOC_PLAIN, completed);
    eb_doc_number(doc, failed ? EB_DOC_BAD : EB_DOC_PLAIN, failed);
    eb_doc_number(doc, EB_DOC_PLAIN, ranked);
  }
  eb_doc_end(doc);
}

static void put_summary(const workspace *work, eb_doc *doc) {
  char lacking[80] = "";
  if (work->summary_lacking > 0)
    snprintf(lacking, sizeof lacking, " (%d more not in the picture)", work->summary_lacking);
  if (work->summary)
    eb_doc_plot(doc, "summary",
                "Median wall time a step, every solver%s: compare the bars of one scene and class",
                lacking);
}

static eb_error put_definitions(eb_doc *doc) {
  EB_OWNED(eb_text_clear) eb_text markup = {0};
  EB_TRY(eb_definitions_html(&markup));
  eb_doc_markup(doc, markup.data);
  return EB_OK;
}

/* Machine and program of every file. */
static void put_environments(const eb_report *report, eb_doc *doc) {
  bool alone = report->file_count == 1;
  eb_doc_heading(doc, 2, "environment", alone ? "Environment" : "Environments");
  for (int f = 0; f < report->file_count; f++) {
    const eb_results *file = report->files[f];
    if (!alone)
      eb_doc_details(doc, EB_DOC_FOLDED, "%s: commit %s, %s", eb_results_path(file),
                     eb_results_environment(file, "commit"), eb_results_environment(file, "cpu"));
    eb_page_facts(doc, file);
    if (!alone) eb_doc_end(doc);
  }
}

static eb_error put_page(const workspace *work, eb_doc *doc) {
  const eb_report *report = &work->report;
  eb_doc_heading(doc, 1, NULL, "elastobench report");
  put_introduction(report, doc);
  put_machines(report, doc);
  put_remarks(report->remarks, doc);
  put_overview(report, doc);
  put_summary(work, doc);
  for (int s = 0; s < report->scene_count; s++) EB_TRY(put_scene(report, &report->scenes[s], doc));
  EB_TRY(put_definitions(doc));
  put_environments(report, doc);
  return EB_OK;
}

/* ---- plots ----------------------------------------------------------------------------------- */

typedef struct trees {
  int count;
  eb_tree_log *at;
} trees;

static void clear_trees(trees *all) {
  for (int t = 0; all->at && t < all->count; t++) eb_results_tree_clear(&all->at[t]);
  free(all->at);
}

/* The elimination trees of a scene's runs, each that none before it has too. */
static eb_error draw_trees(workspace *work, const eb_report_scene *scene) {
  EB_OWNED(clear_trees) trees all = {.count = scene->last - scene->first};
  EB_TRY(EB_NEW(all.at, all.count));
  for (int r = scene->first; r < scene->last; r++) {
    eb_report_run *run = &work->report.runs[r];
    eb_tree_log *tree = &all.at[r - scene->first];
    char base[192], name[512];
    EB_TRY(eb_results_tree(run->file, run->index, tree));
    run->picture.supernodes = tree->count;
    run->picture.tree = tree->count > 0;
    for (const eb_tree_log *before = all.at; before < tree && run->picture.tree; before++)
      run->picture.tree = !eb_tree_equal(tree, before);
    snprintf(base, sizeof base, "%s-tree", stem_of(scene, r).text);
    snprintf(name, sizeof name, "%s, %s", run->scene, run->label);
    if (run->picture.tree) EB_TRY(eb_plots_tree(tree, name, &work->plotter, base));
  }
  return EB_OK;
}

static eb_error draw_plots(workspace *work) {
  const eb_report *report = &work->report;
  for (eb_report_scene *s = report->scenes; s < report->scenes + report->scene_count; s++) {
    EB_TRY(eb_plots_scene(report, s->first, s->last, &work->plotter, s->prefix, s->plot));
    for (int r = s->first; r < s->last; r++) {
      eb_report_run *run = &report->runs[r];
      char base[192];
      snprintf(base, sizeof base, "%s-stages", stem_of(s, r).text);
      EB_TRY(eb_plots_stages(run, &work->plotter, base, &run->picture.stages));
    }
    EB_TRY(draw_trees(work, s));
  }
  EB_TRY(eb_plots_summary(report, &work->plotter, &work->summary, &work->summary_lacking));
  return eb_plotter_start(&work->plotter);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* The scripts of all runs that are played: a repetition moves as the first run does. */
static eb_error write_playbacks(eb_report *report, const char *dir) {
  char data[4096];
  int played = 0;
  for (int r = 0; r < report->run_count; r++) played += report->runs[r].run->repetition == 0;
  size_t room = eb_playback_room(played);
  EB_TRY(eb_page_data(dir, data, sizeof data));
  for (int s = 0; s < report->scene_count; s++)
    for (int r = report->scenes[s].first; r < report->scenes[s].last; r++) {
      eb_report_run *run = &report->runs[r];
      if (run->run->repetition > 0) continue;
      EB_TRY(
          eb_playback_write(run, room, data, stem_of(&report->scenes[s], r).text, &run->playback));
    }
  return EB_OK;
}

static eb_error write_report(workspace *work, const eb_report_request *request) {
  eb_report *report = &work->report;
  EB_TRY(eb_report_load(request->files, request->file_count, report));
  report->remarks = request->remarks;
  EB_TRY(eb_lock_folder(request->dir, &work->lock));
  EB_TRY(draw_plots(work)); /* gnuplot is at work while the rest is made */
  EB_TRY(write_playbacks(report, request->dir));
  EB_TRY(eb_pictures_posters(report, request->dir));
  for (int s = 0; s < report->scene_count && request->pictures; s++)
    EB_TRY(eb_pictures_scene(report, &report->scenes[s], request->dir));
  EB_TRY(put_page(work, &work->doc));
  return eb_page_publish(&work->doc, "elastobench report", "report", request->dir);
}

eb_error eb_report_write(const eb_report_request *request) {
  workspace work = {.plotter = {.dir = request->dir}};
  eb_error error = eb_plotter_finish(&work.plotter, write_report(&work, request));
  eb_report_clear(&work.report);
  eb_lock_release(&work.lock);
  eb_doc_clear(&work.doc);
  return error;
}
