#include "harness/report/report.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/report/html.h"
#include "harness/report/model.h"
#include "harness/report/pictures.h"
#include "harness/report/plots.h"
#include "problems/base/text.h"
#include "problems/base/memory.h"

/* Memory of the report in the making. */
typedef struct workspace {
  eb_report report;
  eb_report_scene *scenes;
  eb_report_picture *pictured;
  eb_text page;
} workspace;

/* The elimination tree of run r, unless a run of the scene before it has the same. */
static eb_error draw_tree(const eb_report *report, const eb_report_scene *scene, int r,
                          const char *dir, const char *base, eb_report_picture *out) {
  const eb_report_run *run = &report->runs[r];
  eb_tree_log tree, other;
  char name[512];
  EB_TRY(eb_results_tree(run->file, run->index, &tree));
  out->supernodes = tree.count;
  out->tree = tree.count > 0;
  eb_error error = EB_OK;
  for (int before = scene->first; before < r && out->tree && !error; before++) {
    error = eb_results_tree(report->runs[before].file, report->runs[before].index, &other);
    out->tree = error || !eb_tree_equal(&tree, &other);
    if (!error) eb_results_tree_clear(&other);
  }
  snprintf(name, sizeof name, "%s, %s", run->scene, run->label);
  if (!error && out->tree) error = eb_plots_tree(&tree, name, dir, base);
  eb_results_tree_clear(&tree);
  return error;
}

static eb_error draw_scenes(workspace *work, const char *dir, int *count) {
  const eb_report *report = &work->report;
  for (int first = 0, last = 0; eb_report_next_scene(report, last, &first, &last);) {
    eb_report_scene *scene = &work->scenes[(*count)++];
    scene->first = first;
    scene->last = last;
    /* Files have the scene's name with everything but letters, digits and dashes replaced, and its
     * number, which keeps scenes that differ in parameters only apart. */
    snprintf(scene->prefix, sizeof scene->prefix, "%d-%.80s", *count,
             report->runs[first].run->scene);
    for (char *c = scene->prefix; *c; c++)
      if (!isalnum((unsigned char)*c) && *c != '-') *c = '-';
    EB_TRY(eb_plots_scene(report, first, last, dir, scene->prefix, scene->plot));
    for (int r = first; r < last; r++) {
      char base[192];
      snprintf(base, sizeof base, "%s-r%d-stages", scene->prefix, r - first);
      EB_TRY(eb_plots_stages(&report->runs[r], dir, base, &work->pictured[r].stages));
      snprintf(base, sizeof base, "%s-r%d-tree", scene->prefix, r - first);
      EB_TRY(draw_tree(report, scene, r, dir, base, &work->pictured[r]));
    }
    EB_TRY(eb_pictures_scene(report, scene, dir, work->pictured));
  }
  return EB_OK;
}

static eb_error write_report(workspace *work, const char *const *files, int file_count,
                             const eb_strings *unreadable, const char *dir) {
  EB_TRY(eb_report_load(files, file_count, &work->report));
  work->report.unreadable = unreadable;
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return EB_ERROR(EB_ERR_IO, "cannot create the folder '%s': %s", dir, strerror(errno));
  EB_TRY(EB_NEW(work->scenes, work->report.run_count));
  EB_TRY(EB_NEW(work->pictured, work->report.run_count));
  int scenes = 0;
  bool summary;
  char path[4096];
  EB_TRY(draw_scenes(work, dir, &scenes));
  EB_TRY(eb_plots_summary(&work->report, dir, &summary));
  EB_TRY(eb_report_html(&work->report, work->scenes, scenes, summary, work->pictured, &work->page));
  snprintf(path, sizeof path, "%s/index.html", dir);
  return eb_file_write(path, work->page.data, work->page.length);
}

eb_error eb_report_write(const char *const *result_files, int count, const eb_strings *unreadable,
                         const char *out_dir) {
  workspace work = {.scenes = NULL};
  eb_error error = write_report(&work, result_files, count, unreadable, out_dir);
  eb_report_clear(&work.report);
  free(work.scenes);
  free(work.pictured);
  eb_text_clear(&work.page);
  return error;
}
