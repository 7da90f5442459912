/* Colour between the screen's encoding (sRGB) and light (linear). Internal to the renderer. */
#ifndef EB_REPORT_COLOR_H
#define EB_REPORT_COLOR_H

#include "harness/report/render.h"

/* Light of a screen colour, components in [0, 1]. */
void eb_color_to_light(eb_rgb color, float light[3]);
/* Screen value 0 to 255 of a linear component; clamps. */
uint8_t eb_color_encode(float light);

#endif
