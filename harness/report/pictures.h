/* Pictures of a scene's first, most strained, most active and last frame, for each run, all of a scene from the same camera but for the end of a
 * run that blew up; planar scenes from above. Bodies have the colours of their regions (harness/report/tint.h), colliders are grey, rigid
 * bodies are bones; the ground is the scene's floor or, without one, at the lowest point. */
#ifndef EB_REPORT_PICTURES_H
#define EB_REPORT_PICTURES_H

#include "harness/report/html.h"

/* Writes DIR/PREFIX-rN-first.png, -strained.png, -active.png (unless they are one of the others) and -last.png for the runs of `scene` that
 * have frames, and the pictures of harness/report/updates.h for those that update elements; fills pictured[run] (all runs of the report; those of other scenes are left alone). Repetitions are not drawn
 * again. */
EB_MUST eb_error eb_pictures_scene(const eb_report *report, const eb_report_scene *scene,
                                   const char *dir, eb_report_picture *pictured);

#endif
