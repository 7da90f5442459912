/* Loops over the elements of an audit: slower than what they judge. They are cut into lanes, which idle cores take; lanes are the same, and summed in the same order, whoever
 * took them: so are the figures on every machine and run.
 *
 *   F = sum_a x_a (x) dN_a/dX,   g_a = sum_q w_q P(F_q) dN_a/dX,   (K v)_a = sum_q w_q (dP/dF : sum_b v_b (x) dN_b/dX) dN_a/dX
 *
 * What rounding leaves unknown of g_a: with positions known to eps |x|, F is known to eps sum_b |x_b| |dN_b/dX| and P to (lambda + 2 mu) times that. */
#include <math.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/reference.h"
#include "harness/audit/tangent.h"
#include "problems/base/memory.h"

enum { MOST_NODES = 8 };

/* ---- rest shapes ------------------------------------------------------------------------------ */

/* Inverse transpose of the 3x3 matrix A; returns its determinant. */
static double inverse_transpose(const double A[9], double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      out[3 * i + j] = A[3 * i1 + j1] * A[3 * i2 + j2] - A[3 * i1 + j2] * A[3 * i2 + j1];
    }
  double det = A[0] * out[0] + A[1] * out[1] + A[2] * out[2];
  for (int i = 0; i < 9; i++) out[i] /= det;
  return det;
}

static const double hexahedron_corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                               {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

/* dN_a/dxi of the reference element: linear triangle (0, e1, e2), linear tetrahedron (0, e1, e2, e3), trilinear cube [-1, 1]^3. */
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

/* N_a at a quadrature point, which lumps the mass: the integral of rho N_a. */
static void reference_values(eb_element_type type, int point, double N[MOST_NODES]) {
  for (int a = 0; a < (int)type; a++) N[a] = 1. / type;
  for (int a = 0; type == EB_HEXAHEDRON && a < (int)type; a++)
    for (int d = 0; d < 3; d++)
      N[a] *= 1 + hexahedron_corner[a][d] * hexahedron_corner[point][d] / sqrt(3);
}

/* Gradients and weight of one quadrature point of one element. Triangles are slices of a solid that does not stretch along z. */
static void rest_point(const eb_mesh *mesh, const eb_material *material, int32_t e, int point,
                       double *gradients, double *weight) {
  static const double cells[] = {
      [EB_TRIANGLE] = 1. / 2, [EB_TETRAHEDRON] = 1. / 6, [EB_HEXAHEDRON] = 1};
  int nodes = (int)mesh->type;
  const int32_t *node = mesh->elements + (size_t)e * (size_t)nodes;
  double dN[MOST_NODES][3] = {{0}}, A[9] = {0}, invT[9]; /* A_ij = dX_i / dxi_j */
  reference_gradients(mesh->type, point, dN);
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) A[3 * i + j] += mesh->X[3 * (size_t)node[a] + i] * dN[a][j];
  if (mesh->type == EB_TRIANGLE) A[8] = 1;
  double det = inverse_transpose(A, invT);
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++) {
      gradients[3 * a + i] = 0;
      for (int j = 0; j < 3; j++) gradients[3 * a + i] += invT[3 * i + j] * dN[a][j];
    }
  *weight = det * cells[mesh->type];
  if (mesh->type == EB_TRIANGLE && material->thickness > 0) *weight *= material->thickness;
}

void eb_audit_rest_shapes(eb_audit *audit) {
  const eb_mesh *mesh = audit->scene->mesh;
  size_t nodes = mesh->type, points = (size_t)audit->points;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const eb_material *material = &audit->scene->materials[mesh->region[e]];
    for (size_t q = 0; q < points; q++) {
      size_t at = (size_t)e * points + q;
      double N[MOST_NODES], *g = audit->gradients + 3 * nodes * at;
      rest_point(mesh, material, e, (int)q, g, audit->weights + at);
      for (size_t a = 0; a < nodes; a++)
        audit->slopes[nodes * at + a] = sqrt(eb_audit_squared(g + 3 * a));
      reference_values(mesh->type, (int)q, N);
      for (size_t a = 0; a < nodes; a++)
        audit->mass[mesh->elements[(size_t)e * nodes + a]] +=
            material->density * audit->weights[at] * N[a];
    }
  }
}

/* ---- a point of an element -------------------------------------------------------------------- */

typedef struct point {
  const int32_t *node;
  const double *g, *slope; /* gradients of the shape functions and their lengths */
  const double *fibre;     /* or NULL */
  const eb_material *material;
  double weight;
  size_t nodes;
  bool planar, rigid;
} point;

static point point_of(const eb_audit *audit, int32_t e, int q) {
  const eb_mesh *mesh = audit->scene->mesh;
  size_t nodes = mesh->type, at = (size_t)e * (size_t)audit->points + (size_t)q;
  return (point){.node = mesh->elements + (size_t)e * nodes,
                 .g = audit->gradients + 3 * nodes * at,
                 .slope = audit->slopes + nodes * at,
                 .fibre = mesh->fibre ? mesh->fibre + 3 * (size_t)e : NULL,
                 .material = &audit->materials[mesh->region[e]],
                 .weight = audit->weights[at],
                 .nodes = nodes,
                 .planar = mesh->type == EB_TRIANGLE,
                 .rigid = audit->scene->rigid[mesh->region[e]] != 0};
}

/* Loops over an element's nodes are unrolled where there are as many as most meshes have. */
#define EB_UNROLLED static inline __attribute__((always_inline))

EB_UNROLLED void sum_products(const point *p, size_t nodes, const double *y, double sum[9]) {
  for (size_t a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) sum[3 * i + j] += y[3 * (size_t)p->node[a] + i] * p->g[3 * a + j];
}

/* sum_a y_a (x) dN_a/dX; its last row and column are those of the solid that a planar element is a
 * slice of: `out_of_plane` on the diagonal. */
static void gradient_of(const point *p, const double *y, double out_of_plane, double out[9]) {
  double sum[9] = {0};
  if (p->nodes == EB_TETRAHEDRON)
    sum_products(p, EB_TETRAHEDRON, y, sum);
  else
    sum_products(p, p->nodes, y, sum);
  for (int k = 0; p->planar && k < 3; k++) sum[6 + k] = k == 2 ? out_of_plane : 0;
  memcpy(out, sum, sizeof sum);
}

/* `to` begins with node `low`. */
EB_UNROLLED double add_forces(const eb_audit *audit, const point *p, size_t nodes,
                              const double P[9], size_t low, double *to) {
  double scale2 = 0;
  for (size_t a = 0; a < nodes; a++) {
    const double *g = p->g + 3 * a;
    double f[3];
    for (int i = 0; i < 3; i++)
      f[i] = p->weight * (P[3 * i] * g[0] + P[3 * i + 1] * g[1] + P[3 * i + 2] * g[2]);
    scale2 += audit->fixed[p->node[a]] ? 0 : eb_audit_squared(f);
    for (int i = 0; i < 3; i++) to[3 * ((size_t)p->node[a] - low) + (size_t)i] += f[i];
  }
  return scale2;
}

/* Adds w P dN_a/dX to the forces `to` of the lane's nodes; returns the squared size of what free
 * nodes get. P is that of point k of a batch. */
static double scatter(const eb_audit *audit, const point *p, const eb_four stress[9], int k,
                      const eb_audit_lane *lane, double *to) {
  double P[9];
  for (int i = 0; i < 9; i++) P[i] = p->planar && i >= 6 ? 0 : stress[i][k];
  return p->nodes == EB_TETRAHEDRON ? add_forces(audit, p, EB_TETRAHEDRON, P, lane->low, to)
                                    : add_forces(audit, p, p->nodes, P, lane->low, to);
}

/* Squared, over free nodes; 1e-8 stands for eps: see audit.h. */
static double unknown_forces(const eb_audit *audit, const point *p) {
  static const double resolution = 1e-8;
  double E = p->material->young, nu = p->material->poisson, reach = 0, slopes2 = 0;
  double modulus = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu));
  for (size_t a = 0; a < p->nodes; a++) {
    reach += audit->distance[p->node[a]] * p->slope[a];
    if (!audit->fixed[p->node[a]]) slopes2 += p->slope[a] * p->slope[a];
  }
  double size = resolution * p->weight * modulus * reach;
  return size * size * slopes2;
}

/* ---- lanes ------------------------------------------------------------------------------------ */

static void find_reach(const eb_mesh *mesh, eb_audit_lane *lane) {
  size_t nodes = mesh->type;
  lane->low = lane->first < lane->last ? (size_t)mesh->node_count : 0;
  for (size_t k = nodes * (size_t)lane->first; k < nodes * (size_t)lane->last; k++) {
    size_t node = (size_t)mesh->elements[k];
    lane->low = node < lane->low ? node : lane->low;
    lane->high = node >= lane->high ? node + 1 : lane->high;
  }
}

eb_error eb_audit_cut_lanes(eb_audit *audit) {
  const eb_mesh *mesh = audit->scene->mesh;
  for (int l = 0; l < EB_AUDIT_LANES; l++) {
    eb_audit_lane *lane = &audit->lanes[l];
    lane->first = (int32_t)((int64_t)mesh->element_count * l / EB_AUDIT_LANES);
    lane->last = (int32_t)((int64_t)mesh->element_count * (l + 1) / EB_AUDIT_LANES);
    find_reach(mesh, lane);
    for (int k = 0; k < EB_AUDIT_MOTIONS; k++)
      EB_TRY(EB_NEW(lane->g[k], 3 * (lane->high - lane->low)));
  }
  return EB_OK;
}

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

static void clear_lane(const sweep *s, const eb_audit_lane *lane) {
  for (int m = 0; m < s->motions; m++)
    memset(lane->g[m], 0, 3 * (lane->high - lane->low) * sizeof **lane->g);
}

/* ---- batches ----------------------------------------------------------------------------------
 * */

/* Points of one material, up to four, whose gradients are those of the lanes of F; lanes without a
 * point hold what is left of an earlier one. */
typedef struct batch {
  int count;
  point points[EB_FOUR];
  eb_four F[9], fibre[3];
  eb_four dF[EB_AUDIT_MOTIONS][9];
} batch;

static bool takes(const batch *b, const point *p) {
  return b->count < EB_FOUR && (b->count == 0 || b->points[0].material == p->material);
}

static void put(const double from[], int count, int k, eb_four to[]) {
  for (int i = 0; i < count; i++) to[i][k] = from[i];
}

static void add_to_batch(batch *b, const point *p, const double F[9]) {
  put(F, 9, b->count, b->F);
  if (p->fibre) put(p->fibre, 3, b->count, b->fibre);
  b->points[b->count++] = *p;
}

static const eb_four *fibres_of(const batch *b) {
  return b->points[0].fibre ? b->fibre : NULL;
}

/* ---- forces ----------------------------------------------------------------------------------- */

static void add_stresses(const sweep *s, const eb_audit_lane *lane, batch *b,
                         eb_audit_elastic *sum) {
  eb_four psi, P[9];
  if (b->count == 0) return;
  eb_reference_material(b->points[0].material, b->F, fibres_of(b), &psi, P);
  for (int k = 0; k < b->count; k++) {
    const point *p = &b->points[k];
    sum->energy += p->weight * psi[k];
    sum->scale2 += scatter(s->audit, p, P, k, lane, lane->g[0]);
    sum->rounding2 += unknown_forces(s->audit, p);
  }
  b->count = 0;
}

static double determinant(const double F[9]) {
  return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
         F[2] * (F[3] * F[7] - F[4] * F[6]);
}

static void elastic_lane(void *context, int32_t part) {
  sweep *s = context;
  const eb_audit_lane *lane = &s->audit->lanes[part];
  eb_audit_elastic sum = {.min_volume_ratio = INFINITY};
  batch b = {0};
  clear_lane(s, lane);
  for (int32_t e = lane->first; e < lane->last; e++) {
    double least = INFINITY;
    for (int q = 0; q < s->audit->points; q++) {
      point p = point_of(s->audit, e, q);
      double F[9];
      gradient_of(&p, s->x, 1, F);
      double J = determinant(F);
      least = J < least || isnan(J) ? J : least;
      if (p.rigid) continue;
      if (!takes(&b, &p)) add_stresses(s, lane, &b, &sum);
      add_to_batch(&b, &p, F);
    }
    sum.inverted += !(least > 0);
    if (least < sum.min_volume_ratio || isnan(least)) sum.min_volume_ratio = least;
  }
  add_stresses(s, lane, &b, &sum);
  s->sum[part] = sum;
}

void eb_audit_elements(const eb_audit *audit, const double *x, eb_audit_elastic *out) {
  sweep s = {.audit = audit, .x = x, .motions = 1};
  for (size_t i = 0; i < audit->nodes; i++) audit->distance[i] = sqrt(eb_audit_squared(x + 3 * i));
  run_sweep(&s, elastic_lane, &out->g);
  out->energy = out->scale2 = out->rounding2 = 0;
  out->min_volume_ratio = INFINITY;
  out->inverted = 0;
  for (int l = 0; l < EB_AUDIT_LANES; l++) {
    const eb_audit_elastic *sum = &s.sum[l];
    out->energy += sum->energy;
    out->scale2 += sum->scale2;
    out->rounding2 += sum->rounding2;
    out->inverted += sum->inverted;
    if (sum->min_volume_ratio < out->min_volume_ratio || isnan(sum->min_volume_ratio))
      out->min_volume_ratio = sum->min_volume_ratio;
  }
}

/* ---- tangents --------------------------------------------------------------------------------- */

static void add_products(const sweep *s, const eb_audit_lane *lane, batch *b, double scale2[]) {
  eb_tangent_at at;
  eb_four dP[9];
  if (b->count == 0) return;
  eb_reference_tangent(b->points[0].material, s->tangent, b->F, fibres_of(b), &at);
  for (int m = 0; m < s->motions; m++) {
    eb_tangent_apply(&at, b->dF[m], dP);
    for (int k = 0; k < b->count; k++)
      scale2[m] += scatter(s->audit, &b->points[k], dP, k, lane, lane->g[m]);
  }
  b->count = 0;
}

static void tangent_lane(void *context, int32_t part) {
  sweep *s = context;
  const eb_audit_lane *lane = &s->audit->lanes[part];
  double scale2[EB_AUDIT_MOTIONS] = {0};
  batch b = {0};
  clear_lane(s, lane);
  for (int32_t e = lane->first; e < lane->last; e++)
    for (int q = 0; q < s->audit->points; q++) {
      point p = point_of(s->audit, e, q);
      double F[9], dF[9];
      if (p.rigid) continue;
      if (!takes(&b, &p)) add_products(s, lane, &b, scale2);
      for (int m = 0; m < s->motions; m++) {
        gradient_of(&p, s->v[m], 0, dF);
        put(dF, 9, b.count, b.dF[m]);
      }
      gradient_of(&p, s->x, 1, F);
      add_to_batch(&b, &p, F);
    }
  add_products(s, lane, &b, scale2);
  memcpy(s->scale2[part], scale2, sizeof scale2);
}

void eb_audit_tangent(const eb_audit *audit, const double *x, eb_tangent tangent, int motions,
                      const double *const v[], double *const out[], double scale2[]) {
  sweep s = {.audit = audit, .x = x, .v = v, .motions = motions, .tangent = tangent};
  run_sweep(&s, tangent_lane, out);
  for (int m = 0; m < motions; m++) {
    scale2[m] = 0;
    for (int l = 0; l < EB_AUDIT_LANES; l++) scale2[m] += s.scale2[l][m];
  }
}
