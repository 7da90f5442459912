/* What is convex holds nothing and is drawn solid, unless it is a floor: that is sheer, so that the shadow on the ground shows through. So is what
 * faces the viewer of the others, while what faces away is a thin veil: the near walls of a container, which face its inside, are a breath over
 * what it holds, its far walls and its floor have shading, and a wall with two faces lets through what is behind it. */
#include "harness/report/obstacles.h"

#include <math.h>

#include "harness/results/obstacles.h"
#include "problems/base/vector3.h"

static const float VEIL = 0.16f;

/* Greys that stay apart beside each other, from one obstacle to the next. */
static eb_rgb grey_of(int32_t obstacle) {
  static const float tones[] = {0.80f, 0.62f, 0.72f, 0.52f, 0.86f, 0.57f, 0.76f, 0.67f};
  float tone = tones[obstacle % (int32_t)(sizeof tones / sizeof *tones)];
  return (eb_rgb){tone, tone, tone * 0.985f};
}

/* One obstacle of a frame, in the arrays of all. */
typedef struct part {
  const double *X;
  int32_t first, vertex_count, triangle_count;
  const int32_t *triangles;
  double lo[3], hi[3];
} part;

static part part_of(const eb_result_obstacles *all, int32_t obstacle) {
  part p = {.X = all->X, .first = all->vertex_count};
  int32_t at = 0;
  for (int32_t i = all->vertex_count; i-- > 0;) {
    if (all->obstacle[i] != obstacle) continue;
    p.first = i;
    p.vertex_count++;
  }
  while (at < all->triangle_count && all->obstacle[all->triangles[3 * (size_t)at]] != obstacle)
    at++;
  p.triangles = all->triangles + 3 * (size_t)at;
  for (; at < all->triangle_count && all->obstacle[all->triangles[3 * (size_t)at]] == obstacle;
       at++)
    p.triangle_count++;
  eb_mesh_bounds(p.X + 3 * (size_t)p.first, p.vertex_count, p.lo, p.hi);
  return p;
}

/* Whether no vertex is above the plane of a triangle by more than a picture can show. */
static bool is_convex(const part *p) {
  double size = 0;
  for (int d = 0; d < 3; d++) size = fmax(size, p->hi[d] - p->lo[d]);
  for (int32_t t = 0; t < p->triangle_count; t++) {
    const double *a = p->X + 3 * (size_t)p->triangles[3 * (size_t)t];
    const double *b = p->X + 3 * (size_t)p->triangles[3 * (size_t)t + 1];
    const double *c = p->X + 3 * (size_t)p->triangles[3 * (size_t)t + 2];
    double u[3], v[3], normal[3];
    for (int d = 0; d < 3; d++) u[d] = b[d] - a[d], v[d] = c[d] - a[d];
    eb_cross3(u, v, normal);
    double least = eb_dot3(normal, a) + 1e-3 * size * sqrt(eb_dot3(normal, normal));
    for (int32_t i = 0; i < p->vertex_count; i++)
      if (eb_dot3(normal, p->X + 3 * ((size_t)p->first + (size_t)i)) > least) return false;
  }
  return true;
}

/* Whether it is under nearly all that is in view. */
static bool is_under_all(const part *p, const eb_view *view) {
  for (int d = 0; d < 2; d++) {
    double margin = 0.1 * (view->hi[d] - view->lo[d]);
    if (p->lo[d] > view->lo[d] + margin || p->hi[d] < view->hi[d] - margin) return false;
  }
  return p->hi[2] < 0.5 * (view->lo[2] + view->hi[2]);
}

static eb_error draw(eb_render *render, const eb_result_obstacles *all, const eb_view *view,
                     bool solid) {
  for (int32_t o = 0; o < all->count; o++) {
    part p = part_of(all, o);
    if ((is_convex(&p) && !is_under_all(&p, view)) != solid) continue;
    eb_render_mesh mesh = {.vertex_count = all->vertex_count,
                           .triangle_count = p.triangle_count,
                           .X = all->X,
                           .triangles = p.triangles,
                           .color = grey_of(o),
                           .sheer = !solid,
                           .one_sided = !solid};
    EB_TRY(eb_render_surface(render, &mesh));
    mesh.sheer = mesh.one_sided = false;
    if (!solid) EB_TRY(eb_render_veil(render, &mesh, VEIL));
  }
  return EB_OK;
}

/* What is sheer yields to what is drawn before it. */
static eb_error draw_all(eb_render *render, const eb_result_obstacles *all, const eb_view *view) {
  EB_TRY(draw(render, all, view, true));
  return draw(render, all, view, false);
}

eb_error eb_draw_obstacles(eb_render *render, const eb_report_run *run, size_t frame,
                           const eb_view *view) {
  eb_result_obstacles obstacles;
  EB_TRY(eb_results_obstacles(run->file, run->index, frame, &obstacles));
  eb_error error = draw_all(render, &obstacles, view);
  eb_result_obstacles_clear(&obstacles);
  return error;
}
