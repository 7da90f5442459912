/* The sweep: gathers, Newton's steps on blocks of 3 x 3, and the search along them.
 *
 * Four nodes are worked on at a time, one a lane, and in every round an element of each: three rows
 * of four numbers an element are loaded and transposed for positions and for gradients. Laws of
 * invariants go by eb_law_node; the others are decomposed, eight points at a time, and
 *   P g = U (slope * h),   d(P g)/dx = U C U^T,   h = V^T g,
 *   C_kk = scaling_kk h_k^2 + direct_km h_m^2 + direct_kn h_n^2,   C_kl = (scaling_kl + cross_kl)
 * h_k h_l with the projected tangent (law.h), so that every block is positive definite with its
 * inertia. */
#include "solvers/vertex_block/sweep.h"

#include <math.h>

#include "problems/base/vector3.h"
#include "problems/elasticity/svd3.h"

enum { MOST_NODES = 8, MOST_POINTS = 8 };

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Points of the elements of some rounds: F, the gradient g of the node that is visited, the volume.
 */
typedef struct points {
  eb_v4 F[MOST_POINTS][9], g[MOST_POINTS][3], volume[MOST_POINTS];
  /* of the controls, sums over rounds: pull, the number that their block is of I, and an energy
   * that differs from theirs by what does not depend on the visited nodes */
  eb_v4 control_pull[3], control_block, control_energy;
} points;

EB_INLINE void clear_control(points *p) {
  const eb_v4 zero = {0};
  for (int i = 0; i < 3; i++) p->control_pull[i] = zero;
  p->control_block = p->control_energy = zero;
}

/* Four rows as columns. */
EB_INLINE void load_rows(const eb_v4 *const row[EB_LANES], eb_v4 column[EB_ROW]) {
  const eb_v4 rows[EB_LANES] = {*row[0], *row[1], *row[2], *row[3]};
  eb_v4_transpose(rows, column);
}

/* Control of hourglass modes, of a node a with edges to the others: sum_b K_ab x_b is sum K_ab (x_b
 * - x_a) by the zero sums of K, and with K_aa = -sum K_ab the energy is -1/2 sum K_ab |x_b - x_a|^2
 * but for a constant. */
EB_INLINE void add_control(int A, const eb_vertex_blocks *b, const int32_t *visit,
                           const eb_v4 edge[MOST_NODES - 1][EB_ROW], points *out) {
  for (int a = 1; a < A; a++) {
    eb_v4 K;
    for (int l = 0; l < EB_LANES; l++)
      K[l] = b->control[(int64_t)visit[l] * A + (visit[l] % A + a) % A];
    for (int i = 0; i < 3; i++) out->control_pull[i] += K * edge[a - 1][i];
    out->control_block -= K;
    out->control_energy -= 0.5 * K * eb_v4_dot3(edge[a - 1], edge[a - 1]);
  }
}

/* The points of one round, from `to` on, where the visited nodes are at x. */
EB_INLINE void load_round(int A, int Q, const eb_vertex_step *step, int32_t round, const eb_v4 x[3],
                          int to, points *out) {
  const eb_vertex_blocks *b = step->blocks;
  const int32_t *visit = b->visit + EB_LANES * (int64_t)round;
  const int32_t *corner[EB_LANES];
  const eb_v4 *rest[EB_LANES];
  int place[EB_LANES];
  eb_v4 edge[MOST_NODES - 1][EB_ROW];
  for (int l = 0; l < EB_LANES; l++) {
    int64_t element = visit[l] / A;
    place[l] = visit[l] % A;
    corner[l] = b->corner + element * A;
    rest[l] = b->rest + element * Q * A;
  }
#pragma GCC unroll 8
  for (int a = 1; a < A; a++) {
    const eb_v4 *row[EB_LANES];
    for (int l = 0; l < EB_LANES; l++) row[l] = step->x + corner[l][(place[l] + a) % A];
    load_rows(row, edge[a - 1]);
    for (int i = 0; i < 3; i++) edge[a - 1][i] -= x[i];
  }
  if (A == 8 && Q == 1 && b->control) add_control(A, b, visit, (const eb_v4(*)[EB_ROW])edge, out);
  for (int q = 0; q < Q; q++) {
    eb_v4 *F = out->F[to + q], *g = out->g[to + q];
#pragma GCC unroll 8
    for (int a = 1; a < A; a++) {
      const eb_v4 *row[EB_LANES];
      eb_v4 other[EB_ROW];
      for (int l = 0; l < EB_LANES; l++) row[l] = rest[l] + q * A + (place[l] + a) % A;
      load_rows(row, other);
      for (int i = 0; i < 9; i++) {
        eb_v4 term = edge[a - 1][i / 3] * other[i % 3];
        F[i] = a == 1 ? term : F[i] + term;
      }
      for (int k = 0; k < 3; k++) g[k] = a == 1 ? -other[k] : g[k] - other[k];
      if (a == 1) out->volume[to + q] = other[3];
    }
  }
}

/* The fibres of a round's elements. */
EB_INLINE void load_fibres(int A, const eb_vertex_blocks *b, int32_t round, eb_v4 a[EB_ROW]) {
  const eb_v4 *row[EB_LANES];
  for (int l = 0; l < EB_LANES; l++)
    row[l] = b->fibre + b->visit[EB_LANES * (int64_t)round + l] / A;
  load_rows(row, a);
}

/* ---- terms of a node ------------------------------------------------------------------------- */

/* C of the frame, turned back: block = U C U^T, 00 11 22 12 02 01. */
EB_INLINE void turn_block(const eb_v4 U[9], const eb_v4 C[6], eb_v4 block[6]) {
  eb_v4 T[9];
  for (int i = 0; i < 3; i++) {
    const eb_v4 *u = U + 3 * i;
    T[3 * i] = u[0] * C[0] + u[1] * C[5] + u[2] * C[4];
    T[3 * i + 1] = u[0] * C[5] + u[1] * C[1] + u[2] * C[3];
    T[3 * i + 2] = u[0] * C[4] + u[1] * C[3] + u[2] * C[2];
  }
  for (int k = 0; k < 3; k++) {
    block[k] = eb_v4_dot3(T + 3 * k, U + 3 * k);
    block[3 + k] = eb_v4_dot3(T + 3 * ((k + 1) % 3), U + 3 * ((k + 2) % 3));
  }
}

EB_INLINE void frame_terms(const eb_law *law, const eb_v4 U[9], const eb_v4 s[3], const eb_v4 V[9],
                           const eb_v4 g[3], eb_node_terms *out) {
  eb_principal_tangent t;
  eb_v4 h[3], C[6], pull[3];
  eb_law_tangent(law, s, true, &t);
  for (int k = 0; k < 3; k++) h[k] = V[k] * g[0] + V[3 + k] * g[1] + V[6 + k] * g[2];
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    C[k] = t.scaling[k] * h[k] * h[k] + t.direct[m] * h[l] * h[l] + t.direct[l] * h[m] * h[m];
    C[3 + k] = (t.scaling[3 + k] + t.cross[k]) * h[l] * h[m];
    pull[k] = t.slope[k] * h[k];
  }
  turn_block(U, C, out->block);
  for (int i = 0; i < 3; i++) out->pull[i] = eb_v4_dot3(U + 3 * i, pull);
}

/* mu |g|^2 I + (mu + lambda) r r^T with r = R g: linear elasticity in the frame R. */
EB_INLINE void linear_terms(const eb_law *law, const eb_v4 R[9], const eb_v4 g[3],
                            eb_node_terms *out) {
  eb_v4 r[3], own = law->mu * eb_v4_dot3(g, g), across = eb_v4_set(law->mu + law->lambda);
  for (int i = 0; i < 3; i++) r[i] = law->rotates ? eb_v4_dot3(R + 3 * i, g) : g[i];
  for (int k = 0; k < 3; k++) {
    out->block[k] = own + across * r[k] * r[k];
    out->block[3 + k] = across * r[(k + 1) % 3] * r[(k + 2) % 3];
  }
}

/* The pull of law and fibre together, and the fibre's block. */
EB_INLINE void add_fibre_terms(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9],
                               const eb_v4 fibre[3], const eb_v4 g[3], eb_node_terms *out) {
  eb_v4 P[9], M[6];
  eb_law_stress(law, F, R, fibre, P);
  for (int i = 0; i < 3; i++) out->pull[i] = eb_v4_dot3(P + 3 * i, g);
  if (!law->fibre) return;
  eb_v4 along = eb_v4_dot3(g, fibre);
  eb_law_fibre_tangent(law, F, fibre, true, M);
  for (int k = 0; k < 6; k++) out->block[k] += along * along * M[k];
}

/* Adds the terms of n points of one law. */
static void add_points(const eb_law *law, int n, const points *p, const eb_v4 *fibre,
                       eb_node_terms *sum) {
  bool plain = eb_law_serves_node(law);
  eb_v4 U[MOST_POINTS][9], s[MOST_POINTS][3], V[MOST_POINTS][9], R[9] = {{0}};
  if (!plain && eb_law_needs_frame(law)) eb_svd3(n, p->F, U, s, V);
  for (int q = 0; q < n; q++) {
    eb_node_terms own;
    if (law->rotates && (law->linear || law->fibre)) eb_rotation3(U[q], V[q], R);
    if (plain)
      eb_law_node(law, p->F[q], p->g[q], &own);
    else if (law->linear)
      linear_terms(law, R, p->g[q], &own);
    else
      frame_terms(law, U[q], s[q], V[q], p->g[q], &own);
    if (law->linear || law->fibre) add_fibre_terms(law, p->F[q], R, fibre, p->g[q], &own);
    for (int i = 0; i < 3; i++) sum->pull[i] += p->volume[q] * own.pull[i];
    for (int k = 0; k < 6; k++) sum->block[k] += p->volume[q] * own.block[k];
  }
}

/* How many rounds from `round` on are of one law and fit the points; with fibres one alone. */
EB_INLINE int rounds_together(int Q, const eb_vertex_blocks *b, int32_t round, int32_t end) {
  int n = 1;
  while (!b->fibre && n < MOST_POINTS / Q && round + n < end && b->law[round + n] == b->law[round])
    n++;
  return n;
}

/* Terms of the elements around a group's nodes, which are at x. */
EB_INLINE void elastic_terms(int A, int Q, const eb_vertex_step *step, int32_t group,
                             const eb_v4 x[3], eb_node_terms *sum) {
  const eb_vertex_blocks *b = step->blocks;
  points p;
  eb_v4 fibre[EB_ROW] = {{0}};
  *sum = (eb_node_terms){0};
  clear_control(&p);
  for (int32_t r = b->round_start[group], end = b->round_start[group + 1]; r < end;) {
    int n = rounds_together(Q, b, r, end);
    for (int k = 0; k < n; k++) load_round(A, Q, step, r + k, x, k * Q, &p);
    if (b->fibre) load_fibres(A, b, r, fibre);
    add_points(&b->laws[b->law[r]], n * Q, &p, fibre, sum);
    r += n;
  }
  if (!b->control) return;
  for (int k = 0; k < 3; k++) {
    sum->pull[k] += p.control_pull[k];
    sum->block[k] += p.control_block;
  }
}

/* Their energies. */
EB_INLINE eb_v4 elastic_energy(int A, int Q, const eb_vertex_step *step, int32_t group,
                               const eb_v4 x[3]) {
  const eb_vertex_blocks *b = step->blocks;
  points p;
  eb_v4 fibre[EB_ROW] = {{0}}, sum = {0}, psi, R[9] = {{0}};
  clear_control(&p);
  for (int32_t r = b->round_start[group]; r < b->round_start[group + 1]; r++) {
    const eb_law *law = &b->laws[b->law[r]];
    load_round(A, Q, step, r, x, 0, &p);
    if (b->fibre) load_fibres(A, b, r, fibre);
    for (int q = 0; q < Q; q++) {
      if (law->rotates) eb_polar3(p.F[q], R);
      eb_law_energy(law, p.F[q], R, fibre, &psi);
      sum += p.volume[q] * psi;
    }
  }
  return sum + p.control_energy;
}

/* ---- contact --------------------------------------------------------------------------------- */

/* Adds the push k depth n of implicit colliders to one lane's force, and k n n^T to its block;
 * returns their energy 1/2 k depth^2. `terms` NULL: the energy alone. */
static double add_contact(const eb_vertex_step *step, int32_t node, const double x[3], int lane,
                          eb_node_terms *terms) {
  const eb_scene *scene = step->scene;
  double n[3], w[3], energy = 0;
  for (int32_t c = 0; scene->node_area[node] > 0 && c < scene->contacts.collider_count; c++) {
    const eb_collider *collider = &scene->contacts.colliders[c];
    if (!collider->implicit) continue;
    double depth = collider->margin - eb_collider_distance(collider, step->end, x, n, w);
    double k = collider->stiffness * scene->node_area[node];
    if (!(depth > 0)) continue;
    energy += 0.5 * k * depth * depth;
    for (int i = 0; terms && i < 3; i++) {
      int j = (i + 1) % 3, l = (i + 2) % 3;
      terms->pull[i][lane] -= k * depth * n[i];
      terms->block[i][lane] += k * n[i] * n[i];
      terms->block[3 + i][lane] += k * n[j] * n[l];
    }
  }
  return energy;
}

static void add_contacts(const eb_vertex_step *step, const int32_t *node, const eb_v4 x[3],
                         eb_node_terms *terms) {
  for (int l = 0; l < EB_LANES; l++) {
    const double at[3] = {x[0][l], x[1][l], x[2][l]};
    step->touches[node[l]] = add_contact(step, node[l], at, l, terms) > 0;
  }
}

/* ---- a group --------------------------------------------------------------------------------- */

/* Four nodes. */
typedef struct four_nodes {
  const int32_t *node;
  eb_v4 x[3], target[3], diagonal;
  eb_v4 free; /* 1, or 0 where a node is fixed */
} four_nodes;

EB_INLINE void load_nodes(const eb_v4 *table, const int32_t node[EB_LANES], eb_v4 column[EB_ROW]) {
  const eb_v4 *const row[EB_LANES] = {table + node[0], table + node[1], table + node[2],
                                      table + node[3]};
  load_rows(row, column);
}

/* H d = r by L D L^T, H = 00 11 22 12 02 01. */
EB_INLINE void solve(const eb_v4 H[6], const eb_v4 r[3], eb_v4 d[3]) {
  eb_v4 i0 = 1 / H[0], l1 = H[5] * i0, l2 = H[4] * i0;
  eb_v4 i1 = 1 / (H[1] - l1 * H[5]), e = H[3] - l2 * H[5], m = e * i1;
  eb_v4 i2 = 1 / (H[2] - l2 * H[4] - m * e);
  eb_v4 y1 = r[1] - l1 * r[0], y2 = r[2] - l2 * r[0] - m * y1;
  d[2] = y2 * i2;
  d[1] = y1 * i1 - m * d[2];
  d[0] = r[0] * i0 - l1 * d[1] - l2 * d[2];
}

/* Damping of the paper: k_D / h of the elements' block resists the way from x0. */
EB_INLINE void add_damping(const eb_vertex_step *step, const four_nodes *g, eb_node_terms *t) {
  eb_v4 start[EB_ROW], way[3];
  load_nodes(step->start, g->node, start);
  for (int i = 0; i < 3; i++) way[i] = step->damping * (g->x[i] - start[i]);
  const eb_v4 *H = t->block;
  t->pull[0] += H[0] * way[0] + H[5] * way[1] + H[4] * way[2];
  t->pull[1] += H[5] * way[0] + H[1] * way[1] + H[3] * way[2];
  t->pull[2] += H[4] * way[0] + H[3] * way[1] + H[2] * way[2];
  for (int k = 0; k < 6; k++) t->block[k] *= 1 + step->damping;
}

/* What of W depends on the nodes, at x. */
EB_INLINE eb_v4 local_energy(int A, int Q, const eb_vertex_step *step, int32_t index,
                             const four_nodes *g, const eb_v4 x[3]) {
  eb_v4 off[3], sum = elastic_energy(A, Q, step, index, x);
  for (int i = 0; i < 3; i++) off[i] = x[i] - g->target[i];
  for (int l = 0; step->scene && l < EB_LANES; l++) {
    const double at[3] = {x[0][l], x[1][l], x[2][l]};
    sum[l] += add_contact(step, g->node[l], at, l, NULL);
  }
  return sum + 0.5 * g->diagonal * eb_v4_dot3(off, off);
}

/* Halves steps that do not lower W, by lane, and gives them up at last. What is less than its
 * rounding is no rise. */
EB_INLINE void search(int A, int Q, const eb_vertex_step *step, int32_t index, const four_nodes *g,
                      const eb_v4 r[3], eb_v4 d[3]) {
  enum { HALVINGS = 30 };
  static const double rounding = 1e-14;
  eb_v4 before = local_energy(A, Q, step, index, g, g->x), x[3];
  for (int k = 0; k < HALVINGS; k++) {
    for (int i = 0; i < 3; i++) x[i] = g->x[i] + d[i];
    eb_v4 after = local_energy(A, Q, step, index, g, x);
    eb_v4 noise = rounding * (eb_v4_abs(before) + eb_v4_abs(after));
    /* A step whose gain drowns in rounding is judged by nothing: it is taken. */
    eb_m4 fine = (after <= before) | (eb_v4_abs(eb_v4_dot3(r, d)) <= noise);
    if (eb_m4_all(fine)) return;
    for (int i = 0; i < 3; i++)
      d[i] = eb_v4_select(fine, d[i], k + 1 < HALVINGS ? 0.5 * d[i] : eb_v4_set(0));
  }
}

EB_INLINE void step_group(int A, int Q, const eb_vertex_step *step, int32_t index) {
  const eb_vertex_blocks *b = step->blocks;
  four_nodes g = {.node = b->node + EB_LANES * (int64_t)index};
  eb_v4 column[EB_ROW], r[3], d[3], out[EB_LANES];
  eb_node_terms t;
  load_nodes(step->x, g.node, column);
  for (int i = 0; i < 3; i++) g.x[i] = column[i];
  load_nodes(step->pull, g.node, column);
  for (int i = 0; i < 3; i++) g.target[i] = column[i];
  g.diagonal = column[3];
  for (int l = 0; l < EB_LANES; l++) g.free[l] = !step->fixed[g.node[l]];
  elastic_terms(A, Q, step, index, g.x, &t);
  if (step->damping > 0) add_damping(step, &g, &t);
  if (step->scene) add_contacts(step, g.node, g.x, &t);
  for (int k = 0; k < 3; k++) {
    t.block[k] += g.diagonal;
    r[k] = g.diagonal * (g.target[k] - g.x[k]) - t.pull[k];
  }
  solve(t.block, r, d);
  for (int i = 0; i < 3; i++) d[i] *= g.free;
  if (step->searches) search(A, Q, step, index, &g, r, d);
  for (int i = 0; i < 3; i++) column[i] = g.x[i] + d[i];
  column[3] = eb_v4_max(t.block[0], eb_v4_max(t.block[1], t.block[2]));
  eb_v4_transpose(column, out);
  for (int l = 0; l < b->lanes[index]; l++) step->x[g.node[l]] = out[l];
}

/* ---- a sweep --------------------------------------------------------------------------------- */

static void step_tetrahedra(const eb_vertex_step *step, int32_t group) {
  step_group(4, 1, step, group);
}

static void step_hexahedra(const eb_vertex_step *step, int32_t group) {
  step_group(8, 8, step, group);
}

static void step_one_point(const eb_vertex_step *step, int32_t group) {
  step_group(8, 1, step, group);
}

void eb_vertex_sweep(const eb_vertex_step *step) {
  const eb_vertex_blocks *b = step->blocks;
  void (*advance)(const eb_vertex_step *, int32_t) = b->nodes == 4    ? step_tetrahedra
                                                     : b->points == 1 ? step_one_point
                                                                      : step_hexahedra;
#pragma omp parallel
  for (int32_t c = 0; c < b->colour_count; c++) {
#pragma omp for schedule(static)
    for (int32_t g = b->colour_start[c]; g < b->colour_start[c + 1]; g++) advance(step, g);
  }
}
