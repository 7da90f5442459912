/* The parts of eb_intersections that do not change with the positions: a tree over the triangles of
 * every solid, halved at the median of the widest side; whether its surface is closed, every edge
 * being run through as often one way as the other; a vertex of each connected piece of it; and its
 * fans, vertices that triangles go all round of, once, in an order.
 *
 * Workspace of eb_intersections_create: some 100 bytes a triangle and 4 a vertex, freed before it
 * returns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/intersections_data.h"
#include "problems/base/memory.h"

/* An edge of a triangle: its ends, the lower first, and whether the triangle runs through it that
 * way (1) or back (-1). */
typedef struct edge {
  int32_t low, high, solid, way;
} edge;

typedef struct builder {
  eb_intersections *c;
  const eb_solids *from;
  double (*centre)[3]; /* thrice that of each triangle as given, m */
  int32_t *order;      /* triangles as given, by solid and then by tree */
  int32_t *root;       /* a vertex: towards the one that stands for its piece */
  uint8_t *seen;       /* a vertex: its piece is known */
  edge *edges;         /* 3 a triangle */
  eb_arena work;       /* of these */
} builder;

/* ---- trees ----------------------------------------------------------------------------------- */

/* Puts the `rank` lowest centres along `axis` of order[0 .. count - 1] first (Hoare's
 * selection). */
static void select_rank(const builder *b, int axis, int32_t *order, int32_t count, int32_t rank) {
  int32_t lo = 0, hi = count - 1;
  while (lo < hi) {
    double pivot = b->centre[order[(lo + hi) / 2]][axis];
    int32_t i = lo, j = hi;
    while (i <= j) {
      while (b->centre[order[i]][axis] < pivot) i++;
      while (b->centre[order[j]][axis] > pivot) j--;
      if (i > j) break;
      int32_t keep = order[i];
      order[i++] = order[j];
      order[j--] = keep;
    }
    if (rank > j && rank < i) return;
    if (rank <= j)
      hi = j;
    else
      lo = i;
  }
}

/* The subtree over order[first ..]; halving keeps the recursion below 32 levels. */
static void build(builder *b, int32_t first, int32_t count) {
  int32_t at = b->c->node_count++;
  b->c->nodes[at] = (eb_span_node){first, count, 0, at + 1};
  if (count <= EB_SPAN_LEAF) return;
  int32_t *order = b->order + first, half = count / 2;
  double width[3];
  for (int d = 0; d < 3; d++) {
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t i = 0; i < count; i++) {
      lo = fmin(lo, b->centre[order[i]][d]);
      hi = fmax(hi, b->centre[order[i]][d]);
    }
    width[d] = hi - lo;
  }
  int axis = width[1] > width[0];
  if (width[2] > width[axis]) axis = 2;
  select_rank(b, axis, order, count, half);
  build(b, first, half);
  b->c->nodes[at].second = b->c->node_count;
  build(b, first + half, count - half);
  b->c->nodes[at].after = b->c->node_count;
}

static void build_trees(builder *b, const double *x) {
  eb_intersections *c = b->c;
  for (int32_t t = 0; t < c->triangle_count; t++)
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++)
        b->centre[t][d] += x[3 * (size_t)b->from->triangles[3 * (size_t)t + (size_t)k] + (size_t)d];
  /* By solid, in the order given (a counting sort); last_piece serves as the end of each solid's.
   */
  const eb_solids *from = b->from;
  for (int32_t t = 0; t < from->triangle_count; t++) c->solids[from->solid[t]].last_piece++;
  for (int32_t s = 1; s < from->count; s++) c->solids[s].last_piece += c->solids[s - 1].last_piece;
  for (int32_t t = from->triangle_count; t-- > 0;)
    b->order[--c->solids[from->solid[t]].last_piece] = t;
  for (int32_t s = 0, at = 0; s < c->count; s++) {
    int32_t first = at;
    while (at < c->triangle_count && b->from->solid[b->order[at]] == s) at++;
    c->solids[s].kind = b->from->kind[s];
    c->solids[s].root = c->node_count;
    if (at > first) build(b, first, at - first);
    c->solids[s].last = c->node_count;
  }
  for (size_t t = 0; t < (size_t)c->triangle_count; t++)
    memcpy(c->triangles + 3 * t, b->from->triangles + 3 * (size_t)b->order[t], 3 * sizeof(int32_t));
}

/* ---- closed surfaces and their pieces -------------------------------------------------------- */

static int compare_edges(const void *a, const void *b) {
  const edge *e = a, *f = b;
  if (e->low != f->low) return e->low < f->low ? -1 : 1;
  return (e->high > f->high) - (e->high < f->high);
}

static void mark_closed(builder *b) {
  size_t count = 3 * (size_t)b->from->triangle_count;
  for (size_t i = 0; i < count; i++) {
    int32_t from = b->from->triangles[i], to = b->from->triangles[i % 3 == 2 ? i - 2 : i + 1];
    bool up = from < to;
    b->edges[i] = (edge){up ? from : to, up ? to : from, b->from->solid[i / 3], up ? 1 : -1};
  }
  qsort(b->edges, count, sizeof *b->edges, compare_edges);
  for (int32_t s = 0; s < b->c->count; s++)
    b->c->solids[s].closed = b->c->solids[s].last > b->c->solids[s].root;
  for (size_t i = 0, end; i < count; i = end) {
    int32_t sum = 0;
    for (end = i; end < count && compare_edges(&b->edges[i], &b->edges[end]) == 0; end++)
      sum += b->edges[end].way;
    if (sum != 0) b->c->solids[b->edges[i].solid].closed = false;
  }
}

static int32_t find(int32_t *root, int32_t i) {
  while (root[i] != i) i = root[i] = root[root[i]];
  return i;
}

/* Triangles are in the order of the trees, so those of a solid are together. */
static void find_pieces(builder *b) {
  eb_intersections *c = b->c;
  int32_t count = 0;
  for (int32_t i = 0; i < b->from->vertex_count; i++) b->root[i] = i;
  for (size_t i = 0; i < 3 * (size_t)c->triangle_count; i++)
    b->root[find(b->root, c->triangles[i])] = find(b->root, c->triangles[i - i % 3]);
  for (int32_t s = 0; s < c->count; s++) {
    eb_intersected_solid *solid = &c->solids[s];
    solid->first_piece = count;
    bool empty = solid->last == solid->root;
    int32_t first = empty ? 0 : 3 * c->nodes[solid->root].first;
    int32_t last = empty ? 0 : first + 3 * c->nodes[solid->root].count;
    for (int32_t i = first; i < last; i++) {
      int32_t vertex = find(b->root, c->triangles[i]);
      if (!b->seen[vertex]) c->piece[count++] = vertex;
      b->seen[vertex] = 1;
    }
    solid->last_piece = count;
  }
}

/* ---- fans ------------------------------------------------------------------------------------ */

static int32_t after(const eb_intersections *c, int32_t corner, int32_t steps) {
  return c->triangles[corner - corner % 3 + (corner % 3 + steps) % 3];
}

/* Puts spokes into the order in which each triangle ends where the next begins. False when that is
 * not one round of all of them. */
static bool go_round(const eb_intersections *c, eb_spoke *spokes, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    int32_t end = after(c, spokes[i].corner, 2), next = -1, matches = 0;
    for (int32_t j = 0; j < count; j++)
      if (spokes[j].rim == end) {
        next = j;
        matches++;
      }
    bool closes = i == count - 1;
    if (matches != 1 || (closes ? next != 0 : next <= i)) return false;
    if (closes) break;
    eb_spoke keep = spokes[i + 1];
    spokes[i + 1] = spokes[next];
    spokes[next] = keep;
  }
  return count >= 3;
}

/* Fans of soft solids, through the spokes of every vertex: those of vertex i end up at start[i] ..
 * start[i + 1] - 1. `start` has an entry a vertex and one more, 0. */
static void find_fans(eb_intersections *c, int32_t vertices, int32_t *start) {
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t s = 0; s < c->count; s++) {
      const eb_intersected_solid *solid = &c->solids[s];
      bool soft = solid->kind == EB_SOLID_SOFT && solid->last > solid->root;
      int32_t first = soft ? 3 * c->nodes[solid->root].first : 0;
      int32_t last = soft ? first + 3 * c->nodes[solid->root].count : 0;
      for (int32_t k = first; k < last; k++) {
        int32_t *at = &start[c->triangles[k]];
        if (pass == 0)
          ++*at;
        else
          c->spokes[--*at] = (eb_spoke){after(c, k, 1), k};
      }
    }
    for (int32_t i = 0; pass == 0 && i < vertices; i++) start[i + 1] += start[i];
  }
  for (int32_t i = 0; i < vertices; i++) {
    int32_t count = start[i + 1] - start[i];
    if (go_round(c, c->spokes + start[i], count))
      c->fans[c->fan_count++] = (eb_fan){i, start[i], count};
  }
  for (int32_t t = 0; t < c->triangle_count; t++)
    for (int32_t k = 0; k < 4; k++) c->mark[t][k] = eb_own_mark(t, k);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static eb_error fill(builder *b, const double *x) {
  eb_intersections *c = b->c;
  size_t triangles = (size_t)b->from->triangle_count, vertices = (size_t)b->from->vertex_count;
  int32_t *start;
  c->count = b->from->count;
  c->triangle_count = b->from->triangle_count;
  EB_TRY(EB_TAKE(&c->owned, c->solids, b->from->count));
  EB_TRY(EB_TAKE(&c->owned, c->found, b->from->count));
  EB_TRY(EB_TAKE(&c->owned, c->triangles, 3 * triangles));
  EB_TRY(EB_TAKE(&c->owned, c->tight, triangles));
  EB_TRY(EB_TAKE(&c->owned, c->nodes, 2 * triangles));
  EB_TRY(EB_TAKE(&c->owned, c->spans, 2 * triangles));
  EB_TRY(EB_TAKE(&c->owned, c->piece, triangles));
  EB_TRY(EB_TAKE(&c->owned, c->fans, vertices));
  EB_TRY(EB_TAKE(&c->owned, c->spokes, 3 * triangles));
  EB_TRY(EB_TAKE(&c->owned, c->normals, triangles));
  EB_TRY(EB_TAKE(&c->owned, c->mark, triangles));
  EB_TRY(EB_TAKE(&b->work, b->centre, triangles));
  EB_TRY(EB_TAKE(&b->work, b->order, triangles));
  EB_TRY(EB_TAKE(&b->work, b->edges, 3 * triangles));
  EB_TRY(EB_TAKE(&b->work, b->root, vertices));
  EB_TRY(EB_TAKE(&b->work, b->seen, vertices));
  build_trees(b, x);
  mark_closed(b);
  find_pieces(b);
  EB_TRY(EB_TAKE(&b->work, start, vertices + 1));
  find_fans(c, b->from->vertex_count, start);
  return EB_OK;
}

eb_error eb_intersections_create(const eb_solids *solids, const double *x, eb_intersections **out) {
  builder b = {.from = solids};
  *out = NULL;
  for (int32_t t = 0; t < solids->triangle_count; t++) {
    if (solids->solid[t] < 0 || solids->solid[t] >= solids->count)
      return EB_ERROR(EB_ERR_INVALID, "triangle %d is of solid %d; there are %d", t,
                      solids->solid[t], solids->count);
    for (size_t k = 3 * (size_t)t; k < 3 * (size_t)t + 3; k++)
      if (solids->triangles[k] < 0 || solids->triangles[k] >= solids->vertex_count)
        return EB_ERROR(EB_ERR_INVALID, "triangle %d has vertex %d; there are %d", t,
                        solids->triangles[k], solids->vertex_count);
  }
  EB_TRY(EB_NEW(b.c, 1));
  eb_error error = fill(&b, x);
  eb_arena_clear(&b.work);
  if (error)
    eb_intersections_destroy(b.c);
  else
    *out = b.c;
  return error;
}

void eb_intersections_destroy(eb_intersections *c) {
  if (!c) return;
  eb_arena_clear(&c->owned);
  free(c);
}
