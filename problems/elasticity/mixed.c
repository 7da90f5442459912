/* Sweeps of the mixed form over batches of four elements (mixed_point.h has the points). */
#include "problems/elasticity/mixed.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/elasticity/element_kernels.h"
#include "problems/elasticity/mixed_point.h"

struct eb_mixed {
  const eb_elasticity *elasticity;
  int64_t count; /* batches x points */
  mixed_point *point;
};

/* Every point is decomposed, whatever its law. */
EB_INLINE bool always(const eb_law *law) {
  (void)law;
  return true;
}

/* ---- the condensed system ---- */

/* Row p of node a moves three of the six entries, p, 3 + k and 3 + j with j = p + 1, k = p + 2, by
 * these: a column of J without its zeros. */
EB_INLINE void stretch_column(const eb_v4 slope[9], const eb_v4 h[3], int p, eb_v4 d[3]) {
  int j = (p + 1) % 3, k = (p + 2) % 3;
  d[0] = h[p];
  d[1] = ROOT2 * slope[3 * p + j] * h[j];
  d[2] = ROOT2 * slope[3 * p + k] * h[k];
}

/* J_ap . (another vector of six) */
EB_INLINE eb_v4 column_dot(const eb_v4 d[3], int p, const eb_v4 e[MANDEL]) {
  int j = (p + 1) % 3, k = (p + 2) % 3;
  return d[0] * e[p] + d[1] * e[3 + k] + d[2] * e[3 + j];
}

/* out = H J_ap */
EB_INLINE void push_column(const eb_v4 H[PACKED], const eb_v4 d[3], int p, eb_v4 out[MANDEL]) {
  int j = (p + 1) % 3, k = (p + 2) % 3;
#pragma GCC unroll 6
  for (int m = 0; m < MANDEL; m++)
    out[m] = H[packed(m, p)] * d[0] + H[packed(m, 3 + k)] * d[1] + H[packed(m, 3 + j)] * d[2];
}

/* K = W C U^T, W = w U. */
EB_INLINE void turn_block(const eb_v4 W[9], const eb_v4 U[9], const eb_v4 C[9], eb_v4 K[9]) {
  eb_v4 T[9];
  for (int p = 0; p < 3; p++)
    for (int i = 0; i < 3; i++) T[3 * p + i] = eb_v4_dot3(C + 3 * p, U + 3 * i);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      K[3 * i + j] = W[3 * i] * T[j] + W[3 * i + 1] * T[3 + j] + W[3 * i + 2] * T[6 + j];
}

/* K_ab += w U C U^T for 1 <= a <= b, C_pq = J_ap . H J_bq. */
EB_INLINE void add_mixed_blocks(int A, const mixed_point *point, const eb_v4 slope[9],
                                const eb_v4 *g, bool fresh, eb_v4 (*block)[9]) {
  eb_v4 column[EB_MAX_INNER][3][3], W[9], h[3];
  const eb_v4 *V = point->V, *U = point->U;
  for (int i = 0; i < 9; i++) W[i] = g[3 * (A - 1)] * U[i];
  for (int b = 0; b < A - 1; b++) {
    const eb_v4 *gb = g + 3 * b;
    eb_v4 pushed[3][MANDEL];
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) h[k] = V[k] * gb[0] + V[3 + k] * gb[1] + V[6 + k] * gb[2];
#pragma GCC unroll 3
    for (int q = 0; q < 3; q++) {
      stretch_column(slope, h, q, column[b][q]);
      push_column(point->H, column[b][q], q, pushed[q]);
    }
    for (int a = 0; a <= b; a++) {
      eb_v4 C[9], K[9], *to = block[a * (A - 1) - a * (a - 1) / 2 + b - a];
#pragma GCC unroll 3
      for (int p = 0; p < 3; p++)
#pragma GCC unroll 3
        for (int q = 0; q < 3; q++) C[3 * p + q] = column_dot(column[a][p], p, pushed[q]);
      turn_block(W, U, C, K);
      for (int i = 0; i < 9; i++) to[i] = fresh ? K[i] : to[i] + K[i];
    }
  }
}

typedef struct condense_job {
  eb_mixed *mixed;
  const double *x;
  double *values, *q, *g;
} condense_job;

EB_INLINE void condense_batch(int A, int Q, const condense_job *job, int32_t b,
                              const point_group *group, int first) {
  enum { PAIRS = EB_MAX_INNER * (EB_MAX_INNER + 1) / 2 };
  const eb_elasticity *e = job->mixed->elasticity;
  const eb_law *law = &e->laws[e->batch_law[b]];
  const eb_v4 *g = geometry_of(e, A, Q, b);
  const int32_t *node = e->node + (int64_t)b * A * EB_LANES;
  eb_v4 block[PAIRS][9], force[EB_MAX_INNER][3], exact[EB_MAX_INNER][3], slope[9], P[9],
      R[9] = {{0}};
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
    if (law->rotates) eb_rotation3(point->U, point->V, R);
    eb_law_stress(law, group->F[n], R, NULL, P);
    add_force(A, P, g, n == first, exact);
  }
  scatter_blocks(A, e->scatter + (int64_t)b * (A * (A + 1) / 2) * EB_LANES, block, job->values);
  scatter_force(A, node, force, job->q);
  scatter_force(A, node, exact, job->g);
}

EB_INLINE void condense_sweep(int A, int Q, const condense_job *job, int32_t begin, int32_t end) {
  const int64_t entries = A * (A + 1) / 2 * EB_LANES;
  const eb_elasticity *e = job->mixed->elasticity;
  point_group group;
  for (int32_t b = begin; b < end; b += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, b, end);
    prepare_group(A, Q, e, b, stop, job->x, always, &group);
    for (int32_t k = b; k < stop; k++) {
      if (k + 1 < end) prefetch_blocks(A, e->scatter + (k + 1) * entries, job->values);
      condense_batch(A, Q, job, k, &group, (k - b) * Q);
    }
  }
}

/* ---- the other sweeps ---- */

EB_INLINE void expand_batch(int A, int Q, eb_mixed *mixed, int32_t b, const double *p,
                            point_sum *sum) {
  const eb_elasticity *e = mixed->elasticity;
  const eb_v4 *g = geometry_of(e, A, Q, b);
  eb_v4 edge[EB_MAX_INNER][3], dF[9];
  gather_edges(A, e->node + (int64_t)b * A * EB_LANES, p, edge);
  for (int q = 0; q < Q; q++, g += 3 * (A - 1) + 1) {
    deformation(A, edge, g, dF);
    expand_point(&e->laws[e->batch_law[b]], dF, g[3 * (A - 1)], mixed->point + (int64_t)b * Q + q,
                 sum);
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
      eb_v4 Sbar[6];
      stretch_of(group.V[n], group.s[n], Sbar);
      add_trial_energy(&e->laws[e->batch_law[b]], point, Sbar, a,
                       geometry_of(e, A, Q, b)[n % Q * (3 * (A - 1) + 1) + 3 * (A - 1)], sum);
    }
  }
}

EB_INLINE void project_sweep(int A, int Q, eb_mixed *mixed, int32_t begin, int32_t end,
                             const double *x) {
  point_group group;
  for (int32_t first = begin; first < end; first += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, first, end);
    prepare_group(A, Q, mixed->elasticity, first, stop, x, always, &group);
    for (int n = 0; n < (stop - first) * Q; n++)
      stretch_of(group.V[n], group.s[n], mixed->point[(int64_t)first * Q + n].S);
  }
}

/* ---- over all chunks, for either element ---- */

#define BY_ELEMENT(mixed, sweep, ...)                                                              \
  ((mixed)->elasticity->kernels->nodes == EB_TETRAHEDRON ? sweep(EB_TETRAHEDRON, 1, __VA_ARGS__)   \
                                                         : sweep(EB_HEXAHEDRON, 8, __VA_ARGS__))

eb_error eb_mixed_create(const eb_elasticity *e, eb_mixed **out) {
  *out = NULL;
  if (e->kernels->nodes != EB_TETRAHEDRON && e->kernels->nodes != EB_HEXAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "mixed elements are tetrahedra or hexahedra");
  if (e->kernels == &eb_one_point_hexahedron_kernels)
    return EB_ERROR(
        EB_ERR_UNSUPPORTED,
        "mixed hexahedra need integration=%s: control of hourglass modes is no function "
        "of a stretch",
        eb_integration_name(EB_INTEGRATION_GAUSS));
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

void eb_mixed_project(eb_mixed *mixed, const double *x) {
  const eb_elasticity *e = mixed->elasticity;
#pragma omp parallel for schedule(static)
  for (int32_t c = 0; c < e->chunk_count; c++)
    BY_ELEMENT(mixed, project_sweep, mixed, e->chunk_start[c], e->chunk_start[c + 1], x);
}

void eb_mixed_condense(eb_mixed *mixed, const double *x, double mass_scale, eb_block_matrix *matrix,
                       double *q, double *g) {
  EB_ASSERT(matrix->rows == mixed->elasticity->node_count);
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
  EB_ASSERT(a >= 0);
#pragma omp parallel for schedule(static)
  for (int64_t n = 0; n < mixed->count; n++)
    for (int m = 0; m < 6; m++) mixed->point[n].S[m] += a * mixed->point[n].dS[m];
}

static void copy_lanes(const eb_v4 from[6], int lane, double *to) {
  for (int m = 0; to && m < 6; m++) to[m] = from[m][lane];
}

void eb_mixed_points(const eb_mixed *mixed, double *S, double *dS, double *lambda) {
  const eb_elasticity *e = mixed->elasticity;
  const int64_t points = e->kernels->points;
  for (int64_t lane = 0; lane < EB_LANES * (int64_t)e->batch_count; lane++)
    for (int64_t q = 0; e->element[lane] >= 0 && q < points; q++) {
      const mixed_point *point = mixed->point + lane / EB_LANES * points + q;
      const int64_t at = 6 * (e->element[lane] * points + q);
      copy_lanes(point->S, (int)(lane % EB_LANES), S ? S + at : NULL);
      copy_lanes(point->dS, (int)(lane % EB_LANES), dS ? dS + at : NULL);
      copy_lanes(point->lambda, (int)(lane % EB_LANES), lambda ? lambda + at : NULL);
    }
}
