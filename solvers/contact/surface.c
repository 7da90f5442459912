/* The collision mesh of a scene and its motion; see surface.h.
 *
 * Vertices are grouped so that a rigid body is not tested against itself: all deformable bodies are
 * the first group, each free body is one, each obstacle is one.
 *
 * Workspace: fourteen numbers a vertex, and the candidates that eb_collisions keeps.
 * Fails with EB_ERR_LIMIT when there are too many of those. */
#include "solvers/contact/surface.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

#include <math.h>
#include <string.h>

/* ---- set-up ---- */

/* The arguments of eb_collision_mesh_create while they are collected. */
typedef struct mesh_arrays {
  int32_t vertices, triangles, groups;
  int32_t *corner; /* 3 triangles */
  int32_t *group;  /* vertices */
  uint8_t *rigid, *obstacle;
} mesh_arrays;

static void append(mesh_arrays *m, const eb_surface *surface, int32_t *vertices,
                   int32_t *triangles) {
  for (int32_t k = 0; k < 3 * surface->triangle_count; k++)
    m->corner[3 * *triangles + k] = surface->triangles[k] + *vertices;
  *vertices += surface->vertex_count;
  *triangles += surface->triangle_count;
}

static eb_error collect(const eb_scene *scene, mesh_arrays *m) {
  m->vertices = scene->surface->vertex_count;
  m->triangles = scene->surface->triangle_count;
  m->groups = 1 + (scene->rigid.free_bodies ? scene->rigid.free_bodies->count : 0) +
              scene->contacts.obstacle_count;
  for (int o = 0; o < scene->contacts.obstacle_count; o++) {
    m->vertices += scene->contacts.obstacles[o].surface->vertex_count;
    m->triangles += scene->contacts.obstacles[o].surface->triangle_count;
  }
  EB_TRY(EB_NEW(m->corner, 3 * (size_t)m->triangles));
  EB_TRY(EB_NEW(m->group, m->vertices));
  EB_TRY(EB_NEW(m->rigid, m->groups));
  EB_TRY(EB_NEW(m->obstacle, m->groups));
  int32_t vertices = 0, triangles = 0, group = m->groups - scene->contacts.obstacle_count;
  append(m, scene->surface, &vertices, &triangles);
  for (int32_t i = 0; i < vertices; i++)
    m->group[i] = scene->rigid.free_bodies
                      ? scene->rigid.free_bodies->of_node[scene->surface->node[i]] + 1
                      : 0;
  for (int32_t g = 1; g < m->groups; g++) m->rigid[g] = 1;
  for (int o = 0; o < scene->contacts.obstacle_count; o++, group++) {
    int32_t first = vertices;
    append(m, scene->contacts.obstacles[o].surface, &vertices, &triangles);
    for (int32_t i = first; i < vertices; i++) m->group[i] = group;
    m->obstacle[group] = 1;
  }
  return EB_OK;
}

static eb_error create_mesh(const eb_scene *scene, eb_collision_mesh **out) {
  mesh_arrays m = {0};
  eb_error error = collect(scene, &m);
  if (!error)
    error = eb_collision_mesh_create(m.vertices, m.triangles, m.corner, m.group, m.groups, m.rigid,
                                     m.obstacle, out);
  free(m.corner);
  free(m.group);
  free(m.rigid);
  free(m.obstacle);
  return error;
}

eb_error eb_contact_surface_create(const eb_scene *scene, eb_contact_surface *out) {
  *out = (eb_contact_surface){.scene = scene, .scene_vertices = scene->surface->vertex_count};
  eb_error error = create_mesh(scene, &out->mesh);
  size_t vertices = error ? 0 : (size_t)out->mesh->vertex_count;
  if (!error) error = EB_NEW(out->x0, 3 * vertices);
  if (!error) error = EB_NEW(out->x, 3 * vertices);
  if (!error) error = EB_NEW(out->displacement, 3 * vertices);
  if (!error) error = EB_NEW(out->margin, vertices);
  if (!error) error = EB_NEW(out->area, 3 * vertices);
  if (!error) error = eb_collisions_create(out->mesh, &out->collisions);
  if (error) eb_contact_surface_clear(out);
  return error;
}

void eb_contact_surface_clear(eb_contact_surface *surface) {
  eb_collisions_destroy(surface->collisions);
  eb_collision_mesh_destroy(surface->mesh);
  free(surface->x0);
  free(surface->x);
  free(surface->displacement);
  free(surface->margin);
  free(surface->area);
  *surface = (eb_contact_surface){0};
}

/* ---- motion ---- */

static void gather_vertices(const eb_contact_surface *surface, const double *nodes, double *x) {
  for (int32_t i = 0; i < surface->scene_vertices; i++)
    memcpy(x + 3 * (int64_t)i, nodes + 3 * (int64_t)surface->scene->surface->node[i],
           3 * sizeof *x);
}

/* Obstacles follow their script, not the unknowns: they are placed at both ends of the step and
 * move on straight lines in between, as nodes do, which is what collisions are looked for along. */
static void place_obstacles(const eb_contact_surface *surface, double t, double *x) {
  int64_t at = surface->scene_vertices;
  for (int o = 0; o < surface->scene->contacts.obstacle_count; o++) {
    eb_obstacle_place(surface->scene->contacts.obstacles + o, t, x + 3 * at);
    at += surface->scene->contacts.obstacles[o].surface->vertex_count;
  }
}

static double length3(const double a[3]) {
  return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

eb_error eb_contact_surface_begin(eb_contact_surface *surface, const eb_contact_system *system,
                                  double slack) {
  gather_vertices(surface, system->state->x, surface->x0);
  gather_vertices(surface, system->x, surface->x);
  place_obstacles(surface, system->state->time, surface->x0);
  place_obstacles(surface, system->state->time + system->dt, surface->x);
  /* Prescribed vertices move exactly as prescribed. The others are expected to move as far as in
   * the last step, by half of that more or less, unless something stops them. */
  static const double uncertainty = 0.5; /* of the displacement */
  for (int32_t i = 0; i < surface->mesh->vertex_count; i++) {
    int32_t node = eb_contact_surface_node(surface, i);
    const double *from = surface->x0 + 3 * (int64_t)i, *to = surface->x + 3 * (int64_t)i;
    double *displacement = surface->displacement + 3 * (int64_t)i;
    for (int d = 0; d < 3; d++) displacement[d] = to[d] - from[d];
    bool prescribed = node < 0 || system->implicit.fixed[node];
    surface->margin[i] = slack + (prescribed ? 0 : uncertainty * length3(displacement));
  }
  /* ab x ac is twice a triangle's area along its normal. */
  const eb_collision_mesh *mesh = surface->mesh;
  memset(surface->area, 0, 3 * (size_t)mesh->vertex_count * sizeof *surface->area);
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *corner = mesh->triangles + 3 * (int64_t)t;
    const double *a = surface->x0 + 3 * (int64_t)corner[0],
                 *b = surface->x0 + 3 * (int64_t)corner[1],
                 *c = surface->x0 + 3 * (int64_t)corner[2];
    double ab[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
           ac[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]}, area[3];
    eb_cross3(ab, ac, area);
    for (int k = 0; k < 3; k++) eb_add3(1, area, surface->area + 3 * (int64_t)corner[k]);
  }
  return eb_collisions_begin(surface->collisions, surface->x0, surface->displacement,
                             surface->margin);
}

/* The side that is out is asked of these where the direction between two features is not enough to
 * tell. Large triangles count for more, and slivers, whose normal rounding decides, for nothing. */
void eb_contact_surface_normal(const eb_contact_surface *surface, int32_t vertex, double n[3]) {
  EB_ASSERT(vertex >= 0 && vertex < surface->mesh->vertex_count);
  const double *area = surface->area + 3 * (int64_t)vertex;
  double length = length3(area);
  for (int d = 0; d < 3; d++) n[d] = length > 0 ? area[d] / length : 0;
}

/* Candidates were listed for a guess of the motion. Where the solution leaves a swept box, the
 * box is enlarged and pairs that it then meets are added: the list is complete for the motion at
 * hand, however wrong the guess was. */
eb_error eb_contact_surface_move(eb_contact_surface *surface, const eb_contact_system *system) {
  int32_t repaired;
  gather_vertices(surface, system->x, surface->x);
  return eb_collisions_cover(surface->collisions, surface->x, &repaired);
}

/* ---- pairs ---- */

eb_pair eb_contact_surface_pair(const eb_contact_surface *surface, const eb_pair *pair) {
  eb_pair out = {.kind = pair->kind};
  for (int i = 0; i < 4; i++) {
    int32_t vertex = pair->vertex[i], node = eb_contact_surface_node(surface, vertex);
    int32_t behind = vertex - surface->scene_vertices;
    out.vertex[i] = node >= 0 ? node : surface->scene->mesh->node_count + behind;
  }
  return out;
}

bool eb_contact_surface_is_dynamic(const eb_contact_surface *surface,
                                   const eb_contact_system *system, int32_t vertex) {
  EB_ASSERT(vertex >= 0 && vertex < surface->mesh->vertex_count);
  int32_t node = eb_contact_surface_node(surface, vertex);
  if (node < 0) return false;
  return !system->known[node] || eb_contact_system_body(system, node) >= 0;
}
