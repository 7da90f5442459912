/* How many threads take part: a scene of few triangles wakes none, one of many finds on two, and on
 * lists that another number of threads has made, the same bits as on one. */
#include <dirent.h>
#include <omp.h>

#include "problems/collision/collisions.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/tap.h"

/* Triangles of 7 features: ten patches, and more than is left to one thread (collisions.c). */
enum { FEW = 80, MANY = 4000, STEPS = 4 };
static const double reach = 0.02;

typedef struct soup {
  int32_t vertices;
  double *x, *x1, *reach;
  eb_collision_mesh *mesh;
  eb_collisions *collisions;
} soup;

static void *take(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) exit(1);
  return memory;
}

/* Triangles of their own vertices, of two deformable bodies, a rigid one and an obstacle, as dense
 * whatever their number. */
static soup open_soup(int32_t triangles) {
  random_state random = random_seed(19);
  soup s = {.vertices = 3 * triangles};
  size_t vertices = (size_t)s.vertices;
  double side = cbrt(triangles / 160.), middle[3] = {0};
  owned(int32_t) *corner = take(vertices, sizeof *corner), *group = take(vertices, sizeof *group);
  const uint8_t rigid[4] = {0, 0, 1, 0}, obstacle[4] = {0, 0, 0, 1};
  s.x = take(3 * vertices, sizeof *s.x);
  s.x1 = take(3 * vertices, sizeof *s.x1);
  s.reach = take(vertices, sizeof *s.reach);
  for (int32_t i = 0; i < s.vertices; i++) {
    corner[i] = i;
    group[i] = i / 3 % 4;
    s.reach[i] = reach;
    for (int d = 0; d < 3; d++) {
      if (i % 3 == 0) middle[d] = random_uniform(&random, 0, side);
      s.x[3 * i + d] = middle[d] + random_uniform(&random, -0.1, 0.1);
    }
  }
  tap_require(
      eb_collision_mesh_create(s.vertices, triangles, corner, group, 4, rigid, obstacle, &s.mesh),
      "collision mesh");
  tap_require(eb_collisions_create(s.mesh, &s.collisions), "collisions");
  return s;
}

static void close_soup(soup *s) {
  eb_collisions_destroy(s->collisions);
  eb_collision_mesh_destroy(s->mesh);
  free(s->x);
  free(s->x1);
  free(s->reach);
}
OWNED(soup, close_soup)

/* What a step finds. */
typedef struct outcome {
  int64_t candidates;
  int32_t repaired, hit_count, near_count;
  const eb_hit *hits; /* good until the next step */
  eb_near *near;
} outcome;

/* A step on so many threads; every hundredth vertex leaves its reach. */
static outcome step(soup *s, uint64_t seed, int threads) {
  random_state random = random_seed(seed);
  outcome out;
  const eb_near *near;
  for (int32_t i = 0; i < 3 * s->vertices; i++) {
    double far = i / 3 % 100 == 0 ? 4 * reach : reach;
    s->x[i] += random_uniform(&random, -0.1, 0.1) * reach;
    s->x1[i] = s->x[i] + random_uniform(&random, -far, far);
  }
  omp_set_num_threads(threads);
  tap_require(eb_collisions_begin(s->collisions, s->x, NULL, s->reach), "begin");
  tap_require(eb_collisions_cover(s->collisions, s->x1, &out.repaired), "cover");
  out.candidates = eb_collisions_candidates(s->collisions);
  tap_require(eb_collisions_near(s->collisions, s->x1, (const double[]){reach, reach}, &near,
                                 &out.near_count),
              "near");
  out.near = take((size_t)out.near_count + 1, sizeof *near);
  memcpy(out.near, near, (size_t)out.near_count * sizeof *near);
  tap_require(eb_collisions_find(s->collisions, s->x1, &out.hits, &out.hit_count), "find");
  return out;
}

static bool same_pair(const eb_pair *a, const eb_pair *b) {
  return a->kind == b->kind && !memcmp(a->vertex, b->vertex, sizeof a->vertex);
}

static bool same(const outcome *a, const outcome *b) {
  bool same = a->candidates == b->candidates && a->repaired == b->repaired &&
              a->hit_count == b->hit_count && a->near_count == b->near_count;
  for (int32_t k = 0; same && k < a->hit_count; k++)
    same = same_pair(&a->hits[k].pair, &b->hits[k].pair) && a->hits[k].time == b->hits[k].time;
  for (int32_t k = 0; same && k < a->near_count; k++)
    same =
        same_pair(&a->near[k].pair, &b->near[k].pair) && a->near[k].distance == b->near[k].distance;
  return same;
}

/* Of this process; the runtime makes one when it is needed, and keeps it. */
static int threads_there_are(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) exit(1);
  for (const struct dirent *task; (task = readdir(tasks));) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

int main(void) {
  int alone = threads_there_are();
  owned(soup) few = open_soup(FEW);
  for (int k = 0; k < STEPS; k++) free(step(&few, (uint64_t)k, 2).near);
  tap_ok(threads_there_are() == alone, "a small scene wakes nobody");
  owned(soup) one = open_soup(MANY), other = open_soup(MANY);
  int64_t hits = 0, near = 0, repaired = 0;
  bool agree = true;
  for (int k = 0; k < STEPS; k++) {
    outcome a = step(&one, (uint64_t)k, 1), b = step(&other, (uint64_t)k, 2 - k % 2);
    agree &= same(&a, &b);
    hits += a.hit_count;
    near += a.near_count;
    repaired += a.repaired;
    free(a.near);
    free(b.near);
  }
  tap_ok(threads_there_are() == alone + 1, "a large one shares the work");
  tap_ok(agree && hits > 0 && near > 0 && repaired > 0,
         "on two threads and one in turns steps find what they do on one: %lld hits, %lld near",
         (long long)hits, (long long)near);
  return tap_done();
}
