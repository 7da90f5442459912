/* index.html of a report. */
#ifndef EB_REPORT_HTML_H
#define EB_REPORT_HTML_H

#include "harness/report/model.h"
#include "harness/report/plots.h"
#include "problems/base/text.h"

/* What was drawn for one scene. */
typedef struct eb_report_scene {
  int first, last;  /* runs */
  char prefix[128]; /* of its files */
  bool plot[EB_PLOT_KINDS];
} eb_report_scene;

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
    const char *name, *words; /* of harness/report/frames.h */
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

/* Appends the page to `page`. `pictured` has one entry a run. */
EB_MUST eb_error eb_report_html(const eb_report *report, const eb_report_scene *scenes,
                                int scene_count, bool summary, const eb_report_picture *pictured,
                                eb_text *page);

#endif
