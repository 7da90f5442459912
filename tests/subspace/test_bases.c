/* What subspaces are made from: eigenmodes of both kinds, bounded biharmonic weights, products with
 * the basis, and what is kept between runs. Against LAPACK, conditions of optimality, formulas and
 * plain loops. */
#include "problems/base/kept.h"
#include "solvers/subspace/basis.h"
#include "solvers/subspace/biharmonic.h"
#include "solvers/subspace/cubature.h"
#include "solvers/subspace/derivatives.h"
#include "solvers/subspace/points.h"
#include "solvers/subspace/skinning.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/lapack.h"

#include <dirent.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

OWNED(eb_skinning, eb_skinning_clear)
OWNED(eb_scalar_matrix, eb_scalar_clear)
OWNED_POINTER(eb_bounded, eb_bounded_destroy)
OWNED(eb_basis, eb_basis_clear)

static uint64_t seed = 23;

static double *vector(int64_t n) {
  double *v = calloc((size_t)n, sizeof *v);
  if (!v) exit(1);
  return v;
}

static uint8_t *pins_of(const eb_scene *scene) {
  uint8_t *pinned = calloc((size_t)scene->mesh->node_count, 1);
  owned(double) *target = vector(3 * (int64_t)scene->mesh->node_count);
  eb_scene_boundary(scene, 0, pinned, target);
  return pinned;
}

/* ---- matrices ---- */

static void stiffness_of_one_modulus_is_the_laplacian(void) {
  owned(fixture) f =
      fixture_open("nx=4,ny=3,nz=2,material=fixed-corotational,nu=0.3,E=1e5,jitter=0.2");
  owned(eb_scalar_matrix) H, L;
  double mu = 1e5 / 2.6, lambda = 1e5 * 0.3 / (1.3 * 0.4), off = 0, largest = 0;
  tap_require(eb_scalar_stiffness(f.scene->elasticity, f.scene->mesh->X, &H), "H");
  tap_require(eb_scalar_laplacian(f.scene->mesh, lambda + 4 * mu, &L), "L");
  for (int32_t b = 0; b < H.start[H.rows]; b++) {
    off = fmax(off, H.column[b] == L.column[b] ? fabs(H.value[b] - L.value[b]) : INFINITY);
    largest = fmax(largest, fabs(H.value[b]));
  }
  tap_below(off, 1e-12 * largest, "traces of H are lambda + 4 mu times the Laplacian");
}

static void blocks_hold_the_matrix(void) {
  owned(fixture) f = fixture_open("nx=4,ny=3,nz=2,jitter=0.2");
  owned(eb_scalar_matrix) L, Q;
  owned(eb_block_matrix) *A = NULL;
  owned(int32_t) *row = NULL, *origin = NULL;
  tap_require(eb_scalar_laplacian(f.scene->mesh, 1, &L), "L");
  int32_t n = L.rows, seen = 0;
  owned(double) *mass = vector(n), *x = vector(n), *y = vector(n), *z = vector(n);
  for (int32_t i = 0; i < n; i++) {
    mass[i] = 1 + 0.1 * i;
    x[i] = eb_block_random(&seed);
  }
  tap_require(eb_scalar_biharmonic(&L, mass, &Q), "Q");
  eb_scalar_multiply(&L, x, y);
  for (int32_t i = 0; i < n; i++) y[i] /= mass[i];
  eb_scalar_multiply(&L, y, z);
  eb_scalar_multiply(&Q, x, y);
  double off = 0, size = 0;
  for (int32_t i = 0; i < n; i++) {
    off = fmax(off, fabs(y[i] - z[i]));
    size = fmax(size, fabs(z[i]));
  }
  tap_below(off, 1e-13 * size, "Q x is L inv(M) L x");
  tap_require(eb_scalar_pack(&Q, &A, &row, &origin), "blocks");
  off = 0;
  for (int32_t i = 0; i < n; i++) {
    double sum = 0;
    for (int32_t b = A->start[row[i] / 3]; b < A->start[row[i] / 3 + 1]; b++)
      for (int k = 0; k < 3; k++) {
        int32_t node = origin[3 * A->column[b] + k];
        sum += A->values[9 * b + 3 * (row[i] % 3) + k] * (node < 0 ? 1e6 : x[node]);
      }
    off = fmax(off, fabs(sum - y[i]));
    seen += origin[row[i]] == i;
  }
  tap_below(off, 1e-13 * size, "and so it is in blocks, whatever is in the rows that fill them up");
  tap_ok(seen == n && A->rows < 0.45 * n, "%d nodes, each once, in %d blocks", (int)n,
         (int)A->rows);
}

/* ---- eigenmodes ---- */

/* The lowest eigenvalues of M^-1/2 A M^-1/2 by LAPACK, A given by a product with unit vectors. */
static double *eigenvalues(const eb_block_matrix *A, const double *mass, bool traces) {
  int n = (traces ? 1 : 3) * A->rows, room = 40 * n, info;
  owned(double) *dense = vector((int64_t)n * n);
  double *w = vector(n);
  owned(double) *work = vector(room);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t j = A->column[b];
      const double *v = A->values + 9 * b;
      double root = sqrt(mass[i] * mass[j]);
      if (traces) dense[(int64_t)i * n + j] = (v[0] + v[4] + v[8]) / root;
      for (int e = 0; e < 9 && !traces; e++)
        dense[(int64_t)(3 * i + e / 3) * n + 3 * j + e % 3] = v[e] / root;
    }
  openblas_set_num_threads(1);
  dsyev_("N", "U", &n, dense, &n, w, work, &room, &info, 1, 1);
  if (info) exit(1);
  return w;
}

/* |K v - gamma M v| / (gamma + floor) in the norm of inv(M), for displacements. */
static double worst_residual(const eb_block_matrix *K, const double *mass, const eb_skinning *s,
                             double floor) {
  double worst = 0;
  for (int32_t k = 0; k < s->modes; k++) {
    const double *v = s->weight + (int64_t)k * 3 * s->nodes;
    double square = 0;
    for (int32_t i = 0; i < 3 * s->nodes; i++) {
      double sum = -s->eigenvalue[k] * mass[i / 3] * v[i];
      for (int32_t b = K->start[i / 3]; b < K->start[i / 3 + 1]; b++)
        for (int d = 0; d < 3; d++)
          sum += K->values[9 * b + 3 * (i % 3) + d] * v[3 * K->column[b] + d];
      square += sum * sum / mass[i / 3];
    }
    worst = fmax(worst, sqrt(square) / (s->eigenvalue[k] + floor));
  }
  return worst;
}

/* A cube: its symmetries make many eigenvalues multiple, and a free body has six that are 0. */
static void no_copy_of_an_eigenvalue_is_missed(void) {
  fixture f = fixture_open("nx=5,ny=5,nz=5,lx=1,ly=1,lz=1,nu=0.3,material=fixed-corotational");
  const eb_mesh *mesh = f.scene->mesh;
  const double *mass = eb_elasticity_mass(f.scene->elasticity);
  owned(eb_skinning) linear;
  eb_skinning weights;
  eb_block_matrix *K = new_matrix(f.scene->elasticity);
  eb_elasticity_matrix(f.scene->elasticity, mesh->X, 0, 1, false, K, NULL);
  tap_require(eb_skinning_linear(f.scene->elasticity, mesh->X, NULL, 20, 1, NULL, &linear),
              "linear modes");
  double *w = eigenvalues(K, mass, false), off = 0;
  for (int k = 0; k < 20; k++) off = fmax(off, fabs(w[k] - linear.eigenvalue[k]));
  tap_below(off, 1e-9 * w[19], "twenty linear modes of a free cube are LAPACK's");
  tap_below(fabs(linear.eigenvalue[5]), 1e-8 * linear.eigenvalue[6], "six of them without strain");
  tap_below(worst_residual(K, mass, &linear, w[6]), 1e-8, "and eigenvectors");
  double unit = 0;
  for (int a = 0; a < 20; a++)
    for (int b = 0; b < 20; b++) {
      double sum = 0;
      for (int32_t i = 0; i < 3 * mesh->node_count; i++)
        sum += mass[i / 3] * linear.weight[(int64_t)a * 3 * mesh->node_count + i] *
               linear.weight[(int64_t)b * 3 * mesh->node_count + i];
      unit = fmax(unit, fabs(sum - (a == b)));
    }
  tap_below(unit, 1e-9, "orthonormal in the masses");
  free(w);
  eb_block_matrix_destroy(K);
  fixture_close(&f);
  f = fixture_open("nx=7,ny=7,nz=7,lx=1,ly=1,lz=1,nu=0.3,material=fixed-corotational,E=1e5");
  mesh = f.scene->mesh;
  mass = eb_elasticity_mass(f.scene->elasticity);
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(f.scene->elasticity), &K), "K");
  eb_elasticity_matrix(f.scene->elasticity, mesh->X, 0, 1, false, K, NULL);
  w = eigenvalues(K, mass, true);
  tap_require(eb_skinning_eigenmodes(f.scene->elasticity, mesh->X, NULL, 12, 1, NULL, &weights),
              "weights");
  off = 0;
  for (int k = 0; k < 12; k++) off = fmax(off, fabs(w[k] - weights.eigenvalue[k]));
  tap_below(off, 1e-9 * w[11], "twelve weights of a free cube are LAPACK's");
  eb_skinning_clear(&weights);
  tap_require(eb_skinning_uniform(mesh, mass, NULL, 12, 1, NULL, &weights), "blind weights");
  off = 0;
  double modulus = 1e5 * 0.3 / (1.3 * 0.4) + 4 * 1e5 / 2.6;
  for (int k = 0; k < 12; k++) off = fmax(off, fabs(w[k] - modulus * weights.eigenvalue[k]));
  tap_below(off, 1e-9 * w[11], "blind ones are those of a body of one modulus");
  eb_skinning_clear(&weights);
  free(w);
  eb_block_matrix_destroy(K);
  fixture_close(&f);
}

/* ---- bounded programs ---- */

/* A chain of n nodes on [0, 1]. */
static eb_scalar_matrix chain(int32_t n, double *mass) {
  eb_scalar_matrix L = {.rows = n,
                        .start = calloc((size_t)n + 1, sizeof(int32_t)),
                        .column = calloc(3 * (size_t)n, sizeof(int32_t)),
                        .value = vector(3 * n)};
  double h = 1.0 / (n - 1);
  int32_t at = 0;
  for (int32_t i = 0; i < n; i++) {
    int ends = i == 0 || i == n - 1;
    mass[i] = ends ? h / 2 : h;
    for (int32_t j = i - 1; j <= i + 1; j++) {
      if (j < 0 || j >= n) continue;
      L.column[at] = j;
      L.value[at++] = j != i ? -1 / h : (ends ? 1 : 2) / h;
    }
    L.start[i + 1] = at;
  }
  return L;
}

static double energy(const eb_scalar_matrix *Q, const double *w) {
  double sum = 0;
  for (int32_t i = 0; i < Q->rows; i++)
    for (int32_t b = Q->start[i]; b < Q->start[i + 1]; b++)
      sum += 0.5 * w[i] * Q->value[b] * w[Q->column[b]];
  return sum;
}

/* Handles at 0, 1/2 and 1. Without bounds the spline dips below zero behind 1/2; with them it is
 * 0 there, and 1 - 3 t^2 + 2 t^3, t = 2 x, before. */
static void spline_between_bounds(void) {
  enum { N = 201 };
  double mass[N], w[N] = {0}, off = 0;
  uint8_t fixed[N] = {0};
  owned(eb_scalar_matrix) L = chain(N, mass), Q;
  owned(eb_bounded) *bounded = NULL;
  tap_require(eb_scalar_biharmonic(&L, mass, &Q), "Q");
  fixed[0] = fixed[N / 2] = fixed[N - 1] = 1;
  w[0] = 1;
  tap_require(eb_bounded_create(&Q, fixed, 1, NULL, &bounded), "a program");
  tap_require(eb_bounded_solve(bounded, NULL, w, NULL), "its solution");
  for (int i = 0; i < N; i++) {
    double t = fmin(1, 2.0 * i / (N - 1));
    off = fmax(off, fabs(w[i] - (1 - 3 * t * t + 2 * t * t * t)));
  }
  /* Slopes at the ends are held by one cell: first order in its length, 1/200. */
  tap_below(off, 0.01, "a weight on a line is the spline, and zero where that would dip");
}

/* Every choice of bounds for the eight free entries of a chain, the best that keeps them: the
 * minimum. */
static void every_active_set(void) {
  enum { N = 10, FREE = 8 };
  double mass[N], w[N] = {0}, best = INFINITY, best_w[N];
  uint8_t fixed[N] = {0};
  owned(eb_scalar_matrix) L = chain(N, mass), Q;
  owned(eb_bounded) *bounded = NULL;
  tap_require(eb_scalar_biharmonic(&L, mass, &Q), "Q");
  fixed[2] = fixed[6] = 1;
  w[2] = 1;
  tap_require(eb_bounded_create(&Q, fixed, 1, NULL, &bounded), "a program");
  tap_require(eb_bounded_solve(bounded, NULL, w, NULL), "its solution");
  for (int code = 0; code < 6561; code++) { /* 3^8 */
    double trial[N], A[FREE * FREE] = {0}, b[FREE] = {0};
    int place[N], n = 0, one = 1, pivots[FREE], info = 0, digits = code;
    bool inside = true;
    for (int i = 0; i < N; i++) {
      place[i] = -1;
      trial[i] = i == 2;
      if (fixed[i]) continue;
      if (digits % 3 < 2)
        trial[i] = digits % 3;
      else
        place[i] = n++;
      digits /= 3;
    }
    for (int i = 0; i < N; i++)
      for (int32_t k = Q.start[i]; k < Q.start[i + 1]; k++) {
        int j = Q.column[k];
        if (place[i] >= 0 && place[j] >= 0) A[place[j] * n + place[i]] = Q.value[k];
        if (place[i] >= 0 && place[j] < 0) b[place[i]] -= Q.value[k] * trial[j];
      }
    if (n > 0) dgesv_(&n, &one, A, &n, pivots, b, &n, &info);
    for (int i = 0; i < N; i++) {
      if (place[i] >= 0) trial[i] = b[place[i]];
      inside &= trial[i] >= -1e-12 && trial[i] <= 1 + 1e-12;
    }
    if (!inside || info || energy(&Q, trial) >= best) continue;
    best = energy(&Q, trial);
    memcpy(best_w, trial, sizeof best_w);
  }
  double off = 0;
  for (int i = 0; i < N; i++) off = fmax(off, fabs(w[i] - best_w[i]));
  tap_below(off, 1e-9, "the best of all active sets of a small program");
}

/* ---- handles ---- */

/* Lowers distances along the edges of elements until none falls. */
static void relax(const eb_mesh *mesh, double *distance) {
  for (bool falls = true; falls;) {
    falls = false;
    for (int32_t e = 0; e < mesh->element_count; e++)
      for (int k = 0; k < 16; k++) {
        int32_t i = mesh->elements[4 * e + k / 4], j = mesh->elements[4 * e + k % 4];
        double square = 0;
        for (int d = 0; d < 3; d++) square += pow(mesh->X[3 * i + d] - mesh->X[3 * j + d], 2);
        if (!(distance[i] + sqrt(square) < distance[j])) continue;
        distance[j] = distance[i] + sqrt(square);
        falls = true;
      }
  }
}

static void handles_are_farthest(const char *parameters) {
  owned(fixture) f = fixture_open(parameters);
  const eb_mesh *mesh = f.scene->mesh;
  owned(uint8_t) *pinned = pins_of(f.scene);
  owned(int32_t) *owner = calloc((size_t)mesh->node_count, sizeof *owner);
  owned(double) *distance = vector(mesh->node_count);
  int32_t handle[6];
  double worst = 0;
  tap_require(eb_biharmonic_handles(mesh, pinned, 6, handle, owner), "handles");
  for (int32_t i = 0; i < mesh->node_count; i++) distance[i] = pinned[i] ? 0 : INFINITY;
  for (int k = 0; k < 6; k++) {
    double most = 0;
    relax(mesh, distance);
    for (int32_t i = 0; i < mesh->node_count; i++) most = fmax(most, distance[i]);
    worst = fmax(worst, most - distance[handle[k]]);
    distance[handle[k]] = 0;
  }
  tap_below(worst, 1e-12, "every handle is farthest, along edges, from those before it");
}

/* ---- biharmonic weights ---- */

static void conditions_of_optimality(const char *parameters) {
  owned(fixture) f = fixture_open(parameters);
  const eb_mesh *mesh = f.scene->mesh;
  owned(uint8_t) *pinned = pins_of(f.scene), *fixed = calloc((size_t)mesh->node_count, 1);
  int32_t handle[5];
  owned(int32_t) *owner = calloc((size_t)mesh->node_count, sizeof *owner);
  int32_t n = mesh->node_count;
  bool apart = true;
  tap_require(eb_biharmonic_handles(mesh, pinned, 5, handle, owner), "handles");
  for (int k = 0; k < 5; k++) {
    apart &= !pinned[handle[k]] && owner[handle[k]] == k && !fixed[handle[k]];
    fixed[handle[k]] = 1;
  }
  tap_ok(apart, "%s: five handles, none of them pinned", parameters);
  for (int32_t i = 0; i < n; i++) fixed[i] |= pinned[i];
  owned(eb_scalar_matrix) L, Q;
  owned(eb_bounded) *bounded = NULL;
  owned(double) *volume = vector(n), *w = vector(n);
  double worst = 0, largest = 0;
  int at_bounds = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int a = 0; a < 4; a++)
      volume[mesh->elements[4 * e + a]] += eb_mesh_element_volume(mesh, mesh->X, e) / 4;
  tap_require(eb_scalar_laplacian(mesh, 1, &L), "L");
  tap_require(eb_scalar_biharmonic(&L, volume, &Q), "Q");
  tap_require(eb_bounded_create(&Q, fixed, 1, NULL, &bounded), "a program");
  for (int k = 0; k < 5; k++) {
    for (int32_t i = 0; i < n; i++) w[i] = i == handle[k];
    tap_require(eb_bounded_solve(bounded, NULL, w, NULL), "its solution");
    for (int32_t i = 0; i < n; i++) {
      double g = 0;
      for (int32_t b = Q.start[i]; b < Q.start[i + 1]; b++) {
        g += Q.value[b] * w[Q.column[b]];
        if (Q.column[b] == i) largest = fmax(largest, Q.value[b]);
      }
      if (!(w[i] >= 0 && w[i] <= 1)) worst = INFINITY;
      if (fixed[i]) {
        if (w[i] != (i == handle[k])) worst = INFINITY;
        continue;
      }
      at_bounds += w[i] == 0 || w[i] == 1;
      worst = fmax(worst, w[i] == 0 ? -g : w[i] == 1 ? g : fabs(g));
    }
  }
  tap_below(worst, 2e-11 * largest, "each the minimum between its bounds");
  tap_ok(at_bounds > 0, "which hold %d values", at_bounds);
  owned(eb_skinning) one, three;
  tap_require(eb_skinning_biharmonic(mesh, pinned, 5, 1, NULL, &one), "weights");
  tap_require(eb_skinning_biharmonic(mesh, pinned, 5, 3, NULL, &three), "by three threads");
  tap_ok(!memcmp(one.weight, three.weight, 5 * (size_t)n * sizeof(double)), "the same bits");
  double off = 0;
  bool any = false, held = true;
  for (int32_t i = 0; i < n; i++) any |= pinned[i];
  for (int32_t i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < 5; k++) sum += one.weight[k * n + i];
    off = fmax(off, any ? sum - 1 : fabs(sum - 1));
    held &= !pinned[i] || sum == 0;
  }
  tap_below(off, 1e-14, any ? "they make up no more than one" : "they make up one");
  tap_ok(held && !one.eigenvalue, "nothing where nodes are pinned");
}

static void too_few_nodes(void) {
  owned(fixture) f = fixture_open("nx=1,ny=1,nz=1");
  eb_skinning s;
  tap_fails(eb_skinning_biharmonic(f.scene->mesh, NULL, 9, 1, NULL, &s), EB_ERR_USAGE,
            "fewer modes", "more handles than nodes are refused");
}

/* ---- products with the basis ---- */

static void products_are_plain_sums(void) {
  owned(fixture) f = fixture_open("nx=12,ny=5,nz=4,jitter=0.2");
  const eb_mesh *mesh = f.scene->mesh;
  const double *mass = eb_elasticity_mass(f.scene->elasticity);
  int32_t nodes = mesh->node_count;
  owned(eb_skinning) s;
  tap_require(eb_skinning_eigenmodes(f.scene->elasticity, mesh->X, NULL, 9, 1, NULL, &s), "modes");
  for (int32_t modes = 1; modes <= 9; modes += 4) {
    owned(eb_basis) b;
    tap_require(eb_basis_skinning(nodes, mesh->X, mass, modes, s.weight, &b), "a basis");
    int32_t n = 3 * b.size;
    owned(double) *x = vector(3 * nodes), *y = vector(3 * nodes), *u = vector(n), *w = vector(n);
    double off = 0;
    for (int32_t i = 0; i < 3 * nodes; i++) x[i] = mesh->X[i] + 0.1 * eb_block_random(&seed);
    omp_set_num_threads(1);
    eb_basis_restrict(&b, x, true, u);
    for (int32_t k = 0; k < n; k++) {
      long double sum = 0;
      for (int32_t i = 0; i < nodes; i++)
        sum += (long double)mass[i] * b.phi[i * b.stride + k % b.size] *
               (x[3 * i + k / b.size] - mesh->X[3 * i + k / b.size]);
      off = fmax(off, fabs((double)(sum - u[k])));
    }
    tap_below(off, 1e-14, "a restriction is a sum over the nodes");
    omp_set_num_threads(3);
    eb_basis_restrict(&b, x, true, w);
    tap_ok(!memcmp(u, w, (size_t)n * sizeof *u), "the same bits by three threads");
    omp_set_num_threads(1);
    eb_basis_prolong(&b, u, true, y);
    off = 0;
    for (int32_t i = 0; i < 3 * nodes; i++) {
      long double sum = mesh->X[i];
      for (int32_t k = 0; k < b.size; k++)
        sum += (long double)b.phi[(i / 3) * b.stride + k] * u[i % 3 * b.size + k];
      off = fmax(off, fabs((double)(sum - y[i])));
    }
    tap_below(off, 1e-14, "a prolongation is one over the functions");
    omp_set_num_threads(3);
    eb_basis_prolong(&b, u, true, x);
    tap_ok(!memcmp(x, y, 3 * (size_t)nodes * sizeof *x), "the same bits by three threads");
  }
}

/* ---- linear modes and their derivatives ---- */

static void multiply(const eb_block_matrix *K, const double *x, double *y) {
  for (int32_t i = 0; i < 3 * K->rows; i++) {
    y[i] = 0;
    for (int32_t b = K->start[i / 3]; b < K->start[i / 3 + 1]; b++)
      for (int d = 0; d < 3; d++)
        y[i] += K->values[9 * b + 3 * (i % 3) + d] * x[3 * K->column[b] + d];
  }
}

/* K Phi_ij + d2g/dq_i dq_j = 0 but for what moves a free body without strain, with the second
 * derivative by differences of the gradient g alone. */
static void derivatives_against_gradients(const char *parameters, int rigid) {
  owned(fixture) f = fixture_open(parameters);
  const eb_mesh *mesh = f.scene->mesh;
  const eb_elasticity *elasticity = f.scene->elasticity;
  const double *mass = eb_elasticity_mass(elasticity);
  owned(uint8_t) *pinned = pins_of(f.scene);
  int32_t n = 3 * mesh->node_count, modes = rigid + 3, count, at = 0;
  owned(eb_skinning) linear;
  owned(double) *derivative = NULL, *x = vector(n), *g = vector(n), *second = vector(n);
  double worst = 0;
  tap_require(eb_skinning_linear(elasticity, mesh->X, pinned, modes, 1, NULL, &linear), "modes");
  tap_require(
      eb_modal_derivatives(elasticity, mesh->X, pinned, &linear, 1, NULL, &count, &derivative),
      "derivatives");
  tap_ok(count == 6, "%s: three modes that deform have six derivatives", parameters);
  owned(eb_block_matrix) *K = new_matrix(elasticity);
  eb_elasticity_matrix(elasticity, mesh->X, 0, 1, false, K, NULL);
  for (int j = 0; j < 3; j++)
    for (int i = 0; i <= j; i++, at++) {
      const double *p = linear.weight + (int64_t)(rigid + i) * n;
      const double *q = linear.weight + (int64_t)(rigid + j) * n;
      double most = 0, off = 0, size = 0;
      for (int32_t k = 0; k < n; k++) most = fmax(most, fmax(fabs(p[k]), fabs(q[k])));
      /* Truncation (3e-4)^2 and rounding 1e-16 / (3e-4)^2 meet at 1e-7 or so, of larger terms. */
      double e = 3e-4 / most;
      memset(second, 0, (size_t)n * sizeof *second);
      for (int corner = 0; corner < 4; corner++) {
        int a = corner & 1 ? 1 : -1, b = corner & 2 ? 1 : -1;
        for (int32_t k = 0; k < n; k++) x[k] = mesh->X[k] + e * (a * p[k] + b * q[k]);
        eb_elasticity_gradient(elasticity, x, g);
        for (int32_t k = 0; k < n; k++) second[k] += a * b * g[k] / (4 * e * e);
      }
      multiply(K, derivative + (int64_t)at * n, g);
      for (int32_t k = 0; k < n; k++) {
        size += second[k] * second[k];
        x[k] = pinned[k / 3] ? 0 : g[k] + second[k];
      }
      for (int m = 0; m < rigid; m++) {
        const double *r = linear.weight + (int64_t)m * n;
        double along = 0;
        for (int32_t k = 0; k < n; k++) along += r[k] * x[k];
        for (int32_t k = 0; k < n; k++) x[k] -= along * mass[k / 3] * r[k];
      }
      for (int32_t k = 0; k < n; k++) off += x[k] * x[k];
      worst = fmax(worst, sqrt(off / size));
    }
  tap_below(worst, 1e-5, "K times each is the gradient's second derivative");
}

/* What is left of a turn of the rest shape by `degrees` about an axis across the coordinates, over
 * its displacement, in the masses. */
static double left_of_turn(const eb_mesh *mesh, const eb_basis *b, double degrees) {
  int32_t n = 3 * mesh->node_count;
  owned(double) *x = vector(n), *back = vector(n), *u = vector(eb_basis_coefficients(b));
  double angle = degrees;
  double left = 0, whole = 0, s = sin(angle * 3.14159265358979 / 180),
         c = 1 - cos(angle * 3.14159265358979 / 180);
  const double w[3] = {1 / sqrt(3.), 1 / sqrt(3.), 1 / sqrt(3.)};
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *X = mesh->X + 3 * i;
    double once[3], twice[3];
    for (int d = 0; d < 3; d++)
      once[d] = w[(d + 1) % 3] * X[(d + 2) % 3] - w[(d + 2) % 3] * X[(d + 1) % 3];
    for (int d = 0; d < 3; d++)
      twice[d] = w[(d + 1) % 3] * once[(d + 2) % 3] - w[(d + 2) % 3] * once[(d + 1) % 3];
    for (int d = 0; d < 3; d++) x[3 * i + d] = X[d] + s * once[d] + c * twice[d];
  }
  eb_basis_restrict(b, x, true, u);
  eb_basis_prolong(b, u, true, back);
  for (int32_t k = 0; k < n; k++) {
    left += b->mass[k / 3] * (x[k] - back[k]) * (x[k] - back[k]);
    whole += b->mass[k / 3] * (x[k] - mesh->X[k]) * (x[k] - mesh->X[k]);
  }
  return sqrt(left / whole);
}

/* Five weights: sixty coefficients; six motions, nine modes and their 45 derivatives: sixty. */
static void who_can_turn(void) {
  owned(fixture) f = fixture_open("nx=8,ny=3,nz=3,lx=3,ly=1,lz=1,nu=0.3,material=stvk");
  const eb_mesh *mesh = f.scene->mesh;
  const double *mass = eb_elasticity_mass(f.scene->elasticity);
  owned(eb_skinning) weights, linear;
  owned(eb_basis) skins, vibrates;
  int32_t count;
  owned(double) *derivative = NULL, *both = NULL;
  tap_require(eb_skinning_eigenmodes(f.scene->elasticity, mesh->X, NULL, 5, 1, NULL, &weights),
              "weights");
  tap_require(eb_basis_skinning(mesh->node_count, mesh->X, mass, 5, weights.weight, &skins),
              "skinning");
  tap_require(eb_skinning_linear(f.scene->elasticity, mesh->X, NULL, 15, 1, NULL, &linear),
              "linear modes");
  tap_require(eb_modal_derivatives(f.scene->elasticity, mesh->X, NULL, &linear, 1, NULL, &count,
                                   &derivative),
              "derivatives");
  size_t had = 15 * 3 * (size_t)mesh->node_count;
  both = vector((int64_t)(had + (size_t)count * 3 * (size_t)mesh->node_count));
  memcpy(both, linear.weight, had * sizeof *both);
  memcpy(both + had, derivative, (size_t)count * 3 * (size_t)mesh->node_count * sizeof *both);
  tap_require(eb_basis_displacements(mesh->node_count, mesh->X, mass, 15 + count, both, &vibrates),
              "a basis of displacements");
  tap_ok(eb_basis_coefficients(&skins) == 60 && eb_basis_coefficients(&vibrates) == 60,
         "two bases of sixty coefficients");
  double off = 0;
  for (int32_t a = 0; a < 60; a++)
    for (int32_t c = 0; c < 60; c++) {
      double sum = 0;
      for (int32_t i = 0; i < 3 * mesh->node_count; i++)
        sum += mass[i / 3] * vibrates.phi[i * vibrates.stride + a] *
               vibrates.phi[i * vibrates.stride + c];
      off = fmax(off, fabs(sum - (a == c)));
    }
  tap_below(off, 1e-12, "displacements are orthonormal in the masses");
  tap_below(left_of_turn(mesh, &skins, 60), 1e-10, "weights turn a free body by 60 degrees");
  double left = left_of_turn(mesh, &vibrates, 60);
  tap_ok(left >= 1e-3, "modal derivatives leave %.2g of it", left);
}

/* Points on all elements in a basis of displacements: force and K are B^T g and B^T H B. */
static void displacements_integrated_in_full(void) {
  owned(fixture) f = fixture_open("nx=4,ny=2,nz=2,support=x0,material=stable-neo-hookean");
  const eb_mesh *mesh = f.scene->mesh;
  owned(uint8_t) *pinned = pins_of(f.scene);
  owned(eb_skinning) linear;
  owned(eb_basis) b;
  eb_cubature cubature;
  eb_points *points;
  tap_require(eb_skinning_linear(f.scene->elasticity, mesh->X, pinned, 19, 1, NULL, &linear),
              "modes");
  tap_require(eb_basis_displacements(mesh->node_count, mesh->X,
                                     eb_elasticity_mass(f.scene->elasticity), 19, linear.weight,
                                     &b),
              "a basis");
  tap_require(eb_cubature_create(mesh, &linear,
                                 &(eb_clustering_choice){.count = 1, .all = true, .seed = 5},
                                 &cubature),
              "all elements");
  tap_require(eb_points_create(mesh, f.scene->materials, &b, &cubature, false, &points), "points");
  int32_t n = eb_basis_coefficients(&b), full = 3 * mesh->node_count;
  owned(double) *u = vector(n), *q = vector(n), *g = vector(n), *want = vector(n),
                *x = vector(full);
  owned(double) *force = vector(full), *K = vector((int64_t)n * n);
  double off = 0, size = 0;
  owned(double) *y = vector(full);
  for (int32_t k = 0; k < n; k++) u[k] = 0.02 * eb_block_random(&seed);
  eb_basis_prolong(&b, u, true, x);
  eb_points_linearize(points, u, q, g);
  eb_points_stiffness(points, K);
  eb_elasticity_gradient(f.scene->elasticity, x, force);
  eb_basis_restrict_force(&b, force, want);
  for (int32_t k = 0; k < n; k++) {
    off = fmax(off, fabs(g[k] - want[k]));
    size = fmax(size, fabs(want[k]));
  }
  tap_below(off, 1e-11 * size, "forces of points are B^T g, in displacements too");
  tap_near(eb_points_energy(points, u, 0).value, eb_elasticity_energy(f.scene->elasticity, x),
           1e-12 * eb_points_scale(points), "energies are the body's");
  owned(eb_block_matrix) *H = new_matrix(f.scene->elasticity);
  eb_elasticity_matrix(f.scene->elasticity, x, 0, 1, true, H, NULL);
  off = size = 0;
  for (int32_t j = 0; j < n; j++) {
    for (int32_t k = 0; k < n; k++) q[k] = k == j;
    eb_basis_prolong(&b, q, false, y);
    multiply(H, y, force);
    eb_basis_restrict_force(&b, force, want);
    for (int32_t k = j; k < n; k++) {
      off = fmax(off, fabs(K[j * n + k] - want[k]));
      size = fmax(size, fabs(want[k]));
    }
  }
  tap_below(off, 1e-11 * size, "and K is B^T H B");
  eb_points_destroy(points);
  eb_cubature_clear(&cubature);
}

/* ---- what is kept ---- */

static const char *const kept_scene = "nx=8,ny=4,nz=4,support=x0,gz=-9.8";
enum { FILES = 8, NAME = 512 };

static int kept_files(const char *folder, char name[FILES][NAME]) {
  int count = 0;
  DIR *open = opendir(folder);
  for (struct dirent *at; open && (at = readdir(open));)
    if (at->d_name[0] != '.' && count < FILES)
      snprintf(name[count++], NAME, "%s/%s", folder, at->d_name);
  if (open) closedir(open);
  return count;
}

/* The state after two steps, and how many factorizations the set-up took. */
static uint64_t run_kept(const char *options, double *factorizations) {
  owned(fixture) f = fixture_open(kept_scene);
  owned(eb_solver) *solver = NULL;
  tap_require(eb_solver_create(eb_solver_find("mfem-subspace"), options, f.scene, 1, 0, &solver),
              options);
  *factorizations = solver->setup_log->counters[EB_COUNT_FACTORIZATIONS];
  for (int i = 0; i < 2; i++)
    tap_require(
        eb_solver_find("mfem-subspace")->step(solver, f.state, f.scene->dt, f.log, &f.reason),
        "a step");
  uint64_t hash = eb_state_hash(f.state);
  return hash;
}

static void spoil(const char *path, int how) {
  FILE *file = fopen(path, "r+b");
  if (!file) exit(1);
  fseek(file, 0, SEEK_END);
  long bytes = ftell(file);
  int last;
  switch (how) {
  case 0: /* cut off */
    if (ftruncate(fileno(file), bytes / 2)) exit(1);
    break;
  case 1: /* a bit in the content */
    fseek(file, bytes - 3, SEEK_SET);
    last = fgetc(file);
    fseek(file, bytes - 3, SEEK_SET);
    fputc(last ^ 4, file);
    break;
  case 2: /* another version */
    fseek(file, 12, SEEK_SET);
    fputc(200, file);
    break;
  default: /* nothing in it */
    if (ftruncate(fileno(file), 0)) exit(1);
  }
  fclose(file);
}

static void a_kept_basis_is_the_one_made(const char *options, const char *changed) {
  char root[] = "/tmp/eb-bases-XXXXXX", folder[64], name[FILES][NAME], text[256], other[256];
  double plain, miss, hit;
  if (!mkdtemp(root)) exit(1);
  setenv("XDG_CACHE_HOME", root, 1);
  snprintf(folder, sizeof folder, "%s/elastobench", root);
  snprintf(text, sizeof text, "cache=true,%s", options);
  snprintf(other, sizeof other, "cache=true,%s", changed);
  uint64_t want = run_kept(options, &plain);
  tap_ok(plain > 0 && kept_files(folder, name) == 0, "%s: nothing is kept unasked", options);
  tap_ok(run_kept(text, &miss) == want && miss == plain && kept_files(folder, name) == 2,
         "a miss is made, and kept in two files");
  tap_ok(run_kept(text, &hit) == want && hit == 0, "a hit has the same bits and factors nothing");
  for (int how = 0; how < 4; how++) {
    for (int i = 0; i < kept_files(folder, name); i++) spoil(name[i], how);
    tap_ok(run_kept(text, &miss) == want && miss == plain, "spoiled in way %d, it is made again",
           how);
    tap_ok(run_kept(text, &hit) == want && hit == 0, "and mended");
  }
  run_kept(other, &miss);
  tap_ok(miss > 0 && kept_files(folder, name) == 4, "other options have files of their own");
  char more[300];
  snprintf(more, sizeof more, "%s,points=90", text);
  run_kept(more, &hit);
  tap_ok(hit == 0 && kept_files(folder, name) == 5, "other points have the same weights");
  for (int i = kept_files(folder, name); i-- > 0;) unlink(name[i]);
  /* Two at once: both make it, one of them last; a third finds a whole file. */
  pid_t children[2];
  int sound = 0;
  for (int i = 0; i < 2; i++) {
    children[i] = fork();
    if (children[i] == 0) _exit(run_kept(text, &miss) == want ? 0 : 1);
  }
  for (int i = 0; i < 2; i++) {
    int status;
    waitpid(children[i], &status, 0);
    sound += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  tap_ok(sound == 2 && kept_files(folder, name) == 2, "two processes at once leave two files");
  tap_ok(run_kept(text, &hit) == want && hit == 0, "that a third finds");
  for (int i = kept_files(folder, name); i-- > 0;) unlink(name[i]);
  rmdir(folder);
  /* A file in the folder's place: nothing can be kept, as on a full disk. */
  FILE *file = fopen(folder, "wb");
  if (file) fclose(file);
  tap_ok(run_kept(text, &miss) == want && miss == plain, "no folder, no matter");
  unlink(folder);
  rmdir(root);
}

int main(void) {
  stiffness_of_one_modulus_is_the_laplacian();
  blocks_hold_the_matrix();
  spline_between_bounds();
  every_active_set();
  handles_are_farthest("nx=7,ny=3,nz=2,support=x0,jitter=0.1");
  conditions_of_optimality("nx=10,ny=3,nz=3,lx=3,ly=1,lz=1,jitter=0.2");
  conditions_of_optimality("nx=10,ny=3,nz=3,lx=3,ly=1,lz=1,jitter=0.2,support=x0");
  too_few_nodes();
  products_are_plain_sums();
  derivatives_against_gradients("nx=7,ny=3,nz=3,lx=3,ly=1,lz=1,material=stable-neo-hookean", 6);
  derivatives_against_gradients("nx=6,ny=3,nz=3,support=x0,material=fixed-corotational", 0);
  who_can_turn();
  displacements_integrated_in_full();
  a_kept_basis_is_the_one_made("modes=4", "modes=4,stiffness=uniform");
  a_kept_basis_is_the_one_made("modes=4,weights=biharmonic", "modes=5,weights=biharmonic");
  a_kept_basis_is_the_one_made("modes=8,basis=linear", "modes=7,basis=linear");
  no_copy_of_an_eigenvalue_is_missed();
  return tap_done();
}
