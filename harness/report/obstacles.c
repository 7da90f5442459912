/* What faces the viewer is sheer, what faces away a thin veil: the near walls of a container, which face its inside, are a breath over what it
 * holds, its far walls and its floor are solid enough to carry shading, and a wall with two faces lets through what is behind it. */
#include "harness/report/obstacles.h"

#include <stdlib.h>

#include "harness/results/obstacles.h"
#include "problems/base/memory.h"

static const float VEIL = 0.16f;

/* Greys that stay apart beside each other, from one obstacle to the next. */
static eb_rgb grey_of(int32_t obstacle) {
  static const float tones[] = {0.80f, 0.62f, 0.72f, 0.52f, 0.86f, 0.57f, 0.76f, 0.67f};
  float tone = tones[obstacle % (int32_t)(sizeof tones / sizeof *tones)];
  return (eb_rgb){tone, tone, tone * 0.985f};
}

static eb_error draw(eb_render *render, const eb_result_obstacles *obstacles, eb_rgb *color) {
  eb_render_mesh mesh = {.vertex_count = obstacles->vertex_count,
                         .triangle_count = obstacles->triangle_count,
                         .X = obstacles->X,
                         .triangles = obstacles->triangles,
                         .vertex_color = color,
                         .sheer = true,
                         .one_sided = true};
  for (int32_t i = 0; i < obstacles->vertex_count; i++) color[i] = grey_of(obstacles->obstacle[i]);
  EB_TRY(eb_render_surface(render, &mesh));
  mesh.sheer = mesh.one_sided = false;
  return eb_render_veil(render, &mesh, VEIL);
}

eb_error eb_draw_obstacles(eb_render *render, const eb_report_run *run, size_t frame) {
  eb_result_obstacles obstacles;
  eb_rgb *color;
  EB_TRY(eb_results_obstacles(run->file, run->index, frame, &obstacles));
  eb_error error = EB_NEW(color, obstacles.vertex_count);
  if (!error && obstacles.count > 0) error = draw(render, &obstacles, color);
  free(color);
  eb_result_obstacles_clear(&obstacles);
  return error;
}
