/* What the report shows, gathered from result files: plain arrays, so that tables and plots do not
 * touch HDF5. */
#ifndef EB_REPORT_MODEL_H
#define EB_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/results/breaches.h"
#include "problems/base/strings.h"
#include "problems/step.h"

/* What was drawn of one run, run N of a scene in PREFIX-rN-NAME.png or .svg. */
enum {
  EB_PICTURED_PEAKS = 4,
  EB_PICTURED_CUTS = 3,
  EB_PICTURES = 3 + EB_PICTURED_PEAKS + EB_PICTURED_CUTS,
  EB_UPDATE_PICTURES = 6
};
typedef struct eb_report_picture {
  int count; /* drawn */
  struct {
    const char *name, *words; /* of harness/report/pictures.h */
    double time;              /* s */
  } drawn[EB_PICTURES];
  int updates; /* drawn, as updates-1, updates-2, .. */
  struct {
    double time;     /* s */
    int64_t updated; /* elements */
  } update[EB_UPDATE_PICTURES];
  bool stages;        /* drawn, as stages */
  bool tree;          /* drawn, as tree: not when a run before has the same one */
  int32_t supernodes; /* of its elimination tree; 0: none reported */
} eb_report_picture;

/* The script that plays it; name "": the run has no frames, or was not played. */
typedef struct eb_playback {
  char name[160];
  size_t frames; /* in the script */
} eb_playback;

typedef struct eb_report_run {
  const eb_results *file; /* where it is stored, */
  int index;              /* and as which run */
  const eb_run *run;      /* its attributes, owned by the file */
  char *scene;            /* scene and, when runs of the scene differ in them, parameters */
  /* Solver and the options in which runs of this scene differ; and its file, where that alone tells
   * it from others. */
  char *label;
  int machine; /* from 1 on, where the files are of several; 0: they are of one */
  size_t steps;
  double *column[EB_COL_COUNT];   /* steps each */
  double *phase[EB_PHASE_COUNT];  /* steps each, s */
  double *linear_iterations;      /* steps: iterations of linear solvers, 0 with direct ones */
  double *updated_elements;       /* steps: element matrices brought up to date */
  double *reduced_unknowns;       /* steps: of the system that is left after condensation, or 0 */
  double memory[EB_MEMORY_KINDS]; /* byte, NAN where the solver reports none */
  eb_residuals residuals;
  eb_breaches breaches; /* of rules of the audit */
  eb_report_picture picture;
  eb_playback playback;
} eb_report_run;

/* A scene, and what was drawn of it. */
enum { EB_PLOT_KINDS = 12 /* of harness/report/plots.h */ };
typedef struct eb_report_scene {
  int first, last;  /* runs [first, last) */
  char prefix[128]; /* of its files */
  bool plot[EB_PLOT_KINDS];
  char poster[200]; /* what PREFIX.png shows; "": there is none */
} eb_report_scene;

typedef struct eb_report {
  int file_count, run_count;
  eb_results **files;
  int *machine; /* of each file, from 1 on in order of appearance */
  int machine_count;
  eb_report_run *runs; /* grouped by scene in order of appearance */
  eb_report_scene *scenes;
  int scene_count;
  const eb_strings *remarks; /* on damaged files, and others that are left out; NULL: none */
} eb_report;

/* Clear the report also after a failure. */
EB_MUST eb_error eb_report_load(const char *const *files, int count, eb_report *out);
void eb_report_clear(eb_report *report);

bool eb_report_completed(const eb_report_run *run);
/* Whether the audit contradicts its solver: what it cost is then compared with nothing. */
bool eb_report_audit_failed(const eb_report_run *run);
/* Whether the steps that it made are good: it ran to its end, out of time, or was cut off. */
bool eb_report_sound(const eb_report_run *run);

/* Whether its file tells which equation the steps solve, and so has what goes by that: older ones
 * read as zeros there. */
bool eb_report_declares(const eb_report_run *run);

/* Of a run's column: the median without the first step, and the largest of all steps. */
double eb_report_typical(const eb_report_run *run, eb_column column);
double eb_report_worst(const eb_report_run *run, eb_column column);

#endif
