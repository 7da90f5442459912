/* The rotation at a node: R_i maximizes sum_j (x_j - x_i) . R (X_j - X_i) over the nodes j that share an element with
 * i, all with weight one.
 *
 * Horn 1987 ("Closed-form solution of absolute orientation using unit quaternions") finds it as the eigenvector of a
 * symmetric 4x4 matrix made of the entries of M = sum_j (x_j - x_i) (X_j - X_i)^T. The maximizer of tr(R^T M) over the
 * rotations is also U V^T of M = U diag(s) V^T with the determinants at +1 (Umeyama 1991): the gap between the two
 * largest eigenvalues of Horn's matrix is 2 (s_1 + s_2), s_2 with its sign. We take the second form, whose decomposition
 * the elements need as well, is batched, and keeps its accuracy where eigenvalues of the first come close together
 * (flat rings: s_2 = 0; inverted ones: s_2 < 0).
 *
 * Where s_1 + s_2 vanishes (all neighbours on a line, or a mirrored ring with two equal widths) every rotation that takes
 * the first right singular vector to the first left one is a maximizer. The one nearest to the last R_i is taken: the
 * smallest turn that takes R_i v_0 to u_0, after R_i. Where M is zero or not finite, R_i stays. */
#include "problems/elasticity/corotation_data.h"

/* (s_1 + s_2) / s_0 below which the ring does not determine the rotation: the rounding of M alone moves it by 1e-6. */
static const double UNDETERMINED = 1e-10;
/* 1 + cos of the angle between directions that count as opposite. */
static const double OPPOSITE = 1e-12;

enum { GROUP_NODES = EB_GROUP_POINTS * EB_LANES };

void eb_corotation_freeze_nodes(eb_corotation *c) {
#pragma omp parallel for schedule(static)
  for (int32_t n = 0; n < c->elasticity->node_count; n++) {
    c->node_quaternion[n] = (eb_v4){1, 0, 0, 0};
    for (int k = 0; k < 9; k++) c->node_rotation[9 * (int64_t)n + k] = k % 4 == 0;
  }
}

const double *eb_corotation_node_rotations(const eb_corotation *c) {
  return c->node_rotation;
}

/* Rows of M at node i, in lanes 0 to 2. The node itself, which its row of the graph holds, adds nothing. */
EB_INLINE void ring_covariance(const eb_corotation *c, int32_t i, const double *x, eb_v4 row[3]) {
  const eb_block_matrix *graph = c->elasticity->pattern;
  const double *at = x + 3 * (int64_t)i;
  eb_v4 X = c->rest[i];
  for (int k = 0; k < 3; k++) row[k] = eb_v4_set(0);
  for (int32_t b = graph->start[i]; b < graph->start[i + 1]; b++) {
    const double *other = x + 3 * (int64_t)graph->column[b];
    eb_v4 D = c->rest[graph->column[b]] - X;
    for (int k = 0; k < 3; k++) row[k] += (other[k] - at[k]) * D;
  }
}

/* M of nodes first .. first + 3; zero beyond the last node. */
EB_INLINE void batch_covariance(const eb_corotation *c, int32_t first, const double *x,
                                eb_v4 M[9]) {
  eb_v4 row[EB_LANES][3] = {{{0}}}, entry[4];
  for (int l = 0; l < EB_LANES && first + l < c->elasticity->node_count; l++)
    ring_covariance(c, first + l, x, row[l]);
  for (int k = 0; k < 3; k++) {
    const eb_v4 lanes[4] = {row[0][k], row[1][k], row[2][k], row[3][k]};
    eb_v4_transpose(lanes, entry);
    for (int j = 0; j < 3; j++) M[3 * k + j] = entry[j];
  }
}

/* The quaternion nearest to `last` that takes the first column of V to that of U; `last` where s_0 is zero or
 * NaN. */
EB_INLINE void nearest_choice(const eb_v4 U[9], const eb_v4 V[9], const eb_v4 s[3],
                              const eb_v4 last[4], eb_v4 q[4]) {
  const eb_v4 u[3] = {U[0], U[3], U[6]}, v[3] = {V[0], V[3], V[6]};
  eb_v4 R[9], p[3], smallest[4];
  unit_matrix(last, R);
  turn(R, v, p);
  smallest[0] = 1 + eb_v4_dot3(p, u);
  eb_v4_cross3(p, u, smallest + 1);
  eb_m4 opposite = smallest[0] < OPPOSITE, none = ~(s[0] > 0);
  for (int k = 0; k < 4; k++) {
    eb_v4 half_turn = k == 0 ? eb_v4_set(0) : U[3 * (k - 1) + 1]; /* about u_1, orthogonal to u_0 */
    smallest[k] = eb_v4_select(opposite, half_turn, smallest[k]);
    smallest[k] = eb_v4_select(none, eb_v4_set(k == 0), smallest[k]);
  }
  eb_quaternion_product(smallest, last, q);
  eb_quaternion_normalize(q);
}

/* The last quaternions of nodes first .. first + 3; the identity beyond the last node. */
EB_INLINE void last_rotations(const eb_corotation *c, int32_t first, eb_v4 q[4]) {
  eb_v4 lanes[EB_LANES];
  for (int l = 0; l < EB_LANES; l++)
    lanes[l] =
        first + l < c->elasticity->node_count ? c->node_quaternion[first + l] : (eb_v4){1, 0, 0, 0};
  eb_v4_transpose(lanes, q);
}

EB_INLINE void ring_rotation(const eb_corotation *c, int32_t first, const eb_v4 U[9],
                             const eb_v4 s[3], const eb_v4 V[9], eb_v4 q[4]) {
  eb_v4 R[9], last[4], nearest[4];
  eb_rotation3(U, V, R);
  eb_quaternion_of(R, q);
  eb_m4 determined = s[1] + s[2] > UNDETERMINED * s[0];
  if (eb_m4_all(determined)) return;
  last_rotations(c, first, last);
  nearest_choice(U, V, s, last, nearest);
  for (int k = 0; k < 4; k++) q[k] = eb_v4_select(determined, q[k], nearest[k]);
}

/* Stores the rotations of nodes first .. first + 3. */
EB_INLINE void store_rotations(eb_corotation *c, int32_t first, const eb_v4 q[4]) {
  eb_v4 lanes[EB_LANES], R[9];
  eb_v4_transpose(q, lanes);
  unit_matrix(q, R);
  for (int l = 0; l < EB_LANES && first + l < c->elasticity->node_count; l++) {
    c->node_quaternion[first + l] = lanes[l];
    for (int k = 0; k < 9; k++) c->node_rotation[9 * (int64_t)(first + l) + k] = R[k][l];
  }
}

static void rotate_group(eb_corotation *c, int32_t first, const double *x) {
  int32_t left = c->elasticity->node_count - first;
  int count = left < GROUP_NODES ? (left + EB_LANES - 1) / EB_LANES : EB_GROUP_POINTS;
  point_group group;
  eb_v4 q[4];
  for (int k = 0; k < count; k++) batch_covariance(c, first + EB_LANES * k, x, group.F[k]);
  eb_svd3(count, (const eb_v4(*)[9])group.F, group.U, group.s, group.V);
  for (int k = 0; k < count; k++) {
    ring_rotation(c, first + EB_LANES * k, group.U[k], group.s[k], group.V[k], q);
    store_rotations(c, first + EB_LANES * k, q);
  }
}

void eb_corotation_rotate_nodes(eb_corotation *c, const double *x) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int32_t first = 0; first < c->elasticity->node_count; first += GROUP_NODES)
    rotate_group(c, first, x);
}

void eb_corotation_turn(const eb_corotation *c, bool transpose, const double *in, double *out) {
#pragma omp parallel for schedule(static)
  for (int32_t n = 0; n < c->elasticity->node_count; n++) {
    const double *R = c->node_rotation + 9 * (int64_t)n, *v = in + 3 * (int64_t)n;
    int along = transpose ? 3 : 1, down = transpose ? 1 : 3;
    double turned[3];
    for (int i = 0; i < 3; i++)
      turned[i] = R[down * i] * v[0] + R[down * i + along] * v[1] + R[down * i + 2 * along] * v[2];
    for (int i = 0; i < 3; i++) out[3 * (int64_t)n + i] = turned[i];
  }
}
