#include "problems/mesh/refine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/stuffing.h"
#include "problems/mesh/faces.h"

enum { TET_EDGES = 6 };

static const int32_t local_edge[TET_EDGES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* A surface edge and, in `order`, the tetrahedra around it. */
typedef struct edge {
  int32_t node[2]; /* ascending */
  int32_t first, count;
  double length2; /* m^2 */
} edge;

/* One round of splits: no tetrahedron has two split edges. */
typedef struct round_of_splits {
  const eb_mesh *mesh;
  int32_t *tuples, *order; /* 6 x element_count edges (pairs), and their lexicographic order */
  edge *edges;             /* surface edges, longest first */
  int32_t edge_count;
  int32_t *cut;    /* element_count: 1 + index into edges of the edge split in this element, or 0 */
  int32_t *chosen; /* edges to split */
  int32_t chosen_count, added; /* `added`: elements that come to be */
} round_of_splits;

static eb_error order_edges(round_of_splits *self) {
  const eb_mesh *mesh = self->mesh;
  EB_TRY(EB_NEW(self->tuples, 2 * TET_EDGES * (size_t)mesh->element_count));
  int32_t *pair = self->tuples;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    for (int k = 0; k < TET_EDGES; k++, pair += 2) {
      for (int i = 0; i < 2; i++) pair[i] = mesh->elements[4 * (size_t)e + local_edge[k][i]];
      eb_tuple_sort(pair, 2);
    }
  }
  return eb_tuples_order(self->tuples, 2, TET_EDGES * mesh->element_count, mesh->node_count,
                         &self->order);
}

static const int32_t *pair_at(const round_of_splits *self, int32_t place) {
  return self->tuples + 2 * (size_t)self->order[place];
}

/* The first place in the order that holds the pair. */
static int32_t find_pair(const round_of_splits *self, const int32_t pair[2]) {
  int32_t low = 0, high = TET_EDGES * self->mesh->element_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (eb_tuple_compare(pair_at(self, middle), pair, 2) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int longer_first(const void *left, const void *right) {
  const edge *a = left, *b = right;
  if (a->length2 != b->length2) return a->length2 > b->length2 ? -1 : 1;
  return eb_tuple_compare(a->node, b->node, 2);
}

/* Each edge of a closed surface belongs to two triangles that run along it in opposite directions
 * (a pinched one to four): it is taken where the triangle runs upwards in node numbers. */
static eb_error collect_edges(round_of_splits *self, const eb_surface *surface) {
  const eb_mesh *mesh = self->mesh;
  int32_t all = TET_EDGES * mesh->element_count;
  EB_TRY(EB_NEW(self->edges, 3 * (size_t)surface->triangle_count));
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    for (int k = 0; k < 3; k++) {
      int32_t pair[2] = {surface->node[surface->triangles[3 * (size_t)t + k]],
                         surface->node[surface->triangles[3 * (size_t)t + (k + 1) % 3]]};
      if (pair[0] > pair[1]) continue;
      edge *made = &self->edges[self->edge_count++];
      *made = (edge){.node = {pair[0], pair[1]}, .first = find_pair(self, pair)};
      int32_t end = made->first;
      while (end < all && eb_tuple_compare(pair_at(self, end), pair, 2) == 0) end++;
      made->count = end - made->first;
      made->length2 =
          eb_squared_distance3(mesh->X + 3 * (size_t)pair[1], mesh->X + 3 * (size_t)pair[0]);
    }
  }
  qsort(self->edges, (size_t)self->edge_count, sizeof *self->edges, longer_first);
  return EB_OK;
}

static eb_error choose(round_of_splits *self, int32_t most) {
  EB_TRY(EB_NEW(self->cut, self->mesh->element_count));
  EB_TRY(EB_NEW(self->chosen, most));
  for (int32_t i = 0; i < self->edge_count && self->chosen_count < most; i++) {
    const edge *candidate = &self->edges[i];
    int32_t own = 0;
    while (own < candidate->count && !self->cut[self->order[candidate->first + own] / TET_EDGES])
      own++;
    if (own < candidate->count) continue;
    self->chosen[self->chosen_count++] = i;
    for (int32_t k = 0; k < candidate->count; k++)
      self->cut[self->order[candidate->first + k] / TET_EDGES] = self->chosen_count;
    self->added += candidate->count;
  }
  return EB_OK;
}

static void copy_element(const eb_mesh *from, int32_t e, int32_t replaced, int32_t node,
                         eb_mesh *to, int32_t at) {
  for (int k = 0; k < 4; k++) {
    int32_t own = from->elements[4 * (size_t)e + k];
    to->elements[4 * (size_t)at + k] = own == replaced ? node : own;
  }
  to->region[at] = from->region[e];
  for (int d = 0; d < 3 && from->fibre; d++)
    to->fibre[3 * (size_t)at + d] = from->fibre[3 * (size_t)e + d];
}

static eb_error fill_split(const round_of_splits *self, eb_mesh *to) {
  const eb_mesh *from = self->mesh;
  memcpy(to->X, from->X, 3 * (size_t)from->node_count * sizeof *to->X);
  for (int32_t i = 0; i < self->chosen_count; i++) {
    const edge *split = &self->edges[self->chosen[i]];
    for (int d = 0; d < 3; d++)
      to->X[3 * ((size_t)from->node_count + (size_t)i) + d] =
          0.5 * (from->X[3 * (size_t)split->node[0] + d] + from->X[3 * (size_t)split->node[1] + d]);
  }
  if (from->fibre) EB_TRY(EB_NEW(to->fibre, 3 * (size_t)to->element_count));
  int32_t next = from->element_count;
  for (int32_t e = 0; e < from->element_count; e++) {
    if (!self->cut[e]) {
      copy_element(from, e, -1, 0, to, e);
      continue;
    }
    int32_t split = self->cut[e] - 1, node = from->node_count + split;
    const int32_t *ends = self->edges[self->chosen[split]].node;
    copy_element(from, e, ends[1], node, to, e);
    copy_element(from, e, ends[0], node, to, next++);
  }
  const char **names;
  EB_TRY(EB_NEW(names, from->region_count));
  for (int32_t r = 0; r < from->region_count; r++) names[r] = from->region_name[r];
  eb_error error = eb_mesh_name_regions(to, from->region_count, names);
  free(names);
  for (int32_t s = 0; s < from->set_count && !error; s++)
    error = eb_mesh_add_set(to, from->sets[s].name, from->sets[s].nodes, from->sets[s].count);
  return error;
}

static eb_error split_round(round_of_splits *self, int32_t most, eb_mesh **out) {
  eb_surface *surface = NULL;
  EB_TRY(eb_mesh_surface(self->mesh, &surface));
  eb_error error = order_edges(self);
  if (!error) error = collect_edges(self, surface);
  eb_surface_destroy(surface);
  EB_TRY(error);
  EB_TRY(choose(self, most));
  EB_TRY(eb_mesh_create(EB_TETRAHEDRON, self->mesh->node_count + self->chosen_count,
                        self->mesh->element_count + self->added, out));
  error = fill_split(self, *out);
  if (!error) return EB_OK;
  eb_mesh_destroy(*out);
  *out = NULL;
  return error;
}

/* Splits up to `most` edges of `mesh` at once. */
static eb_error split_some(const eb_mesh *mesh, int32_t most, eb_mesh **out) {
  round_of_splits self = {.mesh = mesh};
  eb_error error = split_round(&self, most, out);
  free(self.tuples);
  free(self.order);
  free(self.edges);
  free(self.cut);
  free(self.chosen);
  return error;
}

/* Half of what is left a round (all of the last few), so that halves of long edges compete
 * again. */
eb_error eb_mesh_split_surface(const eb_mesh *mesh, int32_t splits, eb_mesh **out) {
  enum { FEW = 64 };
  *out = NULL;
  if (mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "only surfaces of tetrahedral meshes can be split");
  if (splits < 0) return EB_ERROR(EB_ERR_USAGE, "cannot split %d edges", splits);
  /* An edge of these lattices has far fewer than 32 tetrahedra around it. */
  if (splits > (INT32_MAX / (2 * TET_EDGES) - mesh->element_count) / 32)
    return EB_ERROR(EB_ERR_LIMIT, "%d splits would make too many elements", splits);
  eb_mesh *now = NULL;
  EB_TRY(split_some(mesh, splits > FEW ? splits / 2 : splits, &now));
  int32_t goal = mesh->node_count + splits;
  while (now->node_count < goal) {
    int32_t left = goal - now->node_count;
    eb_mesh *next = NULL;
    eb_error error = split_some(now, left > FEW ? left / 2 : left, &next);
    eb_mesh_destroy(now);
    if (error) return error;
    now = next;
  }
  *out = now;
  return EB_OK;
}

static double relative(int32_t got, int32_t want) {
  return (double)(got - want) / want;
}

/* Stuffs to fewer elements and splits edges until there are `nodes` nodes. Every split adds one
 * node and about 2.8 elements, and the coarser start has a node less for every
 * five elements; so an element less at the start is 0.45 elements less at the end. */
static eb_error search_start(const eb_solid *solid, int32_t elements, int32_t nodes,
                             double tolerance, int32_t plain_nodes, eb_mesh **out) {
  enum { TRIES = 6 };
  const double near = 0.02, split_cost = 2.8, gain = 0.45;
  double start = elements - split_cost * (nodes - plain_nodes) / gain;
  for (int attempt = 0; attempt < TRIES; attempt++) {
    start = fmax(start, 0.2 * elements);
    eb_mesh *coarse = NULL;
    EB_TRY(eb_stuff_to_count(solid, (int32_t)start, near, &coarse));
    if (coarse->node_count < nodes) {
      eb_error error = eb_mesh_split_surface(coarse, nodes - coarse->node_count, out);
      eb_mesh_destroy(coarse);
      EB_TRY(error);
    } else {
      *out = coarse;
    }
    int32_t off = (*out)->element_count - elements;
    if (fabs((double)off) <= 0.5 * tolerance * elements) return EB_OK;
    if (attempt + 1 == TRIES) break;
    start -= off / gain;
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return EB_OK;
}

eb_error eb_stuff_to_counts(const eb_solid *solid, int32_t elements, int32_t nodes,
                            double tolerance, eb_mesh **out) {
  *out = NULL;
  EB_TRY(eb_stuff_to_count(solid, elements, tolerance, out));
  if (relative((*out)->node_count, nodes) < -tolerance) {
    int32_t plain_nodes = (*out)->node_count;
    eb_mesh_destroy(*out);
    *out = NULL;
    EB_TRY(search_start(solid, elements, nodes, tolerance, plain_nodes, out));
  }
  if (fabs(relative((*out)->element_count, elements)) <= tolerance &&
      fabs(relative((*out)->node_count, nodes)) <= tolerance)
    return EB_OK;
  eb_error error = EB_ERROR(
      EB_ERR_INVALID,
      "the shape gives %d elements and %d nodes where %d and %d are wanted, and the tolerance is "
      "%g; change the shape or the targets",
      (*out)->element_count, (*out)->node_count, elements, nodes, tolerance);
  eb_mesh_destroy(*out);
  *out = NULL;
  return error;
}
