#include "problems/mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/mesh/generate.h"

static eb_error check_counts(int64_t nodes, int64_t elements, const char *what) {
  if (nodes < 0 || elements < 0 || nodes > INT32_MAX / 3 || elements > INT32_MAX / 8)
    return EB_ERROR(EB_ERR_INVALID, "%s of %lld nodes and %lld elements is out of range", what,
                    (long long)nodes, (long long)elements);
  return EB_OK;
}

eb_error eb_mesh_create(eb_element_type type, int32_t nodes, int32_t elements, eb_mesh **out) {
  *out = NULL;
  EB_TRY(check_counts(nodes, elements, "a mesh"));
  eb_mesh *mesh;
  EB_TRY(EB_NEW(mesh, 1));
  mesh->type = type;
  mesh->node_count = nodes;
  mesh->element_count = elements;
  eb_error error = EB_NEW(mesh->X, 3 * (size_t)nodes);
  if (!error) error = EB_NEW(mesh->elements, (size_t)elements * mesh->type);
  if (!error) error = EB_NEW(mesh->region, elements);
  if (!error) error = eb_mesh_name_regions(mesh, 1, (const char *const[]){"body"});
  if (error) {
    eb_mesh_destroy(mesh);
    return error;
  }
  *out = mesh;
  return EB_OK;
}

static eb_error copy_into(const eb_mesh *mesh, eb_mesh *copy) {
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  memcpy(copy->X, mesh->X, 3 * nodes * sizeof *mesh->X);
  memcpy(copy->elements, mesh->elements, elements * mesh->type * sizeof *mesh->elements);
  memcpy(copy->region, mesh->region, (size_t)mesh->element_count * sizeof *mesh->region);
  free(copy->region_name);
  EB_TRY(EB_NEW(copy->region_name, mesh->region_count));
  copy->region_count = mesh->region_count;
  memcpy(copy->region_name, mesh->region_name,
         (size_t)mesh->region_count * sizeof *mesh->region_name);
  if (mesh->fibre) {
    EB_TRY(EB_NEW(copy->fibre, 3 * elements));
    memcpy(copy->fibre, mesh->fibre, 3 * elements * sizeof *mesh->fibre);
  }
  for (int32_t s = 0; s < mesh->set_count; s++)
    EB_TRY(eb_mesh_add_set(copy, mesh->sets[s].name, mesh->sets[s].nodes, mesh->sets[s].count));
  return EB_OK;
}

eb_error eb_mesh_copy(const eb_mesh *mesh, eb_mesh **out) {
  eb_mesh *copy;
  *out = NULL;
  EB_TRY(eb_mesh_create(mesh->type, mesh->node_count, mesh->element_count, &copy));
  eb_error error = copy_into(mesh, copy);
  if (error)
    eb_mesh_destroy(copy);
  else
    *out = copy;
  return error;
}

void eb_mesh_destroy(eb_mesh *mesh) {
  if (!mesh) return;
  for (int32_t s = 0; s < mesh->set_count; s++) free(mesh->sets[s].nodes);
  free(mesh->sets);
  free(mesh->region_name);
  free(mesh->fibre);
  free(mesh->region);
  free(mesh->elements);
  free(mesh->X);
  free(mesh);
}

eb_error eb_surface_create(int32_t vertices, int32_t triangles, eb_surface **out) {
  *out = NULL;
  EB_TRY(check_counts(vertices, triangles, "a surface"));
  eb_surface *surface;
  EB_TRY(EB_NEW(surface, 1));
  surface->vertex_count = vertices;
  surface->triangle_count = triangles;
  eb_error error = EB_NEW(surface->X, 3 * (size_t)vertices);
  if (!error) error = EB_NEW(surface->triangles, 3 * (size_t)triangles);
  if (error) {
    eb_surface_destroy(surface);
    return error;
  }
  *out = surface;
  return EB_OK;
}

void eb_surface_destroy(eb_surface *surface) {
  if (!surface) return;
  free(surface->node);
  free(surface->triangles);
  free(surface->X);
  free(surface);
}

eb_error eb_mesh_name_regions(eb_mesh *mesh, int32_t count, const char *const *names) {
  if (count < 1) return EB_ERROR(EB_ERR_INVALID, "a mesh has at least one region, not %d", count);
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (mesh->region[e] < 0 || mesh->region[e] >= count)
      return EB_ERROR(EB_ERR_INVALID, "element %d is in region %d, but there are %d regions", e,
                      mesh->region[e], count);
  char(*fresh)[EB_NAME_BYTES];
  EB_TRY(EB_NEW(fresh, count));
  for (int32_t r = 0; r < count; r++) snprintf(fresh[r], EB_NAME_BYTES, "%s", names[r]);
  free(mesh->region_name);
  mesh->region_name = fresh;
  mesh->region_count = count;
  return EB_OK;
}

static int ascending(const void *a, const void *b) {
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

eb_error eb_mesh_add_set(eb_mesh *mesh, const char *name, const int32_t *nodes, int32_t count) {
  if (eb_mesh_set(mesh, name))
    return EB_ERROR(EB_ERR_INVALID, "the mesh has a node set '%s' already", name);
  for (int32_t i = 0; i < count; i++)
    if (nodes[i] < 0 || nodes[i] >= mesh->node_count)
      return EB_ERROR(EB_ERR_INVALID, "node set '%s' holds node %d, but nodes are 0 to %d", name,
                      nodes[i], mesh->node_count - 1);
  eb_node_set set = {.count = 0};
  snprintf(set.name, sizeof set.name, "%s", name);
  EB_TRY(EB_NEW(set.nodes, count));
  if (count > 0) {
    memcpy(set.nodes, nodes, (size_t)count * sizeof *nodes);
    qsort(set.nodes, (size_t)count, sizeof *nodes, ascending);
  }
  for (int32_t i = 0; i < count; i++)
    if (i == 0 || set.nodes[i] != set.nodes[set.count - 1]) set.nodes[set.count++] = set.nodes[i];
  size_t before = (size_t)mesh->set_count;
  eb_node_set *grown = eb_recalloc(mesh->sets, before, before + 1, sizeof *grown);
  if (!grown) {
    free(set.nodes);
    return EB_ERROR(EB_ERR_MEMORY, "cannot add node set '%s'", set.name);
  }
  mesh->sets = grown;
  mesh->sets[mesh->set_count++] = set;
  return EB_OK;
}

const eb_node_set *eb_mesh_set(const eb_mesh *mesh, const char *name) {
  for (int32_t s = 0; s < mesh->set_count; s++)
    if (strcmp(mesh->sets[s].name, name) == 0) return &mesh->sets[s];
  return NULL;
}

int32_t eb_mesh_region(const eb_mesh *mesh, const char *name) {
  for (int32_t r = 0; r < mesh->region_count; r++)
    if (strcmp(mesh->region_name[r], name) == 0) return r;
  return -1;
}

static double determinant(const double *o, const double *a, const double *b, const double *c) {
  double u[3], v[3], w[3];
  for (int d = 0; d < 3; d++) {
    u[d] = a[d] - o[d];
    v[d] = b[d] - o[d];
    w[d] = c[d] - o[d];
  }
  return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
         u[2] * (v[0] * w[1] - v[1] * w[0]);
}

/* Of a hexahedron exact for planar faces: six tetrahedra around the diagonal from corner 0 to
 * corner 6. */
double eb_mesh_element_volume(const eb_mesh *mesh, const double *x, int32_t e) {
  const int32_t *node = mesh->elements + (size_t)e * mesh->type;
  static const int tets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                 {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
  const double *p[8] = {NULL};
  double sum = 0;
  for (int a = 0; a < (int)mesh->type; a++) p[a] = x + 3 * (size_t)node[a];
  switch (mesh->type) {
  case EB_TRIANGLE:
    return 0.5 *
           ((p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]));
  case EB_TETRAHEDRON:
    return determinant(p[0], p[1], p[2], p[3]) / 6;
  case EB_HEXAHEDRON:
    for (int t = 0; t < 6; t++)
      sum += determinant(p[tets[t][0]], p[tets[t][1]], p[tets[t][2]], p[tets[t][3]]);
    return sum / 6;
  }
  return 0;
}

void eb_mesh_bounds(const double *x, int32_t count, double lo[3], double hi[3]) {
  for (int d = 0; d < 3; d++) {
    lo[d] = INFINITY;
    hi[d] = -INFINITY;
  }
  for (int32_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      lo[d] = fmin(lo[d], x[3 * (size_t)i + d]);
      hi[d] = fmax(hi[d], x[3 * (size_t)i + d]);
    }
}

uint64_t eb_mesh_hash(const eb_mesh *mesh) {
  const int32_t counts[5] = {(int32_t)mesh->type, mesh->node_count, mesh->element_count,
                             mesh->region_count, mesh->set_count};
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  uint64_t hash = eb_hash(EB_HASH_SEED, counts, sizeof counts);
  hash = eb_hash(hash, mesh->X, 3 * nodes * sizeof *mesh->X);
  hash = eb_hash(hash, mesh->elements, elements * mesh->type * sizeof *mesh->elements);
  hash = eb_hash(hash, mesh->region, elements * sizeof *mesh->region);
  if (mesh->fibre) hash = eb_hash(hash, mesh->fibre, 3 * elements * sizeof *mesh->fibre);
  for (int32_t r = 0; r < mesh->region_count; r++)
    hash = eb_hash(hash, mesh->region_name[r], strlen(mesh->region_name[r]) + 1);
  for (int32_t s = 0; s < mesh->set_count; s++) {
    const eb_node_set *set = &mesh->sets[s];
    hash = eb_hash(hash, set->name, strlen(set->name) + 1);
    hash = eb_hash(hash, set->nodes, (size_t)set->count * sizeof *set->nodes);
  }
  return hash;
}

/* ---- appending ------------------------------------------------------------------------------- */

/* What the joined mesh is made of; moved into the target only when all of it is there. */
typedef struct joined {
  eb_mesh *mesh;
  int32_t *region_of; /* region of the appended mesh -> region of the joined one */
} joined;

/* Adds the nodes of both sets; either may be NULL. The shifted ones stand behind, so order
 * holds. */
static eb_error join_set(const eb_node_set *first, const eb_node_set *second, int32_t offset,
                         eb_node_set *out) {
  *out = first ? *first : *second;
  out->nodes = NULL;
  out->count = 0;
  EB_TRY(EB_NEW(out->nodes, (first ? first->count : 0) + (second ? second->count : 0)));
  for (int32_t i = 0; first && i < first->count; i++) out->nodes[out->count++] = first->nodes[i];
  for (int32_t i = 0; second && i < second->count; i++)
    out->nodes[out->count++] = second->nodes[i] + offset;
  return EB_OK;
}

static eb_error join(const eb_mesh *mesh, const eb_mesh *extra, const double shift[3], joined *j) {
  eb_mesh *all = j->mesh;
  size_t nodes = (size_t)mesh->node_count, more_nodes = (size_t)extra->node_count;
  size_t elements = (size_t)mesh->element_count, more = (size_t)extra->element_count;
  size_t corners = (size_t)mesh->type;
  all->type = mesh->type;
  /* Regions, by their names. */
  EB_TRY(EB_NEW(j->region_of, extra->region_count));
  EB_TRY(EB_NEW(all->region_name, (size_t)mesh->region_count + (size_t)extra->region_count));
  all->region_count = mesh->region_count;
  memcpy(all->region_name, mesh->region_name, (size_t)mesh->region_count * EB_NAME_BYTES);
  for (int32_t r = 0; r < extra->region_count; r++) {
    j->region_of[r] = eb_mesh_region(mesh, extra->region_name[r]);
    if (j->region_of[r] >= 0) continue;
    j->region_of[r] = all->region_count++;
    memcpy(all->region_name[j->region_of[r]], extra->region_name[r], EB_NAME_BYTES);
  }
  /* Nodes and elements; those of `extra` stand behind. */
  EB_TRY(EB_NEW(all->X, 3 * (nodes + more_nodes)));
  EB_TRY(EB_NEW(all->elements, (elements + more) * corners));
  EB_TRY(EB_NEW(all->region, elements + more));
  memcpy(all->X, mesh->X, 3 * nodes * sizeof *all->X);
  for (size_t i = 0; i < 3 * more_nodes; i++) all->X[3 * nodes + i] = extra->X[i] + shift[i % 3];
  memcpy(all->elements, mesh->elements, elements * corners * sizeof *all->elements);
  for (size_t i = 0; i < more * corners; i++)
    all->elements[elements * corners + i] = extra->elements[i] + mesh->node_count;
  memcpy(all->region, mesh->region, elements * sizeof *all->region);
  for (size_t e = 0; e < more; e++) all->region[elements + e] = j->region_of[extra->region[e]];
  if (mesh->fibre || extra->fibre) EB_TRY(EB_NEW(all->fibre, 3 * (elements + more)));
  if (mesh->fibre) memcpy(all->fibre, mesh->fibre, 3 * elements * sizeof *all->fibre);
  if (extra->fibre) memcpy(all->fibre + 3 * elements, extra->fibre, 3 * more * sizeof *all->fibre);
  /* Sets, by their names. */
  EB_TRY(EB_NEW(all->sets, (size_t)mesh->set_count + (size_t)extra->set_count));
  for (int32_t s = 0; s < mesh->set_count; s++)
    EB_TRY(join_set(&mesh->sets[s], eb_mesh_set(extra, mesh->sets[s].name), mesh->node_count,
                    &all->sets[all->set_count++]));
  for (int32_t s = 0; s < extra->set_count; s++)
    if (!eb_mesh_set(mesh, extra->sets[s].name))
      EB_TRY(join_set(NULL, &extra->sets[s], mesh->node_count, &all->sets[all->set_count++]));
  all->node_count = mesh->node_count + extra->node_count;
  all->element_count = mesh->element_count + extra->element_count;
  return EB_OK;
}

eb_error eb_mesh_append(eb_mesh *mesh, const eb_mesh *extra, const double shift[3]) {
  if (mesh->type != extra->type)
    return EB_ERROR(EB_ERR_INVALID,
                    "elements of %d nodes cannot be appended to elements of %d nodes",
                    (int)extra->type, (int)mesh->type);
  if ((int64_t)mesh->node_count + extra->node_count > INT32_MAX / 3 ||
      (int64_t)mesh->element_count + extra->element_count > INT32_MAX / 8)
    return EB_ERROR(EB_ERR_LIMIT, "appending %d elements to %d makes too large a mesh",
                    extra->element_count, mesh->element_count);
  joined j = {.region_of = NULL};
  EB_TRY(EB_NEW(j.mesh, 1));
  eb_error error = join(mesh, extra, shift, &j);
  if (!error) {
    eb_mesh old = *mesh;
    *mesh = *j.mesh;
    *j.mesh = old;
  }
  free(j.region_of);
  eb_mesh_destroy(j.mesh);
  return error;
}
