/* The matrix of stale elements. With K_ab = V (lambda G_a G_b^T + mu G_b G_a^T + mu (G_a . G_b) I) and h_ab = Q_a G_b,
 *
 *   Q_a K_ab Q_b^T = V (lambda h_aa h_bb^T + mu h_ab h_ba^T + mu (G_a . G_b) Q_a Q_b^T),
 *
 * on the diagonal V ((lambda + mu) h_aa h_aa^T + mu |G_a|^2 I). Rows do not sum to zero: each node has a frame of its own.
 *
 * A refresh adds, element by element, the difference of the new and the old block, so that rounding enters once and in
 * proportion to the entries of that element. Marked elements are packed four wide from wherever they lie in a chunk. */
#include "problems/elasticity/corotation_data.h"

#include <string.h>

/* Four elements: those of a batch, or packed from several. */
typedef struct warped {
  eb_v4 gradient[EB_CORNERS][3];
  eb_v4 mu, lambda; /* times volume and stiffness_scale */
} warped;

EB_INLINE void set_gradients(const eb_v4 *geometry, warped *w) {
  for (int i = 0; i < 3; i++) {
    for (int a = 1; a < EB_CORNERS; a++) w->gradient[a][i] = geometry[3 * (a - 1) + i];
    w->gradient[0][i] = -(geometry[i] + geometry[3 + i] + geometry[6 + i]);
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

EB_INLINE void diagonal_block(const warped *w, int a, const eb_v4 h[3], eb_v4 K[9]) {
  const eb_v4 *G = w->gradient[a];
  eb_v4 stretch = w->lambda + w->mu, shear = w->mu * eb_v4_dot3(G, G);
  for (int i = 0; i < 3; i++) {
    eb_v4 along = stretch * h[i];
    K[4 * i] = along * h[i] + shear;
    for (int j = i + 1; j < 3; j++) K[3 * i + j] = K[3 * j + i] = along * h[j];
  }
}

EB_INLINE void pair_block(const warped *w, int a, int b, const eb_v4 h[EB_CORNERS][EB_CORNERS][3],
                          const eb_v4 Q[EB_CORNERS][9], eb_v4 K[9]) {
  eb_v4 shear = w->mu * eb_v4_dot3(w->gradient[a], w->gradient[b]);
  for (int i = 0; i < 3; i++) {
    eb_v4 direct = w->lambda * h[a][a][i], cross = w->mu * h[a][b][i];
    eb_v4 row[3] = {shear * Q[a][3 * i], shear * Q[a][3 * i + 1], shear * Q[a][3 * i + 2]};
    for (int j = 0; j < 3; j++)
      K[3 * i + j] = direct * h[b][b][j] + cross * h[b][a][j] + eb_v4_dot3(row, Q[b] + 3 * j);
  }
}

/* The blocks of pairs a <= b, in the order of the scatter map. */
EB_INLINE void warped_blocks(const warped *w, const eb_v4 q[EB_CORNERS][4],
                             eb_v4 block[EB_PAIRS][9]) {
  eb_v4 Q[EB_CORNERS][9], h[EB_CORNERS][EB_CORNERS][3];
  for (int a = 0; a < EB_CORNERS; a++) {
    unit_matrix(q[a], Q[a]);
    for (int b = 0; b < EB_CORNERS; b++) turn(Q[a], w->gradient[b], h[a][b]);
  }
  int pair = 0;
  for (int a = 0; a < EB_CORNERS; a++) {
    diagonal_block(w, a, h[a][a], block[pair++]);
    for (int b = a + 1; b < EB_CORNERS; b++)
      pair_block(w, a, b, (const eb_v4(*)[EB_CORNERS][3])h, (const eb_v4(*)[9])Q, block[pair++]);
  }
}

/* ---- assembly -------------------------------------------------------------------------------------- */

static void assemble_batch(eb_corotation *c, int32_t b, double scale, double *values) {
  const eb_v4 *geometry = tet_geometry(c, b);
  const int32_t *scatter = c->elasticity->scatter + (int64_t)b * EB_PAIRS * EB_LANES;
  eb_v4 block[EB_PAIRS][9], weight = scale * geometry[9];
  eb_v4(*Q)[4] = (eb_v4(*)[4])(c->stale + 4 * EB_CORNERS * (int64_t)b);
  warped w = {.mu = weight * tet_law(c, b)->mu, .lambda = weight * tet_law(c, b)->lambda};
  set_gradients(geometry, &w);
  present_rotations(c, tet_nodes(c, b), c->rotation + 4 * (int64_t)b, Q);
  warped_blocks(&w, (const eb_v4(*)[4])Q, block);
  for (int k = 0; k < EB_PAIRS; k++) add_block(values, scatter + EB_LANES * k, block[k]);
}

void eb_corotation_assemble(eb_corotation *c, const double *mass, double mass_scale,
                            double stiffness_scale, eb_block_matrix *matrix) {
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

/* ---- refresh ------------------------------------------------------------------------------------------ */

/* Marked elements of one chunk, at most four. Lanes that stay free repeat the first with no volume. */
typedef struct pack {
  int count;
  int32_t lane[EB_LANES]; /* 4 batch + lane */
  int32_t node[EB_CORNERS * EB_LANES], scatter[EB_PAIRS * EB_LANES];
  eb_v4 geometry[EB_TET_GEOMETRY], mu, lambda;
  eb_v4 rotation[4], stale[EB_CORNERS][4];
} pack;

static void copy_lane(const eb_corotation *c, int32_t lane, double scale, int to, pack *p) {
  const eb_elasticity *e = c->elasticity;
  int64_t b = lane / EB_LANES;
  int from = lane % EB_LANES;
  const eb_v4 *geometry = tet_geometry(c, (int32_t)b);
  const eb_v4 *rotation = c->rotation + 4 * b, *stale = c->stale + 4 * EB_CORNERS * b;
  p->lane[to] = lane;
  for (int a = 0; a < EB_CORNERS; a++)
    p->node[EB_LANES * a + to] = e->node[EB_LANES * (EB_CORNERS * b + a) + from];
  for (int k = 0; k < EB_PAIRS; k++)
    p->scatter[EB_LANES * k + to] = e->scatter[EB_LANES * (EB_PAIRS * b + k) + from];
  for (int i = 0; i < EB_TET_GEOMETRY; i++) p->geometry[i][to] = geometry[i][from];
  for (int k = 0; k < 4; k++) p->rotation[k][to] = rotation[k][from];
  for (int k = 0; k < 4 * EB_CORNERS; k++) p->stale[k / 4][k % 4][to] = stale[k][from];
  p->mu[to] = scale * geometry[9][from] * tet_law(c, (int32_t)b)->mu;
  p->lambda[to] = scale * geometry[9][from] * tet_law(c, (int32_t)b)->lambda;
}

static void store_stale(eb_corotation *c, const pack *p, const eb_v4 Q[EB_CORNERS][4]) {
  for (int l = 0; l < p->count; l++) {
    int64_t b = p->lane[l] / EB_LANES;
    for (int k = 0; k < 4 * EB_CORNERS; k++)
      c->stale[4 * EB_CORNERS * b + k][p->lane[l] % EB_LANES] = Q[k / 4][k % 4][l];
  }
}

/* Adds blocks above the diagonal to their mirror images too. */
static void scatter_pack(const eb_corotation *c, const pack *p, eb_v4 block[EB_PAIRS][9],
                         double *values) {
  int pair = 0;
  for (int a = 0; a < EB_CORNERS; a++)
    for (int b = a; b < EB_CORNERS; b++, pair++) {
      const int32_t *at = p->scatter + EB_LANES * pair;
      const eb_v4 *K = block[pair];
      add_block(values, at, K);
      if (a == b) continue;
      const eb_v4 turned[9] = {K[0], K[3], K[6], K[1], K[4], K[7], K[2], K[5], K[8]};
      const int32_t *mirror = c->elasticity->mirror;
      const int32_t below[EB_LANES] = {mirror[at[0]], mirror[at[1]], mirror[at[2]], mirror[at[3]]};
      add_block(values, below, turned);
    }
}

static void refresh_pack(eb_corotation *c, pack *p, double *values) {
  eb_v4 Q[EB_CORNERS][4], fresh[EB_PAIRS][9], old[EB_PAIRS][9];
  warped w;
  if (p->count == 0) return;
  for (int l = p->count; l < EB_LANES; l++) copy_lane(c, p->lane[0], 0, l, p);
  w.mu = p->mu;
  w.lambda = p->lambda;
  set_gradients(p->geometry, &w);
  present_rotations(c, p->node, p->rotation, Q);
  warped_blocks(&w, (const eb_v4(*)[4])Q, fresh);
  warped_blocks(&w, (const eb_v4(*)[4])p->stale, old);
  for (int k = 0; k < EB_PAIRS; k++)
    for (int i = 0; i < 9; i++) fresh[k][i] -= old[k][i];
  scatter_pack(c, p, fresh, values);
  store_stale(c, p, (const eb_v4(*)[4])Q);
  p->count = 0;
}

static void refresh_chunk(eb_corotation *c, int32_t begin, int32_t end, const uint8_t *marked,
                          double scale, double *values) {
  const int32_t *element = c->elasticity->element;
  pack p = {0};
  for (int32_t lane = EB_LANES * begin; lane < EB_LANES * end; lane++) {
    if (element[lane] < 0 || !marked[element[lane]]) continue;
    copy_lane(c, lane, scale, p.count++, &p);
    if (p.count == EB_LANES) refresh_pack(c, &p, values);
  }
  refresh_pack(c, &p, values);
}

void eb_corotation_refresh(eb_corotation *c, const uint8_t *marked, double stiffness_scale,
                           eb_block_matrix *matrix) {
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
