/* Frames of runs as still pictures (.png), or as one that moves (.gif), for talks. */
#ifndef EB_REPORT_ANIMATION_H
#define EB_REPORT_ANIMATION_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/ranges.h"
#include "harness/report/model.h"

enum { EB_ANIMATION_SECONDS = 3 };

typedef struct eb_animation {
  bool moving;           /* one GIF a run; else a PNG a frame */
  int32_t width, height; /* pixels */
  double direction[3];   /* from the viewer into the picture; 0: as reports see the scene */
  /* Of a GIF: seconds of the scene in one of the viewer's; 0: 1, or so few that all take
   * EB_ANIMATION_SECONDS at least. */
  double speed;
  eb_ranges steps; /* frames that these have led to; none: all */
  /* A folder, made when missing; or the file, by its ending; NULL: beside the result file. */
  const char *to;
} eb_animation;

/* Directions that have names: "front", "back", "left", "right", "top", "aslant"; others are
 * "X,Y,Z", from the viewer into the picture. EB_ERR_USAGE for what is neither. */
EB_MUST eb_error eb_animation_view(const char *text, double direction[3]);
/* "640x480". */
EB_MUST eb_error eb_animation_size(const char *text, int32_t *width, int32_t *height);

/* Draws the selected runs of a result file that have frames; without `ids` all but repetitions.
 * Runs of a scene are seen by one camera, which none of their frames leaves: they can be shown
 * beside each other. A run that blew up ends before. A GIF takes as long as its scene does by
 * `speed`, which is told in `remarks` when it was not asked for and is not 1; of frames that would
 * follow each other at more than 25 a second, some are left out. Files are <result>.<id>.gif, and
 * step_<step>.png in a folder <result>.<id>; their paths are printed to `out`. *written is the
 * number of runs. */
EB_MUST eb_error eb_animation_write(const eb_animation *asked, const char *result,
                                    const eb_strings *ids, FILE *out, FILE *remarks, int *written);

#endif
