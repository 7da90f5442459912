/* The audit's search for crossings against all pairs, and nesting of solids that lie as badly as
 * they can. */
#include "harness/audit/intersections.h"
#include "harness/audit/exact_triangles.h"
#include "problems/base/memory.h"
#include "problems/base/sanitizer.h"
#include "tests/tap.h"

#if EB_SANITIZER
enum { ROUNDS = 3 };
#else
enum { ROUNDS = 12 };
#endif

enum { ROOM = 4096 };

static double uniform(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-53;
}

/* Solids that a case puts together. */
typedef struct stage {
  double x[3 * ROOM];
  int32_t triangles[3 * ROOM], solid[ROOM];
  eb_solid_kind kind[16];
  eb_solids solids;
} stage;

static stage *stage_open(void) {
  stage *s;
  tap_require(EB_NEW(s, 1), "a stage");
  s->solids.triangles = s->triangles;
  s->solids.solid = s->solid;
  s->solids.kind = s->kind;
  return s;
}

static int32_t new_solid(stage *s, eb_solid_kind kind) {
  s->kind[s->solids.count] = kind;
  return s->solids.count++;
}

static void add_triangle(stage *s, int32_t solid, int32_t a, int32_t b, int32_t c) {
  int32_t *at = s->triangles + 3 * (size_t)s->solids.triangle_count;
  at[0] = a;
  at[1] = b;
  at[2] = c;
  s->solid[s->solids.triangle_count++] = solid;
}

/* A cube of n x n squares a side about a centre, outward, or inward around a cavity. */
static void add_cube(stage *s, int32_t solid, int n, const double centre[3], double half,
                     bool inward) {
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < n * n; i++) {
        int32_t v[4];
        for (int k = 0; k < 4; k++) { /* corners of different squares are joined below */
          double p[3], u = i % n + (k == 1 || k == 2), w = (double)(i / n) + (k >= 2);
          p[d] = side ? half : -half;
          p[(d + 1) % 3] = half * (2 * u / n - 1);
          p[(d + 2) % 3] = half * (2 * w / n - 1);
          for (int e = 0; e < 3; e++) p[e] += centre[e];
          int32_t at = 0;
          for (at = 0; at < s->solids.vertex_count; at++)
            if (memcmp(s->x + 3 * (size_t)at, p, sizeof p) == 0) break;
          if (at == s->solids.vertex_count)
            memcpy(s->x + 3 * (size_t)s->solids.vertex_count++, p, sizeof p);
          v[k] = at;
        }
        bool turn = (side == 0) != inward;
        add_triangle(s, solid, v[0], v[turn ? 2 : 1], v[turn ? 1 : 2]);
        add_triangle(s, solid, v[0], v[turn ? 3 : 2], v[turn ? 2 : 3]);
      }
}

static eb_intersection_counts count_all(const stage *s, const double *x) {
  eb_intersections *crossings;
  eb_intersection_counts counts;
  tap_require(eb_intersections_create(&s->solids, s->x, &crossings), "crossings");
  eb_intersections_count(crossings, NULL, x, &counts);
  eb_intersections_destroy(crossings);
  return counts;
}

/* The same pairs, one by one. */
static eb_intersection_counts brute_force(const stage *s, const double *x) {
  eb_intersection_counts counts = {0};
  for (int32_t t = 0; t < s->solids.triangle_count; t++)
    for (int32_t u = 0; u < t; u++) {
      eb_solid_kind a = s->kind[s->solid[t]], b = s->kind[s->solid[u]];
      bool same = s->solid[t] == s->solid[u];
      if (same ? a != EB_SOLID_SOFT : a == EB_SOLID_OBSTACLE && b == EB_SOLID_OBSTACLE) continue;
      bool met =
          eb_exact_triangles_cross(x, s->triangles + 3 * (size_t)t, s->triangles + 3 * (size_t)u);
      counts.self += met && same;
      counts.between += met && !same;
      counts.obstacles += met && !same && (a == EB_SOLID_OBSTACLE || b == EB_SOLID_OBSTACLE);
    }
  return counts;
}

/* Cubes of all kinds that lie through each other, crumpled. */
static void test_search(void) {
  uint64_t seed = 5;
  int wrong = 0;
  int64_t between = 0, self = 0;
  for (int n = 0; n < ROUNDS; n++) {
    stage *s = stage_open();
    for (int i = 0; i < 6; i++) {
      double centre[3] = {uniform(&seed), uniform(&seed), uniform(&seed)};
      add_cube(s, new_solid(s, (eb_solid_kind)(i % 3)), 2 + i % 4, centre, 0.3, false);
    }
    double x[3 * ROOM];
    for (int32_t i = 0; i < 3 * s->solids.vertex_count; i++)
      x[i] = s->x[i] + (n % 3) * 0.1 * uniform(&seed);
    eb_intersection_counts got = count_all(s, x), want = brute_force(s, x);
    wrong +=
        got.between != want.between || got.self != want.self || got.obstacles != want.obstacles;
    between += want.between;
    self += want.self;
    free(s);
  }
  tap_ok(wrong == 0, "trees find the pairs that comparing all with all finds");
  tap_ok(between > 100 && self > 20, "there are many, of both kinds");
}

static void test_touching(void) {
  static const double origin[3] = {0, 0, 0}, beside[3] = {2, 0, 0};
  stage *s = stage_open();
  add_cube(s, new_solid(s, EB_SOLID_SOFT), 3, origin, 1, false);
  eb_intersection_counts alone = count_all(s, s->x);
  tap_ok(alone.self == 0 && alone.between == 0, "a flat surface does not cross its neighbours");
  int32_t first = s->solids.vertex_count;
  add_cube(s, new_solid(s, EB_SOLID_SOFT), 3, beside, 1 - 0x1p-50, false);
  tap_ok(count_all(s, s->x).between == 0, "two cubes a rounding apart do not touch");
  for (int32_t i = first; i < s->solids.vertex_count; i++)
    s->x[3 * i] = fmax(1, s->x[3 * i] - 0x1p-50);
  eb_intersection_counts touching = count_all(s, s->x);
  tap_ok(touching.between > 0 && touching.self == 0, "two cubes that touch do");
  free(s);
}

/* A cone of four triangles from vertex `tip` with a rim round (x, y, z). */
static void add_cone(stage *s, int32_t solid, int32_t tip, double x, double y, double z) {
  static const double rim[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  int32_t first = s->solids.vertex_count;
  for (int i = 0; i < 4; i++) {
    double *p = s->x + 3 * (size_t)s->solids.vertex_count++;
    p[0] = x + rim[i][0];
    p[1] = y + rim[i][1];
    p[2] = z;
    add_triangle(s, solid, tip, first + i, first + (i + 1) % 4);
  }
}

/* Where two fans meet in a vertex, neither speaks for pairs of one and the other. */
static void test_pinched(void) {
  for (int apart = 0; apart < 2; apart++) {
    stage *s = stage_open();
    int32_t solid = new_solid(s, EB_SOLID_SOFT), tip = s->solids.vertex_count++;
    add_cone(s, solid, tip, 0, 0, 1);
    add_cone(s, solid, tip, 0.3, 0.2, apart ? -1.1 : 1.1);
    eb_intersection_counts got = count_all(s, s->x), want = brute_force(s, s->x);
    tap_ok(got.self == want.self && (want.self == 0) == apart,
           "two cones with one tip, %s: %d pairs", apart ? "back to back" : "one in the other",
           (int)got.self);
    free(s);
  }
}

/* Nor is a fan one that does not close: this one goes round 400 degrees in a plane. */
static void test_open_fan(void) {
  enum { PETALS = 8 };
  stage *s = stage_open();
  int32_t solid = new_solid(s, EB_SOLID_SOFT);
  s->solids.vertex_count = PETALS + 2;
  for (int32_t i = 0; i <= PETALS; i++) {
    double angle = (50 * i + 10) * acos(-1) / 180;
    s->x[3 * (i + 1)] = cos(angle);
    s->x[3 * (i + 1) + 1] = sin(angle);
    if (i < PETALS) add_triangle(s, solid, 0, i + 1, i + 2);
  }
  eb_intersection_counts got = count_all(s, s->x), want = brute_force(s, s->x);
  tap_ok(got.self == want.self && want.self > 0, "an open fan that laps itself: %d pairs",
         (int)got.self);
  free(s);
}

/* ---- nesting --------------------------------------------------------------------------------- */

typedef struct nest {
  const char *name;
  double centre[3], half; /* of the second cube; the first is of half width 1 about 0 */
  eb_solid_kind kind[2];
  int64_t nested;
} nest;

static void test_nesting(void) {
  static const nest cases[] = {
      {"a cube inside another", {0.1, 0.2, 0.3}, 0.25, {EB_SOLID_SOFT, EB_SOLID_SOFT}, 1},
      {"inside, in line with edges and corners", {0, 0, 0}, 0.5, {EB_SOLID_SOFT, EB_SOLID_SOFT}, 1},
      {"around it", {0, 0, 0}, 2, {EB_SOLID_RIGID, EB_SOLID_SOFT}, 1},
      {"beside it, in line along the ray", {-4, 0, 0}, 1, {EB_SOLID_SOFT, EB_SOLID_SOFT}, 0},
      {"beside it, edge in line with edge", {-4, 2, 2}, 1, {EB_SOLID_SOFT, EB_SOLID_SOFT}, 0},
      {"inside an obstacle", {0, 0, 0}, 0.5, {EB_SOLID_OBSTACLE, EB_SOLID_SOFT}, 1},
      {"an obstacle inside an obstacle is nobody's fault",
       {0, 0, 0},
       0.5,
       {EB_SOLID_OBSTACLE, EB_SOLID_OBSTACLE},
       0},
      {"surfaces that cross are not nested as well",
       {0.75, 0, 0},
       0.5,
       {EB_SOLID_SOFT, EB_SOLID_SOFT},
       0},
  };
  static const double origin[3] = {0, 0, 0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    stage *s = stage_open();
    add_cube(s, new_solid(s, cases[i].kind[0]), 4, origin, 1, false);
    add_cube(s, new_solid(s, cases[i].kind[1]), 2, cases[i].centre, cases[i].half, false);
    tap_ok(count_all(s, s->x).nested == cases[i].nested, "%s", cases[i].name);
    free(s);
  }
}

static void test_cavities(void) {
  static const double origin[3] = {0, 0, 0};
  stage *s = stage_open();
  int32_t shell = new_solid(s, EB_SOLID_SOFT), ball = new_solid(s, EB_SOLID_SOFT);
  add_cube(s, shell, 4, origin, 2, false);
  add_cube(s, shell, 4, origin, 1, true);
  add_cube(s, ball, 2, origin, 0.5, false);
  tap_ok(count_all(s, s->x).nested == 0, "what lies in the cavity of a shell is outside it");
  free(s);

  s = stage_open();
  add_cube(s, new_solid(s, EB_SOLID_SOFT), 4, origin, 1, false);
  add_cube(s, new_solid(s, EB_SOLID_SOFT), 2, origin, 0.5, false);
  s->solids.triangle_count -= 1; /* the small one is open */
  tap_ok(count_all(s, s->x).nested == 1, "an open surface can be inside");
  free(s);

  s = stage_open();
  add_cube(s, new_solid(s, EB_SOLID_SOFT), 2, origin, 0.5, false);
  add_cube(s, new_solid(s, EB_SOLID_OBSTACLE), 4, origin, 1, false);
  s->solids.triangle_count -= 1;
  tap_ok(count_all(s, s->x).nested == 0, "an open surface has no inside");
  free(s);
}

static void test_refusals(void) {
  int32_t triangle[3] = {0, 1, 3}, solid = 0;
  eb_solid_kind kind = EB_SOLID_SOFT;
  double x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  eb_solids solids = {3, 1, 1, triangle, &solid, &kind};
  eb_intersections *out;
  tap_fails(eb_intersections_create(&solids, x, &out), EB_ERR_INVALID, "vertex 3",
            "a vertex that is not there is refused");
  triangle[2] = 2;
  solid = 1;
  tap_fails(eb_intersections_create(&solids, x, &out), EB_ERR_INVALID, "solid 1",
            "a solid that is not there is refused");
}

int main(void) {
  test_search();
  test_touching();
  test_pinched();
  test_open_fan();
  test_nesting();
  test_cavities();
  test_refusals();
  return tap_done();
}
