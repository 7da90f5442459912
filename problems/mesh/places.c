/* Orders by place. Coordinates are compared as they are: a mesh that is renumbered keeps every bit
 * of them. Elements are compared by the ranks of their nodes, whole numbers, and not by centres,
 * which round differently where the nodes of an element come in another order.
 *
 * Workspace: 32 bytes a node; a rank a node and a corner, while they sort. */
#include "problems/mesh/places.h"

#include "problems/base/memory.h"
#include "problems/base/owned.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CORNERS = 8 };

int eb_place_compare(const double a[3], const double b[3]) {
  for (int d = 2; d >= 0; d--)
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  return 0;
}

typedef struct placed_node {
  double place[3];
  int32_t node;
} placed_node;

static int compare_nodes(const void *a, const void *b) {
  const placed_node *x = a, *y = b;
  int order = eb_place_compare(x->place, y->place);
  return order ? order : (x->node > y->node) - (x->node < y->node);
}

eb_error eb_mesh_nodes_by_place(const eb_mesh *mesh, int32_t *order) {
  EB_FREED placed_node *all = NULL;
  EB_TRY(EB_NEW(all, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++) {
    memcpy(all[i].place, mesh->X + 3 * (int64_t)i, sizeof all[i].place);
    all[i].node = i;
  }
  qsort(all, (size_t)mesh->node_count, sizeof *all, compare_nodes);
  for (int32_t i = 0; i < mesh->node_count; i++) order[i] = all[i].node;
  return EB_OK;
}

typedef struct placed_element {
  int32_t rank[MOST_CORNERS]; /* of its nodes, ascending; 0 beyond them */
  int32_t element;
} placed_element;

static int compare_elements(const void *a, const void *b) {
  const placed_element *x = a, *y = b;
  for (int k = 0; k < MOST_CORNERS; k++)
    if (x->rank[k] != y->rank[k]) return x->rank[k] < y->rank[k] ? -1 : 1;
  return (x->element > y->element) - (x->element < y->element);
}

static void insert(int32_t rank, int count, int32_t *ranks) {
  for (; count > 0 && ranks[count - 1] > rank; count--) ranks[count] = ranks[count - 1];
  ranks[count] = rank;
}

eb_error eb_mesh_elements_by_place(const eb_mesh *mesh, int32_t *order) {
  const int corners = (int)mesh->type;
  EB_FREED int32_t *nodes = NULL, *rank = NULL;
  EB_FREED placed_element *all = NULL;
  EB_TRY(EB_NEW(nodes, mesh->node_count));
  EB_TRY(EB_NEW(rank, mesh->node_count));
  EB_TRY(EB_NEW(all, mesh->element_count));
  EB_TRY(eb_mesh_nodes_by_place(mesh, nodes));
  for (int32_t i = 0; i < mesh->node_count; i++) rank[nodes[i]] = i;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    for (int k = 0; k < corners; k++)
      insert(rank[mesh->elements[(int64_t)e * corners + k]], k, all[e].rank);
    all[e].element = e;
  }
  qsort(all, (size_t)mesh->element_count, sizeof *all, compare_elements);
  for (int32_t e = 0; e < mesh->element_count; e++) order[e] = all[e].element;
  return EB_OK;
}
