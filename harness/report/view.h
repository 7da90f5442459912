/* What the pictures of a scene's runs show: the camera's box and the height of the ground. */
#ifndef EB_REPORT_VIEW_H
#define EB_REPORT_VIEW_H

#include "harness/report/model.h"
#include "harness/results/colliders.h"

typedef struct eb_view {
  double lo[3], hi[3]; /* m */
  bool planar;         /* all that is in view lies in a plane z = const, which is seen from above */
} eb_view;

/* From the viewer into the picture. */
void eb_view_direction(const eb_view *view, double direction[3]);

/* The box of the pictured frames (harness/report/frames.h) of a scene's runs, rigid links included,
 * with what of their colliders and obstacles is near. A run that blew up does not shrink the others
 * to a dot: its last frame does not move the camera. */
EB_MUST eb_error eb_view_fit(const eb_report *report, const eb_report_scene *scene, eb_view *out);

/* The same with this frame in it. */
EB_MUST eb_error eb_view_with_frame(const eb_view *view, const eb_report_run *run, size_t frame,
                                    eb_view *out);

/* Boxes of one size, each around the bodies of a frame in its middle, so that pictures of them
 * follow the bodies from as near. */
EB_MUST eb_error eb_view_follow(const eb_report_run *run, const size_t *frames, int count,
                                eb_view *out);

/* Whether a collider is a floor: a plane, level, that holds what is above it. */
bool eb_is_floor(const eb_collider *collider);

/* Where the ground is drawn, m: the highest floor or, when there is none, the lowest point in view;
 * behind what is planar. */
double eb_view_ground(const eb_view *view, const eb_result_colliders *colliders);

#endif
