/* The renderer's buffers and camera. Internal to the renderer. */
#ifndef EB_REPORT_CANVAS_H
#define EB_REPORT_CANVAS_H

#include "harness/report/render.h"

enum { EB_SAMPLES = 3 }; /* a side of a pixel */

typedef float eb_caster[3][3]; /* a drawn triangle's corners, m: what throws shadow */

typedef struct eb_layer {
  float *nearness; /* samples: 1 / depth along the view, 0 where nothing is */
  uint16_t *light; /* samples x 3, linear */
} eb_layer;

struct eb_render {
  int32_t width, height; /* pixels */
  int32_t wide, high;    /* samples */
  eb_layer opaque, veil; /* veil: NULL until the first */
  float opacity;         /* of the veil */
  bool has_camera;
  double eye[3], right[3], up[3], forward[3]; /* m, unit vectors */
  double focal;                               /* samples per unit tangent */
  double lo[3], hi[3];                        /* the box in view */
  double key[3], fill[3];                     /* unit vectors towards the lights */
  eb_caster *casters;
  int32_t caster_count;
};

static inline uint16_t eb_light_pack(float light) {
  return (uint16_t)(light <= 0 ? 0 : light >= 1 ? 65535 : light * 65535 + 0.5f);
}

static inline double eb_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void eb_cross3(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Light of a sample as it is seen, through the veil. */
void eb_veil_light(const eb_render *render, size_t sample, uint16_t light[3]);

/* Makes `a` a unit vector; zero stays zero. */
void eb_normalize3(double a[3]);

#endif
