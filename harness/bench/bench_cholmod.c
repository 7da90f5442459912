#include "harness/bench/bench_cholmod.h"

#include <cblas.h>
#include <cholmod.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/one_thread.h"

struct eb_bench_cholmod {
  cholmod_common common;
  cholmod_sparse *S;  /* lower triangle in the order of L, so that factoring permutes nothing */
  cholmod_factor *L;  /* supernodal */
  int32_t *perm;      /* of L; what S was permuted by */
  cholmod_sparse *C;  /* columns of the change, rows in the order of L */
  cholmod_factor *LD; /* simplicial, for updates */
  cholmod_dense *E;   /* gather space of the solves */
};

static eb_error check(const eb_bench_cholmod *peer, const char *what) {
  if (peer->common.status == CHOLMOD_OK) return EB_OK;
  return EB_ERROR(EB_ERR_LIBRARY, "%s: CHOLMOD failed with status %d", what, peer->common.status);
}

/* ---- the matrix ---- */

/* The lower triangle of A in the order position[scalar row]; columns are unsorted. */
static void fill_lower(const eb_block_matrix *A, const int32_t *position, cholmod_sparse *S) {
  int32_t *start = S->p, *row = S->i, n = 3 * A->rows;
  double *x = S->x;
  memset(start, 0, ((size_t)n + 1) * sizeof *start);
  for (int fill = 0; fill < 2; fill++) {
    for (int32_t i = 0; i < A->rows; i++)
      for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
        for (int e = 0; e < 9; e++) {
          int32_t r = position[3 * i + e / 3], c = position[3 * A->column[b] + e % 3];
          if (r < c) continue;
          if (fill) {
            row[start[c]] = r;
            x[start[c]++] = A->values[9 * (int64_t)b + e];
          } else {
            start[c + 1]++;
          }
        }
    if (!fill)
      for (int32_t c = 0; c < n; c++) start[c + 1] += start[c];
  }
  memmove(start + 1, start,
          (size_t)n * sizeof *start); /* filling has moved each start to its end */
  start[0] = 0;
}

static eb_error permute(eb_bench_cholmod *peer, const eb_block_matrix *A) {
  int32_t n = 3 * A->rows, *position;
  EB_TRY(EB_NEW(position, n));
  for (int32_t k = 0; k < n; k++) position[peer->perm[k]] = k;
  fill_lower(A, position, peer->S);
  free(position);
  return EB_OK;
}

/* L's order: the given one, postordered. */
static eb_error analyze(eb_bench_cholmod *peer, const eb_block_matrix *A, const int32_t *order) {
  int32_t n = 3 * A->rows;
  int32_t *given;
  for (int32_t k = 0; k < n; k++) peer->perm[k] = 3 * order[k / 3] + k % 3;
  EB_TRY(permute(peer, A));
  peer->L = cholmod_analyze(peer->S, &peer->common);
  EB_TRY(check(peer, "analysis"));
  EB_TRY(EB_NEW(given, n));
  memcpy(given, peer->perm, (size_t)n * sizeof *given);
  for (int32_t k = 0; k < n; k++) peer->perm[k] = given[((int32_t *)peer->L->Perm)[k]];
  free(given);
  EB_TRY(permute(peer, A));
  cholmod_change_factor(CHOLMOD_REAL, true, true, true, true, peer->L, &peer->common);
  return check(peer, "allocation of the factor");
}

static eb_error create(eb_bench_cholmod *peer, const eb_block_matrix *A, const int32_t *order) {
  size_t n = 3 * (size_t)A->rows;
  size_t entries = ((size_t)A->start[A->rows] - (size_t)A->rows) / 2 * 9 + 2 * n;
  cholmod_common *common = &peer->common;
  common->print = 0;
  common->supernodal = CHOLMOD_SUPERNODAL;
  common->nmethods = 1;
  common->method[0].ordering = CHOLMOD_NATURAL;
  common->postorder = true;
  EB_TRY(EB_NEW(peer->perm, n));
  peer->S = cholmod_allocate_sparse(n, n, entries, false, true, -1, CHOLMOD_REAL, common);
  EB_TRY(check(peer, "allocation of the matrix"));
  EB_TRY(analyze(peer, A, order));
  peer->E = cholmod_allocate_dense(n, 64, n, CHOLMOD_REAL, common);
  return check(peer, "allocation of the gather space");
}

eb_error eb_bench_cholmod_create(const eb_block_matrix *A, const int32_t *order,
                                 eb_bench_cholmod **out) {
  eb_bench_cholmod *peer;
  EB_TRY(EB_NEW(peer, 1));
  cholmod_start(&peer->common);
  eb_one_thread before = eb_one_thread_begin();
  eb_error error = create(peer, A, order);
  eb_one_thread_end(before);
  if (error)
    eb_bench_cholmod_destroy(peer);
  else
    *out = peer;
  return eb_error_prefix(error, "peer");
}

void eb_bench_cholmod_destroy(eb_bench_cholmod *peer) {
  if (!peer) return;
  cholmod_free_sparse(&peer->S, &peer->common);
  cholmod_free_sparse(&peer->C, &peer->common);
  cholmod_free_factor(&peer->L, &peer->common);
  cholmod_free_factor(&peer->LD, &peer->common);
  cholmod_free_dense(&peer->E, &peer->common);
  cholmod_finish(&peer->common);
  free(peer->perm);
  free(peer);
}

double eb_bench_cholmod_flops(const eb_bench_cholmod *peer) {
  return peer->common.fl;
}

double eb_bench_cholmod_entries(const eb_bench_cholmod *peer) {
  return peer->common.lnz;
}

/* ---- factor and solve ---- */

static void factor(eb_bench_cholmod *peer) {
  double shift[2] = {0, 0};
  cholmod_super_numeric(peer->S, NULL, shift, peer->L, &peer->common);
}

static void factor_alone(eb_bench_cholmod *peer) {
  eb_one_thread before = eb_one_thread_begin();
  factor(peer);
  eb_one_thread_end(before);
}

static void factor_in_teams(eb_bench_cholmod *peer, bool pair) {
  int blas = openblas_get_num_threads(), openmp = omp_get_max_threads();
  openblas_set_num_threads(2);
  if (pair) {
#pragma omp teams num_teams(1) thread_limit(2)
    factor(peer);
  } else {
    factor(peer);
  }
  openblas_set_num_threads(blas); /* sets OpenMP's number as well */
  omp_set_num_threads(openmp);
}

void eb_bench_cholmod_factor(eb_bench_cholmod *peer, eb_bench_threads threads) {
  if (threads == EB_BENCH_ONE)
    factor_alone(peer);
  else
    factor_in_teams(peer, threads == EB_BENCH_PAIR);
}

void eb_bench_cholmod_solve(eb_bench_cholmod *peer, int32_t count, const double *b, double *x) {
  size_t n = peer->L->n;
  cholmod_dense X = {.nrow = n,
                     .ncol = (size_t)count,
                     .nzmax = n * (size_t)count,
                     .d = n,
                     .x = x,
                     .xtype = CHOLMOD_REAL,
                     .dtype = CHOLMOD_DOUBLE};
  for (size_t c = 0; c < (size_t)count; c++)
    for (size_t k = 0; k < n; k++) x[c * n + k] = b[c * n + (size_t)peer->perm[k]];
  eb_one_thread before = eb_one_thread_begin();
  cholmod_super_lsolve(peer->L, &X, peer->E, &peer->common);
  cholmod_super_ltsolve(peer->L, &X, peer->E, &peer->common);
  eb_one_thread_end(before);
}

/* ---- updates of low rank ----
 *
 * Strain B_e u with B_e 6 x 12 (engineering shears), K_e = V B_e^T D B_e, D = G G^T:
 * the columns of C_e = sqrt(scale V) B_e^T G
 * make the change C_e C_e^T. */

/* G for isotropic D with the first Lame parameter l and the shear modulus m; its lower triangle. */
static void stiffness_root(double l, double m, double G[6][6]) {
  memset(G, 0, 36 * sizeof(double));
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = l + (i == j ? 2 * m : 0);
      for (int k = 0; k < j; k++) sum -= G[i][k] * G[j][k];
      G[i][j] = i == j ? sqrt(sum) : sum / G[j][j];
    }
    G[3 + i][3 + i] = sqrt(m);
  }
}

/* Gradients of the four shape functions and the volume. */
static double shape_gradients(const eb_mesh *mesh, int32_t element, double grad[4][3]) {
  const int32_t *node = mesh->elements + 4 * (int64_t)element;
  double e[3][3], volume = eb_mesh_element_volume(mesh, mesh->X, element);
  for (int a = 0; a < 3; a++)
    for (int k = 0; k < 3; k++)
      e[a][k] = mesh->X[3 * (int64_t)node[a + 1] + k] - mesh->X[3 * (int64_t)node[0] + k];
  for (int a = 0; a < 3; a++)
    for (int k = 0; k < 3; k++) {
      const double *u = e[(a + 1) % 3], *v = e[(a + 2) % 3];
      grad[a + 1][k] =
          (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]) / (6 * volume);
    }
  for (int k = 0; k < 3; k++) grad[0][k] = -grad[1][k] - grad[2][k] - grad[3][k];
  return volume;
}

/* Column c of C_e, row 3 a + k. */
static void change_columns(const eb_mesh *mesh, int32_t element, double G[6][6], double scale,
                           double columns[6][12]) {
  static const int shear[3][2] = {{0, 1}, {1, 2}, {2, 0}};
  double grad[4][3], root = sqrt(scale * shape_gradients(mesh, element, grad));
  for (int c = 0; c < 6; c++)
    for (int a = 0; a < 4; a++) {
      double *out = columns[c] + 3 * a;
      for (int k = 0; k < 3; k++) out[k] = root * grad[a][k] * G[k][c];
      for (int s = 0; s < 3; s++) {
        int k = shear[s][0], l = shear[s][1];
        out[k] += root * grad[a][l] * G[3 + s][c];
        out[l] += root * grad[a][k] * G[3 + s][c];
      }
    }
}

static void fill_change(const eb_mesh *mesh, const uint8_t *chosen, double scale,
                        const int32_t *position, cholmod_sparse *C) {
  const double young = 1e6, nu = 0.45;
  double G[6][6], columns[6][12], *x = C->x;
  int32_t *start = C->p, *row = C->i, at = 0, column = 0;
  stiffness_root(young * nu / ((1 + nu) * (1 - 2 * nu)), young / (2 + 2 * nu), G);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (!chosen[e]) continue;
    change_columns(mesh, e, G, scale, columns);
    for (int c = 0; c < 6; c++) {
      start[column++] = at;
      for (int r = 0; r < 12; r++, at++) {
        row[at] = position[3 * mesh->elements[4 * (int64_t)e + r / 3] + r % 3];
        x[at] = columns[c][r];
      }
    }
  }
  start[column] = at;
}

static eb_error allocate_change(eb_bench_cholmod *peer, const eb_mesh *mesh, const uint8_t *chosen,
                                double scale) {
  size_t rank = 0, n = peer->L->n;
  int32_t *position;
  for (int32_t e = 0; e < mesh->element_count; e++) rank += chosen[e] ? 6 : 0;
  peer->C =
      cholmod_allocate_sparse(n, rank, 12 * rank, false, true, 0, CHOLMOD_REAL, &peer->common);
  EB_TRY(check(peer, "allocation of the change"));
  EB_TRY(EB_NEW(position, n));
  for (size_t k = 0; k < n; k++) position[peer->perm[k]] = (int32_t)k;
  fill_change(mesh, chosen, scale, position, peer->C);
  free(position);
  cholmod_sort(peer->C, &peer->common);
  return check(peer, "the change");
}

eb_error eb_bench_cholmod_prepare_update(eb_bench_cholmod *peer, const eb_mesh *mesh,
                                         const uint8_t *chosen, double scale) {
  factor_alone(peer);
  EB_TRY(check(peer, "factorization"));
  EB_TRY(allocate_change(peer, mesh, chosen, scale));
  peer->LD = cholmod_copy_factor(peer->L, &peer->common);
  EB_TRY(check(peer, "copy of the factor"));
  cholmod_change_factor(CHOLMOD_REAL, false, false, false, true, peer->LD, &peer->common);
  return check(peer, "simplicial factor");
}

void eb_bench_cholmod_update(eb_bench_cholmod *peer, bool add) {
  eb_one_thread before = eb_one_thread_begin();
  cholmod_updown(add, peer->C, peer->LD, &peer->common);
  eb_one_thread_end(before);
}
