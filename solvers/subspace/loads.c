/* The script adds to an array of the mesh's size, of which only the entries of loaded nodes are
 * cleared before and read behind it. */
#include "solvers/subspace/loads.h"

#include "problems/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TIMES = 501, SHARE = 8 };

/* Marks the nodes that the script pushes; `script` is clear before and behind. */
static void mark_pushed(const eb_scene *scene, double *script, uint8_t *pushed) {
  size_t nodes = (size_t)scene->mesh->node_count;
  for (int sample = 0; sample < TIMES; sample++) {
    double t = (double)scene->ops->steps * scene->dt * sample / (TIMES - 1);
    scene->ops->force(scene, t, scene->x0, scene->v0, script);
    for (size_t i = 0; i < nodes; i++)
      pushed[i] |= script[3 * i] != 0 || script[3 * i + 1] != 0 || script[3 * i + 2] != 0;
    memset(script, 0, 3 * nodes * sizeof *script);
  }
}

static eb_error keep_rows(const eb_basis *basis, const uint8_t *pushed, eb_loads *out) {
  size_t size = (size_t)basis->size, axes = (size_t)basis->axes, to = 0;
  EB_TRY(EB_NEW(out->node, out->count));
  EB_TRY(EB_NEW(out->row, (size_t)out->count * axes * size));
  for (int32_t i = 0; i < basis->nodes; i++) {
    if (!pushed[i]) continue;
    for (size_t d = 0; d < axes; d++)
      memcpy(out->row + (to * axes + d) * size,
             basis->phi + ((size_t)i * axes + d) * (size_t)basis->stride, size * sizeof(double));
    out->node[to++] = i;
  }
  return EB_OK;
}

eb_error eb_loads_create(const eb_scene *scene, const eb_basis *basis, eb_loads *out) {
  uint8_t *pushed = NULL;
  *out = (eb_loads){0};
  EB_TRY(EB_NEW(out->script, 3 * (size_t)basis->nodes));
  EB_TRY(EB_NEW(pushed, basis->nodes));
  mark_pushed(scene, out->script, pushed);
  for (int32_t i = 0; i < basis->nodes; i++) out->count += pushed[i];
  out->everywhere = out->count > basis->nodes / SHARE;
  eb_error error = out->everywhere ? EB_OK : keep_rows(basis, pushed, out);
  free(pushed);
  return error;
}

void eb_loads_clear(eb_loads *loads) {
  free(loads->node);
  free(loads->row);
  free(loads->script);
  *loads = (eb_loads){0};
}

void eb_loads_add(eb_loads *loads, const eb_scene *scene, const eb_basis *basis, double t,
                  const double *x, const double *v, double scale, double *f) {
  size_t size = (size_t)basis->size, axes = (size_t)basis->axes;
  for (int32_t k = 0; k < loads->count; k++)
    memset(loads->script + 3 * (size_t)loads->node[k], 0, 3 * sizeof(double));
  scene->ops->force(scene, t, x, v, loads->script);
  for (int32_t k = 0; k < loads->count; k++)
    for (size_t d = 0; d < 3; d++) {
      double push = scale * loads->script[3 * (size_t)loads->node[k] + d];
      const double *row = loads->row + ((size_t)k * axes + (axes == 1 ? 0 : d)) * size;
      double *to = f + (axes == 1 ? d * size : 0);
      for (size_t i = 0; i < size; i++) to[i] += push * row[i];
    }
}
