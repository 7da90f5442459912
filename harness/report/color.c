#include "harness/report/color.h"

#include <math.h>

/* The transfer function of sRGB (IEC 61966-2-1). */
static float linear(float encoded) {
  if (!(encoded > 0)) return 0;
  if (encoded > 1) return 1;
  return encoded <= 0.04045f ? encoded / 12.92f : powf((encoded + 0.055f) / 1.055f, 2.4f);
}

void eb_color_to_light(eb_rgb color, float light[3]) {
  light[0] = linear(color.r), light[1] = linear(color.g), light[2] = linear(color.b);
}

uint8_t eb_color_encode(float light) {
  if (!(light > 0)) return 0;
  if (light >= 1) return 255;
  float encoded = light <= 0.0031308f ? 12.92f * light : 1.055f * powf(light, 1 / 2.4f) - 0.055f;
  return (uint8_t)(encoded * 255 + 0.5f);
}

eb_rgb eb_color_of_region(int32_t region) {
  static const eb_rgb palette[] = {
      {0.55f, 0.66f, 0.80f}, {0.90f, 0.56f, 0.29f}, {0.47f, 0.69f, 0.44f}, {0.84f, 0.42f, 0.42f},
      {0.66f, 0.55f, 0.77f}, {0.62f, 0.48f, 0.38f}, {0.91f, 0.63f, 0.75f}, {0.58f, 0.58f, 0.58f},
      {0.80f, 0.77f, 0.35f}, {0.38f, 0.72f, 0.74f}};
  enum { COUNT = sizeof palette / sizeof palette[0] };
  return palette[((region % COUNT) + COUNT) % COUNT];
}

eb_rgb eb_color_of_scalar(double t) {
  /* Viridis of matplotlib (S. van der Walt and N. Smith, CC0) at nine even steps. */
  static const eb_rgb table[] = {
      {0.267004f, 0.004874f, 0.329415f}, {0.278826f, 0.175490f, 0.483397f},
      {0.229739f, 0.322361f, 0.545706f}, {0.172719f, 0.448791f, 0.557885f},
      {0.127568f, 0.566949f, 0.550556f}, {0.157851f, 0.683765f, 0.501686f},
      {0.369214f, 0.788888f, 0.382914f}, {0.678489f, 0.863742f, 0.189503f},
      {0.993248f, 0.906157f, 0.143936f}};
  enum { LAST = sizeof table / sizeof table[0] - 1 };
  if (isnan(t)) return (eb_rgb){0.5f, 0.5f, 0.5f};
  double at = fmin(fmax(t, 0), 1) * LAST;
  int i = at < LAST ? (int)at : LAST - 1;
  float w = (float)(at - i);
  const eb_rgb a = table[i], b = table[i + 1];
  return (eb_rgb){a.r + w * (b.r - a.r), a.g + w * (b.g - a.g), a.b + w * (b.b - a.b)};
}
