/* Edges are the sorted corner pairs of all triangles without repetitions: a counting sort, linear
 * in the triangles. */
#include <string.h>

#include "problems/base/memory.h"
#include "problems/collision/collisions.h"
#include "problems/mesh/faces.h"

static eb_error check(const eb_collision_mesh *mesh) {
  for (int32_t i = 0; i < mesh->vertex_count; i++)
    if (mesh->group[i] < 0 || mesh->group[i] >= mesh->group_count)
      return EB_ERROR(EB_ERR_INVALID, "collision mesh: vertex %d has group %d, outside 0 .. %d", i,
                      mesh->group[i], mesh->group_count - 1);
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *v = mesh->triangles + 3 * (size_t)t;
    for (int k = 0; k < 3; k++)
      if (v[k] < 0 || v[k] >= mesh->vertex_count)
        return EB_ERROR(EB_ERR_INVALID,
                        "collision mesh: triangle %d has vertex %d, outside 0 .. %d", t, v[k],
                        mesh->vertex_count - 1);
    for (int k = 0; k < 3; k++) {
      int32_t a = v[k], b = v[(k + 1) % 3];
      if (a == b)
        return EB_ERROR(EB_ERR_INVALID, "collision mesh: triangle %d has vertex %d twice", t, a);
      if (mesh->group[a] != mesh->group[b])
        return EB_ERROR(EB_ERR_INVALID,
                        "collision mesh: triangle %d joins groups %d and %d; a triangle belongs to "
                        "one body",
                        t, mesh->group[a], mesh->group[b]);
    }
  }
  return EB_OK;
}

/* *sides and *order (freed by the caller) are workspace: every edge of every triangle, lower end
 * first, and their order, of which those that differ are kept. */
static eb_error find_edges(eb_collision_mesh *mesh, int32_t **sides, int32_t **order) {
  int32_t all = 3 * mesh->triangle_count;
  EB_TRY(EB_NEW(*sides, 2 * (size_t)all));
  for (int32_t i = 0; i < all; i++) {
    int32_t *side = *sides + 2 * (size_t)i;
    side[0] = mesh->triangles[i];
    side[1] = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
    eb_tuple_sort(side, 2);
  }
  EB_TRY(eb_tuples_order(*sides, 2, all, mesh->vertex_count, order));
  EB_TRY(EB_NEW(mesh->edges, 2 * (size_t)all));
  for (int32_t i = 0; i < all; i++) {
    const int32_t *side = *sides + 2 * (size_t)(*order)[i];
    int32_t *end = mesh->edges + 2 * (size_t)mesh->edge_count;
    if (mesh->edge_count > 0 && eb_tuple_compare(end - 2, side, 2) == 0) continue;
    memcpy(end, side, 2 * sizeof *side);
    mesh->edge_count++;
  }
  return EB_OK;
}

static eb_error fill(eb_collision_mesh *mesh, const int32_t *triangles, const int32_t *group,
                     const uint8_t *rigid, const uint8_t *obstacle) {
  size_t vertices = (size_t)mesh->vertex_count, corners = 3 * (size_t)mesh->triangle_count;
  size_t groups = (size_t)mesh->group_count;
  if (corners + vertices > INT32_MAX / 2)
    return EB_ERROR(EB_ERR_LIMIT, "collision mesh: %d triangles are more than indices reach",
                    mesh->triangle_count);
  EB_TRY(EB_NEW(mesh->triangles, corners));
  EB_TRY(EB_NEW(mesh->group, vertices));
  EB_TRY(EB_NEW(mesh->rigid, groups));
  EB_TRY(EB_NEW(mesh->obstacle, groups));
  if (corners > 0) memcpy(mesh->triangles, triangles, corners * sizeof *triangles);
  if (vertices > 0) memcpy(mesh->group, group, vertices * sizeof *group);
  if (groups > 0) memcpy(mesh->obstacle, obstacle, groups);
  for (size_t g = 0; g < groups; g++) mesh->rigid[g] = rigid[g] || obstacle[g];
  EB_TRY(check(mesh));
  int32_t *sides = NULL, *order = NULL;
  eb_error error = find_edges(mesh, &sides, &order);
  free(sides);
  free(order);
  return error;
}

eb_error eb_collision_mesh_create(int32_t vertices, int32_t triangle_count,
                                  const int32_t *triangles, const int32_t *group,
                                  int32_t group_count, const uint8_t *rigid,
                                  const uint8_t *obstacle, eb_collision_mesh **out) {
  *out = NULL;
  eb_collision_mesh *mesh;
  EB_TRY(EB_NEW(mesh, 1));
  mesh->vertex_count = vertices;
  mesh->triangle_count = triangle_count;
  mesh->group_count = group_count;
  eb_error error = fill(mesh, triangles, group, rigid, obstacle);
  if (error)
    eb_collision_mesh_destroy(mesh);
  else
    *out = mesh;
  return error;
}

void eb_collision_mesh_destroy(eb_collision_mesh *mesh) {
  if (!mesh) return;
  free(mesh->triangles);
  free(mesh->edges);
  free(mesh->group);
  free(mesh->rigid);
  free(mesh->obstacle);
  free(mesh);
}
