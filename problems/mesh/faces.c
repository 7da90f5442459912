#include "problems/mesh/faces.h"

#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/mesh/tuples.h"

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
