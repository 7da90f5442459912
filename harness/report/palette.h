/* Few colours that stand for many: what pictures of at most 256 colours, as GIF has them, are drawn
 * with. */
#ifndef EB_REPORT_PALETTE_H
#define EB_REPORT_PALETTE_H

#include <stddef.h>
#include <stdint.h>

#include "problems/base/error.h"

/* How often colours occur, in cells of 4 levels a component. */
typedef struct eb_color_counts eb_color_counts;
EB_MUST eb_error eb_color_counts_create(eb_color_counts **out);
void eb_color_counts_destroy(eb_color_counts *counts);
/* Counts RGB pixels. */
void eb_color_counts_add(eb_color_counts *counts, const uint8_t *rgb, size_t pixels);

enum { EB_PALETTE_MOST = 255 /* one of GIF's 256 stands for what does not change */ };

typedef struct eb_palette {
  int count;
  uint8_t color[EB_PALETTE_MOST][3];
  int16_t *nearest; /* of colours with 128 levels a component; -1: not asked for yet */
} eb_palette;
/* The box of all colours, cut again and again where the colours in it differ most from their mean,
 * at that mean. The caller clears *out. */
EB_MUST eb_error eb_palette_create(const eb_color_counts *counts, eb_palette *out);
void eb_palette_clear(eb_palette *palette);

/* Numbers of colours for a picture of width x height RGB pixels. Between two colours it is dithered
 * in a fixed order: what stands still from frame to frame keeps its numbers. */
void eb_palette_map(eb_palette *palette, const uint8_t *rgb, int32_t width, int32_t height,
                    uint8_t *out);

#endif
