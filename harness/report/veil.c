/* Veils: surfaces that one sees through.
 *
 * They are drawn into samples of their own, with a z-buffer of their own, and laid over the picture when it is done: where a veil
 * is in front of what is opaque, light = (1 - opacity) light + opacity veil. Only the nearest veil counts, so that the order
 * of drawing does not matter and a body with many layers behind each other does not turn opaque. */
#include <stdlib.h>
#include <string.h>

#include "harness/report/canvas.h"
#include "problems/base/memory.h"

static eb_error open_layer(eb_render *render) {
  size_t samples = (size_t)render->wide * (size_t)render->high;
  if (!render->veil.nearness) EB_TRY(EB_NEW(render->veil.nearness, samples));
  return render->veil.light ? EB_OK : EB_NEW(render->veil.light, 3 * samples);
}

static void swap_layers(eb_render *render) {
  eb_layer opaque = render->opaque;
  render->opaque = render->veil;
  render->veil = opaque;
}

eb_error eb_render_veil(eb_render *render, const eb_render_mesh *mesh, float opacity) {
  EB_TRY(open_layer(render));
  swap_layers(render);
  eb_error error = eb_render_surface(render, mesh);
  swap_layers(render);
  render->opacity = opacity;
  return error;
}

void eb_veil_light(const eb_render *render, size_t sample, uint16_t light[3]) {
  /* A veil on an opaque surface, but for rounding, is not in front of it. */
  static const float touching = 1 + 1e-5f;
  const uint16_t *opaque = render->opaque.light + 3 * sample;
  memcpy(light, opaque, 3 * sizeof *light);
  const eb_layer *veil = &render->veil;
  if (!veil->nearness || !(veil->nearness[sample] > touching * render->opaque.nearness[sample]))
    return;
  for (int c = 0; c < 3; c++)
    light[c] = (uint16_t)((1 - render->opacity) * opaque[c] +
                          render->opacity * veil->light[3 * sample + (size_t)c] + 0.5f);
}
