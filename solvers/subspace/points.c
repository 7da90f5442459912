/* Points in batches of four lanes of one material; gradients G point by point, three rows of
 * functions, so that a row of K's factor is three scaled rows added up. What goes from functions to
 * points and back runs along the functions, four at a time: rows are filled up with zeros.
 *
 * K is made of blocks of points: their rows a_cl sqrt(w), an entry a coefficient, are columns of a
 * matrix A whose strips stay in the cache, and K += A A^T tile by tile. Threads share the points of
 * a block, then the tiles: no sum depends on how many there are. */
#include "solvers/subspace/points.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/elasticity/mixed_point.h"
#include "solvers/linalg/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MIXED_ROWS = 6, FEM_ROWS = 9, TILE = 48, COLUMNS = 1024, STRIP = 8 };

struct eb_points {
  bool mixed;
  int32_t count, batches, size, rows; /* rows: of K's factor a point */
  int32_t stride;                     /* size, rounded up to a multiple of STRIP */
  int32_t coefficients;               /* 3 size, or size where functions have three components */
  int32_t components;                 /* gradients a function: 1 or 3 */
  int32_t regions;
  eb_law *laws;       /* regions */
  int32_t *batch_law; /* batches, into laws */
  int32_t *lane;      /* 4 batches: point of the cubature, -1 behind the last of a material */
  eb_v4 *weight;      /* batches, m^3; 0 where there is no point */
  double *G;          /* 4 batches x components x 3 x stride, 1/m */
  double *U;          /* 3 x stride (of components: the first): what gradients are taken of */
  mixed_point *point; /* batches; in FEM only U, V, s are used */
  double *A;          /* coefficients x rows x 4 batches of a block: columns of K's factor */
  double *P;          /* 4 batches x 9: stresses times weights */
  double scale, unknown;
};

/* Batches whose rows are multiplied together: COLUMNS of A, so that two strips of a TILE each stay
 * in the second-level cache, and threads seldom wait for each other. */
static int32_t block_batches(int32_t rows) {
  return (COLUMNS + EB_LANES * rows - 1) / (EB_LANES * rows);
}

/* ---- life ---- */

/* Where the gradients of a point stand. */
static double *gradients_of(const eb_points *p, int64_t lane) {
  return p->G + lane * 3 * p->components * p->stride;
}

/* Gradients of the functions in an element: sum over corners of phi_i grad N_a. */
static eb_error fill_gradients(eb_points *p, const eb_mesh *mesh, const eb_basis *basis,
                               int32_t lane, int32_t element) {
  const int32_t *node = mesh->elements + 4 * (int64_t)element;
  double d[3][3], g[4][3] = {{0}}, det = 0, *to = gradients_of(p, lane);
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++)
      d[a][i] = mesh->X[3 * (int64_t)node[a + 1] + i] - mesh->X[3 * (int64_t)node[0] + i];
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++) {
      const double *b = d[(a + 1) % 3], *c = d[(a + 2) % 3];
      int j = (i + 1) % 3, k = (i + 2) % 3;
      g[a + 1][i] = b[j] * c[k] - b[k] * c[j];
      if (a == 0) det += d[0][i] * g[1][i];
    }
  if (!(det > 0))
    return EB_ERROR(EB_ERR_INVALID, "cubature: element %d has no positive volume", (int)element);
  for (int a = 1; a < 4; a++)
    for (int i = 0; i < 3; i++) {
      g[a][i] /= det;
      g[0][i] -= g[a][i];
    }
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < 3 * p->components; i++) {
      int64_t row = (int64_t)p->components * node[a] + i / 3;
      for (int32_t k = 0; k < p->size; k++)
        to[i * p->stride + k] += g[a][i % 3] * basis->phi[row * basis->stride + k];
    }
  return EB_OK;
}

/* Points sorted into batches, one material each. */
static eb_error fill(eb_points *p, const eb_mesh *mesh, const eb_material *materials,
                     const eb_basis *basis, const eb_cubature *cubature) {
  p->regions = mesh->region_count;
  EB_TRY(EB_NEW(p->laws, p->regions));
  for (int32_t r = 0; r < p->regions; r++) {
    p->laws[r] = eb_law_make(&materials[r]);
    if (!eb_law_needs_frame(&p->laws[r]) || p->laws[r].fibre)
      return EB_ERROR(EB_ERR_UNSUPPORTED,
                      "region %d '%s': a subspace needs a material that is a function of the "
                      "stretch alone: neither linear nor with fibres",
                      (int)r, mesh->region_name[r]);
  }
  size_t most = (size_t)cubature->count / EB_LANES + (size_t)p->regions + 1,
         n = (size_t)p->coefficients;
  EB_TRY(EB_NEW(p->batch_law, most));
  EB_TRY(EB_NEW(p->lane, EB_LANES * most));
  EB_TRY(EB_NEW(p->weight, most));
  EB_TRY(EB_NEW(p->G, EB_LANES * most * 3 * (size_t)p->components * (size_t)p->stride));
  EB_TRY(EB_NEW(p->U, 3 * (size_t)p->stride));
  EB_TRY(EB_NEW(p->point, most));
  EB_TRY(EB_NEW(p->A, n * (size_t)(EB_LANES * p->rows * block_batches(p->rows))));
  EB_TRY(EB_NEW(p->P, EB_LANES * most * 9));
  for (int32_t r = 0; r < p->regions; r++) {
    int filled = EB_LANES;
    for (int32_t c = 0; c < cubature->count; c++) {
      int32_t e = cubature->element[c];
      if (mesh->region[e] != r) continue;
      if (filled == EB_LANES) {
        filled = 0;
        p->batch_law[p->batches++] = r;
        for (int l = 0; l < EB_LANES; l++) p->lane[EB_LANES * p->batches - EB_LANES + l] = -1;
      }
      int32_t lane = EB_LANES * (p->batches - 1) + filled;
      p->lane[lane] = c;
      p->weight[p->batches - 1][filled++] = cubature->weight[c];
      p->scale += cubature->weight[c] * materials[r].young;
      EB_TRY(fill_gradients(p, mesh, basis, lane, e));
      const double *G = gradients_of(p, lane);
      double squared = 0, nu = materials[r].poisson;
      double stiff =
          cubature->weight[c] * materials[r].young * (1 - nu) / ((1 + nu) * (1 - 2 * nu));
      for (int32_t k = 0; k < 3 * p->components * p->stride; k++) squared += G[k] * G[k];
      p->unknown += 3 / p->components * stiff * stiff * squared;
    }
  }
  p->unknown = 4 * DBL_EPSILON * sqrt(p->unknown);
  for (int32_t b = 0; b < p->batches; b++)
    for (int k = 0; k < 3; k++) p->point[b].S[k] = eb_v4_set(1);
  return EB_OK;
}

eb_error eb_points_create(const eb_mesh *mesh, const eb_material *materials, const eb_basis *basis,
                          const eb_cubature *cubature, bool mixed, eb_points **out) {
  *out = NULL;
  if (mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "cubature points are tetrahedra");
  eb_points *p;
  EB_TRY(EB_NEW(p, 1));
  p->mixed = mixed;
  p->count = cubature->count;
  p->size = basis->size;
  p->components = basis->axes;
  p->coefficients = eb_basis_coefficients(basis);
  p->stride = (basis->size + STRIP - 1) / STRIP * STRIP;
  p->rows = mixed ? MIXED_ROWS : FEM_ROWS;
  eb_error error = fill(p, mesh, materials, basis, cubature);
  if (error) {
    eb_points_destroy(p);
    return error;
  }
  *out = p;
  return EB_OK;
}

void eb_points_destroy(eb_points *p) {
  if (!p) return;
  void *const owned[] = {p->laws, p->batch_law, p->lane, p->weight, p->G,
                         p->U,    p->point,     p->A,    p->P};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(p);
}

double eb_points_unknown(const eb_points *p) {
  return p->unknown;
}

double eb_points_scale(const eb_points *p) {
  return p->scale;
}

/* ---- deformation gradients ---- */

/* The coefficients u as gradients() reads them. */
static void open_rows(const eb_points *p, const double *u) {
  for (int i = 0; i < 3 / p->components; i++)
    memcpy(p->U + i * p->stride, u + i * p->size, (size_t)p->size * sizeof *u);
}

/* sum_k U_ik G_xk of scalar functions. */
static void gradients_shared(const eb_points *p, const double *G, eb_v4 sum[9]) {
  const double *U = p->U;
  for (int32_t k = 0; k < p->stride; k += EB_LANES) {
    eb_v4 along[3];
#pragma GCC unroll 3
    for (int x = 0; x < 3; x++) along[x] = *(const eb_v4_unaligned *)(G + x * p->stride + k);
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
      eb_v4 of = *(const eb_v4_unaligned *)(U + i * p->stride + k);
#pragma GCC unroll 3
      for (int x = 0; x < 3; x++) sum[3 * i + x] += of * along[x];
    }
  }
}

/* sum_k U_k G_ixk of functions with three components. */
static void gradients_apart(const eb_points *p, const double *G, eb_v4 sum[9]) {
  for (int32_t k = 0; k < p->stride; k += EB_LANES) {
    eb_v4 of = *(const eb_v4_unaligned *)(p->U + k);
#pragma GCC unroll 9
    for (int e = 0; e < 9; e++) sum[e] += of * *(const eb_v4_unaligned *)(G + e * p->stride + k);
  }
}

/* F - I or dF of the lanes of a batch, U G, for the coefficients that are open. */
static void gradients(const eb_points *p, int32_t b, eb_v4 F[9]) {
  for (int l = 0; l < EB_LANES; l++) {
    const double *G = gradients_of(p, EB_LANES * (int64_t)b + l);
    eb_v4 sum[9] = {{0}};
    if (p->components == 1)
      gradients_shared(p, G, sum);
    else
      gradients_apart(p, G, sum);
    for (int i = 0; i < 9; i++) F[i][l] = eb_v4_sum(sum[i]);
  }
}

static void decompose(const eb_points *p, int32_t b, eb_v4 F[9], mixed_point *at) {
  gradients(p, b, F);
  for (int k = 0; k < 3; k++) F[4 * k] += 1;
  eb_svd3(1, (const eb_v4(*)[9])F, &at->U, &at->s, &at->V);
}

enum { HALVES = STRIP / EB_LANES };

/* A team takes some tens of microseconds to wake and to meet again, in which one thread does a
 * million operations of a sweep over the points, and ten of a product of matrices. */
static bool sweep_is_long(const eb_points *p) {
  const double decomposition = 6000;
  return p->batches * (72.0 * p->components * p->stride + decomposition) > 1e6;
}

/* sum_i += P_ix G_x for a strip of scalar functions. */
static inline void add_stress_shared(const eb_points *p, const double *G, const double stress[9],
                                     eb_v4 sum[3][HALVES]) {
#pragma GCC unroll 3
  for (int x = 0; x < 3; x++)
#pragma GCC unroll 2
    for (int h = 0; h < HALVES; h++) {
      eb_v4 along = *(const eb_v4_unaligned *)(G + x * p->stride + EB_LANES * h);
#pragma GCC unroll 3
      for (int i = 0; i < 3; i++) sum[i][h] += stress[3 * i + x] * along;
    }
}

/* sum += P_ix G_ix for a strip of functions with three components. */
static inline void add_stress_apart(const eb_points *p, const double *G, const double stress[9],
                                    eb_v4 sum[HALVES]) {
#pragma GCC unroll 9
  for (int e = 0; e < 9; e++)
#pragma GCC unroll 2
    for (int h = 0; h < HALVES; h++)
      sum[h] += stress[e] * *(const eb_v4_unaligned *)(G + e * p->stride + EB_LANES * h);
}

/* f = sum over points of P : G, for all threads of a team, which share the functions. */
static void gather_force(const eb_points *p, const double *P, double *f) {
#pragma omp for schedule(static)
  for (int32_t first = 0; first < p->size; first += STRIP) {
    eb_v4 sum[3][HALVES] = {{{0}}};
    for (int32_t lane = 0; lane < EB_LANES * p->batches; lane++) {
      const double *G = gradients_of(p, lane) + first, *stress = P + 9 * (int64_t)lane;
      if (p->components == 1)
        add_stress_shared(p, G, stress, sum);
      else
        add_stress_apart(p, G, stress, sum[0]);
    }
    for (int i = 0; i < 3 / p->components; i++)
      for (int32_t k = 0; k < STRIP && first + k < p->size; k++)
        f[i * p->size + first + k] = sum[i][k / EB_LANES][k % EB_LANES];
  }
}

static void store_stress(eb_points *p, int32_t b, const eb_v4 P[9]) {
  for (int i = 0; i < 9; i++)
    for (int l = 0; l < EB_LANES; l++)
      p->P[9 * (int64_t)(EB_LANES * b + l) + i] = p->weight[b][l] * P[i][l];
}

/* ---- the factor of K ---- */

/* A row of each of a batch's four points from E (a 3 x 3 matrix each, in the world's axes); A: the
 * batch's columns. */
static void store_row(const eb_points *p, int32_t b, int row, const eb_v4 E[9], double *A) {
  for (int l = 0; l < EB_LANES; l++) {
    int64_t lane = EB_LANES * (int64_t)b + l;
    double *to = A + ((int64_t)l * p->rows + row) * p->coefficients;
    const double *G = gradients_of(p, lane);
    if (p->components == 3) {
      memset(to, 0, (size_t)p->size * sizeof *to);
      for (int e = 0; e < 9; e++)
        for (int32_t k = 0; k < p->size; k++) to[k] += E[e][l] * G[e * p->stride + k];
      continue;
    }
    for (int i = 0; i < 3; i++) {
      double x = E[3 * i][l], y = E[3 * i + 1][l], z = E[3 * i + 2][l];
      double *out = to + i * p->size;
      for (int32_t k = 0; k < p->size; k++)
        out[k] = x * G[k] + y * G[p->stride + k] + z * G[2 * p->stride + k];
    }
  }
}

/* L of a positive semi-definite matrix H = L L^T given by its packed upper triangle; a pivot that
 * is rounding makes a column of zeros. */
EB_INLINE void factor_packed(int n, const eb_v4 *H, eb_v4 *L) {
  const eb_v4 zero = {0};
  for (int j = 0, at = 0; j < n; j++) {
    eb_v4 pivot = H[at], whole = H[at];
    for (int k = 0; k < j; k++) pivot -= L[n * j + k] * L[n * j + k];
    eb_m4 sound = pivot > 1e-14 * whole;
    eb_v4 root = eb_v4_sqrt(eb_v4_select(sound, pivot, eb_v4_set(1)));
    eb_v4 inverse = eb_v4_select(sound, 1 / root, zero);
    for (int i = 0; i < j; i++) L[n * i + j] = zero;
    for (int i = j; i < n; i++, at++) {
      eb_v4 sum = H[at];
      for (int k = 0; k < j; k++) sum -= L[n * i + k] * L[n * j + k];
      L[n * i + j] = sum * inverse;
    }
  }
}

/* The stretch's Hessian, factored: a column of L as a stress carried back to F. */
static void mixed_rows(const eb_points *p, int32_t b, const mixed_point *at, const eb_v4 slope[9],
                       double *A) {
  eb_v4 L[MANDEL * MANDEL], column[MANDEL], E[9], root = eb_v4_sqrt(p->weight[b]);
  factor_packed(MANDEL, at->H, L);
  for (int l = 0; l < MANDEL; l++) {
    for (int m = 0; m < MANDEL; m++) column[m] = root * L[MANDEL * m + l];
    stretch_to_stress(at, slope, column, E);
    store_row(p, b, l, E, A);
  }
}

/* FEM's tangent in the frame of the singular vectors, each mode alone. */
static void fem_rows(const eb_points *p, int32_t b, const eb_law *law, const mixed_point *at,
                     double *A) {
  const eb_v4 zero = {0};
  eb_principal_tangent t;
  eb_v4 L[9], E[9], root = eb_v4_sqrt(p->weight[b]);
  eb_law_tangent(law, at->s, true, &t);
  const eb_v4 scaling[6] = {t.scaling[0], t.scaling[5], t.scaling[4],
                            t.scaling[1], t.scaling[3], t.scaling[2]};
  factor_packed(3, scaling, L);
  for (int row = 0; row < FEM_ROWS; row++) {
    eb_v4 inner[9] = {{0}}, T[9];
    int k = row % 3, i = (k + 1) % 3, j = (k + 2) % 3;
    if (row < 3) {
      for (int m = 0; m < 3; m++) inner[4 * m] = L[3 * m + row];
    } else {
      eb_v4 both = row < 6 ? t.direct[k] + t.cross[k] : t.direct[k] - t.cross[k];
      inner[3 * i + j] = eb_v4_sqrt(0.5 * eb_v4_max(both, zero));
      inner[3 * j + i] = row < 6 ? inner[3 * i + j] : -inner[3 * i + j];
    }
    for (int q = 0; q < 3; q++)
      for (int x = 0; x < 3; x++) T[3 * q + x] = root * eb_v4_dot3(inner + 3 * q, at->V + 3 * x);
    for (int q = 0; q < 3; q++)
      for (int x = 0; x < 3; x++) {
        const eb_v4 *u = at->U + 3 * q;
        E[3 * q + x] = u[0] * T[x] + u[1] * T[3 + x] + u[2] * T[6 + x];
      }
    store_row(p, b, row, E, A);
  }
}

/* ---- sweeps ---- */

/* For all threads of a team: the decompositions at u, and the force of FEM. */
static void linearize_displacements(eb_points *p, double *g) {
#pragma omp for schedule(static)
  for (int32_t b = 0; b < p->batches; b++) {
    mixed_point *at = p->point + b;
    eb_v4 F[9], R[9], P[9];
    decompose(p, b, F, at);
    eb_rotation3(at->U, at->V, R);
    eb_law_stress(&p->laws[p->batch_law[b]], F, R, NULL, P);
    store_stress(p, b, P);
  }
  gather_force(p, p->P, g);
}

/* For all threads of a team: the stretches' own terms, and the force of the mixed form. */
static void linearize_stretches(eb_points *p, double *q) {
#pragma omp for schedule(static)
  for (int32_t b = 0; b < p->batches; b++) {
    mixed_point *at = p->point + b;
    eb_v4 slope[9], P[9];
    linearize(&p->laws[p->batch_law[b]], at);
    stretch_slopes(at->s, slope);
    stretch_to_stress(at, slope, at->lambda, P);
    store_stress(p, b, P);
  }
  gather_force(p, p->P, q);
}

void eb_points_linearize(eb_points *p, const double *u, double *q, double *g) {
  open_rows(p, u);
#pragma omp parallel if (sweep_is_long(p))
  {
    linearize_displacements(p, g);
    if (p->mixed) linearize_stretches(p, q);
  }
  if (!p->mixed) memcpy(q, g, (size_t)p->coefficients * sizeof *q);
}

/* Columns of A for batches first .. end-1; to be met by all threads of a team. */
static void fill_factor(eb_points *p, int32_t first, int32_t end) {
#pragma omp for schedule(static)
  for (int32_t b = first; b < end; b++) {
    const mixed_point *at = p->point + b;
    double *to = p->A + (int64_t)(b - first) * EB_LANES * p->rows * p->coefficients;
    eb_v4 slope[9];
    stretch_slopes(at->s, slope);
    if (p->mixed)
      mixed_rows(p, b, at, slope, to);
    else
      fem_rows(p, b, &p->laws[p->batch_law[b]], at, to);
  }
}

/* One tile (row, left) of -K minus the present columns' part; overwritten with the first. */
static void add_tile(const eb_points *p, int32_t row, int32_t left, int64_t columns, bool first,
                     double *stiffness) {
  int64_t n = p->coefficients, i = (int64_t)row * TILE, j = (int64_t)left * TILE;
  int64_t height = n - i < TILE ? n - i : TILE, width = n - j < TILE ? n - j : TILE;
  double *to = stiffness + j * n + i;
  if (row == left)
    eb_syrk_d(height, columns, p->A + i, n, to, n, !first);
  else
    eb_gemm_d(height, width, columns, p->A + i, n, p->A + j, n, to, n, !first);
}

void eb_points_stiffness(eb_points *p, double *stiffness) {
  const int64_t n = p->coefficients;
  const int32_t tiles = (int32_t)((n + TILE - 1) / TILE), block = block_batches(p->rows);
#pragma omp parallel if (eb_points_stiffness_flops(p) > 1e7)
  for (int32_t first = 0; first < p->batches; first += block) {
    int32_t end = first + block < p->batches ? first + block : p->batches;
    fill_factor(p, first, end);
#pragma omp for schedule(dynamic, 1)
    for (int32_t tile = 0; tile < tiles * (tiles + 1) / 2; tile++) {
      int32_t row = 0, left = tile;
      for (; left > row; row++) left -= row + 1;
      add_tile(p, row, left, (int64_t)(end - first) * EB_LANES * p->rows, first == 0, stiffness);
    }
  }
  /* The kernels subtract: K comes out with its sign turned, and is turned back. */
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = c; r < n; r++) stiffness[c * n + r] = -stiffness[c * n + r];
}

double eb_points_stiffness_flops(const eb_points *p) {
  double n = p->coefficients;
  return n * (n + 1) * p->rows * p->count;
}

void eb_points_project(eb_points *p, const double *u) {
  open_rows(p, u);
#pragma omp parallel for schedule(static) if (sweep_is_long(p))
  for (int32_t b = 0; b < (p->mixed ? p->batches : 0); b++) {
    eb_v4 F[9];
    decompose(p, b, F, p->point + b);
    stretch_of(p->point[b].V, p->point[b].s, p->point[b].S);
  }
}

/* Lanes without a point have weight 0, and add nothing. */
static void add_lanes(const eb_v4 *sum, int32_t batches, double *total) {
  for (int32_t b = 0; b < batches; b++) *total += eb_v4_sum(sum[b]);
}

double eb_points_expand(eb_points *p, const double *direction, eb_mixed_energy *before) {
  double decrease = 0;
  *before = (eb_mixed_energy){0, 0};
  open_rows(p, direction);
  eb_v4 *sums = (eb_v4 *)(void *)p->P; /* of the stresses' room: 9 vectors a batch, 3 needed */
#pragma omp parallel for schedule(static) if (sweep_is_long(p))
  for (int32_t b = 0; b < p->batches; b++) {
    eb_v4 dF[9];
    point_sum sum = {{0}, {0}, {0}};
    gradients(p, b, dF);
    expand_point(&p->laws[p->batch_law[b]], dF, p->weight[b], p->point + b, &sum);
    sums[b] = sum.value;
    sums[p->batches + b] = sum.magnitude;
    sums[2 * p->batches + b] = sum.decrease;
  }
  add_lanes(sums, p->batches, &before->value);
  add_lanes(sums + p->batches, p->batches, &before->magnitude);
  add_lanes(sums + 2 * (size_t)p->batches, p->batches, &decrease);
  return decrease;
}

eb_mixed_energy eb_points_energy(const eb_points *p, const double *u, double a) {
  eb_mixed_energy total = {0, 0};
  open_rows(p, u);
  eb_v4 *sums = (eb_v4 *)(void *)p->P;
#pragma omp parallel for schedule(static) if (sweep_is_long(p))
  for (int32_t b = 0; b < p->batches; b++) {
    const eb_law *law = &p->laws[p->batch_law[b]];
    const mixed_point *at = p->point + b;
    mixed_point trial;
    point_sum sum = {{0}, {0}, {0}};
    eb_v4 F[9], Sbar[6], psi, R[9];
    decompose(p, b, F, &trial);
    if (p->mixed) {
      stretch_of(trial.V, trial.s, Sbar);
      add_trial_energy(law, at, Sbar, a, p->weight[b], &sum);
    } else {
      eb_rotation3(trial.U, trial.V, R);
      eb_law_energy(law, F, R, NULL, &psi);
      sum.value = p->weight[b] * psi;
      sum.magnitude = eb_v4_abs(sum.value);
    }
    sums[b] = sum.value;
    sums[p->batches + b] = sum.magnitude;
  }
  add_lanes(sums, p->batches, &total.value);
  add_lanes(sums + p->batches, p->batches, &total.magnitude);
  return total;
}

void eb_points_accept(eb_points *p, double a) {
  EB_ASSERT(a >= 0);
  for (int32_t b = 0; b < (p->mixed ? p->batches : 0); b++)
    for (int m = 0; m < 6; m++) p->point[b].S[m] += a * p->point[b].dS[m];
}
