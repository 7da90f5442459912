#include "harness/report/render.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "harness/report/canvas.h"
#include "harness/report/color.h"
#include "harness/report/png_file.h"
#include "problems/base/memory.h"

void eb_normalize3(double a[3]) {
  double norm = sqrt(eb_dot3(a, a));
  for (int d = 0; d < 3 && norm > 0; d++) a[d] /= norm;
}

/* A light sheet of paper, a little darker below. */
static void clear_canvas(eb_render *render) {
  for (int32_t row = 0; row < render->high; row++) {
    float down = (float)row / (float)render->high;
    float light[3];
    eb_color_to_light((eb_rgb){0.975f - 0.055f * down, 0.98f - 0.045f * down, 0.99f - 0.04f * down},
                      light);
    for (int32_t column = 0; column < render->wide; column++) {
      uint16_t *sample =
          render->opaque.light + 3 * ((size_t)row * (size_t)render->wide + (size_t)column);
      for (int c = 0; c < 3; c++) sample[c] = eb_light_pack(light[c]);
    }
  }
}

static eb_error allocate(eb_render *render) {
  size_t samples = (size_t)render->wide * (size_t)render->high;
  EB_TRY(EB_NEW(render->opaque.nearness, samples));
  EB_TRY(EB_NEW(render->opaque.light, 3 * samples));
  return EB_OK;
}

eb_error eb_render_create(int32_t width, int32_t height, eb_render **out) {
  enum { MOST = 8192 };
  *out = NULL;
  if (width < 1 || height < 1 || width > MOST || height > MOST)
    return EB_ERROR(EB_ERR_USAGE, "a picture of %d x %d pixels: both sides must be 1 to %d", width,
                    height, MOST);
  eb_render *render;
  EB_TRY(EB_NEW(render, 1));
  render->width = width, render->height = height;
  render->wide = width * EB_SAMPLES, render->high = height * EB_SAMPLES;
  eb_error error = allocate(render);
  if (error) {
    eb_render_destroy(render);
    return error;
  }
  clear_canvas(render);
  *out = render;
  return EB_OK;
}

void eb_render_destroy(eb_render *render) {
  if (!render) return;
  free(render->opaque.nearness);
  free(render->opaque.light);
  free(render->veil.nearness);
  free(render->veil.light);
  free(render->casters);
  free(render);
}

static eb_error check_view(const double lo[3], const double hi[3], const double direction[3]) {
  double extent = 0;
  for (int d = 0; d < 3; d++) {
    if (!isfinite(lo[d]) || !isfinite(hi[d]) || !isfinite(direction[d]))
      return EB_ERROR(EB_ERR_USAGE, "the camera's box and direction must be finite numbers");
    if (lo[d] > hi[d])
      return EB_ERROR(EB_ERR_USAGE, "the camera's box is inside out: %g > %g along axis %d", lo[d],
                      hi[d], d);
    extent = fmax(extent, hi[d] - lo[d]);
  }
  if (extent <= 0) return EB_ERROR(EB_ERR_USAGE, "the camera's box is empty");
  if (eb_dot3(direction, direction) <= 0)
    return EB_ERROR(EB_ERR_USAGE, "the camera's direction is zero");
  return EB_OK;
}

/* Axes of the picture; upright except when looking straight down or up. */
static void orient(eb_render *render, const double direction[3]) {
  double upright[3] = {0, 0, 1};
  for (int d = 0; d < 3; d++) render->forward[d] = direction[d];
  eb_normalize3(render->forward);
  if (fabs(render->forward[2]) > 0.9999) upright[1] = 1, upright[2] = 0;
  eb_cross3(render->forward, upright, render->right);
  eb_normalize3(render->right);
  eb_cross3(render->right, render->forward, render->up);
}

/* Shift and distance along one axis of the picture at which the box just fits: its corners at (x, z)
 * across and along the view must have |x - shift| <= tangent (distance + z). */
static void fit_axis(const eb_render *render, const double centre[3], const double axis[3],
                     double tangent, double *shift, double *distance) {
  double right = -DBL_MAX, left = -DBL_MAX;
  for (int corner = 0; corner < 8; corner++) {
    double r[3];
    for (int d = 0; d < 3; d++)
      r[d] = (corner >> d & 1 ? render->hi[d] : render->lo[d]) - centre[d];
    double across = eb_dot3(r, axis) / tangent, along = eb_dot3(r, render->forward);
    right = fmax(right, across - along);
    left = fmax(left, -across - along);
  }
  *shift = 0.5 * tangent * (right - left);
  *distance = 0.5 * (right + left);
}

/* Steps back until the box fills the frame, but for a margin, along its tighter axis. */
static void step_back(eb_render *render) {
  const double tangent = 0.24, margin = 1.06;
  double least = render->width < render->height ? render->wide : render->high;
  double wide = tangent / margin * render->wide / least;
  double high = tangent / margin * render->high / least;
  double centre[3], aside, above, distance, other;
  for (int d = 0; d < 3; d++) centre[d] = 0.5 * (render->lo[d] + render->hi[d]);
  fit_axis(render, centre, render->right, wide, &aside, &distance);
  fit_axis(render, centre, render->up, high, &above, &other);
  distance = fmax(distance, other);
  for (int d = 0; d < 3; d++)
    render->eye[d] = centre[d] + aside * render->right[d] + above * render->up[d] -
                     distance * render->forward[d];
  render->focal = 0.5 * least / tangent;
}

/* Key light from above the viewer's left shoulder, fill light from the right. */
static void place_lights(eb_render *render) {
  for (int d = 0; d < 3; d++) {
    double level = d == 2 ? 1 : 0;
    render->key[d] = -0.45 * render->right[d] - 0.55 * render->forward[d] + 0.9 * level;
    render->fill[d] = 0.8 * render->right[d] - 0.6 * render->forward[d] + 0.1 * level;
  }
  eb_normalize3(render->key);
  eb_normalize3(render->fill);
}

eb_error eb_render_camera(eb_render *render, const double lo[3], const double hi[3],
                          const double direction[3]) {
  EB_TRY(check_view(lo, hi, direction));
  for (int d = 0; d < 3; d++) render->lo[d] = lo[d], render->hi[d] = hi[d];
  orient(render, direction);
  step_back(render);
  place_lights(render);
  render->has_camera = true;
  return EB_OK;
}

void eb_render_pixels(const eb_render *render, uint8_t *rgb) {
  for (int32_t row = 0; row < render->height; row++) {
    for (int32_t column = 0; column < render->width; column++) {
      uint32_t sum[3] = {0};
      for (int32_t i = 0; i < EB_SAMPLES; i++) {
        size_t at = (size_t)(row * EB_SAMPLES + i) * (size_t)render->wide;
        for (int32_t j = 0; j < EB_SAMPLES; j++) {
          uint16_t light[3];
          eb_veil_light(render, at + (size_t)(column * EB_SAMPLES + j), light);
          for (int c = 0; c < 3; c++) sum[c] += light[c];
        }
      }
      for (int c = 0; c < 3; c++)
        *rgb++ = eb_color_encode((float)sum[c] / (65535.0f * EB_SAMPLES * EB_SAMPLES));
    }
  }
}

eb_error eb_render_write_png(const eb_render *render, const char *path) {
  uint8_t *rgb;
  EB_TRY(EB_NEW(rgb, (size_t)render->width * (size_t)render->height * 3));
  eb_render_pixels(render, rgb);
  eb_error error = eb_png_write(path, render->width, render->height, rgb);
  free(rgb);
  return error;
}
