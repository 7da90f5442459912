/* The boxes of every solid's tree (intersections_trees.c) are fitted to the positions, and two
 * trees are walked together; where the boxes of two triangles meet, the triangles are tested
 * exactly (exact_triangles.h), but for those that floating point with a bound on its error knows
 * apart: neighbours in a fan that spreads (exact_triangles.h), and what lies on one side of the
 * other's plane.
 *
 * A point p is inside a solid when its surface winds around it: a ray from p along +x crosses the
 * surface a signed number of times, by which side each triangle shows it. The triangles are looked
 * at along x, with p moved by a vanishing amount down y and by a far smaller one up z, the same for
 * all: then the ray meets no edge and no corner, and every sign is that of orient2d or orient3d. A
 * surface that points inward, around a cavity, counts -1.
 *
 * Of solids that do not cross, one vertex of each connected piece of surface is asked.
 *
 * Triangles that are nearer than a distance, and do not cross, are nearest at a vertex and a face
 * or at two edges; which contacts join them is looked for in the whole record, since few pairs ever
 * come so near. */
#include "harness/audit/intersections.h"

#include <math.h>
#include <string.h>

#include "harness/audit/contact_law.h"
#include "harness/audit/intersections_data.h"
#include "problems/base/shuffle.h"
#include "problems/base/vector3.h"

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

/* The n-th of that many parts of a list begins there. */
static size_t part_start(int32_t count, int32_t part) {
  return (size_t)((int64_t)count * part / FIT_PARTS);
}

/* Boxes and normals of a part of the triangles. */
static void fit_triangles(void *context, int32_t part) {
  const fitting *now = context;
  eb_intersections *c = now->c;
  for (size_t t = part_start(c->triangle_count, part); t < part_start(c->triangle_count, part + 1);
       t++) {
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

/* The boxes of the trees, which are one part, and the marks of the fans: a vertex where its fan
 * spreads. */
static void fit_trees_and_fans(void *context, int32_t part) {
  const fitting *now = context;
  eb_intersections *c = now->c;
  for (int32_t i = c->node_count; part == 0 && i-- > 0;) {
    const eb_span_node *node = &c->nodes[i];
    c->spans[i] = node->second ? c->spans[i + 1] : c->tight[node->first];
    if (node->second) widen(&c->spans[i], &c->spans[node->second]);
    for (int32_t t = 1; !node->second && t < node->count; t++)
      widen(&c->spans[i], &c->tight[node->first + t]);
  }
  if (part == 0) return;
  for (size_t f = part_start(c->fan_count, part - 1); f < part_start(c->fan_count, part); f++) {
    const eb_fan *fan = &c->fans[f];
    const eb_spoke *spokes = c->spokes + fan->first;
    bool spreads = eb_exact_fan_spreads(now->x, fan->vertex, fan->count, spokes, c->normals);
    for (int32_t i = 0; i < fan->count; i++) {
      int32_t t = spokes[i].corner / 3, k = spokes[i].corner % 3;
      c->mark[t][k] = spreads ? fan->vertex : eb_own_mark(t, k);
    }
  }
}

/* ---- pairs of triangles ---------------------------------------------------------------------- */

typedef struct search {
  const eb_intersections *c;
  const double *x;
  double distance; /* m: beyond it boxes are apart */
  /* how many pairs of triangles, whose boxes are not apart, are what is searched for */
  int64_t (*count)(const struct search *s, int32_t pairs[][2], int32_t count);
  const eb_contact_record *record; /* of a search for triangles that are near, or NULL */
  int32_t *pair; /* receives a vertex of each of the last two that were found; NULL: nobody asks */
} search;

static void tell_pair(const search *s, int32_t a, int32_t b) {
  if (!s->pair) return;
  s->pair[0] = a;
  s->pair[1] = b;
}

/* Pairs of a triangle of leaf A and one of leaf B, or of two of a leaf. Lists grow by whether, not
 * by branches that a processor could not foresee. */
static int64_t count_leaves(const search *s, const eb_span_node *A, const eb_span_node *B) {
  const eb_intersections *c = s->c;
  const eb_span_node *leaf[2] = {A, B};
  int32_t near[2][EB_SPAN_LEAF], in[2] = {0, 0}, pairs[EB_SPAN_LEAF * EB_SPAN_LEAF][2], count = 0;
  for (int l = 0; l < 2; l++) {
    const eb_span *box = &c->spans[leaf[1 - l] - c->nodes];
    for (int32_t t = leaf[l]->first; t < leaf[l]->first + leaf[l]->count; t++) {
      near[l][in[l]] = t;
      in[l] += !eb_span_apart(&c->tight[t], box, s->distance);
    }
  }
  for (int32_t i = 0; i < in[0]; i++)
    for (int32_t j = A == B ? i + 1 : 0; j < in[1]; j++) {
      pairs[count][0] = near[0][i];
      pairs[count][1] = near[1][j];
      count += !eb_span_apart(&c->tight[near[0][i]], &c->tight[near[1][j]], s->distance);
    }
  return s->count(s, pairs, count);
}

/* Pairs of a triangle under node a and one under node b, which have none in common. */
static int64_t count_between(const search *s, int32_t a, int32_t b) {
  const eb_span_node *A = &s->c->nodes[a], *B = &s->c->nodes[b];
  if (eb_span_apart(&s->c->spans[a], &s->c->spans[b], s->distance)) return 0;
  if (A->second && (!B->second || A->count >= B->count))
    return count_between(s, a + 1, b) + count_between(s, A->second, b);
  if (B->second) return count_between(s, a, b + 1) + count_between(s, a, B->second);
  return count_leaves(s, A, B);
}

/* Pairs of triangles under one node. */
static int64_t count_within(const search *s, int32_t a) {
  const eb_span_node *A = &s->c->nodes[a];
  if (!A->second) return count_leaves(s, A, A);
  return count_within(s, a + 1) + count_within(s, A->second) + count_between(s, a + 1, A->second);
}

/* ---- crossings ------------------------------------------------------------------------------- */

/* Whether two triangles with these marks share a vertex whose fan spreads. */
static inline bool share_fan(const int32_t a[4], const int32_t b[4]) {
  typedef int32_t marks __attribute__((vector_size(16)));
  typedef long long words __attribute__((vector_size(16)));
  marks s, t;
  memcpy(&s, a, sizeof s);
  memcpy(&t, b, sizeof t);
  marks next = EB_SHUFFLE(marks, t, t, 1, 2, 0, 3);
  marks last = EB_SHUFFLE(marks, t, t, 2, 0, 1, 3);
  words any = (words)((s == t) | (s == next) | (s == last));
  return (any[0] | any[1]) != 0;
}

/* Most pairs whose boxes meet are neighbours in a fan: they are left out first, without branches.
 */
static int64_t count_crossing(const search *s, int32_t pairs[][2], int32_t count) {
  const eb_intersections *c = s->c;
  int32_t left = 0;
  int64_t met = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t t = pairs[i][0], u = pairs[i][1];
    pairs[left][0] = t;
    pairs[left][1] = u;
    left += !share_fan(c->mark[t], c->mark[u]);
  }
  for (int32_t i = 0; i < left; i++) {
    int32_t t = pairs[i][0], u = pairs[i][1];
    const int32_t *of_t = c->triangles + 3 * (size_t)t, *of_u = c->triangles + 3 * (size_t)u;
    if (eb_exact_triangles_beside(s->x, of_t, &c->normals[t], of_u, &c->normals[u]) ||
        !eb_exact_triangles_cross(s->x, of_t, of_u))
      continue;
    met++;
    tell_pair(s, of_t[0], of_u[0]);
  }
  return met;
}

/* ---- nesting --------------------------------------------------------------------------------- */

/* How often the ray from p leaves the solid, less how often it enters. */
static int winding_number(const eb_intersections *c, const double *x,
                          const eb_intersected_solid *solid, const double *p) {
  int winding = 0;
  for (int32_t i = solid->root; i < solid->last;) {
    const eb_span_node *node = &c->nodes[i];
    const eb_span *span = &c->spans[i];
    bool missed = p[0] > span->hi[0] || p[1] < span->lo[1] || p[1] > span->hi[1] ||
                  p[2] < span->lo[2] || p[2] > span->hi[2];
    for (int32_t t = node->first; !missed && !node->second && t < node->first + node->count; t++) {
      const int32_t *v = c->triangles + 3 * (size_t)t;
      const double *corner[3] = {x + 3 * (size_t)v[0], x + 3 * (size_t)v[1], x + 3 * (size_t)v[2]};
      int turns = 0;
      for (int k = 0; k < 3; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % 3];
        bool up = a[2] <= p[2] && p[2] < b[2], down = b[2] <= p[2] && p[2] < a[2];
        if (up) turns += eb_exact_orient2d(0, a, b, p) >= 0;
        if (down) turns -= eb_exact_orient2d(0, b, a, p) >= 0;
      }
      /* orient3d is positive behind the triangle, from where the ray comes when it leaves. */
      if (turns && turns * eb_exact_orient3d(corner[0], corner[1], corner[2], p) > 0)
        winding += turns;
    }
    i = missed ? node->after : i + 1;
  }
  return winding;
}

static bool lies_inside(const eb_intersections *c, const double *x,
                        const eb_intersected_solid *inner, const eb_intersected_solid *outer) {
  for (int32_t i = inner->first_piece; outer->closed && i < inner->last_piece; i++)
    if (winding_number(c, x, outer, x + 3 * (size_t)c->piece[i]) > 0) return true;
  return false;
}

/* Crossings of solid i, and crossings and nestings with those after it. */
static void count_solid(void *context, int32_t i) {
  const search *s = context;
  const eb_intersections *c = s->c;
  const eb_intersected_solid *a = &c->solids[i];
  eb_intersection_counts counts = {0};
  bool a_fixed = a->kind == EB_SOLID_OBSTACLE;
  if (a->kind == EB_SOLID_SOFT && a->root < a->last) counts.self = count_within(s, a->root);
  for (int32_t j = i + 1; a->root < a->last && j < c->count; j++) {
    const eb_intersected_solid *b = &c->solids[j];
    bool b_fixed = b->kind == EB_SOLID_OBSTACLE;
    if (b->root == b->last || (a_fixed && b_fixed)) continue;
    if (eb_span_apart(&c->spans[a->root], &c->spans[b->root], 0)) continue;
    int64_t met = count_between(s, a->root, b->root);
    counts.between += met;
    if (a_fixed || b_fixed) counts.obstacles += met;
    int nested = met ? 0 : lies_inside(c, s->x, a, b) + lies_inside(c, s->x, b, a);
    counts.nested += nested;
    if (nested) tell_pair(s, c->piece[a->first_piece], c->piece[b->first_piece]);
  }
  c->found[i] = counts;
}

void eb_intersections_count(eb_intersections *c, eb_team *team, const double *x,
                            eb_intersection_counts *counts) {
  fitting now = {c, x};
  search s = {.c = c, .x = x, .count = count_crossing};
  eb_team_run(team, FIT_PARTS, fit_triangles, &now);
  eb_team_run(team, 1 + FIT_PARTS, fit_trees_and_fans, &now);
  eb_team_run(team, c->count, count_solid, &s);
  *counts = (eb_intersection_counts){0};
  for (int32_t i = 0; i < c->count; i++) {
    counts->between += c->found[i].between;
    counts->obstacles += c->found[i].obstacles;
    counts->self += c->found[i].self;
    counts->nested += c->found[i].nested;
  }
}

/* ---- near triangles -------------------------------------------------------------------------- */

static bool closer(const search *s, eb_pair_kind kind, const int32_t vertex[4]) {
  double x[4][3];
  for (int i = 0; i < 4; i++) memcpy(x[i], s->x + 3 * (size_t)vertex[i], sizeof x[i]);
  return eb_contact_law_distance((int32_t)kind, (const double(*)[3])x) < s->distance;
}

/* Whether all corners of `other` are farther than that on one side of the plane of triangle t,
 * whatever floating point has done to its normal (exact.h). */
static bool is_beside(const search *s, int32_t t, const int32_t *other) {
  const eb_exact_normal *normal = &s->c->normals[t];
  const double *origin = s->x + 3 * (size_t)s->c->triangles[3 * (size_t)t];
  double reach = s->distance * sqrt(eb_dot3(normal->n, normal->n));
  bool above = true, below = true;
  for (int i = 0; i < 3; i++) {
    const double *corner = s->x + 3 * (size_t)other[i];
    double height = 0, doubt = reach + 1e-300;
    for (int d = 0; d < 3; d++) {
      double way = corner[d] - origin[d];
      height += way * normal->n[d];
      doubt += 8 * 0x1p-53 * fabs(way) * normal->size[d];
    }
    above &= height > doubt;
    below &= height < -doubt;
  }
  return above || below;
}

static bool triangles_near(const search *s, const int32_t *a, const int32_t *b) {
  for (int i = 0; i < 3; i++) {
    const int32_t down[4] = {a[i], b[0], b[1], b[2]}, up[4] = {b[i], a[0], a[1], a[2]};
    if (closer(s, EB_VERTEX_FACE, down) || closer(s, EB_VERTEX_FACE, up)) return true;
    for (int j = 0; j < 3; j++) {
      const int32_t edges[4] = {a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]};
      if (closer(s, EB_EDGE_EDGE, edges)) return true;
    }
  }
  return false;
}

static bool recorded(const eb_contact_record *record, const int32_t *a, const int32_t *b) {
  for (int32_t k = 0; record && k < record->count; k++) {
    bool at_a = false, at_b = false;
    for (int i = 0; i < 4; i++) {
      int32_t vertex = record->pair[k].vertex[i];
      at_a |= a[0] == vertex || a[1] == vertex || a[2] == vertex;
      at_b |= b[0] == vertex || b[1] == vertex || b[2] == vertex;
    }
    if (at_a && at_b) return true;
  }
  return false;
}

/* Pairs that are near, do not cross, and have no contact. */
static int64_t count_lacking(const search *s, int32_t pairs[][2], int32_t count) {
  int64_t lacking = 0;
  for (int32_t i = 0; i < count; i++) {
    const int32_t *a = s->c->triangles + 3 * (size_t)pairs[i][0];
    const int32_t *b = s->c->triangles + 3 * (size_t)pairs[i][1];
    bool lacks = !is_beside(s, pairs[i][0], b) && !is_beside(s, pairs[i][1], a) &&
                 triangles_near(s, a, b) && !eb_exact_triangles_cross(s->x, a, b) &&
                 !recorded(s->record, a, b);
    lacking += lacks;
    if (lacks) tell_pair(s, a[0], b[0]);
  }
  return lacking;
}

/* Of solid i with those after it. */
static void count_unrecorded(void *context, int32_t i) {
  const search *s = context;
  const eb_intersections *c = s->c;
  const eb_intersected_solid *a = &c->solids[i];
  int64_t count = 0;
  for (int32_t j = i + 1; a->root < a->last && j < c->count; j++) {
    const eb_intersected_solid *b = &c->solids[j];
    bool both_fixed = a->kind == EB_SOLID_OBSTACLE && b->kind == EB_SOLID_OBSTACLE;
    if (!both_fixed && b->root < b->last) count += count_between(s, a->root, b->root);
  }
  c->found[i].between = count;
}

int64_t eb_intersections_unrecorded(const eb_intersections *c, eb_team *team, const double *x,
                                    double distance, const eb_contact_record *record) {
  search s = {.c = c, .x = x, .distance = distance, .count = count_lacking, .record = record};
  int64_t count = 0;
  eb_team_run(team, c->count, count_unrecorded, &s);
  for (int32_t i = 0; i < c->count; i++) count += c->found[i].between;
  return count;
}

/* ---- one of them ----------------------------------------------------------------------------- */

static void find(search *s, void (*count)(void *context, int32_t i), int32_t pair[2]) {
  pair[0] = pair[1] = -1;
  s->pair = pair;
  for (int32_t i = 0; i < s->c->count && pair[0] < 0; i++) count(s, i);
}

void eb_intersections_find(const eb_intersections *c, const double *x, int32_t pair[2]) {
  search s = {.c = c, .x = x, .count = count_crossing};
  find(&s, count_solid, pair);
}

void eb_intersections_find_unrecorded(const eb_intersections *c, const double *x, double distance,
                                      const eb_contact_record *record, int32_t pair[2]) {
  search s = {.c = c, .x = x, .distance = distance, .count = count_lacking, .record = record};
  find(&s, count_unrecorded, pair);
}
