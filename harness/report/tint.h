/* Colours of bodies in pictures: by region; where there are fibres that the scene activates, the redder the more active they are. */
#ifndef EB_REPORT_TINT_H
#define EB_REPORT_TINT_H

#include "harness/report/model.h"
#include "harness/report/render.h"

typedef struct eb_tint {
  int32_t regions; /* 0: nothing is ever active */
  uint8_t *fibred; /* regions: whether an element has a fibre */
  size_t frames;
  double *step; /* frames */
  const eb_report_run *run;
} eb_tint;

/* The caller clears *out. */
EB_MUST eb_error eb_tint_load(const eb_report_run *run, eb_tint *out);
void eb_tint_clear(eb_tint *tint);
eb_rgb eb_tint_color(const eb_tint *tint, size_t frame, int32_t region);

#endif
