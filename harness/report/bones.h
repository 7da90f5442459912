/* Rigid bodies of a scene, drawn as bones: a rod from joint to tip with a knob at the joint. */
#ifndef EB_REPORT_BONES_H
#define EB_REPORT_BONES_H

#include "harness/report/render.h"
#include "harness/report/view.h"

/* Draws those of a frame; in a planar scene just behind the bodies. Nothing when the run has none. */
EB_MUST eb_error eb_draw_bones(eb_render *render, const eb_report_run *run, size_t frame,
                               const eb_view *view);

#endif
