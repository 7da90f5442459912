/* Pictures of the elements that a solver has brought up to date: orange, inside a body that one sees through. */
#ifndef EB_REPORT_UPDATES_H
#define EB_REPORT_UPDATES_H

#include "harness/report/html.h"
#include "harness/report/view.h"

/* Writes STEM-updates-1.png, ... for the frames of eb_updated_frames and fills out->update: all from as near, each following the body. `view`
 * is that of the scene. */
EB_MUST eb_error eb_pictures_updates(const eb_report_run *run, const eb_view *view,
                                     const char *stem, eb_report_picture *out);

#endif
