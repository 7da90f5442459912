/* Clusters of nodes (problems/scene_impl.h): from the nodes and stiffness alone, with shapes at
 * rest, rotations and tangents of its own. With means taken off, p_a = x_a - xm, q_a = X_a - Xm,
 *
 *   E = k/2 sum |p_a - R q_a|^2,   g_a = k (p_a - R q_a),
 *   K v at a = k (v_a - vm - W q_a),
 *
 * R the rotation nearest to sum p_a q_a^T, W = dR by the velocities. With U diag(s) V^T = sum p_a
 * q_a^T and Y = U^T (sum v_a q_a^T) V it is U Z V^T, Z_ij = (Y_ij - Y_ji) / (s_i + s_j). For
 * EB_TANGENT_PROJECTED, what is taken off is cut to what leaves the cluster's tangent positive: of
 * z_m = (Y_ij - Y_ji) / sqrt(s_i + s_j), the parts along those eigenvectors of G whose eigenvalue l
 * is above 1 are divided by l, where G is the Gram matrix of the linear forms z_m,
 *
 *   G_mn = (d_ik J_jl - d_il J_jk - d_jk J_il + d_jl J_ik) / sqrt((s_i + s_j) (s_k + s_l))
 *
 * for m = (i, j), n = (k, l) and J = V^T (sum q q^T) V. In EB_TANGENT_ROTATED, W = 0.
 *
 * Two nodes are a spring, k/4 (|x_i - x_j| - L)^2, by the same formulas: what a decomposition makes
 * of the plane across a line has no part in R q. Forces between the nodes of a cluster have neither
 * a sum nor a moment: momentum and flights know nothing of them. */
#include <math.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/reference.h"
#include "problems/base/vector3.h"

/* One of them, and how it stands. */
typedef struct shape {
  int32_t count;
  const int32_t *node;
  double stiffness;
  double rest[3], mean[3]; /* means of the nodes at rest and now, m */
  double U[9], s[3], V[9]; /* of sum p q^T */
  double R[9];
} shape;

static void mean_of(const shape *c, const double *x, double mean[3]) {
  for (int d = 0; d < 3; d++) mean[d] = 0;
  for (int32_t a = 0; a < c->count; a++) eb_add3(1. / c->count, x + 3 * (size_t)c->node[a], mean);
}

/* y of its a-th node off the mean. */
static void off_mean(const shape *c, const double *y, const double mean[3], int32_t a,
                     double out[3]) {
  for (size_t d = 0; d < 3; d++) out[d] = y[3 * (size_t)c->node[a] + d] - mean[d];
}

/* sum y_a q_a^T */
static void moment(const eb_audit *audit, const shape *c, const double *y, const double mean[3],
                   double out[9]) {
  for (int i = 0; i < 9; i++) out[i] = 0;
  for (int32_t a = 0; a < c->count; a++) {
    double p[3], q[3];
    off_mean(c, y, mean, a, p);
    off_mean(c, audit->scene->mesh->X, c->rest, a, q);
    for (int i = 0; i < 9; i++) out[i] += p[i / 3] * q[i % 3];
  }
}

static shape shape_at(const eb_audit *audit, int32_t number, const double *x) {
  const eb_cluster_set *set = &audit->scene->clusters;
  shape c = {.count = set->start[number + 1] - set->start[number],
             .node = set->node + set->start[number],
             .stiffness = set->stiffness[number]};
  double A[9];
  mean_of(&c, audit->scene->mesh->X, c.rest);
  mean_of(&c, x, c.mean);
  moment(audit, &c, x, c.mean, A);
  eb_reference_svd(A, c.U, c.s, c.V);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.R[3 * i + j] = eb_dot3(c.U + 3 * i, c.V + 3 * j);
  return c;
}

void eb_audit_clusters(const eb_audit *audit, const double *x, eb_audit_elastic *out) {
  static const double resolution = 1e-8; /* of places: audit.h */
  for (int32_t number = 0; number < audit->scene->clusters.count; number++) {
    const shape c = shape_at(audit, number, x);
    double reach = 0;
    for (int32_t a = 0; a < c.count; a++)
      reach += sqrt(eb_audit_squared(x + 3 * (size_t)c.node[a])) / c.count;
    for (int32_t a = 0; a < c.count; a++) {
      const size_t at = 3 * (size_t)c.node[a];
      double p[3], q[3], turned[3], off2 = 0;
      off_mean(&c, x, c.mean, a, p);
      off_mean(&c, audit->scene->mesh->X, c.rest, a, q);
      eb_turn3(c.R, q, turned);
      for (size_t d = 0; d < 3; d++) {
        double off = p[d] - turned[d];
        out->g[at + d] += c.stiffness * off;
        off2 += off * off;
      }
      out->energy += 0.5 * c.stiffness * off2;
      if (audit->fixed[c.node[a]]) continue;
      double unknown = resolution * c.stiffness * (sqrt(eb_audit_squared(x + at)) + reach);
      out->scale2 += c.stiffness * c.stiffness * off2;
      out->rounding2 += unknown * unknown;
    }
  }
}

/* ---- tangents -------------------------------------------------------------------------------- */

/* Plane m is that of the two other axes. */
static int first_of(int m) {
  return m == 0 ? 1 : 0;
}

static int second_of(int m) {
  return m == 2 ? 1 : 2;
}

/* Cuts z, which is over root, to what leaves the tangent positive. */
static void project(const double J[9], const double root[3], double z[3]) {
  double G[9], Q[9], l[3], T[9], cut[3] = {0};
  for (int m = 0; m < 3; m++)
    for (int n = 0; n < 3; n++) {
      int i = first_of(m), j = second_of(m), k = first_of(n), e = second_of(n);
      G[3 * m + n] = ((i == k) * J[3 * j + e] - (i == e) * J[3 * j + k] - (j == k) * J[3 * i + e] +
                      (j == e) * J[3 * i + k]) /
                     (root[m] * root[n]);
    }
  eb_reference_svd(G, Q, l, T); /* of a symmetric positive matrix: Q = T */
  for (int e = 0; e < 3; e++) {
    double part = (T[e] * z[0] + T[3 + e] * z[1] + T[6 + e] * z[2]) / fmax(1, l[e]);
    for (int m = 0; m < 3; m++) cut[m] += T[3 * m + e] * part;
  }
  for (int m = 0; m < 3; m++) z[m] = cut[m];
}

/* U^T M V, or U M V^T. */
static void change_frame(const shape *c, const double *U, const double M[9], bool back,
                         double out[9]) {
  for (int i = 0; i < 9; i++) {
    out[i] = 0;
    for (int k = 0; k < 9; k++) {
      int u = back ? i / 3 * 3 + k / 3 : k / 3 * 3 + i / 3;
      int v = back ? i % 3 * 3 + k % 3 : k % 3 * 3 + i % 3;
      out[i] += U[u] * M[k] * c->V[v];
    }
  }
}

/* dR by the velocities v, 1/s. */
static void turning(const eb_audit *audit, const shape *c, eb_tangent tangent, const double *v,
                    const double mean[3], double W[9]) {
  static const double least_spread = 1e-8; /* of s_i + s_j: tangent.h */
  double moved[9], rest[9], Y[9], J[9], Z[9] = {0}, root[3], z[3];
  moment(audit, c, v, mean, moved);
  moment(audit, c, audit->scene->mesh->X, c->rest, rest);
  change_frame(c, c->U, moved, false, Y);
  change_frame(c, c->V, rest, false, J);
  for (int m = 0; m < 3; m++) {
    int i = first_of(m), j = second_of(m);
    root[m] = sqrt(fmax(c->s[i] + c->s[j], least_spread * (rest[0] + rest[4] + rest[8])));
    z[m] = (Y[3 * i + j] - Y[3 * j + i]) / root[m];
  }
  if (tangent == EB_TANGENT_PROJECTED) project(J, root, z);
  for (int m = 0; m < 3; m++) {
    Z[3 * first_of(m) + second_of(m)] = z[m] / root[m];
    Z[3 * second_of(m) + first_of(m)] = -z[m] / root[m];
  }
  change_frame(c, c->U, Z, true, W);
}

void eb_audit_clusters_tangent(const eb_audit *audit, const double *x, eb_tangent tangent,
                               const double *v, double *out, double *scale2) {
  for (int32_t number = 0; number < audit->scene->clusters.count; number++) {
    const shape c = shape_at(audit, number, x);
    double mean[3], W[9] = {0};
    mean_of(&c, v, mean);
    if (tangent != EB_TANGENT_ROTATED) turning(audit, &c, tangent, v, mean, W);
    for (int32_t a = 0; a < c.count; a++) {
      const size_t at = 3 * (size_t)c.node[a];
      double y[3], q[3], turned[3];
      off_mean(&c, v, mean, a, y);
      off_mean(&c, audit->scene->mesh->X, c.rest, a, q);
      eb_turn3(W, q, turned);
      eb_add3(-1, turned, y);
      eb_add3(c.stiffness, y, out + at);
      if (!audit->fixed[c.node[a]]) *scale2 += c.stiffness * c.stiffness * eb_audit_squared(y);
    }
  }
}
