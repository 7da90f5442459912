/* Pictures of a scene's runs, all of a scene from the same camera but for the end of a run that
 * blew up; planar scenes from above. Bodies have the colours of their regions, redder the more
 * active their fibres are; the ground is the scene's floor or, without one, at the lowest point. */
#ifndef EB_REPORT_PICTURES_H
#define EB_REPORT_PICTURES_H

#include "harness/report/drawing.h"

/* ---- which frames ---------------------------------------------------------------------------- */

typedef struct eb_pictured_frame {
  const char *name;  /* "first", "strained", "strained-2", "active", "cut-1", .., "last" */
  const char *words; /* for its caption */
  size_t frame;
} eb_pictured_frame;

/* The first and the last frame and, between them, the one with the most elastic energy: a scene
 * that returns to its start shows there what happened; further peaks of that energy; the last frame
 * at which its fibres are most active; and after each of the first cuts the one with the most
 * kinetic energy until the next cut. A run that blew up has no such frames. *count is 0 for runs
 * that are not drawn: those without frames, and repetitions. */
EB_MUST eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                                    int *count);

/* Frames that show which elements were updated, in order: where equal shares of all updates have
 * been made, and then those with the most. The first step does not count: its factorization is
 * whole. *count is 0 for runs that are not drawn or update nothing after it. */
EB_MUST eb_error eb_updated_frames(const eb_report_run *run, size_t out[EB_UPDATE_PICTURES],
                                   int *count);

/* ---- drawing --------------------------------------------------------------------------------- */

/* Writes DIR/PREFIX-rN-NAME.png and DIR/PREFIX-rN-updates-1.png, .. for the runs of a scene that
 * have frames, and notes in `picture` of each what was drawn. Repetitions are not drawn again. */
EB_MUST eb_error eb_pictures_scene(eb_report *report, const eb_report_scene *scene,
                                   const char *dir);

/* Writes DIR/PREFIX.png, which stands for a scene, for each: the most strained frame, else the last
 * one, of its first run that has any; its `poster` says so in words, or stays empty. */
EB_MUST eb_error eb_pictures_posters(eb_report *report, const char *dir);

/* Of one run, the frames of eb_pictured_frames as STEM-NAME.png. `view` is that of the scene. */
EB_MUST eb_error eb_pictures_run(const eb_report_run *run, const eb_view *view, const char *stem,
                                 eb_report_picture *out);

/* Of one run, the frames of eb_updated_frames as STEM-updates-1.png, ..: elements that the solver
 * has brought up to date, orange, inside a translucent body; all from as near, each following the
 * body. */
EB_MUST eb_error eb_pictures_updates(const eb_report_run *run, const eb_view *view,
                                     const char *stem, eb_report_picture *out);

#endif
