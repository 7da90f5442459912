#include "harness/report/surroundings.h"

#include "harness/report/tessellate.h"

/* What faces away is left out, so that one sees through the near side of a bowl. */
static eb_error draw_surface(eb_render *render, const eb_tessellation *surface) {
  const eb_render_mesh mesh = {.vertex_count = surface->vertex_count,
                               .triangle_count = surface->triangle_count,
                               .X = surface->X,
                               .triangles = surface->triangles,
                               .color = {0.80f, 0.80f, 0.79f},
                               .smooth = true,
                               .sheer = true,
                               .one_sided = true};
  return eb_render_surface(render, &mesh);
}

/* All but the floors, which are the ground. */
static eb_error draw_colliders(eb_render *render, const eb_result_colliders *colliders,
                               const eb_view *view) {
  for (int32_t c = 0; c < colliders->count; c++) {
    eb_tessellation surface;
    if (eb_is_floor(&colliders->list[c])) continue;
    EB_TRY(eb_tessellate(&colliders->list[c], view->lo, view->hi, &surface));
    eb_error error = draw_surface(render, &surface);
    eb_tessellation_clear(&surface);
    if (error) return error;
  }
  return EB_OK;
}

eb_error eb_draw_surroundings(eb_render *render, const eb_result_colliders *colliders,
                              const eb_view *view) {
  EB_TRY(draw_colliders(render, colliders, view));
  return eb_render_ground(render, eb_view_ground(view, colliders));
}
