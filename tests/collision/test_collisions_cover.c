/* Vertices that leave their reach: afterwards hits are those of brute force again. */
#include "tests/support/owned.h"
#include "tests/support/collisions_fixture.h"

enum { VERTICES = 400, TRIALS = 4 };

static world *open_scene(double reach) {
  world *w = new_world();
  random_state random = random_seed(3);
  add_torus(w, &random, DEFORMABLE, 10, 6, 0.5, (const double[3]){0, 0, 0}, reach);
  add_torus(w, &random, RIGID, 10, 6, 0.5, (const double[3]){0.9, 0, 0}, reach);
  add_torus(w, &random, OBSTACLE, 8, 5, 0.6, (const double[3]){0, 1.1, 0}, reach);
  add_soup(w, &random, DEFORMABLE, 30, 0.1, false, false, reach);
  open_world(w);
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
  return w;
}

/* Moves every `stride`-th vertex by up to `far` in every coordinate, the others within reach;
 * returns how many leave theirs. */
static int32_t leave(const world *w, random_state *random, int32_t stride, double far, double *x1) {
  int32_t left = 0;
  move(w, random, 1, x1);
  for (int32_t i = 0; i < w->vertices; i += stride) {
    double most = 0;
    for (int d = 0; d < 3; d++) {
      x1[3 * i + d] = w->x[3 * i + d] + random_uniform(random, -far, far);
      most = fmax(most, fabs(x1[3 * i + d] - w->x[3 * i + d]));
    }
    left += most > w->reach[i];
  }
  return left;
}

static void test_leaving(int32_t stride, const char *name) {
  owned(world) *w = open_scene(0.01);
  random_state random = random_seed(11);
  double x1[3 * VERTICES];
  int32_t left = leave(w, &random, stride, 0.4, x1), repaired;
  int64_t hits = 0, before = eb_collisions_candidates(w->collisions);
  tap_require(eb_collisions_cover(w->collisions, x1, &repaired), "cover");
  tap_ok(left > 0 && repaired == left, "%s: as many are repaired as left", name);
  tap_ok(finds_all(w, x1, &hits) && hits > 0, "%s: hits of brute force", name);
  tap_ok(eb_collisions_candidates(w->collisions) > before, "%s: there are more candidates", name);
  tap_require(eb_collisions_cover(w->collisions, x1, &repaired), "cover");
  tap_ok(repaired == 0, "%s: covered once is covered", name);
}

/* One motion after another, each leaving further: nothing is listed twice, nothing lost. */
static void test_again(void) {
  owned(world) *w = open_scene(0.005);
  random_state random = random_seed(29);
  double x1[3 * VERTICES];
  int64_t hits = 0;
  bool same = true;
  for (int k = 0; k < TRIALS; k++) {
    int32_t repaired;
    leave(w, &random, 7 - k, 0.05 * (1 << k), x1);
    tap_require(eb_collisions_cover(w->collisions, x1, &repaired), "cover");
    same &= repaired > 0 && finds_all(w, x1, &hits);
  }
  tap_ok(same && hits > 0, "one motion after another, further each time");
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
  int64_t fresh = eb_collisions_candidates(w->collisions);
  /* The fixture's reaches are those of the first begin: boxes are rounded outward by some 1e-6 of
   * the coordinates. */
  tap_ok(fresh >= brute_candidates(w, 0) && fresh <= brute_candidates(w, 4e-6),
         "the next step begins with its own reaches");
}

static void test_within(void) {
  owned(world) *w = open_scene(0.02);
  random_state random = random_seed(31);
  double x1[3 * VERTICES];
  int64_t before = eb_collisions_candidates(w->collisions);
  int32_t repaired;
  move(w, &random, 1, x1);
  tap_require(eb_collisions_cover(w->collisions, x1, &repaired), "cover");
  tap_ok(repaired == 0 && eb_collisions_candidates(w->collisions) == before,
         "within reach nothing is repaired");
}

int main(void) {
  test_within();
  test_leaving(97, "few vertices");
  test_leaving(2, "many vertices");
  test_leaving(1, "all vertices");
  test_again();
  return tap_done();
}
