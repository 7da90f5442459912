/* Pictures of a scene's runs at the frames that harness/report/frames.h names, all of a scene from the same camera but for the end of a
 * run that blew up; planar scenes from above. Bodies have the colours of their regions (harness/report/tint.h), colliders and obstacles are grey, jointed
 * bodies are bones; the ground is the scene's floor or, without one, at the lowest point. */
#ifndef EB_REPORT_PICTURES_H
#define EB_REPORT_PICTURES_H

#include "harness/report/html.h"
#include "harness/report/view.h"

/* Writes DIR/PREFIX-rN-NAME.png for the runs of `scene` that have frames, and the pictures of harness/report/updates.h for those that
 * update elements; fills pictured[run] (all runs of the report; those of other scenes are left alone). Repetitions are not drawn
 * again. */
EB_MUST eb_error eb_pictures_scene(const eb_report *report, const eb_report_scene *scene,
                                   const char *dir, eb_report_picture *pictured);

/* The same of the pictured frames of one run, as STEM-NAME.png. */
EB_MUST eb_error eb_pictures_run(const eb_report_run *run, const eb_view *view, const char *stem,
                                 eb_report_picture *out);

#endif
