#include "harness/audit/examine.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/tangent.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "solvers/linalg/one_thread.h"

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t, size_t);
void dsygv_(const int *itype, const char *jobz, const char *uplo, const int *n, double *a,
            const int *lda, double *b, const int *ldb, double *w, double *work, const int *lwork,
            int *info, size_t, size_t);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);

enum { CHUNK = 256 }; /* rows that a matrix takes at once */

/* ---- sums of squares ------------------------------------------------------------------------- */

/* A += R^T R by rows that wait; the lower triangle as LAPACK has it (the upper one of rows). */
typedef struct squares {
  int n, waiting;
  double *rows; /* CHUNK x n */
  double *sum;  /* n x n */
} squares;

static void take_waiting(squares *s) {
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, s->n, s->waiting, 1, s->rows, s->n, 1, s->sum,
              s->n);
  s->waiting = 0;
}

/* The next row, to be filled. */
static double *next_row(squares *s) {
  if (s->waiting == CHUNK) take_waiting(s);
  return s->rows + (size_t)s->waiting++ * (size_t)s->n;
}

/* Of n entries a row, none yet, into `sum`. */
static eb_error begin_squares(int n, double *sum, squares *out) {
  *out = (squares){.n = n, .sum = sum};
  memset(sum, 0, (size_t)n * (size_t)n * sizeof *sum);
  return EB_NEW(out->rows, CHUNK * (size_t)n);
}

/* All of the matrix, both triangles. */
static void end_squares(squares *s) {
  take_waiting(s);
  size_t n = (size_t)s->n;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) s->sum[i * n + j] = s->sum[j * n + i];
  free(s->rows);
}

/* ---- a point --------------------------------------------------------------------------------- */

/* What a unit of every function makes of dF: G = sum_a dN_a/dX (x) phi_a, 3 x size, of which u (3 x
 * size) makes dF = u G^T; of displacements (axes = 3) dF itself, 9 x size. */
static void slopes(const eb_audit *audit, const eb_subspace_record *s, int32_t element, double *G) {
  const int32_t *node = audit->scene->mesh->elements + 4 * (size_t)element;
  double gradient[4][3];
  size_t size = (size_t)s->size, axes = (size_t)s->axes, first;
  eb_audit_tetrahedron(audit->scene->mesh, element, gradient);
  memset(G, 0, 3 * axes * size * sizeof *G);
  for (int a = 0; a < 4; a++)
    for (size_t i = 0; i < axes; i++) {
      const double *phi = eb_subspace_row(s, (size_t)node[a], i, &first);
      for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < size; k++) G[(3 * i + j) * size + k] += gradient[a][j] * phi[k];
    }
}

/* row = scale r : dF of every coefficient. */
static void contract(const eb_subspace_record *s, const double r[9], double scale, const double *G,
                     double *row) {
  size_t size = (size_t)s->size;
  memset(row, 0, (size_t)eb_subspace_coefficients(s) * sizeof *row);
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 3; j++) {
      const double *from = G + (s->axes == 1 ? j : 3 * i + j) * size;
      double *to = row + (s->axes == 1 ? i * size : 0), factor = scale * r[3 * i + j];
      for (size_t k = 0; k < size; k++) to[k] += factor * from[k];
    }
}

/* Rows r[l] of the eigenvectors of dP/dF at F times the roots of their eigenvalues, those that are
 * positive: dP/dF is sum_l r[l] r[l]^T but for the others. Returns how many. */
static int stiff_directions(const eb_material *material, const double F[9], double r[9][9]) {
  enum { WORK = 256 };
  static const int nine = 9, work_size = WORK;
  double C[81], symmetric[81], lambda[9], work[WORK];
  eb_four at[9];
  eb_tangent_at tangent;
  int info, count = 0;
  for (int i = 0; i < 9; i++) at[i] = eb_four_of(F[i]);
  eb_reference_tangent(material, EB_TANGENT_EXACT, at, NULL, &tangent);
  for (int first = 0; first < 9; first += EB_FOUR) { /* a unit dF a lane */
    eb_four dF[9], dP[9];
    for (int i = 0; i < 9; i++)
      for (int l = 0; l < EB_FOUR; l++) dF[i][l] = i == first + l;
    eb_tangent_apply(&tangent, dF, dP);
    for (int l = 0; l < EB_FOUR && first + l < 9; l++)
      for (int i = 0; i < 9; i++) C[9 * (first + l) + i] = dP[i][l];
  }
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) symmetric[9 * i + j] = 0.5 * (C[9 * i + j] + C[9 * j + i]);
  dsyev_("V", "U", &nine, symmetric, &nine, lambda, work, &work_size, &info, 1, 1);
  for (int l = 0; info == 0 && l < 9; l++) {
    if (!(lambda[l] > 0)) continue;
    for (int i = 0; i < 9; i++) r[count][i] = sqrt(lambda[l]) * symmetric[9 * l + i];
    count++;
  }
  return count;
}

/* Adds w J^T C J of every point at x to `out`. */
static void add_points(const eb_audit *audit, const eb_subspace_record *s, const double *x,
                       double *G, squares *out) {
  const eb_mesh *mesh = audit->scene->mesh;
  for (int32_t c = 0; c < s->count; c++) {
    const int32_t *node = mesh->elements + 4 * (size_t)s->element[c];
    double gradient[4][3], F[9] = {0}, r[9][9];
    eb_audit_tetrahedron(mesh, s->element[c], gradient);
    for (int a = 0; a < 4; a++)
      for (size_t i = 0; i < 9; i++) F[i] += x[3 * (size_t)node[a] + i / 3] * gradient[a][i % 3];
    slopes(audit, s, s->element[c], G);
    int count = stiff_directions(&audit->materials[mesh->region[s->element[c]]], F, r);
    for (int l = 0; l < count; l++) contract(s, r[l], sqrt(s->weight[c]), G, next_row(out));
  }
}

/* ---- the decrement --------------------------------------------------------------------------- */

/* Adds B^T M B / h^2 to H; of scalar functions the blocks on the diagonal are the same. */
static eb_error add_inertia(const eb_audit *audit, const eb_subspace_record *s, double dt,
                            double *H) {
  size_t size = (size_t)s->size, n = (size_t)eb_subspace_coefficients(s), first;
  EB_FREED double *gram = NULL;
  squares sum;
  EB_TRY(EB_NEW(gram, size * size));
  EB_TRY(begin_squares((int)size, gram, &sum));
  for (size_t i = 0; i < audit->nodes; i++)
    for (size_t d = 0; d < (size_t)s->axes; d++) {
      double *row = next_row(&sum), root = sqrt(audit->mass[i]) / dt;
      const double *phi = eb_subspace_row(s, i, d, &first);
      for (size_t k = 0; k < size; k++) row[k] = root * phi[k];
    }
  end_squares(&sum);
  for (size_t d = 0; d < n; d += size)
    for (size_t k = 0; k < size; k++)
      for (size_t l = 0; l < size; l++) H[(d + k) * n + d + l] += gram[k * size + l];
  return EB_OK;
}

/* Adds k B_s^T B_s of every spring, as stiff as at the end of the step: a row an axis. */
static void add_springs(const eb_audit *audit, const eb_subspace_record *s, squares *out) {
  size_t first;
  for (size_t k = 0; k < audit->spring_count; k++)
    for (size_t d = 0; d < 3; d++) {
      const double *phi = eb_subspace_row(s, (size_t)audit->spring_node[k], d, &first);
      double root = sqrt(audit->springs[1].stiffness[k]), *row = next_row(out);
      memset(row, 0, (size_t)out->n * sizeof *row);
      for (int32_t i = 0; i < s->size; i++) row[first + (size_t)i] = root * phi[i];
    }
}

/* sqrt(g . inv(H) g) of H = L L^T: |inv(L) g|. Overwrites both. */
static double inverse_norm(int n, double *H, double *g) {
  int info;
  dpotrf_("L", &n, H, &n, &info, 1);
  if (info != 0) return NAN;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, H, n, g, 1);
  return cblas_dnrm2(n, g, 1);
}

/* The part of x0 - X that is in the span, as positions (nodes x 3); u is workspace. */
static void enter_span(const eb_audit *audit, const eb_subspace_record *s, const double *x0,
                       double *u, double *x) {
  const double *X = audit->scene->mesh->X;
  size_t size = (size_t)s->size, first;
  memset(u, 0, (size_t)eb_subspace_coefficients(s) * sizeof *u);
  for (int pass = 0; pass < 2; pass++) /* u = B^T M (x0 - X), then X + B u */
    for (size_t i = 0; i < audit->nodes; i++)
      for (size_t d = 0; d < 3; d++) {
        const double *phi = eb_subspace_row(s, i, d, &first);
        double y = audit->mass[i] * (x0[3 * i + d] - X[3 * i + d]), at = X[3 * i + d];
        for (size_t k = 0; pass == 0 && k < size; k++) u[first + k] += y * phi[k];
        for (size_t k = 0; pass == 1 && k < size; k++) at += u[first + k] * phi[k];
        if (pass == 1) x[3 * i + d] = at;
      }
}

/* What one decrement takes: g 3 size, G 9 size, H coefficients squared. */
typedef struct decrement_work {
  double *g, *G, *H;
} decrement_work;

/* At positions x, in the equation of the step from `before`. */
static eb_error find_decrement(eb_audit *audit, const eb_state *before, const double *x, double dt,
                               bool statics, const eb_subspace_record *s, decrement_work *w,
                               double *out) {
  int n = eb_subspace_coefficients(s);
  squares sum;
  EB_TRY(eb_audit_subspace_residual(audit, before, x, dt, statics, s, w->g));
  EB_TRY(begin_squares(n, w->H, &sum));
  add_points(audit, s, x, w->G, &sum);
  add_springs(audit, s, &sum);
  end_squares(&sum);
  if (!statics) EB_TRY(add_inertia(audit, s, dt, w->H));
  *out = inverse_norm(n, w->H, w->g);
  return EB_OK;
}

eb_error eb_subspace_decrement(eb_audit *audit, const eb_state *before, const eb_state *after,
                               double dt, bool statics, const eb_subspace_record *s,
                               double out[2]) {
  size_t n = (size_t)eb_subspace_coefficients(s), size = (size_t)s->size;
  EB_FREED double *g = NULL, *G = NULL, *H = NULL, *x = NULL;
  EB_TRY(EB_NEW(g, 3 * size));
  EB_TRY(EB_NEW(G, 9 * size));
  EB_TRY(EB_NEW(H, n * n));
  EB_TRY(EB_NEW(x, 3 * audit->nodes));
  decrement_work w = {g, G, H};
  eb_one_thread threads = eb_one_thread_begin();
  enter_span(audit, s, before->x, g, x);
  eb_error error = find_decrement(audit, before, x, dt, statics, s, &w, &out[0]);
  if (!error) error = find_decrement(audit, before, after->x, dt, statics, s, &w, &out[1]);
  eb_one_thread_end(threads);
  return error;
}

/* ---- what the points do not see -------------------------------------------------------------- */

/* Adds what the elements of a region (or those points of it) make of the stiffness at rest. There
 * the tangent C is the same in all of them, so that one matrix of slopes does,
 *   K_(i k)(i' k') = sum_jj' C_(i j)(i' j') S_(j k)(j' k'),   S = sum_e w_e G_e G_e^T. */
static eb_error add_region(const eb_audit *audit, const eb_subspace_record *s, bool points,
                           int32_t region, double *S, double *K) {
  static const double rest[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const eb_mesh *mesh = audit->scene->mesh;
  size_t size = (size_t)s->size, n = 3 * size;
  double r[9][9];
  squares sum;
  EB_TRY(begin_squares((int)n, S, &sum));
  for (int32_t c = 0; c < (points ? s->count : mesh->element_count); c++) {
    int32_t e = points ? s->element[c] : c;
    if (mesh->region[e] != region) continue;
    double *row = next_row(&sum),
           root = sqrt(points ? s->weight[c] : eb_mesh_element_volume(mesh, mesh->X, e));
    slopes(audit, s, e, row);
    for (size_t k = 0; k < n; k++) row[k] *= root;
  }
  end_squares(&sum);
  int count = stiff_directions(&audit->materials[region], rest, r);
  for (size_t ij = 0; ij < 9; ij++)
    for (size_t kl = 0; kl < 9; kl++) {
      double C = 0;
      for (int l = 0; l < count; l++) C += r[l][ij] * r[l][kl];
      if (C == 0) continue;
      for (size_t k = 0; k < size; k++)
        cblas_daxpy((int)size, C, S + (ij % 3 * size + k) * n + kl % 3 * size, 1,
                    K + (ij / 3 * size + k) * n + kl / 3 * size, 1);
    }
  return EB_OK;
}

/* The same of all regions for displacements, of which nothing is shared between the axes: a row a
 * direction that is stiff. */
static eb_error add_displacements(const eb_audit *audit, const eb_subspace_record *s, bool points,
                                  double *K) {
  static const double rest[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const eb_mesh *mesh = audit->scene->mesh;
  EB_FREED double *G = NULL;
  double r[EB_MAX_REGIONS][9][9];
  int stiff[EB_MAX_REGIONS];
  squares sum;
  for (int32_t region = 0; region < mesh->region_count; region++)
    stiff[region] = stiff_directions(&audit->materials[region], rest, r[region]);
  EB_TRY(EB_NEW(G, 9 * (size_t)s->size));
  EB_TRY(begin_squares(s->size, K, &sum));
  for (int32_t c = 0; c < (points ? s->count : mesh->element_count); c++) {
    int32_t e = points ? s->element[c] : c, region = mesh->region[e];
    double root = sqrt(points ? s->weight[c] : eb_mesh_element_volume(mesh, mesh->X, e));
    slopes(audit, s, e, G);
    for (int l = 0; l < stiff[region]; l++) contract(s, r[region][l], root, G, next_row(&sum));
  }
  end_squares(&sum);
  return EB_OK;
}

/* P (n x 6 parts, column-major) = B^T M of the rigid motions of every connected body, orthonormal
 * in M. */
static eb_error project_rigid(const eb_audit *audit, const eb_subspace_record *s, double *P) {
  enum { MOTIONS = 6 };
  const double *X = audit->scene->mesh->X;
  size_t size = (size_t)s->size, n = (size_t)eb_subspace_coefficients(s), nodes = audit->nodes;
  size_t first;
  double *field;
  EB_FREED double *all = NULL;
  EB_TRY(EB_NEW(all, MOTIONS * 3 * nodes));
  for (int32_t body = 0; body < audit->parts; body++)
    for (size_t m = 0; m < MOTIONS; m++) {
      double length2 = 0, first2 = 0;
      field = all + m * 3 * nodes;
      memset(field, 0, 3 * nodes * sizeof *field);
      for (size_t i = 0; i < nodes; i++) {
        if (audit->part[i] != body) continue;
        size_t d = m % 3;
        if (m < 3) field[3 * i + d] = 1;
        if (m >= 3) field[3 * i + (d + 1) % 3] = -X[3 * i + (d + 2) % 3];
        if (m >= 3) field[3 * i + (d + 2) % 3] = X[3 * i + (d + 1) % 3];
      }
      /* Gram and Schmidt, twice for orthogonality to rounding. */
      for (size_t k = 0; k < 3 * nodes; k++) first2 += audit->mass[k / 3] * field[k] * field[k];
      for (int pass = 0; pass < 2; pass++)
        for (size_t l = 0; l < m; l++) {
          const double *other = all + l * 3 * nodes;
          double along = 0;
          for (size_t k = 0; k < 3 * nodes; k++) along += audit->mass[k / 3] * field[k] * other[k];
          for (size_t k = 0; k < 3 * nodes; k++) field[k] -= along * other[k];
        }
      for (size_t k = 0; k < 3 * nodes; k++) length2 += audit->mass[k / 3] * field[k] * field[k];
      double scale = length2 > 1e-20 * first2 ? 1 / sqrt(length2) : 0;
      double *column = P + ((size_t)body * MOTIONS + m) * n;
      for (size_t k = 0; k < 3 * nodes; k++) field[k] *= scale;
      for (size_t i = 0; i < nodes; i++)
        for (size_t d = 0; d < 3; d++) {
          double push = audit->mass[i] * field[3 * i + d];
          const double *phi = eb_subspace_row(s, i, d, &first);
          for (size_t k = 0; push != 0 && k < size; k++) column[first + k] += push * phi[k];
        }
    }
  return EB_OK;
}

/* Q (n x *kept, column-major) of Q (n x n): an orthonormal basis of the coefficients that are
 * orthogonal to the rigid motions in the span. Those have as coefficients the eigenvectors of P P^T
 * with eigenvalue 1. */
static eb_error leave_rigid_out(const eb_audit *audit, const eb_subspace_record *s, double *Q,
                                int *kept) {
  static const double in_span = 1 - 1e-8;
  int n = eb_subspace_coefficients(s), columns = 6 * audit->parts, room = 64 * n, info = 0;
  EB_FREED double *P = NULL, *lambda = NULL, *work = NULL;
  EB_TRY(EB_NEW(P, (size_t)n * (size_t)columns));
  EB_TRY(EB_NEW(lambda, n));
  EB_TRY(EB_NEW(work, room));
  EB_TRY(project_rigid(audit, s, P));
  cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, n, columns, 1, P, n, 0, Q, n);
  dsyev_("V", "U", &n, Q, &n, lambda, work, &room, &info, 1, 1);
  if (info != 0) return EB_ERROR(EB_ERR_LIBRARY, "LAPACK's dsyev returned %d", info);
  *kept = 0;
  while (*kept < n && lambda[*kept] < in_span) ++*kept;
  return EB_OK;
}

/* A := Q^T A Q (kept x kept); S is workspace. */
static void restrict_matrix(int n, int kept, const double *Q, double *S, double *A) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, kept, n, 1, A, n, Q, n, 0, S, n);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, kept, kept, n, 1, Q, n, S, n, 0, A, kept);
}

/* Q, K and S are n x n workspace, `points` too. */
static eb_error find_null(const eb_audit *audit, const eb_subspace_record *s, double *Q, double *K,
                          double *points, double *S, double *out) {
  static const double unseen = 1e-6;
  static const int type = 1;
  int n = eb_subspace_coefficients(s), kept = 0, room = 64 * n, info = 0;
  EB_FREED double *lambda = NULL, *work = NULL;
  *out = NAN;
  for (int32_t r = 0; s->axes == 1 && r < audit->scene->mesh->region_count; r++) {
    EB_TRY(add_region(audit, s, false, r, S, K));
    EB_TRY(add_region(audit, s, true, r, S, points));
  }
  if (s->axes == 3) {
    EB_TRY(add_displacements(audit, s, false, K));
    EB_TRY(add_displacements(audit, s, true, points));
  }
  EB_TRY(leave_rigid_out(audit, s, Q, &kept));
  restrict_matrix(n, kept, Q, S, K);
  restrict_matrix(n, kept, Q, S, points);
  EB_TRY(EB_NEW(lambda, n));
  EB_TRY(EB_NEW(work, room));
  if (kept > 0)
    dsygv_(&type, "N", "U", &kept, points, &kept, K, &kept, lambda, work, &room, &info, 1, 1);
  if (info == 0) *out = 0;
  for (int k = 0; info == 0 && k < kept; k++) *out += lambda[k] < unseen;
  return EB_OK;
}

bool eb_subspace_sound(const eb_audit *audit, const eb_subspace_record *s) {
  return eb_audit_subspace_sound(audit, s);
}

/* ---- examination ----------------------------------------------------------------------------- */

static eb_error find_outside(const eb_audit *audit, const eb_subspace_record *s, const double *x0,
                             double *out) {
  const double *X = audit->scene->mesh->X;
  EB_FREED double *u = NULL, *x = NULL;
  double left2 = 0, all2 = 0;
  EB_TRY(EB_NEW(u, 3 * (size_t)s->size));
  EB_TRY(EB_NEW(x, 3 * audit->nodes));
  enter_span(audit, s, x0, u, x);
  for (size_t k = 0; k < 3 * audit->nodes; k++) {
    left2 += audit->mass[k / 3] * (x0[k] - x[k]) * (x0[k] - x[k]);
    all2 += audit->mass[k / 3] * (x0[k] - X[k]) * (x0[k] - X[k]);
  }
  *out = all2 > 0 ? sqrt(left2 / all2) : 0;
  return EB_OK;
}

static void fill_regions(const eb_audit *audit, const eb_parts *parts, const eb_subspace_record *s,
                         eb_subspace_figures *out) {
  const eb_mesh *mesh = audit->scene->mesh;
  double volume[EB_MAX_REGIONS] = {0}, points[EB_MAX_REGIONS] = {0}, all = 0;
  for (int p = 0; p < EB_MAX_REGIONS + EB_MAX_GRIPS; p++) out->variance[p] = out->density[p] = NAN;
  for (int32_t e = 0; e < mesh->element_count; e++)
    volume[mesh->region[e]] += eb_mesh_element_volume(mesh, mesh->X, e);
  for (int32_t c = 0; c < s->count; c++) points[mesh->region[s->element[c]]]++;
  for (int32_t r = 0; r < mesh->region_count; r++) all += volume[r];
  for (int32_t r = 0; r < mesh->region_count; r++) {
    int p = eb_parts_of_region(parts, r);
    if (p < 0) continue;
    out->density[p] = points[r] / s->count / (volume[r] / all);
    if (s->weights > 0) out->variance[p] = eb_parts_variance(parts, p, s->weights, s->weight_of);
  }
}

eb_error eb_subspace_examine(const eb_audit *audit, const eb_parts *parts,
                             const eb_subspace_record *s, const double *x0,
                             eb_subspace_figures *out) {
  enum { MATRICES = 4 };
  size_t n = (size_t)eb_subspace_coefficients(s);
  EB_FREED double *work = NULL;
  *out = (eb_subspace_figures){.coefficients = eb_subspace_coefficients(s), .points = s->count};
  EB_TRY(EB_NEW(work, MATRICES * n * n));
  eb_one_thread threads = eb_one_thread_begin();
  eb_error error =
      find_null(audit, s, work, work + n * n, work + 2 * n * n, work + 3 * n * n, &out->null);
  eb_one_thread_end(threads);
  if (!error) error = find_outside(audit, s, x0, &out->start_outside);
  fill_regions(audit, parts, s, out);
  return error;
}
