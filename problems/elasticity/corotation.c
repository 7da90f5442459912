/* Rotations of elements and the forces that follow from them.
 *
 * For a linear tetrahedron K_e needs no matrix. With the rest gradients G_a of the shape functions,
 * V the volume and displacements u_a,
 *   H = sum_a u_a G_a^T,   sigma = mu (H + H^T) + lambda tr(H) I,   (K_e u)_a = V sigma G_a,
 * and R_e K_e R_e^T is the same with the turned gradients R_e G_a in place of G_a.
 *
 * The error of an element needs the stale product as well: with T_a = R_a Q_a, the displacements
 * are T_a^T v_a, the gradients G_a, and the forces T_a V sigma G_a. Where Q_a is of the present T_a
 * = R_e, and the two agree to rounding. */
#include "problems/elasticity/corotation.h"

#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/elasticity/element_kernels.h"
#include "problems/elasticity/quaternion.h"

enum { EB_CORNERS = 4, EB_PAIRS = 10, EB_TET_GEOMETRY = 10 };

struct eb_corotation {
  eb_elasticity *elasticity;
  eb_v4 *rest;            /* node_count: X, Y, Z, 0 in the lanes */
  eb_v4 *node_quaternion; /* node_count: R_i as w, x, y, z in the lanes */
  double *node_rotation;  /* node_count x 9: the same */
  eb_v4 *rotation;        /* batch_count x 4: R_e */
  eb_v4 *stale;           /* batch_count x 4 nodes x 4: Q_e as last refreshed */
  /* of estimates (eb_corotation_track): */
  eb_rotation_rests rests;
  eb_v4 *tracked; /* batch_count x 4: what estimators go on from */
  eb_v4 *sense;   /* batch_count: -1 where the estimate is minus R_e, a reflection; or NULL */
};

EB_INLINE const eb_v4 *tet_geometry(const eb_corotation *c, int32_t batch) {
  return geometry_of(c->elasticity, EB_CORNERS, 1, batch);
}

EB_INLINE const int32_t *tet_nodes(const eb_corotation *c, int32_t batch) {
  return c->elasticity->node + (int64_t)batch * EB_CORNERS * EB_LANES;
}

EB_INLINE const eb_law *tet_law(const eb_corotation *c, int32_t batch) {
  return &c->elasticity->laws[c->elasticity->batch_law[batch]];
}

/* The quaternions of R_i at one node of each element. */
EB_INLINE void gather_rotation(const eb_corotation *c, const int32_t node[EB_LANES], eb_v4 q[4]) {
  const eb_v4 lanes[EB_LANES] = {c->node_quaternion[node[0]], c->node_quaternion[node[1]],
                                 c->node_quaternion[node[2]], c->node_quaternion[node[3]]};
  eb_v4_transpose(lanes, q);
}

EB_INLINE void unit_matrix(const eb_v4 q[4], eb_v4 R[9]) {
  eb_quaternion_matrix(q, eb_v4_set(2), R);
}

/* out = R v and R^T v. */
EB_INLINE void turn(const eb_v4 R[9], const eb_v4 v[3], eb_v4 out[3]) {
  for (int i = 0; i < 3; i++) out[i] = eb_v4_dot3(R + 3 * i, v);
}

EB_INLINE void turn_back(const eb_v4 R[9], const eb_v4 v[3], eb_v4 out[3]) {
  for (int i = 0; i < 3; i++) out[i] = R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2];
}

/* ---- rotations of nodes ---------------------------------------------------------------------- */

/* The rotation at a node: R_i maximizes sum_j (x_j - x_i) . R (X_j - X_i) over the nodes j that
 * share an element with i, all with weight one.
 *
 * Horn 1987 ("Closed-form solution of absolute orientation using unit quaternions") finds it as the
 * eigenvector of a symmetric 4x4 matrix made of the entries of M = sum_j (x_j - x_i) (X_j - X_i)^T.
 * The maximizer of tr(R^T M) over the rotations is also U V^T of M = U diag(s) V^T with the
 * determinants at +1 (Umeyama 1991): the gap between the two largest eigenvalues of Horn's matrix
 * is 2 (s_1 + s_2), s_2 with its sign. We take the second form, whose decomposition the elements
 * need as well, is batched, and keeps its accuracy where eigenvalues of the first come close
 * together (flat rings: s_2 = 0; inverted ones: s_2 < 0).
 *
 * Where s_1 + s_2 vanishes (all neighbours on a line, or a mirrored ring with two equal widths)
 * every rotation that takes the first right singular vector to the first left one is a maximizer.
 * The one nearest to the last R_i is taken: the smallest turn that takes R_i v_0 to u_0, after R_i.
 * Where M is zero or not finite, R_i stays. */

/* (s_1 + s_2) / s_0 below which the ring does not determine the rotation: the rounding of M alone
 * moves it by 1e-6. */
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

/* Rows of M at node i, in lanes 0 to 2. The node itself, which its row of the graph holds, adds
 * nothing. */
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

/* The quaternion nearest to `last` that takes the first column of V to that of U; `last` where s_0
 * is zero or NaN. */
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

void eb_corotation_rotate_nodes(eb_corotation *c, const double *x) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int32_t first = 0; first < c->elasticity->node_count; first += GROUP_NODES) {
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

/* ---- the matrix of stale elements ------------------------------------------------------------ */

/* The matrix of stale elements. With K_ab = V (lambda G_a G_b^T + mu G_b G_a^T + mu (G_a . G_b) I)
 * and h_ab = Q_a G_b,
 *
 *   Q_a K_ab Q_b^T = V (lambda h_aa h_bb^T + mu h_ab h_ba^T + mu (G_a . G_b) Q_a Q_b^T),
 *
 * on the diagonal V ((lambda + mu) h_aa h_aa^T + mu |G_a|^2 I). Rows do not sum to zero: each node
 * has a frame of its own.
 *
 * A refresh adds, element by element, the difference of the new and the old block, so that rounding
 * enters once and in proportion to the entries of that element. Marked elements are packed four
 * wide from wherever they lie in a chunk. */

/* Four elements: those of a batch, or packed from several. */
typedef struct warped {
  eb_v4 gradient[EB_CORNERS][3];
  eb_v4 mu, lambda; /* times volume and stiffness_scale */
} warped;

typedef struct frames {
  eb_v4 Q[EB_CORNERS][9], h[EB_CORNERS][EB_CORNERS][3];
} frames;

/* The gradients of nodes 1 to 3 are those of the geometry; that of node 0 follows. */
EB_INLINE void set_gradients(const eb_v4 *geometry, warped *w) {
  memcpy(w->gradient[1], geometry, 9 * sizeof *geometry);
  for (int i = 0; i < 3; i++)
    w->gradient[0][i] = -(geometry[i] + geometry[3 + i] + geometry[6 + i]);
}

EB_INLINE void set_frames(const warped *w, const eb_v4 q[EB_CORNERS][4], frames *f) {
  for (int a = 0; a < EB_CORNERS; a++) {
    unit_matrix(q[a], f->Q[a]);
    for (int b = 0; b < EB_CORNERS; b++) turn(f->Q[a], w->gradient[b], f->h[a][b]);
  }
}

/* Q_a = R_a^T R_e of the present. */
EB_INLINE void present_rotations(const eb_corotation *c, const int32_t *node, const eb_v4 R_e[4],
                                 eb_v4 Q[EB_CORNERS][4]) {
  for (int a = 0; a < EB_CORNERS; a++) {
    eb_v4 R_a[4];
    gather_rotation(c, node + EB_LANES * a, R_a);
    eb_quaternion_relative(R_a, R_e, Q[a]);
  }
}

EB_INLINE void diagonal_block(const warped *w, int a, const frames *f, eb_v4 K[9]) {
  const eb_v4 *G = w->gradient[a], *h = f->h[a][a];
  eb_v4 stretch = w->lambda + w->mu, shear = w->mu * eb_v4_dot3(G, G);
  for (int i = 0; i < 3; i++) {
    eb_v4 along = stretch * h[i];
    K[4 * i] = along * h[i] + shear;
    for (int j = i + 1; j < 3; j++) K[3 * i + j] = K[3 * j + i] = along * h[j];
  }
}

EB_INLINE void pair_block(const warped *w, int a, int b, const frames *f, eb_v4 K[9]) {
  eb_v4 shear = w->mu * eb_v4_dot3(w->gradient[a], w->gradient[b]);
  for (int i = 0; i < 3; i++) {
    const eb_v4 *q = f->Q[a] + 3 * i, row[3] = {shear * q[0], shear * q[1], shear * q[2]};
    eb_v4 direct = w->lambda * f->h[a][a][i], cross = w->mu * f->h[a][b][i];
    for (int j = 0; j < 3; j++)
      K[3 * i + j] =
          direct * f->h[b][b][j] + cross * f->h[b][a][j] + eb_v4_dot3(row, f->Q[b] + 3 * j);
  }
}

/* Q_a K_ab Q_b^T. */
EB_INLINE void warped_block(const warped *w, int a, int b, const frames *f, eb_v4 K[9]) {
  if (a == b)
    diagonal_block(w, a, f, K);
  else
    pair_block(w, a, b, f, K);
}

/* ---- assembly -------------------------------------------------------------------------------- */

static void assemble_batch(eb_corotation *c, int32_t batch, double scale, double *values) {
  const eb_v4 *geometry = tet_geometry(c, batch), weight = scale * geometry[9];
  const int32_t *place = c->elasticity->scatter + (int64_t)batch * EB_PAIRS * EB_LANES;
  eb_v4(*Q)[4] = (eb_v4(*)[4])(c->stale + 4 * EB_CORNERS * (int64_t)batch), K[9];
  warped w = {.mu = weight * tet_law(c, batch)->mu, .lambda = weight * tet_law(c, batch)->lambda};
  frames f;
  set_gradients(geometry, &w);
  present_rotations(c, tet_nodes(c, batch), c->rotation + 4 * (int64_t)batch, Q);
  set_frames(&w, (const eb_v4(*)[4])Q, &f);
  for (int a = 0; a < EB_CORNERS; a++)
    for (int b = a; b < EB_CORNERS; b++, place += EB_LANES) {
      warped_block(&w, a, b, &f, K);
      add_block(values, place, K);
    }
}

void eb_corotation_assemble(eb_corotation *c, const double *mass, double mass_scale,
                            double stiffness_scale, eb_block_matrix *matrix) {
  EB_ASSERT(matrix->rows == c->elasticity->node_count);
  const eb_elasticity *e = c->elasticity;
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t k; (k = eb_schedule_take(s)) >= 0;) {
    eb_elements_open_rows(e, k, mass, mass_scale, matrix->values);
    for (int32_t b = e->chunk_start[k]; b < e->chunk_start[k + 1]; b++) {
      if (b + 1 < e->chunk_start[k + 1])
        prefetch_blocks(EB_CORNERS, e->scatter + (int64_t)(b + 1) * EB_PAIRS * EB_LANES,
                        matrix->values);
      assemble_batch(c, b, stiffness_scale, matrix->values);
    }
    eb_schedule_finish(s, k);
    eb_elements_close_rows(e, k, matrix->values);
  }
}

/* ---- refresh --------------------------------------------------------------------------------- */

/* Marked elements of one chunk, at most four. Blocks above the diagonal have a second place below
 * it. */
typedef struct pack {
  int count;
  int32_t lane[EB_LANES]; /* 4 batch + lane */
  int32_t node[EB_CORNERS * EB_LANES];
  int32_t place[EB_PAIRS * EB_LANES], mirror[EB_PAIRS * EB_LANES];
  warped elements;
  eb_v4 rotation[4], stale[EB_CORNERS][4];
} pack;

EB_INLINE void prefetch_block(const double *values, int32_t at) {
  const double *place = values + 9 * (int64_t)at;
  __builtin_prefetch(place, 1);
  __builtin_prefetch(place + 8, 1);
}

/* Finds the places of one lane and asks for their blocks, which arrive while other elements are
 * computed. */
EB_INLINE void find_places(const eb_elasticity *e, int64_t batch, int from, int to,
                           const double *values, pack *p) {
  const int32_t *scatter = e->scatter + batch * EB_PAIRS * EB_LANES + from;
  int pair = 0;
  for (int a = 0; a < EB_CORNERS; a++)
    for (int b = a; b < EB_CORNERS; b++, pair++) {
      int32_t at = scatter[EB_LANES * pair];
      p->place[EB_LANES * pair + to] = at;
      prefetch_block(values, at);
      if (a == b) continue;
      p->mirror[EB_LANES * pair + to] = e->mirror[at];
      prefetch_block(values, e->mirror[at]);
    }
}

static void add_lane(const eb_corotation *c, int32_t lane, double scale, const double *values,
                     pack *p) {
  const eb_elasticity *e = c->elasticity;
  int64_t b = lane / EB_LANES;
  int from = lane % EB_LANES, to = p->count++;
  const eb_v4 *geometry = tet_geometry(c, (int32_t)b);
  const eb_v4 *rotation = c->rotation + 4 * b, *stale = c->stale + 4 * EB_CORNERS * b;
  const eb_law *law = tet_law(c, (int32_t)b);
  double weight = scale * geometry[9][from];
  find_places(e, b, from, to, values, p);
  p->lane[to] = lane;
  for (int a = 0; a < EB_CORNERS; a++)
    p->node[EB_LANES * a + to] = e->node[EB_LANES * (EB_CORNERS * b + a) + from];
  for (int i = 0; i < 9; i++) p->elements.gradient[1 + i / 3][i % 3][to] = geometry[i][from];
  for (int k = 0; k < 4; k++) p->rotation[k][to] = rotation[k][from];
  for (int k = 0; k < 4 * EB_CORNERS; k++) p->stale[k / 4][k % 4][to] = stale[k][from];
  p->elements.mu[to] = weight * law->mu;
  p->elements.lambda[to] = weight * law->lambda;
}

/* All four lanes of a batch. */
static void take_batch(const eb_corotation *c, int32_t b, double scale, const double *values,
                       pack *p) {
  const eb_v4 *geometry = tet_geometry(c, b), weight = scale * geometry[9];
  p->count = EB_LANES;
  for (int l = 0; l < EB_LANES; l++) {
    p->lane[l] = EB_LANES * b + l;
    find_places(c->elasticity, b, l, l, values, p);
  }
  memcpy(p->node, tet_nodes(c, b), sizeof p->node);
  memcpy(p->elements.gradient[1], geometry, 9 * sizeof *geometry);
  memcpy(p->rotation, c->rotation + 4 * (int64_t)b, sizeof p->rotation);
  memcpy(p->stale, c->stale + 4 * EB_CORNERS * (int64_t)b, sizeof p->stale);
  p->elements.mu = weight * tet_law(c, b)->mu;
  p->elements.lambda = weight * tet_law(c, b)->lambda;
}

static void store_stale(eb_corotation *c, const pack *p, const eb_v4 Q[EB_CORNERS][4]) {
  eb_v4 *first = c->stale + 4 * EB_CORNERS * (int64_t)(p->lane[0] / EB_LANES);
  if (p->count == EB_LANES && p->lane[0] % EB_LANES == 0 && p->lane[3] == p->lane[0] + 3) {
    memcpy(first, Q, 4 * EB_CORNERS * sizeof *first);
    return;
  }
  for (int l = 0; l < p->count; l++) {
    int64_t b = p->lane[l] / EB_LANES;
    for (int k = 0; k < 4 * EB_CORNERS; k++)
      c->stale[4 * EB_CORNERS * b + k][p->lane[l] % EB_LANES] = Q[k / 4][k % 4][l];
  }
}

/* Lanes that stayed free repeat the first element with no stiffness. */
static void fill_up(pack *p) {
  for (int l = p->count; l < EB_LANES; l++) {
    for (int a = 0; a < EB_CORNERS; a++) p->node[EB_LANES * a + l] = p->node[EB_LANES * a];
    for (int k = 0; k < EB_PAIRS; k++) {
      p->place[EB_LANES * k + l] = p->place[EB_LANES * k];
      p->mirror[EB_LANES * k + l] = p->mirror[EB_LANES * k];
    }
    p->elements.mu[l] = p->elements.lambda[l] = 0;
  }
}

/* Both blocks are rounded before they are subtracted: where nothing has turned the difference is
 * zero. */
static void refresh_pack(eb_corotation *c, pack *p, double *values) {
  eb_v4 Q[EB_CORNERS][4], K[9], old[9];
  frames now, before;
  int pair = 0;
  if (p->count == 0) return;
  fill_up(p);
  set_gradients(p->elements.gradient[1], &p->elements);
  present_rotations(c, p->node, p->rotation, Q);
  set_frames(&p->elements, (const eb_v4(*)[4])Q, &now);
  set_frames(&p->elements, (const eb_v4(*)[4])p->stale, &before);
  for (int a = 0; a < EB_CORNERS; a++)
    for (int b = a; b < EB_CORNERS; b++, pair++) {
      warped_block(&p->elements, a, b, &now, K);
      warped_block(&p->elements, a, b, &before, old);
      for (int i = 0; i < 9; i++) K[i] -= old[i];
      add_block(values, p->place + EB_LANES * pair, K);
      if (a == b) continue;
      const eb_v4 turned[9] = {K[0], K[3], K[6], K[1], K[4], K[7], K[2], K[5], K[8]};
      add_block(values, p->mirror + EB_LANES * pair, turned);
    }
  store_stale(c, p, (const eb_v4(*)[4])Q);
  p->count = 0;
}

EB_INLINE int find_marks(const int32_t element[EB_LANES], const uint8_t *marked,
                         bool is[EB_LANES]) {
  int count = 0;
  for (int l = 0; l < EB_LANES; l++) {
    is[l] = element[l] >= 0 && marked[element[l]];
    count += is[l];
  }
  return count;
}

/* While one pack waits for its blocks, the other is computed. */
static void swap_when_full(eb_corotation *c, pack **filling, pack **waiting, double *values) {
  pack *full = *filling;
  if (full->count < EB_LANES) return;
  refresh_pack(c, *waiting, values);
  *filling = *waiting;
  *waiting = full;
}

static void refresh_chunk(eb_corotation *c, int32_t begin, int32_t end, const uint8_t *marked,
                          double scale, double *values) {
  pack packs[2] = {{0}}, *filling = &packs[0], *waiting = &packs[1];
  for (int32_t b = begin; b < end; b++) {
    bool is[EB_LANES];
    int count = find_marks(c->elasticity->element + EB_LANES * (int64_t)b, marked, is);
    bool whole = count == EB_LANES && filling->count == 0;
    if (whole) {
      take_batch(c, b, scale, values, filling);
      swap_when_full(c, &filling, &waiting, values);
    }
    for (int l = 0; l < EB_LANES && count > 0 && !whole; l++) {
      if (!is[l]) continue;
      add_lane(c, EB_LANES * b + l, scale, values, filling);
      swap_when_full(c, &filling, &waiting, values);
    }
  }
  refresh_pack(c, waiting, values);
  refresh_pack(c, filling, values);
}

void eb_corotation_refresh(eb_corotation *c, const uint8_t *marked, double stiffness_scale,
                           eb_block_matrix *matrix) {
  EB_ASSERT(matrix->rows == c->elasticity->node_count);
  const eb_elasticity *e = c->elasticity;
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t k; (k = eb_schedule_take(s)) >= 0;) {
    refresh_chunk(c, e->chunk_start[k], e->chunk_start[k + 1], marked, stiffness_scale,
                  matrix->values);
    eb_schedule_finish(s, k);
  }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* ---- set-up ---------------------------------------------------------------------------------- */

static eb_error check_materials(const eb_mesh *mesh, const eb_material *materials) {
  if (mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "corotation needs tetrahedra; the mesh has elements of %d nodes",
                    (int)mesh->type);
  for (int32_t r = 0; r < mesh->region_count; r++) {
    const char *material = eb_material_name(&materials[r]);
    const char *name = mesh->region_name ? mesh->region_name[r] : "";
    if (material && (materials[r].kind != EB_COROTATIONAL || materials[r].fibre != EB_FIBRE_NONE))
      return EB_ERROR(EB_ERR_UNSUPPORTED,
                      "region %d '%s' has material %s%s; corotation needs corotational without "
                      "fibres in every region",
                      (int)r, name, material, materials[r].fibre ? " with fibres" : "");
  }
  return EB_OK;
}

static eb_error build(const eb_mesh *mesh, const eb_material *materials, eb_corotation *c) {
  EB_TRY(eb_elasticity_create(mesh, materials, &c->elasticity));
  size_t nodes = (size_t)mesh->node_count, batches = (size_t)c->elasticity->batch_count;
  EB_TRY(EB_NEW(c->rest, nodes));
  EB_TRY(EB_NEW(c->node_quaternion, nodes));
  EB_TRY(EB_NEW(c->node_rotation, 9 * nodes));
  EB_TRY(EB_NEW(c->rotation, 4 * batches));
  EB_TRY(EB_NEW(c->stale, 4 * EB_CORNERS * batches));
  for (size_t n = 0; n < nodes; n++)
    for (int i = 0; i < 3; i++) c->rest[n][i] = mesh->X[3 * n + (size_t)i];
  for (size_t b = 0; b < batches; b++) c->rotation[4 * b] = eb_v4_set(1);
  for (size_t k = 0; k < EB_CORNERS * batches; k++) c->stale[4 * k] = eb_v4_set(1);
  eb_corotation_freeze_nodes(c);
  return EB_OK;
}

eb_error eb_corotation_create(const eb_mesh *mesh, const eb_material *materials,
                              eb_corotation **out) {
  eb_corotation *c;
  *out = NULL;
  EB_TRY(check_materials(mesh, materials));
  EB_TRY(EB_NEW(c, 1));
  eb_error error = build(mesh, materials, c);
  if (error) {
    eb_corotation_destroy(c);
    return error;
  }
  *out = c;
  return EB_OK;
}

void eb_corotation_destroy(eb_corotation *c) {
  if (!c) return;
  eb_elasticity_destroy(c->elasticity);
  free(c->rest);
  free(c->node_quaternion);
  free(c->node_rotation);
  free(c->rotation);
  free(c->stale);
  eb_rotation_rests_clear(&c->rests);
  free(c->tracked);
  free(c->sense);
  free(c);
}

int64_t eb_corotation_bytes(const eb_corotation *c) {
  int64_t nodes = c->elasticity->node_count, batches = c->elasticity->batch_count;
  int64_t vectors = 2 * nodes + 4 * (1 + EB_CORNERS) * batches;
  if (c->sense) vectors += batches * (5 + 3 * EB_CORNERS + 6 + 3 * (EB_CORNERS - 1) + 2);
  return (int64_t)sizeof *c + eb_elasticity_bytes(c->elasticity) +
         vectors * (int64_t)sizeof(eb_v4) + 9 * nodes * (int64_t)sizeof(double);
}

/* ---- rotations ------------------------------------------------------------------------------- */

static void rotate_chunk(eb_corotation *c, int32_t begin, int32_t end, const double *x) {
  point_group group;
  eb_v4 R[9];
  for (int32_t first = begin; first < end; first += EB_GROUP_POINTS) {
    int32_t stop = group_end(1, first, end);
    for (int32_t b = first; b < stop; b++)
      mean_deformation(EB_CORNERS, 1, c->elasticity, b, x, group.F[b - first]);
    eb_svd3(stop - first, (const eb_v4(*)[9])group.F, group.U, group.s, group.V);
    for (int32_t b = first; b < stop; b++) {
      eb_rotation3(group.U[b - first], group.V[b - first], R);
      eb_quaternion_of(R, c->rotation + 4 * (int64_t)b);
    }
  }
}

void eb_corotation_rotate_elements(eb_corotation *c, const double *x) {
  const eb_elasticity *e = c->elasticity;
#pragma omp parallel for schedule(dynamic)
  for (int32_t k = 0; k < e->chunk_count; k++)
    rotate_chunk(c, e->chunk_start[k], e->chunk_start[k + 1], x);
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* A reflection is -R_e. In R K R^T its sign is squared, and so the matrix and the errors, which are
 * linear in velocities, know nothing of it. */

eb_error eb_corotation_track(eb_corotation *c, const eb_mesh *mesh) {
  EB_ASSERT(!c->tracked);
  int32_t batches = c->elasticity->batch_count;
  EB_TRY(eb_rotation_rests_create(mesh, batches, c->elasticity->element, &c->rests));
  EB_TRY(EB_NEW(c->tracked, 4 * (size_t)batches));
  EB_TRY(EB_NEW(c->sense, batches));
  for (int32_t b = 0; b < batches; b++) c->tracked[4 * (size_t)b] = c->sense[b] = eb_v4_set(1);
  return EB_OK;
}

/* Stores +-R of batch b, and R for each of its elements. */
EB_INLINE void store_estimate(eb_corotation *c, int32_t b, eb_v4 R[9], double *rotations) {
  eb_v4 cross[3];
  for (int l = 0; l < EB_LANES; l++) {
    int64_t element = c->elasticity->element[EB_LANES * (int64_t)b + l];
    for (int k = 0; k < 9 && element >= 0; k++) rotations[9 * element + k] = R[k][l];
  }
  eb_v4_cross3(R, R + 3, cross);
  c->sense[b] = eb_v4_copysign(eb_v4_set(1), eb_v4_dot3(cross, R + 6));
  for (int k = 0; k < 9; k++) R[k] *= c->sense[b];
  eb_quaternion_of(R, c->rotation + 4 * (int64_t)b);
}

void eb_corotation_estimate_elements(eb_corotation *c, eb_rotation_method method, bool cold,
                                     const double *x, double *rotations) {
  EB_ASSERT(c->tracked);
#pragma omp parallel for schedule(static)
  for (int32_t b = 0; b < c->elasticity->batch_count; b++) {
    const eb_rotation_rest rest = eb_rotation_rest_of(&c->rests, b);
    eb_v4 at[EB_CORNERS][3], R[9], *q = c->tracked + 4 * (int64_t)b;
    for (int k = 0; k < 4 && cold; k++) q[k] = eb_v4_set(k == 0);
    eb_rotation_gather(&c->rests, b, x, at);
    eb_rotate4(method, EB_CORNERS, &rest, (const eb_v4(*)[3])at, q, R);
    store_estimate(c, b, R, rotations);
  }
}

/* ---- forces ---------------------------------------------------------------------------------- */

/* Gradients of nodes 1 to 3 in the frame R, and the volume. */
EB_INLINE void turn_geometry(const eb_v4 R[9], const eb_v4 *geometry,
                             eb_v4 turned[EB_TET_GEOMETRY]) {
  for (int a = 0; a < 3; a++) turn(R, geometry + 3 * a, turned + 3 * a);
  turned[9] = geometry[9];
}

EB_INLINE void linear_stress(const eb_law *law, const eb_v4 H[9], eb_v4 sigma[9]) {
  eb_v4 pressure = law->lambda * (H[0] + H[4] + H[8]);
  for (int i = 0; i < 3; i++) {
    sigma[4 * i] = 2 * law->mu * H[4 * i] + pressure;
    for (int j = i + 1; j < 3; j++)
      sigma[3 * i + j] = sigma[3 * j + i] = law->mu * (H[3 * i + j] + H[3 * j + i]);
  }
}

static void add_gradient(const eb_corotation *c, int32_t begin, int32_t end, const double *x,
                         double *g) {
  eb_v4 edge[3][3], R[9], turned[EB_TET_GEOMETRY], H[9], sigma[9], force[3][3];
  for (int32_t b = begin; b < end; b++) {
    gather_edges(EB_CORNERS, tet_nodes(c, b), x, edge);
    unit_matrix(c->rotation + 4 * (int64_t)b, R);
    turn_geometry(R, tet_geometry(c, b), turned);
    for (int k = 0; k < 9 && c->sense; k++) turned[k] *= c->sense[b];
    deformation(EB_CORNERS, edge, turned, H);
    for (int i = 0; i < 3; i++) H[4 * i] -= 1;
    linear_stress(tet_law(c, b), H, sigma);
    add_force(EB_CORNERS, sigma, turned, true, force);
    scatter_force(EB_CORNERS, tet_nodes(c, b), force, g);
  }
}

void eb_corotation_gradient(const eb_corotation *c, const double *x, double *g) {
  const eb_elasticity *e = c->elasticity;
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t k; (k = eb_schedule_take(s)) >= 0;) {
    eb_elements_open_gradient(e, k, g);
    add_gradient(c, e->chunk_start[k], e->chunk_start[k + 1], x, g);
    eb_schedule_finish(s, k);
  }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* V sigma G_a at all four nodes from vectors at them; geometry as in a batch. */
EB_INLINE void linear_forces(const eb_law *law, const eb_v4 *geometry, const eb_v4 v[EB_CORNERS][3],
                             eb_v4 force[EB_CORNERS][3]) {
  eb_v4 edge[3][3], H[9], sigma[9];
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++) edge[a][i] = v[a + 1][i] - v[0][i];
  deformation(EB_CORNERS, edge, geometry, H);
  linear_stress(law, H, sigma);
  add_force(EB_CORNERS, sigma, geometry, true, force + 1);
  for (int i = 0; i < 3; i++) force[0][i] = -(force[1][i] + force[2][i] + force[3][i]);
}

/* | exact - stale |^2 of batch b. */
EB_INLINE eb_v4 squared_errors(const eb_corotation *c, int32_t b, const double *velocity) {
  const int32_t *node = tet_nodes(c, b);
  eb_v4 v[EB_CORNERS][3], back[EB_CORNERS][3], exact[EB_CORNERS][3], stale[EB_CORNERS][3];
  eb_v4 T[EB_CORNERS][9], R[9], turned[EB_TET_GEOMETRY], q[4], sum = {0};
  for (int a = 0; a < EB_CORNERS; a++) {
    for (int i = 0; i < 3; i++) v[a][i] = gather(node + EB_LANES * a, velocity, i);
    gather_rotation(c, node + EB_LANES * a, q);
    eb_quaternion_product(q, c->stale + 4 * (EB_CORNERS * (int64_t)b + a), q);
    unit_matrix(q, T[a]);
    turn_back(T[a], v[a], back[a]);
  }
  unit_matrix(c->rotation + 4 * (int64_t)b, R);
  turn_geometry(R, tet_geometry(c, b), turned);
  linear_forces(tet_law(c, b), turned, (const eb_v4(*)[3])v, exact);
  linear_forces(tet_law(c, b), tet_geometry(c, b), (const eb_v4(*)[3])back, stale);
  for (int a = 0; a < EB_CORNERS; a++) {
    eb_v4 off[3];
    turn(T[a], stale[a], off);
    for (int i = 0; i < 3; i++) off[i] -= exact[a][i];
    sum += eb_v4_dot3(off, off);
  }
  return sum;
}

static void estimate_chunk(const eb_corotation *c, int32_t begin, int32_t end, const double *v,
                           double scale, double *error) {
  for (int32_t b = begin; b < end; b++) {
    const int32_t *element = c->elasticity->element + EB_LANES * (int64_t)b;
    eb_v4 length = fabs(scale) * eb_v4_sqrt(squared_errors(c, b, v));
    for (int l = 0; l < EB_LANES; l++)
      if (element[l] >= 0) error[element[l]] = length[l];
  }
}

void eb_corotation_errors(const eb_corotation *c, const double *v, double stiffness_scale,
                          double *error) {
  const eb_elasticity *e = c->elasticity;
#pragma omp parallel for schedule(dynamic)
  for (int32_t k = 0; k < e->chunk_count; k++)
    estimate_chunk(c, e->chunk_start[k], e->chunk_start[k + 1], v, stiffness_scale, error);
}
