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

/* ---- assembly -------------------------------------------------------------------------------------- */

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

/* Marked elements of one chunk, at most four. Blocks above the diagonal have a second place below it. */
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

/* Finds the places of one lane and asks for their blocks, which arrive while other elements are computed. */
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

/* Both blocks are rounded before they are subtracted: where nothing has turned the difference is zero. */
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
