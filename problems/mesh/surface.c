#include "problems/base/memory.h"
#include "problems/mesh/faces.h"
#include "problems/mesh/mesh.h"

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
