#include "problems/mesh/faces.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/mesh.h"

/* ---- tuples ---------------------------------------------------------------------------------- */

void eb_tuple_sort(int32_t *tuple, int32_t width) {
  for (int32_t i = 1; i < width; i++) {
    int32_t value = tuple[i], j = i;
    for (; j > 0 && tuple[j - 1] > value; j--) tuple[j] = tuple[j - 1];
    tuple[j] = value;
  }
}

int eb_tuple_compare(const int32_t *a, const int32_t *b, int32_t width) {
  for (int32_t i = 0; i < width; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

typedef struct workspace {
  int32_t *order, *other; /* count */
  int32_t *start;         /* bound + 1 */
} workspace;

/* A stable counting sort for each column, the last first. */
static eb_error order_tuples(const int32_t *tuples, int32_t width, int32_t count, int32_t bound,
                             workspace *w) {
  EB_TRY(EB_NEW(w->order, count));
  EB_TRY(EB_NEW(w->other, count));
  EB_TRY(EB_NEW(w->start, (size_t)bound + 1));
  for (int32_t i = 0; i < count; i++) w->order[i] = i;
  for (int32_t column = width - 1; column >= 0; column--) {
    memset(w->start, 0, ((size_t)bound + 1) * sizeof *w->start);
    for (int32_t i = 0; i < count; i++) w->start[tuples[(size_t)i * width + column] + 1]++;
    for (int32_t v = 0; v < bound; v++) w->start[v + 1] += w->start[v];
    for (int32_t i = 0; i < count; i++) {
      int32_t tuple = w->order[i];
      w->other[w->start[tuples[(size_t)tuple * width + column]]++] = tuple;
    }
    int32_t *swap = w->order;
    w->order = w->other;
    w->other = swap;
  }
  return EB_OK;
}

eb_error eb_tuples_order(const int32_t *tuples, int32_t width, int32_t count, int32_t bound,
                         int32_t **order) {
  workspace w = {0};
  eb_error error = order_tuples(tuples, width, count, bound, &w);
  free(w.other);
  free(w.start);
  if (error) free(w.order);
  *order = error ? NULL : w.order;
  return error;
}

/* ---- faces ----------------------------------------------------------------------------------- */

static const eb_face_table triangle_faces = {3, 2, {{0, 1}, {1, 2}, {2, 0}}};
static const eb_face_table tetrahedron_faces = {4, 3, {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
static const eb_face_table hexahedron_faces = {
    6, 4, {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}};

const eb_face_table *eb_face_table_of(eb_element_type type) {
  if (type == EB_TRIANGLE) return &triangle_faces;
  return type == EB_TETRAHEDRON ? &tetrahedron_faces : &hexahedron_faces;
}

void eb_face_nodes(const eb_mesh *mesh, int32_t face, int32_t *nodes) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  const int32_t *element = mesh->elements + (size_t)(face / table->count) * mesh->type;
  for (int32_t i = 0; i < table->nodes; i++)
    nodes[i] = element[table->local[face % table->count][i]];
}

/* Faces with equal keys stand together in `order`, in ascending order of their index. */
static void pair_faces(const int32_t *keys, int32_t width, const int32_t *order, int32_t faces,
                       int32_t *mate, int32_t *crowded) {
  *crowded = -1;
  for (int32_t i = 0, end; i < faces; i = end) {
    const int32_t *key = keys + (size_t)order[i] * width;
    for (end = i + 1; end < faces; end++)
      if (eb_tuple_compare(key, keys + (size_t)order[end] * width, width) != 0) break;
    for (int32_t k = i; k < end; k++) mate[order[k]] = -1;
    if (end - i < 2) continue;
    mate[order[i]] = order[i + 1];
    mate[order[i + 1]] = order[i];
    if (end - i > 2 && (*crowded < 0 || order[i + 2] < *crowded)) *crowded = order[i + 2];
  }
}

eb_error eb_mesh_face_mates(const eb_mesh *mesh, int32_t **mate, int32_t *crowded) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  *mate = NULL;
  if (mesh->element_count > INT32_MAX / (2 * table->count))
    return EB_ERROR(EB_ERR_LIMIT, "%d elements have too many faces; use a smaller mesh",
                    mesh->element_count);
  int32_t faces = mesh->element_count * table->count;
  int32_t *keys = NULL, *order = NULL;
  eb_error error = EB_NEW(keys, (size_t)faces * table->nodes);
  for (int32_t face = 0; !error && face < faces; face++) { /* its nodes, ascending */
    int32_t *key = keys + (size_t)face * table->nodes;
    eb_face_nodes(mesh, face, key);
    eb_tuple_sort(key, table->nodes);
  }
  if (!error) error = eb_tuples_order(keys, table->nodes, faces, mesh->node_count, &order);
  if (!error) error = EB_NEW(*mate, faces);
  if (!error) pair_faces(keys, table->nodes, order, faces, *mate, crowded);
  free(keys);
  free(order);
  return error;
}

/* Opposite ways: behind the first node of a, b has the last of a. */
int32_t eb_mesh_overlap(const eb_mesh *mesh, const int32_t *mate) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  for (int32_t face = 0; face < table->count * mesh->element_count; face++) {
    int32_t a[4], b[4], at = 0;
    if (mate[face] < 0 || mate[face] > face) continue;
    eb_face_nodes(mesh, face, a);
    eb_face_nodes(mesh, mate[face], b);
    while (b[at] != a[0]) at++;
    if (b[(at + 1) % table->nodes] != a[table->nodes - 1]) return face;
  }
  return -1;
}

/* ---- the surface of a mesh ------------------------------------------------------------------- */

static void polygon_nodes(const eb_mesh *mesh, bool faces, int32_t p, int32_t *node) {
  if (faces)
    eb_face_nodes(mesh, p, node);
  else
    memcpy(node, mesh->elements + 3 * (size_t)p, 3 * sizeof *node);
}

/* The faces without a mate, fanned into triangles from their first node; of a planar mesh, whose
 * faces are edges, the elements themselves (`mate` is NULL). vertex[i], node_count zeros: becomes
 * the surface vertex of node i, ascending, or -1. */
static eb_error extract(const eb_mesh *mesh, const int32_t *mate, int32_t *vertex,
                        eb_surface **out) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  int32_t polygons = mate ? mesh->element_count * table->count : mesh->element_count;
  int32_t corners = mate ? table->nodes : 3, open = 0, vertices = 0, node[4];
  for (int32_t p = 0; p < polygons; p++) {
    if (mate && mate[p] >= 0) continue;
    polygon_nodes(mesh, mate != NULL, p, node);
    for (int32_t i = 0; i < corners; i++) vertex[node[i]] = 1;
    open++;
  }
  for (int32_t i = 0; i < mesh->node_count; i++) vertex[i] = vertex[i] ? vertices++ : -1;
  EB_TRY(eb_surface_create(vertices, open * (corners - 2), out));
  eb_surface *surface = *out;
  EB_TRY(EB_NEW(surface->node, vertices));
  for (int32_t i = 0; i < mesh->node_count; i++) {
    if (vertex[i] < 0) continue;
    surface->node[vertex[i]] = i;
    memcpy(surface->X + 3 * (size_t)vertex[i], mesh->X + 3 * (size_t)i, 3 * sizeof *mesh->X);
  }
  int32_t *triangle = surface->triangles;
  for (int32_t p = 0; p < polygons; p++) {
    if (mate && mate[p] >= 0) continue;
    polygon_nodes(mesh, mate != NULL, p, node);
    for (int32_t i = 1; i + 1 < corners; i++, triangle += 3) {
      triangle[0] = vertex[node[0]];
      triangle[1] = vertex[node[i]];
      triangle[2] = vertex[node[i + 1]];
    }
  }
  return EB_OK;
}

eb_error eb_mesh_surface(const eb_mesh *mesh, eb_surface **out) {
  int32_t *vertex, *mate = NULL, crowded = -1;
  *out = NULL;
  EB_TRY(EB_NEW(vertex, mesh->node_count));
  eb_error error = EB_OK;
  if (mesh->type != EB_TRIANGLE) error = eb_mesh_face_mates(mesh, &mate, &crowded);
  if (!error && crowded >= 0)
    error = EB_ERROR(EB_ERR_INVALID,
                     "element %d: a face is shared by more than two elements, so the mesh has no "
                     "surface; repair the mesh",
                     crowded / eb_face_table_of(mesh->type)->count);
  if (!error) error = extract(mesh, mate, vertex, out);
  free(mate);
  free(vertex);
  if (error) {
    eb_surface_destroy(*out);
    *out = NULL;
  }
  return error;
}

eb_error eb_surface_keep(eb_surface *surface, int32_t nodes) {
  int32_t *vertex, triangles = 0, vertices = 0;
  EB_TRY(EB_NEW(vertex, surface->vertex_count));
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * (size_t)t;
    bool kept = false;
    for (int k = 0; k < 3; k++) kept = kept || surface->node[corner[k]] < nodes;
    if (!kept) continue;
    for (int k = 0; k < 3; k++) {
      vertex[corner[k]] = 1;
      surface->triangles[3 * (size_t)triangles + (size_t)k] = corner[k];
    }
    triangles++;
  }
  for (int32_t v = 0; v < surface->vertex_count; v++) {
    if (!vertex[v]) continue;
    memmove(surface->X + 3 * (size_t)vertices, surface->X + 3 * (size_t)v, 3 * sizeof *surface->X);
    surface->node[vertices] = surface->node[v];
    vertex[v] = vertices++;
  }
  for (size_t i = 0; i < 3 * (size_t)triangles; i++)
    surface->triangles[i] = vertex[surface->triangles[i]];
  surface->vertex_count = vertices;
  surface->triangle_count = triangles;
  free(vertex);
  return EB_OK;
}

/* ---- what is behind the surface -------------------------------------------------------------- */

/* Elements around node n become around[start[n]] .. around[start[n + 1] - 1]. */
static void list_around(const eb_mesh *mesh, int32_t *start, int32_t *around) {
  size_t type = mesh->type, corners = (size_t)mesh->element_count * type;
  for (size_t i = 0; i < corners; i++) start[mesh->elements[i] + 2]++;
  for (int32_t n = 0; n < mesh->node_count; n++) start[n + 2] += start[n + 1];
  for (size_t i = 0; i < corners; i++) around[start[mesh->elements[i] + 1]++] = (int32_t)(i / type);
}

static int32_t behind(const eb_mesh *mesh, const int32_t *start, const int32_t *around,
                      const int32_t triangle[3]) {
  size_t type = mesh->type;
  for (int32_t i = start[triangle[0]]; i < start[triangle[0] + 1]; i++) {
    const int32_t *corner = mesh->elements + (size_t)around[i] * type;
    int shared = 0;
    for (size_t k = 0; k < type; k++)
      shared += corner[k] == triangle[1] || corner[k] == triangle[2];
    if (shared == 2) return around[i];
  }
  return -1;
}

eb_error eb_mesh_elements_behind(const eb_mesh *mesh, const int32_t *triangles, int32_t count,
                                 int32_t **element) {
  int32_t *start, *around = NULL;
  EB_TRY(EB_NEW(start, (size_t)mesh->node_count + 2));
  eb_error error = EB_NEW(around, (size_t)mesh->element_count * mesh->type);
  if (!error) error = EB_NEW(*element, count);
  if (!error) {
    list_around(mesh, start, around);
    for (int32_t t = 0; t < count; t++)
      (*element)[t] = behind(mesh, start, around, triangles + 3 * (size_t)t);
  }
  free(start);
  free(around);
  return error;
}
