/* Connected components of a mesh whose parts several ranks hold.
 *
 * A rank knows what its own elements join. Of each component the least global number of a node is
 * told by owners to those that have the node as a ghost, until nothing is new. That is enough: an
 * element is on the ranks of all its nodes (problems/ranks/subdomain.h), so that where it joins the
 * nodes of two ranks, each has a ghost of the other's. The node of that number counts its
 * component, in the order of the ranks, and the count takes the same way. */
#include <stdlib.h>

#include "harness/audit/audit_data.h"
#include "problems/base/memory.h"
#include "problems/mesh/cut.h"

/* What is told of components: one value each, of which the better of two holds. */
typedef struct rumour {
  const eb_subdomain *part;
  int32_t nodes;            /* local */
  const int32_t *component; /* nodes: local number, or -1 */
  double *value;            /* of components */
  double *at_node;          /* nodes: workspace */
} rumour;

static bool is_less(double a, double b) {
  return a < b;
}

static bool is_told(double a, double b) {
  return a >= 0 && b < 0;
}

/* Until all ranks have heard the best. */
static void spread(const rumour *r, bool (*is_better)(double a, double b)) {
  for (bool news = true; eb_ranks_any(r->part->ranks, news);) {
    news = false;
    for (int32_t i = 0; i < r->nodes; i++)
      r->at_node[i] = r->component[i] < 0 ? 0 : r->value[r->component[i]];
    eb_subdomain_update(r->part, 1, r->at_node);
    for (int32_t i = r->part->nodes; i < r->nodes; i++) {
      if (r->component[i] < 0 || !is_better(r->at_node[i], r->value[r->component[i]])) continue;
      r->value[r->component[i]] = r->at_node[i];
      news = true;
    }
  }
}

/* What the components of lower ranks number to, and in *all those of all ranks. */
static eb_error count_before(const eb_ranks *ranks, int64_t mine, int64_t *before, int64_t *all) {
  int count = eb_ranks_count(ranks);
  int64_t *counts;
  EB_TRY(eb_ranks_agree(ranks, EB_NEW(counts, count)));
  counts[eb_ranks_self(ranks)] = mine;
  eb_ranks_sum_whole(ranks, count, counts);
  *before = *all = 0;
  for (int k = 0; k < count; k++) {
    if (k < eb_ranks_self(ranks)) *before += counts[k];
    *all += counts[k];
  }
  free(counts);
  return EB_OK;
}

/* Replaces the least numbers of nodes by the numbers of components. */
static eb_error number(rumour *r, int32_t local, int64_t *all) {
  const eb_subdomain *part = r->part;
  double *numbers;
  int64_t mine = 0, next = 0;
  EB_TRY(eb_ranks_agree(part->ranks, EB_NEW(numbers, local)));
  for (int32_t i = 0; i < part->nodes; i++)
    mine += r->component[i] >= 0 && (double)part->global[i] == r->value[r->component[i]];
  eb_error error = count_before(part->ranks, mine, &next, all); /* of all ranks or none */
  for (int32_t c = 0; c < local; c++) numbers[c] = -1;
  for (int32_t i = 0; i < part->nodes && !error; i++)
    if (r->component[i] >= 0 && (double)part->global[i] == r->value[r->component[i]])
      numbers[r->component[i]] = (double)next++;
  free(r->value);
  r->value = numbers;
  if (!error) spread(r, is_told);
  return error;
}

eb_error eb_audit_join_components(const eb_subdomain *part, int32_t nodes, int32_t *component,
                                  int32_t *count) {
  rumour r = {.part = part, .nodes = nodes, .component = component};
  int64_t all = 0;
  if (!part) return EB_OK;
  eb_error error = EB_NEW(r.at_node, nodes);
  if (!error) error = EB_NEW(r.value, *count);
  for (int32_t c = 0; c < *count && !error; c++) r.value[c] = (double)part->all_nodes;
  for (int32_t i = 0; i < nodes && !error; i++)
    if (component[i] >= 0)
      r.value[component[i]] = fmin(r.value[component[i]], (double)part->global[i]);
  error = eb_ranks_agree(part->ranks, error);
  if (!error) {
    spread(&r, is_less);
    error = number(&r, *count, &all);
  }
  for (int32_t i = 0; i < nodes && !error; i++)
    if (component[i] >= 0) component[i] = (int32_t)r.value[component[i]];
  if (!error) *count = (int32_t)all;
  free(r.at_node);
  free(r.value);
  return error;
}

eb_error eb_audit_components(const eb_scene *scene, int32_t *part, int32_t *count) {
  *count = eb_mesh_components(scene->mesh, part);
  return eb_audit_join_components(scene->part, scene->mesh->node_count, part, count);
}
