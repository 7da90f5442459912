/* Loops over the elements of an audit: slower than what they judge. They are cut into lanes, which
 * idle cores take; lanes are the same, and summed in the same order, whoever took them: so are the
 * figures on every machine and run.
 *
 *   F = sum_a x_a (x) dN_a/dX,   g_a = sum_q w_q P(F_q) dN_a/dX,
 *   (K v)_a = sum_q w_q (dP/dF : sum_b v_b (x) dN_b/dX) dN_a/dX
 *
 * Hexahedra of one point have the mean of dN_a/dX and the volume of the element, and control of
 * their hourglass modes besides (hourglass.c).
 *
 * What rounding leaves unknown of g_a: with positions known to eps |x|, F is known to eps sum_b
 * |x_b| |dN_b/dX| and P to (lambda + 2 mu) times that. */
#include <math.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/reference.h"
#include "harness/audit/tangent.h"
#include "problems/base/memory.h"

enum { MOST_NODES = 8 };

/* ---- rest shapes ----------------------------------------------------------------------------- */

static const double hexahedron_corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                               {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

/* dN_a/dxi of the reference element: linear triangle (0, e1, e2), linear tetrahedron (0, e1, e2,
 * e3), trilinear cube [-1, 1]^3. */
static void reference_gradients(eb_element_type type, int point, double dN[MOST_NODES][3]) {
  if (type == EB_TRIANGLE) {
    static const double triangle[3][3] = {{-1, -1, 0}, {1, 0, 0}, {0, 1, 0}};
    memcpy(dN, triangle, sizeof triangle);
    return;
  }
  if (type == EB_TETRAHEDRON) {
    static const double tetrahedron[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(dN, tetrahedron, sizeof tetrahedron);
    return;
  }
  const double(*corner)[3] = hexahedron_corner;
  double xi[3];
  for (int d = 0; d < 3; d++) xi[d] = corner[point][d] / sqrt(3);
  for (int a = 0; a < 8; a++)
    for (int d = 0; d < 3; d++) {
      int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      dN[a][d] = 0.125 * corner[a][d] * (1 + corner[a][d1] * xi[d1]) * (1 + corner[a][d2] * xi[d2]);
    }
}

/* Gradients dN_a/dX and weight of one quadrature point of one element. Triangles are slices of a
 * solid that does not stretch along z. */
static void rest_point(const eb_mesh *mesh, const eb_material *material, int32_t e, int point,
                       double *gradients, double *weight) {
  static const double cells[] = {
      [EB_TRIANGLE] = 1. / 2, [EB_TETRAHEDRON] = 1. / 6, [EB_HEXAHEDRON] = 1};
  int nodes = (int)mesh->type;
  const int32_t *node = mesh->elements + (size_t)e * (size_t)nodes;
  double dN[MOST_NODES][3] = {{0}}, A[9] = {0}, invT[9]; /* A_ij = dX_i / dxi_j, and A^-T */
  reference_gradients(mesh->type, point, dN);
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) A[3 * i + j] += mesh->X[3 * (size_t)node[a] + i] * dN[a][j];
  if (mesh->type == EB_TRIANGLE) A[8] = 1;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      invT[3 * i + j] = A[3 * i1 + j1] * A[3 * i2 + j2] - A[3 * i1 + j2] * A[3 * i2 + j1];
    }
  double det = A[0] * invT[0] + A[1] * invT[1] + A[2] * invT[2];
  for (int i = 0; i < 9; i++) invT[i] /= det;
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++) {
      gradients[3 * a + i] = 0;
      for (int j = 0; j < 3; j++) gradients[3 * a + i] += invT[3 * i + j] * dN[a][j];
    }
  *weight = det * cells[mesh->type];
  if (mesh->type == EB_TRIANGLE && material->thickness > 0) *weight *= material->thickness;
}

/* The rest shapes of a batch's points, and the first time their masses, lumped: m_a = the integral
 * of rho N_a. */
static void fill_batch(eb_audit *audit, size_t b, bool first) {
  const eb_mesh *mesh = audit->scene->mesh;
  eb_audit_batch *batch = &audit->batches[b];
  eb_audit_corner *corners = audit->corners + b * mesh->type;
  bool mean = mesh->type == EB_HEXAHEDRON && audit->points == 1;
  for (int k = 0; k < EB_FOUR; k++) {
    int64_t at = batch->first + (k < batch->count ? k : batch->count - 1);
    int32_t e = (int32_t)(at / audit->points);
    int point = (int)(at % audit->points);
    const eb_material *material = &audit->scene->materials[mesh->region[e]];
    double g[3 * MOST_NODES], share[MOST_NODES], weight;
    rest_point(mesh, material, e, point, g, &weight);
    if (mean) eb_audit_mean_point(mesh, e, g, share, &weight);
    batch->weight[k] = weight;
    for (size_t d = 0; mesh->fibre && d < 3; d++)
      batch->fibre[d][k] = mesh->fibre[3 * (size_t)e + d];
    for (size_t a = 0; a < mesh->type; a++) {
      for (size_t d = 0; d < 3; d++) corners[a].g[d][k] = g[3 * a + d];
      corners[a].slope[k] = sqrt(eb_audit_squared(g + 3 * a));
    }
    if (k >= batch->count || !first) continue;
    double N[MOST_NODES], mass = material->density * batch->weight[k];
    for (size_t a = 0; a < mesh->type; a++) N[a] = 1. / mesh->type;
    for (size_t a = 0; mesh->type == EB_HEXAHEDRON && a < mesh->type; a++)
      for (int d = 0; d < 3; d++)
        N[a] *= 1 + hexahedron_corner[a][d] * hexahedron_corner[point][d] / sqrt(3);
    for (size_t a = 0; mean && a < mesh->type; a++) N[a] = share[a];
    for (size_t a = 0; a < mesh->type; a++)
      audit->mass[mesh->elements[(size_t)e * mesh->type + a]] += mass * N[a];
  }
}

/* Cuts the points of a lane's elements into batches, which are written unless `out` is NULL;
 * returns how many. */
static size_t cut_batches(const eb_audit *audit, const eb_audit_lane *lane, eb_audit_batch *out) {
  const int32_t *region = audit->scene->mesh->region;
  int64_t points = audit->points, last = lane->last * points, own = audit->own_elements * points;
  size_t count = 0;
  for (int64_t at = lane->first * points, end; at < last; at = end, count++) {
    for (end = at + 1; end < last && end < at + EB_FOUR; end++)
      if (region[end / points] != region[at / points] || end == own) break;
    if (out)
      out[count] = (eb_audit_batch){.first = at, .count = (int32_t)(end - at), .owned = at < own};
  }
  return count;
}

/* Rest shapes, and what sweeps and equations work in. */
static eb_error make_shapes(eb_audit *audit, bool first) {
  double **const vectors[] = {&audit->own, &audit->stretch, &audit->trial, &audit->stopped};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    EB_TRY(EB_TAKE(&audit->shapes, *vectors[k], 3 * audit->nodes));
  for (eb_audit_lane *lane = audit->lanes; lane < audit->lanes + EB_AUDIT_LANES; lane++)
    for (int m = 0; m < EB_AUDIT_MOTIONS; m++)
      EB_TRY(EB_TAKE(&audit->shapes, lane->g[m], 3 * (lane->high - lane->low)));
  EB_TRY(EB_TAKE(&audit->shapes, audit->batches, audit->batch_count));
  EB_TRY(EB_TAKE(&audit->shapes, audit->corners, audit->batch_count * audit->scene->mesh->type));
  for (int l = 0; l < EB_AUDIT_LANES; l++)
    cut_batches(audit, &audit->lanes[l], audit->batches + audit->lanes[l].first_batch);
  for (size_t b = 0; b < audit->batch_count; b++) fill_batch(audit, b, first);
  return EB_OK;
}

void eb_audit_drop_shapes(eb_audit *audit) {
  eb_arena_clear(&audit->shapes);
  audit->batches = NULL;
}

eb_error eb_audit_rest_shapes(eb_audit *audit) {
  const eb_mesh *mesh = audit->scene->mesh;
  size_t nodes = mesh->type;
  for (int l = 0; l < EB_AUDIT_LANES; l++) {
    eb_audit_lane *lane = &audit->lanes[l];
    lane->first = (int32_t)((int64_t)mesh->element_count * l / EB_AUDIT_LANES);
    lane->last = (int32_t)((int64_t)mesh->element_count * (l + 1) / EB_AUDIT_LANES);
    lane->low = lane->first < lane->last ? audit->nodes : 0;
    for (size_t k = nodes * (size_t)lane->first; k < nodes * (size_t)lane->last; k++) {
      size_t node = (size_t)mesh->elements[k];
      lane->low = node < lane->low ? node : lane->low;
      lane->high = node >= lane->high ? node + 1 : lane->high;
    }
    lane->first_batch = audit->batch_count;
    audit->batch_count += cut_batches(audit, lane, NULL);
    lane->last_batch = audit->batch_count;
  }
  EB_TRY(make_shapes(audit, true));
  return mesh->type == EB_HEXAHEDRON ? eb_audit_hourglass_create(audit) : EB_OK;
}

void eb_audit_drop_caches(eb_audit *audit) {
  const size_t worth = 1 << 26; /* bytes: soon made again, but not for every step of a small mesh */
  size_t corners = audit->scene->mesh->type * sizeof *audit->corners;
  if (audit->batch_count * (sizeof *audit->batches + corners) >= worth) eb_audit_drop_shapes(audit);
}

eb_error eb_audit_restore_caches(eb_audit *audit) {
  if (audit->batches) return EB_OK;
  eb_error error = make_shapes(audit, false);
  if (error) eb_audit_drop_shapes(audit);
  return error;
}

/* ---- a batch of points ----------------------------------------------------------------------- */

/* Up to four points of one region, a lane each. */
typedef struct batch {
  const eb_audit_batch *rest;
  const eb_audit_corner *corners;
  const int32_t *node[EB_FOUR]; /* of the points' elements */
  const eb_material *material;
  const eb_four *fibre; /* or NULL */
  size_t nodes;
  bool planar, rigid;
} batch;

static batch batch_of(const eb_audit *audit, size_t b) {
  const eb_mesh *mesh = audit->scene->mesh;
  const eb_audit_batch *rest = &audit->batches[b];
  int32_t region = mesh->region[rest->first / audit->points];
  batch out = {.rest = rest,
               .corners = audit->corners + b * mesh->type,
               .material = &audit->materials[region],
               .fibre = mesh->fibre ? rest->fibre : NULL,
               .nodes = mesh->type,
               .planar = mesh->type == EB_TRIANGLE,
               .rigid = audit->scene->rigid.regions[region] != 0};
  for (int k = 0; k < EB_FOUR; k++) {
    int64_t at = rest->first + (k < rest->count ? k : rest->count - 1);
    out.node[k] = mesh->elements + (size_t)(at / audit->points) * mesh->type;
  }
  return out;
}

/* Loops over an element's nodes are unrolled where there are as many as most meshes have. */
#define EB_UNROLLED static inline __attribute__((always_inline))

EB_UNROLLED void sum_products(const batch *b, size_t nodes, const double *y, eb_four sum[9]) {
  for (size_t a = 0; a < nodes; a++) {
    const double *at[EB_FOUR];
    for (int k = 0; k < EB_FOUR; k++) at[k] = y + 3 * (size_t)b->node[k][a];
    for (int i = 0; i < 3; i++) {
      eb_four place = {at[0][i], at[1][i], at[2][i], at[3][i]};
      for (int j = 0; j < 3; j++) sum[3 * i + j] += place * b->corners[a].g[j];
    }
  }
}

/* sum_a y_a (x) dN_a/dX; its last row and column are those of the solid that a planar element is a
 * slice of: `out_of_plane` on the diagonal. */
static void gradient_of(const batch *b, const double *y, double out_of_plane, eb_four out[9]) {
  eb_four sum[9];
  for (int i = 0; i < 9; i++) sum[i] = eb_four_of(0);
  if (b->nodes == EB_TETRAHEDRON)
    sum_products(b, EB_TETRAHEDRON, y, sum);
  else
    sum_products(b, b->nodes, y, sum);
  for (int k = 0; b->planar && k < 3; k++) sum[6 + k] = eb_four_of(k == 2 ? out_of_plane : 0);
  for (int i = 0; i < 9; i++) out[i] = sum[i];
}

/* -1 at the points whose a-th node is free, 0 at others. */
EB_UNROLLED eb_four_mask free_nodes(const eb_audit *audit, const batch *b, size_t a) {
  const uint8_t *fixed = audit->fixed;
  eb_four_mask kinds = {fixed[b->node[0][a]], fixed[b->node[1][a]], fixed[b->node[2][a]],
                        fixed[b->node[3][a]]};
  return (eb_four_mask)(kinds == 0);
}

/* `to` begins with node `low`; returns the squares of the sizes of what free nodes get. */
EB_UNROLLED eb_four add_forces(const eb_audit *audit, const batch *b, size_t nodes,
                               const eb_four P[9], size_t low, double *to) {
  eb_four squares = eb_four_of(0);
  int count = b->rest->count;
  for (size_t a = 0; a < nodes; a++) {
    const eb_four *g = b->corners[a].g;
    eb_four f[3];
    for (int i = 0; i < 3; i++) f[i] = b->rest->weight * eb_four_dot3(P + 3 * i, g);
    squares += eb_four_where(free_nodes(audit, b, a), eb_four_dot3(f, f), eb_four_of(0));
    for (int k = 0; k < EB_FOUR; k++) {
      double *at = to + 3 * ((size_t)b->node[k][a] - low);
      for (int i = 0; k < count && i < 3; i++) at[i] += f[i][k];
    }
  }
  return squares;
}

static double sum_lanes(eb_four values, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += values[k];
  return sum;
}

/* Adds w P dN_a/dX to the forces `to` of the lane's nodes; returns the squared size of what free
 * nodes get. */
static double scatter(const eb_audit *audit, const batch *b, eb_four P[9],
                      const eb_audit_lane *lane, double *to) {
  for (int i = 6; b->planar && i < 9; i++) P[i] = eb_four_of(0);
  eb_four squares = b->nodes == EB_TETRAHEDRON
                        ? add_forces(audit, b, EB_TETRAHEDRON, P, lane->low, to)
                        : add_forces(audit, b, b->nodes, P, lane->low, to);
  return sum_lanes(squares, b->rest->count);
}

/* Squared, over free nodes; 1e-8 stands for eps: see audit.h. */
static double unknown_forces(const eb_audit *audit, const batch *b) {
  static const double resolution = 1e-8;
  double E = b->material->young, nu = b->material->poisson;
  double modulus = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu));
  const double *away = audit->distance;
  eb_four reach = eb_four_of(0), slopes2 = eb_four_of(0);
  for (size_t a = 0; a < b->nodes; a++) {
    eb_four distance = {away[b->node[0][a]], away[b->node[1][a]], away[b->node[2][a]],
                        away[b->node[3][a]]};
    eb_four slope = b->corners[a].slope;
    reach += distance * slope;
    slopes2 += eb_four_where(free_nodes(audit, b, a), slope * slope, eb_four_of(0));
  }
  eb_four size = resolution * b->rest->weight * modulus * reach;
  return sum_lanes(size * size * slopes2, b->rest->count);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* One sweep over the elements: what it reads, and what each lane adds up beside its forces. */
typedef struct sweep {
  const eb_audit *audit;
  const double *x;
  const double *const *v; /* motions */
  int motions;            /* forces that a lane adds up: one, or those of each motion */
  eb_tangent tangent;
  eb_audit_elastic sum[EB_AUDIT_LANES];
  double scale2[EB_AUDIT_LANES][EB_AUDIT_MOTIONS];
} sweep;

static void run_sweep(sweep *s, eb_team_work lane_of, double *const *out) {
  eb_team_run(s->audit->team, EB_AUDIT_LANES, lane_of, s);
  for (int m = 0; m < s->motions; m++) {
    memset(out[m], 0, 3 * s->audit->nodes * sizeof **out);
    for (int l = 0; l < EB_AUDIT_LANES; l++) {
      const eb_audit_lane *lane = &s->audit->lanes[l];
      for (size_t k = 3 * lane->low; k < 3 * lane->high; k++)
        out[m][k] += lane->g[m][k - 3 * lane->low];
    }
  }
}

/* ---- forces ---------------------------------------------------------------------------------- */

static void elastic_lane(void *context, int32_t part) {
  sweep *s = context;
  const eb_audit *audit = s->audit;
  const eb_audit_lane *lane = &audit->lanes[part];
  eb_audit_elastic sum = {.min_volume_ratio = INFINITY};
  double least = INFINITY; /* volume ratio of an element, whose points may be of two batches */
  memset(lane->g[0], 0, 3 * (lane->high - lane->low) * sizeof **lane->g);
  for (size_t at = lane->first_batch; at < lane->last_batch; at++) {
    batch b = batch_of(audit, at);
    eb_four F[9], P[9], psi;
    gradient_of(&b, s->x, 1, F);
    eb_four J = F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
                F[2] * (F[3] * F[7] - F[4] * F[6]);
    for (int k = 0; b.rest->owned && k < b.rest->count; k++) {
      int64_t point = (b.rest->first + k) % audit->points;
      if (point == 0) least = INFINITY;
      least = J[k] < least || isnan(J[k]) ? J[k] : least;
      if (point < audit->points - 1) continue;
      sum.inverted += !(least > 0);
      if (least < sum.min_volume_ratio || isnan(least)) sum.min_volume_ratio = least;
    }
    if (b.rigid) continue;
    eb_reference_material(b.material, F, b.fibre, &psi, P);
    double squares = scatter(audit, &b, P, lane, lane->g[0]);
    if (!b.rest->owned) continue;
    sum.energy += sum_lanes(b.rest->weight * psi, b.rest->count);
    sum.scale2 += squares;
    sum.rounding2 += unknown_forces(audit, &b);
  }
  eb_audit_hourglass_sums(audit, lane, s->x, &sum);
  sum.scale2 += eb_audit_hourglass_push(audit, lane, s->x, lane->g[0]);
  s->sum[part] = sum;
}

/* The sums of all ranks. */
static void sum_ranks(const eb_audit *audit, eb_audit_elastic *out) {
  double sums[] = {out->energy, out->scale2, out->rounding2, out->hourglass, out->inverted};
  if (!audit->ranks) return;
  eb_ranks_sum(audit->ranks, sizeof sums / sizeof *sums, sums);
  out->energy = sums[0];
  out->scale2 = sums[1];
  out->rounding2 = sums[2];
  out->hourglass = sums[3];
  out->inverted = (int32_t)sums[4];
  out->min_volume_ratio = -eb_audit_most(audit, -out->min_volume_ratio);
}

void eb_audit_elements(const eb_audit *audit, const double *x, eb_audit_elastic *out) {
  sweep s = {.audit = audit, .x = x, .motions = 1};
  for (size_t i = 0; i < audit->nodes; i++) audit->distance[i] = sqrt(eb_audit_squared(x + 3 * i));
  run_sweep(&s, elastic_lane, &out->g);
  out->energy = out->scale2 = out->rounding2 = out->hourglass = 0;
  out->min_volume_ratio = INFINITY;
  out->inverted = 0;
  for (int l = 0; l < EB_AUDIT_LANES; l++) {
    const eb_audit_elastic *sum = &s.sum[l];
    out->energy += sum->energy;
    out->scale2 += sum->scale2;
    out->rounding2 += sum->rounding2;
    out->hourglass += sum->hourglass;
    out->inverted += sum->inverted;
    if (sum->min_volume_ratio < out->min_volume_ratio || isnan(sum->min_volume_ratio))
      out->min_volume_ratio = sum->min_volume_ratio;
  }
  sum_ranks(audit, out);
  eb_audit_clusters(audit, x, out);
}

/* ---- tangents -------------------------------------------------------------------------------- */

static void tangent_lane(void *context, int32_t part) {
  sweep *s = context;
  const eb_audit_lane *lane = &s->audit->lanes[part];
  double scale2[EB_AUDIT_MOTIONS] = {0};
  for (int m = 0; m < s->motions; m++)
    memset(lane->g[m], 0, 3 * (lane->high - lane->low) * sizeof **lane->g);
  for (size_t at = lane->first_batch; at < lane->last_batch; at++) {
    batch b = batch_of(s->audit, at);
    eb_tangent_at tangent;
    eb_four F[9], dF[9], dP[9];
    if (b.rigid) continue;
    gradient_of(&b, s->x, 1, F);
    eb_reference_tangent(b.material, s->tangent, F, b.fibre, &tangent);
    for (int m = 0; m < s->motions; m++) {
      gradient_of(&b, s->v[m], 0, dF);
      eb_tangent_apply(&tangent, dF, dP);
      double squares = scatter(s->audit, &b, dP, lane, lane->g[m]);
      if (b.rest->owned) scale2[m] += squares;
    }
  }
  for (int m = 0; m < s->motions; m++)
    scale2[m] += eb_audit_hourglass_push(s->audit, lane, s->v[m], lane->g[m]);
  memcpy(s->scale2[part], scale2, sizeof scale2);
}

void eb_audit_tangent(const eb_audit *audit, const double *x, eb_tangent tangent, int motions,
                      const double *const v[], double *const out[], double scale2[]) {
  sweep s = {.audit = audit, .x = x, .v = v, .motions = motions, .tangent = tangent};
  run_sweep(&s, tangent_lane, out);
  for (int m = 0; m < motions; m++) {
    scale2[m] = 0;
    for (int l = 0; l < EB_AUDIT_LANES; l++) scale2[m] += s.scale2[l][m];
    scale2[m] = eb_audit_sum(audit, scale2[m]);
    eb_audit_clusters_tangent(audit, x, tangent, v[m], out[m], &scale2[m]);
  }
}
