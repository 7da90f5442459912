/* The collision mesh of a scene and its motion; see step_surface.h. Groups: all deformable bodies are the first, each free body is one, each obstacle is one. */
#include "solvers/contact/step_surface.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

#include <math.h>
#include <string.h>

/* ---- set-up ---- */

typedef struct draft {
  int32_t vertices, triangles, groups;
  int32_t *corner; /* 3 triangles */
  int32_t *group;  /* vertices */
  uint8_t *rigid, *obstacle;
} draft;

static void measure(const eb_scene *scene, draft *d) {
  d->vertices = scene->surface->vertex_count;
  d->triangles = scene->surface->triangle_count;
  d->groups = 1 + (scene->free_bodies ? scene->free_bodies->count : 0) + scene->obstacle_count;
  for (int o = 0; o < scene->obstacle_count; o++) {
    d->vertices += scene->obstacles[o].surface->vertex_count;
    d->triangles += scene->obstacles[o].surface->triangle_count;
  }
}

static void append(draft *d, const eb_surface *surface, int32_t *vertices, int32_t *triangles) {
  for (int32_t k = 0; k < 3 * surface->triangle_count; k++)
    d->corner[3 * *triangles + k] = surface->triangles[k] + *vertices;
  *vertices += surface->vertex_count;
  *triangles += surface->triangle_count;
}

static void fill(const eb_scene *scene, draft *d) {
  int32_t vertices = 0, triangles = 0, group = d->groups - scene->obstacle_count;
  append(d, scene->surface, &vertices, &triangles);
  for (int32_t i = 0; i < vertices; i++)
    d->group[i] = scene->free_bodies ? scene->free_bodies->of_node[scene->surface->node[i]] + 1 : 0;
  for (int32_t g = 1; g < d->groups; g++) d->rigid[g] = 1;
  for (int o = 0; o < scene->obstacle_count; o++, group++) {
    int32_t first = vertices;
    append(d, scene->obstacles[o].surface, &vertices, &triangles);
    for (int32_t i = first; i < vertices; i++) d->group[i] = group;
    d->obstacle[group] = 1;
  }
}

static eb_error make(const eb_scene *scene, draft *d, eb_collision_mesh **out) {
  measure(scene, d);
  EB_TRY(EB_NEW(d->corner, 3 * (size_t)d->triangles));
  EB_TRY(EB_NEW(d->group, d->vertices));
  EB_TRY(EB_NEW(d->rigid, d->groups));
  EB_TRY(EB_NEW(d->obstacle, d->groups));
  fill(scene, d);
  return eb_collision_mesh_create(d->vertices, d->triangles, d->corner, d->group, d->groups,
                                  d->rigid, d->obstacle, out);
}

static eb_error allocate(eb_contact_surface *surface) {
  draft d = {0};
  eb_error error = make(surface->scene, &d, &surface->mesh);
  free(d.corner);
  free(d.group);
  free(d.rigid);
  free(d.obstacle);
  EB_TRY(error);
  EB_TRY(EB_NEW(surface->x0, 3 * (size_t)surface->mesh->vertex_count));
  EB_TRY(EB_NEW(surface->x, 3 * (size_t)surface->mesh->vertex_count));
  EB_TRY(EB_NEW(surface->way, 3 * (size_t)surface->mesh->vertex_count));
  EB_TRY(EB_NEW(surface->reach, surface->mesh->vertex_count));
  EB_TRY(EB_NEW(surface->normal, 3 * (size_t)surface->mesh->vertex_count));
  EB_TRY(EB_NEW(surface->hit, surface->mesh->vertex_count));
  return eb_collisions_create(surface->mesh, &surface->collisions);
}

eb_error eb_contact_surface_create(const eb_scene *scene, eb_contact_surface *out) {
  *out = (eb_contact_surface){.scene = scene, .own = scene->surface->vertex_count};
  eb_error error = allocate(out);
  if (error) eb_contact_surface_clear(out);
  return error;
}

void eb_contact_surface_clear(eb_contact_surface *surface) {
  eb_collisions_destroy(surface->collisions);
  eb_collision_mesh_destroy(surface->mesh);
  free(surface->x0);
  free(surface->x);
  free(surface->way);
  free(surface->reach);
  free(surface->normal);
  free(surface->hit);
  *surface = (eb_contact_surface){0};
}

/* ---- motion ---- */

static void gather(const eb_contact_surface *surface, const double *nodes, double *x) {
  for (int32_t i = 0; i < surface->own; i++)
    memcpy(x + 3 * (int64_t)i, nodes + 3 * (int64_t)surface->scene->surface->node[i],
           3 * sizeof *x);
}

static void place_obstacles(const eb_contact_surface *surface, double t, double *x) {
  int64_t at = surface->own;
  for (int o = 0; o < surface->scene->obstacle_count; o++) {
    eb_obstacle_place(surface->scene->obstacles + o, t, x + 3 * at);
    at += surface->scene->obstacles[o].surface->vertex_count;
  }
}

static double length3(const double a[3]) {
  return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* What is known moves as it is known; the rest as before, by half of that more or less, unless something stops it. */
static void set_reach(eb_contact_surface *surface, const eb_contact_system *system, double slack) {
  static const double margin = 0.5;
  for (int32_t i = 0; i < surface->mesh->vertex_count; i++) {
    int32_t node = eb_contact_surface_node(surface, i);
    const double *from = surface->x0 + 3 * (int64_t)i, *to = surface->x + 3 * (int64_t)i;
    double *way = surface->way + 3 * (int64_t)i;
    for (int d = 0; d < 3; d++) way[d] = to[d] - from[d];
    bool known = node < 0 || system->implicit.fixed[node];
    surface->reach[i] = slack + (known ? 0 : margin * length3(way));
  }
}

static void add_area(const eb_contact_surface *surface, const int32_t *corner) {
  const double *a = surface->x0 + 3 * (int64_t)corner[0], *b = surface->x0 + 3 * (int64_t)corner[1],
               *c = surface->x0 + 3 * (int64_t)corner[2];
  double ab[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
         ac[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]}, area[3];
  eb_cross3(ab, ac, area);
  for (int k = 0; k < 3; k++) eb_add3(1, area, surface->normal + 3 * (int64_t)corner[k]);
}

static void find_normals(eb_contact_surface *surface) {
  const eb_collision_mesh *mesh = surface->mesh;
  memset(surface->normal, 0, 3 * (size_t)mesh->vertex_count * sizeof *surface->normal);
  for (int32_t t = 0; t < mesh->triangle_count; t++)
    add_area(surface, mesh->triangles + 3 * (int64_t)t);
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    double *n = surface->normal + 3 * (int64_t)i, length = length3(n);
    for (int d = 0; d < 3; d++) n[d] = length > 0 ? n[d] / length : 0;
  }
}

eb_error eb_contact_surface_begin(eb_contact_surface *surface, const eb_contact_system *system,
                                  double slack) {
  gather(surface, system->state->x, surface->x0);
  gather(surface, system->x, surface->x);
  place_obstacles(surface, system->state->time, surface->x0);
  place_obstacles(surface, system->state->time + system->dt, surface->x);
  set_reach(surface, system, slack);
  find_normals(surface);
  return eb_collisions_begin(surface->collisions, surface->x0, surface->way, surface->reach);
}

eb_error eb_contact_surface_move(eb_contact_surface *surface, const eb_contact_system *system) {
  int32_t repaired;
  gather(surface, system->x, surface->x);
  return eb_collisions_cover(surface->collisions, surface->x, &repaired);
}

bool eb_contact_surface_yields(const eb_contact_surface *surface, const eb_contact_system *system,
                               int32_t vertex) {
  int32_t node = eb_contact_surface_node(surface, vertex);
  if (node < 0) return false;
  return !system->known[node] || eb_contact_system_body(system, node) >= 0;
}

void eb_pair_points(const eb_pair *pair, const double *x, double points[4][3]) {
  for (int i = 0; i < 4; i++) memcpy(points[i], x + 3 * (int64_t)pair->vertex[i], 3 * sizeof *x);
}
