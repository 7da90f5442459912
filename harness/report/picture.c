#include "harness/report/picture.h"

#include <stdlib.h>
#include <string.h>

#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"

void eb_picture_clear(eb_picture *picture) {
  free(picture->X);
  free(picture->color);
  free(picture->triangles);
  for (int k = 0; k < EB_DRAWN_KINDS; k++) eb_drawn_clear(&picture->around[k]);
}

eb_error eb_picture_read(const eb_drawing *d, size_t frame, eb_picture *out) {
  const eb_report_run *run = d->run;
  EB_OWNED(eb_result_colliders_clear) eb_result_colliders colliders = {0};
  EB_FREED float *x = NULL;
  size_t nodes = (size_t)run->run->nodes;
  EB_TRY(EB_NEW(out->X, 3 * nodes));
  EB_TRY(eb_results_frame(run->file, run->index, frame, &x));
  for (size_t i = 0; i < 3 * nodes; i++) out->X[i] = x[i];
  for (int k = 0; k < EB_DRAWN_KINDS; k++)
    EB_TRY(eb_drawn_read(run, frame, &out->view, (eb_drawn_kind)k, &out->around[k]));
  EB_TRY(eb_results_colliders(run->file, run->index, frame, &colliders));
  out->ground = eb_view_ground(&out->view, &colliders);
  out->body[0] = (eb_render_mesh){.vertex_count = (int32_t)nodes,
                                  .triangle_count = d->surface.triangle_count,
                                  .X = out->X,
                                  .triangles = d->surface.triangles,
                                  .edges = d->surface.triangle_count < EB_PICTURE_MOST_LINED};
  out->body_count = 1;
  return EB_OK;
}

/* ---- colours --------------------------------------------------------------------------------- */

eb_error eb_picture_fibres(const eb_drawing *d, uint8_t **fibred) {
  const double *activation = d->run->column[EB_COL_ACTIVATION];
  *fibred = NULL;
  if (!activation || !(eb_largest(activation, d->run->steps, 0) > 0)) return EB_OK;
  EB_TRY(EB_NEW(*fibred, d->mesh->region_count));
  for (int32_t i = 0; d->mesh->fibre && i < 3 * d->mesh->element_count; i++)
    (*fibred)[d->mesh->region[i / 3]] |= d->mesh->fibre[i] != 0;
  return EB_OK;
}

/* The activation colour: the region's, and red in the place of so much of it as the fibres are
 * active at the end of the step that led to the frame; no step led to the first one. */
static void color_surface(const eb_drawing *d, const uint8_t *fibred, double step, eb_rgb *color) {
  static const eb_rgb red = {0.80f, 0.12f, 0.10f};
  bool led = step >= 1 && step <= (double)d->run->steps;
  float active = fibred && led ? (float)d->run->column[EB_COL_ACTIVATION][(size_t)step - 1] : 0;
  for (int32_t t = 0; t < d->surface.triangle_count; t++) {
    int32_t region = d->surface.region[t];
    eb_rgb *c = &color[t];
    *c = eb_color_of_region(region);
    if (!fibred || region < 0 || region >= d->mesh->region_count || !fibred[region]) continue;
    c->r += active * (red.r - c->r);
    c->g += active * (red.g - c->g);
    c->b += active * (red.b - c->b);
  }
}

eb_error eb_picture_read_colored(const eb_drawing *d, const uint8_t *fibred, size_t frame,
                                 eb_picture *out) {
  EB_TRY(eb_picture_read(d, frame, out));
  EB_TRY(EB_NEW(out->color, d->surface.triangle_count));
  color_surface(d, fibred, d->step[frame], out->color);
  out->body[0].triangle_color = out->color;
  return EB_OK;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void release_render(eb_render **render) {
  eb_render_destroy(*render);
}

static eb_error draw(const eb_picture *p, eb_picture_keep *keep, void *context) {
  enum { WIDTH = 640, HEIGHT = 480 };
  EB_OWNED(release_render) eb_render *render = NULL;
  double direction[3];
  memcpy(direction, p->direction, sizeof direction);
  if (eb_dot3(direction, direction) == 0) eb_view_direction(&p->camera, direction);
  EB_TRY(eb_render_create(p->width ? p->width : WIDTH, p->height ? p->height : HEIGHT, p->camera.lo,
                          p->camera.hi, direction, &render));
  for (int b = 0; b < p->body_count; b++) EB_TRY(eb_render_surface(render, &p->body[b]));
  for (int k = 0; k < EB_DRAWN_KINDS; k++)
    for (int32_t i = 0; i < p->around[k].piece_count; i++) {
      const eb_render_mesh piece = eb_drawn_piece(&p->around[k], i);
      EB_TRY(eb_render_surface(render, &piece));
    }
  EB_TRY(eb_render_ground(render, p->ground));
  return keep(render, p, context);
}

eb_error eb_picture_write(const eb_render *render, const eb_picture *picture, void *context) {
  (void)context;
  return eb_render_write_png(render, picture->path);
}

eb_error eb_picture_draw_all(const eb_picture *pictures, int count, eb_picture_keep *keep,
                             void *context) {
  EB_FREED eb_error *errors = NULL;
  eb_error first = EB_OK;
  EB_TRY(EB_NEW(errors, count));
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < count; i++) errors[i] = draw(&pictures[i], keep, context);
  for (int i = 0; i < count; i++) {
    if (first)
      eb_error_free(errors[i]);
    else
      first = errors[i];
  }
  return first;
}
