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

/* One stable counting sort by column `column`: order -> other. */
static void sort_column(const int32_t *tuples, int32_t width, int32_t column, int32_t count,
                        int32_t bound, workspace *w) {
  memset(w->start, 0, ((size_t)bound + 1) * sizeof *w->start);
  for (int32_t i = 0; i < count; i++) w->start[tuples[(size_t)i * width + column] + 1]++;
  for (int32_t v = 0; v < bound; v++) w->start[v + 1] += w->start[v];
  for (int32_t i = 0; i < count; i++) {
    int32_t tuple = w->order[i];
    w->other[w->start[tuples[(size_t)tuple * width + column]]++] = tuple;
  }
}

static eb_error order_tuples(const int32_t *tuples, int32_t width, int32_t count, int32_t bound,
                             workspace *w) {
  EB_TRY(EB_NEW(w->order, count));
  EB_TRY(EB_NEW(w->other, count));
  EB_TRY(EB_NEW(w->start, (size_t)bound + 1));
  for (int32_t i = 0; i < count; i++) w->order[i] = i;
  for (int32_t column = width - 1; column >= 0; column--) {
    sort_column(tuples, width, column, count, bound, w);
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

/* The nodes of every face, ascending. */
static void fill_keys(const eb_mesh *mesh, const eb_face_table *table, int32_t *keys) {
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *element = mesh->elements + (size_t)e * mesh->type;
    for (int32_t f = 0; f < table->count; f++, keys += table->nodes) {
      for (int32_t i = 0; i < table->nodes; i++) keys[i] = element[table->local[f][i]];
      eb_tuple_sort(keys, table->nodes);
    }
  }
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
  if (!error) fill_keys(mesh, table, keys);
  if (!error) error = eb_tuples_order(keys, table->nodes, faces, mesh->node_count, &order);
  if (!error) error = EB_NEW(*mate, faces);
  if (!error) pair_faces(keys, table->nodes, order, faces, *mate, crowded);
  free(keys);
  free(order);
  return error;
}

/* ---- the surface of a mesh ------------------------------------------------------------------- */

/* A numbering of the volume nodes that the surface uses, ascending. */
typedef struct numbering {
  int32_t *vertex; /* node_count: surface vertex, or -1 */
  int32_t count;
} numbering;

static void number_vertices(const eb_mesh *mesh, numbering *n) {
  n->count = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) n->vertex[i] = n->vertex[i] ? n->count++ : -1;
}

static void fill_vertices(const eb_mesh *mesh, const numbering *n, eb_surface *surface) {
  for (int32_t i = 0; i < mesh->node_count; i++) {
    int32_t v = n->vertex[i];
    if (v < 0) continue;
    surface->node[v] = i;
    for (int d = 0; d < 3; d++) surface->X[3 * (size_t)v + d] = mesh->X[3 * (size_t)i + d];
  }
}

/* Polygons with `corners` nodes are fanned from their first node. */
static int32_t *add_polygon(const int32_t *element, const int32_t *local, int32_t corners,
                            const numbering *n, int32_t *triangle) {
  for (int32_t i = 1; i + 1 < corners; i++, triangle += 3) {
    triangle[0] = n->vertex[element[local[0]]];
    triangle[1] = n->vertex[element[local[i]]];
    triangle[2] = n->vertex[element[local[i + 1]]];
  }
  return triangle;
}

static eb_error create_surface(const eb_mesh *mesh, const numbering *n, int32_t triangles,
                               eb_surface **out) {
  EB_TRY(eb_surface_create(n->count, triangles, out));
  eb_error error = (*out)->node ? EB_OK : EB_NEW((*out)->node, n->count);
  if (!error) fill_vertices(mesh, n, *out);
  return error;
}

static eb_error planar_surface(const eb_mesh *mesh, numbering *n, eb_surface **out) {
  static const int32_t corners[3] = {0, 1, 2};
  for (size_t i = 0; i < 3 * (size_t)mesh->element_count; i++) n->vertex[mesh->elements[i]] = 1;
  number_vertices(mesh, n);
  EB_TRY(create_surface(mesh, n, mesh->element_count, out));
  int32_t *triangle = (*out)->triangles;
  for (int32_t e = 0; e < mesh->element_count; e++)
    triangle = add_polygon(mesh->elements + 3 * (size_t)e, corners, 3, n, triangle);
  return EB_OK;
}

static eb_error volume_surface(const eb_mesh *mesh, const int32_t *mate, numbering *n,
                               eb_surface **out) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  int32_t open = 0, faces = mesh->element_count * table->count;
  for (int32_t face = 0; face < faces; face++) {
    if (mate[face] >= 0) continue;
    const int32_t *element = mesh->elements + (size_t)(face / table->count) * mesh->type;
    for (int32_t i = 0; i < table->nodes; i++)
      n->vertex[element[table->local[face % table->count][i]]] = 1;
    open++;
  }
  number_vertices(mesh, n);
  EB_TRY(create_surface(mesh, n, open * (table->nodes - 2), out));
  int32_t *triangle = (*out)->triangles;
  for (int32_t face = 0; face < faces; face++)
    if (mate[face] < 0)
      triangle = add_polygon(mesh->elements + (size_t)(face / table->count) * mesh->type,
                             table->local[face % table->count], table->nodes, n, triangle);
  return EB_OK;
}

static eb_error extract(const eb_mesh *mesh, numbering *n, eb_surface **out) {
  if (mesh->type == EB_TRIANGLE) return planar_surface(mesh, n, out);
  int32_t *mate, crowded;
  EB_TRY(eb_mesh_face_mates(mesh, &mate, &crowded));
  eb_error error = EB_OK;
  if (crowded >= 0)
    error = EB_ERROR(EB_ERR_INVALID,
                     "element %d: a face is shared by more than two elements, so the mesh has no "
                     "surface; repair the mesh",
                     crowded / eb_face_table_of(mesh->type)->count);
  if (!error) error = volume_surface(mesh, mate, n, out);
  free(mate);
  return error;
}

eb_error eb_mesh_surface(const eb_mesh *mesh, eb_surface **out) {
  numbering n = {0};
  *out = NULL;
  EB_TRY(EB_NEW(n.vertex, mesh->node_count));
  eb_error error = extract(mesh, &n, out);
  free(n.vertex);
  if (error) {
    eb_surface_destroy(*out);
    *out = NULL;
  }
  return error;
}
