/* The audit's predicates against integers of 256 bits, and its test of two triangles against
 * Carathéodory's theorem on integers. */
#include "harness/audit/exact.h"
#include "harness/audit/exact_triangles.h"
#include "problems/base/sanitizer.h"
#include "tests/tap.h"
#include "tests/support/wide.h"

#if EB_SANITIZER
enum { DRAWS = 20000 };
#else
enum { DRAWS = 200000 };
#endif

static uint64_t next(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 20;
}

/* ---- orientation ----------------------------------------------------------------------------- */

/* A coordinate that is a double and an integer. */
typedef struct place {
  double value[3];
  wide exact[3];
} place;

static void put(place *p, int d, int64_t mantissa, int exponent) {
  p->value[d] = ldexp((double)mantissa, exponent);
  p->exact[d] = wide_of(mantissa, exponent);
}

/* Whole numbers whose lowest bits are up to 27 places apart: their differences are no doubles. */
static place random_place(uint64_t *seed, int bits, int spread) {
  place p;
  for (int d = 0; d < 3; d++) {
    int64_t half = INT64_C(1) << (bits - 1);
    int64_t mantissa = (int64_t)(next(seed) % (uint64_t)(2 * half)) - half;
    put(&p, d, mantissa, spread ? (int)(next(seed) % (uint64_t)spread) : 0);
  }
  return p;
}

static wide minor_of(wide a, wide b, wide c, wide d) {
  return wide_subtract(wide_multiply(a, b), wide_multiply(c, d));
}

static int oracle2d(int axis, const place *a, const place *b, const place *c) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  return wide_sign(
      minor_of(wide_subtract(a->exact[u], c->exact[u]), wide_subtract(b->exact[v], c->exact[v]),
               wide_subtract(a->exact[v], c->exact[v]), wide_subtract(b->exact[u], c->exact[u])));
}

static int oracle3d(const place p[4]) {
  wide e[3][3], sum = {{0}};
  for (int i = 0; i < 3; i++)
    for (int d = 0; d < 3; d++) e[i][d] = wide_subtract(p[i].exact[d], p[3].exact[d]);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    wide minor = minor_of(e[1][j], e[2][k], e[1][k], e[2][j]);
    sum = wide_add(sum, wide_multiply(e[0][i], minor));
  }
  return wide_sign(sum);
}

/* Moves p[3] near the plane of the others: p0 + 2 (p1 - p0) - (p2 - p0), rounded, and on it when
 * nothing is lost. */
static void flatten(place p[4], uint64_t *seed) {
  for (int d = 0; d < 3; d++) {
    double x = p[1].value[d] + (p[1].value[d] - p[2].value[d]);
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(x, &exponent), 53);
    exponent -= 53;
    while (mantissa != 0 && exponent < 0 && mantissa % 2 == 0) {
      mantissa /= 2;
      exponent++;
    }
    if (exponent < 0) {
      mantissa = (int64_t)x;
      exponent = 0;
    }
    if (next(seed) % 4 == 0 && exponent == 0) mantissa++;
    put(&p[3], d, mantissa, exponent);
  }
}

static void test_orientation(void) {
  uint64_t seed = 3;
  int wrong3 = 0, wrong2 = 0, zero3 = 0, zero2 = 0;
  for (int n = 0; n < DRAWS; n++) {
    place p[4];
    int bits = n % 5 ? 43 : 3, spread = n % 3 == 0 ? 0 : 27;
    for (int i = 0; i < 4; i++) p[i] = random_place(&seed, bits, spread);
    if (n % 2) flatten(p, &seed);
    int want = oracle3d(p), got = eb_exact_orient3d(p[0].value, p[1].value, p[2].value, p[3].value);
    wrong3 += want != got;
    zero3 += want == 0;
    int axis = n % 3;
    if (n % 4 == 1) /* nearly collinear: 2 p1 - p2 with p2 = p0 */
      p[2] = p[0];
    if (n % 4 == 1) flatten(p, &seed);
    want = oracle2d(axis, &p[0], &p[1], &p[3]);
    wrong2 += want != eb_exact_orient2d(axis, p[0].value, p[1].value, p[3].value);
    zero2 += want == 0;
  }
  tap_ok(wrong3 == 0, "orient3d has the sign that integers give");
  tap_ok(wrong2 == 0, "orient2d has the sign that integers give");
  tap_ok(zero3 > DRAWS / 100 && zero2 > DRAWS / 100, "among them enough that are exactly flat");
  const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0}, below[3] = {0, 0, -1e-80};
  tap_ok(eb_exact_orient3d(a, b, c, below) == 1, "behind a triangle is the positive side");
  tap_ok(eb_exact_orient2d(2, a, b, c) == 1, "counter-clockwise is the positive turn");
}

/* ---- triangles ------------------------------------------------------------------------------- */

typedef struct whole {
  int64_t x[3];
} whole;

static whole minus(whole a, whole b) {
  return (whole){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static whole cross(whole a, whole b) {
  return (whole){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                  a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static int64_t dot(whole a, whole b) {
  return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static bool zero(whole a) {
  return a.x[0] == 0 && a.x[1] == 0 && a.x[2] == 0;
}

/* Whether 0 is in the hull of two, three or four points that span it without waste. */
static bool in_segment(whole p, whole q) {
  return zero(cross(p, q)) && dot(p, q) <= 0;
}

static bool in_triangle(whole p, whole q, whole r) {
  whole a = cross(p, q), b = cross(q, r), c = cross(r, p);
  whole n = {{a.x[0] + b.x[0] + c.x[0], a.x[1] + b.x[1] + c.x[1], a.x[2] + b.x[2] + c.x[2]}};
  return dot(p, b) == 0 && !zero(n) && dot(a, n) >= 0 && dot(b, n) >= 0 && dot(c, n) >= 0;
}

static bool in_tetrahedron(whole p, whole q, whole r, whole s) {
  int64_t volume = dot(minus(q, p), cross(minus(r, p), minus(s, p))), sign = volume > 0 ? 1 : -1;
  return volume != 0 && sign * dot(q, cross(r, s)) >= 0 && sign * dot(p, cross(r, s)) <= 0 &&
         sign * dot(p, cross(q, s)) >= 0 && sign * dot(p, cross(q, r)) <= 0;
}

/* Whether 0 is in the hull of the points: then it is in that of at most four of them
 * (Carathéodory). */
static bool holds_zero(const whole *p, int count) {
  for (int i = 0; i < count; i++) {
    if (zero(p[i])) return true;
    for (int j = 0; j < i; j++) {
      if (in_segment(p[i], p[j])) return true;
      for (int k = 0; k < j; k++) {
        if (in_triangle(p[i], p[j], p[k])) return true;
        for (int l = 0; l < k; l++)
          if (in_tetrahedron(p[i], p[j], p[k], p[l])) return true;
      }
    }
  }
  return false;
}

/* Two triangles meet when 0 is a difference of their points. */
static bool oracle_meet(const whole p[6]) {
  whole difference[9];
  for (int i = 0; i < 9; i++) difference[i] = minus(p[i / 3], p[3 + i % 3]);
  return holds_zero(difference, 9);
}

/* With p[0] shared: the angles that the triangles span at it have a direction in common. */
static bool oracle_corner(const whole p[6]) {
  whole ray[4] = {minus(p[1], p[0]), minus(p[2], p[0]), minus(p[0], p[4]), minus(p[0], p[5])};
  return holds_zero(ray, 4);
}

/* With p[0] and p[1] shared: the triangles lie on the same side in one plane. */
static bool oracle_edge(const whole p[6]) {
  whole along = minus(p[1], p[0]);
  whole a = cross(along, minus(p[2], p[0])), b = cross(along, minus(p[5], p[0]));
  return zero(cross(a, b)) && dot(a, b) > 0;
}

static bool has_area(const whole p[3]) {
  return !zero(cross(minus(p[1], p[0]), minus(p[2], p[0])));
}

/* Places under a map that keeps what meets: of a determinant other than 0, and exact in doubles. */
static void map(const whole p[6], int kind, double *x) {
  static const double coarse[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const double skew[9] = {1048573, 3, -77, 524287, -1048571,
                                 19,      5, 7,   1048571}; /* of 20 bits */
  const double *A = kind ? skew : coarse;
  for (int i = 0; i < 6; i++)
    for (int d = 0; d < 3; d++) {
      x[3 * i + d] = kind ? 0x1p-21 : 0;
      for (int e = 0; e < 3; e++)
        x[3 * i + d] += (kind ? 0x1p-20 : 1) * A[3 * d + e] * (double)p[i].x[e];
    }
}

/* Draws pairs that share `shared` corners; counts answers that differ from the oracle's, and the
 * pairs that meet. */
static int compare(int shared, bool (*oracle)(const whole *), int *met) {
  static const int32_t numbers[3][6] = {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 0, 4, 5}, {0, 1, 2, 0, 1, 5}};
  uint64_t seed = 17 + (uint64_t)shared;
  int wrong = 0;
  *met = 0;
  for (int n = 0; n < DRAWS / 4; n++) {
    whole p[6];
    double x[18];
    uint64_t range = 2 + next(&seed) % 6;
    for (int i = 0; i < 6; i++)
      for (int d = 0; d < 3; d++) p[i].x[d] = (int64_t)(next(&seed) % range);
    for (int i = 0; i < shared; i++) p[3 + i] = p[i];
    if (shared && (!has_area(p) || !has_area(p + 3))) continue;
    map(p, n % 2, x);
    int32_t s[3], t[3];
    for (int i = 0; i < 3; i++) { /* all orders of corners */
      s[i] = numbers[shared][(i + n) % 3];
      t[n % 7 < 3 ? i : 2 - i] = numbers[shared][3 + (i + n / 3) % 3];
    }
    bool want = oracle(p);
    wrong += want != eb_exact_triangles_cross(x, s, t);
    wrong += want != eb_exact_triangles_cross(x, t, s);
    *met += want;
  }
  return wrong;
}

static void test_triangles(void) {
  int met;
  tap_ok(compare(0, oracle_meet, &met) == 0, "triangles without common corners meet as on paper");
  tap_ok(met > DRAWS / 50, "many of them do");
  tap_ok(compare(1, oracle_corner, &met) == 0, "beyond a common corner they meet as on paper");
  tap_ok(met > DRAWS / 50, "many of them do");
  tap_ok(compare(2, oracle_edge, &met) == 0, "beyond a common edge they meet as on paper");
  tap_ok(met > DRAWS / 500, "some of them do");
}

typedef struct named {
  const char *name;
  double x[18];
  int32_t s[3], t[3];
  bool meet;
} named;

static void test_named(void) {
  static const named cases[] = {
      {"one pierces the other",
       {0, 0, 0, 2, 0, 0, 0, 2, 0, .5, .5, -1, .5, .5, 1, .6, .5, 1},
       {0, 1, 2},
       {3, 4, 5},
       true},
      {"a corner a rounding above a face does not touch it",
       {0, 0, 0, 2, 0, 0, 0, 2, 0, .5, .5, 0x1p-70, .5, .5, 1, .6, .5, 1},
       {0, 1, 2},
       {3, 4, 5},
       false},
      {"a corner on a face touches it",
       {0, 0, 0, 2, 0, 0, 0, 2, 0, .5, .5, 0, .5, .5, 1, .6, .5, 1},
       {0, 1, 2},
       {3, 4, 5},
       true},
      {"one holds the other in its plane",
       {0, 0, 0, 4, 0, 0, 0, 4, 0, .5, .5, 0, 1, .5, 0, .5, 1, 0},
       {0, 1, 2},
       {3, 4, 5},
       true},
      {"corners at one place with numbers of their own touch",
       {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1},
       {0, 1, 2},
       {3, 4, 5},
       true},
      {"a common corner is no crossing",
       {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1},
       {0, 1, 2},
       {0, 4, 5},
       false},
      {"a common edge is no crossing",
       {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0},
       {0, 1, 2},
       {1, 0, 5},
       false},
      {"folded flat onto each other they cross",
       {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0},
       {0, 1, 2},
       {1, 0, 5},
       true},
      {"a triangle crosses its copy", {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 1, 2}, {2, 1, 0}, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    tap_ok(eb_exact_triangles_cross(cases[i].x, cases[i].s, cases[i].t) == cases[i].meet, "%s",
           cases[i].name);
}

int main(void) {
  test_orientation();
  test_triangles();
  test_named();
  return tap_done();
}
