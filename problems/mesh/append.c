#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"

/* What the joined mesh is made of; moved into the target only when all of it is there. */
typedef struct joined {
  eb_mesh *mesh;
  int32_t *region_of; /* region of the appended mesh -> region of the joined one */
} joined;

static eb_error check_append(const eb_mesh *mesh, const eb_mesh *extra) {
  if (mesh->type != extra->type)
    return EB_ERROR(EB_ERR_INVALID,
                    "elements of %d nodes cannot be appended to elements of %d nodes",
                    (int)extra->type, (int)mesh->type);
  if ((int64_t)mesh->node_count + extra->node_count > INT32_MAX / 3 ||
      (int64_t)mesh->element_count + extra->element_count > INT32_MAX / 8)
    return EB_ERROR(EB_ERR_LIMIT, "appending %d elements to %d makes too large a mesh",
                    extra->element_count, mesh->element_count);
  return EB_OK;
}

static eb_error join_nodes(const eb_mesh *mesh, const eb_mesh *extra, const double shift[3],
                           eb_mesh *all) {
  size_t before = 3 * (size_t)mesh->node_count, added = 3 * (size_t)extra->node_count;
  EB_TRY(EB_NEW(all->X, before + added));
  memcpy(all->X, mesh->X, before * sizeof *all->X);
  for (size_t i = 0; i < added; i++) all->X[before + i] = extra->X[i] + shift[i % 3];
  return EB_OK;
}

static eb_error join_elements(const eb_mesh *mesh, const eb_mesh *extra, const int32_t *region_of,
                              eb_mesh *all) {
  size_t before = (size_t)mesh->element_count, added = (size_t)extra->element_count;
  size_t nodes = (size_t)mesh->type;
  EB_TRY(EB_NEW(all->elements, (before + added) * nodes));
  EB_TRY(EB_NEW(all->region, before + added));
  memcpy(all->elements, mesh->elements, before * nodes * sizeof *all->elements);
  memcpy(all->region, mesh->region, before * sizeof *all->region);
  for (size_t i = 0; i < added * nodes; i++)
    all->elements[before * nodes + i] = extra->elements[i] + mesh->node_count;
  for (size_t e = 0; e < added; e++) all->region[before + e] = region_of[extra->region[e]];
  if (!mesh->fibre && !extra->fibre) return EB_OK;
  EB_TRY(EB_NEW(all->fibre, 3 * (before + added)));
  if (mesh->fibre) memcpy(all->fibre, mesh->fibre, 3 * before * sizeof *all->fibre);
  if (extra->fibre) memcpy(all->fibre + 3 * before, extra->fibre, 3 * added * sizeof *all->fibre);
  return EB_OK;
}

static eb_error join_regions(const eb_mesh *mesh, const eb_mesh *extra, joined *j) {
  EB_TRY(EB_NEW(j->region_of, extra->region_count));
  EB_TRY(EB_NEW(j->mesh->region_name, (size_t)mesh->region_count + (size_t)extra->region_count));
  for (; j->mesh->region_count < mesh->region_count; j->mesh->region_count++)
    memcpy(j->mesh->region_name[j->mesh->region_count], mesh->region_name[j->mesh->region_count],
           EB_NAME_BYTES);
  for (int32_t r = 0; r < extra->region_count; r++) {
    j->region_of[r] = eb_mesh_region(mesh, extra->region_name[r]);
    if (j->region_of[r] >= 0) continue;
    j->region_of[r] = j->mesh->region_count++;
    memcpy(j->mesh->region_name[j->region_of[r]], extra->region_name[r], EB_NAME_BYTES);
  }
  return EB_OK;
}

/* Adds the nodes of both sets; either may be NULL. The shifted ones stand behind, so order holds. */
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

static eb_error join_sets(const eb_mesh *mesh, const eb_mesh *extra, eb_mesh *all) {
  EB_TRY(EB_NEW(all->sets, (size_t)mesh->set_count + (size_t)extra->set_count));
  for (int32_t s = 0; s < mesh->set_count; s++)
    EB_TRY(join_set(&mesh->sets[s], eb_mesh_set(extra, mesh->sets[s].name), mesh->node_count,
                    &all->sets[all->set_count++]));
  for (int32_t s = 0; s < extra->set_count; s++)
    if (!eb_mesh_set(mesh, extra->sets[s].name))
      EB_TRY(join_set(NULL, &extra->sets[s], mesh->node_count, &all->sets[all->set_count++]));
  return EB_OK;
}

static eb_error join(const eb_mesh *mesh, const eb_mesh *extra, const double shift[3], joined *j) {
  EB_TRY(join_regions(mesh, extra, j));
  EB_TRY(join_nodes(mesh, extra, shift, j->mesh));
  EB_TRY(join_elements(mesh, extra, j->region_of, j->mesh));
  EB_TRY(join_sets(mesh, extra, j->mesh));
  j->mesh->type = mesh->type;
  j->mesh->node_count = mesh->node_count + extra->node_count;
  j->mesh->element_count = mesh->element_count + extra->element_count;
  return EB_OK;
}

eb_error eb_mesh_append(eb_mesh *mesh, const eb_mesh *extra, const double shift[3]) {
  EB_TRY(check_append(mesh, extra));
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
