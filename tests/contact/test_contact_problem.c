/* The contact problem: storage, products with H, and the measures of a solution. */
#include "problems/contact/problem.h"
#include "solvers/contact/method.h"
#include "tests/support/owned.h"
#include "tests/support/contact_problems.h"
#include "tests/support/block_systems.h"

static const double CONE = 1e-3, ANGLE = 1.2;

/* H as a dense matrix of 3 count rows. */
static double *dense_H(const eb_contact_problem *p) {
  int64_t n = 3 * (int64_t)p->A->rows;
  double *dense = eb_calloc((size_t)(3 * p->count * n), sizeof *dense);
  for (int32_t k = 0; k < p->count; k++)
    for (int32_t e = p->start[k]; e < p->start[k + 1]; e++)
      for (int i = 0; i < 9; i++)
        dense[(3 * k + i / 3) * n + 3 * (int64_t)p->block[e] + i % 3] = p->H[9 * (int64_t)e + i];
  return dense;
}

static double largest_difference(int64_t n, const double *x, const double *y) {
  double largest = 0;
  for (int64_t k = 0; k < n; k++) largest = fmax(largest, fabs(x[k] - y[k]));
  return largest;
}

/* Rows of H have at most 15 entries of at most h = 1e-3: rounding is below 1e-15. */
static void test_products(void) {
  uint64_t seed = 3;
  owned(contact_case) c = contact_open(&(contact_recipe){
      .seed = 1, .bodies = 3, .side = 3, .contacts = 40, .mu = -1, .duplicates = 3, .near = 2});
  const eb_contact_problem *p = c.problem;
  int64_t n = 3 * (int64_t)c.A->rows, m = 3 * (int64_t)p->count;
  owned(double) *H = dense_H(p), *v = eb_test_random_vector(n, &seed),
                *r = eb_test_random_vector(m, &seed);
  owned(double) *f = eb_test_random_vector(n, &seed), *u = eb_test_random_vector(m, &seed);
  owned(double) *want_u = eb_calloc((size_t)m, sizeof *want_u),
                *want_f = eb_calloc((size_t)n, sizeof *f);
  for (int64_t j = 0; j < n; j++) want_f[j] = f[j];
  for (int64_t i = 0; i < m; i++) {
    want_u[i] = -p->c[i];
    for (int64_t j = 0; j < n; j++) want_u[i] += H[i * n + j] * v[j];
    for (int64_t j = 0; j < n; j++) want_f[j] += H[i * n + j] * r[i];
  }
  eb_contact_velocity(p, v, u);
  eb_contact_force_add(p, r, f);
  tap_below(largest_difference(m, u, want_u), 1e-15, "H v - c equals the dense one");
  tap_below(largest_difference(n, f, want_f), 1e-14, "f + H^T r equals the dense one");
}

static void test_storage(void) {
  owned(contact_case) c = contact_open(&(contact_recipe){
      .seed = 2, .bodies = 3, .side = 3, .contacts = 100, .mu = 0.5, .duplicates = 4});
  const eb_contact_problem *p = c.problem;
  bool ascending = true, fits = p->count == 104 && p->room >= p->count;
  for (int32_t k = 0; k < p->count; k++) {
    int32_t entries = p->start[k + 1] - p->start[k];
    fits = fits && entries >= 2 && entries <= 5;
    for (int32_t e = p->start[k] + 1; e < p->start[k + 1]; e++)
      ascending = ascending && p->block[e - 1] < p->block[e];
  }
  tap_ok(fits, "104 contacts of 2 to 5 blocks are stored");
  tap_ok(ascending, "their blocks are ascending and unique");
  tap_ok(p->similar[0] == 2 && p->similar[100] == 2 && p->similar[50] == 1,
         "duplicates know that there are two of them");
}

static void number(int32_t count, double first, double *values) {
  for (int32_t k = 0; k < count; k++) values[k] = first + k;
}

/* Blocks 7, 2, 7, 4: sorted, and the two 7s added up. */
static void test_add(void) {
  const int32_t block[4] = {7, 2, 7, 4}, sorted[3] = {2, 4, 7};
  double H[36], c[3] = {1, 2, 3};
  eb_contact_problem *p;
  tap_require(eb_contact_problem_create(1, &p), "a problem");
  number(36, 0, H);
  eb_contact_problem_add(p, 4, block, H, c, 0.25);
  tap_ok(p->count == 1 && p->start[1] == 3 && !memcmp(p->block, sorted, sizeof sorted),
         "blocks are sorted and merged");
  bool sums = true;
  for (int k = 0; k < 9; k++)
    sums = sums && p->H[k] == 9 + k && p->H[9 + k] == 27 + k && p->H[18 + k] == 18 + 2 * k;
  tap_ok(sums, "their entries of H move with them and add up");
  tap_ok(p->c[1] == 2 && p->mu[0] == 0.25 && p->similar[0] == 1, "c, mu and Z are those given");
  eb_contact_problem_destroy(p);
}

static void test_reserve(void) {
  const int32_t block[EB_CONTACT_ENTRIES] = {0, 1, 2, 3, 4, 5, 6, 7};
  double H[9 * EB_CONTACT_ENTRIES], c[3] = {4, 5, 6};
  eb_contact_problem *p;
  tap_require(eb_contact_problem_create(0, &p), "a problem");
  number(9 * EB_CONTACT_ENTRIES, 1, H);
  bool kept = p->count == 0 && p->start[0] == 0;
  for (int32_t room = 1; room < 50; room++) {
    tap_require(eb_contact_problem_reserve(p, room), "room");
    tap_require(eb_contact_problem_reserve(p, room / 2), "room that is there");
    kept = kept && p->room == room;
    eb_contact_problem_add(p, EB_CONTACT_ENTRIES, block, H, c, room);
  }
  for (int32_t k = 0; k < p->count; k++)
    kept = kept && p->mu[k] == k + 1 && p->c[3 * k + 2] == 6 && p->similar[k] == 1 &&
           !memcmp(p->H + 72 * (size_t)k, H, sizeof H) && p->start[k + 1] == 8 * (k + 1);
  tap_ok(kept && p->count == 49, "room grows and keeps what is there");
  tap_fails(eb_contact_problem_reserve(p, INT32_MAX), EB_ERR_LIMIT, "contacts",
            "more contacts than entries can be counted are refused");
  eb_contact_problem_destroy(p);
  tap_fails(eb_contact_problem_create(-1, &p), EB_ERR_LIMIT, "-1", "negative room is refused");
  tap_ok(!p, "and there is no problem then");
}

/* ---- measures, by hand: a node of mass 2, one contact with H = 0.5 I, u = v / 2 - c  */

typedef struct by_hand {
  eb_block_matrix *A;
  eb_contact_problem *problem;
  double b[3], work[9];
  eb_contact_error error;
} by_hand;

static by_hand by_hand_open(double mu) {
  const int32_t node = 0;
  const double H[9] = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5}, c[3] = {1, 2, 3};
  by_hand h = {0};
  tap_require(eb_block_matrix_create(1, NULL, 0, 1, &h.A), "a matrix");
  for (int d = 0; d < 3; d++) h.A->values[4 * d] = 2;
  tap_require(eb_contact_problem_create(1, &h.problem), "a problem");
  eb_contact_problem_add(h.problem, 1, &node, H, c, mu);
  h.problem->A = h.A;
  return h;
}

/* Measures u, r; b is such that A v - b - H^T r = residual. */
static const eb_contact_error *by_hand_measure(by_hand *h, const double u[3], const double r[3],
                                               const double residual[3]) {
  double v[3];
  for (int d = 0; d < 3; d++) {
    v[d] = 2 * (u[d] + h->problem->c[d]);
    h->b[d] = 2 * v[d] - 0.5 * r[d] - residual[d];
  }
  h->problem->b = h->b;
  for (int d = 0; d < 3; d++) h->work[d] = 2 * v[d];
  eb_contact_measure(h->problem, v, r, 1e-6, h->work, &h->error);
  return &h->error;
}

static void by_hand_close(by_hand *h) {
  eb_contact_problem_destroy(h->problem);
  eb_block_matrix_destroy(h->A);
}
OWNED(by_hand, by_hand_close)

#define MEASURE(...) by_hand_measure(&h, __VA_ARGS__)
#define V(...)       ((const double[3]){__VA_ARGS__})
static const double NONE[3] = {0, 0, 0};

/* Numbers of order 1 throughout: what is not exact is off by rounding of some 1e-16. */
static void test_measure_forces(void) {
  owned(by_hand) h = by_hand_open(0.5);
  tap_near(MEASURE(NONE, NONE, V(3, 4, 12))->residual, 13, 1e-14,
           "the residual is |A v - b - H^T r|");
  tap_near(MEASURE(V(-0.25, 0, 0), NONE, NONE)->violation, 0.25, 1e-15, "violation is -u_n");
  tap_near(MEASURE(V(0.25, 0, 0), NONE, NONE)->violation, 0, 1e-15, "a gap is no violation");
  tap_near(MEASURE(V(0.25, 0, 0), NONE, NONE)->active, 0, 1e-15, "nor active without a force");
  tap_near(MEASURE(V(0.25, 0, 0), V(2, 0, 0), NONE)->active, 0.25, 1e-15,
           "a force across a gap is measured by the gap");
  tap_near(MEASURE(NONE, V(2, 3, 4), NONE)->cone, 2, 1e-15, "cone: (5 - 0.5 x 2) / 2");
  tap_near(MEASURE(NONE, V(2, 0, 1), NONE)->cone, 0, 1e-15, "the cone's border is inside");
  tap_ok(MEASURE(NONE, V(-2, 0, 0), NONE)->cone == INFINITY,
         "pulling without any push is infinite");
  tap_ok(MEASURE(NONE, NONE, NONE)->cone == 0, "no force, no excess");
}

static void test_measure_friction(void) {
  by_hand h = by_hand_open(0.5);
  const eb_contact_error *e = MEASURE(V(0, 0.3, 0.4), V(2, 0.5, 0), NONE);
  tap_near(e->sliding, 0.5, 1e-15, "a force inside the cone should stick");
  tap_near(e->angle, 0, 0, "and has no direction to oppose");
  e = MEASURE(V(0, -0.3, 0), V(2, 1, 0), NONE);
  tap_near(e->angle, 0, 1e-13, "friction against the motion is at no angle");
  tap_near(e->sliding, 0, 0, "and may slide");
  tap_near(MEASURE(V(0, 0.3, 0), V(2, 1, 0), NONE)->angle, 180, 1e-12,
           "along the motion: 180 degrees");
  tap_near(MEASURE(V(0, -0.3, 0.3), V(2, 1, 0), NONE)->angle, 45, 1e-12, "askew: 45 degrees");
  tap_near(MEASURE(V(0, 0.9e-6, 0), V(2, 1, 0), NONE)->angle, 0, 0,
           "motion below eps2 has no direction");
  by_hand_close(&h);
  h = by_hand_open(0);
  e = MEASURE(V(0, 0.3, 0), V(2, 0, 0), NONE);
  tap_ok(e->angle == 0 && e->sliding == 0 && e->cone == 0, "without friction sliding is free");
  tap_near(MEASURE(V(0, 0.3, 0), V(2, 1, 0), NONE)->cone, 0.5, 1e-15, "and friction is an excess");
  by_hand_close(&h);
}

static void test_solved(void) {
  const eb_contact_tolerance tolerance = {1e-5, 1e-6, CONE, ANGLE, 1};
  const double limit[6] = {1e-5, 1e-6, 1e-6, 1e-6, CONE, ANGLE};
  eb_contact_error error = {1e-5, 1e-6, 1e-6, 1e-6, CONE, ANGLE};
  double *measure[6] = {&error.residual, &error.violation, &error.active,
                        &error.sliding,  &error.cone,      &error.angle};
  tap_ok(eb_contact_solved(&error, &tolerance), "solved at the tolerances");
  for (int k = 0; k < 6; k++) {
    *measure[k] = 1.01 * limit[k];
    bool above = !eb_contact_solved(&error, &tolerance);
    *measure[k] = NAN;
    tap_ok(above && !eb_contact_solved(&error, &tolerance), "not above tolerance %d, nor NaN", k);
    *measure[k] = limit[k];
  }
}

static void test_not_finite(void) {
  owned(by_hand) h = by_hand_open(0.5);
  const eb_contact_tolerance tolerance = {1, 1, 1, 180, 1};
  for (int d = 0; d < 3; d++) {
    double bad[3] = {0};
    bad[d] = NAN;
    bool u = eb_contact_solved(MEASURE(bad, NONE, NONE), &tolerance);
    bool r = eb_contact_solved(MEASURE(NONE, bad, NONE), &tolerance);
    tap_ok(!u && !r, "NaN in component %d solves nothing", d);
  }
}

/* Without contacts v = A^-1 b, which is v = b / mass with a free node. */
static void test_no_contacts(void) {
  owned(by_hand) h = by_hand_open(0.5);
  h.problem->count = 0;
  h.problem->b = V(2, 4, 6);
  double v[3] = {1, 2, 4};
  for (int d = 0; d < 3; d++) h.work[d] = 2 * v[d];
  eb_contact_measure(h.problem, v, NULL, 1e-6, h.work, &h.error);
  tap_near(h.error.residual, 2, 1e-15, "without contacts there is the residual alone");
  tap_ok(h.error.violation == 0 && h.error.active == 0 && h.error.cone == 0, "and nothing else");
}

/* What the fixture promises: A symmetric and dominated by its masses, the allowed velocity inside
 * every cone. */
static void test_fixture(void) {
  owned(contact_case) c = contact_open(
      &(contact_recipe){.seed = 5, .bodies = 3, .side = 3, .contacts = 50, .mu = -1, .near = 5});
  const eb_contact_problem *p = c.problem;
  owned(double) *u = eb_calloc(3 * (size_t)p->count, sizeof *u);
  double skew = 0;
  eb_contact_velocity(p, c.allowed, u);
  bool inside = true;
  for (int32_t k = 0; k < p->count; k++)
    inside = inside && u[3 * k] > p->mu[k] * hypot(u[3 * k + 1], u[3 * k + 2]);
  tap_ok(inside, "the fixture's problems allow a motion");
  for (int32_t i = 0; i < c.A->rows; i++)
    for (int32_t b = c.A->start[i]; b < c.A->start[i + 1]; b++) {
      const double *a = c.A->values + 9 * (int64_t)b;
      const double *t = c.A->values + 9 * (int64_t)eb_block_matrix_find(c.A, c.A->column[b], i);
      for (int k = 0; k < 9; k++) skew = fmax(skew, fabs(a[k] - t[3 * (k % 3) + k / 3]));
    }
  tap_near(skew, 0, 1e-18, "their matrices are symmetric");
}

/* A fall of 10 cm/s, alike for all bodies, is felt by the contacts on the ground only: 1e-3 s x 0.1
 * m/s. */
static void test_pile(void) {
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 6, .bodies = 3, .side = 3, .mu = 0.5, .pile = true});
  owned(contact_case) bad = contact_open(&(contact_recipe){
      .seed = 6, .bodies = 3, .side = 3, .mu = 0.5, .pile = true, .inconsistent = true});
  owned(double) *u = eb_calloc(3 * (size_t)bad.problem->count, sizeof *u);
  for (int32_t i = 0; i < c.A->rows; i++) c.allowed[3 * i + 2] = -0.1;
  tap_ok(c.problem->count == 27 && bad.problem->count == 29, "a pile has side^2 contacts a body");
  eb_contact_velocity(bad.problem, c.allowed, u);
  bool ground = true, above = true;
  for (int32_t k = 0; k < 27; k++)
    if (k < 9)
      ground = ground && fabs(u[3 * k] + 1e-4) < 1e-15;
    else
      above = above && fabs(u[3 * k]) < 1e-15;
  tap_ok(ground && above, "its lowest body stands on the ground, the others on each other");
  tap_ok(u[81] < 0 && u[84] < 0 && fabs(u[81] + u[84] + 2e-5) < 1e-15,
         "contradicting contacts are violated by any motion");
}

int main(void) {
  test_products();
  test_storage();
  test_add();
  test_reserve();
  test_measure_forces();
  test_measure_friction();
  test_solved();
  test_not_finite();
  test_no_contacts();
  test_fixture();
  test_pile();
  return tap_done();
}
