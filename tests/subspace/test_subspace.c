/* Skinning eigenmodes, their basis, cubature, points and the two subspace solvers, against
 * definitions, against the full space restricted to the basis, and against dense linear algebra. */
#include "solvers/subspace/points.h"
#include "solvers/subspace/skinning.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/lapack.h"

OWNED(eb_cubature, eb_cubature_clear)

typedef struct reduced {
  fixture f;
  const eb_mesh *mesh;
  const eb_elasticity *elasticity;
  eb_skinning skinning;
  eb_basis basis;
  eb_cubature cubature;
  eb_points *points;
  int32_t size; /* coefficients */
  uint8_t *pinned;
} reduced;

static uint64_t seed = 11;

static reduced reduced_open(const char *parameters, int32_t modes, int32_t points, bool all,
                            bool mixed) {
  reduced r = {.f = fixture_open(parameters)};
  const eb_scene *scene = r.f.scene;
  r.mesh = scene->mesh;
  r.elasticity = scene->elasticity;
  r.pinned = calloc((size_t)r.mesh->node_count, 1);
  owned(double) *target = calloc(3 * (size_t)r.mesh->node_count, sizeof *target);
  eb_scene_boundary(scene, 0, r.pinned, target);
  tap_require(
      eb_skinning_eigenmodes(r.elasticity, r.mesh->X, r.pinned, modes, 1, NULL, &r.skinning),
      "modes");
  tap_require(eb_basis_skinning(r.mesh->node_count, r.mesh->X, eb_elasticity_mass(r.elasticity),
                                modes, r.skinning.weight, &r.basis),
              "a basis");
  tap_require(eb_cubature_create(r.mesh, &r.skinning,
                                 &(eb_clustering_choice){points, all, false, 5, 50}, &r.cubature),
              "points");
  tap_require(eb_points_create(r.mesh, scene->materials, &r.basis, &r.cubature, mixed, &r.points),
              "points of the basis");
  r.size = 3 * r.basis.size;
  return r;
}

static void reduced_close(reduced *r) {
  eb_points_destroy(r->points);
  eb_cubature_clear(&r->cubature);
  eb_basis_clear(&r->basis);
  eb_skinning_clear(&r->skinning);
  free(r->pinned);
  fixture_close(&r->f);
}
OWNED(reduced, reduced_close)

static double *vector(int64_t n) {
  double *v = calloc((size_t)n, sizeof *v);
  if (!v) exit(1);
  return v;
}

static double dot(int32_t n, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Coefficients of a random displacement of some hundredths of the body. */
static void random_coefficients(const reduced *r, double size, double *u) {
  owned(double) *x = vector(3 * (int64_t)r->basis.nodes);
  for (int32_t k = 0; k < r->size; k++) u[k] = eb_block_random(&seed);
  eb_basis_prolong(&r->basis, u, false, x);
  double most = 0;
  for (int32_t i = 0; i < 3 * r->basis.nodes; i++) most = fmax(most, fabs(x[i]));
  for (int32_t k = 0; k < r->size; k++) u[k] *= size / most;
}

/* ---- modes and basis ---- */

/* |H_w w - gamma M w| by the Hessian itself. */
static double mode_error(const reduced *r, int32_t mode) {
  const double *mass = eb_elasticity_mass(r->elasticity);
  const double *w = r->skinning.weight + (int64_t)mode * r->basis.nodes;
  double gamma = r->skinning.eigenvalue[mode], square = 0, size = 0;
  owned(eb_block_matrix) *H = new_matrix(r->elasticity);
  eb_elasticity_matrix(r->elasticity, r->mesh->X, 0, 1, false, H, NULL);
  for (int32_t i = 0; i < H->rows; i++) {
    if (r->pinned[i]) continue;
    double sum = -gamma * mass[i] * w[i], terms = fabs(sum);
    for (int32_t b = H->start[i]; b < H->start[i + 1]; b++) {
      const double *block = H->values + 9 * b;
      double entry = (block[0] + block[4] + block[8]) * w[H->column[b]];
      sum += entry;
      terms += fabs(entry);
    }
    square += sum * sum;
    size += terms * terms;
  }
  return sqrt(square / size);
}

static void modes_are_eigenvectors(const char *parameters, bool free_body) {
  owned(reduced) r = reduced_open(parameters, 6, 40, false, false);
  double worst = 0, off = 0;
  for (int32_t k = 0; k < 6; k++) worst = fmax(worst, mode_error(&r, k));
  tap_below(worst, 1e-8, "modes solve their eigenproblem");
  for (int32_t a = 0; a < 6; a++)
    for (int32_t b = 0; b < 6; b++) {
      double sum = 0;
      for (int32_t i = 0; i < r.basis.nodes; i++)
        sum += r.basis.mass[i] * r.skinning.weight[a * r.basis.nodes + i] *
               r.skinning.weight[b * r.basis.nodes + i];
      off = fmax(off, fabs(sum - (a == b)));
    }
  tap_below(off, 1e-10, "orthonormal in the masses");
  bool rising = true, held = true;
  for (int32_t k = 1; k < 6; k++)
    rising &= r.skinning.eigenvalue[k] >= r.skinning.eigenvalue[k - 1];
  tap_ok(rising, "in rising order");
  for (int32_t i = 0; i < r.basis.nodes; i++)
    for (int32_t k = 0; k < 6; k++)
      held &= !r.pinned[i] || r.skinning.weight[k * r.basis.nodes + i] == 0;
  tap_ok(held, "zero where nodes are held");
  if (free_body) {
    double least = INFINITY, most = -INFINITY;
    for (int32_t i = 0; i < r.basis.nodes; i++) {
      least = fmin(least, r.skinning.weight[i]);
      most = fmax(most, r.skinning.weight[i]);
    }
    tap_below(most - least, 1e-8 * most, "the first of a free body is constant");
    tap_below(fabs(r.skinning.eigenvalue[0]), 1e-8 * r.skinning.eigenvalue[1], "and of no energy");
  } else {
    tap_ok(r.skinning.eigenvalue[0] > 0, "a held body has no constant");
  }
}

/* The lowest eigenvalues by LAPACK. */
static void modes_are_the_lowest(void) {
  owned(reduced) r = reduced_open("nx=4,ny=2,nz=2,nu=0.45", 6, 40, false, false);
  int n = r.basis.nodes;
  const double *mass = r.basis.mass;
  static double A[LAPACK_MAX_SIZE * LAPACK_MAX_SIZE];
  double w[LAPACK_MAX_SIZE], off = 0;
  owned(eb_block_matrix) *H = new_matrix(r.elasticity);
  eb_elasticity_matrix(r.elasticity, r.mesh->X, 0, 1, false, H, NULL);
  for (int32_t i = 0; i < n; i++)
    for (int32_t b = H->start[i]; b < H->start[i + 1]; b++) {
      const double *block = H->values + 9 * b;
      A[i * n + H->column[b]] =
          (block[0] + block[4] + block[8]) / sqrt(mass[i] * mass[H->column[b]]);
    }
  tap_ok(n <= LAPACK_MAX_SIZE && lapack_eigen(n, A, w) == 0, "LAPACK knows them all");
  for (int k = 0; k < 6; k++) off = fmax(off, fabs(w[k] - r.skinning.eigenvalue[k]));
  tap_below(off, 1e-9 * w[n - 1], "the six that are found are the lowest");
}

static void basis_is_orthonormal_and_affine(void) {
  owned(reduced) r = reduced_open("nx=5,ny=3,nz=3", 5, 40, false, false);
  double off = 0;
  owned(double) *x = vector(6 * (int64_t)r.basis.nodes);
  double *back = x + 3 * r.basis.nodes;
  owned(double) *u = vector(r.size);
  for (int32_t a = 0; a < r.basis.size; a++)
    for (int32_t b = 0; b < r.basis.size; b++) {
      double sum = 0;
      for (int32_t i = 0; i < r.basis.nodes; i++)
        sum += r.basis.mass[i] * r.basis.phi[i * r.basis.stride + a] *
               r.basis.phi[i * r.basis.stride + b];
      off = fmax(off, fabs(sum - (a == b)));
    }
  tap_below(off, 1e-12, "B is orthonormal in the masses");
  tap_ok(r.basis.size == 20, "five modes make twenty functions");
  /* A rotation by 60 degrees with a stretch, and a shift far from the origin. */
  const double A[9] = {0.5, -0.9, 0.1, 0.8, 0.6, 0.2, -0.3, 0.1, 1.4}, b[3] = {10, -20, 30};
  for (int32_t i = 0; i < r.basis.nodes; i++)
    for (int d = 0; d < 3; d++) {
      x[3 * i + d] = b[d];
      for (int k = 0; k < 3; k++) x[3 * i + d] += A[3 * d + k] * r.mesh->X[3 * i + k];
    }
  eb_basis_restrict(&r.basis, x, true, u);
  eb_basis_prolong(&r.basis, u, true, back);
  off = 0;
  for (int32_t i = 0; i < 3 * r.basis.nodes; i++) off = fmax(off, fabs(x[i] - back[i]));
  tap_below(off, 1e-12 * 30, "every affine motion is in it");
}

/* ---- cubature ---- */

static void cubature_fills_the_volume(void) {
  owned(reduced) r = reduced_open("nx=8,ny=4,nz=4", 6, 60, false, false);
  owned(eb_cubature) again, other;
  double sum = 0, volume = 0;
  bool rising = true;
  for (int32_t c = 0; c < r.cubature.count; c++) {
    sum += r.cubature.weight[c];
    rising &= c == 0 || r.cubature.element[c] > r.cubature.element[c - 1];
    rising &= r.cubature.weight[c] > 0;
  }
  for (int32_t e = 0; e < r.mesh->element_count; e++)
    volume += eb_mesh_element_volume(r.mesh, r.mesh->X, e);
  tap_ok(r.cubature.count == 60 && rising, "sixty different elements, with volumes of their own");
  tap_near(sum, volume, 1e-12 * volume, "which add up to the body");
  tap_require(eb_cubature_create(r.mesh, &r.skinning,
                                 &(eb_clustering_choice){60, false, false, 5, 50}, &again),
              "again");
  tap_require(eb_cubature_create(r.mesh, &r.skinning,
                                 &(eb_clustering_choice){60, false, false, 6, 50}, &other),
              "other seed");
  size_t bytes = 60 * sizeof *again.element;
  tap_ok(again.count == 60 && !memcmp(again.element, r.cubature.element, bytes) &&
             !memcmp(again.weight, r.cubature.weight, 60 * sizeof *again.weight),
         "the same seed gives the same points");
  tap_ok(memcmp(other.element, r.cubature.element, bytes) != 0, "another one others");
}

/* A weight that is 0 in three quarters of the elements and rises in the rest: the mean is in the
 * rest, the median where most elements are. */
static void medians_are_where_most_is(void) {
  owned(reduced) r = reduced_open("nx=16,ny=2,nz=2", 2, 20, false, false);
  int32_t nodes = r.mesh->node_count;
  owned(double) *weight = vector(nodes);
  double one = 1, lo[3], hi[3];
  eb_mesh_bounds(r.mesh->X, nodes, lo, hi);
  for (int32_t i = 0; i < nodes; i++)
    weight[i] = fmax(0, (r.mesh->X[3 * i] - lo[0]) / (hi[0] - lo[0]) - 0.75);
  const eb_skinning skinning = {
      .nodes = nodes, .modes = 1, .axes = 1, .weight = weight, .eigenvalue = &one};
  for (int medians = 0; medians < 2; medians++) {
    owned(eb_cubature) found;
    double at = 0;
    tap_require(eb_cubature_create(r.mesh, &skinning,
                                   &(eb_clustering_choice){1, false, medians, 5, 50}, &found),
                "a point");
    for (int a = 0; a < 4; a++) at += weight[r.mesh->elements[4 * found.element[0] + a]] / 4;
    tap_ok(found.count == 1 && (medians ? at == 0 : at > 0), "one point, %s",
           medians ? "the median's, is flat" : "the mean's, is on the slope");
  }
}

/* ---- points ---- */

static void integrated_in_full(const char *material) {
  char parameters[96];
  snprintf(parameters, sizeof parameters, "nx=4,ny=2,nz=2,support=x0,material=%s", material);
  owned(reduced) r = reduced_open(parameters, 3, 0, true, false);
  int32_t n = r.size, full = 3 * r.basis.nodes;
  owned(double) *u = vector(4 * n);
  double *q = u + n, *g = q + n, *want = g + n;
  owned(double) *x = vector(2 * full);
  double *force = x + full;
  owned(double) *K = vector((int64_t)n * n);
  random_coefficients(&r, 0.05, u);
  eb_basis_prolong(&r.basis, u, true, x);
  eb_points_linearize(r.points, u, q, g);
  eb_points_stiffness(r.points, K);
  eb_elasticity_gradient(r.elasticity, x, force);
  eb_basis_restrict_force(&r.basis, force, want);
  double off = 0, size = sqrt(dot(n, want, want));
  for (int32_t k = 0; k < n; k++) off = fmax(off, fabs(g[k] - want[k]));
  tap_below(off, 1e-12 * size, material);
  tap_near(eb_points_energy(r.points, u, 0).value, eb_elasticity_energy(r.elasticity, x),
           1e-12 * eb_points_scale(r.points), "with all elements, energy and force are FEM's");
  /* K against B^T H B, column by column. */
  double worst = 0, largest = 0;
  owned(eb_block_matrix) *H = new_matrix(r.elasticity);
  eb_elasticity_matrix(r.elasticity, x, 0, 1, true, H, NULL);
  for (int32_t j = 0; j < n; j++) {
    owned(double) *column = vector(3 * full);
    double *product = column + full;
    for (int32_t k = 0; k < n; k++) q[k] = k == j;
    eb_basis_prolong(&r.basis, q, false, column);
    for (int32_t i = 0; i < H->rows; i++)
      for (int32_t b = H->start[i]; b < H->start[i + 1]; b++)
        for (int e = 0; e < 9; e++)
          product[3 * i + e / 3] += H->values[9 * b + e] * column[3 * H->column[b] + e % 3];
    eb_basis_restrict_force(&r.basis, product, want);
    for (int32_t k = j; k < n; k++) {
      worst = fmax(worst, fabs(K[j * n + k] - want[k]));
      largest = fmax(largest, fabs(want[k]));
    }
  }
  tap_below(worst, 1e-11 * largest, "and K is B^T H B");
}

static double quadratic(int32_t n, const double *K, const double *p) {
  double sum = 0;
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = j; i < n; i++) sum += (i == j ? 1 : 2) * K[j * n + i] * p[i] * p[j];
  return sum;
}

/* As in test_mixed: slopes and curvatures of the Lagrangian of the points. */
static void mixed_derivatives(const char *material) {
  char parameters[96];
  snprintf(parameters, sizeof parameters, "nx=4,ny=2,nz=2,material=%s", material);
  owned(reduced) r = reduced_open(parameters, 3, 30, false, true);
  int32_t n = r.size;
  owned(double) *u = vector(6 * n);
  double *p = u + n, *q = p + n, *g = q + n, *none = g + n, *at = none + n;
  owned(double) *K = vector((int64_t)n * n);
  eb_mixed_energy before;
  random_coefficients(&r, 0.02, u);
  random_coefficients(&r, 0.02, p);
  random_coefficients(&r, 0.02, at);
  eb_points_project(r.points, at);
  eb_points_linearize(r.points, u, q, g);
  eb_points_expand(r.points, none, &before);
  const double e = 1e-5;
  double value[2];
  for (int side = 0; side < 2; side++) {
    for (int32_t k = 0; k < n; k++) at[k] = u[k] + (side ? e : -e) * p[k];
    value[side] = eb_points_energy(r.points, at, 0).value;
  }
  /* Truncation e^2 and rounding 1e-16 / e, of the sum of terms. */
  tap_near((value[1] - value[0]) / (2 * e), dot(n, q, p), 1e-8 * before.magnitude, material);
  eb_points_project(r.points, u);
  eb_points_linearize(r.points, u, q, g);
  eb_points_stiffness(r.points, K);
  double decrease = eb_points_expand(r.points, p, &before), off = 0;
  tap_near(decrease, quadratic(n, K, p), 1e-11 * decrease, "K is J^T H J");
  for (int32_t k = 0; k < n; k++) off = fmax(off, fabs(q[k] - g[k]));
  tap_below(off, 1e-12 * sqrt(dot(n, g, g)), "the force is FEM's where the two agree");
}

/* Lanes: five points, of which the last batch has one. */
static void odd_numbers_of_points(void) {
  for (int32_t count = 1; count <= 5; count++) {
    owned(reduced) r = reduced_open("nx=3,ny=2,nz=2", 2, count, false, true);
    int32_t n = r.size;
    owned(double) *u = vector(3 * n);
    double *q = u + n, *g = q + n;
    owned(double) *K = vector((int64_t)n * n);
    random_coefficients(&r, 0.02, u);
    eb_points_project(r.points, u);
    eb_points_linearize(r.points, u, q, g);
    eb_points_stiffness(r.points, K);
    tap_ok(isfinite(dot(n, q, q)) && dot(n, q, q) > 0 && quadratic(n, K, u) > 0,
           "%d points are enough to compute with", (int)count);
  }
}

/* ---- null space ---- */

/* The number of directions in which K of few points is nothing beside that of all elements. */
static int spurious(const char *parameters, int32_t modes, int32_t points) {
  owned(reduced) few = reduced_open(parameters, modes, points, false, false);
  owned(reduced) all = reduced_open(parameters, modes, 0, true, false);
  int32_t n = few.size, rigid = 6;
  owned(double) *u = vector(3 * n);
  double *q = u + n, *g = q + n;
  owned(double) *w = vector(n);
  owned(double) *K = vector((int64_t)n * n), *F = vector((int64_t)n * n),
                *product = vector((int64_t)n * n);
  eb_points_linearize(few.points, u, q, g);
  eb_points_stiffness(few.points, K);
  eb_points_linearize(all.points, u, q, g);
  eb_points_stiffness(all.points, F);
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = j; i < n; i++) F[i * n + j] = F[j * n + i];
  tap_ok(n <= LAPACK_MAX_SIZE && lapack_eigen(n, F, w) == 0, "eigenvalues of the full stiffness");
  /* K in the frame of F's eigenvectors, scaled to F = I; the six rigid motions are left out. */
  int32_t m = n - rigid, null = 0;
  for (int32_t a = 0; a < m; a++)
    for (int32_t b = 0; b < m; b++) {
      double sum = 0;
      for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
          sum += F[(a + rigid) * n + i] * F[(b + rigid) * n + j] * K[i < j ? i * n + j : j * n + i];
      product[a * m + b] = sum / sqrt(w[a + rigid] * w[b + rigid]);
    }
  tap_ok(lapack_eigen(m, product, w) == 0, "and of the few points' beside it");
  for (int32_t k = 0; k < m; k++) null += w[k] < 1e-8;
  return null;
}

static void few_points_leave_motions_free(void) {
  const int32_t m = 4;
  /* A point has six conditions: of 12 m motions but the six rigid ones, 6 C at most are resisted.
   */
  int null = spurious("nx=8,ny=4,nz=4", m, m);
  tap_ok(null >= 12 * m - 6 - 6 * m, "as many points as modes leave %d motions without a force",
         null);
  tap_ok(spurious("nx=8,ny=4,nz=4", m, 20 * m) == 0, "twenty a mode leave none");
}

/* ---- the solvers ---- */

/* One step of Newton's method on the whole mesh, restricted to the basis: the oracle. */
static void restricted_newton(const reduced *r, const eb_state *state, double dt, double *x) {
  int32_t n = r->size, full = 3 * r->basis.nodes;
  const double *mass = eb_elasticity_mass(r->elasticity);
  owned(double) *u = vector(3 * n);
  double *p = u + n, *start = p + n;
  owned(double) *force = vector(4 * full);
  double *g = force + full, *column = g + full, *product = column + full;
  owned(double) *K = vector((int64_t)n * n);
  owned(int) *pivots = calloc((size_t)n, sizeof *pivots);
  owned(eb_block_matrix) *H = new_matrix(r->elasticity);
  eb_scene_force(r->f.scene, state->time, state->x, state->v, force);
  eb_basis_restrict(&r->basis, state->x, true, start);
  memcpy(u, start, (size_t)n * sizeof *u);
  for (int round = 0; round < 30; round++) {
    eb_basis_prolong(&r->basis, u, true, x);
    eb_elasticity_matrix(r->elasticity, x, 1 / (dt * dt), 1, false, H, g);
    for (int32_t i = 0; i < full; i++)
      column[i] =
          force[i] - g[i] - mass[i / 3] * (x[i] - state->x[i] - dt * state->v[i]) / (dt * dt);
    eb_basis_restrict_force(&r->basis, column, p);
    for (int32_t j = 0; j < n; j++) {
      owned(double) *unit = vector(n);
      unit[j] = 1;
      eb_basis_prolong(&r->basis, unit, false, column);
      memset(product, 0, (size_t)full * sizeof *product);
      for (int32_t i = 0; i < H->rows; i++)
        for (int32_t b = H->start[i]; b < H->start[i + 1]; b++)
          for (int e = 0; e < 9; e++)
            product[3 * i + e / 3] += H->values[9 * b + e] * column[3 * H->column[b] + e % 3];
      eb_basis_restrict_force(&r->basis, product, K + (int64_t)j * n);
    }
    if (lapack_solve(n, K, p, pivots) != 0) break;
    for (int32_t k = 0; k < n; k++) u[k] += p[k];
    if (dot(n, p, p) < 1e-24 * (1 + dot(n, u, u))) break;
  }
  eb_basis_prolong(&r->basis, u, true, x);
}

static void solvers_solve_the_restricted_problem(const char *material) {
  char parameters[128];
  snprintf(parameters, sizeof parameters, "nx=6,ny=2,nz=2,support=x0,gz=-30,material=%s", material);
  owned(reduced) r = reduced_open(parameters, 3, 0, true, false);
  owned(double) *x = vector(3 * r.basis.nodes);
  static const char *const solvers[] = {"fem-subspace", "mfem-subspace"};
  for (int s = 0; s < 2; s++) {
    owned(fixture) f = fixture_open(parameters);
    eb_reason reason = fixture_step(&f, solvers[s], "modes=3,full_integration=true,rtol=1e-12", 3);
    tap_ok(reason > 0, "%s, %s: converges (%s)", solvers[s], material, eb_reason_name(reason));
    owned(eb_state) *before = new_state(f.scene);
    owned(fixture) g = fixture_open(parameters);
    fixture_step(&g, solvers[s], "modes=3,full_integration=true,rtol=1e-12", 2);
    restricted_newton(&r, g.state, f.scene->dt, x);
    double off = 0;
    for (int32_t i = 0; i < 3 * r.basis.nodes; i++) off = fmax(off, fabs(x[i] - f.state->x[i]));
    /* rtol of forces, times what a force of that size moves in a step: h^2 over a nodal mass. */
    tap_below(off, 1e-9, "where Newton's method in the same subspace does");
  }
}

/* A solver that meets a state it has not left takes it as it is. */
static void states_from_elsewhere(const char *solver) {
  const char *parameters = "nx=6,ny=2,nz=2,support=x0,gz=-30,material=fixed-corotational";
  const char *options = "modes=3,points=60,rtol=1e-11";
  owned(fixture) one = fixture_open(parameters), two = fixture_open(parameters);
  fixture_step(&one, solver, options, 6);
  fixture_step(&two, solver, options, 3);
  fixture_step(&two, solver, options, 3); /* a fresh solver goes on */
  tap_below(eb_block_distance(one.state, two.state), 1e-9, solver);
}

static void threads_do_not_change_bits(const char *solver) {
  const char *parameters = "nx=8,ny=4,nz=4,support=x0,gz=-9.8,material=stable-neo-hookean";
  owned(fixture) one = fixture_open(parameters), two = fixture_open(parameters);
  owned(eb_state) *state = new_state(two.scene);
  fixture_step(&one, solver, "modes=5,points=70", 3);
  tap_require(eb_block_advance(two.scene, eb_solver_find(solver), "modes=5,points=70", 3, 3,
                               two.log, state, &two.reason),
              "three threads");
  tap_ok(eb_state_hash(one.state) == eb_state_hash(state), "%s: one thread and three, same bits",
         solver);
}

static void what_it_cannot_serve(void) {
  owned(fixture) f = fixture_open("nx=2,support=ends,motion=twist,rate=1");
  eb_solver *solver;
  tap_fails(eb_solver_create(eb_solver_find("mfem-subspace"), "modes=2", f.scene, 1, 0, &solver),
            EB_ERR_UNSUPPORTED, "scripted nodes", "nodes that a script moves are refused");
  owned(fixture) g = fixture_open("nx=1,ny=1,nz=1,gz=-9.8");
  tap_ok(fixture_step(&g, "fem-subspace", "modes=900", 2) > 0,
         "more modes than nodes are as many as there are nodes");
}

int main(void) {
  modes_are_eigenvectors("nx=6,ny=3,nz=3", true);
  modes_are_eigenvectors("nx=6,ny=3,nz=3,support=x0", false);
  modes_are_the_lowest();
  basis_is_orthonormal_and_affine();
  cubature_fills_the_volume();
  medians_are_where_most_is();
  static const char *const materials[] = {"corotational", "corotated",   "fixed-corotational",
                                          "stvk",         "neo-hookean", "stable-neo-hookean"};
  for (int i = 0; i < 6; i++) {
    integrated_in_full(materials[i]);
    mixed_derivatives(materials[i]);
    if (i != 3) solvers_solve_the_restricted_problem(materials[i]);
  }
  odd_numbers_of_points();
  few_points_leave_motions_free();
  static const char *const solvers[] = {"mfem-subspace", "fem-subspace"};
  for (int i = 0; i < 2; i++) {
    states_from_elsewhere(solvers[i]);
    threads_do_not_change_bits(solvers[i]);
    nan_is_an_outcome(solvers[i], "stable-neo-hookean");
  }
  what_it_cannot_serve();
  return tap_done();
}
