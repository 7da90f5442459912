/* Pairs that are near each other: those of brute force over all pairs. */
#include "tests/support/owned.h"
#include "tests/support/collisions_fixture.h"

enum { VERTICES = 400, MOST = 20000 };

typedef struct near_brute {
  const double *x;
  double distance[2]; /* by eb_pair_kind */
  eb_hit found[MOST]; /* the time is the distance */
  int32_t count;
} near_brute;

static void measure(void *context, const eb_pair *pair) {
  near_brute *b = context;
  double x[4][3], weight[4];
  for (int k = 0; k < 4; k++) memcpy(x[k], b->x + 3 * pair->vertex[k], sizeof x[k]);
  double distance = eb_closest_points((eb_pair_kind)pair->kind, (const double(*)[3])x, weight);
  if (distance < b->distance[pair->kind] && b->count < MOST)
    b->found[b->count++] = (eb_hit){*pair, distance};
}

static world *open_scene(random_state *random, double reach) {
  world *w = new_world();
  add_torus(w, random, DEFORMABLE, 10, 6, 0.5, (const double[3]){0, 0, 0}, reach);
  add_torus(w, random, RIGID, 10, 6, 0.5, (const double[3]){0.9, 0, 0}, reach);
  add_torus(w, random, OBSTACLE, 8, 5, 0.6, (const double[3]){0, 1.1, 0}, reach);
  add_soup(w, random, DEFORMABLE, 40, 0.1, false, false, reach);
  open_world(w);
  tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
  return w;
}

/* Bit by bit. */
static bool is_same(const eb_near *near, eb_hit wanted) {
  eb_hit got = {near->pair, near->distance};
  return by_pair(&got, &wanted) == 0 && got.time == wanted.time;
}

static bool agrees(const world *w, near_brute *b) {
  const eb_near *near;
  int32_t count;
  b->count = 0;
  visit_pairs(w, measure, b);
  if (b->count > 1) qsort(b->found, (size_t)b->count, sizeof *b->found, by_pair);
  tap_require(eb_collisions_near(w->collisions, b->x, b->distance, &near, &count), "near");
  bool same = count == b->count && count > 0;
  for (int32_t k = 0; k < count && same; k++) same = is_same(&near[k], b->found[k]);
  if (!same) printf("#   %d pairs, brute force %d\n", count, b->count);
  return same;
}

static void near_at_the_start_and_on_the_way(void) {
  random_state random = random_seed(5);
  const double reach = 0.02;
  owned(world) *w = open_scene(&random, reach);
  double x1[3 * VERTICES];
  near_brute *b = calloc(1, sizeof *b);
  if (!b) exit(1);
  /* Half of the distance is left to the reach. */
  *b = (near_brute){.x = w->x, .distance = {reach, reach}};
  tap_ok(agrees(w, b), "pairs near each other at the start are those of brute force");
  for (int kind = 0; kind < 2; kind++) {
    *b = (near_brute){.x = w->x, .distance = {reach, reach}};
    b->distance[kind] = 0.3 * reach;
    tap_ok(agrees(w, b), "also where %s have to be nearer", kind ? "edges" : "vertices and faces");
  }
  move(w, &random, 0.5, x1);
  b->x = x1;
  tap_ok(agrees(w, b), "and after a motion");
  int64_t hits = 0;
  tap_ok(finds_all(w, x1, &hits), "and collisions of the motion are still found");
  free(b);
}

/* Trials that differ by less and less, with collisions and distances asked for in turns: what has
 * been told apart is not looked at again, and nothing is missed. */
static void trials_of_one_step(void) {
  enum { TRIALS = 24 };
  random_state random = random_seed(11);
  const double reach = 0.1;
  owned(world) *w = open_scene(&random, reach);
  double x1[3 * VERTICES], at[3 * VERTICES];
  near_brute *b = calloc(1, sizeof *b);
  if (!b) exit(1);
  int64_t hits = 0;
  bool found = true, near = true;
  move(w, &random, 0.5, x1);
  for (int t = 0; t < TRIALS; t++) {
    double part = pow(0.5, t % 12);
    for (int32_t i = 0; i < 3 * w->vertices; i++)
      at[i] = x1[i] + random_uniform(&random, -1, 1) * 0.02 * part;
    found &= finds_all(w, at, &hits);
    *b = (near_brute){.x = at,
                      .distance = {(t % 3 ? 0.5 : 0.3) * reach, (t % 2 ? 0.5 : 0.2) * reach}};
    near &= agrees(w, b);
    if (t % 4 == 3) memcpy(x1, at, 3 * (size_t)w->vertices * sizeof *x1);
  }
  tap_ok(found && hits > 0, "trials of one step find the collisions of brute force");
  tap_ok(near, "and what is near");
  free(b);
}

/* Lists and what is known of pairs outlive steps. Vertices that creep, a quarter of them that jumps
 * now and then, and a step that begins elsewhere than the last one ended: every step finds what a
 * detector without a past would. */
static void steps_one_after_another(void) {
  enum { STEPS = 8 };
  random_state random = random_seed(41);
  const double reach = 0.02;
  owned(world) *w = open_scene(&random, reach);
  double x1[3 * VERTICES];
  near_brute *b = calloc(1, sizeof *b);
  if (!b) exit(1);
  int64_t hits = 0;
  bool listed = true, found = true, near = true;
  for (int step = 0; step < STEPS; step++) {
    for (int32_t i = 0; i < w->vertices; i++)
      for (int d = 0; d < 3; d++)
        if (step % 6 == 5 && i % 4 == 0)
          w->x[3 * i + d] += random_uniform(&random, -0.15, 0.15);
        else if (step % 4 > 0) /* else where it was */
          w->x[3 * i + d] += random_uniform(&random, -1, 1) * 0.1 * reach;
    tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
    int64_t candidates = eb_collisions_candidates(w->collisions);
    if (step % 3 == 2)
      listed &= candidates >= brute_candidates(w, 0) && candidates <= brute_candidates(w, 4e-6);
    *b = (near_brute){.x = w->x, .distance = {reach, 0.5 * reach}};
    near &= agrees(w, b);
    move(w, &random, 0.5, x1);
    found &= finds_all(w, x1, &hits);
    *b = (near_brute){.x = x1, .distance = {(step % 5 ? 1 : 0.7) * reach, 0.5 * reach}};
    near &= agrees(w, b);
    if (step % 4 > 0) memcpy(w->x, x1, 3 * (size_t)w->vertices * sizeof *x1);
  }
  tap_ok(listed, "steps one after another: candidates are those of the step alone");
  tap_ok(found && hits > 0, "they find the collisions of brute force");
  tap_ok(near, "and what is near");
  free(b);
}

/* What is near at w->x, by a detector that has no past, is what this one says. */
static bool as_without_a_past(const world *w, const double distance[2], int32_t *found) {
  eb_collisions *fresh;
  const eb_near *near, *wanted;
  int32_t count;
  tap_require(eb_collisions_create(w->mesh, &fresh), "create");
  tap_require(eb_collisions_begin(fresh, w->x, NULL, w->reach), "begin");
  tap_require(eb_collisions_near(fresh, w->x, distance, &wanted, &count), "near");
  tap_require(eb_collisions_near(w->collisions, w->x, distance, &near, found), "near");
  bool same = count == *found;
  for (int32_t k = 0; k < count && same; k++)
    same = is_same(&near[k], (eb_hit){wanted[k].pair, wanted[k].distance});
  if (!same) printf("#   %d pairs, %d without a past\n", *found, count);
  eb_collisions_destroy(fresh);
  return same;
}

/* A step that begins where the last one has ended has been told there what is near, but for what
 * was no candidate of the last step, where vertices have ended at the edge of their boxes, or is
 * none of this one, where it gives them less room. */
static void steps_from_end_to_end(void) {
  enum { STEPS = 12 };
  random_state random = random_seed(23);
  const double reach = 0.05;
  owned(world) *w = open_scene(&random, reach);
  double x1[3 * VERTICES];
  bool same = true, less = false;
  int32_t before = 0;
  for (int step = 0; step < STEPS; step++) {
    const eb_near *near;
    int32_t count;
    double wide = step / 2 % 2 ? 1.5 : 0.5, distance[] = {wide * reach, 0.4 * wide * reach};
    for (int32_t i = 0; i < w->vertices; i++) w->reach[i] = (step % 3 == 2 ? 0.2 : 1) * reach;
    tap_require(eb_collisions_begin(w->collisions, w->x, NULL, w->reach), "begin");
    same &= as_without_a_past(w, distance, &count);
    less |= step > 0 && count != before;
    move(w, &random, step % 2 ? 1 : 0.2, x1);
    /* Now and then of another distance than it will be asked for. */
    distance[0] = (((step + 1) / 2 + (step % 7 == 6)) % 2 ? 1.5 : 0.5) * reach;
    distance[1] = (step % 5 == 4 ? 0.6 : 0.4) * distance[0];
    tap_require(eb_collisions_near(w->collisions, x1, distance, &near, &before), "near");
    memcpy(w->x, x1, 3 * (size_t)w->vertices * sizeof *x1);
  }
  tap_ok(same, "a step from where the last one has ended finds what is near without a past");
  tap_ok(less, "which is at times not what the last one has found there");
}

static void order_is_asked_for(void) {
  random_state random = random_seed(5);
  owned(world) *w = open_scene(&random, 0.02);
  double x1[3 * VERTICES];
  const eb_near *near;
  int32_t count;
  memcpy(x1, w->x, 3 * (size_t)w->vertices * sizeof *x1);
  x1[7] += 1;
  tap_fails(eb_collisions_near(w->collisions, x1, (const double[]){0.01, 0.01}, &near, &count),
            EB_ERR_INVALID, "eb_collisions_cover", "a vertex beyond its reach is an error");
}

int main(void) {
  near_at_the_start_and_on_the_way();
  trials_of_one_step();
  steps_one_after_another();
  steps_from_end_to_end();
  order_is_asked_for();
  return tap_done();
}
