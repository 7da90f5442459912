/* Candidates and hits against brute force over all pairs: soups, closed surfaces, obstacles, rigid
 * groups, thin and flat triangles; errors. */
#include "problems/base/sanitizer.h"
#include "tests/support/owned.h"
#include "tests/support/collisions_fixture.h"

#if EB_SANITIZER
enum { MOTIONS = 2, SOUP = 60 };
#else
enum { MOTIONS = 8, SOUP = 160 };
#endif

/* ---- scenes ---------------------------------------------------------------------------------- */

static void soup(world *w, random_state *random) {
  add_soup(w, random, DEFORMABLE, SOUP, 0.1, false, false, 0.05);
}

static void several_soups(world *w, random_state *random) {
  add_soup(w, random, DEFORMABLE, SOUP / 2, 0.1, false, false, 0.05);
  add_soup(w, random, RIGID, SOUP / 2, 0.2, false, false, 0.02);
  add_soup(w, random, OBSTACLE, SOUP / 3, 0.1, false, false, 0);
  add_soup(w, random, OBSTACLE, SOUP / 3, 0.3, false, false, 0.01);
  add_soup(w, random, RIGID, SOUP / 3, 0.05, false, false, 0.1);
}

static void flat(world *w, random_state *random) {
  add_soup(w, random, DEFORMABLE, SOUP / 2, 0.1, true, false, 0.02);
}

static void thin(world *w, random_state *random) {
  add_soup(w, random, DEFORMABLE, SOUP, 0.2, false, true, 0.05);
}

static void tori(world *w, random_state *random) {
  const body_kind kinds[5] = {DEFORMABLE, DEFORMABLE, RIGID, OBSTACLE, RIGID};
  for (int k = 0; k < 5; k++) {
    double middle[3];
    for (int d = 0; d < 3; d++) middle[d] = random_uniform(random, 0, 1);
    add_torus(w, random, kinds[k], 10, 6, 0.5, middle, 0.03 + 0.01 * k);
  }
}

/* Parts of one body that pass through each other. */
static void crumpled(world *w, random_state *random) {
  add_torus(w, random, DEFORMABLE, 12, 8, 0.5, (const double[3]){0, 0, 0}, 0.2);
}

typedef struct crowd {
  const char *name;
  void (*fill)(world *w, random_state *random);
} crowd;

static const crowd scenes[] = {{"a soup", soup},
                               {"soups of all kinds of bodies", several_soups},
                               {"flat triangles in a plane", flat},
                               {"thin triangles", thin},
                               {"tori of all kinds of bodies", tori},
                               {"a body that crumples", crumpled}};

static world *open_scene(const crowd *scene) {
  world *w = new_world();
  random_state random = random_seed(17);
  scene->fill(w, &random);
  open_world(w);
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
  return w;
}

/* ---- against brute force --------------------------------------------------------------------- */

static void test_scene(const crowd *scene) {
  owned(world) *w = open_scene(scene);
  random_state random = random_seed(5);
  int64_t candidates = eb_collisions_candidates(w->collisions), hits = 0;
  /* Boxes are rounded outward by some 1e-6 of the coordinates, which are of size 1 here. */
  tap_ok(candidates >= brute_candidates(w, 0) && candidates <= brute_candidates(w, 2e-6),
         "%s: candidates are the pairs whose boxes meet", scene->name);
  bool same = true;
  for (int k = 0; k < MOTIONS; k++) {
    owned(double) *x1 = malloc(3 * (size_t)w->vertices * sizeof *x1);
    move(w, &random, 1, x1);
    same &= finds_all(w, x1, &hits);
  }
  tap_ok(same && hits > 0, "%s: every motion finds the hits of brute force, %lld", scene->name,
         (long long)hits);
}

/* Two steps with a scattering between them, so that patches are formed anew. */
static void test_steps(void) {
  owned(world) *w = open_scene(&scenes[0]);
  random_state random = random_seed(23);
  double x1[3 * 3000];
  int64_t hits = 0;
  bool same = true;
  for (int step = 0; step < 3; step++) {
    for (int32_t i = 0; i < 3 * w->vertices; i++)
      w->x[i] =
          step == 1 ? random_uniform(&random, 0, 2) : w->x[i] + random_uniform(&random, 0, 0.1);
    tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
    move(w, &random, 1, x1);
    same &= finds_all(w, x1, &hits);
  }
  tap_ok(same && hits > 0, "steps after a scattering find the hits of brute force");
}

/* Vertices on their ways, and by reach beside them. */
static void test_ways(void) {
  owned(world) *w = open_scene(&scenes[4]);
  random_state random = random_seed(37);
  double way[3 * 3000], x1[3 * 3000], wide[3000];
  int64_t hits = 0, narrow;
  bool same = true;
  for (int32_t i = 0; i < w->vertices; i++) {
    w->reach[i] = 0.01;
    random_direction(&random, 3, way + 3 * i);
    for (int d = 0; d < 3; d++) way[3 * i + d] *= 0.1;
    wide[i] = 0.1 + w->reach[i];
  }
  tap_require(eb_collisions_begin(w->collisions, w->x, way, w->reach), "begin");
  narrow = eb_collisions_candidates(w->collisions);
  for (int k = 0; k < MOTIONS; k++) {
    move(w, &random, 1, x1);
    for (int32_t i = 0; i < 3 * w->vertices; i++) x1[i] += random_uniform(&random, 0, 1) * way[i];
    same &= finds_all(w, x1, &hits);
  }
  tap_ok(same && hits > 0, "motions along ways find the hits of brute force");
  for (int d = 0; d < 3; d++) x1[d] = w->x[d] - 0.5 * way[d];
  const eb_hit *none;
  int32_t count;
  tap_fails(eb_collisions_find(w->collisions, x1, &none, &count), EB_ERR_INVALID,
            "vertex 0 has left its reach", "a motion against its way");
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, wide), "begin");
  tap_ok(narrow < eb_collisions_candidates(w->collisions), "ways list less than reaches as long");
}

/* ---- borders of the contract ----------------------------------------------------------------- */

static void test_empty(void) {
  owned(world) *w = new_world();
  const eb_hit *hits;
  int32_t count = -1;
  open_world(w);
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
  tap_require(eb_collisions_find(w->collisions, w->x, &hits, &count), "find");
  tap_ok(count == 0 && eb_collisions_candidates(w->collisions) == 0, "a mesh of nothing");
}

/* Two triangles that touch in a corner, at rest: touching counts, and the boxes have no
 * thickness. */
static void test_touching(void) {
  owned(world) *w = new_world();
  const double x[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, 0}, {0, 0, 1}, {1, 0, 1}};
  int64_t hits = 0;
  begin_group(w, DEFORMABLE);
  for (int k = 0; k < 6; k++) add_vertex(w, x[k], 0);
  add_triangle(w, 0, 1, 2);
  add_triangle(w, 3, 4, 5);
  open_world(w);
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
  tap_ok(finds_all(w, w->x, &hits) && hits > 0, "without reach, what touches is found");
}

static void test_mesh_errors(void) {
  eb_collision_mesh *mesh;
  const uint8_t no[2] = {0, 0};
  const int32_t group[4] = {0, 0, 0, 1}, high[4] = {0, 0, 0, 2};
  const int32_t outside[3] = {0, 1, 4}, negative[3] = {0, -1, 2}, twice[3] = {0, 1, 1};
  const int32_t mixed[3] = {0, 1, 3};
  tap_fails(eb_collision_mesh_create(4, 1, outside, group, 2, no, no, &mesh), EB_ERR_INVALID,
            "triangle 0 has vertex 4", "a vertex out of range");
  tap_fails(eb_collision_mesh_create(4, 1, negative, group, 2, no, no, &mesh), EB_ERR_INVALID,
            "vertex -1", "a negative vertex");
  tap_fails(eb_collision_mesh_create(4, 1, twice, group, 2, no, no, &mesh), EB_ERR_INVALID,
            "vertex 1 twice", "a corner twice");
  tap_fails(eb_collision_mesh_create(4, 1, mixed, group, 2, no, no, &mesh), EB_ERR_INVALID,
            "joins groups 0 and 1", "a triangle of two groups");
  tap_fails(eb_collision_mesh_create(4, 0, NULL, high, 2, no, no, &mesh), EB_ERR_INVALID,
            "vertex 3 has group 2", "a group out of range");
}

static void test_use_errors(void) {
  owned(world) *w = new_world();
  const eb_hit *hits;
  int32_t count;
  random_state random = random_seed(1);
  soup(w, &random);
  open_world(w);
  tap_fails(eb_collisions_find(w->collisions, w->x, &hits, &count), EB_ERR_INVALID,
            "call eb_collisions_begin", "find before begin");
  tap_fails(eb_collisions_cover(w->collisions, w->x, &count), EB_ERR_INVALID,
            "call eb_collisions_begin", "cover before begin");
  w->reach[3] = -1;
  tap_fails(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), EB_ERR_INVALID,
            "vertex 3 has the reach -1", "a negative reach");
  w->reach[3] = NAN;
  tap_fails(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), EB_ERR_INVALID, "vertex 3",
            "a reach that is no number");
  w->reach[3] = 0;
  double way[3 * 3000] = {[10] = INFINITY};
  tap_fails(eb_collisions_begin(w->collisions, w->x, way, w->reach), EB_ERR_INVALID,
            "vertex 3 has the way", "a way that is not finite");
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
  w->x[10] += 1e-3;
  tap_fails(eb_collisions_find(w->collisions, w->x, &hits, &count), EB_ERR_INVALID,
            "vertex 3 has left its reach", "a motion beyond reach");
  w->x[10] = INFINITY;
  tap_fails(eb_collisions_cover(w->collisions, w->x, &count), EB_ERR_INVALID, "vertex 3 is at",
            "cover of a position that is not finite");
  w->x[10] = NAN;
  tap_fails(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), EB_ERR_INVALID,
            "vertex 3 is at", "a position that is no number");
}

int main(void) {
  for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) test_scene(&scenes[k]);
  test_steps();
  test_ways();
  test_empty();
  test_touching();
  test_mesh_errors();
  test_use_errors();
  return tap_done();
}
