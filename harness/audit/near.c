/* Two trees are walked together as intersections.c does, with boxes that are apart only when they
 * are so by `distance`. Triangles that are nearer are nearest at a vertex and a face or at two
 * edges; which contacts join them is looked for in the whole record, since few pairs ever come so
 * near. */
#include "harness/audit/near.h"

#include <math.h>

#include "harness/audit/contact_law.h"
#include "harness/audit/intersections_data.h"
#include "harness/audit/exact_normal.h"
#include "harness/audit/exact_triangles.h"
#include "problems/base/vector3.h"

typedef struct search {
  const eb_intersections *c;
  const double *x;
  double distance;
  const eb_contact_record *record;
} search;

/* ---- two triangles --------------------------------------------------------------------------- */

static void corners(const search *s, const int32_t vertex[4], double x[4][3]) {
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) x[i][d] = s->x[3 * (size_t)vertex[i] + (size_t)d];
}

static bool closer(const search *s, eb_pair_kind kind, const int32_t vertex[4]) {
  double x[4][3];
  corners(s, vertex, x);
  return eb_contact_law_distance((int32_t)kind, (const double(*)[3])x) < s->distance;
}

/* Whether all corners of `other` are farther than that on one side of the plane of triangle t,
 * whatever floating point has done to its normal (exact_normal.h). */
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

static bool is_corner(const int32_t *triangle, int32_t vertex) {
  return triangle[0] == vertex || triangle[1] == vertex || triangle[2] == vertex;
}

static bool recorded(const search *s, const int32_t *a, const int32_t *b) {
  for (int32_t k = 0; s->record && k < s->record->count; k++) {
    bool at_a = false, at_b = false;
    for (int i = 0; i < 4; i++) {
      at_a |= is_corner(a, s->record->pair[k].vertex[i]);
      at_b |= is_corner(b, s->record->pair[k].vertex[i]);
    }
    if (at_a && at_b) return true;
  }
  return false;
}

/* Of two whose boxes are near. */
static bool lacks_contact(const search *s, int32_t t, int32_t u) {
  const int32_t *a = s->c->triangles + 3 * (size_t)t, *b = s->c->triangles + 3 * (size_t)u;
  return !is_beside(s, t, b) && !is_beside(s, u, a) && triangles_near(s, a, b) &&
         !eb_exact_triangles_cross(s->x, a, b) && !recorded(s, a, b);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int64_t walk(const search *s, int32_t a, int32_t b) {
  const eb_span_node *A = &s->c->nodes[a], *B = &s->c->nodes[b];
  if (eb_span_apart(&s->c->spans[a], &s->c->spans[b], s->distance)) return 0;
  if (A->second && (!B->second || A->count >= B->count))
    return walk(s, a + 1, b) + walk(s, A->second, b);
  if (B->second) return walk(s, a, b + 1) + walk(s, a, B->second);
  int32_t near[EB_SPAN_PAIRS][2], pairs = eb_intersections_pairs(s->c, A, B, s->distance, near);
  int64_t count = 0;
  for (int32_t i = 0; i < pairs; i++) count += lacks_contact(s, near[i][0], near[i][1]);
  return count;
}

/* Of solid i with those after it. */
static void count_solid(void *context, int32_t i) {
  const search *s = context;
  const eb_intersections *c = s->c;
  const eb_solid *a = &c->solids[i];
  int64_t count = 0;
  for (int32_t j = i + 1; a->root < a->last && j < c->count; j++) {
    const eb_solid *b = &c->solids[j];
    bool both_fixed = a->kind == EB_SOLID_OBSTACLE && b->kind == EB_SOLID_OBSTACLE;
    if (!both_fixed && b->root < b->last) count += walk(s, a->root, b->root);
  }
  c->found[i].between = count;
}

int64_t eb_near_unrecorded(const eb_intersections *c, eb_team *team, const double *x,
                           double distance, const eb_contact_record *record) {
  search s = {c, x, distance, record};
  int64_t count = 0;
  eb_team_run(team, c->count, count_solid, &s);
  for (int32_t i = 0; i < c->count; i++) count += c->found[i].between;
  return count;
}
