/* The sweep of element_kernels.h around stresses that come from outside.
 *
 * A group is eight points: eight batches of tetrahedra, or one of hexahedra with all its points, so
 * that a map may decompose its F together (svd3.h) and an indirect call costs nothing. */
#include "problems/elasticity/point_sweep.h"

#include "problems/base/memory.h"
#include "problems/elasticity/element_kernels.h"

typedef eb_v4 element_edges[EB_MAX_INNER][3];

/* Batches first .. first + batches - 1 into a group. */
EB_INLINE void gather_points(int A, int Q, const eb_elasticity *e, int32_t first, int32_t batches,
                             const double *x, eb_points *points, element_edges *edge) {
  points->first = first * Q;
  points->count = batches * Q;
  for (int k = 0; k < batches; k++) {
    int32_t b = first + k;
    const eb_v4 *g = geometry_of(e, A, Q, b);
    gather_edges(A, e->node + (int64_t)b * A * EB_LANES, x, edge[k]);
    for (int q = 0; q < Q; q++, g += 3 * (A - 1) + 1) {
      points->law[k * Q + q] = &e->laws[e->batch_law[b]];
      deformation(A, edge[k], g, points->F[k * Q + q]);
    }
  }
}

/* One chunk; returns its energy. */
EB_INLINE double sweep_chunk(int A, int Q, const eb_elasticity *e, int32_t chunk, const double *x,
                             eb_point_map *map, void *context, double *gradient) {
  eb_v4 force[EB_MAX_INNER][3], energy = {0};
  element_edges edge[EB_SWEEP_POINTS];
  eb_points points;
  const int32_t end = e->chunk_start[chunk + 1], most = EB_SWEEP_POINTS / Q;
  for (int32_t b = e->chunk_start[chunk]; b < end; b += most) {
    int32_t batches = end - b < most ? end - b : most;
    gather_points(A, Q, e, b, batches, x, &points, edge);
    map(context, &points);
    for (int k = 0; k < batches; k++) {
      const eb_v4 *g = geometry_of(e, A, Q, b + k);
      for (int q = 0; q < Q; q++, g += 3 * (A - 1) + 1) {
        add_force(A, points.P[k * Q + q], g, q == 0, force);
        energy += g[3 * (A - 1)] * points.psi[k * Q + q];
      }
      if (controlled(A, Q, e)) {
        add_hourglass_force(hourglass_of(e, b + k), edge[k], force);
        energy += hourglass_energy(hourglass_of(e, b + k), edge[k]);
      }
      scatter_force(A, e->node + (int64_t)(b + k) * A * EB_LANES, force, gradient);
    }
  }
  return eb_v4_sum(energy);
}

/* The kernels at their numbers of corners and points, so that loops unroll. */
static double chunk_of(const eb_elasticity *e, int32_t chunk, const double *x, eb_point_map *map,
                       void *context, double *g) {
  if (e->kernels->nodes == EB_TETRAHEDRON)
    return sweep_chunk(EB_TETRAHEDRON, 1, e, chunk, x, map, context, g);
  return e->kernels->points == 1 ? sweep_chunk(EB_HEXAHEDRON, 1, e, chunk, x, map, context, g)
                                 : sweep_chunk(EB_HEXAHEDRON, 8, e, chunk, x, map, context, g);
}

eb_error eb_point_sweep_create(const eb_elasticity *elasticity, eb_point_sweep *out) {
  const eb_kernels *kernels = elasticity->kernels;
  *out = (eb_point_sweep){.elasticity = elasticity,
                          .points = elasticity->batch_count * kernels->points,
                          .per_batch = kernels->points};
  if (kernels->nodes < EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "a sweep over points needs tetrahedra or hexahedra");
  return EB_NEW(out->energy, elasticity->chunk_count);
}

void eb_point_sweep_clear(eb_point_sweep *sweep) {
  free(sweep->energy);
  *sweep = (eb_point_sweep){0};
}

double eb_point_sweep_run(const eb_point_sweep *sweep, const double *x, eb_point_map *map,
                          void *context, double *g) {
  const eb_elasticity *e = sweep->elasticity;
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t c; (c = eb_schedule_take(s)) >= 0;) {
    eb_elements_open_gradient(e, c, g);
    sweep->energy[c] = chunk_of(e, c, x, map, context, g);
    eb_schedule_finish(s, c);
  }
  double energy = 0;
  for (int32_t c = 0; c < e->chunk_count; c++)
    if (!e->uncounted || !e->uncounted[c]) energy += sweep->energy[c];
  return energy;
}

/* ---- the matrix that three components share -------------------------------------------------- */

/* Adds the upper triangle of a matrix among the nodes of one element. */
static void add_upper(const eb_elasticity *e, int32_t batch, int lane, double (*K)[EB_MAX_NODES],
                      double *value) {
  const int A = e->kernels->nodes;
  const int32_t *at = e->scatter + (int64_t)batch * (A * (A + 1) / 2) * EB_LANES + lane;
  for (int a = 0; a < A; a++)
    for (int b = a; b < A; b++, at += EB_LANES) value[*at] += K[a][b];
}

/* w weight G G^T of all points of an element of a batch, G_0 from the zero sum of the gradients.
 * Repeated lanes have no volume. */
static void add_points(const eb_elasticity *e, int32_t batch, int lane, double weight,
                       double (*K)[EB_MAX_NODES]) {
  const int A = e->kernels->nodes, Q = e->kernels->points;
  const eb_v4 *g = geometry_of(e, A, Q, batch);
  for (int q = 0; q < Q; q++, g += 3 * (A - 1) + 1) {
    double G[EB_MAX_NODES][3] = {{0}}, w = weight * g[3 * (A - 1)][lane];
    for (int a = 1; a < A; a++)
      for (int i = 0; i < 3; i++) {
        G[a][i] = g[3 * (a - 1) + i][lane];
        G[0][i] -= G[a][i];
      }
    for (int a = 0; a < A; a++)
      for (int b = a; b < A; b++)
        K[a][b] += w * (G[a][0] * G[b][0] + G[a][1] * G[b][1] + G[a][2] * G[b][2]);
  }
}

/* The hourglass matrix, row and column 0 from its zero sums. */
static void add_control(const eb_elasticity *e, int32_t batch, int lane,
                        double (*K)[EB_MAX_NODES]) {
  const eb_v4 *control = hourglass_of(e, batch);
  for (int a = 0; a < EB_MAX_INNER; a++)
    for (int b = 0; b < EB_MAX_INNER; b++) {
      double k = hourglass_entry(control, a, b)[lane];
      if (a <= b) K[a + 1][b + 1] += k;
      K[0][b + 1] -= k;
      K[0][0] += k;
    }
}

void eb_point_sweep_matrix(const eb_point_sweep *sweep, double (*weight)(const eb_law *law),
                           double *value) {
  const eb_elasticity *e = sweep->elasticity;
  const eb_block_matrix *pattern = e->pattern;
  for (int32_t b = 0; b < e->batch_count; b++)
    for (int lane = 0; lane < EB_LANES; lane++) {
      double K[EB_MAX_NODES][EB_MAX_NODES] = {{0}};
      add_points(e, b, lane, weight(&e->laws[e->batch_law[b]]), K);
      if (controlled(e->kernels->nodes, e->kernels->points, e)) add_control(e, b, lane, K);
      add_upper(e, b, lane, K, value);
    }
  for (int32_t i = 0; i < pattern->rows; i++)
    for (int32_t b = pattern->diagonal[i] + 1; b < pattern->start[i + 1]; b++)
      value[e->mirror[b]] = value[b];
}
