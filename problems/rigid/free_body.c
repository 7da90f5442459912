/* Free bodies of a mesh: connected components of its rigid elements, and their mass properties.
 * With the consistent mass matrix of an element, m_ab = integral of rho N_a N_b, the integrals of
 * rho, rho X and rho X X^T over it are
 *
 *   sum_ab m_ab,   sum_ab m_ab X_a,   sum_ab m_ab X_a X_b^T,
 *
 * because X = sum_a N_a X_a and sum_a N_a = 1. They are exact when m is: tetrahedra have m_ab = rho
 * V (1 + delta_ab) / 20; in trilinear hexahedra N_a N_b det J is of degree 4 in each coordinate,
 * which three Gauss points a direction integrate exactly.
 *
 * Workspace: a number a node, for the components. Fails on elements that have no volume and
 * densities that are not positive. */
#include "problems/rigid/free_body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/quaternion.h"
#include "problems/elasticity/svd3.h"
#include "problems/mesh/disjoint.h"

enum { MOST_NODES = 8 };

/* ---- mass matrix of an element --------------------------------------------------------------- */

static void tetrahedron_mass(double X[MOST_NODES][3], double density,
                             double m[MOST_NODES][MOST_NODES]) {
  double edge[3][3], normal[3];
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < 3; d++) edge[k][d] = X[k + 1][d] - X[0][d];
  eb_cross3(edge[0], edge[1], normal);
  double share = density * eb_dot3(normal, edge[2]) / 120;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) m[a][b] = a == b ? 2 * share : share;
}

/* Shape functions of the cube [-1, 1]^3 at xi, and the determinant of J = sum_a X_a dN_a/dxi. */
static double shape(double X[MOST_NODES][3], const double xi[3], double N[MOST_NODES]) {
  static const double corner[MOST_NODES][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                               {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  double J[3][3] = {{0}}, normal[3];
  for (int a = 0; a < MOST_NODES; a++) {
    double f[3];
    for (int d = 0; d < 3; d++) f[d] = (1 + corner[a][d] * xi[d]) / 2;
    N[a] = f[0] * f[1] * f[2];
    for (int d = 0; d < 3; d++)
      eb_add3(corner[a][d] / 2 * f[(d + 1) % 3] * f[(d + 2) % 3], X[a], J[d]);
  }
  eb_cross3(J[0], J[1], normal);
  return eb_dot3(normal, J[2]);
}

static void hexahedron_mass(double X[MOST_NODES][3], double density,
                            double m[MOST_NODES][MOST_NODES]) {
  const double place[3] = {-sqrt(0.6), 0, sqrt(0.6)}, weight[3] = {5. / 9, 8. / 9, 5. / 9};
  for (int q = 0; q < 27; q++) {
    int i = q % 3, j = q / 3 % 3, k = q / 9;
    double xi[3] = {place[i], place[j], place[k]}, N[MOST_NODES];
    double share = density * weight[i] * weight[j] * weight[k] * shape(X, xi, N);
    for (int a = 0; a < MOST_NODES; a++)
      for (int b = 0; b < MOST_NODES; b++) m[a][b] += share * N[a] * N[b];
  }
}

/* ---- mass, centre, inertia ------------------------------------------------------------------- */

/* Nodes of the element relative to `origin`, and its mass matrix. */
static void element_mass(const eb_mesh *mesh, int32_t e, double density, const double origin[3],
                         double X[MOST_NODES][3], double m[MOST_NODES][MOST_NODES]) {
  const int32_t *node = mesh->elements + (size_t)e * mesh->type;
  for (int a = 0; a < (int)mesh->type; a++)
    for (int d = 0; d < 3; d++) X[a][d] = mesh->X[3 * (size_t)node[a] + (size_t)d] - origin[d];
  (mesh->type == EB_TETRAHEDRON ? tetrahedron_mass : hexahedron_mass)(X, density, m);
}

/* `centre` has mass times centre until all elements are in. */
static eb_error add_mass(const eb_mesh *mesh, int32_t e, double density, eb_free_body *body) {
  static const double origin[3];
  double X[MOST_NODES][3], m[MOST_NODES][MOST_NODES] = {{0}}, mass = 0;
  element_mass(mesh, e, density, origin, X, m);
  for (int a = 0; a < (int)mesh->type; a++)
    for (int b = 0; b < (int)mesh->type; b++) {
      mass += m[a][b];
      eb_add3(m[a][b], X[a], body->centre);
    }
  body->mass += mass;
  if (mass > 0 && isfinite(mass)) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID,
                  "element %d of a rigid region has mass %g kg; give the region a positive density "
                  "and elements of positive volume",
                  e, mass);
}

/* integral of rho (|r|^2 1 - r r^T), r from the centre. */
static void add_inertia(const eb_mesh *mesh, int32_t e, double density, eb_free_body *body) {
  double X[MOST_NODES][3], m[MOST_NODES][MOST_NODES] = {{0}};
  element_mass(mesh, e, density, body->centre, X, m);
  for (int a = 0; a < (int)mesh->type; a++)
    for (int b = 0; b < (int)mesh->type; b++)
      for (int i = 0; i < 3; i++) {
        body->inertia[4 * i] += m[a][b] * eb_dot3(X[a], X[b]);
        eb_add3(-m[a][b] * X[a][i], X[b], body->inertia + 3 * i);
      }
}

static eb_error weigh(const eb_mesh *mesh, const uint8_t *rigid, const double *density,
                      eb_free_bodies *bodies) {
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t e = 0; e < mesh->element_count; e++) {
      int32_t region = mesh->region[e], b = bodies->of_node[mesh->elements[(size_t)e * mesh->type]];
      if (rigid[region] && pass == 0)
        EB_TRY(add_mass(mesh, e, density[region], &bodies->body[b]));
      else if (rigid[region])
        add_inertia(mesh, e, density[region], &bodies->body[b]);
    }
    for (int32_t b = 0; b < bodies->count && pass == 0; b++)
      for (int d = 0; d < 3; d++) bodies->body[b].centre[d] /= bodies->body[b].mass;
  }
  /* Sums over a and b are symmetric but for rounding. */
  for (int32_t b = 0; b < bodies->count; b++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < i; j++) {
        double *A = bodies->body[b].inertia;
        A[3 * i + j] = A[3 * j + i] = (A[3 * i + j] + A[3 * j + i]) / 2;
      }
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

static eb_error fill(const eb_mesh *mesh, const uint8_t *rigid, const double *density,
                     eb_free_bodies *bodies) {
  int32_t nodes = mesh->node_count, *root;
  bodies->node_count = nodes;
  EB_TRY(EB_NEW(bodies->of_node, nodes));
  EB_TRY(EB_NEW(root, nodes));
  /* A disjoint set over the nodes of rigid elements, -1 elsewhere. */
  int32_t *of_node = bodies->of_node;
  for (int32_t i = 0; i < nodes; i++) of_node[i] = -1;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *node = mesh->elements + (size_t)e * mesh->type;
    for (int a = 0; rigid[mesh->region[e]] && a < (int)mesh->type; a++) {
      if (of_node[node[a]] < 0) of_node[node[a]] = node[a];
      eb_disjoint_join(of_node, node[0], node[a]);
    }
  }
  /* Bodies are numbered in the order of their lowest nodes, which are the roots: the number of a
   * root is known before that of the others. */
  for (int32_t i = 0; i < nodes; i++) root[i] = of_node[i] < 0 ? -1 : eb_disjoint_root(of_node, i);
  for (int32_t i = 0; i < nodes; i++)
    of_node[i] = root[i] < 0 ? -1 : root[i] == i ? bodies->count++ : of_node[root[i]];
  free(root);
  EB_TRY(EB_NEW(bodies->body, bodies->count));
  return weigh(mesh, rigid, density, bodies);
}

eb_error eb_free_bodies_create(const eb_mesh *mesh, const uint8_t *rigid, const double *density,
                               eb_free_bodies **out) {
  eb_free_bodies *bodies;
  bool any = false;
  *out = NULL;
  for (int32_t e = 0; !any && e < mesh->element_count; e++) any = rigid[mesh->region[e]];
  if (!any) return EB_OK;
  if (mesh->type == EB_TRIANGLE)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "regions of planar triangles cannot be rigid; use tetrahedra or hexahedra");
  EB_TRY(EB_NEW(bodies, 1));
  eb_error error = fill(mesh, rigid, density, bodies);
  if (error) {
    eb_free_bodies_destroy(bodies);
    return error;
  }
  *out = bodies;
  return EB_OK;
}

void eb_free_bodies_destroy(eb_free_bodies *bodies) {
  if (!bodies) return;
  free(bodies->of_node);
  free(bodies->body);
  free(bodies);
}

/* ---- motion ---------------------------------------------------------------------------------- */

/* Motion of free bodies: placing nodes, following a twist, and the rigid motion nearest to one of
 * the nodes.
 *
 *   R(q) r = r + 2 w (a x r) + 2 a x (a x r),   q = (w, a)
 *   exp(dt w) = (cos(angle / 2), sin(angle / 2) w / |w|),   angle = dt |w|
 *
 * The fit minimizes sum_a |x_a - p - R (X_a - centre)|^2: R is the rotation nearest to sum_a (x_a -
 * <x>) (X_a - <X>)^T (Kabsch 1976; Horn 1987), and p follows from the means. Then sum_a |v_a - v -
 * w x r_a|^2 with r_a = R (X_a - <X>), of mean 0:
 *
 *   v_mean = <v>,   S w = sum_a r_a x v_a,   S = sum_a (|r_a|^2 1 - r_a r_a^T).
 *
 * Workspace: the sums, a few numbers a body. Fails on values that are not finite and on bodies
 * whose nodes lie on a line. */

/* ---- rotations ------------------------------------------------------------------------------- */

/* y = R(q) r; y is not r. */
static void rotate(const double q[4], const double r[3], double y[3]) {
  double once[3], twice[3];
  eb_cross3(q + 1, r, once);
  eb_cross3(q + 1, once, twice);
  for (int d = 0; d < 3; d++) y[d] = r[d] + 2 * (q[0] * once[d] + twice[d]);
}

void eb_free_body_inertia(const eb_free_body *body, const double pose[7], double inertia[9]) {
  const double back[4] = {pose[3], -pose[4], -pose[5], -pose[6]};
  double R[9], turned[9];
  /* Row i of the rotation is R(q)^T e_i: what R(q) makes component i of. */
  for (int i = 0; i < 3; i++) {
    const double unit[3] = {i == 0, i == 1, i == 2};
    rotate(back, unit, R + 3 * i);
  }
  /* I is symmetric, so that row i of R I is I times row i of R. */
  for (int i = 0; i < 3; i++) eb_turn3(body->inertia, R + 3 * i, turned + 3 * i);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++)
      inertia[3 * i + j] = inertia[3 * j + i] = eb_dot3(turned + 3 * i, R + 3 * j);
}

void eb_free_body_advance(const double pose[7], const double twist[6], double dt, double out[7]) {
  double turn[3], by[4], q[4], length2 = 0;
  const double *old = pose + 3;
  for (int d = 0; d < 3; d++) turn[d] = dt * twist[3 + d];
  /* exp; sin(angle / 2) / angle: below 1e-4 the next term of the series is beyond double
   * precision. */
  double angle = sqrt(eb_dot3(turn, turn));
  double part = angle < 1e-4 ? 0.5 - angle * angle / 48 : sin(angle / 2) / angle;
  by[0] = cos(angle / 2);
  for (int d = 0; d < 3; d++) by[d + 1] = part * turn[d];
  q[0] = by[0] * old[0] - eb_dot3(by + 1, old + 1);
  eb_cross3(by + 1, old + 1, q + 1);
  for (int d = 1; d < 4; d++) q[d] += by[0] * old[d] + by[d] * old[0];
  for (int k = 0; k < 4; k++) length2 += q[k] * q[k];
  for (int k = 0; k < 4; k++) out[3 + k] = q[k] / sqrt(length2);
  for (int d = 0; d < 3; d++) out[d] = pose[d] + dt * twist[d];
}

/* ---- placing --------------------------------------------------------------------------------- */

void eb_free_bodies_place(const eb_free_bodies *bodies, const double *X, const double *pose,
                          const double *twist, double *x, double *v) {
  for (size_t i = 0; i < (size_t)bodies->node_count; i++) {
    int32_t b = bodies->of_node[i];
    if (b < 0) continue;
    const double *at = pose + 7 * (size_t)b;
    double arm[3], turned[3], spin[3];
    for (size_t d = 0; d < 3; d++) arm[d] = X[3 * i + d] - bodies->body[b].centre[d];
    rotate(at + 3, arm, turned);
    for (size_t d = 0; d < 3; d++) x[3 * i + d] = at[d] + turned[d];
    if (!v) continue;
    const double *velocity = twist + 6 * (size_t)b;
    eb_cross3(velocity + 3, turned, spin);
    for (size_t d = 0; d < 3; d++) v[3 * i + d] = velocity[d] + spin[d];
  }
}

/* ---- fitting --------------------------------------------------------------------------------- */

/* Sums over the nodes of a body. */
typedef struct sums {
  double nodes, X[3], x[3], v[3]; /* how many; means, once all are in */
  double shape[9];                /* (x - <x>) (X - <X>)^T */
  double second[9], spin[3];      /* S; r x v */
} sums;

static void find_poses(const eb_free_bodies *bodies, const double *X, const double *x,
                       const double *v, sums *sum, double *pose) {
  for (size_t i = 0; i < (size_t)bodies->node_count; i++) {
    if (bodies->of_node[i] < 0) continue;
    sums *s = &sum[bodies->of_node[i]];
    s->nodes++;
    eb_add3(1, X + 3 * i, s->X);
    eb_add3(1, x + 3 * i, s->x);
    eb_add3(1, v + 3 * i, s->v);
  }
  for (sums *s = sum; s < sum + bodies->count; s++)
    for (int d = 0; d < 3; d++) {
      s->X[d] /= s->nodes;
      s->x[d] /= s->nodes;
      s->v[d] /= s->nodes;
    }
  for (size_t i = 0; i < (size_t)bodies->node_count; i++) {
    if (bodies->of_node[i] < 0) continue;
    sums *s = &sum[bodies->of_node[i]];
    double rest[3];
    for (size_t d = 0; d < 3; d++) rest[d] = X[3 * i + d] - s->X[d];
    for (size_t d = 0; d < 3; d++) eb_add3(x[3 * i + d] - s->x[d], rest, s->shape + 3 * d);
  }
  for (int32_t b = 0; b < bodies->count; b++, pose += 7) {
    /* The nearest rotation, through the first of four lanes. */
    eb_v4 F[9], R[9], lanes[4];
    for (int k = 0; k < 9; k++) F[k] = eb_v4_set(sum[b].shape[k]);
    eb_polar3(F, R);
    eb_quaternion_of(R, lanes);
    for (int k = 0; k < 4; k++) pose[3 + k] = lanes[k][0];
    double arm[3], turned[3];
    for (int d = 0; d < 3; d++) arm[d] = bodies->body[b].centre[d] - sum[b].X[d];
    rotate(pose + 3, arm, turned);
    for (int d = 0; d < 3; d++) pose[d] = sum[b].x[d] + turned[d];
  }
}

/* S w = moment for the symmetric positive definite S, by cofactors; false when the nodes lie on a
 * line. */
static bool solve3(const double S[9], const double moment[3], double w[3]) {
  double cofactor[9], trace = S[0] + S[4] + S[8];
  for (int i = 0; i < 3; i++)
    eb_cross3(S + 3 * ((i + 1) % 3), S + 3 * ((i + 2) % 3), cofactor + 3 * i);
  double det = eb_dot3(S, cofactor);
  for (int d = 0; d < 3; d++) w[d] = eb_dot3(cofactor + 3 * d, moment) / det;
  /* The least moment of points on a line is 0, and det at most that times trace^2. */
  return det > 1e-14 * trace * trace * trace && isfinite(eb_dot3(w, w));
}

static eb_error find_twists(const eb_free_bodies *bodies, const double *X, const double *v,
                            const double *pose, sums *sum, double *twist) {
  for (size_t i = 0; i < (size_t)bodies->node_count; i++) {
    int32_t b = bodies->of_node[i];
    if (b < 0) continue;
    sums *s = &sum[b];
    double rest[3], r[3], moment[3];
    for (size_t d = 0; d < 3; d++) rest[d] = X[3 * i + d] - s->X[d];
    rotate(pose + 7 * (size_t)b + 3, rest, r);
    eb_cross3(r, v + 3 * i, moment);
    eb_add3(1, moment, s->spin);
    for (int d = 0; d < 3; d++) {
      s->second[4 * d] += eb_dot3(r, r);
      eb_add3(-r[d], r, s->second + 3 * d);
    }
  }
  for (int32_t b = 0; b < bodies->count; b++, pose += 7, twist += 6) {
    double *w = twist + 3, arm[3], spin[3], all = 0;
    bool solved = solve3(sum[b].second, sum[b].spin, w);
    for (int d = 0; d < 3; d++) arm[d] = pose[d] - sum[b].x[d];
    eb_cross3(w, arm, spin);
    for (int d = 0; d < 3; d++) twist[d] = sum[b].v[d] + spin[d];
    for (int k = 0; k < 7; k++) all += pose[k];
    for (int k = 0; k < 6; k++) all += twist[k];
    if (!solved || !isfinite(all))
      return EB_ERROR(EB_ERR_INVALID,
                      "rigid body %d has no pose: its nodes lie on a line, or their positions or "
                      "velocities are not finite",
                      b);
  }
  return EB_OK;
}

eb_error eb_free_bodies_fit(const eb_free_bodies *bodies, const double *X, const double *x,
                            const double *v, double *pose, double *twist) {
  sums *sum;
  EB_TRY(EB_NEW(sum, bodies->count));
  find_poses(bodies, X, x, v, sum, pose);
  eb_error error = find_twists(bodies, X, v, pose, sum, twist);
  free(sum);
  return error;
}
