/* Random contact problems for the tests of methods: bodies that are lattices of nodes joined by
 * springs, A = M + h^2 K with h = 1 ms, masses of 0.1 to 10 g, stiffnesses of 1 to 1e4 N/m, and
 * contacts between nodes, edges, triangles and quadrangles of them.
 *
 * Unless the recipe says otherwise there is a motion that every contact allows with room to spare,
 * so that a solution exists (Klarbring 1990). */
#ifndef EB_TESTS_CONTACT_PROBLEMS_H
#define EB_TESTS_CONTACT_PROBLEMS_H

#include "problems/base/memory.h"
#include "problems/contact/problem.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/tap.h"

static const double CONTACT_STEP = 1e-3; /* h, s */

typedef struct contact_recipe {
  uint64_t seed;
  int32_t bodies, side;     /* bodies of side^3 nodes, side >= 2 */
  int32_t contacts;         /* between nodes at random; not of a pile */
  double mu;                /* of every contact; below 0: each 0, 0.5 or 1 */
  int32_t duplicates, near; /* contacts that are appended once more: the same, or turned by 1e-5 */
  /* bodies on each other and on the ground, pressed by gravity, half of them sliding: bodies
   * side^2 contacts */
  bool pile;
  bool loose;        /* c at random: nothing is known about a solution */
  bool inconsistent; /* two more contacts that contradict each other */
} contact_recipe;

typedef struct contact_case {
  contact_recipe recipe;
  random_state random;
  eb_block_matrix *A;
  double *mass; /* a node */
  double *b;
  double *allowed; /* a velocity that every contact allows */
  eb_contact_problem *problem;
} contact_case;

/* ---- A ---- */

static int32_t contact_node(const contact_recipe *r, int32_t body, int32_t x, int32_t y,
                            int32_t z) {
  return ((body * r->side + z) * r->side + y) * r->side + x;
}

/* Springs between neighbours along axes and diagonals, 2 nodes each; returns how many. NULL only
 * counts. */
static int32_t contact_springs(const contact_recipe *r, int32_t *springs) {
  static const int32_t OFFSETS[7][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0},
                                        {0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
  int32_t count = 0, n = r->side;
  for (int32_t node = 0; node < r->bodies * n * n * n; node++)
    for (int k = 0; k < 7; k++) {
      int32_t body = node / (n * n * n), x = node % n + OFFSETS[k][0],
              y = node / n % n + OFFSETS[k][1], z = node / (n * n) % n + OFFSETS[k][2];
      if (x >= n || y >= n || z >= n) continue;
      if (springs) {
        springs[2 * count] = node;
        springs[2 * count + 1] = contact_node(r, body, x, y, z);
      }
      count++;
    }
  return count;
}

/* A += h^2 of a spring, whose stiffness S is a positive definite matrix: like along a direction, a
 * tenth of it across. */
static void contact_stiffen(contact_case *c, const int32_t spring[2]) {
  double axis[3], k = pow(10, random_uniform(&c->random, 0, 4)) * CONTACT_STEP * CONTACT_STEP;
  random_direction(&c->random, 3, axis);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double *a = c->A->values + 9 * (int64_t)eb_block_matrix_find(c->A, spring[i], spring[j]);
      for (int e = 0; e < 9; e++)
        a[e] += (i == j ? k : -k) * (0.9 * axis[e / 3] * axis[e % 3] + 0.1 * (e % 4 == 0));
    }
}

static void contact_matrix(contact_case *c) {
  int32_t n = c->recipe.side, rows = c->recipe.bodies * n * n * n;
  int32_t count = contact_springs(&c->recipe, NULL), *springs;
  tap_require(EB_NEW(springs, 2 * (size_t)count), "springs");
  contact_springs(&c->recipe, springs);
  tap_require(eb_block_matrix_create(rows, springs, count, 2, &c->A), "a matrix");
  tap_require(EB_NEW(c->mass, rows), "masses");
  for (int32_t i = 0; i < rows; i++) {
    c->mass[i] = pow(10, random_uniform(&c->random, -4, -2));
    for (int d = 0; d < 3; d++) c->A->values[9 * (int64_t)c->A->diagonal[i] + 4 * d] += c->mass[i];
  }
  for (int32_t s = 0; s < count; s++) contact_stiffen(c, springs + 2 * (int64_t)s);
  free(springs);
}

/* ---- contacts ---- */

/* Appends a contact with the normal of `frame` (its first row) and weights on the nodes. Its c
 * leaves the allowed velocity `slack` (m) of room, unless the recipe is loose. */
static void contact_append(contact_case *c, int entries, const int32_t *node, const double *weight,
                           const double frame[9], double slack, double mu) {
  double H[9 * EB_CONTACT_ENTRIES], bound[3] = {-slack, 0, 0};
  for (int e = 0; e < entries; e++)
    for (int k = 0; k < 9; k++) {
      H[9 * e + k] = CONTACT_STEP * weight[e] * frame[k];
      bound[k / 3] += H[9 * e + k] * c->allowed[3 * (int64_t)node[e] + k % 3];
    }
  for (int d = 0; d < 3 && c->recipe.loose; d++)
    bound[d] = 1e-4 * random_uniform(&c->random, -1, 1);
  eb_contact_problem *p = c->problem;
  if (p->count == p->room)
    tap_require(eb_contact_problem_reserve(p, 2 * p->room + 8), "room for contacts");
  eb_contact_problem_add(p, entries, node, H, bound, mu);
}

static double contact_mu(contact_case *c) {
  if (c->recipe.mu >= 0) return c->recipe.mu;
  return 0.5 * (double)(random_word(&c->random) % 3);
}

/* A patch of a body: `count` (1, 2, 3 or 4) nodes that are neighbours, with weights that sum to
 * `sign`. */
static void contact_patch(contact_case *c, int32_t body, int count, double sign, int32_t *node,
                          double *weight) {
  const contact_recipe *r = &c->recipe;
  int32_t range = (int32_t)r->side - (count > 1), at[3];
  for (int d = 0; d < 3; d++) at[d] = (int32_t)(random_word(&c->random) % (uint64_t)range);
  double a = random_uniform(&c->random, 0.1, 0.9), b = random_uniform(&c->random, 0.1, 0.9);
  const double weights[4][4] = {{1},
                                {1 - a, a},
                                {1 - a, a * (1 - b), a * b},
                                {(1 - a) * (1 - b), a * (1 - b), b * (1 - a), a * b}};
  for (int k = 0; k < count; k++) {
    node[k] = contact_node(r, body, at[0] + k % 2, at[1] + k / 2, at[2]);
    weight[k] = sign * weights[count - 1][k];
  }
}

static void contact_between(contact_case *c) {
  static const int KINDS[5][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {1, 4}};
  const int *kind = KINDS[random_word(&c->random) % 5];
  int32_t bodies = c->recipe.bodies, node[5];
  double weight[5], frame[9];
  int32_t a = (int32_t)(random_word(&c->random) % (uint64_t)bodies);
  int32_t b = (a + 1 + (int32_t)(random_word(&c->random) % (uint64_t)(bodies - 1))) % bodies;
  contact_patch(c, a, kind[0], 1, node, weight);
  contact_patch(c, b, kind[1], -1, node + kind[0], weight + kind[0]);
  random_rotation(&c->random, frame);
  contact_append(c, kind[0] + kind[1], node, weight, frame, random_uniform(&c->random, 0, 1e-4),
                 contact_mu(c));
}

/* A frame whose normal is up but for a tilt. */
static void contact_upright(contact_case *c, double tilt, double frame[9]) {
  double x = random_uniform(&c->random, -tilt, tilt), y = random_uniform(&c->random, -tilt, tilt);
  double turn = random_uniform(&c->random, 0, 6), n = sqrt(1 + x * x + y * y);
  double normal[3] = {x / n, y / n, 1 / n}, side[3] = {cos(turn), sin(turn), 0}, length = 0;
  double along = side[0] * normal[0] + side[1] * normal[1];
  for (int d = 0; d < 3; d++) side[d] -= along * normal[d], length += side[d] * side[d];
  for (int d = 0; d < 3; d++) frame[d] = normal[d], frame[3 + d] = side[d] / sqrt(length);
  for (int d = 0; d < 3; d++) {
    int e = (d + 1) % 3, f = (d + 2) % 3;
    frame[6 + d] = frame[e] * frame[3 + f] - frame[f] * frame[3 + e];
  }
}

/* Every node of a body's lowest layer on a triangle of the body below, or on the ground. */
static void contact_lay(contact_case *c, int32_t body) {
  const contact_recipe *r = &c->recipe;
  int32_t node[4];
  double weight[4], frame[9];
  for (int32_t k = 0; k < r->side * r->side; k++) {
    int32_t x = k % r->side, y = k / r->side, entries = body ? 4 : 1;
    int32_t i = x == r->side - 1 ? x - 1 : x, j = y == r->side - 1 ? y - 1 : y;
    double a = random_uniform(&c->random, 0.1, 0.4), b = random_uniform(&c->random, 0.1, 0.4);
    const double weights[4] = {1, -a, -b, a + b - 1};
    for (int e = 0; e < entries; e++) {
      node[e] = e ? contact_node(r, body - 1, i + (e == 2), j + (e == 3), r->side - 1)
                  : contact_node(r, body, x, y, 0);
      weight[e] = weights[e];
    }
    contact_upright(c, body ? 0.1 : 0, frame);
    contact_append(c, entries, node, weight, frame, 0, contact_mu(c));
  }
}

/* Appends contact k once more, its H turned by a rotation of about `angle` (rad). */
static void contact_repeat(contact_case *c, int32_t k, double angle) {
  eb_contact_problem *p = c->problem;
  int32_t entries = p->start[k + 1] - p->start[k], node[EB_CONTACT_ENTRIES];
  double H[9 * EB_CONTACT_ENTRIES], bound[3], axis[3];
  for (int d = 0; d < 3; d++) axis[d] = angle * random_uniform(&c->random, -1, 1);
  memcpy(node, p->block + p->start[k], (size_t)entries * sizeof *node);
  memcpy(bound, p->c + 3 * (int64_t)k, sizeof bound);
  for (int32_t e = 0; e < entries; e++) {
    const double *from = p->H + 9 * (int64_t)(p->start[k] + e);
    for (int d = 0; d < 9; d++) {
      int row = d / 3, f = d % 3, g = (f + 1) % 3, h = (f + 2) % 3;
      H[9 * e + d] = from[d] + axis[g] * from[3 * row + h] - axis[h] * from[3 * row + g];
    }
  }
  if (p->count == p->room)
    tap_require(eb_contact_problem_reserve(p, 2 * p->room + 8), "room for contacts");
  eb_contact_problem_add(p, entries, node, H, bound, p->mu[k]);
  p->similar[p->count - 1] = ++p->similar[k];
}

/* Demands of both sides of two nodes that they be 10 um apart. */
static void contact_contradict(contact_case *c) {
  static const double WEIGHT[2] = {1, -1};
  double frame[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  const int32_t node[2] = {0, c->A->rows - 1};
  for (int k = 0; k < 2; k++) {
    contact_append(c, 2, node, WEIGHT, frame, 0, 0);
    c->problem->c[3 * (int64_t)(c->problem->count - 1)] = 1e-5;
    for (int d = 0; d < 6; d++) frame[d] = -frame[d];
  }
}

/* ---- b ---- */

/* The momentum that a motion without contacts would have: at random, or that of a pile that falls
 * by h g, sliding by body. */
static void contact_momentum(contact_case *c) {
  const contact_recipe *r = &c->recipe;
  int32_t of_body = r->side * r->side * r->side;
  double slide[3] = {0};
  for (int32_t i = 0; i < c->A->rows; i++) {
    if (i % of_body == 0) slide[0] = i / of_body % 2 ? random_uniform(&c->random, -1, 1) : 0;
    for (int d = 0; d < 3; d++) {
      double fall = slide[d] - (d == 2 ? 9.81 * CONTACT_STEP : 0);
      double v = r->pile ? fall : random_uniform(&c->random, -1, 1);
      c->b[3 * (int64_t)i + d] = c->mass[i] * v;
    }
  }
}

static contact_case contact_open(const contact_recipe *recipe) {
  contact_case c = {.recipe = *recipe, .random = random_seed(recipe->seed)};
  contact_matrix(&c);
  tap_require(EB_NEW(c.b, 3 * (size_t)c.A->rows), "b");
  tap_require(EB_NEW(c.allowed, 3 * (size_t)c.A->rows), "velocities");
  tap_require(eb_contact_problem_create(0, &c.problem), "a contact problem");
  c.problem->A = c.A;
  c.problem->b = c.b;
  for (int64_t k = 0; k < 3 * (int64_t)c.A->rows && !recipe->pile; k++)
    c.allowed[k] = random_uniform(&c.random, -0.1, 0.1);
  contact_momentum(&c);
  for (int32_t k = 0; k < recipe->bodies && recipe->pile; k++) contact_lay(&c, k);
  for (int32_t k = 0; k < recipe->contacts && !recipe->pile; k++) contact_between(&c);
  for (int32_t k = 0; k < recipe->duplicates; k++) contact_repeat(&c, k, 0);
  for (int32_t k = 0; k < recipe->near; k++) contact_repeat(&c, recipe->duplicates + k, 1e-5);
  if (recipe->inconsistent) contact_contradict(&c);
  return c;
}

static void contact_close(contact_case *c) {
  eb_contact_problem_destroy(c->problem);
  eb_block_matrix_destroy(c->A);
  free(c->mass);
  free(c->b);
  free(c->allowed);
}
OWNED(contact_case, contact_close)

#endif
