/* Two triangles meet exactly when an edge of one meets the other: where planes cross, the ends of
 * the common segment lie on edges; in one plane, either edges cross or one triangle holds an edge
 * of the other.
 *
 * Segment (a, b) and triangle (p, q, r), by signs of orient3d:
 *   - a and b strictly on one side of the plane: no;
 *   - not both in the plane: the line crosses it in one point, which is in the triangle when (a,
 *     b) passes its three edges on the same side, or through one;
 *   - both in the plane: in all three projections along axes. Projection keeps what meets, and
 *     one of the three keeps what does not.
 * A triangle without area has no plane: it is its edges, and two segments meet when they are
 * coplanar and meet in all projections.
 *
 * Most pairs of a surface are neighbours that plainly do not meet: floating point with a bound on
 * its error says so first. Then a line that parts them in one projection does, which spares flat
 * surfaces the determinants in space, all of which are 0 there and known so only exactly.
 *
 * Triangles that share the corner o meet beyond it exactly when the edge opposite to o of one meets
 * the other: from o along a common point both end on such an edge, and the one that ends first ends
 * in the other. Those that share an edge meet beyond it exactly when they lie in one plane on the
 * same side of it. */
#include "harness/audit/exact_triangles.h"

#include <math.h>
#include <stddef.h>

/* ---- in a projection ------------------------------------------------------------------------- */

/* Whether c, on the line through a and b, is between them (or all three are one point). */
static bool between(int axis, const double *a, const double *b, const double *c) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  bool along_u = (a[u] <= c[u] && c[u] <= b[u]) || (b[u] <= c[u] && c[u] <= a[u]);
  bool along_v = (a[v] <= c[v] && c[v] <= b[v]) || (b[v] <= c[v] && c[v] <= a[v]);
  return along_u && along_v;
}

static bool segments_meet_2d(int axis, const double *a, const double *b, const double *c,
                             const double *d) {
  int abc = eb_exact_orient2d(axis, a, b, c), abd = eb_exact_orient2d(axis, a, b, d);
  if (abc * abd > 0) return false;
  int cda = eb_exact_orient2d(axis, c, d, a), cdb = eb_exact_orient2d(axis, c, d, b);
  if (cda * cdb > 0) return false;
  if (abc || abd || cda || cdb) return true;
  return between(axis, a, b, c) || between(axis, a, b, d) || between(axis, c, d, a);
}

static bool in_triangle_2d(int axis, const double *const t[3], const double *a) {
  int turn = eb_exact_orient2d(axis, t[0], t[1], t[2]);
  if (turn == 0) return false;
  for (int i = 0; i < 3; i++)
    if (turn * eb_exact_orient2d(axis, t[i], t[(i + 1) % 3], a) < 0) return false;
  return true;
}

/* ---- in space -------------------------------------------------------------------------------- */

static bool segments_meet(const double *a, const double *b, const double *c, const double *d) {
  if (eb_exact_orient3d(a, b, c, d)) return false;
  for (int axis = 0; axis < 3; axis++)
    if (!segments_meet_2d(axis, a, b, c, d)) return false;
  return true;
}

/* Whether a segment meets a triangle whose plane both its ends are in. */
static bool flat_segment_meets(const double *a, const double *b, const double *const t[3]) {
  bool area = false;
  for (int axis = 0; axis < 3; axis++) area |= eb_exact_orient2d(axis, t[0], t[1], t[2]) != 0;
  if (!area)
    return segments_meet(a, b, t[0], t[1]) || segments_meet(a, b, t[1], t[2]) ||
           segments_meet(a, b, t[2], t[0]);
  for (int axis = 0; axis < 3; axis++) {
    bool meets = in_triangle_2d(axis, t, a);
    for (int i = 0; !meets && i < 3; i++)
      meets = segments_meet_2d(axis, a, b, t[i], t[(i + 1) % 3]);
    if (!meets) return false;
  }
  return true;
}

typedef struct sides {
  int of[3]; /* of the plane of the other triangle, corner by corner */
} sides;

/* Returns whether all corners of s but those in `shared` (a bit each) are strictly on one side of
 * the plane of t: then they meet nowhere else. */
static bool parted(const double *const s[3], const double *const t[3], int shared, sides *out) {
  bool above = true, below = true;
  for (int i = 0; i < 3; i++) {
    bool common = shared >> i & 1;
    out->of[i] = common ? 0 : eb_exact_orient3d(t[0], t[1], t[2], s[i]);
    above &= common || out->of[i] > 0;
    below &= common || out->of[i] < 0;
  }
  return above || below;
}

/* Whether edge i of s, with its ends on those sides of the plane of t, meets t. */
static bool edge_meets(const double *const s[3], const sides *side, int i,
                       const double *const t[3]) {
  int j = (i + 1) % 3, least = 1, most = -1;
  if (side->of[i] * side->of[j] > 0) return false;
  if (side->of[i] == 0 && side->of[j] == 0) return flat_segment_meets(s[i], s[j], t);
  for (int k = 0; k < 3; k++) {
    int passes = eb_exact_orient3d(s[i], s[j], t[k], t[(k + 1) % 3]);
    least = passes < least ? passes : least;
    most = passes > most ? passes : most;
    if (least < 0 && most > 0) return false;
  }
  return true;
}

/* Whether the line of an edge of s parts the two in a projection: all corners of t but the shared
 * ones strictly beyond it, and those on it. */
static bool parted_in(int axis, const double *const s[3], int of_s, const double *const t[3],
                      int of_t) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    if (of_s >> k & 1) continue;
    int inner = eb_exact_orient2d(axis, s[i], s[j], s[k]);
    bool beyond = inner != 0;
    for (int c = 0; beyond && c < 3; c++)
      beyond = of_t >> c & 1 || inner * eb_exact_orient2d(axis, s[i], s[j], t[c]) < 0;
    if (beyond) return true;
  }
  return false;
}

/* s and t share the edge (p, q); a and b are their other corners. */
static bool folded_flat(const double *p, const double *q, const double *a, const double *b) {
  if (eb_exact_orient3d(p, q, a, b)) return false;
  bool same = false;
  for (int axis = 0; axis < 3; axis++) {
    int side = eb_exact_orient2d(axis, p, q, a);
    if (side != eb_exact_orient2d(axis, p, q, b)) return false;
    same |= side != 0;
  }
  return same;
}

/* ---- at a glance ----------------------------------------------------------------------------- */

/* Whether all corners of s but the shared ones are strictly on one side of t, of normal n. */
static bool plainly_beside(const double *const s[3], int of_s, const double *const t[3],
                           const eb_exact_normal *n) {
  bool above = true, below = true;
  for (int i = 0; i < 3; i++) {
    bool common = of_s >> i & 1;
    int side = common ? 0 : eb_exact_along(n, s[i], t[0]);
    above &= common || side > 0;
    below &= common || side < 0;
  }
  return above || below;
}

/* Whether a plane through the shared corner parts the two: the one across the way from the middle
 * of one edge opposite to it to that of the other. Any plane would do; its normal is taken as
 * computed, and only the products with it err. */
static bool plainly_opposite(const double *o, const double *a, const double *b, const double *c,
                             const double *d) {
  double n[3], sum[4] = {0}, size[4] = {0};
  const double *corner[4] = {a, b, c, d};
  for (int k = 0; k < 3; k++) n[k] = (a[k] + b[k]) - (c[k] + d[k]);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) {
      double term = n[k] * (corner[i][k] - o[k]);
      sum[i] += term;
      size[i] += fabs(term);
    }
  for (int i = 0; i < 4; i++)
    if (!((i < 2 ? sum[i] : -sum[i]) > 8 * 0x1p-53 * size[i])) return false;
  return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Corners with the same number: a bit of s each and a bit of t each; returns how many. */
static int shared_corners(const int32_t s[3], const int32_t t[3], int *of_s, int *of_t) {
  int count = 0;
  *of_s = *of_t = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (s[i] == t[j]) {
        *of_s |= 1 << i;
        *of_t |= 1 << j;
        count++;
      }
  return count;
}

/* The corner that is shared (or not), given one bit (or all but one). */
static int index_of(int bits) {
  return bits & 1 ? 0 : bits & 2 ? 1 : 2;
}

/* Whether floating point knows that the two do not meet beyond what they share. */
static bool plainly_parted(const double *const s[3], int of_s, const double *const t[3], int of_t,
                           int common) {
  if (common == 1) {
    int i = index_of(of_s), j = index_of(of_t);
    if (plainly_opposite(s[i], s[(i + 1) % 3], s[(i + 2) % 3], t[(j + 1) % 3], t[(j + 2) % 3]))
      return true;
  }
  eb_exact_normal n = eb_exact_normal_of(s[0], s[1], s[2]),
                  m = eb_exact_normal_of(t[0], t[1], t[2]);
  if (common == 2) {
    int i = index_of(~of_s & 7), j = index_of(~of_t & 7);
    /* They run through the edge the same way or not, and lie on different sides of it in some
     * projection. */
    bool along = s[(i + 1) % 3] == t[(j + 1) % 3];
    for (int d = 0; d < 3; d++) {
      int facing = eb_exact_facing(&n, d) * eb_exact_facing(&m, d);
      if (facing && (facing > 0) != along) return true;
    }
  }
  return plainly_beside(s, of_s, t, &m) || plainly_beside(t, of_t, s, &n);
}

bool eb_exact_triangles_beside(const double *x, const int32_t s[3], const eb_exact_normal *of_s,
                               const int32_t t[3], const eb_exact_normal *of_t) {
  const double *S[3], *T[3];
  for (int i = 0; i < 3; i++) {
    S[i] = x + 3 * (size_t)s[i];
    T[i] = x + 3 * (size_t)t[i];
  }
  return plainly_beside(S, 0, T, of_t) || plainly_beside(T, 0, S, of_s);
}

bool eb_exact_triangles_cross(const double *x, const int32_t s[3], const int32_t t[3]) {
  const double *S[3], *T[3];
  int of_s, of_t, common = shared_corners(s, t, &of_s, &of_t);
  if (common == 3) return true;
  for (int i = 0; i < 3; i++) {
    S[i] = x + 3 * (size_t)s[i];
    T[i] = x + 3 * (size_t)t[i];
  }
  if (plainly_parted(S, of_s, T, of_t, common)) return false;
  /* Along the axis where s shows the largest area, but for rounding. */
  eb_exact_normal across = eb_exact_normal_of(S[0], S[1], S[2]);
  int axis = fabs(across.n[1]) > fabs(across.n[0]);
  if (fabs(across.n[2]) > fabs(across.n[axis])) axis = 2;
  if (parted_in(axis, S, of_s, T, of_t) || parted_in(axis, T, of_t, S, of_s)) return false;
  if (common == 2) {
    int a = index_of(~of_s & 7), b = index_of(~of_t & 7);
    return folded_flat(S[(a + 1) % 3], S[(a + 2) % 3], S[a], T[b]);
  }
  sides side_s, side_t;
  if (parted(S, T, of_s, &side_s) || parted(T, S, of_t, &side_t)) return false;
  if (common == 1)
    return edge_meets(S, &side_s, (index_of(of_s) + 1) % 3, T) ||
           edge_meets(T, &side_t, (index_of(of_t) + 1) % 3, S);
  for (int i = 0; i < 3; i++)
    if (edge_meets(S, &side_s, i, T) || edge_meets(T, &side_t, i, S)) return true;
  return false;
}

/* ---- fans ------------------------------------------------------------------------------------
 *
 * Seen along a direction m, a fan spreads when every triangle shows its front and they go round the
 * vertex once: then each has a sector of directions from the vertex for itself, and two meet only
 * along the spoke that they share. What is seen apart is apart.
 *
 * m is the sum of the normals. The fan goes round as often as the rim passes the line of any one
 * direction r, seen along m, in pairs: as det(m, r, rim - o) changes sign. m and r are vectors of
 * doubles as they are; that they come from rounded sums does not matter. */

bool eb_exact_fan_spreads(const double *x, int32_t vertex, int32_t count, const eb_spoke *spokes,
                          const eb_exact_normal *normals) {
  static const double origin[3] = {0};
  const double *o = x + 3 * (size_t)vertex, *first = x + 3 * (size_t)spokes[0].rim,
               *second = x + 3 * (size_t)spokes[1].rim;
  double m[3] = {0}, r[3];
  for (int32_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) m[d] += normals[spokes[i].corner / 3].n[d];
  for (int32_t i = 0; i < count; i++)
    if (eb_exact_along(&normals[spokes[i].corner / 3], m, origin) <= 0) return false;
  /* Off the directions of spokes and of their continuations, where angles are regular. */
  for (int d = 0; d < 3; d++) r[d] = 3 * (first[d] - o[d]) + (second[d] - o[d]);
  eb_exact_normal across = eb_exact_cross(m, r);
  int changes = 0, last = eb_exact_along(&across, x + 3 * (size_t)spokes[count - 1].rim, o);
  for (int32_t i = 0; last && i < count; i++) {
    int side = eb_exact_along(&across, x + 3 * (size_t)spokes[i].rim, o);
    changes += side != last;
    last = side;
  }
  return last && changes == 2;
}
