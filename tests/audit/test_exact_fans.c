/* What the audit takes for apart without a test, fans that spread and triangles beside each other,
 * against its exact test of pairs. */
#include "harness/audit/exact_triangles.h"
#include "tests/support/random.h"
#include "tests/tap.h"

enum { MOST = 12, DRAWS = 20000 };

/* A fan round vertex 0 with vertices 1 .. count as its rim. */
typedef struct fan {
  int32_t count, triangles[3 * MOST];
  double x[3 * (MOST + 1)];
  eb_spoke spokes[MOST];
  eb_exact_normal normals[MOST];
} fan;

/* The rim goes `turns` times round, at heights between -high and high, and is shaken. */
static void make_fan(fan *f, random_state *random, int32_t count, int turns, double high,
                     double shake) {
  *f = (fan){.count = count};
  for (int32_t i = 0; i < count; i++) {
    double angle = 2 * acos(-1) * turns * i / count, *p = f->x + 3 * (i + 1);
    p[0] = cos(angle);
    p[1] = sin(angle);
    p[2] = random_uniform(random, -high, high);
    for (int d = 0; d < 3; d++) p[d] += shake * random_uniform(random, -1, 1);
  }
}

/* Triangles with their corners in turn, normals and spokes. */
static void join(fan *f) {
  for (int32_t i = 0; i < f->count; i++) {
    const int32_t corner[3] = {0, 1 + i, 1 + (i + 1) % f->count};
    for (int32_t k = 0; k < 3; k++) f->triangles[3 * i + (k + i) % 3] = corner[k];
    const int32_t *t = f->triangles + 3 * i;
    f->normals[i] = eb_exact_normal_of(f->x + 3 * t[0], f->x + 3 * t[1], f->x + 3 * t[2]);
    f->spokes[i] = (eb_spoke){1 + i, 3 * i + i % 3};
  }
}

static bool spreads(const fan *f) {
  return eb_exact_fan_spreads(f->x, 0, f->count, f->spokes, f->normals);
}

static bool crosses_itself(const fan *f) {
  for (int32_t i = 0; i < f->count; i++)
    for (int32_t j = 0; j < i; j++)
      if (eb_exact_triangles_cross(f->x, f->triangles + 3 * i, f->triangles + 3 * j)) return true;
  return false;
}

static void test_random_fans(void) {
  random_state random = random_seed(11);
  int wrong = 0, spread = 0, crossed = 0;
  for (int n = 0; n < DRAWS; n++) {
    fan f;
    int32_t count = 3 + n % 7;
    make_fan(&f, &random, count, 1 + (n % 11 == 0), n % 3 * 0.5, n % 5 * 0.3);
    if (n % 13 == 0) /* on a grid, where much is in line */
      for (int k = 0; k < 3 * (count + 1); k++) f.x[k] = round(2 * f.x[k]);
    join(&f);
    bool got = spreads(&f), met = crosses_itself(&f);
    wrong += got && met;
    spread += got;
    crossed += met;
  }
  tap_ok(wrong == 0, "in a fan that spreads no two triangles cross");
  tap_ok(spread > DRAWS / 5 && crossed > DRAWS / 10, "many do (%d), and many cross (%d)", spread,
         crossed);
}

/* Fans as surfaces have them are known to spread: or nothing would be gained. */
static void test_common_fans(void) {
  random_state random = random_seed(13);
  int lost = 0;
  for (int n = 0; n < DRAWS / 10; n++) {
    fan f;
    double R[9], turned[3];
    make_fan(&f, &random, 3 + n % 8, 1, 0, 0);
    for (int32_t i = 1; i <= f.count; i++) /* flat, a tent, a saddle */
      f.x[3 * i + 2] += n % 3 == 1 ? 1 : n % 3 == 2 && f.count > 3 ? 0.3 * (i % 2) : 0;
    random_rotation(&random, R);
    for (int32_t i = 0; n % 2 && i <= f.count; i++) {
      for (int d = 0; d < 3; d++)
        turned[d] = 0.7 + R[3 * d] * f.x[3 * i] + R[3 * d + 1] * f.x[3 * i + 1] +
                    R[3 * d + 2] * f.x[3 * i + 2];
      memcpy(f.x + 3 * i, turned, sizeof turned);
    }
    join(&f);
    lost += !spreads(&f);
  }
  tap_ok(lost == 0, "flat fans, tents and saddles spread (%d do not)", lost);
}

static void test_windings(void) {
  random_state random = random_seed(17);
  fan f;
  make_fan(&f, &random, 10, 2, 0, 0);
  for (int32_t i = 1; i <= 10; i++) f.x[3 * i + 2] = 0.1 * i;
  join(&f);
  tap_ok(!spreads(&f) && crosses_itself(&f), "one that goes round twice does not");
  make_fan(&f, &random, 6, 1, 0, 0);
  for (int d = 0; d < 3; d++) f.x[3 * 3 + d] = 0.5 * f.x[3 * 1 + d]; /* back over its neighbours */
  join(&f);
  tap_ok(!spreads(&f) && crosses_itself(&f), "nor one that is folded");
  make_fan(&f, &random, 5, 1, 0, 0);
  for (int d = 0; d < 3; d++) f.x[3 * 2 + d] = f.x[3 * 1 + d];
  join(&f);
  tap_ok(!spreads(&f), "nor one with a triangle without area");
  make_fan(&f, &random, 5, 1, 0, 0);
  f.x[6] = NAN;
  join(&f);
  tap_ok(!spreads(&f), "nor one of no numbers");
}

/* Products of normals leave the range of numbers before coordinates do. */
static void test_sizes(void) {
  static const double scale[] = {1e-80, 1e-77, 1e77, 1e80};
  random_state random = random_seed(23);
  int wrong = 0;
  for (int n = 0; n < DRAWS; n++) {
    fan f;
    make_fan(&f, &random, 3 + n % 7, 1, n % 3 * 0.5, n % 5 * 0.3);
    for (int k = 0; k < 3 * (f.count + 1); k++) f.x[k] *= scale[n % 4];
    join(&f);
    wrong += spreads(&f) && crosses_itself(&f);
  }
  tap_ok(wrong == 0, "tiny and huge fans are not taken for what they are not");
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void test_beside(void) {
  static const int32_t corners[3][6] = {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 0, 4, 5}, {0, 1, 2, 0, 1, 5}};
  random_state random = random_seed(19);
  int wrong = 0, beside = 0, crossed = 0, shared = 0;
  for (int n = 0; n < 5 * DRAWS; n++) {
    double x[18];
    const int32_t *s = corners[n % 3], *t = s + 3;
    for (int k = 0; k < 18; k++) {
      x[k] = random_uniform(&random, -2, 2) + (k >= 9) * (n % 4) * 0.5;
      if (n % 5 < 2) x[k] = round(x[k]);
    }
    eb_exact_normal a = eb_exact_normal_of(x + 3 * s[0], x + 3 * s[1], x + 3 * s[2]);
    eb_exact_normal b = eb_exact_normal_of(x + 3 * t[0], x + 3 * t[1], x + 3 * t[2]);
    bool got = eb_exact_triangles_beside(x, s, &a, t, &b), met = eb_exact_triangles_cross(x, s, t);
    wrong += got && met;
    shared += got && n % 3;
    beside += got;
    crossed += met;
  }
  tap_ok(wrong == 0, "triangles beside each other do not cross");
  tap_ok(shared == 0, "those with a common corner are never beside each other");
  tap_ok(beside > DRAWS / 2 && crossed > DRAWS / 2, "many are (%d), and many cross (%d)", beside,
         crossed);
}

int main(void) {
  test_random_fans();
  test_common_fans();
  test_windings();
  test_sizes();
  test_beside();
  return tap_done();
}
