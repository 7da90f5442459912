/* Colours and rounds.
 *
 * Colours are greedy in the order of the nodes' places (places.h): each takes the first that none
 * of its neighbours has, at most one more than the largest number of neighbours. A body has the
 * same colours, and so the same sweeps, however it is numbered. In a colour nodes are sorted by how
 * many elements they have, so that the lanes of a group have about as many and few rounds are
 * filled up; the elements of a node by their regions, since all lanes of a round go by one law. */
#include "solvers/vertex_block/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/elasticity/elements.h"
#include "problems/mesh/places.h"

/* ---- colours --------------------------------------------------------------------------------- */

static eb_error colour_nodes(const eb_mesh *mesh, const eb_block_matrix *graph, int32_t *colour,
                             int32_t *count) {
  EB_FREED int32_t *order = NULL;
  EB_FREED int32_t *taken_by =
      NULL; /* colour: the last node that found it at a neighbour, plus one */
  EB_TRY(EB_NEW(order, graph->rows));
  EB_TRY(eb_mesh_nodes_by_place(mesh, order));
  EB_TRY(EB_NEW(taken_by, (size_t)graph->rows + 1));
  *count = 0;
  for (int32_t i = 0; i < graph->rows; i++) colour[i] = -1;
  for (int32_t at = 0; at < graph->rows; at++) {
    int32_t i = order[at];
    for (int32_t k = graph->start[i]; k < graph->start[i + 1]; k++)
      if (colour[graph->column[k]] >= 0) taken_by[colour[graph->column[k]]] = i + 1;
    int32_t free_one = 0;
    while (taken_by[free_one] == i + 1) free_one++;
    colour[i] = free_one;
    if (free_one >= *count) *count = free_one + 1;
  }
  return EB_OK;
}

/* ---- elements of nodes ----------------------------------------------------------------------- */

/* Elements around every node, of rising region and then element. */
typedef struct stars {
  int32_t *start; /* nodes + 1 */
  int32_t *visit; /* element x nodes of an element + the node's place */
} stars;

static eb_error find_stars(const eb_mesh *mesh, stars *out) {
  int64_t arity = (int)mesh->type, entries = arity * mesh->element_count;
  EB_TRY(EB_NEW(out->start, (size_t)mesh->node_count + 2));
  EB_TRY(EB_NEW(out->visit, entries));
  int32_t *next = out->start + 1; /* ends as the starts, one place further on */
  for (int64_t k = 0; k < entries; k++) next[mesh->elements[k] + 1]++;
  for (int32_t i = 0; i < mesh->node_count; i++) next[i + 1] += next[i];
  for (int32_t region = 0; region < mesh->region_count; region++)
    for (int64_t k = 0; k < entries; k++)
      if (mesh->region[k / arity] == region) out->visit[next[mesh->elements[k]]++] = (int32_t)k;
  return EB_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct placed {
  int32_t colour, valence, node;
} placed;

static int compare_placed(const void *a, const void *b) {
  const placed *p = a, *q = b;
  if (p->colour != q->colour) return p->colour < q->colour ? -1 : 1;
  if (p->valence != q->valence) return p->valence > q->valence ? -1 : 1;
  return (p->node > q->node) - (p->node < q->node);
}

/* What building holds besides its result. */
typedef struct builder {
  const eb_mesh *mesh;
  stars stars;
  int32_t *colour;
  placed *order; /* nodes */
} builder;

/* The rounds of one group from `round` on, its lanes' elements taken region by region; returns the
 * next round. With visits NULL only counts. */
static int32_t fill_rounds(const builder *b, eb_vertex_blocks *v, int32_t group, int32_t round) {
  const int32_t *node = v->node + EB_LANES * (int64_t)group;
  int32_t at[EB_LANES], end[EB_LANES];
  for (int l = 0; l < EB_LANES; l++) {
    at[l] = b->stars.start[node[l]];
    end[l] = l < v->lanes[group] ? b->stars.start[node[l] + 1] : at[l];
  }
  for (int32_t region = 0; region < b->mesh->region_count; region++)
    for (bool more = true; more;) {
      more = false;
      for (int l = 0; l < EB_LANES; l++) {
        bool visits = at[l] < end[l] && b->mesh->region[b->stars.visit[at[l]] / v->nodes] == region;
        if (v->visit)
          v->visit[EB_LANES * (int64_t)round + l] =
              visits ? b->stars.visit[at[l]] : v->element_count * v->nodes;
        at[l] += visits;
        more |= visits;
      }
      if (more && v->law) v->law[round] = region;
      round += more;
    }
  return round;
}

static eb_error order_nodes(const eb_block_matrix *graph, builder *b, eb_vertex_blocks *v) {
  EB_TRY(EB_NEW(b->colour, v->node_count));
  EB_TRY(EB_NEW(b->order, v->node_count));
  EB_TRY(find_stars(b->mesh, &b->stars));
  EB_TRY(colour_nodes(b->mesh, graph, b->colour, &v->colour_count));
  for (int32_t i = 0; i < v->node_count; i++)
    b->order[i] = (placed){b->colour[i], b->stars.start[i + 1] - b->stars.start[i], i};
  qsort(b->order, (size_t)v->node_count, sizeof *b->order, compare_placed);
  return EB_OK;
}

/* Nodes into groups, colour by colour. */
static eb_error fill_groups(builder *b, eb_vertex_blocks *v) {
  EB_TRY(EB_NEW(v->colour_start, (size_t)v->colour_count + 1));
  int32_t most = v->node_count / EB_LANES + v->colour_count;
  EB_TRY(EB_NEW(v->node, EB_LANES * (size_t)most));
  EB_TRY(EB_NEW(v->lanes, most));
  for (int32_t i = 0; i < v->node_count; i++) {
    const placed *at = &b->order[i];
    int32_t group = v->group_count - 1;
    if (i == 0 || b->order[i - 1].colour != at->colour || v->lanes[group] == EB_LANES) {
      group = v->group_count++;
      for (int l = 0; l < EB_LANES; l++) v->node[EB_LANES * (int64_t)group + l] = at->node;
    }
    v->node[EB_LANES * (int64_t)group + v->lanes[group]++] = at->node;
    v->colour_start[at->colour + 1] = v->group_count;
  }
  EB_TRY(EB_NEW(v->round_start, (size_t)v->group_count + 1));
  for (int32_t g = 0; g < v->group_count; g++)
    v->round_start[g + 1] = fill_rounds(b, v, g, v->round_start[g]);
  v->round_count = v->round_start[v->group_count];
  /* One more, into which a group's last attempt is written. */
  EB_TRY(EB_NEW(v->visit, EB_LANES * ((size_t)v->round_count + 1)));
  EB_TRY(EB_NEW(v->law, v->round_count));
  for (int32_t g = 0; g < v->group_count; g++) fill_rounds(b, v, g, v->round_start[g]);
  return EB_OK;
}

/* ---- elements -------------------------------------------------------------------------------- */

/* One lane of a batch of the elasticity, whose nodes are in ascending order. */
static void take_element(const eb_elasticity *e, int32_t batch, int lane, eb_vertex_blocks *v) {
  const int A = v->nodes, Q = v->points, stride = 3 * (A - 1) + 1;
  const int64_t element = e->element[EB_LANES * (int64_t)batch + lane];
  const int32_t *corner = v->corner + element * A;
  const eb_v4 *geometry = e->geometry + (int64_t)batch * Q * stride;
  for (int q = 0; q < Q; q++, geometry += stride) {
    eb_v4 *rest = v->rest + (element * Q + q) * A, first = {0};
    int of_first = 0;
    for (int k = 0; k < A; k++) {
      int32_t node = e->node[((int64_t)batch * A + k) * EB_LANES + lane];
      int a = 0;
      while (corner[a] != node) a++;
      if (k == 0) of_first = a;
      rest[a][3] = geometry[stride - 1][lane];
      for (int i = 0; k > 0 && i < 3; i++) {
        rest[a][i] = geometry[3 * (k - 1) + i][lane];
        first[i] -= rest[a][i];
      }
    }
    for (int i = 0; i < 3; i++) rest[of_first][i] = first[i];
  }
  for (int i = 0; v->fibre && i < 3; i++)
    v->fibre[element][i] = e->fibre[3 * (int64_t)batch + i][lane];
}

/* K of one lane, in the order of the mesh, from its entries for nodes 1 <= a <= b of the ascending
 * order and its zero sums. */
static void take_control(const eb_elasticity *e, int32_t batch, int lane, eb_vertex_blocks *v) {
  enum { A = EB_HEXAHEDRON, ENTRIES = A * (A - 1) / 2 };
  const int64_t element = e->element[EB_LANES * (int64_t)batch + lane];
  const eb_v4 *entry = e->hourglass + (int64_t)batch * ENTRIES;
  double *K = v->control + element * A * A, sorted[A][A] = {{0}};
  int place[A];
  for (int a = 1; a < A; a++)
    for (int b = a; b < A; b++) sorted[a][b] = sorted[b][a] = (*entry++)[lane];
  for (int a = 1; a < A; a++)
    for (int b = 1; b < A; b++) {
      sorted[0][b] -= sorted[a][b];
      sorted[a][0] -= sorted[a][b];
      sorted[0][0] += sorted[a][b];
    }
  for (int k = 0; k < A; k++)
    for (int a = 0; a < A; a++)
      if (v->corner[element * A + a] == e->node[((int64_t)batch * A + k) * EB_LANES + lane])
        place[k] = a;
  for (int a = 0; a < A; a++)
    for (int b = 0; b < A; b++) K[A * place[a] + place[b]] = sorted[a][b];
}

static eb_error fill_elements(const eb_elasticity *e, const eb_mesh *mesh, eb_vertex_blocks *v) {
  size_t elements = (size_t)v->element_count, A = (size_t)v->nodes;
  EB_TRY(EB_NEW(v->corner, (elements + 1) * A));
  EB_TRY(EB_NEW(v->rest, (elements + 1) * (size_t)v->points * A));
  if (e->fibre) EB_TRY(EB_NEW(v->fibre, elements + 1));
  if (e->hourglass) EB_TRY(EB_NEW(v->control, (elements + 1) * A * A));
  memcpy(v->corner, mesh->elements, elements * A * sizeof *v->corner);
  for (int32_t b = 0; b < e->batch_count; b++)
    for (int l = 0; l < EB_LANES; l++)
      if (e->element[EB_LANES * (int64_t)b + l] >= 0) {
        take_element(e, b, l, v);
        if (v->control) take_control(e, b, l, v);
      }
  return EB_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static eb_error build(const eb_scene *scene, builder *b, eb_vertex_blocks *v) {
  const eb_elasticity *e = scene->elasticity;
  *v = (eb_vertex_blocks){.nodes = e->kernels->nodes,
                          .points = e->kernels->points,
                          .node_count = e->node_count,
                          .element_count = e->element_count,
                          .laws = e->laws};
  EB_TRY(order_nodes(e->pattern, b, v));
  EB_TRY(fill_groups(b, v));
  return fill_elements(e, scene->mesh, v);
}

eb_error eb_vertex_blocks_create(const eb_scene *scene, eb_vertex_blocks *out) {
  builder b = {.mesh = scene->mesh};
  eb_error error = build(scene, &b, out);
  free(b.colour);
  free(b.order);
  free(b.stars.start);
  free(b.stars.visit);
  if (error) eb_vertex_blocks_clear(out);
  return error;
}

void eb_vertex_blocks_clear(eb_vertex_blocks *v) {
  void *const owned[] = {v->colour_start, v->node,   v->lanes, v->round_start, v->law,
                         v->visit,        v->corner, v->rest,  v->fibre,       v->control};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  *v = (eb_vertex_blocks){0};
}

int64_t eb_vertex_blocks_bytes(const eb_vertex_blocks *v) {
  int64_t elements = v->element_count + 1, index = sizeof(int32_t);
  int64_t vectors = elements * v->points * v->nodes + (v->fibre ? elements : 0);
  int64_t control = v->control ? elements * v->nodes * v->nodes : 0;
  int64_t indices = v->colour_count + 1 + (EB_LANES + 1) * ((int64_t)v->group_count + 1) +
                    (EB_LANES + 1) * (int64_t)v->round_count + elements * v->nodes;
  return vectors * (int64_t)sizeof(eb_v4) + control * (int64_t)sizeof(double) + index * indices +
         v->group_count;
}
