/* A rank's part from its piece of the mesh, and what a part and a whole scene say in the same
 * words. */
#include "problems/ranks/subdomain.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/ranks/communicator.h"
#include "problems/ranks/halo.h"
#include "problems/ranks/pieces.h"

eb_error eb_parts_check(const eb_ranks *ranks, int64_t nodes) {
  int count = eb_ranks_count(ranks);
  if (nodes < count)
    return EB_ERROR(EB_ERR_USAGE, "%d ranks for %lld nodes; use fewer ranks or a finer mesh", count,
                    (long long)nodes);
  return EB_OK;
}

/* ---- the order of nodes and elements --------------------------------------------------------- */

typedef struct ordered {
  int32_t owner, local; /* owner: -1 for this rank itself */
} ordered;

static int compare_owners(const void *a, const void *b) {
  const ordered *x = a, *y = b;
  if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
  return (x->local > y->local) - (x->local < y->local);
}

/* How a piece becomes a part: entry i of the part is entry order[i].local of the piece, whose entry
 * k has the place place[k]. */
typedef struct arrangement {
  ordered *node, *element;
  int32_t *place; /* of nodes */
  int32_t *owner; /* of nodes, in the part's order */
} arrangement;

static eb_error arrange(const eb_piece *piece, const int32_t *owner, int32_t self, arrangement *a,
                        eb_subdomain *part) {
  const eb_mesh *mesh = piece->mesh;
  size_t nodes = (size_t)mesh->node_count, elements = (size_t)mesh->element_count;
  EB_TRY(EB_NEW(a->node, nodes));
  EB_TRY(EB_NEW(a->element, elements));
  EB_TRY(EB_NEW(a->place, nodes));
  EB_TRY(EB_NEW(a->owner, nodes));
  for (size_t i = 0; i < nodes; i++) {
    a->node[i] = (ordered){owner[i] == self ? -1 : owner[i], (int32_t)i};
    part->nodes += owner[i] == self;
  }
  for (size_t e = 0; e < elements; e++) {
    int32_t lowest = INT32_MAX;
    for (size_t c = 0; c < mesh->type; c++) {
      int32_t of = owner[mesh->elements[e * mesh->type + c]];
      lowest = of < lowest ? of : lowest;
    }
    a->element[e] = (ordered){lowest == self ? -1 : 0, (int32_t)e};
    part->elements += lowest == self;
  }
  qsort(a->node, nodes, sizeof *a->node, compare_owners);
  qsort(a->element, elements, sizeof *a->element, compare_owners);
  for (size_t i = 0; i < nodes; i++) {
    a->place[a->node[i].local] = (int32_t)i;
    a->owner[i] = owner[a->node[i].local];
  }
  return EB_OK;
}

/* ---- the part's mesh ------------------------------------------------------------------------- */

static eb_error arrange_sets(const eb_mesh *from, const arrangement *a, eb_mesh *to) {
  for (int32_t s = 0; s < from->set_count; s++) {
    const eb_node_set *set = &from->sets[s];
    int32_t *nodes;
    EB_TRY(EB_NEW(nodes, set->count));
    for (int32_t k = 0; k < set->count; k++) nodes[k] = a->place[set->nodes[k]];
    eb_error error = eb_mesh_add_set(to, set->name, nodes, set->count);
    free(nodes);
    if (error) return error;
  }
  return EB_OK;
}

static eb_error arrange_mesh(const eb_piece *piece, const arrangement *a, eb_mesh *to,
                             eb_subdomain *part) {
  const eb_mesh *from = piece->mesh;
  size_t type = from->type;
  EB_TRY(EB_NEW(part->original_node, to->node_count));
  EB_TRY(EB_NEW(part->original_element, to->element_count));
  if (from->fibre) EB_TRY(EB_NEW(to->fibre, 3 * (size_t)to->element_count));
  for (size_t i = 0; i < (size_t)to->node_count; i++) {
    size_t k = (size_t)a->node[i].local;
    memcpy(to->X + 3 * i, from->X + 3 * k, 3 * sizeof *to->X);
    part->original_node[i] = piece->node[k];
  }
  for (size_t e = 0; e < (size_t)to->element_count; e++) {
    size_t k = (size_t)a->element[e].local;
    for (size_t c = 0; c < type; c++)
      to->elements[type * e + c] = a->place[from->elements[type * k + c]];
    to->region[e] = from->region[k];
    if (from->fibre) memcpy(to->fibre + 3 * e, from->fibre + 3 * k, 3 * sizeof *to->fibre);
    part->original_element[e] = piece->element[k];
  }
  char(*names)[EB_NAME_BYTES];
  EB_TRY(EB_NEW(names, from->region_count));
  memcpy(names, from->region_name, (size_t)from->region_count * sizeof *names);
  free(to->region_name);
  to->region_name = names;
  to->region_count = from->region_count;
  return arrange_sets(from, a, to);
}

/* Owned nodes are numbered rank after rank; the others' numbers come from their owners. */
static void number_nodes(eb_subdomain *part) {
  int64_t own = part->nodes, before = 0;
  MPI_Exscan(&own, &before, 1, MPI_INT64_T, MPI_SUM, eb_ranks_communicator(part->ranks));
  part->first = eb_ranks_self(part->ranks) == 0 ? 0 : before;
  for (int32_t i = 0; i < part->nodes; i++) part->global[i] = part->first + i;
  eb_halo_update(part, sizeof *part->global, part->global);
}

static eb_error make_local(const eb_piece *piece, const int32_t *owner, arrangement *a,
                           eb_mesh **mesh, eb_subdomain *part) {
  const eb_mesh *from = piece->mesh;
  EB_TRY(arrange(piece, owner, eb_ranks_self(part->ranks), a, part));
  EB_TRY(EB_NEW(part->global, from->node_count));
  EB_TRY(eb_mesh_create(from->type, from->node_count, from->element_count, mesh));
  return arrange_mesh(piece, a, *mesh, part);
}

static eb_error make(const eb_piece *piece, const int32_t *owner, arrangement *a, eb_mesh **mesh,
                     eb_subdomain *part) {
  EB_TRY(eb_ranks_agree(part->ranks, make_local(piece, owner, a, mesh, part)));
  EB_TRY(eb_halo_create(part, (*mesh)->node_count, a->owner, &part->halo));
  number_nodes(part);
  return EB_OK;
}

eb_error eb_subdomain_create(const eb_ranks *ranks, int64_t all_nodes, int64_t all_elements,
                             const eb_piece *piece, const int32_t *owner, eb_mesh **mesh,
                             eb_subdomain **out) {
  arrangement a = {0};
  *mesh = NULL;
  eb_error error = eb_ranks_agree(ranks, EB_NEW(*out, 1));
  if (!error) {
    **out = (eb_subdomain){.ranks = ranks, .all_nodes = all_nodes, .all_elements = all_elements};
    error = make(piece, owner, &a, mesh, *out);
  }
  free(a.node);
  free(a.element);
  free(a.place);
  free(a.owner);
  if (!error) return EB_OK;
  eb_mesh_destroy(*mesh);
  eb_subdomain_destroy(*out);
  *mesh = NULL;
  *out = NULL;
  return error;
}

void eb_subdomain_destroy(eb_subdomain *part) {
  if (!part) return;
  eb_halo_destroy(part->halo);
  free(part->original_element);
  free(part->original_node);
  free(part->global);
  free(part);
}

/* ---- a part and a whole scene in the same words ---------------------------------------------- */

int32_t eb_scene_own_nodes(const eb_scene *scene) {
  return scene->part ? scene->part->nodes : scene->mesh->node_count;
}

int32_t eb_scene_own_elements(const eb_scene *scene) {
  return scene->part ? scene->part->elements : scene->mesh->element_count;
}

int64_t eb_scene_all_nodes(const eb_scene *scene) {
  return scene->part ? scene->part->all_nodes : scene->mesh->node_count;
}

int64_t eb_scene_all_elements(const eb_scene *scene) {
  return scene->part ? scene->part->all_elements : scene->mesh->element_count;
}

const eb_ranks *eb_scene_ranks(const eb_scene *scene) {
  return scene->part ? scene->part->ranks : NULL;
}

void eb_scene_bounds(const eb_scene *scene, const double *x, double lo[3], double hi[3]) {
  const eb_ranks *ranks = eb_scene_ranks(scene);
  eb_mesh_bounds(x, eb_scene_own_nodes(scene), lo, hi);
  eb_ranks_min(ranks, 3, lo);
  eb_ranks_max(ranks, 3, hi);
}
