/* Features that come near each other without a contact between them, in all the ways that two
 * triangles can. */
#include "harness/audit/intersections.h"
#include "harness/audit/contact_law.h"
#include "tests/support/random.h"
#include "tests/tap.h"

static const double near = 1e-3;

/* Two triangles, of one solid each. */
typedef struct stage {
  double x[18];
  eb_solid_kind kind[2];
} stage;

/* The corners 0, 1, 2 of a face of 1 m at z = 0, and 3, 4, 5. */
static stage stage_of(const double other[9]) {
  stage s = {.x = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .kind = {EB_SOLID_SOFT, EB_SOLID_SOFT}};
  memcpy(s.x + 9, other, 9 * sizeof *other);
  return s;
}

static int64_t unrecorded(const stage *s, const eb_contact_record *record) {
  static const int32_t triangles[6] = {0, 1, 2, 3, 4, 5}, solid[2] = {0, 1};
  const eb_solids solids = {6, 2, 2, triangles, solid, s->kind};
  eb_intersections *crossings;
  eb_intersection_counts counts;
  tap_require(eb_intersections_create(&solids, s->x, &crossings), "trees");
  eb_intersections_count(crossings, NULL, s->x, &counts);
  int64_t found = eb_intersections_unrecorded(crossings, NULL, s->x, near, record);
  eb_intersections_destroy(crossings);
  return found;
}

/* The second triangle above the first by `up`, and both triangles in each other's place. */
static void expect(const char *name, const double other[9], double up, int64_t wanted) {
  stage s = stage_of(other), swapped = s;
  for (int i = 0; i < 3; i++) s.x[9 + 3 * i + 2] += up;
  memcpy(swapped.x, s.x + 9, 9 * sizeof *s.x);
  memcpy(swapped.x + 9, s.x, 9 * sizeof *s.x);
  tap_ok(unrecorded(&s, NULL) == wanted && unrecorded(&swapped, NULL) == wanted, "%s", name);
}

static const double tip[9] = {0.25, 0.25, 0, 0.2, 0.3, 1, 0.3, 0.3, 1};       /* down */
static const double edge[9] = {0.5, -0.5, 0, 0.5, 0.2, 0, 0.5, 0, 1};         /* over edge 01 */
static const double corner[9] = {-1e-4, -1e-4, 0, -1, 0, 0.1, 0, -1, 0.1};    /* beside 0 */
static const double parallel[9] = {0.1, -1e-4, 0, 0.9, -1e-4, 0, 0.5, -1, 1}; /* along edge 01 */

static void test_kinds(void) {
  expect("a vertex above a face", tip, 0.9 * near, 1);
  expect("one that is higher", tip, 1.1 * near, 0);
  expect("an edge across an edge", edge, 0.9 * near, 1);
  expect("one that is higher", edge, 1.1 * near, 0);
  expect("a vertex beside a vertex", corner, 0.5 * near, 1);
  expect("one that is higher", corner, 1.1 * near, 0);
  expect("edges side by side", parallel, 0.5 * near, 1);
  expect("those that are higher", parallel, 1.1 * near, 0);
  expect("triangles that cross are the business of crossings", tip, -0.5 * near, 0);
}

static void test_recorded(void) {
  static const eb_pair joining = {EB_VERTEX_FACE, {3, 0, 1, 2}}, own = {EB_EDGE_EDGE, {3, 4, 4, 5}},
                       other = {EB_EDGE_EDGE, {0, 1, 1, 2}},
                       nobody = {EB_VERTEX_FACE, {-1, 7, 8, 9}};
  const struct {
    const char *name;
    const eb_pair *pair;
    int32_t count;
    int64_t wanted;
  } records[] = {{"a contact between them is one", &joining, 1, 0},
                 {"an empty record has none", &joining, 0, 1},
                 {"a contact of one with itself is none", &own, 1, 1},
                 {"nor one of the other", &other, 1, 1},
                 {"nor is one of vertices that are not there", &nobody, 1, 1}};
  stage s = stage_of(tip);
  for (int i = 0; i < 3; i++) s.x[9 + 3 * i + 2] += 0.5 * near;
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    const eb_contact_record record = {.count = records[i].count, .pair = records[i].pair};
    tap_ok(unrecorded(&s, &record) == records[i].wanted, "%s", records[i].name);
  }
  s.kind[0] = s.kind[1] = EB_SOLID_OBSTACLE;
  tap_ok(unrecorded(&s, NULL) == 0, "obstacles among themselves need no contact");
  s.kind[0] = EB_SOLID_RIGID;
  tap_ok(unrecorded(&s, NULL) == 1, "rigid bodies do");
}

/* ---- many ------------------------------------------------------------------------------------ */

enum { EACH = 60 };

static double distance(const double *x, const int32_t *a, const int32_t *b) {
  double least = INFINITY, p[4][3];
  for (int i = 0; i < 15; i++) {
    const int32_t face[2][4] = {{a[i % 3], b[0], b[1], b[2]}, {b[i % 3], a[0], a[1], a[2]}};
    const int32_t edges[4] = {a[i % 3], a[(i + 1) % 3], b[i / 3 % 3], b[(i / 3 + 1) % 3]};
    const int32_t *vertex = i < 3 ? face[0] : i < 6 ? face[1] : edges;
    for (int k = 0; k < 4; k++) memcpy(p[k], x + 3 * vertex[k], sizeof p[k]);
    least = fmin(least, eb_contact_law_distance(i < 6 ? EB_VERTEX_FACE : EB_EDGE_EDGE,
                                                (const double(*)[3])p));
  }
  return least;
}

/* Triangles smaller than the distance, so that those that cross are near, strewn in a box: the
 * search by trees against all pairs. */
static void test_many(void) {
  static double x[2 * EACH * 9];
  static int32_t triangles[2 * EACH * 3], solid[2 * EACH];
  const eb_solid_kind kind[2] = {EB_SOLID_SOFT, EB_SOLID_SOFT};
  random_state random = random_seed(5);
  for (int t = 0; t < 2 * EACH; t++) {
    double centre[3];
    for (int d = 0; d < 3; d++) centre[d] = random_uniform(&random, 0, 0.006);
    solid[t] = t / EACH;
    for (int k = 0; k < 9; k++) {
      triangles[3 * t + k / 3] = 3 * t + k / 3;
      x[9 * t + k] = centre[k % 3] + random_uniform(&random, -5e-4, 5e-4);
    }
  }
  const eb_solids solids = {6 * EACH, 2 * EACH, 2, triangles, solid, kind};
  eb_intersections *crossings;
  eb_intersection_counts counts;
  tap_require(eb_intersections_create(&solids, x, &crossings), "trees");
  eb_intersections_count(crossings, NULL, x, &counts);
  int64_t found = eb_intersections_unrecorded(crossings, NULL, x, near, NULL), wanted = 0;
  for (int a = 0; a < EACH; a++)
    for (int b = EACH; b < 2 * EACH; b++)
      wanted += distance(x, triangles + 3 * a, triangles + 3 * b) < near;
  tap_ok(wanted > 20 && counts.between > 0 && found + counts.between == wanted,
         "the search finds the pairs that all pairs have");
  if (found + counts.between != wanted)
    printf("#   %lld and %lld that cross, not %lld\n", (long long)found, (long long)counts.between,
           (long long)wanted);
  eb_intersections_destroy(crossings);
}

int main(void) {
  test_kinds();
  test_recorded();
  test_many();
  return tap_done();
}
