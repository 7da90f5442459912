/* Animated GIF files, by giflib. */
#ifndef EB_REPORT_GIF_H
#define EB_REPORT_GIF_H

#include <stdio.h>

#include "harness/report/palette.h"

typedef struct eb_gif eb_gif;

/* Begins an animation that runs for ever, in the colours of the palette, which stays the
 * caller's. */
EB_MUST eb_error eb_gif_open(FILE *out, int32_t width, int32_t height, eb_palette *palette,
                             eb_gif **gif);
/* Adds a frame of RGB pixels that is shown for so many hundredths of a second. Only the rectangle
 * that has changed is stored, and in it what has. */
EB_MUST eb_error eb_gif_add(eb_gif *gif, const uint8_t *rgb, int hundredths);
/* Ends it, and passes on `error`, if there is one. */
EB_MUST eb_error eb_gif_close(eb_gif *gif, eb_error error);

#endif
