/* The sweeps over batches, written once for any element with A nodes and Q integration points.
 *
 * F = I-free form: F = sum over a >= 1 of (x_a - x_0) g_a^T, since the gradients g_a sum to zero.
 * Forces and stiffness blocks are computed for nodes a, b >= 1 only; the zero row sums give those
 * of node 0.
 *
 * With dF = U X V^T and h_a = V^T g_a, the block K_ab = w dP/dF : (g_a, g_b) is U C U^T with
 *   C_kk = scaling_kk h_ak h_bk + sum over l != k of direct_kl h_al h_bl
 *   C_kl = scaling_kl h_ak h_bl + cross_kl h_al h_bk.
 * For linear elasticity in the frame R this is, with r_a = R g_a,
 *   K_ab = mu (r_a . r_b) I + mu r_b r_a^T + lambda r_a r_b^T.
 *
 * Planar elements (A = 3) are in plane strain: their gradients lie in the plane and F = [F2 0; 0 1]
 * whatever z is, so that nothing pulls along z. There K_ab has the mean of its x and y entries: the
 * assembled K_zz = (K_xx + K_yy) / 2 is the mean of two principal submatrices of the plane's K,
 * hence its eigenvalues lie between the least and the greatest of K.
 *
 * Hexahedra of one point have a constant matrix besides, which controls their hourglass modes
 * (one_point.c). With its zero row sums it is contracted with edges as the gradients are: the force
 * on node a >= 1 is sum over b >= 1 of K_ab (x_b - x_0), and K_ab I adds to block (a, b).
 *
 * A file that includes this names A and Q as constants, so that the loops unroll. */
#ifndef EB_ELEMENT_KERNELS_H
#define EB_ELEMENT_KERNELS_H

#include "problems/elasticity/elements.h"
#include "problems/elasticity/svd3.h"

enum {
  EB_MAX_NODES = 8,
  EB_MAX_INNER = EB_MAX_NODES - 1,
  EB_PLANAR_NODES = 3,
  EB_HOURGLASS_PAIRS = EB_MAX_INNER * (EB_MAX_INNER + 1) / 2
};

/* Component i of a vector at four nodes. */
EB_INLINE eb_v4 gather(const int32_t node[EB_LANES], const double *x, int i) {
  return (eb_v4){x[3 * (int64_t)node[0] + i], x[3 * (int64_t)node[1] + i],
                 x[3 * (int64_t)node[2] + i], x[3 * (int64_t)node[3] + i]};
}

/* Edges x_a - x_0 of nodes a >= 1. */
EB_INLINE void gather_edges(int A, const int32_t *node, const double *x, eb_v4 (*edge)[3]) {
  for (int i = 0; i < 3; i++) {
    eb_v4 origin = gather(node, x, i);
    for (int a = 1; a < A; a++) edge[a - 1][i] = gather(node + EB_LANES * a, x, i) - origin;
  }
}

EB_INLINE void deformation(int A, eb_v4 (*edge)[3], const eb_v4 *g, eb_v4 F[9]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      eb_v4 sum = edge[0][i] * g[k];
      for (int a = 1; a < A - 1; a++) sum += edge[a][i] * g[3 * a + k];
      F[3 * i + k] = sum;
    }
  for (int k = 0; A == EB_PLANAR_NODES && k < 3; k++) F[6 + k] = eb_v4_set(k == 2);
}

EB_INLINE const eb_v4 *fibre_of(const eb_elasticity *e, int32_t batch) {
  return e->fibre ? e->fibre + 3 * (int64_t)batch : NULL;
}

EB_INLINE const eb_v4 *geometry_of(const eb_elasticity *e, int A, int Q, int32_t batch) {
  return e->geometry + (int64_t)batch * Q * (3 * (A - 1) + 1);
}

/* Whether elements have an hourglass matrix. */
EB_INLINE bool controlled(int A, int Q, const eb_elasticity *e) {
  return A == EB_HEXAHEDRON && Q == 1 && e->hourglass;
}

/* K_ab of batch b, 1 <= a <= b; where elements are `controlled`. */
EB_INLINE const eb_v4 *hourglass_of(const eb_elasticity *e, int32_t batch) {
  return e->hourglass + (int64_t)batch * EB_HOURGLASS_PAIRS;
}

/* ---- groups of points ------------------------------------------------------------------------ */

/* Deformation gradients of several points, decomposed together where a law asks for it. */
enum { EB_GROUP_POINTS = 8 };

typedef struct point_group {
  eb_v4 F[EB_GROUP_POINTS][9], U[EB_GROUP_POINTS][9], V[EB_GROUP_POINTS][9], s[EB_GROUP_POINTS][3];
  eb_v4 edge[EB_GROUP_POINTS][EB_MAX_INNER][3]; /* of the batches, where they are `controlled` */
} point_group;

/* Where the group ends that starts at batch b. */
EB_INLINE int32_t group_end(int Q, int32_t b, int32_t end) {
  return b + EB_GROUP_POINTS / Q < end ? b + EB_GROUP_POINTS / Q : end;
}

/* Points of batches begin .. end-1, decomposed when the law of any of them `decomposes`. */
EB_INLINE void prepare_group(int A, int Q, const eb_elasticity *e, int32_t begin, int32_t end,
                             const double *x, bool (*decomposes)(const eb_law *),
                             point_group *group) {
  eb_v4 own[EB_MAX_INNER][3];
  bool decompose = false;
  int n = 0;
  for (int32_t b = begin; b < end; b++) {
    const eb_v4 *g = geometry_of(e, A, Q, b);
    eb_v4(*edge)[3] = controlled(A, Q, e) ? group->edge[b - begin] : own;
    decompose |= decomposes(&e->laws[e->batch_law[b]]);
    gather_edges(A, e->node + (int64_t)b * A * EB_LANES, x, edge);
    for (int q = 0; q < Q; q++, n++, g += 3 * (A - 1) + 1) deformation(A, edge, g, group->F[n]);
  }
  if (decompose) eb_svd3(n, (const eb_v4(*)[9])group->F, group->U, group->s, group->V);
}

/* ---- control of hourglass modes -------------------------------------------------------------- */

/* K_ab among the pairs, 0-based inner nodes. */
EB_INLINE eb_v4 hourglass_entry(const eb_v4 *K, int a, int b) {
  return a <= b ? K[a * EB_MAX_INNER - a * (a - 1) / 2 + b - a]
                : K[b * EB_MAX_INNER - b * (b - 1) / 2 + a - b];
}

/* force += K edge */
EB_INLINE void add_hourglass_force(const eb_v4 *K, eb_v4 (*edge)[3], eb_v4 (*force)[3]) {
  for (int a = 0; a < EB_MAX_INNER; a++)
    for (int b = 0; b < EB_MAX_INNER; b++) {
      eb_v4 k = hourglass_entry(K, a, b);
      for (int i = 0; i < 3; i++) force[a][i] += k * edge[b][i];
    }
}

EB_INLINE eb_v4 hourglass_energy(const eb_v4 *K, eb_v4 (*edge)[3]) {
  eb_v4 force[EB_MAX_INNER][3] = {{{0}}}, twice = {0};
  add_hourglass_force(K, edge, force);
  for (int a = 0; a < EB_MAX_INNER; a++) twice += eb_v4_dot3(force[a], edge[a]);
  return 0.5 * twice;
}

EB_INLINE void add_hourglass_blocks(const eb_v4 *K, double scale, eb_v4 (*block)[9]) {
  for (int pair = 0; pair < EB_HOURGLASS_PAIRS; pair++)
    for (int i = 0; i < 3; i++) block[pair][4 * i] += scale * K[pair];
}

/* ---- energy, gradient ------------------------------------------------------------------------ */

EB_INLINE double sweep_energy(int A, int Q, const eb_elasticity *e, int32_t begin, int32_t end,
                              const double *x) {
  eb_v4 total = {0}, psi, R[9] = {{0}};
  point_group group;
  for (int32_t first = begin; first < end; first += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, first, end);
    prepare_group(A, Q, e, first, stop, x, eb_law_needs_rotation, &group);
    for (int n = 0; n < (stop - first) * Q; n++) {
      int32_t b = first + n / Q;
      const eb_law *law = &e->laws[e->batch_law[b]];
      const eb_v4 *g = geometry_of(e, A, Q, b) + n % Q * (3 * (A - 1) + 1);
      if (law->rotates) eb_rotation3(group.U[n], group.V[n], R);
      eb_law_energy(law, group.F[n], R, fibre_of(e, b), &psi);
      total += g[3 * (A - 1)] * psi;
    }
    for (int32_t b = first; controlled(A, Q, e) && b < stop; b++)
      total += hourglass_energy(hourglass_of(e, b), group.edge[b - first]);
  }
  return eb_v4_sum(total);
}

/* force_a = or += w P g_a, a >= 1. */
EB_INLINE void add_force(int A, const eb_v4 P[9], const eb_v4 *g, bool fresh, eb_v4 (*force)[3]) {
  eb_v4 w = g[3 * (A - 1)];
  for (int i = 0; i < 3; i++) {
    eb_v4 row[3] = {w * P[3 * i], w * P[3 * i + 1], w * P[3 * i + 2]};
    for (int a = 0; a < A - 1; a++) {
      eb_v4 f = eb_v4_dot3(row, g + 3 * a);
      force[a][i] = fresh ? f : force[a][i] + f;
    }
  }
}

EB_INLINE void scatter_force(int A, const int32_t *node, eb_v4 (*force)[3], double *g) {
  for (int i = 0; i < (A == EB_PLANAR_NODES ? 2 : 3); i++) {
    eb_v4 sum = force[0][i];
    for (int a = 1; a < A - 1; a++) sum += force[a][i];
    for (int l = 0; l < EB_LANES; l++) g[3 * (int64_t)node[l] + i] -= sum[l];
    for (int a = 1; a < A; a++)
      for (int l = 0; l < EB_LANES; l++)
        g[3 * (int64_t)node[EB_LANES * a + l] + i] += force[a - 1][i][l];
  }
}

/* Batch b, whose points are first, first + 1, ... of the group. */
EB_INLINE void add_batch_gradient(int A, int Q, const eb_elasticity *e, int32_t b,
                                  point_group *group, int first, double *gradient) {
  eb_v4 force[EB_MAX_INNER][3], P[9], R[9] = {{0}};
  const eb_law *law = &e->laws[e->batch_law[b]];
  const eb_v4 *g = geometry_of(e, A, Q, b);
  for (int n = first; n < first + Q; n++, g += 3 * (A - 1) + 1) {
    if (law->rotates) eb_rotation3(group->U[n], group->V[n], R);
    eb_law_stress(law, group->F[n], R, fibre_of(e, b), P);
    add_force(A, P, g, n == first, force);
  }
  if (controlled(A, Q, e)) add_hourglass_force(hourglass_of(e, b), group->edge[first], force);
  scatter_force(A, e->node + (int64_t)b * A * EB_LANES, force, gradient);
}

EB_INLINE void sweep_gradient(int A, int Q, const eb_elasticity *e, int32_t begin, int32_t end,
                              const double *x, double *gradient) {
  point_group group;
  for (int32_t b = begin; b < end; b += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, b, end);
    prepare_group(A, Q, e, b, stop, x, eb_law_needs_rotation, &group);
    for (int32_t k = b; k < stop; k++)
      add_batch_gradient(A, Q, e, k, &group, (k - b) * Q, gradient);
  }
}

/* ---- matrix ---------------------------------------------------------------------------------- */

/* The tangent of one point, times its weight, ready to be contracted with gradients. */
typedef struct point_tangent {
  bool linear;                  /* K_ab from R, mu and lambda alone */
  const eb_v4 *frame;           /* U, or R when linear */
  const eb_v4 *right;           /* V; not used when linear */
  eb_v4 mu, lambda;             /* when linear */
  eb_principal_tangent stretch; /* when not */
} point_tangent;

/* K = w K_ab. */
EB_INLINE void linear_block(const point_tangent *t, const eb_v4 ra[3], const eb_v4 rb[3],
                            eb_v4 K[9]) {
  eb_v4 mu_a[3], lambda_a[3];
  for (int i = 0; i < 3; i++) {
    mu_a[i] = t->mu * ra[i];
    lambda_a[i] = t->lambda * ra[i];
  }
  eb_v4 shear = eb_v4_dot3(mu_a, rb);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      K[3 * i + j] = rb[i] * mu_a[j] + lambda_a[i] * rb[j] + (i == j ? shear : eb_v4_set(0));
}

EB_INLINE void frame_block(const point_tangent *t, const eb_v4 ha[3], const eb_v4 hb[3],
                           eb_v4 K[9]) {
  eb_v4 C[9], T[9], own[3];
  for (int k = 0; k < 3; k++) own[k] = ha[k] * hb[k];
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    eb_v4 lm = ha[l] * hb[m], ml = ha[m] * hb[l];
    C[4 * k] = t->stretch.scaling[k] * own[k] + t->stretch.direct[m] * own[l] +
               t->stretch.direct[l] * own[m];
    C[3 * l + m] = t->stretch.scaling[3 + k] * lm + t->stretch.cross[k] * ml;
    C[3 * m + l] = t->stretch.scaling[3 + k] * ml + t->stretch.cross[k] * lm;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T[3 * i + j] = eb_v4_dot3(C + 3 * i, t->frame + 3 * j);
  for (int i = 0; i < 3; i++) {
    const eb_v4 *u = t->frame + 3 * i;
    for (int j = 0; j < 3; j++) K[3 * i + j] = u[0] * T[j] + u[1] * T[3 + j] + u[2] * T[6 + j];
  }
}

/* Blocks (a, b), 1 <= a <= b, of one point in the order of the pairs, set or added to. */
EB_INLINE void add_point_blocks(int A, const point_tangent *t, const eb_v4 *g, bool fresh,
                                eb_v4 (*block)[9]) {
  eb_v4 h[EB_MAX_INNER][3];
  for (int a = 0; a < A - 1; a++)
    for (int k = 0; k < 3; k++) {
      const eb_v4 *ga = g + 3 * a;
      h[a][k] = t->linear ? eb_v4_dot3(t->frame + 3 * k, ga)
                          : t->right[k] * ga[0] + t->right[3 + k] * ga[1] + t->right[6 + k] * ga[2];
    }
  int pair = 0;
  for (int a = 0; a < A - 1; a++)
    for (int b = a; b < A - 1; b++, pair++) {
      eb_v4 K[9];
      if (t->linear)
        linear_block(t, h[a], h[b], K);
      else
        frame_block(t, h[a], h[b], K);
      for (int i = 0; i < 9; i++) block[pair][i] = fresh ? K[i] : block[pair][i] + K[i];
    }
}

EB_INLINE void add_fibre_blocks(int A, const eb_v4 M[6], eb_v4 weight, const eb_v4 fibre[3],
                                const eb_v4 *g, eb_v4 (*block)[9]) {
  const int entry[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
  int pair = 0;
  for (int a = 0; a < A - 1; a++) {
    eb_v4 along = weight * eb_v4_dot3(g + 3 * a, fibre);
    for (int b = a; b < A - 1; b++, pair++) {
      eb_v4 f = along * eb_v4_dot3(g + 3 * b, fibre);
      for (int i = 0; i < 9; i++) block[pair][i] += f * M[entry[i]];
    }
  }
}

/* The tangent of point n of a group, and its rotation (R) when the law needs one. */
EB_INLINE void prepare_tangent(const eb_law *law, const point_group *group, int n, bool project,
                               eb_v4 weight, eb_v4 R[9], point_tangent *t) {
  if (law->rotates) eb_rotation3(group->U[n], group->V[n], R);
  t->linear = law->linear;
  if (t->linear) {
    t->mu = weight * law->mu;
    t->lambda = weight * law->lambda;
    t->frame = R;
    if (!law->rotates)
      for (int i = 0; i < 9; i++) R[i] = eb_v4_set(i % 4 == 0);
    return;
  }
  t->frame = group->U[n];
  t->right = group->V[n];
  eb_law_tangent(law, group->s[n], project, &t->stretch);
  for (int k = 0; k < 6; k++) t->stretch.scaling[k] *= weight;
  for (int k = 0; k < 3; k++) {
    t->stretch.direct[k] *= weight;
    t->stretch.cross[k] *= weight;
  }
}

/* Asks for the blocks of a later batch, so that they arrive while this one is computed. */
EB_INLINE void prefetch_blocks(int A, const int32_t *scatter, const double *values) {
  for (int k = 0; k < A * (A + 1) / 2 * EB_LANES; k++) {
    const double *place = values + 9 * (int64_t)scatter[k];
    __builtin_prefetch(place, 1);
    __builtin_prefetch(place + 8, 1);
  }
}

/* Adds one block to four places. */
EB_INLINE void add_block(double *values, const int32_t *at, const eb_v4 K[9]) {
  eb_v4 first[4], second[4];
  eb_v4_transpose(K, first);
  eb_v4_transpose(K + 4, second);
  for (int l = 0; l < EB_LANES; l++) {
    double *place = values + 9 * (int64_t)at[l];
    *(eb_v4_unaligned *)place += first[l];
    *(eb_v4_unaligned *)(place + 4) += second[l];
    place[8] += K[8][l];
  }
}

/* Cuts z off from the plane. */
EB_INLINE void flatten_block(eb_v4 K[9]) {
  K[2] = K[5] = K[6] = K[7] = eb_v4_set(0);
  K[8] = 0.5 * (K[0] + K[4]);
}

/* Adds the blocks (a, b), a <= b: those of node 0 from the zero sums of rows and columns,
 * K_0b = -sum over a >= 1 of K_ab, then the inner ones. */
EB_INLINE void scatter_blocks(int A, const int32_t *scatter, eb_v4 (*block)[9], double *values) {
  static const int turned[9] = {0, 3, 6, 1, 4, 7, 2, 5, 8};
  eb_v4 edge[EB_MAX_INNER][9], corner[9];
  int pair = 0;
  for (int a = 0; a < A - 1; a++)
    for (int b = a; b < A - 1; b++, pair++) {
      const eb_v4 *K = block[pair];
      for (int i = 0; i < 9; i++) {
        edge[b][i] = a == 0 ? -K[i] : edge[b][i] - K[i];
        if (a != b) edge[a][i] -= K[turned[i]];
      }
    }
  for (int b = 0; b < A - 1; b++)
    for (int i = 0; i < 9; i++) corner[i] = b == 0 ? -edge[b][i] : corner[i] - edge[b][i];
  add_block(values, scatter, corner);
  for (int b = 0; b < A - 1; b++) add_block(values, scatter + EB_LANES * (b + 1), edge[b]);
  for (int k = 0; k < A * (A - 1) / 2; k++)
    add_block(values, scatter + EB_LANES * (A + k), block[k]);
}

/* Batch b, whose points are first, first + 1, ... of the group. */
EB_INLINE void add_batch_matrix(int A, int Q, const eb_elasticity *e, int32_t b,
                                const eb_matrix_job *job, point_group *group, int first) {
  enum { PAIRS = EB_MAX_INNER * (EB_MAX_INNER + 1) / 2 };
  eb_v4 force[EB_MAX_INNER][3], block[PAIRS][9], P[9], R[9], M[6];
  point_tangent tangent;
  const eb_law *law = &e->laws[e->batch_law[b]];
  const eb_v4 *g = geometry_of(e, A, Q, b), *fibre = fibre_of(e, b);
  double *gradient = job->g;
  for (int n = first; n < first + Q; n++, g += 3 * (A - 1) + 1) {
    eb_v4 weight = job->scale * g[3 * (A - 1)];
    prepare_tangent(law, group, n, job->project, weight, R, &tangent);
    add_point_blocks(A, &tangent, g, n == first, block);
    if (law->fibre) {
      eb_law_fibre_tangent(law, group->F[n], fibre, job->project, M);
      add_fibre_blocks(A, M, weight, fibre, g, block);
    }
    if (!gradient) continue;
    eb_law_stress(law, group->F[n], R, fibre, P);
    add_force(A, P, g, n == first, force);
  }
  if (controlled(A, Q, e)) {
    add_hourglass_blocks(hourglass_of(e, b), job->scale, block);
    if (gradient) add_hourglass_force(hourglass_of(e, b), group->edge[first], force);
  }
  for (int k = 0; A == EB_PLANAR_NODES && k < A * (A - 1) / 2; k++) flatten_block(block[k]);
  scatter_blocks(A, e->scatter + (int64_t)b * (A * (A + 1) / 2) * EB_LANES, block, job->values);
  if (gradient) scatter_force(A, e->node + (int64_t)b * A * EB_LANES, force, gradient);
}

EB_INLINE void sweep_matrix(int A, int Q, const eb_elasticity *e, int32_t begin, int32_t end,
                            const eb_matrix_job *job) {
  const int64_t entries = A * (A + 1) / 2 * EB_LANES;
  point_group group;
  for (int32_t b = begin; b < end; b += EB_GROUP_POINTS / Q) {
    int32_t stop = group_end(Q, b, end);
    prepare_group(A, Q, e, b, stop, job->x, eb_law_needs_frame, &group);
    for (int32_t k = b; k < stop; k++) {
      if (k + 1 < end) prefetch_blocks(A, e->scatter + (k + 1) * entries, job->values);
      add_batch_matrix(A, Q, e, k, job, &group, (k - b) * Q);
    }
  }
}

/* The deformation gradient of batch b, averaged over its points by volume (but for a factor). */
EB_INLINE void mean_deformation(int A, int Q, const eb_elasticity *e, int32_t b, const double *x,
                                eb_v4 mean[9]) {
  eb_v4 edge[EB_MAX_INNER][3], F[9];
  const eb_v4 *g = geometry_of(e, A, Q, b);
  gather_edges(A, e->node + (int64_t)b * A * EB_LANES, x, edge);
  if (Q == 1) {
    deformation(A, edge, g, mean);
    return;
  }
  for (int i = 0; i < 9; i++) mean[i] = eb_v4_set(0);
  for (int q = 0; q < Q; q++, g += 3 * (A - 1) + 1) {
    deformation(A, edge, g, F);
    for (int i = 0; i < 9; i++) mean[i] += g[3 * (A - 1)] * F[i];
  }
}

EB_INLINE void sweep_rotations(int A, int Q, const eb_elasticity *e, int32_t begin, int32_t end,
                               const double *x, double *rotations) {
  eb_v4 R[9];
  point_group group;
  for (int32_t first = begin; first < end; first += EB_GROUP_POINTS) {
    int32_t stop = group_end(1, first, end);
    for (int32_t b = first; b < stop; b++) mean_deformation(A, Q, e, b, x, group.F[b - first]);
    eb_svd3(stop - first, (const eb_v4(*)[9])group.F, group.U, group.s, group.V);
    for (int32_t k = first * EB_LANES; k < stop * EB_LANES; k++) {
      int32_t n = k / EB_LANES - first, element = e->element[k];
      if (k % EB_LANES == 0) eb_rotation3(group.U[n], group.V[n], R);
      for (int i = 0; element >= 0 && i < 9; i++)
        rotations[9 * (int64_t)element + i] = R[i][k % EB_LANES];
    }
  }
}

/* The table of an element's kernels: the sweeps at its numbers of nodes and points, its
 * name_measure(), and its control() or NULL. */
#define EB_ELEMENT_KERNELS(name, A, Q, control_)                                                   \
  static double name##_energy(const eb_elasticity *e, int32_t begin, int32_t end,                  \
                              const double *x) {                                                   \
    return sweep_energy(A, Q, e, begin, end, x);                                                   \
  }                                                                                                \
  static void name##_gradient(const eb_elasticity *e, int32_t begin, int32_t end, const double *x, \
                              double *g) {                                                         \
    sweep_gradient(A, Q, e, begin, end, x, g);                                                     \
  }                                                                                                \
  static void name##_matrix(const eb_elasticity *e, int32_t begin, int32_t end,                    \
                            const eb_matrix_job *job) {                                            \
    sweep_matrix(A, Q, e, begin, end, job);                                                        \
  }                                                                                                \
  static void name##_rotations(const eb_elasticity *e, int32_t begin, int32_t end,                 \
                               const double *x, double *R) {                                       \
    sweep_rotations(A, Q, e, begin, end, x, R);                                                    \
  }                                                                                                \
  const eb_kernels eb_##name##_kernels = {.nodes = A,                                              \
                                          .points = Q,                                             \
                                          .measure = name##_measure,                               \
                                          .control = control_,                                     \
                                          .energy = name##_energy,                                 \
                                          .gradient = name##_gradient,                             \
                                          .matrix = name##_matrix,                                 \
                                          .rotations = name##_rotations}

#endif
