#include "harness/report/model.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/accuracy.h"
#include "harness/results/merge.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"

/* ---- statistics ------------------------------------------------------------------------------ */

double eb_report_typical(const eb_report_run *run, eb_column column) {
  return run->column[column] ? eb_median(run->column[column], run->steps, EB_WARM_UP) : NAN;
}

double eb_report_worst(const eb_report_run *run, eb_column column) {
  return run->column[column] ? eb_largest(run->column[column], run->steps, 0) : NAN;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Whether the text "a=1,b=2" holds the assignment [at, at + length). */
static bool holds(const char *assignments, const char *at, size_t length) {
  for (const char *c = assignments; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
    if (strncmp(c, at, length) == 0 && (c[length] == ',' || c[length] == '\0')) return true;
  return false;
}

/* What a label is made of: the scene and its parameters, or the solver and its options. */
typedef enum aspect { SCENE, SOLVER } aspect;

static const char *name_of(const eb_run *run, aspect what) {
  return what == SCENE ? run->scene : run->solver;
}

static const char *assignments_of(const eb_run *run, aspect what) {
  return what == SCENE ? run->parameters : run->options;
}

/* Whether every run of that name has this assignment too: then it tells nothing. */
static bool shared_by_all(const eb_report *report, aspect what, const char *name, const char *at,
                          size_t length) {
  for (int r = 0; r < report->run_count; r++) {
    const eb_run *run = report->runs[r].run;
    if (strcmp(name_of(run, what), name) == 0 && !holds(assignments_of(run, what), at, length))
      return false;
  }
  return true;
}

/* "name:a=1,b=2" with only the assignments in which the runs of that name differ. */
static eb_error make_label(const eb_report *report, const eb_run *run, aspect what,
                           eb_text *label) {
  const char *separator = ":";
  EB_TRY(eb_text_printf(label, "%s", name_of(run, what)));
  for (const char *c = assignments_of(run, what); c && *c;) {
    size_t length = strcspn(c, ",");
    if (!shared_by_all(report, what, name_of(run, what), c, length)) {
      EB_TRY(eb_text_printf(label, "%s%.*s", separator, (int)length, c));
      separator = ",";
    }
    c += length + (c[length] == ',');
  }
  return EB_OK;
}

static eb_error name_run(const eb_report *report, eb_report_run *run) {
  EB_OWNED(eb_text_clear) eb_text scene = {0};
  EB_OWNED(eb_text_clear) eb_text label = {0};
  EB_TRY(make_label(report, run->run, SCENE, &scene));
  if (run->run->from && *run->run->from)
    EB_TRY(eb_text_printf(&scene, " from %s of %s", run->run->from_steps, run->run->from));
  EB_TRY(make_label(report, run->run, SOLVER, &label));
  if (run->run->threads > 1)
    EB_TRY(eb_text_printf(&label, " (%lld threads)", (long long)run->run->threads));
  run->scene = scene.data;
  run->label = label.data;
  scene = label = (eb_text){0};
  return EB_OK;
}

/* Whether a run of another file has the same name in the same scene. */
static bool has_double(const eb_report *report, const eb_report_run *run) {
  for (int r = 0; r < report->run_count; r++) {
    const eb_report_run *other = &report->runs[r];
    if (other->file != run->file && strcmp(other->label, run->label) == 0 &&
        eb_run_same_scene(other->run, run->run))
      return true;
  }
  return false;
}

/* Names of files are put behind labels when all that have to be told apart are known. */
static eb_error name_files(eb_report *report) {
  EB_FREED bool *doubled = NULL;
  if (report->file_count < 2) return EB_OK;
  EB_TRY(EB_NEW(doubled, report->run_count));
  for (int r = 0; r < report->run_count; r++) doubled[r] = has_double(report, &report->runs[r]);
  for (int r = 0; r < report->run_count; r++) {
    eb_report_run *run = &report->runs[r];
    if (doubled[r])
      EB_TRY(eb_string_format(&run->label, "%s [%s]", run->label, eb_results_path(run->file)));
  }
  return EB_OK;
}

/* ---- machines -------------------------------------------------------------------------------- */

/* Files of one machine have one number. */
static eb_error number_machines(eb_report *report) {
  EB_TRY(EB_NEW(report->machine, report->file_count));
  for (int f = 0; f < report->file_count; f++) {
    for (int g = 0; g < f && report->machine[f] == 0; g++) {
      eb_error other = eb_results_same_machine(report->files[g], report->files[f]);
      if (!other) report->machine[f] = report->machine[g];
      eb_error_free(other);
    }
    if (report->machine[f] == 0) report->machine[f] = ++report->machine_count;
  }
  return EB_OK;
}

/* ---- loading --------------------------------------------------------------------------------- */

static eb_error load_tables(eb_report_run *run) {
  for (int c = 0; c < EB_COL_COUNT; c++)
    EB_TRY(eb_results_steps(run->file, run->index, c, &run->column[c], &run->steps));
  size_t count;
  for (int p = 0; run->steps > 0 && p < EB_PHASE_COUNT; p++)
    EB_TRY(eb_results_steps(run->file, run->index, EB_STEP_PHASES + p, &run->phase[p], &count));
  EB_TRY(eb_results_steps(run->file, run->index, EB_STEP_COUNTERS + EB_COUNT_LINEAR_ITERATIONS,
                          &run->linear_iterations, &count));
  EB_TRY(eb_results_steps(run->file, run->index, EB_STEP_COUNTERS + EB_COUNT_UPDATED_ELEMENTS,
                          &run->updated_elements, &count));
  EB_TRY(eb_results_steps(run->file, run->index, EB_STEP_COUNTERS + EB_COUNT_REDUCED_UNKNOWNS,
                          &run->reduced_unknowns, &count));
  EB_TRY(eb_results_memory(run->file, run->index, run->memory));
  EB_TRY(eb_breaches_read(run->file, run->index, &run->breaches));
  return eb_results_residuals(run->file, run->index, &run->residuals);
}

/* Files have the scene's name with everything but letters, digits and dashes replaced, and its
 * number, which keeps scenes that differ in parameters only apart. */
static eb_error list_scenes(eb_report *report) {
  EB_TRY(EB_NEW(report->scenes, report->run_count));
  for (int r = 0; r < report->run_count; r++) {
    bool same = r > 0 && eb_run_same_scene(report->runs[r - 1].run, report->runs[r].run);
    eb_report_scene *scene = &report->scenes[same ? report->scene_count - 1 : report->scene_count];
    if (!same) {
      report->scene_count++;
      scene->first = r;
      snprintf(scene->prefix, sizeof scene->prefix, "%d-%.80s", report->scene_count,
               report->runs[r].run->scene);
      for (char *c = scene->prefix; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-') *c = '-';
    }
    scene->last = r + 1;
  }
  return EB_OK;
}

eb_error eb_report_load(const char *const *files, int count, eb_report *out) {
  *out = (eb_report){0};
  EB_TRY(EB_NEW(out->files, count));
  int runs = 0;
  for (int f = 0; f < count; f++) {
    EB_TRY(eb_results_open(files[f], &out->files[f]));
    out->file_count++;
    runs += eb_results_count(out->files[f]);
  }
  if (runs == 0)
    return EB_ERROR(EB_ERR_INVALID, "'%s' holds no runs: nothing to report; see 'elastobench run'",
                    files[0]);
  EB_TRY(number_machines(out));
  EB_TRY(EB_NEW(out->runs, runs));
  for (int f = 0; f < count; f++)
    for (int index = 0; index < eb_results_count(out->files[f]); index++) {
      const eb_run *run = eb_results_run(out->files[f], index);
      int at = out->run_count++; /* a run goes behind the last one of its scene */
      for (int r = 0; r < out->run_count - 1; r++)
        if (eb_run_same_scene(out->runs[r].run, run)) at = r + 1;
      memmove(out->runs + at + 1, out->runs + at,
              (size_t)(out->run_count - 1 - at) * sizeof *out->runs);
      out->runs[at] = (eb_report_run){.file = out->files[f],
                                      .index = index,
                                      .run = run,
                                      .machine = out->machine_count > 1 ? out->machine[f] : 0};
    }
  for (int r = 0; r < out->run_count; r++) {
    EB_TRY(name_run(out, &out->runs[r]));
    EB_TRY(load_tables(&out->runs[r]));
  }
  EB_TRY(name_files(out));
  return list_scenes(out);
}

void eb_report_clear(eb_report *report) {
  for (int r = 0; report->runs && r < report->run_count; r++) {
    eb_report_run *run = &report->runs[r];
    for (int c = 0; c < EB_COL_COUNT; c++) free(run->column[c]);
    for (int p = 0; p < EB_PHASE_COUNT; p++) free(run->phase[p]);
    free(run->linear_iterations);
    free(run->updated_elements);
    free(run->reduced_unknowns);
    eb_residuals_clear(&run->residuals);
    eb_breaches_clear(&run->breaches);
    free(run->scene);
    free(run->label);
  }
  free(report->runs);
  for (int f = 0; report->files && f < report->file_count; f++) eb_results_close(report->files[f]);
  free(report->files);
  free(report->machine);
  free(report->scenes);
  *report = (eb_report){0};
}

static bool ended_as(const eb_report_run *run, eb_outcome outcome) {
  return strcmp(run->run->outcome, eb_outcome_name(outcome)) == 0;
}

bool eb_report_completed(const eb_report_run *run) {
  return ended_as(run, EB_OUTCOME_COMPLETED);
}

bool eb_report_audit_failed(const eb_report_run *run) {
  return strcmp(run->run->audit, "failed") == 0;
}

bool eb_report_sound(const eb_report_run *run) {
  return eb_report_completed(run) || ended_as(run, EB_OUTCOME_TIMED_OUT) ||
         ended_as(run, EB_OUTCOME_UNFINISHED);
}

bool eb_report_declares(const eb_report_run *run) {
  return run->steps > 0 && run->run->equation[0] != '\0';
}
