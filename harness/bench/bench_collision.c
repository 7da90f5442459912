/* Collision detection: listing candidates of a step and testing a motion against them.
 *
 * `begin` and `list` list all anew, as after a jump; `next` is a step after the last one, `find` a
 * trial after another one.
 *
 * Spheres stand in a jittered lattice, each moving by itself, at four sizes: seconds over n log2 n
 * should stay level. Rings are those of verschoor2019, 120 of 144 triangles, tumbling with few near
 * contacts: reach is three steps of motion, as in Section 5 there, and the motion that is tested
 * one of them. Every body is deformable, so that it is tested against itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/bench/bench.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/collision/collisions.h"
#include "problems/mesh/generate.h"

typedef struct swarm {
  int32_t bodies, vertices, triangles; /* vertices and triangles of one body */
  double *X;                           /* one body */
  int32_t *body_triangles;
  double *x[3],
      *reach; /* before a step, after it, and where nothing is left of what was drawn, m */
  eb_collision_mesh *mesh;
  eb_collisions *collisions;
  int next;
  int32_t hits;
} swarm;

static void clear(void *context) {
  swarm *s = context;
  eb_collisions_destroy(s->collisions);
  eb_collision_mesh_destroy(s->mesh);
  free(s->X);
  free(s->body_triangles);
  free(s->x[0]);
  free(s->x[1]);
  free(s->x[2]);
  free(s->reach);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

enum { STACKS = 8, SECTORS = 12 };

static eb_error allocate_body(swarm *s, int32_t vertices, int32_t triangles) {
  s->vertices = vertices;
  s->triangles = triangles;
  EB_TRY(EB_NEW(s->X, 3 * (size_t)vertices));
  return EB_NEW(s->body_triangles, 3 * (size_t)triangles);
}

static void triangle(swarm *s, int32_t *count, int32_t a, int32_t b, int32_t c) {
  const int32_t corners[3] = {a, b, c};
  memcpy(s->body_triangles + 3 * (size_t)(*count)++, corners, sizeof corners);
}

/* Of radius 1: poles are the last two vertices, between them rings of SECTORS vertices from the
 * north. */
static eb_error sphere(swarm *s) {
  int32_t rings = STACKS - 1, north = rings * SECTORS, count = 0;
  EB_TRY(allocate_body(s, north + 2, 2 * SECTORS * rings));
  const double turn = 2 * acos(-1);
  s->X[3 * (size_t)north + 2] = 1;
  s->X[3 * (size_t)north + 5] = -1;
  for (int32_t i = 0; i < rings; i++)
    for (int32_t j = 0; j < SECTORS; j++) {
      double polar = 0.5 * turn * (i + 1) / STACKS, around = turn * j / SECTORS;
      double *X = s->X + 3 * (size_t)(i * SECTORS + j);
      X[0] = sin(polar) * cos(around);
      X[1] = sin(polar) * sin(around);
      X[2] = cos(polar);
      int32_t a = i * SECTORS + j, b = i * SECTORS + (j + 1) % SECTORS;
      int32_t below = i + 1 < rings ? a + SECTORS : north + 1;
      triangle(s, &count, a, below, b);
      if (i == 0) triangle(s, &count, north, a, b);
      if (i + 1 < rings) triangle(s, &count, below, b + SECTORS, b);
    }
  return EB_OK;
}

static eb_error ring(swarm *s) {
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  EB_TRY(eb_generate_ring(18, 0.8, 0.3, &mesh));
  eb_error error = eb_mesh_surface(mesh, &surface);
  if (!error) error = allocate_body(s, surface->vertex_count, surface->triangle_count);
  if (!error) {
    memcpy(s->X, surface->X, 3 * (size_t)s->vertices * sizeof *s->X);
    memcpy(s->body_triangles, surface->triangles, 3 * (size_t)s->triangles * sizeof(int32_t));
  }
  eb_surface_destroy(surface);
  eb_mesh_destroy(mesh);
  return error;
}

/* ---- swarms ---------------------------------------------------------------------------------- */

/* In [-1, 1), the same every time. */
static double scatter(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* The rotation by |w| about w. */
static void rotation(const double w[3], double R[9]) {
  double angle = sqrt(eb_dot3(w, w)), s = sin(angle) / angle,
         c = (1 - cos(angle)) / (angle * angle);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int k = 3 - i - j;
      double skew = i == j ? 0 : (j == (i + 1) % 3 ? -w[k] : w[k]);
      R[3 * i + j] = (i == j ? cos(angle) : 0) + s * skew + c * w[i] * w[j];
    }
}

/* Places body b in the lattice; `speed`: the most that a vertex moves in a step, roughly, over the
 * radius 1. */
static void place(swarm *s, int32_t b, int32_t side, double spacing, double speed,
                  uint64_t *state) {
  double middle[3], turn[3], w[3], v[3], first[9], step[9];
  const int32_t cell[3] = {b % side, b / side % side, b / side / side};
  for (int d = 0; d < 3; d++) {
    middle[d] = spacing * (cell[d] + 0.02 * scatter(state));
    turn[d] = 3 * scatter(state);
    w[d] = 0.5 * speed * scatter(state);
    v[d] = 0.5 * speed * scatter(state);
  }
  rotation(turn, first);
  rotation(w, step);
  for (int32_t i = 0; i < s->vertices; i++) {
    size_t vertex = (size_t)b * (size_t)s->vertices + (size_t)i;
    double arm[3], turned[3], *x0 = s->x[0] + 3 * vertex, *x1 = s->x[1] + 3 * vertex, square = 0;
    eb_turn3(first, s->X + 3 * (size_t)i, arm);
    eb_turn3(step, arm, turned);
    for (int d = 0; d < 3; d++) {
      x0[d] = middle[d] + arm[d];
      x1[d] = middle[d] + v[d] + turned[d];
      square += (x1[d] - x0[d]) * (x1[d] - x0[d]);
    }
    s->reach[vertex] = 3 * sqrt(square);
  }
}

static eb_error join_bodies(swarm *s) {
  int32_t *triangles = NULL, *group = NULL, vertices = s->bodies * s->vertices;
  uint8_t *no = NULL;
  eb_error error = EB_NEW(triangles, 3 * (size_t)s->bodies * (size_t)s->triangles);
  if (!error) error = EB_NEW(group, vertices);
  if (!error) error = EB_NEW(no, s->bodies);
  for (int32_t i = 0; !error && i < vertices; i++) group[i] = i / s->vertices;
  for (int32_t b = 0; !error && b < s->bodies; b++)
    for (int32_t k = 0; k < 3 * s->triangles; k++)
      triangles[3 * b * s->triangles + k] = b * s->vertices + s->body_triangles[k];
  if (!error)
    error = eb_collision_mesh_create(vertices, s->bodies * s->triangles, triangles, group,
                                     s->bodies, no, no, &s->mesh);
  free(triangles);
  free(group);
  free(no);
  return error;
}

/* ---- cases; errors cannot occur that the same calls during set-up did not raise -------------- */

enum { AFTER = 1, AFAR = 2 };

/* From where the swarm was before to `which` and back: a step on, for which the lists still serve
 * but for some, or so far that all is listed anew. */
static void run_begin(void *context, int which) {
  swarm *s = context;
  s->next = s->next ? 0 : which;
  eb_error_free(eb_collisions_begin(s->collisions, s->x[s->next], NULL, s->reach));
}

static void run_find(void *context, int which) {
  swarm *s = context;
  (void)which;
  const eb_hit *hits;
  eb_error_free(eb_collisions_find(s->collisions, s->x[1], &hits, &s->hits));
}

static void describe(void *context, char *text, size_t bytes) {
  const swarm *s = context;
  snprintf(text, bytes, "%d triangles, %lld candidates, %d hits", s->mesh->triangle_count,
           (long long)eb_collisions_candidates(s->collisions), s->hits);
}

typedef struct swarm_of {
  eb_error (*body)(swarm *);
  int32_t triangles; /* at least */
  double spacing;
  enum { RUNS, N_LOG_N, CANDIDATES } work;
} swarm_of;

static eb_error set_up(void *context, const void *of, double *work) {
  static const double speed = 0.05;
  swarm *s = context;
  const swarm_of *what = of;
  uint64_t state = 1;
  EB_TRY(what->body(s));
  s->bodies = (what->triangles + s->triangles - 1) / s->triangles;
  size_t vertices = (size_t)s->bodies * (size_t)s->vertices;
  int32_t side = (int32_t)ceil(cbrt(s->bodies));
  for (int k = 0; k < 3; k++) EB_TRY(EB_NEW(s->x[k], 3 * vertices));
  EB_TRY(EB_NEW(s->reach, vertices));
  for (int32_t b = 0; b < s->bodies; b++) place(s, b, side, what->spacing, speed, &state);
  for (size_t i = 0; i < 3 * vertices; i++) s->x[AFAR][i] = s->x[0][i] + 1;
  EB_TRY(join_bodies(s));
  EB_TRY(eb_collisions_create(s->mesh, &s->collisions));
  EB_TRY(eb_collisions_begin(s->collisions, s->x[0], NULL, s->reach));
  double n = s->mesh->triangle_count;
  if (what->work == N_LOG_N) *work = n * log2(n);
  if (what->work == CANDIDATES) *work = (double)eb_collisions_candidates(s->collisions);
  return EB_OK;
}

static const swarm_of rings = {ring, 17280, 2.0, RUNS};
static const swarm_of spheres = {sphere, 100000, 2.1, CANDIDATES};

#define CASE(name_, unit_, measure_, target_, of_, run_, which_)                                   \
  {                                                                                                \
    .name = "collision-" name_, .unit = unit_, .measure = measure_, .target = target_,             \
    .bytes = sizeof(swarm), .of = of_, .setup = set_up, .run = run_, .which = which_,              \
    .clear = clear, .describe = describe                                                           \
  }
#define LEVEL(size_)                                                                               \
  CASE("begin/spheres-" #size_, "n log2 n", EB_BENCH_TIME, 0,                                      \
       (&(const swarm_of){sphere, (int32_t)size_, 2.1, N_LOG_N}), run_begin, AFAR)

const eb_bench_case eb_bench_collision[] = {
    CASE("begin/rings", "begin", EB_BENCH_TIME, 6e-3, &rings, run_begin, AFAR),
    CASE("next/rings", "begin", EB_BENCH_TIME, 0, &rings, run_begin, AFTER),
    CASE("find/rings", "find", EB_BENCH_TIME, 1.5e-3, &rings, run_find, 0),
    LEVEL(1e3),
    LEVEL(1e4),
    LEVEL(1e5),
    LEVEL(1e6),
    CASE("list/spheres", "candidates", EB_BENCH_RATE, 0, &spheres, run_begin, AFAR),
    CASE("find/spheres", "candidate", EB_BENCH_TIME, 0, &spheres, run_find, 0),
    {0}};
