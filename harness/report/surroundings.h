/* What is in a picture beside the bodies: colliders, grey and one-sided, and the ground. */
#ifndef EB_REPORT_SURROUNDINGS_H
#define EB_REPORT_SURROUNDINGS_H

#include "harness/report/render.h"
#include "harness/report/view.h"

/* Draws them behind and under the bodies, which are drawn already. */
EB_MUST eb_error eb_draw_surroundings(eb_render *render, const eb_result_colliders *colliders,
                                      const eb_view *view);

#endif
