/* Collision meshes with positions and reaches, and detection by brute force over all pairs. */
#ifndef EB_TESTS_COLLISIONS_FIXTURE_H
#define EB_TESTS_COLLISIONS_FIXTURE_H

#include "problems/collision/collisions.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/tap.h"

typedef enum body_kind { DEFORMABLE, RIGID, OBSTACLE } body_kind;

typedef struct world {
  int32_t vertices, triangles, groups;
  int32_t triangle[3 * 2000], group[3000];
  uint8_t rigid[64], obstacle[64];
  double x[3 * 3000], reach[3000];
  eb_collision_mesh *mesh;
  eb_collisions *collisions;
} world;

static world *new_world(void) {
  world *w = calloc(1, sizeof *w);
  if (!w) exit(1);
  return w;
}

static void begin_group(world *w, body_kind kind) {
  w->rigid[w->groups] = kind == RIGID;
  w->obstacle[w->groups] = kind == OBSTACLE;
  w->groups++;
}

static int32_t add_vertex(world *w, const double x[3], double reach) {
  memcpy(w->x + 3 * w->vertices, x, 3 * sizeof *x);
  w->reach[w->vertices] = reach;
  w->group[w->vertices] = w->groups - 1;
  return w->vertices++;
}

static void add_triangle(world *w, int32_t a, int32_t b, int32_t c) {
  const int32_t corners[3] = {a, b, c};
  memcpy(w->triangle + 3 * w->triangles++, corners, sizeof corners);
}

/* `count` triangles of their own vertices in a cube of side 1, edges up to `size`; flat ones lie in
 * the plane z = 1/2, thin ones have two corners close to each other. */
__attribute__((unused)) static void add_soup(world *w, random_state *random, body_kind kind,
                                             int32_t count, double size, bool flat, bool thin,
                                             double reach) {
  begin_group(w, kind);
  for (int32_t t = 0; t < count; t++) {
    double corner[3][3];
    for (int d = 0; d < 3; d++) {
      double middle = flat && d == 2 ? 0.5 : random_uniform(random, 0, 1);
      double spread = flat && d == 2 ? 0 : size;
      for (int k = 0; k < 3; k++)
        corner[k][d] = thin && k == 2 ? corner[1][d] + 1e-9 * random_normal(random)
                                      : middle + random_uniform(random, -spread, spread);
    }
    int32_t first = w->vertices;
    for (int k = 0; k < 3; k++) add_vertex(w, corner[k], reach);
    add_triangle(w, first, first + 1, first + 2);
  }
}

/* A torus about a turned axis, radii `radius` and 0.4 radius. */
__attribute__((unused)) static void add_torus(world *w, random_state *random, body_kind kind,
                                              int32_t around, int32_t across, double radius,
                                              const double middle[3], double reach) {
  const double turn = 2 * 3.14159265358979323846;
  double R[9];
  int32_t first = w->vertices;
  begin_group(w, kind);
  random_rotation(random, R);
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < across; j++) {
      double u = turn * i / around, v = turn * j / across, r = 1 + 0.4 * cos(v), x[3];
      double X[3] = {r * cos(u), r * sin(u), 0.4 * sin(v)};
      for (int d = 0; d < 3; d++)
        x[d] = middle[d] + radius * (R[3 * d] * X[0] + R[3 * d + 1] * X[1] + R[3 * d + 2] * X[2]);
      add_vertex(w, x, reach);
      int32_t a = i * across + j, b = (i + 1) % around * across + j;
      int32_t c = (i + 1) % around * across + (j + 1) % across, e = i * across + (j + 1) % across;
      add_triangle(w, first + a, first + b, first + c);
      add_triangle(w, first + a, first + c, first + e);
    }
}

static void open_world(world *w) {
  tap_require(eb_collision_mesh_create(w->vertices, w->triangles, w->triangle, w->group, w->groups,
                                       w->rigid, w->obstacle, &w->mesh),
              "collision mesh");
  tap_require(eb_collisions_create(w->mesh, &w->collisions), "collisions");
}

static void close_world(world *w) {
  eb_collisions_destroy(w->collisions);
  eb_collision_mesh_destroy(w->mesh);
  free(w);
}
OWNED_POINTER(world, close_world)

/* ---- motions --------------------------------------------------------------------------------- */

/* Every vertex in a random direction by up to `share` of its reach. */
__attribute__((unused)) static void move(const world *w, random_state *random, double share,
                                         double *x1) {
  for (int32_t i = 0; i < w->vertices; i++) {
    double direction[3], length = random_uniform(random, 0, share) * w->reach[i];
    random_direction(random, 3, direction);
    for (int d = 0; d < 3; d++) x1[3 * i + d] = w->x[3 * i + d] + length * direction[d];
  }
}

/* ---- brute force ----------------------------------------------------------------------------- */

static bool may_meet(const world *w, const int32_t *a, int na, const int32_t *b, int nb) {
  int32_t g = w->group[a[0]], h = w->group[b[0]];
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++)
      if (a[i] == b[j]) return false;
  return !(w->obstacle[g] && w->obstacle[h]) && !(g == h && w->rigid[g]);
}

/* Do the boxes of two features meet, each of what its vertices cover from x0 to x1 and `grow` times
 * their reach around it, and of `slack`? */
static bool boxes_meet(const world *w, const double *x1, double grow, double slack,
                       const int32_t *a, int na, const int32_t *b, int nb) {
  for (int d = 0; d < 3; d++) {
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < na + nb; k++) {
      int32_t v = k < na ? a[k] : b[k - na];
      double r = grow * w->reach[v] + slack;
      lo[k >= na] = fmin(lo[k >= na], fmin(w->x[3 * v + d], x1[3 * v + d]) - r);
      hi[k >= na] = fmax(hi[k >= na], fmax(w->x[3 * v + d], x1[3 * v + d]) + r);
    }
    if (lo[0] > hi[1] || lo[1] > hi[0]) return false;
  }
  return true;
}

/* Calls `visit` for every pair that may be tested; the order is that of hits but for the numbers of
 * corners. */
static void visit_pairs(const world *w, void (*visit)(void *context, const eb_pair *pair),
                        void *context) {
  const eb_collision_mesh *m = w->mesh;
  for (int32_t v = 0; v < m->vertex_count; v++)
    for (int32_t t = 0; t < m->triangle_count; t++) {
      eb_pair pair = {.kind = EB_VERTEX_FACE, .vertex = {v}};
      memcpy(pair.vertex + 1, m->triangles + 3 * t, 3 * sizeof(int32_t));
      if (may_meet(w, pair.vertex, 1, pair.vertex + 1, 3)) visit(context, &pair);
    }
  for (int32_t e = 0; e < m->edge_count; e++)
    for (int32_t f = e + 1; f < m->edge_count; f++) {
      eb_pair pair = {.kind = EB_EDGE_EDGE};
      memcpy(pair.vertex, m->edges + 2 * e, 2 * sizeof(int32_t));
      memcpy(pair.vertex + 2, m->edges + 2 * f, 2 * sizeof(int32_t));
      if (may_meet(w, pair.vertex, 2, pair.vertex + 2, 2)) visit(context, &pair);
    }
}

static bool pair_boxes_meet(const world *w, const double *x1, double grow, double slack,
                            const eb_pair *pair) {
  int first = pair->kind == EB_VERTEX_FACE ? 1 : 2;
  return boxes_meet(w, x1, grow, slack, pair->vertex, first, pair->vertex + first, 4 - first);
}

typedef struct brute {
  const world *w;
  const double *x1;
  double grow, slack;
  int64_t meeting;
  eb_hit *hits;
  int32_t count, room;
} brute;

static void count_meeting(void *context, const eb_pair *pair) {
  brute *b = context;
  b->meeting += pair_boxes_meet(b->w, b->x1, b->grow, b->slack, pair);
}

static void test_pair(void *context, const eb_pair *pair) {
  brute *b = context;
  double x0[4][3], x1[4][3];
  eb_hit hit = {.pair = *pair};
  if (!pair_boxes_meet(b->w, b->x1, 0, 0, pair)) return;
  for (int k = 0; k < 4; k++) {
    memcpy(x0[k], b->w->x + 3 * pair->vertex[k], sizeof x0[k]);
    memcpy(x1[k], b->x1 + 3 * pair->vertex[k], sizeof x1[k]);
  }
  if (!eb_continuous_collision((eb_pair_kind)pair->kind, (const double(*)[3])x0,
                               (const double(*)[3])x1, &hit.time))
    return;
  if (b->count == b->room) {
    b->room = 2 * b->room + 64;
    b->hits = realloc(b->hits, (size_t)b->room * sizeof *b->hits);
  }
  b->hits[b->count++] = hit;
}

/* Pairs whose boxes, within reach and grown by `slack`, meet. */
__attribute__((unused)) static int64_t brute_candidates(const world *w, double slack) {
  brute b = {.w = w, .x1 = w->x, .grow = 1, .slack = slack};
  visit_pairs(w, count_meeting, &b);
  return b.meeting;
}

static int by_pair(const void *a, const void *b) {
  const eb_hit *p = a, *q = b;
  if (p->pair.kind != q->pair.kind) return p->pair.kind < q->pair.kind ? -1 : 1;
  for (int k = 0; k < 4; k++)
    if (p->pair.vertex[k] != q->pair.vertex[k])
      return p->pair.vertex[k] < q->pair.vertex[k] ? -1 : 1;
  return 0;
}

/* All hits of the motion to x1, sorted; the caller frees them. */
__attribute__((unused)) static eb_hit *brute_hits(const world *w, const double *x1,
                                                  int32_t *count) {
  brute b = {.w = w, .x1 = x1};
  visit_pairs(w, test_pair, &b);
  if (b.count > 0) qsort(b.hits, (size_t)b.count, sizeof *b.hits, by_pair);
  *count = b.count;
  return b.hits;
}

/* Does `find` return what brute force does, pair by pair and with the same times? Adds the number
 * of hits to *hits. */
__attribute__((unused)) static bool finds_all(const world *w, const double *x1, int64_t *hits) {
  const eb_hit *got;
  int32_t count, want_count;
  eb_hit *want = brute_hits(w, x1, &want_count);
  tap_require(eb_collisions_find(w->collisions, x1, &got, &count), "find");
  bool same = count == want_count;
  for (int32_t k = 0; k < count && same; k++)
    same = by_pair(&got[k], &want[k]) == 0 && got[k].time == want[k].time;
  if (!same) printf("#   %d hits, brute force %d\n", count, want_count);
  *hits += want_count;
  free(want);
  return same;
}

#endif
