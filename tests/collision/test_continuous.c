/* Continuous collision detection against exact contact of points with integer coordinates;
 * closest points against the condition of optimality. `test_continuous PAIRS SEED` tries more
 * random pairs. */
#include "problems/base/sanitizer.h"
#include "problems/base/vector3.h"
#include "tests/support/continuous_oracle.h"
#include "tests/support/random.h"
#include "tests/tap.h"

#if EB_SANITIZER
enum { RANDOM_PAIRS = 20000, APART_PAIRS = 5000, EXACT_HIT_EVERY = 16 };
#else
enum { RANDOM_PAIRS = 250000, APART_PAIRS = 100000, EXACT_HIT_EVERY = 16 };
#endif

/* At a time before the first contact the features are nearer than this, of their size; where none
 * touch, nearer than `rounding`. Flat triangles that fall over need the most: 2e-9 and 2e-12 were
 * seen in a million pairs. */
static const double near = 1e-8, rounding = 1e-11;

typedef struct grid_pair {
  eb_pair_kind kind;
  int64_t x0[4][3], x1[4][3];
} grid_pair;

static int64_t on_grid(random_state *random, int64_t size) {
  return (int64_t)(random_word(random) % (uint64_t)(2 * size + 1)) - size;
}

/* Small grids give duplicate points, flat triangles, parallel edges and touching; besides motion
 * within a plane, along one line, in common, and none. A quarter are on a grid that is finer by
 * 2^14, around a place of the small one: near misses. */
static void random_pair(random_state *random, grid_pair *pair) {
  static const int64_t sizes[6] = {1, 2, 3, 5, 9, 100};
  int64_t size = sizes[random_word(random) % 6], fine = 1, noise = 0;
  uint64_t special = random_word(random) % 8;
  if (random_word(random) % 4 == 0) {
    fine = 1 << 14;
    noise = 1 + (int64_t)(random_word(random) % 8);
  }
  pair->kind = random_word(random) % 2 ? EB_EDGE_EDGE : EB_VERTEX_FACE;
  for (int d = 0; d < 3; d++) {
    int64_t common = on_grid(random, size);
    for (int i = 0; i < 4; i++) {
      int64_t a = on_grid(random, size), b = on_grid(random, size);
      if (special == 0 && d == 2) a = b = 0;
      if (special == 1) b = a;
      if (special == 2 && i > 0) b = a + common;
      if (special == 3 && d > 0) b = a;
      pair->x0[i][d] = a * fine + on_grid(random, noise);
      pair->x1[i][d] = b * fine + on_grid(random, noise);
    }
  }
}

static bool collides(const grid_pair *pair, double *time) {
  double x0[4][3], x1[4][3];
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) {
      x0[i][d] = (double)pair->x0[i][d];
      x1[i][d] = (double)pair->x1[i][d];
    }
  return eb_continuous_collision(pair->kind, (const double(*)[3])x0, (const double(*)[3])x1, time);
}

typedef struct tally {
  int hits, missed, false_hits, timed, late, early, at_start;
} tally;

/* Distance of the features at a time, over the size of the coordinates. */
static double distance_at(const grid_pair *pair, double t) {
  double x[4][3], weight[4], size = 1;
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) {
      x[i][d] = (1 - t) * (double)pair->x0[i][d] + t * (double)pair->x1[i][d];
      size = fmax(size, fmax(fabs((double)pair->x0[i][d]), fabs((double)pair->x1[i][d])));
    }
  return eb_closest_points(pair->kind, (const double(*)[3])x, weight) / size;
}

static void judge(oracle *o, const grid_pair *pair, bool timed, tally *t) {
  double time = -1, first[2];
  bool hit = collides(pair, &time);
  t->hits += hit;
  if (hit && !timed) return;
  bool contact = oracle_contact(o, pair->kind, (const int64_t(*)[3])pair->x0,
                                (const int64_t(*)[3])pair->x1, hit ? first : NULL);
  t->missed += contact && !hit;
  t->false_hits += hit && !contact && distance_at(pair, time) > rounding;
  if (!hit || !contact) return;
  t->timed++;
  t->late += !(time <= first[1]);
  t->early += !(time >= first[0] - 1e-9 || distance_at(pair, time) < near);
  t->at_start += (time == 0) != (first[1] == 0);
}

static void test_random(oracle *o, int pairs, uint64_t seed) {
  random_state random = random_seed(seed);
  tally t = {0};
  for (int i = 0; i < pairs; i++) {
    grid_pair pair;
    random_pair(&random, &pair);
    judge(o, &pair, i % EXACT_HIT_EVERY == 0, &t);
  }
  tap_ok(t.hits > pairs / 10 && t.hits < pairs / 2 && t.timed > 0,
         "random pairs: a fair share collides");
  tap_ok(t.missed == 0, "random pairs: no contact is missed (%d)", t.missed);
  tap_ok(t.false_hits == 0,
         "random pairs: no hit of features that do not touch within rounding (%d)", t.false_hits);
  tap_ok(t.late == 0, "random pairs: no time is later than the first contact (%d)", t.late);
  tap_ok(t.early == 0, "random pairs: times are near the first contact (%d)", t.early);
  tap_ok(t.at_start == 0, "random pairs: time is 0 when and only when they touch at x0 (%d)",
         t.at_start);
}

/* ---- features that stay apart ---- */

/* Points that stay in a plane of unit normal n for the most part, with the first feature above it
 * by at least gap/2 and the second below it by as much, at both ends: their distance is gap or more
 * throughout. Half of them move along n in common, too. */
static void slab_pair(random_state *random, double gap, eb_pair_kind kind, double x0[4][3],
                      double x1[4][3]) {
  double n[3], lift = random_word(random) % 2 ? random_uniform(random, -1, 1) : 0;
  random_direction(random, 3, n);
  for (int i = 0; i < 4; i++) {
    double side = i < (kind == EB_VERTEX_FACE ? 1 : 2) ? 0.5 : -0.5;
    for (int end = 0; end < 2; end++) {
      double *x = end ? x1[i] : x0[i],
             more = random_word(random) % 2 ? 1 : 1 + random_uniform(random, 0, 3);
      for (int d = 0; d < 3; d++) x[d] = random_uniform(random, -1, 1);
      eb_add3(side * gap * more - eb_dot3(x, n) + end * lift, n, x);
    }
  }
}

static void test_apart(void) {
  random_state random = random_seed(2);
  int hits = 0;
  for (int i = 0; i < APART_PAIRS; i++) {
    double x0[4][3], x1[4][3], time;
    eb_pair_kind kind = i % 2 ? EB_EDGE_EDGE : EB_VERTEX_FACE;
    slab_pair(&random, i % 4 < 2 ? 1e-8 : 1e-9, kind, x0, x1);
    hits += eb_continuous_collision(kind, (const double(*)[3])x0, (const double(*)[3])x1, &time);
  }
  tap_ok(hits == 0, "no hit of features on both sides of a plane, 1e-9 of their size apart (%d)",
         hits);
}

/* ---- symmetry ---- */

static void reorder(const grid_pair *pair, const int order[4], grid_pair *out) {
  out->kind = pair->kind;
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) {
      out->x0[i][d] = pair->x0[order[i]][d];
      out->x1[i][d] = pair->x1[order[i]][d];
    }
}

static void test_orders(void) {
  static const int faces[2][4] = {{0, 2, 3, 1}, {0, 1, 3, 2}},
                   edges[3][4] = {{1, 0, 2, 3}, {0, 1, 3, 2}, {2, 3, 0, 1}};
  random_state random = random_seed(3);
  int different = 0;
  for (int i = 0; i < RANDOM_PAIRS / 10; i++) {
    grid_pair pair, other;
    double time, other_time;
    random_pair(&random, &pair);
    bool hit = collides(&pair, &time), face = pair.kind == EB_VERTEX_FACE;
    for (int k = 0; k < (face ? 2 : 3); k++) {
      reorder(&pair, face ? faces[k] : edges[k], &other);
      bool same = collides(&other, &other_time) == hit;
      different += !same || (hit && fabs(time - other_time) > 1e-9 &&
                             distance_at(&pair, fmin(time, other_time)) > near);
    }
  }
  tap_ok(different == 0, "the order of corners, ends and edges does not matter (%d)", different);
}

/* ---- known cases ---- */

static void test_known(void) {
  double time = -1;
  grid_pair fall = {EB_VERTEX_FACE, {{1, 1, 3}, {0, 0, 0}, {4, 0, 0}, {0, 4, 0}}, {{0}}};
  memcpy(fall.x1, fall.x0, sizeof fall.x0);
  fall.x1[0][2] = -1;
  tap_ok(collides(&fall, &time) && time <= 0.75 && time > 0.75 - 1e-9,
         "a vertex that falls through a face, at 3/4");
  fall.x1[0][2] = 0;
  tap_ok(collides(&fall, &time) && time <= 1 && time > 1 - 1e-9,
         "a vertex that comes to rest on a face");
  fall.x1[0][2] = 1;
  tap_ok(!collides(&fall, &time), "a vertex that stops above a face");
  fall.x1[0][2] = -1;
  fall.x0[0][0] = fall.x1[0][0] = 4;
  tap_ok(!collides(&fall, &time), "a vertex that falls past a face");
  grid_pair along = {EB_EDGE_EDGE,
                     {{0, 0, 0}, {2, 0, 0}, {6, 0, 0}, {8, 0, 0}},
                     {{0, 0, 0}, {2, 0, 0}, {-4, 0, 0}, {-2, 0, 0}}};
  tap_ok(collides(&along, &time) && time <= 0.4 && time > 0.4 - 1e-9,
         "edges that meet along their line, at 2/5");
  /* f has a double root at 1, where the two lie upon each other; distance and sine both are 1 - t,
   * nearly. */
  grid_pair parallel = {EB_EDGE_EDGE,
                        {{-1, 1, 0}, {0, 1, 1}, {1, 1, 0}, {0, 0, 0}},
                        {{0, -1, 0}, {0, 0, 1}, {0, 0, 1}, {0, -1, 0}}};
  tap_ok(collides(&parallel, &time) && time <= 1 && time > 1 - 1e-9,
         "edges that get parallel as they meet, at 1");
  grid_pair at_rest = {EB_EDGE_EDGE, {{0, 0, 0}, {2, 2, 0}, {0, 2, 0}, {2, 0, 0}}, {{0}}};
  memcpy(at_rest.x1, at_rest.x0, sizeof at_rest.x0);
  tap_ok(collides(&at_rest, &time) && time == 0, "edges that cross at rest touch at 0");
}

/* ---- closest points ---- */

/* With d the difference of the closest points, everything of the first feature is at least |d|
 * above everything of the second one along d / |d|: then, and then only, d is the shortest
 * difference. */
static double optimality_gap(eb_pair_kind kind, const double x[4][3], double *weights_off) {
  double weight[4], d[3] = {0}, least = INFINITY, most = -INFINITY, sum = 0;
  double length = eb_closest_points(kind, x, weight);
  int first = kind == EB_VERTEX_FACE ? 1 : 2;
  for (int i = 0; i < 4; i++) {
    eb_add3(weight[i], x[i], d);
    sum += weight[i];
    *weights_off =
        fmax(*weights_off, fmax(i < first ? -weight[i] : weight[i], fabs(weight[i]) - 1));
  }
  for (int i = 0; i < 4; i++) {
    if (i < first)
      least = fmin(least, eb_dot3(d, x[i]));
    else
      most = fmax(most, eb_dot3(d, x[i]));
  }
  *weights_off = fmax(*weights_off, fmax(fabs(sum), fabs(length - sqrt(eb_dot3(d, d)))));
  return length * length - (least - most);
}

static void test_closest(void) {
  random_state random = random_seed(4);
  double gap = 0, weights = 0;
  for (int i = 0; i < RANDOM_PAIRS / 10; i++) {
    grid_pair pair;
    double x[4][3];
    random_pair(&random, &pair);
    double size = 1;
    for (int k = 0; k < 12; k++) size = fmax(size, fabs((double)pair.x0[k / 3][k % 3]));
    for (int k = 0; k < 12; k++) x[k / 3][k % 3] = (double)pair.x0[k / 3][k % 3] / size;
    gap = fmax(gap, optimality_gap(pair.kind, (const double(*)[3])x, &weights));
  }
  /* Slivers as thin as 1e-5 have their normal to 1e-11. */
  tap_below(gap, 1e-7, "closest points: nothing is closer, degenerate features included");
  tap_below(weights, 1e-14, "closest points: weights are of the features and sum to 0");
}

int main(int count, char **arguments) {
  oracle o = {.conditions = 0};
  sequence_init(&o.q);
  test_random(&o, count > 1 ? atoi(arguments[1]) : RANDOM_PAIRS,
              count > 2 ? strtoull(arguments[2], NULL, 10) : 1);
  sequence_clear(&o.q);
  test_apart();
  test_orders();
  test_known();
  test_closest();
  return tap_done();
}
