#include "harness/report/palette.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- colours that occur ---------------------------------------------------------------------- */

enum { BITS = 6, CELLS = 1 << 3 * BITS };

/* Colours of one cell: how many, and the sum of each component. */
typedef struct cell {
  uint64_t count, sum[3];
} cell;

struct eb_color_counts {
  cell cells[CELLS];
};

eb_error eb_color_counts_create(eb_color_counts **out) {
  return EB_NEW(*out, 1);
}

void eb_color_counts_destroy(eb_color_counts *counts) {
  free(counts);
}

void eb_color_counts_add(eb_color_counts *counts, const uint8_t *rgb, size_t pixels) {
  for (size_t i = 0; i < pixels; i++, rgb += 3) {
    int at = rgb[0] >> (8 - BITS) << 2 * BITS | rgb[1] >> (8 - BITS) << BITS | rgb[2] >> (8 - BITS);
    cell *c = &counts->cells[at];
    c->count++;
    for (int k = 0; k < 3; k++) c->sum[k] += rgb[k];
  }
}

/* ---- boxes of colours ------------------------------------------------------------------------ */

/* Colours first .. last - 1 of a list, with the component in which they differ most from their
 * mean: by the sum of squares `spread`. */
typedef struct box {
  size_t first, last;
  double mean[3], spread;
  int axis;
} box;

static double component(const cell *c, int axis) {
  return (double)c->sum[axis] / (double)c->count;
}

static void measure(const cell *list, box *b) {
  double count = 0, sum[3] = {0}, squares[3] = {0};
  for (const cell *c = list + b->first; c < list + b->last; c++) {
    count += (double)c->count;
    for (int k = 0; k < 3; k++) {
      sum[k] += (double)c->sum[k];
      squares[k] += (double)c->count * component(c, k) * component(c, k);
    }
  }
  b->spread = 0;
  for (int k = 0; k < 3; k++) {
    double spread = squares[k] - sum[k] * sum[k] / count;
    b->mean[k] = sum[k] / count;
    if (spread <= b->spread) continue;
    b->spread = spread;
    b->axis = k;
  }
}

/* Cuts a box at its mean: the colours above it go to `other`. */
static void cut(cell *list, box *b, box *other) {
  size_t end = b->first;
  double mean = b->mean[b->axis];
  for (size_t i = b->first; i < b->last; i++) {
    if (component(&list[i], b->axis) > mean) continue;
    cell moved = list[i];
    list[i] = list[end];
    list[end++] = moved;
  }
  *other = (box){.first = end, .last = b->last};
  b->last = end;
  measure(list, b);
  measure(list, other);
}

/* A box whose colours are all alike but for rounding is not cut. */
static int widest(const box *boxes, int count) {
  int best = -1;
  for (int i = 0; i < count; i++)
    if (boxes[i].last - boxes[i].first > 1 && boxes[i].spread > 1e-6 &&
        (best < 0 || boxes[i].spread > boxes[best].spread))
      best = i;
  return best;
}

static void choose_colors(cell *list, size_t count, eb_palette *out) {
  box boxes[EB_PALETTE_MOST] = {{.last = count}};
  out->count = count > 0;
  if (count > 0) measure(list, &boxes[0]);
  for (int i; out->count > 0 && out->count < EB_PALETTE_MOST; out->count++) {
    if ((i = widest(boxes, out->count)) < 0) break;
    cut(list, &boxes[i], &boxes[out->count]);
    if (boxes[i].first == boxes[i].last) break;
  }
  for (int i = 0; i < out->count; i++)
    for (int k = 0; k < 3; k++) out->color[i][k] = (uint8_t)(boxes[i].mean[k] + 0.5);
}

/* ---- the palette ----------------------------------------------------------------------------- */

enum { FINE = 7, FINE_CELLS = 1 << 3 * FINE };

eb_error eb_palette_create(const eb_color_counts *counts, eb_palette *out) {
  EB_FREED cell *list = NULL;
  size_t count = 0;
  *out = (eb_palette){0};
  EB_TRY(EB_NEW(list, CELLS));
  EB_TRY(EB_NEW(out->nearest, FINE_CELLS));
  memset(out->nearest, 0xff, FINE_CELLS * sizeof *out->nearest);
  for (size_t i = 0; i < CELLS; i++)
    if (counts->cells[i].count > 0) list[count++] = counts->cells[i];
  choose_colors(list, count, out);
  return EB_OK;
}

void eb_palette_clear(eb_palette *palette) {
  free(palette->nearest);
}

static int find_nearest(const eb_palette *palette, const int rgb[3]) {
  int best = 0, least = INT32_MAX;
  for (int i = 0; i < palette->count; i++) {
    int distance = 0;
    for (int k = 0; k < 3; k++)
      distance += (rgb[k] - palette->color[i][k]) * (rgb[k] - palette->color[i][k]);
    if (distance >= least) continue;
    least = distance;
    best = i;
  }
  return best;
}

static uint8_t nearest(eb_palette *palette, const int rgb[3]) {
  int at = rgb[0] >> 1 << 2 * FINE | rgb[1] >> 1 << FINE | rgb[2] >> 1;
  if (palette->nearest[at] < 0) palette->nearest[at] = (int16_t)find_nearest(palette, rgb);
  return (uint8_t)palette->nearest[at];
}

/* Bayer's order of 4 x 4 thresholds, as levels about 0: as far apart as colours of a palette of
 * shaded surfaces usually are. */
static int threshold(int32_t x, int32_t y) {
  static const int order[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  enum { APART = 5 };
  return (2 * order[y & 3][x & 3] - 15) * APART / 32;
}

void eb_palette_map(eb_palette *palette, const uint8_t *rgb, int32_t width, int32_t height,
                    uint8_t *out) {
  for (int32_t y = 0; y < height; y++)
    for (int32_t x = 0; x < width; x++, rgb += 3) {
      int wanted[3];
      for (int k = 0; k < 3; k++) {
        int level = rgb[k] + threshold(x, y);
        wanted[k] = level < 0 ? 0 : level > 255 ? 255 : level;
      }
      *out++ = nearest(palette, wanted);
    }
}
