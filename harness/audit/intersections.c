/* The boxes of every solid's tree (intersections_trees.c) are fitted to the positions, and two
 * trees are walked together; where the boxes of two triangles meet, the triangles are tested
 * exactly (exact_triangles.h), but for those that floating point with a bound on its error knows
 * apart: neighbours in a fan that spreads (exact_fan.h), and what lies on one side of the other's
 * plane.
 *
 * A point p is inside a solid when its surface winds around it: a ray from p along +x crosses the
 * surface a signed number of times, by which side each triangle shows it. The triangles are looked
 * at along x, with p moved by a vanishing amount down y and by a far smaller one up z, the same for
 * all: then the ray meets no edge and no corner, and every sign is that of orient2d or orient3d. A
 * surface that points inward, around a cavity, counts -1.
 *
 * Of solids that do not cross, one vertex of each connected piece of surface is asked. */
#include "harness/audit/intersections.h"

#include <stddef.h>
#include <string.h>

#include "harness/audit/intersections_data.h"
#include "harness/audit/exact.h"
#include "harness/audit/exact_triangles.h"

/* ---- boxes ----------------------------------------------------------------------------------- */

static inline void widen(eb_span *a, const eb_span *b) {
  for (int d = 0; d < 3; d++) {
    a->lo[d] = b->lo[d] < a->lo[d] ? b->lo[d] : a->lo[d];
    a->hi[d] = b->hi[d] > a->hi[d] ? b->hi[d] : a->hi[d];
  }
}

static inline eb_span point_span(const double *p) {
  eb_corner corner = {p[0], p[1], p[2], 0};
  return (eb_span){corner, corner};
}

/* Positions, and trees that are fitted to them by parts that a team shares. */
typedef struct fitting {
  eb_intersections *c;
  const double *x;
} fitting;

enum { FIT_PARTS = 4 };

/* The n-th of so many parts of a list begins there. */
static int32_t part_start(int32_t count, int32_t part, int32_t parts) {
  return (int32_t)((int64_t)count * part / parts);
}

/* Boxes and normals of a part of the triangles. */
static void fit_triangles(void *context, int32_t part) {
  const fitting *now = context;
  eb_intersections *c = now->c;
  size_t first = (size_t)part_start(c->triangle_count, part, FIT_PARTS),
         last = (size_t)part_start(c->triangle_count, part + 1, FIT_PARTS);
  for (size_t t = first; t < last; t++) {
    const int32_t *v = c->triangles + 3 * t;
    const double *corner[3] = {now->x + 3 * (size_t)v[0], now->x + 3 * (size_t)v[1],
                               now->x + 3 * (size_t)v[2]};
    eb_span span = point_span(corner[0]), second = point_span(corner[1]),
            third = point_span(corner[2]);
    widen(&span, &second);
    widen(&span, &third);
    c->tight[t] = span;
    c->normals[t] = eb_exact_normal_of(corner[0], corner[1], corner[2]);
  }
}

static void fit_trees(eb_intersections *c) {
  for (int32_t i = c->node_count; i-- > 0;) {
    const eb_span_node *node = &c->nodes[i];
    c->spans[i] = node->second ? c->spans[i + 1] : c->tight[node->first];
    if (node->second) widen(&c->spans[i], &c->spans[node->second]);
    for (int32_t t = 1; !node->second && t < node->count; t++)
      widen(&c->spans[i], &c->tight[node->first + t]);
  }
}

/* The boxes of the trees, which are one part, and the fans. */
static void fit_rest(void *context, int32_t part) {
  const fitting *now = context;
  if (part == 0)
    fit_trees(now->c);
  else
    eb_intersections_mark_fans(now->c, now->x, part_start(now->c->fan_count, part - 1, FIT_PARTS),
                               part_start(now->c->fan_count, part, FIT_PARTS));
}

static void fit(eb_intersections *c, eb_team *team, const double *x) {
  fitting now = {c, x};
  eb_team_run(team, FIT_PARTS, fit_triangles, &now);
  eb_team_run(team, 1 + FIT_PARTS, fit_rest, &now);
}

/* ---- pairs of triangles ---------------------------------------------------------------------- */

/* The triangles of a leaf that come near the box of another. Lists grow by whether, not by branches
 * that a processor could not foresee. */
static int32_t near_box(const eb_intersections *c, const eb_span_node *leaf,
                        const eb_span_node *other, double distance, int32_t out[EB_SPAN_LEAF]) {
  const eb_span *box = &c->spans[other - c->nodes];
  int32_t count = 0;
  for (int32_t t = leaf->first; t < leaf->first + leaf->count; t++) {
    out[count] = t;
    count += !eb_span_apart(&c->tight[t], box, distance);
  }
  return count;
}

int32_t eb_intersections_pairs(const eb_intersections *c, const eb_span_node *A,
                               const eb_span_node *B, double distance,
                               int32_t pairs[EB_SPAN_PAIRS][2]) {
  int32_t of_a[EB_SPAN_LEAF], of_b[EB_SPAN_LEAF], count = 0;
  int32_t in_a = near_box(c, A, B, distance, of_a), in_b = near_box(c, B, A, distance, of_b);
  for (int32_t i = 0; i < in_a; i++)
    for (int32_t j = A == B ? i + 1 : 0; j < in_b; j++) {
      pairs[count][0] = of_a[i];
      pairs[count][1] = of_b[j];
      count += !eb_span_apart(&c->tight[of_a[i]], &c->tight[of_b[j]], distance);
    }
  return count;
}

/* ---- intersections
 * ------------------------------------------------------------------------------- */

/* Whether two triangles with these marks share a vertex whose fan spreads. */
static inline bool share_fan(const int32_t a[4], const int32_t b[4]) {
  typedef int32_t marks __attribute__((vector_size(16)));
  typedef long long words __attribute__((vector_size(16)));
  marks s, t;
  memcpy(&s, a, sizeof s);
  memcpy(&t, b, sizeof t);
  marks next = __builtin_shufflevector(t, t, 1, 2, 0, 3);
  marks last = __builtin_shufflevector(t, t, 2, 0, 1, 3);
  words any = (words)((s == t) | (s == next) | (s == last));
  return (any[0] | any[1]) != 0;
}

/* Crossings of triangles of leaf A and leaf B, which may be the same. Most pairs whose boxes meet
 * are neighbours. */
static int64_t count_leaves(const eb_intersections *c, const double *x, const eb_span_node *A,
                            const eb_span_node *B) {
  int32_t near[EB_SPAN_PAIRS][2];
  int32_t count = eb_intersections_pairs(c, A, B, 0, near), left = 0;
  int64_t met = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t s = near[i][0], t = near[i][1];
    near[left][0] = s;
    near[left][1] = t;
    left += !share_fan(c->mark[s], c->mark[t]);
  }
  for (int32_t i = 0; i < left; i++) {
    int32_t s = near[i][0], t = near[i][1], *of_s = c->triangles + 3 * (size_t)s,
            *of_t = c->triangles + 3 * (size_t)t;
    if (!eb_exact_triangles_beside(x, of_s, &c->normals[s], of_t, &c->normals[t]))
      met += eb_exact_triangles_cross(x, of_s, of_t);
  }
  return met;
}

/* Pairs of a triangle under node a and one under node b, which have none in common. */
static int64_t count_between(const eb_intersections *c, const double *x, int32_t a, int32_t b) {
  const eb_span_node *A = &c->nodes[a], *B = &c->nodes[b];
  if (eb_span_apart(&c->spans[a], &c->spans[b], 0)) return 0;
  if (A->second && (!B->second || A->count >= B->count))
    return count_between(c, x, a + 1, b) + count_between(c, x, A->second, b);
  if (B->second) return count_between(c, x, a, b + 1) + count_between(c, x, a, B->second);
  return count_leaves(c, x, A, B);
}

/* Pairs of triangles under one node. */
static int64_t count_within(const eb_intersections *c, const double *x, int32_t a) {
  const eb_span_node *A = &c->nodes[a];
  if (!A->second) return count_leaves(c, x, A, A);
  return count_within(c, x, a + 1) + count_within(c, x, A->second) +
         count_between(c, x, a + 1, A->second);
}

/* ---- nesting --------------------------------------------------------------------------------- */

/* Whether the ray from p crosses triangle t, and to which side: 1 when it leaves the solid there,
 * -1 when it enters. */
static int crossed(const double *p, const double *const t[3]) {
  int winding = 0;
  for (int i = 0; i < 3; i++) {
    const double *a = t[i], *b = t[(i + 1) % 3];
    bool up = a[2] <= p[2] && p[2] < b[2], down = b[2] <= p[2] && p[2] < a[2];
    if (up) winding += eb_exact_orient2d(0, a, b, p) >= 0;
    if (down) winding -= eb_exact_orient2d(0, b, a, p) >= 0;
  }
  /* orient3d is positive behind the triangle, from where the ray comes when it leaves. */
  return winding && winding * eb_exact_orient3d(t[0], t[1], t[2], p) > 0 ? winding : 0;
}

static int winding_number(const eb_intersections *c, const double *x, const eb_solid *solid,
                          const double *p) {
  int winding = 0;
  for (int32_t i = solid->root; i < solid->last;) {
    const eb_span_node *node = &c->nodes[i];
    const eb_span *span = &c->spans[i];
    bool missed = p[0] > span->hi[0] || p[1] < span->lo[1] || p[1] > span->hi[1] ||
                  p[2] < span->lo[2] || p[2] > span->hi[2];
    for (int32_t t = node->first; !missed && !node->second && t < node->first + node->count; t++) {
      const int32_t *v = c->triangles + 3 * (size_t)t;
      const double *corner[3] = {x + 3 * (size_t)v[0], x + 3 * (size_t)v[1], x + 3 * (size_t)v[2]};
      winding += crossed(p, corner);
    }
    i = missed ? node->after : i + 1;
  }
  return winding;
}

static bool lies_inside(const eb_intersections *c, const double *x, const eb_solid *inner,
                        const eb_solid *outer) {
  for (int32_t i = inner->first_piece; outer->closed && i < inner->last_piece; i++)
    if (winding_number(c, x, outer, x + 3 * (size_t)c->piece[i]) > 0) return true;
  return false;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void count_pair(const eb_intersections *c, const double *x, const eb_solid *a,
                       const eb_solid *b, eb_intersection_counts *counts) {
  bool a_fixed = a->kind == EB_SOLID_OBSTACLE, b_fixed = b->kind == EB_SOLID_OBSTACLE;
  if (a_fixed && b_fixed) return;
  if (eb_span_apart(&c->spans[a->root], &c->spans[b->root], 0)) return;
  int64_t met = count_between(c, x, a->root, b->root);
  counts->between += met;
  if (a_fixed || b_fixed) counts->obstacles += met;
  if (met == 0) counts->nested += lies_inside(c, x, a, b) + lies_inside(c, x, b, a);
}

typedef struct counting {
  const eb_intersections *c;
  const double *x;
} counting;

/* Of solid i, and with those after it. */
static void count_solid(void *context, int32_t i) {
  const counting *now = context;
  const eb_intersections *c = now->c;
  const eb_solid *a = &c->solids[i];
  eb_intersection_counts counts = {0};
  if (a->kind == EB_SOLID_SOFT && a->root < a->last) counts.self = count_within(c, now->x, a->root);
  for (int32_t j = i + 1; a->root < a->last && j < c->count; j++)
    if (c->solids[j].root < c->solids[j].last) count_pair(c, now->x, a, &c->solids[j], &counts);
  c->found[i] = counts;
}

void eb_intersections_count(eb_intersections *c, eb_team *team, const double *x,
                            eb_intersection_counts *counts) {
  counting now = {c, x};
  fit(c, team, x);
  eb_team_run(team, c->count, count_solid, &now);
  *counts = (eb_intersection_counts){0};
  for (int32_t i = 0; i < c->count; i++) {
    counts->between += c->found[i].between;
    counts->obstacles += c->found[i].obstacles;
    counts->self += c->found[i].self;
    counts->nested += c->found[i].nested;
  }
}
