/* What may touch in a scene, joined into one list of triangles. */
#include "problems/scene_contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/scene_impl.h"

/* Triangles behind the *at that there are. `vertex`: of the surface's own vertices, or NULL: they
 * follow `first`. `body`: of vertices, or NULL: all are of `one`. */
static void append(const eb_surface *surface, const int32_t *vertex, int32_t first,
                   const int32_t *body, int32_t one, eb_surfaces *out, int32_t *at) {
  for (int32_t t = 0; t < surface->triangle_count; t++, ++*at) {
    int32_t *corner = out->triangles + 3 * (size_t)*at;
    for (int k = 0; k < 3; k++) {
      int32_t own = surface->triangles[3 * (size_t)t + (size_t)k];
      corner[k] = vertex ? vertex[own] : first + own;
    }
    out->body[*at] = body ? body[corner[0]] : one;
  }
}

static void join(const eb_scene *scene, int32_t *component, eb_surfaces *out) {
  const eb_contact_setup *contacts = &scene->contacts;
  int32_t first = scene->mesh->node_count, at = 0;
  out->body_count = eb_mesh_components(scene->mesh, component);
  append(scene->surface, scene->surface->node, 0, component, 0, out, &at);
  for (int32_t o = 0; o < contacts->obstacle_count; o++) {
    const eb_obstacle *obstacle = &contacts->obstacles[o];
    append(obstacle->surface, NULL, first, NULL, out->body_count + o, out, &at);
    first += obstacle->surface->vertex_count;
    out->moves[o] = obstacle->motion != NULL;
  }
}

static eb_error fill(const eb_scene *scene, eb_surfaces *out) {
  const eb_contact_setup *contacts = &scene->contacts;
  int32_t *component;
  *out = (eb_surfaces){.nodes = scene->mesh->node_count,
                       .vertex_count = scene->mesh->node_count,
                       .triangle_count = scene->surface->triangle_count,
                       .obstacle_count = contacts->obstacle_count,
                       .friction = contacts->friction,
                       .bounds = contacts->bounds};
  for (int32_t o = 0; o < contacts->obstacle_count; o++) {
    out->vertex_count += contacts->obstacles[o].surface->vertex_count;
    out->triangle_count += contacts->obstacles[o].surface->triangle_count;
  }
  EB_TRY(EB_NEW(out->triangles, 3 * (size_t)out->triangle_count));
  EB_TRY(EB_NEW(out->body, out->triangle_count));
  EB_TRY(EB_NEW(out->moves, out->obstacle_count));
  EB_TRY(EB_NEW(component, out->nodes));
  join(scene, component, out);
  free(component);
  return EB_OK;
}

eb_error eb_surfaces_create(const eb_scene *scene, eb_surfaces **out) {
  *out = NULL;
  eb_surfaces *surfaces;
  EB_TRY(EB_NEW(surfaces, 1));
  eb_error error = fill(scene, surfaces);
  if (error)
    eb_surfaces_destroy(surfaces);
  else
    *out = surfaces;
  return error;
}

void eb_surfaces_destroy(eb_surfaces *surfaces) {
  if (!surfaces) return;
  free(surfaces->triangles);
  free(surfaces->body);
  free(surfaces->moves);
  free(surfaces);
}

void eb_scene_obstacles(const eb_scene *scene, double t, double *x) {
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    const eb_obstacle *obstacle = &scene->contacts.obstacles[o];
    eb_obstacle_place(obstacle, t, x);
    x += 3 * (size_t)obstacle->surface->vertex_count;
  }
}

void eb_contact_frame(const double n[3], double frame[9]) {
  /* Tangents that follow from the normal alone: across the axis that it is least along. */
  int least = 0;
  for (int d = 1; d < 3; d++)
    if (fabs(n[d]) < fabs(n[least])) least = d;
  double axis[3] = {0};
  axis[least] = 1;
  memcpy(frame, n, 3 * sizeof *frame);
  eb_cross3(n, axis, frame + 3);
  double length = sqrt(eb_dot3(frame + 3, frame + 3));
  for (int d = 3; d < 6; d++) frame[d] = length > 0 ? frame[d] / length : 0;
  eb_cross3(n, frame + 3, frame + 6);
}
