#include "harness/report/scene_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/drawing.h"
#include "harness/report/tessellate.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/mesh/faces.h"

enum { WIDTH = 800, HEIGHT = 600, MOST_LINED = 20000 /* triangles with their edges drawn */ };

static void release_render(eb_render **render) {
  eb_render_destroy(*render);
}

/* ---- what is in view ------------------------------------------------------------------------- */

static void widen(const double *x, int32_t count, eb_view *view) {
  for (int32_t i = 0; i < 3 * count; i++) {
    view->lo[i % 3] = fmin(view->lo[i % 3], x[i]);
    view->hi[i % 3] = fmax(view->hi[i % 3], x[i]);
  }
}

/* Obstacles as far as they are in the box of the bodies and as much again on every side: what is
 * farther is not worth a smaller picture. */
static eb_error widen_by_obstacle(const eb_obstacle *obstacle, const eb_view *bodies,
                                  eb_view *view) {
  EB_FREED double *x = NULL;
  double extent = 0;
  EB_TRY(EB_NEW(x, 3 * (size_t)obstacle->surface->vertex_count));
  eb_obstacle_place(obstacle, 0, x);
  for (int d = 0; d < 3; d++) extent = fmax(extent, bodies->hi[d] - bodies->lo[d]);
  for (int32_t i = 0; i < 3 * obstacle->surface->vertex_count; i++)
    x[i] = fmin(fmax(x[i], bodies->lo[i % 3] - extent), bodies->hi[i % 3] + extent);
  widen(x, obstacle->surface->vertex_count, view);
  return EB_OK;
}

static eb_error fit_view(const eb_scene *scene, eb_view *view) {
  eb_view bodies;
  eb_mesh_bounds(scene->x0, scene->mesh->node_count, bodies.lo, bodies.hi);
  bodies.planar = bodies.lo[2] == bodies.hi[2];
  *view = bodies;
  for (int o = 0; o < scene->contacts.obstacle_count; o++)
    EB_TRY(widen_by_obstacle(&scene->contacts.obstacles[o], &bodies, view));
  for (int c = 0; c < scene->contacts.collider_count; c++) {
    double height = scene->contacts.colliders[c].origin[2];
    double room = bodies.hi[2] - bodies.lo[2];
    if (eb_is_floor(&scene->contacts.colliders[c]) && height < bodies.lo[2] &&
        height > bodies.lo[2] - room)
      view->lo[2] = height;
  }
  return EB_OK;
}

static double ground(const eb_scene *scene, const eb_view *view) {
  eb_result_colliders all = {.count = scene->contacts.collider_count};
  memcpy(all.list, scene->contacts.colliders, sizeof all.list);
  return eb_view_ground(view, &all);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static eb_error draw_bodies(const eb_scene *scene, eb_render *render) {
  const eb_surface *surface = scene->surface;
  EB_FREED eb_rgb *color = NULL;
  EB_FREED int32_t *triangles = NULL, *element = NULL;
  size_t corners = 3 * (size_t)surface->triangle_count;
  EB_TRY(EB_NEW(color, surface->triangle_count));
  EB_TRY(EB_NEW(triangles, corners));
  for (size_t i = 0; i < corners; i++)
    triangles[i] = surface->node ? surface->node[surface->triangles[i]] : surface->triangles[i];
  EB_TRY(eb_mesh_elements_behind(scene->mesh, triangles, surface->triangle_count, &element));
  for (int32_t t = 0; t < surface->triangle_count; t++)
    color[t] = eb_color_of_region(element[t] >= 0 ? scene->mesh->region[element[t]] : 0);
  const eb_render_mesh body = {.vertex_count = scene->mesh->node_count,
                               .triangle_count = surface->triangle_count,
                               .X = scene->x0,
                               .triangles = triangles,
                               .triangle_color = color,
                               .edges = surface->triangle_count < MOST_LINED};
  return eb_render_surface(render, &body);
}

static eb_error draw_solid(const eb_collider *solid, const eb_view *view, eb_rgb color,
                           bool translucent, eb_render *render) {
  EB_OWNED(eb_tessellation_clear) eb_tessellation s = {0};
  EB_TRY(eb_tessellate(solid, view->lo, view->hi, &s));
  const eb_render_mesh mesh = {.vertex_count = s.vertex_count,
                               .triangle_count = s.triangle_count,
                               .X = s.X,
                               .triangles = s.triangles,
                               .color = color,
                               .smooth = true,
                               .translucent = translucent,
                               .front = 5 / 9.0f};
  return eb_render_surface(render, &mesh);
}

/* Of nodes on the surface: what is inside cannot be seen. */
static eb_error draw_scripted(const eb_scene *scene, const eb_view *view, eb_render *render) {
  static const eb_rgb red = {0.80f, 0.12f, 0.10f};
  enum { MOST = 3000 };
  EB_FREED uint8_t *fixed = NULL;
  EB_FREED double *target = NULL;
  double diagonal = 0;
  int drawn = 0;
  EB_TRY(EB_NEW(fixed, scene->mesh->node_count));
  EB_TRY(EB_NEW(target, 3 * (size_t)scene->mesh->node_count));
  eb_scene_boundary(scene, 0, fixed, target);
  for (int d = 0; d < 3; d++) diagonal += pow(view->hi[d] - view->lo[d], 2);
  for (int32_t v = 0; v < scene->surface->vertex_count && drawn < MOST; v++) {
    size_t i = (size_t)scene->surface->node[v];
    eb_collider ball = {.kind = EB_SPHERE, .axis = {0, 0, 1}, .radius = 0.004 * sqrt(diagonal)};
    if (!fixed[i]) continue;
    memcpy(ball.origin, scene->x0 + 3 * i, sizeof ball.origin);
    EB_TRY(draw_solid(&ball, view, red, false, render));
    drawn++;
  }
  return EB_OK;
}

static eb_error draw_obstacle(const eb_obstacle *obstacle, float tone, eb_render *render) {
  const eb_surface *surface = obstacle->surface;
  EB_FREED double *x = NULL;
  EB_TRY(EB_NEW(x, 3 * (size_t)surface->vertex_count));
  eb_obstacle_place(obstacle, 0, x);
  const eb_render_mesh mesh = {.vertex_count = surface->vertex_count,
                               .triangle_count = surface->triangle_count,
                               .X = x,
                               .triangles = surface->triangles,
                               .color = {tone, tone, tone * 0.985f},
                               .translucent = true,
                               .front = 5 / 9.0f,
                               .back = 0.16f};
  return eb_render_surface(render, &mesh);
}

static eb_error draw_around(const eb_scene *scene, const eb_view *view, eb_render *render) {
  static const eb_rgb grey = {0.80f, 0.80f, 0.79f};
  const eb_contact_setup *s = &scene->contacts;
  for (int o = 0; o < s->obstacle_count; o++)
    EB_TRY(draw_obstacle(&s->obstacles[o], 0.8f - 0.1f * (float)(o % 3), render));
  for (int c = 0; c < s->collider_count; c++)
    if (!eb_is_floor(&s->colliders[c]))
      EB_TRY(draw_solid(&s->colliders[c], view, grey, true, render));
  return EB_OK;
}

eb_error eb_scene_picture(const eb_scene *scene, const char *path) {
  EB_OWNED(release_render) eb_render *render = NULL;
  eb_view view;
  double direction[3];
  size_t length = strlen(path);
  if (length < 5 || strcmp(path + length - 4, ".png") != 0)
    return EB_ERROR(EB_ERR_USAGE, "a picture is a PNG file: name it so, as in scene.png, not '%s'",
                    path);
  EB_TRY(fit_view(scene, &view));
  eb_view_direction(&view, direction);
  EB_TRY(eb_render_create(WIDTH, HEIGHT, view.lo, view.hi, direction, &render));
  EB_TRY(draw_bodies(scene, render));
  EB_TRY(draw_scripted(scene, &view, render));
  EB_TRY(draw_around(scene, &view, render));
  EB_TRY(eb_render_ground(render, ground(scene, &view)));
  return eb_render_write_png(render, path);
}
