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

/* Pictures of one run, those of a scene's run N in PREFIX-rN-NAME.png. */
enum { EB_PICTURES = 3 };
typedef struct eb_report_picture {
  int count; /* drawn */
  struct {
    const char *name; /* "first", "strained", "last" */
    double time;      /* s */
  } drawn[EB_PICTURES];
} eb_report_picture;

/* Appends the page to `page`. `pictured` has one entry a run. */
EB_MUST eb_error eb_report_html(const eb_report *report, const eb_report_scene *scenes,
                                int scene_count, bool summary, const eb_report_picture *pictured,
                                eb_text *page);

#endif
