/* The linear algebra of the global step: factors and their solves against LAPACK, updates of rank
 * one against factoring again, incomplete factors, and conjugate gradients with the factor of a
 * matrix whose diagonal has changed since, among them the ones of Lewin 2016, Figure 5.4. */
#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "solvers/projective/factor.h"
#include "solvers/projective/pcg.h"
#include "tests/support/owned.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"
#include "tests/tap.h"

OWNED_POINTER(eb_scalar_factor, eb_scalar_factor_destroy)

/* ---- a matrix -------------------------------------------------------------------------------- */

typedef struct scalar_grid {
  eb_mesh *mesh;
  eb_block_matrix *pattern;
  double *value, *extra, *change; /* entries; rows */
  eb_v4 *b, *x, *y;               /* rows */
  int32_t rows;
} scalar_grid;

/* Of a grid of cubes; `couple` for every pair of corners of a cube, `own` on the diagonal. */
static scalar_grid grid_open(int32_t nx, int32_t ny, int32_t nz, double own, double couple,
                             double jitter) {
  scalar_grid s = {0};
  random_state random = random_seed(5);
  const eb_grid grid = {{nx, ny, nz}, {0, 0, 0}, {1, 1, 1}};
  tap_require(eb_generate_hexahedra(&grid, &s.mesh), "a grid");
  s.rows = s.mesh->node_count;
  tap_require(
      eb_block_matrix_create(s.rows, s.mesh->elements, s.mesh->element_count, 8, &s.pattern),
      "a pattern");
  tap_require(EB_NEW(s.value, s.pattern->start[s.rows]), "entries");
  tap_require(EB_NEW(s.extra, s.rows), "a diagonal");
  tap_require(EB_NEW(s.change, s.rows), "its changes");
  tap_require(EB_NEW(s.b, s.rows), "right-hand sides");
  tap_require(EB_NEW(s.x, s.rows), "solutions");
  tap_require(EB_NEW(s.y, s.rows), "more of them");
  for (int32_t i = 0; i < s.rows; i++) s.value[s.pattern->diagonal[i]] = own;
  for (int32_t e = 0; e < s.mesh->element_count; e++) {
    double size = couple * (1 + random_uniform(&random, 0, jitter));
    for (int k = 0; k < 64; k++) {
      const int32_t *node = s.mesh->elements + 8 * (int64_t)e;
      s.value[eb_block_matrix_find(s.pattern, node[k / 8], node[k % 8])] +=
          size * ((k / 8 == k % 8) - 0.125);
    }
  }
  for (int32_t i = 0; i < s.rows; i++)
    for (int d = 0; d < 4; d++) s.b[i][d] = d < 3 ? random_uniform(&random, -1, 1) : 0;
  return s;
}

static void grid_close(scalar_grid *s) {
  eb_mesh_destroy(s->mesh);
  eb_block_matrix_destroy(s->pattern);
  free(s->value);
  free(s->extra);
  free(s->change);
  free(s->b);
  free(s->x);
  free(s->y);
}
OWNED(scalar_grid, grid_close)

static eb_scalar_matrix3 matrix_of(const scalar_grid *s) {
  return (eb_scalar_matrix3){s->pattern, s->value, s->extra};
}

/* Largest of |x - y| over the largest of |y|. */
static double apart(int32_t rows, const eb_v4 *x, const eb_v4 *y) {
  double off = 0, size = 0;
  for (int32_t i = 0; i < rows; i++)
    for (int d = 0; d < 4; d++) {
      off = fmax(off, fabs(x[i][d] - y[i][d]));
      size = fmax(size, fabs(y[i][d]));
    }
  return off / size;
}

static eb_scalar_factor *factor_of(const scalar_grid *s, bool updates) {
  eb_scalar_factor *factor;
  eb_reason reason;
  tap_require(eb_scalar_factor_create(s->pattern, updates, NULL, &factor), "a factor");
  tap_require(eb_scalar_factor_set(factor, s->value, s->extra, NULL, &reason), "numbers");
  tap_ok(reason == EB_CONVERGED_DIRECT, "the matrix is positive definite");
  return factor;
}

/* ---- factors --------------------------------------------------------------------------------- */

/* All three lanes by LAPACK. */
static void solve_dense(const scalar_grid *s, eb_v4 *x) {
  int n = s->rows, sides = 3, info;
  owned(int) *pivots = calloc((size_t)n, sizeof *pivots);
  owned(double) *A = calloc((size_t)(n * n), sizeof *A), *B = calloc((size_t)(3 * n), sizeof *B);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t b = s->pattern->start[i]; b < s->pattern->start[i + 1]; b++)
      A[i + n * s->pattern->column[b]] = s->value[b];
    A[i + n * i] += s->extra[i];
    for (int d = 0; d < 3; d++) B[i + n * d] = s->b[i][d];
  }
  dgesv_(&n, &sides, A, &n, pivots, B, &n, &info);
  tap_ok(info == 0, "LAPACK solves");
  for (int32_t i = 0; i < n; i++) x[i] = (eb_v4){B[i], B[i + n], B[i + 2 * n], 0};
}

static void factors_solve(void) {
  static const int32_t sizes[][3] = {{1, 1, 1}, {3, 1, 1}, {4, 5, 3}, {7, 6, 5}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int updates = 0; updates < 2; updates++) {
      owned(scalar_grid) s = grid_open(sizes[k][0], sizes[k][1], sizes[k][2], 0.3, 4, 1);
      for (int32_t i = 0; i < s.rows; i += 3) s.extra[i] = 1 + i;
      owned(eb_scalar_factor) *factor = factor_of(&s, updates);
      eb_scalar_factor_solve(factor, s.b, s.x);
      solve_dense(&s, s.y);
      /* eps times a condition number of some thousands */
      tap_below(apart(s.rows, s.x, s.y), 1e-12, updates ? "L D L^T as LAPACK" : "L L^T as LAPACK");
    }
}

static void indefinite_is_an_outcome(void) {
  for (int updates = 0; updates < 2; updates++) {
    owned(scalar_grid) s = grid_open(3, 3, 3, -1, 1, 0);
    owned(eb_scalar_factor) *factor = NULL;
    eb_reason reason;
    tap_require(eb_scalar_factor_create(s.pattern, updates, NULL, &factor), "a factor");
    tap_require(eb_scalar_factor_set(factor, s.value, NULL, NULL, &reason), "numbers");
    tap_ok(reason == EB_NOT_POSITIVE_DEFINITE, "an indefinite matrix is an outcome");
    s.value[s.pattern->diagonal[0]] = 100;
    for (int32_t i = 0; i < s.rows; i++) s.extra[i] = 10;
    tap_require(eb_scalar_factor_set(factor, s.value, s.extra, NULL, &reason), "numbers again");
    eb_scalar_factor_solve(factor, s.b, s.x);
    solve_dense(&s, s.y);
    tap_below(apart(s.rows, s.x, s.y), 1e-12, "and the next one is solved");
  }
}

/* Contacts come and go at random, some of them much stiffer than the matrix. */
static void updates_are_factorizations(void) {
  owned(scalar_grid) s = grid_open(9, 9, 9, 0.5, 3, 1);
  random_state random = random_seed(11);
  owned(eb_scalar_factor) *updated = factor_of(&s, true), *again = factor_of(&s, false);
  double worst = 0;
  bool definite = true, counted = true;
  for (int round = 0; round < 12; round++) {
    int32_t changed, wanted = 0;
    eb_reason reason;
    for (int32_t i = 0; i < s.rows; i++) {
      bool touches = random_uniform(&random, 0, 1) < 0.1 * (round % 4);
      double k = touches ? pow(10, random_uniform(&random, -1, 3)) : 0;
      s.change[i] = k - s.extra[i];
      s.extra[i] = k;
      wanted += s.change[i] != 0;
    }
    tap_require(eb_scalar_factor_update(updated, s.change, &changed, &reason), "an update");
    definite &= reason == EB_CONVERGED_DIRECT;
    counted &= changed == wanted;
    tap_require(eb_scalar_factor_set(again, s.value, s.extra, NULL, &reason), "a factor");
    eb_scalar_factor_solve(updated, s.b, s.x);
    eb_scalar_factor_solve(again, s.b, s.y);
    worst = fmax(worst, apart(s.rows, s.x, s.y));
  }
  tap_ok(definite && counted, "updates leave the factor definite, and are counted");
  /* Downdates of 1e3 from entries of 1 lose three digits of what there are, some rounds in a row.
   */
  tap_below(worst, 1e-10, "updates of rank one give what factoring again gives");
  int32_t changed;
  eb_reason reason;
  tap_fails(eb_scalar_factor_update(again, s.change, &changed, &reason), EB_ERR_USAGE,
            "factor again", "a factor that cannot be updated says so");
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

static void by_factor(void *context, const eb_v4 *r, eb_v4 *z) {
  eb_scalar_factor_solve(context, r, z);
}

static void by_incomplete(void *context, const eb_v4 *r, eb_v4 *z) {
  eb_incomplete_solve(context, r, z);
}

static int64_t iterations_of(const scalar_grid *s, eb_precondition *precondition, void *context,
                             double tolerance) {
  eb_pcg cg;
  int64_t iterations;
  const eb_scalar_matrix3 A = matrix_of(s);
  tap_require(eb_pcg_create(s->rows, &cg), "conjugate gradients");
  cg.precondition = precondition;
  cg.context = context;
  eb_reason reason = eb_pcg_solve(&cg, &A, s->b, tolerance, 10000, s->x, &iterations);
  tap_ok(reason == EB_CONVERGED_RTOL, "conjugate gradients converge");
  eb_pcg_clear(&cg);
  return iterations;
}

/* inv(A) (A + P) is 1 but on the span of inv(A) P: of rank m, at most m + 1 distinct eigenvalues,
 * and as many iterations. */
static void changes_bound_iterations(void) {
  for (int contacts = 0; contacts <= 4; contacts++) {
    owned(scalar_grid) s = grid_open(6, 6, 6, 0.5, 3, 1);
    owned(eb_scalar_factor) *factor = factor_of(&s, false);
    for (int c = 0; c < contacts; c++) s.extra[7 * c + 3] = 10 * (c + 1);
    double norm = sqrt(eb_lanes_dot(s.rows, s.b, s.b));
    int64_t iterations = iterations_of(&s, by_factor, factor, 1e-12 * norm);
    tap_ok(iterations <= contacts + 1, "%d contacts: %d iterations with the factor without them",
           contacts, (int)iterations);
    solve_dense(&s, s.y);
    tap_below(apart(s.rows, s.x, s.y), 1e-11, "to what LAPACK gives");
  }
}

/* A column of cubes, eliminated layer by layer, has no fill: IC(0) is the factor. */
static void incomplete_factors(void) {
  owned(scalar_grid) s = grid_open(1, 1, 8, 0.5, 3, 1), cube = grid_open(6, 6, 6, 0.1, 3, 1);
  eb_incomplete L;
  eb_scalar_matrix3 A = matrix_of(&s);
  tap_require(eb_incomplete_create(s.pattern, &L), "an incomplete factor");
  bool made = eb_incomplete_factor(&L, &A);
  eb_incomplete_solve(&L, s.b, s.x);
  solve_dense(&s, s.y);
  tap_ok(made && apart(s.rows, s.x, s.y) < 1e-13, "without fill, IC(0) is exact");
  eb_incomplete_clear(&L);

  A = matrix_of(&cube);
  tap_require(eb_incomplete_create(cube.pattern, &L), "another");
  tap_ok(eb_incomplete_factor(&L, &A), "of a cube there is one");
  double norm = sqrt(eb_lanes_dot(cube.rows, cube.b, cube.b));
  int64_t with = iterations_of(&cube, by_incomplete, &L, 1e-10 * norm);
  int64_t without = iterations_of(&cube, NULL, NULL, 1e-10 * norm);
  tap_ok(2 * with <= without, "it halves the iterations at least: %d, without %d", (int)with,
         (int)without);
  eb_incomplete_clear(&L);
}

/* ---- Lewin's block of steel ------------------------------------------------------------------ */

/* 12^3 cubes of shape matching, s/2 sum |x - xc - R (X - Xc)|^2 with s = E a / 2, meet the ground
 * at 10 m/s in a step of 1/60 s, from the last positions: with all rotations still I, the gradient
 * is the inertial term M v / h and nothing else. Contacts of stiffness k at the 169 nodes below. */
enum { CUBES = 12, WAYS = 3 };
static const double density = 8050, young = 200e9, speed = 10, dt = 1.0 / 60;

typedef struct steel {
  scalar_grid s;
  double *mass; /* rows */
  eb_scalar_factor *factor;
  eb_incomplete incomplete;
  double side; /* |b| of the whole right-hand side, in positions */
} steel;

static steel steel_open(void) {
  steel block = {0};
  const double edge = 1.0 / CUBES, share = density * edge * edge * edge / 8;
  scalar_grid *s = &block.s;
  *s = grid_open(CUBES, CUBES, CUBES, 0, 0.5 * young * edge, 0);
  tap_require(EB_NEW(block.mass, s->rows), "masses");
  for (int32_t k = 0; k < 8 * s->mesh->element_count; k++)
    block.mass[s->mesh->elements[k]] += share;
  for (int32_t i = 0; i < s->rows; i++) {
    s->value[s->pattern->diagonal[i]] += block.mass[i] / (dt * dt);
    s->b[i] = (eb_v4){0, 0, -block.mass[i] * speed / dt, 0};
    s->x[i] = (eb_v4){s->mesh->X[3 * i], s->mesh->X[3 * i + 1], s->mesh->X[3 * i + 2], 0};
  }
  block.factor = factor_of(s, false);
  tap_require(eb_incomplete_create(s->pattern, &block.incomplete), "an incomplete factor");
  const eb_scalar_matrix3 A = matrix_of(s);
  eb_scalar_product(&A, s->x, s->y);
  for (int32_t i = 0; i < s->rows; i++) s->y[i] += s->b[i];
  block.side = sqrt(eb_lanes_dot(s->rows, s->y, s->y));
  return block;
}

static void steel_close(steel *block) {
  eb_scalar_factor_destroy(block->factor);
  eb_incomplete_clear(&block->incomplete);
  free(block->mass);
  grid_close(&block->s);
}

/* Iterations of none, factor and IC(0) at stiffness k, to 1e-6 of the first residual; in *depth how
 * deep the block goes, m. */
static void meet_ground(steel *block, double k, int64_t iterations[WAYS], double *depth) {
  scalar_grid *s = &block->s;
  const eb_scalar_matrix3 A = matrix_of(s);
  for (int32_t i = 0; i < s->rows; i++) s->extra[i] = s->mesh->X[3 * i + 2] == 0 ? k : 0;
  const double tolerance = 1e-6 * sqrt(eb_lanes_dot(s->rows, s->b, s->b));
  iterations[0] = iterations_of(s, NULL, NULL, tolerance);
  iterations[1] = iterations_of(s, by_factor, block->factor, tolerance);
  tap_ok(eb_incomplete_factor(&block->incomplete, &A), "IC(0) of the changed matrix");
  iterations[2] = iterations_of(s, by_incomplete, &block->incomplete, tolerance);
  *depth = 0;
  for (int32_t i = 0; i < s->rows; i++) *depth = fmax(*depth, -s->x[i][2]);
}

/* What was worked out beside the paper, which prints no number: iterations to 1e-6 of the first
 * residual with none, the factor and IC(0), at k from 1e6 to 1e12 N/m; 0: not worked out. */
static const struct {
  double k;
  int worked[WAYS];
} table[] = {{1e6, {48, 3, 25}},  {1e7, {47, 3, 0}},   {1e8, {45, 4, 0}},   {1e9, {43, 7, 18}},
             {1e10, {40, 11, 0}}, {1e11, {51, 17, 0}}, {1e12, {64, 21, 17}}};

static void steel_meets_the_ground(void) {
  steel block = steel_open();
  int64_t last_incomplete = 1000;
  double last_depth = INFINITY;
  for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
    int64_t n[WAYS];
    double depth, k = table[t].k, mass = density;
    meet_ground(&block, k, n, &depth);
    /* Stiff steel moves as one: v h / (1 + k n_c h^2 / M). */
    tap_near(depth, speed * dt / (1 + k * 169 * dt * dt / mass), k <= 1e8 ? 0.05 * depth : depth,
             "the block goes as deep as a rigid one would");
    for (int w = 0; w < WAYS; w++)
      tap_ok(!table[t].worked[w] ||
                 fabs((double)n[w] - table[t].worked[w]) <= 1 + 0.05 * table[t].worked[w],
             "k = %g: %s takes %d iterations, %d were worked out", k,
             w == 0   ? "none"
             : w == 1 ? "the factor"
                      : "IC(0)",
             (int)n[w], table[t].worked[w]);
    if (k <= 1e8)
      tap_ok(3 * n[1] <= n[2] && 3 * n[1] <= n[0], "k = %g: the factor takes a third", k);
    tap_ok(depth < last_depth && depth > 0, "k = %g: less deep than before, but not 0", k);
    tap_ok(n[2] <= last_incomplete + 1, "k = %g: IC(0) gains as k grows", k);
    last_depth = depth;
    last_incomplete = n[2];
  }
  steel_close(&block);
}

int main(void) {
  factors_solve();
  indefinite_is_an_outcome();
  updates_are_factorizations();
  changes_bound_iterations();
  incomplete_factors();
  steel_meets_the_ground();
  return tap_done();
}
