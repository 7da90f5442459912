/* Pictures of a scene's runs, all of a scene from the same camera but for the end of a run that
 * blew up; planar scenes from above. Bodies have the colours of their regions, redder the more
 * active their fibres are; rigid links are rods with a knob at the joint; colliders and obstacles
 * are translucent greys; the ground is the scene's floor or, without one, at the lowest point. */
#ifndef EB_REPORT_PICTURES_H
#define EB_REPORT_PICTURES_H

#include "harness/report/render.h"
#include "harness/report/view.h"

/* Writes DIR/PREFIX-rN-NAME.png and DIR/PREFIX-rN-updates-1.png, .. for the runs of `scene` that
 * have frames; fills pictured[run] (all runs of the report; those of other scenes are left alone).
 * Repetitions are not drawn again. */
EB_MUST eb_error eb_pictures_scene(const eb_report *report, const eb_report_scene *scene,
                                   const char *dir, eb_report_picture *pictured);

/* Of one run, the frames of eb_pictured_frames as STEM-NAME.png. `view` is that of the scene. */
EB_MUST eb_error eb_pictures_run(const eb_report_run *run, const eb_view *view, const char *stem,
                                 eb_report_picture *out);

/* Of one run, the frames of eb_updated_frames as STEM-updates-1.png, ..: elements that the solver
 * has brought up to date, orange, inside a translucent body; all from as near, each following the
 * body. */
EB_MUST eb_error eb_pictures_updates(const eb_report_run *run, const eb_view *view,
                                     const char *stem, eb_report_picture *out);

/* Draws the obstacles of a frame, each in a grey of its own. Nothing when the run has none. */
EB_MUST eb_error eb_draw_obstacles(eb_render *render, const eb_report_run *run, size_t frame);

/* Colour of a region: distinct for the first ten, repeating after. */
eb_rgb eb_color_of_region(int32_t region);

#endif
