/* The ground: a plane with a grid, and a shadow map seen along the key light. */
#include <math.h>
#include <stdlib.h>

#include "harness/report/canvas.h"
#include "harness/report/color.h"
#include "problems/base/memory.h"

enum { SHADOW_SIDE = 512 }; /* cells of the shadow map a side */

typedef struct ground {
  eb_render *render;
  double height;       /* m */
  double centre[2];    /* of the box in view, m */
  double reach;        /* m: where the plane has faded away */
  double square;       /* m: side of the grid's squares */
  double origin[2];    /* lowest corner of the shadow map, m */
  double cell;         /* m */
  float *shadow, *row; /* SHADOW_SIDE^2: 0 lit, 1 dark; SHADOW_SIDE */
} ground;

/* 1, 2 or 5 times a power of ten, at most `length`. */
static double round_length(double length) {
  double power = pow(10, floor(log10(length))), lead = length / power;
  return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

/* Where the shadow of a point falls, in cells of the map. */
static void shadow_of(const ground *self, const float x[3], double out[2]) {
  const double *key = self->render->key;
  double above = fmax(0, x[2] - self->height);
  for (int d = 0; d < 2; d++)
    out[d] = (x[d] - above * key[d] / key[2] - self->origin[d]) / self->cell;
}

static void darken(float *shadow, double p[3][2]) {
  double area =
      (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
  if (!(fabs(area) > 0)) return;
  int32_t first[2], last[2];
  for (int d = 0; d < 2; d++) {
    double lo = fmin(p[0][d], fmin(p[1][d], p[2][d])), hi = fmax(p[0][d], fmax(p[1][d], p[2][d]));
    first[d] = (int32_t)fmin(fmax(floor(lo - 0.5), 0), SHADOW_SIDE);
    last[d] = (int32_t)fmin(fmax(ceil(hi + 0.5), 0), SHADOW_SIDE);
  }
  for (int32_t j = first[1]; j < last[1]; j++) {
    for (int32_t i = first[0]; i < last[0]; i++) {
      bool inside = true;
      for (int k = 0; k < 3 && inside; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3];
        double turn = (b[0] - a[0]) * (j + 0.5 - a[1]) - (b[1] - a[1]) * (i + 0.5 - a[0]);
        inside = turn * area >= 0;
      }
      if (inside) shadow[j * SHADOW_SIDE + i] = 1;
    }
  }
}

/* Running mean over 2 * radius + 1 entries of a line with the given stride; beyond its ends is light. */
static void blur_line(float *line, size_t stride, int32_t radius, float *copy) {
  double sum = 0;
  for (int32_t i = 0; i < SHADOW_SIDE; i++) copy[i] = line[(size_t)i * stride];
  for (int32_t i = 0; i < radius; i++) sum += copy[i];
  for (int32_t i = 0; i < SHADOW_SIDE; i++) {
    if (i + radius < SHADOW_SIDE) sum += copy[i + radius];
    line[(size_t)i * stride] = (float)(sum / (2 * radius + 1));
    if (i - radius >= 0) sum -= copy[i - radius];
  }
}

/* Three running means in each direction are nearly a Gaussian. */
static void blur(ground *self) {
  const int32_t radius = SHADOW_SIDE / 110;
  for (int pass = 0; pass < 3; pass++) {
    for (int32_t i = 0; i < SHADOW_SIDE; i++) {
      blur_line(self->shadow + i * SHADOW_SIDE, 1, radius, self->row);
      blur_line(self->shadow + i, SHADOW_SIDE, radius, self->row);
    }
  }
}

static void cast_shadow(ground *self) {
  const eb_render *render = self->render;
  for (int32_t i = 0; i < render->caster_count; i++) {
    double p[3][2];
    bool below = true;
    for (int k = 0; k < 3; k++) {
      shadow_of(self, render->casters[i][k], p[k]);
      below = below && render->casters[i][k][2] < self->height;
    }
    if (!below) darken(self->shadow, p);
  }
  blur(self);
}

static double shadow_at(const ground *self, const double p[2]) {
  double at[2];
  int32_t i[2];
  for (int d = 0; d < 2; d++) {
    at[d] = (p[d] - self->origin[d]) / self->cell - 0.5;
    if (!(at[d] >= 0 && at[d] < SHADOW_SIDE - 1)) return 0;
    i[d] = (int32_t)at[d];
    at[d] -= i[d];
  }
  const float *s = self->shadow + i[1] * SHADOW_SIDE + i[0];
  return (1 - at[1]) * ((1 - at[0]) * s[0] + at[0] * s[1]) +
         at[1] * ((1 - at[0]) * s[SHADOW_SIDE] + at[0] * s[SHADOW_SIDE + 1]);
}

/* How much of a grid line a sample of size `footprint` (m) sees at coordinate x. */
static double line_cover(double x, double square, double footprint) {
  double gap = fabs(x - square * round(x / square)), half = 0.008 * square;
  double cover = (half + 0.5 * footprint - gap) / footprint;
  return fmin(fmax(cover, 0), fmin(1, 2 * half / footprint));
}

/* Blends the plane at p over one sample, thinning out towards `reach`; what is below it shows through. */
static void paint(const ground *self, const double p[2], double footprint, bool covering,
                  uint16_t *light) {
  double gone = hypot(p[0] - self->centre[0], p[1] - self->centre[1]) / self->reach;
  if (gone >= 1) return;
  double opacity = (covering ? 0.6 : 1) * (1 - gone * gone) * (1 - gone * gone);
  double line =
      fmax(line_cover(p[0], self->square, footprint), line_cover(p[1], self->square, footprint));
  double brightness = 0.80 * (1 - 0.38 * line) * (1 - 0.62 * shadow_at(self, p));
  for (int c = 0; c < 3; c++)
    light[c] = eb_light_pack(
        (float)((1 - opacity) * light[c] / 65535.0 + opacity * brightness * (0.98 + 0.01 * c)));
}

static void paint_plane(const ground *self) {
  const eb_render *render = self->render;
  for (int32_t row = 0; row < render->high; row++) {
    for (int32_t column = 0; column < render->wide; column++) {
      double ray[3], across = (column + 0.5 - 0.5 * render->wide) / render->focal,
                     above = (0.5 * render->high - row - 0.5) / render->focal;
      for (int d = 0; d < 3; d++)
        ray[d] = render->forward[d] + across * render->right[d] + above * render->up[d];
      double depth = (self->height - render->eye[2]) / ray[2];
      size_t at = (size_t)row * (size_t)render->wide + (size_t)column;
      if (!(depth > 0) || !((float)(1 / depth) > render->opaque.nearness[at])) continue;
      double p[2] = {render->eye[0] + depth * ray[0], render->eye[1] + depth * ray[1]};
      double footprint = depth / render->focal / sqrt(fmax(fabs(ray[2]), 1e-3));
      paint(self, p, footprint, render->opaque.nearness[at] > 0, render->opaque.light + 3 * at);
    }
  }
}

/* The map covers the box in view, its shadow, and half as much around. */
static void lay_out(ground *self) {
  const eb_render *render = self->render;
  double extent = 0, rise = fmax(0, render->hi[2] - self->height);
  for (int d = 0; d < 3; d++) extent = fmax(extent, render->hi[d] - render->lo[d]);
  double side = 2 * (extent + rise);
  for (int d = 0; d < 2; d++) {
    self->centre[d] = 0.5 * (render->lo[d] + render->hi[d]);
    double shadow_centre = self->centre[d] - 0.5 * rise * render->key[d] / render->key[2];
    self->origin[d] = shadow_centre - 0.5 * side;
  }
  self->cell = side / SHADOW_SIDE;
  self->reach = 2.2 * extent;
  self->square = round_length(extent / 6);
}

eb_error eb_render_ground(eb_render *render, double height) {
  if (!render->has_camera)
    return EB_ERROR(EB_ERR_USAGE, "set the camera (eb_render_camera) before drawing the ground");
  if (render->eye[2] <= height) return EB_OK;
  ground self = {.render = render, .height = height};
  eb_error error = EB_NEW(self.shadow, SHADOW_SIDE * SHADOW_SIDE);
  if (!error) error = EB_NEW(self.row, SHADOW_SIDE);
  if (!error) {
    lay_out(&self);
    cast_shadow(&self);
    paint_plane(&self);
  }
  free(self.row);
  free(self.shadow);
  return error;
}
