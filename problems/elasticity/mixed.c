/* Sweeps of the mixed form over batches of four elements.
 *
 * Symmetric matrices are 6-vectors in Mandel's order, (00 11 22) and sqrt 2 (12 02 01), so that the
 * dot product is that of the matrices and a change of frame is orthogonal. With F = U diag(s) V^T,
 * Sbar = V diag(s) V^T. From Sbar^2 = F^T F, with X = U^T dF V,
 *   (V^T dSbar V)_ij = (s_i X_ij + s_j X_ji) / (s_i + s_j),
 * which needs no system to be solved. So row p of dF, along a gradient h = V^T g, moves three of
 * the six entries: p by h_p, and (p, j) by s_p / (s_p + s_j) h_j.
 *
 * H has in the frame Q of S (its own eigenvectors, not V) the tangent of an isotropic law for
 * symmetric dF: 3 x 3 for the diagonal entries, the flip modes for the others (law.h); the twist
 * modes, which make FEM's tangent indefinite under compression, have no part in it. */
#include "problems/elasticity/mixed.h"

#include "problems/base/memory.h"
#include "problems/elasticity/element_kernels.h"

enum { MANDEL = 6, PACKED = 21 };

static const double ROOT2 = 1.41421356237309504880;
/* s_i + s_j is kept above this: where it vanishes the rotation is not unique, and J infinite. */
static const double SMALLEST_PAIR = 1e-3;

/* What one batch of points keeps between the sweeps of an iteration, 4 lanes each. */
typedef struct mixed_point {
  eb_v4 S[6], dS[6];    /* 00 11 22 12 02 01 */
  eb_v4 lambda[MANDEL]; /* before expand: dpsi/dS + H (Sbar - S) in the frame V; after: lambda */
  eb_v4 U[9], V[9], s[3];
  eb_v4 H[PACKED]; /* in the frame V, rows of the upper triangle */
} mixed_point;

struct eb_mixed {
  const eb_elasticity *elasticity;
  int64_t count; /* batches x points */
  mixed_point *point;
};

/* ---- symmetric matrices ---- */

static const int ENTRY[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};

EB_INLINE void expand(const eb_v4 S[6], eb_v4 out[9]) {
  for (int i = 0; i < 9; i++) out[i] = S[ENTRY[i]];
}

/* V diag V^T for a Mandel vector d in the frame V, as 00 11 22 12 02 01. */
EB_INLINE void to_world(const eb_v4 V[9], const eb_v4 d[MANDEL], eb_v4 out[6]) {
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  eb_v4 full[9], T[9];
  for (int i = 0; i < 9; i++) full[i] = ENTRY[i] < 3 ? d[ENTRY[i]] : d[ENTRY[i]] / ROOT2;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) T[3 * i + k] = eb_v4_dot3(V + 3 * i, full + 3 * k);
  for (int m = 0; m < 6; m++) out[m] = eb_v4_dot3(T + 3 * row[m], V + 3 * column[m]);
}

/* V^T S V as a Mandel vector. */
EB_INLINE void to_frame(const eb_v4 V[9], const eb_v4 S[6], eb_v4 out[MANDEL]) {
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  eb_v4 full[9], T[9];
  expand(S, full);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      T[3 * i + k] = full[3 * i] * V[k] + full[3 * i + 1] * V[3 + k] + full[3 * i + 2] * V[6 + k];
  for (int m = 0; m < 6; m++) {
    const eb_v4 *left = V + row[m], *right = T + column[m];
    eb_v4 sum = left[0] * right[0] + left[3] * right[3] + left[6] * right[6];
    out[m] = m < 3 ? sum : sum * ROOT2;
  }
}

EB_INLINE eb_v4 dot6(const eb_v4 a[MANDEL], const eb_v4 b[MANDEL]) {
  return eb_v4_dot3(a, b) + eb_v4_dot3(a + 3, b + 3);
}

EB_INLINE int packed(int i, int j) {
  int low = i < j ? i : j, high = i < j ? j : i;
  return low * MANDEL - low * (low - 1) / 2 + high - low;
}

EB_INLINE void multiply6(const eb_v4 H[PACKED], const eb_v4 d[MANDEL], eb_v4 out[MANDEL]) {
  for (int i = 0; i < MANDEL; i++) {
    out[i] = H[packed(i, 0)] * d[0];
    for (int j = 1; j < MANDEL; j++) out[i] += H[packed(i, j)] * d[j];
  }
}

/* ---- one point ---- */

/* dpsi/dS, a symmetric matrix: the stress of the law at F = S, whose rotation is none. */
EB_INLINE void stretch_stress(const eb_law *law, const eb_v4 S[6], eb_v4 out[6]) {
  static const eb_v4 identity[9] = {{1, 1, 1, 1}, {0}, {0}, {0},         {1, 1, 1, 1},
                                    {0},          {0}, {0}, {1, 1, 1, 1}};
  static const int where[6] = {0, 4, 8, 5, 2, 1};
  eb_v4 F[9], P[9];
  expand(S, F);
  eb_law_stress(law, F, identity, NULL, P);
  for (int m = 0; m < 6; m++) out[m] = P[where[m]];
}

EB_INLINE eb_v4 stretch_energy(const eb_law *law, const eb_v4 S[6]) {
  static const eb_v4 identity[9] = {{1, 1, 1, 1}, {0}, {0}, {0},         {1, 1, 1, 1},
                                    {0},          {0}, {0}, {1, 1, 1, 1}};
  eb_v4 F[9], psi;
  expand(S, F);
  eb_law_energy(law, F, identity, NULL, &psi);
  return psi;
}

/* d2psi/dS2 at S, in the frame V. With M = V^T Q the mode k < 3 of Q's frame is m_k m_k^T, and mode
 * 3 + k (m_i m_j^T + m_j m_i^T) / sqrt 2. */
EB_INLINE void stretch_hessian(const eb_law *law, const eb_v4 S[6], const eb_v4 V[9],
                               eb_v4 H[PACKED]) {
  eb_v4 w[3], Q[9], M[9], mode[MANDEL][MANDEL], scaled[3][MANDEL];
  eb_tangent t;
  eb_eigen3(S, w, Q);
  eb_law_tangent(law, w, true, &t);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      M[3 * i + k] = V[i] * Q[k] + V[3 + i] * Q[3 + k] + V[6 + i] * Q[6 + k];
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    for (int i = 0; i < 3; i++) {
      int r = (i + 1) % 3, c = (i + 2) % 3;
      mode[k][i] = M[3 * i + k] * M[3 * i + k];
      mode[k][3 + i] = ROOT2 * M[3 * r + k] * M[3 * c + k];
      mode[3 + k][i] = ROOT2 * M[3 * i + l] * M[3 * i + m];
      mode[3 + k][3 + i] = M[3 * r + l] * M[3 * c + m] + M[3 * r + m] * M[3 * c + l];
    }
  }
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < MANDEL; i++)
      scaled[k][i] = t.scaling[k] * mode[k][i] + t.scaling[3 + (k + 2) % 3] * mode[(k + 1) % 3][i] +
                     t.scaling[3 + (k + 1) % 3] * mode[(k + 2) % 3][i];
  for (int i = 0; i < MANDEL; i++)
    for (int j = i; j < MANDEL; j++) {
      eb_v4 sum = {0};
      for (int k = 0; k < 3; k++)
        sum += scaled[k][i] * mode[k][j] +
               (t.direct[k] + t.cross[k]) * mode[3 + k][i] * mode[3 + k][j];
      H[packed(i, j)] = sum;
    }
}

/* slope[p][j] = s_p / (s_p + s_j): how much of row p's motion along j changes the stretch. */
EB_INLINE void stretch_slopes(const eb_v4 s[3], eb_v4 slope[9]) {
  for (int p = 0; p < 3; p++)
    for (int j = 0; j < 3; j++)
      slope[3 * p + j] =
          p == j ? eb_v4_set(1) : s[p] / eb_v4_max(s[p] + s[j], eb_v4_set(SMALLEST_PAIR));
}

/* The stretch of the decomposition, 00 11 22 12 02 01. */
EB_INLINE void stretch_of(const eb_v4 V[9], const eb_v4 s[3], eb_v4 out[6]) {
  const eb_v4 d[MANDEL] = {s[0], s[1], s[2], {0}, {0}, {0}};
  to_world(V, d, out);
}

/* Every point is decomposed, whatever its law. */
EB_INLINE bool always(const eb_law *law) {
  (void)law;
  return true;
}

/* ---- the condensed system ---- */

/* J's column of node a's row p: three of six entries. */
EB_INLINE void stretch_column(const eb_v4 slope[9], const eb_v4 h[3], int p, eb_v4 d[MANDEL]) {
  int j = (p + 1) % 3, k = (p + 2) % 3;
  for (int m = 0; m < MANDEL; m++) d[m] = eb_v4_set(0);
  d[p] = h[p];
  d[3 + k] = ROOT2 * slope[3 * p + j] * h[j];
  d[3 + j] = ROOT2 * slope[3 * p + k] * h[k];
}

/* K_ab += U C U^T for 1 <= a <= b, C_pq = w J_ap . H J_bq. */
EB_INLINE void add_mixed_blocks(int A, const mixed_point *point, const eb_v4 slope[9],
                                const eb_v4 *g, bool fresh, eb_v4 (*block)[9]) {
  eb_v4 column[EB_MAX_INNER][3][MANDEL], pushed[EB_MAX_INNER][3][MANDEL], h[3];
  const eb_v4 *V = point->V, *U = point->U, weight = g[3 * (A - 1)];
  for (int a = 0; a < A - 1; a++) {
    const eb_v4 *ga = g + 3 * a;
    for (int k = 0; k < 3; k++) h[k] = V[k] * ga[0] + V[3 + k] * ga[1] + V[6 + k] * ga[2];
    for (int p = 0; p < 3; p++) {
      stretch_column(slope, h, p, column[a][p]);
      multiply6(point->H, column[a][p], pushed[a][p]);
      for (int m = 0; m < MANDEL; m++) pushed[a][p][m] *= weight;
    }
  }
  int pair = 0;
  for (int a = 0; a < A - 1; a++)
    for (int b = a; b < A - 1; b++, pair++) {
      eb_v4 C[9], T[9];
      for (int p = 0; p < 3; p++) {
        int j = (p + 1) % 3, k = (p + 2) % 3;
        const eb_v4 *d = column[a][p];
        for (int q = 0; q < 3; q++) {
          const eb_v4 *e = pushed[b][q];
          C[3 * p + q] = d[p] * e[p] + d[3 + j] * e[3 + j] + d[3 + k] * e[3 + k];
        }
      }
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) T[3 * i + j] = eb_v4_dot3(C + 3 * i, U + 3 * j);
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          eb_v4 K = U[3 * i] * T[j] + U[3 * i + 1] * T[3 + j] + U[3 * i + 2] * T[6 + j];
          block[pair][3 * i + j] = fresh ? K : block[pair][3 * i + j] + K;
        }
    }
}

/* The stress P = U P' V^T whose work on dF is a : dSbar: P'_pj = slope_pj a_pj (twice, as (p, j) is
 * two entries of the matrix). */
EB_INLINE void stretch_to_stress(const mixed_point *point, const eb_v4 slope[9],
                                 const eb_v4 a[MANDEL], eb_v4 P[9]) {
  eb_v4 inner[9], T[9];
  for (int p = 0; p < 3; p++)
    for (int j = 0; j < 3; j++)
      inner[3 * p + j] = p == j ? a[p] : ROOT2 * slope[3 * p + j] * a[ENTRY[3 * p + j]];
  for (int p = 0; p < 3; p++)
    for (int k = 0; k < 3; k++) T[3 * p + k] = eb_v4_dot3(inner + 3 * p, point->V + 3 * k);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      const eb_v4 *u = point->U + 3 * i;
      P[3 * i + k] = u[0] * T[k] + u[1] * T[3 + k] + u[2] * T[6 + k];
    }
}

typedef struct condense_job {
  eb_mixed *mixed;
  const double *x;
  double *values, *q, *g;
} condense_job;

/* Prepares a point at S: H and dpsi/dS + H (Sbar - S), both in the frame V. */
EB_INLINE void linearize(const eb_law *law, mixed_point *point) {
  eb_v4 force[6], stress[MANDEL], gap[6], off[MANDEL], push[MANDEL];
  stretch_of(point->V, point->s, gap);
  for (int m = 0; m < 6; m++) gap[m] -= point->S[m];
  stretch_hessian(law, point->S, point->V, point->H);
  stretch_stress(law, point->S, force);
  to_frame(point->V, force, stress);
  to_frame(point->V, gap, off);
  multiply6(point->H, off, push);
  for (int m = 0; m < MANDEL; m++) point->lambda[m] = stress[m] + push[m];
}

EB_INLINE void condense_batch(int A, int Q, const condense_job *job, int32_t b,
                              const point_group *group, int first) {
  enum { PAIRS = EB_MAX_INNER * (EB_MAX_INNER + 1) / 2 };
  const eb_elasticity *e = job->mixed->elasticity;
  const eb_law *law = &e->laws[e->batch_law[b]];
  const eb_v4 *g = geometry_of(e, A, Q, b);
  const int32_t *node = e->node + (int64_t)b * A * EB_LANES;
  eb_v4 block[PAIRS][9], force[EB_MAX_INNER][3], exact[EB_MAX_INNER][3], slope[9], P[9], R[9];
  for (int n = first; n < first + Q; n++, g += 3 * (A - 1) + 1) {
    mixed_point *point = job->mixed->point + (int64_t)b * Q + (n - first);
    for (int i = 0; i < 9; i++) {
      point->U[i] = group->U[n][i];
      point->V[i] = group->V[n][i];
    }
    for (int i = 0; i < 3; i++) point->s[i] = group->s[n][i];
    linearize(law, point);
    stretch_slopes(point->s, slope);
    add_mixed_blocks(A, point, slope, g, n == first, block);
    stretch_to_stress(point, slope, point->lambda, P);
    add_force(A, P, g, n == first, force);
    eb_rotation3(point->U, point->V, R);
    eb_law_stress(law, group->F[n], R, NULL, P);
    add_force(A, P, g, n == first, exact);
  }
  scatter_blocks(A, e->scatter + (int64_t)b * (A * (A + 1) / 2) * EB_LANES, block, job->values);
  scatter_force(A, node, force, job->q);
  scatter_force(A, node, exact, job->g);
}

EB_INLINE void condense_sweep(int A, int Q, const condense_job *job, int32_t begin, int32_t end) {
  const eb_elasticity *e = job->mixed->elasticity;
  point_group group;
  for (int32_t b = begin; b < end; b += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, b, end);
    prepare_group(A, Q, e, b, stop, job->x, always, &group);
    for (int32_t k = b; k < stop; k++) condense_batch(A, Q, job, k, &group, (k - b) * Q);
  }
}

/* ---- the other sweeps ---- */

/* Sums over points: of the Lagrangian, of the sizes of its terms, of the decrease to expect. */
typedef struct point_sum {
  eb_v4 value, magnitude, decrease;
} point_sum;

EB_INLINE void add_energy(const eb_law *law, const eb_v4 S[6], const eb_v4 gap[6],
                          const eb_v4 lambda[6], eb_v4 weight, point_sum *sum) {
  eb_v4 psi = stretch_energy(law, S);
  eb_v4 work = eb_v4_dot3(lambda, gap) + 2 * eb_v4_dot3(lambda + 3, gap + 3);
  sum->value += weight * (psi + work);
  sum->magnitude += weight * (eb_v4_abs(psi) + eb_v4_abs(work));
}

EB_INLINE void expand_batch(int A, int Q, eb_mixed *mixed, int32_t b, const double *p,
                            point_sum *sum) {
  const eb_elasticity *e = mixed->elasticity;
  const eb_v4 *g = geometry_of(e, A, Q, b);
  eb_v4 edge[EB_MAX_INNER][3], dF[9], T[9], X[9], slope[9];
  gather_edges(A, e->node + (int64_t)b * A * EB_LANES, p, edge);
  for (int q = 0; q < Q; q++, g += 3 * (A - 1) + 1) {
    mixed_point *point = mixed->point + (int64_t)b * Q + q;
    eb_v4 d[MANDEL], pushed[MANDEL], turned[6], gap[6], own[MANDEL];
    deformation(A, edge, g, dF);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        const eb_v4 *V = point->V + k, *row = dF + 3 * i;
        T[3 * i + k] = row[0] * V[0] + row[1] * V[3] + row[2] * V[6];
      }
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++)
        X[3 * i + k] = point->U[i] * T[k] + point->U[3 + i] * T[3 + k] + point->U[6 + i] * T[6 + k];
    stretch_slopes(point->s, slope);
    for (int k = 0; k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      d[k] = X[4 * k];
      d[3 + k] = ROOT2 * (slope[3 * i + j] * X[3 * i + j] + slope[3 * j + i] * X[3 * j + i]);
    }
    multiply6(point->H, d, pushed);
    for (int m = 0; m < MANDEL; m++) pushed[m] += point->lambda[m];
    /* dS : H dS with dS = gap + J p in the frame V */
    stretch_of(point->V, point->s, gap);
    for (int m = 0; m < 6; m++) gap[m] -= point->S[m];
    to_frame(point->V, gap, own);
    for (int m = 0; m < MANDEL; m++) own[m] += d[m];
    multiply6(point->H, own, d);
    sum->decrease += g[3 * (A - 1)] * dot6(own, d);
    to_world(point->V, own, point->dS);
    to_world(point->V, pushed, turned);
    for (int m = 0; m < 6; m++) point->lambda[m] = turned[m];
    add_energy(&e->laws[e->batch_law[b]], point->S, gap, turned, g[3 * (A - 1)], sum);
  }
}

EB_INLINE void lagrangian_sweep(int A, int Q, const eb_mixed *mixed, int32_t begin, int32_t end,
                                const double *x, double a, point_sum *sum) {
  const eb_elasticity *e = mixed->elasticity;
  point_group group;
  for (int32_t first = begin; first < end; first += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, first, end);
    prepare_group(A, Q, e, first, stop, x, always, &group);
    for (int n = 0; n < (stop - first) * Q; n++) {
      int32_t b = first + n / Q;
      const mixed_point *point = mixed->point + (int64_t)b * Q + n % Q;
      eb_v4 S[6], gap[6];
      stretch_of(group.V[n], group.s[n], gap);
      for (int m = 0; m < 6; m++) {
        S[m] = point->S[m] + a * point->dS[m];
        gap[m] -= S[m];
      }
      add_energy(&e->laws[e->batch_law[b]], S, gap, point->lambda,
                 geometry_of(e, A, Q, b)[n % Q * (3 * (A - 1) + 1) + 3 * (A - 1)], sum);
    }
  }
}

EB_INLINE double project_sweep(int A, int Q, eb_mixed *mixed, int32_t begin, int32_t end,
                               const double *x, bool keep) {
  point_group group;
  double largest = 0;
  for (int32_t first = begin; first < end; first += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, first, end);
    prepare_group(A, Q, mixed->elasticity, first, stop, x, always, &group);
    for (int n = 0; n < (stop - first) * Q; n++) {
      mixed_point *point = mixed->point + (int64_t)first * Q + n;
      eb_v4 S[6], square = {0};
      stretch_of(group.V[n], group.s[n], S);
      for (int m = 0; m < 6; m++) {
        eb_v4 off = S[m] - point->S[m];
        square += (m < 3 ? 1 : 2) * off * off;
        if (keep) point->S[m] = S[m];
      }
      for (int l = 0; l < EB_LANES; l++)
        if (!(square[l] <= largest)) largest = square[l];
    }
  }
  return sqrt(largest);
}

/* ---- over all chunks, for either element ---- */

#define BY_ELEMENT(mixed, sweep, ...)                                                              \
  ((mixed)->elasticity->kernels->nodes == EB_TETRAHEDRON ? sweep(EB_TETRAHEDRON, 1, __VA_ARGS__)   \
                                                         : sweep(EB_HEXAHEDRON, 8, __VA_ARGS__))

eb_error eb_mixed_create(const eb_elasticity *e, eb_mixed **out) {
  *out = NULL;
  if (e->kernels->nodes != EB_TETRAHEDRON && e->kernels->nodes != EB_HEXAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "mixed elements are tetrahedra or hexahedra");
  for (int32_t r = 0; r < e->law_count; r++)
    if (!eb_law_needs_frame(&e->laws[r]) || e->laws[r].fibre)
      return EB_ERROR(EB_ERR_UNSUPPORTED,
                      "region %d: mixed elements need a material that is a function of the stretch "
                      "alone: neither linear nor with fibres",
                      (int)r);
  eb_mixed *mixed;
  EB_TRY(EB_NEW(mixed, 1));
  mixed->elasticity = e;
  mixed->count = (int64_t)e->batch_count * e->kernels->points;
  eb_error error = EB_NEW(mixed->point, mixed->count);
  if (error) {
    free(mixed);
    return error;
  }
  for (int64_t n = 0; n < mixed->count; n++)
    for (int k = 0; k < 3; k++) mixed->point[n].S[k] = eb_v4_set(1);
  *out = mixed;
  return EB_OK;
}

void eb_mixed_destroy(eb_mixed *mixed) {
  if (mixed) free(mixed->point);
  free(mixed);
}

int64_t eb_mixed_bytes(const eb_mixed *mixed) {
  return (int64_t)sizeof *mixed + mixed->count * (int64_t)sizeof *mixed->point;
}

/* Largest gap before the stretches are set, when they are. */
static double project(eb_mixed *mixed, const double *x, bool keep) {
  const eb_elasticity *e = mixed->elasticity;
  double largest = 0;
#pragma omp parallel for schedule(static)
  for (int32_t c = 0; c < e->chunk_count; c++) {
    double gap =
        BY_ELEMENT(mixed, project_sweep, mixed, e->chunk_start[c], e->chunk_start[c + 1], x, keep);
#pragma omp critical(eb_mixed_largest)
    if (!(gap <= largest)) largest = gap;
  }
  return largest;
}

void eb_mixed_project(eb_mixed *mixed, const double *x) {
  project(mixed, x, true);
}

double eb_mixed_gap(const eb_mixed *mixed, const double *x) {
  return project((eb_mixed *)mixed, x, false);
}

void eb_mixed_condense(eb_mixed *mixed, const double *x, double mass_scale, eb_block_matrix *matrix,
                       double *q, double *g) {
  const eb_elasticity *e = mixed->elasticity;
  const condense_job job = {.mixed = mixed, .x = x, .values = matrix->values, .q = q, .g = g};
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t c; (c = eb_schedule_take(s)) >= 0;) {
    eb_elements_open_rows(e, c, e->mass, mass_scale, matrix->values);
    eb_elements_open_gradient(e, c, q);
    eb_elements_open_gradient(e, c, g);
    BY_ELEMENT(mixed, condense_sweep, &job, e->chunk_start[c], e->chunk_start[c + 1]);
    eb_schedule_finish(s, c);
    eb_elements_close_rows(e, c, matrix->values);
  }
}

typedef struct chunk_sum {
  double value, magnitude, decrease;
} chunk_sum;

/* One chunk: of the trial point x, S + a dS; or with `p`, of the expansion along p. */
static chunk_sum sum_chunk(eb_mixed *mixed, int32_t c, const double *p, const double *x, double a) {
  const eb_elasticity *e = mixed->elasticity;
  const int32_t begin = e->chunk_start[c], end = e->chunk_start[c + 1];
  point_sum sum = {{0}, {0}, {0}};
  if (p)
    for (int32_t b = begin; b < end; b++) BY_ELEMENT(mixed, expand_batch, mixed, b, p, &sum);
  else
    BY_ELEMENT(mixed, lagrangian_sweep, mixed, begin, end, x, a, &sum);
  return (chunk_sum){eb_v4_sum(sum.value), eb_v4_sum(sum.magnitude), eb_v4_sum(sum.decrease)};
}

/* Over chunks in their order, a bounded number at a time, so that the bits are the same for any
 * number of threads. */
static chunk_sum sum_chunks(eb_mixed *mixed, const double *p, const double *x, double a) {
  enum { PARTIAL_SUMS = 1024 };
  const int32_t chunks = mixed->elasticity->chunk_count;
  chunk_sum total = {0, 0, 0}, partial[PARTIAL_SUMS];
  for (int32_t base = 0; base < chunks; base += PARTIAL_SUMS) {
    int32_t count = chunks - base < PARTIAL_SUMS ? chunks - base : PARTIAL_SUMS;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t c = 0; c < count; c++) partial[c] = sum_chunk(mixed, base + c, p, x, a);
    for (int32_t c = 0; c < count; c++) {
      total.value += partial[c].value;
      total.magnitude += partial[c].magnitude;
      total.decrease += partial[c].decrease;
    }
  }
  return total;
}

double eb_mixed_expand(eb_mixed *mixed, const double *p, eb_mixed_energy *before) {
  chunk_sum sum = sum_chunks(mixed, p, NULL, 0);
  *before = (eb_mixed_energy){sum.value, sum.magnitude};
  return sum.decrease;
}

eb_mixed_energy eb_mixed_lagrangian(const eb_mixed *mixed, const double *x, double a) {
  chunk_sum sum = sum_chunks((eb_mixed *)mixed, NULL, x, a); /* which changes nothing then */
  return (eb_mixed_energy){sum.value, sum.magnitude};
}

void eb_mixed_accept(eb_mixed *mixed, double a) {
#pragma omp parallel for schedule(static)
  for (int64_t n = 0; n < mixed->count; n++)
    for (int m = 0; m < 6; m++) mixed->point[n].S[m] += a * mixed->point[n].dS[m];
}
