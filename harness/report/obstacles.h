/* Obstacles of a scene, drawn so that what is in them or behind them is seen. */
#ifndef EB_REPORT_OBSTACLES_H
#define EB_REPORT_OBSTACLES_H

#include "harness/report/render.h"
#include "harness/report/view.h"

/* Draws those of a frame over the bodies, which are drawn already, each in a grey of its own. Nothing when the run has none. */
EB_MUST eb_error eb_draw_obstacles(eb_render *render, const eb_report_run *run, size_t frame,
                                   const eb_view *view);

#endif
